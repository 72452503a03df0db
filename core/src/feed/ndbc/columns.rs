//! The meaning of the columns of NDBC's files.

use crate::observation::IntervalType;
use crate::observation::IntervalType::{Average, Cumulative, Instantaneous, Max, Min};
#[allow(clippy::enum_glob_use, reason = "a table of variables")]
use crate::observation::Variable::{self, *};
use crate::time::HOUR_MS;

/// The family of an NDBC table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Family {
    /// `.txt`, and the latest observations: standard meteorological data.
    Standard,
    /// `.drift`: the same for drifting buoys, with their position.
    Drift,
    /// `.cwind`: continuous winds.
    ContinuousWinds,
    /// `.supl`: lowest pressure and highest wind.
    Supplemental,
    /// `.srad`: radiation.
    Radiation,
    /// `.ocean`: the water at a depth.
    Ocean,
    /// `.rain`: hourly rain.
    Rain,
    /// `.spec`: summary of the wave spectrum.
    WaveSummary,
    /// `.dart`: height of the water column.
    WaterColumn,
}

/// The meaning of the values of a column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum NdbcMeaning {
    /// At the moment of the row.
    Moment(Variable),
    /// A mean, or a maximum, over the minutes over which the station averages the wind.
    Wind(Variable, IntervalType),
    /// Over this many minutes, ending with the row.
    Over(Variable, IntervalType, i32),
    /// Over the time since the previous row.
    SinceLastRow(Variable, IntervalType),
    /// At the moment of the row, if the depth is 1 m.
    AtOneMetre(Variable),
    /// The depth of the row's other values, in metres.
    Depth,
    /// The place or time at which another value of the row was measured.
    Beside,
    /// A quantity for which the service has no variable.
    Nothing,
}

/// A known column.
pub(super) struct NdbcColumn {
    pub name: &'static str,
    /// The unit that NDBC documents, for tables without units.
    pub unit: &'static str,
    /// The nines that stand for a missing value.
    pub missing: f64,
    pub meaning: NdbcMeaning,
}

const fn column(
    name: &'static str,
    unit: &'static str,
    missing: f64,
    meaning: NdbcMeaning,
) -> NdbcColumn {
    NdbcColumn { name, unit, missing, meaning }
}

use NdbcMeaning::{AtOneMetre, Beside, Depth, Moment, Nothing, Over, SinceLastRow, Wind};

const STANDARD: &[NdbcColumn] = &[
    column("WDIR", "degT", 999.0, Wind(WindDirection, Average)),
    column("WD", "degT", 999.0, Wind(WindDirection, Average)),
    column("WSPD", "m/s", 99.0, Wind(WindSpeed, Average)),
    column("GST", "m/s", 99.0, Wind(WindGust, Max)),
    column("WVHT", "m", 99.0, Over(WaveHeight, Average, 20)),
    column("DPD", "sec", 99.0, Over(WavePeriodPeak, Average, 20)),
    column("APD", "sec", 99.0, Over(WavePeriodAverage, Average, 20)),
    column("MWD", "degT", 999.0, Over(WaveDirection, Average, 20)),
    column("PRES", "hPa", 9999.0, Moment(Mslp)),
    column("BAR", "hPa", 9999.0, Moment(Mslp)),
    column("ATMP", "degC", 999.0, Moment(AirTemperature)),
    column("WTMP", "degC", 999.0, Moment(SeaSurfaceTemperature)),
    column("DEWP", "degC", 999.0, Moment(DewPointTemperature)),
    column("VIS", "nmi", 99.0, Moment(Visibility)),
    column("PTDY", "hPa", 99.0, Over(PressureTendency, Cumulative, 180)),
    column("TIDE", "ft", 99.0, Moment(Tide)),
];

const CONTINUOUS_WINDS: &[NdbcColumn] = &[
    column("WDIR", "degT", 999.0, Over(WindDirection, Average, 10)),
    column("WSPD", "m/s", 99.0, Over(WindSpeed, Average, 10)),
    column("GDR", "degT", 999.0, Over(MaxWindDirection, Max, 60)),
    column("GST", "m/s", 99.0, Over(WindGust, Max, 60)),
    column("GTIME", "hhmm", 9999.0, Beside),
];

const SUPPLEMENTAL: &[NdbcColumn] = &[
    column("PRES", "hPa", 9999.0, SinceLastRow(BarometricPressure, Min)),
    column("PTIME", "hhmm", 9999.0, Beside),
    column("WSPD", "m/s", 99.0, SinceLastRow(WindSpeed, Max)),
    column("WDIR", "degT", 999.0, SinceLastRow(MaxWindDirection, Max)),
    column("WTIME", "hhmm", 9999.0, Beside),
];

/// Of two pyranometers, the precision one, `SWRAD`, comes first and wins.
const RADIATION: &[NdbcColumn] = &[
    column("SWRAD", "w/m2", 9999.0, SinceLastRow(AvgGlobalSolarRadiation, Average)),
    column("SRAD1", "w/m2", 9999.0, SinceLastRow(AvgGlobalSolarRadiation, Average)),
    column("LWRAD", "w/m2", 9999.0, Nothing),
];

const OCEAN: &[NdbcColumn] = &[
    column("DEPTH", "m", 9999.0, Depth),
    column("OTMP", "degC", 999.0, AtOneMetre(SeaSurfaceTemperature1m)),
];

const RAIN: &[NdbcColumn] = &[column("ACCUM", "mm", 999.0, Over(Precipitation, Cumulative, 60))];

const WAVE_SUMMARY: &[NdbcColumn] = &[
    column("WVHT", "m", 99.0, Over(WaveHeight, Average, 20)),
    column("APD", "sec", 99.0, Over(WavePeriodAverage, Average, 20)),
    column("MWD", "degT", 999.0, Over(WaveDirection, Average, 20)),
];

const WATER_COLUMN: &[NdbcColumn] =
    &[column("T", "-", 9.0, Beside), column("HEIGHT", "m", 9999.0, Nothing)];

impl Family {
    /// The family of a table, recognized by columns that no other has.
    pub(super) fn of(names: &[&str]) -> Option<Self> {
        let has = |name| names.contains(&name);
        Some(if has("GTIME") || has("GDR") {
            Self::ContinuousWinds
        } else if has("PTIME") || has("WTIME") {
            Self::Supplemental
        } else if has("SRAD1") || has("SWRAD") {
            Self::Radiation
        } else if has("DEPTH") && has("OTMP") {
            Self::Ocean
        } else if has("ACCUM") {
            Self::Rain
        } else if has("SwH") {
            Self::WaveSummary
        } else if has("HEIGHT") && has("T") {
            Self::WaterColumn
        } else if has("WSPD") && has("WVHT") {
            Self::Standard
        } else if has("WSPD") && has("LAT") && has("LON") {
            Self::Drift
        } else {
            return None;
        })
    }

    /// Time from the row to its report: an hour's rain is listed at the start of the hour, but a
    /// report has the time of the end of its period.
    pub(super) const fn lag_ms(self) -> i64 {
        match self {
            Self::Rain => HOUR_MS,
            _ => 0,
        }
    }

    /// The known columns; if two give the same series in one row, the first wins.
    pub(super) const fn columns(self) -> &'static [NdbcColumn] {
        match self {
            Self::Standard | Self::Drift => STANDARD,
            Self::ContinuousWinds => CONTINUOUS_WINDS,
            Self::Supplemental => SUPPLEMENTAL,
            Self::Radiation => RADIATION,
            Self::Ocean => OCEAN,
            Self::Rain => RAIN,
            Self::WaveSummary => WAVE_SUMMARY,
            Self::WaterColumn => WATER_COLUMN,
        }
    }
}

/// What determines an interval from the row rather than from the column.
#[derive(Clone, Copy, Debug)]
pub(super) struct RowIntervals {
    /// Minutes over which the station averages the wind.
    pub wind_minutes: Option<i32>,
    /// Minutes since the previous row.
    pub row_minutes: i32,
    /// The depth given in the row, in metres.
    pub depth_m: Option<f64>,
}

impl NdbcMeaning {
    /// The series of a column in a row; `None` if the service has no variable for it.
    pub(super) fn series(self, row: &RowIntervals) -> Option<(Variable, IntervalType, i32)> {
        Some(match self {
            Moment(variable) => (variable, Instantaneous, 0),
            Wind(variable, kind) => match row.wind_minutes {
                Some(minutes) => (variable, kind, minutes),
                None => (variable, IntervalType::Unknown, 0),
            },
            Over(variable, kind, minutes) => (variable, kind, minutes),
            SinceLastRow(variable, kind) => (variable, kind, row.row_minutes),
            AtOneMetre(variable) if row.depth_m == Some(1.0) => (variable, Instantaneous, 0),
            AtOneMetre(_) | Depth | Beside | Nothing => return None,
        })
    }
}
