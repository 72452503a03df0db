//! The fields of an IEM row.

use crate::feed::plausible::observed_at;
use crate::feed::summary::{RefusalReason, excerpt};
use crate::feed::text::csv_row::CsvRow;
use crate::observation::Qualifier;
use crate::time::parse_instant;

/// A field as text.
pub(super) fn text(row: &CsvRow, at: usize) -> Result<&str, RefusalReason> {
    let field = std::str::from_utf8(row.field(Some(at))).map_err(|_| RefusalReason::NotText)?;
    Ok(field.trim_ascii())
}

pub(super) fn is_missing(field: &[u8]) -> bool {
    matches!(field.trim_ascii(), b"" | b"M" | b"null")
}

/// The number in a field.
pub(super) fn value(row: &CsvRow, at: usize, name: &str) -> Result<Option<f64>, RefusalReason> {
    Ok(qualified(row, at, name)?.map(|(value, _)| value))
}

/// The number in a field; a trace of precipitation, ice or snow depth is 0 with the qualifier
/// Trace.
pub(super) fn qualified(
    row: &CsvRow,
    at: usize,
    name: &str,
) -> Result<Option<(f64, Option<Qualifier>)>, RefusalReason> {
    if is_missing(row.field(Some(at))) {
        return Ok(None);
    }
    let text = text(row, at)?;
    let has_traces =
        matches!(name, "p01i" | "p01m" | "snowdepth") || name.starts_with("ice_accretion");
    if has_traces && matches!(text, "T" | "0.0001") {
        return Ok(Some((0.0, Some(Qualifier::Trace))));
    }
    let value = text.parse().ok().filter(|value: &f64| value.is_finite());
    let refused = || RefusalReason::Field { what: "valid value", got: excerpt(text) };
    value.map(|value| Some((value, None))).ok_or_else(refused)
}

/// Reads `2010-10-23 00:51`.
pub(super) fn instant(text: &str) -> Result<i64, RefusalReason> {
    let instant = text.split_once(' ').and_then(|(day, time)| {
        let is_minute = day.len() == 10 && time.len() == 5;
        if is_minute { parse_instant(&format!("{day}T{time}Z")).ok() } else { None }
    });
    let refused = || RefusalReason::Field { what: "valid time", got: excerpt(text) };
    instant.ok_or_else(refused).and_then(observed_at)
}
