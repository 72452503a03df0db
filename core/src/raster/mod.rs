//! Raster products: which field is which, packed as 16-bit integers, as Cloud Optimized GeoTIFFs.
//!
//! | What | Where |
//! | --- | --- |
//! | The products of a deployment, and the fields that they are read from | [`RasterCatalogue`] |
//! | `duration=24h` | [`ProductDuration`] |
//! | A field on a map, north up, packed | [`Raster`] |
//! | Where its pixels lie | `georeference.rs` |
//! | Its smaller copies | `pyramid.rs` |
//! | The file | [`Raster::write_cog`] |
//! | Whether a file is as it was written | [`RasterFile::check`] |

mod catalogue;
mod check;
mod cog;
mod duration;
mod georeference;
mod packed;
mod pyramid;
mod seal;

pub use catalogue::{
    CatalogueError, DEFAULT_PRODUCTS_TOML, FieldRule, RasterCatalogue, RasterProduct,
};
pub use check::RasterFile;
pub use duration::{DurationError, ProductDuration};
pub use packed::{Raster, RasterError};
pub use pyramid::Resampling;
