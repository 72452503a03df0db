//! The report on one reading: the inputs of each check, the limits that it applied, and what it
//! found.

use std::fmt;

use super::beside::Beside;
use super::one_series::OneSeries;
use super::outcome::{Check, CheckOutcome, Details, Input, Limit, Neighbour, NotRun, Sink, Tally};
use super::relation::{checks_of, is_configured};
use super::station::{Pass, SeriesWalk};
use super::value::value;
use crate::observation::{BaseQuality, Quality, Variable};
use crate::time::Iso8601;

/// What the checks found about one reading.
///
/// On the wire it is an object in camelCase.
///
/// ```
/// use mesonet::check::{Check, Checker, CheckReport, Explanation, Input, Limit, NotRun, SeriesReadings};
/// use mesonet::{IntervalType, LonLat, SeriesKey, Variable, check::StationSite};
/// let key = SeriesKey::new(Variable::AirTemperature, IntervalType::Instantaneous, 0);
/// let air = SeriesReadings { key: &key, ts_ms: &[0], value: &[63.5], source: &[] };
/// let site = StationSite { coordinates: LonLat::new(-135.07, 60.71)?, altitude_m: Some(706.0) };
/// let found: Explanation = Checker::shared().explain(&site, &[air], 0, 0)?;
/// let report_of = |check| found.checks.iter().find(|report| report.check == check);
/// let range: &CheckReport = report_of(Check::Range).ok_or("it is one of the checks")?;
/// let (input, limit): (&Input, &Limit) = (&range.inputs[0], &range.limits[0]);
/// assert!(range.ran && limit.max.is_some_and(|max| input.value > max));
/// assert_eq!((input.unit.as_str(), limit.unit.as_str()), ("°C", "°C"));
/// let neighbours = report_of(Check::Neighbours).ok_or("it is one of the checks")?;
/// assert_eq!(neighbours.not_run_because, Some(NotRun::Refused.text()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Explanation {
    /// Name of the variable.
    pub variable: &'static str,
    /// Unit of the value.
    pub unit: String,
    /// Time of the reading.
    pub timestamp: Iso8601,
    /// The value; null if it is not a number.
    #[cfg_attr(feature = "openapi", schema(required = true, value_type = Option<f64>))]
    pub value: f64,
    /// The source's verdict. Good is kept and not checked again. Unknown is not a verdict. Any
    /// other verdict is kept unless a check finds worse.
    pub source: Quality,
    /// The checks that concern the variable, in order. If the source said Good, only a physical
    /// check whose limit the value exceeds.
    pub checks: Vec<CheckReport>,
    /// The verdict.
    pub verdict: Quality,
    /// The check that gave the verdict; absent if the verdict is the source's or no check tripped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decided_by: Option<Check>,
}

/// What one check found.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CheckReport {
    /// The check.
    pub check: Check,
    /// Whether it ran.
    pub ran: bool,
    /// Why the check did not run, if it did not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_run_because: Option<&'static str>,
    /// The values it looked at.
    pub inputs: Vec<Input>,
    /// The limits it applied to them.
    pub limits: Vec<Limit>,
    /// The stations that the value was compared with, nearest first; empty for other checks.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub neighbours: Vec<Neighbour>,
    /// The verdict of the check: Good if it passed; absent if it did not run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Quality>,
}

impl CheckReport {
    fn outcome(&self) -> CheckOutcome {
        match self.outcome {
            None => CheckOutcome::NotRun(NotRun::NoLimit),
            Some(Quality::GOOD) => CheckOutcome::Passed,
            Some(quality) => CheckOutcome::Tripped(quality),
        }
    }
}

impl Explanation {
    /// Adds the result of the neighbour check, in place of the note that it needs other stations,
    /// and updates the verdict.
    ///
    /// ```
    /// use mesonet::check::{Check, Checker, CheckReport, SeriesReadings, StationSite};
    /// use mesonet::{BaseQuality, IntervalType, LonLat, Quality, ReasonQuality, SeriesKey, Variable};
    /// let key = SeriesKey::new(Variable::AirTemperature, IntervalType::Instantaneous, 0);
    /// let air = SeriesReadings { key: &key, ts_ms: &[0], value: &[-12.0], source: &[] };
    /// let site = StationSite { coordinates: LonLat::new(-135.07, 60.71)?, altitude_m: Some(706.0) };
    /// let mut found = Checker::shared().explain(&site, &[air], 0, 0)?;
    /// assert_eq!(found.verdict, Quality::GOOD);
    /// // As `Checker::explain_neighbours` returns it.
    /// let unlike = Quality { base: BaseQuality::Doubtful, reason: ReasonQuality::Disagree };
    /// found.add(CheckReport {
    ///     check: Check::Neighbours,
    ///     ran: true,
    ///     not_run_because: None,
    ///     inputs: Vec::new(),
    ///     limits: Vec::new(),
    ///     neighbours: Vec::new(),
    ///     outcome: Some(unlike),
    /// });
    /// assert_eq!((found.verdict, found.decided_by), (unlike, Some(Check::Neighbours)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn add(&mut self, report: CheckReport) {
        if self.source.base == BaseQuality::Good {
            return;
        }
        self.checks.retain(|known| known.check != report.check);
        self.checks.push(report);
        self.checks.sort_by_key(|known| known.check);
        self.decide();
    }

    /// Sets aside the result of the jump check, because the stations around agree with the value.
    #[cfg(feature = "store")]
    pub(crate) fn clear_jump(&mut self) {
        for report in self.checks.iter_mut().filter(|report| report.check == Check::Jump) {
            if !matches!(report.outcome, None | Some(Quality::GOOD)) {
                (report.ran, report.outcome) = (false, None);
                report.not_run_because = Some(NotRun::NeighboursAgree.text());
            }
        }
        self.decide();
    }

    /// Whether the value is beyond a physical limit.
    #[cfg(feature = "store")]
    pub(crate) fn is_impossible(&self) -> bool {
        let tripped = self.checks.iter().filter(|report| report.check == Check::Range);
        tripped
            .flat_map(|report| &report.limits)
            .any(|limit| limit.name == super::details::POSSIBLE)
    }

    fn decide(&mut self) {
        let mut tally = Tally::default();
        for report in &self.checks {
            // If the source calls a value Good, only physical limits judge it.
            let outcome = match report.outcome() {
                CheckOutcome::Tripped(quality) if self.source.base == BaseQuality::Good => {
                    CheckOutcome::Impossible(quality)
                }
                outcome => outcome,
            };
            tally.add(report.check, outcome);
        }
        (self.verdict, self.decided_by) = tally.verdict(self.source);
    }
}

/// The reading and its verdict are on the first line. Each check that ran has a line of its own:
/// its result, inputs and limits.
impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { variable, timestamp, source, verdict, .. } = self;
        let value = quantity(self.value, &self.unit);
        write!(f, "{variable} {value} at {timestamp}: {}, {}", verdict.base, verdict.reason)?;
        match self.decided_by {
            Some(check) => write!(f, ", from the check {check}")?,
            None if source.base != BaseQuality::Unknown => f.write_str(", from the source")?,
            None => {}
        }
        for CheckReport { check, inputs, limits, neighbours, outcome, .. } in &self.checks {
            let Some(outcome) = outcome else { continue };
            write!(f, "\n  {check}: {}", outcome.base)?;
            for Input { name, value, unit, .. } in inputs {
                write!(f, ", {name} {}", quantity(*value, unit))?;
            }
            for Limit { name, min, max, unit, .. } in limits {
                write!(f, ", limit of {name}")?;
                for (word, bound) in [("from", min), ("to", max)] {
                    if let Some(bound) = bound {
                        write!(f, " {word} {}", quantity(*bound, unit))?;
                    }
                }
            }
            for Neighbour { name, distance_km, rise_m, value, weight, .. } in neighbours {
                let name = name.as_deref().unwrap_or("a station");
                write!(
                    f,
                    "\n    {name}, {distance_km:.0} km, {rise_m:+.0} m: {}, weight {weight:.2}",
                    quantity(*value, &self.unit)
                )?;
            }
        }
        Ok(())
    }
}

/// A number with its unit, for people: computed values have many digits that mean nothing.
fn quantity(value: f64, unit: &str) -> String {
    const DECIMALS: f64 = 1e4;
    let value = (value * DECIMALS).round() / DECIMALS;
    if unit.is_empty() { value.to_string() } else { format!("{value} {unit}") }
}

/// Collects reports.
#[derive(Debug, Default)]
pub(super) struct Reports(Vec<CheckReport>);

impl Sink for Reports {
    fn note(&mut self, check: Check, outcome: CheckOutcome, details: impl FnOnce() -> Details) {
        let Details { inputs, limits, neighbours } = details();
        let (ran, not_run_because, outcome) = match outcome {
            CheckOutcome::NotRun(why) => (false, Some(why.text()), None),
            CheckOutcome::Passed => (true, None, Some(Quality::GOOD)),
            CheckOutcome::Tripped(quality) | CheckOutcome::Impossible(quality) => {
                (true, None, Some(quality))
            }
        };
        self.0.push(CheckReport {
            check,
            ran,
            not_run_because,
            inputs,
            limits,
            neighbours,
            outcome,
        });
    }
}

impl Reports {
    /// The single report of a check that was run alone.
    pub(super) fn only(mut self) -> CheckReport {
        self.0.swap_remove(0)
    }

    fn has(&self, check: Check) -> bool {
        self.0.iter().any(|report| report.check == check)
    }
}

/// The explanation of a reading: runs the walk of the fast pass from that reading, with reports.
pub(super) fn explain<R: OneSeries>(
    pass: &Pass<'_, R>,
    which: usize,
    reading: usize,
) -> Explanation {
    let of = &pass.series[which];
    let source = of.source(reading);
    let mut reports = Reports::default();
    if source.base == BaseQuality::Good {
        let missing = value(of.key().variable, of.value(reading), &pass.config.value);
        if missing.is_none() {
            SeriesWalk::new(pass, which, reading).physical(reading, &mut reports);
        }
    } else {
        SeriesWalk::new(pass, which, reading).by_its_series(reading, &mut reports);
        Beside::new(pass, which).judge(reading, &mut reports);
        for check in Check::ALL {
            if !reports.has(check) && concerns(check, of.key().variable) {
                let why = why_not(pass, which, reading, check);
                reports.note(check, CheckOutcome::NotRun(why), Details::default);
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

/// Whether a check applies to readings of a variable, with any limits.
fn concerns(check: Check, variable: Variable) -> bool {
    match check {
        Check::Value
        | Check::Range
        | Check::Record
        | Check::Spike
        | Check::Step
        | Check::Jump
        | Check::Persistence
        | Check::Neighbours
        | Check::NeighbourChange => true,
        _ => checks_of(variable).contains(&check),
    }
}

/// Why a check reported nothing at all.
fn why_not<R: OneSeries>(pass: &Pass<'_, R>, which: usize, reading: usize, check: Check) -> NotRun {
    let (of, plan, config) = (&pass.series[which], &pass.plans[which], pass.config);
    let variable = &of.key().variable;
    let (configured, fits) = match check {
        Check::Range => (config.range.contains_key(variable), true),
        Check::Record => (config.record.contains_key(variable), true),
        Check::Spike => (config.spike.contains_key(variable), plan.steady),
        Check::Step => (config.step.contains_key(variable), plan.steady),
        Check::Jump => (config.jump.contains_key(variable), plan.steady),
        Check::Persistence => (config.persistence.contains_key(variable), plan.steady),
        Check::Neighbours => (config.neighbours.contains_key(variable), true),
        Check::NeighbourChange => (config.neighbour_change.contains_key(variable), true),
        Check::Value => (true, true),
        _ => (is_configured(&config.consistency, check), true),
    };
    if !configured {
        NotRun::NoLimit
    } else if of.key().reported_unit != variable.unit().symbol() {
        NotRun::Unit
    } else if !fits || !plan.comparable {
        NotRun::SeriesKind
    } else if !pass.is_usable(which, reading) {
        NotRun::Refused
    } else if matches!(check, Check::Neighbours | Check::NeighbourChange) {
        NotRun::OtherStations
    } else if matches!(check, Check::Range | Check::Record) {
        // The entry has no band for this latitude and season.
        NotRun::NoLimit
    } else {
        NotRun::NoRelatedSeries
    }
}

#[cfg(test)]
#[path = "explain_tests.rs"]
mod tests;
