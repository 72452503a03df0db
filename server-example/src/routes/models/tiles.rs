//! `/models/{model}/products/{name}/data/{z}/{x}/{y}`: packed tiles of a map.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Path, State as Shared};
use axum::http::{HeaderValue, header};
use axum::response::Response;
use axum::routing::get;
use mesonet::{Error, GridRun, ModelTileQuery, ModelUse, SourceProduct, TileAddress, model_tile};
use serde::Deserialize;

use super::lasting::Lasting;
use super::{Asked, needed_index, run};
use crate::access::{Caller, Granted};
use crate::door::Party;
use crate::encoding::{Accepted, Compressor, Effort};
use crate::error::ApiError;
use crate::extract::Query;
use crate::snapshot::json;
use crate::state::State;
use crate::work::Cost;

pub fn router() -> Router<Arc<State>> {
    Router::new().route("/models/{model}/products/{name}/data/{z}/{x}/{y}", get(tile))
}

#[derive(Deserialize)]
struct Address {
    model: String,
    name: String,
    z: String,
    x: String,
    y: String,
}

async fn tile(
    Shared(state): Shared<Arc<State>>,
    party: Party,
    Path(address): Path<Address>,
    caller: Caller,
    query: Query,
    asked_for: Asked,
) -> Result<Response, ApiError> {
    let answer = move |state: &State| {
        let Address { model, name, z, x, y } = &address;
        let granted = Granted::new(state, caller, model, ModelUse::Tiles, [&**name])?;
        let run = run(state, granted, &query)?;
        let product = run.product(name).map_err(|error| ApiError::NotFound(error.to_string()))?;
        let address = TileAddress::new(number(z)?, number(x)?, number(y)?).map_err(ApiError::of)?;
        let source = granted.source();
        let wind = source.wind_of(name);
        let asked = ModelTileQuery {
            hour: needed_index(&query, "hour")?,
            product: name,
            level: level(&query, product.definition().levels_hpa.as_deref())?,
            address,
            // The catalogue may have been changed since the run was made.
            sampling: source.product(name).map(SourceProduct::sampling).unwrap_or_default(),
            wind,
        };
        let used: &[&str] = match &wind {
            Some((_, both)) if run.definition().grid.grid_relative_winds => both,
            _ => &[name],
        };
        let lasting = Lasting::at_hour(granted, &run, asked.hour, used);
        check(&run, &asked)?;
        let encoding = Accepted::of(&asked_for.headers).fastest();
        lasting.answer(&asked_for, encoding, || {
            let raw = model_tile(&run, &asked).map_err(refused)?;
            let bytes: Vec<u8> = raw.into_iter().flat_map(i16::to_le_bytes).collect();
            let body = Compressor::encode(encoding, Effort::Fastest, &bytes);
            let mut response = json(encoding, body.map_err(ApiError::internal)?);
            let octets = HeaderValue::from_static("application/octet-stream");
            response.headers_mut().insert(header::CONTENT_TYPE, octets);
            Ok(response)
        })
    };
    state.answer(party, Cost::LIGHT, answer).await
}

fn number(text: &str) -> Result<u32, ApiError> {
    let is_plain = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| is_plain).ok_or_else(|| {
        ApiError::BadRequest(format!(
            "a tile is data/z/x/y of whole numbers from 0 on; got \"{text}\""
        ))
    })
}

/// The level that is meant: the one that is given where there are several.
fn level(query: &Query, levels_hpa: Option<&[f64]>) -> Result<usize, ApiError> {
    match (query.index("level")?, levels_hpa) {
        (_, None | Some([_])) => Ok(0),
        (Some(level), Some(_)) => Ok(level),
        (None, Some(levels)) => Err(ApiError::BadRequest(format!(
            "level is needed: an index into levels_hpa, 0 to {}",
            levels.len() - 1
        ))),
    }
}

/// Refuses an hour and level that the run does not have, also for who has the tile already.
fn check(run: &GridRun, asked: &ModelTileQuery<'_>) -> Result<(), ApiError> {
    let product = run.product(asked.product)?;
    Ok(product.part_into(asked.hour, asked.level, 0..0, 0..0, &mut [])?)
}

fn refused(error: Error) -> ApiError {
    match error {
        Error::GridStore(error) => error.into(),
        error => ApiError::of(error),
    }
}

#[cfg(test)]
mod tests {
    use mesonet::GridStoreError;

    use super::*;

    #[test]
    fn a_store_that_fails_is_the_servers_own_fault() {
        let damaged = GridStoreError::Damaged { file: "shard".to_owned(), cause: "cut".to_owned() };
        assert!(matches!(refused(damaged.into()), ApiError::Refused(status, _) if status == 503));
        let cause = "the disk refuses".to_owned();
        let storage = GridStoreError::Storage { path: "shard".to_owned(), cause };
        assert!(matches!(refused(storage.into()), ApiError::Internal(_)));
    }
}
