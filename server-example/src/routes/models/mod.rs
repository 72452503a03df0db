//! The model service: one file per endpoint, and what they share.

mod capabilities;
mod coverage;
mod grid;
mod lasting;
mod point;
mod products;
mod runs;
mod series;
mod tiles;

use std::collections::HashSet;
use std::convert::Infallible;
use std::sync::Arc;

use axum::Router;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Uri, header};
use axum::response::Response;
use mesonet::{GridRun, GridStoreError, LonLat, ModelWinds, RunStamp};
use serde::Serialize;

use crate::access::Granted;
use crate::encoding::{Accepted, Compressor, Effort};
use crate::error::ApiError;
use crate::extract::Query;
use crate::snapshot::json;
use crate::state::State;
use lasting::Lasting;

/// Most names in `fields`: no model has more products.
const MAX_FIELDS: usize = 1024;

/// The model service, below its prefix.
pub fn router(prefix: &str) -> Router<Arc<State>> {
    let router = Router::new()
        .merge(capabilities::router())
        .merge(coverage::router())
        .merge(grid::router())
        .merge(point::router())
        .merge(products::router())
        .merge(runs::router())
        .merge(series::router())
        .merge(tiles::router());
    if prefix.is_empty() { router } else { Router::new().nest(prefix, router) }
}

/// The names in `fields`, comma-separated, each once.
fn fields(query: &Query) -> Result<Vec<&str>, ApiError> {
    query.one("fields")?;
    let mut seen = HashSet::new();
    let fields: Vec<&str> = named_fields(query).filter(|name| seen.insert(*name)).collect();
    match fields.len() {
        0 => {
            let text = "fields is needed: names of products, comma-separated";
            Err(ApiError::BadRequest(text.to_owned()))
        }
        1..=MAX_FIELDS => Ok(fields),
        more => Err(ApiError::BadRequest(format!(
            "fields names {more} products; allowed are up to {MAX_FIELDS}"
        ))),
    }
}

/// The same for those who decide on access, before anything is refused for its form.
fn named_fields(query: &Query) -> impl Iterator<Item = &str> {
    let names = query.all("fields").flat_map(|list| list.split(',')).map(str::trim);
    names.filter(|name| !name.is_empty())
}

/// The run that is asked for, which must be.
fn run(state: &State, granted: Granted<'_>, query: &Query) -> Result<Arc<GridRun>, ApiError> {
    let stamp = run_stamp(query)?.ok_or_else(|| {
        let text = "run is needed: a run of /runs, for example 20180917T000000Z";
        ApiError::BadRequest(text.to_owned())
    })?;
    Ok(state.models_with_sample().run(granted, stamp)?)
}

/// The run that is asked for, else the latest.
fn run_or_newest(
    state: &State,
    granted: Granted<'_>,
    query: &Query,
) -> Result<Arc<GridRun>, ApiError> {
    if let Some(stamp) = run_stamp(query)? {
        return Ok(state.models_with_sample().run(granted, stamp)?);
    }
    state.models_with_sample().newest(granted)?.ok_or_else(|| {
        ApiError::from(GridStoreError::UnknownModel(granted.source().name().to_owned()))
    })
}

fn run_stamp(query: &Query) -> Result<Option<RunStamp>, ApiError> {
    query.read("run", str::parse::<RunStamp>)
}

fn needed_index(query: &Query, name: &str) -> Result<usize, ApiError> {
    query.index(name)?.ok_or_else(|| ApiError::BadRequest(format!("{name} is needed")))
}

/// The cell that is asked for, by row and column or by latitude and longitude.
fn cell(run: &GridRun, query: &Query) -> Result<(usize, usize), ApiError> {
    match (query.index("row")?, query.index("col")?, query.place()?) {
        (Some(row), Some(column), None) => Ok((row, column)),
        (None, None, Some(at)) => nearest(run, at),
        _ => Err(ApiError::BadRequest(
            "a cell is needed: row and col, or lat and lon, and not both".to_owned(),
        )),
    }
}

/// What the components of winds are to be along: those of the grid, or `winds=earth`.
fn winds<'a>(granted: Granted<'a>, query: &Query) -> Result<ModelWinds<'a>, ApiError> {
    match query.one("winds")? {
        None | Some("grid") => Ok(ModelWinds::AsTheyAre),
        Some("earth") => Ok(ModelWinds::Earth(granted.source().winds())),
        Some(got) => {
            Err(ApiError::BadRequest(format!("winds must be grid or earth; got \"{got}\"")))
        }
    }
}

/// The products that an answer is made of: of a wind that is turned, both components.
fn used_products<'a>(
    granted: Granted<'a>,
    winds: ModelWinds<'_>,
    fields: &[&'a str],
) -> Vec<&'a str> {
    let mut used = fields.to_vec();
    if winds != ModelWinds::AsTheyAre {
        let both = fields.iter().filter_map(|field| granted.source().wind_of(field));
        used.extend(both.flat_map(|(_, both)| both));
    }
    used
}

fn nearest(run: &GridRun, at: LonLat) -> Result<(usize, usize), ApiError> {
    run.grid().nearest(at).map_err(ApiError::of)
}

/// A request as far as caches are concerned.
struct Asked {
    uri: Uri,
    headers: HeaderMap,
}

impl<S: Sync> FromRequestParts<S> for Asked {
    type Rejection = Infallible;
    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(Self { uri: parts.uri.clone(), headers: parts.headers.clone() })
    }
}

impl Asked {
    /// Answers with a value, or with nothing to who has it already.
    fn json(&self, lasting: &Lasting, value: &impl Serialize) -> Result<Response, ApiError> {
        let encoding = Accepted::of(&self.headers).fastest();
        lasting.answer(self, encoding, || {
            let body = serde_json::to_vec(value).map_err(ApiError::internal)?;
            let body = Compressor::encode(encoding, Effort::Fastest, &body);
            Ok(json(encoding, body.map_err(ApiError::internal)?))
        })
    }
}

/// An answer that is the caller's own.
fn not_stored(mut response: Response) -> Response {
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// An answer that changes when a run comes: it is asked for again.
fn asked_again(granted: Granted<'_>, mut response: Response) -> Response {
    let is_open = granted.source().access().is_open();
    let cache_control = if is_open { "no-cache" } else { "private, no-cache" };
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static(cache_control));
    response
}
