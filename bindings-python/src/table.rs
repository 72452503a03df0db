//! The rows of Arrow tables as series on a time grid.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::ffi_stream::ArrowArrayStreamReader;
use arrow_array::types::{
    ArrowPrimitiveType, DurationMillisecondType, Float32Type, Float64Type, Int8Type, Int16Type,
    Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{
    Array, ArrayRef, Int64Array, PrimitiveArray, RecordBatch, RecordBatchReader,
    TimestampMicrosecondArray,
};
use arrow_buffer::{NullBuffer, ScalarBuffer};
use arrow_schema::{DataType, Field, Schema, SchemaRef, TimeUnit};
use arrow_select::{concat::concat_batches, take::take};
use mesonet::query::{
    GridCells, Positions, Ragged, RaggedError, offsets_of_keys, order_of_rows, resample,
};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use crate::arrow_table::{ArrowTable, import};
use crate::error::refused;
use crate::time_grid::{Grid, positions};

/// A refused table: a column has a wrong type, or wrong values.
enum TableRefusal {
    Type(String),
    Value(String),
}

impl From<TableRefusal> for PyErr {
    fn from(refusal: TableRefusal) -> Self {
        match refusal {
            TableRefusal::Type(text) => PyTypeError::new_err(text),
            TableRefusal::Value(text) => refused(text),
        }
    }
}

#[expect(clippy::needless_pass_by_value, reason = "it maps errors")]
fn value(text: impl ToString) -> TableRefusal {
    TableRefusal::Value(text.to_string())
}

/// The columns of a table, read as series.
#[pyclass(frozen, module = "mesonet._mesonet")]
struct TableColumns {
    keys: RecordBatch,
    time: Field,
    value: Field,
    ts_ms: ScalarBuffer<i64>,
    values: ScalarBuffer<f64>,
    offsets: Vec<i64>,
    /// The row of each reading in the table, if the rows were sorted.
    rows: Option<Vec<usize>>,
}

#[pymethods]
impl TableColumns {
    #[new]
    #[pyo3(signature = (table, key, time, value, sort, /))]
    #[expect(clippy::needless_pass_by_value, reason = "Python's list is converted into ours")]
    fn new(
        py: Python<'_>,
        table: &Bound<'_, PyAny>,
        key: Vec<String>,
        time: &str,
        value: &str,
        sort: bool,
    ) -> PyResult<Self> {
        let reader = import(table)?;
        Ok(py.detach(|| Self::read(reader, &key, time, value, sort))?)
    }

    /// The number of series.
    fn series(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Where the times and the values are in memory: in the table itself, if they are not copied.
    fn addresses(&self) -> (usize, usize) {
        (self.ts_ms.as_ptr() as usize, self.values.as_ptr() as usize)
    }

    /// See `mesonet.resample_table`.
    #[pyo3(signature = (grid, max_age_ms, /))]
    fn resample(
        &self,
        py: Python<'_>,
        grid: Grid,
        max_age_ms: Option<i64>,
    ) -> PyResult<ArrowTable> {
        let positions = positions(grid)?;
        let table = py.detach(|| self.resampled(positions, max_age_ms));
        Ok(ArrowTable(table.map_err(refused)?))
    }
}

impl TableColumns {
    fn read(
        mut reader: ArrowArrayStreamReader,
        key: &[String],
        time: &str,
        value_name: &str,
        sort: bool,
    ) -> Result<Self, TableRefusal> {
        let schema = reader.schema();
        let wanted: Vec<&str> = key.iter().map(String::as_str).chain([time, value_name]).collect();
        let picked = wanted.iter().map(|name| column_index(&schema, name));
        let picked = picked.collect::<Result<Vec<_>, _>>()?;
        let picked_schema = Arc::new(schema.project(&picked).map_err(value)?);
        let mut batches = Vec::new();
        for batch in &mut reader {
            batches.push(batch.and_then(|batch| batch.project(&picked)).map_err(value)?);
        }
        let batch = match <[RecordBatch; 1]>::try_from(batches) {
            Ok([batch]) => batch,
            Err(batches) => concat_batches(&picked_schema, &batches).map_err(value)?,
        };
        let ts_ms = times(time, batch.column(key.len()))?;
        let values = numbers(value_name, batch.column(key.len() + 1))?;
        let keys = batch.project(&(0..key.len()).collect::<Vec<_>>()).map_err(value)?;
        let codes = row_codes(&keys)?;
        let fields = picked_schema.fields();
        let (time, value_field) = (fields[key.len()].as_ref(), fields[key.len() + 1].as_ref());
        let mut columns = Self {
            keys,
            time: time.clone(),
            value: value_field.clone(),
            ts_ms,
            values,
            offsets: Vec::new(),
            rows: None,
        };
        if sort {
            columns.sort(&codes).map_err(value)?;
        } else {
            columns.offsets = offsets_of_keys(&codes).map_err(|error| value(unsorted(error)))?;
        }
        Ok(columns)
    }

    /// Puts the rows in the order of series.
    fn sort(&mut self, codes: &[u32]) -> Result<(), RaggedError> {
        let rows = order_of_rows(codes, &self.ts_ms);
        self.ts_ms = rows.iter().map(|&row| self.ts_ms[row]).collect();
        self.values = rows.iter().map(|&row| self.values[row]).collect();
        let codes: Vec<u32> = rows.iter().map(|&row| codes[row]).collect();
        self.offsets = offsets_of_keys(&codes)?;
        self.rows = Some(rows);
        Ok(())
    }

    fn resampled(
        &self,
        positions: Positions,
        max_age_ms: Option<i64>,
    ) -> Result<RecordBatch, String> {
        let series = self.series();
        let room = usize::try_from(positions.len()).ok().and_then(|each| each.checked_mul(series));
        let room = room.ok_or("the grid has more cells than memory can hold")?;
        let (mut filled, mut age_ms, mut reading) = (zeros(room)?, zeros(room)?, zeros(room)?);
        let ragged = Ragged::new(&self.ts_ms, &self.values, &self.offsets);
        let ragged = ragged.map_err(unsorted)?;
        let mut cells =
            GridCells { value: &mut filled, age_ms: &mut age_ms, reading: &mut reading };
        resample(&ragged, positions, max_age_ms, &mut cells).map_err(|error| error.to_string())?;
        self.table(positions, filled, age_ms, reading).map_err(|error| error.to_string())
    }

    fn table(
        &self,
        positions: Positions,
        filled: Vec<f64>,
        age_ms: Vec<i64>,
        mut reading: Vec<i64>,
    ) -> Result<RecordBatch, arrow_schema::ArrowError> {
        let there: NullBuffer = reading.iter().map(|&reading| reading >= 0).collect();
        let there = Some(there).filter(|there| there.null_count() > 0);
        if let Some(rows) = &self.rows {
            for reading in reading.iter_mut().filter(|reading| **reading >= 0) {
                *reading = rows[*reading as usize] as i64;
            }
        }
        let each = positions.len() as usize;
        let first = self.offsets[..self.series()].iter().map(|&first| {
            let first = first as usize;
            self.rows.as_ref().map_or(first, |rows| rows[first]) as u64
        });
        let first_rows: Vec<u64> = first.flat_map(|row| std::iter::repeat_n(row, each)).collect();
        let first_rows = PrimitiveArray::<UInt64Type>::from(first_rows);
        let mut columns = Vec::with_capacity(self.keys.num_columns() + 4);
        for column in self.keys.columns() {
            columns.push(take(column, &first_rows, None)?);
        }
        let at: Vec<i64> = positions.iter().map(|at_ms| at_ms.saturating_mul(1000)).collect();
        let zone = match self.time.data_type() {
            DataType::Timestamp(_, zone) => zone.clone(),
            _ => Some("UTC".into()),
        };
        let at = TimestampMicrosecondArray::from(at.repeat(self.series()));
        columns.push(Arc::new(at.with_timezone_opt(zone.clone())));
        columns.push(Arc::new(PrimitiveArray::<Float64Type>::new(filled.into(), there.clone())));
        let age = PrimitiveArray::<DurationMillisecondType>::new(age_ms.into(), there.clone());
        columns.push(Arc::new(age));
        columns.push(Arc::new(Int64Array::new(reading.into(), there)));
        let mut fields: Vec<Field> =
            self.keys.schema_ref().fields().iter().map(|field| field.as_ref().clone()).collect();
        let time = DataType::Timestamp(TimeUnit::Microsecond, zone);
        fields.push(Field::new(self.time.name(), time, false));
        fields.push(Field::new(self.value.name(), DataType::Float64, true));
        fields.push(Field::new(AGE, DurationMillisecondType::DATA_TYPE, true));
        fields.push(Field::new(ROW, DataType::Int64, true));
        RecordBatch::try_new(Arc::new(Schema::new(fields)), columns)
    }
}

/// The message for rows that are not in the order of series.
#[expect(clippy::needless_pass_by_value, reason = "it maps errors")]
fn unsorted(error: RaggedError) -> String {
    format!("{error}; sort=True takes rows in any order")
}

const AGE: &str = "age";
const ROW: &str = "row";

/// Room for the cells of a grid.
fn zeros<T: Clone + Default>(room: usize) -> Result<Vec<T>, String> {
    let mut cells = Vec::new();
    let taken = cells.try_reserve_exact(room);
    taken.map_err(|_| format!("no memory for the {room} cells of the grid"))?;
    cells.resize(room, T::default());
    Ok(cells)
}

fn column_index(schema: &SchemaRef, name: &str) -> Result<usize, TableRefusal> {
    if matches!(name, AGE | ROW) {
        let text = format!("no column may be named {name}: the result has a column of that name");
        return Err(TableRefusal::Value(text));
    }
    let fields = schema.fields();
    let mut found = (0..fields.len()).filter(|&index| fields[index].name() == name);
    match (found.next(), found.next()) {
        (Some(index), None) => Ok(index),
        (None, _) => {
            let names: Vec<&str> = fields.iter().map(|field| field.name().as_str()).collect();
            let names = names.join(", ");
            Err(TableRefusal::Value(format!("the table has no column {name}; it has {names}")))
        }
        _ => Err(TableRefusal::Value(format!("the table has several columns {name}"))),
    }
}

/// The first null of a column, as an error.
fn without_nulls(name: &str, column: &ArrayRef) -> Result<(), TableRefusal> {
    let Some(nulls) = column.logical_nulls().filter(|nulls| nulls.null_count() > 0) else {
        return Ok(());
    };
    let row = nulls.iter().position(|there| !there).unwrap_or_default();
    Err(TableRefusal::Value(format!(
        "column {name} must have a value in each row; row {row} has none"
    )))
}

/// The times of a column in milliseconds since 1970; in place if they are.
fn times(name: &str, column: &ArrayRef) -> Result<ScalarBuffer<i64>, TableRefusal> {
    let unit = match column.data_type() {
        DataType::Timestamp(unit, _) => *unit,
        DataType::Int64 => TimeUnit::Millisecond,
        other => {
            let text =
                format!("column {name} must hold timestamps, or int64 milliseconds; got {other}");
            return Err(TableRefusal::Type(text));
        }
    };
    without_nulls(name, column)?;
    let data = column.to_data();
    let given = ScalarBuffer::<i64>::new(data.buffers()[0].clone(), data.offset(), data.len());
    // Finer units are truncated to the millisecond before.
    Ok(match unit {
        TimeUnit::Millisecond => given,
        TimeUnit::Second => {
            let ms =
                given.iter().map(|second| second.checked_mul(1000)).collect::<Option<Vec<_>>>();
            let fit = || value(format!("the times of column {name} must fit 64-bit milliseconds"));
            ms.ok_or_else(fit)?.into()
        }
        TimeUnit::Microsecond => given.iter().map(|us| us.div_euclid(1000)).collect(),
        TimeUnit::Nanosecond => given.iter().map(|ns| ns.div_euclid(1_000_000)).collect(),
    })
}

/// The values of a column; in place if they are float64 without nulls. A null is NaN.
fn numbers(name: &str, column: &ArrayRef) -> Result<ScalarBuffer<f64>, TableRefusal> {
    fn of<T: ArrowPrimitiveType>(
        column: &ArrayRef,
        number: impl Fn(T::Native) -> f64,
    ) -> ScalarBuffer<f64> {
        let column = column.as_primitive::<T>();
        column.iter().map(|value| value.map_or(f64::NAN, &number)).collect()
    }
    Ok(match column.data_type() {
        DataType::Float64 if column.null_count() == 0 => {
            column.as_primitive::<Float64Type>().values().clone()
        }
        DataType::Float64 => of::<Float64Type>(column, |value| value),
        DataType::Float32 => of::<Float32Type>(column, f64::from),
        DataType::Int8 => of::<Int8Type>(column, f64::from),
        DataType::Int16 => of::<Int16Type>(column, f64::from),
        DataType::Int32 => of::<Int32Type>(column, f64::from),
        DataType::Int64 => of::<Int64Type>(column, |value| value as f64),
        DataType::UInt8 => of::<UInt8Type>(column, f64::from),
        DataType::UInt16 => of::<UInt16Type>(column, f64::from),
        DataType::UInt32 => of::<UInt32Type>(column, f64::from),
        DataType::UInt64 => of::<UInt64Type>(column, |value| value as f64),
        other => {
            return Err(TableRefusal::Type(format!(
                "column {name} must hold numbers; got {other}"
            )));
        }
    })
}

/// A number for each row: the same for rows whose keys are the same.
fn row_codes(keys: &RecordBatch) -> Result<Vec<u32>, TableRefusal> {
    let mut codes = vec![0; keys.num_rows()];
    for (place, (field, column)) in
        keys.schema_ref().fields().iter().zip(keys.columns()).enumerate()
    {
        let of_column = column_codes(field.name(), column)?;
        if place == 0 {
            codes = of_column;
        } else {
            codes = numbered(codes.into_iter().zip(of_column))?;
        }
    }
    Ok(codes)
}

fn column_codes(name: &str, column: &ArrayRef) -> Result<Vec<u32>, TableRefusal> {
    without_nulls(name, column)?;
    match column.data_type() {
        DataType::Utf8 => numbered(column.as_string::<i32>().iter()),
        DataType::LargeUtf8 => numbered(column.as_string::<i64>().iter()),
        DataType::Utf8View => numbered(column.as_string_view().iter()),
        DataType::Int8 => numbered(column.as_primitive::<Int8Type>().iter()),
        DataType::Int16 => numbered(column.as_primitive::<Int16Type>().iter()),
        DataType::Int32 => numbered(column.as_primitive::<Int32Type>().iter()),
        DataType::Int64 => numbered(column.as_primitive::<Int64Type>().iter()),
        DataType::UInt8 => numbered(column.as_primitive::<UInt8Type>().iter()),
        DataType::UInt16 => numbered(column.as_primitive::<UInt16Type>().iter()),
        DataType::UInt32 => numbered(column.as_primitive::<UInt32Type>().iter()),
        DataType::UInt64 => numbered(column.as_primitive::<UInt64Type>().iter()),
        DataType::Dictionary(..) if column.is_empty() => Ok(Vec::new()),
        DataType::Dictionary(..) => {
            let dictionary = column.as_any_dictionary();
            // A dictionary may hold a text twice, or hold a null that no row uses.
            let values = dictionary_codes(name, dictionary.values())?;
            Ok(dictionary.normalized_keys().into_iter().map(|key| values[key]).collect())
        }
        other => Err(TableRefusal::Type(format!(
            "column {name} must hold texts, categories or integers to be a key; got {other}"
        ))),
    }
}

fn dictionary_codes(name: &str, values: &ArrayRef) -> Result<Vec<u32>, TableRefusal> {
    match values.data_type() {
        DataType::Dictionary(..) => {
            Err(TableRefusal::Type(format!("column {name} holds categories of categories")))
        }
        _ if values.null_count() == 0 => column_codes(name, values),
        DataType::Utf8 => numbered(values.as_string::<i32>().iter()),
        DataType::LargeUtf8 => numbered(values.as_string::<i64>().iter()),
        DataType::Utf8View => numbered(values.as_string_view().iter()),
        _ => column_codes(name, values),
    }
}

/// Numbers keys by their first occurrence.
fn numbered<K: Copy + Eq + Hash>(keys: impl Iterator<Item = K>) -> Result<Vec<u32>, TableRefusal> {
    let mut known: HashMap<K, u32> = HashMap::new();
    let mut last: Option<(K, u32)> = None;
    let mut codes = Vec::with_capacity(keys.size_hint().0);
    for key in keys {
        // Most rows have the key of the row before.
        let code = match last {
            Some((same, code)) if same == key => code,
            _ => {
                let next = u32::try_from(known.len());
                let next = next.map_err(|_| value("a table may have 4294967295 keys at most"))?;
                *known.entry(key).or_insert(next)
            }
        };
        last = Some((key, code));
        codes.push(code);
    }
    Ok(codes)
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<TableColumns>()
}
