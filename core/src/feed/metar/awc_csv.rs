//! The Aviation Weather Center's `metars.cache.csv`, and tables like it.

use std::io::BufRead;

use super::Metar;
use super::metar_item::MetarItem;
use super::series::metar_feed_report;
use crate::feed::item::{FeedReport, FileContext};
use crate::feed::plausible;
use crate::feed::sign::holds;
use crate::feed::summary::{FeedError, FilePlace, RefusalReason, Summary};
use crate::feed::text::csv_row::{CsvRow, MAX_LINE_BYTES};
use crate::feed::text::lines::Lines;

/// Reads a table of reports and visits each.
///
/// The header is found by its column names. So the columns may be in any order, the lines that
/// older exports put before the header ("No errors", "309 ms") are skipped, and a table with only
/// `raw_text` and `observation_time` suffices. The reports are decoded from `raw_text`; the decoded
/// columns of the table are ignored. One record is one line: no export breaks one.
///
/// The time of a report is that of the column. The column also supplies a time that the text lacks,
/// or of which the text has only hour and minute.
///
/// Columns: `raw_text` and `observation_time` (ISO 8601) are required; `station_id`, `latitude`,
/// `longitude` (degrees), `elevation_m` and `metar_type` are read if present.
///
/// # Errors
/// If the source fails or there is no header. A row that cannot be read is counted and listed in
/// the summary; so are the groups of a report that cannot be read.
///
/// ```
/// use mesonet::feed::read_awc_csv;
/// let table = "\
/// raw_text,station_id,observation_time,latitude,longitude,elevation_m,metar_type
/// KBUF 312354Z 21014KT 02/M07 A2973,KBUF,2019-12-31T23:54:00Z,42.94,-78.74,218,METAR
/// KBUF,KBUF,2019-12-31T23:54:00Z,42.94,-78.74,218,METAR
/// ";
/// let mut stations = Vec::new();
/// let summary = read_awc_csv(table.as_bytes(), |item| stations.push(item.native_id.to_owned()))?;
/// assert_eq!(stations, ["KBUF"]);
/// assert_eq!((summary.read, summary.refused), (1, 1));
/// assert_eq!(
///     summary.refusals[0].to_string(),
///     "line 3: \"\" is not the time of a report; after the station come day, hour and minute, \
///      for example 231118Z (in \"KBUF,KBUF,2019-12-31T23:54:00Z,42.94,-78.74,218,METAR\")",
/// );
/// # Ok::<(), mesonet::feed::FeedError>(())
/// ```
pub fn read_awc_csv(
    input: impl BufRead,
    mut visit: impl FnMut(MetarItem<'_>),
) -> Result<Summary, FeedError> {
    let mut lines = Lines::new(input, MAX_LINE_BYTES);
    let mut row = CsvRow::new();
    let mut summary = Summary::default();
    let columns = header(&mut lines, &mut row)?;
    while let Some(line) = lines.next()? {
        if line.bytes.is_empty() {
            continue;
        }
        let place = FilePlace::Line(line.number);
        let outcome = row.split(line).and_then(|()| columns.visit(&row, &mut visit));
        match outcome {
            Ok(unread_groups) => summary.read_metar(unread_groups),
            Err(reason) => summary.refuse(place, line.bytes, reason),
        }
    }
    Ok(summary)
}

/// The positions of the columns.
struct AwcColumns {
    raw_text: usize,
    observation_time: usize,
    station_id: Option<usize>,
    latitude: Option<usize>,
    longitude: Option<usize>,
    elevation_m: Option<usize>,
    metar_type: Option<usize>,
}

/// Finds the header: the first line with the required column names.
fn header<R: BufRead>(lines: &mut Lines<R>, row: &mut CsvRow) -> Result<AwcColumns, FeedError> {
    while let Some(line) = lines.next()? {
        if row.split(line).is_err() {
            continue;
        }
        let at = |name: &str| row.fields().position(|field| field == name.as_bytes());
        if let (Some(raw_text), Some(observation_time)) = (at("raw_text"), at("observation_time")) {
            return Ok(AwcColumns {
                raw_text,
                observation_time,
                station_id: at("station_id"),
                latitude: at("latitude"),
                longitude: at("longitude"),
                elevation_m: at("elevation_m"),
                metar_type: at("metar_type"),
            });
        }
    }
    Err(FeedError::Header { needed: "raw_text and observation_time", lines: lines.number() })
}

impl AwcColumns {
    fn visit(
        &self,
        row: &CsvRow,
        visit: &mut impl FnMut(MetarItem<'_>),
    ) -> Result<u16, RefusalReason> {
        let text =
            |column| std::str::from_utf8(row.field(column)).map_err(|_| RefusalReason::NotText);
        let raw_text = text(Some(self.raw_text))?;
        let ts_ms = plausible::observed(text(Some(self.observation_time))?)?;
        let metar = Metar::parse_beside(raw_text, ts_ms)?;
        let station_id = text(self.station_id)?;
        let coordinate = |column| text(column).ok()?.parse::<f64>().ok();
        // A place that is empty or unknown is ignored; the report is valid without it.
        let place = coordinate(self.longitude)
            .zip(coordinate(self.latitude))
            .and_then(|(lon, lat)| plausible::place(lon, lat));
        visit(MetarItem {
            native_id: if station_id.is_empty() { metar.station.as_str() } else { station_id },
            ts_ms,
            raw_text,
            header: None,
            place,
            altitude_m: coordinate(self.elevation_m).and_then(awc_altitude_m),
            kind: metar.kind.or_named(row.field(self.metar_type)),
            metar,
        });
        Ok(metar.unread_groups)
    }
}

/// A height in the Center's tables; 9999 and 999 stand for an unknown height.
pub(super) fn awc_altitude_m(metres: f64) -> Option<f64> {
    plausible::altitude_m(metres).filter(|&metres| metres != 999.0)
}

/// Whether a file looks like one of this kind.
pub(in crate::feed) fn is_sign(_name: &str, start: &[u8]) -> bool {
    holds(start, "raw_text") && holds(start, "observation_time") && !holds(start, "<?xml")
}

/// Reads a file of this kind.
pub(in crate::feed) fn read(
    input: &mut dyn BufRead,
    file: &FileContext<'_>,
    visit: &mut dyn FnMut(FeedReport),
) -> Result<Summary, FeedError> {
    read_awc_csv(input, |item| visit(metar_feed_report(item, file)))
}

#[cfg(test)]
#[path = "awc_csv_tests.rs"]
mod tests;
