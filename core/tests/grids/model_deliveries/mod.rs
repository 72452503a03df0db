//! Deliveries of GRIB2 files that become model runs.

mod broken;
mod messages;
mod real_files;
mod steps;
mod support;
