//! The native grid of a GRIB2 field, and its value at a place.

use crate::geo::LonLat;
use crate::grib::{Earth, Field, GribError, Grid, GridGeometry, MAX_POINTS};
use crate::grid;
use crate::grid::{EllipsoidMap, GridProjection, LatLonGlobe, NativeGrid, turned};

impl TryFrom<&Grid> for NativeGrid {
    type Error = GribError;

    /// Converts the grid of a field, in the order of its values.
    ///
    /// # Errors
    /// If the definition is not a valid grid.
    fn try_from(grid: &Grid) -> Result<Self, GribError> {
        let (projection, first_lon, first_lat, column_step, row_step) = match grid.geometry() {
            GridGeometry::LatLon(axes) => (
                GridProjection::Globe(LatLonGlobe::LatLon),
                axes.first_lon,
                axes.first_lat,
                axes.lon_step,
                axes.lat_step,
            ),
            GridGeometry::RotatedLatLon { axes, south_pole_lat, south_pole_lon, angle } => {
                let globe = LatLonGlobe::RotatedLatLon { south_pole_lat, south_pole_lon };
                let projection = GridProjection::Globe(globe);
                // Turned about its own axis, the globe is the same with other longitudes.
                let first_lon = match angle {
                    0.0 => axes.first_lon,
                    _ => turned(axes.first_lon + angle),
                };
                (projection, first_lon, axes.first_lat, axes.lon_step, axes.lat_step)
            }
            GridGeometry::Gaussian { parallels, first_lon, first_lat, lon_step, northward } => {
                let projection = GridProjection::Globe(LatLonGlobe::Gaussian { parallels });
                let row_step = if northward { 1.0 } else { -1.0 };
                (projection, first_lon, first_lat, lon_step, row_step)
            }
            GridGeometry::Projected { projection, first_lon, first_lat, dx_m, dy_m } => {
                let Earth { major_m, minor_m } = grid.earth();
                let flattening = (major_m - minor_m) / major_m;
                let projection = if grid.earth().is_sphere() {
                    GridProjection::Map(projection)
                } else {
                    GridProjection::Ellipsoid(EllipsoidMap { projection, flattening })
                };
                (projection, first_lon, first_lat, dx_m, dy_m)
            }
        };
        let definition = grid::Definition {
            rows: grid.rows(),
            columns: grid.columns(),
            projection,
            first_lon,
            first_lat,
            column_step,
            row_step,
            grid_relative_winds: grid.grid_relative_winds(),
        };
        Self::new(definition)
            .map_err(|_| GribError::Grid("its numbers are out of range, or it is too large"))
    }
}

impl Field<'_> {
    /// Returns the value of the cell that contains a place, in the unit of the parameter; `None` if
    /// the value is missing or the grid ends before the place.
    ///
    /// This unpacks all values of the field. For many places, use [`values`](Self::values) and
    /// [`NativeGrid::nearest`], which unpack only once.
    ///
    /// # Errors
    /// As [`values`](Self::values), or if the grid is not supported.
    ///
    /// ```
    /// use mesonet::{LonLat, grib};
    /// let path = "/../server-example/sample/safrica_ps_20100308T12Z_25hours.grib2";
    /// let bytes = std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/").to_owned() + path)?;
    /// let field = grib::fields(&bytes).next().ok_or("no field")??;
    /// let (johannesburg, toronto) = (LonLat::new(28.05, -26.2)?, LonLat::new(-79.4, 43.7)?);
    /// assert!(field.value_at(johannesburg)?.is_some());
    /// assert_eq!(field.value_at(toronto)?, None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn value_at(&self, at: LonLat) -> Result<Option<f32>, GribError> {
        let grid = NativeGrid::try_from(&self.grid()?)?;
        let Ok((row, column)) = grid.nearest(at) else { return Ok(None) };
        let value = self.values(MAX_POINTS)?[row * grid.columns() + column];
        Ok((!value.is_nan()).then_some(value))
    }
}
