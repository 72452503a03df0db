//! `/models/{model}/runs`: the available runs.

use std::sync::Arc;

use axum::extract::{Path, State as Shared};
use axum::response::Response;
use axum::routing::get;
use mesonet::access::ModelUse;
use mesonet::model::RunStamp;
use serde::Serialize;
use utoipa::ToSchema;

use super::asked_again;
use super::parameters::MODEL;
use crate::auth::access::{Caller, ModelPermission};
use crate::http::encoding::AcceptedEncodings;
use crate::http::error::ApiError;
use crate::http::snapshot::json_value;
use crate::openapi::{About, Tag};
use crate::routes::Endpoint;
use crate::state::State;
use crate::state::run_detail::RunDetail;

pub const ENDPOINTS: &[Endpoint] =
    &[Endpoint::get("/models/{model}/runs", || get(runs)).about(|| {
        About::new("listModelRuns", Tag::Models, "The runs of a model")
            .path(&[MODEL])
            .json::<Runs>("The runs, latest first.")
            .cached("`no-cache`; `private` where not everyone may have it.")
    })];

/// The runs, latest first.
#[derive(Serialize, ToSchema)]
#[schema(as = ModelRuns)]
struct Runs {
    #[schema(value_type = Vec<String>)]
    runs: Vec<RunStamp>,
    /// Details of each, in the same order: an addition to the interface.
    details: Vec<RunDetail>,
}

async fn runs(
    Shared(state): Shared<Arc<State>>,
    Path(model): Path<String>,
    caller: Caller,
    accepted: AcceptedEncodings,
) -> Result<Response, ApiError> {
    let answer = move |state: &State| {
        let catalogue = state.services.models.catalogue();
        let granted = ModelPermission::new(&catalogue, &caller, &model, ModelUse::Listing, [])?;
        let runs = state.services.models_with_sample().runs(granted)?;
        let details: Vec<RunDetail> = runs.iter().map(|run| RunDetail::new(run)).collect();
        let runs = details.iter().map(|detail| detail.run).collect();
        json_value(accepted, &Runs { runs, details }).map(|response| asked_again(granted, response))
    };
    state.read_models(answer).await?
}
