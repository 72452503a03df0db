//! The hours of a period.

use crate::time::{HOUR_MS, HalfOpenWindow, MINUTE_MS};

/// Which hours of a period something is known of. The first hour begins with the period; what is left
/// at its end counts as the part of an hour that it is.
#[derive(Clone, Debug, Default)]
pub(super) struct Hours {
    start_ms: i64,
    end_ms: i64,
    bits: Vec<u64>,
}

/// Number of the hours of a window; a last one may be shorter.
pub(super) fn count(window: HalfOpenWindow) -> usize {
    usize::try_from((window.span_ms() + HOUR_MS - 1) / HOUR_MS).unwrap_or(usize::MAX)
}

impl Hours {
    /// Forgets all, and begins with the hours of another window.
    pub(super) fn begin(&mut self, window: HalfOpenWindow) {
        (self.start_ms, self.end_ms) = (window.start_ms(), window.end_ms());
        self.bits.clear();
        self.bits.resize(count(window).div_ceil(64), 0);
    }

    /// The hour of an instant in the window.
    pub(super) fn of(&self, ts_ms: i64) -> usize {
        ((ts_ms - self.start_ms) / HOUR_MS) as usize
    }

    pub(super) fn add(&mut self, hour: usize) {
        self.bits[hour / 64] |= 1 << (hour % 64);
    }

    /// Adds the hour of a reading that counts at its time, or all hours that lie in its interval.
    pub(super) fn add_interval(&mut self, (from_ms, to_ms): (i64, i64)) {
        if from_ms == to_ms {
            self.add(self.of(from_ms));
            return;
        }
        let first = (from_ms - self.start_ms + HOUR_MS - 1) / HOUR_MS;
        let whole = (to_ms - self.start_ms) / HOUR_MS;
        let behind = if to_ms == self.end_ms { self.count() as i64 } else { whole };
        (first..behind).for_each(|hour| self.add(hour as usize));
    }

    fn count(&self) -> usize {
        usize::try_from((self.end_ms - self.start_ms + HOUR_MS - 1) / HOUR_MS).unwrap_or(0)
    }

    /// How many minutes the hours have together.
    pub(super) fn minutes(&self) -> i64 {
        let hours: i64 = self.bits.iter().map(|bits| i64::from(bits.count_ones())).sum();
        let last = self.count().saturating_sub(1);
        let has_last = self.bits.get(last / 64).is_some_and(|bits| bits >> (last % 64) & 1 == 1);
        let missing_ms = self.start_ms + self.count() as i64 * HOUR_MS - self.end_ms;
        let missing_ms = if has_last { missing_ms } else { 0 };
        (hours * HOUR_MS - missing_ms) / MINUTE_MS
    }
}
