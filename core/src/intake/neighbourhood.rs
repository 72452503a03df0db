//! Compares stations with nearby stations.
//!
//! Every reading is compared with what its neighbours measured at its time. So a reading changes
//! the comparison of other stations only between the readings before and after it. The comparisons
//! that it may change are found first. Then the readings of the stations that these depend on are
//! read, nearest first, until there are enough.

use super::affected::AffectedReadings;
use super::changes::Changes;
use super::column::{ComparedReading, takes_part};
use super::known::{DueReading, KnownReadings, Neighbourhood, at_moment};
use super::station::{Change, ReadingToCompare};
use crate::check::{
    CheckReport, Comparison, DISAGREE, NeighbourValue, OwnVerdict, StationSite, Tally, combined,
};
use crate::observation::{BaseQuality, Quality, ReasonQuality, SeriesKey, Variable};
use crate::store::StoreError;
use crate::time::DAY_MS;

/// How many readings are compared at once, if they are at different moments.
const AT_ONCE: usize = 20_000;

/// The results of a comparison.
#[derive(Debug, Default)]
pub(super) struct Findings {
    pub changes: Vec<Change>,
    /// Readings whose own verdict must be computed, with the result of the comparison, and whether nearby stations agree with the value.
    pub unknown: Vec<(Change, Tally, bool)>,
    /// Places and moments where a verdict differs from what calculated values were based on.
    pub moments: Vec<(usize, i64)>,
}

/// A neighbour's value at the time of a reading: place, distance in km, value.
type Near = (usize, f64, NeighbourValue);

/// A reading that was compared with its neighbours: the result, its distance from what they say in
/// deviations, and whether it is near enough that they agree.
#[derive(Clone, Copy)]
struct ComparedOne {
    due: DueReading,
    tally: Tally,
    level: Option<f64>,
    agrees: bool,
}

/// The verdict of a station's own checks, given whether nearby stations agree with the value.
pub(super) fn given(own: OwnVerdict, agrees: bool) -> Quality {
    if agrees { own.cleared } else { own.verdict }
}

fn has_jumped(verdict: Quality) -> bool {
    verdict.base == BaseQuality::Doubtful
        && matches!(verdict.reason, ReasonQuality::Increase | ReasonQuality::Decrease)
}

/// The distances of neighbours, in the form that the check takes.
fn distances(near: &[Near]) -> impl Iterator<Item = (usize, f64)> + '_ {
    near.iter().enumerate().map(|(i, &(_, distance_km, _))| (i, distance_km))
}

impl Neighbourhood<'_> {
    /// Compares readings with nearby readings, and the nearby readings with them.
    pub(super) fn compare(
        &self,
        mut compared: Vec<ReadingToCompare>,
    ) -> Result<Findings, StoreError> {
        compared.sort_unstable_by_key(|of| (of.ts_ms, of.place));
        let mut findings = Findings::default();
        let mut rest = &compared[..];
        while let Some(first) = rest.first() {
            let day = rest.partition_point(|of| of.ts_ms.abs_diff(first.ts_ms) < DAY_MS as u64);
            let moment = rest.partition_point(|of| of.ts_ms == first.ts_ms);
            let (now, later) = rest.split_at(day.min(AT_ONCE.max(moment)));
            self.compare_some(now, &compared, &mut findings)?;
            rest = later;
        }
        Ok(findings)
    }

    fn compare_some(
        &self,
        now: &[ReadingToCompare],
        all: &[ReadingToCompare],
        findings: &mut Findings,
    ) -> Result<(), StoreError> {
        let mut variables: Vec<Variable> = now.iter().map(|of| of.variable).collect();
        variables.sort_unstable();
        variables.dedup();
        let from_ms = now.iter().map(|of| of.after_ms.min(of.ts_ms)).min().unwrap_or(0);
        let to_ms = now.iter().map(|of| of.before_ms.max(of.ts_ms)).max().unwrap_or(0);
        // Later readings may still contain a change.
        let back_ms = self.back_ms(&variables);
        let to_ms = to_ms.saturating_add(back_ms);
        let Some(mut known) = self.known(&variables, (from_ms, to_ms), all) else { return Ok(()) };

        self.read(&mut known, now.iter().map(|of| of.place).collect())?;
        let mut due = Vec::new();
        for of in now {
            if let Some(variable) = known.variable(of.variable) {
                known.mark(of.place, variable, at_moment(of.ts_ms), |_, _| true, &mut due);
            }
        }
        let affected = self.affected(&mut known, now)?;
        self.mark_affected(&mut known, affected, &mut due)?;
        // The readings of a station one after the other: they mostly have the same neighbours.
        due.sort_unstable();

        let mut compared = Vec::with_capacity(due.len());
        self.settle(&mut known, due, |known, due, near| {
            compared.extend(self.compare_one(known, due, near));
        })?;
        let mut changes = Changes::new(self, &known, (from_ms, to_ms), all);
        for variable in 0..known.variables.len() {
            let of_variable = compared.iter().filter(|one| one.due.1 == variable);
            let needed = of_variable.filter(|one| self.needs_changes(&known, one));
            changes.read(variable, needed.map(|one| one.due.0).collect())?;
        }
        for one in compared {
            self.conclude(&known, one, &mut changes, findings)?;
        }
        Ok(())
    }

    /// Marks as due the readings of stations that have a changed reading among their nearest
    /// values. Reads the nearer stations as needed.
    fn mark_affected(
        &self,
        known: &mut KnownReadings<'_>,
        mut affected: Vec<AffectedReadings>,
        due: &mut Vec<DueReading>,
    ) -> Result<(), StoreError> {
        while !affected.is_empty() {
            let mut wanted = Vec::new();
            affected.retain(|of| {
                let already = wanted.len();
                let nearest = known.variables[of.variable].1.nearest;
                let is_nearer = |&(_, distance_km): &(usize, f64)| distance_km < of.distance_km;
                let mut is_surely = None;
                let is_neighbour = |known: &KnownReadings<'_>, ts_ms| {
                    let has_few = || {
                        let nearer = self.around(known, of.place).take_while(is_nearer);
                        nearer.take(nearest).count() < nearest
                    };
                    // Found for the first reading that is not due yet; mostly all readings are due.
                    if *is_surely.get_or_insert_with(has_few) {
                        return true;
                    }
                    let (mut nearer, from) = (0, wanted.len());
                    let around = self.around_at(known, of.place, of.variable, ts_ms);
                    for (other, _) in around.take_while(is_nearer) {
                        if known.columns[other].is_none() {
                            wanted.push(other);
                        } else if known.value(other, of.variable, ts_ms).is_some() {
                            nearer += 1;
                        }
                        if nearer + wanted.len() - from >= nearest {
                            break;
                        }
                    }
                    let is_near = nearer + wanted.len() - from < nearest;
                    // Otherwise the answer depends on stations that are not known yet.
                    if is_near || nearer >= nearest {
                        wanted.truncate(from);
                    }
                    is_near
                };
                known.mark(of.place, of.variable, of.span, is_neighbour, due);
                known.mark_later(of.place, of.variable, of.span, self.checker, due);
                wanted.len() > already
            });
            self.read(known, wanted)?;
        }
        Ok(())
    }

    /// Finds the values that each of some readings is compared with. Reads more stations as needed.
    fn settle(
        &self,
        known: &mut KnownReadings<'_>,
        mut due: Vec<DueReading>,
        mut conclude: impl FnMut(&KnownReadings<'_>, DueReading, &[Near]),
    ) -> Result<(), StoreError> {
        let mut near = Vec::new();
        // If few stations have values, more are read at once the next time.
        for round in 0_u32.. {
            if due.is_empty() {
                break;
            }
            let mut wanted = Vec::new();
            due.retain(|&due| {
                let complete = self.gather(known, due, round, &mut near, &mut wanted);
                if complete {
                    conclude(known, due, &near);
                }
                !complete
            });
            self.read(known, wanted)?;
        }
        Ok(())
    }

    /// Finds the values that a reading is compared with, nearest first. If stations must be read
    /// first, adds them to the wanted stations and returns false; each round adds twice as many.
    fn gather(
        &self,
        known: &KnownReadings<'_>,
        due: DueReading,
        round: u32,
        near: &mut Vec<Near>,
        wanted: &mut Vec<usize>,
    ) -> bool {
        near.clear();
        let (place, variable, ..) = due;
        let Some((_, reading)) = known.reading(due) else { return true };
        // Without an altitude, the check cannot run, whatever is around.
        if self.is_mute(known, place, variable) {
            return true;
        }
        let (_, rule) = known.variables[variable];
        let already = wanted.len();
        for (other, distance_km) in self.around_at(known, place, variable, reading.ts_ms) {
            let missing = rule.nearest.saturating_sub(near.len());
            let at_once = missing.saturating_mul(1 << round.min(16));
            if distance_km > rule.radius_km || wanted.len() - already >= at_once {
                break;
            }
            if known.columns[other].is_none() {
                wanted.push(other);
            } else if let Some((value, unsure_hours)) = known.value(other, variable, reading.ts_ms)
            {
                let (base, spot) = (BaseQuality::Good, self.spot(other));
                near.push((other, distance_km, NeighbourValue { value, spot, base, unsure_hours }));
            }
        }
        wanted.len() == already
    }

    fn compare_one(
        &self,
        known: &KnownReadings<'_>,
        due: DueReading,
        near: &[Near],
    ) -> Option<ComparedOne> {
        let (variable, held) = (known.variables[due.1].0, known.held(due)?);
        let (tally, level) =
            self.checker.check_held(variable, held, distances(near), |i| Some(near[i].2));
        let rule = self.checker.change_rule(variable).filter(|_| tally.tripped().is_none());
        let agrees = level.zip(rule).is_some_and(|(level, rule)| rule.is_near(level));
        Some(ComparedOne { due, tally, level, agrees })
    }

    /// Whether [`conclude`](Self::conclude) will probably need the readings of the hours before,
    /// which are then read for all stations at once. The guess may be wrong: missing readings are
    /// then read for that station alone.
    fn needs_changes(&self, known: &KnownReadings<'_>, one: &ComparedOne) -> bool {
        let ComparedOne { due, tally, level, agrees } = *one;
        let Some(rule) = self.checker.change_rule(known.variables[due.1].0) else { return false };
        let is_far = || tally.tripped().is_none() && level.is_some_and(|level| rule.is_far(level));
        let may_have_jumped = || {
            let reading = known.reading(due);
            !agrees && reading.is_some_and(|(_, reading)| reading.own.is_none())
        };
        is_far() || may_have_jumped()
    }

    /// Combines the result of a comparison with the verdict of the station's own checks.
    fn conclude(
        &self,
        known: &KnownReadings<'_>,
        one: ComparedOne,
        changes: &mut Changes<'_, '_>,
        findings: &mut Findings,
    ) -> Result<(), StoreError> {
        let ComparedOne { due, mut tally, level, mut agrees } = one;
        let Some((series, reading)) = known.reading(due) else { return Ok(()) };
        let (place, variable) = (due.0, known.variables[due.1].0);
        let ComparedReading { ts_ms, source, stored, own, .. } = *reading;
        if tally.tripped().is_none() {
            let found = changes.judge((place, due.1, series), ts_ms, level)?;
            self.checker.note_change(variable, found, &mut tally);
        }
        let mut change = Change { place, series, ts_ms, stored, verdict: stored };
        agrees &= tally.tripped().is_none();
        let concluded = match own {
            Some(own) => Some(combined(tally, source, given(own, agrees))),
            // Agreement may have cleared a jump before, or clears it now.
            None if !agrees && changes.may_have_jumped((place, due.1, series), ts_ms)? => None,
            None if agrees && has_jumped(stored) => None,
            None => self.revised(place, variable, reading, tally),
        };
        let Some(verdict) = concluded else {
            findings.unknown.push((change, tally, agrees));
            return Ok(());
        };
        change.verdict = verdict;
        if verdict != own.map_or(stored, |own| own.verdict) {
            findings.moments.push((place, ts_ms));
        }
        if verdict != stored {
            findings.changes.push(change);
        }
        Ok(())
    }

    /// How far back the verdict on a reading depends on readings of other stations.
    pub(super) fn back_ms(&self, variables: &[Variable]) -> i64 {
        let back_ms = |&variable: &Variable| {
            let rule = self.checker.change_rule(variable)?;
            Some(rule.back_ms().max(self.checker.jump_back_ms(variable)))
        };
        variables.iter().filter_map(back_ms).max().unwrap_or(0)
    }

    /// Returns the verdict on a reading whose own checks would give the same result as before, as
    /// far as the stored verdict shows; `None` if they must run again.
    fn revised(
        &self,
        place: usize,
        variable: Variable,
        of: &ComparedReading,
        tally: Tally,
    ) -> Option<Quality> {
        let ComparedReading { stored, source, .. } = *of;
        let site = StationSite::from(&self.directory.stations[place].station);
        if source.base == BaseQuality::Good {
            Some(stored)
        } else if let Some(tripped) = tally.tripped() {
            Some(stored.worse(tripped))
        } else if stored == DISAGREE && source != DISAGREE {
            // The previous verdict was better.
            None
        } else if stored.base == BaseQuality::Unknown && tally.ran() {
            Some(Quality::GOOD)
        } else if stored == Quality::GOOD && !tally.ran() {
            // Only this check may have made it Good.
            self.checker.is_judged_alone(variable, &site, of.ts_ms).then_some(stored)
        } else {
            Some(stored)
        }
    }

    /// Visits the readings of a station in a span that can be compared.
    pub(super) fn comparisons(
        &self,
        place: usize,
        (from_ms, to_ms): (i64, i64),
        mut visit: impl FnMut(Variable, i64, Comparison),
    ) -> Result<(), StoreError> {
        let variables: Vec<Variable> = self.checker.neighbour_variables().collect();
        let Some(mut known) = self.known(&variables, (from_ms, to_ms), &[]) else { return Ok(()) };
        self.read(&mut known, vec![place])?;
        let mut due = Vec::new();
        let span = (from_ms.saturating_sub(1), to_ms.saturating_add(1));
        for variable in 0..known.variables.len() {
            known.mark(place, variable, span, |_, _| true, &mut due);
        }
        self.settle(&mut known, due, |known, due, near| {
            let Some((_, reading)) = known.reading(due) else { return };
            let Some(held) = known.held(due) else { return };
            let variable = known.variables[due.1].0;
            let comparison =
                self.checker.compare_held(variable, held, distances(near), |i| Some(near[i].2));
            if let Some(comparison) = comparison {
                visit(variable, reading.ts_ms, comparison);
            }
        })
    }

    /// Explains the results of the checks of values and of changes for a reading, and whether
    /// nearby stations agree with it. There are no results if the reading is not compared.
    pub(super) fn explain(
        &self,
        place: usize,
        key: &SeriesKey,
        ts_ms: i64,
    ) -> Result<(Vec<CheckReport>, bool), StoreError> {
        let variable = key.variable;
        if !takes_part(key, variable) {
            return Ok((Vec::new(), false));
        }
        let Some(mut known) = self.known(&[variable], (ts_ms, ts_ms), &[]) else {
            return Ok((Vec::new(), false));
        };
        let mut changes = Changes::new(self, &known, (ts_ms, ts_ms), &[]);
        self.read(&mut known, vec![place])?;
        let mut due = Vec::new();
        known.mark(place, 0, at_moment(ts_ms), |_, _| true, &mut due);
        due.retain(|&due| known.reading(due).is_some_and(|(id, _)| id == key.id()));
        let (mut explained, mut judged, mut agrees) = (Vec::new(), None, false);
        self.settle(&mut known, due, |known, due, near| {
            let Some((id, reading)) = known.reading(due) else { return };
            let Some(held) = known.held(due) else { return };
            let (_, level) =
                self.checker.check_held(variable, held, distances(near), |i| Some(near[i].2));
            judged = Some(((place, 0, id), reading.ts_ms, level));
            let mut report =
                self.checker.explain_held(variable, held, distances(near), |i| Some(near[i].2));
            for neighbour in &mut report.neighbours {
                let station = &self.directory.stations[near[neighbour.place].0].station;
                neighbour.station_id = Some(station.id);
                neighbour.name = Some(station.name.clone());
            }
            explained.push(report);
        })?;
        if let Some((of, ts_ms, level)) = judged {
            explained.push(changes.explain(of, ts_ms, level)?);
            let is_good =
                |report: &CheckReport| matches!(report.outcome, None | Some(Quality::GOOD));
            let rule = self.checker.change_rule(variable).filter(|_| explained.iter().all(is_good));
            agrees = level.zip(rule).is_some_and(|(level, rule)| rule.is_near(level));
        }
        Ok((explained, agrees))
    }
}
