//! A field on a map, north up, packed.

use std::borrow::Cow;

use super::catalogue::RasterProduct;
use super::duration::ProductDuration;
use super::georeference::Georeference;
use super::pyramid::{Level, Resampling, Samples};
use crate::grib::{GribError, GribField};
use crate::tile::{Encoding, PackingLoss};
use crate::time::Iso8601;

/// A field as a product: on a map, north up, its values packed as 16-bit integers.
#[derive(Clone, Debug, PartialEq)]
pub struct Raster {
    pub(super) level: Level,
    pub(super) encoding: Encoding,
    pub(super) overviews: Resampling,
    pub(super) georeference: Georeference,
    pub(super) unit: String,
    pub(super) title: String,
    /// What the file says of itself beside that, by name.
    pub(super) notes: Vec<(&'static str, String)>,
    loss: PackingLoss,
    valid_ms: i64,
}

/// A field that cannot be made a raster, or a raster that cannot be written.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum RasterError {
    /// The field cannot be read.
    #[error(transparent)]
    Grib(#[from] GribError),
    /// The field is on a rotated grid of longitudes and latitudes.
    #[error(
        "a rotated grid of longitudes and latitudes is not supported, as no key of a GeoTIFF tells \
         of it; allowed are longitudes and latitudes, Mercator, Lambert and polar stereographic"
    )]
    Rotated,
    /// The file cannot be written.
    #[error("the GeoTIFF cannot be written: {0}")]
    Tiff(String),
    /// A file is not as it was written.
    #[error("{0}")]
    Damaged(String),
    /// A file cannot be read.
    #[error("cannot be read: {0}")]
    Unreadable(String),
}

impl Raster {
    /// Unpacks a field and packs it as a product is.
    ///
    /// A value is off by at most half a step, half the `scale` of the encoding. Values beyond the
    /// integers are moved to the nearest that can be told, and counted: [`clamped`](Self::clamped).
    ///
    /// # Errors
    /// A field that cannot be read or has more than `max_points` points; a rotated grid.
    pub fn new(
        field: &GribField<'_>,
        product: &RasterProduct,
        max_points: usize,
    ) -> Result<Self, RasterError> {
        let grid = field.grid()?;
        let georeference = Georeference::of(&grid)?;
        let (rows, columns) = (grid.rows(), grid.columns());
        let (valid_ms, encoding) = (field.product()?.valid_ms, product.encoding());
        let notes = vec![
            ("PRODUCT", product.name().to_owned()),
            ("GRIB_PARAMETER", field.parameter()?.to_string()),
            ("REFERENCE_TIME", Iso8601(field.reference_ms()?).to_string()),
            ("VALID_TIME", Iso8601(valid_ms).to_string()),
            ("PACKING_ERROR", (encoding.scale() / 2.0).to_string()),
        ];
        let mut loss = PackingLoss::default();
        let samples = if let Some(value) = field.one_value(max_points)? {
            let one = loss.pack(encoding, value.into());
            loss.clamped *= rows * columns;
            Samples::All(one)
        } else {
            let values = field.values(max_points)?;
            let mut samples = Vec::with_capacity(values.len());
            for row in 0..rows {
                let from = georeference.grid_row(row, rows) * columns;
                let row = &values[from..from + columns];
                for column in 0..columns {
                    let value = f64::from(row[georeference.grid_column(column, columns)]);
                    samples.push(loss.pack(encoding, value));
                }
            }
            Samples::Each(samples)
        };
        Ok(Self {
            level: Level { width: columns, height: rows, samples },
            encoding,
            overviews: product.overviews(),
            georeference,
            unit: product.unit().to_owned(),
            title: product.title().to_owned(),
            notes,
            loss,
            valid_ms,
        })
    }

    /// With a note in the file of the length of time that it covers: its name, for example 24h, or
    /// nothing for an instant.
    #[must_use]
    pub fn covering(mut self, duration: Option<ProductDuration>) -> Self {
        let name = duration.map(|duration| duration.to_string()).unwrap_or_default();
        self.notes.push(("DURATION", name));
        self
    }

    /// Number of columns.
    pub fn width(&self) -> usize {
        self.level.width
    }

    /// Number of rows.
    pub fn height(&self) -> usize {
        self.level.height
    }

    /// The packed values, row by row from the north, each row from the west.
    ///
    /// A field of one value takes memory for its pixels only here.
    pub fn samples(&self) -> Cow<'_, [i16]> {
        match &self.level.samples {
            Samples::All(one) => vec![*one; self.width() * self.height()].into(),
            Samples::Each(each) => each.into(),
        }
    }

    /// How they stand for values.
    pub fn encoding(&self) -> Encoding {
        self.encoding
    }

    /// Values that were beyond the integers.
    pub fn clamped(&self) -> usize {
        self.loss.clamped
    }

    /// The greatest difference that the packing made to any of the others.
    pub fn max_error(&self) -> f64 {
        self.loss.max_error
    }

    /// The time that it is valid at, milliseconds since 1970 (UTC).
    pub fn valid_ms(&self) -> i64 {
        self.valid_ms
    }
}

#[cfg(test)]
#[path = "packed_tests.rs"]
pub(super) mod tests;
