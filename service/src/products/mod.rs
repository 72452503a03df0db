//! Raster products: the files that are served, and how they are made from GRIB2.
//!
//! | What | Where |
//! | --- | --- |
//! | The files of the data folder, by type, duration and time | [`ProductFiles`] |
//! | Checks that a file is as it was written | `check.rs` |
//! | Deletes files that are no longer kept | [`ProductFiles::expire`] |
//! | From the fields of a GRIB2 file to files | [`take_in`] |

mod check;
mod files;
mod retention;
mod take_in;

pub use check::{ProductPlace, check_product};
pub use files::{ProductFiles, StoredFile, span_name};
pub use retention::RetentionOutcome;
pub use take_in::{DiskFailure, ProductSink, ProductSummary, is_grib2, packed_within, take_in};
