//! The inputs of each check and the limits that it applied, for the report on one reading.

use super::consistency::Side;
use super::jump::{Jump, usual};
use super::limits::{
    AccumulationLimits, Band, Curve, JumpLimits, PersistenceLimits, PrecisionLimits, RecordLimits,
    SpikeLimits, StepLimits, ValueBounds, ValueLimits,
};
use super::one_series::OneSeries;
use super::outcome::{Details, Input, Limit};
use super::persistence::{Streak, StreakEnd};
use super::physical::Physical;
use super::relation::Rule;
use crate::time::{HOUR_MS, Iso8601};

pub(super) fn input(name: &'static str, value: f64, unit: &str, ts_ms: Option<i64>) -> Input {
    Input { name, value, unit: unit.to_owned(), timestamp: ts_ms.map(Iso8601) }
}

/// A limit; an infinite side means no limit.
pub(super) fn limit(
    name: &'static str,
    min: Option<f64>,
    max: Option<f64>,
    unit: &str,
    source: &str,
) -> Limit {
    let finite = |side: Option<f64>| side.filter(|side| side.is_finite());
    Limit {
        name,
        min: finite(min),
        max: finite(max),
        unit: unit.to_owned(),
        source: source.to_owned(),
    }
}

fn reading_of<R: OneSeries>(of: &R, reading: usize) -> Input {
    let name = of.key().variable.name();
    input(name, of.value(reading), &of.key().reported_unit, Some(of.ts_ms(reading)))
}

pub(super) fn value<R: OneSeries>(of: &R, reading: usize, limits: &ValueLimits) -> Details {
    let is_sentinel = limits.is_sentinel(of.key().variable, of.value(reading));
    let unit = &of.key().reported_unit;
    let sentinel = of.value(reading);
    let found = is_sentinel
        .then(|| limit("sentinel", Some(sentinel), Some(sentinel), unit, &limits.source));
    Details {
        inputs: vec![reading_of(of, reading)],
        limits: found.into_iter().collect(),
        ..Details::default()
    }
}

/// The name of a physical limit.
pub(super) const POSSIBLE: &str = "possible";

pub(super) fn physical<R: OneSeries>(of: &R, reading: usize, physical: &Physical<'_>) -> Details {
    let ValueBounds { min, max } = physical.bounds;
    // The limit is in its own unit; the value may be in another.
    let unit = of.key().variable.unit().symbol();
    Details {
        inputs: vec![reading_of(of, reading)],
        limits: vec![limit(POSSIBLE, Some(min), Some(max), unit, &physical.limits.source)],
        ..Details::default()
    }
}

pub(super) fn range<R: OneSeries>(
    of: &R,
    reading: usize,
    band: Band,
    source: &str,
    max_amount: Option<(f64, &AccumulationLimits)>,
) -> Details {
    let unit = of.key().variable.unit().symbol();
    let bounds = |name, ValueBounds { min, max }| limit(name, Some(min), Some(max), unit, source);
    let levels = [("error", band.error), ("doubtful", band.doubtful)];
    let levels = levels.into_iter().filter_map(|(name, level)| Some(bounds(name, level?)));
    let amount = max_amount
        .map(|(max, limits)| limit("greatestAmount", None, Some(max), unit, &limits.source));
    Details {
        inputs: vec![reading_of(of, reading)],
        limits: levels.chain(amount).collect(),
        ..Details::default()
    }
}

pub(super) fn record<R: OneSeries>(of: &R, reading: usize, limits: &RecordLimits) -> Details {
    let RecordLimits { bounds, source } = limits;
    let on_record =
        limit("record", Some(bounds.min), Some(bounds.max), &of.key().reported_unit, source);
    Details { inputs: vec![reading_of(of, reading)], limits: vec![on_record], ..Details::default() }
}

fn hours(name: &'static str, elapsed_ms: i64) -> Input {
    input(name, elapsed_ms as f64 / HOUR_MS as f64, "h", None)
}

pub(super) fn spike<R: OneSeries>(
    of: &R,
    readings: [usize; 3],
    elapsed_ms: [i64; 2],
    limits: &SpikeLimits,
) -> Details {
    let unit = &of.key().reported_unit;
    let mut inputs = readings.map(|reading| reading_of(of, reading)).to_vec();
    inputs.extend([hours("elapsedBefore", elapsed_ms[0]), hours("elapsedAfter", elapsed_ms[1])]);
    let both = limits.curve.at(elapsed_ms[0]).zip(limits.curve.at(elapsed_ms[1]));
    let sum = both.map(|(before, after)| {
        limit("sumOfDifferences", None, Some(before + after), unit, &limits.source)
    });
    let ratio = limit("ratioOfDifferences", Some(limits.ratio), None, "", &limits.source);
    Details { inputs, limits: sum.into_iter().chain([ratio]).collect(), ..Details::default() }
}

pub(super) fn step<R: OneSeries>(
    of: &R,
    [before, reading]: [usize; 2],
    elapsed_ms: i64,
    limits: &StepLimits,
) -> Details {
    let levels = [("doubtful", &limits.doubtful), ("instrumentation", &limits.instrumentation)];
    let level = |(name, curve): (_, &Option<Curve>)| {
        let max = curve.as_ref()?.at(elapsed_ms)?;
        Some(limit(name, Some(-max), Some(max), &of.key().reported_unit, &limits.source))
    };
    Details {
        inputs: vec![reading_of(of, before), reading_of(of, reading), hours("elapsed", elapsed_ms)],
        limits: levels.into_iter().filter_map(level).collect(),
        ..Details::default()
    }
}

/// `lasting` is the jump from which the reading has not come back; without one, the change to the
/// reading itself is shown.
pub(super) fn jump<R: OneSeries>(
    of: &R,
    usable: &impl Fn(usize) -> bool,
    [before, reading]: [usize; 2],
    lasting: Option<&Jump>,
    limits: &JumpLimits,
) -> Details {
    let unit = &of.key().reported_unit;
    let pair = lasting.map_or([before, reading], |jump| [jump.before, jump.after]);
    let elapsed_ms = of.ts_ms(pair[1]).saturating_sub(of.ts_ms(pair[0]));
    let mut inputs = vec![reading_of(of, reading), reading_of(of, pair[0])];
    if pair[1] != reading {
        inputs.push(reading_of(of, pair[1]));
    }
    inputs.push(hours("elapsed", elapsed_ms));
    let usual = usual(of, usable, pair, limits);
    inputs.extend(usual.map(|(usual, _)| input("usualChange", usual, unit, None)));
    let change = usual.map(|(usual, limit_of)| {
        limit("change", Some(usual - limit_of), Some(usual + limit_of), unit, &limits.source)
    });
    Details { inputs, limits: change.into_iter().collect(), ..Details::default() }
}

pub(super) fn persistence<R: OneSeries>(
    of: &R,
    usable: &impl Fn(usize) -> bool,
    reading: usize,
    found: &StreakEnd,
    limits: &PersistenceLimits,
) -> Details {
    let StreakEnd { repeats, since_ms, .. } = found;
    let row = Streak::limit(limits, of, usable, reading);
    let source = &limits.source;
    let (now_ms, unit) = (of.ts_ms(reading), &of.key().reported_unit);
    Details {
        inputs: vec![
            reading_of(of, reading),
            input("repeats", *repeats as f64, "", Some(*since_ms)),
            hours("lasted", now_ms.saturating_sub(*since_ms)),
            input("resolution", row.step.0, unit, None),
        ],
        limits: vec![
            limit("repeats", None, Some(f64::from(row.repeats)), "", source),
            limit("lasted", None, Some(row.hours.ms as f64 / HOUR_MS as f64), "h", source),
        ],
        ..Details::default()
    }
}

/// `computed` is the tolerance of a precise rule, or the reduced pressure.
pub(super) fn relation<R: OneSeries>(
    of: &R,
    reading: usize,
    (other, at): (&R, usize),
    rule: Rule<'_>,
    computed: Option<f64>,
    altitude_m: Option<f64>,
) -> Details {
    let unit = &of.key().reported_unit;
    let mut inputs = vec![reading_of(of, reading), reading_of(other, at)];
    let bound = other.value(at);
    let beside = |side: Side, tolerance: f64, source: &str| match side {
        Side::Lower | Side::AverageLower => {
            limit("notAbove", None, Some(bound + tolerance), unit, source)
        }
        Side::Upper | Side::AverageUpper => {
            limit("notBelow", Some(bound - tolerance), None, unit, source)
        }
    };
    let altitude = altitude_m.map(|altitude_m| input("altitude", altitude_m, "m", None));
    let limits = match rule {
        Rule::Precise(side, PrecisionLimits { source, .. }) => {
            vec![beside(side, computed.unwrap_or(0.0), source)]
        }
        Rule::Ordered(side, limits) => vec![beside(side, limits.limit.0, &limits.source)],
        Rule::WindGust { of_mean, limits } => {
            let side = if of_mean { Side::Lower } else { Side::Upper };
            let excess =
                limit("gustAboveMean", Some(0.0), Some(limits.limit.0), unit, &limits.source);
            vec![beside(side, 0.0, &limits.source), excess]
        }
        Rule::CalmWind(limits) => {
            vec![limit("calm", None, Some(limits.limit.0), "km/h", &limits.source)]
        }
        Rule::PressureOrder { limits, .. } => {
            inputs.extend(altitude);
            vec![limit("relativeTolerance", None, Some(limits.limit.0), "", &limits.source)]
        }
        Rule::PressureReduction { limits, .. } => {
            inputs.extend(altitude);
            inputs.extend(computed.map(|reduced| input("reducedPressure", reduced, unit, None)));
            let most = limits.limit.0;
            vec![limit("difference", Some(-most), Some(most), unit, &limits.source)]
        }
    };
    Details { inputs, limits, ..Details::default() }
}
