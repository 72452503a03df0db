//! A server without traces.

use axum::http::HeaderMap;

use super::{RequestEnd, TracesError};

/// Nothing.
pub struct Traces;

/// Nothing.
pub struct Trace;

#[expect(clippy::unused_self, clippy::unnecessary_wraps, reason = "as with the feature")]
impl Traces {
    /// The settings have been checked, so there is no address.
    pub fn new(_: Option<&str>) -> Result<Self, TracesError> {
        Ok(Self)
    }

    /// Does nothing.
    pub fn begin(&self, _: &'static str, _: &HeaderMap) -> Trace {
        Trace
    }

    /// Does nothing.
    pub fn stop(&self) {}
}

#[expect(clippy::unused_self, reason = "as with the feature")]
impl Trace {
    /// Does nothing.
    pub fn end(&mut self, _: &RequestEnd<'_>) {}
}
