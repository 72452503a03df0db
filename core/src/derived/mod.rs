//! Values that are calculated from others. Each formula names its source.
//!
//! A scalar function returns `None` for NaN and outside the range of its formula; its slice form
//! has the suffix `_into` and writes NaN there.

mod comfort;
#[cfg(not(target_arch = "wasm32"))]
mod elementary;
#[cfg(target_arch = "wasm32")]
use libm as elementary;
mod humidity;
mod inputs;
mod pressure;
mod quality;
mod report;
mod resolution;
mod slices;
mod wind;

pub use comfort::{
    heat_index_c, heat_index_c_into, heat_index_f, heat_index_f_into, humidex, humidex_into,
    wind_chill_c, wind_chill_c_into, wind_chill_f, wind_chill_f_into,
};
pub use humidity::{
    dew_point_c, dew_point_c_into, relative_humidity_pct, relative_humidity_pct_into,
    stull_wet_bulb_c, stull_wet_bulb_c_into, wet_bulb_c, wet_bulb_c_into,
};
pub use inputs::DERIVED_INPUTS;
#[cfg(feature = "checks")]
pub(crate) use pressure::altimeter_hpa;
pub use pressure::{
    mean_sea_level_pressure_hpa, mean_sea_level_pressure_hpa_into, station_pressure_hpa,
    station_pressure_hpa_into,
};
pub use quality::derive_with_quality;
#[cfg(feature = "checks")]
pub(crate) use report::MSLP_ALTITUDE_MAX_M;
pub use report::derive_report;
#[cfg(all(feature = "store", feature = "checks"))]
pub(crate) use report::is_input_of;
pub use resolution::to_reported_resolution;
pub use slices::DerivedLengthError;
pub use wind::{roughness_m, wind_at_10m, wind_at_10m_into};
