//! Record batches in packed form, to and from Arrow.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use arrow_array::types::{ArrowPrimitiveType, Int32Type, TimestampMillisecondType};
use arrow_array::{
    Array, ArrayRef, BinaryArray, FixedSizeBinaryArray, Float64Array, Int16Array, Int32Array,
    ListArray, PrimitiveArray, RecordBatch, StructArray, UInt8Array, UInt16Array,
};
use arrow_buffer::{ArrowNativeType, Buffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::{ArrowError, DataType, Field, Fields, Schema, TimeUnit};

use super::bits::bits_before;
use super::columns::PackedColumns;
use super::form::{MOST_TIMES, Presence, Width};
use super::row::{Chunk, PackedRow};
use super::scale::scales_text;
use crate::observation::StationId;
use crate::store::embedded::mapped::MappedFile;
use crate::store::embedded::report_texts::{Content, DICTIONARY_NAME};
use crate::store::embedded::segment_batches::{Batch, Cause, FileSchema};

/// The meaning of the columns, for programs that open the file elsewhere.
const NOTES: [(&str, &str); 5] = [
    (
        "mesonet.verdicts",
        "verdict: counts of equal codes, first the verdicts of the readings, series by series, then \
         of their sources, their revisions and their qualifiers. A verdict is one byte: the base in \
         the high four bits (0 Suppressed, 1 Missing, 2 Error, 3 Doubtful, 4 Inconsistent, \
         5 Instrumentation, 6 Good, 7 Unknown), the reason in the low four (0 None, 1 Missing, \
         2 ValueType, 3 Range, 4 Inert, 5 Change, 6 Decrease, 7 Increase, 8 Disagree, \
         9 GreaterThan, 10 LessThan, 11 Difference, 12 AverageInconsistent, 13 Unknown)",
    ),
    (
        "mesonet.qualifier",
        "what the report says beside the number (0 nothing, 1 trace, 2 at least, 3 less than)",
    ),
    (
        "mesonet.form",
        "high four bits: which times a series has (0 all; 1 those whose bit is set in present, the \
         lowest bit first; 2 as many as the next number of base, at the next places in short). Low \
         four bits: its values (0 all the next number of base; 1 the next number of base and what \
         byte adds; 2 short; 3 int; 4 double; 5 a table of as many as the next number of base in \
         double, and places in it in byte)",
    ),
    (
        "mesonet.scale",
        "a place in the list mesonet.scales: a value is number / 10^decimals * factor + offset",
    ),
    (
        "mesonet.present_weather",
        "series number 65535: each value stands for a list of words in mesonet.weather, of which it \
         is the first 52 bits of a UUID v5",
    ),
];

/// The meaning of the columns of a file of texts.
const TEXT_NOTES: [(&str, &str); 1] = [(
    "mesonet.text",
    "text: the texts of the reports, in the order of their times, divided by newlines, compressed \
     with zstd and the dictionary in mesonet.text_dictionary. A heading comes before its report, \
     with a tabulator between. Series number 65534: each value is a code of a text",
)];

/// Returns the schema of a file with some content and these series, a text in JSON.
pub(in crate::store::embedded) fn packed_schema(content: Content, series: String) -> Schema {
    let utc = || DataType::Timestamp(TimeUnit::Millisecond, Some("UTC".into()));
    let list = |name: &str, of: DataType| Field::new(name, DataType::List(item(of)), false);
    let mut fields = vec![
        Field::new("station", DataType::FixedSizeBinary(16), false),
        Field::new("first", utc(), false),
        Field::new("last", utc(), false),
        Field::new("step_ms", DataType::Int32, false),
        Field::new("readings", DataType::Int32, false),
        list("time", DataType::Int32),
        list("series", DataType::Struct(series_fields())),
        list("present", DataType::UInt8),
        list("base", DataType::Int16),
        list("byte", DataType::UInt8),
        list("short", DataType::Int16),
        list("int", DataType::Int32),
        list("double", DataType::Float64),
        list("verdict", DataType::Struct(verdict_fields())),
    ];
    let mut notes: HashMap<String, String> =
        NOTES.into_iter().map(|(name, note)| (name.to_owned(), note.to_owned())).collect();
    if content == Content::Texts {
        fields.push(Field::new("text", DataType::Binary, false));
        let of_texts = TEXT_NOTES.into_iter().chain([("mesonet.text_dictionary", DICTIONARY_NAME)]);
        notes.extend(of_texts.map(|(name, note)| (name.to_owned(), note.to_owned())));
    }
    notes.insert("mesonet.scales".to_owned(), scales_text());
    notes.insert("mesonet.series".to_owned(), series);
    Schema::new_with_metadata(fields, notes)
}

/// Whether a schema is that of a packed file.
pub(in crate::store::embedded) fn is_packed(schema: &FileSchema) -> bool {
    schema.place("verdict").is_some()
}

fn item(of: DataType) -> Arc<Field> {
    Arc::new(Field::new("item", of, false))
}

fn series_fields() -> Fields {
    Fields::from(vec![
        Field::new("number", DataType::UInt16, false),
        Field::new("form", DataType::UInt8, false),
        Field::new("scale", DataType::UInt8, false),
    ])
}

fn verdict_fields() -> Fields {
    Fields::from(vec![
        Field::new("count", DataType::UInt16, false),
        Field::new("code", DataType::UInt8, false),
    ])
}

/// Returns columns as a record batch.
pub(in crate::store::embedded) fn packed_batch(
    columns: PackedColumns,
    schema: &Arc<Schema>,
) -> Result<RecordBatch, ArrowError> {
    let PackedColumns { station, first_ms, last_ms, step_ms, readings, time, series, .. } = columns;
    let PackedColumns { present, base, byte, short, int, double, verdict, text, .. } = columns;
    let utc = |times: Vec<i64>| {
        Arc::new(primitive::<TimestampMillisecondType>(times).with_timezone("UTC")) as ArrayRef
    };
    let numbers: UInt16Array = series.items.iter().map(|entry| entry.number).collect();
    let forms: UInt8Array = series.items.iter().map(|entry| entry.form).collect();
    let scales: UInt8Array = series.items.iter().map(|entry| entry.scale).collect();
    let series_items = StructArray::try_new(
        series_fields(),
        vec![Arc::new(numbers), Arc::new(forms), Arc::new(scales)],
        None,
    )?;
    let counts: UInt16Array = verdict.items.iter().map(|&(count, _)| count).collect();
    let codes: UInt8Array = verdict.items.iter().map(|&(_, code)| code).collect();
    let verdict_items =
        StructArray::try_new(verdict_fields(), vec![Arc::new(counts), Arc::new(codes)], None)?;
    let mut arrays: Vec<ArrayRef> = vec![
        Arc::new(FixedSizeBinaryArray::try_new(16, Buffer::from_vec(station), None)?),
        utc(first_ms),
        utc(last_ms),
        Arc::new(primitive::<Int32Type>(step_ms)),
        Arc::new(primitive::<Int32Type>(readings)),
        list(time.offsets, Arc::new(Int32Array::from(time.items)))?,
        list(series.offsets, Arc::new(series_items))?,
        list(present.offsets, Arc::new(UInt8Array::from(present.items)))?,
        list(base.offsets, Arc::new(Int16Array::from(base.items)))?,
        list(byte.offsets, Arc::new(UInt8Array::from(byte.items)))?,
        list(short.offsets, Arc::new(Int16Array::from(short.items)))?,
        list(int.offsets, Arc::new(Int32Array::from(int.items)))?,
        list(double.offsets, Arc::new(Float64Array::from(double.items)))?,
        list(verdict.offsets, Arc::new(verdict_items))?,
    ];
    if arrays.len() < schema.fields().len() {
        let offsets = OffsetBuffer::new(ScalarBuffer::from(text.offsets));
        arrays.push(Arc::new(BinaryArray::try_new(offsets, Buffer::from_vec(text.items), None)?));
    }
    RecordBatch::try_new(Arc::clone(schema), arrays)
}

fn primitive<T: ArrowPrimitiveType>(values: Vec<T::Native>) -> PrimitiveArray<T> {
    PrimitiveArray::new(ScalarBuffer::from(values), None)
}

fn list(offsets: Vec<i32>, items: ArrayRef) -> Result<ArrayRef, ArrowError> {
    let item = item(items.data_type().clone());
    let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets));
    Ok(Arc::new(ListArray::try_new(item, offsets, items, None)?))
}

/// The lists of a column in a mapped file.
#[derive(Debug)]
pub(super) struct MappedLists<T: ArrowNativeType> {
    offsets: ScalarBuffer<i32>,
    pub items: ScalarBuffer<T>,
}

impl<T: ArrowNativeType> MappedLists<T> {
    /// Returns where the list of a row is.
    pub(super) fn at(&self, row: usize) -> Range<usize> {
        self.offsets[row] as usize..self.offsets[row + 1] as usize
    }

    /// Returns the list of a row.
    pub(super) fn of(&self, row: usize) -> &[T] {
        &self.items[self.at(row)]
    }
}

/// A record batch of a mapped file. What identifies the readings is intact, and all lists are within
/// their columns; the items may be damaged.
#[derive(Debug)]
pub(super) struct PackedBatch {
    mapped: Arc<MappedFile>,
    /// The bytes of the batch.
    bytes: Range<usize>,
    /// Whether all of them are intact, which is asked once.
    is_whole: OnceLock<bool>,
    first_ms: ScalarBuffer<i64>,
    last_ms: ScalarBuffer<i64>,
    pub step_ms: ScalarBuffer<i32>,
    readings: ScalarBuffer<i32>,
    pub time: MappedLists<i32>,
    pub series: MappedLists<u8>,
    pub number: ScalarBuffer<u16>,
    pub form: ScalarBuffer<u8>,
    pub scale: ScalarBuffer<u8>,
    pub present: MappedLists<u8>,
    pub base: MappedLists<i16>,
    pub byte: MappedLists<u8>,
    pub short: MappedLists<i16>,
    pub int: MappedLists<i32>,
    pub double: MappedLists<f64>,
    pub verdict: MappedLists<u8>,
    pub count: ScalarBuffer<u16>,
    /// Only in a file of texts.
    pub text: Option<MappedLists<u8>>,
}

/// The places of the columns' buffers in a batch. Each column, list, struct and item has a buffer of
/// nulls, which is not used.
mod place {
    pub(super) const STATION: usize = 1;
    pub(super) const FIRST: usize = 3;
    pub(super) const LAST: usize = 5;
    pub(super) const STEP: usize = 7;
    pub(super) const READINGS: usize = 9;
    /// The buffer of the offsets of a list; the items are two later.
    pub(super) const TIME: usize = 11;
    pub(super) const SERIES: usize = 15;
    pub(super) const NUMBER: usize = 18;
    pub(super) const FORM: usize = 20;
    pub(super) const SCALE: usize = 22;
    pub(super) const PRESENT: usize = 24;
    pub(super) const BASE: usize = 28;
    pub(super) const BYTE: usize = 32;
    pub(super) const SHORT: usize = 36;
    pub(super) const INT: usize = 40;
    pub(super) const DOUBLE: usize = 44;
    pub(super) const VERDICT: usize = 48;
    pub(super) const COUNT: usize = 51;
    pub(super) const CODE: usize = 53;
    /// The offsets of the texts; their bytes are one later.
    pub(super) const TEXT: usize = 55;
}

impl PackedBatch {
    /// Reads a batch, with the station of each row.
    pub(super) fn read(
        batch: &Batch<'_>,
        mapped: &Arc<MappedFile>,
    ) -> Result<(Self, Vec<StationId>), Cause> {
        let rows = batch.rows;
        let stations = batch.column::<u8>(place::STATION)?;
        let mut is_whole = mapped.is_whole(&stations);
        let mut identifies = |bytes: bool| is_whole &= bytes;
        let (first_ms, last_ms) =
            (batch.column::<i64>(place::FIRST)?, batch.column::<i64>(place::LAST)?);
        let (step_ms, readings) =
            (batch.column::<i32>(place::STEP)?, batch.column::<i32>(place::READINGS)?);
        for times in [&first_ms, &last_ms] {
            identifies(mapped.is_whole(times));
        }
        for numbers in [&step_ms, &readings] {
            identifies(mapped.is_whole(numbers));
        }
        if !is_whole {
            return Err(None);
        }
        let lengths = [first_ms.len(), last_ms.len(), step_ms.len(), readings.len()];
        if lengths.iter().any(|&len| len < rows) || stations.len() < rows * 16 {
            return Err(Some("its columns are too short".to_owned()));
        }
        let read = Self {
            mapped: Arc::clone(mapped),
            bytes: batch.bytes(),
            is_whole: OnceLock::new(),
            time: lists(batch, place::TIME, place::TIME + 2)?,
            series: lists(batch, place::SERIES, place::FORM)?,
            number: batch.column(place::NUMBER)?,
            form: batch.column(place::FORM)?,
            scale: batch.column(place::SCALE)?,
            present: lists(batch, place::PRESENT, place::PRESENT + 2)?,
            base: lists(batch, place::BASE, place::BASE + 2)?,
            byte: lists(batch, place::BYTE, place::BYTE + 2)?,
            short: lists(batch, place::SHORT, place::SHORT + 2)?,
            int: lists(batch, place::INT, place::INT + 2)?,
            double: lists(batch, place::DOUBLE, place::DOUBLE + 2)?,
            verdict: lists(batch, place::VERDICT, place::CODE)?,
            count: batch.column(place::COUNT)?,
            text: match batch.buffers.len() {
                ..=place::TEXT => None,
                _ => Some(lists(batch, place::TEXT, place::TEXT + 1)?),
            },
            first_ms,
            last_ms,
            step_ms,
            readings,
        };
        read.check(rows)?;
        let id = |row: usize| {
            StationId::from_bytes(stations[row * 16..][..16].try_into().unwrap_or([0; 16]))
        };
        Ok((read, (0..rows).map(id).collect()))
    }

    fn check(&self, rows: usize) -> Result<(), Cause> {
        let entries = self.form.len();
        if self.number.len() < entries
            || self.scale.len() < entries
            || self.count.len() < self.verdict.items.len()
        {
            return Err(Some("its columns are too short".to_owned()));
        }
        for row in 0..rows {
            let times = self.time.at(row).len();
            if !(1..=MOST_TIMES).contains(&times) || self.step_ms[row] < 1 || self.readings[row] < 1
            {
                return Err(Some(format!("row {row} has {times} times")));
            }
        }
        Ok(())
    }

    pub(super) fn chunk(&self, batch: u32, row: usize) -> Chunk {
        Chunk {
            batch,
            row: row as u32,
            readings: self.readings[row] as u32,
            first_ms: self.first_ms[row],
            last_ms: self.last_ms[row],
        }
    }

    /// Returns which bytes of the file a slice is.
    pub(super) fn bytes_of<T>(&self, slice: &[T]) -> Range<usize> {
        self.mapped.span(slice)
    }

    /// Whether a part of the batch is intact.
    #[inline]
    pub(super) fn is_whole<T>(&self, slice: &[T]) -> bool {
        self.bytes_are_whole(self.bytes_of(slice))
    }

    /// Whether some bytes of the batch are intact.
    #[inline]
    pub(super) fn bytes_are_whole(&self, bytes: Range<usize>) -> bool {
        // A batch is about as long as a block, so asking for all of it once is the least work.
        *self.is_whole.get_or_init(|| self.mapped.range_is_whole(self.bytes.clone()))
            || bytes.is_empty()
            || self.mapped.range_is_whole(bytes)
    }

    /// Returns the bytes that say which series a row has, and where.
    pub(super) fn head_bytes(&self, row: usize) -> [Range<usize>; 5] {
        let entries = self.series.at(row);
        [
            self.bytes_of(&self.number[entries.clone()]),
            self.bytes_of(&self.form[entries.clone()]),
            self.bytes_of(&self.scale[entries]),
            self.bytes_of(self.present.of(row)),
            self.bytes_of(self.base.of(row)),
        ]
    }

    /// Returns where the lists of a row begin.
    pub(super) fn places(&self, row: usize) -> Places {
        Places {
            present: self.present.at(row),
            base: self.base.at(row),
            byte: self.byte.at(row),
            short: self.short.at(row),
            int: self.int.at(row),
            double: self.double.at(row),
        }
    }
}

/// Reads the lists of a column. Their offsets must be intact.
fn lists<T: ArrowNativeType>(
    batch: &Batch<'_>,
    offsets: usize,
    items: usize,
) -> Result<MappedLists<T>, Cause> {
    let items = batch.column::<T>(items)?;
    let offsets = batch.checked_offsets(offsets, items.len())?.ok_or(None)?;
    Ok(MappedLists { offsets, items })
}

/// What is left of the lists of a row.
pub(super) struct Places {
    present: Range<usize>,
    base: Range<usize>,
    byte: Range<usize>,
    short: Range<usize>,
    int: Range<usize>,
    double: Range<usize>,
}

impl Places {
    /// Gives a series, whose forms are known, its share of the lists.
    pub(super) fn take(
        &mut self,
        batch: &PackedBatch,
        row: &mut PackedRow,
        times: usize,
    ) -> Result<(), Cause> {
        let len = match row.presence {
            Presence::All => times,
            Presence::Bits => {
                let bytes = times.div_ceil(8);
                let at = take(&mut self.present, bytes)?;
                row.present_at = at as u32;
                bits_before(&batch.present.items[at..at + bytes], times)
            }
            Presence::Places => {
                let count = usize::try_from(self.base(batch)?).unwrap_or(usize::MAX);
                row.present_at = take(&mut self.short, count)? as u32;
                count
            }
        };
        if len == 0 || len > times {
            return Err(Some(format!("series {} has {len} of {times} times", row.series)));
        }
        row.len = len as u32;
        row.value_at = match row.width {
            Width::Same => {
                row.base = self.base(batch)?;
                0
            }
            Width::Byte => {
                row.base = self.base(batch)?;
                take(&mut self.byte, len)?
            }
            Width::Short => take(&mut self.short, len)?,
            Width::Int => take(&mut self.int, len)?,
            Width::Double => take(&mut self.double, len)?,
            Width::Table => {
                row.base = self.base(batch)?;
                let count = usize::try_from(row.base).unwrap_or(usize::MAX);
                row.table_at = take(&mut self.double, count)? as u32;
                take(&mut self.byte, len)?
            }
        } as u32;
        Ok(())
    }

    fn base(&mut self, batch: &PackedBatch) -> Result<i16, Cause> {
        Ok(batch.base.items[take(&mut self.base, 1)?])
    }
}

/// Takes entries from a list.
fn take(list: &mut Range<usize>, count: usize) -> Result<usize, Cause> {
    if count > list.len() {
        return Err(Some(format!("{count} entries are needed, but {} are left", list.len())));
    }
    let at = list.start;
    list.start += count;
    Ok(at)
}
