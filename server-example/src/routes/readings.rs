//! `/stations/readings`: snapshots and grids of readings.

use std::collections::HashMap;
use std::str::FromStr;
use std::sync::Arc;

use axum::extract::State as Shared;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::Response;
use axum::routing::{get, post};
use mesonet::query::json::{FeaturesWriter, ReadingsWriter};
use mesonet::query::{AnswerReading, Away, Readings, ReadingsQuery, Scope, readings};
use mesonet::time::{HOUR_MS, parse_max_age};
use mesonet::{StationId, Step, Variable};
use serde::Deserialize;
use utoipa::ToSchema;

use super::filter::{FILTER, matching, station_count, station_ids};
use super::form::{FORM, Format, RequestedForm, format};
use super::parameters::{END, START};
use super::window;
use crate::auth::access::Caller;
use crate::http::damage::with_header;
use crate::http::encoding::{AcceptedEncodings, Encoding};
use crate::http::error::ApiError;
use crate::http::extract::{Headers, JsonBody, Query};
use crate::http::member::{Member, MemberKind};
use crate::http::parameter::{Form, Parameter, join};
use crate::http::snapshot::json;
use crate::http::stream::{self, BodyWriter, Pieces};
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

/// The formats of readings.
const FORMATS: [Format; 2] = [("json", "application/json"), ("geojson", "application/geo+json")];

const FORMAT: Parameter = Parameter::new(
    "format",
    Form::OneOf(&["json", "geojson"]),
    "The format, before what is accepted. `geojson` is `application/geo+json`: a Feature for each \
     station, with its latest values; not with `step`. It is not described here, so that clients made \
     from this document expect JSON.",
)
.default("json");

/// The parameters of both methods.
const WINDOWED: [Parameter; 9] =
    join([START, END, STEP, NAMES, MAX_AGE], join::<3, 1, 4>(FORM, [FORMAT]));

pub const ENDPOINTS: &[Endpoint] = &[
    Endpoint::get("/stations/readings", || get(of_box))
        .query(&join::<9, 16, 25>(WINDOWED, FILTER))
        .about(|| {
            About::new("getReadings", Tag::Observations, "Readings of the stations that match")
                .text(WINDOW)
                .json::<Readings>("Readings by station.")
                .cached("`no-cache`")
        }),
    Endpoint::post("/stations/readings", || post(of_stations))
        .query(&WINDOWED)
        .body(&[Member::required("stationIds", MemberKind::Texts)])
        .about(|| {
            About::new("getReadingsOfStations", Tag::Observations, "Readings of named stations")
                .text(WINDOW)
                .json_body::<StationIds>(serde_json::json!({
                    "stationIds": ["700f7e18-e84e-51b2-90bd-f054766d1ec5"],
                }))
                .json::<Readings>("Readings by station.")
                .cached("`no-cache`")
        }),
];

async fn of_box(
    Shared(state): Shared<Arc<State>>,
    caller: Caller,
    client_addr: ClientAddr,
    query: Query,
    accepted: AcceptedEncodings,
    Headers(headers): Headers,
) -> Result<Response, ApiError> {
    let shape = shape(&state, &query, &headers)?;
    let (scope, away) = matching(&state, &query)?;
    let query = readings_query(&state, &caller, &query, scope)?;
    answer(state, client_addr, query, away, shape, accepted.fastest()).await
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
    accepted: AcceptedEncodings,
    headers: HeaderMap,
    JsonBody(body): JsonBody<StationIds>,
) -> Result<Response, ApiError> {
    let shape = shape(&state, &query, &headers)?;
    let ids = station_ids(&state, body.station_ids.iter().map(String::as_str))?;
    let query = readings_query(&state, &caller, &query, Scope::Stations(ids))?;
    answer(state, client_addr, query, HashMap::new(), shape, accepted.fastest()).await
}

/// Reads and checks the parameters that both forms have.
fn readings_query(
    state: &State,
    caller: &Caller,
    query: &Query,
    scope: Scope,
) -> Result<ReadingsQuery, ApiError> {
    let window = window::or_last(DEFAULT_WINDOW_MS, state, caller, query)?;
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

/// How readings are written.
#[derive(Default)]
struct Shape {
    form: RequestedForm,
    is_geojson: bool,
}

/// Reads the parameters of the form.
fn shape(state: &State, query: &Query, headers: &HeaderMap) -> Result<Shape, ApiError> {
    let is_geojson = format(query, headers, &FORMATS)? == 1;
    if is_geojson && query.one("step")?.is_some() {
        let text = "format=geojson has the latest values; step cannot be given with it";
        return Err(ApiError::BadRequest(text.to_owned()));
    }
    Ok(Shape { form: RequestedForm::of(state, query)?, is_geojson })
}

/// Answers a checked request.
async fn answer(
    state: Arc<State>,
    client_addr: ClientAddr,
    query: ReadingsQuery,
    away: HashMap<StationId, Away>,
    shape: Shape,
    encoding: Encoding,
) -> Result<Response, ApiError> {
    let cost = cost(&state, &query)?;
    let workers = Arc::clone(&state.workers);
    let is_geojson = shape.is_geojson;
    let begin = move || {
        let caps = state.config().caps();
        let (answer, damaged) = state.services.read(|store| readings(store, &query, caps))?;
        let form = shape.form.form(&state)?;
        let writer = if is_geojson {
            let directory = state.services.store.directory()?;
            let writer = FeaturesWriter::new(answer, directory, query.window.end_ms(), form);
            AnswerWriter::Features(Box::new(writer.with_distances(away)))
        } else {
            let writer = ReadingsWriter::new(answer).with_distances(away);
            AnswerWriter::Readings(Box::new(if form.is_empty() {
                writer
            } else {
                writer.in_form(form)
            }))
        };
        Ok((damaged, Pieces::new(writer, encoding)?))
    };
    let (damaged, body) = stream::body(workers, client_addr, cost, begin).await?;
    let mut answer = json(encoding, body);
    if is_geojson {
        let headers = answer.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(FORMATS[1].1));
        headers.insert(header::VARY, HeaderValue::from_static("accept, accept-encoding"));
    }
    Ok(with_header(Ok(answer), damaged))
}

/// An answer that is being written.
enum AnswerWriter {
    Readings(Box<ReadingsWriter>),
    Features(Box<FeaturesWriter>),
}

/// Estimates the cost from the requested stations, names and positions.
fn cost(state: &State, query: &ReadingsQuery) -> Result<Cost, ApiError> {
    let stations = station_count(state, &query.scope)?;
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

impl BodyWriter for AnswerWriter {
    fn held_bytes(&self) -> usize {
        match self {
            Self::Readings(writer) => writer.held_bytes(),
            Self::Features(writer) => writer.held_bytes(),
        }
    }

    fn write(&mut self, text: &mut Vec<u8>, until_bytes: usize) -> Result<bool, ApiError> {
        let done = match self {
            Self::Readings(writer) => writer.write(text, until_bytes),
            Self::Features(writer) => writer.write(text, until_bytes),
        };
        done.map_err(ApiError::internal)
    }
}

#[cfg(test)]
#[path = "readings_tests.rs"]
mod tests;
