//! `/observations/explain`: why a reading has its verdict.

use std::sync::Arc;

use axum::Router;
use axum::extract::State as Shared;
use axum::response::Response;
use axum::routing::get;
use mesonet::{Iso8601, SeriesId, StationId, Watched};

use crate::damage::said;
use crate::door::Party;
use crate::encoding::Accepted;
use crate::error::ApiError;
use crate::extract::Query;
use crate::snapshot::json_value;
use crate::state::State;
use crate::work::Load;

pub fn router() -> Router<Arc<State>> {
    Router::new().route("/observations/explain", get(explain))
}

/// Worked out when it is asked for; nothing of it is stored.
async fn explain(
    Shared(state): Shared<Arc<State>>,
    party: Party,
    query: Query,
    accepted: Accepted,
) -> Result<Response, ApiError> {
    let needed = |name| move || ApiError::BadRequest(format!("{name} is needed"));
    let station: StationId =
        query.read("stationId", str::parse)?.ok_or_else(needed("stationId"))?;
    let series = query.one("typeId")?.ok_or_else(needed("typeId"))?;
    let series = series.parse().map(SeriesId).map_err(|_| {
        ApiError::BadRequest(format!("typeId must be a 32-bit whole number; got \"{series}\""))
    })?;
    let ts_ms = query.instant("timestamp")?.ok_or_else(needed("timestamp"))?;
    let explained = state.work(party, Load::Light, move |state| {
        let store = Watched::new(state.store());
        let found = state.intake().explain(&store, station, series, ts_ms);
        found.map(|found| (found, state.note_damage(&store)))
    });
    let (found, damaged) = explained.await?.map_err(ApiError::of)?;
    let missing = || {
        let timestamp = Iso8601(ts_ms);
        ApiError::NotFound(format!("station {station} has no reading of {series} at {timestamp}"))
    };
    let answer = found.ok_or_else(missing).and_then(|found| json_value(accepted, &found));
    Ok(said(answer, damaged))
}
