//! Deliveries of GRIB2 files that become model runs.

mod messages;
mod real_files;
mod support;
