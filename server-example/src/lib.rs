//! The mesonet observation service over HTTP.
//!
//! [`run`] is the command line; [`app`] is the whole service over a [`State`].
//! The library `mesonet` has the rules, and `mesonet_service` runs a record. This crate reads a
//! request, passes it to them, and encodes the answer.
//!
//! | What | Where |
//! | --- | --- |
//! | The command line, one file for each command | [`run`], `commands/` |
//! | The log, on the standard error | `log` |
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
//! | The bundled reports, alerts, field and model runs | [`sample()`], `sample/` |
//!
//! `docs/architecture.md` says which folder may import which, and a test enforces it.

#![cfg_attr(not(test), warn(clippy::unwrap_used))]

mod app;
mod auth;
mod commands;
mod config;
mod connections;
mod http;
mod limits;
mod log;
mod observe;
mod openapi;
mod routes;
mod sample;
mod state;
#[cfg(test)]
#[path = "../../service/src/testing.rs"]
mod testing;

pub use app::{App, app, judge_sample};
pub use commands::run;
pub use config::{Config, ConfigError, Flags};
pub use routes::description;
pub use sample::models::take_in_model_sample;
pub use sample::replay::Timeline;
pub use sample::{SampleData, SampleError, sample, sample_alerts};
pub use state::clock::Clock;
pub use state::zones::{ZoneSet, ZonesError};
pub use state::{State, StateError};
