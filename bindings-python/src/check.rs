//! The quality checks over columns of NumPy, and the explanation of a verdict.

use std::borrow::Cow;
use std::sync::LazyLock;

use mesonet::{
    BaseQuality, CheckConfig, Checker, LonLat, Quality, ReasonQuality, SeriesKey, SeriesReadings,
    StationSite,
};
use numpy::{PyArray1, PyReadonlyArray1, ToPyArray};
use pyo3::prelude::*;

use crate::error::refused;

/// The checker with the limits that ship; they are a text, which is read once.
static SHIPPED: LazyLock<Checker> = LazyLock::new(Checker::default);

/// One series as Python hands it over: contiguous columns, and what the source said, if it did.
#[derive(FromPyObject)]
struct Columns<'py> {
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

impl Columns<'_> {
    fn key(&self) -> PyResult<SeriesKey> {
        let variable = self.variable.parse().map_err(refused)?;
        let interval_type = self.interval_type.parse().map_err(refused)?;
        let mut key = SeriesKey::new(variable, interval_type, self.interval_minutes);
        key.calculated = self.calculated;
        key.bucket = Cow::Owned(self.bucket.clone());
        if let Some(unit) = &self.reported_unit {
            key.reported_unit = Cow::Owned(unit.clone());
        }
        Ok(key)
    }

    /// What the source said; without a word of it as many as there are times.
    fn source(&self) -> PyResult<Vec<Quality>> {
        let Some((base, reason)) = &self.source else {
            return Ok(vec![Quality::UNCHECKED; self.ts_ms.as_slice()?.len()]);
        };
        let (base, reason) = (base.as_slice()?, reason.as_slice()?);
        if base.len() != reason.len() {
            return Err(refused(format!(
                "base and reason codes of the source must be as many; got {} and {}",
                base.len(),
                reason.len()
            )));
        }
        base.iter()
            .zip(reason)
            .map(|(&base, &reason)| {
                let base = BaseQuality::try_from(base).map_err(refused)?;
                Ok(Quality { base, reason: ReasonQuality::try_from(reason).map_err(refused)? })
            })
            .collect()
    }
}

fn site(lon: f64, lat: f64, altitude_m: Option<f64>) -> PyResult<StationSite> {
    Ok(StationSite { coordinates: LonLat::new(lon, lat).map_err(refused)?, altitude_m })
}

/// Runs `run` without the GIL over the checker of the limits and the series.
fn with_checker<R: Send>(
    py: Python<'_>,
    limits: Option<&str>,
    columns: &[Columns<'_>],
    run: impl FnOnce(&Checker, &[SeriesReadings<'_>]) -> Result<R, mesonet::CheckError> + Send,
) -> PyResult<R> {
    let own;
    let checker = match limits {
        None => &*SHIPPED,
        Some(limits) => {
            own = Checker::new(CheckConfig::from_toml(limits).map_err(refused)?);
            &own
        }
    };
    let keys = columns.iter().map(Columns::key).collect::<PyResult<Vec<_>>>()?;
    let sources = columns.iter().map(Columns::source).collect::<PyResult<Vec<_>>>()?;
    let mut series = Vec::with_capacity(columns.len());
    for ((columns, key), source) in columns.iter().zip(&keys).zip(&sources) {
        let (ts_ms, value) = (columns.ts_ms.as_slice()?, columns.value.as_slice()?);
        series.push(SeriesReadings { key, ts_ms, value, source });
    }
    py.detach(|| run(checker, &series)).map_err(refused)
}

/// See `mesonet.check_station`.
#[pyfunction]
#[pyo3(signature = (lon, lat, altitude_m, series, limits, /))]
#[expect(clippy::needless_pass_by_value, reason = "Python's list is read into one of ours")]
fn check_station<'py>(
    py: Python<'py>,
    lon: f64,
    lat: f64,
    altitude_m: Option<f64>,
    series: Vec<Columns<'py>>,
    limits: Option<&str>,
) -> PyResult<Vec<Verdicts<'py>>> {
    let site = site(lon, lat, altitude_m)?;
    let verdicts = with_checker(py, limits, &series, |checker, series| {
        let mut verdicts: Vec<Vec<Quality>> =
            series.iter().map(|of| vec![Quality::UNCHECKED; of.ts_ms.len()]).collect();
        let mut places: Vec<&mut [Quality]> = verdicts.iter_mut().map(Vec::as_mut_slice).collect();
        checker.check_station(&site, series, &mut places)?;
        let split = |of: Vec<Quality>| -> (Vec<u8>, Vec<u8>) {
            of.into_iter().map(|verdict| (verdict.base as u8, verdict.reason as u8)).unzip()
        };
        Ok(verdicts.into_iter().map(split).collect::<Vec<_>>())
    })?;
    Ok(verdicts
        .into_iter()
        .map(|(base, reason)| (base.to_pyarray(py), reason.to_pyarray(py)))
        .collect())
}

/// The explanation as the JSON that the service sends.
#[pyfunction]
#[pyo3(signature = (lon, lat, altitude_m, series, which_series, which_reading, limits, /))]
#[expect(clippy::needless_pass_by_value, reason = "Python's list is read into one of ours")]
#[expect(clippy::too_many_arguments, reason = "given by place, by the one caller in Python")]
fn explain(
    py: Python<'_>,
    lon: f64,
    lat: f64,
    altitude_m: Option<f64>,
    series: Vec<Columns<'_>>,
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
    module.add("DEFAULT_LIMITS_TOML", mesonet::DEFAULT_LIMITS_TOML)?;
    module.add_function(wrap_pyfunction!(check_station, module)?)?;
    module.add_function(wrap_pyfunction!(explain, module)?)
}
