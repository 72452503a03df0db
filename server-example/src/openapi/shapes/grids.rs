//! Grids and products of models.

use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{OneOfBuilder, Schema};
use utoipa::{PartialSchema, ToSchema};

use super::Position;

/// The definition of a native grid, and the same as a PROJ string.
#[derive(ToSchema)]
pub struct ModelGrid {
    #[schema(pattern = "^[0-9]{8}T[0-9]{6}Z$")]
    run: String,
    ny: u32,
    nx: u32,
    /// As `ny`.
    rows: u32,
    /// As `nx`.
    columns: u32,
    /// Name of the projection; which of the members after it are there depends on it.
    projection: String,
    #[schema(required = false)]
    radius_m: f64,
    #[schema(required = false)]
    flattening: f64,
    #[schema(required = false)]
    origin_lat: f64,
    #[schema(required = false)]
    true_lat: f64,
    #[schema(required = false)]
    central_lon: f64,
    /// Two parallels of a conic projection, or the number of parallels of a Gaussian grid.
    #[schema(required = false)]
    parallels: Parallels,
    #[schema(required = false)]
    south_pole_lat: f64,
    #[schema(required = false)]
    south_pole_lon: f64,
    #[schema(required = false)]
    south: bool,
    /// The cell at row 0 and column 0.
    first_lon: f64,
    first_lat: f64,
    /// Metres on a map, degrees on a globe.
    column_step: f64,
    row_step: f64,
    /// Whether winds are along the axes of the grid.
    grid_relative_winds: bool,
    proj: String,
    /// Of row 0 and column 0 in the projection.
    x0: f64,
    y0: f64,
    /// The first and last cell of the first row, the last and first of the last row.
    corners: Vec<Option<Position>>,
    bounds: GridBounds,
}

/// The box around the cells; minLon is greater than maxLon across the antimeridian.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct GridBounds {
    min_lat: f64,
    min_lon: f64,
    max_lat: f64,
    max_lon: f64,
}

pub struct Parallels;

impl PartialSchema for Parallels {
    fn schema() -> RefOr<Schema> {
        OneOfBuilder::new().item(Vec::<f64>::schema()).item(u32::schema()).into()
    }
}

impl ToSchema for Parallels {}

/// The products of a run.
#[derive(ToSchema)]
pub struct ModelProducts {
    #[schema(pattern = "^[0-9]{8}T[0-9]{6}Z$")]
    run: String,
    products: Vec<ModelProduct>,
}

#[derive(ToSchema)]
pub struct ModelProduct {
    name: String,
    unit: String,
    /// Null for a product of a single level.
    #[schema(required = true)]
    levels_hpa: Option<Vec<f64>>,
    /// Numbers of the members of an ensemble; 0 is the control.
    #[schema(required = false)]
    members: Vec<u8>,
    encoding: ProductEncoding,
    #[schema(required = false)]
    title: String,
    /// What its fields are of, if not a single forecast.
    #[schema(required = false)]
    field: String,
    #[schema(required = false)]
    interval: String,
    #[schema(required = false)]
    statistic: String,
    sampling: Sampling,
    /// Half a step of the packing.
    packing_error: f64,
    /// The same of the pixels of its tiles.
    tile_packing_error: f64,
    /// The value that stands for "no echo" where a radar sees; a place that no radar sees is nodata.
    #[schema(required = false)]
    no_echo: f32,
    /// Both components of the wind that it is one of.
    #[schema(required = false)]
    wind: Vec<String>,
}

/// A value of a tile is raw · scale + offset, and missing if raw is nodata.
#[derive(ToSchema)]
pub struct ProductEncoding {
    height: u32,
    width: u32,
    scale: f64,
    offset: f64,
    nodata: i32,
}

#[derive(ToSchema)]
#[schema(rename_all = "lowercase")]
pub enum Sampling {
    Nearest,
    Bilinear,
}
