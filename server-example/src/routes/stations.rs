//! `/stations/map/markers`, `/stations/map/details` and `/stations/{id}`.

use std::sync::Arc;

use axum::extract::{Path, State as Shared};
use axum::http::{HeaderValue, header};
use axum::response::Response;
use axum::routing::get;
use mesonet::query::{
    DetailFieldError, DetailFields, QUALITIES_SPAN_MS, StationDetail, StationMarkers, detail,
    newest_report_texts,
};
use mesonet::store::StationRecord;
use mesonet::time::parse_window;
use mesonet::{ClosedWindow, StationId};

use super::filter::{FILTER, no_station, station_filter, station_named};
use super::form::{FORM, RequestedForm};
use super::parameters::STATION;
use super::reports::no_texts;
use crate::http::damage::with_header;
use crate::http::error::ApiError;
use crate::http::extract::{Headers, Query};
use crate::http::parameter::{Form, Parameter, join};
use crate::http::snapshot::{json_of_content, json_tagged};
use crate::http::work::Cost;
use crate::limits::ClientAddr;
use crate::openapi::{About, StationDetails, Tag};
use crate::routes::Endpoint;
use crate::state::State;

/// Which members a station has in an answer.
const FIELDS: Parameter = Parameter::new(
    "fields",
    Form::List(FIELD, 1, Some(DetailFields::NAMES.len())),
    "Only these members of each station, so none but these is required in the answer. \
     `altitude`, `typeCount`, how many types there are, and `reportText`, the newest report of the \
     last 12 hours, are there only if they are named.",
);

/// The parameters of details.
const DETAILS: [Parameter; 22] = join::<6, 16, 22>(
    [
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
        FIELDS,
        FORM[0],
        FORM[1],
        FORM[2],
    ],
    FILTER,
);

pub const ENDPOINTS: &[Endpoint] = &[
    Endpoint::get("/stations/map/details", || get(map_details)).query(&DETAILS).about(|| {
        About::new("getStationDetails", Tag::Observations, "All stations with their details")
            .json::<StationDetails>("Stations by id.")
            .cached("`no-cache`")
            .tagged()
    }),
    Endpoint::get("/stations/map/markers", || get(markers)).query(&FILTER).about(|| {
        About::new("getStationMarkers", Tag::Observations, "Where the stations are")
            .json::<StationMarkers>("All stations on record.")
            .cached("`no-cache`")
            .tagged()
    }),
    Endpoint::get("/stations/{id}", || get(station))
        .query(&[FIELDS, FORM[0], FORM[1], FORM[2]])
        .about(|| {
            About::new("getStation", Tag::Observations, "One station with its details")
                .path(&[STATION])
                .json::<StationDetail>("The station.")
                .header(
                    "Content-Location",
                    "The station by its own id, where another identifier asked for it.",
                )
                .cached("`no-cache`")
                .tagged()
        }),
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
    let form = RequestedForm::of(&state, &query)?;
    let is_whole = window_ms.is_none() && search.is_none() && filter.is_empty() && form.is_empty();
    let known = match fields {
        None => Some(details.snapshot.clone()),
        Some(fields) if !fields.has_report_text() => details.known_fields(fields),
        Some(_) => None,
    };
    if let Some(snapshot) = known.filter(|_| is_whole) {
        return Ok(with_header(Ok(snapshot.answer(&headers)), damaged));
    }
    let oldest_ms = window_ms.map(|window_ms| state.clock.now_ms().saturating_sub(window_ms));
    let cost = Cost { bytes: details.snapshot.identity().len(), ..Cost::LIGHT };
    let answer = move |state: &State| {
        let with_texts = fields.is_some_and(DetailFields::has_report_text);
        if let (true, Some(fields), false) = (is_whole, fields, with_texts) {
            let snapshot = details.fields(fields).map_err(ApiError::internal)?;
            return Ok(snapshot.answer(&headers));
        }
        let is_in = |record: &StationRecord| {
            oldest_ms.is_none_or(|oldest_ms| record.update_time_ms >= Some(oldest_ms))
                && search.as_deref().is_none_or(|text| record.station.matches(text))
        };
        let found = filter.select(&*state.services.store.directory()?, &is_in);
        let ids: Vec<StationId> = found.iter().map(|found| found.id).collect();
        let texts = if with_texts { newest_texts(state, &ids)? } else { Vec::new() };
        let form = form.form(state)?;
        json_tagged(
            &headers,
            details.of(fields, &found, &texts, &form).map_err(ApiError::internal)?,
        )
    };
    Ok(with_header(state.answer(client_addr, cost, answer).await, damaged))
}

/// The texts of the newest reports of stations.
fn newest_texts(state: &State, ids: &[StationId]) -> Result<Vec<Option<String>>, ApiError> {
    let now_ms = state.clock.now_ms();
    let window = ClosedWindow::new(now_ms.saturating_sub(QUALITIES_SPAN_MS), now_ms)?;
    let (texts, _) =
        state.services.read(|store| newest_report_texts(store, ids, window)).map_err(no_texts)?;
    Ok(texts)
}

/// The names of [`DetailFields`].
const FIELD: &str = "^(network|name|stationType|presentWeather|coordinates|elevation|altitude|updateTime\
     |types|qualities|identifiers|earlierPlaces|typeCount|reportText)$";

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
    let fields = query.one("fields")?.map(fields).transpose()?;
    let form = RequestedForm::of(&state, &query)?;
    let id = station_named(&state, &text)?;
    let now_ms = state.clock.now_ms();
    let (found, damaged) = state.services.read(|store| detail(store, id, now_ms))?;
    let found = found.ok_or_else(|| no_station(&text))?;
    if fields.is_some() || !form.is_empty() {
        let fields = fields.unwrap_or(DetailFields::WHOLE);
        let texts = if fields.has_report_text() { newest_texts(&state, &[id])? } else { vec![] };
        let text = texts.first().and_then(Option::as_deref);
        let chosen = found.with_fields(fields).with_report_text(text).in_form(&form.form(&state)?);
        let body = serde_json::to_vec(&chosen);
        return Ok(with_header(json_tagged(&headers, body.map_err(ApiError::internal)?), damaged));
    }
    let answer = match state.snapshots.details().station(&found) {
        Some((body, content)) => json_of_content(&headers, content, body),
        None => json_tagged(&headers, serde_json::to_vec(&found).map_err(ApiError::internal)?),
    };
    let mut answer = with_header(answer, damaged);
    if text.parse::<StationId>().is_err() {
        // RFC 9110, 8.7: beside this address, so it holds under any prefix.
        let own = HeaderValue::from_str(&id.to_string()).map_err(ApiError::internal)?;
        answer.headers_mut().insert(header::CONTENT_LOCATION, own);
    }
    Ok(answer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_description_names_all_fields_of_details() {
        assert_eq!(FIELD, format!("^({})$", DetailFields::NAMES.join("|")));
    }
}
