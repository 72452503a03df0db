//! The JSON form of readings that the interface defines. [`ReadingsWriter`](super::ReadingsWriter)
//! writes the same bytes faster.

use serde::ser::{Serialize, Serializer};

use crate::observation::{Qualifier, Quality, SeriesId};
use crate::query::{AnswerReading, Coarsening, Readings};
use crate::time::{Iso8601, Step};

/// Readings by station.
#[derive(serde::Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = Readings))]
struct Answer<'a> {
    /// By station id; stations without readings are left out.
    #[cfg_attr(
        feature = "openapi",
        schema(value_type = std::collections::BTreeMap<String, StationReadings<'static>>)
    )]
    stations: Stations<'a>,
    /// The step of the grid in minutes, as used; only where one was requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    step: Option<i64>,
    /// Why the step is not the requested one; only where it is not.
    #[serde(skip_serializing_if = "Option::is_none")]
    coarsening: Option<&'a Coarsening>,
}

described_as!(Readings, Answer<'static>);

struct Stations<'a>(&'a Readings);

#[derive(serde::Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
struct StationReadings<'a> {
    /// How far the station is from the place that was given, km; only then.
    #[serde(skip_serializing_if = "Option::is_none")]
    distance_km: Option<f64>,
    /// Bearing of the station at that place, degrees clockwise from north.
    #[serde(skip_serializing_if = "Option::is_none")]
    bearing: Option<f64>,
    /// The time zone of the local times; only where `tz` was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    time_zone: Option<String>,
    /// By time, then in the order of the names, then by series.
    readings: Vec<Reading<'a>>,
}

#[derive(serde::Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
struct Reading<'a> {
    timestamp: Iso8601,
    /// The local time with its offset from UTC; only where `tz` was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(format = DateTime))]
    local_timestamp: Option<String>,
    /// Name of the variable.
    r#type: &'a str,
    /// The series: an id among the `types` of the station.
    type_id: SeriesId,
    /// Unit of the value; only where units were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    unit: Option<String>,
    /// In the unit of the series, or in `unit`.
    value: f64,
    quality: Quality,
    #[serde(skip_serializing_if = "Option::is_none")]
    qualifier: Option<Qualifier>,
    /// Seconds between the time of the grid and the reading; only of grids.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<i32>))]
    age: Option<u32>,
}

impl<'a> Reading<'a> {
    fn new(answer: &'a Readings, cell: &AnswerReading) -> Self {
        let series = &answer.series[cell.series as usize];
        Self {
            timestamp: Iso8601(cell.ts_ms),
            local_timestamp: None,
            r#type: series.key.variable.name(),
            type_id: series.id,
            unit: None,
            value: cell.value,
            quality: cell.quality,
            qualifier: cell.qualifier,
            age: answer.step.map(|_| cell.age_s),
        }
    }
}

impl Serialize for Readings {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let step = self.step.map(Step::minutes);
        let coarsening = self.coarsening.as_ref();
        Answer { stations: Stations(self), step, coarsening }.serialize(serializer)
    }
}

impl Serialize for Stations<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let of_station = |cells: &[AnswerReading]| StationReadings {
            distance_km: None,
            bearing: None,
            time_zone: None,
            readings: cells.iter().map(|cell| Reading::new(self.0, cell)).collect(),
        };
        serializer.collect_map(self.0.by_station().map(|(id, cells)| (id, of_station(cells))))
    }
}
