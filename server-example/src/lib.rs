//! The mesonet observation service over HTTP.
//!
//! [`app`] is the whole service over a [`State`]; [`serve`] puts it behind a socket.
//! The library `mesonet` has the rules, and `mesonet_service` runs a record. This crate reads a
//! request, passes it to them, and encodes the answer.
//!
//! | What | Where |
//! | --- | --- |
//! | The server: its router, its start and end, work in the background | `app/` |
//! | Endpoints, one file for each | `routes/` |
//! | What all requests share: stores, snapshots, clock | [`State`], `state/` |
//! | Settings: flag, environment, file, default | [`Config`], [`Flags`], `config/` |
//! | Account tokens and API keys: who sends a request, and what that caller may use | `auth/` |
//! | How many requests a client address may send, and fair shares of cores and memory | `limits/` |
//! | Connections: who may connect, and for how long | `connections/` |
//! | Metrics and traces for monitoring | `observe/` |
//! | The description at `/openapi/v1.json` | `openapi/` |
//! | Parameters, encodings, entity tags, errors | `http/` |
//! | Locks, and values that are made when they are first asked for | `sync.rs` |
//! | The bundled reports, alerts, field and model runs | [`sample()`], `sample/` |
//!
//! `docs/architecture.md` says which folder may import which, and a test enforces it.

#![cfg_attr(not(test), warn(clippy::unwrap_used))]

mod app;
mod auth;
mod config;
mod connections;
mod http;
mod limits;
mod observe;
mod openapi;
mod routes;
mod sample;
mod state;
mod sync;
#[cfg(test)]
#[path = "../../service/src/testing.rs"]
mod testing;

pub use app::{App, ServeError, app, judge_sample, serve};
pub use auth::{DEVELOPMENT_KEY, DevelopmentAccount, TokenError, development_token, key_file};
pub use config::{
    CatalogueFlags, Config, ConfigError, Flags, KeepFlags, LogFormat, RecordFlags, ReplayStart,
    ReplayStartError,
};
pub use http::names::is_almost;
pub use http::request_id::RequestId;
pub use http::snapshot::SnapshotError;
pub use routes::{check_quality_window, description, standard_offset};
pub use sample::models::take_in_model_sample;
pub use sample::replay::Timeline;
pub use sample::{SampleData, SampleError, sample, sample_alerts};
pub use state::clock::Clock;
pub use state::model_runs::ModelRuns;
pub use state::services::Services;
pub use state::zones::{ZoneSet, ZonesError};
pub use state::{State, StateError};
