//! `/stations/map/markers`, `/stations/map/details` and `/stations/{id}`.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Path, State as Shared};
use axum::http::HeaderMap;
use axum::response::Response;
use axum::routing::get;
use mesonet::{StationId, detail, parse_window};

use crate::encoding::{Accepted, Compressor, Effort};
use crate::error::ApiError;
use crate::extract::Query;
use crate::snapshot::{json, json_value};
use crate::state::State;

pub fn router() -> Router<Arc<State>> {
    Router::new()
        .route("/stations/map/markers", get(markers))
        .route("/stations/map/details", get(map_details))
        .route("/stations/{id}", get(station))
}

async fn markers(Shared(state): Shared<Arc<State>>, headers: HeaderMap) -> Response {
    state.markers().answer(&headers)
}

async fn map_details(
    Shared(state): Shared<Arc<State>>,
    query: Query,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let details = state.details();
    let Some(window_ms) = query.read("window", parse_window)? else {
        return Ok(details.snapshot.answer(&headers));
    };
    let oldest_ms = state.now_ms().saturating_sub(window_ms);
    let encoding = Accepted::of(&headers).fastest();
    let body = state
        .work(move |_| Compressor::encode(encoding, Effort::Fastest, &details.since(oldest_ms)))
        .await?
        .map_err(ApiError::internal)?;
    Ok(json(encoding, body))
}

/// A path that holds no UUID names no station, so it is a 404 like any other id that is unknown.
async fn station(
    Shared(state): Shared<Arc<State>>,
    Path(text): Path<String>,
    accepted: Accepted,
) -> Result<Response, ApiError> {
    let unknown = || ApiError::NotFound(format!("no station has the id \"{text}\""));
    let id: StationId = text.parse().map_err(|_| unknown())?;
    let found = detail(state.store(), id, state.now_ms()).map_err(ApiError::of)?;
    json_value(accepted, &found.ok_or_else(unknown)?)
}
