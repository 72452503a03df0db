//! How long an answer lasts, and the tag that tells whether a caller has it.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use mesonet::{GridRun, PublishedHour, SourceProduct, TileSampling};
use sha2::{Digest, Sha256};

use super::Asked;
use crate::access::Granted;
use crate::encoding::Encoding;
use crate::error::ApiError;
use crate::snapshot::{VARY, has_already};

/// How long an answer from a run lasts.
///
/// What is published of a run does not change, so an answer made of it alone lasts for ever. One
/// that has gaps where something may still be published is asked for again. What not everyone may
/// have is for no cache that several callers share.
pub struct Lasting {
    cache_control: HeaderValue,
    /// What of the run and of the catalogue the answer depends on, beside its address.
    state: Vec<u8>,
}

impl Lasting {
    /// Of an answer that shows products at an hour.
    pub fn at_hour(granted: Granted<'_>, run: &GridRun, hour: usize, products: &[&str]) -> Self {
        let published = run.published();
        let hours = published.iter().filter(|published| published.hour == hour);
        let is_final = products.iter().all(|product| run.has(product, hour));
        Self::new(granted, hours, is_final, products)
    }

    /// Of an answer that shows products at all hours.
    pub fn at_all_hours(granted: Granted<'_>, run: &GridRun, products: &[&str]) -> Self {
        let hours = 0..run.definition().valid_ms.len();
        let is_final =
            products.iter().all(|product| hours.clone().all(|hour| run.has(product, hour)));
        Self::new(granted, run.published().iter(), is_final, products)
    }

    /// Of an answer that shows what the run is, and nothing of what is in it.
    pub fn of_definition(granted: Granted<'_>) -> Self {
        Self::new(granted, [].iter(), true, &[])
    }

    fn new<'h>(
        granted: Granted<'_>,
        hours: impl Iterator<Item = &'h PublishedHour>,
        is_final: bool,
        products: &[&str],
    ) -> Self {
        let source = granted.source();
        let own_rules = products.iter().filter_map(|name| source.product(name));
        let mut own_rules = own_rules.filter_map(|product| product.tiles_and_series());
        let is_open = source.access().is_open() && own_rules.all(mesonet::AccessRule::is_open);
        let cache_control = HeaderValue::from_static(match (is_final, is_open) {
            (true, true) => "public, max-age=31536000, immutable",
            (true, false) => "private, max-age=31536000, immutable",
            (false, true) => "no-cache",
            (false, false) => "private, no-cache",
        });
        let of_hour =
            |hour: &PublishedHour| [hour.hour.to_le_bytes(), hour.published_ms.to_le_bytes()];
        let mut state: Vec<u8> = hours.flat_map(of_hour).flatten().collect();
        // A catalogue that was changed makes other answers of the same run.
        for name in products {
            let sampling = source.product(name).map(SourceProduct::sampling).unwrap_or_default();
            state.push(u8::from(sampling == TileSampling::Nearest));
            if let Some((_, both)) = source.wind_of(name) {
                state.extend(both.join(",").bytes());
            }
        }
        Self { cache_control, state }
    }

    /// An answer, or nothing for who has it: then it is not made.
    pub fn answer(
        &self,
        asked: &Asked,
        encoding: Encoding,
        make: impl FnOnce() -> Result<Response, ApiError>,
    ) -> Result<Response, ApiError> {
        let etag = self.etag(asked, encoding)?;
        let mut response = if has_already(&asked.headers, &etag) {
            StatusCode::NOT_MODIFIED.into_response()
        } else {
            make()?
        };
        let headers = response.headers_mut();
        headers.insert(header::ETAG, etag);
        headers.insert(header::VARY, VARY);
        headers.insert(header::CACHE_CONTROL, self.cache_control.clone());
        Ok(response)
    }

    /// The answer is a function of its address, the state of the run, the catalogue and the program.
    fn etag(&self, asked: &Asked, encoding: Encoding) -> Result<HeaderValue, ApiError> {
        let address = asked.uri.path_and_query().map_or("", |address| address.as_str());
        let digest = Sha256::new()
            .chain_update(env!("CARGO_PKG_VERSION"))
            .chain_update(address)
            .chain_update([0])
            .chain_update(&self.state)
            .finalize();
        let digest = digest[..16].iter().fold(0, |tag, &byte| tag << 8 | u128::from(byte));
        let etag = format!("\"{digest:032x}-{}\"", encoding.name());
        HeaderValue::try_from(etag).map_err(ApiError::internal)
    }
}
