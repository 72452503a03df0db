//! The definition of a native grid, and the checks on it.

use super::Projection;
use super::gaussian::{GaussianRows, MAX_PARALLELS};
use super::members::MemberValue;

/// The most cells of a grid: 2^26, enough for two global grids of 0.05°.
///
/// ```
/// use mesonet::grid;
/// use mesonet::grid::{GridDefinitionError, GridProjection, LatLonGlobe, MAX_CELLS, NativeGrid};
/// let globe = |columns| NativeGrid::new(grid::Definition {
///     rows: 3601,
///     columns,
///     projection: GridProjection::Globe(LatLonGlobe::LatLon),
///     first_lon: -180.0,
///     first_lat: -90.0,
///     column_step: 360.0 / columns as f64,
///     row_step: 0.05,
///     grid_relative_winds: false,
/// });
/// assert!(globe(7_200)?.cells() < MAX_CELLS);
/// assert_eq!(
///     globe(36_000),
///     Err(GridDefinitionError::Size { rows: 3601, columns: 36_000 }),
/// );
/// # Ok::<(), GridDefinitionError>(())
/// ```
pub const MAX_CELLS: usize = 1 << 26;

/// The definition of a grid: its size, its projection, its first cell and its steps.
///
/// The first cell is at row 0 and column 0; rows may run north or south, columns east or west,
/// according to the signs of the steps.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Definition {
    /// Number of rows, ny.
    pub rows: usize,
    /// Number of columns, nx.
    pub columns: usize,
    /// The map or globe on which its axes are straight.
    #[serde(flatten)]
    pub projection: GridProjection,
    /// Longitude of the cell at row 0, column 0; on a globe whose poles were moved, the longitude
    /// on that globe.
    pub first_lon: f64,
    /// Latitude of that cell, in the same way.
    pub first_lat: f64,
    /// Step from column to column: metres on a map, degrees on a globe.
    pub column_step: f64,
    /// Step from row to row, in the same units; on a Gaussian grid 1 or −1, from parallel to
    /// parallel northward or southward.
    pub row_step: f64,
    /// Whether wind components are along the axes of the grid instead of to the east and north.
    pub grid_relative_winds: bool,
}

/// The map or globe on which the axes of a grid are straight.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(untagged)]
pub enum GridProjection {
    /// A map of an ellipsoid, in metres.
    Ellipsoid(EllipsoidMap),
    /// A map of a sphere, in metres.
    Map(Projection),
    /// A globe, in degrees.
    Globe(LatLonGlobe),
}

/// A map of an ellipsoid.
///
/// ```
/// use mesonet::grid::{self, EllipsoidMap, GridProjection, NativeGrid, Projection};
/// let grid = NativeGrid::new(grid::Definition {
///     rows: 100,
///     columns: 100,
///     projection: GridProjection::Ellipsoid(EllipsoidMap {
///         projection: Projection::LambertConformal {
///             radius_m: 6_378_137.0,
///             origin_lat: 47.0,
///             central_lon: 14.0,
///             parallels: [46.0, 49.0],
///         },
///         flattening: 1.0 / 298.257_223_563,
///     }),
///     first_lon: 9.0,
///     first_lat: 46.0,
///     column_step: 1000.0,
///     row_step: 1000.0,
///     grid_relative_winds: true,
/// })?;
/// // As PROJ has it.
/// assert!((grid.first_xy().0 + 387_049.26759484794).abs() < 1e-6, "{:?}", grid.first_xy());
/// # Ok::<(), mesonet::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct EllipsoidMap {
    /// The projection; its `radius_m` is the semi-axis to the equator.
    #[serde(flatten)]
    pub projection: Projection,
    /// How much shorter the semi-axis to a pole is, as a fraction of the semi-axis to the equator:
    /// 1/298.257223563 for WGS 84. Latitudes are geodetic.
    pub flattening: f64,
}

/// Latitudes and longitudes as axes.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(tag = "projection", rename_all = "snake_case")]
pub enum LatLonGlobe {
    /// The latitudes and longitudes of the Earth.
    LatLon,
    /// The latitudes and longitudes of the Earth, with rows at Gaussian parallels (GRIB2 template
    /// 3.40).
    Gaussian {
        /// The number of parallels between a pole and the equator, N.
        parallels: usize,
    },
    /// The latitudes and longitudes of a globe whose poles were moved (GRIB2 template 3.1; Snyder,
    /// page 31).
    RotatedLatLon {
        /// Latitude to which the south pole was moved.
        south_pole_lat: f64,
        /// Longitude to which the south pole was moved.
        south_pole_lon: f64,
    },
}

/// The error for an invalid definition.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum GridDefinitionError {
    /// No cells, or too many.
    #[error("a grid has 1 to {MAX_CELLS} cells; got {rows} rows of {columns}")]
    Size {
        /// The number of rows given.
        rows: usize,
        /// The number of columns given.
        columns: usize,
    },
    /// A number that is out of range.
    #[error("{what} must be {allowed}; got {got}")]
    Number {
        /// What the number stands for.
        what: &'static str,
        /// What is allowed.
        allowed: &'static str,
        /// The number.
        got: f64,
    },
    /// Parallels for which the cone is a cylinder.
    #[error("the parallels {0} and {1} do not make a cone; their sum must not be 0")]
    Parallels(f64, f64),
    /// A member that is missing or has the wrong type.
    #[error("{name} of a grid must be {allowed}; got {got}")]
    Member {
        /// Its name.
        name: &'static str,
        /// What is allowed.
        allowed: &'static str,
        /// What was given.
        got: MemberValue,
    },
    /// Rows that are not Gaussian parallels.
    #[error(
        "a Gaussian grid of {parallels} parallels to a pole has no {rows} rows from latitude {lat} \
         in steps of {step}"
    )]
    Parallel {
        /// The number of parallels between a pole and the equator.
        parallels: usize,
        /// The number of rows.
        rows: usize,
        /// The latitude of the first row.
        lat: f64,
        /// The step from row to row.
        step: f64,
    },
    /// A first cell that is not on the map of the projection.
    #[error("the first cell, latitude {lat}, longitude {lon}, is not on its map")]
    FirstCell {
        /// Its latitude.
        lat: f64,
        /// Its longitude.
        lon: f64,
    },
}

impl Definition {
    pub(super) fn check(&self) -> Result<(), GridDefinitionError> {
        let Self { rows, columns, .. } = *self;
        let cells = rows.checked_mul(columns);
        if cells.is_none_or(|cells| cells == 0 || cells > MAX_CELLS) {
            return Err(GridDefinitionError::Size { rows, columns });
        }
        within("latitude of the first cell", self.first_lat, LATITUDES)?;
        within("longitude of the first cell", self.first_lon, LONGITUDES)?;
        within("step from column to column", self.column_step, STEPS)?;
        within("step from row to row", self.row_step, STEPS)?;
        if let GridProjection::Globe(LatLonGlobe::Gaussian { .. }) = self.projection {
            within("step from row to row", self.row_step, GAUSSIAN_STEPS)?;
        }
        self.projection.check()
    }
}

impl Definition {
    /// Returns the number of the parallel of the first row of a Gaussian grid.
    pub(super) fn first_row(&self, parallels: &GaussianRows) -> Result<f64, GridDefinitionError> {
        let last = |first: f64| first + (self.rows - 1) as f64 * self.row_step;
        let within = |first: &f64| (0.0..parallels.rows() as f64).contains(&last(*first));
        parallels.row_at(self.first_lat).filter(within).ok_or(GridDefinitionError::Parallel {
            parallels: parallels.rows() / 2,
            rows: self.rows,
            lat: self.first_lat,
            step: self.row_step,
        })
    }
}

impl GridProjection {
    fn check(&self) -> Result<(), GridDefinitionError> {
        match *self {
            Self::Globe(LatLonGlobe::LatLon) => Ok(()),
            Self::Globe(LatLonGlobe::Gaussian { parallels }) => {
                within("number of parallels to a pole", parallels as f64, PARALLELS)
            }
            Self::Ellipsoid(EllipsoidMap { projection, flattening }) => {
                within("flattening", flattening, FLATTENINGS)?;
                Self::Map(projection).check()
            }
            Self::Globe(LatLonGlobe::RotatedLatLon { south_pole_lat, south_pole_lon }) => {
                within("latitude of the moved south pole", south_pole_lat, LATITUDES)?;
                within("longitude of the moved south pole", south_pole_lon, LONGITUDES)
            }
            Self::Map(Projection::LambertConformal {
                radius_m,
                origin_lat,
                central_lon,
                parallels,
            }) => {
                within("radius", radius_m, RADII)?;
                within("latitude of the origin", origin_lat, BELOW_POLES)?;
                within("central longitude", central_lon, LONGITUDES)?;
                within("first parallel", parallels[0], BELOW_POLES)?;
                within("second parallel", parallels[1], BELOW_POLES)?;
                if parallels[0] + parallels[1] == 0.0 {
                    return Err(GridDefinitionError::Parallels(parallels[0], parallels[1]));
                }
                Ok(())
            }
            Self::Map(Projection::PolarStereographic {
                radius_m, central_lon, true_lat, ..
            }) => {
                within("radius", radius_m, RADII)?;
                within("central longitude", central_lon, LONGITUDES)?;
                within("true parallel", true_lat, LATITUDES)
            }
            Self::Map(Projection::Mercator { radius_m, central_lon, true_lat }) => {
                within("radius", radius_m, RADII)?;
                within("central longitude", central_lon, LONGITUDES)?;
                within("true parallel", true_lat, BELOW_POLES)
            }
        }
    }
}

/// The allowed values of a number, in words, and the test for them.
type Allowed = (&'static str, fn(f64) -> bool);
const LATITUDES: Allowed = ("from -90 to 90", |number| number.abs() <= 90.0);
const BELOW_POLES: Allowed = ("above -90 and below 90", |number| number.abs() < 90.0);
const LONGITUDES: Allowed = ("from -360 to 720", |number| (-360.0..=720.0).contains(&number));
const STEPS: Allowed = ("finite and not 0", |number| number.is_finite() && number != 0.0);
const PARALLELS: Allowed =
    ("from 1 to 4000", |number| (1.0..=MAX_PARALLELS as f64).contains(&number));
const FLATTENINGS: Allowed = ("above 0 and up to 0.1", |number| number > 0.0 && number <= 0.1);
const GAUSSIAN_STEPS: Allowed = ("1 or -1 on a Gaussian grid", |number| number.abs() == 1.0);
const RADII: Allowed = ("finite and above 0", |number| number.is_finite() && number > 0.0);

fn within(what: &'static str, got: f64, allowed: Allowed) -> Result<(), GridDefinitionError> {
    let (allowed, test) = allowed;
    if test(got) { Ok(()) } else { Err(GridDefinitionError::Number { what, allowed, got }) }
}
