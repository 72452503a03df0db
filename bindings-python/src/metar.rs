//! One METAR or SPECI report, decoded.

use std::sync::Arc;

use mesonet::feed::metar::Decoded;
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::error::refused;
use crate::members::member;

/// A report, of which members are made as they are asked for.
#[pyclass(frozen, module = "mesonet._mesonet")]
struct MetarReport(Arc<Decoded>);

#[pymethods]
impl MetarReport {
    /// The member that has a name in JSON: see `members.rs`; or `summary`, its line of English.
    fn member<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        if name == "summary" {
            return Ok(PyString::new(py, &self.0.to_string()).into_any());
        }
        member(py, &*self.0, name)
    }

    fn remarks(&self) -> MetarRemarks {
        MetarRemarks(Arc::clone(&self.0))
    }

    /// The time in milliseconds since 1970, from any time within two weeks of its receipt.
    fn time_ms(&self, received_ms: i64) -> i64 {
        self.0.time_ms(received_ms)
    }
}

/// The remarks of a report, likewise.
#[pyclass(frozen, module = "mesonet._mesonet")]
struct MetarRemarks(Arc<Decoded>);

#[pymethods]
impl MetarRemarks {
    fn member<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        member(py, &self.0.remarks, name)
    }
}

/// Decodes a report. See `mesonet.parse_metar`.
#[pyfunction]
#[pyo3(signature = (text, /))]
fn parse_metar(text: &str) -> PyResult<MetarReport> {
    Decoded::parse(text).map(|report| MetarReport(Arc::new(report))).map_err(refused)
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<MetarRemarks>()?;
    module.add_class::<MetarReport>()?;
    module.add_function(wrap_pyfunction!(parse_metar, module)?)
}
