//! The tables of NDBC's files: header, units, rows.

use std::io::BufRead;

use chrono::NaiveDate;

use super::columns::{Family, NdbcColumn, NdbcMeaning, RowIntervals};
use super::{is_native_id, wind_minutes};
use crate::feed::collect::{Measurement, ReadingCollector};
use crate::feed::item::{FeedReport, FeedStation};
use crate::feed::plausible::observed_at;
use crate::feed::summary::{FeedError, FilePlace, RefusalReason, Summary, excerpt};
use crate::feed::text::lines::{Line, Lines};
use crate::geo::LonLat;
use crate::observation::{Quality, Report};
use crate::unit::Vocabulary;

/// Longest line that is read; real lines are shorter than 120 bytes.
const MAX_LINE_BYTES: usize = 1024;

/// The positions and meanings of the columns of a table.
pub(super) struct Table {
    pub family: Family,
    names: Vec<String>,
    units: Option<Vec<String>>,
    time: TimeColumns,
    station: Option<usize>,
    place: Option<(usize, usize)>,
    depth: Option<usize>,
    /// The known columns, with their positions.
    known: Vec<(usize, &'static NdbcColumn)>,
    /// The positions of the unknown columns.
    others: Vec<usize>,
}

/// The positions of the parts of the time.
struct TimeColumns {
    year: usize,
    month: usize,
    day: usize,
    /// Hour, or hour and minute together.
    hour: usize,
    is_hour_and_minute: bool,
    minute: Option<usize>,
    second: Option<usize>,
}

/// The content of a row.
pub(super) struct NdbcRow {
    pub native_id: Option<String>,
    pub ts_ms: i64,
    pub place: Option<LonLat>,
    depth_m: Option<f64>,
    values: Vec<(&'static NdbcColumn, usize, f64)>,
}

impl Table {
    /// The table under a header line; `None` if the line is not an NDBC header.
    pub(super) fn of_header(line: &[u8]) -> Option<Self> {
        let line = std::str::from_utf8(line.get(..MAX_LINE_BYTES).unwrap_or(line)).ok()?;
        let names: Vec<&str> = line.trim_start_matches('#').split_ascii_whitespace().collect();
        let at = |name: &str| names.iter().position(|&of| of == name);
        let time = TimeColumns {
            year: at("YY").or_else(|| at("YYYY"))?,
            month: at("MM")?,
            day: at("DD")?,
            hour: at("hh").or_else(|| at("hhmm"))?,
            is_hour_and_minute: at("hh").is_none(),
            minute: at("mm"),
            second: at("ss"),
        };
        let family = Family::of(&names)?;
        let place = at("LAT").zip(at("LON"));
        let station = at("STN");
        let known: Vec<_> =
            family.columns().iter().filter_map(|column| Some((at(column.name)?, column))).collect();
        let of_row = [
            Some(time.year),
            Some(time.month),
            Some(time.day),
            Some(time.hour),
            time.minute,
            time.second,
            station,
            place.map(|(lat, _)| lat),
            place.map(|(_, lon)| lon),
        ];
        let others = (0..names.len())
            .filter(|at| !of_row.contains(&Some(*at)) && known.iter().all(|(of, _)| of != at))
            .collect();
        Some(Self {
            depth: at("DEPTH"),
            names: names.into_iter().map(str::to_owned).collect(),
            units: None,
            family,
            time,
            station,
            place,
            known,
            others,
        })
    }

    /// Whether the rows identify their station.
    pub(super) fn names_stations(&self) -> bool {
        self.station.is_some() && self.place.is_some()
    }

    fn unit(&self, at: usize, column: &'static NdbcColumn) -> &str {
        self.units.as_ref().and_then(|units| units.get(at)).map_or(column.unit, String::as_str)
    }

    /// Reads the units from the line below the header.
    fn take_units(&mut self, line: &str) -> Result<(), FeedError> {
        let units: Vec<String> =
            line.trim_start_matches('#').split_ascii_whitespace().map(str::to_owned).collect();
        if units.len() != self.names.len() {
            return Err(FeedError::NotThisKind(format!(
                "{} units for {} columns",
                units.len(),
                self.names.len()
            )));
        }
        self.units = Some(units);
        Ok(())
    }

    /// Reads a row; values without a variable are counted.
    fn row(&self, text: &str, summary: &mut Summary) -> Result<NdbcRow, RefusalReason> {
        let fields: Vec<&str> = text.split_ascii_whitespace().collect();
        if fields.len() != self.names.len() {
            return Err(RefusalReason::FieldCount {
                got: fields.len(),
                expected: self.names.len(),
            });
        }
        let ts_ms = observed_at(self.time.read(&fields)?)?;
        let native_id = self.station.map(|at| native_id(fields[at])).transpose()?;
        let number = |at: usize| fields[at].parse::<f64>().ok().filter(|value| value.is_finite());
        // A place off the globe is ignored; the report is valid without it.
        let place = self.place.and_then(|(lat, lon)| LonLat::new(number(lon)?, number(lat)?).ok());
        let mut values = Vec::with_capacity(self.known.len());
        let mut without_variable = Vec::new();
        for &(at, column) in &self.known {
            if is_missing(fields[at]) || number(at) == Some(column.missing) {
                continue;
            }
            match column.meaning {
                NdbcMeaning::Beside => {}
                NdbcMeaning::Nothing => without_variable.push(column.name),
                _ => {
                    let got = fields[at];
                    let refused =
                        || RefusalReason::Field { what: "valid value", got: excerpt(got) };
                    values.push((column, at, number(at).ok_or_else(refused)?));
                }
            }
        }
        // The row is valid: now its values are counted.
        for name in without_variable {
            summary.without_variable.add(name);
        }
        for &at in self.others.iter().filter(|&&at| !is_missing(fields[at])) {
            summary.without_variable.add(&self.names[at]);
        }
        let is_metres = |at: &usize| self.units.as_ref().is_none_or(|units| units[*at] == "m");
        let depth_m = self.depth.filter(is_metres).and_then(number);
        Ok(NdbcRow { native_id, ts_ms, place, depth_m, values })
    }

    /// The report of a row.
    pub(super) fn report(
        &self,
        row: &NdbcRow,
        station: FeedStation,
        row_minutes: i32,
        summary: &mut Summary,
    ) -> FeedReport {
        let wind_minutes = wind_minutes(&station.native_id);
        let intervals = RowIntervals { wind_minutes, row_minutes, depth_m: row.depth_m };
        let mut readings = ReadingCollector::new(Vocabulary::Plain, &mut summary.kept_as_reported);
        for &(column, at, value) in &row.values {
            let Some((variable, kind, minutes)) = column.meaning.series(&intervals) else {
                if column.meaning != NdbcMeaning::Depth {
                    summary.without_variable.add(column.name);
                }
                continue;
            };
            let of = Measurement::new(variable, kind, minutes, self.unit(at, column));
            if !readings.so_far().iter().any(|other| of.is_of(&other.series)) {
                readings.push(of, value, Quality::UNCHECKED);
            }
        }
        let report = Report {
            station: station.id(),
            ts_ms: row.ts_ms + self.family.lag_ms(),
            revision: 0,
            present_weather: None,
            text: None,
            readings: readings.into_readings(),
        };
        FeedReport::new(station, report)
    }
}

impl TimeColumns {
    fn read(&self, fields: &[&str]) -> Result<i64, RefusalReason> {
        let number = |at: usize| digits(fields[at]);
        let (hour, minute) = if self.is_hour_and_minute {
            let both = number(self.hour).filter(|_| fields[self.hour].len() == 4);
            (both.map(|both| both / 100), both.map(|both| both % 100))
        } else {
            (number(self.hour), self.minute.map_or(Some(0), number))
        };
        let instant = || {
            let day = NaiveDate::from_ymd_opt(
                year(fields[self.year])?,
                number(self.month)?,
                number(self.day)?,
            )?;
            day.and_hms_opt(hour?, minute?, self.second.map_or(Some(0), number)?)
        };
        instant().map(|instant| instant.and_utc().timestamp_millis()).ok_or_else(|| {
            let parts = [Some(self.year), Some(self.month), Some(self.day), Some(self.hour)];
            let parts = parts.into_iter().chain([self.minute, self.second]).flatten();
            let texts: Vec<&str> = parts.map(|at| fields[at]).collect();
            RefusalReason::Field { what: "valid time", got: excerpt(&texts.join(" ")) }
        })
    }
}

/// Whether a field indicates a missing value: `MM`, `N/A`, or slashes as in a weather message,
/// which stand for the direction of a calm.
fn is_missing(field: &str) -> bool {
    matches!(field, "MM" | "N/A") || field.bytes().all(|byte| byte == b'/')
}

/// A number of one to four digits.
fn digits(text: &str) -> Option<u32> {
    let valid = (1..=4).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    if valid { text.parse().ok() } else { None }
}

/// A four-digit year, or a two-digit one before 1999, when NDBC changed to four digits.
fn year(text: &str) -> Option<i32> {
    let number = digits(text)?.cast_signed();
    match text.len() {
        4 => Some(number),
        2 if number >= 70 => Some(1900 + number),
        _ => None,
    }
}

fn native_id(text: &str) -> Result<String, RefusalReason> {
    if is_native_id(text) {
        Ok(text.to_ascii_uppercase())
    } else {
        Err(RefusalReason::Field { what: "valid station id", got: excerpt(text) })
    }
}

/// The rows of a table, one after another.
pub(super) struct NdbcRows<R> {
    lines: Lines<R>,
    header_line: u64,
    pub table: Table,
}

impl<R: BufRead> NdbcRows<R> {
    /// Finds the header: the first line that is not empty.
    pub(super) fn open(input: R) -> Result<Self, FeedError> {
        const NEEDED: &str = "YY or YYYY, MM, DD, hh or hhmm, and those of a known table";
        let mut lines = Lines::new(input, MAX_LINE_BYTES);
        while let Some(line) = lines.next()? {
            if line.bytes.is_empty() {
                continue;
            }
            let table = Table::of_header(line.bytes).filter(|_| !line.cut);
            let header_line = line.number;
            let table = table.ok_or(FeedError::Header { needed: NEEDED, lines: header_line })?;
            return Ok(Self { lines, header_line, table });
        }
        Err(FeedError::Header { needed: NEEDED, lines: lines.number() })
    }

    /// The next row that can be read; others are counted as refused.
    pub(super) fn next(&mut self, summary: &mut Summary) -> Result<Option<NdbcRow>, FeedError> {
        while let Some(line) = self.lines.next()? {
            let place = FilePlace::Line(line.number);
            match text(line) {
                Ok("") => {}
                Ok(text) if text.starts_with('#') => {
                    if line.number == self.header_line + 1 {
                        self.table.take_units(text)?;
                    }
                }
                Ok(text) => match self.table.row(text, summary) {
                    Ok(row) => return Ok(Some(row)),
                    Err(reason) => summary.refuse(place, line.bytes, reason),
                },
                Err(reason) => summary.refuse(place, line.bytes, reason),
            }
        }
        Ok(None)
    }
}

/// The table whose header is the first line of a file.
pub(super) fn header_of(start: &[u8]) -> Option<Table> {
    Table::of_header(start.trim_ascii_start().split(|&byte| byte == b'\n').next()?)
}

fn text(line: Line<'_>) -> Result<&str, RefusalReason> {
    if line.cut {
        return Err(RefusalReason::TooLong { limit: MAX_LINE_BYTES });
    }
    std::str::from_utf8(line.bytes).map(str::trim_ascii).map_err(|_| RefusalReason::NotText)
}

#[cfg(test)]
#[path = "table_tests.rs"]
mod tests;
