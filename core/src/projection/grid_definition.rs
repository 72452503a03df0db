//! What makes a native grid, and what makes none.

use super::Projection;
use super::grid_members::GridMember;

/// Most cells of a grid: 2^26, a grid of 0.05° around the globe twice over.
pub const MAX_GRID_CELLS: usize = 1 << 26;

/// What makes a grid: its size, its projection, its first cell and its steps.
///
/// Row 0 and column 0 are those of the first cell; rows may run north or south, columns east or
/// west, as the signs of the steps say.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct GridDefinition {
    /// Number of rows, ny.
    pub rows: usize,
    /// Number of columns, nx.
    pub columns: usize,
    /// What its axes are straight on.
    #[cfg_attr(feature = "serde", serde(flatten))]
    pub projection: GridProjection,
    /// Longitude of the cell at row 0, column 0. On a globe whose poles were moved, that which the
    /// cell has there.
    pub first_lon: f64,
    /// Latitude of that cell, likewise.
    pub first_lat: f64,
    /// From column to column: metres on a map, degrees on a globe.
    pub column_step: f64,
    /// From row to row, likewise.
    pub row_step: f64,
    /// Whether wind components on it are along its axes and not to the east and north.
    pub grid_relative_winds: bool,
}

/// What the axes of a grid are straight on.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(untagged))]
pub enum GridProjection {
    /// A map, in metres.
    Map(Projection),
    /// A globe, in degrees.
    Globe(LatLonGlobe),
}

/// Latitudes and longitudes as axes.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(tag = "projection", rename_all = "snake_case"))]
pub enum LatLonGlobe {
    /// Those of the Earth.
    LatLon,
    /// Those of a globe whose poles were moved (GRIB2 template 3.1, Snyder's page 31).
    RotatedLatLon {
        /// Latitude to which the south pole was moved.
        south_pole_lat: f64,
        /// Longitude to which the south pole was moved.
        south_pole_lon: f64,
    },
}

/// A definition that makes no grid.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum GridDefinitionError {
    /// No cells, or too many.
    #[error("a grid has 1 to {MAX_GRID_CELLS} cells; got {rows} rows of {columns}")]
    Size {
        /// Rows that were given.
        rows: usize,
        /// Columns that were given.
        columns: usize,
    },
    /// A number that cannot be what it is given for.
    #[error("{what} must be {allowed}; got {got}")]
    Number {
        /// What the number is of.
        what: &'static str,
        /// What is allowed.
        allowed: &'static str,
        /// The number.
        got: f64,
    },
    /// Parallels of a cone that is a cylinder.
    #[error("the parallels {0} and {1} make no cone; allowed are two whose sum is not 0")]
    Parallels(f64, f64),
    /// A member that is missing or of another type.
    #[error("{name} of a grid must be {allowed}; got {got}")]
    Member {
        /// Its name.
        name: &'static str,
        /// What is allowed.
        allowed: &'static str,
        /// What was got.
        got: GridMember,
    },
    /// A first cell that the projection cannot show.
    #[error("the first cell, latitude {lat}, longitude {lon}, is not on its map")]
    FirstCell {
        /// Its latitude.
        lat: f64,
        /// Its longitude.
        lon: f64,
    },
}

impl GridDefinition {
    pub(super) fn check(&self) -> Result<(), GridDefinitionError> {
        let Self { rows, columns, .. } = *self;
        let cells = rows.checked_mul(columns);
        if cells.is_none_or(|cells| cells == 0 || cells > MAX_GRID_CELLS) {
            return Err(GridDefinitionError::Size { rows, columns });
        }
        within("latitude of the first cell", self.first_lat, LATITUDES)?;
        within("longitude of the first cell", self.first_lon, LONGITUDES)?;
        within("step from column to column", self.column_step, STEPS)?;
        within("step from row to row", self.row_step, STEPS)?;
        self.projection.check()
    }
}

impl GridProjection {
    fn check(&self) -> Result<(), GridDefinitionError> {
        match *self {
            Self::Globe(LatLonGlobe::LatLon) => Ok(()),
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

/// What a number may be, in words, and the test of it.
type Allowed = (&'static str, fn(f64) -> bool);
const LATITUDES: Allowed = ("from -90 to 90", |number| number.abs() <= 90.0);
const BELOW_POLES: Allowed = ("above -90 and below 90", |number| number.abs() < 90.0);
const LONGITUDES: Allowed = ("from -360 to 720", |number| (-360.0..=720.0).contains(&number));
const STEPS: Allowed = ("finite and not 0", |number| number.is_finite() && number != 0.0);
const RADII: Allowed = ("finite and above 0", |number| number.is_finite() && number > 0.0);

fn within(what: &'static str, got: f64, allowed: Allowed) -> Result<(), GridDefinitionError> {
    let (allowed, test) = allowed;
    if test(got) { Ok(()) } else { Err(GridDefinitionError::Number { what, allowed, got }) }
}
