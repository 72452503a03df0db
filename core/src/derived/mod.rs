//! Values that are calculated from others. Each formula names its source.

mod pressure;
mod wind;

pub use pressure::{mean_sea_level_pressure_hpa, station_pressure_hpa};
pub use wind::{roughness_m, wind_at_10m};
