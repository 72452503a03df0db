//! `/historical/bulk`: all readings of a station, in pages of rows.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::State as Shared;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::Response;
use axum::routing::post;
use mesonet::access::Product;
use mesonet::export::{ExportError, MAX_PAGE_ROWS};
use mesonet::store::{ContinuedStore, Watched};
use mesonet::{HalfOpenWindow, Reader, StationId, Variable, export};
use serde::Deserialize;
use utoipa::ToSchema;

use super::filter::{self, FILTER, FILTER_INSTEAD, station_filter, station_needed};
use super::form::{FORM, Format, RequestedForm, format};
use super::parameters::START;
use crate::auth::access::{Allowed, Gate};
use crate::http::bulk_headers::{HAS_MORE, NAME, NEXT_CURSOR, SERIES_FOUND, STATION_ID};
use crate::http::damage::with_header;
use crate::http::encoding::{AcceptedEncodings, Encoding};
use crate::http::error::ApiError;
use crate::http::extract::{JsonBody, Query};
use crate::http::member::{Member, MemberKind};
use crate::http::parameter::{Form, Parameter, join};
use crate::http::stream::{self, BodyWriter, Pieces};
use crate::http::work::Cost;
use crate::limits::ClientAddr;
use crate::openapi::{About, Credentials, Tag};
use crate::routes::Endpoint;
use crate::state::State;
use mesonet_service::archive::Archive;
use mesonet_service::backup::{Follower, Name};

/// How often a page checks whether the server has the backup that it needs, and the pause between
/// two checks.
const LOOKS: usize = 200;
const PAUSE: Duration = Duration::from_millis(50);

/// The answer to the cursor of a page that was made from a newer record.
const BEHIND: &str = "the page before came from a server that knows more than this one yet; send the \
    request again in some seconds";
const OF_THE_OTHER: &str = "the cursor came from the server that this one follows, which knows more; go on there, \
    or begin again without a cursor";

/// Separates the cursor of an export from the name of the backup that its page was made from.
const MADE_OF: char = '.';

/// Memory of a page being written: a group of 65,536 rows with its columns, and as much again.
const PAGE_BYTES: usize = 8 << 20;

/// Memory of what is read of an archive at once: the row groups of some days, and one that is being
/// fetched.
const ARCHIVE_BYTES: usize = 16 << 20;

/// Memory of a station whose rows are planned: its series, and how far they are read.
const STATION_BYTES: usize = 1 << 10;

/// Their names, in the order of [`export::Format::ALL`].
const FORMATS: [Format; 3] = {
    let [csv, arrow, parquet] = export::Format::ALL;
    [("csv", csv.media_type()), ("arrow", arrow.media_type()), ("parquet", parquet.media_type())]
};

/// The parameters that only the export has.
const OWN: [Parameter; 6] = [
    START.required(),
    Parameter::new("end", Form::Instant, "End of the window, not included; after the start.")
        .required()
        .example("2024-08-03T21:00:00Z"),
    Parameter::new("pageSize", Form::Whole(1, MAX_PAGE_ROWS as i64), "Most rows of a page.")
        .default("200000"),
    Parameter::new(
        "cursor",
        Form::Text(4096),
        "X-Next-Cursor of the previous page; query and body must be the same.",
    ),
    Parameter::new("qualifiers", Form::Truth, "Adds a column with what reports say beside values.")
        .default("false"),
    Parameter::new(
        "format",
        Form::OneOf(&["csv", "arrow", "parquet"]),
        "The format, before what is accepted.",
    )
    .default("csv"),
];

pub const ENDPOINTS: &[Endpoint] = &[Endpoint::post("/historical/bulk", || post(bulk))
    .query(&join::<9, 16, 25>(join::<6, 3, 9>(OWN, FORM), FILTER_INSTEAD))
    .body(&[
        Member::new("stationId", MemberKind::Text),
        Member::new("stationIds", MemberKind::Texts),
        Member::new("requests", MemberKind::Objects),
        Member::new("name", MemberKind::Text),
        Member::new("intervalType", MemberKind::IntervalType),
        Member::new("intervalMinutes", MemberKind::Whole),
        Member::new("calculated", MemberKind::Truth),
        Member::new("reportedUnit", MemberKind::Text),
        Member::new("groupBucketName", MemberKind::Text),
        Member::new("lowerValueBound", MemberKind::Number),
        Member::new("upperValueBound", MemberKind::Number),
        Member::new("qualityRange", MemberKind::Object),
        Member::new("worst", MemberKind::BaseQuality),
        Member::new("best", MemberKind::BaseQuality),
    ])
    .about(|| {
        About::new("exportReadings", Tag::Observations, "All readings of stations, in pages")
            .text(
                "For the commercial plan. Rows by time, then by series. The media type that is \
                 accepted chooses the format. Without rows, 200 with the header row. The stations \
                 are that of `stationId`, those of `stationIds`, or those that match the \
                 parameters; of several, the rows are station by station, with a column \
                 `station_id`.",
            )
            .credentials(Credentials::Commercial)
            .json_body::<BulkRequest>(serde_json::json!({
                "stationId": "700f7e18-e84e-51b2-90bd-f054766d1ec5",
                "requests": [{ "name": "airTemperature" }],
            }))
            .plain("text/csv", "A page of rows.")
            .bytes(export::Format::ArrowStream.media_type(), "A page of rows.")
            .bytes(export::Format::Parquet.media_type(), "A page of rows.")
            .header("X-Has-More", "`True` when more pages follow, else `False`.")
            .header("X-Next-Cursor", "The cursor of the next page.")
            .header("X-Series-Found", "`False` when the station has no such series.")
            .header("X-Station-Id", "Id of the station, when a series was found.")
            .header("X-Name", "The exported variables, when a series was found.")
            .cached("`no-cache`")
    })];

struct HistoricalBulk;

impl Gate for HistoricalBulk {
    const PRODUCT: Product = Product::HISTORICAL_BULK;
}

/// Which readings of stations are exported.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct BulkRequest {
    /// Any id of the station.
    #[schema(nullable = false)]
    station_id: Option<String>,
    /// Any ids of several stations, in place of one. Unknown ones are left out.
    #[schema(max_items = 5000, nullable = false)]
    station_ids: Option<Vec<String>>,
    /// The series; all if left out or empty. All entries must have the same bounds and range.
    requests: Option<Vec<export::BulkEntry>>,
}

async fn bulk(
    _: Allowed<HistoricalBulk>,
    Shared(state): Shared<Arc<State>>,
    client_addr: ClientAddr,
    query: Query,
    accepted: AcceptedEncodings,
    headers: HeaderMap,
    JsonBody(BulkRequest { station_id, station_ids, requests }): JsonBody<BulkRequest>,
) -> Result<Response, ApiError> {
    let (start_ms, end_ms) = (query.needed_instant("start")?, query.needed_instant("end")?);
    let window = HalfOpenWindow::new(start_ms, end_ms)?;
    let asked = RequestedForm::of(&state, &query)?;
    let format = export::Format::ALL[format(&query, &headers, &FORMATS)?];
    let request = of_stations(&state, &query, window, station_id, station_ids)?
        .entries(requests.unwrap_or_default())
        .page_rows(query.read("pageSize", page_rows)?.unwrap_or(MAX_PAGE_ROWS))
        .qualifiers(query.truth("qualifiers")?)
        .form(asked.form(&state)?);
    let cursor = query.one("cursor")?;
    let cursor = match (cursor, state.services.of_backups()) {
        (Some(cursor), Some(follower)) => {
            // Errors of the request itself are reported first, as by any server.
            export::Page::check(&request, Some(without_mark(cursor)))?;
            Some(unmarked(follower, cursor).await?)
        }
        (cursor, _) => cursor.map(without_mark),
    };
    let cursor = cursor.map(str::to_owned);
    // A Parquet file is already compressed.
    let encoding =
        if format == export::Format::Parquet { Encoding::Identity } else { accepted.fastest() };
    let only = if request.chosen_by.is_none() { request.stations.first().copied() } else { None };
    let workers = Arc::clone(&state.workers);
    let page_bytes = PAGE_BYTES
        + request.stations.len() * STATION_BYTES
        + state.services.archive.as_ref().map_or(0, |_| ARCHIVE_BYTES);
    let begin = move || {
        // Planning reads all rows of the page, so it finds all missing readings.
        let archive = state.services.archive.as_ref().map(Archive::open);
        let record: Arc<dyn Reader + Send + Sync> = match &archive {
            Some(past) => Arc::new(ContinuedStore::new(
                Arc::clone(&state.services.store),
                Arc::clone(past) as _,
            )),
            None => Arc::clone(&state.services.store) as _,
        };
        let store = Watched::new(&*record);
        let page = export::Page::plan(&store, &request, cursor.as_deref())?;
        if let Some(past) = archive {
            past.planned();
        }
        let follower = state.services.of_backups();
        let variables: Vec<&str> = page.variables().into_iter().map(Variable::name).collect();
        let found = (
            page.series_found(),
            variables.join(","),
            page.next_cursor().map(|next| match follower {
                Some(follower) => marked(follower, next),
                None => next.to_owned(),
            }),
        );
        let damaged = state.services.note_damage(&store);
        let writer = PageWriter { writer: page.writer(format)?, record, page_bytes };
        Ok(((found, damaged), Pieces::new(writer, encoding)?))
    };
    let (found, body) = stream::body(workers, client_addr, Cost::heavy(page_bytes), begin).await?;
    let ((series_found, names, next_cursor), damaged) = found;

    let mut response = Response::new(body);
    let headers = response.headers_mut();
    let mut put = |name, value: &str| {
        headers.insert(name, HeaderValue::try_from(value).map_err(ApiError::internal)?);
        Ok::<_, ApiError>(())
    };
    let python_bool = |is| if is { "True" } else { "False" };
    put(header::CONTENT_TYPE, content_type(format))?;
    put(header::VARY, "accept, accept-encoding")?;
    if encoding != Encoding::Identity {
        put(header::CONTENT_ENCODING, encoding.name())?;
    }
    put(SERIES_FOUND, python_bool(series_found))?;
    if series_found {
        if let Some(station) = only {
            put(STATION_ID, &station.to_string())?;
        }
        put(NAME, &names)?;
    }
    put(HAS_MORE, python_bool(next_cursor.is_some()))?;
    if let Some(cursor) = next_cursor {
        put(NEXT_CURSOR, &cursor)?;
    }
    Ok(with_header(Ok(response), damaged))
}

/// A request for the stations that are named or that match.
fn of_stations(
    state: &State,
    query: &Query,
    window: HalfOpenWindow,
    station_id: Option<String>,
    station_ids: Option<Vec<String>>,
) -> Result<export::Request, ApiError> {
    let filter = query.has_any(&FILTER);
    match (station_id, station_ids, filter) {
        (Some(name), None, false) => {
            Ok(export::Request::new(station_needed(state, &name)?, window))
        }
        (None, Some(names), false) => {
            let stations = filter::station_ids(state, names.iter().map(String::as_str))?;
            let names: Vec<String> = stations.iter().map(StationId::to_string).collect();
            Ok(export::Request::of_stations(stations, window, names.join(",")))
        }
        (None, None, true) => {
            let directory = state.services.store.directory()?;
            let found = station_filter(state, query)?.select(&directory, &|_| true);
            let stations = found.into_iter().map(|found| found.id).collect();
            let mut chosen_by: Vec<String> = FILTER
                .iter()
                .flat_map(|parameter| {
                    query.all(parameter.name).map(|value| format!("{}={value}", parameter.name))
                })
                .collect();
            chosen_by.sort_unstable();
            Ok(export::Request::of_stations(stations, window, chosen_by.join("&")))
        }
        (None, None, false) => Err(ApiError::BadRequest(
            "stationId is required; or stationIds, or parameters that choose stations".to_owned(),
        )),
        _ => Err(ApiError::BadRequest(
            "stations are chosen by stationId, by stationIds or by parameters; give one of them"
                .to_owned(),
        )),
    }
}

/// A text media type gives its character set.
const fn content_type(format: export::Format) -> &'static str {
    match format {
        export::Format::Csv => "text/csv; charset=utf-8",
        _ => format.media_type(),
    }
}

fn page_rows(text: &str) -> Result<usize, ExportError> {
    let plain = !text.starts_with('+');
    let rows = text.parse().ok().filter(|rows| plain && (1..=MAX_PAGE_ROWS).contains(rows));
    rows.ok_or_else(|| ExportError::PageRows(format!("\"{text}\"")))
}

/// A page with the record that its rows are read from.
struct PageWriter {
    writer: export::Writer,
    record: Arc<dyn Reader + Send + Sync>,
    page_bytes: usize,
}

impl BodyWriter for PageWriter {
    fn held_bytes(&self) -> usize {
        self.page_bytes
    }

    fn write(&mut self, text: &mut Vec<u8>, until_bytes: usize) -> Result<bool, ApiError> {
        Ok(self.writer.write(&*self.record, text, until_bytes)?)
    }
}

/// Marks the cursor of an export with the backup that its page was made from. Must be called once
/// the page is known.
fn marked(follower: &Follower, cursor: &str) -> String {
    let made_of = follower.newest_shown().as_ref().map(Name::to_string).unwrap_or_default();
    format!("{cursor}{MADE_OF}{made_of}")
}

/// Returns the cursor of an export, which was checked, without its mark. Must be called before the
/// page is looked up. If the server is still taking in the backup of the mark, the function waits
/// for it.
///
/// # Errors
/// The page before was made from a newer backup than this server has, so rows of that backup may be
/// missing here. Or the page came from the followed server, which is always newer.
async fn unmarked<'a>(follower: &Follower, cursor: &'a str) -> Result<&'a str, ApiError> {
    let Some((bare, made_of)) = parts(cursor) else {
        return Err(ApiError::BadRequest(OF_THE_OTHER.to_owned()));
    };
    for _ in 0..LOOKS {
        let (is_here, comes) = follower.shows(&made_of);
        if is_here {
            return Ok(bare);
        }
        if !comes {
            break;
        }
        tokio::time::sleep(PAUSE).await;
    }
    Err(ApiError::Later(BEHIND.to_owned()))
}

/// Separates a cursor from the name of the backup that its page was made from; `None` if it names
/// no backup.
fn parts(cursor: &str) -> Option<(&str, Name)> {
    let (bare, made_of) = cursor.split_once(MADE_OF)?;
    Some((bare, Name::parse(made_of)?))
}

/// The cursor of an export for a server that follows no other: it has everything that its followers
/// have.
fn without_mark(cursor: &str) -> &str {
    parts(cursor).map_or(cursor, |(bare, _)| bare)
}
