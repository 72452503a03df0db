//! `/models/{model}/products/{name}/data/{z}/{x}/{y}`: packed tiles of a map.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{Path, State as Shared};
use axum::http::{HeaderValue, header};
use axum::response::Response;
use axum::routing::get;
use mesonet::access::ModelUse;
use mesonet::grid::{MAX_TILE_ZOOM, TileAddress};
use mesonet::model::{self, ProductDefinition, SourceProduct};
use serde::Deserialize;

use super::lasting::CacheLifetime;
use super::parameters::{HOUR, LASTING, LEVEL, LEVEL_HPA, MEMBER, MODEL, RUN, VALID};
use super::{ModelRequest, RequestedRun, level, member};
use crate::http::encoding::{Compressor, Effort, Encoding};
use crate::http::error::ApiError;
use crate::http::extract::{Query, digits};
use crate::http::parameter::{Form, Parameter};
use crate::http::snapshot::json;
use crate::http::work::Cost;
use crate::limits::ClientAddr;
use crate::openapi::{About, Tag};
use crate::routes::Endpoint;
use crate::state::State;

pub const ENDPOINTS: &[Endpoint] =
    &[Endpoint::get("/models/{model}/products/{name}/data/{z}/{x}/{y}", || get(tile))
        .query(&[RUN, VALID, HOUR, LEVEL, LEVEL_HPA, MEMBER])
        .about(|| {
            About::new("getModelTile", Tag::Models, "A tile of a map")
                .text(
                    "256 rows of 256 signed integers of 16 bits, little-endian; the value is raw · \
                     scale + offset, and missing if raw is nodata. Beyond the grid all are missing.",
                )
                .path(&[MODEL, NAME, ZOOM, X, Y])
                .bytes("application/octet-stream", "The tile.")
                .cached(LASTING)
                .tagged()
        })];

const NAME: Parameter =
    Parameter::new("name", Form::Text(64), "Name of the product.").example("temperature_2m");
const ZOOM: Parameter =
    Parameter::new("z", Form::Whole(0, MAX_TILE_ZOOM as i64), "Zoom of the Web Mercator tile.")
        .example("3");
const X: Parameter =
    Parameter::new("x", Form::Whole(0, MAX_TILE), "Column, below 2 to the power of z.")
        .example("1");
const Y: Parameter =
    Parameter::new("y", Form::Whole(0, MAX_TILE), "Row, below 2 to the power of z.").example("2");
const MAX_TILE: i64 = (1 << MAX_TILE_ZOOM) - 1;

#[derive(Deserialize)]
struct Address {
    name: String,
    z: String,
    x: String,
    y: String,
}

async fn tile(
    Shared(state): Shared<Arc<State>>,
    client_addr: ClientAddr,
    Path(address): Path<Address>,
    request: ModelRequest,
) -> Result<Response, ApiError> {
    let asked = Arc::new((address, request));
    // What is kept, and what the caller has already, is answered where the request is served.
    let again = Arc::clone(&asked);
    let kept = state.read_models(move |state| answer(state, &again, Make::No)).await??;
    if let Some(kept) = kept {
        return Ok(kept);
    }
    let made = move |state: &State| {
        let answer = answer(state, &asked, Make::Yes)?;
        answer.ok_or_else(|| ApiError::Internal("a tile was not made".to_owned()))
    };
    state.answer(client_addr, Cost::LIGHT, made).await
}

/// Whether a tile is made if it is not kept.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Make {
    Yes,
    No,
}

/// Answers, unless the tile would have to be made and must not be.
fn answer(
    state: &State,
    (address, request): &(Address, ModelRequest),
    make: Make,
) -> Result<Option<Response>, ApiError> {
    let Address { name, z, x, y } = address;
    let granted = request.granted(ModelUse::Tiles, [&**name])?;
    let asked_run = RequestedRun::new(state, granted, &request.query, &[name])?;
    let run = &*asked_run.run;
    let member = member(&request.query)?;
    // The product is part of the path.
    run.product_of(name, None).map_err(|error| ApiError::NotFound(error.to_string()))?;
    let product = run.product_of(name, member)?;
    let address = TileAddress::new(number(z)?, number(x)?, number(y)?)?;
    let source = granted.source();
    let wind = source.wind_of(name);
    // The catalogue may have changed since the run was made.
    let sampling = source.product(name).map(SourceProduct::sampling).unwrap_or_default();
    let asked = model::TileQuery::new(asked_run.hour(&request.query)?, name, address)
        .level(tile_level(&request.query, product.definition())?)
        .member(member)
        .sampling(sampling)
        .wind(wind);
    let used: &[&str] = match &wind {
        Some((_, both)) if run.definition().grid.grid_relative_winds => both,
        _ => &[name],
    };
    let lasting = CacheLifetime::at_hour(granted, run, asked.hour, used).of_run(&asked_run);
    check(run, &asked)?;
    let encoding = request.accepted().fastest();
    let mut is_answered = true;
    let response = lasting.answer(request, encoding, |etag| {
        let body = match state.tiles.body(etag) {
            Some(body) => body,
            None if make == Make::No => {
                is_answered = false;
                Bytes::new()
            }
            None => {
                let plan = state.tiles.plan(run.grid(), address, sampling);
                let raw = model::planned_tile(run, &asked, &plan)?;
                let body = encoded(&raw, encoding)?;
                if lasting.is_final {
                    state.tiles.keep(etag, &body);
                }
                body
            }
        };
        let mut response = json(encoding, body);
        let octets = HeaderValue::from_static("application/octet-stream");
        response.headers_mut().insert(header::CONTENT_TYPE, octets);
        Ok(response)
    })?;
    Ok(is_answered.then_some(response))
}

/// The bytes of a tile in an encoding.
fn encoded(raw: &[i16], encoding: Encoding) -> Result<Bytes, ApiError> {
    let pairs: Vec<[u8; 2]> = raw.iter().map(|raw| raw.to_le_bytes()).collect();
    let body = Compressor::encode(encoding, Effort::Fastest, pairs.as_flattened());
    Ok(body.map_err(ApiError::internal)?.into())
}

fn number(text: &str) -> Result<u32, ApiError> {
    digits(text).ok_or_else(|| {
        ApiError::BadRequest(format!(
            "a tile is data/z/x/y with non-negative integers; got \"{text}\""
        ))
    })
}

/// Returns the level: the given one if there are several.
fn tile_level(query: &Query, product: &ProductDefinition) -> Result<usize, ApiError> {
    let (index, hpa) = level(query)?;
    match (product.level(index, hpa)?, product.levels_hpa.as_deref()) {
        (_, Some([_])) if hpa.is_none() => Ok(0),
        (Some(level), _) => Ok(level),
        (None, levels) => Err(ApiError::BadRequest(format!(
            "level is required: an index into levels_hpa, 0 to {}, or level_hpa",
            levels.map_or(0, |levels| levels.len() - 1)
        ))),
    }
}

/// Refuses an hour or level that the run does not have, even if the caller has the tile already.
fn check(run: &model::Run, asked: &model::TileQuery<'_>) -> Result<(), ApiError> {
    let product = run.product_of(asked.product, asked.member)?;
    Ok(product.part_into(asked.hour, asked.level, 0..0, 0..0, &mut [])?)
}

#[cfg(test)]
mod tests {
    use mesonet::model;

    use super::*;

    #[test]
    fn a_store_that_fails_is_the_servers_own_fault() {
        let damaged =
            model::RunStoreError::Damaged { file: "shard".to_owned(), cause: "cut".to_owned() };
        assert!(matches!(ApiError::from(damaged), ApiError::Refused(status, _) if status == 503));
        let cause = "the disk refuses".to_owned();
        let storage = model::RunStoreError::Storage { path: "shard".to_owned(), cause };
        assert!(matches!(ApiError::from(storage), ApiError::Internal(_)));
    }
}
