//! The rows of the tables, as they are on the wire.

use std::ops::RangeInclusive;

use clickhouse::Row;
use mesonet::StationId;
use serde::ser::SerializeTuple;
use serde::{Deserialize, Serialize, Serializer};

/// A station's UUID on the wire: its upper and its lower half. They sort as the ids do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct StationKey((u64, u64));

impl From<StationId> for StationKey {
    fn from(id: StationId) -> Self {
        let both = u128::from_be_bytes(*id.as_bytes());
        Self(((both >> 64) as u64, both as u64))
    }
}

impl From<StationKey> for StationId {
    fn from(StationKey((upper, lower)): StationKey) -> Self {
        Self::from_bytes(((u128::from(upper) << 64) | u128::from(lower)).to_be_bytes())
    }
}

impl StationKey {
    /// Which shard has the readings of the station. The lower half of an id is part of a hash, so
    /// all shards have about the same number of stations.
    pub(crate) fn shard(self, shards: usize) -> usize {
        (self.0.1 % shards.max(1) as u64) as usize
    }
}

/// A list behind `IN`, in round brackets. It must not be empty.
pub(crate) struct SqlList<'a, T>(pub &'a [T]);

impl<T: Serialize> Serialize for SqlList<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_tuple(self.0.len())?;
        for item in self.0 {
            list.serialize_element(item)?;
        }
        list.end()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Row, Serialize, Deserialize)]
pub(crate) struct WriterRow {
    pub number: u64,
    pub mark: u64,
}

#[derive(Clone, Debug, Row, Serialize)]
pub(crate) struct MigrationRow {
    pub number: u32,
    pub name: String,
}

#[derive(Clone, Debug, PartialEq, Row, Serialize, Deserialize)]
pub(crate) struct ShardRow {
    pub position: u32,
    pub shard: String,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Row, Serialize, Deserialize)]
pub(crate) struct BatchRow {
    pub batch: u64,
    pub state: u8,
    pub generation: u64,
    pub places_generation: u64,
}

#[derive(Clone, Debug, Row, Serialize, Deserialize)]
pub(crate) struct SeriesRow {
    pub series: i32,
    pub batch: u64,
    pub variable: String,
    pub interval_type: String,
    pub interval_minutes: i32,
    pub calculated: bool,
    pub reported_unit: String,
    pub bucket: String,
}

#[derive(Clone, Debug, Row, Serialize, Deserialize)]
pub(crate) struct StationRow {
    pub station: StationKey,
    pub batch: u64,
    pub written_day: i32,
    pub network: String,
    pub native_id: String,
    pub name: String,
    pub station_type: String,
    pub longitude: f64,
    pub latitude: f64,
    pub sensor_height_m: f64,
    pub altitude_m: Option<f64>,
    pub id_schemes: Vec<String>,
    pub ids: Vec<String>,
    pub update_time_ms: Option<i64>,
    pub weather_known: bool,
    pub weather_ts_ms: i64,
    pub weather_revision: u8,
    pub weather: Vec<String>,
    pub series: Vec<i32>,
    pub first_ms: Vec<i64>,
    pub newest_ms: Vec<i64>,
    pub readings: Vec<u64>,
}

#[derive(Clone, Debug, Row, Serialize, Deserialize)]
pub(crate) struct EarlierPlacesRow {
    pub station: StationKey,
    pub batch: u64,
    pub written_day: i32,
    pub until_ms: Vec<i64>,
    pub longitude: Vec<f64>,
    pub latitude: Vec<f64>,
}

/// What a batch changed.
#[derive(Clone, Debug, PartialEq, Row, Serialize, Deserialize)]
pub(crate) struct ChangesRow {
    pub batch: u64,
    pub written_day: i32,
    /// The batch before it.
    pub after: u64,
    /// The days of its readings, since 1970.
    pub days: Vec<i64>,
    /// How many readings.
    pub readings: u64,
    /// Which of them got only another verdict: the first and the end of each range of positions.
    pub revised: Vec<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Row, Serialize, Deserialize)]
pub(crate) struct ReadingRow {
    pub station: StationKey,
    pub series: i32,
    pub ts_ms: i64,
    pub version: u16,
    pub batch: u64,
    pub value: f64,
    pub quality: u8,
    pub source: u8,
    pub revision: u8,
    pub qualifier: u8,
}

#[derive(Clone, Debug, Row, Serialize, Deserialize)]
pub(crate) struct AlertRow {
    pub id: String,
    pub change: u64,
    pub deleted: bool,
    pub message: String,
}

#[derive(Clone, Debug, Row, Serialize, Deserialize)]
pub(crate) struct MarkRow {
    pub name: String,
    pub change: u64,
    pub value: String,
}

#[derive(Clone, Debug, PartialEq, Row, Serialize, Deserialize)]
pub(crate) struct ApiKeyRow {
    pub digest: String,
    pub label: String,
    pub issued_ms: i64,
    pub expires_ms: i64,
    pub revoked_ms: i64,
    pub last_used_ms: i64,
}

/// The last reading of a series, with its time and version in one number.
#[derive(Clone, Copy, Debug, Row, Deserialize)]
pub(crate) struct LatestRow {
    pub station: StationKey,
    pub series: i32,
    pub newest: i64,
    pub value: f64,
    pub quality: u8,
    pub source: u8,
    pub revision: u8,
    pub qualifier: u8,
}

impl LatestRow {
    /// Times beyond these limits, in the years -260 and 4199, are not packed with a version.
    pub(crate) const TIMES_MS: RangeInclusive<i64> = -(1 << 46)..=1 << 46;
    const VERSIONS: i64 = 1 << 16;

    /// The reading; the query does not ask for its batch.
    pub(crate) fn reading(self) -> ReadingRow {
        let Self { station, series, newest, value, quality, source, revision, qualifier } = self;
        let ts_ms = newest.div_euclid(Self::VERSIONS);
        let version = newest.rem_euclid(Self::VERSIONS) as u16;
        let batch = 0;
        ReadingRow {
            station,
            series,
            ts_ms,
            version,
            batch,
            value,
            quality,
            source,
            revision,
            qualifier,
        }
    }
}

#[derive(Clone, Debug, Row, Deserialize)]
pub(crate) struct PartitionRow {
    pub id: String,
    pub rows: u64,
}

#[derive(Clone, Debug, PartialEq, Row, Serialize, Deserialize)]
pub(crate) struct WeatherRow {
    pub station: StationKey,
    pub ts_ms: i64,
    pub version: u16,
    pub batch: u64,
    pub revision: u8,
    pub words: Vec<String>,
}

#[cfg(test)]
#[path = "rows_tests.rs"]
mod tests;
