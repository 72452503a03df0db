//! The readings of feed files as one Arrow table.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::builder::{BooleanBuilder, Float64Builder, Int32Builder, UInt8Builder};
use arrow_array::types::{ArrowDictionaryKeyType, Int8Type, Int16Type, Int32Type};
use arrow_array::{
    ArrayRef, DictionaryArray, PrimitiveArray, RecordBatch, StringArray, TimestampMillisecondArray,
};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef, TimeUnit};

use super::item::{FeedReport, FeedStation};
use crate::geo::LonLat;
use crate::observation::{
    BaseQuality, IntervalType, Qualifier, Reading, ReasonQuality, Report, Variable,
};

/// Collects the readings of reports: a row for each, in the order of the files.
///
/// | Column | Holds |
/// | --- | --- |
/// | `network`, `station`, `station_name` | the provider, its id of the station, the name if the file gives one |
/// | `lat`, `lon`, `altitude_m` | place and altitude, if the file gives them |
/// | `observation_name`, `unit` | the variable, and the unit of the values |
/// | `interval_type`, `interval_minutes` | what a value is of |
/// | `timestamp`, `value` | the time in UTC, to the millisecond; the value |
/// | `quality_base`, `quality_reason` | the verdict of the source; Unknown, None if it has none |
/// | `qualifier` | `trace`, `at_least`, `less_than`, or null |
/// | `group_bucket_name`, `calculated`, `revision` | the bucket of a grouped series; whether the value was derived; 0 or the number of the correction |
///
/// Columns that the bulk export has are named and coded as there; texts are dictionaries.
///
/// ```
/// use mesonet::feed::{FeedTable, FileContext, Kind};
/// let text = b"METAR KBUF 312354Z 21014KT 02/M07 A2973=\n";
/// let file = FileContext::new("sa.txt", 1_577_836_800_000);
/// let mut table = FeedTable::default();
/// Kind::MetarBulletin.read(&mut &text[..], &file, &mut |item| {
///     table.extend(item.into_report().iter());
/// })?;
/// let batch = table.finish()?;
/// assert_eq!(batch.num_rows(), 5);
/// assert_eq!(batch.schema().field(6).name(), "observation_name");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Default)]
pub struct FeedTable {
    network: Texts,
    station: Texts,
    station_name: Texts,
    lat: Float64Builder,
    lon: Float64Builder,
    altitude_m: Float64Builder,
    variable: Vec<i16>,
    unit: Texts,
    interval_type: Vec<i8>,
    interval_minutes: Int32Builder,
    ts_ms: Vec<i64>,
    value: Vec<f64>,
    base: Vec<i8>,
    reason: Vec<i8>,
    qualifier: Vec<Option<i8>>,
    bucket: Texts,
    calculated: BooleanBuilder,
    revision: UInt8Builder,
}

/// A column of texts that repeat: the key of each row, and the texts by their keys.
#[derive(Debug, Default)]
struct Texts {
    keys: Vec<Option<i32>>,
    known: HashMap<String, i32>,
    distinct: Vec<String>,
}

impl Texts {
    fn key(&mut self, text: &str) -> i32 {
        // Most rows have the text of the row before.
        if let Some(&Some(last)) = self.keys.last()
            && self.distinct[last as usize] == text
        {
            return last;
        }
        if let Some(&key) = self.known.get(text) {
            return key;
        }
        let key = self.distinct.len() as i32;
        self.distinct.push(text.to_owned());
        self.known.insert(text.to_owned(), key);
        key
    }

    fn push(&mut self, text: &str) {
        let key = self.key(text);
        self.keys.push(Some(key));
    }

    fn finish(self) -> Result<ArrayRef, ArrowError> {
        dictionary::<Int32Type>(self.keys, self.distinct.iter().map(String::as_str))
    }
}

fn dictionary<'a, K: ArrowDictionaryKeyType>(
    keys: impl IntoIterator<Item = Option<K::Native>>,
    texts: impl IntoIterator<Item = &'a str>,
) -> Result<ArrayRef, ArrowError> {
    let keys: PrimitiveArray<K> = PrimitiveArray::from_iter(keys);
    let texts: StringArray = texts.into_iter().map(Some).collect();
    Ok(Arc::new(DictionaryArray::try_new(keys, Arc::new(texts))?))
}

/// The place of an interval type among all.
fn code(kind: IntervalType) -> i8 {
    IntervalType::ALL.iter().position(|known| *known == kind).unwrap_or(0) as i8
}

impl FeedTable {
    /// The number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.value.len()
    }

    /// Whether there is no row.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.value.is_empty()
    }

    fn push(&mut self, station: &FeedStation, report: &Report, reading: &Reading) {
        let key = &reading.series;
        self.network.push(&station.network);
        self.station.push(&station.native_id);
        match &station.name {
            Some(name) => self.station_name.push(name),
            None => self.station_name.keys.push(None),
        }
        self.lat.append_option(station.place.map(LonLat::lat));
        self.lon.append_option(station.place.map(LonLat::lon));
        self.altitude_m.append_option(station.altitude_m);
        self.variable.push(i16::from(key.variable as u8));
        self.unit.push(&key.reported_unit);
        self.interval_type.push(code(key.interval_type));
        self.interval_minutes.append_value(key.interval_minutes);
        self.ts_ms.push(report.ts_ms);
        self.value.push(reading.value);
        self.base.push(reading.quality.base as i8);
        self.reason.push(reading.quality.reason as i8);
        self.qualifier.push(reading.qualifier.map(|qualifier| qualifier as i8 - 1));
        self.bucket.push(&key.bucket);
        self.calculated.append_value(key.calculated);
        self.revision.append_value(report.revision);
    }

    /// Makes the table of what was collected.
    ///
    /// # Errors
    /// More distinct texts than a dictionary holds.
    pub fn finish(mut self) -> Result<RecordBatch, ArrowError> {
        let ts_ms = TimestampMillisecondArray::from(self.ts_ms).with_timezone("UTC");
        let all = |keys: Vec<i8>| keys.into_iter().map(Some);
        let columns: Vec<ArrayRef> = vec![
            self.network.finish()?,
            self.station.finish()?,
            self.station_name.finish()?,
            Arc::new(self.lat.finish()),
            Arc::new(self.lon.finish()),
            Arc::new(self.altitude_m.finish()),
            dictionary::<Int16Type>(
                self.variable.into_iter().map(Some),
                Variable::ALL.iter().map(|variable| variable.name()),
            )?,
            self.unit.finish()?,
            dictionary::<Int8Type>(
                all(self.interval_type),
                IntervalType::ALL.map(IntervalType::name),
            )?,
            Arc::new(self.interval_minutes.finish()),
            Arc::new(ts_ms),
            Arc::new(PrimitiveArray::<arrow_array::types::Float64Type>::from(self.value)),
            dictionary::<Int8Type>(all(self.base), BaseQuality::ALL.map(BaseQuality::name))?,
            dictionary::<Int8Type>(all(self.reason), ReasonQuality::ALL.map(ReasonQuality::name))?,
            dictionary::<Int8Type>(self.qualifier, Qualifier::ALL.map(Qualifier::name))?,
            self.bucket.finish()?,
            Arc::new(self.calculated.finish()),
            Arc::new(self.revision.finish()),
        ];
        RecordBatch::try_new(schema(), columns)
    }
}

impl<'a> Extend<&'a FeedReport> for FeedTable {
    /// Adds the readings of reports, and what they say of earlier moments before them.
    fn extend<T: IntoIterator<Item = &'a FeedReport>>(&mut self, reports: T) {
        for FeedReport { station, report, earlier } in reports {
            for report in earlier.iter().chain([report]) {
                for reading in &report.readings {
                    self.push(station, report, reading);
                }
            }
        }
    }
}

fn schema() -> SchemaRef {
    let text = |key| DataType::Dictionary(Box::new(key), Box::new(DataType::Utf8));
    let field = |name: &str, kind| Field::new(name, kind, false);
    let may_lack = |name: &str, kind| Field::new(name, kind, true);
    let time = DataType::Timestamp(TimeUnit::Millisecond, Some("UTC".into()));
    Arc::new(Schema::new(vec![
        field("network", text(DataType::Int32)),
        field("station", text(DataType::Int32)),
        may_lack("station_name", text(DataType::Int32)),
        may_lack("lat", DataType::Float64),
        may_lack("lon", DataType::Float64),
        may_lack("altitude_m", DataType::Float64),
        field("observation_name", text(DataType::Int16)),
        field("unit", text(DataType::Int32)),
        field("interval_type", text(DataType::Int8)),
        field("interval_minutes", DataType::Int32),
        field("timestamp", time),
        field("value", DataType::Float64),
        field("quality_base", text(DataType::Int8)),
        field("quality_reason", text(DataType::Int8)),
        may_lack("qualifier", text(DataType::Int8)),
        field("group_bucket_name", text(DataType::Int32)),
        field("calculated", DataType::Boolean),
        field("revision", DataType::UInt8),
    ]))
}

#[cfg(test)]
#[path = "table_tests.rs"]
mod tests;
