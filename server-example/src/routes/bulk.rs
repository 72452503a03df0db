//! `/historical/bulk`: all readings of a station, in pages of rows.

use std::sync::Arc;

use axum::extract::State as Shared;
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::response::Response;
use axum::routing::post;
use mesonet::access::Product;
use mesonet::export::{ExportError, MAX_PAGE_ROWS};
use mesonet::store::{Continued, Watched};
use mesonet::{HalfOpenWindow, Reader, Variable, export};
use serde::Deserialize;

use super::parameters::START;
use crate::access::{Allowed, Gate};
use crate::archive::Archive;
use crate::describe::{About, BulkRequest as DescribedRequest, Credentials, Part};
use crate::door::Party;
use crate::error::ApiError;
use crate::follower::without_mark;
use crate::http::damage::said;
use crate::http::encoding::{Accepted, Encoding};
use crate::http::endpoint::Endpoint;
use crate::http::extract::{JsonBody, Query, accepted_media_type};
use crate::http::member::{Kind, Member};
use crate::http::parameter::{Form, Parameter};
use crate::http::stream;
use crate::http::stream::{Pieces, Writer};
use crate::state::State;
use crate::work::Cost;

/// Headers that describe a page.
const HAS_MORE: HeaderName = HeaderName::from_static("x-has-more");
const NEXT_CURSOR: HeaderName = HeaderName::from_static("x-next-cursor");
const SERIES_FOUND: HeaderName = HeaderName::from_static("x-series-found");
const STATION_ID: HeaderName = HeaderName::from_static("x-station-id");
const NAME: HeaderName = HeaderName::from_static("x-name");

/// The headers that a page of another site must be able to read.
pub const HEADERS: [HeaderName; 5] = [HAS_MORE, NEXT_CURSOR, SERIES_FOUND, STATION_ID, NAME];

/// Memory of a page being written: a group of 65,536 rows with its columns, and as much again.
const PAGE_BYTES: usize = 8 << 20;

/// Memory of what is read of an archive at once: the row groups of some days, and one as it is fetched.
const ARCHIVE_BYTES: usize = 16 << 20;

pub const ENDPOINTS: &[Endpoint] = &[Endpoint {
    method: "POST",
    path: "/historical/bulk",
    query: &[
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
        Parameter::new(
            "qualifiers",
            Form::Truth,
            "Adds a column with what reports say beside values.",
        )
        .default("false"),
    ],
    body: &[
        Member::required("stationId", Kind::Text),
        Member::new("requests", Kind::Objects),
        Member::new("name", Kind::Text),
        Member::new("intervalType", Kind::IntervalType),
        Member::new("intervalMinutes", Kind::Whole),
        Member::new("calculated", Kind::Truth),
        Member::new("reportedUnit", Kind::Text),
        Member::new("groupBucketName", Kind::Text),
        Member::new("lowerValueBound", Kind::Number),
        Member::new("upperValueBound", Kind::Number),
        Member::new("qualityRange", Kind::Object),
        Member::new("worst", Kind::BaseQuality),
        Member::new("best", Kind::BaseQuality),
    ],
    handler: || post(bulk),
    about: || {
        About::new("exportReadings", Part::Observations, "All readings of a station, in pages")
            .text(
                "For the commercial plan. Rows by time, then by series. The media type that is \
                   accepted chooses the format. Without rows, 200 with the header row.",
            )
            .credentials(Credentials::Commercial)
            .json_body::<DescribedRequest>(serde_json::json!({
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
    },
}];

struct HistoricalBulk;

impl Gate for HistoricalBulk {
    const PRODUCT: Product = Product::HISTORICAL_BULK;
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct BulkRequest {
    station_id: String,
    requests: Option<Vec<export::Entry>>,
}

async fn bulk(
    _: Allowed<HistoricalBulk>,
    Shared(state): Shared<Arc<State>>,
    party: Party,
    query: Query,
    accepted: Accepted,
    headers: HeaderMap,
    JsonBody(BulkRequest { station_id, requests }): JsonBody<BulkRequest>,
) -> Result<Response, ApiError> {
    let (start_ms, end_ms) = (query.needed_instant("start")?, query.needed_instant("end")?);
    let window = HalfOpenWindow::new(start_ms, end_ms)?;
    let request = export::Request::new(station_id.parse()?, window)
        .entries(requests.unwrap_or_default())
        .page_rows(query.read("pageSize", page_rows)?.unwrap_or(MAX_PAGE_ROWS))
        .qualifiers(query.truth("qualifiers")?);
    let cursor = query.one("cursor")?;
    let cursor = match (cursor, state.services.of_backups()) {
        (Some(cursor), Some(follower)) => {
            // What is wrong with it in itself is told first, as by any server.
            export::Page::check(&request, Some(without_mark(cursor)))?;
            Some(follower.unmarked(cursor).await?)
        }
        (cursor, _) => cursor.map(without_mark),
    };
    let cursor = cursor.map(str::to_owned);
    let format =
        accepted_media_type(&headers, &export::Format::ALL.map(export::Format::media_type));
    let format = export::Format::ALL[format];
    // A Parquet file is already compressed.
    let encoding =
        if format == export::Format::Parquet { Encoding::Identity } else { accepted.fastest() };
    let station = request.station;
    let workers = Arc::clone(&state.workers);
    let page_bytes = PAGE_BYTES + state.services.archive.as_ref().map_or(0, |_| ARCHIVE_BYTES);
    let begin = move || {
        // Planning reads all rows of the page, so it finds everything that is missing.
        let archive = state.services.archive.as_ref().map(Archive::open);
        let record: Arc<dyn Reader + Send + Sync> = match &archive {
            Some(past) => {
                Arc::new(Continued::new(Arc::clone(&state.services.store), Arc::clone(past) as _))
            }
            None => Arc::clone(&state.services.store) as _,
        };
        let store = Watched::new(&*record);
        let page = export::Page::plan(&store, &request, cursor.as_deref());
        let page = page?;
        if let Some(past) = archive {
            past.planned();
        }
        let follower = state.services.of_backups();
        let variables: Vec<&str> = page.variables().into_iter().map(Variable::name).collect();
        let found = (
            page.series_found(),
            variables.join(","),
            page.next_cursor().map(|next| match follower {
                Some(follower) => follower.marked(next),
                None => next.to_owned(),
            }),
        );
        let damaged = state.services.note_damage(&store);
        let writer = PageWriter { writer: page.writer(format)?, record, page_bytes };
        Ok(((found, damaged), Pieces::new(writer, encoding)?))
    };
    let (found, body) = stream::body(workers, party, Cost::heavy(page_bytes), begin).await?;
    let ((series_found, names, next_cursor), damaged) = found;

    let mut response = Response::new(body);
    let headers = response.headers_mut();
    let mut put = |name, value: &str| {
        headers.insert(name, HeaderValue::try_from(value).map_err(ApiError::internal)?);
        Ok::<_, ApiError>(())
    };
    let told = |is| if is { "True" } else { "False" };
    put(header::CONTENT_TYPE, content_type(format))?;
    put(header::VARY, "accept, accept-encoding")?;
    if encoding != Encoding::Identity {
        put(header::CONTENT_ENCODING, encoding.name())?;
    }
    put(SERIES_FOUND, told(series_found))?;
    if series_found {
        put(STATION_ID, &station.to_string())?;
        put(NAME, &names)?;
    }
    put(HAS_MORE, told(next_cursor.is_some()))?;
    if let Some(cursor) = next_cursor {
        put(NEXT_CURSOR, &cursor)?;
    }
    Ok(said(Ok(response), damaged))
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

impl Writer for PageWriter {
    fn held_bytes(&self) -> usize {
        self.page_bytes
    }

    fn write(&mut self, text: &mut Vec<u8>, until_bytes: usize) -> Result<bool, ApiError> {
        Ok(self.writer.write(&*self.record, text, until_bytes)?)
    }
}
