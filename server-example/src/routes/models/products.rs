//! `/models/{model}/products`: the products of a run.

use std::sync::Arc;

use axum::extract::State as Shared;
use axum::http::header;
use axum::response::Response;
use axum::routing::get;
use mesonet::access::ModelUse;
use mesonet::grid::TileSampling;
use mesonet::model::{self, RunStamp, SourceProduct};
use serde::Serialize;
use utoipa::ToSchema;

use super::lasting::CacheLifetime;
use super::parameters::{LASTING, MODEL, RUN};
use super::{ModelRequest, asked_again, run_or_newest, run_stamp};
use crate::http::error::ApiError;
use crate::http::snapshot::json_tagged;
use crate::openapi::{About, Tag};
use crate::routes::Endpoint;
use crate::state::State;

pub const ENDPOINTS: &[Endpoint] =
    &[Endpoint::get("/models/{model}/products", || get(products)).query(&[RUN]).about(|| {
        About::new("listModelProducts", Tag::Models, "The products of a run")
            .text("By default of the latest run.")
            .path(&[MODEL])
            .json::<Products>("The products.")
            .cached(LASTING)
            .tagged()
    })];

/// The kind of fields that is not mentioned.
const PLAIN: &str = "deterministic";

/// The products of a run.
#[derive(Serialize, ToSchema)]
#[schema(as = ModelProducts)]
struct Products {
    /// The run that has the products.
    run: RunStamp,
    products: Vec<ProductEntry>,
}

#[derive(Serialize, ToSchema)]
#[schema(as = ModelProduct)]
struct ProductEntry {
    #[serde(flatten)]
    #[schema(inline)]
    product: model::ModelProduct,
    #[serde(skip_serializing_if = "String::is_empty")]
    title: String,
    /// What its fields are of, if it is not a single forecast: `member`, `mean` and so on.
    #[serde(skip_serializing_if = "Option::is_none")]
    field: Option<String>,
    /// The interval that its fields cover, as the catalogue states it, and their statistic over it.
    #[serde(skip_serializing_if = "Option::is_none")]
    interval: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    statistic: Option<String>,
    /// How the pixels of its tiles are sampled.
    sampling: TileSampling,
    /// The packing error of a value, in its unit: half a step of the packing.
    packing_error: f64,
    /// The same for the pixels of its tiles: they are packed once more after they were interpolated
    /// or turned.
    tile_packing_error: f64,
    /// The value that stands for "no echo" where a radar sees, if it has one. A place that no radar
    /// sees is nodata.
    #[serde(skip_serializing_if = "Option::is_none")]
    no_echo: Option<f32>,
    /// Both components of the wind that it is one of.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<String>>)]
    wind: Option<[String; 2]>,
}

impl ProductEntry {
    fn new(source: &model::Source, product: model::ModelProduct) -> Self {
        let of_catalogue = source.product(&product.name);
        let sampling = of_catalogue.map(SourceProduct::sampling).unwrap_or_default();
        let half_step = product.encoding.encoding.scale() / 2.0;
        Self {
            title: of_catalogue.map(|product| product.title().to_owned()).unwrap_or_default(),
            field: of_catalogue.map(SourceProduct::field_kind).filter(|kind| kind != PLAIN),
            interval: of_catalogue.and_then(SourceProduct::interval),
            statistic: of_catalogue.and_then(SourceProduct::statistic),
            sampling,
            packing_error: half_step,
            tile_packing_error: half_step
                * tile_half_steps(sampling, source.wind_of(&product.name).is_some()),
            no_echo: of_catalogue.and_then(|product| product.parameter().no_echo()),
            wind: source.wind_of(&product.name).map(|(_, both)| both.map(str::to_owned)),
            product,
        }
    }
}

/// Returns the largest packing error of a pixel, in half steps: one for the values that it is made
/// from, or up to √2 for a wind that is turned, and one for the pixel itself.
fn tile_half_steps(sampling: TileSampling, is_wind: bool) -> f64 {
    match (is_wind, sampling) {
        (true, _) => 1.0 + std::f64::consts::SQRT_2,
        (false, TileSampling::Bilinear) => 2.0,
        (false, TileSampling::Nearest) => 1.0,
    }
}

async fn products(
    Shared(state): Shared<Arc<State>>,
    request: ModelRequest,
) -> Result<Response, ApiError> {
    let answer = move |state: &State| {
        let granted = request.granted(ModelUse::Listing, [])?;
        let run = run_or_newest(state, granted, &request.query)?;
        let source = granted.source();
        let products = model::products(run.definition());
        let products =
            products.into_iter().map(|product| ProductEntry::new(source, product)).collect();
        let products = Products { run: run.definition().run, products };
        let body = serde_json::to_vec(&products).map_err(ApiError::internal)?;
        let mut response = json_tagged(&request.headers, body)?;
        let is_named = run_stamp(&request.query)?.is_some();
        let lasting = CacheLifetime::of_products(granted, &run);
        if is_named {
            response.headers_mut().insert(header::CACHE_CONTROL, lasting.cache_control());
            return Ok(response);
        }
        Ok(asked_again(granted, response))
    };
    state.read_models(answer).await?
}
