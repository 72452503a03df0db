//! `/stations/{id}/quality`: the verdicts on a station, and what its neighbours say about it.

use std::sync::Arc;

use axum::extract::{Path, State as Shared};
use axum::response::Response;
use axum::routing::get;
use mesonet::ClosedWindow;
use mesonet::intake::{STATION_QUALITY_MAX_MS, StationQuality};
use mesonet::time::DAY_MS;

use super::filter::{no_station, station_named};
use super::parameters::{END, START, STATION};
use super::window;
use crate::auth::access::Caller;
use crate::http::damage::with_header;
use crate::http::encoding::AcceptedEncodings;
use crate::http::error::ApiError;
use crate::http::extract::Query;
use crate::http::snapshot::json_value;
use crate::http::work::Load;
use crate::limits::ClientAddr;
use crate::openapi::{About, Tag};
use crate::routes::Endpoint;
use crate::state::State;

/// How many days before the end a report starts if its start is not given.
const DEFAULT_MS: i64 = 7 * DAY_MS;

pub const ENDPOINTS: &[Endpoint] =
    &[Endpoint::get("/stations/{id}/quality", || get(quality)).query(&[START, END]).about(|| {
        About::new("getStationQuality", Tag::Observations, "The verdicts on a station")
            .text(
                "Rates of verdicts by variable and month, and what the neighbours say. At most 31 \
                 days; by default the last 7.",
            )
            .path(&[STATION])
            .json::<StationQuality>("The report.")
            .cached("`no-cache`")
    })];

/// The report is computed on request and not stored.
async fn quality(
    Shared(state): Shared<Arc<State>>,
    Path(text): Path<String>,
    caller: Caller,
    client_addr: ClientAddr,
    query: Query,
    accepted: AcceptedEncodings,
) -> Result<Response, ApiError> {
    let id = station_named(&state, &text)?;
    let window = window::or_last(DEFAULT_MS, &state, &caller, &query)?;
    check_length(window).map_err(ApiError::BadRequest)?;
    let found = state.work(client_addr, Load::Heavy, move |state| {
        let intake = &state.services.intake;
        state.services.read(|store| intake.station_quality(store, id, window))
    });
    let (found, damaged) = found.await??;
    let answer =
        found.ok_or_else(|| no_station(&text)).and_then(|found| json_value(accepted, &found));
    Ok(with_header(answer, damaged))
}

/// Refuses a window that is longer than a report may cover.
///
/// # Errors
/// What was got and what is allowed.
pub fn check_length(window: ClosedWindow) -> Result<(), String> {
    let (got_ms, most) = (window.span_ms(), STATION_QUALITY_MAX_MS / DAY_MS);
    if got_ms <= STATION_QUALITY_MAX_MS {
        return Ok(());
    }
    Err(format!(
        "the window is {:.1} days long; a report on quality spans at most {most} days",
        got_ms as f64 / DAY_MS as f64
    ))
}
