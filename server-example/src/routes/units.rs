//! `/observations/units`: the canonical unit of each variable.

use std::sync::Arc;

use axum::extract::State as Shared;
use axum::http::HeaderMap;
use axum::response::Response;
use axum::routing::get;

use crate::openapi::{About, Tag, Units};
use crate::routes::Endpoint;
use crate::state::State;

pub const ENDPOINTS: &[Endpoint] =
    &[Endpoint::get("/observations/units", || get(units)).about(|| {
        About::new("getUnits", Tag::Observations, "The unit of each variable")
            .json::<Units>("Units by name of the variable.")
            .cached("How long they may be kept.")
            .tagged()
    })];

async fn units(Shared(state): Shared<Arc<State>>, headers: HeaderMap) -> Response {
    state.snapshots.units.answer(&headers)
}
