//! The mesonet observation service over HTTP.
//!
//! [`app`] is the whole service as a router over a [`State`]; [`serve`] puts it behind a socket.
//! The rules are in the library `mesonet`; here a request is read, passed to it, and its answer
//! encoded.
//!
//! | What | Where |
//! | --- | --- |
//! | Settings: flag, environment, file, default | [`Config`], [`Flags`] |
//! | The record, on disk or in ClickHouse, and the origin of its data | `record/` |
//! | What a running server takes anew: settings, certificate | `reload.rs` |
//! | How it stops | `leave.rs` |
//! | The clock, and the reports that a replay waits for | [`Clock`], [`Timeline`] |
//! | The alert zones, bundled and from files | [`ZoneSet`] |
//! | The bundled reports and the bundled field | [`sample`], `products/sample.rs` |
//! | Files into the store: command, watched folder, push | [`ingest`] |
//! | Raster products: GRIB2 in, Cloud Optimized GeoTIFFs out | [`ProductFiles`] |
//! | Open model runs | [`ModelRuns`] |
//! | What all requests share | [`State`] |
//! | The record of another server, which this one only reads | `follower.rs` |
//! | Stores, products, models and zones | [`Services`] |
//! | Bodies encoded when they change | `snapshots.rs`, `station_bodies.rs` |
//! | Which stations something came in for | `noted.rs` |
//! | Passwords of other services | `password.rs` |
//! | Alerts with their state, encoded once per change | `alerts.rs` |
//! | Who may connect, and for how long | `door/` |
//! | Endpoints, one file per resource | `routes/` |
//! | The explorer, built from `web/` | `routes/page.rs` |
//! | The times at which alerts are replayed | `alert_clocks.rs` |
//! | Live fetchers of feeds | [`fetch`] |
//! | How far back the record is kept; the command `retention` | `retention.rs` |
//! | The commands `grib ls` and `models` | `grib_ls.rs`, `models_command.rs` |
//! | The command `health` | `health.rs` |
//! | The command `migrate` | `migrate.rs` |
//! | The command `quality` | `quality.rs` |
//! | The command `verify` | `verify.rs` |
//! | Backups in an object store: the commands `backup`, `restore` and `backups` | `backup/` |
//! | Past months as Parquet: the command `archive`, and bulk export from there | `archive/` |
//! | A record in another place: the command `copy` | `copy/` |
//! | The description at `/openapi/v1.json` | `describe/` |
//! | Error answers | `error.rs` |
//! | Parameters, encodings, ETags, long bodies | `http/` |
//! | Figures for a monitoring system | `metrics/` |
//! | Traces of requests, behind the feature `otel` | `traces/` |
//! | How many requests an address may send, behind proxies too | `rate/` |
//! | Account tokens and API keys: who sends a request | `credentials/` |
//! | Callers and what they may use | `access.rs` |
//! | Turns on the cores and memory, in fair shares | `work.rs`, `shares.rs` |

#![cfg_attr(not(test), warn(clippy::unwrap_used))]

mod access;
mod alert_clocks;
mod alerts;
mod archive;
mod backup;
mod clock;
mod config;
mod copy;
mod credentials;
mod describe;
mod door;
mod error;
pub mod fetch;
mod files;
mod follower;
mod grib_ls;
mod health;
mod http;
pub mod ingest;
mod key_renewal;
mod leave;
mod metrics;
mod migrate;
mod model_runs;
mod models_command;
mod newest;
mod noted;
mod password;
mod products;
mod quality;
mod rate;
mod record;
mod reload;
mod replay;
mod replay_start;
mod retention;
mod routes;
mod sample;
mod serve;
mod services;
mod shares;
mod signals;
mod snapshots;
mod state;
mod station_bodies;
#[cfg(test)]
mod testing;
mod traces;
mod until_told;
mod verify;
mod work;
mod zones;

use std::any::Any;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Request, State as Shared};
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::{Next, from_fn, from_fn_with_state, map_response};
use axum::response::{IntoResponse, Response};
use mesonet::Iso8601;
use percent_encoding::percent_decode_str;
use tower::util::MapRequest;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::timeout::TimeoutLayer;

pub use archive::{ArchiveError, ArchiveFlags, archive_command};
pub use backup::{
    BackupError, BackupFlags, BackupsFlags, RestoreFlags, back_up, backup_command, backups_command,
    restore_command,
};
pub use clock::Clock;
pub use config::{CatalogueFlags, Config, ConfigError, Flags, KeepFlags, LogFormat, RecordFlags};
pub use copy::{CopyCommandError, CopyFlags, copy_command};
pub use credentials::{
    KeysCommandError, KeysFlags, TokenError, TokenFlags, keys_command, token_command,
};
pub use describe::description;
pub use grib_ls::{GribLsFlags, grib_ls_command};
pub use health::health_command;
pub use http::snapshot::SnapshotError;
pub use migrate::{MigrateError, MigrateFlags, migrate_command};
pub use model_runs::ModelRuns;
pub use models_command::{ModelsCommand, models_command};
pub use password::PasswordError;
pub use products::ProductFiles;
pub use quality::{QualityError, QualityFlags, quality_command};
pub use record::{ClickHouseAddress, Origin, Record, RecordPlace, RecordPlaceError};
pub use replay::Timeline;
pub use replay_start::{ReplayStart, ReplayStartError};
pub use retention::{RetentionError, RetentionFlags, retention_command};
pub use sample::{Sample, SampleError, sample, sample_alerts};
pub use serve::{ServeError, serve};
pub use services::Services;
pub use state::{State, StateError};
pub use verify::{VerifyError, VerifyFlags, verify_command};
pub use zones::{TOLERANCE_DEG, ZoneSet, ZonesError};

use error::ApiError;

/// The current time of a replaying server, on every answer.
const REPLAY: HeaderName = HeaderName::from_static("x-mesonet-replay");

/// Makes browsers trust the media type of a body, on every answer.
const NOSNIFF: HeaderName = header::X_CONTENT_TYPE_OPTIONS;
const NO_SNIFFING: HeaderValue = HeaderValue::from_static("nosniff");

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
        // A long file on a slow line takes its time; only its pieces must keep coming.
        .nest(&config.api_prefix, routes::pushes())
        .layer(CatchPanicLayer::custom(panicked))
        .layer(from_fn(refuse_invalid_utf8))
        .layer(from_fn_with_state(Arc::clone(&state), credentials::identify))
        .layer(from_fn_with_state(Arc::clone(&state), rate::limit));
    let router = router
        .layer(from_fn_with_state(Arc::clone(&state), http::cors::allow))
        .layer(from_fn_with_state(Arc::clone(&state), add_replay_header))
        .layer(map_response(leave_length_open))
        .layer(from_fn(metrics::note_route))
        .with_state(Arc::clone(&state));
    // Who keeps the server running is not limited.
    let router = routes::health()
        .layer(from_fn(metrics::note_route))
        .with_state(Arc::clone(&state))
        .fallback_service(router)
        .layer(map_response(add_common_headers))
        .layer(from_fn_with_state(Arc::clone(&state), take_leave))
        .layer(from_fn_with_state(state, http::request_line::note));
    // Before the router looks at the path.
    Router::new().fallback_service(MapRequest::new(router, decode_letters))
}

/// Decodes the characters of a path that need no encoding, so that `/st%61tions` is `/stations`: RFC
/// 3986 (6.2.2.2) has both mean the same.
fn decode_letters<B>(mut request: Request<B>) -> Request<B> {
    if let Some(uri) = http::path::with_letters_decoded(request.uri()) {
        *request.uri_mut() = uri;
    }
    request
}

/// A server that is about to stop ends connections with their next answer, so that a proxy sends
/// nothing more on them. Over HTTP/2 the door does that.
async fn take_leave(Shared(state): Shared<Arc<State>>, request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    if state.services.is_leaving() {
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    response
}

/// The answer to a HEAD that gives a 304 has no length: that of its own body, 0, would be taken for
/// the length of the answer to a GET.
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

/// An answer that does not say how long it may be kept is asked for again: readings arrive late.
async fn add_common_headers(mut response: Response) -> Response {
    let headers = response.headers_mut();
    headers.insert(NOSNIFF, NO_SNIFFING);
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-cache"));
    response
}

/// Refuses what is not UTF-8 for every endpoint, so that none repairs it silently: no path or
/// parameter has such a value.
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

/// A fault of the server, which goes to the log.
#[allow(clippy::needless_pass_by_value, reason = "the layer hands it over")]
fn panicked(panic: Box<dyn Any + Send>) -> Response {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref().copied()).unwrap_or("unknown cause");
    ApiError::Internal(format!("a panic: {text}")).into_response()
}
