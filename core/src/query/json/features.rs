//! Writes the latest readings of stations as GeoJSON (RFC 7946).

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;

use crate::geo::{FeatureType, LonLat};
use crate::observation::{BaseQuality, StationId, Variable};
use crate::query::{
    AnswerForm, AnswerReading, Away, CURRENT_AGE_MS, Readings, ShownUnit, StationDetail,
};
use crate::store::Directory;
use crate::time::Iso8601;

/// A station with its latest values.
#[derive(Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
struct ReadingFeature {
    r#type: FeatureType,
    /// Id of the station.
    id: StationId,
    geometry: PlaceOfReadings,
    properties: LatestValues,
}

#[derive(Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
struct PlaceOfReadings {
    r#type: PlaceType,
    coordinates: LonLat,
}

#[derive(Clone, Copy, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
enum PlaceType {
    Point,
}

/// A member for each variable that has a reading (`airTemperature`), and one for its unit
/// (`airTemperatureUnit`).
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
struct LatestValues {
    /// How far the station is from the place that was given, km; only then.
    #[serde(skip_serializing_if = "Option::is_none")]
    distance_km: Option<f64>,
    /// Bearing of the station at that place, degrees clockwise from north.
    #[serde(skip_serializing_if = "Option::is_none")]
    bearing: Option<f64>,
    network: String,
    name: String,
    /// Time of the newest of the readings.
    time: Iso8601,
    /// The local time with its offset from UTC; only where `tz` was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(format = DateTime))]
    local_time: Option<String>,
    /// The time zone of the local time.
    #[serde(skip_serializing_if = "Option::is_none")]
    time_zone: Option<String>,
    /// The worst verdict on the readings.
    quality: BaseQuality,
    #[serde(flatten)]
    #[cfg_attr(feature = "openapi", schema(value_type = BTreeMap<String, Value>, inline))]
    values: BTreeMap<String, Value>,
}

/// Writes a snapshot of readings as a GeoJSON FeatureCollection: a Feature for each station, so that a
/// map can show the values as they are.
///
/// Of several series of a variable, the value is that which a grid would have at the end of the window:
/// of the series that are at most 90 minutes old the most instantaneous, else the newest.
///
/// ```
/// # use mesonet::{Intake, MemoryStore, intake::FeedFile};
/// # let csv = "raw_text,station_id,observation_time,latitude,longitude\n\
/// #     CYYZ 032000Z 24012KT 15SM 29/17 A2991,CYYZ,2024-08-03T20:00:00Z,43.68,-79.63\n";
/// # let store = MemoryStore::default();
/// # Intake::default().read_file(&store, csv.as_bytes(), &FeedFile::new("metars.csv", 0))?;
/// // The store has one report of Toronto Pearson: 29 °C.
/// use mesonet::query::json::FeaturesWriter;
/// use mesonet::query::{AnswerForm, Caps, ReadingsQuery, readings};
/// use mesonet::{Reader, Variable};
/// let query = ReadingsQuery::latest(vec![Variable::AirTemperature], 1_722_715_200_000, 1)?;
/// let answer = readings(&store, &query, Caps::default())?;
/// let end_ms = query.window.end_ms();
/// let mut writer =
///     FeaturesWriter::new(answer, store.directory()?, end_ms, AnswerForm::default());
/// let mut text = Vec::new();
/// while !writer.write(&mut text, 64 * 1024)? {}
/// let geojson: serde_json::Value = serde_json::from_slice(&text)?;
/// let station = &geojson["features"][0];
/// assert_eq!(station["geometry"]["coordinates"], serde_json::json!([-79.63, 43.68]));
/// assert_eq!(station["properties"]["airTemperature"], 29.0);
/// assert_eq!(station["properties"]["airTemperatureUnit"], "°C");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct FeaturesWriter {
    answer: Readings,
    directory: Arc<Directory>,
    end_ms: i64,
    form: AnswerForm,
    units: Vec<ShownUnit>,
    away: HashMap<StationId, Away>,
    /// The next station, and the first of its cells.
    station: usize,
    cell: usize,
    has_features: bool,
}

impl FeaturesWriter {
    /// Creates a writer for a snapshot, the stations on record and the end of the window.
    pub fn new(answer: Readings, directory: Arc<Directory>, end_ms: i64, form: AnswerForm) -> Self {
        let units = answer.series.iter().map(|of| form.unit(&of.key)).collect();
        let (away, station, cell) = (HashMap::new(), 0, 0);
        let has_features = false;
        Self { answer, directory, end_ms, form, units, away, station, cell, has_features }
    }

    /// Gives stations their distance and their bearing.
    #[must_use]
    pub fn with_distances(self, away: HashMap<StationId, Away>) -> Self {
        Self { away, ..self }
    }

    /// Returns how many bytes of memory the answer takes.
    pub fn held_bytes(&self) -> usize {
        self.answer.cells.capacity() * size_of::<AnswerReading>()
            + self.answer.stations.capacity() * size_of::<(StationId, usize)>()
    }

    /// Continues writing until the text is at least `until_bytes` long or the answer ends; returns
    /// whether it ended.
    ///
    /// # Errors
    /// `serde_json` cannot write a station.
    pub fn write(&mut self, text: &mut Vec<u8>, until_bytes: usize) -> io::Result<bool> {
        if self.station == 0 {
            text.extend_from_slice(b"{\"type\":\"FeatureCollection\",\"features\":[");
        }
        while let Some(&(id, end)) = self.answer.stations.get(self.station) {
            let feature = self.feature(id, &self.answer.cells[self.cell..end]);
            (self.station, self.cell) = (self.station + 1, end);
            if let Some(feature) = feature {
                if std::mem::replace(&mut self.has_features, true) {
                    text.push(b',');
                }
                serde_json::to_writer(&mut *text, &feature)?;
            }
            if text.len() >= until_bytes {
                return Ok(false);
            }
        }
        text.extend_from_slice(b"]}");
        Ok(true)
    }

    fn feature(&self, id: StationId, cells: &[AnswerReading]) -> Option<ReadingFeature> {
        let place = self.directory.stations.place(id)?;
        let record = &self.directory.stations[place];
        let mut latest: BTreeMap<Variable, &AnswerReading> = BTreeMap::new();
        for cell in cells {
            let variable = self.answer.series[cell.series as usize].key.variable;
            let known = latest.entry(variable).or_insert(cell);
            if self.merit(cell) > self.merit(known) {
                *known = cell;
            }
        }
        let mut values = BTreeMap::new();
        for (variable, cell) in &latest {
            let unit = &self.units[cell.series as usize];
            values.insert(variable.name().to_owned(), unit.value(cell.value).into());
            values.insert(format!("{variable}Unit"), unit.symbol().into());
        }
        let time_ms = latest.values().map(|cell| cell.ts_ms).max()?;
        let clock = self.form.clock_of(id);
        let away = self.away.get(&id);
        let detail = StationDetail {
            record: Arc::clone(record),
            qualities: Vec::new(),
            shares_name: self.directory.shares_name(place),
        };
        Some(ReadingFeature {
            r#type: FeatureType::Feature,
            id,
            geometry: PlaceOfReadings {
                r#type: PlaceType::Point,
                coordinates: record.station.coordinates,
            },
            properties: LatestValues {
                distance_km: away.map(|away| away.shown_km()),
                bearing: away.map(|away| away.shown_bearing_deg()),
                network: record.station.network.clone(),
                name: detail.shown_name().into_owned(),
                time: Iso8601(time_ms),
                local_time: clock.map(|clock| clock.text(time_ms)),
                time_zone: clock.map(|clock| clock.name().to_owned()),
                quality: latest.values().map(|cell| cell.quality.base).min()?,
                values,
            },
        })
    }

    /// What makes a series the one that is shown: the greatest wins.
    fn merit(&self, cell: &AnswerReading) -> impl Ord {
        let series = &self.answer.series[cell.series as usize];
        let is_current = cell.ts_ms >= self.end_ms.saturating_sub(CURRENT_AGE_MS);
        let newest = if is_current { i64::MAX } else { cell.ts_ms };
        (newest, std::cmp::Reverse(series.preference))
    }
}

#[cfg(test)]
#[path = "features_tests.rs"]
mod tests;
