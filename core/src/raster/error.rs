//! The errors of a raster.

use crate::grib::GribError;

/// The error for a field that cannot become a raster, or a raster that cannot be written or read.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum RasterError {
    /// The field cannot be read.
    #[error(transparent)]
    Grib(#[from] GribError),
    /// The field is on a grid for which there is no raster.
    #[error(
        "a raster of {0} is not supported; supported: longitudes and latitudes in even steps, and \
         Mercator, Lambert and polar stereographic maps of a sphere"
    )]
    Grid(&'static str),
    /// The file cannot be written.
    #[error("the GeoTIFF cannot be written: {0}")]
    Tiff(String),
    /// A file differs from what was written.
    #[error("{0}")]
    Damaged(String),
    /// A file cannot be read.
    #[error("cannot be read: {0}")]
    Unreadable(String),
}
