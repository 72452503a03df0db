//! How long a running server keeps the files of raster products.

use std::collections::BTreeMap;
use std::io;
use std::time::Duration;

use mesonet::Iso8601;
use mesonet::raster::RasterProduct;
use mesonet_service::products::RetentionOutcome;

use crate::state::State;

/// How often the server looks for files that are no longer kept.
const LOOK: Duration = Duration::from_secs(10);

/// What stayed at the last look although it was due, by product: it is logged when it changes.
pub type Stayed = BTreeMap<String, (usize, Vec<String>)>;

/// Logs at the start whether files will be deleted.
pub fn announce(state: &State) {
    let catalogue = state.services.products.catalogue();
    let names: Vec<_> =
        catalogue.iter().filter(|product| is_limited(product)).map(RasterProduct::name).collect();
    if names.is_empty() {
        return;
    }
    let names = names.join(", ");
    if state.clock.is_live() {
        tracing::info!("old files of these raster products are deleted: {names}");
    } else {
        tracing::warn!(
            "keep and keep_bytes of {names} do nothing: in a replay, nothing is too old"
        );
    }
}

fn is_limited(product: &RasterProduct) -> bool {
    product.keep_bytes().is_some()
        || product.durations().iter().any(|&span| product.keep_ms(span).is_some())
}

/// Deletes what the catalogue no longer keeps. In a replay nothing is deleted.
///
/// # Errors
/// A folder cannot be read. The files of other products are deleted nonetheless.
pub fn expire(state: &State, stayed: &mut Stayed) -> io::Result<Duration> {
    if !state.clock.is_live() {
        return Ok(LOOK);
    }
    let (mut has_more, mut failure) = (false, None);
    for product in state.services.products.catalogue().iter() {
        let is_stopping = || state.services.is_stopping();
        match state.services.products.expire(product, state.clock.now_ms(), &is_stopping) {
            Ok(done) => {
                has_more |= done.has_more;
                report(state, product.name(), done, stayed);
            }
            Err(error) => {
                let name = product.name();
                failure = Some(io::Error::new(
                    error.kind(),
                    format!("old files of the raster product {name}: {error}"),
                ));
            }
        }
    }
    match failure {
        Some(error) => Err(error),
        None if has_more => Ok(Duration::ZERO),
        None => Ok(LOOK),
    }
}

/// Logs and counts what was deleted, and what stays although it is too old.
fn report(state: &State, name: &str, done: RetentionOutcome, stayed: &mut Stayed) {
    let RetentionOutcome { files, bytes, times_ms, stay, has_more: _, failed } = done;
    if let Some((oldest_ms, newest_ms)) = times_ms {
        state.services.metrics.deleted_products(name, files, bytes);
        tracing::info!(
            "deleted {files} files of the raster product {name} with {bytes} bytes, from {} to {}",
            Iso8601(oldest_ms),
            Iso8601(newest_ms)
        );
    }
    let failed: Vec<String> =
        failed.into_iter().map(|(path, cause)| format!("{}: {cause}", path.display())).collect();
    let now = (stay, failed);
    let before = stayed.get(name).cloned().unwrap_or_default();
    if now == before {
        return;
    }
    if now.0 > before.0 {
        tracing::warn!(
            "{stay} files of the raster product {name} are too old and stay, because they are damaged or \
             have no checksum"
        );
    }
    if let Some(first) = now.1.first() {
        let count = now.1.len();
        tracing::error!(
            "{count} files of the raster product {name} are too old and cannot be deleted; the first: {first}"
        );
    }
    stayed.insert(name.to_owned(), now);
}
