//! The projection of a grid as a PROJ string.

use super::{
    Definition, EllipsoidMap, GridProjection, LatLonGlobe, NativeGrid, Projection, turned,
};

/// Radius of the sphere in the string of a globe: the radius of GRIB2's shape 6 (code table 3.2).
pub(crate) const GLOBE_RADIUS_M: f64 = 6_371_229.0;

impl Definition {
    /// Returns the PROJ string of the grid's projection, which pyproj, rasterio and GDAL also
    /// accept.
    ///
    /// In its coordinates, the cell at a row and column lies at x = x₀ + column · `column_step` and
    /// y = y₀ + row · `row_step`, with x₀ and y₀ from [`NativeGrid::first_xy`]: metres on a map,
    /// degrees on a globe. Longitudes on a globe may exceed 180. The rows of a Gaussian grid are
    /// not evenly spaced: their latitudes are those of [`NativeGrid::position`].
    ///
    /// The coordinates of a globe do not depend on its radius, which is 6371229 m in the string.
    /// For a globe whose poles were moved, pyproj's `Transformer` uses degrees, and its `Proj`
    /// radians.
    ///
    /// ```
    /// use mesonet::grid;
    /// use mesonet::grid::{GridProjection, LatLonGlobe};
    /// // The grid of Canada's High Resolution Deterministic Prediction System.
    /// let hrdps = grid::Definition {
    ///     rows: 1290,
    ///     columns: 2540,
    ///     projection: GridProjection::Globe(LatLonGlobe::RotatedLatLon {
    ///         south_pole_lat: -36.08852,
    ///         south_pole_lon: 245.305142,
    ///     }),
    ///     first_lon: 345.17878,
    ///     first_lat: -12.302501,
    ///     column_step: 0.0225,
    ///     row_step: 0.0225,
    ///     grid_relative_winds: true,
    /// };
    /// assert_eq!(
    ///     hrdps.proj_string(),
    ///     "+proj=ob_tran +o_proj=longlat +o_lon_p=0 +o_lat_p=36.08852 +lon_0=245.305142 \
    ///      +R=6371229 +no_defs",
    /// );
    /// ```
    pub fn proj_string(&self) -> String {
        let (projection, radius_m) = match self.projection {
            GridProjection::Ellipsoid(EllipsoidMap { projection, flattening }) => {
                let (projection, radius_m) = on_map(projection);
                return format!("{projection} +a={radius_m} +f={flattening} +no_defs");
            }
            GridProjection::Map(projection) => on_map(projection),
            GridProjection::Globe(globe) => (on_globe(globe), GLOBE_RADIUS_M),
        };
        format!("{projection} +R={radius_m} +no_defs")
    }
}

impl NativeGrid {
    /// Returns x and y of the cell at row 0 and column 0 in the coordinates of
    /// [`Definition::proj_string`]: metres on a map, degrees on a globe.
    ///
    /// ```
    /// use mesonet::grid::{self, GridProjection, NativeGrid, Projection};
    /// // NCEP's grid 211, of 81 km.
    /// let grid = NativeGrid::new(grid::Definition {
    ///     rows: 65,
    ///     columns: 93,
    ///     projection: GridProjection::Map(Projection::LambertConformal {
    ///         radius_m: 6_371_229.0,
    ///         origin_lat: 25.0,
    ///         central_lon: 265.0,
    ///         parallels: [25.0, 25.0],
    ///     }),
    ///     first_lon: 226.541,
    ///     first_lat: 12.19,
    ///     column_step: 81_271.0,
    ///     row_step: 81_271.0,
    ///     grid_relative_winds: true,
    /// })?;
    /// let (x_m, y_m) = grid.first_xy();
    /// // The central meridian, x = 0, is 52 columns to the east of the first one.
    /// assert_eq!((-x_m / 81_271.0).round(), 52.0);
    /// assert!(y_m < 0.0, "south of the origin");
    /// # Ok::<(), mesonet::Error>(())
    /// ```
    pub fn first_xy(&self) -> (f64, f64) {
        (self.x(0), self.row_coordinate(0))
    }
}

/// Returns the parameters of a map other than its radius, and the radius.
fn on_map(projection: Projection) -> (String, f64) {
    match projection {
        Projection::LambertConformal { radius_m, origin_lat, central_lon, parallels } => {
            let ([first, second], lon) = (parallels, meridian(central_lon));
            let parallels = format!("+lat_1={first} +lat_2={second}");
            (format!("+proj=lcc +lat_0={origin_lat} +lon_0={lon} {parallels}"), radius_m)
        }
        Projection::PolarStereographic { radius_m, south, central_lon, true_lat } => {
            let (side, lon) = (if south { -1.0 } else { 1.0 }, meridian(central_lon));
            let (pole, parallel) = (side * 90.0, side * true_lat.abs());
            (format!("+proj=stere +lat_0={pole} +lat_ts={parallel} +lon_0={lon}"), radius_m)
        }
        Projection::Mercator { radius_m, central_lon, true_lat } => {
            (format!("+proj=merc +lat_ts={true_lat} +lon_0={}", meridian(central_lon)), radius_m)
        }
    }
}

fn on_globe(globe: LatLonGlobe) -> String {
    match globe {
        LatLonGlobe::LatLon | LatLonGlobe::Gaussian { .. } => "+proj=longlat".to_owned(),
        LatLonGlobe::RotatedLatLon { south_pole_lat, south_pole_lon } => {
            // The latitude of the moved North Pole, without a minus sign before a zero.
            let (pole, lon) = (0.0 - south_pole_lat, meridian(south_pole_lon));
            format!("+proj=ob_tran +o_proj=longlat +o_lon_p=0 +o_lat_p={pole} +lon_0={lon}")
        }
    }
}

/// Returns a central meridian as PROJ takes it, within ±360.
fn meridian(lon: f64) -> f64 {
    if lon.abs() <= 360.0 { lon } else { turned(lon) }
}
