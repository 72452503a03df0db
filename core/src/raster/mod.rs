//! Raster products: fields packed as 16-bit integers in Cloud Optimized GeoTIFFs.
//!
//! | What | Where |
//! | --- | --- |
//! | The products of a deployment, and the fields that they are read from | [`RasterCatalogue`] |
//! | How long its files are kept | `keep.rs` |
//! | `duration=24h` | [`ProductDuration`] |
//! | A field on a map, north up, packed | [`Raster`] |
//! | Where its pixels lie | `georeference.rs` |
//! | Its smaller copies | `pyramid.rs` |
//! | The file | [`Raster::write_cog`] |
//! | The check that a file is intact | [`File::check`] |

mod catalogue;
mod check;
mod cog;
mod duration;
mod error;
mod georeference;
mod keep;
mod packed;
mod pyramid;
mod seal;

pub use catalogue::{
    CatalogueError, DEFAULT_PRODUCTS_TOML, FieldRule, RasterCatalogue, RasterProduct,
};
pub use check::File;
pub use duration::{DurationError, ProductDuration};
pub use error::RasterError;
pub use packed::Raster;
pub use pyramid::Resampling;
