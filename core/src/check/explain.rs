//! The report on one reading: what each check looked at, held it against, and found.

use super::consistency::Side;
use super::limits::{
    Band, Bounds, Curve, PersistenceLimits, PrecisionLimits, RecordLimits, SpikeLimits, StepLimits,
    ValueLimits,
};
use super::outcome::{Check, CheckInput, CheckLimit, Details, NotRun, Outcome, Sink, Tally};
use super::persistence::{Found, Streak};
use super::readings::Readings;
use super::relation::{Rule, checks_of, is_configured};
use super::station::{Pass, Plan, Walk};
use crate::quality::{BaseQuality, Quality};
use crate::time::{HOUR_MS, Iso8601};

/// What the checks found out about one reading.
///
/// On the wire it is an object in camelCase.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Explanation {
    /// Name of the variable.
    pub variable: &'static str,
    /// Unit of the value.
    pub unit: String,
    /// Time of the reading.
    pub timestamp: Iso8601,
    /// The value; null where it is no number.
    pub value: f64,
    /// What the source said. A Good is kept and not checked again; Unknown is no verdict; any
    /// other is kept unless a check says worse.
    pub source: Quality,
    /// The checks, in their order. Empty where the source said Good.
    pub checks: Vec<CheckReport>,
    /// The verdict.
    pub verdict: Quality,
    /// The check that gave it; absent where it is the source's or no check tripped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decided_by: Option<Check>,
}

/// What one check found out.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CheckReport {
    /// The check.
    pub check: Check,
    /// Whether it ran.
    pub ran: bool,
    /// Why it did not run, where it did not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_run_because: Option<&'static str>,
    /// What it looked at.
    pub inputs: Vec<CheckInput>,
    /// What it held that against.
    pub limits: Vec<CheckLimit>,
    /// What it says: Good where it passed; absent where it did not run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Quality>,
}

impl CheckReport {
    fn outcome(&self) -> Outcome {
        match self.outcome {
            None => Outcome::NotRun(NotRun::NoLimit),
            Some(Quality::GOOD) => Outcome::Passed,
            Some(quality) => Outcome::Tripped(quality),
        }
    }
}

impl Explanation {
    /// Puts in what the check of the neighbours found, in the place of the note that it needs other
    /// stations, and works out the verdict again.
    pub fn add(&mut self, report: CheckReport) {
        if self.source.base == BaseQuality::Good {
            return;
        }
        self.checks.retain(|known| known.check != report.check);
        self.checks.push(report);
        self.checks.sort_by_key(|known| known.check);
        self.decide();
    }

    fn decide(&mut self) {
        let mut tally = Tally::default();
        for report in &self.checks {
            tally.add(report.check, report.outcome());
        }
        (self.verdict, self.decided_by) = tally.verdict(self.source);
    }
}

/// Collects reports.
#[derive(Debug, Default)]
pub(super) struct Reports(Vec<CheckReport>);

impl Sink for Reports {
    fn note(&mut self, check: Check, outcome: Outcome, details: impl FnOnce() -> Details) {
        let Details { inputs, limits } = details();
        let (ran, not_run_because, outcome) = match outcome {
            Outcome::NotRun(why) => (false, Some(why.text()), None),
            Outcome::Passed => (true, None, Some(Quality::GOOD)),
            Outcome::Tripped(quality) => (true, None, Some(quality)),
        };
        self.0.push(CheckReport { check, ran, not_run_because, inputs, limits, outcome });
    }
}

impl Reports {
    /// The one report of a check that was run alone.
    pub fn only(mut self) -> CheckReport {
        self.0.swap_remove(0)
    }

    fn has(&self, check: Check) -> bool {
        self.0.iter().any(|report| report.check == check)
    }
}

/// The explanation of a reading: the walk of the fast pass from it on, and its reports.
pub(super) fn explain<R: Readings>(
    pass: &Pass<'_, R>,
    which: usize,
    reading: usize,
) -> Explanation {
    let of = &pass.series[which];
    let source = of.source(reading);
    let mut reports = Reports::default();
    if source.base != BaseQuality::Good {
        Walk::new(pass, which, reading).judge(reading, &mut reports);
        for check in Check::ALL {
            if !reports.has(check) {
                let why = why_not(pass, which, reading, check);
                reports.note(check, Outcome::NotRun(why), Details::default);
            }
        }
        reports.0.sort_by_key(|report| report.check);
    }
    let mut explanation = Explanation {
        variable: of.key().variable.name(),
        unit: of.key().reported_unit.clone().into_owned(),
        timestamp: Iso8601(of.ts_ms(reading)),
        value: of.value(reading),
        source,
        checks: reports.0,
        verdict: source,
        decided_by: None,
    };
    explanation.decide();
    explanation
}

/// Why a check said nothing at all.
fn why_not<R: Readings>(pass: &Pass<'_, R>, which: usize, reading: usize, check: Check) -> NotRun {
    let (of, plan, config) = (&pass.series[which], &pass.plans[which], pass.config);
    let variable = &of.key().variable;
    let (configured, fits) = match check {
        Check::Range => (config.range.contains_key(variable), true),
        Check::Record => (config.record.contains_key(variable), true),
        Check::Spike => (config.spike.contains_key(variable), plan.steady),
        Check::Step => (config.step.contains_key(variable), plan.steady),
        Check::Persistence => (config.persistence.contains_key(variable), plan.steady),
        Check::Neighbours => (config.neighbours.contains_key(variable), true),
        Check::Value => (true, true),
        _ => {
            let takes_part = checks_of(*variable).contains(&check);
            (takes_part && is_configured(&config.consistency, check), true)
        }
    };
    if !configured {
        NotRun::NoLimit
    } else if of.key().reported_unit != variable.unit().symbol() {
        NotRun::Unit
    } else if !fits || !plan.comparable {
        NotRun::SeriesKind
    } else if !pass.is_usable(which, reading) {
        NotRun::Refused
    } else if check == Check::Neighbours {
        NotRun::OtherStations
    } else if matches!(check, Check::Range | Check::Record) {
        // The entry has no band for this latitude and season.
        NotRun::NoLimit
    } else {
        NotRun::NoRelatedSeries
    }
}

pub(super) fn input(name: &'static str, value: f64, unit: &str, ts_ms: Option<i64>) -> CheckInput {
    CheckInput { name, value, unit: unit.to_owned(), timestamp: ts_ms.map(Iso8601) }
}

/// A limit; an infinite side is none.
pub(super) fn limit(
    name: &'static str,
    min: Option<f64>,
    max: Option<f64>,
    unit: &str,
    source: &str,
) -> CheckLimit {
    let finite = |side: Option<f64>| side.filter(|side| side.is_finite());
    CheckLimit {
        name,
        min: finite(min),
        max: finite(max),
        unit: unit.to_owned(),
        source: source.to_owned(),
    }
}

fn reading_of<R: Readings>(of: &R, reading: usize) -> CheckInput {
    let name = of.key().variable.name();
    input(name, of.value(reading), &of.key().reported_unit, Some(of.ts_ms(reading)))
}

pub(super) fn value<R: Readings>(of: &R, reading: usize, limits: &ValueLimits) -> Details {
    let is_sentinel = limits.is_sentinel(of.key().variable, of.value(reading));
    let unit = &of.key().reported_unit;
    let sentinel = of.value(reading);
    let found = is_sentinel
        .then(|| limit("sentinel", Some(sentinel), Some(sentinel), unit, &limits.source));
    Details { inputs: vec![reading_of(of, reading)], limits: found.into_iter().collect() }
}

pub(super) fn range<R: Readings>(of: &R, reading: usize, plan: &Plan<'_>, band: Band) -> Details {
    let unit = &of.key().reported_unit;
    let source = plan.seasons.map_or("", |(_, limits)| &limits.source);
    let bounds = |name, Bounds { min, max }| limit(name, Some(min), Some(max), unit, source);
    let levels = [("error", band.error), ("doubtful", band.doubtful)];
    let levels = levels.into_iter().filter_map(|(name, level)| Some(bounds(name, level?)));
    let amount = plan
        .max_amount
        .map(|(max, limits)| limit("greatestAmount", None, Some(max), unit, &limits.source));
    Details { inputs: vec![reading_of(of, reading)], limits: levels.chain(amount).collect() }
}

pub(super) fn record<R: Readings>(of: &R, reading: usize, limits: &RecordLimits) -> Details {
    let RecordLimits { bounds, source } = limits;
    let on_record =
        limit("record", Some(bounds.min), Some(bounds.max), &of.key().reported_unit, source);
    Details { inputs: vec![reading_of(of, reading)], limits: vec![on_record] }
}

fn hours(name: &'static str, elapsed_ms: i64) -> CheckInput {
    input(name, elapsed_ms as f64 / HOUR_MS as f64, "h", None)
}

pub(super) fn spike<R: Readings>(
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
    Details { inputs, limits: sum.into_iter().chain([ratio]).collect() }
}

pub(super) fn step<R: Readings>(
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
    }
}

pub(super) fn persistence<R: Readings>(
    of: &R,
    usable: &impl Fn(usize) -> bool,
    reading: usize,
    found: &Found,
    limits: &PersistenceLimits,
) -> Details {
    let Found { repeats, since_ms, .. } = found;
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
    }
}

/// `computed` is the tolerance of a precise rule, or the reduced pressure.
pub(super) fn relation<R: Readings>(
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
    Details { inputs, limits }
}

#[cfg(test)]
#[path = "explain_tests.rs"]
mod tests;
