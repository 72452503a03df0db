//! `/alerts/zones`: names and outlines of the zones that alerts are issued for.

use std::collections::HashSet;
use std::sync::Arc;

use axum::Router;
use axum::extract::State as Shared;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use mesonet::{ZoneCode, ZoneKind, Zones};

use crate::door::Party;
use crate::encoding::{Accepted, Compressor, Effort};
use crate::error::ApiError;
use crate::extract::Query;
use crate::snapshot::{VARY, has_already, json};
use crate::state::State;
use crate::work::{Cost, Load};

/// Most codes of a request.
const MAX_CODES: usize = 2_000;

/// The geography version, on every answer.
pub const GEOGRAPHY: HeaderName = HeaderName::from_static("x-mesonet-geography");

/// An answer is good for ever under the address that names the geography version, else for a day:
/// then newer zones may have come.
const FOR_EVER: HeaderValue = HeaderValue::from_static("public, max-age=31536000, immutable");
const FOR_A_DAY: HeaderValue = HeaderValue::from_static("public, max-age=86400, immutable");

/// Memory that an answer is taken to need.
const USUAL_BYTES: usize = 8 << 20;

pub fn router() -> Router<Arc<State>> {
    Router::new().route("/alerts/zones", get(zones))
}

async fn zones(
    Shared(state): Shared<Arc<State>>,
    party: Party,
    query: Query,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let codes = codes(&query)?;
    let kind = query.read("kind", str::parse::<ZoneKind>)?;
    // The first one to ask may have to wait until the zones are unpacked.
    let zones = state.work(party, Load::Light, State::zones).await?.map_err(ApiError::internal)?;
    let version = query.one("version")?;
    if let Some(version) = version.filter(|version| *version != zones.version()) {
        return Err(ApiError::NotFound(format!(
            "no geography version \"{version}\"; the one that is served is {}",
            zones.version()
        )));
    }
    let encoding = Accepted::of(&headers).fastest();
    let (etag, geography) =
        (format!("\"{}-{}\"", zones.version(), encoding.name()), zones.version());
    let etag = HeaderValue::try_from(etag).map_err(ApiError::internal)?;
    let geography = HeaderValue::try_from(geography).map_err(ApiError::internal)?;
    let mut response = if has_already(&headers, &etag) {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        let answer = move |_: &State| {
            let body = zones.collection(&positions(zones.zones(), &codes, kind));
            let body = Compressor::encode(encoding, Effort::Fastest, &body);
            Ok(json(encoding, body.map_err(ApiError::internal)?))
        };
        state.answer(party, Cost::heavy(USUAL_BYTES), answer).await?
    };
    let headers = response.headers_mut();
    headers.insert(header::ETAG, etag);
    headers.insert(header::VARY, VARY);
    headers.insert(header::CACHE_CONTROL, if version.is_some() { FOR_EVER } else { FOR_A_DAY });
    headers.insert(GEOGRAPHY, geography);
    Ok(response)
}

/// The codes, repeated or comma-separated, each once. One that is no code of a zone is unknown like
/// others: a caller asks for what an alert names.
fn codes(query: &Query) -> Result<Vec<ZoneCode>, ApiError> {
    let mut seen = HashSet::new();
    let texts = query.all("codes").flat_map(|list| list.split(',')).map(str::trim);
    let texts: Vec<&str> = texts.filter(|text| !text.is_empty() && seen.insert(*text)).collect();
    match texts.len() {
        0 => Err(ApiError::BadRequest(format!(
            "codes is needed: one to {MAX_CODES} zone codes, comma-separated"
        ))),
        1..=MAX_CODES => Ok(texts.iter().filter_map(|text| text.parse().ok()).collect()),
        more => Err(ApiError::BadRequest(format!(
            "codes names {more} zones; allowed are up to {MAX_CODES}"
        ))),
    }
}

/// Where the zones with some codes are, in the order of the codes.
fn positions(zones: &Zones, codes: &[ZoneCode], kind: Option<ZoneKind>) -> Vec<usize> {
    let position = |&code: &ZoneCode| match kind {
        Some(kind) => zones.position(code, kind),
        None => ZoneKind::ALL.into_iter().find_map(|kind| zones.position(code, kind)),
    };
    codes.iter().filter_map(position).collect()
}
