//! `/stations/map/markers`, `/stations/map/details` and `/stations/{id}`.

use std::sync::Arc;

use axum::extract::{Path, State as Shared};
use axum::response::Response;
use axum::routing::get;
use mesonet::query::{DetailFieldError, DetailFields, StationDetail, StationMarkers, detail};
use mesonet::store::StationRecord;
use mesonet::time::parse_window;

use super::filter::{FILTER, station_filter, station_named};
use super::form::{AskedForm, TZ, UNIT_OF, UNITS};
use super::parameters::STATION;
use crate::http::damage::with_header;
use crate::http::error::ApiError;
use crate::http::extract::{Headers, Query};
use crate::http::parameter::{Form, Parameter};
use crate::http::snapshot::{json_of_content, json_tagged};
use crate::http::work::Cost;
use crate::limits::ClientAddr;
use crate::openapi::{About, StationDetails, Tag};
use crate::routes::Endpoint;
use crate::state::State;

pub const ENDPOINTS: &[Endpoint] = &[
    Endpoint {
        method: "GET",
        path: "/stations/map/details",
        query: &[
            Parameter::new(
                "window",
                Form::Matching("^[0-9]*[1-9][0-9]*[dh]$"),
                "Only stations whose most recent report is within this span of now.",
            )
            .example("7d"),
            Parameter::new(
                "search",
                Form::Text(MAX_SEARCH),
                "Only stations in whose name or ids this occurs, ignoring case.",
            )
            .example("Pearson"),
            FILTER[0],
            FILTER[1],
            FILTER[2],
            FILTER[3],
            FILTER[4],
            FILTER[5],
            FILTER[6],
            FILTER[7],
            FILTER[8],
            FILTER[9],
            FILTER[10],
            FILTER[11],
            FILTER[12],
            FILTER[13],
            FILTER[14],
            FILTER[15],
            Parameter::new(
                "fields",
                Form::List(FIELD, 1, DetailFields::NAMES.len()),
                "Only these members of each station, so none but these is required in the answer. \
                 `typeCount`, how many types there are, is there only if it is named.",
            ),
            UNITS,
            UNIT_OF,
            TZ,
        ],
        body: &[],
        handler: || get(map_details),
        about: || {
            About::new("getStationDetails", Tag::Observations, "All stations with their details")
                .json::<StationDetails>("Stations by id.")
                .cached("`no-cache`")
                .tagged()
        },
    },
    Endpoint {
        method: "GET",
        path: "/stations/map/markers",
        query: &FILTER,
        body: &[],
        handler: || get(markers),
        about: || {
            About::new("getStationMarkers", Tag::Observations, "Where the stations are")
                .json::<StationMarkers>("All stations on record.")
                .cached("`no-cache`")
                .tagged()
        },
    },
    Endpoint {
        method: "GET",
        path: "/stations/{id}",
        query: &[UNITS, UNIT_OF, TZ],
        body: &[],
        handler: || get(station),
        about: || {
            About::new("getStation", Tag::Observations, "One station with its details")
                .path(&[STATION])
                .json::<StationDetail>("The station.")
                .cached("`no-cache`")
                .tagged()
        },
    },
];

async fn markers(
    Shared(state): Shared<Arc<State>>,
    client_addr: ClientAddr,
    query: Query,
    Headers(headers): Headers,
) -> Result<Response, ApiError> {
    let all = state.snapshots.markers();
    let filter = station_filter(&state, &query)?;
    if filter.is_empty() {
        return Ok(all.answer(&headers));
    }
    let answer = move |state: &State| {
        let directory = state.services.store.directory()?;
        let found = filter.select(&directory, &|_| true);
        let markers = StationMarkers::found(&directory, &found);
        json_tagged(&headers, serde_json::to_vec(&markers).map_err(ApiError::internal)?)
    };
    state.answer(client_addr, Cost::LIGHT, answer).await
}

async fn map_details(
    Shared(state): Shared<Arc<State>>,
    client_addr: ClientAddr,
    query: Query,
    Headers(headers): Headers,
) -> Result<Response, ApiError> {
    let details = state.snapshots.details();
    let damaged = details.damaged();
    let window_ms = query.read("window", parse_window)?;
    let search = query.one("search")?.map(searched).transpose()?;
    let filter = station_filter(&state, &query)?;
    let fields = query.one("fields")?.map(fields).transpose()?;
    let form = AskedForm::of(&state, &query)?;
    let is_whole = window_ms.is_none() && search.is_none() && filter.is_empty() && form.is_empty();
    let known = match fields {
        None => Some(details.snapshot.clone()),
        Some(fields) => details.known_fields(fields),
    };
    if let Some(snapshot) = known.filter(|_| is_whole) {
        return Ok(with_header(Ok(snapshot.answer(&headers)), damaged));
    }
    let oldest_ms = window_ms.map(|window_ms| state.clock.now_ms().saturating_sub(window_ms));
    let cost = Cost { bytes: details.snapshot.identity().len(), ..Cost::LIGHT };
    let answer = move |state: &State| {
        if let (true, Some(fields)) = (is_whole, fields) {
            let snapshot = details.fields(fields).map_err(ApiError::internal)?;
            return Ok(snapshot.answer(&headers));
        }
        let is_in = |record: &StationRecord| {
            oldest_ms.is_none_or(|oldest_ms| record.update_time_ms >= Some(oldest_ms))
                && search.as_deref().is_none_or(|text| record.station.matches(text))
        };
        let found = filter.select(&*state.services.store.directory()?, &is_in);
        let form = form.form(state)?;
        json_tagged(&headers, details.of(fields, &found, &form).map_err(ApiError::internal)?)
    };
    Ok(with_header(state.answer(client_addr, cost, answer).await, damaged))
}

/// The names of [`DetailFields`].
const FIELD: &str = "^(network|name|stationType|presentWeather|coordinates|elevation|updateTime|types\
     |qualities|identifiers|earlierPlaces|typeCount)$";

fn fields(names: &str) -> Result<DetailFields, ApiError> {
    names.parse().map_err(|unknown: DetailFieldError| ApiError::BadRequest(unknown.to_string()))
}

/// Length of the longest text that is searched for. The longest name of a real station has 60
/// characters.
const MAX_SEARCH: usize = 100;

/// The text that is searched for in names and ids.
fn searched(text: &str) -> Result<String, ApiError> {
    let text = text.trim();
    if (1..=MAX_SEARCH).contains(&text.chars().count()) {
        return Ok(text.to_owned());
    }
    Err(ApiError::BadRequest(format!(
        "search must have 1 to {MAX_SEARCH} characters; it has {}",
        text.chars().count()
    )))
}

async fn station(
    Shared(state): Shared<Arc<State>>,
    Path(text): Path<String>,
    query: Query,
    Headers(headers): Headers,
) -> Result<Response, ApiError> {
    let form = AskedForm::of(&state, &query)?;
    let unknown = || ApiError::NotFound(format!("no station has the id \"{text}\""));
    let id = station_named(&state, &text)?;
    let now_ms = state.clock.now_ms();
    let (found, damaged) = state.services.read(|store| detail(store, id, now_ms))?;
    let found = found.ok_or_else(unknown)?;
    if !form.is_empty() {
        let form = form.form(&state)?;
        let body = serde_json::to_vec(&found.with_fields(DetailFields::WHOLE).in_form(&form));
        return Ok(with_header(json_tagged(&headers, body.map_err(ApiError::internal)?), damaged));
    }
    let answer = match state.snapshots.details().station(&found) {
        Some((body, content)) => json_of_content(&headers, content, body),
        None => json_tagged(&headers, serde_json::to_vec(&found).map_err(ApiError::internal)?),
    };
    Ok(with_header(answer, damaged))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_description_names_all_fields_of_details() {
        assert_eq!(FIELD, format!("^({})$", DetailFields::NAMES.join("|")));
    }
}
