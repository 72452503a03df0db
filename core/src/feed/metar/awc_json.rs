//! The Aviation Weather Center's `/api/data/metar` as JSON.

use std::io::BufRead;

use serde_json::{Map, Value};

use super::Metar;
use super::awc_csv::awc_altitude_m;
use super::metar_item::MetarItem;
use super::series::metar_feed_report;
use crate::feed::item::{FeedReport, FileContext};
use crate::feed::plausible;
use crate::feed::sign::holds;
use crate::feed::summary::{FeedError, FilePlace, RefusalReason, Summary};
use crate::feed::text::features::each_element;

/// Maximum size of one report; a real one has less than 1 KB.
const MAX_REPORT_BYTES: usize = 64 * 1024;

/// Reads an array of reports and visits each.
///
/// As with the Center's tables, a report is decoded from its text, `rawOb`, and the decoded members
/// are ignored. `obsTime` (seconds since 1970) is its time, and supplies what the text lacks;
/// `icaoId`, `lat`, `lon` (degrees), `elev` (metres) and `metarType` are read if present. Answers
/// from before September 2025 have the same members.
///
/// # Errors
/// If the source fails; if the text is not a JSON array, or a report has more than 64 KiB. A report
/// that cannot be read is counted and listed in the summary.
///
/// ```
/// use mesonet::feed::read_awc_json;
/// let answer = r#"[{"icaoId": "KJFK", "obsTime": 1768848660, "lat": 40.6392, "lon": -73.7639,
///     "rawOb": "METAR KJFK 191851Z 24019G24KT 10SM SCT039 SCT090 00/M06 A2994 RMK AO2 SLP137"}]"#;
/// let mut stations = Vec::new();
/// let summary = read_awc_json(answer.as_bytes(), |item| stations.push(item.native_id.to_owned()))?;
/// assert_eq!((stations, summary.read), (vec!["KJFK".to_owned()], 1));
/// # Ok::<(), mesonet::feed::FeedError>(())
/// ```
pub fn read_awc_json(
    input: impl BufRead,
    mut visit: impl FnMut(MetarItem<'_>),
) -> Result<Summary, FeedError> {
    let mut summary = Summary::default();
    each_element(input, MAX_REPORT_BYTES, &mut |byte, members| match visit_report(
        members, &mut visit,
    ) {
        Ok(unread_groups) => summary.read_metar(unread_groups),
        Err(reason) => {
            summary.refuse(FilePlace::Byte(byte), text(members, "rawOb").as_bytes(), reason);
        }
    })?;
    Ok(summary)
}

fn text<'m>(members: &'m Map<String, Value>, name: &str) -> &'m str {
    members.get(name).and_then(Value::as_str).unwrap_or("")
}

fn visit_report(
    members: &Map<String, Value>,
    visit: &mut impl FnMut(MetarItem<'_>),
) -> Result<u16, RefusalReason> {
    let number = |name: &str| members.get(name).and_then(Value::as_f64);
    let raw_text = text(members, "rawOb");
    let seconds = members.get("obsTime").and_then(Value::as_i64);
    let seconds = seconds.ok_or(RefusalReason::Without { what: "obsTime" })?;
    let ts_ms = plausible::observed_at(seconds.saturating_mul(1000))?;
    let metar = Metar::parse_beside(raw_text, ts_ms)?;
    let station_id = text(members, "icaoId");
    // A place that is empty or unknown is ignored; the report is valid without it.
    let place = number("lon").zip(number("lat")).and_then(|(lon, lat)| plausible::place(lon, lat));
    visit(MetarItem {
        native_id: if station_id.is_empty() { metar.station.as_str() } else { station_id },
        ts_ms,
        raw_text,
        header: None,
        place,
        altitude_m: number("elev").and_then(awc_altitude_m),
        kind: metar.kind.or_named(text(members, "metarType").as_bytes()),
        metar,
    });
    Ok(metar.unread_groups)
}

/// Whether a file looks like one of this kind.
pub(in crate::feed) fn is_sign(_name: &str, start: &[u8]) -> bool {
    holds(start, "\"rawOb\"")
        && holds(start, "\"obsTime\"")
        && start.trim_ascii_start().starts_with(b"[")
}

/// Reads a file of this kind.
pub(in crate::feed) fn read(
    input: &mut dyn BufRead,
    file: &FileContext<'_>,
    visit: &mut dyn FnMut(FeedReport),
) -> Result<Summary, FeedError> {
    read_awc_json(input, |item| visit(metar_feed_report(item, file)))
}

#[cfg(test)]
#[path = "awc_json_tests.rs"]
mod tests;
