//! `/capabilities` of the model service: what the caller may do.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::State as Shared;
use axum::response::Response;
use axum::routing::get;
use mesonet::access::ModelCapabilities;

use crate::auth::access::Caller;
use crate::http::encoding::AcceptedEncodings;
use crate::http::error::ApiError;
use crate::http::snapshot::{json_value, not_stored};
use crate::openapi::{About, Tag};
use crate::routes::Endpoint;
use crate::state::State;

pub const ENDPOINTS: &[Endpoint] =
    &[Endpoint::get("/capabilities", || get(capabilities)).about(|| {
        About::new("getModelCapabilities", Tag::Models, "What the caller may do with models")
            .json::<ModelCapabilities>("Sources of model output, and limits.")
            .cached("`no-store`: the answer is per caller.")
    })];

async fn capabilities(
    Shared(state): Shared<Arc<State>>,
    caller: Caller,
    accepted: AcceptedEncodings,
) -> Result<Response, ApiError> {
    let limits = BTreeMap::from([("maxValues", Some(state.config().max_model_values as u64))]);
    let view = state.services.models.catalogue().capabilities(caller.of_models(), limits);
    json_value(accepted, &view).map(not_stored)
}
