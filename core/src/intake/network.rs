//! The verdicts on the readings of a whole network, without a store.

use std::collections::HashSet;

use super::Intake;
use crate::check::{CheckError, Explanation, SeriesReadings, StationSite, check_columns};
use crate::observation::{
    Batch, EarlierPlaces, Identifiers, Quality, Reading, Report, SeriesId, Station, StationId,
    Variable,
};
use crate::store::{MemoryStore, Reader, Selection, StoreError};
use crate::time::ClosedWindow;

/// How many readings are taken in at once.
const AT_ONCE: usize = 50_000;

/// A station of a network and its series.
#[derive(Clone, Copy, Debug)]
pub struct NetworkStation<'a> {
    /// Where it is.
    pub site: StationSite,
    /// Its series, each with a different key.
    pub series: &'a [SeriesReadings<'a>],
}

/// A network that cannot be checked.
///
/// ```
/// use mesonet::intake::{Intake, NetworkError, NetworkStation};
/// use mesonet::check::{SeriesReadings, StationSite};
/// use mesonet::{IntervalType, LonLat, SeriesKey, Variable};
/// let key = SeriesKey::new(Variable::AirTemperature, IntervalType::Instantaneous, 0);
/// let twice = [SeriesReadings { key: &key, ts_ms: &[0], value: &[1.0], source: &[] }; 2];
/// let site = StationSite { coordinates: LonLat::new(-100.0, 45.0)?, altitude_m: None };
/// let error = Intake::default().check_network(&[NetworkStation { site, series: &twice }]);
/// assert!(matches!(error, Err(NetworkError::Twice { station: 0, series: 1 })));
/// # Ok::<(), mesonet::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum NetworkError {
    /// A series whose columns cannot be read.
    #[error("station {station}: {error}")]
    Columns {
        /// Place of the station in the list.
        station: usize,
        /// The fault.
        error: CheckError,
    },
    /// A series that the station has already.
    #[error("station {station}: series {series} has the key of one before it")]
    Twice {
        /// Place of the station in the list.
        station: usize,
        /// Place of the series in its list.
        series: usize,
    },
    /// A station that is not among those given.
    #[error("station {station} is not among the stations given")]
    NoStation {
        /// The requested index.
        station: usize,
    },
    /// The readings cannot be held together.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The verdicts of a station: for each series, the verdicts on its readings in order.
pub type StationVerdicts = Vec<Vec<Quality>>;

impl Intake {
    /// Runs all checks, including the neighbour checks, over the readings of a network, and returns
    /// the verdicts of each station in the order given.
    ///
    /// A service that takes in the same readings and no others gives the same verdicts. A value
    /// that is not finite is Missing.
    ///
    /// # Errors
    /// The columns of a series differ in length, its times do not ascend, or a station has a series
    /// twice.
    ///
    /// ```
    /// use mesonet::check::{SeriesReadings, StationSite};
    /// use mesonet::intake::{Intake, NetworkStation};
    /// use mesonet::{BaseQuality, IntervalType, LonLat, SeriesKey, Variable};
    /// // Seven stations in a row, 10 km apart, of which one reports 30 °C.
    /// let key = SeriesKey::new(Variable::AirTemperature, IntervalType::Instantaneous, 0);
    /// let values = [20.0, 20.5, 19.5, 30.0, 20.0, 20.5, 19.0].map(|value| [value]);
    /// let series = values.each_ref().map(|value| {
    ///     [SeriesReadings { key: &key, ts_ms: &[0], value, source: &[] }]
    /// });
    /// let mut stations = Vec::new();
    /// for (series, lat) in series.iter().zip([45.0, 45.09, 45.18, 45.27, 45.36, 45.45, 45.54]) {
    ///     let site = StationSite { coordinates: LonLat::new(-100.0, lat)?, altitude_m: Some(200.0) };
    ///     stations.push(NetworkStation { site, series });
    /// }
    /// let verdicts = Intake::default().check_network(&stations)?;
    /// assert_eq!(verdicts[2][0][0].base, BaseQuality::Good);
    /// assert_eq!(verdicts[3][0][0].base, BaseQuality::Doubtful);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn check_network(
        &self,
        stations: &[NetworkStation<'_>],
    ) -> Result<Vec<StationVerdicts>, NetworkError> {
        let (store, ids) = self.held(stations)?;
        verdicts(&store, stations, &ids)
    }

    /// Explains the verdict that [`check_network`](Self::check_network) gives a reading. The
    /// arguments are the indices of the station, of its series and of the reading. Neighbours are
    /// named by their indices.
    ///
    /// # Errors
    /// The errors of `check_network`, or there is no such reading.
    ///
    /// ```
    /// use mesonet::check::{Check, SeriesReadings, StationSite};
    /// use mesonet::intake::{Intake, NetworkStation};
    /// use mesonet::{IntervalType, LonLat, SeriesKey, Variable};
    /// // Seven stations in a row, 10 km apart, of which one reports 30 °C.
    /// let key = SeriesKey::new(Variable::AirTemperature, IntervalType::Instantaneous, 0);
    /// let values = [20.0, 20.5, 19.5, 30.0, 20.0, 20.5, 19.0].map(|value| [value]);
    /// let series = values.each_ref().map(|value| {
    ///     [SeriesReadings { key: &key, ts_ms: &[0], value, source: &[] }]
    /// });
    /// let mut stations = Vec::new();
    /// for (series, lat) in series.iter().zip([45.0, 45.09, 45.18, 45.27, 45.36, 45.45, 45.54]) {
    ///     let site = StationSite { coordinates: LonLat::new(-100.0, lat)?, altitude_m: Some(200.0) };
    ///     stations.push(NetworkStation { site, series });
    /// }
    /// let found = Intake::default().explain_network(&stations, (3, 0, 0))?;
    /// assert_eq!(found.decided_by, Some(Check::Neighbours));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn explain_network(
        &self,
        stations: &[NetworkStation<'_>],
        (station, series, reading): (usize, usize, usize),
    ) -> Result<Explanation, NetworkError> {
        let (store, ids) = self.held(stations)?;
        let of = stations.get(station).ok_or(NetworkError::NoStation { station })?;
        let alone = self.checker().explain(&of.site, of.series, series, reading);
        let alone = alone.map_err(|error| NetworkError::Columns { station, error })?;
        let one = &of.series[series];
        let found = self.explain(&store, ids[station], one.key.id(), one.ts_ms[reading])?;
        // A store does not hold missing values.
        Ok(found.map_or(alone, |found| found.explanation))
    }

    /// Takes a network into a store of its own. Also returns the ids of its stations.
    fn held(
        &self,
        stations: &[NetworkStation<'_>],
    ) -> Result<(MemoryStore, Vec<StationId>), NetworkError> {
        for (station, of) in stations.iter().enumerate() {
            check_columns(of.series).map_err(|error| NetworkError::Columns { station, error })?;
            let mut keys = HashSet::new();
            if let Some(series) = of.series.iter().position(|of| !keys.insert(of.key)) {
                return Err(NetworkError::Twice { station, series });
            }
        }
        let store = MemoryStore::default();
        let described: Vec<Station> = (0..).zip(stations).map(described).collect();
        let ids: Vec<StationId> = described.iter().map(|station| station.id).collect();
        let mut batch = Batch { stations: described, reports: Vec::new() };
        let mut readings = 0;
        for (station, ts_ms) in moments(stations) {
            let report = report(&stations[station], ids[station], ts_ms);
            readings += report.readings.len();
            batch.reports.push(report);
            if readings >= AT_ONCE {
                self.take_in(&store, std::mem::take(&mut batch))?;
                readings = 0;
            }
        }
        self.take_in(&store, batch)?;
        Ok((store, ids))
    }
}

/// A station named by its position in the list.
fn described((index, of): (usize, &NetworkStation<'_>)) -> Station {
    let (network, native_id) = ("NETWORK", index.to_string());
    Station {
        id: StationId::new(network, &native_id),
        network: network.to_owned(),
        name: native_id.clone(),
        native_id,
        station_type: None,
        coordinates: of.site.coordinates,
        sensor_height_m: 0.0,
        altitude_m: of.site.altitude_m,
        identifiers: Identifiers::default(),
        earlier_places: EarlierPlaces::default(),
    }
}

/// The moments with readings, of all stations, in order of time.
fn moments(stations: &[NetworkStation<'_>]) -> Vec<(usize, i64)> {
    let of_station = |(station, of): (usize, &NetworkStation<'_>)| {
        let times = of.series.iter().flat_map(|series| series.ts_ms);
        times.map(|&ts_ms| (station, ts_ms)).collect::<Vec<_>>()
    };
    let mut moments: Vec<(usize, i64)> = stations.iter().enumerate().flat_map(of_station).collect();
    moments.sort_unstable_by_key(|&(station, ts_ms)| (ts_ms, station));
    moments.dedup();
    moments
}

fn report(of: &NetworkStation<'_>, station: StationId, ts_ms: i64) -> Report {
    let reading = |series: &SeriesReadings<'_>| {
        let at = series.ts_ms.binary_search(&ts_ms).ok()?;
        let quality = series.source.get(at).copied().unwrap_or(Quality::UNCHECKED);
        let value = series.value[at];
        let reading = Reading { series: series.key.clone(), value, quality, qualifier: None };
        value.is_finite().then_some(reading)
    };
    let readings = of.series.iter().filter_map(reading).collect();
    Report { station, ts_ms, revision: 0, present_weather: None, text: None, readings }
}

fn verdicts(
    store: &MemoryStore,
    stations: &[NetworkStation<'_>],
    ids: &[StationId],
) -> Result<Vec<StationVerdicts>, NetworkError> {
    let missing = |value: &f64| crate::check::without_value(*value).unwrap_or(Quality::UNCHECKED);
    let of_series = |of: &SeriesReadings<'_>| of.value.iter().map(missing).collect();
    let mut verdicts: Vec<StationVerdicts> =
        stations.iter().map(|of| of.series.iter().map(of_series).collect()).collect();
    let Ok(window) = ClosedWindow::new(i64::MIN, i64::MAX) else { return Ok(verdicts) };
    let selection = Selection { stations: ids, variables: Variable::ALL, window };
    store.scan(&selection, &mut |station, slices| {
        let of_station = stations[station].series.iter().zip(&mut verdicts[station]);
        for (of, verdicts) in of_station {
            let id: SeriesId = of.key.id();
            let Some(slice) = slices.iter().find(|slice| slice.series.id == id) else { continue };
            let held = slice.ts_ms.iter().zip(slice.quality);
            for (ts_ms, quality) in held {
                if let Ok(at) = of.ts_ms.binary_search(ts_ms) {
                    verdicts[at] = quality.quality();
                }
            }
        }
    })?;
    Ok(verdicts)
}

#[cfg(test)]
#[path = "network_tests.rs"]
mod tests;
