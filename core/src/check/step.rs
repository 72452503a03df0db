//! Changes from one reading to the next: step and spike. Both know the time between the readings.

use super::limits::{SpikeLimits, StepLimits};
use crate::quality::{BaseQuality, Quality, ReasonQuality};

/// A change by more than the limits of the elapsed time; the worse of both levels. `None` where no
/// limit reaches that far.
#[inline]
pub(super) fn step(change: f64, elapsed_ms: i64, limits: &StepLimits) -> Option<Option<Quality>> {
    let curve = |curve: &Option<_>| {
        curve.as_ref().and_then(|curve: &super::limits::Curve| curve.at(elapsed_ms))
    };
    let (doubtful, instrumentation) = (curve(&limits.doubtful), curve(&limits.instrumentation));
    doubtful.or(instrumentation)?;
    let beyond = |limit: Option<f64>| limit.is_some_and(|limit| change.abs() > limit);
    let base = if beyond(doubtful) {
        BaseQuality::Doubtful
    } else if beyond(instrumentation) {
        BaseQuality::Instrumentation
    } else {
        return Some(None);
    };
    let reason = match (limits.directional, change > 0.0) {
        (false, _) => ReasonQuality::Change,
        (true, true) => ReasonQuality::Increase,
        (true, false) => ReasonQuality::Decrease,
    };
    Some(Some(Quality { base, reason }))
}

/// A value that sticks out: with a and b its distances from the values before and after, both on
/// one side, |a − b| < ratio · (a + b) and a + b > the sum of the limits of both elapsed times
/// (the dip check of olympian). `None` where a limit does not reach that far.
#[inline]
pub(super) fn spike(
    [before, value, after]: [f64; 3],
    [elapsed_before_ms, elapsed_after_ms]: [i64; 2],
    limits: &SpikeLimits,
) -> Option<Option<Quality>> {
    let limit = limits.curve.at(elapsed_before_ms)? + limits.curve.at(elapsed_after_ms)?;
    let (a, b) = (value - before, value - after);
    let one_side = (a > 0.0) == (b > 0.0);
    let (a, b) = (a.abs(), b.abs());
    let sticks_out = one_side && (a - b).abs() < limits.ratio * (a + b) && a + b > limit;
    Some(
        sticks_out.then_some(Quality {
            base: BaseQuality::Instrumentation,
            reason: ReasonQuality::Change,
        }),
    )
}

#[cfg(test)]
#[path = "step_tests.rs"]
mod tests;
