//! The maximum and the minimum of a variable.

use std::cmp::Ordering;

use super::columns::{SeriesColumns, WindowReading};
use super::hours::Hours;
use super::{Coverage, Extreme, Source};
use crate::observation::{BaseQuality, Qualifier, Quality};
use crate::time::HalfOpenWindow;

/// Looks for the greatest, or the least, of what it is shown.
#[derive(Debug)]
pub(super) struct Search {
    better: Ordering,
    /// The best of all, and the best of those whose interval is the period.
    best: [Option<Candidate>; 2],
    hours: Hours,
}

#[derive(Clone, Copy, Debug)]
struct Candidate {
    value: f64,
    rank: (i64, usize),
    quality: Quality,
    qualifier: Option<Qualifier>,
    from: Source,
}

impl Search {
    pub(super) fn for_max() -> Self {
        Self { better: Ordering::Greater, best: [None; 2], hours: Hours::default() }
    }

    pub(super) fn for_min() -> Self {
        Self { better: Ordering::Less, best: [None; 2], hours: Hours::default() }
    }

    pub(super) fn begin(&mut self, window: HalfOpenWindow) {
        self.best = [None; 2];
        self.hours.begin(window);
    }

    /// Shows a usable reading of the series at a place in the order of preference.
    pub(super) fn show(
        &mut self,
        of: &SeriesColumns<'_>,
        preference: usize,
        counted: WindowReading,
        is_extreme: bool,
        window: HalfOpenWindow,
    ) {
        self.hours.add_interval(counted.interval_ms);
        let found = || Candidate {
            value: counted.value,
            rank: (counted.ts_ms, preference),
            quality: of.quality[counted.at].quality(),
            qualifier: Qualifier::of_code(of.qualifier[counted.at]),
            from: of.source(counted.ts_ms),
        };
        self.take(0, counted, preference, found);
        let is_of_period = counted.interval_ms == (window.start_ms(), window.end_ms());
        let is_in_doubt = of.quality[counted.at].quality().base < BaseQuality::Good;
        if is_extreme && is_of_period && !is_in_doubt {
            self.take(1, counted, preference, found);
        }
    }

    fn take(
        &mut self,
        which: usize,
        counted: WindowReading,
        preference: usize,
        found: impl FnOnce() -> Candidate,
    ) {
        let is_better = self.best[which].is_none_or(|best| {
            let order = counted.value.total_cmp(&best.value);
            order == self.better
                || order == Ordering::Equal && (counted.ts_ms, preference) < best.rank
        });
        if is_better {
            self.best[which] = Some(found());
        }
    }

    pub(super) fn found(&self, window: HalfOpenWindow) -> Option<Extreme> {
        let [of_all, of_period] = self.best;
        let Candidate { value, quality, qualifier, from, .. } = of_period.or(of_all)?;
        let coverage = Coverage::of(self.hours.minutes(), window);
        Some(Extreme { value, quality, qualifier, from, coverage })
    }
}

impl SeriesColumns<'_> {
    pub(super) fn source(&self, ts_ms: i64) -> Source {
        let key = &self.series.key;
        Source {
            series: self.series.id,
            ts_ms,
            interval_type: key.interval_type,
            interval_minutes: key.interval_minutes,
        }
    }
}
