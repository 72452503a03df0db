//! `/alerts`: official alerts with what has become of them.

use std::sync::Arc;

use axum::Router;
use axum::extract::State as Shared;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use axum::routing::get;
use mesonet::{AlertQuery, BBox, TimeError, ZoneCode};

use crate::alerts::Language;
use crate::encoding::{Accepted, Compressor, Effort};
use crate::error::ApiError;
use crate::extract::Query;
use crate::snapshot::json;
use crate::state::State;

/// Most codes of a request.
const MAX_CODES: usize = 2_000;

pub fn router() -> Router<Arc<State>> {
    Router::new().route("/alerts", get(alerts))
}

async fn alerts(
    Shared(state): Shared<Arc<State>>,
    query: Query,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let (query, language) = (alert_query(&query)?, language(&query)?);
    if state.alerts().failure().is_some() {
        // What it is stands in the log.
        let text = "the alerts cannot be read at present".to_owned();
        return Err(ApiError::Refused(StatusCode::SERVICE_UNAVAILABLE, text));
    }
    let view = state.work(State::alert_view).await?.map_err(ApiError::internal)?;
    if let Some(snapshot) = view.snapshot()
        && query == AlertQuery::default()
        && language == Language::English
    {
        return Ok(snapshot.answer(&headers));
    }
    let encoding = Accepted::of(&headers).fastest();
    let body = state.work(move |_| {
        let body = view.answer(&query, language).map_err(ApiError::internal)?;
        Compressor::encode(encoding, Effort::Fastest, &body).map_err(ApiError::internal)
    });
    Ok(json(encoding, body.await??))
}

fn alert_query(query: &Query) -> Result<AlertQuery, ApiError> {
    let (start_ms, end_ms) = (query.instant("start")?, query.instant("end")?);
    if let (Some(start_ms), Some(end_ms)) = (start_ms, end_ms)
        && start_ms >= end_ms
    {
        return Err(ApiError::of(TimeError::Order { start_ms, end_ms }));
    }
    Ok(AlertQuery {
        start_ms,
        end_ms,
        bbox: bbox(query)?,
        at: query.place()?,
        codes: codes(query)?,
        is_active: is_active(query)?,
    })
}

/// The box: its four sides, or all of them in `bbox`, west, south, east, north.
fn bbox(query: &Query) -> Result<Option<BBox>, ApiError> {
    let sides = query.bbox()?;
    let Some(text) = query.one("bbox")? else { return Ok(sides) };
    if sides.is_some() {
        return Err(ApiError::BadRequest(
            "the box is given twice; allowed are bbox or its four sides".to_owned(),
        ));
    }
    let numbers: Result<Vec<f64>, _> = text.split(',').map(|side| side.trim().parse()).collect();
    match numbers.as_deref() {
        Ok(&[west, south, east, north]) => {
            BBox::new(west, south, east, north).map(Some).map_err(ApiError::of)
        }
        _ => Err(ApiError::BadRequest(format!(
            "bbox must be four numbers, west,south,east,north; got \"{text}\""
        ))),
    }
}

/// The codes, repeated or comma-separated.
fn codes(query: &Query) -> Result<Vec<ZoneCode>, ApiError> {
    let texts = query.all("codes").flat_map(|list| list.split(',')).map(str::trim);
    let mut codes = Vec::new();
    for text in texts.filter(|text| !text.is_empty()) {
        if codes.len() == MAX_CODES {
            return Err(ApiError::BadRequest(format!(
                "codes names more than {MAX_CODES} zones; allowed are up to {MAX_CODES}"
            )));
        }
        codes.push(text.parse().map_err(|error: mesonet::ZoneCodeError| ApiError::of(error))?);
    }
    if codes.is_empty() && query.all("codes").next().is_some() {
        return Err(ApiError::BadRequest(format!(
            "codes must be one to {MAX_CODES} zone codes, comma-separated; got none"
        )));
    }
    Ok(codes)
}

fn is_active(query: &Query) -> Result<bool, ApiError> {
    match query.one("active")? {
        None | Some("false") => Ok(false),
        Some("true") => Ok(true),
        Some(other) => {
            Err(ApiError::BadRequest(format!("active must be true or false; got \"{other}\"")))
        }
    }
}

fn language(query: &Query) -> Result<Language, ApiError> {
    let all = [Language::English, Language::French];
    let Some(text) = query.one("lang")? else { return Ok(Language::default()) };
    let found = all.into_iter().find(|language| language.name() == text);
    found.ok_or_else(|| ApiError::BadRequest(format!("lang must be en or fr; got \"{text}\"")))
}
