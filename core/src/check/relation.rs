//! Finds the series of a station that bound each other.

use super::config::ConsistencyLimits;
use super::consistency::Side;
use super::limits::{PrecisionLimits, RuleLimits};
use super::outcome::Check;
use crate::observation::IntervalType::{Average, Instantaneous, Max, Min};
use crate::observation::Variable::{
    AirTemperature, BarometricPressure, DewPointTemperature, Mslp, Precipitation, Rainfall,
    WaveHeight, WaveHeightMax, WetBulbTemperature, WindDirection, WindGust, WindGust10m, WindSpeed,
    WindSpeed10m,
};
use crate::observation::{SeriesId, SeriesKey, Variable};

/// A rule between a series and others of its station.
#[derive(Clone, Copy, Debug)]
pub(super) struct Relation<'a> {
    pub check: Check,
    pub rule: Rule<'a>,
    /// Index of the other series.
    pub other: usize,
    /// Index of the air temperature, if the rule needs it.
    pub air: Option<usize>,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Rule<'a> {
    Precise(Side, &'a PrecisionLimits),
    Ordered(Side, &'a RuleLimits),
    PressureOrder { of_station: bool, limits: &'a RuleLimits },
    PressureReduction { of_station: bool, limits: &'a RuleLimits },
    WindGust { of_mean: bool, limits: &'a RuleLimits },
    CalmWind(&'a RuleLimits),
}

/// Lower and upper variables of the rules that relate two variables of one measure.
const PRECISE: [(Check, Variable, Variable); 3] = [
    (Check::DewPoint, DewPointTemperature, AirTemperature),
    (Check::WetBulb, DewPointTemperature, WetBulbTemperature),
    (Check::WetBulb, WetBulbTemperature, AirTemperature),
];
const WIND: [(Variable, Variable); 2] = [(WindSpeed, WindGust), (WindSpeed10m, WindGust10m)];

/// The checks in which a variable takes part, regardless of what the station reports.
pub(super) fn checks_of(variable: Variable) -> &'static [Check] {
    match variable {
        AirTemperature | DewPointTemperature => &[Check::DewPoint, Check::WetBulb, Check::Average],
        WetBulbTemperature => &[Check::WetBulb, Check::Average],
        Mslp | BarometricPressure => {
            &[Check::PressureOrder, Check::PressureReduction, Check::Average]
        }
        WindSpeed | WindSpeed10m | WindGust | WindGust10m => &[Check::WindGust, Check::Average],
        // The average of an angle does not lie between the extremes.
        WindDirection => &[Check::CalmWind],
        Variable::WaveDirection => &[],
        Rainfall | Precipitation => &[Check::Rainfall, Check::Average],
        WaveHeight | WaveHeightMax => &[Check::WaveHeight, Check::Average],
        _ => &[Check::Average],
    }
}

/// Whether the limits that a check needs are configured.
pub(super) fn is_configured(limits: &ConsistencyLimits, check: Check) -> bool {
    match check {
        Check::DewPoint => limits.dew_point.is_some(),
        Check::WetBulb => limits.wet_bulb.is_some(),
        Check::PressureOrder => limits.pressure_order.is_some(),
        Check::PressureReduction => limits.pressure_reduction.is_some(),
        Check::WindGust => limits.wind_gust.is_some(),
        Check::CalmWind => limits.calm_wind.is_some(),
        Check::Rainfall => limits.rainfall.is_some(),
        Check::WaveHeight => limits.wave_height.is_some(),
        Check::Average => limits.average.is_some(),
        _ => false,
    }
}

/// The relations of one series of a station, in the order of the checks and, within a check, of the
/// ids of the other series. The first relation to trip gives the reason. The series is in the unit
/// of its variable and not in a bucket; other series count only if they are `comparable`.
pub(super) fn relations<'a>(
    of: &SeriesKey,
    limits: &'a ConsistencyLimits,
    keys: &[&SeriesKey],
    comparable: &[bool],
    id: impl Fn(usize) -> SeriesId,
    found: &mut Vec<Relation<'a>>,
) {
    for (other, (key, &comparable)) in keys.iter().zip(comparable).enumerate() {
        if comparable && !std::ptr::eq(*key, of) {
            between(of, key, limits, |check, rule| {
                let air = match rule {
                    Rule::PressureReduction { .. } => air_temperature(of, keys),
                    _ => None,
                };
                found.push(Relation { check, rule, other, air });
            });
        }
    }
    found.sort_by(|a, b| a.check.cmp(&b.check).then_with(|| id(a.other).cmp(&id(b.other))));
}

/// Whether a series is in the unit of the limits and is not one of many buckets.
pub(super) fn is_comparable(key: &SeriesKey) -> bool {
    key.bucket.is_empty() && is_in_unit(key)
}

/// Whether values are in the unit of the limits.
pub(super) fn is_in_unit(key: &SeriesKey) -> bool {
    key.reported_unit == key.variable.unit().symbol()
}

/// The air temperature that goes with a pressure: measured the same way if possible, or else
/// instantaneous.
fn air_temperature(of: &SeriesKey, keys: &[&SeriesKey]) -> Option<usize> {
    let air = |key: &SeriesKey| key.variable == AirTemperature && is_comparable(key);
    let same = |key: &&SeriesKey| air(key) && is_same_measure(of, key);
    let of_the_moment = |key: &&SeriesKey| air(key) && key.interval_type == Instantaneous;
    keys.iter().position(same).or_else(|| keys.iter().position(of_the_moment))
}

fn is_same_measure(a: &SeriesKey, b: &SeriesKey) -> bool {
    (a.interval_type, a.interval_minutes) == (b.interval_type, b.interval_minutes)
}

fn between<'a>(
    of: &SeriesKey,
    other: &SeriesKey,
    limits: &'a ConsistencyLimits,
    mut add: impl FnMut(Check, Rule<'a>),
) {
    let pair = (of.variable, other.variable);
    if is_same_measure(of, other) {
        for (check, lower, upper) in PRECISE {
            let limits =
                if check == Check::DewPoint { &limits.dew_point } else { &limits.wet_bulb };
            if let (Some(side), Some(limits)) = (side_of(pair, lower, upper), limits) {
                add(check, Rule::Precise(side, limits));
            }
        }
        let of_station = of.variable == BarometricPressure;
        if pair == (BarometricPressure, Mslp) || pair == (Mslp, BarometricPressure) {
            // A station pressure calculated from an altimeter setting is accurate to some 0.3 hPa,
            // which is more than the tolerance.
            let measured = !of.calculated && !other.calculated;
            if let (true, Some(limits)) = (measured, &limits.pressure_order) {
                add(Check::PressureOrder, Rule::PressureOrder { of_station, limits });
            }
            if let Some(limits) = &limits.pressure_reduction {
                add(Check::PressureReduction, Rule::PressureReduction { of_station, limits });
            }
        }
        if let (Some(side), Some(limits)) =
            (side_of(pair, Rainfall, Precipitation), &limits.rainfall)
        {
            add(Check::Rainfall, Rule::Ordered(side, limits));
        }
        let speed = matches!(other.variable, WindSpeed | WindSpeed10m);
        if let (WindDirection, true, Some(limits)) = (of.variable, speed, &limits.calm_wind) {
            add(Check::CalmWind, Rule::CalmWind(limits));
        }
    }
    for (mean, gust) in WIND {
        if let (Some(side), Some(limits)) = (side_of(pair, mean, gust), &limits.wind_gust) {
            let (mean, gust) = if side == Side::Lower { (of, other) } else { (other, of) };
            // The period of the gust must contain that of the mean, and the mean must be an actual mean.
            let holds = gust.interval_minutes >= mean.interval_minutes
                && matches!(mean.interval_type, Average | Instantaneous);
            if holds {
                let of_mean = side == Side::Lower;
                add(Check::WindGust, Rule::WindGust { of_mean, limits });
            }
        }
    }
    if of.interval_minutes != other.interval_minutes {
        return;
    }
    if let (Some(side), Some(limits)) =
        (side_of(pair, WaveHeight, WaveHeightMax), &limits.wave_height)
    {
        add(Check::WaveHeight, Rule::Ordered(side, limits));
    }
    let averaged = of.variable == other.variable
        && of.calculated == other.calculated
        && checks_of(of.variable).contains(&Check::Average);
    if let (true, Some(limits)) = (averaged, &limits.average) {
        let side = match (of.interval_type, other.interval_type) {
            (Average, Max) => Side::AverageLower,
            (Average, Min) => Side::AverageUpper,
            (Min, Max | Average) => Side::Lower,
            (Max, Min | Average) => Side::Upper,
            _ => return,
        };
        add(Check::Average, Rule::Ordered(side, limits));
    }
}

fn side_of((of, other): (Variable, Variable), lower: Variable, upper: Variable) -> Option<Side> {
    if (of, other) == (lower, upper) {
        Some(Side::Lower)
    } else if (of, other) == (upper, lower) {
        Some(Side::Upper)
    } else {
        None
    }
}

#[cfg(test)]
#[path = "relation_tests.rs"]
mod tests;
