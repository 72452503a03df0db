//! `/stations/{id}/reports`: the reports of a station as they came in.

use std::sync::Arc;

use axum::extract::{Path, State as Shared};
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::get;
use mesonet::Error;
use mesonet::query::{MAX_REPORTS, StationReports, station_reports};
use mesonet::store::StoreError;
use mesonet::time::DAY_MS;

use super::filter::{no_station, station_named};
use super::parameters::{END, START, STATION};
use super::window;
use crate::auth::access::Caller;
use crate::http::damage::with_header;
use crate::http::error::ApiError;
use crate::http::extract::{Headers, Query};
use crate::http::parameter::{Form, Parameter};
use crate::http::snapshot::json_tagged;
use crate::http::work::Load;
use crate::limits::ClientAddr;
use crate::openapi::{About, Common, Tag};
use crate::routes::Endpoint;
use crate::state::State;

/// The longest window that is answered in a few milliseconds.
const LIGHT_MS: i64 = 7 * DAY_MS;

/// How many reports an answer has if the request does not say: a week of a report every ten minutes.
const DEFAULT_LIMIT: usize = 1_000;

pub const ENDPOINTS: &[Endpoint] = &[Endpoint::get("/stations/{id}/reports", || get(reports))
    .query(&[
        START.required(),
        END.required(),
        Parameter::new(
            "limit",
            Form::Whole(1, MAX_REPORTS as i64),
            "The most reports of the answer; 1000 if it is not given.",
        )
        .example("3"),
    ])
    .about(|| {
        About::new("getReports", Tag::Observations, "The reports of a station as they came in")
            .text(
                "METAR and SPECI with the heading of their bulletin. If the window has more than \
                 `limit`, the answer has the first, and `next`, the `start` that continues.",
            )
            .path(&[STATION])
            .json::<StationReports>("The reports, by time.")
            .with(Common::NoTexts)
            .cached("`no-cache`")
            .tagged()
    })];

async fn reports(
    Shared(state): Shared<Arc<State>>,
    Path(text): Path<String>,
    caller: Caller,
    client_addr: ClientAddr,
    query: Query,
    Headers(headers): Headers,
) -> Result<Response, ApiError> {
    let station = station_named(&state, &text)?;
    let window = window::needed(&state, &caller, &query)?;
    let limit = query.index("limit")?.unwrap_or(DEFAULT_LIMIT);
    if !(1..=MAX_REPORTS).contains(&limit) {
        return Err(ApiError::BadRequest(format!(
            "limit must be from 1 to {MAX_REPORTS}; got {limit}"
        )));
    }
    let load = if window.span_ms() <= LIGHT_MS { Load::Light } else { Load::Heavy };
    let found = state.work(client_addr, load, move |state| {
        state.services.read(|store| station_reports(store, station, window, limit))
    });
    let (found, damaged) = found.await?.map_err(no_texts)?;
    let found = found.ok_or_else(|| no_station(&text))?;
    let body = serde_json::to_vec(&found).map_err(ApiError::internal)?;
    Ok(with_header(json_tagged(&headers, body), damaged))
}

/// A store that keeps no texts is no fault of the request: 501.
pub fn no_texts(error: impl Into<Error>) -> ApiError {
    match error.into() {
        Error::Store(StoreError::NoTexts) => {
            let text = "the record of this server keeps no texts of reports".to_owned();
            ApiError::Refused(StatusCode::NOT_IMPLEMENTED, text)
        }
        error => error.into(),
    }
}
