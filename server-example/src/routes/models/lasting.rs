//! How long an answer may be cached, and the tag that tells whether a caller has it.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use mesonet::grid::TileSampling;
use mesonet::model;
use mesonet::model::{PublishedHour, SourceProduct};

use super::{AskedRun, ModelRequest};
use crate::access::Granted;
use crate::error::ApiError;
use crate::http::encoding::Encoding;
use crate::http::etag::{digest, etag, has_already};
use crate::http::snapshot::VARY;

/// How long an answer from a run may be cached.
///
/// The published part of a run does not change, so an answer made of it alone lasts forever. One
/// with gaps where something may still be published is revalidated. What not everyone may have is
/// not for shared caches.
pub struct Lasting {
    is_final: bool,
    is_open: bool,
    /// What the answer depends on in the run and the catalogue, besides its address.
    state: Vec<u8>,
}

impl Lasting {
    /// For an answer that shows products at one hour.
    pub fn at_hour(granted: Granted<'_>, run: &model::Run, hour: usize, products: &[&str]) -> Self {
        let published = run.published();
        let hours = published.iter().filter(|published| published.hour == hour);
        let is_final = products.iter().all(|product| run.has(product, hour));
        Self::new(granted, hours, is_final, products)
    }

    /// For an answer that shows products at all hours.
    pub fn at_all_hours(granted: Granted<'_>, run: &model::Run, products: &[&str]) -> Self {
        let hours = 0..run.definition().valid_ms.len();
        let is_final =
            products.iter().all(|product| hours.clone().all(|hour| run.has(product, hour)));
        Self::new(granted, run.published().iter(), is_final, products)
    }

    /// For an answer that shows the definition of the run, but none of its content.
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
        let is_open = source.access().is_open() && own_rules.all(mesonet::access::Rule::is_open);
        let of_hour =
            |hour: &PublishedHour| [hour.hour.to_le_bytes(), hour.published_ms.to_le_bytes()];
        let mut state: Vec<u8> = hours.flat_map(of_hour).flatten().collect();
        // A changed catalogue gives different answers from the same run.
        for name in products {
            let sampling = source.product(name).map(SourceProduct::sampling).unwrap_or_default();
            state.push(u8::from(sampling == TileSampling::Nearest));
            if let Some((_, both)) = source.wind_of(name) {
                state.extend(both.join(",").bytes());
            }
        }
        Self { is_final, is_open, state }
    }

    /// The same for an answer from a run that the request may or may not name.
    pub fn of_run(mut self, asked: &AskedRun) -> Self {
        if !asked.is_named {
            self.is_final = false;
            self.state.extend(asked.run.definition().run.start_ms().to_le_bytes());
        }
        self
    }

    fn cache_control(&self) -> HeaderValue {
        HeaderValue::from_static(match (self.is_final, self.is_open) {
            (true, true) => "public, max-age=31536000, immutable",
            (true, false) => "private, max-age=31536000, immutable",
            (false, true) => "no-cache",
            (false, false) => "private, no-cache",
        })
    }

    /// Answers, or returns 304 to a caller who has the answer: then it is not made.
    pub fn answer(
        &self,
        request: &ModelRequest,
        encoding: Encoding,
        make: impl FnOnce() -> Result<Response, ApiError>,
    ) -> Result<Response, ApiError> {
        let etag = self.etag(request, encoding)?;
        let mut response = if has_already(&request.headers, &etag) {
            StatusCode::NOT_MODIFIED.into_response()
        } else {
            make()?
        };
        let headers = response.headers_mut();
        headers.insert(header::ETAG, etag);
        headers.insert(header::VARY, VARY);
        headers.insert(header::CACHE_CONTROL, self.cache_control());
        Ok(response)
    }

    /// The answer is a function of its address, the state of the run, the catalogue and the program.
    fn etag(&self, request: &ModelRequest, encoding: Encoding) -> Result<HeaderValue, ApiError> {
        let address = request.uri.path_and_query().map_or("", |address| address.as_str());
        let parts = [env!("CARGO_PKG_VERSION").as_bytes(), address.as_bytes(), &[0], &self.state];
        etag(&digest(&parts), encoding).map_err(ApiError::internal)
    }
}
