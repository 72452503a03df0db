//! What a caller on a plan may ask for. Times are whole milliseconds since 1970.

use mesonet::ClosedWindow;
use mesonet::access::{self, Capabilities, Limits, Plan, Product};
use wasm_bindgen::prelude::*;

/// Names of the plans, lowest first.
#[wasm_bindgen]
pub fn plan_names() -> Vec<String> {
    Plan::ALL.map(|plan| plan.name().to_owned()).into()
}

/// Checks a window against the lookback of a plan.
#[wasm_bindgen]
pub fn check_lookback(start_ms: f64, end_ms: f64, now_ms: f64, plan: &str) -> Result<(), JsError> {
    let window = ClosedWindow::new(start_ms as i64, end_ms as i64)?;
    Ok(access::check_lookback(window, now_ms as i64, plan.parse()?)?)
}

/// For each product: its id, `true` if it is allowed, the lowest plan, and the standing needed.
#[wasm_bindgen]
pub fn products(plan: &str, staff: bool) -> Result<Vec<String>, JsError> {
    let view = Capabilities::new(&Product::OF_OBSERVATIONS, plan.parse()?, staff);
    let told = view.products.into_iter().flat_map(|(id, access)| {
        let (requires, standing) = (access.requires.name(), access.requires_standing.name());
        [id.to_owned(), access.allowed.to_string(), requires.to_owned(), standing.to_owned()]
    });
    Ok(told.collect())
}

/// The longest window of a plan and how far back it may end; NaN for no limit.
#[wasm_bindgen]
pub fn limits(plan: &str) -> Result<Vec<f64>, JsError> {
    let Limits { max_window_ms, max_reach_ms } = Limits::of(plan.parse()?);
    let number = |limit: Option<i64>| limit.map_or(f64::NAN, |limit_ms| limit_ms as f64);
    Ok(vec![number(max_window_ms), number(max_reach_ms)])
}
