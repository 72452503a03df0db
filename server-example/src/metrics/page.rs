//! `/metrics`.

use std::sync::Arc;

use axum::Router;
use axum::extract::State as Shared;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use prometheus_client::encoding::text;

use crate::door::{Certificate, Table};
use crate::error::ApiError;
use crate::state::State;

/// What OpenMetrics 1.0 calls its text, which Prometheus reads.
const OPEN_METRICS: HeaderValue =
    HeaderValue::from_static("application/openmetrics-text; version=1.0.0; charset=utf-8");

struct Shown {
    state: Arc<State>,
    table: Arc<Table>,
    certificate: Option<Arc<Certificate>>,
}

/// The page, for a socket of its own: whoever reaches it may read it.
pub fn router(
    state: Arc<State>,
    table: Arc<Table>,
    certificate: Option<Arc<Certificate>>,
) -> Router {
    let shown = Arc::new(Shown { state, table, certificate });
    Router::new().route("/metrics", get(metrics)).with_state(shown)
}

async fn metrics(Shared(shown): Shared<Arc<Shown>>) -> Result<Response, ApiError> {
    let state = Arc::clone(&shown.state);
    // Lengths of files are looked up.
    let body = state.look_up(move |state| {
        let metrics = &state.services.metrics;
        metrics.look(state, &shown.table, shown.certificate.as_deref());
        let mut body = String::new();
        text::encode(&mut body, &metrics.registry).map(|()| body)
    });
    let mut response = body.await?.map_err(ApiError::internal)?.into_response();
    response.headers_mut().insert(header::CONTENT_TYPE, OPEN_METRICS);
    Ok(response)
}
