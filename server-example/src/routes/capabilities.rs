//! `/capabilities`: what the caller may do.

use std::sync::Arc;

use axum::Router;
use axum::http::{HeaderValue, header};
use axum::response::Response;
use axum::routing::get;
use mesonet::access::{Capabilities, Product};

use crate::access::Caller;
use crate::error::ApiError;
use crate::http::encoding::Accepted;
use crate::http::snapshot::json_value;
use crate::state::State;

/// The products that the server offers.
const OFFERED: &[Product] =
    &[Product::HISTORICAL_BULK, Product::STATIONS_MAP, Product::STATIONS_READINGS];

pub fn router() -> Router<Arc<State>> {
    Router::new().route("/capabilities", get(capabilities))
}

async fn capabilities(caller: Caller, accepted: Accepted) -> Result<Response, ApiError> {
    let view = Capabilities::new(OFFERED, caller.plan, false);
    let mut response = json_value(accepted, &view)?;
    // The answer is specific to the caller.
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(response)
}
