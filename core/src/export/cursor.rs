//! The cursor: the end of a page, as a text that the caller sends back.

use uuid::Uuid;

use super::{BulkEntry, Request};
use crate::observation::SeriesId;
use crate::query::rows::RowPosition;

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

/// Version of the layout below. A server with another version treats this cursor as damaged.
const VERSION: u8 = 1;
/// Version, time, series, digest of the request.
const CONTENT_BYTES: usize = 1 + 8 + 4 + 8;
const BYTES: usize = CONTENT_BYTES + 4;

/// Namespace of the digests and checksums, which are truncated UUIDs v5.
const NAMESPACE: Uuid = Uuid::from_u128(0x6d65_736f_6e65_5465_7870_6f72_7400_0001);

/// Encodes the position of the last row of a page.
pub(super) fn encode(request: &Request, position: RowPosition) -> String {
    let mut bytes = Vec::with_capacity(BYTES);
    bytes.push(VERSION);
    bytes.extend_from_slice(&position.ts_ms.to_be_bytes());
    bytes.extend_from_slice(&position.series.0.to_be_bytes());
    bytes.extend_from_slice(&digest(request));
    let check = check(&bytes);
    bytes.extend_from_slice(&check);
    bytes.iter().flat_map(|byte| [byte >> 4, byte & 0xf]).map(hex_digit).collect()
}

/// Decodes the position after which the next page of a request starts.
pub(super) fn decode(request: &Request, text: &str) -> Result<RowPosition, CursorError> {
    let bytes = from_hex(text).ok_or(CursorError::Damaged)?;
    let (content, sum) = bytes.split_at(CONTENT_BYTES);
    if content[0] != VERSION || sum != check(content) {
        return Err(CursorError::Damaged);
    }
    let (position, of_request) = content[1..].split_at(12);
    if of_request != digest(request) {
        return Err(CursorError::OtherRequest);
    }
    let number = |bytes: &[u8]| bytes.iter().fold(0_u64, |all, &byte| all << 8 | u64::from(byte));
    let (ts_ms, series) = position.split_at(8);
    Ok(RowPosition { ts_ms: number(ts_ms) as i64, series: SeriesId(number(series) as i32) })
}

fn hex_digit(nibble: u8) -> char {
    char::from(if nibble < 10 { b'0' + nibble } else { b'a' + nibble - 10 })
}

/// Accepts only the one spelling that [`encode`] produces.
fn from_hex(text: &str) -> Option<[u8; BYTES]> {
    let nibble = |digit: u8| match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    };
    let mut bytes = [0; BYTES];
    let pairs = text.as_bytes().chunks(2);
    if text.len() != 2 * BYTES {
        return None;
    }
    for (byte, pair) in bytes.iter_mut().zip(pairs) {
        *byte = nibble(pair[0])? << 4 | nibble(pair[1])?;
    }
    Some(bytes)
}

fn check(content: &[u8]) -> [u8; 4] {
    let [a, b, c, d, ..] = *Uuid::new_v5(&NAMESPACE, content).as_bytes();
    [a, b, c, d]
}

/// Digest of everything that defines the request. The order of the entries and repeated entries
/// are ignored: they mean the same series.
fn digest(request: &Request) -> [u8; 8] {
    let Request { station, window, entries, page_rows, qualifiers } = request;
    let mut entries: Vec<String> = entries.iter().map(entry_text).collect();
    entries.sort_unstable();
    entries.dedup();
    let columns = if *qualifiers { " qualifiers" } else { "" };
    let text = format!(
        "{station} {} {} {page_rows}{columns} {}",
        window.start_ms(),
        window.end_ms(),
        entries.join(" ")
    );
    let [a, b, c, d, e, f, g, h, ..] = *Uuid::new_v5(&NAMESPACE, text.as_bytes()).as_bytes();
    [a, b, c, d, e, f, g, h]
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
