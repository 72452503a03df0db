//! Traces of requests for an OpenTelemetry collector. They need the feature `otel`, and are off
//! unless the address of a collector is given.
//!
//! | What | Where |
//! | --- | --- |
//! | The span of a request, and the trace of its caller | `otlp.rs` |
//! | How spans are sent | `sender.rs` |
//! | What replaces them without the feature | `none.rs` |

#[cfg(not(feature = "otel"))]
mod none;
#[cfg(feature = "otel")]
mod otlp;
#[cfg(feature = "otel")]
mod sender;

use std::time::Duration;

use axum::http::StatusCode;

#[cfg(not(feature = "otel"))]
pub use none::{Trace, Traces};
#[cfg(feature = "otel")]
pub use otlp::{Trace, Traces};

/// Why traces cannot be sent to the configured collector.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct TracesError(pub String);

/// What a trace says of a request at its end. Every text is of limited length: a route is a
/// template of the router, and there is no query string.
#[cfg_attr(not(feature = "otel"), expect(dead_code, reason = "only the feature reads it"))]
pub struct RequestEnd<'a> {
    pub id: &'a str,
    pub method: &'static str,
    pub route: Option<&'a str>,
    pub path: &'a str,
    pub status: StatusCode,
    pub bytes: u64,
    /// The time until the answer began.
    pub answered: Duration,
    pub plan: Option<&'static str>,
}
