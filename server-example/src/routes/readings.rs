//! `/stations/readings`: snapshots and grids of readings.

use std::collections::BTreeSet;
use std::io;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State as Shared;
use axum::response::Response;
use axum::routing::get;
use futures_util::stream;
use mesonet::{
    BBox, ClosedWindow, HOUR_MS, ReadingsQuery, Scope, StationId, Step, Variable, check_lookback,
    parse_max_age, readings,
};
use serde::Deserialize;
use tokio::sync::{OwnedSemaphorePermit, mpsc};

use crate::encoding::{Accepted, Compressor, Effort, Encoding};
use crate::error::ApiError;
use crate::extract::{JsonBody, Query};
use crate::readings_json::ReadingsWriter;
use crate::snapshot::json;
use crate::state::State;

/// The window of a request that has no start.
const DEFAULT_WINDOW_MS: i64 = 12 * HOUR_MS;

/// Text that is written at once. An answer of up to that length is sent with its length, a longer
/// one in pieces.
const PIECE_BYTES: usize = 256 * 1024;

/// Pieces that wait for the network.
const PIECES_AHEAD: usize = 2;

/// How long a caller may take for a piece before the answer is broken off, so that callers who do
/// not read cannot hold the memory of their answers.
const PIECE_PATIENCE: Duration = Duration::from_secs(60);

pub fn router() -> Router<Arc<State>> {
    Router::new().route("/stations/readings", get(of_box).post(of_stations))
}

async fn of_box(
    Shared(state): Shared<Arc<State>>,
    query: Query,
    accepted: Accepted,
) -> Result<Response, ApiError> {
    let scope = bbox(&query)?.map_or(Scope::Everywhere, Scope::Box);
    let query = readings_query(&state, &query, scope)?;
    answer(state, query, accepted.fastest()).await
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct StationIds {
    station_ids: Vec<String>,
}

/// A box is no parameter of this form: like any other that is unknown it is ignored, and the
/// stations are those of the body.
async fn of_stations(
    Shared(state): Shared<Arc<State>>,
    query: Query,
    accepted: Accepted,
    JsonBody(StationIds { station_ids }): JsonBody<StationIds>,
) -> Result<Response, ApiError> {
    let ids: BTreeSet<StationId> =
        station_ids.iter().map(|id| id.parse()).collect::<Result<_, _>>().map_err(ApiError::of)?;
    let limit = state.config().max_station_ids;
    if ids.len() > limit {
        return Err(ApiError::BadRequest(format!(
            "stationIds holds {} different ids; allowed are up to {limit}",
            ids.len()
        )));
    }
    let query = readings_query(&state, &query, Scope::Stations(ids.into_iter().collect()))?;
    answer(state, query, accepted.fastest()).await
}

/// Reads and checks what both forms have in common.
fn readings_query(state: &State, query: &Query, scope: Scope) -> Result<ReadingsQuery, ApiError> {
    let now_ms = state.now_ms();
    let end_ms = query.instant("end")?.unwrap_or(now_ms);
    let start_ms = query.instant("start")?;
    let start_ms = start_ms.unwrap_or_else(|| end_ms.saturating_sub(DEFAULT_WINDOW_MS));
    let window = ClosedWindow::new(start_ms, end_ms).map_err(ApiError::of)?;
    check_lookback(window, now_ms, state.config().assume_plan).map_err(ApiError::of)?;
    Ok(ReadingsQuery {
        window,
        scope,
        names: names(query)?,
        step: query.read("step", Step::from_str)?,
        max_age_ms: query.read("maxAge", parse_max_age)?,
    })
}

/// The names, repeated or comma-separated; without any those of the map.
fn names(query: &Query) -> Result<Vec<Variable>, ApiError> {
    let names = query.all("names").flat_map(|list| list.split(',')).map(str::parse);
    let names: Vec<Variable> = names.collect::<Result<_, _>>().map_err(ApiError::of)?;
    Ok(if names.is_empty() { Variable::map_variables().collect() } else { names })
}

fn bbox(query: &Query) -> Result<Option<BBox>, ApiError> {
    const SIDES: [&str; 4] = ["minLat", "minLon", "maxLat", "maxLon"];
    let mut sides = [None; 4];
    for (side, name) in sides.iter_mut().zip(SIDES) {
        *side = query.number(name)?;
    }
    match sides {
        [None, None, None, None] => Ok(None),
        [Some(min_lat), Some(min_lon), Some(max_lat), Some(max_lon)] => {
            BBox::new(min_lon, min_lat, max_lon, max_lat).map(Some).map_err(ApiError::of)
        }
        _ => {
            let given = SIDES.into_iter().zip(sides).filter(|(_, side)| side.is_some());
            let given: Vec<&str> = given.map(|(name, _)| name).collect();
            Err(ApiError::BadRequest(format!(
                "a box needs all of {}; got only {}",
                SIDES.join(", "),
                given.join(", ")
            )))
        }
    }
}

/// Answers a checked request. The first piece is made together with the query; where it is the
/// whole answer, as nearly always, that is all.
async fn answer(
    state: Arc<State>,
    query: ReadingsQuery,
    encoding: Encoding,
) -> Result<Response, ApiError> {
    let slot = state.answer_slot().await?;
    let first = state.work(move |state| {
        let answer =
            readings(state.store(), &query, state.config().caps()).map_err(ApiError::of)?;
        let compressor = Compressor::new(encoding, Effort::Fastest).map_err(ApiError::internal)?;
        Pieces { writer: ReadingsWriter::new(answer), compressor }
            .next()
            .map_err(ApiError::internal)
    });
    let (first, rest) = first.await??;
    Ok(match rest {
        None => json(encoding, first),
        Some(rest) => json(encoding, stream_body(state, first, rest, slot)),
    })
}

/// An answer that is written and compressed piece by piece.
struct Pieces {
    writer: ReadingsWriter,
    compressor: Compressor,
}

impl Pieces {
    /// The next piece, and what comes after it.
    fn next(mut self) -> io::Result<(Bytes, Option<Self>)> {
        let mut text = Vec::with_capacity(PIECE_BYTES + PIECE_BYTES / 16);
        let last = self.writer.write(&mut text, PIECE_BYTES)?;
        io::Write::write_all(&mut self.compressor, &text)?;
        Ok(if last {
            (self.compressor.finish()?.into(), None)
        } else {
            (self.compressor.take().into(), Some(self))
        })
    }
}

/// The body of a long answer. Only the pieces are made on a core's time: while the network is
/// slower than the cores, the answer waits without holding one. A caller who goes away, or does
/// not read for too long, ends the work.
fn stream_body(state: Arc<State>, first: Bytes, rest: Pieces, slot: OwnedSemaphorePermit) -> Body {
    let (sender, receiver) = mpsc::channel(PIECES_AHEAD);
    tokio::spawn(async move {
        let (mut piece, mut rest) = (first, Some(rest));
        while sender.send_timeout((piece, rest.is_none()), PIECE_PATIENCE).await.is_ok() {
            let Some(pieces) = rest else { break };
            let made = state.work(move |_| pieces.next()).await;
            match made.and_then(|made| made.map_err(ApiError::internal)) {
                Ok(next) => (piece, rest) = next,
                Err(error) => {
                    tracing::error!("a readings answer was broken off: {error:?}");
                    break;
                }
            }
        }
        drop(slot);
    });
    Body::from_stream(stream::unfold(Some(receiver), async |receiver| {
        let mut receiver: mpsc::Receiver<(Bytes, bool)> = receiver?;
        Some(match receiver.recv().await {
            Some((piece, last)) => (Ok(piece), (!last).then_some(receiver)),
            // The status is sent: breaking the connection is the only way left to say that the
            // answer is not whole.
            None => (Err(io::Error::other("the answer was broken off")), None),
        })
    }))
}

#[cfg(test)]
#[path = "readings_tests.rs"]
mod tests;
