//! `/observations/units`: the canonical unit of each variable.

use std::sync::Arc;

use axum::Router;
use axum::extract::State as Shared;
use axum::http::HeaderMap;
use axum::response::Response;
use axum::routing::get;

use crate::state::State;

pub fn router() -> Router<Arc<State>> {
    Router::new().route("/observations/units", get(units))
}

async fn units(Shared(state): Shared<Arc<State>>, headers: HeaderMap) -> Response {
    state.snapshots.units().answer(&headers)
}
