//! The readings of one report, collected in the units in which they are stored.

use std::borrow::Cow;

use super::summary::Tally;
use crate::observation::{
    Canonical, IntervalType, Qualifier, Quality, Reading, SeriesKey, Variable,
};
use crate::unit::Vocabulary;

/// Labels of the series of the layers of cloud of a report, in the order of the report: usually lowest
/// first.
const LAYER_LABELS: [&str; 8] =
    ["layer 1", "layer 2", "layer 3", "layer 4", "layer 5", "layer 6", "layer 7", "layer 8"];

/// The label of the series of the layer at an index; `None` beyond the eighth.
pub(super) fn layer_label(index: usize) -> Option<&'static str> {
    LAYER_LABELS.get(index).copied()
}

/// What a value in a feed measures.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Measurement<'a> {
    pub variable: Variable,
    pub interval_type: IntervalType,
    pub interval_minutes: i32,
    /// As spelled in the feed.
    pub unit: &'a str,
    /// Label of a bucket, such as a layer of cloud; mostly empty.
    pub bucket: &'static str,
}

impl<'a> Measurement<'a> {
    pub(super) const fn new(
        variable: Variable,
        interval_type: IntervalType,
        interval_minutes: i32,
        unit: &'a str,
    ) -> Self {
        Self { variable, interval_type, interval_minutes, unit, bucket: "" }
    }

    pub(super) const fn instantaneous(variable: Variable, unit: &'a str) -> Self {
        Self::new(variable, IntervalType::Instantaneous, 0, unit)
    }

    /// A value of the cloud layer at an index; `None` if the index is beyond the layers of any
    /// report.
    pub(super) fn layer(variable: Variable, unit: &'a str, index: usize) -> Option<Self> {
        let bucket = layer_label(index)?;
        Some(Self { bucket, ..Self::instantaneous(variable, unit) })
    }

    /// Whether a series, in any unit, is the series of the value.
    pub(super) fn is_of(&self, series: &SeriesKey) -> bool {
        (self.variable, self.interval_type, self.interval_minutes, self.bucket)
            == (series.variable, series.interval_type, series.interval_minutes, &*series.bucket)
    }
}

/// Collects the readings of a report.
pub(super) struct ReadingCollector<'t> {
    readings: Vec<Reading>,
    vocabulary: Vocabulary,
    kept_as_reported: &'t mut Tally,
}

impl<'t> ReadingCollector<'t> {
    /// Collects readings with units of a vocabulary; values whose unit is not certain are counted.
    pub(super) fn new(vocabulary: Vocabulary, kept_as_reported: &'t mut Tally) -> Self {
        Self { readings: Vec::with_capacity(16), vocabulary, kept_as_reported }
    }

    /// Adds a value in the canonical unit of its variable, or as reported. A value that is not
    /// finite is ignored.
    pub(super) fn push(&mut self, of: Measurement<'_>, value: f64, quality: Quality) {
        self.push_in(Cow::Borrowed(of.bucket), of, value, quality);
    }

    /// The same, with the qualifier that the feed gives.
    pub(super) fn push_qualified(
        &mut self,
        of: Measurement<'_>,
        value: f64,
        quality: Quality,
        qualifier: Option<Qualifier>,
    ) {
        let before = self.readings.len();
        self.push(of, value, quality);
        for reading in &mut self.readings[before..] {
            reading.qualifier = qualifier;
        }
    }

    /// The same, in the series of a bucket whose label comes from the report.
    pub(super) fn push_in(
        &mut self,
        bucket: Cow<'static, str>,
        of: Measurement<'_>,
        value: f64,
        quality: Quality,
    ) {
        let canonical = Canonical::of(of.variable, of.unit, Some(self.vocabulary));
        let value = canonical.apply(value);
        if !value.is_finite() {
            return;
        }
        let key = SeriesKey::new(of.variable, of.interval_type, of.interval_minutes);
        let mut series = SeriesKey { bucket, ..key };
        if !canonical.is_converted() {
            series.reported_unit = Cow::Owned(of.unit.to_owned());
            self.kept_as_reported.add(&format!("{} in {:?}", of.variable, of.unit));
        }
        self.readings.push(Reading { series, value, quality, qualifier: None });
    }

    /// The readings so far.
    pub(super) fn so_far(&self) -> &[Reading] {
        &self.readings
    }

    pub(super) fn into_readings(self) -> Vec<Reading> {
        self.readings
    }
}
