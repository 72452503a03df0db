//! Compares changes from reading to reading with the changes of nearby stations.
//!
//! A change that no neighbour shares makes the readings after it doubtful for hours. So readings
//! from further back matter than in the comparison of values. Few readings differ enough from their
//! neighbours for such a change to be possible. Only for these are the hours before read, and only
//! for large changes are the changes of the neighbours read.

use super::known::{KnownReadings, Neighbourhood};
use super::parts::Parts;
use super::station::ReadingToCompare;
use crate::check::{
    ChangeInput, ChangeRule, CheckReport, Difference, NeighbourRule, NeighbourValue, NotRun,
    StationSite, Unshared, lasting,
};
use crate::observation::{BaseQuality, SeriesId, Variable};
use crate::store::{Selection, StoreError};
use crate::time::{ClosedWindow, HOUR_MS};

/// The readings by which changes are judged, read as needed.
pub(super) struct Changes<'n, 'c> {
    of: &'n Neighbourhood<'n>,
    variables: Vec<(Variable, NeighbourRule)>,
    span: (i64, i64),
    own: &'c [ReadingToCompare],
    /// Each variable separately, because most readings need no changes at all.
    known: Vec<Option<KnownReadings<'c>>>,
}

/// The series of a reading: index of the station, variable in the columns, id.
type Of = (usize, usize, SeriesId);

/// The changes of a station, first, and of those around it, with their places and distances in km.
type Near = Vec<(usize, f64, NeighbourValue)>;

impl<'n, 'c> Changes<'n, 'c> {
    /// Prepares for readings in a span, for the variables known there. Nothing is read yet.
    pub(super) fn new(
        of: &'n Neighbourhood<'n>,
        known: &KnownReadings<'_>,
        span: (i64, i64),
        own: &'c [ReadingToCompare],
    ) -> Self {
        let variables = known.variables.clone();
        let known = variables.iter().map(|_| None).collect();
        Self { of, variables, span, own, known }
    }

    fn rule(&self, variable: usize) -> (Variable, Option<ChangeRule>) {
        let variable = self.variables[variable].0;
        (variable, self.of.checker.change_rule(variable))
    }

    /// The known readings of a variable as far back as they matter, with some stations read; it is
    /// the first and only variable there. `None` if the times are out of range.
    fn known(
        &mut self,
        variable: usize,
        places: Vec<usize>,
    ) -> Result<Option<&mut KnownReadings<'c>>, StoreError> {
        let (name, known) = (self.variables[variable].0, &mut self.known[variable]);
        if known.is_none() {
            let (from_ms, to_ms) = self.span;
            let from_ms = from_ms.saturating_sub(self.of.back_ms(&[name]));
            *known = self.of.known(&[name], (from_ms, to_ms), self.own);
        }
        let Some(known) = known else { return Ok(None) };
        self.of.read(known, places)?;
        Ok(Some(known))
    }

    /// Reads together some stations that will be needed, as far back as it matters.
    pub(super) fn read(&mut self, variable: usize, places: Vec<usize>) -> Result<(), StoreError> {
        if !places.is_empty() {
            self.known(variable, places)?;
        }
        Ok(())
    }

    /// Whether a reading still contains a change that the neighbours do not share, when its value
    /// is `level` deviations from what they say; or why this is unknown.
    pub(super) fn judge(
        &mut self,
        of: Of,
        ts_ms: i64,
        level: Option<f64>,
    ) -> Result<Result<bool, NotRun>, StoreError> {
        let Some(level) = level else { return Ok(Err(NotRun::TooFewNeighbours)) };
        let (_, Some(rule)) = self.rule(of.1) else { return Ok(Err(NotRun::NoLimit)) };
        if !rule.is_far(level) {
            return Ok(Ok(false));
        }
        let course = self.course(of, ts_ms, &rule)?;
        Ok(self.lasting(of, &course, level, &rule)?.map(|found| found.is_some()))
    }

    /// Whether a reading may be doubtful because of a jump in its own series.
    pub(super) fn may_have_jumped(
        &mut self,
        (place, variable, series): Of,
        ts_ms: i64,
    ) -> Result<bool, StoreError> {
        let (checker, name) = (self.of.checker, self.variables[variable].0);
        if checker.change_rule(name).is_none() {
            return Ok(false);
        }
        let Some(known) = self.known(variable, vec![place])? else { return Ok(false) };
        let from_ms = ts_ms.saturating_sub(checker.jump_back_ms(name));
        let course = known.course((place, 0), series, (from_ms, ts_ms));
        let course: Vec<(i64, f64)> = course.map(|(of, _)| (of.ts_ms, of.value)).collect();
        Ok(checker.may_have_jumped(name, &course))
    }

    fn lasting(
        &mut self,
        of: Of,
        course: &[(i64, f64)],
        level: f64,
        rule: &ChangeRule,
    ) -> Result<Result<Option<Unshared>, NotRun>, StoreError> {
        let follows = |pair: &[(i64, f64)]| pair[1].0.saturating_sub(pair[0].0) <= rule.within_ms;
        if !course.windows(2).any(follows) {
            return Ok(Err(NotRun::NoPrevious));
        }
        let compare = |from_ms, to_ms| {
            let near = self.near(of, course, (from_ms, to_ms))?;
            let variable = self.variables[of.1].0;
            Ok(compare(self.of, variable, &near))
        };
        let found = lasting(rule, course, level, compare)?;
        if let Some(unshared) = found.filter(|of| rule.may_be_explained(of))
            && self.is_explained(of, &unshared)?
        {
            return Ok(Ok(None));
        }
        Ok(Ok(found))
    }

    /// Whether another sensor of the station explains a change.
    fn is_explained(&self, (place, _, series): Of, change: &Unshared) -> Result<bool, StoreError> {
        let Unshared { before_ms, after_ms, .. } = *change;
        let Ok(window) = ClosedWindow::new(before_ms.saturating_sub(HOUR_MS), after_ms) else {
            return Ok(false);
        };
        let Neighbourhood { checker, record, directory, .. } = *self.of;
        let station = &directory.stations[place].station;
        let (site, stations) = (StationSite::from(station), [station.id]);
        let selection = Selection { stations: &stations, variables: Variable::ALL, window };
        let mut explained = Ok(false);
        record.scan(&selection, &mut |_, slices| {
            explained = Parts::of_station(slices).map(|parts| {
                let which = parts.iter().position(|of| of.series().id == series);
                let pass = checker.pass(&site, &parts);
                which.is_some_and(|which| pass.is_explained(which, before_ms, after_ms))
            });
        })?;
        explained
    }

    /// The readings of a series as far back as they matter.
    fn course(
        &mut self,
        (place, variable, series): Of,
        ts_ms: i64,
        rule: &ChangeRule,
    ) -> Result<Vec<(i64, f64)>, StoreError> {
        let Some(known) = self.known(variable, vec![place])? else { return Ok(Vec::new()) };
        let from_ms = ts_ms.saturating_sub(rule.back_ms());
        let course = known.course((place, 0), series, (from_ms, ts_ms));
        let course = course.filter(|(_, compared)| compared.is_finite());
        Ok(course.map(|(of, compared)| (of.ts_ms, compared)).collect())
    }

    /// The change between two moments at a station and at the stations around it, nearest first.
    fn near(
        &mut self,
        (place, variable, _): Of,
        course: &[(i64, f64)],
        (from_ms, to_ms): (i64, i64),
    ) -> Result<Near, StoreError> {
        let value = |ts_ms| course.iter().find(|of| of.0 == ts_ms).map_or(f64::NAN, |of| of.1);
        let held = |value, spot, unsure_hours| {
            let base = BaseQuality::Good;
            NeighbourValue { value, spot, base, unsure_hours }
        };
        let (around, (_, rule)) = (self.of, self.variables[variable]);
        let (mut near, mut wanted): (Near, Vec<usize>) = (Vec::new(), Vec::new());
        loop {
            near.clear();
            near.push((place, 0.0, held(value(to_ms) - value(from_ms), around.spot(place), 0.0)));
            let Some(known) = self.known(variable, std::mem::take(&mut wanted))? else {
                return Ok(near);
            };
            let mut neighbours = 0;
            for (other, distance_km) in around.around_at(known, place, 0, to_ms) {
                if distance_km > rule.radius_km || neighbours + wanted.len() >= rule.nearest {
                    break;
                }
                if known.columns[other].is_none() {
                    wanted.push(other);
                    continue;
                }
                let at = |ts_ms| known.value(other, 0, ts_ms);
                let Some(to) = at(to_ms) else { continue };
                // The neighbours are those of the later moment, as for values.
                neighbours += 1;
                let Some(from) = at(from_ms) else { continue };
                let spot = around.spot(other);
                let unsure_hours = libm::hypot(from.1, to.1);
                near.push((other, distance_km, held(to.0 - from.0, spot, unsure_hours)));
            }
            if wanted.is_empty() {
                return Ok(near);
            }
        }
    }

    /// Explains the result of the check for a reading.
    pub(super) fn explain(
        &mut self,
        of: Of,
        ts_ms: i64,
        level: Option<f64>,
    ) -> Result<CheckReport, StoreError> {
        let (variable, rule) = self.rule(of.1);
        let checker = self.of.checker;
        let (Some(level), Some(rule)) = (level, rule) else {
            let why = rule.map_or(NotRun::NoLimit, |_| NotRun::TooFewNeighbours);
            return Ok(checker.explain_change(variable, Err(why), None, &[]));
        };
        let course = self.course(of, ts_ms, &rule)?;
        let found = self.lasting(of, &course, level, &rule)?;
        // If no change lasts, the latest change is shown.
        let lasting = found.ok().flatten();
        let before = course.len().checked_sub(2).map(|at| course[at]);
        let before = match lasting {
            Some(Unshared { before_ms, .. }) => course.iter().find(|of| of.0 == before_ms).copied(),
            None => before.filter(|of| ts_ms.saturating_sub(of.0) <= rule.within_ms),
        };
        let found = found.map(|found| found.is_some());
        let (Some(before), Some(&after)) = (before, course.last()) else {
            return Ok(checker.explain_change(variable, found, None, &[]));
        };
        let near = self.near(of, &course, (before.0, after.0))?;
        let looked = ChangeInput { before, after, level };
        let held: Vec<(f64, NeighbourValue)> =
            near.iter().map(|&(_, km, held)| (km, held)).collect();
        let mut report = checker.explain_change(variable, found, Some(looked), &held);
        for neighbour in &mut report.neighbours {
            let station = &self.of.directory.stations[near[neighbour.place].0].station;
            neighbour.station_id = Some(station.id);
            neighbour.name = Some(station.name.clone());
        }
        Ok(report)
    }
}

fn compare(of: &Neighbourhood<'_>, variable: Variable, near: &Near) -> Option<Difference> {
    let distances = near.iter().enumerate().skip(1).map(|(i, &(_, km, _))| (i, km));
    of.checker.change_held(variable, near.first()?.2, distances, |i| Some(near[i].2))
}

#[cfg(test)]
#[path = "changes_tests.rs"]
mod tests;
