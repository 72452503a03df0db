//! `/healthz` and `/readyz`: for monitoring systems and load balancers.

use std::sync::Arc;

use axum::extract::State as Shared;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use mesonet::Iso8601;
use serde::Serialize;
use utoipa::ToSchema;

use crate::http::error::ApiError;
use crate::http::snapshot::json_not_stored;
use crate::openapi::{About, Tag};
use crate::routes::Endpoint;
use crate::state::State;
use mesonet_service::record::{is_ahead, newest_ms_by};

pub const ENDPOINTS: &[Endpoint] = &[
    Endpoint::get("/healthz", || get(healthz)).about(|| {
        About::new("getHealth", Tag::Server, "Whether the process answers")
            .plain("text/plain", "`ok`")
            .cached("`no-store`")
    }),
    Endpoint::get("/readyz", || get(readyz)).about(|| {
        About::new("getReadiness", Tag::Server, "Whether it can answer and take files in")
            .json::<Readiness>("It can.")
            .json_with_status::<Readiness>("503", "It cannot, for these reasons.")
            .cached("`no-store`")
    }),
];

/// The process answers.
async fn healthz() -> Response {
    let plain = [(header::CONTENT_TYPE, "text/plain"), (header::CACHE_CONTROL, "no-store")];
    (plain, "ok\n").into_response()
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct Readiness {
    ready: bool,
    /// What keeps the server from being ready.
    reasons: Vec<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    newest_reading: Option<Iso8601>,
    /// How old that reading is, seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    newest_age_s: Option<i64>,
    /// Of a server that reads the record of another one: all that the other had acknowledged before is
    /// served.
    #[serde(skip_serializing_if = "Option::is_none")]
    as_of: Option<Iso8601>,
    /// How long ago that is, seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    behind_s: Option<i64>,
    /// How many parts of the record are damaged.
    faults: usize,
}

/// The server can answer and take files in.
async fn readyz(Shared(state): Shared<Arc<State>>) -> Result<Response, ApiError> {
    let readiness = state.look_up(readiness).await?;
    let status = if readiness.ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    json_not_stored(status, &readiness)
}

fn readiness(state: &State) -> Readiness {
    let mut reasons = Vec::new();
    if state.services.is_shutting_down() {
        reasons.push("the server is stopping");
    }
    let (mut newest_ms, mut faults) = (None, 0);
    if let Some(record) = state.services.record() {
        let health = record.health();
        (newest_ms, faults) = (health.newest_ms, health.faults.len());
        reasons.extend(record.trouble());
        if state.credentials.keys.as_ref().is_some_and(|keys| !keys.is_trusted()) {
            reasons.push("the API keys cannot be read");
            faults += 1;
        }
        faults += record.alerts().faults();
        if record.alerts().failure().is_some() {
            reasons.push("the alerts cannot be read");
        }
    }
    let follower = state.services.follower();
    if let Some(follower) = follower {
        let health = follower.health();
        (newest_ms, faults) = (health.newest_ms, health.faults.len());
        reasons.extend(follower.trouble());
    }
    let now_ms = state.clock.now_ms();
    if newest_ms.is_some_and(|newest_ms| is_ahead(newest_ms, now_ms)) {
        newest_ms = newest_ms_by(&*state.services.store, now_ms).unwrap_or_default();
    }
    let age_s = |newest_ms: i64| (now_ms - newest_ms).div_euclid(1000).max(0);
    Readiness {
        ready: reasons.is_empty(),
        reasons,
        newest_reading: newest_ms.map(Iso8601),
        newest_age_s: newest_ms.map(age_s),
        as_of: follower.map(|follower| Iso8601(follower.as_of_ms())),
        behind_s: follower.map(|follower| follower.behind_s() as i64),
        faults,
    }
}
