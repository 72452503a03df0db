//! `/`: what the server is and where its endpoints are.

use std::sync::Arc;

use axum::extract::State as Shared;
use axum::http::HeaderMap;
use axum::response::Response;
use axum::routing::get;
use mesonet::Iso8601;
use serde::Serialize;
use utoipa::ToSchema;

use crate::describe;
use crate::describe::{About, Credentials, Part};
use crate::error::ApiError;
use crate::http::encoding::Accepted;
use crate::http::endpoint::Endpoint;
use crate::http::snapshot::json_value;
use crate::state::State;

pub const ENDPOINTS: &[Endpoint] = &[
    Endpoint {
        method: "GET",
        path: "/",
        query: &[],
        body: &[],
        handler: || get(index),
        about: || {
            About::new("getIndex", Part::Server, "What the server is and where its endpoints are")
                .credentials(Credentials::Any)
                .json::<Index>("The endpoints.")
        },
    },
    Endpoint {
        method: "GET",
        path: "/openapi/v1.json",
        query: &[],
        body: &[],
        handler: || get(openapi),
        about: || {
            About::new("getDescription", Part::Server, "This description")
                .credentials(Credentials::Any)
                .json::<Described>("An OpenAPI 3.1 document.")
                .cached("`no-cache`")
                .tagged()
        },
    },
];

/// An OpenAPI 3.1 document.
#[derive(ToSchema)]
#[schema(as = OpenApiDocument, value_type = Object)]
#[expect(dead_code, reason = "only its form is used")]
struct Described(serde_json::Value);

#[derive(Serialize, ToSchema)]
struct Index {
    service: &'static str,
    version: &'static str,
    /// The data is recorded: this is the time of the answers. Absent on a live server.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<String>, format = DateTime)]
    replay: Option<Iso8601>,
    endpoints: Vec<String>,
}

async fn index(
    Shared(state): Shared<Arc<State>>,
    accepted: Accepted,
) -> Result<Response, ApiError> {
    let config = state.config();
    let all = describe::all(&config.api_prefix, &config.model_prefix);
    let mut endpoints: Vec<(String, &str)> =
        all.map(|(prefix, of)| (format!("{prefix}{}", of.path), of.method)).collect();
    endpoints.sort_unstable();
    let endpoints =
        endpoints.into_iter().map(|(path, method)| format!("{method} {path}")).collect();
    let now = || Iso8601(state.clock.now_ms().div_euclid(1000) * 1000);
    let index = Index {
        service: "mesonet",
        version: env!("CARGO_PKG_VERSION"),
        replay: (!state.clock.is_live()).then(now),
        endpoints,
    };
    json_value(accepted, &index)
}

async fn openapi(
    Shared(state): Shared<Arc<State>>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let answer = move |state: &State| {
        let config = state.config();
        let made = state.snapshots.description(&config.api_prefix, &config.model_prefix);
        made.map(|description| description.answer(&headers)).map_err(ApiError::internal)
    };
    state.look_up(answer).await?
}
