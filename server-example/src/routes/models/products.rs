//! `/models/{model}/products`: what a run has.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Path, State as Shared};
use axum::response::Response;
use axum::routing::get;
use mesonet::{
    ModelProduct, ModelSource, ModelUse, RunStamp, SourceProduct, TileSampling, model_products,
};
use serde::Serialize;

use super::{asked_again, run_or_newest};
use crate::access::{Caller, Granted};
use crate::encoding::Accepted;
use crate::error::ApiError;
use crate::extract::Query;
use crate::snapshot::json_value;
use crate::state::State;

pub fn router() -> Router<Arc<State>> {
    Router::new().route("/models/{model}/products", get(products))
}

#[derive(Serialize)]
struct Products {
    /// The run that they are of.
    run: RunStamp,
    products: Vec<Listed>,
}

#[derive(Serialize)]
struct Listed {
    #[serde(flatten)]
    product: ModelProduct,
    #[serde(skip_serializing_if = "String::is_empty")]
    title: String,
    /// How pixels of its tiles get their values.
    sampling: &'static str,
    /// By how much a value may be off, in its unit.
    packing_error: f64,
    /// The other component, where it is one of a wind.
    #[serde(skip_serializing_if = "Option::is_none")]
    wind: Option<[String; 2]>,
}

impl Listed {
    fn new(source: &ModelSource, product: ModelProduct) -> Self {
        let of_catalogue = source.product(&product.name);
        let sampling = of_catalogue.map(SourceProduct::sampling).unwrap_or_default();
        Self {
            title: of_catalogue.map(|product| product.title().to_owned()).unwrap_or_default(),
            sampling: match sampling {
                TileSampling::Nearest => "nearest",
                TileSampling::Bilinear => "bilinear",
            },
            packing_error: product.encoding.encoding.scale() / 2.0,
            wind: source.wind_of(&product.name).map(|(_, both)| both.map(str::to_owned)),
            product,
        }
    }
}

async fn products(
    Shared(state): Shared<Arc<State>>,
    Path(model): Path<String>,
    caller: Caller,
    query: Query,
    accepted: Accepted,
) -> Result<Response, ApiError> {
    let answer = move |state: &State| {
        let granted = Granted::new(state, caller, &model, ModelUse::Listing, [])?;
        let run = run_or_newest(state, granted, &query)?;
        let source = granted.source();
        let products = model_products(run.definition());
        let products = products.into_iter().map(|product| Listed::new(source, product)).collect();
        let products = Products { run: run.definition().run, products };
        json_value(accepted, &products).map(|response| asked_again(granted, response))
    };
    state.look_up(answer).await?
}
