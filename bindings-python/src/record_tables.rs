//! Answers of a record as Arrow tables.

use std::sync::Arc;

use arrow_array::types::{ArrowDictionaryKeyType, Int8Type, Int32Type};
use arrow_array::{
    ArrayRef, BooleanArray, DictionaryArray, Float64Array, Int32Array, PrimitiveArray, RecordBatch,
    StringArray, TimestampMillisecondArray, UInt32Array,
};
use mesonet::feed::known_stations;
use mesonet::observation::{Qualifier, Quality, Series};
use mesonet::query::{AnswerReading, ObservationSeries, Readings};
use mesonet::store::Directory;
use mesonet::{BaseQuality, IntervalType, ReasonQuality, Station};

use crate::error::text;

/// A column with its name, and whether it may lack values.
type Column = (&'static str, ArrayRef, bool);

/// The stations of a record, by id.
pub fn stations(of: &Directory) -> Result<RecordBatch, String> {
    let times = of.stations.iter().map(|record| record.update_time_ms).collect::<Vec<_>>();
    let times = TimestampMillisecondArray::from(times).with_timezone("UTC");
    let mut columns = places(&of.stations.iter().map(|record| &record.station));
    columns.push(("update_time", Arc::new(times), true));
    table(columns)
}

/// The stations whose places are bundled, by network and native id.
pub fn known() -> Result<RecordBatch, String> {
    let mut all: Vec<&Station> = known_stations().values().collect();
    all.sort_by_key(|of| (&of.network, &of.native_id));
    table(places(&all.into_iter()))
}

fn places<'a>(of: &(impl Iterator<Item = &'a Station> + Clone)) -> Vec<Column> {
    let stations = || of.clone();
    let kind = |kind| format!("{kind:?}");
    vec![
        ("station_id", strings(stations().map(|of| Some(of.id.to_string()))), false),
        ("network", strings(stations().map(|of| Some(of.network.clone()))), false),
        ("native_id", strings(stations().map(|of| Some(of.native_id.clone()))), false),
        ("name", strings(stations().map(|of| Some(of.name.clone()))), false),
        ("station_type", strings(stations().map(|of| of.station_type.map(kind))), true),
        ("lat", numbers(stations().map(|of| Some(of.coordinates.lat()))), false),
        ("lon", numbers(stations().map(|of| Some(of.coordinates.lon()))), false),
        ("altitude_m", numbers(stations().map(|of| of.altitude_m)), true),
        ("sensor_height_m", numbers(stations().map(|of| Some(of.sensor_height_m))), false),
    ]
}

/// The readings of an answer, by station; readings on a grid have their ages.
pub fn readings(of: &Readings) -> Result<RecordBatch, String> {
    let ids: Vec<String> = of.by_station().map(|(id, _)| id.to_string()).collect();
    let counts = of.by_station().map(|(_, cells)| cells.len());
    let station =
        (0_i32..).zip(counts).flat_map(|(at, count)| std::iter::repeat_n(Some(at), count));
    let cells = || of.cells.iter();
    let series = |cell: &AnswerReading| &*of.series[cell.series as usize];
    let mut columns = vec![("station_id", dictionary::<Int32Type>(station, ids)?, false)];
    columns.push(times(cells().map(|cell| cell.ts_ms)));
    columns.extend(keys(
        &of.series.iter().map(|one| &**one).collect::<Vec<_>>(),
        &cells().map(|cell| cell.series),
    )?);
    columns.push(("value", numbers(cells().map(|cell| Some(cell.value))), false));
    columns.extend(verdicts(cells().map(|cell| (cell.quality, cell.qualifier)))?);
    columns.push(("calculated", truths(cells().map(|cell| series(cell).key.calculated)), false));
    if of.step.is_some() {
        let ages = UInt32Array::from_iter_values(cells().map(|cell| cell.age_s));
        columns.push(("age_s", Arc::new(ages), false));
    }
    table(columns)
}

/// The readings of one variable at one station, by time; no rows without an answer.
pub fn series(of: Option<&ObservationSeries>) -> Result<RecordBatch, String> {
    let all: Vec<&Series> =
        of.map_or_else(Vec::new, |of| of.series.iter().map(|known| &*known.series).collect());
    let rows = || of.into_iter().flat_map(|of| &of.readings);
    let mut columns = vec![times(rows().map(|row| row.ts_ms))];
    columns.push(("value", numbers(rows().map(|row| Some(row.value))), false));
    columns.extend(verdicts(rows().map(|row| (row.quality, row.qualifier)))?);
    columns.extend(keys(&all, &rows().map(|row| row.series))?);
    let of_row = |row: u32| &all[row as usize].key;
    let calculated = rows().map(|row| of_row(row.series).calculated);
    columns.push(("calculated", truths(calculated), false));
    table(columns)
}

fn table(columns: Vec<Column>) -> Result<RecordBatch, String> {
    RecordBatch::try_from_iter_with_nullable(columns).map_err(text)
}

fn strings(texts: impl Iterator<Item = Option<String>>) -> ArrayRef {
    Arc::new(texts.collect::<StringArray>())
}

fn numbers(values: impl Iterator<Item = Option<f64>>) -> ArrayRef {
    Arc::new(values.collect::<Float64Array>())
}

fn truths(values: impl Iterator<Item = bool>) -> ArrayRef {
    Arc::new(values.map(Some).collect::<BooleanArray>())
}

fn times(ts_ms: impl Iterator<Item = i64>) -> Column {
    let times = TimestampMillisecondArray::from_iter_values(ts_ms).with_timezone("UTC");
    ("timestamp", Arc::new(times), false)
}

fn dictionary<K: ArrowDictionaryKeyType>(
    keys: impl IntoIterator<Item = Option<K::Native>>,
    texts: impl IntoIterator<Item = impl AsRef<str>>,
) -> Result<ArrayRef, String> {
    let keys: PrimitiveArray<K> = PrimitiveArray::from_iter(keys);
    let texts: StringArray = texts.into_iter().map(Some).collect();
    Ok(Arc::new(DictionaryArray::try_new(keys, Arc::new(texts)).map_err(text)?))
}

/// The columns that identify the series of a row: names and codes as in the bulk export.
fn keys(
    series: &[&Series],
    rows: &(impl Iterator<Item = u32> + Clone),
) -> Result<[Column; 6], String> {
    let key = |row: u32| &series[row as usize].key;
    let by_series = |of: fn(&Series) -> String| {
        // Each text once: pandas refuses a category that is there twice.
        let (mut texts, mut codes) = (Vec::new(), Vec::with_capacity(series.len()));
        for text in series.iter().map(|series| of(series)) {
            let known = texts.iter().position(|known| *known == text);
            codes.push(known.unwrap_or(texts.len()) as i32);
            if known.is_none() {
                texts.push(text);
            }
        }
        dictionary::<Int32Type>(rows.clone().map(|row| Some(codes[row as usize])), texts)
    };
    let kind = |row| IntervalType::ALL.iter().position(|known| *known == key(row).interval_type);
    let kinds = rows.clone().map(|row| kind(row).map(|at| at as i8));
    let ids = rows.clone().map(|row| series[row as usize].id.0);
    let minutes = rows.clone().map(|row| key(row).interval_minutes);
    Ok([
        ("observation_name", by_series(|of| of.key.variable.name().to_owned())?, false),
        ("type_id", Arc::new(Int32Array::from_iter_values(ids)), false),
        (
            "interval_type",
            dictionary::<Int8Type>(kinds, IntervalType::ALL.map(IntervalType::name))?,
            false,
        ),
        ("interval_minutes", Arc::new(Int32Array::from_iter_values(minutes)), false),
        ("unit", by_series(|of| of.key.reported_unit.to_string())?, false),
        ("group_bucket_name", by_series(|of| of.key.bucket.to_string())?, false),
    ])
}

fn verdicts(
    of: impl Iterator<Item = (Quality, Option<Qualifier>)> + Clone,
) -> Result<[Column; 3], String> {
    let base = of.clone().map(|(quality, _)| Some(quality.base as i8));
    let reason = of.clone().map(|(quality, _)| Some(quality.reason as i8));
    // The code 0 carries no information.
    let qualifier = of.map(|(_, qualifier)| qualifier.map(|qualifier| qualifier as i8 - 1));
    Ok([
        (
            "quality_base",
            dictionary::<Int8Type>(base, BaseQuality::ALL.map(BaseQuality::name))?,
            false,
        ),
        (
            "quality_reason",
            dictionary::<Int8Type>(reason, ReasonQuality::ALL.map(ReasonQuality::name))?,
            false,
        ),
        (
            "qualifier",
            dictionary::<Int8Type>(qualifier, Qualifier::ALL.map(Qualifier::name))?,
            true,
        ),
    ])
}
