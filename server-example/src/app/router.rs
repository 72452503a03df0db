//! The router of the whole service, and what comes before and after each request.

use std::any::Any;
use std::collections::HashMap;
use std::convert::Infallible;
use std::io;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{MatchedPath, Request, State as Shared};
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use mesonet::Iso8601;
use percent_encoding::percent_decode_str;
use tokio::time::timeout;
use tower::{Layer, Service, ServiceExt, service_fn};

use super::{identify, rate, request_line};
use crate::http::error::ApiError;
use crate::http::member::Requested;
use crate::http::{NO_SNIFFING, NOSNIFF, REPLAY};
use crate::observe::metrics;
use crate::routes::Endpoint;
use crate::state::State;
use crate::{connections, http, routes};

/// How long it may take until the answer to a request begins. A long answer may take longer to
/// send.
const PATIENCE: Duration = Duration::from_secs(60);

/// The whole service: one router, with one layer around its endpoints. Each layer of a router is
/// copied and boxes a future for every request.
#[derive(Clone)]
pub struct App {
    state: Arc<State>,
    router: Router,
}

/// Returns the whole service.
pub fn app(state: Arc<State>) -> App {
    let config = state.config();
    let endpoints = || routes::all(&config.api_prefix, &config.model_prefix);
    let rules = Arc::new(Rules::new(endpoints()));
    let router = endpoints().fold(Router::new(), |router, (prefix, endpoint)| {
        router.route(&format!("{prefix}{}", endpoint.path), (endpoint.handler)())
    });
    let around = from_fn_with_state((Arc::clone(&state), rules), around);
    let router = router.layer(around).with_state(Arc::clone(&state));
    App { state, router }
}

impl App {
    /// The service as connections take it.
    pub(super) fn service(self) -> connections::Service {
        Arc::new(move |request| {
            let app = self.clone();
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
        let answered = async |request: Request| {
            let answered = self.router.clone().call(request).await;
            let mut response = answered.unwrap_or_else(|never| match never {});
            let headers = response.headers_mut();
            headers.insert(NOSNIFF, NO_SNIFFING);
            // An answer that does not say how long it may be cached must be revalidated: readings
            // arrive late.
            headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-cache"));
            // A server that is about to stop ends each connection with its next answer, so that a
            // proxy sends nothing more on it. Over HTTP/2, `connections/` does that.
            if self.state.services.is_leaving() {
                headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
            }
            response
        };
        request_line::note(&self.state, request, answered).await
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

/// What holds for the requests to each route.
struct Rules {
    /// By the template of the route.
    routes: HashMap<String, Vec<Rule>>,
}

/// What holds for the requests with a method.
struct Rule {
    method: &'static str,
    requested: Requested,
    /// Health checks are not limited, and nobody need say who sends them.
    is_health: bool,
    /// A long file on a slow line may take long, as long as its pieces keep coming.
    is_push: bool,
}

impl Rules {
    fn new<'a>(endpoints: impl Iterator<Item = (&'a str, &'static Endpoint)>) -> Self {
        let is_one_of = |endpoints: &[Endpoint], endpoint: &Endpoint| {
            endpoints.iter().any(|one| (one.method, one.path) == (endpoint.method, endpoint.path))
        };
        let mut routes: HashMap<String, Vec<Rule>> = HashMap::new();
        for (prefix, endpoint) in endpoints {
            let rules = routes.entry(format!("{prefix}{}", endpoint.path)).or_default();
            rules.push(Rule {
                method: endpoint.method,
                requested: Requested { query: endpoint.query, body: endpoint.body },
                is_health: prefix.is_empty() && is_one_of(routes::HEALTH, endpoint),
                is_push: is_one_of(routes::PUSHES, endpoint),
            });
        }
        Self { routes }
    }

    /// The rule for a request. `None` if there is no such route, or the route does not have the
    /// method.
    fn of(&self, request: &Request) -> Option<&Rule> {
        let route = request.extensions().get::<MatchedPath>()?;
        let rules = self.routes.get(route.as_str())?;
        let method = match request.method() {
            &Method::HEAD => "GET",
            method => method.as_str(),
        };
        rules
            .iter()
            .find(|rule| rule.method == method)
            .or(rules.first().filter(|rule| rule.is_health))
    }
}

/// What comes before and after every request.
async fn around(
    Shared((state, rules)): Shared<(Arc<State>, Arc<Rules>)>,
    mut request: Request,
    next: Next,
) -> Response {
    let route = metrics::route_of_request(&request);
    let rule = rules.of(&request);
    if let Some(rule) = rule {
        request.extensions_mut().insert(rule.requested);
        if rule.is_health {
            let mut response = next.run(request).await;
            metrics::note_route_of(route, &mut response);
            return response;
        }
    }
    let patience = rule.is_none_or(|rule| !rule.is_push).then_some(PATIENCE);
    let replayed_ms = (!state.clock.is_live()).then(|| state.clock.now_ms());
    let mut response = match state.cors.load_full() {
        None => admit(&state, request, next, patience).await,
        // Pages of the configured sites may call the service.
        Some(cors) => {
            let state = &state;
            let admitted = service_fn(move |request: Request| {
                let next = next.clone();
                async move { Ok::<_, Infallible>(admit(state, request, next, patience).await) }
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
async fn admit(
    state: &State,
    mut request: Request,
    next: Next,
    patience: Option<Duration>,
) -> Response {
    if let Some(refusal) = rate::limit(state, &mut request).await {
        return refusal;
    }
    let plan = match identify::identify(state, &mut request).await {
        Ok(plan) => plan,
        Err(refusal) => return *refusal,
    };
    let mut response = match refuse_invalid_utf8(&request) {
        Some(error) => error.into_response(),
        None => endpoint(next, request, patience).await,
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

/// Runs an endpoint. If it takes longer than the patience, the answer is 503.
async fn endpoint(next: Next, request: Request, patience: Option<Duration>) -> Response {
    let answered = AssertUnwindSafe(next.run(request)).catch_unwind();
    let answered = match patience {
        Some(patience) => match timeout(patience, answered).await {
            Ok(answered) => answered,
            Err(_) => return StatusCode::SERVICE_UNAVAILABLE.into_response(),
        },
        None => answered.await,
    };
    answered.unwrap_or_else(|panic| panicked(&*panic))
}

/// A panic is a fault of the server, and goes to the log.
fn panicked(panic: &(dyn Any + Send)) -> Response {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref().copied()).unwrap_or("unknown cause");
    ApiError::Internal(format!("a panic: {text}")).into_response()
}
