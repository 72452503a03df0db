//! The readings of a variable at a station, in the form that is compared with other stations.

use std::cell::Cell;

use super::parts::Parts;
use crate::check::{
    DISAGREE, NeighbourRule, NeighbourValue, OneSeries, OwnVerdict, Spot, compared, counts,
};
use crate::derived::DERIVED_INPUTS;
use crate::observation::{
    BaseQuality, IntervalType, Quality, ReasonQuality, SeriesId, SeriesKey, Variable,
};
use crate::time::HOUR_MS;

/// A reading in the form that is compared.
#[derive(Clone, Debug)]
pub(super) struct ComparedReading {
    pub ts_ms: i64,
    pub value: f64,
    pub source: Quality,
    pub stored: Quality,
    /// The verdict of the station's own checks, if they ran.
    pub own: Option<OwnVerdict>,
    /// Whether it is already due for comparison.
    pub is_due: bool,
    /// The number that is compared, once it has been needed.
    compared: Cell<Option<f64>>,
}

impl ComparedReading {
    /// The verdict without the neighbours, as far as it matters to them.
    fn verdict(&self) -> Quality {
        let stored = || without_neighbours(self.stored, self.source);
        self.own.map_or_else(stored, |own| own.verdict)
    }

    fn says_something(&self) -> bool {
        self.value.is_finite() && says_something(self.verdict())
    }

    /// Whether changes are judged by it, because it has a real value.
    pub(super) fn is_of_a_course(&self) -> bool {
        self.value.is_finite() && self.verdict().base > BaseQuality::Error
    }
}

/// The number that is compared at a moment, and its uncertainty in hours.
type Uncertain = (f64, f64);

/// The readings of one variable at a station in a window.
#[derive(Debug)]
pub(super) struct VariableReadings {
    /// The compared series, most instantaneous first, and their readings.
    pub series: Vec<(SeriesId, Vec<ComparedReading>)>,
    variable: Variable,
    spot: Spot,
    /// Whether other stations cannot be compared with them because an altitude is not known.
    is_mute: bool,
    /// The last answer of [`at`](Self::at): the stations around ask for the same moment.
    last: Cell<Option<(i64, Option<Uncertain>)>>,
    /// Where it was found: they ask for one moment after the other.
    cursor: Cell<usize>,
    /// The last answer of [`until_ms`](Self::until_ms).
    last_until: Cell<Option<((i64, i64), i64)>>,
}

impl VariableReadings {
    pub(super) fn new(
        parts: &[Parts<'_, '_>],
        variable: Variable,
        rule: &NeighbourRule,
        spot: Spot,
    ) -> Self {
        let readings = |of: &Parts<'_, '_>| {
            let mut readings = Vec::with_capacity(of.len());
            readings.extend(of.readings().map(|(ts_ms, value, source, stored)| ComparedReading {
                ts_ms,
                value,
                source,
                stored,
                own: None,
                is_due: false,
                compared: Cell::default(),
            }));
            (of.series().id, readings)
        };
        let series = is_compared(parts, variable);
        Self {
            series: series.into_iter().map(|which| readings(&parts[which])).collect(),
            variable,
            spot,
            is_mute: rule.needs_altitude && !spot.has_altitude(),
            last: Cell::default(),
            cursor: Cell::default(),
            last_until: Cell::default(),
        }
    }

    /// The number of a reading that is compared; an altimeter setting takes a while to calculate.
    pub(super) fn compared(&self, of: &ComparedReading) -> f64 {
        of.compared.get().unwrap_or_else(|| {
            let value = compared(self.variable, of.value, self.spot);
            of.compared.set(Some(value));
            value
        })
    }

    /// A reading in the form that the check takes.
    pub(super) fn held(&self, of: &ComparedReading) -> NeighbourValue {
        let base = of.verdict().base;
        NeighbourValue { value: self.compared(of), spot: self.spot, base, unsure_hours: 0.0 }
    }

    /// Returns the number that is compared at a moment, from the first series that has a value, and
    /// its uncertainty in hours.
    pub(super) fn at(&self, ts_ms: i64, rule: &NeighbourRule) -> Option<Uncertain> {
        if self.is_mute {
            return None;
        }
        if let Some((_, found)) = self.last.get().filter(|&(at_ms, _)| at_ms == ts_ms) {
            return found;
        }
        let compared = |of: &ComparedReading| self.compared(of);
        let found = self.series.iter().find_map(|(_, readings)| {
            let from = first_from(readings, ts_ms, self.cursor.get());
            self.cursor.set(from);
            value_at(readings.split_at(from), ts_ms, rule, compared)
        });
        self.last.set(Some((ts_ms, found)));
        found
    }

    /// The time until which there surely is a value at every moment of a span; before the span if
    /// there may be none at its beginning.
    pub(super) fn until_ms(&self, span: (i64, i64), rule: &NeighbourRule) -> i64 {
        if self.is_mute {
            return i64::MIN;
        }
        if let Some((_, until_ms)) = self.last_until.get().filter(|&(of, _)| of == span) {
            return until_ms;
        }
        let of_series =
            |(_, readings): &(_, Vec<ComparedReading>)| until_ms(readings, span, rule.beside_ms);
        let until_ms = self.series.iter().map(of_series).max().unwrap_or(i64::MIN);
        self.last_until.set(Some((span, until_ms)));
        until_ms
    }
}

/// The time until which readings give a value at every moment of a span: each reading gives one for
/// some time around it.
fn until_ms(readings: &[ComparedReading], (from_ms, to_ms): (i64, i64), beside_ms: i64) -> i64 {
    let first_ms = from_ms.saturating_sub(beside_ms);
    let from = readings.partition_point(|of| of.ts_ms < first_ms);
    let mut until_ms = from_ms.saturating_sub(1);
    for of in readings[from..].iter().filter(|of| of.says_something()) {
        if of.ts_ms.saturating_sub(beside_ms) > until_ms.saturating_add(1) || until_ms >= to_ms {
            break;
        }
        until_ms = until_ms.max(of.ts_ms.saturating_add(beside_ms));
    }
    until_ms
}

/// The index of the first reading at or after a moment, which is looked for first at a cursor and
/// next to it.
fn first_from(readings: &[ComparedReading], ts_ms: i64, cursor: usize) -> usize {
    let is_first = |at: usize| {
        let is_before = |at: usize| readings[at].ts_ms < ts_ms;
        at <= readings.len()
            && (at == 0 || is_before(at - 1))
            && (at == readings.len() || !is_before(at))
    };
    let near = [cursor, cursor.saturating_add(1)].into_iter().find(|&at| is_first(at));
    near.unwrap_or_else(|| readings.partition_point(|reading| reading.ts_ms < ts_ms))
}

/// Returns the value at a moment, given the readings before and from it: the value of the reading at
/// that moment, or an interpolated value, or else the nearest. On a tie, the earlier reading counts.
fn value_at(
    (earlier, later): (&[ComparedReading], &[ComparedReading]),
    ts_ms: i64,
    rule: &NeighbourRule,
    compared: impl Fn(&ComparedReading) -> f64,
) -> Option<(f64, f64)> {
    let reach_ms = rule.reach_ms();
    let near = |reading: &&ComparedReading| reading.ts_ms.saturating_sub(ts_ms).abs() <= reach_ms;
    let hours = |apart_ms: i64| apart_ms as f64 / HOUR_MS as f64;
    let after = later.iter().take_while(near).find(|of| of.says_something());
    if let Some(exact) = after.filter(|after| after.ts_ms == ts_ms) {
        return Some((compared(exact), 0.0));
    }
    let before = earlier.iter().rev().take_while(near).find(|of| of.says_something());
    if let (Some(before), Some(after)) = (before, after) {
        let whole_ms = after.ts_ms - before.ts_ms;
        if whole_ms <= rule.between_ms {
            let part_ms = ts_ms - before.ts_ms;
            let part = part_ms as f64 / whole_ms as f64;
            let (before, after) = (compared(before), compared(after));
            let value = before + part * (after - before);
            return Some((value, hours(part_ms.min(whole_ms - part_ms)) / 2.0));
        }
    }
    [before, after]
        .into_iter()
        .flatten()
        .map(|of| (of.ts_ms.abs_diff(ts_ms) as i64, of))
        .filter(|&(apart_ms, _)| apart_ms <= rule.beside_ms)
        .min_by_key(|&(apart_ms, of)| (apart_ms, of.ts_ms))
        .map(|(apart_ms, of)| (compared(of), hours(apart_ms)))
}

/// Returns the series of a variable by which stations are compared, most instantaneous first:
/// values and short means that were not calculated from other readings.
pub(super) fn is_compared(parts: &[Parts<'_, '_>], variable: Variable) -> Vec<usize> {
    let is_compared = |&which: &usize| takes_part(parts[which].key(), variable);
    let mut series: Vec<usize> = (0..parts.len()).filter(is_compared).collect();
    series.sort_by_key(|&which| parts[which].series().preference);
    series
}

/// Whether the readings of a series are compared as readings of a variable.
pub(super) fn takes_part(key: &SeriesKey, variable: Variable) -> bool {
    // The text is compared last: this runs for every series of every station.
    key.variable == variable
        && matches!(key.interval_type, IntervalType::Instantaneous | IntervalType::Average)
        && (!key.calculated || DERIVED_INPUTS.contains(&(variable, &[])))
        && key.bucket.is_empty()
        && key.reported_unit == variable.unit().symbol()
}

/// Whether a reading with this verdict, before the comparison with nearby stations, is compared
/// with others. A reading that changed too much for its own series is compared: nearby stations
/// decide whether the change was real. So the answer does not depend on what they said before.
pub(super) fn says_something(verdict: Quality) -> bool {
    let changed = matches!(verdict.reason, ReasonQuality::Increase | ReasonQuality::Decrease);
    counts(verdict.base) || (verdict.base == BaseQuality::Doubtful && changed)
}

/// Returns the verdict before the comparison with nearby stations, as far as it matters to them:
/// whether the value counts in their comparison.
pub(super) fn without_neighbours(verdict: Quality, source: Quality) -> Quality {
    if verdict == DISAGREE && source != DISAGREE { Quality::GOOD } else { verdict }
}

#[cfg(test)]
#[path = "column_tests.rs"]
mod tests;
