//! `/models/{model}/runs`: the available runs.

use std::sync::Arc;

use axum::extract::{Path, State as Shared};
use axum::response::Response;
use axum::routing::get;
use mesonet::access::ModelUse;
use mesonet::model::RunStamp;
use mesonet::time::HOUR_MS;
use mesonet::{Iso8601, model};
use serde::Serialize;
use utoipa::ToSchema;

use super::asked_again;
use super::parameters::MODEL;
use crate::auth::access::{Caller, Granted};
use crate::http::encoding::Accepted;
use crate::http::error::ApiError;
use crate::http::snapshot::json_value;
use crate::openapi::{About, Tag};
use crate::routes::Endpoint;
use crate::state::State;

pub const ENDPOINTS: &[Endpoint] = &[Endpoint {
    method: "GET",
    path: "/models/{model}/runs",
    query: &[],
    body: &[],
    handler: || get(runs),
    about: || {
        About::new("listModelRuns", Tag::Models, "The runs of a model")
            .path(&[MODEL])
            .json::<Runs>("The runs, latest first.")
            .cached("`no-cache`; `private` where not everyone may have it.")
    },
}];

/// The runs, latest first.
#[derive(Serialize, ToSchema)]
#[schema(as = ModelRuns)]
struct Runs {
    #[schema(value_type = Vec<String>)]
    runs: Vec<RunStamp>,
    /// Details of each, in the same order: an addition to the interface.
    details: Vec<RunDetail>,
}

#[derive(Serialize, ToSchema)]
struct RunDetail {
    #[schema(value_type = String)]
    run: RunStamp,
    /// When its newest part was published.
    #[serde(rename = "availableAt")]
    #[schema(required = true)]
    available_at: Option<Iso8601>,
    forecast_hours: usize,
    /// The hours of the run, counted from its start.
    forecast_hour_axis: Vec<f64>,
    /// The published hours, as indices into the axis.
    published_hours: Vec<usize>,
    /// Those of them that lack a product or a level, or with a file that broke off.
    partial_hours: Vec<usize>,
    #[schema(required = true)]
    valid_from: Option<Iso8601>,
    #[schema(required = true)]
    valid_to: Option<Iso8601>,
}

impl RunDetail {
    fn new(run: &model::Run) -> Self {
        let definition = run.definition();
        let partial = run.published().iter().filter(|hour| !hour.is_whole());
        let available_ms = run.published().iter().map(|hour| hour.published_ms).max();
        Self {
            run: definition.run,
            available_at: available_ms.map(Iso8601),
            forecast_hours: definition.valid_ms.len(),
            forecast_hour_axis: forecast_hour_axis(run),
            published_hours: run.published().iter().map(|hour| hour.hour).collect(),
            partial_hours: partial.map(|hour| hour.hour).collect(),
            valid_from: definition.valid_ms.first().copied().map(Iso8601),
            valid_to: definition.valid_ms.last().copied().map(Iso8601),
        }
    }
}

/// The hours of a run, counted from its start.
pub fn forecast_hour_axis(run: &model::Run) -> Vec<f64> {
    let start_ms = run.definition().run.start_ms();
    let hours = run.definition().valid_ms.iter();
    hours.map(|valid_ms| (valid_ms - start_ms) as f64 / HOUR_MS as f64).collect()
}

async fn runs(
    Shared(state): Shared<Arc<State>>,
    Path(model): Path<String>,
    caller: Caller,
    accepted: Accepted,
) -> Result<Response, ApiError> {
    let answer = move |state: &State| {
        let catalogue = state.services.models.catalogue();
        let granted = Granted::new(&catalogue, &caller, &model, ModelUse::Listing, [])?;
        let runs = state.services.models_with_sample().runs(granted)?;
        let details: Vec<RunDetail> = runs.iter().map(|run| RunDetail::new(run)).collect();
        let runs = details.iter().map(|detail| detail.run).collect();
        json_value(accepted, &Runs { runs, details }).map(|response| asked_again(granted, response))
    };
    state.read_models(answer).await?
}
