//! Requests in the log, the metrics and traces. Each request has an id, which an answer of 5xx
//! carries too, and a log line at its end.

use std::fmt::Write as _;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::Request;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::Response;
use hyper::body::{Frame, SizeHint};
use mesonet::access::Plan;
use tracing::Instrument;

use super::route::Route;
use crate::observe::metrics::name_of;
use crate::observe::traces::{RequestEnd, Trace};
use crate::state::State;

/// The id of a request, on answers of 5xx.
pub const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Length of the longest part of a path in the log, in bytes.
const MAX_PATH_BYTES: usize = 200;

/// Gives a request its id, which everything logged about the request carries. Logs the request once
/// its answer has been sent or given up. Query strings are not logged. The plan of the caller comes
/// with the answer, unless the request was refused before.
pub async fn note<F: Future<Output = (Response, Option<Plan>)>>(
    state: &State,
    route: &Arc<Route>,
    request: Request,
    answer: impl FnOnce(Request) -> F,
) -> Response {
    let id = next_id();
    let began = Instant::now();
    let method = request.method().clone();
    let mut path = request.uri().path().to_owned();
    // A path is ASCII.
    path.truncate(MAX_PATH_BYTES);
    let trace = state.traces.begin(name_of(&method), request.headers());
    let span = tracing::error_span!("request", %id);
    let (mut response, plan) = answer(request).instrument(span).await;
    let status = response.status();
    if status.is_server_error() {
        if status == StatusCode::INTERNAL_SERVER_ERROR {
            tell(&mut response, &id);
        }
        if let Ok(id) = HeaderValue::try_from(&*id) {
            response.headers_mut().insert(REQUEST_ID, id);
        }
    }
    let (route, answered) = (Arc::clone(route), began.elapsed());
    let line = Line { id, method, path, status, plan, bytes: 0, began, answered, route, trace };
    response.map(|body| Body::new(CountedBody { body, line }))
}

/// Makes an answer say nothing of a fault except the id of the request in the log (RFC 7807).
fn tell(response: &mut Response, id: &str) {
    let body = format!(
        "{{\"type\":\"about:blank\",\"title\":\"Internal Server Error\",\"status\":500,\
         \"instance\":\"urn:mesonet:request:{id}\"}}"
    );
    *response.body_mut() = Body::from(body);
    let headers = response.headers_mut();
    headers.remove(header::CONTENT_LENGTH);
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
}

/// Returns 16 digits. No two requests of a process have the same digits, and requests of two
/// processes hardly ever do.
fn next_id() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    static START: std::sync::OnceLock<u64> = std::sync::OnceLock::new();
    let start = START.get_or_init(|| getrandom::u64().unwrap_or_default());
    let number = start.wrapping_add(NEXT.fetch_add(1, Ordering::Relaxed));
    let mut id = String::with_capacity(16);
    let _ = write!(id, "{number:016x}");
    id
}

struct Line {
    id: String,
    method: axum::http::Method,
    path: String,
    status: StatusCode,
    /// Unknown if the request was refused before its caller was known.
    plan: Option<Plan>,
    bytes: u64,
    began: Instant,
    /// The time until the answer began.
    answered: Duration,
    route: Arc<Route>,
    trace: Trace,
}

impl Drop for Line {
    fn drop(&mut self) {
        let Self { id, method, path, status, plan, bytes, began, answered, route, trace } = self;
        route.metrics.answered(method, *status, *answered, *bytes);
        trace.end(&RequestEnd {
            id,
            method: name_of(method),
            route: route.template.as_deref(),
            path,
            status: *status,
            bytes: *bytes,
            answered: *answered,
            plan: plan.map(Plan::name),
        });
        tracing::info!(
            target: "request",
            id,
            %method,
            path,
            status = status.as_u16(),
            bytes,
            ms = began.elapsed().as_micros() as f64 / 1000.0,
            plan = plan.map_or("unknown", Plan::name),
        );
    }
}

/// The body of an answer, counted as it leaves.
struct CountedBody {
    body: Body,
    line: Line,
}

impl HttpBody for CountedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let frame = Pin::new(&mut self.body).poll_frame(context);
        if let Poll::Ready(Some(Ok(frame))) = &frame {
            self.line.bytes += frame.data_ref().map_or(0, |data| data.len() as u64);
        }
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_of_one_request() {
        let ids: std::collections::HashSet<String> = (0..1_000).map(|_| next_id()).collect();
        assert_eq!(ids.len(), 1_000);
        assert!(ids.iter().all(|id| id.len() == 16));
    }

    #[tokio::test]
    async fn the_body_of_a_500_has_the_id_and_nothing_else() {
        let mut response = Response::new(Body::from("the cause"));
        response.headers_mut().insert("x-kept", HeaderValue::from_static("1"));
        tell(&mut response, "00ff");
        assert_eq!(response.headers()["x-kept"], "1");
        let body = axum::body::to_bytes(response.into_body(), 1_000).await.unwrap();
        let body: serde_json::Value = serde_json::from_slice(&body).unwrap();
        let expected = serde_json::json!({
            "type": "about:blank",
            "title": "Internal Server Error",
            "status": 500,
            "instance": "urn:mesonet:request:00ff",
        });
        assert_eq!(body, expected);
    }
}
