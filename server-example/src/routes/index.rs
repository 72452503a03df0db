//! `/`: what the server is, and where its endpoints are. A browser gets the explorer.

use std::sync::Arc;

use axum::extract::State as Shared;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::Response;
use axum::routing::get;
use mesonet::Iso8601;
use mesonet::access::Plan;
use serde::Serialize;
use utoipa::ToSchema;

use super::page;
use crate::http::encoding::AcceptedEncodings;
use crate::http::error::ApiError;
use crate::http::snapshot::json_value;
use crate::openapi::{About, Credentials, Tag};
use crate::routes::Endpoint;
use crate::state::State;

/// The request headers that the answer depends on.
const BY_ACCEPT: HeaderValue = HeaderValue::from_static("accept, accept-encoding");

pub const ENDPOINTS: &[Endpoint] = &[
    Endpoint::get("/", || get(index)).about(|| {
        About::new("getIndex", Tag::Server, "What the server is and where its endpoints are")
            .text("A caller that prefers `text/html`, as browsers do, gets the explorer.")
            .credentials(Credentials::Any)
            .json::<Index>("The endpoints.")
            .plain("text/html", "The explorer.")
    }),
    Endpoint::get("/openapi/v1.json", || get(openapi)).about(|| {
        About::new("getDescription", Tag::Server, "This description")
            .credentials(Credentials::Any)
            .json::<OpenApiDocument>("An OpenAPI 3.1 document.")
            .cached("`no-cache`")
            .tagged()
    }),
];

/// An OpenAPI 3.1 document.
#[derive(ToSchema)]
#[schema(as = OpenApiDocument, value_type = Object)]
#[expect(dead_code, reason = "only its form is used")]
struct OpenApiDocument(serde_json::Value);

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct Index {
    service: &'static str,
    version: &'static str,
    /// Where the documentation is.
    documentation: &'static str,
    /// The data is recorded: this is the time of the answers. Absent on a live server.
    #[serde(skip_serializing_if = "Option::is_none")]
    replay: Option<Iso8601>,
    /// The demonstration replays the alerts of each country at a time of their own. Absent where they are
    /// at that of the readings.
    #[serde(skip_serializing_if = "Option::is_none")]
    replay_alerts: Option<ReplayAlerts>,
    /// For development: callers without a credential count as having this plan.
    #[serde(skip_serializing_if = "Option::is_none")]
    assumed_plan: Option<&'static str>,
    endpoints: Vec<String>,
}

/// The time of the answers about alerts.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct ReplayAlerts {
    /// Of those of Canada.
    canada: Iso8601,
    /// Of those of the United States.
    united_states: Iso8601,
}

async fn index(
    Shared(state): Shared<Arc<State>>,
    accepted: AcceptedEncodings,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let mut response = if page::is_preferred(&headers) {
        let answer = move |state: &State| page::page(&headers, &state.config().frame_origins);
        state.look_up(answer).await??
    } else {
        json_value(accepted, &listed(&state))?
    };
    response.headers_mut().insert(header::VARY, BY_ACCEPT);
    Ok(response)
}

fn listed(state: &State) -> Index {
    let config = state.config();
    let all = super::all(&config.api_prefix, &config.model_prefix);
    let mut endpoints: Vec<(String, &str)> =
        all.map(|(prefix, of)| (format!("{prefix}{}", of.path), of.method)).collect();
    endpoints.sort_unstable();
    let endpoints =
        endpoints.into_iter().map(|(path, method)| format!("{method} {path}")).collect();
    let second = |at_ms: i64| Iso8601(at_ms.div_euclid(1000) * 1000);
    let feeds = state.clock.alerts().feeds_ms().map(|feeds_ms| feeds_ms.map(second));
    Index {
        service: "mesonet",
        version: env!("CARGO_PKG_VERSION"),
        documentation: env!("CARGO_PKG_HOMEPAGE"),
        replay: (!state.clock.is_live()).then(|| second(state.clock.now_ms())),
        replay_alerts: feeds.map(|[canada, united_states]| ReplayAlerts { canada, united_states }),
        assumed_plan: (config.assume_plan != Plan::None).then(|| config.assume_plan.name()),
        endpoints,
    }
}

async fn openapi(
    Shared(state): Shared<Arc<State>>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let answer = move |state: &State| {
        let config = state.config();
        let make =
            || serde_json::to_vec(&super::description(&config.api_prefix, &config.model_prefix));
        let made = state.snapshots.description(make);
        made.map(|description| description.answer(&headers)).map_err(ApiError::internal)
    };
    state.look_up(answer).await?
}
