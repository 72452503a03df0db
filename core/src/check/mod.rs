//! Quality checks: a verdict for every reading, and why.
//!
//! Each check is a pure function in a file of its family; the limits are data with their sources
//! (`limits.toml`); [`Check`] holds their order and `outcome.rs` how they combine. The rules in
//! prose, and the limits as tables, stand in `docs/quality.md`.

mod config;
mod consistency;
mod explain;
mod limits;
mod neighbours;
mod outcome;
mod persistence;
mod range;
mod readings;
mod relation;
mod station;
mod step;
mod value;

pub use config::{CheckConfig, CheckConfigError, DEFAULT_LIMITS_TOML};
pub use explain::{CheckReport, Explanation};
pub use neighbours::Surroundings;
pub(crate) use neighbours::{DISAGREE, Held, combined};
pub(crate) use outcome::Tally;
pub use outcome::{Check, CheckInput, CheckLimit, NotRun};
pub(crate) use readings::Readings;
pub(crate) use station::Pass;

use crate::geo::LonLat;
use crate::quality::Quality;
use crate::series::SeriesKey;
use crate::station::Station;
use crate::variable::Variable;

/// Where a station stands, as the checks need it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StationSite {
    /// Place.
    pub coordinates: LonLat,
    /// Altitude above mean sea level, where it is known.
    pub altitude_m: Option<f64>,
}

impl From<&Station> for StationSite {
    fn from(station: &Station) -> Self {
        Self { coordinates: station.coordinates, altitude_m: station.altitude_m }
    }
}

/// The readings of one series at one station: columns of one length, ascending in time.
#[derive(Clone, Copy, Debug)]
pub struct SeriesReadings<'a> {
    /// The series.
    pub key: &'a SeriesKey,
    /// Times, milliseconds since 1970; each after the one before.
    pub ts_ms: &'a [i64],
    /// Values, in the series' unit.
    pub value: &'a [f64],
    /// What the source said of them; [`Quality::UNCHECKED`] where it said nothing.
    pub source: &'a [Quality],
}

/// How far from a reading the readings lie that its verdict depends on.
///
/// A reading that comes in, late or corrected, can change the verdicts from `ahead_ms` before it to
/// `back_ms` after it; to get them right again, check the readings from `back_ms` before the first
/// of those to `ahead_ms` after the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reach {
    /// How far back.
    pub back_ms: i64,
    /// How far ahead.
    pub ahead_ms: i64,
}

/// Columns that are no series, or that do not go together.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CheckError {
    /// Columns of different lengths.
    #[error(
        "series {series}: times, values, source verdicts and verdicts must be as many; got \
         {ts_ms}, {value}, {source_verdicts} and {verdicts}"
    )]
    Length {
        /// Place of the series in the list.
        series: usize,
        /// Times.
        ts_ms: usize,
        /// Values.
        value: usize,
        /// Verdicts of the source.
        source_verdicts: usize,
        /// Places for verdicts.
        verdicts: usize,
    },
    /// Not one column of verdicts for each series.
    #[error("{series} series must have as many columns of verdicts; got {verdicts}")]
    Series {
        /// Series.
        series: usize,
        /// Columns of verdicts.
        verdicts: usize,
    },
    /// Times that do not ascend.
    #[error("series {series}: times must ascend; reading {reading} is not after the one before")]
    Order {
        /// Place of the series in the list.
        series: usize,
        /// Place of the reading in the series.
        reading: usize,
    },
    /// A reading that is not there.
    #[error("reading {reading} of series {series} is not among the readings given")]
    NoSuchReading {
        /// Place of the series in the list.
        series: usize,
        /// Place of the reading in the series.
        reading: usize,
    },
    /// Columns of stations of different lengths.
    #[error(
        "sites, values, source verdicts, verdicts and places for them must be as many; got {0:?}"
    )]
    Stations([usize; 5]),
}

/// Runs the checks.
///
/// The verdicts are a pure function of the set of readings that is given: whatever the order in
/// which readings, late ones and corrections arrived, the same set has the same verdicts.
///
/// ```
/// use mesonet::{
///     BaseQuality, Checker, HOUR_MS, IntervalType, LonLat, Quality, SeriesKey, SeriesReadings,
///     StationSite, Variable,
/// };
/// let key = SeriesKey::new(Variable::AirTemperature, IntervalType::Instantaneous, 0);
/// let air = SeriesReadings {
///     key: &key,
///     ts_ms: &[0, HOUR_MS, 2 * HOUR_MS],
///     value: &[-12.0, -11.5, 140.0],
///     source: &[Quality::UNCHECKED; 3],
/// };
/// let site = StationSite { coordinates: LonLat::new(-135.07, 60.71)?, altitude_m: Some(706.0) };
/// let mut verdicts = [Quality::UNCHECKED; 3];
/// Checker::default().check_station(&site, &[air], &mut [&mut verdicts])?;
/// let bases = verdicts.map(|verdict| verdict.base);
/// assert_eq!(bases, [BaseQuality::Good, BaseQuality::Good, BaseQuality::Error]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Checker {
    config: CheckConfig,
}

impl Checker {
    /// A checker with these limits.
    pub fn new(config: CheckConfig) -> Self {
        Self { config }
    }

    /// Its limits.
    pub fn config(&self) -> &CheckConfig {
        &self.config
    }

    /// The variables that are held against the stations around.
    pub fn neighbour_variables(&self) -> impl Iterator<Item = Variable> {
        self.config.neighbours.keys().copied()
    }

    /// The greatest distance of a station that another is held against; 0 where none is.
    pub fn neighbour_radius_km(&self) -> f64 {
        self.config.neighbours.values().map(|limits| limits.radius_km).fold(0.0, f64::max)
    }

    /// How far from a reading the readings lie that its verdict depends on: of the limits that ship
    /// seven days back, for persistence, and three hours ahead, for spikes.
    pub fn reach(&self) -> Reach {
        let CheckConfig { spike, step, persistence, .. } = &self.config;
        let greatest = |spans: &mut dyn Iterator<Item = i64>| spans.max().unwrap_or(0);
        let spike_ms = greatest(&mut spike.values().map(|limits| limits.curve.reach_ms()));
        let step_ms = greatest(&mut step.values().flat_map(|limits| {
            let curves = [&limits.doubtful, &limits.instrumentation];
            curves.into_iter().flatten().map(limits::Curve::reach_ms)
        }));
        let stuck_ms = greatest(&mut persistence.values().map(|limits| limits.window_ms));
        // The step goes from a reading that is no spike, which depends on the ones before that.
        Reach { back_ms: stuck_ms.max(step_ms + spike_ms), ahead_ms: spike_ms }
    }

    /// All checks but that of the neighbours, over all series of one station: one verdict for each
    /// reading, in `verdicts[series][reading]`.
    ///
    /// A calculated series is checked like any other; what its inputs are worth goes in as its
    /// `source`.
    ///
    /// # Errors
    /// Columns that do not go together or do not ascend: no verdict is written.
    pub fn check_station(
        &self,
        site: &StationSite,
        series: &[SeriesReadings<'_>],
        verdicts: &mut [&mut [Quality]],
    ) -> Result<(), CheckError> {
        if series.len() != verdicts.len() {
            return Err(CheckError::Series { series: series.len(), verdicts: verdicts.len() });
        }
        for (i, (of, verdicts)) in series.iter().zip(&*verdicts).enumerate() {
            of.check(i, verdicts.len())?;
        }
        let all: Vec<_> = series.iter().map(|of| 0..of.ts_ms.len()).collect();
        self.pass(site, series)
            .run(&all, |which, reading, verdict| verdicts[which][reading] = verdict);
        Ok(())
    }

    /// The checks of one station over readings that lie anywhere, of which only some are judged.
    pub(crate) fn pass<'a, R: Readings>(
        &'a self,
        site: &'a StationSite,
        series: &'a [R],
    ) -> Pass<'a, R> {
        Pass::new(&self.config, site, series)
    }

    /// What each check found out about one reading: the same checks in the same order as
    /// [`check_station`](Self::check_station), with their inputs and limits.
    ///
    /// # Errors
    /// Columns that do not go together or do not ascend, or a reading that is not there.
    pub fn explain(
        &self,
        site: &StationSite,
        series: &[SeriesReadings<'_>],
        which_series: usize,
        which_reading: usize,
    ) -> Result<Explanation, CheckError> {
        for (i, of) in series.iter().enumerate() {
            of.check(i, of.ts_ms.len())?;
        }
        if series.get(which_series).is_none_or(|of| which_reading >= of.ts_ms.len()) {
            return Err(CheckError::NoSuchReading { series: which_series, reading: which_reading });
        }
        Ok(self.explain_reading(site, series, which_series, which_reading))
    }

    /// [`explain`](Self::explain) for a reading that is there.
    pub(crate) fn explain_reading<R: Readings>(
        &self,
        site: &StationSite,
        series: &[R],
        which_series: usize,
        which_reading: usize,
    ) -> Explanation {
        explain::explain(&self.pass(site, series), which_series, which_reading)
    }

    /// The check of the neighbours: one variable at one time over many stations. `out` gets the
    /// verdicts so far, and Doubtful, Disagree where a better one stood on a value that is unlike
    /// those around. It never says Error.
    ///
    /// # Errors
    /// Columns of different lengths: no verdict is written.
    pub fn check_neighbours(
        &self,
        surroundings: &Surroundings<'_>,
        out: &mut [Quality],
    ) -> Result<(), CheckError> {
        surroundings.check(out.len())?;
        neighbours::run(&self.config, surroundings, out);
        Ok(())
    }

    /// What the check of the neighbours found out about the value of one station; for
    /// [`Explanation::add`].
    ///
    /// # Errors
    /// Columns of different lengths, or a station that is not there.
    pub fn explain_neighbours(
        &self,
        surroundings: &Surroundings<'_>,
        which_station: usize,
    ) -> Result<CheckReport, CheckError> {
        surroundings.check(surroundings.value.len())?;
        neighbours::explain(&self.config, surroundings, which_station)
            .ok_or(CheckError::NoSuchReading { series: 0, reading: which_station })
    }

    /// The check of the neighbours on one value: `near` are the stations around it and their
    /// distances in km, from the nearest on, and `held` gives their values.
    pub(crate) fn check_held(
        &self,
        variable: Variable,
        of: Held,
        near: impl Iterator<Item = (usize, f64)>,
        held: impl Fn(usize) -> Option<Held>,
    ) -> Tally {
        neighbours::tally(&self.config, variable, of, near, held)
    }

    /// What [`check_held`](Self::check_held) found out.
    pub(crate) fn explain_held(
        &self,
        variable: Variable,
        of: Held,
        near: impl Iterator<Item = (usize, f64)>,
        held: impl Fn(usize) -> Option<Held>,
    ) -> CheckReport {
        neighbours::report(&self.config, variable, of, near, held)
    }

    /// Whether every value of a variable, in its unit, is judged by a check that needs no other.
    pub(crate) fn is_judged_alone(
        &self,
        variable: Variable,
        site: &StationSite,
        ts_ms: i64,
    ) -> bool {
        let CheckConfig { range, record, .. } = &self.config;
        let band = range
            .get(&variable)
            .and_then(|limits| range::Seasons::new(limits, site.coordinates.lat()).at(ts_ms));
        band.is_some() || record.contains_key(&variable)
    }
}

impl SeriesReadings<'_> {
    fn check(&self, series: usize, verdicts: usize) -> Result<(), CheckError> {
        let Self { ts_ms, value, source, .. } = self;
        if [value.len(), source.len(), verdicts] != [ts_ms.len(); 3] {
            return Err(CheckError::Length {
                series,
                ts_ms: ts_ms.len(),
                value: value.len(),
                source_verdicts: source.len(),
                verdicts,
            });
        }
        match ts_ms.windows(2).position(|pair| pair[0] >= pair[1]) {
            Some(before) => Err(CheckError::Order { series, reading: before + 1 }),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod property_tests;
#[cfg(test)]
mod tables_tests;
#[cfg(test)]
#[path = "check_tests.rs"]
mod tests;
