//! `/stations/map/markers`, `/stations/map/details` and `/stations/{id}`.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Path, State as Shared};
use axum::http::HeaderMap;
use axum::response::Response;
use axum::routing::get;
use mesonet::StationId;
use mesonet::query::detail;
use mesonet::store::Watched;
use mesonet::time::parse_window;

use crate::door::Party;
use crate::error::ApiError;
use crate::http::damage::said;
use crate::http::encoding::Accepted;
use crate::http::extract::Query;
use crate::http::snapshot::{json_bytes, json_value};
use crate::state::State;
use crate::work::Cost;

pub fn router() -> Router<Arc<State>> {
    Router::new()
        .route("/stations/map/markers", get(markers))
        .route("/stations/map/details", get(map_details))
        .route("/stations/{id}", get(station))
}

async fn markers(Shared(state): Shared<Arc<State>>, headers: HeaderMap) -> Response {
    state.snapshots.markers().answer(&headers)
}

async fn map_details(
    Shared(state): Shared<Arc<State>>,
    party: Party,
    query: Query,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let details = state.snapshots.details();
    let Some(window_ms) = query.read("window", parse_window)? else {
        return Ok(said(Ok(details.snapshot.answer(&headers)), details.damaged));
    };
    let oldest_ms = state.clock.now_ms().saturating_sub(window_ms);
    let encoding = Accepted::of(&headers).fastest();
    let damaged = details.damaged;
    let cost = Cost { bytes: details.snapshot.identity().len(), ..Cost::LIGHT };
    let answer = move |_: &State| json_bytes(encoding, &details.since(oldest_ms));
    Ok(said(state.answer(party, cost, answer).await, damaged))
}

/// A path without a UUID names no station, so it is a 404 like any other unknown id.
async fn station(
    Shared(state): Shared<Arc<State>>,
    Path(text): Path<String>,
    accepted: Accepted,
) -> Result<Response, ApiError> {
    let unknown = || ApiError::NotFound(format!("no station has the id \"{text}\""));
    let id: StationId = text.parse().map_err(|_| unknown())?;
    let store = Watched::new(&*state.services.store);
    let found = detail(&store, id, state.clock.now_ms())?;
    let answer = json_value(accepted, &found.ok_or_else(unknown)?);
    Ok(said(answer, state.services.note_damage(&store)))
}
