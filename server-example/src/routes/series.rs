//! `/observations/series`: the readings of one variable at one station.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::Router;
use axum::extract::State as Shared;
use axum::response::Response;
use axum::routing::post;
use mesonet::{
    ClosedWindow, DAY_MS, MINUTE_MS, SeriesFilter, SeriesReading, StationId, Variable, Watched,
    check_lookback, observation_series,
};
use serde::Deserialize;

use crate::access::Caller;
use crate::damage::said;
use crate::door::Party;
use crate::encoding::Accepted;
use crate::error::ApiError;
use crate::extract::{JsonBody, Query};
use crate::series_json::SeriesWriter;
use crate::snapshot::json;
use crate::state::State;
use crate::stream::{self, Pieces};
use crate::work::{Cost, Load};

/// Memory that is set aside at most before it is known how much an answer needs.
const MAX_RESERVED_BYTES: usize = 16 << 20;

pub fn router() -> Router<Arc<State>> {
    Router::new().route("/observations/series", post(series))
}

/// `stationIds` has no effect, so it is passed over like a field that is not known.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SeriesRequest {
    station_id: String,
    #[serde(flatten)]
    filter: SeriesFilter,
}

async fn series(
    Shared(state): Shared<Arc<State>>,
    caller: Caller,
    party: Party,
    query: Query,
    accepted: Accepted,
    JsonBody(SeriesRequest { station_id, filter }): JsonBody<SeriesRequest>,
) -> Result<Response, ApiError> {
    let station: StationId = station_id.parse().map_err(ApiError::of)?;
    let Some(name) = filter.name.clone() else {
        return Err(ApiError::BadRequest("name is needed".to_owned()));
    };
    let (start_ms, end_ms) = (query.needed_instant("start")?, query.needed_instant("end")?);
    let window = ClosedWindow::new(start_ms, end_ms).map_err(ApiError::of)?;
    check_lookback(window, state.now_ms(), caller.plan).map_err(ApiError::of)?;
    // No station has readings of what is no variable: the caller is told which there are.
    name.parse::<Variable>().map_err(|error| ApiError::NotFound(error.to_string()))?;
    let encoding = accepted.fastest();
    // Also for an answer that there is nothing.
    let damaged = Arc::new(AtomicU64::new(0));
    let noted = Arc::clone(&damaged);
    let cost = cost(window);
    let begin = move |state: &State| {
        let store = Watched::new(state.store());
        let found = observation_series(&store, station, &filter, window).map_err(ApiError::of)?;
        noted.store(state.note_damage(&store), Ordering::Relaxed);
        let found = found.ok_or_else(|| {
            ApiError::NotFound(format!(
                "station {station} has no matching readings of {name} in the window"
            ))
        })?;
        let writer = SeriesWriter::new(found).map_err(ApiError::internal)?;
        Ok(((), Pieces::new(writer, encoding)?))
    };
    let answer = stream::body(state, party, cost, begin).await;
    let answer = answer.map(|((), body)| json(encoding, body));
    Ok(said(answer, damaged.load(Ordering::Relaxed)))
}

/// Of readings that come every minute. Nearly all come less often, so this is more than enough.
fn cost(window: ClosedWindow) -> Cost {
    const WEEK_MS: i64 = 7 * DAY_MS;
    let span_ms = window.span_ms();
    let readings = usize::try_from(span_ms / MINUTE_MS).unwrap_or(usize::MAX);
    let load = if span_ms <= WEEK_MS { Load::Light } else { Load::Heavy };
    let bytes = readings.saturating_mul(size_of::<SeriesReading>()).min(MAX_RESERVED_BYTES);
    Cost { load, bytes: bytes + stream::STREAM_BYTES }
}
