//! From the fields of a GRIB2 file to the files of products.

use std::{fmt, io};

use mesonet::{
    GRIB_MAX_POINTS, GribError, GribField, Iso8601, ProductDuration, Raster, RasterError,
    RasterProduct, grib_fields,
};
use serde::Serialize;

use super::files::{ProductFiles, span_name};
use crate::ingest::{Budget, FileFault, Listed, OverBudget, Work};

/// Parameters that are named where no field is of a product.
const MAX_NAMED: usize = 5;

/// Cells of a field that is unpacked by itself.
const LARGE_CELLS: u64 = 1 << 22;

/// What it costs to look at a field, or at what is not one, in cells.
const CELLS_OF_A_LOOK: u64 = 64;

/// Where the fields of GRIB2 files go.
#[derive(Clone, Copy, Debug)]
pub struct Inlet<'a> {
    /// The files, and the catalogue by which fields are told apart.
    pub files: &'a ProductFiles,
    /// The only product that fields are taken for; without it, they are told apart.
    pub only: Option<&'a RasterProduct>,
}

/// A field that became no file.
#[derive(Debug, thiserror::Error)]
pub enum ProductError {
    /// It cannot be read.
    #[error(transparent)]
    Grib(#[from] GribError),
    /// It cannot be made a raster.
    #[error(transparent)]
    Raster(#[from] RasterError),
    /// It may be of several products.
    #[error("a field of {parameter} may be of {products}; say which with --product")]
    Ambiguous {
        /// What it is of.
        parameter: String,
        /// The products, with their durations.
        products: String,
    },
    /// Nothing of the file is of a product.
    #[error("no field of it is of {sought}; it holds {held}")]
    NoProduct {
        /// What was sought.
        sought: String,
        /// Parameters of the fields.
        held: String,
    },
    /// The fields of the file cost more than they may.
    #[error(transparent)]
    OverBudget(#[from] OverBudget),
    /// The file cannot be written.
    #[error("cannot be written: {0}")]
    Io(#[from] io::Error),
}

/// The disk did not take a file: it may another time.
#[derive(Clone, Debug, thiserror::Error)]
#[error("raster products cannot be written: {cause}")]
pub struct DiskFailure {
    /// Of what kind it was: whether there is no room, for example.
    pub kind: io::ErrorKind,
    cause: String,
}

/// What became of GRIB2 files.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ProductSummary {
    /// Files of which at least one field was a product's.
    pub files: u64,
    /// Products that were written.
    pub written: Listed<Written>,
    /// Fields that are of no product.
    pub other_fields: u64,
    /// Fields that could not be read or written.
    pub refused: Listed<FileFault>,
    /// The first time that the disk did not take one.
    #[serde(skip)]
    pub failure: Option<DiskFailure>,
}

impl ProductSummary {
    /// Whether there was no GRIB2 file of which anything could be told.
    pub fn is_empty(&self) -> bool {
        self.files == 0 && self.other_fields == 0 && self.refused.count == 0
    }
}

/// A product that was written.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Written {
    /// Its type.
    pub product: String,
    /// The length of time that it covers, or `instant`.
    pub duration: String,
    /// When it is valid.
    pub timestamp: String,
    /// Number of columns.
    pub width: usize,
    /// Number of rows.
    pub height: usize,
    /// Length of the file.
    pub bytes: u64,
    /// The greatest difference that the packing made to a value, in its unit.
    pub packing_error: f64,
    /// The unit.
    pub unit: String,
    /// Values that were beyond what the packing can tell, and were moved to its end.
    pub clamped: usize,
}

impl fmt::Display for Written {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { product, duration, timestamp, width, height, bytes, unit, .. } = self;
        write!(f, "{product} ({duration}) of {timestamp}: {width} × {height}, {bytes} bytes, ")?;
        match self.packing_error {
            0.0 => f.write_str("packed exactly")?,
            error => write!(f, "packed within {error:.2e} {unit}")?,
        }
        if self.clamped > 0 {
            write!(f, ", {} values beyond what can be packed", self.clamped)?;
        }
        Ok(())
    }
}

/// Whether a file begins as GRIB edition 2 does.
pub fn is_grib2(start: &[u8]) -> bool {
    start.starts_with(b"GRIB") && start.get(7) == Some(&2)
}

/// Makes files of the fields of a GRIB2 file. A field that cannot be used is listed and keeps no
/// other from being used.
///
/// # Errors
/// Nothing of it is of a product, or of nothing that is a file could be made.
pub fn take_in(
    inlet: Inlet<'_>,
    file: &str,
    bytes: &[u8],
    budget: &Budget,
    summary: &mut ProductSummary,
) -> Result<(), ProductError> {
    let (mut written, mut first_error) = (false, None);
    let mut others = Vec::new();
    for field in grib_fields(bytes) {
        if let Err(error) = budget.spend(Work::Cells, CELLS_OF_A_LOOK) {
            summary.refused.add(|| FileFault::new(file.to_owned(), &error.to_string()));
            first_error.get_or_insert(error.into());
            break;
        }
        let taken =
            field.clone().map_err(ProductError::from).and_then(|field| inlet.field(&field, budget));
        match taken {
            Ok(Some(one)) => {
                written = true;
                summary.written.add(|| one);
            }
            Ok(None) => {
                summary.other_fields += 1;
                if others.len() <= MAX_NAMED {
                    let parameter = field.and_then(|field| field.parameter());
                    others.extend(parameter.map(|parameter| parameter.to_string()));
                    others.dedup();
                }
            }
            Err(error) => {
                let fault = || FileFault::new(file.to_owned(), &error.to_string());
                summary.refused.add(fault);
                if let ProductError::Io(error) = &error {
                    let failure = DiskFailure { kind: error.kind(), cause: error.to_string() };
                    summary.failure.get_or_insert(failure);
                }
                first_error.get_or_insert(error);
            }
        }
    }
    match first_error {
        _ if written => {
            summary.files += 1;
            Ok(())
        }
        Some(error) => Err(error),
        None => Err(inlet.no_product(others)),
    }
}

impl Inlet<'_> {
    /// Makes a file of a field; `None` where it is of no product.
    fn field(
        &self,
        field: &GribField<'_>,
        budget: &Budget,
    ) -> Result<Option<Written>, ProductError> {
        let found = match self.only {
            Some(product) => {
                let spans = product.durations_of(field)?;
                spans.into_iter().map(|span| (product, span)).collect()
            }
            None => self.files.catalogue().products_of(field)?,
        };
        match *found {
            [] => Ok(None),
            [(product, span)] => {
                budget.spend(Work::Cells, field.work_cells()?)?;
                self.write(field, product, span).map(Some)
            }
            _ => {
                let names = found
                    .iter()
                    .map(|(product, span)| format!("{} ({})", product.name(), span_name(*span)));
                Err(ProductError::Ambiguous {
                    parameter: field.parameter()?.to_string(),
                    products: names.collect::<Vec<_>>().join(", "),
                })
            }
        }
    }

    fn write(
        &self,
        field: &GribField<'_>,
        product: &RasterProduct,
        span: Option<ProductDuration>,
    ) -> Result<Written, ProductError> {
        // Large ones take hundreds of megabytes: one at a time.
        let is_large = field.work_cells()? > LARGE_CELLS;
        let _turn = is_large.then(|| self.files.turn_of_large());
        let raster = Raster::new(field, product, GRIB_MAX_POINTS)?.covering(span);
        let bytes = self.files.put(product, span, &raster)?;
        Ok(Written {
            product: product.name().to_owned(),
            duration: span_name(span),
            timestamp: Iso8601(raster.valid_ms()).to_string(),
            width: raster.width(),
            height: raster.height(),
            bytes,
            packing_error: raster.max_error(),
            unit: product.unit().to_owned(),
            clamped: raster.clamped(),
        })
    }

    fn no_product(&self, mut held: Vec<String>) -> ProductError {
        let sought = match self.only {
            Some(product) => format!("the product {}", product.name()),
            None => "a product of the catalogue".to_owned(),
        };
        if held.len() > MAX_NAMED {
            held.truncate(MAX_NAMED);
            held.push("…".to_owned());
        }
        let held = if held.is_empty() { "no field".to_owned() } else { held.join(", ") };
        ProductError::NoProduct { sought, held }
    }
}

#[cfg(test)]
#[path = "take_in_tests.rs"]
mod tests;
