//! The cursor: the end of a page, as a text that the caller sends back.

use uuid::Uuid;

use super::page_rows::PageEnd;
use super::{BulkEntry, Request};
use crate::observation::{SeriesId, StationId, Variable};
use crate::query::rows::RowPosition;
use crate::query::{AnswerClock, AnswerForm, AnswerUnits};

/// A cursor that cannot be used.
///
/// ```
/// use mesonet::{HalfOpenWindow, MemoryStore, StationId};
/// use mesonet::export::{CursorError, ExportError, Page, Request};
/// let day = HalfOpenWindow::new(1_722_643_200_000, 1_722_729_600_000)?;
/// let request = Request::new(StationId::new("METAR", "CYYZ"), day);
/// let refused = Page::plan(&MemoryStore::default(), &request, Some("page2")).map(|_| ());
/// assert_eq!(refused, Err(ExportError::Cursor(CursorError::Damaged)));
/// # Ok::<(), mesonet::time::TimeError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CursorError {
    /// Not a text that an export issued.
    #[error("invalid cursor: it must be the X-Next-Cursor of the previous page, unchanged")]
    Damaged,
    /// Issued, but for another request.
    #[error(
        "the cursor belongs to another request; query and body must be the same as for the page \
         that it came with"
    )]
    OtherRequest,
}

/// Version of the layout of a cursor for one station: version, time, series, digest of the request,
/// checksum. A server with another version treats this cursor as damaged.
const OF_ONE: u8 = 1;
/// The same for many stations: with the station after the version.
const OF_MANY: u8 = 2;
const STATION_BYTES: usize = 16;
const CHECK_BYTES: usize = 4;

/// Length of a cursor.
const fn length(version: u8) -> usize {
    1 + 8 + 4 + 8 + CHECK_BYTES + if version == OF_MANY { STATION_BYTES } else { 0 }
}

const fn version(request: &Request) -> u8 {
    if request.chosen_by.is_some() { OF_MANY } else { OF_ONE }
}

/// Namespace of the digests and checksums, which are truncated UUIDs v5.
const NAMESPACE: Uuid = Uuid::from_u128(0x6d65_736f_6e65_5465_7870_6f72_7400_0001);

/// Encodes the position of the last row of a page.
pub(super) fn encode(request: &Request, end: PageEnd) -> String {
    let version = version(request);
    let mut bytes = Vec::with_capacity(length(version));
    bytes.push(version);
    if version == OF_MANY {
        bytes.extend_from_slice(end.station.as_bytes());
    }
    bytes.extend_from_slice(&end.row.ts_ms.to_be_bytes());
    bytes.extend_from_slice(&end.row.series.0.to_be_bytes());
    bytes.extend_from_slice(&digest(request));
    let check = check(&bytes);
    bytes.extend_from_slice(&check);
    bytes.iter().flat_map(|byte| [byte >> 4, byte & 0xf]).map(hex_digit).collect()
}

/// Decodes the position after which the next page of a request starts.
pub(super) fn decode(request: &Request, text: &str) -> Result<PageEnd, CursorError> {
    let bytes = from_hex(text).ok_or(CursorError::Damaged)?;
    let found = bytes.first().copied().filter(|version| matches!(*version, OF_ONE | OF_MANY));
    let is_whole = found.is_some_and(|version| bytes.len() == length(version));
    let (content, sum) =
        bytes.split_last_chunk::<CHECK_BYTES>().filter(|_| is_whole).ok_or(CursorError::Damaged)?;
    if *sum != check(content) {
        return Err(CursorError::Damaged);
    }
    if found != Some(version(request)) {
        return Err(CursorError::OtherRequest);
    }
    let of_many = if found == Some(OF_MANY) { STATION_BYTES } else { 0 };
    let (station, rest) = content[1..].split_at(of_many);
    let (position, of_request) = rest.split_at(12);
    if of_request != digest(request) {
        return Err(CursorError::OtherRequest);
    }
    let station = match (station.try_into(), &*request.stations) {
        (Ok(bytes), _) => StationId::from_bytes(bytes),
        (Err(_), [only, ..]) => *only,
        (Err(_), []) => return Err(CursorError::OtherRequest),
    };
    let number = |bytes: &[u8]| bytes.iter().fold(0_u64, |all, &byte| all << 8 | u64::from(byte));
    let (ts_ms, series) = position.split_at(8);
    let series = SeriesId(number(series) as i32);
    Ok(PageEnd { station, row: RowPosition { ts_ms: number(ts_ms) as i64, series } })
}

fn hex_digit(nibble: u8) -> char {
    char::from(if nibble < 10 { b'0' + nibble } else { b'a' + nibble - 10 })
}

/// Accepts only the one spelling that [`encode`] produces.
fn from_hex(text: &str) -> Option<Vec<u8>> {
    let nibble = |digit: u8| match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    };
    if text.len() > 2 * length(OF_MANY) || !text.len().is_multiple_of(2) {
        return None;
    }
    let pairs = text.as_bytes().chunks(2);
    pairs.map(|pair| Some(nibble(pair[0])? << 4 | nibble(pair[1])?)).collect()
}

fn check(content: &[u8]) -> [u8; 4] {
    let [a, b, c, d, ..] = *Uuid::new_v5(&NAMESPACE, content).as_bytes();
    [a, b, c, d]
}

/// Digest of everything that defines the request. The order of the entries and repeated entries
/// are ignored: they mean the same series.
fn digest(request: &Request) -> [u8; 8] {
    let Request { stations, chosen_by, window, entries, page_rows, qualifiers, form } = request;
    let mut entries: Vec<String> = entries.iter().map(entry_text).collect();
    entries.sort_unstable();
    entries.dedup();
    let columns = if *qualifiers { " qualifiers" } else { "" };
    let form = if form.is_empty() { String::new() } else { form_text(form) };
    let choice = match chosen_by {
        Some(chosen_by) => format!("{}:{chosen_by}", chosen_by.len()),
        None => stations.first().map(StationId::to_string).unwrap_or_default(),
    };
    let text = format!(
        "{choice} {} {} {page_rows}{columns}{form} {}",
        window.start_ms(),
        window.end_ms(),
        entries.join(" ")
    );
    let [a, b, c, d, e, f, g, h, ..] = *Uuid::new_v5(&NAMESPACE, text.as_bytes()).as_bytes();
    [a, b, c, d, e, f, g, h]
}

/// The units and the zone of a form; the offsets of a zone may change with its data.
fn form_text(form: &AnswerForm) -> String {
    let symbol = |units: &AnswerUnits| {
        Variable::ALL.iter().map(|&of| units.unit(of).symbol()).collect::<Vec<_>>().join("|")
    };
    let zone = match &form.clock {
        None => "",
        Some(AnswerClock::Same(clock)) => clock.name(),
        Some(AnswerClock::OfStations(_)) => "local",
    };
    format!(" {} {zone}", form.units.as_ref().map(symbol).unwrap_or_default())
}

/// A unique text for each entry: texts of the caller are prefixed with their length.
fn entry_text(entry: &BulkEntry) -> String {
    let text = |part: Option<&str>| part.map_or("-".to_owned(), |s| format!("{}:{s}", s.len()));
    let number = |part: Option<f64>| part.map(f64::to_bits);
    let (series, rows) = (&entry.series, &entry.rows);
    let range = rows.quality_range.unwrap_or_default();
    format!(
        "{} {:?} {:?} {:?} {} {} {:?} {:?} {:?} {:?}",
        text(series.name.as_deref()),
        series.interval_type,
        series.interval_minutes,
        series.calculated,
        text(series.reported_unit.as_deref()),
        text(series.bucket.as_deref()),
        number(rows.lower_value_bound),
        number(rows.upper_value_bound),
        range.worst,
        range.best,
    )
}
