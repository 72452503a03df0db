//! Map projections: from longitude and latitude to the axes of a grid and back, and the angle by
//! which these axes are turned against true north.
//!
//! | What | File |
//! | --- | --- |
//! | Lambert's conformal conic | `lambert.rs`, on the cone of `cone.rs` |
//! | The polar stereographic one, north and south | `polar_stereographic.rs`, on the same cone |
//! | Mercator's | `mercator.rs` |
//! | Latitudes and longitudes of a globe whose poles were moved | `rotated_lat_lon.rs` |
//! | Their names in PROJ | `proj_string.rs` |
//! | Rows and columns on any of them, or on plain latitudes and longitudes | `native_grid.rs`, as `grid_definition.rs` says |
//! | The box that a grid lies in | `bounds.rs` |
//! | Definitions as other languages hold them | `grid_members.rs` |
//!
//! The formulas are those of J. P. Snyder, Map Projections: A Working Manual, US Geological Survey
//! Professional Paper 1395 (1987), for the sphere. We do not project ellipsoids: the producers of
//! model grids compute on spheres.

mod bounds;
mod cone;
mod grid_definition;
mod grid_members;
mod lambert;
mod map;
mod mercator;
mod native_grid;
mod polar_stereographic;
mod proj_string;
mod rotated_lat_lon;

pub use grid_definition::{
    GridDefinition, GridDefinitionError, GridProjection, LatLonGlobe, MAX_GRID_CELLS,
};
pub use grid_members::GridMember;
pub(crate) use native_grid::WindTurns;
pub use native_grid::{NativeGrid, NativeGridError};
#[cfg(feature = "grid-store")]
pub(crate) use proj_string::GLOBE_RADIUS_M;

use crate::wind::Rotation;
use map::Map;

/// A projection of a sphere whose x axis points east and y axis north at its central meridian.
///
/// ```
/// use mesonet::Projection;
/// let lambert = Projection::LambertConformal {
///     radius_m: 6_371_229.0,
///     origin_lat: 38.5,
///     central_lon: -97.5,
///     parallels: [38.5, 38.5],
/// };
/// let (x, y) = lambert.forward(-97.5, 38.5);
/// assert!(x.abs() < 1e-6 && y.abs() < 1e-6);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(tag = "projection", rename_all = "snake_case"))]
pub enum Projection {
    /// Lambert's conformal conic (Snyder's equations 15-1 to 15-5), origin at a latitude on the
    /// central meridian.
    LambertConformal {
        /// Radius of the sphere in metres.
        radius_m: f64,
        /// Latitude of the origin.
        origin_lat: f64,
        /// Longitude that runs along the y axis.
        central_lon: f64,
        /// The parallels that are true to scale; twice the same for a cone that touches.
        parallels: [f64; 2],
    },
    /// The polar stereographic one (Snyder's equations 21-5 to 21-12), origin at its pole.
    PolarStereographic {
        /// Radius of the sphere in metres.
        radius_m: f64,
        /// Whether its centre is the South Pole.
        south: bool,
        /// Longitude that runs along the y axis.
        central_lon: f64,
        /// The parallel that is true to scale.
        true_lat: f64,
    },
    /// Mercator's (Snyder's equations 7-1 and 7-2), origin on the equator.
    Mercator {
        /// Radius of the sphere in metres.
        radius_m: f64,
        /// Longitude of the origin.
        central_lon: f64,
        /// The parallel that is true to scale.
        true_lat: f64,
    },
}

impl Projection {
    /// Projects a position in degrees to x and y in metres.
    ///
    /// The pole that a projection cannot show has no finite y.
    pub fn forward(self, lon: f64, lat: f64) -> (f64, f64) {
        Map::from(self).forward(lon, lat)
    }

    /// The longitude (−180 to just below 180) and latitude of x and y in metres.
    ///
    /// ```
    /// use mesonet::Projection;
    /// let polar = Projection::PolarStereographic {
    ///     radius_m: 6_371_229.0,
    ///     south: false,
    ///     central_lon: -111.0,
    ///     true_lat: 60.0,
    /// };
    /// let (x, y) = polar.forward(-73.6, 45.5);
    /// let (lon, lat) = polar.inverse(x, y);
    /// assert!((lon + 73.6).abs() < 1e-12 && (lat - 45.5).abs() < 1e-12);
    /// ```
    pub fn inverse(self, x_m: f64, y_m: f64) -> (f64, f64) {
        Map::from(self).inverse(x_m, y_m)
    }

    /// The rotation of winds along the projection's axes at a longitude in degrees: it is the same
    /// at every latitude.
    ///
    /// On a cone of constant n the meridian of a point is turned by n·Δλ against the y axis, Δλ the
    /// longitude from the central one within ±180°; Mercator's is not turned.
    ///
    /// ```
    /// use mesonet::Projection;
    /// let hrrr = Projection::LambertConformal {
    ///     radius_m: 6_371_229.0,
    ///     origin_lat: 38.5,
    ///     central_lon: 262.5,
    ///     parallels: [38.5, 38.5],
    /// };
    /// let rotation = hrrr.rotation(-122.719528);
    /// assert!((rotation.cos - 0.962693988296).abs() < 1e-9);
    /// assert!((rotation.sin + 0.270592470143).abs() < 1e-9);
    /// ```
    pub fn rotation(self, lon: f64) -> Rotation {
        match Map::from(self) {
            Map::Cone(cone) => cone.rotation(lon),
            _ => Rotation::IDENTITY,
        }
    }
}

/// A difference of longitudes within ±180°.
fn turned(degrees: f64) -> f64 {
    let turned = libm::fmod(degrees, 360.0);
    match turned {
        _ if turned > 180.0 => turned - 360.0,
        _ if turned < -180.0 => turned + 360.0,
        _ => turned,
    }
}

/// A longitude from −180° to just below 180°.
fn normalised(lon: f64) -> f64 {
    let turned = turned(lon);
    if turned == 180.0 { -180.0 } else { turned }
}

#[cfg(test)]
#[path = "projection_tests.rs"]
mod tests;
