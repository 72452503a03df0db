//! The bundled real field; `sample/SOURCES.md` gives its source.

use std::io::{self, Read};

use flate2::read::GzDecoder;

use mesonet_service::files::{Budget, FileLimits};
use mesonet_service::products::{ProductFiles, ProductSink, ProductSummary, take_in};

const NAME: &str = "mrms_20230406T120039Z_reflectivity_at_lowest_altitude.grib2.gz";
const FIELD: &[u8] =
    include_bytes!("../../sample/mrms_20230406T120039Z_reflectivity_at_lowest_altitude.grib2.gz");

/// The product of the field.
const PRODUCT: &str = "reflectivity";

/// Makes a product of the bundled field, if there is no product of its type. This takes about a
/// second.
///
/// # Errors
/// The files cannot be read or written.
pub fn take_in_sample(files: &ProductFiles) -> io::Result<()> {
    // The deployment may have removed the product from its catalogue.
    let catalogue = files.catalogue();
    let Some(product) = catalogue.get(PRODUCT) else { return Ok(()) };
    if !files.times(product, None)?.is_empty() {
        return Ok(());
    }
    let mut bytes = Vec::new();
    GzDecoder::new(FIELD).read_to_end(&mut bytes)?;
    let inlet = ProductSink { files, only: Some(product) };
    let mut summary = ProductSummary::default();
    let budget = Budget::new(FileLimits::default(), bytes.len() as u64);
    take_in(inlet, NAME, &bytes, &budget, &mut summary).map_err(io::Error::other)?;
    for product in &summary.written.first {
        tracing::info!("created the raster product of the sample: {product}");
    }
    Ok(())
}
