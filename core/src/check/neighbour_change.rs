//! Neighbour change: a change that the stations around do not share. Siting, altitude and the bias
//! of a sensor affect a value, but not its change. So a change shows far smaller faults. A front or
//! a sea breeze shows in the changes of the neighbours as well.
//!
//! The changes of the neighbours are interpolated like their values (`neighbours.rs`), by optimum
//! interpolation. Everything here is a function of the readings of a bounded time before.

use super::around::{NeighbourValue, ValueAndNeighbours};
use super::change_limits::ChangeLimits;
use super::config::Config;
use super::details::{input, limit};
use super::neighbour_limits::{CompareLimits, NeighbourLimits};
use super::neighbours::DISAGREE;
use super::outcome::{Check, CheckOutcome, Details, NotRun, Sink};
use crate::observation::Variable;

/// The change itself must be at least this part of the limit: small changes are not looked at.
const LARGE: f64 = 0.6;
/// The part of a jump that must remain for its readings to stay doubtful, and that must be taken
/// back for the jump to be over.
const LEFT: f64 = 0.5;

impl ChangeLimits {
    /// How changes of stations are compared. The stations are chosen as for their values.
    fn of_changes(&self, of_values: &NeighbourLimits) -> CompareLimits {
        CompareLimits {
            deviation: self.deviation,
            variance_per_km: self.variance_per_km,
            lapse_per_m: None,
            change_per_hour: self.change_per_hour,
            threshold: self.threshold,
            ..of_values.compare
        }
    }
}

/// The readings by which a change is judged.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ChangeRule {
    /// The longest time between successive readings that are compared.
    pub within_ms: i64,
    hold_ms: i64,
    limit: f64,
    level: f64,
    explained_falls: bool,
    agree: f64,
}

impl ChangeRule {
    /// How far back earlier readings matter to a reading.
    pub(crate) fn back_ms(&self) -> i64 {
        2 * self.hold_ms + self.within_ms
    }

    /// Whether a value is so far from what the neighbours say that a change may be the cause.
    pub(crate) fn is_far(&self, level: f64) -> bool {
        level.abs() >= self.level
    }

    /// Whether other sensors of the station may explain a change.
    pub(crate) fn may_be_explained(&self, of: &Unshared) -> bool {
        self.explained_falls && of.difference < 0.0
    }

    /// Whether the neighbours agree with a value: if so, a jump that its own series shows was real.
    pub(crate) fn is_near(&self, level: f64) -> bool {
        level.abs() <= self.agree
    }

    /// Whether a change is large, or may be part of a large one.
    pub(crate) fn may_be_large(&self, one: (i64, f64), next: (i64, f64)) -> bool {
        2.0 * (next.1 - one.1).abs() >= LARGE * self.limit
    }

    /// Whether a change from one reading to the next may be one that the neighbours do not share.
    pub(crate) fn is_large(&self, one: (i64, f64), next: (i64, f64)) -> bool {
        next.0.saturating_sub(one.0) <= self.within_ms
            && (next.1 - one.1).abs() >= LARGE * self.limit
    }
}

/// A change compared with the change of the neighbours.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Difference {
    /// The change minus the change that the neighbours give.
    pub difference: f64,
    /// Whether the difference is beyond the limits.
    pub is_unshared: bool,
}

/// A change that the neighbours did not share: the moments of the last reading before and the first
/// after it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Unshared {
    pub before_ms: i64,
    pub after_ms: i64,
    pub difference: f64,
}

/// The change that makes the last of some readings doubtful, if there is one: not shared by the
/// neighbours, not taken back since, and still there in the value. `level` is how far the value is
/// from what the neighbours say, in deviations, and `compare` compares the change between two
/// moments, if it can.
pub(crate) fn lasting<E>(
    rule: &ChangeRule,
    own: &[(i64, f64)],
    level: f64,
    mut compare: impl FnMut(i64, i64) -> Result<Option<Difference>, E>,
) -> Result<Option<Unshared>, E> {
    let Some(&(now_ms, _)) = own.last().filter(|_| rule.is_far(level)) else {
        return Ok(None);
    };
    let oldest_ms = now_ms.saturating_sub(rule.hold_ms);
    let mut lasting: Option<Unshared> = None;
    for pair in own.windows(2).filter(|pair| rule.is_large(pair[0], pair[1])) {
        let (before_ms, after_ms) = (pair[0].0, pair[1].0);
        let found = compare(before_ms, after_ms)?.filter(|found| found.is_unshared);
        let Some(Difference { difference, .. }) = found else { continue };
        let fresh = Unshared { before_ms, after_ms, difference };
        lasting = match lasting {
            Some(known) if (known.difference > 0.0) != (difference > 0.0) => {
                let is_over = difference.abs() >= LEFT * known.difference.abs();
                if is_over { None } else { Some(known) }
            }
            Some(known) if known.after_ms >= oldest_ms => Some(known),
            _ => Some(fresh),
        };
    }
    let points_there = |of: &Unshared| (of.difference > 0.0) == (level > 0.0);
    let Some(found) = lasting.filter(|of| of.after_ms >= oldest_ms).filter(points_there) else {
        return Ok(None);
    };
    if found.after_ms == now_ms {
        return Ok(Some(found));
    }
    let since = compare(found.before_ms, now_ms)?;
    let is_left = since.is_some_and(|since| {
        since.difference * found.difference.signum() >= LEFT * found.difference.abs()
    });
    Ok(is_left.then_some(found))
}

/// The input of the check: a change, and how far the value is from the neighbours' values.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ChangeInput {
    pub before: (i64, f64),
    pub after: (i64, f64),
    pub level: f64,
}

pub(super) fn rule(config: &Config, variable: Variable) -> Option<ChangeRule> {
    config.neighbours.get(&variable)?;
    let limits = config.neighbour_change.get(&variable)?;
    Some(ChangeRule {
        within_ms: limits.within.ms,
        hold_ms: limits.hold.ms,
        explained_falls: limits.explained_falls,
        agree: limits.agree,
        limit: limits.limit,
        level: limits.level,
    })
}

/// Compares a change with those of the neighbours, and returns what `then` makes of that; `None` if
/// there are too few neighbours.
fn around<T>(
    config: &Config,
    variable: Variable,
    of: NeighbourValue,
    near: impl Iterator<Item = (usize, f64)>,
    held: impl Fn(usize) -> Option<NeighbourValue>,
    then: impl FnOnce(&ValueAndNeighbours, Difference) -> T,
) -> Option<T> {
    let (of_values, limits) =
        (config.neighbours.get(&variable)?, config.neighbour_change.get(&variable)?);
    ValueAndNeighbours::lend(of, near, held, &limits.of_changes(of_values), |around| {
        let difference = around.residual().difference;
        let is_unshared = difference.abs() > limits.limit && around.is_unlike(limits.threshold);
        then(around, Difference { difference, is_unshared })
    })
}

/// A change compared with the changes of the neighbours; `None` if there are too few neighbours.
pub(super) fn compare(
    config: &Config,
    variable: Variable,
    of: NeighbourValue,
    near: impl Iterator<Item = (usize, f64)>,
    held: impl Fn(usize) -> Option<NeighbourValue>,
) -> Option<Difference> {
    around(config, variable, of, near, held, |_, difference| difference)
}

/// Notes the result of the check for a reading, with the change that it looked at.
pub(super) fn note<S: Sink>(
    config: &Config,
    variable: Variable,
    found: Result<bool, NotRun>,
    looked: Option<ChangeInput>,
    near: &[(f64, NeighbourValue)],
    sink: &mut S,
) {
    let outcome = match found {
        Err(why) => CheckOutcome::NotRun(why),
        Ok(is_unshared) => is_unshared.then_some(DISAGREE).into(),
    };
    sink.note(Check::NeighbourChange, outcome, || details(config, variable, looked, near));
}

fn details(
    config: &Config,
    variable: Variable,
    looked: Option<ChangeInput>,
    near: &[(f64, NeighbourValue)],
) -> Details {
    let mut details = Details::default();
    let Some(limits) = config.neighbour_change.get(&variable) else { return details };
    let unit = variable.unit().symbol();
    if let Some(ChangeInput { before, after, level }) = looked {
        let altimeter = variable == Variable::BarometricPressure;
        let name = if altimeter { "altimeterSetting" } else { variable.name() };
        let change = after.1 - before.1;
        details.inputs.push(input(name, before.1, unit, Some(before.0)));
        details.inputs.push(input(name, after.1, unit, Some(after.0)));
        details.inputs.push(input("change", change, unit, None));
        details.inputs.push(input("levelStandardizedDifference", level, "", None));
        let of = near.first().map(|&(_, held)| NeighbourValue { value: change, ..held });
        let distances = near.iter().enumerate().skip(1).map(|(i, &(km, _))| (i, km));
        let found = |around: &ValueAndNeighbours, found: Difference| {
            let residual = around.residual();
            details.inputs.push(input("changeOfNeighbours", change - found.difference, unit, None));
            details.inputs.push(input("deviation", residual.deviation, unit, None));
            let standardized = residual.standardized();
            details.inputs.push(input("standardizedDifference", standardized, "", None));
            details.neighbours = around.neighbours(change, 0.0);
        };
        let held = |i: usize| near.get(i).map(|of| of.1);
        of.and_then(|of| around(config, variable, of, distances, held, found));
    }
    let both = |name, most: f64, unit| limit(name, Some(-most), Some(most), unit, &limits.source);
    details.limits = vec![
        both("difference", limits.limit, unit),
        both("standardizedDifference", limits.threshold, ""),
        both("levelStandardizedDifference", limits.level, ""),
    ];
    details
}

#[cfg(test)]
#[path = "neighbour_change_tests.rs"]
mod tests;
