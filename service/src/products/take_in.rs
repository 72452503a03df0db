//! Turns the fields of a GRIB2 file into files of products.

use std::{fmt, io};

use mesonet::grib::GribError;
use mesonet::raster::{ProductDuration, Raster, RasterError};
use mesonet::{Iso8601, grib, raster};
use serde::Serialize;

use super::files::{ProductFiles, span_name};
use crate::files::{Budget, Faults, FileFault, FirstFew, OverBudget, Work};
use crate::sync::lock;

/// Number of parameters that are named if no field belongs to a product.
const MAX_NAMED: usize = 5;

/// Cells of a field that is unpacked by itself.
const LARGE_CELLS: u64 = 1 << 22;

/// The cost of looking at a field or a malformed message, in cells.
const CELLS_OF_A_LOOK: u64 = 64;

/// Where the fields of GRIB2 files go.
#[derive(Clone, Copy, Debug)]
pub struct ProductSink<'a> {
    /// The files, and the catalogue by which fields are recognized.
    pub files: &'a ProductFiles,
    /// The only product to take fields for. If it is absent, the catalogue recognizes fields.
    pub only: Option<&'a raster::RasterProduct>,
}

/// Why a field did not become a file.
#[derive(Debug, thiserror::Error)]
pub enum ProductError {
    /// It cannot be read.
    #[error(transparent)]
    Grib(#[from] GribError),
    /// It cannot be made into a raster.
    #[error(transparent)]
    Raster(#[from] RasterError),
    /// It may belong to several products.
    #[error("a field of {parameter} may belong to {products}; choose one with --product")]
    Ambiguous {
        /// Its parameter.
        parameter: String,
        /// The products, with their durations.
        products: String,
    },
    /// No field of the file belongs to a product.
    #[error("none of its fields belongs to {sought}; it holds {held}")]
    NoProduct {
        /// What was sought.
        sought: String,
        /// Parameters of the fields, and where a file of a model goes.
        held: String,
    },
    /// The fields of the file exceed the budget.
    #[error(transparent)]
    OverBudget(#[from] OverBudget),
    /// The file cannot be written.
    #[error("cannot be written: {0}")]
    Io(#[from] io::Error),
}

/// The disk did not take a file. It may take it later.
#[derive(Clone, Debug, thiserror::Error)]
#[error("raster products cannot be written: {cause}")]
pub struct DiskFailure {
    /// The kind of error, for example a full disk.
    pub kind: io::ErrorKind,
    cause: String,
}

/// The result of reading GRIB2 files.
#[derive(Debug, Default, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = PushedProducts)]
pub struct ProductSummary {
    /// Files with at least one field that belongs to a product.
    pub files: u64,
    /// Products that were written.
    #[schema(value_type = WrittenProducts)]
    pub written: FirstFew<WrittenRaster>,
    /// Products that were already there, identical byte for byte.
    pub unchanged: u64,
    /// Fields that belong to no product.
    pub other_fields: u64,
    /// Fields that could not be read or written.
    #[schema(value_type = Faults)]
    pub refused: FirstFew<FileFault>,
    /// The first failure of the disk.
    #[serde(skip)]
    pub failure: Option<DiskFailure>,
}

/// How many there are, and the first of them.
#[derive(utoipa::ToSchema)]
#[expect(dead_code, reason = "only its form is used")]
struct WrittenProducts {
    count: u64,
    first: Vec<WrittenRaster>,
}

impl ProductSummary {
    /// Whether no GRIB2 file gave any result.
    pub fn is_empty(&self) -> bool {
        self.files == 0 && self.other_fields == 0 && self.refused.count == 0
    }
}

/// A product that was written.
#[derive(Clone, Debug, PartialEq, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = WrittenFile)]
pub struct WrittenRaster {
    /// Its type.
    pub product: String,
    /// The length of time that it covers, or `instant`.
    pub duration: String,
    /// Its valid time.
    #[schema(format = DateTime)]
    pub timestamp: String,
    /// Number of columns.
    #[schema(value_type = u32)]
    pub width: usize,
    /// Number of rows.
    #[schema(value_type = u32)]
    pub height: usize,
    /// Length of the file.
    pub bytes: u64,
    /// The greatest packing error of a value, in its unit.
    pub packing_error: f64,
    /// The unit.
    pub unit: String,
    /// Values beyond the packing range, which were clamped to it.
    #[schema(value_type = u64)]
    pub clamped: usize,
}

impl fmt::Display for WrittenRaster {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { product, duration, timestamp, width, height, bytes, unit, .. } = self;
        let packed = packed_within(self.packing_error, unit);
        write!(
            f,
            "{product} ({duration}) of {timestamp}: {width} × {height}, {bytes} bytes, {packed}"
        )?;
        if self.clamped > 0 {
            write!(f, ", {} values beyond the packing range", self.clamped)?;
        }
        Ok(())
    }
}

/// The greatest packing error of a value, for people.
pub fn packed_within(error: f64, unit: &str) -> String {
    match error {
        0.0 => "packed exactly".to_owned(),
        error => format!("packed within {error:.2e} {unit}"),
    }
}

/// Whether a file begins like GRIB edition 2.
pub fn is_grib2(start: &[u8]) -> bool {
    start.starts_with(b"GRIB") && start.get(7) == Some(&2)
}

/// Turns the fields of a GRIB2 file into files. A field that cannot be used is listed and does not
/// keep others from being used.
///
/// # Errors
/// No field belongs to a product, or no field that does could be made into a file.
pub fn take_in(
    inlet: ProductSink<'_>,
    file: &str,
    bytes: &[u8],
    budget: &Budget,
    summary: &mut ProductSummary,
) -> Result<(), ProductError> {
    // Whether the field belongs to a product of the present catalogue.
    let (mut written, mut first_error) = (false, None);
    let mut others = Vec::new();
    for field in grib::fields(bytes) {
        if let Err(error) = budget.spend(Work::Cells, CELLS_OF_A_LOOK) {
            summary.refused.add(|| FileFault::new(file.to_owned(), &error.to_string()));
            first_error.get_or_insert(error.into());
            break;
        }
        let taken =
            field.clone().map_err(ProductError::from).and_then(|field| inlet.field(&field, budget));
        match taken {
            Ok(FieldOutcome::Written(one)) => {
                written = true;
                summary.written.add(|| one);
            }
            Ok(FieldOutcome::Unchanged) => {
                written = true;
                summary.unchanged += 1;
            }
            Ok(FieldOutcome::OfNoProduct) => {
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

/// What became of a field.
enum FieldOutcome {
    OfNoProduct,
    Unchanged,
    Written(WrittenRaster),
}

impl ProductSink<'_> {
    /// Makes a field into a file.
    fn field(
        &self,
        field: &grib::Field<'_>,
        budget: &Budget,
    ) -> Result<FieldOutcome, ProductError> {
        let catalogue = self.files.catalogue();
        let found = match self.only {
            Some(product) => {
                let spans = product.durations_of(field)?;
                spans.into_iter().map(|span| (product, span)).collect()
            }
            None => catalogue.products_of(field)?,
        };
        match *found {
            [] => Ok(FieldOutcome::OfNoProduct),
            [(product, span)] => {
                budget.spend(Work::Cells, field.work_cells()?)?;
                self.write(field, product, span)
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
        field: &grib::Field<'_>,
        product: &raster::RasterProduct,
        span: Option<ProductDuration>,
    ) -> Result<FieldOutcome, ProductError> {
        // Large fields take hundreds of megabytes, so only one is unpacked at a time.
        let is_large = field.work_cells()? > LARGE_CELLS;
        let _turn = is_large.then(|| lock(&self.files.large));
        let raster = Raster::new(field, product, grib::MAX_POINTS)?.covering(span);
        let Some(bytes) = self.files.put(product, span, &raster)? else {
            return Ok(FieldOutcome::Unchanged);
        };
        Ok(FieldOutcome::Written(WrittenRaster {
            product: product.name().to_owned(),
            duration: span_name(span),
            timestamp: Iso8601(raster.valid_ms()).to_string(),
            width: raster.width(),
            height: raster.height(),
            bytes,
            packing_error: raster.max_error(),
            unit: product.unit().to_owned(),
            clamped: raster.clamped(),
        }))
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
        let held = if held.is_empty() {
            "no fields".to_owned()
        } else {
            let fields = held.join(", ");
            format!(
                "{fields}; a file of a model goes into the folder models/NAME/ of a watched folder, or is read \
                 with --model NAME"
            )
        };
        ProductError::NoProduct { sought, held }
    }
}

#[cfg(test)]
#[path = "take_in_tests.rs"]
mod tests;
