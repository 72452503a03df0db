//! The position of the pixels of a raster: GeoTIFF keys and transform of a grid.
//!
//! The value of a field belongs to a point; its pixel is the cell around the point. Rows run south
//! and columns east.

use geotiff_core::geokeys::{self, GeoKeyDirectory, GeoKeyValue};
use geotiff_core::tags;
use tiff_core::{Tag, TagValue};

use super::error::RasterError;
use crate::grib;
use crate::grib::GridGeometry;
use crate::grid::Projection;

/// The position of the pixels of a raster, and the rearrangement of the grid's rows and columns for
/// it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Georeference {
    /// The north-western corner of the north-western pixel.
    pub west: f64,
    pub north: f64,
    /// The size of a pixel.
    pub dx: f64,
    pub dy: f64,
    /// `None`: longitudes and latitudes.
    pub projection: Option<Projection>,
    /// Whether the grid's rows and columns are in reverse order.
    pub flip_rows: bool,
    pub flip_columns: bool,
    /// The number of columns that are moved from the western to the eastern side of a grid around
    /// the globe.
    pub turned_columns: usize,
}

impl Georeference {
    pub(super) fn of(grid: &grib::Grid) -> Result<Self, RasterError> {
        let (rows, columns) = (grid.rows(), grid.columns());
        let (first_x, first_y, x_step, y_step, projection) = match grid.geometry() {
            GridGeometry::LatLon(axes) => {
                (axes.first_lon, axes.first_lat, axes.lon_step, axes.lat_step, None)
            }
            // GeoTIFF has no keys for them.
            GridGeometry::RotatedLatLon { .. } => {
                return Err(RasterError::Grid("a rotated grid of longitudes and latitudes"));
            }
            GridGeometry::Gaussian { .. } => return Err(RasterError::Grid("a Gaussian grid")),
            GridGeometry::Projected { .. } if !grid.earth().is_sphere() => {
                return Err(RasterError::Grid("a map of an ellipsoid"));
            }
            GridGeometry::Projected { projection, first_lon, first_lat, dx_m, dy_m } => {
                let (x, y) = projection.forward(first_lon, first_lat);
                (x, y, dx_m, dy_m, Some(projection))
            }
        };
        let (flip_columns, flip_rows) = (x_step < 0.0, y_step > 0.0);
        let western = if flip_columns { first_x + (columns - 1) as f64 * x_step } else { first_x };
        let northern = if flip_rows { first_y + (rows - 1) as f64 * y_step } else { first_y };
        let (dx, dy) = (x_step.abs(), y_step.abs());
        let (western, turned_columns) = match projection {
            None => within_180(western, dx, columns),
            Some(_) => (western, 0),
        };
        let (west, north) = (western - dx / 2.0, northern + dy / 2.0);
        Ok(Self { west, north, dx, dy, projection, flip_rows, flip_columns, turned_columns })
    }

    /// Returns the column of the grid that a column of the raster shows.
    pub(super) fn grid_column(&self, column: usize, columns: usize) -> usize {
        let column = (column + self.turned_columns) % columns;
        if self.flip_columns { columns - 1 - column } else { column }
    }

    /// Returns the row of the grid that a row of the raster shows.
    pub(super) fn grid_row(&self, row: usize, rows: usize) -> usize {
        if self.flip_rows { rows - 1 - row } else { row }
    }

    /// Returns the tags of the file.
    pub(super) fn tags(&self) -> Result<Vec<Tag>, RasterError> {
        let (directory, doubles, text) =
            self.keys().serialize().map_err(|error| RasterError::Tiff(error.to_string()))?;
        let mut georeference = vec![
            Tag::new(tags::TAG_MODEL_PIXEL_SCALE, TagValue::Double(vec![self.dx, self.dy, 0.0])),
            Tag::new(
                tags::TAG_MODEL_TIEPOINT,
                TagValue::Double(vec![0.0, 0.0, 0.0, self.west, self.north, 0.0]),
            ),
            Tag::new(tags::TAG_GEO_KEY_DIRECTORY, TagValue::Short(directory)),
        ];
        if !doubles.is_empty() {
            georeference.push(Tag::new(tags::TAG_GEO_DOUBLE_PARAMS, TagValue::Double(doubles)));
        }
        georeference.push(Tag::new(tags::TAG_GEO_ASCII_PARAMS, TagValue::Ascii(text)));
        Ok(georeference)
    }

    /// Longitudes and latitudes are those of WGS 84, whatever Earth a field assumes: producers mean
    /// the positions on their maps in this way. A map keeps its sphere.
    fn keys(&self) -> GeoKeyDirectory {
        const USER_DEFINED: u16 = 32767;
        const METRE: u16 = 9001;
        const DEGREE: u16 = 9102;
        let mut keys = GeoKeyDirectory::new();
        let mut short = |key, value| keys.set(key, GeoKeyValue::Short(value));
        short(geokeys::GT_RASTER_TYPE, 1);
        let Some(projection) = self.projection else {
            short(geokeys::GT_MODEL_TYPE, 2);
            short(geokeys::GEOGRAPHIC_TYPE, 4326);
            short(geokeys::GEOG_ANGULAR_UNITS, DEGREE);
            keys.set(geokeys::GEOG_CITATION, GeoKeyValue::Ascii("WGS 84".to_owned()));
            return keys;
        };
        short(geokeys::GT_MODEL_TYPE, 1);
        short(geokeys::GEOGRAPHIC_TYPE, USER_DEFINED);
        short(geokeys::GEOG_GEODETIC_DATUM, USER_DEFINED);
        short(GEOG_ELLIPSOID, USER_DEFINED);
        short(geokeys::GEOG_ANGULAR_UNITS, DEGREE);
        short(geokeys::PROJECTED_CRS_TYPE, USER_DEFINED);
        short(geokeys::PROJECTION, USER_DEFINED);
        short(geokeys::PROJ_LINEAR_UNITS, METRE);
        let (method, name, radius_m, parameters) = match projection {
            Projection::LambertConformal { radius_m, origin_lat, central_lon, parallels } => (
                8,
                "Lambert conformal conic on a sphere",
                radius_m,
                vec![
                    (STD_PARALLEL_1, parallels[0]),
                    (STD_PARALLEL_2, parallels[1]),
                    (FALSE_ORIGIN_LON, east_or_west(central_lon)),
                    (FALSE_ORIGIN_LAT, origin_lat),
                    (FALSE_ORIGIN_EASTING, 0.0),
                    (FALSE_ORIGIN_NORTHING, 0.0),
                ],
            ),
            Projection::PolarStereographic { radius_m, central_lon, true_lat, .. } => (
                15,
                "Polar stereographic on a sphere",
                radius_m,
                vec![
                    (STRAIGHT_VERTICAL_POLE_LON, east_or_west(central_lon)),
                    (NATURAL_ORIGIN_LAT, true_lat),
                    (SCALE_AT_NATURAL_ORIGIN, 1.0),
                    (FALSE_EASTING, 0.0),
                    (FALSE_NORTHING, 0.0),
                ],
            ),
            Projection::Mercator { radius_m, central_lon, true_lat } => (
                7,
                "Mercator on a sphere",
                radius_m,
                vec![
                    (STD_PARALLEL_1, true_lat),
                    (NATURAL_ORIGIN_LON, east_or_west(central_lon)),
                    (FALSE_EASTING, 0.0),
                    (FALSE_NORTHING, 0.0),
                ],
            ),
        };
        short(geokeys::PROJ_COORD_TRANS, method);
        keys.set(geokeys::PROJ_CITATION, GeoKeyValue::Ascii(name.to_owned()));
        keys.set(geokeys::GT_CITATION, GeoKeyValue::Ascii(name.to_owned()));
        let sphere = format!("Sphere of radius {radius_m} m");
        keys.set(geokeys::GEOG_CITATION, GeoKeyValue::Ascii(sphere));
        for (key, value) in
            [(SEMI_MAJOR_AXIS, radius_m), (SEMI_MINOR_AXIS, radius_m)].into_iter().chain(parameters)
        {
            keys.set(key, GeoKeyValue::Double(vec![value]));
        }
        keys
    }
}

// Keys of OGC GeoTIFF 1.1, annex B.
const GEOG_ELLIPSOID: u16 = 2056;
const SEMI_MAJOR_AXIS: u16 = 2057;
const SEMI_MINOR_AXIS: u16 = 2058;
const STD_PARALLEL_1: u16 = 3078;
const STD_PARALLEL_2: u16 = 3079;
const NATURAL_ORIGIN_LON: u16 = 3080;
const NATURAL_ORIGIN_LAT: u16 = 3081;
const FALSE_EASTING: u16 = 3082;
const FALSE_NORTHING: u16 = 3083;
const FALSE_ORIGIN_LON: u16 = 3084;
const FALSE_ORIGIN_LAT: u16 = 3085;
const FALSE_ORIGIN_EASTING: u16 = 3086;
const FALSE_ORIGIN_NORTHING: u16 = 3087;
const SCALE_AT_NATURAL_ORIGIN: u16 = 3092;
const STRAIGHT_VERTICAL_POLE_LON: u16 = 3095;

/// Returns the western column's longitude within ±180°, and for a grid around the globe the number
/// of columns that must be moved so that it begins with its first column from 180° W on.
fn within_180(western: f64, step: f64, columns: usize) -> (f64, usize) {
    let western = east_or_west(western);
    let around = (step * columns as f64 - 360.0).abs() < step / 2.0;
    if !around {
        return (western, 0);
    }
    // Columns from 180° E on, including a column that is off 180° E only by rounding.
    let before = libm::ceil((180.0 - western) / step - 1e-6) as usize;
    if before >= columns {
        return (western, 0);
    }
    (western + before as f64 * step - 360.0, before)
}

/// Wraps a longitude to −180° to just below 180°.
fn east_or_west(lon: f64) -> f64 {
    lon - 360.0 * libm::floor((lon + 180.0) / 360.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn longitudes_begin_within_180_degrees() {
        assert_eq!(within_180(230.0, 0.5, 100), (-130.0, 0));
        assert_eq!(within_180(-12.0, 0.025, 1121), (-12.0, 0));
        // Across the antimeridian, but not around the globe: the longitudes continue beyond 180°.
        assert_eq!(within_180(170.0, 1.0, 20), (170.0, 0));
    }

    #[test]
    fn a_grid_around_the_globe_is_turned() {
        assert_eq!(within_180(0.0, 2.5, 144), (-180.0, 72));
        assert_eq!(within_180(-180.0, 2.5, 144), (-180.0, 0));
        assert_eq!(within_180(0.5, 1.0, 360), (-179.5, 180));
        let step = 360.0 / 4320.0;
        let (western, turned) = within_180(0.0, step, 4320);
        assert!((western + 180.0).abs() < 1e-9 && turned == 2160);
    }
}
