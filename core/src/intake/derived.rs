//! Verdicts on calculated readings: the worst verdict of their inputs.

use super::parts::Parts;
use crate::check::OneSeries;
use crate::derived::{DERIVED_INPUTS, is_input_of};
use crate::observation::{BaseQuality, Quality, Variable};

/// The series that a calculated one is derived from.
pub(super) struct Inputs {
    /// For each input variable, its series, preferred series first.
    series: Vec<Vec<usize>>,
}

impl Inputs {
    /// Returns the calculated series of a station that have inputs, each after its inputs.
    pub(super) fn of_station(parts: &[Parts<'_, '_>]) -> Vec<(usize, Self)> {
        let mut found = Vec::new();
        if parts.iter().any(|of| of.key().calculated) {
            for (variable, inputs) in DERIVED_INPUTS.iter().filter(|(_, inputs)| !inputs.is_empty())
            {
                for (derived, of) in parts.iter().enumerate() {
                    if of.key().calculated && of.key().variable == *variable {
                        found.push((derived, Self::new(parts, derived, inputs)));
                    }
                }
            }
        }
        found
    }

    fn new(parts: &[Parts<'_, '_>], derived: usize, inputs: &[Variable]) -> Self {
        let interval =
            |of: usize| (parts[of].key().interval_type, parts[of].key().interval_minutes);
        let series = inputs.iter().map(|&input| {
            let may_be = |&of: &usize| {
                let key = parts[of].key();
                key.variable == input && is_input_of(key, parts[derived].key())
            };
            let mut series: Vec<usize> = (0..parts.len()).filter(may_be).collect();
            // The same choice as the derivation: the interval of the derived value, else the most
            // instantaneous.
            series.sort_by_key(|&of| {
                (interval(of) != interval(derived), parts[of].series().preference)
            });
            series
        });
        Self { series: series.collect() }
    }

    /// Returns the inputs of the reading at a moment, as series and reading; `None` if any is
    /// missing.
    pub(super) fn at(&self, parts: &[Parts<'_, '_>], ts_ms: i64) -> Option<Vec<(usize, usize)>> {
        let found = self.series.iter().map(|series| first_at(parts, series, ts_ms));
        found.collect()
    }

    /// Returns the worst verdict of the inputs of the reading at a moment. `None` if they are
    /// missing or unchecked: the reading then keeps the verdict of its own checks.
    pub(super) fn worst(
        &self,
        parts: &[Parts<'_, '_>],
        ts_ms: i64,
        verdict: impl Fn(usize, usize) -> Quality,
    ) -> Option<Quality> {
        let mut worst: Option<Quality> = None;
        for series in &self.series {
            let (of, at) = first_at(parts, series, ts_ms)?;
            let verdict = verdict(of, at);
            worst = Some(worst.map_or(verdict, |worst| worst.worse(verdict)));
        }
        worst.filter(|worst| worst.base != BaseQuality::Unknown)
    }
}

fn first_at(parts: &[Parts<'_, '_>], series: &[usize], ts_ms: i64) -> Option<(usize, usize)> {
    series.iter().find_map(|&of| Some((of, parts[of].at(ts_ms)?)))
}
