//! How warm or cold it feels: heat index, humidex, wind chill.

#![allow(clippy::inline_always, reason = "each caller has the instructions that it may use")]

use std::ops::RangeInclusive;

use super::elementary::{exp, log};
use super::slices::slice_form;

const PERCENT: RangeInclusive<f64> = 0.0..=100.0;
/// Temperatures of Steadman's table (J. Appl. Meteor. 18, 1979): 20 to 50 °C.
const STEADMAN_F: RangeInclusive<f64> = 68.0..=122.0;
/// The lowest air temperature on record is −89.2 °C (Vostok, 1983) and the highest wind speed
/// 408 km/h (Barrow Island, 1996; both WMO archive of extremes); the indices are not meant for
/// more.
const COLDEST_C: f64 = -90.0;
const COLDEST_F: f64 = -130.0;
const STRONGEST_KMH: f64 = 410.0;
const STRONGEST_MPH: f64 = 255.0;

/// Heat index in °F from the air temperature in °F and the relative humidity in percent, as the
/// National Weather Service computes it (WPC, "The heat index equation"; Rothfusz, Technical
/// Attachment SR 90-23, 1990).
///
/// The mean of the temperature and of Steadman's simple formula if that is below 80 °F, else
/// Rothfusz's regression, less an adjustment below 13 % (80 to 112 °F) and plus one above 85 %
/// (80 to 87 °F).
///
/// `None` outside 68 to 122 °F, the range of Steadman's table, outside 0 to 100 %, and for NaN. In
/// air both hotter and damper than the table (from a heat index of about 140 °F) the regression
/// diverges; it is not capped here.
///
/// ```
/// use mesonet::derived::heat_index_f;
/// assert_eq!(heat_index_f(96.0, 65.0).unwrap().round(), 121.0);
/// assert_eq!(heat_index_f(67.0, 65.0), None);
/// ```
#[inline(always)]
pub fn heat_index_f(air_temperature_f: f64, relative_humidity_pct: f64) -> Option<f64> {
    let (t, rh) = (air_temperature_f, relative_humidity_pct);
    let defined = STEADMAN_F.contains(&t) && PERCENT.contains(&rh);
    let simple = 0.5 * (t + 61.0 + (t - 68.0) * 1.2 + rh * 0.094);
    let mean = f64::midpoint(simple, t);
    let regression = -42.379 + 2.049_015_23 * t + 10.143_331_27 * rh
        - 0.224_755_41 * t * rh
        - 0.006_837_83 * t * t
        - 0.054_817_17 * rh * rh
        + 0.001_228_74 * t * t * rh
        + 0.000_852_82 * t * rh * rh
        - 0.000_001_99 * t * t * rh * rh;
    // All is computed and then selected, so that a loop over it is vectorised.
    let dry = -(13.0 - rh) / 4.0 * ((17.0 - (t - 95.0).abs()) / 17.0).sqrt();
    let damp = (rh - 85.0) / 10.0 * ((87.0 - t) / 5.0);
    let is_dry = (rh < 13.0) & (80.0..=112.0).contains(&t);
    let is_damp = (rh > 85.0) & (80.0..=87.0).contains(&t);
    let adjustment = if is_damp { damp } else { 0.0 };
    let adjusted = regression + if is_dry { dry } else { adjustment };
    defined.then_some(if mean < 80.0 { mean } else { adjusted })
}
slice_form!(heat_index_f_into, heat_index_f(air_temperature_f, relative_humidity_pct));

/// Heat index in °C from the air temperature in °C and the relative humidity in percent, by the
/// rules of [`heat_index_f`], defined from 20 to 50 °C.
///
/// ```
/// use mesonet::derived::heat_index_c;
/// let heat_index = heat_index_c(35.0, 70.0).unwrap();
/// assert!((heat_index - 50.3405).abs() < 1e-4);
/// ```
#[inline(always)]
pub fn heat_index_c(air_temperature_c: f64, relative_humidity_pct: f64) -> Option<f64> {
    heat_index_f(air_temperature_c * 9.0 / 5.0 + 32.0, relative_humidity_pct)
        .map(|heat_index_f| (heat_index_f - 32.0) * 5.0 / 9.0)
}
slice_form!(heat_index_c_into, heat_index_c(air_temperature_c, relative_humidity_pct));

/// Humidex from the air temperature and the dew point in °C (Masterton and Richardson 1979, as in
/// the glossary of Environment and Climate Change Canada's climate data):
/// T + 5/9 · (e − 10), e = 6.11 · exp(5417.7530 · (1/273.15 − 1/(273.15 + Td))) hPa.
///
/// Below a dew point of about 7 °C it is less than the temperature; Canada shows it only if it is
/// at least 1 above.
///
/// `None` below 20 °C, where Canada gives no value, above 60 °C, for a dew point above the
/// temperature or below −90 °C, and for NaN.
///
/// ```
/// use mesonet::derived::humidex;
/// assert_eq!(humidex(30.0, 15.0).unwrap().round(), 34.0);
/// assert_eq!(humidex(19.9, 15.0), None);
/// ```
#[inline(always)]
pub fn humidex(air_temperature_c: f64, dew_point_c: f64) -> Option<f64> {
    let defined = (20.0..=60.0).contains(&air_temperature_c)
        && (COLDEST_C..=air_temperature_c).contains(&dew_point_c);
    let exponent = 5417.753 * (1.0 / 273.15 - 1.0 / (273.15 + dew_point_c));
    let vapour_hpa = 6.11 * exp(exponent);
    defined.then_some(air_temperature_c + (vapour_hpa - 10.0) * 5.0 / 9.0)
}
slice_form!(humidex_into, humidex(air_temperature_c, dew_point_c));

/// Canadian wind chill, a temperature-like index in °C, from the air temperature in °C and the
/// wind speed at 10 m in km/h (Environment Canada, 2001; JAG/TI).
///
/// 13.12 + 0.6215 T − 11.37 V^0.16 + 0.3965 T V^0.16 from 5 km/h; below,
/// T + (−1.59 + 0.1345 T) / 5 · V.
///
/// `None` above 0 °C, where Canada gives no value, below −90 °C, for a wind below 0 or above
/// 410 km/h, which exceeds the record, and for NaN.
///
/// ```
/// use mesonet::derived::wind_chill_c;
/// assert_eq!(wind_chill_c(-25.0, 20.0).unwrap().round(), -37.0);
/// assert_eq!(wind_chill_c(-25.0, 0.0), Some(-25.0));
/// assert_eq!(wind_chill_c(5.0, 20.0), None);
/// ```
#[inline(always)]
pub fn wind_chill_c(air_temperature_c: f64, wind_speed_kmh: f64) -> Option<f64> {
    let defined = (COLDEST_C..=0.0).contains(&air_temperature_c)
        && (0.0..=STRONGEST_KMH).contains(&wind_speed_kmh);
    let light = light_wind_chill_c(air_temperature_c, wind_speed_kmh);
    let strong = strong_wind_chill_c(air_temperature_c, wind_speed_kmh);
    defined.then_some(if wind_speed_kmh < 5.0 { light } else { strong })
}
slice_form!(wind_chill_c_into, wind_chill_c(air_temperature_c, wind_speed_kmh));

#[inline(always)]
fn light_wind_chill_c(air_c: f64, wind_kmh: f64) -> f64 {
    air_c + (-1.59 + 0.1345 * air_c) / 5.0 * wind_kmh
}

#[inline(always)]
fn strong_wind_chill_c(air_c: f64, wind_kmh: f64) -> f64 {
    let power = power_of_wind(wind_kmh);
    13.12 + 0.6215 * air_c - 11.37 * power + 0.3965 * air_c * power
}

/// V^0.16 of both formulas, in a third of the time that `libm::pow` takes; for winds of 3 to 410 the
/// relative error is below 5e-16.
#[inline(always)]
fn power_of_wind(speed: f64) -> f64 {
    exp(0.16 * log(speed))
}

/// US wind chill in °F, from the air temperature in °F and the wind speed at 10 m in miles per hour
/// (National Weather Service, 2001; JAG/TI):
/// 35.74 + 0.6215 T − 35.75 V^0.16 + 0.4275 T V^0.16.
///
/// `None` above 50 °F and up to 3 mph, where the NWS gives no value, below −130 °F, above 255 mph,
/// and for NaN.
///
/// ```
/// use mesonet::derived::wind_chill_f;
/// assert_eq!(wind_chill_f(20.0, 15.0).unwrap().round(), 6.0);
/// assert_eq!(wind_chill_f(20.0, 3.0), None);
/// ```
#[inline(always)]
pub fn wind_chill_f(air_temperature_f: f64, wind_speed_mph: f64) -> Option<f64> {
    let defined = (COLDEST_F..=50.0).contains(&air_temperature_f)
        && wind_speed_mph > 3.0
        && wind_speed_mph <= STRONGEST_MPH;
    let power = power_of_wind(wind_speed_mph);
    defined.then_some(
        35.74 + 0.6215 * air_temperature_f - 35.75 * power + 0.4275 * air_temperature_f * power,
    )
}
slice_form!(wind_chill_f_into, wind_chill_f(air_temperature_f, wind_speed_mph));

#[cfg(test)]
#[path = "comfort_tests.rs"]
mod tests;
