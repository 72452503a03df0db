//! The readings of one report, collected in the units that they are stored in.

use std::borrow::Cow;

use super::summary::Tally;
use crate::canonical::Canonical;
use crate::quality::Quality;
use crate::report::Reading;
use crate::series::{IntervalType, SeriesKey};
use crate::unit::Vocabulary;
use crate::variable::Variable;

/// What a value of a feed stands for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Measured<'a> {
    pub variable: Variable,
    pub interval_type: IntervalType,
    pub interval_minutes: i32,
    /// As the feed writes it.
    pub unit: &'a str,
}

impl<'a> Measured<'a> {
    pub const fn new(
        variable: Variable,
        interval_type: IntervalType,
        interval_minutes: i32,
        unit: &'a str,
    ) -> Self {
        Self { variable, interval_type, interval_minutes, unit }
    }

    pub const fn instantaneous(variable: Variable, unit: &'a str) -> Self {
        Self::new(variable, IntervalType::Instantaneous, 0, unit)
    }

    /// Whether a series, in whatever unit, is that of the value.
    pub fn is_of(&self, series: &SeriesKey) -> bool {
        (self.variable, self.interval_type, self.interval_minutes)
            == (series.variable, series.interval_type, series.interval_minutes)
    }
}

/// Collects the readings of a report.
pub(super) struct Readings<'t> {
    readings: Vec<Reading>,
    vocabulary: Vocabulary,
    kept_as_reported: &'t mut Tally,
}

impl<'t> Readings<'t> {
    /// Readings whose units are of a vocabulary; values whose unit is not certain are counted.
    pub fn new(vocabulary: Vocabulary, kept_as_reported: &'t mut Tally) -> Self {
        Self { readings: Vec::with_capacity(16), vocabulary, kept_as_reported }
    }

    /// Adds a value in the canonical unit of its variable, or as it was reported. What is not
    /// finite is no value.
    pub fn push(&mut self, of: Measured<'_>, value: f64, quality: Quality) {
        let canonical = Canonical::of(of.variable, of.unit, Some(self.vocabulary));
        let value = canonical.apply(value);
        if !value.is_finite() {
            return;
        }
        let mut series = SeriesKey::new(of.variable, of.interval_type, of.interval_minutes);
        if !canonical.is_converted() {
            series.reported_unit = Cow::Owned(of.unit.to_owned());
            self.kept_as_reported.add(&format!("{} in {:?}", of.variable, of.unit));
        }
        self.readings.push(Reading { series, value, quality });
    }

    /// The readings so far.
    pub fn so_far(&self) -> &[Reading] {
        &self.readings
    }

    pub fn into_readings(self) -> Vec<Reading> {
        self.readings
    }
}
