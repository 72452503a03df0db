//! What depends on the variable, the network or the country.

use crate::observation::{IntervalType, SeriesKey, Variable};
use crate::time::{HOUR_MS, MINUTE_MS};

/// Rules that a caller may choose.
///
/// ```
/// use mesonet::summary::Rules;
/// let rules = Rules { degree_day_base_c: (65.0 - 32.0) / 1.8, ..Rules::of_network("METAR") };
/// assert_eq!(rules.nominal_ms, 20 * 60_000);
/// assert_eq!(Rules::of_network("SWOB").nominal_ms, 0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rules {
    /// How far from a full hour a report may be whose intervals of whole hours end at that hour, in
    /// milliseconds; less than half an hour. A routine report is made in the minutes before the hour
    /// for which it stands (FMH-1, chapter 2), and some stations send it late.
    pub nominal_ms: i64,
    /// The base of degree days in °C: 18 in Canada, 65 °F (18.33 °C) in the United States.
    pub degree_day_base_c: f64,
}

/// Networks whose readings are from METAR reports, or stand beside them.
const OF_METAR: [&str; 5] = ["METAR", "IEM", "NWS", "ISD", "GHCNh"];

impl Default for Rules {
    /// The rules for METAR reports, with the base of Canada.
    fn default() -> Self {
        Self { nominal_ms: 20 * MINUTE_MS, degree_day_base_c: 18.0 }
    }
}

impl Rules {
    /// Returns the rules for the stations of a network: reports of METAR stand for the full hour next
    /// to them, those of all others for the time that they give.
    #[must_use]
    pub fn of_network(network: &str) -> Self {
        let of_metar = OF_METAR.contains(&network);
        let nominal_ms = if of_metar { Self::default().nominal_ms } else { 0 };
        Self { nominal_ms, ..Self::default() }
    }

    /// The interval of a reading: its start and end.
    pub(super) fn interval_ms(&self, key: &SeriesKey, ts_ms: i64) -> (i64, i64) {
        let minutes = i64::from(key.interval_minutes);
        let length_ms = minutes * MINUTE_MS;
        let mut end_ms = ts_ms;
        if minutes > 0 && length_ms % HOUR_MS == 0 {
            let past_ms = ts_ms.rem_euclid(HOUR_MS);
            if past_ms <= self.nominal_ms {
                end_ms = ts_ms - past_ms;
            } else if past_ms >= HOUR_MS - self.nominal_ms {
                end_ms = ts_ms.saturating_add(HOUR_MS - past_ms);
            }
        }
        (end_ms.saturating_sub(length_ms), end_ms)
    }
}

/// What a summary says of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Statistics {
    /// A state: maximum, minimum and mean.
    State,
    /// An amount: its total.
    Amount,
    /// Nothing but the count: a direction, which has no greatest value, or a code.
    Count,
}

/// Returns what a summary says of a variable.
///
/// ```
/// use mesonet::Variable;
/// use mesonet::summary::{Statistics, statistics_of};
/// assert_eq!(statistics_of(Variable::AirTemperature), Statistics::State);
/// assert_eq!(statistics_of(Variable::Precipitation), Statistics::Amount);
/// assert_eq!(statistics_of(Variable::WindDirection), Statistics::Count);
/// ```
pub const fn statistics_of(variable: Variable) -> Statistics {
    use Variable::{
        CumulativeGlobalSolarRadiation, IceAccretion, MaxWindDirection, PeakWindDirection,
        Precipitation, PressureTendencyCharacter, Rainfall, Snowfall, WaveDirection, WindDirection,
    };
    match variable {
        Precipitation | Rainfall | Snowfall | IceAccretion | CumulativeGlobalSolarRadiation => {
            Statistics::Amount
        }
        WindDirection
        | WaveDirection
        | MaxWindDirection
        | PeakWindDirection
        | PressureTendencyCharacter => Statistics::Count,
        _ => Statistics::State,
    }
}

/// The variables that the wind of a summary is made of.
pub const WIND_VARIABLES: [Variable; 8] = [
    Variable::WindSpeed,
    Variable::WindSpeed10m,
    Variable::WindDirection,
    Variable::WindGust,
    Variable::WindGust10m,
    Variable::MaxWindDirection,
    Variable::PeakWindSpeed,
    Variable::PeakWindDirection,
];

/// What the readings of a series say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// What the state was.
    State,
    /// The greatest value of an interval.
    Max,
    /// The least value of an interval.
    Min,
    /// An amount in an interval.
    Amount,
    /// Something to be counted only.
    Count,
}

/// What the readings of a series say; `None` if they do not count.
pub(super) fn role_of(key: &SeriesKey) -> Option<Role> {
    let in_unit = key.reported_unit == key.variable.unit().symbol();
    if !in_unit || !key.bucket.is_empty() {
        return None;
    }
    // The change of pressure in three hours is the state of its time.
    let is_tendency = key.variable == Variable::PressureTendency;
    match (statistics_of(key.variable), key.interval_type) {
        (Statistics::Count, _) => Some(Role::Count),
        (Statistics::Amount, IntervalType::Cumulative) if key.interval_minutes > 0 => {
            Some(Role::Amount)
        }
        (Statistics::Amount, _) => None,
        (Statistics::State, IntervalType::Max) => Some(Role::Max),
        (Statistics::State, IntervalType::Min) => Some(Role::Min),
        (Statistics::State, IntervalType::Cumulative) => is_tendency.then_some(Role::State),
        (Statistics::State, _) => Some(Role::State),
    }
}

/// Whether readings count if their whole interval lies in the period, and not at their time.
pub(super) fn is_by_interval(key: &SeriesKey, role: Role) -> bool {
    let is_long = i64::from(key.interval_minutes) * MINUTE_MS >= HOUR_MS;
    match role {
        Role::Amount => true,
        Role::Count => false,
        Role::State | Role::Max | Role::Min => {
            is_long && key.variable != Variable::PressureTendency
        }
    }
}
