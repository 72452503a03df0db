//! One METAR or SPECI report, decoded.

use mesonet::feed::metar::Decoded;
use pyo3::IntoPyObjectExt as _;
use pyo3::prelude::*;

use crate::error::refused;
use crate::members::member;

/// A report, of which members are made as they are asked for.
#[pyclass(frozen, module = "mesonet._mesonet")]
struct MetarReport(Decoded);

#[pymethods]
impl MetarReport {
    /// The member that has a name in JSON: see `members.rs`; or `summary`, the line of English.
    fn member<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        if name == "summary" {
            return self.0.to_string().into_bound_py_any(py);
        }
        member(py, &self.0, name)
    }

    /// The time in milliseconds since 1970, from any time within two weeks of its receipt.
    fn time_ms(&self, received_ms: i64) -> i64 {
        self.0.time_ms(received_ms)
    }
}

/// Decodes a report. See `mesonet.parse_metar`.
#[pyfunction]
#[pyo3(signature = (text, /))]
fn parse_metar(text: &str) -> PyResult<MetarReport> {
    Decoded::parse(text).map(MetarReport).map_err(refused)
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<MetarReport>()?;
    module.add_function(wrap_pyfunction!(parse_metar, module)?)
}
