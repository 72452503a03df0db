//! The quality checks over the columns of one station, and the explanation of a verdict.

use std::borrow::Cow;
use std::sync::LazyLock;

use mesonet::{
    BaseQuality, CheckConfig, CheckError, Checker, IntervalType, LonLat, Quality, ReasonQuality,
    SeriesKey, SeriesReadings, StationSite,
};
use wasm_bindgen::prelude::*;

/// The checker with the limits that ship; they are a text, which is read once.
static SHIPPED: LazyLock<Checker> = LazyLock::new(Checker::default);

#[wasm_bindgen]
extern "C" {
    /// One series as the facade hands it over, with every member checked.
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
    fn bucket(this: &SeriesColumns) -> String;
    /// Whole milliseconds.
    #[wasm_bindgen(method, getter, js_name = tsMs)]
    fn ts_ms(this: &SeriesColumns) -> Vec<f64>;
    #[wasm_bindgen(method, getter)]
    fn value(this: &SeriesColumns) -> Vec<f64>;
    /// What the source said, together with `reason`; none where it said nothing.
    #[wasm_bindgen(method, getter)]
    fn base(this: &SeriesColumns) -> Option<Vec<u8>>;
    #[wasm_bindgen(method, getter)]
    fn reason(this: &SeriesColumns) -> Option<Vec<u8>>;
}

/// One series in this module's memory.
struct Columns {
    key: SeriesKey,
    ts_ms: Vec<i64>,
    value: Vec<f64>,
    source: Vec<Quality>,
}

impl Columns {
    fn of(given: &SeriesColumns) -> Result<Self, JsError> {
        let variable = given.variable().parse()?;
        let interval_type = given.interval_type().parse()?;
        let mut key = SeriesKey::new(variable, interval_type, given.interval_minutes());
        key.calculated = given.calculated();
        key.bucket = Cow::Owned(given.bucket());
        if let Some(unit) = given.reported_unit() {
            key.reported_unit = Cow::Owned(unit);
        }
        let ts_ms: Vec<i64> = given.ts_ms().into_iter().map(|ts_ms| ts_ms as i64).collect();
        let source = match given.base().zip(given.reason()) {
            None => vec![Quality::UNCHECKED; ts_ms.len()],
            Some((base, reason)) => said(&base, &reason)?,
        };
        Ok(Self { key, ts_ms, value: given.value(), source })
    }

    fn readings(&self) -> SeriesReadings<'_> {
        let Self { key, ts_ms, value, source } = self;
        SeriesReadings { key, ts_ms, value, source }
    }
}

fn said(base: &[u8], reason: &[u8]) -> Result<Vec<Quality>, JsError> {
    if base.len() != reason.len() {
        return Err(JsError::new(&format!(
            "base and reason codes of the source must be as many; got {} and {}",
            base.len(),
            reason.len()
        )));
    }
    let pairs = base.iter().zip(reason);
    pairs
        .map(|(&base, &reason)| {
            let base = BaseQuality::try_from(base)?;
            Ok(Quality { base, reason: ReasonQuality::try_from(reason)? })
        })
        .collect()
}

fn site(lon: f64, lat: f64, altitude_m: Option<f64>) -> Result<StationSite, JsError> {
    Ok(StationSite { coordinates: LonLat::new(lon, lat)?, altitude_m })
}

/// Runs `run` over the checker of the limits and the series.
fn with_checker<R>(
    limits: Option<&str>,
    series: &[SeriesColumns],
    run: impl FnOnce(&Checker, &[SeriesReadings<'_>]) -> Result<R, CheckError>,
) -> Result<R, JsError> {
    let own;
    let checker = match limits {
        None => &*SHIPPED,
        Some(limits) => {
            own = Checker::new(CheckConfig::from_toml(limits)?);
            &own
        }
    };
    let columns = series.iter().map(Columns::of).collect::<Result<Vec<_>, _>>()?;
    let series: Vec<_> = columns.iter().map(Columns::readings).collect();
    Ok(run(checker, &series)?)
}

/// The verdicts: of each series all base codes, then all reason codes.
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
        let mut verdicts: Vec<Vec<Quality>> =
            series.iter().map(|of| vec![Quality::UNCHECKED; of.ts_ms.len()]).collect();
        let mut places: Vec<&mut [Quality]> = verdicts.iter_mut().map(Vec::as_mut_slice).collect();
        checker.check_station(&site, series, &mut places)?;
        let mut codes = Vec::new();
        for of in &verdicts {
            codes.extend(of.iter().map(|verdict| verdict.base as u8));
            codes.extend(of.iter().map(|verdict| verdict.reason as u8));
        }
        Ok(codes)
    })
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

/// Names of the types of intervals.
#[wasm_bindgen]
pub fn interval_type_names() -> Vec<String> {
    IntervalType::ALL.map(|kind| kind.name().to_owned()).into()
}

/// The limits that ship, as TOML.
#[wasm_bindgen]
pub fn default_limits_toml() -> String {
    mesonet::DEFAULT_LIMITS_TOML.to_owned()
}
