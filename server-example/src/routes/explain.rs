//! `/observations/explain`: why a reading has its verdict.

use std::sync::Arc;

use axum::extract::State as Shared;
use axum::response::Response;
use axum::routing::get;
use mesonet::access::check_moment;
use mesonet::observation::SeriesId;
use mesonet::{Iso8601, StationId};

use crate::access::Caller;
use crate::door::Party;
use crate::error::ApiError;
use crate::http::damage::said;
use crate::http::encoding::Accepted;
use crate::http::endpoint::Endpoint;
use crate::http::extract::{Query, missing};
use crate::http::snapshot::json_value;
use crate::state::State;
use crate::work::Load;

pub const ENDPOINTS: &[Endpoint] = &[Endpoint {
    method: "GET",
    path: "/observations/explain",
    query: &["stationId", "typeId", "timestamp"],
    body: &[],
    handler: || get(explain),
}];

/// The explanation is computed on request and not stored.
async fn explain(
    Shared(state): Shared<Arc<State>>,
    caller: Caller,
    party: Party,
    query: Query,
    accepted: Accepted,
) -> Result<Response, ApiError> {
    let station: StationId =
        query.read("stationId", str::parse)?.ok_or_else(|| missing("stationId"))?;
    let series = query.one("typeId")?.ok_or_else(|| missing("typeId"))?;
    let series = series.parse().map(SeriesId).map_err(|_| {
        ApiError::BadRequest(format!("typeId must be a 32-bit integer; got \"{series}\""))
    })?;
    let ts_ms = query.needed_instant("timestamp")?;
    check_moment(ts_ms, state.clock.now_ms(), caller.plan)?;
    let explained = state.work(party, Load::Light, move |state| {
        let intake = &state.services.intake;
        state.services.read(|store| intake.explain(store, station, series, ts_ms))
    });
    let (found, damaged) = explained.await??;
    let unknown = || {
        let timestamp = Iso8601(ts_ms);
        ApiError::NotFound(format!("station {station} has no reading of {series} at {timestamp}"))
    };
    let answer = found.ok_or_else(unknown).and_then(|found| json_value(accepted, &found));
    Ok(said(answer, damaged))
}
