//! Finds the verdicts that a batch changes.
//!
//! First, every station of the batch is judged by itself: from the reading before the batch, which
//! may stick out now, to the last reading that the batch can affect. Then readings that are
//! compared between stations, and are in the batch or have a new verdict, are compared with nearby
//! stations, and the nearby stations with them. Finally, calculated values are judged again where a
//! nearby comparison changed a verdict.

use std::collections::HashSet;

use super::NewSpan;
use super::derived::Inputs;
use super::known::Neighbourhood;
use super::nearby::Nearby;
use super::neighbourhood::{Findings, given};
use super::parts::Parts;
use super::station::{Change, OwnResults};
use crate::check::{Checker, OneSeries, OwnVerdict, StationSite, Tally, combined};
use crate::observation::{Quality, SeriesId, StationId, Variable};
use crate::store::{Directory, Reader, Selection, SeriesSlice, StoreError, Verdicts};
use crate::time::{ClosedWindow, DAY_MS, HOUR_MS};

/// The record being judged.
pub(super) struct Assessment<'a> {
    pub checker: &'a Checker,
    pub record: &'a dyn Reader,
    pub directory: &'a Directory,
    pub nearby: &'a Nearby,
}

/// Index of a station in the directory, and the first and last moment that matter.
type Span = (usize, i64, i64);

/// Returns how far before and after a span its verdicts depend on readings.
pub(super) fn around_ms(checker: &Checker) -> i64 {
    let reach = checker.reach();
    reach.back_ms.saturating_add(reach.ahead_ms).saturating_add(HOUR_MS)
}

/// The first and the last moment of some spans.
fn hull(spans: &[Span]) -> (i64, i64) {
    let extend =
        |of: (i64, i64), &(_, first_ms, last_ms): &Span| (of.0.min(first_ms), of.1.max(last_ms));
    spans.iter().fold((i64::MAX, i64::MIN), extend)
}

/// How many of some spans, each of a different station, are read together: spans within a day, and
/// more as long as the time read is at most twice what they need.
fn at_once(spans: &[Span], around_ms: i64) -> usize {
    let read_ms = |(first_ms, last_ms): (i64, i64)| {
        i128::from(last_ms) - i128::from(first_ms) + 2 * i128::from(around_ms)
    };
    let (mut needed_ms, mut all) = (0, (i64::MAX, i64::MIN));
    let mut places = HashSet::new();
    for (before, &(place, first_ms, last_ms)) in spans.iter().enumerate() {
        all = (all.0.min(first_ms), all.1.max(last_ms));
        needed_ms += read_ms((first_ms, last_ms));
        let is_wide = all.1.saturating_sub(all.0) > DAY_MS
            && read_ms(all) * (before as i128 + 1) > 2 * needed_ms;
        if before > 0 && is_wide || !places.insert(place) {
            return before;
        }
    }
    spans.len()
}

impl Assessment<'_> {
    /// Returns the verdicts that differ from those in the record, given the readings that came in.
    pub(super) fn judge(&self, touched: &[NewSpan]) -> Result<Vec<Verdicts>, StoreError> {
        let spans: Vec<Span> = touched
            .iter()
            .filter_map(|&(id, first_ms, last_ms)| Some((self.place(id)?, first_ms, last_ms)))
            .collect();

        let mut judged = OwnResults::default();
        self.scan(spans, |(place, first_ms, last_ms), site, slices| {
            judged.judge(self.checker, place, site, (first_ms, last_ms), slices)
        })?;
        let OwnResults { mut changes, compared } = judged;

        let Self { checker, record, directory, nearby } = *self;
        let findings = Neighbourhood { checker, record, directory, nearby }.compare(compared)?;
        let Findings { changes: found, unknown, mut moments } = findings;
        changes.extend(found);
        for change in self.judge_again(unknown)? {
            changes.push(change);
            moments.push((change.place, change.ts_ms));
        }
        settle(&mut changes);

        let mut derived = Vec::new();
        self.at_moments(moments, |site, parts, moments| {
            self.judge_derived(site, parts, moments, &changes, &mut derived);
        })?;
        changes.append(&mut derived);
        settle(&mut changes);
        Ok(self.verdicts(&changes))
    }

    fn place(&self, id: StationId) -> Option<usize> {
        self.directory.stations.place(id)
    }

    /// Visits stations with everything that the verdicts in their spans depend on. Stations whose
    /// spans are near each other are read together, earliest first, so a remote record is asked
    /// only a few times.
    pub(super) fn scan(
        &self,
        mut spans: Vec<Span>,
        mut visit: impl FnMut(Span, &StationSite, &[SeriesSlice<'_>]) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let around_ms = around_ms(self.checker);
        spans.sort_unstable_by_key(|&(place, first_ms, _)| (first_ms, place));
        let (mut result, mut rest) = (Ok(()), &mut spans[..]);
        while !rest.is_empty() {
            let (spans, later) = rest.split_at_mut(at_once(rest, around_ms));
            rest = later;
            spans.sort_unstable();
            let (first_ms, last_ms) = hull(spans);
            let (from_ms, to_ms) =
                (first_ms.saturating_sub(around_ms), last_ms.saturating_add(around_ms));
            let Ok(window) = ClosedWindow::new(from_ms, to_ms) else { continue };
            let id = |&(place, ..): &Span| self.directory.stations[place].station.id;
            let ids: Vec<StationId> = spans.iter().map(id).collect();
            let selection = Selection { stations: &ids, variables: Variable::ALL, window };
            self.record.scan(&selection, &mut |i, slices| {
                if result.is_ok() {
                    let site = StationSite::from(&self.directory.stations[spans[i].0].station);
                    result = visit(spans[i], &site, slices);
                }
            })?;
        }
        result
    }

    /// Visits the stations of some moments with the readings around these moments, and with the
    /// moments of the station that are near each other, in order.
    fn at_moments(
        &self,
        mut moments: Vec<(usize, i64)>,
        mut visit: impl FnMut(&StationSite, &[Parts<'_, '_>], &[(usize, i64)]),
    ) -> Result<(), StoreError> {
        moments.sort_unstable();
        moments.dedup();
        let near = |one: &(usize, i64), next: &(usize, i64)| {
            one.0 == next.0 && next.1.saturating_sub(one.1) <= DAY_MS
        };
        let span = |of: &[(usize, i64)]| (of[0].0, of[0].1, of[of.len() - 1].1);
        let spans: Vec<Span> = moments.chunk_by(near).map(span).collect();
        self.scan(spans, |(place, first_ms, last_ms), site, slices| {
            let from = moments.partition_point(|of| *of < (place, first_ms));
            let until = moments.partition_point(|of| *of <= (place, last_ms));
            visit(site, &Parts::of_station(slices)?, &moments[from..until]);
            Ok(())
        })
    }

    /// Returns the verdicts of readings whose own checks must run again, if they differ from those
    /// in the record.
    fn judge_again(
        &self,
        mut unknown: Vec<(Change, Tally, bool)>,
    ) -> Result<Vec<Change>, StoreError> {
        let at = |of: &(Change, Tally, bool)| (of.0.place, of.0.ts_ms);
        unknown.sort_by_key(at);
        let mut changes = Vec::new();
        self.at_moments(unknown.iter().map(at).collect(), |site, parts, moments| {
            let from = unknown.partition_point(|of| at(of) < moments[0]);
            let until = unknown.partition_point(|of| at(of) <= moments[moments.len() - 1]);
            let mut pass = self.checker.pass(site, parts);
            for &(change, tally, agrees) in &unknown[from..until] {
                let readings = |of: &Parts<'_, '_>| {
                    let is_it = of.series().id == change.series;
                    if is_it { of.between(change.ts_ms, change.ts_ms) } else { 0..0 }
                };
                let ranges: Vec<_> = parts.iter().map(readings).collect();
                let mut found = None;
                pass.run(&ranges, |which, reading, own| {
                    found = Some((own, parts[which].source(reading)));
                });
                let Some((own, source)) = found else { continue };
                let verdict = combined(tally, source, given(own, agrees));
                if verdict != change.stored {
                    changes.push(Change { verdict, ..change });
                }
            }
        })?;
        Ok(changes)
    }

    /// Judges the calculated readings of some moments, from the changes or else from the record.
    fn judge_derived(
        &self,
        site: &StationSite,
        parts: &[Parts<'_, '_>],
        moments: &[(usize, i64)],
        changes: &[Change],
        found: &mut Vec<Change>,
    ) {
        let calculated = Inputs::of_station(parts);
        let mut pass = self.checker.pass(site, parts);
        let mut verdicts: Vec<Option<Quality>> = Vec::new();
        let mut own_of: Vec<Option<OwnVerdict>> = vec![None; parts.len()];
        let mut ranges = vec![0..0; parts.len()];
        for &(place, ts_ms) in moments {
            verdicts.clear();
            verdicts.extend(parts.iter().map(|of| {
                let key = (place, of.series().id, ts_ms);
                let change = changes.binary_search_by_key(&key, Change::key).ok();
                let stored = || of.at(ts_ms).map(|at| of.stored(at));
                change.map(|at| changes[at].verdict).or_else(stored)
            }));
            for &(derived, _) in &calculated {
                ranges[derived] = parts[derived].between(ts_ms, ts_ms);
            }
            pass.run(&ranges, |which, _, own| {
                (verdicts[which], own_of[which]) = (Some(own.verdict), Some(own));
            });
            for (derived, inputs) in &calculated {
                let verdict = |of: usize, _| verdicts[of].unwrap_or(Quality::UNCHECKED);
                if let Some(worst) = inputs.worst(parts, ts_ms, verdict) {
                    let own = own_of[*derived].filter(|_| !ranges[*derived].is_empty());
                    verdicts[*derived] = Some(own.map_or(worst, |own| own.of_calculated(worst)));
                }
                if let (Some(at), Some(verdict)) = (parts[*derived].at(ts_ms), verdicts[*derived]) {
                    let (series, stored) =
                        (parts[*derived].series().id, parts[*derived].stored(at));
                    found.push(Change { place, series, ts_ms, stored, verdict });
                }
            }
        }
    }

    /// Returns the changes as verdicts on series.
    fn verdicts(&self, changes: &[Change]) -> Vec<Verdicts> {
        let same =
            |one: &Change, next: &Change| (one.place, one.series) == (next.place, next.series);
        let of_series = |changes: &[Change]| Verdicts {
            station: self.directory.stations[changes[0].place].station.id,
            series: changes[0].series,
            ts_ms: changes.iter().map(|change| change.ts_ms).collect(),
            quality: changes.iter().map(|change| change.verdict).collect(),
        };
        changes.chunk_by(same).map(of_series).collect()
    }
}

impl Change {
    fn key(&self) -> (usize, SeriesId, i64) {
        (self.place, self.series, self.ts_ms)
    }
}

/// Sorts changes and keeps the last of each reading, if it is a real change.
fn settle(changes: &mut Vec<Change>) {
    // The sort is stable, and fast if they are already in order.
    changes.sort_by_key(Change::key);
    changes.dedup_by(|next, kept| {
        let same = next.key() == kept.key();
        if same {
            *kept = *next;
        }
        same
    });
    changes.retain(|change| change.verdict != change.stored);
}

#[cfg(test)]
mod tests {
    use super::*;

    const AROUND_MS: i64 = 174 * HOUR_MS;

    #[test]
    fn spans_of_several_stations_are_read_together() {
        let day = |place, days: i64| (place, days * DAY_MS, days * DAY_MS + HOUR_MS);
        // Spans within a day, and longer spans at about the same time.
        assert_eq!(at_once(&[day(0, 5), day(1, 5), day(2, 6)], HOUR_MS), 2);
        let same = |place| (place, 0, 29 * HOUR_MS);
        assert_eq!(at_once(&(0..3_000).map(same).collect::<Vec<_>>(), AROUND_MS), 3_000);
    }

    #[test]
    fn more_than_twice_of_what_is_needed_is_not_read() {
        let at = |place, days: i64| (place, days * DAY_MS, days * DAY_MS);
        let far = [at(0, 0), at(1, 1), at(2, 400), at(3, 401)];
        assert_eq!((at_once(&far, AROUND_MS), at_once(&far[2..], AROUND_MS)), (2, 2));
        // As far apart as instants can be.
        let farthest = [(0, i64::MIN, i64::MIN), (1, i64::MAX, i64::MAX)];
        assert_eq!(at_once(&farthest, AROUND_MS), 1);
    }

    #[test]
    fn a_station_is_read_once_at_a_time() {
        let twice = [(1, 0, HOUR_MS), (0, HOUR_MS, HOUR_MS), (1, 2 * HOUR_MS, 3 * HOUR_MS)];
        assert_eq!(at_once(&twice, AROUND_MS), 2);
    }
}
