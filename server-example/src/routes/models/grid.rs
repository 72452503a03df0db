//! `/models/{model}/grid` and `/models/{model}/locate`: the native grid, and the cell at a latitude
//! and longitude. Both are additions to the interface.

use std::sync::Arc;

use axum::extract::State as Shared;
use axum::response::Response;
use axum::routing::get;
use mesonet::access::ModelUse;
use mesonet::grid::Rotation;
use mesonet::model::RunStamp;
use mesonet::{LonLat, grid, model};
use serde::Serialize;
use utoipa::ToSchema;

use super::coverage::GridBounds;
use super::lasting::CacheLifetime;
use super::parameters::{LASTING, LAT, LON, MODEL, RUN};
use super::{ModelRequest, nearest, run_or_newest, run_stamp};
use crate::auth::access::ModelPermission;
use crate::http::error::ApiError;
use crate::http::snapshot::{json_value, not_stored};
use crate::openapi::{About, GridDefinition, Tag};
use crate::routes::Endpoint;
use crate::state::State;

pub const ENDPOINTS: &[Endpoint] = &[
    Endpoint::get("/models/{model}/grid", || get(grid)).query(&[RUN]).about(|| {
        About::new("getModelGrid", Tag::Models, "The native grid of a run")
            .text("By default of the latest run.")
            .path(&[MODEL])
            .json::<ModelGrid<'_>>("What is needed to convert between cells and places.")
            .cached(LASTING)
            .tagged()
    }),
    Endpoint::get("/models/{model}/locate", || get(locate))
        .query(&[RUN, LAT.required().example("43.5"), LON.required().example("-79.5")])
        .about(|| {
            About::new("locate", Tag::Models, "The cell at a place")
                .path(&[MODEL])
                .json::<CellAtPosition>("The cell.")
                .cached(LASTING)
                .tagged()
        }),
];

/// The definition of a native grid, and the same as a PROJ string.
#[derive(Serialize, ToSchema)]
struct ModelGrid<'a> {
    run: RunStamp,
    #[schema(value_type = u32)]
    ny: usize,
    #[schema(value_type = u32)]
    nx: usize,
    #[serde(flatten)]
    #[schema(inline, value_type = GridDefinition)]
    definition: &'a grid::Definition,
    /// The PROJ string of the projection.
    proj: String,
    /// Of row 0 and column 0 in the projection; the steps are counted from there.
    x0: f64,
    y0: f64,
    /// Longitude and latitude of the cells at the corners: the first and last of the first row, the
    /// last and first of the last row.
    #[schema(value_type = Vec<Option<LonLat>>)]
    corners: [Option<LonLat>; 4],
    bounds: GridBounds,
}

impl<'a> ModelGrid<'a> {
    fn new(run: &'a model::Run) -> Self {
        let grid = run.grid();
        let (bottom, right) = (grid.rows() - 1, grid.columns() - 1);
        let (x0, y0) = grid.first_xy();
        let corners = [(0, 0), (0, right), (bottom, right), (bottom, 0)];
        Self {
            run: run.definition().run,
            ny: grid.rows(),
            nx: grid.columns(),
            definition: grid.definition(),
            proj: grid.definition().proj_string(),
            x0,
            y0,
            corners: corners.map(|(row, column)| grid.position(row, column).ok()),
            bounds: GridBounds::of(grid),
        }
    }
}

async fn grid(
    Shared(state): Shared<Arc<State>>,
    request: ModelRequest,
) -> Result<Response, ApiError> {
    let answer = move |state: &State| {
        let granted = request.granted(ModelUse::Listing, [])?;
        let run = run_or_newest(state, granted, &request.query)?;
        let grid = ModelGrid::new(&run);
        of_grid(&request, granted, &grid)
    };
    state.read_models(answer).await?
}

/// Answers with what only depends on the grid of a run.
fn of_grid(
    request: &ModelRequest,
    granted: ModelPermission<'_>,
    value: &impl Serialize,
) -> Result<Response, ApiError> {
    if run_stamp(&request.query)?.is_none() {
        // The next run may have a different grid.
        return json_value(request.accepted(), value).map(not_stored);
    }
    request.json(&CacheLifetime::of_definition(granted), value)
}

/// The cell at a position.
#[derive(Serialize, ToSchema)]
#[schema(as = LocatedCell)]
struct CellAtPosition {
    #[schema(value_type = String)]
    run: RunStamp,
    row: usize,
    col: usize,
    /// The centre of the cell.
    lat: f64,
    lon: f64,
    /// The distance from the requested position to that centre.
    distance_km: f64,
    /// The position in fractional rows and columns.
    fractional_row: f64,
    fractional_col: f64,
    wind_rotation: Rotation,
}

async fn locate(
    Shared(state): Shared<Arc<State>>,
    request: ModelRequest,
) -> Result<Response, ApiError> {
    let answer = move |state: &State| {
        let granted = request.granted(ModelUse::Listing, [])?;
        let run = run_or_newest(state, granted, &request.query)?;
        let at = request
            .query
            .place_on_grid()?
            .ok_or_else(|| ApiError::BadRequest("lat and lon are required".to_owned()))?;
        let grid = run.grid();
        let (row, col) = nearest(&run, at)?;
        let centre = grid.position(row, col)?;
        let (fractional_row, fractional_col) = grid.locate(at);
        let located = CellAtPosition {
            run: run.definition().run,
            row,
            col,
            lat: centre.lat(),
            lon: centre.lon(),
            distance_km: at.distance_km(centre),
            fractional_row,
            fractional_col,
            wind_rotation: grid.wind_rotation(row, col)?,
        };
        of_grid(&request, granted, &located)
    };
    state.read_models(answer).await?
}
