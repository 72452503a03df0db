//! The types of the limits. They reject numbers that make no sense, so a checker never holds such
//! numbers.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::observation::Variable;
use crate::time::{DAY_MS, HOUR_MS};

/// A name of a variable as the key of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct VariableKey(pub Variable);

impl TryFrom<String> for VariableKey {
    type Error = String;
    fn try_from(name: String) -> Result<Self, String> {
        name.parse().map(Self).map_err(|error: crate::observation::VariableError| error.to_string())
    }
}

/// A lower and an upper bound, both inclusive.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(try_from = "[f64; 2]")]
pub(super) struct ValueBounds {
    pub min: f64,
    pub max: f64,
}

impl ValueBounds {
    pub(super) fn contains(self, value: f64) -> bool {
        (self.min..=self.max).contains(&value)
    }
}

impl TryFrom<[f64; 2]> for ValueBounds {
    type Error = String;
    fn try_from([min, max]: [f64; 2]) -> Result<Self, String> {
        if min.is_nan() || max.is_nan() {
            Err(format!("a bound must be a number; got [{min}, {max}]"))
        } else if min >= max {
            Err(format!("the lower bound must be below the upper; got [{min}, {max}]"))
        } else {
            Ok(Self { min, max })
        }
    }
}

/// A number that is finite and not negative.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Deserialize)]
#[serde(try_from = "f64")]
pub(super) struct Amount(pub f64);

impl TryFrom<f64> for Amount {
    type Error = String;
    fn try_from(value: f64) -> Result<Self, String> {
        if value.is_finite() && value >= 0.0 {
            Ok(Self(value))
        } else {
            Err(format!("a limit must be a finite number that is not negative; got {value}"))
        }
    }
}

/// A span in hours, more than 0 and at most a year.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Deserialize)]
#[serde(try_from = "f64")]
pub(super) struct Hours {
    pub ms: i64,
}

impl TryFrom<f64> for Hours {
    type Error = String;
    fn try_from(hours: f64) -> Result<Self, String> {
        const MAX_HOURS: f64 = 366.0 * 24.0;
        if hours > 0.0 && hours <= MAX_HOURS {
            Ok(Self { ms: (hours * HOUR_MS as f64) as i64 })
        } else {
            Err(format!("hours must be more than 0 and at most {MAX_HOURS}; got {hours}"))
        }
    }
}

/// Numbers that stand for "no value".
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ValueLimits {
    pub sentinels: Vec<f64>,
    #[serde(default)]
    pub allowed: BTreeMap<VariableKey, Vec<f64>>,
    pub source: String,
}

/// Bounds of one band of latitude and season.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(try_from = "BandText")]
pub(super) struct Band {
    pub doubtful: Option<ValueBounds>,
    pub error: Option<ValueBounds>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BandText {
    doubtful: Option<ValueBounds>,
    error: Option<ValueBounds>,
}

impl TryFrom<BandText> for Band {
    type Error = String;
    fn try_from(BandText { doubtful, error }: BandText) -> Result<Self, String> {
        match (doubtful, error) {
            (None, None) => Err("a band must have doubtful or error bounds".to_owned()),
            (Some(inner), Some(outer)) if outer.min > inner.min || outer.max < inner.max => {
                Err(format!(
                    "the error bounds must not lie inside the doubtful ones; got error [{}, {}] \
                     and doubtful [{}, {}]",
                    outer.min, outer.max, inner.min, inner.max
                ))
            }
            _ => Ok(Self { doubtful, error }),
        }
    }
}

/// Bounds of a variable.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RangeLimits {
    pub high_winter: Option<Band>,
    pub high_summer: Option<Band>,
    pub low_winter: Option<Band>,
    pub low_summer: Option<Band>,
    pub always: Option<Band>,
    pub source: String,
}

/// Greatest amounts by length of the interval.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AccumulationLimits {
    pub per_hour: Amount,
    pub per_day: Amount,
    pub source: String,
}

/// Limits that hold regardless of what the source of a value says.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(try_from = "PhysicalText")]
pub(super) struct PhysicalLimits {
    pub bounds: ValueBounds,
    /// Whether the bounds are pressures at sea level, from which the bounds at the height of a
    /// station are computed.
    pub at_sea_level: bool,
    /// The greatest amounts of totals by length of the interval.
    pub amounts: Option<AccumulationLimits>,
    pub source: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PhysicalText {
    bounds: ValueBounds,
    #[serde(default)]
    at_sea_level: bool,
    per_hour: Option<Amount>,
    per_day: Option<Amount>,
    source: String,
}

impl TryFrom<PhysicalText> for PhysicalLimits {
    type Error = String;
    fn try_from(text: PhysicalText) -> Result<Self, String> {
        let PhysicalText { bounds, at_sea_level, per_hour, per_day, source } = text;
        let amounts = match (per_hour, per_day) {
            (Some(per_hour), Some(per_day)) => {
                Some(AccumulationLimits { per_hour, per_day, source: source.clone() })
            }
            (None, None) => None,
            _ => return Err("per_hour and per_day must be given together".to_owned()),
        };
        Ok(Self { bounds, at_sea_level, amounts, source })
    }
}

/// Extremes on record.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RecordLimits {
    pub bounds: ValueBounds,
    pub source: String,
}

/// Greatest changes by elapsed time: ascending, at least one.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(try_from = "CurveText")]
pub(super) struct Curve {
    points: Vec<(i64, f64)>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CurveText {
    hours: Vec<Hours>,
    limits: Vec<Amount>,
}

impl TryFrom<CurveText> for Curve {
    type Error = String;
    fn try_from(CurveText { hours, limits }: CurveText) -> Result<Self, String> {
        if hours.is_empty() || hours.len() != limits.len() {
            return Err(format!(
                "hours and limits must have the same length, at least 1; got {} and {}",
                hours.len(),
                limits.len()
            ));
        }
        let ascending = hours.windows(2).all(|pair| pair[0].ms < pair[1].ms)
            && limits.windows(2).all(|pair| pair[0] <= pair[1]);
        if !ascending {
            return Err("hours must increase, and limits must not decrease".to_owned());
        }
        let points = hours.iter().zip(&limits).map(|(hours, limit)| (hours.ms, limit.0)).collect();
        Ok(Self { points })
    }
}

impl Curve {
    /// The limit for an elapsed time: interpolated between points, the first limit before the first
    /// point, and `None` beyond the last point.
    ///
    /// Before the first point the limit does not shrink: a front may bring the change of an hour
    /// within minutes.
    pub(super) fn at(&self, elapsed_ms: i64) -> Option<f64> {
        let (first_ms, first) = self.points[0];
        if elapsed_ms <= first_ms {
            return Some(first);
        }
        let pair = self.points.windows(2).find(|pair| elapsed_ms <= pair[1].0)?;
        let ((from_ms, from), (to_ms, to)) = (pair[0], pair[1]);
        let part = (elapsed_ms - from_ms) as f64 / (to_ms - from_ms) as f64;
        Some(from + part * (to - from))
    }

    /// Elapsed times in milliseconds and their limits.
    #[cfg(test)]
    pub fn points(&self) -> &[(i64, f64)] {
        &self.points
    }

    /// The longest elapsed time that has a limit.
    pub(super) fn reach_ms(&self) -> i64 {
        self.points[self.points.len() - 1].0
    }
}

/// Limits of the spike check.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(try_from = "SpikeText")]
pub(super) struct SpikeLimits {
    pub ratio: f64,
    pub curve: Curve,
    pub source: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SpikeText {
    ratio: Amount,
    hours: Vec<Hours>,
    limits: Vec<Amount>,
    source: String,
}

impl TryFrom<SpikeText> for SpikeLimits {
    type Error = String;
    fn try_from(text: SpikeText) -> Result<Self, String> {
        let SpikeText { ratio, hours, limits, source } = text;
        let curve = CurveText { hours, limits }.try_into()?;
        Ok(Self { ratio: ratio.0, curve, source })
    }
}

/// Limits of the step check.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StepLimits {
    pub directional: bool,
    pub doubtful: Option<Curve>,
    pub instrumentation: Option<Curve>,
    pub source: String,
}

/// Limits of the jump check.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(try_from = "JumpText")]
pub(super) struct JumpLimits {
    /// The least changes by elapsed time.
    pub curve: Curve,
    /// Deviations of the series' own changes.
    pub spread: f64,
    pub history_ms: i64,
    pub hold_ms: i64,
    pub explained_by: Vec<(Variable, f64)>,
    pub source: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct JumpText {
    hours: Vec<Hours>,
    limits: Vec<Amount>,
    spread: Amount,
    history_hours: Hours,
    hold_hours: Hours,
    #[serde(default)]
    explained_by: BTreeMap<VariableKey, Amount>,
    source: String,
}

impl TryFrom<JumpText> for JumpLimits {
    type Error = String;
    fn try_from(text: JumpText) -> Result<Self, String> {
        let JumpText { hours, limits, source, .. } = text;
        let curve: Curve = CurveText { hours, limits }.try_into()?;
        let explained_by =
            text.explained_by.into_iter().map(|(VariableKey(by), limit)| (by, limit.0)).collect();
        Ok(Self {
            curve,
            spread: text.spread.0,
            history_ms: text.history_hours.ms,
            hold_ms: text.hold_hours.ms,
            explained_by,
            source,
        })
    }
}

/// How many times and how long a value of a resolution may repeat.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Repeats {
    pub step: Amount,
    pub repeats: u32,
    pub hours: Hours,
}

/// Limits of the persistence check.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(try_from = "PersistenceText")]
pub(super) struct PersistenceLimits {
    pub window_ms: i64,
    /// From coarse to fine, at least one.
    pub resolution: Vec<Repeats>,
    pub exempt_to: f64,
    pub exempt_from: f64,
    pub exempt_between: Option<ValueBounds>,
    pub source: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PersistenceText {
    window_hours: Hours,
    resolution: Vec<Repeats>,
    exempt_to: Option<f64>,
    exempt_from: Option<f64>,
    exempt_between: Option<ValueBounds>,
    source: String,
}

impl TryFrom<PersistenceText> for PersistenceLimits {
    type Error = String;
    fn try_from(text: PersistenceText) -> Result<Self, String> {
        let PersistenceText { window_hours, resolution, source, .. } = text;
        let exempt_to = text.exempt_to.unwrap_or(f64::NEG_INFINITY);
        let exempt_from = text.exempt_from.unwrap_or(f64::INFINITY);
        if resolution.is_empty() {
            return Err("resolution must have at least one row".to_owned());
        }
        if resolution.windows(2).any(|pair| pair[0].step <= pair[1].step) {
            return Err(
                "the rows of resolution must go from the coarsest step to the finest".into()
            );
        }
        for Repeats { step, repeats, hours } in &resolution {
            if step.0 <= 0.0 || *repeats < 2 {
                return Err(format!(
                    "a step must be more than 0 and repeats at least 2; got {} and {repeats}",
                    step.0
                ));
            }
            if hours.ms > window_hours.ms {
                return Err("window_hours must not be less than the hours of a resolution".into());
            }
        }
        // The comparison is false for NaN as well.
        if exempt_to.partial_cmp(&exempt_from) != Some(std::cmp::Ordering::Less) {
            return Err(format!(
                "exempt_to must be below exempt_from; got {exempt_to} and {exempt_from}"
            ));
        }
        Ok(Self {
            window_ms: window_hours.ms,
            resolution,
            exempt_to,
            exempt_from,
            exempt_between: text.exempt_between,
            source,
        })
    }
}

/// Tolerances by the precision of the values.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(try_from = "PrecisionText")]
pub(super) struct PrecisionLimits {
    /// Precision and tolerance, from fine to coarse, at least one.
    pub rows: Vec<(f64, f64)>,
    pub source: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PrecisionText {
    precision: Vec<Amount>,
    tolerance: Vec<Amount>,
    source: String,
}

impl TryFrom<PrecisionText> for PrecisionLimits {
    type Error = String;
    fn try_from(
        PrecisionText { precision, tolerance, source }: PrecisionText,
    ) -> Result<Self, String> {
        if precision.is_empty() || precision.len() != tolerance.len() {
            return Err(format!(
                "precision and tolerance must have the same length, at least 1; got {} and {}",
                precision.len(),
                tolerance.len()
            ));
        }
        if precision[0].0 <= 0.0 || precision.windows(2).any(|pair| pair[0] >= pair[1]) {
            return Err("precision must be more than 0 and increase".to_owned());
        }
        let rows = precision.iter().zip(&tolerance).map(|(at, limit)| (at.0, limit.0)).collect();
        Ok(Self { rows, source })
    }
}

/// The single number of a rule between two values.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RuleLimits {
    pub limit: Amount,
    pub source: String,
}

impl ValueLimits {
    /// Whether a value stands for "no value" in a variable.
    pub(super) fn is_sentinel(&self, variable: Variable, value: f64) -> bool {
        self.sentinels.contains(&value)
            && !self.allowed.get(&VariableKey(variable)).is_some_and(|real| real.contains(&value))
    }
}

impl AccumulationLimits {
    /// The greatest amount of an interval.
    pub(super) fn max(&self, interval_minutes: i32) -> f64 {
        let span_ms = i64::from(interval_minutes) * (HOUR_MS / 60);
        let hours = (span_ms as f64 / HOUR_MS as f64).max(1.0);
        let days = (span_ms as f64 / DAY_MS as f64).max(1.0);
        (self.per_hour.0 * hours).min(self.per_day.0 * days)
    }
}
