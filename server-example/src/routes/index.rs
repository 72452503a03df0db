//! `/`: what the server is and where its endpoints are.

use std::sync::Arc;

use axum::Router;
use axum::extract::State as Shared;
use axum::response::Response;
use axum::routing::get;
use mesonet::Iso8601;
use serde::Serialize;

use super::{MODELS, OBSERVATIONS};
use crate::error::ApiError;
use crate::http::encoding::Accepted;
use crate::http::endpoint::Endpoint;
use crate::http::snapshot::json_value;
use crate::ingest::push;
use crate::state::State;

pub fn router() -> Router<Arc<State>> {
    Router::new().route("/", get(index))
}

#[derive(Serialize)]
struct Index {
    service: &'static str,
    version: &'static str,
    /// The data is recorded: this is the time of the answers. Absent on a live server.
    #[serde(skip_serializing_if = "Option::is_none")]
    replay: Option<Iso8601>,
    endpoints: Vec<String>,
}

async fn index(
    Shared(state): Shared<Arc<State>>,
    accepted: Accepted,
) -> Result<Response, ApiError> {
    let listed = |prefix: &str, endpoints: &mut dyn Iterator<Item = &Endpoint>| {
        let line = |of: &Endpoint| format!("{} {prefix}{}", of.method, of.path);
        let mut lines: Vec<String> = endpoints.map(line).collect();
        // By path, whatever the method.
        lines.sort_by(|one, other| one.split(' ').rev().cmp(other.split(' ').rev()));
        lines
    };
    let config = state.config();
    let mut observations = OBSERVATIONS.into_iter().flatten().chain(push::ENDPOINTS);
    let mut endpoints = listed(&config.api_prefix, &mut observations);
    endpoints.extend(listed(&config.model_prefix, &mut MODELS.into_iter().flatten()));
    let now = || Iso8601(state.clock.now_ms().div_euclid(1000) * 1000);
    let index = Index {
        service: "mesonet",
        version: env!("CARGO_PKG_VERSION"),
        replay: (!state.clock.is_live()).then(now),
        endpoints,
    };
    json_value(accepted, &index)
}
