//! Neighbours: a value against those of the stations around it.

use super::config::Config;
use super::details::{input, limit};
use super::explain::CheckReport;
use super::limits::NeighbourLimits;
use super::outcome::{Check, Details, NotRun, Outcome, Sink, Tally};
use super::{CheckError, StationSite};
use crate::geo::StationIndex;
use crate::lengths::check_lengths;
use crate::observation::{BaseQuality, Quality, ReasonQuality, Variable};

/// The values of one variable at one time at many stations: columns of equal length, in the order
/// of the places from which the index was built.
///
/// ```
/// use mesonet::check::{Check, Checker, StationSite, Surroundings};
/// use mesonet::{BaseQuality, LonLat, Quality, Variable, geo::StationIndex};
/// // Seven stations in a row, 10 km apart, of which one reports 60 °C.
/// let places = (0..7).map(|i| LonLat::new(-100.0, 45.0 + f64::from(i) * 0.09));
/// let places = places.collect::<Result<Vec<_>, _>>()?;
/// let sites: Vec<_> = places
///     .iter()
///     .map(|&coordinates| StationSite { coordinates, altitude_m: Some(200.0) })
///     .collect();
/// let surroundings = Surroundings {
///     variable: Variable::AirTemperature,
///     sites: &sites,
///     index: &StationIndex::new(places),
///     value: &[10.0, 11.0, 9.0, 60.0, 10.5, 9.5, 10.0],
///     source: &[Quality::UNCHECKED; 7],
///     verdict: &[Quality::GOOD; 7],
/// };
/// let mut verdicts = [Quality::GOOD; 7];
/// Checker::shared().check_neighbours(&surroundings, &mut verdicts)?;
/// assert_eq!((verdicts[2], verdicts[3].base), (Quality::GOOD, BaseQuality::Doubtful));
/// let report = Checker::shared().explain_neighbours(&surroundings, 3)?;
/// assert_eq!((report.check, report.outcome), (Check::Neighbours, Some(verdicts[3])));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Surroundings<'a> {
    /// The variable; the values are in its unit.
    pub variable: Variable,
    /// The stations.
    pub sites: &'a [StationSite],
    /// The index of the stations by place.
    pub index: &'a StationIndex,
    /// Values; NaN for a station without one.
    pub value: &'a [f64],
    /// The sources' verdicts.
    pub source: &'a [Quality],
    /// The verdicts so far, from [`Checker::check_station`](super::Checker::check_station).
    pub verdict: &'a [Quality],
}

impl Surroundings<'_> {
    pub(super) fn check(&self, out: usize) -> Result<(), CheckError> {
        let Self { sites, value, source, verdict, .. } = self;
        let lengths = [
            ("sites", sites.len()),
            ("values", value.len()),
            ("source verdicts", source.len()),
            ("verdicts", verdict.len()),
            ("output", out),
        ];
        check_lengths(&lengths).map_err(CheckError::Stations)
    }
}

/// The neighbours of a value: how many, their mean, and the deviation of a value from it.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Around {
    count: usize,
    mean: f64,
    deviation: f64,
}

/// The value of one station, as it is compared with others and others with it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Held {
    /// The value; NaN if there is none.
    pub value: f64,
    pub altitude_m: Option<f64>,
    /// The verdict without the neighbours.
    pub base: BaseQuality,
}

/// The verdict on a value that is unlike those around it.
pub(crate) const DISAGREE: Quality =
    Quality { base: BaseQuality::Doubtful, reason: ReasonQuality::Disagree };

/// Mean and deviation of the values around a station, adjusted to its altitude; `None` with fewer
/// than the limits require. At most the nearest fifty are used: more add nothing.
///
/// The deviation is that of a single value from the mean of n: √(s² + s²/n), as in titanlib,
/// and at least the minimum of the limits.
fn around(
    of: Held,
    near: impl Iterator<Item = (usize, f64)>,
    held: impl Fn(usize) -> Option<Held>,
    limits: &NeighbourLimits,
) -> Option<Around> {
    const MOST: usize = 50;
    let lapse = limits.lapse_per_m;
    let (mut count, mut sum, mut squares) = (0_usize, 0.0, 0.0);
    // Sums of differences from the value itself: squares of values around 1000 hPa lose digits.
    let origin = of.value;
    for (other, _) in near.take_while(|&(_, distance_km)| distance_km <= limits.radius_km) {
        if count == MOST {
            break;
        }
        let Some(other) = held(other).filter(|other| other.value.is_finite()) else { continue };
        // A value that is impossible, missing or doubtful says nothing about its neighbours.
        if other.base <= BaseQuality::Doubtful {
            continue;
        }
        let rise_m = match (other.altitude_m, of.altitude_m) {
            _ if !limits.needs_altitude() => 0.0,
            (Some(theirs), Some(ours)) => theirs - ours,
            _ => continue,
        };
        if limits.max_rise_m.is_some_and(|most| rise_m.abs() > most) {
            continue;
        }
        let difference = other.value + lapse.unwrap_or(0.0) * rise_m - origin;
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

/// Compares a value with those of the stations near it, nearest first, without the station itself.
fn judge<S: Sink>(
    config: &Config,
    variable: Variable,
    of: Held,
    near: impl Iterator<Item = (usize, f64)>,
    held: impl Fn(usize) -> Option<Held>,
    sink: &mut S,
) {
    let not_run = |why| (Outcome::NotRun(why), None);
    let value = of.value;
    let limits = config.neighbours.get(&variable);
    let (outcome, found) = match limits {
        None => not_run(NotRun::NoLimit),
        // Already missing or impossible.
        _ if !value.is_finite() || of.base <= BaseQuality::Error => not_run(NotRun::Refused),
        Some(limits) if limits.needs_altitude() && of.altitude_m.is_none() => {
            not_run(NotRun::NoAltitude)
        }
        Some(limits) => match around(of, near, held, limits) {
            None => not_run(NotRun::TooFewNeighbours),
            Some(found) => {
                let unlike = (value - found.mean).abs() > limits.threshold * found.deviation;
                (unlike.then_some(DISAGREE).into(), Some(found))
            }
        },
    };
    sink.note(Check::Neighbours, outcome, || {
        let unit = variable.unit().symbol();
        let mut details = Details::default();
        details.inputs.push(input(variable.name(), value, unit, None));
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

/// What the check found about a value.
pub(super) fn tally(
    config: &Config,
    variable: Variable,
    of: Held,
    near: impl Iterator<Item = (usize, f64)>,
    held: impl Fn(usize) -> Option<Held>,
) -> Tally {
    let mut tally = Tally::default();
    judge(config, variable, of, near, held, &mut tally);
    tally
}

pub(super) fn report(
    config: &Config,
    variable: Variable,
    of: Held,
    near: impl Iterator<Item = (usize, f64)>,
    held: impl Fn(usize) -> Option<Held>,
) -> CheckReport {
    let mut reports = super::explain::Reports::default();
    judge(config, variable, of, near, held, &mut reports);
    reports.only()
}

impl Surroundings<'_> {
    /// The value of a station. An index with more places than there are columns finds stations
    /// without a value.
    fn held(&self, which: usize) -> Option<Held> {
        let altitude_m = self.sites.get(which)?.altitude_m;
        Some(Held { value: self.value[which], altitude_m, base: self.verdict[which].base })
    }

    fn near(&self, which: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let near = self.index.nearest(self.sites[which].coordinates);
        near.filter(move |&(other, _)| other != which)
    }
}

pub(super) fn run(config: &Config, of: &Surroundings<'_>, out: &mut [Quality]) {
    for (which, out) in out.iter_mut().enumerate() {
        let Some(held) = of.held(which) else { continue };
        let tally = tally(config, of.variable, held, of.near(which), |other| of.held(other));
        *out = combined(tally, of.source[which], of.verdict[which]);
    }
}

/// The verdict so far, or this check's if it is worse. If the check passed, an Unknown becomes
/// Good.
pub(crate) fn combined(tally: Tally, source: Quality, so_far: Quality) -> Quality {
    match so_far.base {
        _ if source.base == BaseQuality::Good => source,
        BaseQuality::Unknown => tally.verdict(so_far).0,
        _ => tally.tripped().map_or(so_far, |tripped| so_far.worse(tripped)),
    }
}

pub(super) fn explain(config: &Config, of: &Surroundings<'_>, which: usize) -> Option<CheckReport> {
    let held = of.held(which)?;
    Some(report(config, of.variable, held, of.near(which), |other| of.held(other)))
}

#[cfg(test)]
#[path = "neighbours_tests.rs"]
mod tests;
