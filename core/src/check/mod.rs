//! Quality checks: a verdict for every reading, and why.
//!
//! Each check is a pure function in the file of its family. The limits are data with their sources
//! (`limits.toml`). [`Check`] holds the order of the checks, and `outcome.rs` how they combine. The
//! rules in prose, and the limits as tables, are in `docs/quality.md`.

mod around;
mod beside;
mod change_limits;
mod config;
mod consistency;
mod details;
mod explain;
mod interpolation;
mod jump;
mod limits;
#[cfg(feature = "store")]
mod neighbour_change;
mod neighbour_limits;
mod neighbours;
mod one_series;
mod outcome;
mod persistence;
mod physical;
mod range;
mod relation;
#[cfg(feature = "store")]
mod single;
mod station;
mod step;
mod value;
mod witness;

#[cfg(feature = "store")]
pub(crate) use around::{NeighbourValue, Spot, counts};
pub use config::{CheckConfigError, Config, DEFAULT_LIMITS_TOML};
pub use explain::{CheckReport, Explanation};
#[cfg(feature = "store")]
pub(crate) use neighbour_change::{ChangeInput, ChangeRule, Difference, Unshared, lasting};
pub use neighbours::Surroundings;
#[cfg(feature = "store")]
pub(crate) use neighbours::{Comparison, DISAGREE, combined, compared};
pub(crate) use one_series::OneSeries;
pub use outcome::{Check, Input, Limit, Neighbour, NotRun};
#[cfg(feature = "store")]
pub(crate) use outcome::{OwnVerdict, Tally};
#[cfg(feature = "store")]
pub(crate) use single::NeighbourRule;
pub(crate) use station::Pass;
#[cfg(feature = "store")]
pub(crate) use value::without_value;

use std::borrow::Cow;
use std::sync::LazyLock;

use crate::geo::LonLat;
use crate::lengths::check_lengths;
use crate::observation::{Quality, SeriesKey, Station, Variable};

/// The location of a station, as the checks need it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StationSite {
    /// Place.
    pub coordinates: LonLat,
    /// Altitude above mean sea level, if known.
    pub altitude_m: Option<f64>,
}

impl From<&Station> for StationSite {
    fn from(station: &Station) -> Self {
        Self { coordinates: station.coordinates, altitude_m: station.altitude_m }
    }
}

/// The readings of one series at one station: columns of equal length, ascending in time.
#[derive(Clone, Copy, Debug)]
pub struct SeriesReadings<'a> {
    /// The series.
    pub key: &'a SeriesKey,
    /// Times, milliseconds since 1970; each later than the one before.
    pub ts_ms: &'a [i64],
    /// Values, in the series' unit.
    pub value: &'a [f64],
    /// The source's verdicts: [`Quality::UNCHECKED`] where the source gave none; empty if it gave
    /// none at all.
    pub source: &'a [Quality],
}

/// How far back and ahead the verdict on a reading depends on other readings.
///
/// A new reading, late or corrected, can change the verdicts from `ahead_ms` before it to `back_ms`
/// after it. To recompute these, check the readings from `back_ms` before the first of them to
/// `ahead_ms` after the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reach {
    /// How far back.
    pub back_ms: i64,
    /// How far ahead.
    pub ahead_ms: i64,
}

/// Columns that are not a valid series, or that do not match.
///
/// ```
/// use mesonet::check::{CheckError, Checker, SeriesReadings, StationSite};
/// use mesonet::{IntervalType, LonLat, Quality, SeriesKey, Variable};
/// let key = SeriesKey::new(Variable::AirTemperature, IntervalType::Instantaneous, 0);
/// let site = StationSite { coordinates: LonLat::new(-135.07, 60.71)?, altitude_m: Some(706.0) };
/// let mut verdicts = [Quality::UNCHECKED; 2];
/// let mut check = |ts_ms: &[i64]| {
///     let air = SeriesReadings { key: &key, ts_ms, value: &[-12.0, -11.5], source: &[] };
///     Checker::shared().check_station_into(&site, &[air], &mut [&mut verdicts])
/// };
/// assert_eq!(check(&[3_600_000, 0]), Err(CheckError::Order { series: 0, reading: 1 }));
/// assert_eq!(check(&[0, 3_600_000]), Ok(()));
/// assert_eq!(verdicts, [Quality::GOOD; 2]);
/// # Ok::<(), mesonet::geo::GeoError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CheckError {
    /// Columns of different lengths.
    #[error("series {series}: array lengths must match; got {lengths}")]
    Length {
        /// Place of the series in the list.
        series: usize,
        /// The length of each column.
        lengths: String,
    },
    /// Times that do not ascend.
    #[error(
        "series {series}: times must ascend; reading {reading} is not later than the one before"
    )]
    Order {
        /// Place of the series in the list.
        series: usize,
        /// Place of the reading in the series.
        reading: usize,
    },
    /// A reading that does not exist.
    #[error("reading {reading} of series {series} is not among the readings given")]
    NoSuchReading {
        /// Place of the series in the list.
        series: usize,
        /// Place of the reading in the series.
        reading: usize,
    },
    /// Columns of stations with different lengths.
    #[error("array lengths must match; got {0}")]
    Stations(String),
}

/// Runs the checks.
///
/// The verdicts are a pure function of the set of readings. The same set has the same verdicts in
/// any order of arrival, including late readings and corrections.
///
/// ```
/// use mesonet::{BaseQuality, IntervalType, LonLat, SeriesKey, Variable};
/// use mesonet::check::{Checker, SeriesReadings, StationSite};
/// use mesonet::time::HOUR_MS;
/// let key = SeriesKey::new(Variable::AirTemperature, IntervalType::Instantaneous, 0);
/// let air = SeriesReadings {
///     key: &key,
///     ts_ms: &[0, HOUR_MS, 2 * HOUR_MS],
///     value: &[-12.0, -11.5, 140.0],
///     source: &[],
/// };
/// let site = StationSite { coordinates: LonLat::new(-135.07, 60.71)?, altitude_m: Some(706.0) };
/// let verdicts = Checker::shared().check_station(&site, &[air])?;
/// let bases: Vec<_> = verdicts[0].iter().map(|verdict| verdict.base).collect();
/// assert_eq!(bases, [BaseQuality::Good, BaseQuality::Good, BaseQuality::Error]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Checker {
    config: Config,
}

impl Default for Checker {
    /// A checker with the default limits.
    fn default() -> Self {
        Self::shared().clone()
    }
}

impl Checker {
    /// A checker with these limits.
    pub fn new(config: Config) -> Self {
        Self { config }
    }

    /// Returns the checker with the default limits, whose text is parsed once per process.
    pub fn shared() -> &'static Self {
        static SHARED: LazyLock<Checker> = LazyLock::new(|| Checker::new(Config::default()));
        &SHARED
    }

    /// Returns a checker with the entries of a TOML text in place of the default limits of the same
    /// names, as [`Config::from_toml`] reads them; without a text, the shared one.
    ///
    /// # Errors
    /// If the text is not TOML or its limits are invalid.
    ///
    /// ```
    /// use mesonet::check::Checker;
    /// assert_eq!(*Checker::with_limits(None)?, *Checker::shared());
    /// let error = Checker::with_limits(Some("[range.wind]")).unwrap_err();
    /// assert!(error.to_string().starts_with("line 1 of the limits: "));
    /// # Ok::<(), mesonet::check::CheckConfigError>(())
    /// ```
    pub fn with_limits(limits_toml: Option<&str>) -> Result<Cow<'static, Self>, CheckConfigError> {
        Ok(match limits_toml {
            None => Cow::Borrowed(Self::shared()),
            Some(text) => Cow::Owned(Self::new(Config::from_toml(text)?)),
        })
    }

    /// The limits.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The variables that are compared with neighbouring stations.
    pub fn neighbour_variables(&self) -> impl Iterator<Item = Variable> {
        self.config.neighbours.keys().copied()
    }

    /// The greatest distance between stations that are compared; 0 if none are.
    pub fn neighbour_radius_km(&self) -> f64 {
        self.config.neighbours.values().map(|limits| limits.compare.radius_km).fold(0.0, f64::max)
    }

    /// How far back and ahead the verdict on a reading depends on other readings: with the default
    /// limits, seven days back, for persistence, and three hours ahead, for spikes.
    ///
    /// ```
    /// use mesonet::check::Checker;
    /// use mesonet::{Variable, time::{DAY_MS, HOUR_MS}};
    /// let checker = Checker::shared();
    /// assert_eq!((checker.reach().back_ms, checker.reach().ahead_ms), (7 * DAY_MS, 3 * HOUR_MS));
    /// assert!(checker.neighbour_variables().any(|variable| variable == Variable::Mslp));
    /// assert_eq!(checker.neighbour_radius_km(), 500.0);
    /// assert_eq!(*checker.config(), mesonet::check::Config::default());
    /// ```
    pub fn reach(&self) -> Reach {
        let Config { spike, step, jump, persistence, .. } = &self.config;
        let greatest = |spans: &mut dyn Iterator<Item = i64>| spans.max().unwrap_or(0);
        let spike_ms = greatest(&mut spike.values().map(|limits| limits.curve.reach_ms()));
        let step_ms = greatest(&mut step.values().flat_map(|limits| {
            let curves = [&limits.doubtful, &limits.instrumentation];
            curves.into_iter().flatten().map(limits::Curve::reach_ms)
        }));
        let stuck_ms = greatest(&mut persistence.values().map(|limits| limits.window_ms));
        // A jump is remembered. It is judged by the history before it. A change that takes back an
        // earlier jump is not a jump.
        let jump_ms = greatest(&mut jump.values().map(|limits| {
            let before_ms = limits.history_ms.max(2 * limits.hold_ms + limits.curve.reach_ms());
            limits.hold_ms + before_ms
        }));
        // A change starts from a reading that is not a spike; whether it is one depends on the
        // readings before it.
        let change_ms = step_ms.max(jump_ms) + spike_ms;
        Reach { back_ms: stuck_ms.max(change_ms), ahead_ms: spike_ms }
    }

    /// Runs all checks, except the neighbour checks, on all series of one station. Returns one
    /// verdict for each reading, as `verdicts[series][reading]`.
    ///
    /// A calculated series is checked like any other; the quality of its inputs is given as its
    /// `source`.
    ///
    /// # Errors
    /// If the columns of a series differ in length or its times do not ascend.
    pub fn check_station(
        &self,
        site: &StationSite,
        series: &[SeriesReadings<'_>],
    ) -> Result<Vec<Vec<Quality>>, CheckError> {
        let mut verdicts: Vec<_> =
            series.iter().map(|of| vec![Quality::UNCHECKED; of.ts_ms.len()]).collect();
        let mut out: Vec<_> = verdicts.iter_mut().map(Vec::as_mut_slice).collect();
        self.check_station_into(site, series, &mut out)?;
        Ok(verdicts)
    }

    /// Like [`check_station`](Self::check_station), but writes the verdicts into the caller's
    /// buffers, one for each series.
    ///
    /// # Errors
    /// As [`check_station`](Self::check_station), or if a buffer does not have the length of its
    /// series; no verdict is written.
    pub fn check_station_into(
        &self,
        site: &StationSite,
        series: &[SeriesReadings<'_>],
        verdicts: &mut [&mut [Quality]],
    ) -> Result<(), CheckError> {
        check_columns(series)?;
        for i in 0..series.len().max(verdicts.len()) {
            let readings = series.get(i).map_or(0, |of| of.ts_ms.len());
            let room = verdicts.get(i).map_or(0, |verdicts| verdicts.len());
            check_lengths(&[("times", readings), ("verdicts", room)])
                .map_err(|lengths| CheckError::Length { series: i, lengths })?;
        }
        let all: Vec<_> = series.iter().map(|of| 0..of.ts_ms.len()).collect();
        self.pass(site, series)
            .run(&all, |which, reading, own| verdicts[which][reading] = own.verdict);
        Ok(())
    }

    /// The checks of one station over readings stored anywhere. Only some of the readings are
    /// judged.
    pub(crate) fn pass<'a, R: OneSeries>(
        &'a self,
        site: &'a StationSite,
        series: &'a [R],
    ) -> Pass<'a, R> {
        Pass::new(&self.config, site, series)
    }

    /// The result of each check for one reading: the same checks in the same order as
    /// [`check_station`](Self::check_station), with their inputs and limits.
    ///
    /// # Errors
    /// If columns do not match or do not ascend, or if the reading does not exist.
    pub fn explain(
        &self,
        site: &StationSite,
        series: &[SeriesReadings<'_>],
        which_series: usize,
        which_reading: usize,
    ) -> Result<Explanation, CheckError> {
        check_columns(series)?;
        if series.get(which_series).is_none_or(|of| which_reading >= of.ts_ms.len()) {
            return Err(CheckError::NoSuchReading { series: which_series, reading: which_reading });
        }
        Ok(self.explain_reading(site, series, which_series, which_reading))
    }

    /// [`explain`](Self::explain) for a reading known to exist.
    pub(crate) fn explain_reading<R: OneSeries>(
        &self,
        site: &StationSite,
        series: &[R],
        which_series: usize,
        which_reading: usize,
    ) -> Explanation {
        explain::explain(&self.pass(site, series), which_series, which_reading)
    }

    /// Runs the neighbour check: one variable at one time over many stations. `out` receives the
    /// verdicts so far; for a value that is unlike those around it, Doubtful, Disagree replaces a
    /// better verdict. The check never says Error.
    ///
    /// # Errors
    /// If columns have different lengths; no verdict is written.
    pub fn check_neighbours(
        &self,
        surroundings: &Surroundings<'_>,
        out: &mut [Quality],
    ) -> Result<(), CheckError> {
        surroundings.check(out.len())?;
        neighbours::run(&self.config, surroundings, out);
        Ok(())
    }

    /// The result of the neighbour check for the value of one station; for [`Explanation::add`].
    ///
    /// # Errors
    /// If columns have different lengths, or if the station does not exist.
    pub fn explain_neighbours(
        &self,
        surroundings: &Surroundings<'_>,
        which_station: usize,
    ) -> Result<CheckReport, CheckError> {
        surroundings.check(surroundings.value.len())?;
        neighbours::explain(&self.config, surroundings, which_station)
            .ok_or(CheckError::NoSuchReading { series: 0, reading: which_station })
    }
}

pub(crate) fn check_columns(series: &[SeriesReadings<'_>]) -> Result<(), CheckError> {
    for (series, SeriesReadings { ts_ms, value, source, .. }) in series.iter().enumerate() {
        let lengths =
            [("times", ts_ms.len()), ("values", value.len()), ("source verdicts", source.len())];
        let given = if source.is_empty() { &lengths[..2] } else { &lengths };
        check_lengths(given).map_err(|lengths| CheckError::Length { series, lengths })?;
        if let Some(before) = ts_ms.windows(2).position(|pair| pair[0] >= pair[1]) {
            return Err(CheckError::Order { series, reading: before + 1 });
        }
    }
    Ok(())
}

#[cfg(test)]
mod property_tests;
#[cfg(test)]
mod tables_tests;
#[cfg(test)]
#[path = "check_tests.rs"]
mod tests;
