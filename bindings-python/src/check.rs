//! The quality checks over columns of NumPy, and the explanation of a verdict.

use mesonet::check::{Checker, SeriesReadings, StationSite};
use mesonet::intake::{Intake, NetworkError, NetworkStation};
use mesonet::observation::SeriesParts;
use mesonet::{LonLat, Quality, SeriesKey, check};
use numpy::{PyArray1, PyReadonlyArray1, ToPyArray};
use pyo3::prelude::*;

use crate::error::refused;

/// One series from Python: contiguous columns, and the verdicts of the source, if any.
#[derive(FromPyObject)]
struct SeriesColumns<'py> {
    variable: String,
    interval_type: String,
    interval_minutes: i32,
    calculated: bool,
    reported_unit: Option<String>,
    bucket: String,
    ts_ms: PyReadonlyArray1<'py, i64>,
    value: PyReadonlyArray1<'py, f64>,
    source: Option<(PyReadonlyArray1<'py, u8>, PyReadonlyArray1<'py, u8>)>,
}

/// Base and reason codes of one series.
type Verdicts<'py> = (Bound<'py, PyArray1<u8>>, Bound<'py, PyArray1<u8>>);

impl SeriesColumns<'_> {
    fn key(&self) -> PyResult<SeriesKey> {
        let parts = SeriesParts {
            variable: &self.variable,
            interval_type: &self.interval_type,
            interval_minutes: self.interval_minutes,
            calculated: self.calculated,
            reported_unit: self.reported_unit.as_deref(),
            bucket: Some(&self.bucket),
        };
        parts.try_into().map_err(refused)
    }

    /// Returns the verdicts of the source, if any.
    fn source(&self) -> PyResult<Vec<Quality>> {
        let Some((base, reason)) = &self.source else { return Ok(Vec::new()) };
        Quality::from_columns(base.as_slice()?, reason.as_slice()?).map_err(refused)
    }
}

fn site(lon: f64, lat: f64, altitude_m: Option<f64>) -> PyResult<StationSite> {
    Ok(StationSite { coordinates: LonLat::new(lon, lat).map_err(refused)?, altitude_m })
}

/// Runs `run` without the GIL on a checker with the limits, and the series.
fn with_checker<R: Send>(
    py: Python<'_>,
    limits: Option<&str>,
    columns: &[SeriesColumns<'_>],
    run: impl FnOnce(&Checker, &[SeriesReadings<'_>]) -> Result<R, check::CheckError> + Send,
) -> PyResult<R> {
    let checker = Checker::with_limits(limits).map_err(refused)?;
    let keys = columns.iter().map(SeriesColumns::key).collect::<PyResult<Vec<_>>>()?;
    let sources = columns.iter().map(SeriesColumns::source).collect::<PyResult<Vec<_>>>()?;
    let mut series = Vec::with_capacity(columns.len());
    for ((columns, key), source) in columns.iter().zip(&keys).zip(&sources) {
        let (ts_ms, value) = (columns.ts_ms.as_slice()?, columns.value.as_slice()?);
        series.push(SeriesReadings { key, ts_ms, value, source });
    }
    py.detach(|| run(&checker, &series)).map_err(refused)
}

/// See `mesonet.check_station`.
#[pyfunction]
#[pyo3(signature = (lon, lat, altitude_m, series, limits, /))]
#[expect(clippy::needless_pass_by_value, reason = "Python's list is converted into ours")]
fn check_station<'py>(
    py: Python<'py>,
    lon: f64,
    lat: f64,
    altitude_m: Option<f64>,
    series: Vec<SeriesColumns<'py>>,
    limits: Option<&str>,
) -> PyResult<Vec<Verdicts<'py>>> {
    let site = site(lon, lat, altitude_m)?;
    let verdicts = with_checker(py, limits, &series, |checker, series| {
        let verdicts = checker.check_station(&site, series)?;
        let split =
            |of: Vec<Quality>| -> (Vec<u8>, Vec<u8>) { of.into_iter().map(Quality::codes).unzip() };
        Ok(verdicts.into_iter().map(split).collect::<Vec<_>>())
    })?;
    Ok(verdicts
        .into_iter()
        .map(|(base, reason)| (base.to_pyarray(py), reason.to_pyarray(py)))
        .collect())
}

/// A station from Python: place, altitude and series.
type Site<'py> = (f64, f64, Option<f64>, Vec<SeriesColumns<'py>>);

/// See `mesonet.check_network`.
#[pyfunction]
#[pyo3(signature = (stations, limits, /))]
#[expect(clippy::needless_pass_by_value, reason = "Python's list is converted into ours")]
fn check_network<'py>(
    py: Python<'py>,
    stations: Vec<Site<'py>>,
    limits: Option<&str>,
) -> PyResult<Vec<Vec<Verdicts<'py>>>> {
    let verdicts = with_network(py, limits, &stations, Intake::check_network)?;
    let codes = |of: Vec<Quality>| {
        let (base, reason): (Vec<u8>, Vec<u8>) = of.into_iter().map(Quality::codes).unzip();
        (base.to_pyarray(py), reason.to_pyarray(py))
    };
    Ok(verdicts.into_iter().map(|of| of.into_iter().map(codes).collect()).collect())
}

/// Runs `run` without the GIL on an intake with the limits, and the network.
fn with_network<R: Send>(
    py: Python<'_>,
    limits: Option<&str>,
    stations: &[Site<'_>],
    run: impl FnOnce(&Intake, &[NetworkStation<'_>]) -> Result<R, NetworkError> + Send,
) -> PyResult<R> {
    let checker = Checker::with_limits(limits).map_err(refused)?;
    let owned = stations
        .iter()
        .map(|(lon, lat, altitude_m, columns)| {
            let keys = columns.iter().map(SeriesColumns::key).collect::<PyResult<Vec<_>>>()?;
            let sources =
                columns.iter().map(SeriesColumns::source).collect::<PyResult<Vec<_>>>()?;
            Ok((site(*lon, *lat, *altitude_m)?, keys, sources))
        })
        .collect::<PyResult<Vec<_>>>()?;
    let mut series = Vec::with_capacity(stations.len());
    for ((.., columns), (_, keys, sources)) in stations.iter().zip(&owned) {
        let of_station = columns.iter().zip(keys).zip(sources).map(|((columns, key), source)| {
            let (ts_ms, value) = (columns.ts_ms.as_slice()?, columns.value.as_slice()?);
            Ok(SeriesReadings { key, ts_ms, value, source })
        });
        series.push(of_station.collect::<PyResult<Vec<_>>>()?);
    }
    let network: Vec<_> = owned
        .iter()
        .zip(&series)
        .map(|((site, ..), series)| NetworkStation { site: *site, series })
        .collect();
    let intake = Intake::new(checker.into_owned());
    py.detach(|| run(&intake, &network)).map_err(refused)
}

/// Explains a reading of the first station, with the others as its neighbours. Returns the JSON
/// that the service sends.
#[pyfunction]
#[pyo3(signature = (stations, which_series, which_reading, limits, /))]
#[expect(clippy::needless_pass_by_value, reason = "Python's list is converted into ours")]
fn explain_network(
    py: Python<'_>,
    stations: Vec<Site<'_>>,
    which_series: usize,
    which_reading: usize,
    limits: Option<&str>,
) -> PyResult<String> {
    let explanation = with_network(py, limits, &stations, |intake, network| {
        intake.explain_network(network, (0, which_series, which_reading))
    })?;
    serde_json::to_string(&explanation).map_err(refused)
}

/// Returns the explanation as the JSON that the service sends.
#[pyfunction]
#[pyo3(signature = (lon, lat, altitude_m, series, which_series, which_reading, limits, /))]
#[expect(clippy::needless_pass_by_value, reason = "Python's list is converted into ours")]
#[expect(clippy::too_many_arguments, reason = "positional, with one caller in Python")]
fn explain(
    py: Python<'_>,
    lon: f64,
    lat: f64,
    altitude_m: Option<f64>,
    series: Vec<SeriesColumns<'_>>,
    which_series: usize,
    which_reading: usize,
    limits: Option<&str>,
) -> PyResult<String> {
    let site = site(lon, lat, altitude_m)?;
    let explanation = with_checker(py, limits, &series, |checker, series| {
        checker.explain(&site, series, which_series, which_reading)
    })?;
    serde_json::to_string(&explanation).map_err(refused)
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("DEFAULT_LIMITS_TOML", check::DEFAULT_LIMITS_TOML)?;
    module.add_function(wrap_pyfunction!(check_station, module)?)?;
    module.add_function(wrap_pyfunction!(check_network, module)?)?;
    module.add_function(wrap_pyfunction!(explain, module)?)?;
    module.add_function(wrap_pyfunction!(explain_network, module)?)
}
