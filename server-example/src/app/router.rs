//! The router of the whole service, and the layers around it.

use std::any::Any;
use std::convert::Infallible;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Request, State as Shared};
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use mesonet::Iso8601;
use percent_encoding::percent_decode_str;
use tower::util::MapRequest;
use tower::{Layer, ServiceExt, service_fn};
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
        .layer(from_fn_with_state(Arc::clone(&state), around))
        .with_state(Arc::clone(&state));
    // Health checks are not limited.
    let router = routes::health()
        .layer(from_fn(metrics::note_route))
        .with_state(Arc::clone(&state))
        .fallback_service(router)
        .layer(from_fn_with_state(state, note));
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

/// What comes before and after every request. It is one layer, as [`around`] is: each layer copies
/// what is below it and boxes a future, for every request.
async fn note(Shared(state): Shared<Arc<State>>, request: Request, next: Next) -> Response {
    let answered = async |request: Request| {
        let mut response = next.run(request).await;
        let headers = response.headers_mut();
        headers.insert(NOSNIFF, NO_SNIFFING);
        // An answer that does not say how long it may be cached must be revalidated: readings
        // arrive late.
        headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-cache"));
        // A server that is about to stop ends each connection with its next answer, so that a proxy
        // sends nothing more on it. Over HTTP/2, `connections/` does that.
        if state.services.is_leaving() {
            headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
        }
        response
    };
    request_line::note(&state, request, answered).await
}

/// What comes before and after a request that is not a health check.
async fn around(Shared(state): Shared<Arc<State>>, request: Request, next: Next) -> Response {
    let route = metrics::route_of_request(&request);
    let replayed_ms = (!state.clock.is_live()).then(|| state.clock.now_ms());
    let mut response = match state.cors.load_full() {
        None => admit(&state, request, next).await,
        // Pages of the configured sites may call the service.
        Some(cors) => {
            let state = &state;
            let admitted = service_fn(move |request: Request| {
                let next = next.clone();
                async move { Ok::<_, Infallible>(admit(state, request, next).await) }
            });
            let answered = cors.layer(admitted).oneshot(request).await;
            answered.unwrap_or_else(|never| match never {})
        }
    };
    if response.status() == StatusCode::NOT_MODIFIED {
        // A 304 answer to a HEAD has no length. The length of its own body, 0, would be taken for
        // the length of the answer to a GET.
        *response.body_mut() =
            Body::from_stream(futures_util::stream::empty::<io::Result<Bytes>>());
    }
    if let Some(now_ms) = replayed_ms {
        let second_ms = now_ms.div_euclid(1000) * 1000;
        if let Ok(now) = HeaderValue::try_from(Iso8601(second_ms).to_string()) {
            response.headers_mut().insert(REPLAY, now);
        }
    }
    metrics::note_route_of(route, &mut response);
    response
}

/// Lets a request go on to its endpoint, or answers why not.
async fn admit(state: &State, mut request: Request, next: Next) -> Response {
    if let Some(refusal) = rate::limit(state, &mut request).await {
        return refusal;
    }
    let plan = match identify::identify(state, &mut request).await {
        Ok(plan) => plan,
        Err(refusal) => return *refusal,
    };
    let mut response = match refuse_invalid_utf8(&request) {
        Some(error) => error.into_response(),
        None => next.run(request).await,
    };
    response.extensions_mut().insert(plan);
    response
}

/// Refuses paths and parameters that are not UTF-8, for every endpoint, so that no endpoint repairs
/// them silently. No path or parameter has such a value.
fn refuse_invalid_utf8(request: &Request) -> Option<ApiError> {
    let is_text = |part: &str| percent_decode_str(part).decode_utf8().is_ok();
    let (path, query) = (request.uri().path(), request.uri().query().unwrap_or_default());
    let refuse = |what, got| format!("the {what} must be UTF-8; got {got}");
    if !is_text(path) {
        return Some(ApiError::NotFound(refuse("path", path)));
    }
    (!is_text(query)).then(|| ApiError::BadRequest(refuse("query string", query)))
}

/// A panic is a fault of the server, and goes to the log.
#[allow(clippy::needless_pass_by_value, reason = "the layer hands it over")]
fn panicked(panic: Box<dyn Any + Send>) -> Response {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref().copied()).unwrap_or("unknown cause");
    ApiError::Internal(format!("a panic: {text}")).into_response()
}
