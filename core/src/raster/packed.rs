//! A field on a map, north up, packed.

use std::borrow::Cow;

use super::catalogue::RasterProduct;
use super::duration::ProductDuration;
use super::error::RasterError;
use super::georeference::Georeference;
use super::pyramid::{PyramidLevel, Resampling, Samples};
use crate::grib;
use crate::grid::{Encoding, PackingLoss};
use crate::time::Iso8601;

/// A field as a product: on a map, north up, its values packed as 16-bit integers.
///
/// ```
/// # let sample = concat!(env!("CARGO_MANIFEST_DIR"), "/../server-example/sample/safrica_ps_20100308T12Z_25hours.grib2");
/// use mesonet::{grib, raster};
/// let catalogue = raster::RasterCatalogue::from_toml(r#"
///     [water]
///     title = "Precipitable water"
///     unit = "kg/m²"
///     scale = 0.01
///     fields = [{ parameter = "7:0.1.3" }]
/// "#)?;
/// let bytes = std::fs::read(sample)?;
/// let field = grib::fields(&bytes).next().ok_or("no field")??;
/// let (product, duration): (&raster::RasterProduct, _) = catalogue.products_of(&field)?[0];
/// assert_eq!(product.durations_of(&field)?, [duration]);
/// let raster = raster::Raster::new(&field, product, grib::MAX_POINTS)?.covering(duration);
/// assert_eq!(raster.samples().len(), raster.width() * raster.height());
/// assert!(raster.clamped() == 0 && raster.max_error() <= 0.005);
/// assert_eq!(raster.encoding(), product.encoding());
///
/// let mut file = Vec::new();
/// raster.write_cog(&mut file)?;
/// let found = raster::File::check(std::io::Cursor::new(&file), true)?;
/// assert_eq!((found.width, found.height, found.is_sealed), (210, 140, true));
/// file[1000] ^= 1;
/// let damaged = raster::File::check(std::io::Cursor::new(&file), false);
/// assert!(matches!(damaged, Err(raster::RasterError::Damaged(_))));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Raster {
    pub(super) level: PyramidLevel,
    pub(super) encoding: Encoding,
    pub(super) overviews: Resampling,
    pub(super) georeference: Georeference,
    pub(super) unit: String,
    pub(super) title: String,
    /// Further notes in the file about itself, by name.
    pub(super) notes: Vec<(&'static str, String)>,
    loss: PackingLoss,
    valid_ms: i64,
}

impl Raster {
    /// Unpacks a field and packs it as a product.
    ///
    /// A value changes by at most half a step, half the `scale` of the encoding. Values beyond the
    /// integers are clamped to the nearest one and counted: [`clamped`](Self::clamped).
    ///
    /// # Errors
    /// If the field cannot be read, has more than `max_points` points, or is on a rotated grid.
    pub fn new(
        field: &grib::Field<'_>,
        product: &RasterProduct,
        max_points: usize,
    ) -> Result<Self, RasterError> {
        let grid = field.grid()?;
        let georeference = Georeference::of(&grid)?;
        let (rows, columns) = (grid.rows(), grid.columns());
        let (valid_ms, encoding) = (field.product()?.valid_ms, product.encoding());
        let mut notes = vec![
            ("PRODUCT", product.name().to_owned()),
            ("GRIB_PARAMETER", field.parameter()?.to_string()),
            ("REFERENCE_TIME", Iso8601(field.reference_ms()?).to_string()),
            ("VALID_TIME", Iso8601(valid_ms).to_string()),
            ("PACKING_ERROR", (encoding.scale() / 2.0).to_string()),
        ];
        if let Some(no_echo) = field.parameter()?.no_echo() {
            notes.push(("NO_ECHO", no_echo.to_string()));
        }
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
            level: PyramidLevel { width: columns, height: rows, samples },
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

    /// Adds a note on the length of time that the file covers: its name, for example 24h, or
    /// nothing for an instant.
    #[must_use]
    pub fn covering(mut self, duration: Option<ProductDuration>) -> Self {
        let name = duration.map(|duration| duration.to_string()).unwrap_or_default();
        self.notes.push(("DURATION", name));
        self
    }

    /// Returns the number of columns.
    pub fn width(&self) -> usize {
        self.level.width
    }

    /// Returns the number of rows.
    pub fn height(&self) -> usize {
        self.level.height
    }

    /// Returns the packed values, row by row from the north, each row from the west.
    ///
    /// The pixels of a constant field take memory only here.
    pub fn samples(&self) -> Cow<'_, [i16]> {
        match &self.level.samples {
            Samples::All(one) => vec![*one; self.width() * self.height()].into(),
            Samples::Each(each) => each.into(),
        }
    }

    /// Returns how the integers represent values.
    pub fn encoding(&self) -> Encoding {
        self.encoding
    }

    /// Returns how many values were beyond the integers.
    pub fn clamped(&self) -> usize {
        self.loss.clamped
    }

    /// Returns the greatest change that the packing made to any other value.
    pub fn max_error(&self) -> f64 {
        self.loss.max_error
    }

    /// Returns the valid time, in milliseconds since 1970 (UTC).
    pub fn valid_ms(&self) -> i64 {
        self.valid_ms
    }
}

#[cfg(test)]
#[path = "packed_tests.rs"]
pub(super) mod tests;
