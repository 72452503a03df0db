//! How long an answer may be cached, and the tag that shows whether a caller already has it.

use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use mesonet::grid::TileSampling;
use mesonet::model::{self, PublishedHour, SourceProduct};

use super::{ModelRequest, RequestedRun};
use crate::auth::access::ModelPermission;
use crate::http::encoding::Encoding;
use crate::http::error::ApiError;
use crate::http::etag::{digest, etag, has_already};
use crate::http::snapshot::tag;

/// How long an answer from a run may be cached.
///
/// The published part of a run does not change, so an answer made only from it may be cached
/// forever. An answer with gaps in which something may still be published must be revalidated. So
/// must an answer whose hours or levels may get another index, or whose product may get another
/// packing, as long as the run is not complete. Answers that not every caller may have are not for
/// shared caches.
pub struct CacheLifetime {
    /// Whether the answer never changes.
    pub is_final: bool,
    is_open: bool,
    /// What the answer depends on, besides its address: parts of the run and the catalogue.
    state: Vec<u8>,
}

impl CacheLifetime {
    /// For an answer that shows products at one hour.
    pub fn at_hour(
        granted: ModelPermission<'_>,
        run: &model::Run,
        hour: usize,
        products: &[&str],
    ) -> Self {
        let published = run.published();
        let hours = published.iter().filter(|published| published.hour == hour);
        // No hour comes before the start of the run.
        let is_first =
            run.definition().valid_ms.get(hour) == Some(&run.definition().run.start_ms());
        let is_final = (is_first || has_stated_hours(granted, run))
            && products
                .iter()
                .all(|product| run.is_whole(product, hour) && is_fixed(granted, product));
        Self::new(granted, run, hours, is_final, products)
    }

    /// For an answer that shows products at all hours.
    pub fn at_all_hours(granted: ModelPermission<'_>, run: &model::Run, products: &[&str]) -> Self {
        let hours = 0..run.definition().valid_ms.len();
        let is_whole = |product: &&str| hours.clone().all(|hour| run.is_whole(product, hour));
        let of_products =
            || products.iter().all(|product| is_whole(product) && is_fixed(granted, product));
        let is_final =
            has_stated_hours(granted, run) && (is_whole_run(granted, run) || of_products());
        Self::new(granted, run, run.published().iter(), is_final, products)
    }

    /// For an answer that lists the products of the run.
    pub fn of_products(granted: ModelPermission<'_>, run: &model::Run) -> Self {
        let is_final = is_whole_run(granted, run);
        let names: Vec<&str> =
            run.definition().products.iter().map(|product| &*product.name).collect();
        Self::new(granted, run, run.published().iter(), is_final, &names)
    }

    /// For an answer that shows the definition of the run, but none of its content.
    pub fn of_definition(granted: ModelPermission<'_>) -> Self {
        Self::with(granted, Vec::new(), true, &[])
    }

    fn new<'h>(
        granted: ModelPermission<'_>,
        run: &model::Run,
        hours: impl Iterator<Item = &'h PublishedHour>,
        is_final: bool,
        products: &[&str],
    ) -> Self {
        let definition = run.definition();
        let mut state = Vec::new();
        for ms in &definition.valid_ms {
            state.extend_from_slice(&ms.to_le_bytes());
        }
        for product in
            definition.products.iter().filter(|one| products.contains(&one.shared_name()))
        {
            let encoding = product.encoding;
            let levels_hpa = product.levels_hpa.iter().flatten().copied();
            for number in [encoding.scale(), encoding.offset()].into_iter().chain(levels_hpa) {
                state.extend_from_slice(&number.to_le_bytes());
            }
        }
        for hour in hours {
            let missing: usize = hour.partial.values().map(Vec::len).sum();
            for count in [hour.hour, hour.absent.len(), missing, hour.broken.len()] {
                state.extend_from_slice(&count.to_le_bytes());
            }
            state.extend_from_slice(&hour.published_ms.to_le_bytes());
        }
        Self::with(granted, state, is_final, products)
    }

    fn with(
        granted: ModelPermission<'_>,
        state: Vec<u8>,
        is_final: bool,
        products: &[&str],
    ) -> Self {
        let source = granted.source();
        let own_rules = products.iter().filter_map(|name| source.product(name));
        let mut own_rules = own_rules.filter_map(|product| product.tiles_and_series());
        let is_open = source.access().is_open() && own_rules.all(mesonet::access::Rule::is_open);
        let mut state = state;
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

    /// The same for an answer from a run. The request may or may not name the run.
    pub fn of_run(mut self, asked: &RequestedRun) -> Self {
        if !asked.is_named {
            self.is_final = false;
            self.state.extend(asked.run.definition().run.start_ms().to_le_bytes());
        }
        self
    }

    /// How long the answer may be cached.
    pub fn cache_control(&self) -> HeaderValue {
        HeaderValue::from_static(match (self.is_final, self.is_open) {
            (true, true) => "public, max-age=31536000, immutable",
            (true, false) => "private, max-age=31536000, immutable",
            (false, true) => "no-cache",
            (false, false) => "private, no-cache",
        })
    }

    /// Answers. If the caller already has the answer, returns 304 without making it. `make` gets the
    /// tag of the answer.
    pub fn answer(
        &self,
        request: &ModelRequest,
        encoding: Encoding,
        make: impl FnOnce(&HeaderValue) -> Result<Response, ApiError>,
    ) -> Result<Response, ApiError> {
        let etag = self.etag(request, encoding)?;
        let mut response = if has_already(&request.headers, &etag) {
            StatusCode::NOT_MODIFIED.into_response()
        } else {
            make(&etag)?
        };
        tag(&mut response, etag, self.cache_control());
        Ok(response)
    }

    /// The answer is a function of its address, the state of the run, the catalogue and the program.
    fn etag(&self, request: &ModelRequest, encoding: Encoding) -> Result<HeaderValue, ApiError> {
        let address = request.uri.path_and_query().map_or("", |address| address.as_str());
        let parts = [env!("CARGO_PKG_VERSION").as_bytes(), address.as_bytes(), &[0], &self.state];
        etag(&digest(&parts), encoding).map_err(ApiError::internal)
    }
}

/// Whether the catalogue states the hours of a run: then each keeps its index.
fn has_stated_hours(granted: ModelPermission<'_>, run: &model::Run) -> bool {
    let definition = run.definition();
    granted.source().valid_ms_of(definition.run).is_some_and(|hours| hours == definition.valid_ms)
}

/// Whether the run is complete: all hours that the catalogue states are there, each with all
/// products of the run.
fn is_whole_run(granted: ModelPermission<'_>, run: &model::Run) -> bool {
    let published = run.published();
    has_stated_hours(granted, run)
        && published.len() == run.definition().valid_ms.len()
        && published.iter().all(PublishedHour::is_whole)
}

/// Whether levels keep their index and values their packing in the runs of a product.
fn is_fixed(granted: ModelPermission<'_>, product: &str) -> bool {
    granted.source().product(product).is_none_or(|product| {
        product.encoding().is_some()
            && (!product.has_levels() || product.levels_hpa().is_some())
            && (!product.has_members() || granted.source().members().is_some())
    })
}
