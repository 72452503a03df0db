//! `/live`: what changes, as it changes, as server-sent events.

use std::convert::Infallible;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::State as Shared;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::Response;
use axum::routing::get;
use futures_util::stream;
use mesonet::access::ModelUse;
use mesonet::alert::Severity;
use mesonet::query::StationFilter;
use mesonet::{alert, model};

use super::alerts::{BBOX, CODES, LANG, PLACE, bbox, codes, language};
use super::filter::{FILTER, MAX_RADIUS_KM, STATION_IDS, named, near, station_properties};
use super::parameters::BOX;
use super::readings::{NAMES, names};
use crate::auth::access::{Caller, ModelPermission};
use crate::http::error::ApiError;
use crate::http::extract::Query;
use crate::http::parameter::{Form, Parameter, join};
use crate::limits::ClientAddr;
use crate::openapi::{About, Tag};
use crate::routes::Endpoint;
use crate::state::State;
use crate::state::live::{Events, Listener, ListenerFilter, ListenerStations, TooMany, TopicSet};

/// The media type of the HTML standard, 9.2.5.
const EVENT_STREAM: HeaderValue = HeaderValue::from_static("text/event-stream");

/// The header in which a client that comes back says where it was.
const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// Tells nginx, and proxies that do as it does, to pass each event on at once.
const ACCEL_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");

const WORD: &str = "^[a-z]+$";

/// Without it, the place is that of alerts only.
const RADIUS_KM: Parameter = Parameter::new(
    "radiusKm",
    Form::Number(0.0, MAX_RADIUS_KM),
    "With `lat` and `lon`: only readings and verdicts of stations at most this far from the place.",
);

/// What stations are like: the parameters of [`FILTER`] after `nearest`.
const OF_STATIONS: [Parameter; 8] = match FILTER.last_chunk() {
    Some(last) => *last,
    None => panic!(),
};

/// The parameters but those that say what stations are like.
const OWN: [Parameter; 15] = [
    Parameter::new(
        "topics",
        Form::List(WORD, 1, Some(Events::ALL.len())),
        "Which events: readings, verdicts, alerts, runs, products, feeds, comma-separated; by default \
         all.",
    ),
    BOX[0],
    BOX[1],
    BOX[2],
    BOX[3],
    BBOX,
    PLACE[0],
    PLACE[1],
    RADIUS_KM,
    STATION_IDS,
    NAMES,
    CODES,
    Parameter::new(
        "severity",
        Form::List("^[A-Z][a-z]+$", 1, Some(SEVERITIES.len())),
        "Only alerts of these severities in CAP's words: Extreme, Severe, Moderate, Minor, Unknown.",
    ),
    LANG,
    Parameter::new(
        "lastEventId",
        Form::Text(64),
        "The id of the last event, for clients that cannot set the header `Last-Event-ID`, which \
             goes before it.",
    ),
];

/// What chooses stations in place of `stationIds`.
const BY_STATION: &[Parameter] =
    &join::<6, 8, 14>([BOX[0], BOX[1], BOX[2], BOX[3], BBOX, RADIUS_KM], OF_STATIONS);

const SEVERITIES: [Severity; 5] =
    [Severity::Extreme, Severity::Severe, Severity::Moderate, Severity::Minor, Severity::Unknown];

const TEXT: &str = "An event is sent once what it tells is durable. Its name is its topic: `readings` \
    (new or corrected readings, as `/stations/readings` gives them), `verdicts` (older readings with \
    another verdict, in the same form), `alerts` (an alert that came or whose state changed, as \
    `/alerts` gives it), `runs` (a model run with its published hours), `products` (a raster product), \
    `feeds` (a network that has become late or reports again, as `/feeds` gives it). \
    The first event is `position`, which only has an id. A client that comes back sends the id of the \
    last event that it got, and goes on after it. If that cannot be told, or if the client reads too \
    slowly, it gets `resync`, whose `reason` says why: it must fetch anew what it shows, and the \
    stream goes on. Readings that are further back than the plan of the caller reaches are left out. \
    The server ends each stream after an hour at the latest.";

const EXAMPLE: &str = "id: 7c9e6679f2a41d03-1041-0-17\n\
    event: readings\n\
    data: {\"stations\":{\"700f7e18-e84e-51b2-90bd-f054766d1ec5\":{\"readings\":[{\
    \"timestamp\":\"2024-08-03T21:00:00Z\",\"type\":\"airTemperature\",\"typeId\":1944015174,\
    \"value\":28.9,\"quality\":{\"baseQuality\":\"Good\",\"reasonQuality\":\"None\"}}]}}}\n\n";

pub const ENDPOINTS: &[Endpoint] = &[Endpoint::get("/live", || get(live))
    .query(&join::<15, 8, 23>(OWN, OF_STATIONS))
    .about(|| {
        About::new("listen", Tag::Live, "What changes, as it changes")
            .text(TEXT)
            .events(EXAMPLE)
            .cached("`no-store`")
    })];

async fn live(
    Shared(state): Shared<Arc<State>>,
    caller: Caller,
    client_addr: ClientAddr,
    query: Query,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let filter = filter(&state, &caller, &query)?;
    let last_id = match headers.get(LAST_EVENT_ID).map(HeaderValue::as_bytes) {
        Some(id) if !id.is_empty() => Some(String::from_utf8_lossy(id).into_owned()),
        _ => query.one("lastEventId")?.map(str::to_owned),
    };
    let listener = Listener::new(&state, client_addr, filter, last_id.as_deref());
    let listener = listener.map_err(|error| match error {
        TooMany::InAll(_) => ApiError::Later(error.to_string()),
        TooMany::OfClient(_) => ApiError::Refused(StatusCode::TOO_MANY_REQUESTS, error.to_string()),
    })?;
    let pieces = stream::unfold(listener, async |mut listener| {
        let piece = listener.next().await?;
        Some((Ok::<_, Infallible>(piece), listener))
    });
    let mut response = Response::new(Body::from_stream(pieces));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, EVENT_STREAM);
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(ACCEL_BUFFERING, HeaderValue::from_static("no"));
    Ok(response)
}

/// Reads what a caller wants to hear.
///
/// # Errors
/// A parameter is invalid.
pub(super) fn filter(
    state: &State,
    caller: &Caller,
    query: &Query,
) -> Result<ListenerFilter, ApiError> {
    let bbox = bbox(query)?;
    let stations = StationFilter {
        bbox,
        near: query.one("radiusKm")?.map_or(Ok(None), |_| near(query))?,
        ..station_properties(state, query)?
    };
    let topics = topics(query, state.services.change_log().is_some())?;
    let models = if topics.has(Events::Runs) { models(state, caller) } else { Vec::new() };
    Ok(ListenerFilter {
        topics,
        stations: named(state, query, BY_STATION)?
            .map_or(ListenerStations::Matching(stations), ListenerStations::Named),
        names: names(query)?,
        plan: caller.plan,
        alerts: alert::Query::default()
            .bbox(bbox)
            .at(query.place()?)
            .codes(codes(query)?)
            .severities(severities(query)?),
        language: language(query)?,
        models,
    })
}

/// Reads the topics, repeated or comma-separated; by default all that can be told.
fn topics(query: &Query, tells_batches: bool) -> Result<TopicSet, ApiError> {
    let of_batches = [Events::Readings, Events::Verdicts];
    let can_be_told = |events: &Events| tells_batches || !of_batches.contains(events);
    if query.all("topics").next().is_none() {
        return Ok(Events::ALL.into_iter().filter(can_be_told).collect());
    }
    let topics = words(query, "topics", Events::ALL, Events::name)?;
    match topics.iter().find(|events| !can_be_told(events)) {
        Some(events) => {
            let text = format!(
                "the record of this server does not tell its {} one by one; topics must be some of \
                 alerts, runs, products, feeds",
                events.name()
            );
            Err(ApiError::Refused(StatusCode::NOT_IMPLEMENTED, text))
        }
        None => Ok(topics.into_iter().collect()),
    }
}

fn severities(query: &Query) -> Result<Vec<Severity>, ApiError> {
    if query.all("severity").next().is_none() {
        return Ok(Vec::new());
    }
    let mut severities = words(query, "severity", SEVERITIES, Severity::name)?;
    severities.sort_unstable();
    severities.dedup();
    Ok(severities)
}

/// Reads a list of known words that is not empty.
fn words<T: Copy, const N: usize>(
    query: &Query,
    parameter: &str,
    known: [T; N],
    name: fn(T) -> &'static str,
) -> Result<Vec<T>, ApiError> {
    let allowed = || known.map(name).join(", ");
    let word = |text: &str| {
        let found = known.into_iter().find(|&word| name(word) == text);
        found.ok_or_else(|| {
            ApiError::BadRequest(format!(
                "{parameter} must be some of {}, comma-separated; got \"{text}\"",
                allowed()
            ))
        })
    };
    let words: Vec<T> = query.list(parameter).map(word).collect::<Result<_, _>>()?;
    if words.is_empty() {
        return Err(ApiError::BadRequest(format!(
            "{parameter} must be some of {}, comma-separated; got none",
            allowed()
        )));
    }
    Ok(words)
}

/// The models whose runs a caller may see, sorted.
fn models(state: &State, caller: &Caller) -> Vec<String> {
    let catalogue = state.services.models.catalogue();
    let names = catalogue.iter().map(model::Source::name);
    let mut models: Vec<String> = names
        .filter(|name| {
            ModelPermission::new(&catalogue, caller, name, ModelUse::Listing, []).is_ok()
        })
        .map(str::to_owned)
        .collect();
    models.sort_unstable();
    models
}
