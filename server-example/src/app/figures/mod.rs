//! `/metrics`: metrics that are counted, and metrics that are looked up when the page is read.

mod look;

use std::sync::Arc;

use axum::Router;
use axum::extract::State as Shared;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use prometheus_client::encoding::text;
use prometheus_client::registry::Registry;

use crate::connections::{Certificate, Table};
use crate::http::error::ApiError;
use crate::observe::metrics;
use crate::state::State;
use look::Gauges;

/// The media type of OpenMetrics 1.0, which Prometheus reads.
const OPEN_METRICS: HeaderValue =
    HeaderValue::from_static("application/openmetrics-text; version=1.0.0; charset=utf-8");

struct Page {
    state: Arc<State>,
    table: Arc<Table>,
    certificate: Option<Arc<Certificate>>,
    looked: Gauges,
    /// The registry of the metrics that are looked up.
    registry: Registry,
}

/// The page, for a socket of its own. Every caller that can reach the socket may read it.
pub fn router(
    state: Arc<State>,
    table: Arc<Table>,
    certificate: Option<Arc<Certificate>>,
) -> Router {
    let mut registry = metrics::registry();
    let looked = Gauges::register(&mut registry);
    let shown = Arc::new(Page { state, table, certificate, looked, registry });
    Router::new().route("/metrics", get(figures)).with_state(shown)
}

async fn figures(Shared(shown): Shared<Arc<Page>>) -> Result<Response, ApiError> {
    let state = Arc::clone(&shown.state);
    // Lengths of files are looked up.
    let body = state.look_up(move |state| {
        shown.looked.look(state, &shown.table, shown.certificate.as_deref());
        let mut body = String::new();
        text::encode_registry(&mut body, &state.services.metrics.registry)
            .and_then(|()| text::encode(&mut body, &shown.registry))
            .map(|()| body)
    });
    let mut response = body.await?.map_err(ApiError::internal)?.into_response();
    response.headers_mut().insert(header::CONTENT_TYPE, OPEN_METRICS);
    Ok(response)
}
