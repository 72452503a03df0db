//! The readings of feed files as one Arrow table.

use std::sync::Arc;

use arrow_array::builder::PrimitiveBuilder;
use arrow_array::types::{
    ArrowDictionaryKeyType, ArrowPrimitiveType, Float64Type, Int8Type, Int16Type, Int32Type,
};
use arrow_array::{
    ArrayRef, BooleanArray, DictionaryArray, Float64Array, Int8Array, Int16Array, Int32Array,
    PrimitiveArray, RecordBatch, StringArray, TimestampMillisecondArray, UInt8Array,
};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef, TimeUnit};

use super::columns::{ReadingColumns, ReportRow, Texts};
use super::item::FeedReport;
use crate::geo::LonLat;
use crate::observation::{BaseQuality, IntervalType, Qualifier, ReasonQuality, Variable};

/// Collects the readings of reports: one row per reading, in the order of the files.
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
/// assert_eq!(batch.num_rows(), 6);
/// assert_eq!(batch.schema().field(6).name(), "observation_name");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Default)]
pub struct FeedTable(ReadingColumns);

fn dictionary<'a, K: ArrowDictionaryKeyType>(
    keys: PrimitiveArray<K>,
    texts: impl IntoIterator<Item = &'a str>,
) -> Result<ArrayRef, ArrowError> {
    let texts: StringArray = texts.into_iter().map(Some).collect();
    Ok(Arc::new(DictionaryArray::try_new(keys, Arc::new(texts))?))
}

/// A column of the reports, repeated for each of their readings.
struct PerReading<'a> {
    reports: &'a [ReportRow],
    rows: usize,
}

impl PerReading<'_> {
    fn all<T: Clone>(&self, of: impl Fn(&ReportRow) -> T) -> Vec<T> {
        let mut all = Vec::with_capacity(self.rows);
        for report in self.reports {
            all.extend(std::iter::repeat_n(of(report), report.readings));
        }
        all
    }

    fn texts(&self, texts: &Texts, of: impl Fn(&ReportRow) -> u32) -> Result<ArrayRef, ArrowError> {
        by_place(self.all(|report| of(report) as i32).into(), texts)
    }

    /// The same for a column that some reports lack.
    fn some<T: ArrowPrimitiveType>(
        &self,
        of: impl Fn(&ReportRow) -> Option<T::Native>,
    ) -> PrimitiveArray<T> {
        let mut all = PrimitiveBuilder::with_capacity(self.rows);
        for report in self.reports {
            match of(report) {
                Some(value) => all.append_value_n(value, report.readings),
                None => all.append_nulls(report.readings),
            }
        }
        all.finish()
    }
}

fn by_place(places: Int32Array, texts: &Texts) -> Result<ArrayRef, ArrowError> {
    dictionary::<Int32Type>(places, texts.all().iter().map(String::as_str))
}

impl FeedTable {
    /// The number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.values.len()
    }

    /// Whether there is no row.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.values.is_empty()
    }

    /// Makes the table from the collected readings.
    ///
    /// # Errors
    /// If there are more distinct texts than a dictionary holds.
    pub fn finish(self) -> Result<RecordBatch, ArrowError> {
        let rows = self.len();
        let ReadingColumns { networks, stations, station_names, units, buckets, .. } = self.0;
        let of = PerReading { reports: &self.0.reports, rows };
        let names = of.some::<Int32Type>(|report| report.station_name.map(|place| place as i32));
        let lat = of.some::<Float64Type>(|report| report.place.map(LonLat::lat));
        let lon = of.some::<Float64Type>(|report| report.place.map(LonLat::lon));
        let altitude_m = of.some::<Float64Type>(|report| report.altitude_m);
        let ts_ms = TimestampMillisecondArray::from(of.all(|report| report.ts_ms));
        let revision = UInt8Array::from(of.all(|report| report.revision));
        let keys = |places: Vec<u32>| places.into_iter().map(|place| place as i32).collect();
        let (unit_keys, bucket_keys): (Vec<_>, Vec<_>) =
            (keys(self.0.unit_places), keys(self.0.bucket_places));
        let variables: Vec<_> = self.0.variables.iter().map(|of| i16::from(*of as u8)).collect();
        let intervals: Vec<_> = self.0.interval_types.into_iter().map(|of| of as i8).collect();
        let bases: Vec<_> = self.0.qualities.iter().map(|of| of.base as i8).collect();
        let reasons: Vec<_> = self.0.qualities.iter().map(|of| of.reason as i8).collect();
        let qualifiers: Int8Array =
            self.0.qualifiers.iter().map(|of| of.map(|of| of as i8 - 1)).collect();
        let columns: Vec<ArrayRef> = vec![
            of.texts(&networks, |report| report.network)?,
            of.texts(&stations, |report| report.station)?,
            by_place(names, &station_names)?,
            Arc::new(lat),
            Arc::new(lon),
            Arc::new(altitude_m),
            dictionary::<Int16Type>(
                Int16Array::from(variables),
                Variable::ALL.iter().map(|variable| variable.name()),
            )?,
            by_place(unit_keys.into(), &units)?,
            dictionary::<Int8Type>(intervals.into(), IntervalType::ALL.map(IntervalType::name))?,
            Arc::new(Int32Array::from(self.0.interval_minutes)),
            Arc::new(ts_ms.with_timezone("UTC")),
            Arc::new(Float64Array::from(self.0.values)),
            dictionary::<Int8Type>(bases.into(), BaseQuality::ALL.map(BaseQuality::name))?,
            dictionary::<Int8Type>(reasons.into(), ReasonQuality::ALL.map(ReasonQuality::name))?,
            dictionary::<Int8Type>(qualifiers, Qualifier::ALL.map(Qualifier::name))?,
            by_place(bucket_keys.into(), &buckets)?,
            Arc::new(BooleanArray::from(self.0.calculated)),
            Arc::new(revision),
        ];
        RecordBatch::try_new(schema(), columns)
    }
}

impl<'a> Extend<&'a FeedReport> for FeedTable {
    /// Adds the readings of reports, preceded by their readings of earlier moments.
    fn extend<T: IntoIterator<Item = &'a FeedReport>>(&mut self, reports: T) {
        self.0.extend(reports);
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
