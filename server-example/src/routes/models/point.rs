//! `/models/{model}/point`: values of one cell at one hour.

use std::sync::Arc;

use axum::extract::State as Shared;
use axum::response::Response;
use axum::routing::get;
use mesonet::access::ModelUse;
use mesonet::model;

use super::lasting::Lasting;
use super::{ModelRequest, cell, fields, run, used_products, winds};
use crate::error::ApiError;
use crate::http::endpoint::Endpoint;
use crate::state::State;

pub const ENDPOINTS: &[Endpoint] = &[Endpoint {
    method: "GET",
    path: "/models/{model}/point",
    query: &["run", "fields", "hour", "row", "col", "lat", "lon", "level", "winds"],
    body: &[],
    handler: || get(point),
}];

async fn point(
    Shared(state): Shared<Arc<State>>,
    request: ModelRequest,
) -> Result<Response, ApiError> {
    let answer = move |state: &State| {
        let named = request.query.list("fields");
        let granted = request.granted(state, ModelUse::Point, named)?;
        let run = run(state, granted, &request.query)?;
        let fields = fields(&request.query)?;
        let hour = request.query.needed_index("hour")?;
        let winds = winds(granted, &request.query)?;
        let asked = model::PointQuery::new(hour, cell(&run, &request.query)?, &fields)
            .level(request.query.index("level")?)
            .winds(winds);
        let point = model::point(&run, &asked)?;
        let used = used_products(granted, winds, &fields);
        let lasting = Lasting::at_hour(granted, &run, hour, &used);
        request.json(&lasting, &point)
    };
    state.look_up(answer).await?
}
