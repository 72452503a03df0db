//! One METAR or SPECI report, decoded.

use mesonet::feed::metar::{Decoded, Metar};
use pyo3::prelude::*;

use crate::error::refused;

/// The report as JSON, its line of English, and its time if the time of receipt is known. See
/// `mesonet.parse_metar`.
#[pyfunction]
#[pyo3(signature = (text, received_ms, /))]
fn parse_metar(text: &str, received_ms: Option<i64>) -> PyResult<(String, String, Option<i64>)> {
    let report = Decoded::parse(text).map_err(refused)?;
    let ts_ms = match received_ms {
        Some(received_ms) => Some(Metar::parse(text).map_err(refused)?.time_ms(received_ms)),
        None => None,
    };
    let json = serde_json::to_string(&report).map_err(refused)?;
    Ok((json, report.to_string(), ts_ms))
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(parse_metar, module)?)
}
