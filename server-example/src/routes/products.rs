//! `/products`: raster products as files.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Path, Request, State as Shared};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::Response;
use axum::routing::get;
use mesonet::raster::ProductDuration;
use mesonet::{Iso8601, raster};
use serde::Serialize;
use tower_http::services::ServeFile;
use utoipa::ToSchema;

use crate::http::encoding::AcceptedEncodings;
use crate::http::error::ApiError;
use crate::http::extract::Query;
use crate::http::parameter::{Form, Parameter};
use crate::http::snapshot::json_value;
use crate::http::work::Load;
use crate::limits::ClientAddr;
use crate::openapi::{About, Tag};
use crate::routes::Endpoint;
use crate::state::State;
use mesonet_service::products::{ProductFiles, ProductPlace, span_name};

/// The media type of OGC's Cloud Optimized GeoTIFF Standard, 21-026.
const COG: HeaderValue =
    HeaderValue::from_static("image/tiff; application=geotiff; profile=cloud-optimized");

/// A file may be replaced by a better one of the same time, so caches must revalidate it.
const CACHE_CONTROL: HeaderValue = HeaderValue::from_static("no-cache");

/// Maximum number of times of a duration in the list.
const MAX_TIMES: usize = 1000;

pub const ENDPOINTS: &[Endpoint] = &[
    Endpoint::get("/products", || get(list)).about(|| {
        About::new("listProducts", Tag::Products, "The raster products and their times")
            .json::<ProductList>("Products by type.")
    }),
    Endpoint::get("/products/{type}", || get(file)).query(&[DURATION, TIMESTAMP]).about(|| {
        About::new("getProduct", Tag::Products, "The file of a raster product")
            .path(&[TYPE])
            .bytes("image/tiff", "A Cloud Optimized GeoTIFF.")
            .header("Content-Location", "The address that still names this file later.")
            .cached("`no-cache`: a file may be replaced by a better one.")
            .ranges()
            .tagged()
    }),
    Endpoint::get("/products/{type}/exists", || get(exists)).query(&[DURATION, TIMESTAMP]).about(
        || {
            About::new("hasProduct", Tag::Products, "Whether there is a file of a raster product")
                .path(&[TYPE])
                .json::<Exists>("Whether there is one.")
        },
    ),
];

/// Whether there is a file.
#[derive(Serialize, ToSchema)]
#[schema(as = ProductExists)]
struct Exists {
    exists: bool,
}

const TYPE: Parameter =
    Parameter::new("type", Form::Matching(r"[\s\S]+"), "Type of the product, as listed.")
        .example("reflectivity");

const DURATION: Parameter = Parameter::new(
    "duration",
    Form::Matching("^[0-9]*[1-9][0-9]*(min|h|d)$"),
    "The length of time that it covers; needed where there are several.",
);

const TIMESTAMP: Parameter =
    Parameter::new("timestamp", Form::Instant, "Its time; by default the newest.")
        .example("2023-04-06T12:00:39Z");

/// A well-formed request.
struct ProductRequest {
    name: String,
    /// The duration; `None` is an instant.
    span: Option<ProductDuration>,
    /// Whether the catalogue has the type, and the type the duration.
    is_offered: bool,
    ts_ms: Option<i64>,
}

impl ProductRequest {
    fn new(files: &ProductFiles, name: String, query: &Query) -> Result<Self, ApiError> {
        let duration = query.read("duration", str::parse::<ProductDuration>)?;
        let ts_ms = query.instant("timestamp")?;
        let (span, is_offered) = match files.catalogue().get(&name) {
            Some(product) => {
                let span = span(product, duration)?;
                (span, product.durations().contains(&span))
            }
            None => (duration, false),
        };
        Ok(Self { name, span, is_offered, ts_ms })
    }

    /// Returns the file and its time, if it exists.
    fn find(&self, files: &ProductFiles) -> Result<Option<(PathBuf, i64)>, ApiError> {
        let catalogue = files.catalogue();
        let product = catalogue.get(&self.name).filter(|_| self.is_offered);
        let (Some(product), span) = (product, self.span) else { return Ok(None) };
        let ts_ms = match self.ts_ms {
            Some(ts_ms) => Some(ts_ms),
            None => files.times(product, span).map_err(ApiError::internal)?.first().copied(),
        };
        let Some(ts_ms) = ts_ms else { return Ok(None) };
        let path = files.find(product, span, ts_ms).map_err(ApiError::internal)?;
        Ok(path.map(|path| (path, ts_ms)))
    }

    /// The same, but only for an undamaged file.
    fn find_whole(&self, files: &ProductFiles) -> Result<Option<(PathBuf, i64)>, ApiError> {
        let Some((path, ts_ms)) = self.find(files)? else { return Ok(None) };
        let place = ProductPlace { product: self.name.clone(), span: self.span, ts_ms };
        match files.is_whole(&path, &place) {
            Ok(true) => Ok(Some((path, ts_ms))),
            Ok(false) => {
                let (name, span) = (&self.name, span_name(self.span));
                let text = format!("the file of {name} ({span}) of {} is damaged", Iso8601(ts_ms));
                Err(ApiError::Refused(StatusCode::SERVICE_UNAVAILABLE, text))
            }
            // The file has been removed in the meantime.
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(ApiError::internal(error)),
        }
    }
}

/// Returns the duration: the given one, or else the instant, or else the only one that exists.
fn span(
    product: &raster::RasterProduct,
    duration: Option<ProductDuration>,
) -> Result<Option<ProductDuration>, ApiError> {
    let durations = product.durations();
    match (duration, &*durations) {
        (Some(duration), _) => Ok(Some(duration)),
        (None, [None, ..]) => Ok(None),
        (None, [only]) => Ok(*only),
        (None, several) => {
            let names: Vec<String> = several.iter().map(|span| span_name(*span)).collect();
            let (name, names) = (product.name(), names.join(", "));
            Err(ApiError::BadRequest(format!(
                "duration is required; {name} is available for {names}"
            )))
        }
    }
}

async fn exists(
    Shared(state): Shared<Arc<State>>,
    client_addr: ClientAddr,
    Path(name): Path<String>,
    query: Query,
    accepted: AcceptedEncodings,
) -> Result<Response, ApiError> {
    let asked = ProductRequest::new(&state.services.products, name, &query)?;
    let found = state
        .work(client_addr, Load::Light, move |state| {
            asked.find(state.services.products_with_sample())
        })
        .await??;
    json_value(accepted, &Exists { exists: found.is_some() })
}

async fn file(
    Shared(state): Shared<Arc<State>>,
    client_addr: ClientAddr,
    Path(name): Path<String>,
    query: Query,
    request: Request,
) -> Result<Response, ApiError> {
    let asked = ProductRequest::new(&state.services.products, name, &query)?;
    let (name, span) = (asked.name.clone(), asked.span);
    let missing = missing(&state, &asked);
    let found = state
        .work(client_addr, Load::Light, move |state| {
            asked.find_whole(state.services.products_with_sample())
        })
        .await??;
    let (path, ts_ms) = found.ok_or_else(|| missing.clone())?;

    let mut response = serve(&path, request).await?.ok_or(missing)?;
    let headers = response.headers_mut();
    if headers.contains_key(header::CONTENT_TYPE) {
        headers.insert(header::CONTENT_TYPE, COG);
    }
    headers.insert(header::CACHE_CONTROL, CACHE_CONTROL);
    // The permanent address of this file, which stays the same when a newer one arrives.
    let duration = span.map(|span| format!("duration={span}&")).unwrap_or_default();
    let config = state.config();
    let prefix = &config.api_prefix;
    let address = format!("{prefix}/products/{name}?{duration}timestamp={}", Iso8601(ts_ms));
    let address = HeaderValue::try_from(address).map_err(ApiError::internal)?;
    headers.insert(header::CONTENT_LOCATION, address);
    Ok(response)
}

/// Why there is no file.
fn missing(state: &State, asked: &ProductRequest) -> ApiError {
    let catalogue = state.services.products.catalogue();
    ApiError::NotFound(match catalogue.get(&asked.name) {
        None => {
            let names: Vec<&str> = catalogue.iter().map(raster::RasterProduct::name).collect();
            format!("unknown product \"{}\"; known are {}", asked.name, names.join(", "))
        }
        Some(product) if !asked.is_offered => {
            let names: Vec<String> = product.durations().into_iter().map(span_name).collect();
            format!("{} is available for {}", asked.name, names.join(", "))
        }
        Some(_) => {
            let at = asked.ts_ms.map(|ts_ms| format!(" of {}", Iso8601(ts_ms)));
            let span = span_name(asked.span);
            format!("no file of {} ({span}){}", asked.name, at.unwrap_or_default())
        }
    })
}

/// Answers with a file or a range of it; `None` if the file is gone.
///
/// A request for several ranges gets the whole file, as RFC 9110 allows. The library leaves three
/// rules to the caller: a range counts only for GET, only if its unit is bytes, and not if
/// `If-Range` names another version of the file.
async fn serve(path: &PathBuf, request: Request) -> Result<Option<Response>, ApiError> {
    let (head, _) = request.into_parts();
    let mut asked = HeaderMap::clone(&head.headers);
    let if_range = asked.remove(header::IF_RANGE);
    let range = asked.remove(header::RANGE).and_then(|range| of_bytes(&range));
    if let Some(range) = range.filter(|_| head.method == Method::GET) {
        asked.insert(header::RANGE, range);
    }
    let call = async |headers: HeaderMap| {
        let mut request = Request::new(Body::empty());
        *request.method_mut() = head.method.clone();
        *request.headers_mut() = headers;
        let mut service = ServeFile::new(path).ignore_multi_range_requests(true);
        match service.try_call(request).await {
            Ok(response) if response.status() == StatusCode::NOT_FOUND => Ok(None),
            Ok(response) => Ok(Some(response.map(Body::new))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(ApiError::internal(error)),
        }
    };
    let Some(response) = call(asked.clone()).await? else { return Ok(None) };
    // A date is too coarse to distinguish two versions of a file, so only a tag can match.
    let other_state =
        if_range.is_some() && if_range.as_ref() != response.headers().get(header::ETAG);
    if other_state && asked.remove(header::RANGE).is_some() {
        return call(asked).await;
    }
    Ok(Some(response))
}

/// Returns a range whose unit is bytes, in lower case, as the library expects it. Other units are
/// ignored (RFC 9110, 14.2).
fn of_bytes(range: &HeaderValue) -> Option<HeaderValue> {
    let range = range.as_bytes().to_ascii_lowercase();
    range.starts_with(b"bytes=").then(|| HeaderValue::from_bytes(&range).ok())?
}

/// Lists the products: an addition to the interface.
async fn list(
    Shared(state): Shared<Arc<State>>,
    client_addr: ClientAddr,
    accepted: AcceptedEncodings,
) -> Result<Response, ApiError> {
    let list = state
        .work(client_addr, Load::Light, |state| products(state.services.products_with_sample()))
        .await??;
    json_value(accepted, &list)
}

#[derive(Serialize, ToSchema)]
#[schema(as = ProductList)]
struct ProductList {
    products: BTreeMap<String, ProductEntry>,
}

/// A value is raw · scale + offset, and missing if raw is nodata.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ListedProduct)]
struct ProductEntry {
    title: String,
    unit: String,
    scale: f64,
    offset: f64,
    nodata: i16,
    /// The value that stands for "no echo" where a radar sees, of products that have one; a place that no radar
    /// sees is nodata.
    #[serde(skip_serializing_if = "Option::is_none")]
    no_echo: Option<f32>,
    durations: Vec<Times>,
}

/// The times of one duration, newest first.
#[derive(Serialize, ToSchema)]
#[schema(as = ProductTimes)]
struct Times {
    /// Absent of an instant.
    #[serde(skip_serializing_if = "Option::is_none")]
    duration: Option<String>,
    #[schema(value_type = Vec<String>)]
    timestamps: Vec<String>,
}

fn products(files: &ProductFiles) -> Result<ProductList, ApiError> {
    let mut products = BTreeMap::new();
    for product in files.catalogue().iter() {
        let mut durations = Vec::new();
        for span in product.durations() {
            let times = files.times(product, span).map_err(ApiError::internal)?;
            let times = times.iter().take(MAX_TIMES).map(|&ts_ms| Iso8601(ts_ms).to_string());
            let duration = span.map(|span| span.to_string());
            durations.push(Times { duration, timestamps: times.collect() });
        }
        let encoding = product.encoding();
        products.insert(
            product.name().to_owned(),
            ProductEntry {
                title: product.title().to_owned(),
                unit: product.unit().to_owned(),
                scale: encoding.scale(),
                offset: encoding.offset(),
                nodata: encoding.nodata(),
                no_echo: product.no_echo(),
                durations,
            },
        );
    }
    Ok(ProductList { products })
}
