//! The checks of single values, as they come in: the intake finds the values around for itself.

use super::neighbours::{self, Held};
use super::outcome::Tally;
use super::{CheckReport, Checker, Config, StationSite, range};
use crate::observation::Variable;

impl Checker {
    /// Runs the check of the neighbours on one value: `near` are the stations around it and their
    /// distances in km, nearest first, and `held` gives their values.
    pub(crate) fn check_held(
        &self,
        variable: Variable,
        of: Held,
        near: impl Iterator<Item = (usize, f64)>,
        held: impl Fn(usize) -> Option<Held>,
    ) -> Tally {
        neighbours::tally(&self.config, variable, of, near, held)
    }

    /// What [`check_held`](Self::check_held) found out.
    pub(crate) fn explain_held(
        &self,
        variable: Variable,
        of: Held,
        near: impl Iterator<Item = (usize, f64)>,
        held: impl Fn(usize) -> Option<Held>,
    ) -> CheckReport {
        neighbours::report(&self.config, variable, of, near, held)
    }

    /// Whether every value of a variable, in its unit, is judged by a check that needs no other
    /// value.
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
