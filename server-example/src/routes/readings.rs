//! `/stations/readings`: snapshots and grids of readings.

use std::collections::HashMap;
use std::str::FromStr;
use std::sync::Arc;

use axum::extract::State as Shared;
use axum::response::Response;
use axum::routing::{get, post};
use mesonet::access::check_lookback;
use mesonet::query::json::ReadingsWriter;
use mesonet::query::{AnswerReading, Away, Readings, ReadingsQuery, Scope, readings};
use mesonet::time::{HOUR_MS, parse_max_age};
use mesonet::{ClosedWindow, StationId, Step, Variable};
use serde::Deserialize;
use utoipa::ToSchema;

use super::filter::{FILTER, matching, station_ids};
use super::parameters::{END, START};
use crate::auth::access::Caller;
use crate::http::damage::with_header;
use crate::http::encoding::{Accepted, Encoding};
use crate::http::error::ApiError;
use crate::http::extract::{JsonBody, Query};
use crate::http::member::{Member, MemberKind};
use crate::http::parameter::{Form, Parameter, join};
use crate::http::snapshot::json;
use crate::http::stream;
use crate::http::stream::{BodyWriter, Pieces};
use crate::http::work::{Cost, Load};
use crate::limits::ClientAddr;
use crate::openapi::{About, Tag};
use crate::routes::Endpoint;
use crate::state::State;

/// The window of a request without a start.
const DEFAULT_WINDOW_MS: i64 = 12 * HOUR_MS;

const WINDOW: &str = "By default the window ends now and starts 12 hours before its end. Its length \
     and how far back it ends are limited by plan.";

/// Readings that can be scanned, and columns that can be written, within a millisecond.
const QUICK: (usize, usize) = (10_000, 1_000);

/// Readings that can be scanned within a few milliseconds.
const LIGHT_READINGS: usize = 20_000;

const STEP: Parameter = Parameter::new(
    "step",
    Form::Whole(1, i32::MAX as i64),
    "Spacing of the grid in minutes; without it, the latest reading of each series. A whole multiple \
     is used where the answer would be too large.",
)
.example("60");

/// The variables of readings.
pub const NAMES: Parameter = Parameter::new(
    "names",
    Form::Variables,
    "Names of variables, repeated or comma-separated; by default those of the map.",
)
.example("airTemperature,mslp");

const MAX_AGE: Parameter = Parameter::new(
    "maxAge",
    Form::Matching("^[0-9]*[1-9][0-9]*[dhm]$"),
    "Grid only: no reading fills a cell that is older than this.",
)
.example("90m");

/// The parameters of both forms.
const WINDOWED: [Parameter; 5] = [START, END, STEP, NAMES, MAX_AGE];

pub const ENDPOINTS: &[Endpoint] = &[
    Endpoint {
        method: "GET",
        path: "/stations/readings",
        query: &join::<5, 16, 21>(WINDOWED, FILTER),
        body: &[],
        handler: || get(of_box),
        about: || {
            About::new("getReadings", Tag::Observations, "Readings of the stations that match")
                .text(WINDOW)
                .json::<Readings>("Readings by station.")
                .cached("`no-cache`")
        },
    },
    Endpoint {
        method: "POST",
        path: "/stations/readings",
        query: &WINDOWED,
        body: &[Member::required("stationIds", MemberKind::Texts)],
        handler: || post(of_stations),
        about: || {
            About::new("getReadingsOfStations", Tag::Observations, "Readings of named stations")
                .text(WINDOW)
                .json_body::<StationIds>(serde_json::json!({
                    "stationIds": ["700f7e18-e84e-51b2-90bd-f054766d1ec5"],
                }))
                .json::<Readings>("Readings by station.")
                .cached("`no-cache`")
        },
    },
];

async fn of_box(
    Shared(state): Shared<Arc<State>>,
    caller: Caller,
    client_addr: ClientAddr,
    query: Query,
    accepted: Accepted,
) -> Result<Response, ApiError> {
    let (scope, away) = matching(&state, &query)?;
    let query = readings_query(&state, &caller, &query, scope)?;
    answer(state, client_addr, query, away, accepted.fastest()).await
}

/// The stations whose readings are wanted. Unknown ones are left out.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ReadingsRequest)]
struct StationIds {
    /// Any ids of the stations.
    #[schema(max_items = 5000)]
    station_ids: Vec<String>,
}

/// This form has no parameter for a box, so a box is ignored like any unknown parameter. The
/// stations are those of the body.
async fn of_stations(
    Shared(state): Shared<Arc<State>>,
    caller: Caller,
    client_addr: ClientAddr,
    query: Query,
    accepted: Accepted,
    JsonBody(body): JsonBody<StationIds>,
) -> Result<Response, ApiError> {
    let ids = station_ids(&state, body.station_ids.iter().map(String::as_str))?;
    let query = readings_query(&state, &caller, &query, Scope::Stations(ids))?;
    answer(state, client_addr, query, HashMap::new(), accepted.fastest()).await
}

/// Reads and checks the parameters that both forms have.
fn readings_query(
    state: &State,
    caller: &Caller,
    query: &Query,
    scope: Scope,
) -> Result<ReadingsQuery, ApiError> {
    let now_ms = state.clock.now_ms();
    let end_ms = query.instant("end")?.unwrap_or(now_ms);
    let start_ms = query.instant("start")?;
    let start_ms = start_ms.unwrap_or_else(|| end_ms.saturating_sub(DEFAULT_WINDOW_MS));
    let window = ClosedWindow::new(start_ms, end_ms)?;
    check_lookback(window, now_ms, caller.plan)?;
    Ok(ReadingsQuery::new(window, names(query)?)
        .scope(scope)
        .step(query.read("step", Step::from_str)?)
        .max_age_ms(query.read("maxAge", parse_max_age)?))
}

/// Reads the names, repeated or comma-separated; by default those of the map.
pub fn names(query: &Query) -> Result<Vec<Variable>, ApiError> {
    let names = query.all("names").flat_map(|list| list.split(','));
    let names: Vec<Variable> = names.map(|name| name.trim().parse()).collect::<Result<_, _>>()?;
    Ok(if names.is_empty() { Variable::map_variables().collect() } else { names })
}

/// Answers a checked request.
async fn answer(
    state: Arc<State>,
    client_addr: ClientAddr,
    query: ReadingsQuery,
    away: HashMap<StationId, Away>,
    encoding: Encoding,
) -> Result<Response, ApiError> {
    let cost = cost(&state, &query)?;
    let workers = Arc::clone(&state.workers);
    let begin = move || {
        let caps = state.config().caps();
        let (answer, damaged) = state.services.read(|store| readings(store, &query, caps))?;
        let pieces = Pieces::new(ReadingsWriter::new(answer).with_distances(away), encoding)?;
        Ok((damaged, pieces))
    };
    let (damaged, body) = stream::body(workers, client_addr, cost, begin).await?;
    Ok(with_header(Ok(json(encoding, body)), damaged))
}

/// Estimates the cost from the requested stations, names and positions.
fn cost(state: &State, query: &ReadingsQuery) -> Result<Cost, ApiError> {
    let directory = state.services.store.directory()?;
    let stations = match &query.scope {
        Scope::Everywhere => directory.stations.len(),
        Scope::Box(bbox) => directory.index.in_box(*bbox).count(),
        Scope::Stations(ids) => ids.len(),
    };
    let columns = stations * query.names.len().min(Variable::ALL.len());
    let span_ms = query.window.span_ms();
    let caps = state.config().caps();
    let at_most = |count: i64, most: u64| u64::try_from(count).unwrap_or(0).min(most) as usize;
    let positions =
        query.step.map_or(1, |step| at_most(span_ms / step.ms().max(1) + 1, caps.positions));
    let hours = usize::try_from(span_ms / HOUR_MS).unwrap_or(usize::MAX);
    let (scanned, written) =
        (columns.saturating_mul(positions.max(hours)), columns.saturating_mul(positions));
    let load = if scanned <= QUICK.0 && written <= QUICK.1 && state.services.is_on_disk() {
        Load::Quick
    } else if scanned <= LIGHT_READINGS {
        Load::Light
    } else {
        Load::Heavy
    };
    let cells = columns.saturating_mul(positions).min(at_most(i64::MAX, caps.cells));
    // A growing array is in memory twice.
    Ok(Cost { load, bytes: cells * size_of::<AnswerReading>() * 2 + stream::STREAM_BYTES })
}

impl BodyWriter for ReadingsWriter {
    fn held_bytes(&self) -> usize {
        self.held_bytes()
    }

    fn write(&mut self, text: &mut Vec<u8>, until_bytes: usize) -> Result<bool, ApiError> {
        self.write(text, until_bytes).map_err(ApiError::internal)
    }
}

#[cfg(test)]
#[path = "readings_tests.rs"]
mod tests;
