//! `/`: what the server is and where its endpoints are.

use std::sync::Arc;

use axum::Router;
use axum::extract::State as Shared;
use axum::response::Response;
use axum::routing::get;
use mesonet::Iso8601;
use serde::Serialize;

use crate::error::ApiError;
use crate::http::encoding::Accepted;
use crate::http::snapshot::json_value;
use crate::state::State;

pub fn router() -> Router<Arc<State>> {
    Router::new().route("/", get(index))
}

#[derive(Serialize)]
struct Index {
    service: &'static str,
    version: &'static str,
    /// The data is recorded: this is the time of the answers.
    replay: Iso8601,
    endpoints: Vec<String>,
}

async fn index(
    Shared(state): Shared<Arc<State>>,
    accepted: Accepted,
) -> Result<Response, ApiError> {
    let prefix = &state.config.api_prefix;
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
        "GET /stations/{id}/quality",
    ];
    let model_prefix = &state.config.model_prefix;
    let model_endpoints = [
        "GET /capabilities",
        "GET /models/coverage",
        "GET /models/{model}/grid",
        "GET /models/{model}/locate",
        "GET /models/{model}/point",
        "GET /models/{model}/products",
        "GET /models/{model}/products/{name}/data/{z}/{x}/{y}",
        "GET /models/{model}/runs",
        "GET /models/{model}/series",
    ];
    let below = |prefix: &str, endpoint: &str| endpoint.replacen('/', &format!("{prefix}/"), 1);
    let endpoints = endpoints.iter().map(|endpoint| below(prefix, endpoint));
    let model_endpoints = model_endpoints.iter().map(|endpoint| below(model_prefix, endpoint));
    let index = Index {
        service: "mesonet",
        version: env!("CARGO_PKG_VERSION"),
        replay: Iso8601(state.clock.now_ms().div_euclid(1000) * 1000),
        endpoints: endpoints.chain(model_endpoints).collect(),
    };
    json_value(accepted, &index)
}
