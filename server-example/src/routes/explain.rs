//! `/observations/explain`: why a reading has its verdict.

use std::sync::Arc;

use axum::extract::State as Shared;
use axum::response::Response;
use axum::routing::get;
use mesonet::Iso8601;
use mesonet::access::check_moment;
use mesonet::intake::ReadingExplanation;
use mesonet::observation::SeriesId;

use super::filter::station_named;
use super::parameters::STATION_ID;
use crate::auth::access::Caller;
use crate::http::damage::with_header;
use crate::http::encoding::AcceptedEncodings;
use crate::http::error::ApiError;
use crate::http::extract::{Query, missing};
use crate::http::parameter::{Form, Parameter};
use crate::http::snapshot::json_value;
use crate::http::work::Load;
use crate::limits::ClientAddr;
use crate::openapi::{About, Common, Tag};
use crate::routes::Endpoint;
use crate::state::State;

pub const ENDPOINTS: &[Endpoint] = &[Endpoint::get("/observations/explain", || get(explain))
    .query(&[
        STATION_ID,
        Parameter::new("typeId", Form::Whole(i32::MIN as i64, i32::MAX as i64), "The series.")
            .required()
            .example("214495241"),
        Parameter::new("timestamp", Form::Instant, "Time of the reading.")
            .required()
            .example("2024-08-03T21:00:00Z"),
    ])
    .about(|| {
        About::new("explainReading", Tag::Observations, "Why a reading has its verdict")
            .json::<ReadingExplanation>(
                "The checks that ran, with what they looked at and their limits.",
            )
            .with(Common::NotFound)
            .cached("`no-cache`")
    })];

/// The explanation is computed on request and not stored.
async fn explain(
    Shared(state): Shared<Arc<State>>,
    caller: Caller,
    client_addr: ClientAddr,
    query: Query,
    accepted: AcceptedEncodings,
) -> Result<Response, ApiError> {
    let station = query.one("stationId")?.ok_or_else(|| missing("stationId"))?;
    let station = station_named(&state, station)?;
    let series = query.parsed("typeId", "a 32-bit integer", |text| text.parse().ok())?;
    let series = series.map(SeriesId).ok_or_else(|| missing("typeId"))?;
    let ts_ms = query.needed_instant("timestamp")?;
    check_moment(ts_ms, state.clock.now_ms(), caller.plan)?;
    let explained = state.work(client_addr, Load::Light, move |state| {
        let intake = &state.services.intake;
        state.services.read(|store| intake.explain(store, station, series, ts_ms))
    });
    let (found, damaged) = explained.await??;
    let unknown = || {
        let timestamp = Iso8601(ts_ms);
        ApiError::NotFound(format!("station {station} has no reading of {series} at {timestamp}"))
    };
    let answer = found.ok_or_else(unknown).and_then(|found| json_value(accepted, &found));
    Ok(with_header(answer, damaged))
}
