//! Neighbours: a value against those of the stations around.

use super::config::CheckConfig;
use super::explain::{CheckReport, input, limit};
use super::limits::NeighbourLimits;
use super::outcome::{Check, Details, NotRun, Outcome, Sink, Tally};
use super::{CheckError, StationSite};
use crate::geo::StationIndex;
use crate::quality::{BaseQuality, Quality, ReasonQuality};
use crate::variable::Variable;

/// The values of one variable at one time at many stations: columns of one length, in the order of
/// the places that the index was made of.
#[derive(Clone, Copy, Debug)]
pub struct Surroundings<'a> {
    /// The variable; the values are in its unit.
    pub variable: Variable,
    /// The stations.
    pub sites: &'a [StationSite],
    /// Finds them by place.
    pub index: &'a StationIndex,
    /// Values; NaN for a station that has none.
    pub value: &'a [f64],
    /// What the sources said of them.
    pub source: &'a [Quality],
    /// The verdicts so far: of [`Checker::check_station`](super::Checker::check_station).
    pub verdict: &'a [Quality],
}

impl Surroundings<'_> {
    pub(super) fn check(&self, out: usize) -> Result<(), CheckError> {
        let Self { sites, value, source, verdict, .. } = self;
        let lengths = [sites.len(), value.len(), source.len(), verdict.len(), out];
        let same = lengths.iter().all(|&length| length == lengths[0]);
        if same { Ok(()) } else { Err(CheckError::Stations(lengths)) }
    }
}

/// The neighbours of a value: how many, their mean, and the deviation of a value from it.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Around {
    count: usize,
    mean: f64,
    deviation: f64,
}

/// Mean and deviation of the values around a station, brought to its altitude; `None` with fewer
/// than the limits ask for. The nearest fifty at most: more say nothing new.
///
/// The deviation is that of a single value from the mean of n: √(s² + s²/n), as titanlib has it,
/// and at least the least of the limits.
fn around(of: &Surroundings<'_>, which: usize, limits: &NeighbourLimits) -> Option<Around> {
    const MOST: usize = 50;
    let site = &of.sites[which];
    let lapse = limits.lapse_per_m;
    let (mut count, mut sum, mut squares) = (0_usize, 0.0, 0.0);
    // Sums of differences from the value itself: squares of values of 1000 hPa lose digits.
    let origin = of.value[which];
    let near = of.index.nearest(site.coordinates);
    for (other, _) in near.take_while(|&(_, distance_km)| distance_km <= limits.radius_km) {
        if count == MOST {
            break;
        }
        // An index of more places than there are columns finds stations without a value.
        let Some(&value) = of.value.get(other).filter(|value| value.is_finite()) else { continue };
        // A value that is impossible, missing or doubtful says nothing of its neighbours.
        if other == which || of.verdict[other].base <= BaseQuality::Doubtful {
            continue;
        }
        let rise_m = match (of.sites[other].altitude_m, site.altitude_m) {
            _ if !limits.needs_altitude() => 0.0,
            (Some(theirs), Some(ours)) => theirs - ours,
            _ => continue,
        };
        if limits.max_rise_m.is_some_and(|most| rise_m.abs() > most) {
            continue;
        }
        let difference = value + lapse.unwrap_or(0.0) * rise_m - origin;
        count += 1;
        sum += difference;
        squares += difference * difference;
    }
    if count < limits.at_least {
        return None;
    }
    let n = count as f64;
    let mean = sum / n;
    let variance = ((squares - n * mean * mean) / (n - 1.0)).max(0.0);
    let deviation = libm::sqrt(variance + variance / n).max(limits.min_deviation);
    Some(Around { count, mean: origin + mean, deviation })
}

fn judge<S: Sink>(config: &CheckConfig, of: &Surroundings<'_>, which: usize, sink: &mut S) {
    let not_run = |why| (Outcome::NotRun(why), None);
    let value = of.value[which];
    let limits = config.neighbours.get(&of.variable);
    let (outcome, found) = match limits {
        None => not_run(NotRun::NoLimit),
        // Missing or impossible already.
        _ if !value.is_finite() || of.verdict[which].base <= BaseQuality::Error => {
            not_run(NotRun::Refused)
        }
        Some(limits) if limits.needs_altitude() && of.sites[which].altitude_m.is_none() => {
            not_run(NotRun::NoAltitude)
        }
        Some(limits) => match around(of, which, limits) {
            None => not_run(NotRun::TooFewNeighbours),
            Some(found) => {
                let unlike = (value - found.mean).abs() > limits.threshold * found.deviation;
                let tripped = unlike.then_some(Quality {
                    base: BaseQuality::Doubtful,
                    reason: ReasonQuality::Disagree,
                });
                (tripped.into(), Some(found))
            }
        },
    };
    sink.note(Check::Neighbours, outcome, || {
        let unit = of.variable.unit().symbol();
        let mut details = Details::default();
        details.inputs.push(input(of.variable.name(), value, unit, None));
        if let Some(found) = found {
            details.inputs.push(input("neighbours", found.count as f64, "", None));
            details.inputs.push(input("meanOfNeighbours", found.mean, unit, None));
            details.inputs.push(input("deviationOfNeighbours", found.deviation, unit, None));
        }
        if let Some(limits) = limits {
            let source = &limits.source;
            let at_least = limits.at_least as f64;
            details.limits = vec![
                limit("radius", None, Some(limits.radius_km), "km", source),
                limit("neighbours", Some(at_least), None, "", source),
                limit("standardizedDifference", None, Some(limits.threshold), "", source),
            ];
        }
        details
    });
}

pub(super) fn run(config: &CheckConfig, of: &Surroundings<'_>, out: &mut [Quality]) {
    for (which, out) in out.iter_mut().enumerate() {
        let mut tally = Tally::default();
        judge(config, of, which, &mut tally);
        *out = combined(tally, of.source[which], of.verdict[which]);
    }
}

/// The verdict so far, and this check's where it is worse. It makes an Unknown Good if it passed.
fn combined(tally: Tally, source: Quality, so_far: Quality) -> Quality {
    match so_far.base {
        _ if source.base == BaseQuality::Good => source,
        BaseQuality::Unknown => tally.verdict(so_far).0,
        _ => tally.tripped().map_or(so_far, |tripped| so_far.worse(tripped)),
    }
}

pub(super) fn explain(config: &CheckConfig, of: &Surroundings<'_>, which: usize) -> CheckReport {
    let mut reports = super::explain::Reports::default();
    judge(config, of, which, &mut reports);
    reports.only()
}

#[cfg(test)]
#[path = "neighbours_tests.rs"]
mod tests;
