//! `/alerts/zones`: names and outlines of the zones that alerts are issued for.

use std::collections::HashSet;
use std::sync::Arc;

use axum::extract::State as Shared;
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use mesonet::zone::{self, Zones};

use crate::http::GEOGRAPHY;
use crate::http::encoding::AcceptedEncodings;
use crate::http::error::ApiError;
use crate::http::etag::{etag, has_already};
use crate::http::extract::Query;
use crate::http::parameter::{Form, Parameter};
use crate::http::snapshot::{json_bytes, tag};
use crate::http::work::{Cost, Load};
use crate::limits::ClientAddr;
use crate::openapi::{About, Common, Tag, Zones as DescribedZones};
use crate::routes::Endpoint;
use crate::state::State;

/// Maximum number of codes in a request.
const MAX_CODES: usize = 2_000;

/// An answer is valid forever at an address with the geography version. Otherwise it is valid for a
/// day, after which there may be newer zones.
const FOR_EVER: HeaderValue = HeaderValue::from_static("public, max-age=31536000, immutable");
const FOR_A_DAY: HeaderValue = HeaderValue::from_static("public, max-age=86400, immutable");

/// Assumed memory of an answer.
const USUAL_BYTES: usize = 8 << 20;

pub const ENDPOINTS: &[Endpoint] = &[Endpoint::get("/alerts/zones", || get(zones))
    .query(&[
        // A malformed code is an unknown zone.
        Parameter::new(
            "codes",
            Form::List("^[^,]+$", 1, None),
            "Codes of the zones, at most 2,000 different ones.",
        )
        .required()
        .example("041320,OKC001"),
        Parameter::new(
            "kind",
            Form::OneOf(&["base", "public", "marine", "fire", "county"]),
            "Which zones, where a code is of several kinds.",
        ),
        Parameter::new(
            "version",
            Form::Text(64),
            "Geography version; 404 if it is not the current one.",
        ),
    ])
    .about(|| {
        About::new("getZones", Tag::Alerts, "Names and outlines of zones")
            .json::<DescribedZones>("The zones in the order of the codes, without unknown ones.")
            .header("X-Mesonet-Geography", "The geography version.")
            .cached("A day; with `version`, for ever.")
            .tagged()
            .with(Common::NotFound)
    })];

async fn zones(
    Shared(state): Shared<Arc<State>>,
    client_addr: ClientAddr,
    query: Query,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let codes = codes(&query)?;
    let kind = query.read("kind", str::parse::<zone::ZoneKind>)?;
    // The first caller may have to wait until the zones are unpacked.
    let zones = state
        .work(client_addr, Load::Light, |state| state.services.zones())
        .await?
        .map_err(ApiError::internal)?;
    let version = query.one("version")?;
    if let Some(version) = version.filter(|version| *version != zones.version()) {
        return Err(ApiError::NotFound(format!(
            "unknown geography version \"{version}\"; the current one is {}",
            zones.version()
        )));
    }
    let encoding = AcceptedEncodings::of(&headers).fastest();
    let etag = etag(zones.version(), encoding).map_err(ApiError::internal)?;
    let geography = HeaderValue::try_from(zones.version()).map_err(ApiError::internal)?;
    let mut response = if has_already(&headers, &etag) {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        let answer = move |_: &State| {
            let body = zones.collection(&positions(zones.zones(), &codes, kind));
            json_bytes(encoding, &body)
        };
        state.answer(client_addr, Cost::heavy(USUAL_BYTES), answer).await?
    };
    tag(&mut response, etag, if version.is_some() { FOR_EVER } else { FOR_A_DAY });
    response.headers_mut().insert(GEOGRAPHY, geography);
    Ok(response)
}

/// Reads the codes, repeated or comma-separated, each once. A malformed code counts as unknown:
/// callers send codes that alerts name.
fn codes(query: &Query) -> Result<Vec<zone::Code>, ApiError> {
    let mut seen = HashSet::new();
    let texts: Vec<&str> = query.list("codes").filter(|text| seen.insert(*text)).collect();
    match texts.len() {
        0 => Err(ApiError::BadRequest(format!(
            "codes is required: one to {MAX_CODES} zone codes, comma-separated"
        ))),
        1..=MAX_CODES => Ok(texts.iter().filter_map(|text| text.parse().ok()).collect()),
        more => {
            Err(ApiError::BadRequest(format!("codes names {more} zones; the limit is {MAX_CODES}")))
        }
    }
}

/// Returns the positions of the zones with some codes, in the order of the codes. A zone without an
/// outline is left out, so that callers use the name in the alert instead.
fn positions(zones: &Zones, codes: &[zone::Code], kind: Option<zone::ZoneKind>) -> Vec<usize> {
    let zone = |&code: &zone::Code| match kind {
        Some(kind) => zones.of_kind(code, kind),
        None => zones.get(code),
    };
    let outlined = codes.iter().filter_map(zone).filter(|zone| zone.geometry.is_some());
    outlined.filter_map(|zone| zones.position(zone.code, zone.kind)).collect()
}
