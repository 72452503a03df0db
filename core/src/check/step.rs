//! Changes from one reading to the next: step and spike. Both consider the time between the
//! readings.

use super::limits::{Curve, SpikeLimits, StepLimits};
use crate::observation::{BaseQuality, Quality, ReasonQuality};

/// The elapsed time is longer than any with a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BeyondReach;

/// A change by more than the limits of the elapsed time; the worse of the two levels counts.
#[inline]
pub(super) fn step(
    change: f64,
    elapsed_ms: i64,
    limits: &StepLimits,
) -> Result<Option<Quality>, BeyondReach> {
    let at = |curve: &Option<Curve>| curve.as_ref().and_then(|curve| curve.at(elapsed_ms));
    let (doubtful, instrumentation) = (at(&limits.doubtful), at(&limits.instrumentation));
    if doubtful.or(instrumentation).is_none() {
        return Err(BeyondReach);
    }
    let beyond = |limit: Option<f64>| limit.is_some_and(|limit| change.abs() > limit);
    let base = if beyond(doubtful) {
        BaseQuality::Doubtful
    } else if beyond(instrumentation) {
        BaseQuality::Instrumentation
    } else {
        return Ok(None);
    };
    let reason = match (limits.directional, change > 0.0) {
        (false, _) => ReasonQuality::Change,
        (true, true) => ReasonQuality::Increase,
        (true, false) => ReasonQuality::Decrease,
    };
    Ok(Some(Quality { base, reason }))
}

/// A value that sticks out: with a and b its distances from the values before and after, both on
/// the same side, |a − b| < ratio · (a + b) and a + b > the sum of the limits of both elapsed times
/// (the dip check of olympian).
#[inline]
pub(super) fn spike(
    [before, value, after]: [f64; 3],
    [elapsed_before_ms, elapsed_after_ms]: [i64; 2],
    limits: &SpikeLimits,
) -> Result<Option<Quality>, BeyondReach> {
    let at = |elapsed_ms| limits.curve.at(elapsed_ms).ok_or(BeyondReach);
    let limit = at(elapsed_before_ms)? + at(elapsed_after_ms)?;
    let (a, b) = (value - before, value - after);
    let one_side = (a > 0.0) == (b > 0.0);
    let (a, b) = (a.abs(), b.abs());
    let sticks_out = one_side && (a - b).abs() < limits.ratio * (a + b) && a + b > limit;
    Ok(sticks_out
        .then_some(Quality { base: BaseQuality::Instrumentation, reason: ReasonQuality::Change }))
}

#[cfg(test)]
#[path = "step_tests.rs"]
mod tests;
