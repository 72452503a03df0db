//! Derived values: one ufunc for each formula.

use std::ffi::CStr;

use mesonet::derived::DerivedLengthError;
use pyo3::prelude::*;

use crate::error::refused;
use crate::ufunc::{
    Operand, Output, by_chunks, forget_float_errors, inner_loop, register as register_ufunc,
};

/// Adds a formula of the core as a ufunc of the same name. Where the formula is not defined, the
/// result is NaN.
macro_rules! formula {
    ($module:ident, $name:ident, $into:ident($($input:ident),+) -> $output:ident, $doc:literal) => {{
        fn each($($input: Operand<'_, f64>,)+ output: Output<'_, f64>) -> Result<(), DerivedLengthError> {
            let done = by_chunks([$($input),+], output, |[$($input),+], out| {
                mesonet::derived::$into($($input,)+ out)
            });
            // The formulas compute first and then check whether the inputs are in their domain.
            forget_float_errors();
            done
        }
        const NAME: &CStr = {
            let name = CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes());
            match name {
                Ok(name) => name,
                Err(_) => panic!("a name cannot contain a zero byte"),
            }
        };
        register_ufunc($module, NAME, $doc, [inner_loop!(each: ($($input: f64),+) -> ($output: f64))])?;
    }};
}

/// See `mesonet.roughness_m`.
#[pyfunction]
#[pyo3(signature = (exposure, /))]
fn roughness_m(exposure: &str) -> PyResult<f64> {
    let exposure = serde_json::from_value(exposure.into()).map_err(refused)?;
    Ok(mesonet::derived::roughness_m(exposure))
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(roughness_m, module)?)?;
    register_humidity(module)?;
    register_comfort(module)?;
    register_pressure_and_wind(module)
}

fn register_humidity(module: &Bound<'_, PyModule>) -> PyResult<()> {
    formula!(
        module,
        dew_point_c, dew_point_c_into(air_temperature_c, relative_humidity_pct) -> dew_point_c,
        c"Dew point in °C from the air temperature in °C and the relative humidity in percent.

Magnus's formula with the coefficients of Sonntag (1990), as WMO-No. 8 has it; NaN where that is not
defined: a humidity that is not above 0 and at most 100 %, a temperature or dew point outside of -45
to 60 °C.

Examples
--------
>>> import numpy as np, mesonet
>>> mesonet.dew_point_c(np.array([25.0, 10.0, 10.0]), [85.0, 100.0, 0.0]).round(1)
array([22.3, 10. ,  nan])"
    );
    formula!(
        module,
        relative_humidity_pct, relative_humidity_pct_into(air_temperature_c, dew_point_c) -> relative_humidity_pct,
        c"Relative humidity over water in percent from the air temperature and dew point in °C.

The ratio of the vapour pressures by the formula of ``dew_point_c``; NaN for a dew point above the
temperature and outside of -45 to 60 °C.

Examples
--------
>>> import mesonet
>>> float(mesonet.relative_humidity_pct(25.0, 12.0).round())
44.0"
    );
    formula!(
        module,
        wet_bulb_c, wet_bulb_c_into(station_pressure_hpa, air_temperature_c, dew_point_c) -> wet_bulb_c,
        c"Wet-bulb temperature in °C from the station pressure in hPa, and the air temperature and dew
point in °C.

Normand's rule, integrated along the moist adiabat; NaN for a dew point above the temperature,
outside of -45 to 60 °C, and outside of 300 to 1100 hPa.

Examples
--------
>>> import mesonet
>>> float(mesonet.wet_bulb_c(1000.0, 25.0, 15.0).round(2))
18.34"
    );
    formula!(
        module,
        stull_wet_bulb_c, stull_wet_bulb_c_into(air_temperature_c, relative_humidity_pct) -> wet_bulb_c,
        c"Wet-bulb temperature in °C near sea level from the air temperature in °C and the relative
humidity in percent.

Stull's regression (2011), within -1.0 to 0.65 °C at 1013.25 hPa; NaN outside of -20 to 50 °C and
of 5 to 99 %.

Examples
--------
>>> import mesonet
>>> float(mesonet.stull_wet_bulb_c(20.0, 50.0).round(1))
13.7"
    );
    Ok(())
}

fn register_comfort(module: &Bound<'_, PyModule>) -> PyResult<()> {
    formula!(
        module,
        heat_index_c, heat_index_c_into(air_temperature_c, relative_humidity_pct) -> heat_index_c,
        c"Heat index in °C from the air temperature in °C and the relative humidity in percent.

As ``heat_index_f``, defined from 20 to 50 °C; NaN elsewhere.

Examples
--------
>>> import mesonet
>>> float(mesonet.heat_index_c(35.0, 70.0).round(2))
50.34"
    );
    formula!(
        module,
        heat_index_f, heat_index_f_into(air_temperature_f, relative_humidity_pct) -> heat_index_f,
        c"Heat index in °F from the air temperature in °F and the relative humidity in percent.

As the National Weather Service computes it, with its adjustments; NaN outside of 68 to 122 °F and
of 0 to 100 %.

Examples
--------
>>> import mesonet
>>> float(mesonet.heat_index_f(96.0, 65.0).round())
121.0"
    );
    formula!(
        module,
        humidex, humidex_into(air_temperature_c, dew_point_c) -> humidex,
        c"Humidex from the air temperature and the dew point in °C (Canada).

NaN below 20 °C, above 60 °C, and for a dew point above the temperature.

Examples
--------
>>> import mesonet
>>> float(mesonet.humidex(30.0, 15.0).round())
34.0"
    );
    formula!(
        module,
        wind_chill_c, wind_chill_c_into(air_temperature_c, wind_speed_kmh) -> wind_chill,
        c"Wind chill from the air temperature in °C and the wind speed at 10 m in km/h (Canada).

Below 5 km/h the formula for light winds; NaN above 0 °C.

Examples
--------
>>> import numpy as np, mesonet
>>> mesonet.wind_chill_c(-25.0, np.array([0.0, 20.0])).round()
array([-25., -37.])"
    );
    formula!(
        module,
        wind_chill_f, wind_chill_f_into(air_temperature_f, wind_speed_mph) -> wind_chill_f,
        c"Wind chill in °F from the air temperature in °F and the wind speed at 10 m in miles per hour
(United States).

NaN above 50 °F and up to 3 mph.

Examples
--------
>>> import mesonet
>>> float(mesonet.wind_chill_f(20.0, 15.0).round())
6.0"
    );
    Ok(())
}

fn register_pressure_and_wind(module: &Bound<'_, PyModule>) -> PyResult<()> {
    formula!(
        module,
        mean_sea_level_pressure_hpa, mean_sea_level_pressure_hpa_into(station_pressure_hpa, altitude_m, air_temperature_c)
            -> mean_sea_level_pressure_hpa,
        c"Mean sea level pressure from the station pressure, both in hPa, the altitude of the barometer in
metres and the air temperature in °C.

The hypsometric equation for dry air of the station's temperature; NaN outside of 300 to 1100 hPa,
-500 to 9000 m and -90 to 60 °C.

Examples
--------
>>> import mesonet
>>> float(mesonet.mean_sea_level_pressure_hpa(950.9654, 500.0, 30.0).round(3))
1006.089"
    );
    formula!(
        module,
        station_pressure_hpa, station_pressure_hpa_into(altimeter_hpa, altitude_m) -> station_pressure_hpa,
        c"Station pressure from the altimeter setting, both in hPa, and the altitude in metres.

By the standard atmosphere; NaN outside of it.

Examples
--------
>>> import mesonet
>>> altimeter_hpa = mesonet.convert(29.8, 'inHg', 'hPa')
>>> float(mesonet.station_pressure_hpa(altimeter_hpa, 500.0).round(3))
950.965"
    );
    formula!(
        module,
        wind_at_10m, wind_at_10m_into(speed, sensor_height_m, roughness_m) -> speed_at_10m,
        c"Wind speed at 10 m from that at the height of the sensor in metres, and the roughness length in
metres (``roughness_m``); the unit of the speed is kept.

The logarithmic law of neutral air; NaN for a height of 0, which means that it is unknown, and for one
not above the roughness length.

Examples
--------
>>> import mesonet
>>> open_water_m = mesonet.roughness_m('OpenWater')
>>> float(mesonet.wind_at_10m(36.0, 4.0, open_water_m).round(2))
39.33"
    );
    Ok(())
}
