//! Finds the verdicts that a batch changes.
//!
//! First, every station of the batch is judged by itself: from the reading before the batch, which
//! may stick out now, to the last reading that the batch can affect. Then the readings that are
//! compared between stations, and are in the batch or have a new verdict, are compared with nearby
//! stations, and those with them. Finally, calculated values are judged again where a nearby
//! comparison changed a verdict.

use super::Touched;
use super::derived::Inputs;
use super::known::Neighbourhood;
use super::nearby::Nearby;
use super::neighbourhood::{Findings, given};
use super::parts::Parts;
use super::station::{Change, Judged};
use crate::check::{Checker, OneSeries, Own, StationSite, combined};
use crate::observation::{Quality, SeriesId, StationId, Variable};
use crate::store::{Directory, Reader, Selection, SeriesSlice, StoreError, Verdicts};
use crate::time::{ClosedWindow, DAY_MS, HOUR_MS};

/// The record being judged.
pub(super) struct Judging<'a> {
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

impl Judging<'_> {
    /// Returns the verdicts that differ from those in the record, given the readings that came in.
    pub(super) fn judge(&self, touched: &[Touched]) -> Result<Vec<Verdicts>, StoreError> {
        let mut spans: Vec<Span> = touched
            .iter()
            .filter_map(|&(id, first_ms, last_ms)| Some((self.place(id)?, first_ms, last_ms)))
            .collect();
        spans.sort_unstable();

        let mut judged = Judged::default();
        self.scan(&spans, |(place, first_ms, last_ms), site, slices| {
            judged.judge(self.checker, place, site, (first_ms, last_ms), slices)
        })?;
        let Judged { mut changes, compared } = judged;

        let Self { checker, record, directory, nearby } = *self;
        let findings = Neighbourhood { checker, record, directory, nearby }.compare(compared)?;
        let Findings { changes: found, unknown, mut moments } = findings;
        changes.extend(found);
        for (change, tally, agrees) in unknown {
            let at = (change.place, change.ts_ms);
            let Some((own, source)) = self.own_verdict(at, change.series)? else { continue };
            let verdict = combined(tally, source, given(own, agrees));
            if verdict != change.stored {
                changes.push(Change { verdict, ..change });
                moments.push(at);
            }
        }
        settle(&mut changes);

        moments.sort_unstable();
        moments.dedup();
        let mut derived = Vec::new();
        for (place, ts_ms) in moments {
            self.judge_derived(place, ts_ms, &changes, &mut derived)?;
        }
        changes.append(&mut derived);
        settle(&mut changes);
        Ok(self.verdicts(&changes))
    }

    fn place(&self, id: StationId) -> Option<usize> {
        self.directory.stations.binary_search_by_key(&id, |known| known.station.id).ok()
    }

    /// Visits stations with everything that the verdicts in their spans depend on.
    pub(super) fn scan(
        &self,
        spans: &[Span],
        mut visit: impl FnMut(Span, &StationSite, &[SeriesSlice<'_>]) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let first_ms = spans.iter().map(|&(_, first_ms, _)| first_ms).min().unwrap_or(0);
        let last_ms = spans.iter().map(|&(.., last_ms)| last_ms).max().unwrap_or(0);
        // Searching a few more days of readings costs little.
        let together = last_ms.saturating_sub(first_ms) <= DAY_MS;
        let at_once = if together { spans.len().max(1) } else { 1 };
        let around_ms = around_ms(self.checker);
        let mut result = Ok(());
        for spans in spans.chunks(at_once) {
            let first_ms = spans.iter().map(|&(_, first_ms, _)| first_ms).min().unwrap_or(0);
            let last_ms = spans.iter().map(|&(.., last_ms)| last_ms).max().unwrap_or(0);
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

    /// Returns the verdict of the station's own checks on a reading, and the source's.
    fn own_verdict(
        &self,
        (place, ts_ms): (usize, i64),
        series: SeriesId,
    ) -> Result<Option<(Own, Quality)>, StoreError> {
        let mut found = None;
        self.scan(&[(place, ts_ms, ts_ms)], |_, site, slices| {
            let parts = Parts::of_station(slices)?;
            let readings = |of: &Parts<'_, '_>| {
                if of.series().id == series { of.between(ts_ms, ts_ms) } else { 0..0 }
            };
            let ranges: Vec<_> = parts.iter().map(readings).collect();
            self.checker.pass(site, &parts).run(&ranges, |which, reading, verdict| {
                found = Some((verdict, parts[which].source(reading)));
            });
            Ok(())
        })?;
        Ok(found)
    }

    /// Judges the calculated readings of a moment, from the changes or else from the record.
    fn judge_derived(
        &self,
        place: usize,
        ts_ms: i64,
        changes: &[Change],
        found: &mut Vec<Change>,
    ) -> Result<(), StoreError> {
        self.scan(&[(place, ts_ms, ts_ms)], |_, site, slices| {
            let parts = Parts::of_station(slices)?;
            let mut verdicts: Vec<Option<Quality>> = parts
                .iter()
                .map(|of| {
                    let key = (place, of.series().id, ts_ms);
                    let change = changes.binary_search_by_key(&key, Change::key).ok();
                    let stored = || of.at(ts_ms).map(|at| of.stored(at));
                    change.map(|at| changes[at].verdict).or_else(stored)
                })
                .collect();
            let calculated = Inputs::of_station(&parts);
            let mut ranges = vec![0..0; parts.len()];
            for &(derived, _) in &calculated {
                ranges[derived] = parts[derived].between(ts_ms, ts_ms);
            }
            self.checker.pass(site, &parts).run(&ranges, |which, _, own| {
                verdicts[which] = Some(own.verdict);
            });
            for (derived, inputs) in &calculated {
                let verdict = |of: usize, _| verdicts[of].unwrap_or(Quality::UNCHECKED);
                if let Some(worst) = inputs.worst(&parts, ts_ms, verdict) {
                    verdicts[*derived] = Some(worst);
                }
                if let (Some(at), Some(verdict)) = (parts[*derived].at(ts_ms), verdicts[*derived]) {
                    let (series, stored) =
                        (parts[*derived].series().id, parts[*derived].stored(at));
                    found.push(Change { place, series, ts_ms, stored, verdict });
                }
            }
            Ok(())
        })
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
