//! Persistence: a sensor that is stuck.

use super::limits::{PersistenceLimits, Repeats};
use crate::quality::{BaseQuality, Quality, ReasonQuality};

/// The streak of equal values that a series is in, and the resolution of its values, over a window
/// of time that slides along with it. One pass over the series, each reading in and out once.
#[derive(Debug)]
pub(super) struct Streak<'a> {
    limits: &'a PersistenceLimits,
    ts_ms: &'a [i64],
    value: &'a [f64],
    /// Indices of the usable readings of the window are `queue[head..]`.
    queue: Vec<u32>,
    head: usize,
    /// Place in the queue where the run of equal values began.
    run: usize,
    /// For each resolution but the last, how many values of the window its step does not divide.
    finer: Vec<u32>,
}

/// The streak that ends at a reading.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Found {
    pub repeats: usize,
    pub since_ms: i64,
    pub limit: Repeats,
}

impl<'a> Streak<'a> {
    pub fn new(limits: &'a PersistenceLimits, ts_ms: &'a [i64], value: &'a [f64]) -> Self {
        let finer = vec![0; limits.resolution.len() - 1];
        let queue = Vec::with_capacity(ts_ms.len());
        Self { limits, ts_ms, value, queue, head: 0, run: 0, finer }
    }

    /// Takes the next usable reading and gives the streak that it ends.
    #[inline]
    pub fn push(&mut self, reading: usize) -> Found {
        let (now_ms, value) = (self.ts_ms[reading], self.value[reading]);
        let same = self.queue.last().is_some_and(|&last| self.value[last as usize] == value);
        if !same {
            self.run = self.queue.len();
        }
        self.queue.push(reading as u32);
        self.count(value, 1);
        let oldest_ms = now_ms.saturating_sub(self.limits.window_ms);
        while self.ts_ms[self.queue[self.head] as usize] < oldest_ms {
            self.count(self.value[self.queue[self.head] as usize], u32::MAX);
            self.head += 1;
        }
        let start = self.run.max(self.head);
        let row = self.finer.iter().position(|&finer| finer == 0).unwrap_or(self.finer.len());
        Found {
            repeats: self.queue.len() - start,
            since_ms: self.ts_ms[self.queue[start] as usize],
            limit: self.limits.resolution[row],
        }
    }

    /// Adds 1 or, as `u32::MAX`, takes 1 away where a step does not divide a value.
    fn count(&mut self, value: f64, one: u32) {
        for (finer, row) in self.finer.iter_mut().zip(&self.limits.resolution) {
            if !divides(row.step.0, value) {
                *finer = finer.wrapping_add(one);
            }
        }
    }
}

/// Whether a value is a whole multiple of a step, but for the rounding of a conversion.
#[inline]
pub(super) fn divides(step: f64, value: f64) -> bool {
    /// Adding and subtracting 1.5 · 2⁵² rounds to a whole number without a call.
    const ROUND: f64 = 6_755_399_441_055_744.0;
    let times = value / step;
    (times - ((times + ROUND) - ROUND)).abs() < 1e-6
}

/// As often and as long as the limit of the resolution says: Instrumentation, Inert.
pub(super) fn persistence(found: &Found, now_ms: i64) -> Option<Quality> {
    let Found { repeats, since_ms, limit } = found;
    let stuck = *repeats >= limit.repeats as usize && now_ms - since_ms >= limit.hours.ms;
    stuck.then_some(Quality { base: BaseQuality::Instrumentation, reason: ReasonQuality::Inert })
}

/// Whether a value may stay as it is.
pub(super) fn is_exempt(value: f64, limits: &PersistenceLimits) -> bool {
    value <= limits.exempt_to || value >= limits.exempt_from
}

#[cfg(test)]
#[path = "persistence_tests.rs"]
mod tests;
