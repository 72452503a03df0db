//! `/capabilities`: what the caller may do.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::State as Shared;
use axum::response::Response;
use axum::routing::get;
use mesonet::access::{Capabilities, Limits, ModelCapabilities, Product, ProductAccess};
use serde::Serialize;

use crate::auth::access::Caller;
use crate::http::encoding::AcceptedEncodings;
use crate::http::error::ApiError;
use crate::http::snapshot::{json_value, not_stored};
use crate::openapi::{About, Tag};
use crate::routes::Endpoint;
use crate::state::State;

pub const ENDPOINTS: &[Endpoint] =
    &[Endpoint::get("/capabilities", || get(capabilities)).about(|| {
        About::new("getCapabilities", Tag::Access, "What the caller may do")
            .text("An anonymous caller gets the free view.")
            .json::<ModelCapabilities>("Products of both services, and limits of this one.")
            .cached("`no-store`: the answer is per caller.")
    })];

/// The products of both services, and the limits of this one.
#[derive(Serialize)]
struct ServiceCapabilities {
    products: BTreeMap<String, ProductAccess>,
    limits: Limits,
}

async fn capabilities(
    Shared(state): Shared<Arc<State>>,
    caller: Caller,
    accepted: AcceptedEncodings,
) -> Result<Response, ApiError> {
    let Capabilities { products, limits } =
        Capabilities::new(&Product::OF_OBSERVATIONS, caller.plan, caller.is_staff);
    let catalogue = state.services.models.catalogue();
    let models = catalogue.capabilities(caller.of_models(), BTreeMap::new()).products;
    let products = products.into_iter().map(|(id, access)| (id.to_owned(), access));
    let view = ServiceCapabilities { products: products.chain(models).collect(), limits };
    json_value(accepted, &view).map(not_stored)
}
