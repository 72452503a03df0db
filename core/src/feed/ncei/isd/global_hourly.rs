//! NCEI's Integrated Surface Data as a table (CSV), which NCEI offers as "global-hourly".

use std::io::BufRead;

use super::additional::Sections;
use super::mandatory::{MANDATORY_BYTES, Mandatory};
use super::{ReportType, is_missing, station, text};
use crate::feed::collect::ReadingCollector;
use crate::feed::item::{FeedReport, FeedStation, FileContext, is_location_indicator};
use crate::feed::plausible;
use crate::feed::summary::{FeedError, FilePlace, RefusalReason, Summary, excerpt};
use crate::feed::text::csv_row::{CsvRow, MAX_LINE_BYTES};
use crate::feed::text::lines::Lines;
use crate::observation::{IdScheme, Report};
use crate::unit::Vocabulary;

/// The columns of the mandatory section, in its order.
const MANDATORY: [&str; 6] = ["WND", "CIG", "VIS", "TMP", "DEW", "SLP"];

/// Reads a table of the Integrated Surface Data and visits the report of each row.
///
/// A cell holds the fields of one section of a record with commas between them; series, missing values,
/// quality codes and what is left out are those of [`read_isd`](super::super::super::read_isd). Columns
/// are found by their names, in any order: `STATION` (the numbers of the air force and of NCEI in one),
/// `DATE` (UTC), `REPORT_TYPE` and those of the mandatory section, `WND`, `CIG`, `VIS`, `TMP`, `DEW` and
/// `SLP`, are required; `LATITUDE`, `LONGITUDE`, `ELEVATION`, `NAME` and `CALL_SIGN` are read if
/// present, and so is every column that is named by a section, such as `AA1`. A section of another
/// length than the document gives is counted.
///
/// # Errors
/// If the source fails or there is no header. A row that cannot be read is counted and listed in the
/// summary.
///
/// ```
/// use mesonet::feed::read_isd_csv;
/// let table = r#""STATION","DATE","LATITUDE","LONGITUDE","ELEVATION","NAME","REPORT_TYPE","WND","CIG","VIS","TMP","DEW","SLP","AA1"
/// "72509014739","2020-01-01T00:54:00","42.3606","-71.0097","3.7","BOSTON","FM-15","250,5,N,0036,5","02134,5,M,N","016093,5,N,5","+0056,5","-0011,5","10052,5","01,0005,9,5"
/// "#;
/// let summary = read_isd_csv(table.as_bytes(), |item| {
///     assert_eq!(item.station.native_id, "725090-14739");
///     let values: Vec<_> = item.report.readings.iter().map(|reading| reading.value).collect();
///     assert_eq!(values, [12.96, 250.0, 2134.0, 16.093, 5.6, -1.1, 1005.2, 0.5]);
/// })?;
/// assert_eq!((summary.read, summary.refused), (1, 0));
/// # Ok::<(), mesonet::feed::FeedError>(())
/// ```
pub fn read_isd_csv(
    input: impl BufRead,
    mut visit: impl FnMut(FeedReport),
) -> Result<Summary, FeedError> {
    let mut lines = Lines::new(input, MAX_LINE_BYTES);
    let mut row = CsvRow::new();
    let mut summary = Summary::default();
    let header = match lines.next()? {
        Some(line) if row.split(line).is_ok() => IsdColumns::of(&row),
        _ => None,
    };
    let needed = "STATION, DATE, REPORT_TYPE, WND, CIG, VIS, TMP, DEW and SLP";
    let columns = header.ok_or(FeedError::Header { needed, lines: lines.number() })?;
    while let Some(line) = lines.next_filled()? {
        let outcome = row.split(line).and_then(|()| columns.report(&row, &mut summary));
        match outcome {
            Ok(report) => {
                visit(report);
                summary.read += 1;
            }
            Err(reason) => summary.refuse(FilePlace::Line(line.number), line.bytes, reason),
        }
    }
    Ok(summary)
}

/// The positions of the columns.
struct IsdColumns {
    count: usize,
    station: usize,
    date: usize,
    report_type: usize,
    mandatory: [usize; MANDATORY.len()],
    place: Option<(usize, usize)>,
    elevation: Option<usize>,
    name: Option<usize>,
    call_sign: Option<usize>,
    /// The sections of additional data, by their identifiers.
    additional: Vec<(usize, [u8; 3])>,
}

impl IsdColumns {
    fn of(row: &CsvRow) -> Option<Self> {
        let names: Vec<&[u8]> = row.fields().map(<[u8]>::trim_ascii).collect();
        let at = |name: &str| names.iter().position(|of| *of == name.as_bytes());
        let mut mandatory = [0; MANDATORY.len()];
        for (position, name) in mandatory.iter_mut().zip(MANDATORY) {
            *position = at(name)?;
        }
        let section = |(at, name): (usize, &&[u8])| {
            let identifier: [u8; 3] = (**name).try_into().ok()?;
            let is_section = matches!(identifier, [b'A'..=b'Z', b'A'..=b'Z', b'0'..=b'9']);
            is_section.then_some((at, identifier))
        };
        Some(Self {
            count: names.len(),
            station: at("STATION")?,
            date: at("DATE")?,
            report_type: at("REPORT_TYPE")?,
            mandatory,
            place: at("LONGITUDE").zip(at("LATITUDE")),
            elevation: at("ELEVATION"),
            name: at("NAME"),
            call_sign: at("CALL_SIGN"),
            additional: names.iter().enumerate().filter_map(section).collect(),
        })
    }

    fn report(&self, row: &CsvRow, summary: &mut Summary) -> Result<FeedReport, RefusalReason> {
        let got = row.fields().count();
        if got != self.count {
            return Err(RefusalReason::FieldCount { got, expected: self.count });
        }
        let kind = ReportType::of(row.field(Some(self.report_type)));
        let station = self.station(row)?;
        let date = text(row.field(Some(self.date)).trim_ascii());
        let ts_ms = plausible::observed(&format!("{}Z", date.trim_end_matches('Z')))?;

        let cells = self.mandatory.map(|at| row.field(Some(at)));
        let section: Vec<u8> = cells.into_iter().flat_map(without_commas).collect();
        let section: &[u8; MANDATORY_BYTES] = section.as_slice().try_into().map_err(|_| {
            let got = excerpt(&String::from_utf8_lossy(&cells.join(&b' ')));
            RefusalReason::Field { what: "mandatory section: WND, CIG, VIS, TMP, DEW and SLP", got }
        })?;
        let mut readings = ReadingCollector::new(Vocabulary::Plain, &mut summary.kept_as_reported);
        Mandatory(section).read(kind, &mut readings)?;
        let is_hourly = kind.is_hourly_at(ts_ms);
        let without_variable = &mut summary.without_variable;
        let mut sections = Sections::new(kind, is_hourly, &mut readings, without_variable);
        let mut fields = Vec::new();
        for &(at, identifier) in &self.additional {
            fields.clear();
            fields.extend(without_commas(row.field(Some(at))));
            if !fields.trim_ascii().is_empty() {
                sections.alone(identifier, &fields)?;
            }
        }
        let present_weather = sections.into_weather();
        let readings = readings.into_readings();
        let revision = kind.rank();
        let report = Report {
            station: station.id(),
            ts_ms,
            revision,
            present_weather,
            text: None,
            readings,
        };
        Ok(FeedReport::new(station, report))
    }

    fn station(&self, row: &CsvRow) -> Result<FeedStation, RefusalReason> {
        let id = row.field(Some(self.station)).trim_ascii();
        let refused =
            || RefusalReason::Field { what: "station of eleven characters", got: text(id) };
        let (usaf, wban) = id.split_at_checked(6).filter(|_| id.len() == 11).ok_or_else(refused)?;
        let mut station = station(usaf, wban)?;
        let number = |at: usize| {
            let field = std::str::from_utf8(row.field(Some(at))).ok()?;
            field.trim().parse::<f64>().ok()
        };
        // A place that is missing or unknown is ignored; the report is valid without it.
        station.place =
            self.place.and_then(|(lon, lat)| plausible::place(number(lon)?, number(lat)?));
        station.altitude_m = self.elevation.and_then(number).and_then(plausible::altitude_m);
        let field = |at: Option<usize>| text(row.field(at).trim_ascii());
        let call_sign = field(self.call_sign);
        if is_location_indicator(&call_sign) {
            station.identifiers.add(IdScheme::Icao, &call_sign);
        }
        let names = [field(self.name), call_sign];
        station.name = names.into_iter().find(|name| !is_missing(name.as_bytes()));
        Ok(station)
    }
}

fn without_commas(cell: &[u8]) -> impl Iterator<Item = u8> {
    cell.iter().copied().filter(|&byte| byte != b',')
}

/// Whether a file looks like one of this kind.
pub(in crate::feed) fn is_sign(_name: &str, start: &[u8]) -> bool {
    let first = start.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let first = String::from_utf8_lossy(first);
    let has = |name: &str| {
        first.split(',').any(|of| of.trim_matches(['"', ' ', '\r', '\u{feff}']) == name)
    };
    has("STATION") && has("REPORT_TYPE") && has("WND")
}

/// Reads a file of this kind.
pub(in crate::feed) fn read(
    input: &mut dyn BufRead,
    _file: &FileContext<'_>,
    visit: &mut dyn FnMut(FeedReport),
) -> Result<Summary, FeedError> {
    read_isd_csv(input, visit)
}

#[cfg(test)]
#[path = "global_hourly_tests.rs"]
mod tests;
