//! The checks of single values as they come in. The intake itself finds the values around.

use super::around::NeighbourValue;
use super::explain::Reports;
use super::neighbour_change::{self, ChangeInput, ChangeRule, Difference};
use super::neighbours::{self, Comparison};
use super::outcome::{NotRun, Tally};
use super::{CheckReport, Checker, Config, StationSite, jump, range};
use crate::observation::Variable;

/// The values of other stations that a value is compared with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NeighbourRule {
    /// The greatest distance of a neighbour.
    pub radius_km: f64,
    /// The most neighbours, the nearest that have a value.
    pub nearest: usize,
    /// A value is interpolated between readings at most this far apart.
    pub between_ms: i64,
    /// Otherwise a reading counts at most this far from its time.
    pub beside_ms: i64,
    /// Whether stations of unknown altitude are not compared.
    pub needs_altitude: bool,
}

impl NeighbourRule {
    /// The greatest distance in time at which a reading counts at all.
    pub(crate) fn reach_ms(&self) -> i64 {
        self.between_ms.max(self.beside_ms)
    }
}

impl Checker {
    /// How a variable is compared with neighbouring stations; `None` if it is not.
    pub(crate) fn neighbour_rule(&self, variable: Variable) -> Option<NeighbourRule> {
        self.config.neighbours.get(&variable).map(|limits| NeighbourRule {
            radius_km: limits.compare.radius_km,
            nearest: limits.compare.nearest,
            between_ms: limits.between.ms,
            beside_ms: limits.beside.ms,
            needs_altitude: neighbours::needs_altitude(variable, limits),
        })
    }

    /// Runs the check of the neighbours on one value: `near` are the stations around it and their
    /// distances in km, nearest first, and `held` gives their values. Returns what it found, and the
    /// standardized difference.
    pub(crate) fn check_held(
        &self,
        variable: Variable,
        of: NeighbourValue,
        near: impl Iterator<Item = (usize, f64)>,
        held: impl Fn(usize) -> Option<NeighbourValue>,
    ) -> (Tally, Option<f64>) {
        neighbours::tally(&self.config, variable, of, near, held)
    }

    /// The result of [`check_held`](Self::check_held), explained.
    pub(crate) fn explain_held(
        &self,
        variable: Variable,
        of: NeighbourValue,
        near: impl Iterator<Item = (usize, f64)>,
        held: impl Fn(usize) -> Option<NeighbourValue>,
    ) -> CheckReport {
        neighbours::report(&self.config, variable, of, near, held)
    }

    /// How one value compares with those around it; `None` if the check cannot run.
    pub(crate) fn compare_held(
        &self,
        variable: Variable,
        of: NeighbourValue,
        near: impl Iterator<Item = (usize, f64)>,
        held: impl Fn(usize) -> Option<NeighbourValue>,
    ) -> Option<Comparison> {
        neighbours::comparison(&self.config, variable, of, near, held)
    }

    /// The readings by which a change of a variable is judged; `None` if the variable is not
    /// compared.
    pub(crate) fn change_rule(&self, variable: Variable) -> Option<ChangeRule> {
        neighbour_change::rule(&self.config, variable)
    }

    /// Compares a change with those of the stations around, as [`check_held`](Self::check_held)
    /// compares values.
    pub(crate) fn change_held(
        &self,
        variable: Variable,
        of: NeighbourValue,
        near: impl Iterator<Item = (usize, f64)>,
        held: impl Fn(usize) -> Option<NeighbourValue>,
    ) -> Option<Difference> {
        neighbour_change::compare(&self.config, variable, of, near, held)
    }

    /// Adds the result of the check of changes to what is known of a reading.
    pub(crate) fn note_change(
        &self,
        variable: Variable,
        found: Result<bool, NotRun>,
        tally: &mut Tally,
    ) {
        neighbour_change::note(&self.config, variable, found, None, &[], tally);
    }

    /// Explains the result of the check of changes. `near` are the changes of the station itself
    /// and of the stations around, with their distances.
    pub(crate) fn explain_change(
        &self,
        variable: Variable,
        found: Result<bool, NotRun>,
        looked: Option<ChangeInput>,
        near: &[(f64, NeighbourValue)],
    ) -> CheckReport {
        let mut reports = Reports::default();
        neighbour_change::note(&self.config, variable, found, looked, near, &mut reports);
        reports.only()
    }

    /// Whether one of some readings, ascending in time, may have jumped and still be remembered.
    pub(crate) fn may_have_jumped(&self, variable: Variable, course: &[(i64, f64)]) -> bool {
        let (Some(limits), Some(&(now_ms, _))) = (self.config.jump.get(&variable), course.last())
        else {
            return false;
        };
        let is_remembered = |of: &[(i64, f64)]| of[1].0 >= now_ms.saturating_sub(limits.hold_ms);
        course.windows(2).filter(|of| is_remembered(of)).any(|of| {
            // A spike may be between them.
            let change = 2.0 * (of[1].1 - of[0].1);
            jump::is_large(change, of[1].0.saturating_sub(of[0].0), limits) == Some(true)
        })
    }

    /// How far before a reading a jump may make it doubtful.
    pub(crate) fn jump_back_ms(&self, variable: Variable) -> i64 {
        let limits = self.config.jump.get(&variable);
        limits.map_or(0, |limits| limits.hold_ms.saturating_add(limits.curve.reach_ms()))
    }

    /// Whether a check that needs no other value judges every value of a variable in its unit.
    pub(crate) fn is_judged_alone(
        &self,
        variable: Variable,
        site: &StationSite,
        ts_ms: i64,
    ) -> bool {
        let Config { range, record, .. } = &self.config;
        let band = range
            .get(&variable)
            .and_then(|limits| range::Seasons::new(limits, site.coordinates.lat()).at(ts_ms));
        band.is_some() || record.contains_key(&variable)
    }
}
