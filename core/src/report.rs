//! A report: what one station says of one moment, in canonical units and with verdicts.

use crate::quality::Quality;
use crate::series::SeriesKey;
use crate::station::{Station, StationId};

/// One value of one series.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    /// The series that the value belongs to.
    pub series: SeriesKey,
    /// The value, in the series' unit.
    pub value: f64,
    /// The verdict.
    pub quality: Quality,
}

/// What one station says of one moment.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// The station.
    pub station: StationId,
    /// Time of the report, milliseconds since 1970 (UTC).
    pub ts_ms: i64,
    /// 0 for a first report, higher for each correction of it. A reading is replaced by one of the
    /// same or a higher revision, so a late copy of the first report does not undo a correction.
    pub revision: u8,
    /// Present-weather descriptions; `None` where the report says nothing of the weather.
    pub present_weather: Option<Vec<String>>,
    /// The values.
    pub readings: Vec<Reading>,
}

/// What comes in at once: stations first met or changed, and reports.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Batch {
    /// Stations that are new, have moved or were renamed.
    pub stations: Vec<Station>,
    /// Reports, in the order in which they came in.
    pub reports: Vec<Report>,
}
