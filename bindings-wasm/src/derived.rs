//! Derived values: arrays of the same length in, NaN where undefined.

use wasm_bindgen::prelude::*;

/// The slice form of a formula of the core, under the name of the formula.
macro_rules! formulas {
    ($($name:ident = $into:ident($($input:ident),+);)+) => {$(
        #[doc = concat!("See `", stringify!($name), "` of the core.")]
        #[wasm_bindgen]
        pub fn $name($($input: &[f64]),+) -> Result<Vec<f64>, JsError> {
            let lengths = [$($input.len()),+];
            let mut values = vec![0.0; lengths[0]];
            mesonet::derived::$into($($input,)+ &mut values)?;
            Ok(values)
        }
    )+};
}

formulas! {
    dew_point_c = dew_point_c_into(air_temperature_c, relative_humidity_pct);
    relative_humidity_pct = relative_humidity_pct_into(air_temperature_c, dew_point_c);
    wet_bulb_c = wet_bulb_c_into(station_pressure_hpa, air_temperature_c, dew_point_c);
    stull_wet_bulb_c = stull_wet_bulb_c_into(air_temperature_c, relative_humidity_pct);
    heat_index_c = heat_index_c_into(air_temperature_c, relative_humidity_pct);
    heat_index_f = heat_index_f_into(air_temperature_f, relative_humidity_pct);
    humidex = humidex_into(air_temperature_c, dew_point_c);
    wind_chill_c = wind_chill_c_into(air_temperature_c, wind_speed_kmh);
    wind_chill_f = wind_chill_f_into(air_temperature_f, wind_speed_mph);
    mean_sea_level_pressure_hpa =
        mean_sea_level_pressure_hpa_into(station_pressure_hpa, altitude_m, air_temperature_c);
    station_pressure_hpa = station_pressure_hpa_into(altimeter_hpa, altitude_m);
    wind_at_10m = wind_at_10m_into(speed, sensor_height_m, roughness_m);
}
