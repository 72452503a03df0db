//! The verdicts of a station's own checks, which need no other station.

use std::ops::Range;

use super::column::{is_compared, says_something, without_neighbours};
use super::derived::Inputs;
use super::parts::Parts;
use crate::check::{
    ChangeRule, Checker, DISAGREE, NeighbourRule, OneSeries, OwnVerdict, StationSite,
};
use crate::observation::{BaseQuality, Quality, SeriesId, Variable};
use crate::store::{SeriesSlice, StoreError};

/// The new verdict on a reading, and the one in the store.
#[derive(Clone, Copy, Debug)]
pub(super) struct Change {
    /// Index of the station in the directory.
    pub place: usize,
    pub series: SeriesId,
    pub ts_ms: i64,
    pub stored: Quality,
    pub verdict: Quality,
}

/// A reading to be compared with nearby stations, or the nearby stations with it.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReadingToCompare {
    pub ts_ms: i64,
    pub variable: Variable,
    /// Index of the station in the directory.
    pub place: usize,
    pub series: SeriesId,
    /// The verdict of the station's own checks.
    pub own: OwnVerdict,
    /// Whether it may change the verdicts of nearby stations: of their readings after and before
    /// these moments.
    pub around: bool,
    pub after_ms: i64,
    pub before_ms: i64,
}

/// The results of the stations' own checks.
#[derive(Debug, Default)]
pub(super) struct OwnResults {
    pub changes: Vec<Change>,
    pub compared: Vec<ReadingToCompare>,
}

/// The series of a station, and the verdicts on the readings that may have changed.
struct JudgedStation<'p, 's, 'a> {
    parts: &'p [Parts<'s, 'a>],
    /// For each series, the readings being judged, and where they begin in the columns.
    ranges: Vec<Range<usize>>,
    begin: Vec<usize>,
    verdict: Vec<Quality>,
    /// The results of the station's own checks.
    own_of: Vec<OwnVerdict>,
    /// Whether nearby stations decide the verdict on a reading.
    open: Vec<bool>,
}

impl JudgedStation<'_, '_, '_> {
    fn column(&self, which: usize, reading: usize) -> Option<usize> {
        let range = &self.ranges[which];
        range.contains(&reading).then(|| self.begin[which] + reading - range.start)
    }

    fn verdict(&self, which: usize, reading: usize) -> Quality {
        let column = self.column(which, reading);
        column.map_or_else(|| self.parts[which].stored(reading), |column| self.verdict[column])
    }
}

impl OwnResults {
    /// Judges the readings whose verdicts may have changed because of a station's readings between
    /// two moments. The slices cover everything that the verdicts depend on.
    pub(super) fn judge(
        &mut self,
        checker: &Checker,
        place: usize,
        site: &StationSite,
        (first_ms, last_ms): (i64, i64),
        slices: &[SeriesSlice<'_>],
    ) -> Result<(), StoreError> {
        let parts = Parts::of_station(slices)?;
        let mut pass = checker.pass(site, &parts);
        let from_ms = pass.changed_from_ms(first_ms);
        let to_ms = last_ms.saturating_add(checker.reach().back_ms);
        let ranges: Vec<_> = parts.iter().map(|of| of.between(from_ms, to_ms)).collect();
        let mut readings = 0;
        let begin = ranges.iter().map(|range| {
            readings += range.len();
            readings - range.len()
        });
        let begin: Vec<usize> = begin.collect();
        let mut verdict = Vec::with_capacity(readings);
        let mut own_of = Vec::with_capacity(readings);
        pass.run(&ranges, |_, _, own| {
            verdict.push(own.verdict);
            own_of.push(own);
        });
        let open = vec![false; readings];
        let mut station = JudgedStation { parts: &parts, ranges, begin, verdict, own_of, open };

        for variable in checker.neighbour_variables() {
            if let Some(rule) = checker.neighbour_rule(variable) {
                let span = (first_ms, last_ms);
                self.compare(&mut station, checker, (variable, rule), place, span);
            }
        }
        for (derived, inputs) in Inputs::of_station(&parts) {
            for reading in station.ranges[derived].clone() {
                let ts_ms = parts[derived].ts_ms(reading);
                let worst = inputs.worst(&parts, ts_ms, |of, at| station.verdict(of, at));
                if let (Some(worst), Some(column)) = (worst, station.column(derived, reading)) {
                    station.verdict[column] = station.own_of[column].of_calculated(worst);
                }
            }
        }
        for (which, of) in parts.iter().enumerate() {
            for reading in station.ranges[which].clone() {
                let (stored, column) = (of.stored(reading), station.column(which, reading));
                let changed = column
                    .filter(|&column| !station.open[column] && station.verdict[column] != stored);
                if let Some(column) = changed {
                    let (series, ts_ms) = (of.series().id, of.ts_ms(reading));
                    let verdict = station.verdict[column];
                    self.changes.push(Change { place, series, ts_ms, stored, verdict });
                }
            }
        }
        Ok(())
    }

    /// Records which readings of a variable to compare with nearby stations.
    fn compare(
        &mut self,
        station: &mut JudgedStation<'_, '_, '_>,
        checker: &Checker,
        (variable, rule): (Variable, NeighbourRule),
        place: usize,
        (first_ms, last_ms): (i64, i64),
    ) {
        let parts = station.parts;
        for which in is_compared(parts, variable) {
            let of = &parts[which];
            for reading in station.ranges[which].clone() {
                let Some(column) = station.column(which, reading) else { continue };
                let (own, stored, source) =
                    (station.verdict[column], of.stored(reading), of.source(reading));
                let ts_ms = of.ts_ms(reading);
                let is_new = (first_ms..=last_ms).contains(&ts_ms);
                // The check of changes is needed if a new reading may be part of a change that this
                // reading still contains.
                let follows = checker.change_rule(variable).filter(|rule| {
                    ts_ms > last_ms && ts_ms <= last_ms.saturating_add(rule.back_ms())
                });
                let may_have_changed = |rule: ChangeRule| {
                    let from_ms = first_ms.saturating_sub(rule.within_ms);
                    let at = |reading| (of.ts_ms(reading), of.value(reading));
                    let mut course = of.before(from_ms)..reading + 1;
                    // Without the new readings, the changes between them were a single change.
                    course.any(|next| next > 0 && rule.may_be_large(at(next - 1), at(next)))
                };
                if !is_new && !follows.is_some_and(may_have_changed) {
                    let disagreed = stored == DISAGREE && source != DISAGREE;
                    // The reading was compared before, with the same stations. But a correction may
                    // have removed a change that they did not share.
                    if disagreed && own.base > BaseQuality::Doubtful && follows.is_none() {
                        station.verdict[column] = DISAGREE;
                        continue;
                    }
                    // A verdict that neighbours may clear is not settled by the station's own
                    // checks.
                    if own == stored && station.own_of[column].cleared == own {
                        continue;
                    }
                }
                let counted = says_something(without_neighbours(stored, source));
                let is_compared = |&other: &usize| {
                    let verdict = station.verdict(which, other);
                    of.value(other).is_finite()
                        && says_something(without_neighbours(verdict, of.source(other)))
                };
                let near =
                    |other: &usize| of.ts_ms(*other).saturating_sub(ts_ms).abs() <= rule.reach_ms();
                let before = (0..reading).rev().take_while(near).find(is_compared);
                let after = (reading + 1..of.len()).take_while(near).find(is_compared);
                station.open[column] = true;
                self.compared.push(ReadingToCompare {
                    ts_ms,
                    variable,
                    place,
                    series: of.series().id,
                    own: OwnVerdict { verdict: own, ..station.own_of[column] },
                    around: is_new || says_something(own) != counted,
                    after_ms: before.map_or(ts_ms.saturating_sub(rule.reach_ms() + 1), |before| {
                        of.ts_ms(before)
                    }),
                    before_ms: after
                        .map_or(ts_ms.saturating_add(rule.reach_ms() + 1), |after| of.ts_ms(after)),
                });
            }
        }
    }
}
