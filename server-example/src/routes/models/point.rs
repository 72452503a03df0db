//! `/models/{model}/point`: values of one cell at one hour.

use std::sync::Arc;

use axum::extract::State as Shared;
use axum::response::Response;
use axum::routing::get;
use mesonet::access::ModelUse;
use mesonet::model;

use super::lasting::CacheLifetime;
use super::parameters::{
    COL, FIELDS, HOUR, LASTING, LAT, LEVEL, LEVEL_HPA, LON, MEMBER, MODEL, ROW, RUN, VALID, WINDS,
};
use super::{ModelRequest, RequestedRun, cell, level, member, used_products, winds};
use crate::http::error::ApiError;
use crate::openapi::{About, Tag};
use crate::routes::Endpoint;
use crate::state::State;

pub const ENDPOINTS: &[Endpoint] = &[Endpoint::get("/models/{model}/point", || get(point))
    .query(&[RUN, VALID, FIELDS, HOUR, ROW, COL, LAT, LON, LEVEL, LEVEL_HPA, MEMBER, WINDS])
    .about(|| {
        About::new("getModelPoint", Tag::Models, "Values of one cell at one hour")
            .text(
                "Exact values of the native grid. A cell is given by row and col, or by lat and lon; \
                 an hour by run and hour, or by valid.",
            )
            .path(&[MODEL])
            .json::<model::Point>("The values; missing ones are null.")
            .cached(LASTING)
            .tagged()
    })];

async fn point(
    Shared(state): Shared<Arc<State>>,
    request: ModelRequest,
) -> Result<Response, ApiError> {
    let answer = move |state: &State| {
        let named = request.query.list("fields");
        let granted = request.granted(ModelUse::Point, named)?;
        let fields: Vec<&str> = request.query.list("fields").collect();
        let asked_run = RequestedRun::new(state, granted, &request.query, &fields)?;
        let run = &*asked_run.run;
        let fields = super::fields(&request.query)?;
        let hour = asked_run.hour(&request.query)?;
        let winds = winds(granted, &request.query)?;
        let (level, level_hpa) = level(&request.query)?;
        let asked = model::PointQuery::new(hour, cell(run, &request.query)?, &fields)
            .level(level)
            .level_hpa(level_hpa)
            .member(member(&request.query)?)
            .winds(winds);
        let point = model::point(run, &asked)?;
        let used = used_products(granted, winds, &fields);
        let lasting = CacheLifetime::at_hour(granted, run, hour, &used).of_run(&asked_run);
        request.json(&lasting, &point)
    };
    state.read_models(answer).await?
}
