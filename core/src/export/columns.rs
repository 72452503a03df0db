//! Rows as Arrow record batches: the columns of the CSV, texts as dictionaries.

use std::sync::Arc;

use arrow_array::builder::StringBuilder;
use arrow_array::types::{ArrowDictionaryKeyType, Int8Type, Int32Type};
use arrow_array::{
    ArrayRef, DictionaryArray, Float64Array, Int32Array, PrimitiveArray, RecordBatch, StringArray,
    TimestampMillisecondArray,
};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef, TimeUnit};

use super::AddedColumns;
use super::csv::{COLUMNS, LOCAL_TIMESTAMP, QUALIFIER, STATION_ID, UNIT};
use super::page_rows::Visit;
use super::track::Track;
use crate::observation::{
    BaseQuality, IntervalType, Qualifier, QualityCode, ReasonQuality, Series, StationId,
};
use crate::query::ShownUnit;
use crate::query::rows::Row;
use crate::time::{InstantWriter, LocalClock};

/// Collects rows until they are taken as a batch.
#[derive(Debug)]
pub(super) struct ExportColumns {
    schema: SchemaRef,
    added: AddedColumns,
    station: Option<StationId>,
    track: Track,
    names: Texts,
    buckets: Texts,
    /// For each series: key of the interval type, minutes.
    intervals: Vec<(i8, i32)>,
    interval_types: ArrayRef,
    bases: ArrayRef,
    reasons: ArrayRef,
    series: Vec<usize>,
    ts_ms: Vec<i64>,
    value: Vec<f64>,
    quality: Vec<QualityCode>,
    /// Of the rows up to the last station that began before this one.
    places: (Vec<f64>, Vec<f64>),
    /// Their codes, if there is a column of them.
    qualifiers: Option<Vec<u8>>,
    /// By series, if there is a column of them: how values are shown, and the column.
    units: Option<(Vec<ShownUnit>, Texts)>,
    /// The clock of the station, and the local times if there is a column of them.
    clock: Option<Arc<LocalClock>>,
    local_instants: InstantWriter,
    local_times: StringBuilder,
    /// Its own key for each station of the batch, if there is a column of them.
    stations: Vec<String>,
    station_keys: Vec<i32>,
}

/// The distinct texts of the series, and for each series the key of its text.
#[derive(Debug)]
pub(super) struct Texts {
    values: ArrayRef,
    keys: Vec<i32>,
}

impl Texts {
    pub(super) fn new<'a>(of_series: impl Iterator<Item = &'a str>) -> Self {
        let mut distinct: Vec<&str> = Vec::new();
        let keys = of_series.map(|text| {
            let known = distinct.iter().position(|known| *known == text);
            known.unwrap_or_else(|| {
                distinct.push(text);
                distinct.len() - 1
            }) as i32
        });
        let keys = keys.collect();
        Self { values: texts(distinct), keys }
    }

    pub(super) fn column(&self, series: &[usize]) -> Result<ArrayRef, ArrowError> {
        dictionary::<Int32Type>(series.iter().map(|&series| self.keys[series]), &self.values)
    }
}

pub(super) fn texts<'a>(texts: impl IntoIterator<Item = &'a str>) -> ArrayRef {
    Arc::new(texts.into_iter().map(Some).collect::<StringArray>())
}

pub(super) fn dictionary<K: ArrowDictionaryKeyType>(
    keys: impl Iterator<Item = K::Native>,
    values: &ArrayRef,
) -> Result<ArrayRef, ArrowError> {
    let keys = PrimitiveArray::<K>::from_iter_values(keys);
    Ok(Arc::new(DictionaryArray::try_new(keys, Arc::clone(values))?))
}

impl ExportColumns {
    pub(super) fn new<'a>(
        series: impl Iterator<Item = &'a Series> + Clone,
        added: AddedColumns,
    ) -> Self {
        let units = added.form.units.as_ref().map(|_| {
            let units: Vec<_> = series.clone().map(|of| added.form.unit(&of.key)).collect();
            let symbols = Texts::new(units.iter().map(ShownUnit::symbol));
            (units, symbols)
        });
        let keys = series.map(|series| &series.key);
        let interval_type = |kind: IntervalType| {
            IntervalType::ALL.iter().position(|known| *known == kind).unwrap_or(0) as i8
        };
        Self {
            schema: schema(&added),
            station: None,
            track: Track::default(),
            names: Texts::new(keys.clone().map(|key| key.variable.name())),
            buckets: Texts::new(keys.clone().map(|key| &*key.bucket)),
            intervals: keys
                .map(|key| (interval_type(key.interval_type), key.interval_minutes))
                .collect(),
            interval_types: texts(IntervalType::ALL.map(IntervalType::name)),
            bases: texts(BaseQuality::ALL.map(BaseQuality::name)),
            reasons: texts(ReasonQuality::ALL.map(ReasonQuality::name)),
            series: Vec::new(),
            ts_ms: Vec::new(),
            value: Vec::new(),
            quality: Vec::new(),
            places: (Vec::new(), Vec::new()),
            qualifiers: added.qualifiers.then(Vec::new),
            units,
            clock: None,
            local_instants: InstantWriter::default(),
            local_times: StringBuilder::new(),
            stations: Vec::new(),
            station_keys: Vec::new(),
            added,
        }
    }

    pub(super) fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// The rows since the last batch.
    pub(super) fn take(&mut self) -> Result<RecordBatch, ArrowError> {
        let series = std::mem::take(&mut self.series);
        let quality = std::mem::take(&mut self.quality);
        self.place_rows();
        let verdicts = || quality.iter().map(|code| code.quality());
        let interval = || series.iter().map(|&series| self.intervals[series]);
        let (lat, lon) = std::mem::take(&mut self.places);
        let ts_ms = TimestampMillisecondArray::from(std::mem::take(&mut self.ts_ms));
        let mut columns: Vec<ArrayRef> = vec![
            Arc::new(Float64Array::from(lat)),
            Arc::new(Float64Array::from(lon)),
            self.names.column(&series)?,
            dictionary::<Int8Type>(interval().map(|(kind, _)| kind), &self.interval_types)?,
            Arc::new(Int32Array::from_iter_values(interval().map(|(_, minutes)| minutes))),
            Arc::new(ts_ms.with_timezone("UTC")),
            Arc::new(Float64Array::from(std::mem::take(&mut self.value))),
            dictionary::<Int8Type>(verdicts().map(|verdict| verdict.base as i8), &self.bases)?,
            dictionary::<Int8Type>(verdicts().map(|verdict| verdict.reason as i8), &self.reasons)?,
            self.buckets.column(&series)?,
        ];
        if let Some(codes) = self.qualifiers.as_mut().map(std::mem::take) {
            let names = texts(Qualifier::ALL.map(Qualifier::name));
            let keys = codes.iter().map(|&code| (code > 0).then(|| code as i8 - 1));
            let keys: PrimitiveArray<Int8Type> = keys.collect();
            columns.push(Arc::new(DictionaryArray::try_new(keys, names)?));
        }
        if let Some((_, symbols)) = &self.units {
            columns.push(symbols.column(&series)?);
        }
        if self.added.form.clock.is_some() {
            columns.push(Arc::new(self.local_times.finish()));
        }
        if self.added.stations {
            let ids = texts(self.stations.iter().map(String::as_str));
            columns.push(dictionary::<Int32Type>(self.station_keys.drain(..), &ids)?);
            // The next batch may begin with the same station.
            self.stations.drain(..self.stations.len().saturating_sub(1));
        }
        RecordBatch::try_new(Arc::clone(&self.schema), columns)
    }

    /// Gives latitude and longitude to the rows of the station.
    fn place_rows(&mut self) {
        let (lat, lon) = &mut self.places;
        let mut from = lat.len();
        while let Some(&first_ms) = self.ts_ms.get(from) {
            let ((lat_here, lon_here), until_ms) = self.track.at(first_ms);
            // Rows of a station are sorted by time. A row at the end of time is looked up by itself.
            from += self.ts_ms[from..].partition_point(|&ts_ms| ts_ms < until_ms).max(1);
            lat.resize(from, lat_here);
            lon.resize(from, lon_here);
        }
    }
}

impl Visit for ExportColumns {
    fn station(&mut self, station: StationId, track: &Track) {
        if self.station == Some(station) {
            return;
        }
        self.place_rows();
        self.station = Some(station);
        self.track = track.clone();
        self.clock = self.added.form.clock_of(station).cloned();
        if self.added.stations {
            // One without rows leaves its place to this one.
            self.stations.truncate(self.station_keys.last().map_or(0, |&key| key as usize + 1));
            self.stations.push(station.to_string());
        }
    }

    fn row(&mut self, row: &Row) {
        self.series.push(row.series);
        self.ts_ms.push(row.ts_ms);
        let units = self.units.as_ref();
        self.value.push(units.map_or(row.value, |(units, _)| units[row.series].value(row.value)));
        self.quality.push(row.quality);
        if let Some(qualifiers) = &mut self.qualifiers {
            qualifiers.push(row.qualifier);
        }
        if self.added.form.clock.is_some() {
            let local = self.clock.as_ref().map(|clock| {
                let mut text = Vec::with_capacity(30);
                clock.write(row.ts_ms, &mut self.local_instants, &mut text);
                String::from_utf8(text).unwrap_or_default()
            });
            self.local_times.append_option(local);
        }
        if self.added.stations {
            self.station_keys.push(self.stations.len() as i32 - 1);
        }
    }
}

pub(super) fn schema(added: &AddedColumns) -> SchemaRef {
    let text = |key| DataType::Dictionary(Box::new(key), Box::new(DataType::Utf8));
    let kinds = [
        DataType::Float64,
        DataType::Float64,
        text(DataType::Int32),
        text(DataType::Int8),
        DataType::Int32,
        DataType::Timestamp(TimeUnit::Millisecond, Some("UTC".into())),
        DataType::Float64,
        text(DataType::Int8),
        text(DataType::Int8),
        text(DataType::Int32),
    ];
    let fields = COLUMNS.into_iter().zip(kinds).map(|(name, kind)| Field::new(name, kind, false));
    let added = added.names().map(|name| match name {
        QUALIFIER => Field::new(name, text(DataType::Int8), true),
        LOCAL_TIMESTAMP => Field::new(name, DataType::Utf8, true),
        UNIT | STATION_ID => Field::new(name, text(DataType::Int32), false),
        _ => Field::new(name, DataType::Utf8, false),
    });
    Arc::new(Schema::new(fields.chain(added).collect::<Vec<_>>()))
}
