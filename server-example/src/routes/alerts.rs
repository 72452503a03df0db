//! `/alerts`: official alerts with their current state.

use std::sync::Arc;

use axum::extract::State as Shared;
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::Response;
use axum::routing::get;
use mesonet::time::TimeError;
use mesonet::{BBox, Iso8601, alert, zone};

use super::parameters::{BOX, LATITUDE, LONGITUDE, ZONE_CODE};
use crate::http::REPLAY_ALERTS;
use crate::http::damage::with_header;
use crate::http::error::ApiError;
use crate::http::extract::Query;
use crate::http::parameter::{Form, Parameter};
use crate::http::snapshot::json_tagged;
use crate::http::work::{Cost, Load};
use crate::limits::ClientAddr;
use crate::openapi::{About, Alerts, Tag};
use crate::routes::Endpoint;
use crate::state::State;
use crate::state::alerts::Language;

/// Maximum number of codes in a request.
const MAX_CODES: usize = 2_000;

/// A number in the form in which it is read.
const NUMBER: &str = "^[-+]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][-+]?[0-9]+)?$";

/// A box, in the form that others use.
pub const BBOX: Parameter = Parameter::new(
    "bbox",
    Form::List(NUMBER, 4, Some(4)),
    "West, south, east, north, in place of the four sides.",
);

/// A place of alerts.
pub const PLACE: [Parameter; 2] = [
    Parameter::new("lat", LATITUDE, "With `lon`: only alerts for this place.").example("43.5"),
    Parameter::new("lon", LONGITUDE, "With `lat`.").example("-79.5"),
];

/// Zones of alerts.
pub const CODES: Parameter = Parameter::new(
    "codes",
    Form::List(ZONE_CODE, 1, Some(MAX_CODES)),
    "Only alerts for these zones.",
);

/// The language of alerts.
pub const LANG: Parameter =
    Parameter::new("lang", Form::OneOf(&["en", "fr"]), "Language of the texts.").default("en");

/// Assumed memory of an answer.
const USUAL_BYTES: usize = 8 << 20;

pub const ENDPOINTS: &[Endpoint] = &[Endpoint::get("/alerts", || get(alerts))
    .query(&[
        Parameter::new("start", Form::Instant, "Only alerts that last to this time or longer.")
            .example("2026-07-15T00:00:00Z"),
        Parameter::new("end", Form::Instant, "Only alerts that begin at this time or before.")
            .example("2026-08-31T00:00:00Z"),
        BBOX,
        BOX[0],
        BOX[1],
        BOX[2],
        BOX[3],
        PLACE[0],
        PLACE[1],
        CODES,
        Parameter::new("active", Form::Truth, "Only alerts that are active.").default("false"),
        LANG,
    ])
    .about(|| {
        About::new("getAlerts", Tag::Alerts, "Official alerts with their current state")
            .text("Filters must each be met by one of the areas of an alert.")
            .json::<Alerts>("The alerts, newest first.")
            .header(
                "X-Mesonet-Replay-Alerts",
                "In the demonstration, the times at which the alerts of each country are replayed.",
            )
            .header(
                "X-Mesonet-Damaged",
                "How many alerts are missing because they are damaged; absent if none is.",
            )
            .cached("`no-cache`")
            .tagged()
    })];

async fn alerts(
    Shared(state): Shared<Arc<State>>,
    client_addr: ClientAddr,
    query: Query,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let (query, language) = (alert_query(&query)?, language(&query)?);
    if state.services.alerts.failure().is_some() {
        // The cause is in the log.
        let text = "the alerts cannot be read at present".to_owned();
        return Err(ApiError::Refused(StatusCode::SERVICE_UNAVAILABLE, text));
    }
    let view = state
        .work(client_addr, Load::Light, State::alert_view)
        .await?
        .map_err(ApiError::internal)?;
    let feeds = replayed_at(&state);
    let mut response = if let Some(snapshot) = view.snapshot()
        && query == alert::Query::default()
        && language == Language::English
    {
        snapshot.answer(&headers)
    } else {
        let answer = move |_: &State| {
            let body = view.answer(&query, language).map_err(ApiError::internal)?;
            json_tagged(&headers, body)
        };
        state.answer(client_addr, Cost::heavy(USUAL_BYTES), answer).await?
    };
    response.headers_mut().extend(feeds.map(|feeds| (REPLAY_ALERTS, feeds)));
    Ok(with_header(Ok(response), state.services.alerts.damaged()))
}

/// The times at which the alerts of each country are replayed, if they differ from the time of the
/// server.
fn replayed_at(state: &State) -> Option<HeaderValue> {
    let second = |at_ms: i64| Iso8601(at_ms.div_euclid(1000) * 1000);
    let [canada, united_states] = state.clock.alerts().feeds_ms()?.map(second);
    HeaderValue::try_from(format!("Canada {canada}, United States {united_states}")).ok()
}

fn alert_query(query: &Query) -> Result<alert::Query, ApiError> {
    let (start_ms, end_ms) = (query.instant("start")?, query.instant("end")?);
    if let (Some(start_ms), Some(end_ms)) = (start_ms, end_ms)
        && start_ms >= end_ms
    {
        return Err(ApiError::from(TimeError::Order { start_ms, end_ms }));
    }
    Ok(alert::Query::default()
        .start_ms(start_ms)
        .end_ms(end_ms)
        .bbox(bbox(query)?)
        .at(query.place()?)
        .codes(codes(query)?)
        .is_active(query.truth("active")?))
}

/// Reads the box: its four sides, or `bbox` as west, south, east, north.
pub fn bbox(query: &Query) -> Result<Option<BBox>, ApiError> {
    let sides = query.bbox()?;
    let Some(text) = query.one("bbox")? else { return Ok(sides) };
    if sides.is_some() {
        return Err(ApiError::BadRequest(
            "the box is given twice; give either bbox or its four sides".to_owned(),
        ));
    }
    let numbers: Result<Vec<f64>, _> = text.split(',').map(|side| side.trim().parse()).collect();
    match numbers.as_deref() {
        Ok(&[west, south, east, north]) => Ok(Some(BBox::new(west, south, east, north)?)),
        _ => Err(ApiError::BadRequest(format!(
            "bbox must be four numbers, west,south,east,north; got \"{text}\""
        ))),
    }
}

/// Reads the codes, repeated or comma-separated.
pub fn codes(query: &Query) -> Result<Vec<zone::Code>, ApiError> {
    let mut codes = Vec::new();
    for text in query.list("codes") {
        if codes.len() == MAX_CODES {
            return Err(ApiError::BadRequest(format!(
                "codes names more than {MAX_CODES} zones; the limit is {MAX_CODES}"
            )));
        }
        codes.push(text.parse::<zone::Code>()?);
    }
    if codes.is_empty() && query.all("codes").next().is_some() {
        return Err(ApiError::BadRequest(format!(
            "codes must be one to {MAX_CODES} zone codes, comma-separated; got none"
        )));
    }
    Ok(codes)
}

pub fn language(query: &Query) -> Result<Language, ApiError> {
    let named = |text: &str| {
        [Language::English, Language::French].into_iter().find(|language| language.name() == text)
    };
    Ok(query.parsed("lang", "en or fr", named)?.unwrap_or_default())
}
