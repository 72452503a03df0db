//! `/models/{model}/series`: values of one cell over the hours of a run.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Path, State as Shared};
use axum::response::Response;
use axum::routing::get;
use mesonet::{ModelSeriesQuery, ModelUse, model_series};

use super::lasting::Lasting;
use super::{Asked, cell, fields, named_fields, run, used_products, winds};
use crate::access::{Caller, Granted};
use crate::door::Party;
use crate::error::ApiError;
use crate::extract::Query;
use crate::state::State;
use crate::work::Cost;

/// A value as text, and as a number before.
const BYTES_OF_A_VALUE: usize = 16;

pub fn router() -> Router<Arc<State>> {
    Router::new().route("/models/{model}/series", get(series))
}

async fn series(
    Shared(state): Shared<Arc<State>>,
    party: Party,
    Path(model): Path<String>,
    caller: Caller,
    query: Query,
    asked_for: Asked,
) -> Result<Response, ApiError> {
    let answer = move |state: &State| {
        let named = named_fields(&query);
        let granted = Granted::new(state, caller, &model, ModelUse::Series, named)?;
        let run = run(state, granted, &query)?;
        let fields = fields(&query)?;
        let (row, column) = cell(&run, &query)?;
        let asked = ModelSeriesQuery {
            row,
            column,
            fields: &fields,
            level: query.index("level")?,
            from_ms: query.instant("from")?,
            to_ms: query.instant("to")?,
            winds: winds(granted, &query)?,
        };
        let (values, limit) = (asked.values(&run)?, state.config().max_model_values);
        if values > limit {
            return Err(ApiError::BadRequest(format!(
                "the fields have {values} values over the run; allowed are up to {limit} \
                 (maxValues): ask for fewer fields or for one level"
            )));
        }
        let series = model_series(&run, &asked)?;
        let used = used_products(granted, asked.winds, &fields);
        let lasting = Lasting::at_all_hours(granted, &run, &used);
        asked_for.json(&lasting, &series)
    };
    let cost = Cost::heavy(state.config().max_model_values.saturating_mul(BYTES_OF_A_VALUE));
    state.answer(party, cost, answer).await
}
