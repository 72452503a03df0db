//! The quality checks over the columns of one station, and the explanation of a verdict.

use mesonet::check::{CheckError, Checker, SeriesReadings, StationSite};
#[cfg(feature = "network")]
use mesonet::intake::{Intake, NetworkStation};
use mesonet::observation::SeriesParts;
use mesonet::{IntervalType, LonLat, Quality, SeriesKey, check};
use wasm_bindgen::prelude::*;

#[wasm_bindgen]
extern "C" {
    /// One series from the facade, with every member checked.
    #[wasm_bindgen(typescript_type = "import('../station.js').SeriesColumns")]
    pub type SeriesColumns;
    #[wasm_bindgen(method, getter)]
    fn variable(this: &SeriesColumns) -> String;
    #[wasm_bindgen(method, getter, js_name = intervalType)]
    fn interval_type(this: &SeriesColumns) -> String;
    #[wasm_bindgen(method, getter, js_name = intervalMinutes)]
    fn interval_minutes(this: &SeriesColumns) -> i32;
    #[wasm_bindgen(method, getter)]
    fn calculated(this: &SeriesColumns) -> bool;
    #[wasm_bindgen(method, getter, js_name = reportedUnit)]
    fn reported_unit(this: &SeriesColumns) -> Option<String>;
    #[wasm_bindgen(method, getter)]
    fn bucket(this: &SeriesColumns) -> Option<String>;
    /// Whole milliseconds.
    #[wasm_bindgen(method, getter, js_name = tsMs)]
    fn ts_ms(this: &SeriesColumns) -> Vec<f64>;
    #[wasm_bindgen(method, getter)]
    fn value(this: &SeriesColumns) -> Vec<f64>;
    /// The source's verdicts, together with `reason`; none if the source gave none.
    #[wasm_bindgen(method, getter)]
    fn base(this: &SeriesColumns) -> Option<Vec<u8>>;
    #[wasm_bindgen(method, getter)]
    fn reason(this: &SeriesColumns) -> Option<Vec<u8>>;
}

/// One series in this module's memory.
struct OwnedSeries {
    key: SeriesKey,
    ts_ms: Vec<i64>,
    value: Vec<f64>,
    source: Vec<Quality>,
}

impl OwnedSeries {
    fn of(given: &SeriesColumns) -> Result<Self, JsError> {
        let (variable, interval_type) = (given.variable(), given.interval_type());
        let (reported_unit, bucket) = (given.reported_unit(), given.bucket());
        let parts = SeriesParts {
            variable: &variable,
            interval_type: &interval_type,
            interval_minutes: given.interval_minutes(),
            calculated: given.calculated(),
            reported_unit: reported_unit.as_deref(),
            bucket: bucket.as_deref(),
        };
        let source = match given.base().zip(given.reason()) {
            None => Vec::new(),
            Some((base, reason)) => Quality::from_columns(&base, &reason)?,
        };
        let ts_ms = given.ts_ms().into_iter().map(|ts_ms| ts_ms as i64).collect();
        Ok(Self { key: parts.try_into()?, ts_ms, value: given.value(), source })
    }

    fn readings(&self) -> SeriesReadings<'_> {
        let Self { key, ts_ms, value, source } = self;
        SeriesReadings { key, ts_ms, value, source }
    }
}

fn site(lon: f64, lat: f64, altitude_m: Option<f64>) -> Result<StationSite, JsError> {
    Ok(StationSite { coordinates: LonLat::new(lon, lat)?, altitude_m })
}

/// Runs `run` on a checker with the limits, and the series.
fn with_checker<R>(
    limits: Option<&str>,
    series: &[SeriesColumns],
    run: impl FnOnce(&Checker, &[SeriesReadings<'_>]) -> Result<R, CheckError>,
) -> Result<R, JsError> {
    let checker = Checker::with_limits(limits)?;
    let columns = series.iter().map(OwnedSeries::of).collect::<Result<Vec<_>, _>>()?;
    let series: Vec<_> = columns.iter().map(OwnedSeries::readings).collect();
    Ok(run(&checker, &series)?)
}

/// The verdicts: for each series, all base codes, then all reason codes.
#[wasm_bindgen]
#[expect(clippy::needless_pass_by_value, reason = "lists and texts come by value only")]
pub fn check_station(
    lon: f64,
    lat: f64,
    altitude_m: Option<f64>,
    series: Vec<SeriesColumns>,
    limits: Option<String>,
) -> Result<Vec<u8>, JsError> {
    let site = site(lon, lat, altitude_m)?;
    with_checker(limits.as_deref(), &series, |checker, series| {
        Ok(codes(checker.check_station(&site, series)?.iter()))
    })
}

/// The verdicts on a network, in the form of [`check_station`], station after station. The series
/// of all stations are in one list; `counts` is the number of series of each station. The sites are
/// longitude, latitude and altitude of each station, NaN for an unknown altitude.
#[cfg(feature = "network")]
#[wasm_bindgen]
#[expect(clippy::needless_pass_by_value, reason = "lists and texts come by value only")]
pub fn check_network(
    sites: &[f64],
    counts: &[u32],
    series: Vec<SeriesColumns>,
    limits: Option<String>,
) -> Result<Vec<u8>, JsError> {
    let checker = Checker::with_limits(limits.as_deref())?;
    let columns = series.iter().map(OwnedSeries::of).collect::<Result<Vec<_>, _>>()?;
    let series: Vec<_> = columns.iter().map(OwnedSeries::readings).collect();
    let mut rest = series.as_slice();
    let mut network = Vec::with_capacity(counts.len());
    for (&[lon, lat, altitude_m], &count) in sites.as_chunks().0.iter().zip(counts) {
        let (of_station, others) = rest.split_at(count as usize);
        let site = site(lon, lat, (!altitude_m.is_nan()).then_some(altitude_m))?;
        network.push(NetworkStation { site, series: of_station });
        rest = others;
    }
    let verdicts = Intake::new(checker.into_owned()).check_network(&network)?;
    Ok(codes(verdicts.iter().flatten()))
}

/// For each series, all base codes, then all reason codes.
fn codes<'a>(verdicts: impl Iterator<Item = &'a Vec<Quality>>) -> Vec<u8> {
    let mut codes = Vec::new();
    for of in verdicts {
        codes.extend(of.iter().map(|verdict| verdict.base as u8));
        codes.extend(of.iter().map(|verdict| verdict.reason as u8));
    }
    codes
}

/// The explanation of one verdict, as the JSON that the service sends.
#[wasm_bindgen]
#[expect(clippy::needless_pass_by_value, reason = "lists and texts come by value only")]
pub fn explain(
    lon: f64,
    lat: f64,
    altitude_m: Option<f64>,
    series: Vec<SeriesColumns>,
    which_series: usize,
    which_reading: usize,
    limits: Option<String>,
) -> Result<String, JsError> {
    let site = site(lon, lat, altitude_m)?;
    let explanation = with_checker(limits.as_deref(), &series, |checker, series| {
        checker.explain(&site, series, which_series, which_reading)
    })?;
    Ok(serde_json::to_string(&explanation)?)
}

/// Names of the interval types.
#[wasm_bindgen]
pub fn interval_type_names() -> Vec<String> {
    IntervalType::ALL.map(|kind| kind.name().to_owned()).into()
}

/// The default limits, as TOML.
#[wasm_bindgen]
pub fn default_limits_toml() -> String {
    check::DEFAULT_LIMITS_TOML.to_owned()
}
