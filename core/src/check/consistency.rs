//! Internal consistency: compares values of one station and time with each other.
//!
//! If two values contradict each other, it is unknown which is wrong. So both are Inconsistent,
//! each with the reason as seen from its side.

use super::limits::PrecisionLimits;
use super::persistence::divides;
use crate::derived::mean_sea_level_pressure_hpa;
use crate::observation::{BaseQuality, Quality, ReasonQuality};

/// Rounding of unit conversions, far below every resolution.
const ROUNDING: f64 = 1e-6;

fn inconsistent(reason: ReasonQuality) -> Quality {
    Quality { base: BaseQuality::Inconsistent, reason }
}

/// The side of a bound on which a value stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    /// The value that must be the lower one.
    Lower,
    /// The value that must be the upper one.
    Upper,
    /// An average that must be the lower one.
    AverageLower,
    /// An average that must be the upper one.
    AverageUpper,
}

/// lower ≤ upper + tolerance.
#[inline]
pub(super) fn ordered(value: f64, other: f64, tolerance: f64, side: Side) -> Option<Quality> {
    let (lower, upper, reason) = match side {
        Side::Lower => (value, other, ReasonQuality::GreaterThan),
        Side::Upper => (other, value, ReasonQuality::LessThan),
        Side::AverageLower => (value, other, ReasonQuality::AverageInconsistent),
        Side::AverageUpper => (other, value, ReasonQuality::AverageInconsistent),
    };
    (lower > upper + tolerance + ROUNDING).then_some(inconsistent(reason))
}

/// The tolerance for two values by their precision: the tolerance of the coarsest precision that
/// divides both, or of the finest if none divides both.
pub(super) fn tolerance(limits: &PrecisionLimits, one: f64, other: f64) -> f64 {
    let fits = |&&(step, _): &&(f64, f64)| divides(step, one) && divides(step, other);
    let (_, tolerance) = limits.rows.iter().rev().find(fits).unwrap_or(&limits.rows[0]);
    *tolerance
}

/// Station pressure against sea level pressure: above sea level the station's is the lower one,
/// below it the upper one. `relative` is the tolerance as a fraction of the station pressure.
pub(super) fn pressure_order(
    station_hpa: f64,
    mslp_hpa: f64,
    altitude_m: f64,
    relative: f64,
    of_station: bool,
) -> Option<Quality> {
    let station_is_lower = altitude_m >= 0.0;
    let side = if of_station == station_is_lower { Side::Lower } else { Side::Upper };
    let (value, other) = if of_station { (station_hpa, mslp_hpa) } else { (mslp_hpa, station_hpa) };
    ordered(value, other, station_hpa.abs() * relative, side)
}

/// Sea level pressure within a distance of the station pressure reduced to sea level. `None` if
/// the reduction is not defined.
pub(super) fn pressure_reduction(
    station_hpa: f64,
    mslp_hpa: f64,
    altitude_m: f64,
    air_temperature_c: f64,
    limit_hpa: f64,
) -> Option<(f64, Option<Quality>)> {
    let reduced = mean_sea_level_pressure_hpa(station_hpa, altitude_m, air_temperature_c)?;
    let far = (mslp_hpa - reduced).abs() > limit_hpa;
    Some((reduced, far.then_some(inconsistent(ReasonQuality::Difference))))
}

/// Mean ≤ gust, and the gust exceeds the mean by less than a limit.
pub(super) fn wind_gust(mean: f64, gust: f64, limit: f64, of_mean: bool) -> Option<Quality> {
    let (value, other, side) =
        if of_mean { (mean, gust, Side::Lower) } else { (gust, mean, Side::Upper) };
    ordered(value, other, 0.0, side)
        .or_else(|| (gust - mean >= limit).then_some(inconsistent(ReasonQuality::Difference)))
}

/// A calm has direction 0, and wind has a direction other than 0, as north is 360. The check faults
/// the direction.
pub(super) fn calm_wind(direction: f64, speed: f64, calm: f64) -> Option<Quality> {
    ((speed <= calm) != (direction == 0.0)).then_some(inconsistent(ReasonQuality::Disagree))
}

#[cfg(test)]
#[path = "consistency_tests.rs"]
mod tests;
