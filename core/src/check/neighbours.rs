//! Neighbours: compares a value with the values of the stations around it.

use super::around::{NeighbourValue, Spot, ValueAndNeighbours};
use super::config::Config;
use super::details::{input, limit};
use super::explain::CheckReport;
use super::neighbour_limits::NeighbourLimits;
use super::outcome::{Check, CheckOutcome, Details, NotRun, Sink, Tally};
use super::{CheckError, StationSite};
use crate::derived::altimeter_hpa;
use crate::geo::StationIndex;
use crate::lengths::check_lengths;
use crate::observation::{BaseQuality, Quality, ReasonQuality, Variable};

/// The values of one variable at one time at many stations: columns of equal length, in the order
/// of the places from which the index was built.
///
/// ```
/// use mesonet::check::{Check, Checker, Neighbour, StationSite, Surroundings};
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
/// // Nearest first, each with its weight.
/// let Neighbour { place, distance_km, value, .. } = &report.neighbours[0];
/// assert!([2, 4].contains(place) && (9.9..10.1).contains(distance_km) && *value < 11.0);
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

/// The verdict on a value that is unlike those around it.
pub(crate) const DISAGREE: Quality =
    Quality { base: BaseQuality::Doubtful, reason: ReasonQuality::Disagree };

/// The number that is compared between stations: the value, or for a station pressure the altimeter
/// setting, which does not depend on the altitude. NaN if there is nothing to compare.
pub(crate) fn compared(variable: Variable, value: f64, spot: Spot) -> f64 {
    if variable == Variable::BarometricPressure {
        spot.altitude_m.and_then(|altitude_m| altimeter_hpa(value, altitude_m)).unwrap_or(f64::NAN)
    } else {
        value
    }
}

/// Whether a value can be compared only where the altitude is known.
pub(super) fn needs_altitude(variable: Variable, limits: &NeighbourLimits) -> bool {
    limits.compare.lapse_per_m.is_some() || variable == Variable::BarometricPressure
}

/// Compares a value with those of the stations near it, nearest first, without the station itself.
/// Returns the standardized difference.
fn judge<S: Sink>(
    config: &Config,
    variable: Variable,
    of: NeighbourValue,
    near: impl Iterator<Item = (usize, f64)>,
    held: impl Fn(usize) -> Option<NeighbourValue>,
    sink: &mut S,
) -> Option<f64> {
    let limits = config.neighbours.get(&variable);
    let why = match limits {
        None => NotRun::NoLimit,
        Some(limits) if needs_altitude(variable, limits) && of.spot.altitude_m.is_none() => {
            NotRun::NoAltitude
        }
        // Already missing or impossible.
        _ if !of.value.is_finite() || of.base <= BaseQuality::Error => NotRun::Refused,
        Some(limits) => {
            let found = ValueAndNeighbours::lend(of, near, held, &limits.compare, |around| {
                let outcome = around.is_unlike(limits.compare.threshold).then_some(DISAGREE).into();
                let details = || details(variable, of.value, Some(limits), Some(around));
                sink.note(Check::Neighbours, outcome, details);
                around.residual().standardized()
            });
            if found.is_some() {
                return found;
            }
            NotRun::TooFewNeighbours
        }
    };
    sink.note(Check::Neighbours, CheckOutcome::NotRun(why), || {
        details(variable, of.value, limits, None)
    });
    None
}

fn details(
    variable: Variable,
    value: f64,
    limits: Option<&NeighbourLimits>,
    found: Option<&ValueAndNeighbours>,
) -> Details {
    let unit = variable.unit().symbol();
    let altimeter = variable == Variable::BarometricPressure;
    let name = if altimeter { "altimeterSetting" } else { variable.name() };
    let mut details = Details::default();
    if value.is_finite() {
        details.inputs.push(input(name, value, unit, None));
    }
    let Some(limits) = limits else { return details };
    if let Some(found) = found {
        let residual = found.residual();
        let count = found.others.kept().count() as f64;
        details.inputs.push(input("neighbours", count, "", None));
        details.inputs.push(input("fromNeighbours", value - residual.difference, unit, None));
        details.inputs.push(input("deviation", residual.deviation, unit, None));
        details.inputs.push(input("standardizedDifference", residual.standardized(), "", None));
        details.neighbours = found.neighbours(value, limits.compare.lapse_per_m.unwrap_or(0.0));
    }
    let (source, at_least) = (&limits.source, limits.compare.at_least as f64);
    details.limits = vec![
        limit("radius", None, Some(limits.compare.radius_km), "km", source),
        limit("neighbours", Some(at_least), Some(limits.compare.nearest as f64), "", source),
        limit(
            "standardizedDifference",
            Some(-limits.compare.threshold),
            Some(limits.compare.threshold),
            "",
            source,
        ),
    ];
    details
}

/// The result of the check for a value, and the standardized difference.
pub(super) fn tally(
    config: &Config,
    variable: Variable,
    of: NeighbourValue,
    near: impl Iterator<Item = (usize, f64)>,
    held: impl Fn(usize) -> Option<NeighbourValue>,
) -> (Tally, Option<f64>) {
    let mut tally = Tally::default();
    let standardized = judge(config, variable, of, near, held, &mut tally);
    (tally, standardized)
}

/// A value compared with what its neighbours say about it.
#[cfg(feature = "store")]
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Comparison {
    /// The value minus what the neighbours say, both in the form in which they are compared.
    pub difference: f64,
    /// The same difference in standard deviations.
    pub standardized: f64,
    /// Whether the check calls the value Doubtful.
    pub is_unlike: bool,
}

#[cfg(feature = "store")]
pub(super) fn comparison(
    config: &Config,
    variable: Variable,
    of: NeighbourValue,
    near: impl Iterator<Item = (usize, f64)>,
    held: impl Fn(usize) -> Option<NeighbourValue>,
) -> Option<Comparison> {
    let limits = config.neighbours.get(&variable)?;
    if !of.value.is_finite() || (needs_altitude(variable, limits) && of.spot.altitude_m.is_none()) {
        return None;
    }
    ValueAndNeighbours::lend(of, near, held, &limits.compare, |around| {
        let residual = around.residual();
        Comparison {
            difference: residual.difference,
            standardized: residual.standardized(),
            is_unlike: around.is_unlike(limits.compare.threshold),
        }
    })
}

pub(super) fn report(
    config: &Config,
    variable: Variable,
    of: NeighbourValue,
    near: impl Iterator<Item = (usize, f64)>,
    held: impl Fn(usize) -> Option<NeighbourValue>,
) -> CheckReport {
    let mut reports = super::explain::Reports::default();
    judge(config, variable, of, near, held, &mut reports);
    reports.only()
}

impl Surroundings<'_> {
    /// The value of a station. An index with more places than there are columns finds stations
    /// without a value.
    fn held(&self, which: usize) -> Option<NeighbourValue> {
        let StationSite { coordinates, altitude_m } = *self.sites.get(which)?;
        let spot = Spot::new(coordinates, altitude_m);
        Some(NeighbourValue {
            value: compared(self.variable, self.value[which], spot),
            spot,
            base: self.verdict[which].base,
            unsure_hours: 0.0,
        })
    }

    fn near(&self, which: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let near = self.index.nearest(self.sites[which].coordinates);
        near.filter(move |&(other, _)| other != which)
    }
}

pub(super) fn run(config: &Config, of: &Surroundings<'_>, out: &mut [Quality]) {
    for (which, out) in out.iter_mut().enumerate() {
        let Some(held) = of.held(which) else { continue };
        let (tally, _) = tally(config, of.variable, held, of.near(which), |other| of.held(other));
        *out = combined(tally, of.source[which], of.verdict[which]);
    }
}

/// The verdict so far, or this check's if it is worse. If the check passed, an Unknown becomes
/// Good.
pub(crate) fn combined(tally: Tally, source: Quality, so_far: Quality) -> Quality {
    match so_far.base {
        // Only a physical limit can override a source's Good.
        _ if source.base == BaseQuality::Good => source.worse(so_far),
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

#[cfg(test)]
#[path = "neighbours_real_tests.rs"]
mod real_tests;
