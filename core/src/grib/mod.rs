//! GRIB edition 2: the fields of a file, what each of them is, and its values when they are asked
//! for.
//!
//! | What | Where |
//! | --- | --- |
//! | The fields of a file, one after the other | [`grib_fields`], [`GribField`] |
//! | The grid: rows, columns, where its points lie | [`GribGrid`] |
//! | Parameter, level, times, statistic | [`GribProduct`] |
//! | The packings | `packing.rs`, `codec.rs` |
//! | Values that a producer uses for "nothing here" | `sentinel.rs` |
//!
//! Octet and table numbers are those of the WMO's Manual on Codes (WMO-No. 306), volume I.2, FM 92
//! GRIB edition 2. A field is metadata first: nothing is unpacked until [`GribField::values`].
//!
//! We do not read edition 1, grids of spherical harmonics or of rows of unlike lengths, Gaussian
//! grids, and packings beyond 5.0, 5.2, 5.3, 5.40, 5.41 and 5.42. Of such a field the metadata that
//! can be read is there, and the rest is an error that names the code.

mod codec;
mod error;
mod field;
mod grid;
mod octets;
mod packing;
mod product;
mod sentinel;

pub use error::GribError;
pub use field::{GRIB_MAX_POINTS, GribField, GribFields, grib_fields};
pub use grid::{Earth, GribGrid, GridGeometry, LatLonAxes};
pub use product::{GribLevel, GribLevelError, GribParameter, GribParameterError, GribProduct};

#[cfg(test)]
mod tests;
