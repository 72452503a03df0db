//! The mesonet observation service over HTTP.
//!
//! [`app`] is the whole service as a router over a [`State`]; [`serve`] puts it behind a socket.
//! What a rule says is in the library `mesonet`; here a request is read, handed to it, and its
//! answer encoded.
//!
//! | What | Where |
//! | --- | --- |
//! | Settings: flag, environment, file, default | [`Config`], [`Flags`] |
//! | The store on disk, and where what is in it came from | `record.rs` |
//! | The clock, and the reports that a replay waits for | [`Clock`], [`Timeline`] |
//! | The zones of alerts, bundled and of files | [`ZoneSet`] |
//! | The bundled reports and the bundled field | [`sample`], `products/sample.rs` |
//! | Files into the store: command, watched folder, push | [`ingest`] |
//! | Raster products: GRIB2 in, Cloud Optimized GeoTIFFs out | [`ProductFiles`] |
//! | Runs of models that are open | [`ModelRuns`] |
//! | Store, and bodies that are encoded ahead | [`State`] |
//! | Alerts with their state, encoded once per change | `alerts.rs` |
//! | Who may connect, and for how long | `door/` |
//! | Endpoints, one file per resource | `routes/` |
//! | Query parameters and JSON bodies | `extract.rs` |
//! | Live fetchers of feeds | [`fetch`] |
//! | How far back the record is kept; the command `retention` | `retention.rs` |
//! | The command `verify` | `verify.rs` |
//! | What a damaged record lacks, on the answer | `damage.rs` |
//! | Error answers | `error.rs` |
//! | Compression, ETags | `encoding.rs`, `snapshot.rs` |
//! | Who calls, and what the caller may use | `access.rs` |
//! | Turns on the cores and memory, in fair shares | `work.rs`, `shares.rs` |
//! | Long bodies, piece by piece | `stream.rs` |
//! | Readings as JSON, piece by piece | `readings_json.rs`, `series_json.rs` |

mod access;
mod alerts;
mod clock;
mod config;
mod damage;
mod door;
mod encoding;
mod error;
mod extract;
pub mod fetch;
pub mod ingest;
mod model_runs;
mod products;
mod readings_json;
mod record;
mod replay;
mod replay_start;
mod retention;
mod routes;
mod sample;
mod series_json;
mod serve;
mod shares;
mod signals;
mod snapshot;
mod state;
mod station_bodies;
mod stream;
mod until_told;
mod verify;
mod work;
mod zones;

use std::any::Any;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{Request, State as Shared};
use axum::http::{HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::{Next, from_fn, from_fn_with_state, map_response};
use axum::response::{IntoResponse, Response};
use mesonet::Iso8601;
use percent_encoding::percent_decode_str;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::cors::CorsLayer;
use tower_http::timeout::TimeoutLayer;
use tower_http::trace::TraceLayer;

pub use clock::Clock;
pub use config::{Config, ConfigError, Flags};
pub use model_runs::ModelRuns;
pub use products::ProductFiles;
pub use record::{Origin, Record};
pub use replay::Timeline;
pub use replay_start::{ReplayStart, ReplayStartError};
pub use retention::{RetentionError, RetentionFlags, retention_command};
pub use sample::{Sample, SampleError, sample, sample_alerts, station_tables};
pub use serve::{ServeError, serve};
pub use state::{SnapshotError, State};
pub use verify::{VerifyError, VerifyFlags, verify_command};
pub use zones::{TOLERANCE_DEG, ZoneSet, ZonesError};

use error::ApiError;

/// The time that a replaying server takes for now, on every answer.
const REPLAY: HeaderName = HeaderName::from_static("x-mesonet-replay");

/// A browser takes a body for what its media type says and for nothing else: on every answer.
const NOSNIFF: HeaderName = header::X_CONTENT_TYPE_OPTIONS;
const NO_SNIFFING: HeaderValue = HeaderValue::from_static("nosniff");

/// How long a request may take until its answer begins. A long answer may take longer to send.
const PATIENCE: Duration = Duration::from_secs(60);

/// The whole service.
pub fn app(state: Arc<State>) -> Router {
    let router = Router::new()
        .merge(routes::index())
        .nest(&state.config().api_prefix, routes::api())
        .merge(routes::models(&state.config().model_prefix))
        .layer(TimeoutLayer::with_status_code(StatusCode::SERVICE_UNAVAILABLE, PATIENCE))
        // A long file on a slow line takes its time; it is the pieces of it that must keep coming.
        .merge(ingest::push::router(&state.config().api_prefix))
        .layer(CatchPanicLayer::custom(panicked))
        .layer(from_fn(refuse_what_is_no_text));
    let router = match cors(&state.config().cors_origins) {
        Some(cors) => router.layer(cors),
        None => router,
    };
    router
        .layer(TraceLayer::new_for_http())
        .layer(from_fn_with_state(Arc::clone(&state), say_that_it_is_a_replay))
        .layer(map_response(allow_no_sniffing))
        .with_state(state)
}

async fn say_that_it_is_a_replay(
    Shared(state): Shared<Arc<State>>,
    request: Request,
    next: Next,
) -> Response {
    if state.is_live() {
        return next.run(request).await;
    }
    let second_ms = state.now_ms().div_euclid(1000) * 1000;
    let mut response = next.run(request).await;
    if let Ok(now) = HeaderValue::try_from(Iso8601(second_ms).to_string()) {
        response.headers_mut().insert(REPLAY, now);
    }
    response
}

async fn allow_no_sniffing(mut response: Response) -> Response {
    response.headers_mut().insert(NOSNIFF, NO_SNIFFING);
    response
}

/// What is not UTF-8 is refused here for every endpoint, so that none repairs it in silence: no
/// address has such a name, and no parameter such a value.
async fn refuse_what_is_no_text(request: Request, next: Next) -> Response {
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

/// A fault of the server: what it was goes to the log.
#[allow(clippy::needless_pass_by_value, reason = "the layer hands it over")]
fn panicked(panic: Box<dyn Any + Send>) -> Response {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref().copied()).unwrap_or("of unknown cause");
    ApiError::Internal(format!("a panic: {text}")).into_response()
}

/// Without origins no header allows any page of another site to read an answer.
fn cors(origins: &[String]) -> Option<CorsLayer> {
    let origins: Vec<HeaderValue> =
        origins.iter().filter_map(|origin| origin.parse().ok()).collect();
    (!origins.is_empty()).then(|| {
        CorsLayer::new()
            .allow_origin(origins)
            .allow_methods([Method::GET, Method::POST])
            .allow_headers([
                header::CONTENT_TYPE,
                header::IF_NONE_MATCH,
                // A reader of GeoTIFFs in a page asks for ranges of them.
                header::RANGE,
                header::IF_RANGE,
            ])
            .expose_headers(
                [
                    &[
                        header::ETAG,
                        REPLAY,
                        damage::DAMAGED,
                        routes::GEOGRAPHY,
                        header::CONTENT_RANGE,
                        header::CONTENT_LOCATION,
                    ][..],
                    &routes::BULK_HEADERS,
                ]
                .concat(),
            )
            .max_age(Duration::from_secs(86_400))
    })
}
