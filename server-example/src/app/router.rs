//! The router of the whole service, and what comes before and after each request.

use std::any::Any;
use std::convert::Infallible;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, HttpBody};
use axum::extract::Request;
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use mesonet::Iso8601;
use mesonet::access::Plan;
use percent_encoding::percent_decode_str;
use tokio::time::timeout;
use tower::{Layer, Service, ServiceExt, service_fn};

use super::route::{Route, Routes};
use super::{identify, rate, request_line};
use crate::http::error::ApiError;
use crate::http::{NO_SNIFFING, NOSNIFF, REPLAY};
use crate::state::State;
use crate::{connections, http, routes};

/// How long it may take until the answer to a request begins. A long answer may take longer to
/// send.
const PATIENCE: Duration = Duration::from_secs(60);

/// The whole service. What comes before and after each request is around the router, not in it: each
/// layer of a router is copied and boxes a future for every request.
#[derive(Clone)]
pub struct App {
    state: Arc<State>,
    routes: Arc<Routes>,
    router: Router,
}

/// Returns the whole service.
pub fn app(state: Arc<State>) -> App {
    let config = state.config();
    let endpoints = || routes::all(&config.api_prefix, &config.model_prefix);
    let routes = Arc::new(Routes::new(endpoints(), &state.services.metrics));
    let router = endpoints().fold(Router::new(), |router, (prefix, endpoint)| {
        router.route(&format!("{prefix}{}", endpoint.path), (endpoint.handler)())
    });
    let router = router.with_state(Arc::clone(&state));
    App { state, routes, router }
}

impl App {
    /// The service as connections take it.
    pub(super) fn service(self) -> connections::Service {
        let app = Arc::new(self);
        Arc::new(move |request| {
            let app = Arc::clone(&app);
            Box::pin(async move { app.answer(request).await })
        })
    }

    /// Answers a request.
    pub async fn answer(&self, mut request: Request) -> Response {
        // Before the router looks at the path: `/st%61tions` is `/stations`. Both are equivalent by
        // RFC 3986 (6.2.2.2).
        if let Some(uri) = http::path::with_letters_decoded(request.uri()) {
            *request.uri_mut() = uri;
        }
        let route = self.routes.of(request.uri().path());
        let plan = OnceLock::new();
        let answered = async |request: Request| {
            let mut response = self.around(route, request, &plan).await;
            let headers = response.headers_mut();
            headers.insert(NOSNIFF, NO_SNIFFING);
            // An answer that does not say how long it may be cached must be revalidated: readings
            // arrive late.
            headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-cache"));
            // A server that is about to stop ends each connection with its next answer, so that a
            // proxy sends nothing more on it. Over HTTP/2, `connections/` does that.
            if self.state.services.is_shutting_down() {
                headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
            }
            (response, plan.get().copied())
        };
        request_line::note(&self.state, route, request, answered).await
    }

    /// What comes before and after every request. The plan is set once the caller is known.
    async fn around(&self, route: &Route, mut request: Request, plan: &OnceLock<Plan>) -> Response {
        let state = &*self.state;
        let rule = route.rule(request.method());
        if let Some(rule) = rule {
            request.extensions_mut().insert(rule.requested);
            if rule.is_health {
                return self.route(request).await;
            }
        }
        let is_head = request.method() == Method::HEAD;
        let patience = rule.is_none_or(|rule| !rule.is_push).then_some(PATIENCE);
        let replayed_ms = (!state.clock.is_live()).then(|| state.clock.now_ms());
        let mut response = match state.cors.load_full() {
            None => self.admit(request, patience, plan).await,
            // Pages of the configured sites may call the service.
            Some(cors) => {
                let admitted = service_fn(async |request| {
                    Ok::<_, Infallible>(self.admit(request, patience, plan).await)
                });
                let answered = cors.layer(admitted).oneshot(request).await;
                answered.unwrap_or_else(|never| match never {})
            }
        };
        if response.status() == StatusCode::NOT_MODIFIED {
            // The length of its own body, 0, would be taken for the length of the answer to a GET.
            response.headers_mut().remove(header::CONTENT_LENGTH);
        }
        if is_head {
            leave_out_body(&mut response);
        }
        if let Some(now_ms) = replayed_ms {
            let second_ms = now_ms.div_euclid(1000) * 1000;
            if let Ok(now) = HeaderValue::try_from(Iso8601(second_ms).to_string()) {
                response.headers_mut().insert(REPLAY, now);
            }
        }
        response
    }

    /// Lets a request go on to its endpoint, or answers why not.
    async fn admit(
        &self,
        mut request: Request,
        patience: Option<Duration>,
        plan: &OnceLock<Plan>,
    ) -> Response {
        if let Some(refusal) = rate::limit(&self.state, &mut request).await {
            return refusal;
        }
        match identify::identify(&self.state, &mut request).await {
            Ok(of_caller) => plan.get_or_init(|| of_caller),
            Err(refusal) => return *refusal,
        };
        match refuse_invalid_utf8(&request) {
            Some(error) => error.into_response(),
            None => self.endpoint(request, patience).await,
        }
    }

    /// Runs an endpoint. If it takes longer than the patience, the answer is 503.
    async fn endpoint(&self, request: Request, patience: Option<Duration>) -> Response {
        let answered = AssertUnwindSafe(self.route(request)).catch_unwind();
        let answered = match patience {
            Some(patience) => match timeout(patience, answered).await {
                Ok(answered) => answered,
                Err(_) => return StatusCode::SERVICE_UNAVAILABLE.into_response(),
            },
            None => answered.await,
        };
        answered.unwrap_or_else(|panic| panicked(&*panic))
    }

    /// Lets the router answer a request.
    async fn route(&self, request: Request) -> Response {
        let answered = self.router.clone().call(request).await;
        answered.unwrap_or_else(|never| match never {})
    }
}

impl Service<Request> for App {
    type Response = Response;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request) -> Self::Future {
        let app = self.clone();
        Box::pin(async move { Ok(app.answer(request).await) })
    }
}

/// Refuses paths and parameters that are not UTF-8, for every endpoint, so that no endpoint repairs
/// them silently. No path or parameter has such a value.
fn refuse_invalid_utf8(request: &Request) -> Option<ApiError> {
    let is_text =
        |part: &str| !part.contains('%') || percent_decode_str(part).decode_utf8().is_ok();
    let (path, query) = (request.uri().path(), request.uri().query().unwrap_or_default());
    let refuse = |what, got| format!("the {what} must be UTF-8; got {got}");
    if !is_text(path) {
        return Some(ApiError::NotFound(refuse("path", path)));
    }
    (!is_text(query)).then(|| ApiError::BadRequest(refuse("query string", query)))
}

/// Leaves the length of a body, but not the body. The router has done so with its own answers, but a
/// refusal does not come from it.
fn leave_out_body(response: &mut Response) {
    if let Some(bytes) = response.body().size_hint().exact().filter(|&bytes| bytes > 0) {
        response.headers_mut().entry(header::CONTENT_LENGTH).or_insert(bytes.into());
    }
    *response.body_mut() = Body::empty();
}

/// A panic is a fault of the server, and goes to the log.
fn panicked(panic: &(dyn Any + Send)) -> Response {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref().copied()).unwrap_or("unknown cause");
    ApiError::Internal(format!("a panic: {text}")).into_response()
}
