//! What the columns of NDBC's files stand for.

use crate::series::IntervalType::{self, Average, Cumulative, Instantaneous, Max, Min};
use crate::time::HOUR_MS;
#[allow(clippy::enum_glob_use, reason = "a table of variables")]
use crate::variable::Variable::{self, *};

/// A table of one of NDBC's kinds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Family {
    /// `.txt`, and the latest observations: standard meteorological data.
    Standard,
    /// `.drift`: the same of drifting buoys, with their place.
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

/// What the values of a column stand for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Meaning {
    /// The moment of the row.
    Moment(Variable),
    /// A mean, or the highest, of the minutes that the wind of the station is averaged over.
    Wind(Variable, IntervalType),
    /// So many minutes, which end with the row.
    Over(Variable, IntervalType, i32),
    /// The time since the row before.
    SinceLastRow(Variable, IntervalType),
    /// The moment of the row, where the depth is 1 m.
    AtOneMetre(Variable),
    /// The depth of the row's other values, in metres.
    Depth,
    /// Where or when another value of the row was measured.
    Beside,
    /// Nothing that the service has a variable for.
    Nothing,
}

/// A column that is known.
pub(super) struct Column {
    pub name: &'static str,
    /// The unit that NDBC describes, for tables that do not give it.
    pub unit: &'static str,
    /// The nines that stand for no value.
    pub missing: f64,
    pub meaning: Meaning,
}

const fn column(name: &'static str, unit: &'static str, missing: f64, meaning: Meaning) -> Column {
    Column { name, unit, missing, meaning }
}

use Meaning::{AtOneMetre, Beside, Depth, Moment, Nothing, Over, SinceLastRow, Wind};

const STANDARD: &[Column] = &[
    column("WDIR", "degT", 999.0, Wind(WindDirection, Average)),
    column("WD", "degT", 999.0, Wind(WindDirection, Average)),
    column("WSPD", "m/s", 99.0, Wind(WindSpeed, Average)),
    column("GST", "m/s", 99.0, Wind(WindGust, Max)),
    column("WVHT", "m", 99.0, Over(WaveHeight, Average, 20)),
    column("DPD", "sec", 99.0, Nothing),
    column("APD", "sec", 99.0, Nothing),
    column("MWD", "degT", 999.0, Over(WaveDirection, Average, 20)),
    column("PRES", "hPa", 9999.0, Moment(Mslp)),
    column("BAR", "hPa", 9999.0, Moment(Mslp)),
    column("ATMP", "degC", 999.0, Moment(AirTemperature)),
    column("WTMP", "degC", 999.0, Moment(SeaSurfaceTemperature)),
    column("DEWP", "degC", 999.0, Moment(DewPointTemperature)),
    column("VIS", "nmi", 99.0, Moment(Visibility)),
    column("PTDY", "hPa", 99.0, Nothing),
    column("TIDE", "ft", 99.0, Nothing),
];

const CONTINUOUS_WINDS: &[Column] = &[
    column("WDIR", "degT", 999.0, Over(WindDirection, Average, 10)),
    column("WSPD", "m/s", 99.0, Over(WindSpeed, Average, 10)),
    column("GDR", "degT", 999.0, Nothing),
    column("GST", "m/s", 99.0, Over(WindGust, Max, 60)),
    column("GTIME", "hhmm", 9999.0, Beside),
];

const SUPPLEMENTAL: &[Column] = &[
    column("PRES", "hPa", 9999.0, SinceLastRow(BarometricPressure, Min)),
    column("PTIME", "hhmm", 9999.0, Beside),
    column("WSPD", "m/s", 99.0, SinceLastRow(WindSpeed, Max)),
    column("WDIR", "degT", 999.0, Nothing),
    column("WTIME", "hhmm", 9999.0, Beside),
];

/// Of two pyranometers the precision one, `SWRAD`, stands first and wins.
const RADIATION: &[Column] = &[
    column("SWRAD", "w/m2", 9999.0, SinceLastRow(AvgGlobalSolarRadiation, Average)),
    column("SRAD1", "w/m2", 9999.0, SinceLastRow(AvgGlobalSolarRadiation, Average)),
    column("LWRAD", "w/m2", 9999.0, Nothing),
];

const OCEAN: &[Column] = &[
    column("DEPTH", "m", 9999.0, Depth),
    column("OTMP", "degC", 999.0, AtOneMetre(SeaSurfaceTemperature1m)),
];

const RAIN: &[Column] = &[column("ACCUM", "mm", 999.0, Over(Precipitation, Cumulative, 60))];

const WAVE_SUMMARY: &[Column] = &[
    column("WVHT", "m", 99.0, Over(WaveHeight, Average, 20)),
    column("MWD", "degT", 999.0, Over(WaveDirection, Average, 20)),
];

const WATER_COLUMN: &[Column] =
    &[column("T", "-", 9.0, Beside), column("HEIGHT", "m", 9999.0, Nothing)];

impl Family {
    /// The family of a table, by the columns that no other has.
    pub fn of(names: &[&str]) -> Option<Self> {
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

    /// Time from the row's to that of its report: an hour's rain stands at the start of the hour,
    /// a report at the end of what it tells.
    pub const fn lag_ms(self) -> i64 {
        match self {
            Self::Rain => HOUR_MS,
            _ => 0,
        }
    }

    /// The columns that are known; where two give one series in one row, the first wins.
    pub const fn columns(self) -> &'static [Column] {
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

/// What the row, not the column, says of an interval.
#[derive(Clone, Copy, Debug)]
pub(super) struct RowIntervals {
    /// Minutes that the wind of the station is averaged over.
    pub wind_minutes: Option<i32>,
    /// Minutes since the row before.
    pub row_minutes: i32,
    /// The depth that the row names, in metres.
    pub depth_m: Option<f64>,
}

impl Meaning {
    /// The series of a column in a row; none where the service has no variable for it.
    pub fn series(self, row: &RowIntervals) -> Option<(Variable, IntervalType, i32)> {
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
