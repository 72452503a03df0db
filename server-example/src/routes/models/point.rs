//! `/models/{model}/point`: values of one cell at one hour.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Path, State as Shared};
use axum::response::Response;
use axum::routing::get;
use mesonet::{ModelPointQuery, ModelUse, model_point};

use super::lasting::Lasting;
use super::{Asked, cell, fields, named_fields, needed_index, run, used_products, winds};
use crate::access::{Caller, Granted};
use crate::error::ApiError;
use crate::extract::Query;
use crate::state::State;

pub fn router() -> Router<Arc<State>> {
    Router::new().route("/models/{model}/point", get(point))
}

async fn point(
    Shared(state): Shared<Arc<State>>,
    Path(model): Path<String>,
    caller: Caller,
    query: Query,
    asked_for: Asked,
) -> Result<Response, ApiError> {
    let answer = move |state: &State| {
        let named = named_fields(&query);
        let granted = Granted::new(state, caller, &model, ModelUse::Point, named)?;
        let run = run(state, granted, &query)?;
        let fields = fields(&query)?;
        let hour = needed_index(&query, "hour")?;
        let (row, column) = cell(&run, &query)?;
        let level = query.index("level")?;
        let winds = winds(granted, &query)?;
        let asked = ModelPointQuery { hour, row, column, fields: &fields, level, winds };
        let point = model_point(&run, &asked)?;
        let used = used_products(granted, winds, &fields);
        let lasting = Lasting::at_hour(granted, &run, hour, &used);
        asked_for.json(&lasting, &point)
    };
    state.look_up(answer).await?
}
