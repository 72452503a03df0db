//! The extension module behind the Python package `mesonet`.
//!
//! There is one file per module of the core, and this one registers them. Names, codes, limits and
//! messages come from the core; the docstrings for users are in `python/mesonet/`.

mod access;
mod alert;
mod arrow_table;
mod check;
mod crosswalk;
mod derived;
mod error;
mod feed;
mod grib;
mod grid;
mod members;
mod metar;
mod quality;
mod record;
mod record_bulk;
mod record_models;
mod record_summaries;
mod record_tables;
mod table;
mod table_columns;
mod tile;
mod time_grid;
mod ufunc;
mod unit;
mod wind;

use pyo3::prelude::*;

/// The compiled half of `mesonet`; import from `mesonet` instead.
#[pymodule(gil_used = false)]
fn _mesonet(module: &Bound<'_, PyModule>) -> PyResult<()> {
    // Without NumPy this is an ImportError; the first use of its C interface would panic.
    module.py().import("numpy")?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    error::register(module)?;
    access::register(module)?;
    alert::register(module)?;
    arrow_table::register(module)?;
    check::register(module)?;
    crosswalk::register(module)?;
    derived::register(module)?;
    feed::register(module)?;
    grib::register(module)?;
    grid::register(module)?;
    metar::register(module)?;
    quality::register(module)?;
    record::register(module)?;
    record_bulk::register(module)?;
    record_models::register(module)?;
    record_summaries::register(module)?;
    table::register(module)?;
    tile::register(module)?;
    time_grid::register(module)?;
    unit::register(module)?;
    wind::register(module)
}
