//! `/observations/series`: the readings of one variable at one station.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::extract::State as Shared;
use axum::response::Response;
use axum::routing::post;
use mesonet::observation::SeriesFilter;
use mesonet::query::json::SeriesWriter;
use mesonet::query::{ObservationSeries, SeriesReading, observation_series, report_texts};
use mesonet::time::{DAY_MS, MINUTE_MS};
use mesonet::{ClosedWindow, Reader, SeriesKey, StationId, Variable};
use serde::Deserialize;

use super::filter::{no_station, station_named};
use super::form::{FORM, RequestedForm};
use super::parameters::{END, START};
use super::reports::no_texts;
use super::window;
use crate::auth::access::Caller;
use crate::http::damage::with_header;
use crate::http::encoding::AcceptedEncodings;
use crate::http::error::ApiError;
use crate::http::extract::{JsonBody, Query};
use crate::http::member::{Member, MemberKind};
use crate::http::parameter::{Form, Parameter};
use crate::http::snapshot::json;
use crate::http::stream::{self, BodyWriter, Pieces};
use crate::http::work::{Cost, Load};
use crate::limits::ClientAddr;
use crate::openapi::{About, Common, SeriesRequest as DescribedRequest, Tag};
use crate::routes::Endpoint;
use crate::state::State;

/// Maximum memory that is reserved before the need of the answer is known.
const MAX_RESERVED_BYTES: usize = 16 << 20;

pub const ENDPOINTS: &[Endpoint] = &[Endpoint::post("/observations/series", || post(series))
    .query(&[START.required(), END.required(), REPORT_TEXT, FORM[0], FORM[1], FORM[2]])
    .body(&[
        Member::required("stationId", MemberKind::Text),
        Member::new("stationIds", MemberKind::Texts),
        Member::new("name", MemberKind::Text),
        Member::new("intervalType", MemberKind::IntervalType),
        Member::new("intervalMinutes", MemberKind::Whole),
        Member::new("calculated", MemberKind::Truth),
        Member::new("reportedUnit", MemberKind::Text),
        Member::new("groupBucketName", MemberKind::Text),
    ])
    .about(|| {
        About::new("getSeries", Tag::Observations, "Readings of one variable at one station")
            .text("Where several series match, their readings are mixed.")
            .json_body::<DescribedRequest>(serde_json::json!({
                "stationId": "700f7e18-e84e-51b2-90bd-f054766d1ec5",
                "name": "airTemperature",
            }))
            .json::<ObservationSeries>("The readings, by time.")
            .with(Common::NotFound)
            .with(Common::NoTexts)
            .cached("`no-cache`")
    })];

/// `stationIds` has no effect, so it is ignored like an unknown field.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SeriesRequest {
    station_id: String,
    #[serde(flatten)]
    filter: SeriesFilter,
}

/// Adds a member to each reading.
const REPORT_TEXT: Parameter = Parameter::new(
    "reportText",
    Form::Truth,
    "Whether a reading has the text of the report that it came in, as `reportText`.",
);

async fn series(
    Shared(state): Shared<Arc<State>>,
    caller: Caller,
    client_addr: ClientAddr,
    query: Query,
    accepted: AcceptedEncodings,
    JsonBody(SeriesRequest { station_id, filter }): JsonBody<SeriesRequest>,
) -> Result<Response, ApiError> {
    let station = station_named(&state, &station_id)?;
    let Some(name) = filter.name.clone() else {
        return Err(ApiError::BadRequest("name is required".to_owned()));
    };
    let window = window::needed(&state, &caller, &query)?;
    // For an unknown variable, the error names the known ones.
    name.parse::<Variable>().map_err(|error| ApiError::NotFound(error.to_string()))?;
    let with_texts = query.truth("reportText")?;
    let form = RequestedForm::of(&state, &query)?;
    let encoding = accepted.fastest();
    // Even for an answer without readings.
    let damaged = Arc::new(AtomicU64::new(0));
    let noted = Arc::clone(&damaged);
    let cost = cost(window);
    let workers = Arc::clone(&state.workers);
    let begin = move || {
        let services = &state.services;
        let read = |store: &dyn Reader| observation_series(store, station, &filter, window);
        let (found, damaged) = services.read(read)?;
        noted.store(damaged, Ordering::Relaxed);
        let Some(found) = found else { return Err(none(&*services.store, station, &name)?) };
        let form = form.form(&state)?;
        let mut writer = SeriesWriter::in_form(found, &form).map_err(ApiError::internal)?;
        if with_texts {
            let read = |store: &dyn Reader| report_texts(store, station, window);
            let (texts, damaged) = services.read(read).map_err(no_texts)?;
            noted.fetch_add(damaged, Ordering::Relaxed);
            writer = writer.with_report_texts(texts).map_err(ApiError::internal)?;
        }
        Ok(((), Pieces::new(writer, encoding)?))
    };
    let answer = stream::body(workers, client_addr, cost, begin).await;
    let answer = answer.map(|((), body)| json(encoding, body));
    Ok(with_header(answer, damaged.load(Ordering::Relaxed)))
}

/// Why there is no reading. Names the series of the station, those of the variable first.
fn none(store: &dyn Reader, station: StationId, name: &str) -> Result<ApiError, ApiError> {
    let directory = store.directory()?;
    let Some(record) = directory.get(station) else {
        return Ok(no_station(station));
    };
    let mut keys: Vec<&SeriesKey> = record.series.iter().map(|known| &known.series.key).collect();
    keys.sort_by_key(|key| {
        let of = key.variable.name();
        (of != name, of, key.interval_type, key.interval_minutes, key.calculated)
    });
    let known: Vec<String> = keys.into_iter().map(described).collect();
    let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
    Ok(ApiError::NotFound(format!(
        "station {station} has no matching readings of {name} in the window; its series are {known}"
    )))
}

/// A series in words: `windSpeed (Average 10 min)`.
fn described(key: &SeriesKey) -> String {
    let mut parts = vec![match key.interval_minutes {
        0 => key.interval_type.name().to_owned(),
        minutes => format!("{} {minutes} min", key.interval_type.name()),
    }];
    if key.calculated {
        parts.push("calculated".to_owned());
    }
    if key.reported_unit != key.variable.unit().symbol() {
        parts.push(format!("in {}", key.reported_unit));
    }
    if !key.bucket.is_empty() {
        parts.push(format!("bucket {}", key.bucket));
    }
    format!("{} ({})", key.variable, parts.join(", "))
}

impl BodyWriter for SeriesWriter {
    fn held_bytes(&self) -> usize {
        self.held_bytes()
    }

    fn write(&mut self, text: &mut Vec<u8>, until_bytes: usize) -> Result<bool, ApiError> {
        Ok(self.write(text, until_bytes))
    }
}

/// Estimates the cost, assuming a reading every minute. Nearly all series are less frequent, so
/// this is more than enough.
fn cost(window: ClosedWindow) -> Cost {
    const WEEK_MS: i64 = 7 * DAY_MS;
    let span_ms = window.span_ms();
    let readings = usize::try_from(span_ms / MINUTE_MS).unwrap_or(usize::MAX);
    let load = if span_ms <= WEEK_MS { Load::Light } else { Load::Heavy };
    let bytes = readings.saturating_mul(size_of::<SeriesReading>()).min(MAX_RESERVED_BYTES);
    Cost { load, bytes: bytes + stream::STREAM_BYTES }
}
