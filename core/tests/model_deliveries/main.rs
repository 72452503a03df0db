//! GRIB2 files of models become runs.

mod messages;
mod real_files;
mod support;
