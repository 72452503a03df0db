//! The native grid of a GRIB2 field.

use crate::grib::{GribError, GribGrid, GridGeometry};
use crate::projection::{GridDefinition, GridProjection, LatLonGlobe, NativeGrid};

impl TryFrom<&GribGrid> for NativeGrid {
    type Error = GribError;

    /// The grid of a field, in the order that its values have.
    ///
    /// # Errors
    /// A globe that was also turned about its new axis, and a definition that makes no grid.
    fn try_from(grid: &GribGrid) -> Result<Self, GribError> {
        let (projection, first_lon, first_lat, column_step, row_step) = match grid.geometry() {
            GridGeometry::LatLon(axes) => (
                GridProjection::Globe(LatLonGlobe::LatLon),
                axes.first_lon,
                axes.first_lat,
                axes.lon_step,
                axes.lat_step,
            ),
            GridGeometry::RotatedLatLon { axes, south_pole_lat, south_pole_lon, angle } => {
                if angle != 0.0 {
                    return Err(GribError::Grid(
                        "its globe is turned about its new axis, which is not supported",
                    ));
                }
                let globe = LatLonGlobe::RotatedLatLon { south_pole_lat, south_pole_lon };
                let projection = GridProjection::Globe(globe);
                (projection, axes.first_lon, axes.first_lat, axes.lon_step, axes.lat_step)
            }
            GridGeometry::Projected { projection, first_lon, first_lat, dx_m, dy_m } => {
                (GridProjection::Map(projection), first_lon, first_lat, dx_m, dy_m)
            }
        };
        let definition = GridDefinition {
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
