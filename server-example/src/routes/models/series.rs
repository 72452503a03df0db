//! `/models/{model}/series`: values of one cell over the hours of a run.

use std::sync::Arc;

use axum::extract::State as Shared;
use axum::response::Response;
use axum::routing::get;
use mesonet::access::ModelUse;
use mesonet::model;

use super::lasting::CacheLifetime;
use super::parameters::{
    COL, FIELDS, LASTING, LAT, LEVEL, LEVEL_HPA, LON, MEMBER, MODEL, ROW, RUN, WINDS,
};
use super::{ModelRequest, RequestedRun, cell, fields, level, member, used_products, winds};
use crate::http::error::ApiError;
use crate::http::parameter::{Form, Parameter};
use crate::http::work::Cost;
use crate::limits::ClientAddr;
use crate::openapi::{About, Tag};
use crate::routes::Endpoint;
use crate::state::State;

/// A value as text, and before that as a number.
const BYTES_OF_A_VALUE: usize = 16;

pub const ENDPOINTS: &[Endpoint] = &[Endpoint::get("/models/{model}/series", || get(series))
    .query(&[
        RUN.required(),
        FIELDS,
        ROW,
        COL,
        LAT,
        LON,
        LEVEL,
        LEVEL_HPA,
        MEMBER,
        Parameter::new("from", Form::Instant, "The first valid time, included."),
        Parameter::new("to", Form::Instant, "The last valid time, included."),
        WINDS,
    ])
    .about(|| {
        About::new("getModelSeries", Tag::Models, "Values of one cell over the hours of a run")
            .text("A cell is given by row and col, or by lat and lon.")
            .path(&[MODEL])
            .json::<model::Series>("The values by hour; missing ones are null.")
            .cached(LASTING)
            .tagged()
    })];

async fn series(
    Shared(state): Shared<Arc<State>>,
    client_addr: ClientAddr,
    request: ModelRequest,
) -> Result<Response, ApiError> {
    let answer = move |state: &State| {
        let named = request.query.list("fields");
        let granted = request.granted(ModelUse::Series, named)?;
        let asked_run = RequestedRun::new(state, granted, &request.query, &[])?;
        let run = &*asked_run.run;
        let fields = fields(&request.query)?;
        let (level, level_hpa) = level(&request.query)?;
        let asked = model::SeriesQuery::new(cell(run, &request.query)?, &fields)
            .level(level)
            .level_hpa(level_hpa)
            .member(member(&request.query)?)
            .from_ms(request.query.instant("from")?)
            .to_ms(request.query.instant("to")?)
            .winds(winds(granted, &request.query)?);
        let (values, limit) = (asked.values(run)?, state.config().max_model_values);
        if values > limit {
            return Err(ApiError::BadRequest(format!(
                "the fields have {values} values over the run; the limit is {limit} \
                 (maxValues): ask for fewer fields or for one level"
            )));
        }
        let series = model::series(run, &asked)?;
        let used = used_products(granted, asked.winds, &fields);
        let lasting = CacheLifetime::at_all_hours(granted, run, &used).of_run(&asked_run);
        request.json(&lasting, &series)
    };
    let cost = Cost::heavy(state.config().max_model_values.saturating_mul(BYTES_OF_A_VALUE));
    state.answer(client_addr, cost, answer).await
}
