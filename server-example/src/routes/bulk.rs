//! `/historical/bulk`: all readings of a station, in pages of rows.

use std::sync::Arc;

use axum::Router;
use axum::extract::State as Shared;
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::response::Response;
use axum::routing::post;
use mesonet::{
    ExportEntry, ExportError, ExportFormat, ExportPage, ExportRequest, ExportWriter,
    HalfOpenWindow, MAX_PAGE_ROWS, Product, Variable, Watched,
};
use serde::Deserialize;

use crate::access::{Allowed, Gate};
use crate::damage::said;
use crate::door::Party;
use crate::encoding::{Accepted, Encoding};
use crate::error::ApiError;
use crate::extract::{JsonBody, Query, accepted_media_type};
use crate::state::State;
use crate::stream::{self, Pieces, Writer};
use crate::work::Cost;

/// Headers that tell of a page.
const HAS_MORE: HeaderName = HeaderName::from_static("x-has-more");
const NEXT_CURSOR: HeaderName = HeaderName::from_static("x-next-cursor");
const SERIES_FOUND: HeaderName = HeaderName::from_static("x-series-found");
const STATION_ID: HeaderName = HeaderName::from_static("x-station-id");
const NAME: HeaderName = HeaderName::from_static("x-name");

/// Those that a page of another site must be able to read.
pub const HEADERS: [HeaderName; 5] = [HAS_MORE, NEXT_CURSOR, SERIES_FOUND, STATION_ID, NAME];

/// Memory of a page that is being written: a group of 65,536 rows with its columns, and as much again.
const PAGE_BYTES: usize = 8 << 20;

pub fn router() -> Router<Arc<State>> {
    Router::new().route("/historical/bulk", post(bulk))
}

struct HistoricalBulk;

impl Gate for HistoricalBulk {
    const PRODUCT: Product = Product::HISTORICAL_BULK;
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct BulkRequest {
    station_id: String,
    requests: Option<Vec<ExportEntry>>,
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
    let request = ExportRequest {
        station: station_id.parse().map_err(ApiError::of)?,
        window: HalfOpenWindow::new(start_ms, end_ms).map_err(ApiError::of)?,
        entries: requests.unwrap_or_default(),
        page_rows: query.read("pageSize", page_rows)?.unwrap_or(MAX_PAGE_ROWS),
    };
    let cursor = query.one("cursor")?.map(str::to_owned);
    let format = accepted_media_type(&headers, &ExportFormat::ALL.map(ExportFormat::media_type));
    let format = ExportFormat::ALL[format];
    // A Parquet file is compressed in itself.
    let encoding =
        if format == ExportFormat::Parquet { Encoding::Identity } else { accepted.fastest() };
    let station = request.station;
    let begin = move |state: &State| {
        // Planning reads all rows of the page, so it meets all that is missing.
        let store = Watched::new(state.store());
        let page = ExportPage::plan(&store, &request, cursor.as_deref());
        let page = page.map_err(ApiError::of)?;
        let variables: Vec<&str> = page.variables().into_iter().map(Variable::name).collect();
        let found =
            (page.series_found(), variables.join(","), page.next_cursor().map(str::to_owned));
        let writer = page.writer(format).map_err(ApiError::of)?;
        Ok(((found, state.note_damage(&store)), Pieces::new(writer, encoding)?))
    };
    let (found, body) = stream::body(state, party, Cost::heavy(PAGE_BYTES), begin).await?;
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

/// A text media type says its character set.
const fn content_type(format: ExportFormat) -> &'static str {
    match format {
        ExportFormat::Csv => "text/csv; charset=utf-8",
        _ => format.media_type(),
    }
}

fn page_rows(text: &str) -> Result<usize, ExportError> {
    let plain = !text.starts_with('+');
    let rows = text.parse().ok().filter(|rows| plain && (1..=MAX_PAGE_ROWS).contains(rows));
    rows.ok_or_else(|| ExportError::PageRows(format!("\"{text}\"")))
}

impl Writer for ExportWriter {
    fn held_bytes(&self) -> usize {
        PAGE_BYTES
    }

    fn write(
        &mut self,
        state: &State,
        text: &mut Vec<u8>,
        until_bytes: usize,
    ) -> Result<bool, ApiError> {
        self.write(state.store(), text, until_bytes).map_err(ApiError::of)
    }
}
