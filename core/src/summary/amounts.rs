//! The total of amounts that do not overlap.

use super::columns::{SeriesColumns, WindowReading};
use super::{Coverage, Part, Total};
use crate::observation::{Qualifier, Quality};
use crate::time::{HalfOpenWindow, MINUTE_MS};

/// Collects the amounts of a period.
#[derive(Debug, Default)]
pub(super) struct Amounts {
    offered: Vec<Candidate>,
    /// Those that are taken, by time.
    taken: Vec<Candidate>,
    merged: Vec<Candidate>,
}

#[derive(Clone, Copy, Debug)]
struct Candidate {
    from_ms: i64,
    to_ms: i64,
    preference: usize,
    part: Part,
}

impl Amounts {
    pub(super) fn begin(&mut self) {
        self.offered.clear();
    }

    pub(super) fn show(
        &mut self,
        of: &SeriesColumns<'_>,
        preference: usize,
        counted: WindowReading,
    ) {
        let (from_ms, to_ms) = counted.interval_ms;
        let part = Part {
            from: of.source(counted.ts_ms),
            value: counted.value,
            quality: of.quality[counted.at].quality(),
            qualifier: Qualifier::of_code(of.qualifier[counted.at]),
        };
        self.offered.push(Candidate { from_ms, to_ms, preference, part });
    }

    /// Takes the longest amounts first, those of one length in the order of time, and of one interval
    /// the last report of the series that is preferred; each only if nothing that is taken overlaps it.
    pub(super) fn found(&mut self, window: HalfOpenWindow, parts: &mut Vec<Part>) -> Option<Total> {
        let Self { offered, taken, merged } = self;
        offered.sort_unstable_by_key(|offered| {
            let length_ms = offered.to_ms - offered.from_ms;
            (-length_ms, offered.from_ms, offered.preference, -offered.part.from.ts_ms)
        });
        taken.clear();
        let same_length = |one: &Candidate, other: &Candidate| {
            one.to_ms - one.from_ms == other.to_ms - other.from_ms
        };
        for of_length in offered.chunk_by(same_length) {
            // Both are in the order of time, so one walk along them suffices.
            merged.clear();
            let (mut known, mut until_ms) = (0, i64::MIN);
            for &offered in of_length {
                while let Some(&before) = taken.get(known)
                    && before.to_ms <= offered.from_ms
                {
                    merged.push(before);
                    known += 1;
                }
                let is_free = taken.get(known).is_none_or(|next| next.from_ms >= offered.to_ms);
                if is_free && until_ms <= offered.from_ms {
                    merged.push(offered);
                    until_ms = offered.to_ms;
                }
            }
            merged.extend_from_slice(&taken[known..]);
            std::mem::swap(taken, merged);
        }
        let (first, last) = (taken.first()?, taken.last()?);
        let start = parts.len();
        parts.extend(taken.iter().map(|taken| taken.part));
        let taken_parts = &parts[start..];
        let value = taken_parts.iter().map(|part| part.value).sum::<f64>();
        let has_trace = taken_parts.iter().any(|part| part.qualifier == Some(Qualifier::Trace));
        let worst = |worst: Quality, part: &Part| worst.worse(part.quality);
        let covered_ms: i64 = taken.iter().map(|taken| taken.to_ms - taken.from_ms).sum();
        Some(Total {
            value,
            qualifier: (value == 0.0 && has_trace).then_some(Qualifier::Trace),
            readings: taken_parts.len() as u32,
            first_ms: first.part.from.ts_ms,
            last_ms: last.part.from.ts_ms,
            quality: taken_parts[1..].iter().fold(taken_parts[0].quality, worst),
            coverage: Coverage::of(covered_ms / MINUTE_MS, window),
            parts: start..parts.len(),
        })
    }
}
