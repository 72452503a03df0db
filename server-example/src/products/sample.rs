//! The real field that the server brings along; `sample/SOURCES.md` says where it is from.

use std::io::{self, Read};
use std::sync::Arc;

use flate2::read::GzDecoder;

use super::{Inlet, ProductSummary, take_in};
use crate::state::State;

const NAME: &str = "mrms_20230406T120039Z_reflectivity_at_lowest_altitude.grib2.gz";
const FIELD: &[u8] = include_bytes!(
    "../../sample/mrms_20230406T120039Z_reflectivity_at_lowest_altitude.grib2.gz"
);

/// What the field is, and when.
const PRODUCT: &str = "reflectivity";

/// Makes the bundled field a product where none of its type is there. It takes a second or so, in a
/// thread that the end of the process does not wait for.
pub fn take_in_sample(state: Arc<State>) {
    std::thread::spawn(move || match make(&state) {
        Ok(0) => {}
        Ok(made) => tracing::info!("{made} raster product of the sample is there"),
        Err(error) => tracing::error!("the raster product of the sample: {error}"),
    });
}

/// How many were made.
fn make(state: &State) -> io::Result<u64> {
    let files = state.products();
    // A deployment may have left it out of its catalogue.
    let Some(product) = files.catalogue().get(PRODUCT) else { return Ok(0) };
    if !files.times(product, None)?.is_empty() {
        return Ok(0);
    }
    let mut bytes = Vec::new();
    GzDecoder::new(FIELD).read_to_end(&mut bytes)?;
    let mut summary = ProductSummary::default();
    let inlet = Inlet { files, only: Some(product) };
    take_in(inlet, NAME, &bytes, &mut summary).map_err(io::Error::other)?;
    Ok(summary.written.count)
}
