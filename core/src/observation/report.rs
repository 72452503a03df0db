//! Reports: what a station measured at one moment, in canonical units and with verdicts.

use crate::observation::{Qualifier, Quality, SeriesKey, Station, StationId};

/// One value of one series.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    /// The series that the value belongs to.
    pub series: SeriesKey,
    /// The value, in the series' unit.
    pub value: f64,
    /// The verdict.
    pub quality: Quality,
    /// What the report says about the value in addition to the number; mostly `None`.
    pub qualifier: Option<Qualifier>,
}

impl Reading {
    /// Returns an unchecked reading without a qualifier.
    pub fn unchecked(series: SeriesKey, value: f64) -> Self {
        Self { series, value, quality: Quality::UNCHECKED, qualifier: None }
    }
}

/// The report of a station for one moment.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// The station.
    pub station: StationId,
    /// Time of the report, milliseconds since 1970 (UTC).
    pub ts_ms: i64,
    /// 0 for a first report, higher for each correction of it. A reading of the same or a higher
    /// revision replaces a reading, so a late copy of the first report does not undo a correction.
    pub revision: u8,
    /// Present-weather descriptions; `None` if the report says nothing about the weather.
    pub present_weather: Option<Vec<String>>,
    /// The values.
    pub readings: Vec<Reading>,
}

/// Stations and reports to be stored together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Batch {
    /// Stations that are new, have moved or were renamed.
    pub stations: Vec<Station>,
    /// Reports, in the order in which they came in.
    pub reports: Vec<Report>,
}
