//! Persistence: a sensor that is stuck.

use super::limits::{PersistenceLimits, Repeats, ValueBounds};
use super::one_series::OneSeries;
use crate::observation::{BaseQuality, Quality, ReasonQuality};
use crate::time::HOUR_MS;

/// Readings farther apart do not form a streak: a value may well be the same at the same hour of
/// two days.
const GAP_MS: i64 = 4 * HOUR_MS;

/// The current streak of equal values in a series, over a sliding window of time.
///
/// The walk can begin at any reading. It looks back only as far as the values are equal. It looks
/// at the resolution of the window only if the streak is long enough for some resolution.
#[derive(Debug)]
pub(super) struct Streak<'a> {
    limits: &'a PersistenceLimits,
    /// The usable reading pushed last, the first reading of its streak, and the length of the
    /// streak.
    last: Option<usize>,
    start: usize,
    repeats: usize,
    window: Option<Resolution>,
}

/// The streak that ends at a reading.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct StreakEnd {
    pub repeats: usize,
    pub since_ms: i64,
    /// Whether the window has no usable reading before this one.
    pub alone: bool,
}

impl<'a> Streak<'a> {
    pub(super) fn new(limits: &'a PersistenceLimits) -> Self {
        Self { limits, last: None, start: 0, repeats: 0, window: None }
    }

    fn oldest_ms<R: OneSeries>(&self, of: &R, reading: usize) -> i64 {
        of.ts_ms(reading).saturating_sub(self.limits.window_ms)
    }

    /// Takes the next usable reading and returns the streak that ends with it.
    #[inline]
    pub(super) fn push<R: OneSeries>(
        &mut self,
        of: &R,
        usable: &impl Fn(usize) -> bool,
        reading: usize,
    ) -> StreakEnd {
        let value = of.value(reading);
        let oldest_ms = self.oldest_ms(of, reading);
        let alone = match self.last {
            None => self.look_back(of, usable, reading),
            Some(last) => {
                let gap_ms = of.ts_ms(reading).saturating_sub(of.ts_ms(last));
                if of.value(last) == value && gap_ms <= GAP_MS {
                    self.repeats += 1;
                } else {
                    (self.start, self.repeats) = (reading, 1);
                }
                of.ts_ms(last) < oldest_ms
            }
        };
        self.last = Some(reading);
        while of.ts_ms(self.start) < oldest_ms {
            self.repeats -= usize::from(usable(self.start));
            self.start += 1;
        }
        // The first reading left in the window may be unusable.
        while !usable(self.start) {
            self.start += 1;
        }
        StreakEnd { repeats: self.repeats, since_ms: of.ts_ms(self.start), alone }
    }

    /// Finds the streak that ends at the first reading; returns whether it is alone in the window.
    fn look_back<R: OneSeries>(
        &mut self,
        of: &R,
        usable: &impl Fn(usize) -> bool,
        reading: usize,
    ) -> bool {
        let oldest_ms = self.oldest_ms(of, reading);
        (self.start, self.repeats) = (reading, 1);
        let mut alone = true;
        for before in (0..reading).rev() {
            if of.ts_ms(before) < oldest_ms {
                break;
            }
            if usable(before) {
                alone = false;
                let gap_ms = of.ts_ms(self.start).saturating_sub(of.ts_ms(before));
                if of.value(before) != of.value(reading) || gap_ms > GAP_MS {
                    break;
                }
                (self.start, self.repeats) = (before, self.repeats + 1);
            }
        }
        alone
    }

    /// A value that repeats as many times and as long as the limit of its resolution is
    /// Instrumentation, Inert.
    #[inline]
    pub(super) fn judge<R: OneSeries>(
        &mut self,
        of: &R,
        usable: &impl Fn(usize) -> bool,
        reading: usize,
        found: &StreakEnd,
    ) -> Option<Quality> {
        let stuck = |limit: &Repeats| {
            found.repeats >= limit.repeats as usize
                && of.ts_ms(reading).saturating_sub(found.since_ms) >= limit.hours.ms
        };
        let stuck = self.limits.resolution.iter().any(stuck) && {
            let oldest_ms = self.oldest_ms(of, reading);
            let window = self.window.get_or_insert_default();
            let row = window.slide(self.limits, of, usable, oldest_ms, reading);
            stuck(&self.limits.resolution[row])
        };
        stuck
            .then_some(Quality { base: BaseQuality::Instrumentation, reason: ReasonQuality::Inert })
    }

    /// The limit of the resolution of the window that ends at a reading.
    pub(super) fn limit<R: OneSeries>(
        limits: &PersistenceLimits,
        of: &R,
        usable: &impl Fn(usize) -> bool,
        reading: usize,
    ) -> Repeats {
        let oldest_ms = of.ts_ms(reading).saturating_sub(limits.window_ms);
        let row = Resolution::default().slide(limits, of, usable, oldest_ms, reading);
        limits.resolution[row]
    }
}

/// The resolution of the values of a window. As the window slides, each reading enters and leaves
/// once.
#[derive(Debug, Default)]
struct Resolution {
    from: usize,
    to: usize,
    /// For each resolution but the last, the number of values of the window not divided by its
    /// step.
    finer: Vec<u32>,
}

impl Resolution {
    /// The row of the limits for the window from a moment to a reading.
    fn slide<R: OneSeries>(
        &mut self,
        limits: &PersistenceLimits,
        of: &R,
        usable: &impl Fn(usize) -> bool,
        oldest_ms: i64,
        reading: usize,
    ) -> usize {
        if self.to == 0 || of.ts_ms(self.to - 1) < oldest_ms {
            self.from = of.before(oldest_ms);
            self.to = self.from;
            self.finer = vec![0; limits.resolution.len() - 1];
        }
        // Adds 1 or, as `u32::MAX`, subtracts 1 if a step does not divide a value.
        let mut count = |at: usize, one: u32| {
            if usable(at) {
                for (finer, row) in self.finer.iter_mut().zip(&limits.resolution) {
                    if !divides(row.step.0, of.value(at)) {
                        *finer = finer.wrapping_add(one);
                    }
                }
            }
        };
        while self.to <= reading {
            count(self.to, 1);
            self.to += 1;
        }
        while of.ts_ms(self.from) < oldest_ms {
            count(self.from, u32::MAX);
            self.from += 1;
        }
        self.finer.iter().position(|&finer| finer == 0).unwrap_or(self.finer.len())
    }
}

/// Whether a value is a whole multiple of a step, up to the rounding of a conversion.
#[inline]
pub(super) fn divides(step: f64, value: f64) -> bool {
    /// Adding and subtracting 1.5 · 2⁵² rounds to a whole number without a call.
    const ROUND: f64 = 6_755_399_441_055_744.0;
    let times = value / step;
    (times - ((times + ROUND) - ROUND)).abs() < 1e-6
}

/// Whether a value may stay constant.
pub(super) fn is_exempt(value: f64, limits: &PersistenceLimits) -> bool {
    let between = |bounds: ValueBounds| bounds.contains(value);
    value <= limits.exempt_to
        || value >= limits.exempt_from
        || limits.exempt_between.is_some_and(between)
}

#[cfg(test)]
#[path = "persistence_tests.rs"]
mod tests;
