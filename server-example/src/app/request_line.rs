//! Requests in the log, the metrics and traces. Each request has an id, which an answer of 5xx
//! carries too, and a log line at its end.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::Request;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use hyper::body::{Frame, SizeHint};
use mesonet::access::Plan;

use super::route::Route;
use crate::http::request_id::{REQUEST_ID, RequestId};
use crate::observe::metrics::name_of;
use crate::observe::traces::{RequestEnd, Trace};
use crate::state::State;

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
    let id = RequestId::next();
    let began = Instant::now();
    let method = request.method().clone();
    let mut path = request.uri().path().to_owned();
    // A path is ASCII.
    path.truncate(MAX_PATH_BYTES);
    let trace = state.traces.begin(name_of(&method), request.headers());
    let (mut response, plan) = id.during(answer(request)).await;
    let id = id.to_string();
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
