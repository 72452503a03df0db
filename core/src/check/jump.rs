//! Jump: a change far beyond what the series itself has shown at that hour, and which no other
//! sensor of the station explains. The readings after a jump are doubtful until they come back, or
//! until enough time has passed.
//!
//! Everything here is a function of the readings of a bounded time before: the history by which a
//! change is judged, and the time for which a jump is remembered.

use super::limits::JumpLimits;
use super::one_series::OneSeries;
use crate::time::{DAY_MS, HOUR_MS};

/// A change is compared with changes up to this part of a day before and after its hour.
const HOUR_BAND_MS: i64 = 2 * HOUR_MS;
/// With fewer changes to compare with, the check gives no verdict.
const LEAST_CHANGES: usize = 4;
/// The change itself must be at least this part of the least jump.
const LARGE: f64 = 0.85;
/// From the median of absolute deviations to the standard deviation of a normal distribution.
const NORMAL_MAD: f64 = 1.4826;

/// The change between two readings, and what would have been usual.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Jump {
    /// The last reading before, and the first after it.
    pub before: usize,
    pub after: usize,
    pub change: f64,
    /// The median of the series' own changes at that hour.
    pub usual: f64,
    /// The greatest distance from the usual change.
    pub limit: f64,
}

/// Whether a change is large enough to look at its history, which costs more. A small change is not
/// a jump, even if a large change the other way would have been usual. `None` if the readings are
/// too far apart.
#[inline]
pub(super) fn is_large(change: f64, elapsed_ms: i64, limits: &JumpLimits) -> Option<bool> {
    limits.curve.at(elapsed_ms).map(|floor| change.abs() > LARGE * floor)
}

/// The jump between two readings, if the change between them is one by the history of the series.
pub(super) fn jump<R: OneSeries>(
    of: &R,
    usable: &impl Fn(usize) -> bool,
    [before, after]: [usize; 2],
    limits: &JumpLimits,
) -> Option<Jump> {
    let change = of.value(after) - of.value(before);
    let (usual, limit) = usual(of, usable, [before, after], limits)?;
    let jump = Jump { before, after, change, usual, limit };
    ((change - usual).abs() > limit && !is_return(of, usable, &jump, limits)).then_some(jump)
}

/// The median of the series' own changes in about the same time at about the same hour of the day,
/// and the greatest distance from it that is not a jump.
pub(super) fn usual<R: OneSeries>(
    of: &R,
    usable: &impl Fn(usize) -> bool,
    [before, after]: [usize; 2],
    limits: &JumpLimits,
) -> Option<(f64, f64)> {
    let now_ms = of.ts_ms(after);
    let elapsed_ms = now_ms.saturating_sub(of.ts_ms(before));
    let floor = limits.curve.at(elapsed_ms)?;
    let oldest_ms = now_ms.saturating_sub(limits.history_ms);
    let mut changes = Vec::new();
    let mut last: Option<usize> = None;
    for at in (of.before(oldest_ms)..=before).filter(|&at| usable(at)) {
        if let Some(last) = last.replace(at) {
            let off_ms = now_ms.saturating_sub(of.ts_ms(at)).rem_euclid(DAY_MS);
            let span_ms = of.ts_ms(at).saturating_sub(of.ts_ms(last));
            let alike = off_ms.min(DAY_MS - off_ms) <= HOUR_BAND_MS
                && (elapsed_ms / 2..=elapsed_ms.saturating_mul(2)).contains(&span_ms);
            if alike {
                changes.push(of.value(at) - of.value(last));
            }
        }
    }
    if changes.len() < LEAST_CHANGES {
        return None;
    }
    let usual = median(&mut changes);
    for change in &mut changes {
        *change = (*change - usual).abs();
    }
    let deviation = NORMAL_MAD * median(&mut changes);
    Some((usual, floor.max(limits.spread * deviation)))
}

fn median(values: &mut [f64]) -> f64 {
    let middle = values.len() / 2;
    *values.select_nth_unstable_by(middle, f64::total_cmp).1
}

/// Whether a change only takes back an earlier change of about its size. The earlier one may have
/// been forgotten since.
fn is_return<R: OneSeries>(
    of: &R,
    usable: &impl Fn(usize) -> bool,
    jump: &Jump,
    limits: &JumpLimits,
) -> bool {
    let oldest_ms = of.ts_ms(jump.after).saturating_sub(limits.hold_ms.saturating_mul(2));
    let sizes = jump.change.abs() / 2.0..=jump.change.abs() * 2.0;
    let mut next = jump.before;
    for at in (0..jump.before).rev().filter(|&at| usable(at)) {
        let (elapsed_ms, change) =
            (of.ts_ms(next).saturating_sub(of.ts_ms(at)), of.value(next) - of.value(at));
        if of.ts_ms(next) < oldest_ms {
            return false;
        }
        let turned = (change > 0.0) != (jump.change > 0.0) && sizes.contains(&change.abs());
        if turned && is_large(change, elapsed_ms, limits) == Some(true) {
            return true;
        }
        next = at;
    }
    false
}

/// The jumps from which the readings have not come back.
#[derive(Debug)]
pub(super) struct Jumps<'a> {
    pub limits: &'a JumpLimits,
    lasting: Vec<Jump>,
}

impl<'a> Jumps<'a> {
    pub(super) fn new(limits: &'a JumpLimits) -> Self {
        Self { limits, lasting: Vec::new() }
    }

    /// Takes the next reading that does not stick out, and its change from the reading before.
    #[inline]
    pub(super) fn follow<R: OneSeries>(&mut self, of: &R, reading: usize, change: f64) {
        if self.lasting.is_empty() {
            return;
        }
        let value = of.value(reading);
        self.expire(of, reading);
        self.lasting.retain(|jump| {
            let turned = (change > 0.0) != (jump.change > 0.0);
            let size = jump.change.abs();
            let came_back = turned && change.abs() >= size / 2.0
                || (value - of.value(jump.before)).abs() < size / 4.0;
            !came_back
        });
    }

    pub(super) fn expire<R: OneSeries>(&mut self, of: &R, reading: usize) {
        let oldest_ms = of.ts_ms(reading).saturating_sub(self.limits.hold_ms);
        self.lasting.retain(|jump| of.ts_ms(jump.after) >= oldest_ms);
    }

    pub(super) fn push(&mut self, jump: Jump) {
        self.lasting.push(jump);
    }

    /// The first of the jumps that last.
    #[inline]
    pub(super) fn lasting(&self) -> Option<&Jump> {
        self.lasting.first()
    }
}

#[cfg(test)]
#[path = "jump_tests.rs"]
mod tests;
