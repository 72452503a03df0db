//! GRIB edition 2: the fields of a file, the description of each, and its values on request.
//!
//! | What | Where |
//! | --- | --- |
//! | The fields of a file, one after the other | [`fields`], [`Field`] |
//! | The grid: rows, columns, where its points lie | [`Grid`] |
//! | What it is of: one forecast, a member, a mean, a probability | [`FieldKind`] |
//! | Parameter, level, times, statistic | [`ProductSection`] |
//! | Short names of parameters | [`ParameterName`] |
//! | The packings | `packing.rs`, `codec.rs`, `ccsds.rs` |
//! | Its names in the CF conventions | [`Field::cf_attributes`] |
//! | Values that a producer uses for "nothing here" | `sentinel.rs` |
//!
//! Octet and table numbers are those of the WMO's Manual on Codes (WMO-No. 306), volume I.2, FM 92
//! GRIB edition 2. A field starts as metadata: nothing is unpacked until [`Field::values`].
//!
//! Grids: latitudes and longitudes, also rotated, regular and reduced Gaussian grids, maps of
//! Mercator, Lambert and the polar stereographic projection on spheres and ellipsoids, and NCEP's
//! rotated grid 32769. Packings: 5.0, 5.2, 5.3, 5.4 (IEEE), 5.40, 5.41 and 5.42.
//!
//! Not supported are edition 1, spherical harmonics, icosahedral grids and packing by logarithms.
//! Such a field still gives the metadata that can be read; anything else is an error that names the
//! code.

mod axes;
mod ccsds;
mod cf;
mod codec;
mod earth;
mod error;
mod field;
mod grid;
mod kind;
mod names;
mod native_grid;
mod octets;
mod packing;
mod product;
mod row_lengths;
mod scan;
mod sentinel;

pub use axes::LatLonAxes;
#[cfg(feature = "model")]
pub(crate) use cf::attributes as cf_attributes;
pub use earth::Earth;
pub use error::GribError;
pub use field::{Field, Fields, MAX_POINTS, fields};
pub use grid::{Grid, GridGeometry};
pub use kind::{FieldKind, FieldKindError, ProbabilityEvent};
pub use names::ParameterName;
#[cfg(feature = "model")]
pub(crate) use packing::Steps;
pub use product::{GribLevelError, GribParameterError, Level, Parameter, ProductSection};

#[cfg(test)]
mod tests;
