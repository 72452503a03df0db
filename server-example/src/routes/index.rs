//! `/`: what the server is and where its endpoints lie.

use std::sync::Arc;

use axum::Router;
use axum::extract::State as Shared;
use axum::response::Response;
use axum::routing::get;
use mesonet::Iso8601;
use serde::Serialize;

use crate::encoding::Accepted;
use crate::error::ApiError;
use crate::snapshot::json_value;
use crate::state::State;

pub fn router() -> Router<Arc<State>> {
    Router::new().route("/", get(index))
}

#[derive(Serialize)]
struct Index {
    service: &'static str,
    version: &'static str,
    /// The data are recorded ones: this is the time that the answers are of.
    replay: Iso8601,
    endpoints: Vec<String>,
}

async fn index(
    Shared(state): Shared<Arc<State>>,
    accepted: Accepted,
) -> Result<Response, ApiError> {
    let prefix = &state.config().api_prefix;
    let endpoints = [
        "GET /alerts",
        "GET /alerts/zones",
        "GET /capabilities",
        "GET /observations/explain",
        "GET /observations/units",
        "GET /products",
        "GET /products/{type}",
        "GET /products/{type}/exists",
        "GET /stations/map/details",
        "GET /stations/map/markers",
        "GET /stations/readings",
        "POST /stations/readings",
        "GET /stations/{id}",
    ];
    let index = Index {
        service: "mesonet",
        version: env!("CARGO_PKG_VERSION"),
        replay: Iso8601(state.now_ms().div_euclid(1000) * 1000),
        endpoints: endpoints
            .map(|endpoint| endpoint.replacen('/', &format!("{prefix}/"), 1))
            .into(),
    };
    json_value(accepted, &index)
}
