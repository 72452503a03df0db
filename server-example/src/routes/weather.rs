//! `/observations/weather`: the present weather of each report of a station.

use std::sync::Arc;

use axum::extract::State as Shared;
use axum::response::Response;
use axum::routing::get;
use mesonet::query::{MAX_WEATHER_REPORTS, StationWeather, present_weather};
use mesonet::time::DAY_MS;

use super::filter::{no_station, station_named};
use super::parameters::{END, START, STATION_ID};
use super::window;
use crate::auth::access::Caller;
use crate::http::damage::with_header;
use crate::http::encoding::AcceptedEncodings;
use crate::http::error::ApiError;
use crate::http::extract::{Query, missing};
use crate::http::snapshot::json_value;
use crate::http::work::Load;
use crate::limits::ClientAddr;
use crate::openapi::{About, Common, Tag};
use crate::routes::Endpoint;
use crate::state::State;

/// The longest window that is answered in a few milliseconds.
const LIGHT_MS: i64 = 7 * DAY_MS;

pub const ENDPOINTS: &[Endpoint] = &[Endpoint::get("/observations/weather", || get(weather))
    .query(&[STATION_ID, START.required(), END.required()])
    .about(|| {
        About::new(
            "getWeather",
            Tag::Observations,
            "What the reports of a station say of the weather",
        )
        .json::<StationWeather>("The reports, by time.")
        .with(Common::NotFound)
        .cached("`no-cache`")
    })];

async fn weather(
    Shared(state): Shared<Arc<State>>,
    caller: Caller,
    client_addr: ClientAddr,
    query: Query,
    accepted: AcceptedEncodings,
) -> Result<Response, ApiError> {
    let station = query.one("stationId")?.ok_or_else(|| missing("stationId"))?;
    let station = station_named(&state, station)?;
    let window = window::needed(&state, &caller, &query)?;
    let load = if window.span_ms() <= LIGHT_MS { Load::Light } else { Load::Heavy };
    let found = state.work(client_addr, load, move |state| {
        state.services.read(|store| present_weather(store, station, window))
    });
    let (found, damaged) = found.await??;
    let answer = match found {
        None => Err(no_station(station)),
        Some(found) if !found.is_whole => Err(ApiError::BadRequest(format!(
            "the window holds more than {MAX_WEATHER_REPORTS} reports of the station; ask for a \
             shorter one"
        ))),
        Some(found) => json_value(accepted, &found),
    };
    Ok(with_header(answer, damaged))
}
