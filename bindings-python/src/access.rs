//! What a caller on a plan may ask for.

use mesonet::ClosedWindow;
use mesonet::access::{self, Capabilities, Plan, Product};
use pyo3::prelude::*;

use crate::error::refused;

/// See `mesonet.check_lookback`.
#[pyfunction]
#[pyo3(signature = (start_ms, end_ms, now_ms, plan, /))]
fn check_lookback(start_ms: i64, end_ms: i64, now_ms: i64, plan: &str) -> PyResult<()> {
    let window = ClosedWindow::new(start_ms, end_ms).map_err(refused)?;
    let plan: Plan = plan.parse().map_err(refused)?;
    access::check_lookback(window, now_ms, plan).map_err(refused)
}

/// The capabilities of a plan as the JSON that the service sends.
#[pyfunction]
#[pyo3(signature = (plan, staff, /))]
fn capabilities(plan: &str, staff: bool) -> PyResult<String> {
    let plan: Plan = plan.parse().map_err(refused)?;
    let view = Capabilities::new(&Product::OF_OBSERVATIONS, plan, staff);
    serde_json::to_string(&view).map_err(refused)
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(check_lookback, module)?)?;
    module.add_function(wrap_pyfunction!(capabilities, module)?)
}
