//! `/models/coverage`: the available models, their grids, and the areas that they cover.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::State as Shared;
use axum::response::Response;
use axum::routing::get;
use mesonet::access::ModelUse;
use mesonet::grid::{MAX_TILE_ZOOM, NativeGrid, TILE_SIDE};
use mesonet::model::{self, RunStamp};
use serde::Serialize;
use utoipa::ToSchema;

use crate::auth::access::{Caller, ModelPermission};
use crate::http::encoding::AcceptedEncodings;
use crate::http::error::ApiError;
use crate::http::snapshot::{json_value, not_stored};
use crate::openapi::{About, Tag};
use crate::routes::Endpoint;
use crate::state::State;
use crate::state::run_detail::forecast_hour_axis;

pub const ENDPOINTS: &[Endpoint] =
    &[Endpoint::get("/models/coverage", || get(coverage)).about(|| {
        About::new("getModelCoverage", Tag::Models, "The models and the areas they cover")
            .json::<Coverage>("The models that the caller may use and that have a run.")
            .cached("`no-store`: the answer is per caller.")
    })];

/// The models that the caller may use and that have a run.
#[derive(Serialize, ToSchema)]
struct Coverage {
    models: BTreeMap<String, ModelCoverage>,
}

#[derive(Serialize, ToSchema)]
struct ModelCoverage {
    title: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    attribution: String,
    /// Rows and columns of the native grid of the latest run.
    ny: usize,
    nx: usize,
    bounds: GridBounds,
    #[schema(value_type = String)]
    latest_run: RunStamp,
    /// The hours of the latest run, counted from its start.
    forecast_hour_axis: Vec<f64>,
    products: usize,
    tile_size: usize,
    max_zoom: u32,
}

/// The box around the cells; minLon is greater than maxLon across the antimeridian.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct GridBounds {
    min_lat: f64,
    min_lon: f64,
    max_lat: f64,
    max_lon: f64,
}

impl GridBounds {
    pub fn of(grid: &NativeGrid) -> Self {
        let bounds = grid.bounds();
        Self {
            min_lat: bounds.min_lat(),
            min_lon: bounds.min_lon(),
            max_lat: bounds.max_lat(),
            max_lon: bounds.max_lon(),
        }
    }
}

impl ModelCoverage {
    fn new(granted: ModelPermission<'_>, run: &model::Run) -> Self {
        let source = granted.source();
        Self {
            title: source.title().to_owned(),
            attribution: source.attribution().to_owned(),
            ny: run.grid().rows(),
            nx: run.grid().columns(),
            bounds: GridBounds::of(run.grid()),
            latest_run: run.definition().run,
            forecast_hour_axis: forecast_hour_axis(run),
            products: run.definition().products.len(),
            tile_size: TILE_SIDE,
            max_zoom: MAX_TILE_ZOOM,
        }
    }
}

async fn coverage(
    Shared(state): Shared<Arc<State>>,
    caller: Caller,
    accepted: AcceptedEncodings,
) -> Result<Response, ApiError> {
    let answer = move |state: &State| {
        let mut models = BTreeMap::new();
        let catalogue = state.services.models.catalogue();
        for source in catalogue.iter() {
            let granted =
                ModelPermission::new(&catalogue, &caller, source.name(), ModelUse::Listing, []);
            // The capabilities also list the models that the caller may not use.
            let Ok(granted) = granted else { continue };
            if let Some(run) = state.services.models_with_sample().newest(granted)? {
                models.insert(source.name().to_owned(), ModelCoverage::new(granted, &run));
            }
        }
        json_value(accepted, &Coverage { models }).map(not_stored)
    };
    state.read_models(answer).await?
}
