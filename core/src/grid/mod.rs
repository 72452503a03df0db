//! Map projections: from longitude and latitude to the axes of a grid and back, and the angle
//! between these axes and true north.
//!
//! | What | File |
//! | --- | --- |
//! | Lambert's conformal conic | `lambert.rs`, on the cone of `cone.rs` |
//! | The polar stereographic projection, for both poles | `polar_stereographic.rs`, on that cone |
//! | Mercator's | `mercator.rs` |
//! | Latitudes and longitudes of a globe whose poles were moved | `rotated_lat_lon.rs` |
//! | The parallels of Gaussian grids | `gaussian.rs` |
//! | Ellipsoids | `spheroid.rs` |
//! | Their names in PROJ | `proj_string.rs` |
//! | Rows and columns on any of these, or of latitudes and longitudes | `native.rs`, `definition.rs` |
//! | The rotation of winds, and the order of cells against another grid | `wind_turns.rs`, `turns.rs` |
//! | The box that a grid lies in | `bounds.rs` |
//! | Packed values, their colours | `packing.rs` (in WebAssembly `vectors.rs`), `colour.rs` |
//! | Chunks of packed values on disk | [`blocks`] |
//! | Definitions from other languages | `members.rs` |
//!
//! The formulas are those of J. P. Snyder, Map Projections: A Working Manual, US Geological Survey
//! Professional Paper 1395 (1987). [`Projection`] is a projection of a sphere, which most producers
//! of model grids use; a grid may also be on an ellipsoid ([`EllipsoidMap`]).

pub mod blocks;
mod bounds;
mod colour;
mod cone;
mod definition;
mod gaussian;
mod lambert;
mod map;
mod members;
mod mercator;
mod native;
mod native_error;
mod packing;
mod polar_stereographic;
mod proj_string;
mod rotated_lat_lon;
mod rotation;
mod spheroid;
mod tile;
mod tile_address;
mod tile_row;
mod turns;
#[cfg(target_arch = "wasm32")]
mod vectors;
mod wind_turns;

pub use self::colour::{ColourError, ColourScale, Rgba, TileColours};
pub use self::definition::{
    Definition, EllipsoidMap, GridDefinitionError, GridProjection, LatLonGlobe, MAX_CELLS,
};
pub use self::members::MemberValue;
pub use self::native::NativeGrid;
pub use self::native_error::NativeGridError;
#[cfg(feature = "model")]
pub(crate) use self::proj_string::GLOBE_RADIUS_M;

#[cfg(feature = "grib")]
pub(crate) use self::map::Map;
#[cfg(not(feature = "grib"))]
use self::map::Map;
#[cfg(any(feature = "raster", all(feature = "grib", feature = "model")))]
pub(crate) use self::packing::PackingLoss;
pub use self::packing::{Encoding, EncodingError};
pub use self::rotation::{Rotation, RotationLengthError, rotate_field};
pub use self::tile::{TilePlan, TileSampling, WindComponent};
pub use self::tile_address::{MAX_TILE_ZOOM, TILE_SIDE, TileAddress, TileError};
pub use self::turns::Turns;

/// A projection of a sphere. At its central meridian the x axis points east and the y axis north.
///
/// ```
/// use mesonet::grid::Projection;
/// let lambert = Projection::LambertConformal {
///     radius_m: 6_371_229.0,
///     origin_lat: 38.5,
///     central_lon: -97.5,
///     parallels: [38.5, 38.5],
/// };
/// let (x, y) = lambert.forward(-97.5, 38.5);
/// assert!(x.abs() < 1e-6 && y.abs() < 1e-6);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(tag = "projection", rename_all = "snake_case")]
pub enum Projection {
    /// Lambert's conformal conic (Snyder's equations 15-1 to 15-5), with its origin at a latitude
    /// on the central meridian.
    LambertConformal {
        /// Radius of the sphere in metres.
        radius_m: f64,
        /// Latitude of the origin.
        origin_lat: f64,
        /// Longitude along the y axis.
        central_lon: f64,
        /// The parallels that are true to scale; the same parallel twice if the cone touches the
        /// sphere.
        parallels: [f64; 2],
    },
    /// The polar stereographic projection (Snyder's equations 21-5 to 21-12), with its origin at
    /// the pole.
    PolarStereographic {
        /// Radius of the sphere in metres.
        radius_m: f64,
        /// Whether its centre is the South Pole.
        south: bool,
        /// Longitude along the y axis.
        central_lon: f64,
        /// The parallel that is true to scale.
        true_lat: f64,
    },
    /// Mercator's projection (Snyder's equations 7-1 and 7-2), with its origin on the equator.
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
    /// y is not finite at a pole that the projection cannot show.
    pub fn forward(self, lon: f64, lat: f64) -> (f64, f64) {
        Map::from(self).forward(lon, lat)
    }

    /// Returns the longitude (−180 to just below 180) and latitude of x and y in metres.
    ///
    /// ```
    /// use mesonet::grid::Projection;
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

    /// Returns the rotation of winds along the projection's axes at a longitude in degrees; it is
    /// the same at every latitude.
    ///
    /// On a cone of constant n the meridian of a point is turned by n·Δλ against the y axis, with
    /// Δλ the longitude from the central one within ±180°; on Mercator's map it is not turned.
    ///
    /// ```
    /// use mesonet::grid::Projection;
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

/// Wraps a difference of longitudes to ±180°.
pub(crate) fn turned(degrees: f64) -> f64 {
    let turned = libm::fmod(degrees, 360.0);
    match turned {
        _ if turned > 180.0 => turned - 360.0,
        _ if turned < -180.0 => turned + 360.0,
        _ => turned,
    }
}

/// Wraps a longitude to −180° to just below 180°.
fn normalised(lon: f64) -> f64 {
    let turned = turned(lon);
    if turned == 180.0 { -180.0 } else { turned }
}

#[cfg(test)]
#[path = "grid_tests.rs"]
mod tests;
