//! The router of the whole service, and the layers around it.

use std::any::Any;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Request, State as Shared};
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::{Next, from_fn, from_fn_with_state, map_response};
use axum::response::{IntoResponse, Response};
use mesonet::Iso8601;
use percent_encoding::percent_decode_str;
use tower::util::MapRequest;
use tower::{Layer, ServiceExt};
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::timeout::TimeoutLayer;

use super::{identify, rate, request_line};
use crate::http::error::ApiError;
use crate::http::{NO_SNIFFING, NOSNIFF, REPLAY};
use crate::observe::metrics;
use crate::state::State;
use crate::{http, routes};

/// How long it may take until the answer to a request begins. A long answer may take longer to
/// send.
const PATIENCE: Duration = Duration::from_secs(60);

/// The whole service.
pub fn app(state: Arc<State>) -> Router {
    let config = state.config();
    let router = Router::new()
        .merge(routes::index())
        .nest(&config.api_prefix, routes::observations())
        .merge(routes::models(&config.model_prefix))
        .layer(TimeoutLayer::with_status_code(StatusCode::SERVICE_UNAVAILABLE, PATIENCE))
        // A long file on a slow line may take long, as long as its pieces keep coming.
        .nest(&config.api_prefix, routes::pushes())
        .layer(CatchPanicLayer::custom(panicked))
        .layer(from_fn(refuse_invalid_utf8))
        .layer(from_fn_with_state(Arc::clone(&state), identify::identify))
        .layer(from_fn_with_state(Arc::clone(&state), rate::limit));
    let router = router
        .layer(from_fn_with_state(Arc::clone(&state), allow))
        .layer(from_fn_with_state(Arc::clone(&state), add_replay_header))
        .layer(map_response(leave_length_open))
        .layer(from_fn(metrics::note_route))
        .with_state(Arc::clone(&state));
    // Health checks are not limited.
    let router = routes::health()
        .layer(from_fn(metrics::note_route))
        .with_state(Arc::clone(&state))
        .fallback_service(router)
        .layer(map_response(add_common_headers))
        .layer(from_fn_with_state(Arc::clone(&state), take_leave))
        .layer(from_fn_with_state(state, request_line::note));
    // Before the router looks at the path.
    Router::new().fallback_service(MapRequest::new(router, decode_letters))
}

/// Decodes the characters of a path that need no encoding, so that `/st%61tions` is `/stations`:
/// both are equivalent by RFC 3986 (6.2.2.2).
fn decode_letters<B>(mut request: Request<B>) -> Request<B> {
    if let Some(uri) = http::path::with_letters_decoded(request.uri()) {
        *request.uri_mut() = uri;
    }
    request
}

/// A server that is about to stop ends each connection with its next answer, so that a proxy sends
/// nothing more on it. Over HTTP/2, `connections/` does that.
async fn take_leave(Shared(state): Shared<Arc<State>>, request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    if state.services.is_leaving() {
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    response
}

/// A 304 answer to a HEAD has no length. The length of its own body, 0, would be taken for the
/// length of the answer to a GET.
async fn leave_length_open(mut response: Response) -> Response {
    if response.status() == StatusCode::NOT_MODIFIED {
        *response.body_mut() =
            Body::from_stream(futures_util::stream::empty::<io::Result<Bytes>>());
    }
    response
}

async fn add_replay_header(
    Shared(state): Shared<Arc<State>>,
    request: Request,
    next: Next,
) -> Response {
    if state.clock.is_live() {
        return next.run(request).await;
    }
    let second_ms = state.clock.now_ms().div_euclid(1000) * 1000;
    let mut response = next.run(request).await;
    if let Ok(now) = HeaderValue::try_from(Iso8601(second_ms).to_string()) {
        response.headers_mut().insert(REPLAY, now);
    }
    response
}

/// An answer that does not say how long it may be cached must be revalidated: readings arrive late.
async fn add_common_headers(mut response: Response) -> Response {
    let headers = response.headers_mut();
    headers.insert(NOSNIFF, NO_SNIFFING);
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-cache"));
    response
}

/// Refuses paths and parameters that are not UTF-8, for every endpoint, so that no endpoint repairs
/// them silently. No path or parameter has such a value.
async fn refuse_invalid_utf8(request: Request, next: Next) -> Response {
    let is_text = |part: &str| percent_decode_str(part).decode_utf8().is_ok();
    let (path, query) = (request.uri().path(), request.uri().query().unwrap_or_default());
    let refuse = |what, got| format!("the {what} must be UTF-8; got {got}");
    if !is_text(path) {
        return ApiError::NotFound(refuse("path", path)).into_response();
    }
    if !is_text(query) {
        return ApiError::BadRequest(refuse("query string", query)).into_response();
    }
    next.run(request).await
}

/// A panic is a fault of the server, and goes to the log.
#[allow(clippy::needless_pass_by_value, reason = "the layer hands it over")]
fn panicked(panic: Box<dyn Any + Send>) -> Response {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref().copied()).unwrap_or("unknown cause");
    ApiError::Internal(format!("a panic: {text}")).into_response()
}

/// Lets pages of the configured sites call the service.
pub async fn allow(Shared(state): Shared<Arc<State>>, request: Request, next: Next) -> Response {
    let cors = state.cors.load_full();
    let Some(cors) = cors else { return next.run(request).await };
    let answered = cors.layer(next).oneshot(request).await;
    answered.unwrap_or_else(|never| match never {})
}
