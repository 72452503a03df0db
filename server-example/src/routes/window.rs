//! The window of time that a request asks for. The plan of the caller must reach it.

use mesonet::ClosedWindow;
use mesonet::access::check_lookback;

use crate::auth::access::Caller;
use crate::http::error::ApiError;
use crate::http::extract::Query;
use crate::state::State;

/// Reads a window that must be given, from `start` to `end`.
///
/// # Errors
/// 400: an end is missing or malformed, or the plan does not reach it.
pub fn needed(state: &State, caller: &Caller, query: &Query) -> Result<ClosedWindow, ApiError> {
    let (start_ms, end_ms) = (query.needed_instant("start")?, query.needed_instant("end")?);
    reached(start_ms, end_ms, state.clock.now_ms(), caller)
}

/// Reads a window that by default ends now, and starts a span before its end.
///
/// # Errors
/// 400: an end is malformed, or the plan does not reach it.
pub fn or_last(
    span_ms: i64,
    state: &State,
    caller: &Caller,
    query: &Query,
) -> Result<ClosedWindow, ApiError> {
    let now_ms = state.clock.now_ms();
    let end_ms = query.instant("end")?.unwrap_or(now_ms);
    let start_ms = query.instant("start")?.unwrap_or_else(|| end_ms.saturating_sub(span_ms));
    reached(start_ms, end_ms, now_ms, caller)
}

fn reached(
    start_ms: i64,
    end_ms: i64,
    now_ms: i64,
    caller: &Caller,
) -> Result<ClosedWindow, ApiError> {
    let window = ClosedWindow::new(start_ms, end_ms)?;
    check_lookback(window, now_ms, caller.plan)?;
    Ok(window)
}
