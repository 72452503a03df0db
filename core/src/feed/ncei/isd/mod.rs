//! NCEI's Integrated Surface Data (ISD, DS3505): fixed-width records.

use std::io::BufRead;

use crate::feed::collect::{Measurement, ReadingCollector};
use crate::feed::item::{FeedReport, FeedStation, FileContext, is_location_indicator};
use crate::feed::plausible;
use crate::feed::summary::{FeedError, FilePlace, RefusalReason, Summary, excerpt};
use crate::feed::text::lines::{Line, Lines};
use crate::observation::{BaseQuality, ISD, IdScheme, Qualifier, Quality, Report};
use crate::time::{HOUR_MS, MINUTE_MS};
use crate::unit::Vocabulary;
use additional::Sections;
use mandatory::{CONTROL_BYTES, MANDATORY_BYTES, Mandatory};

mod additional;
pub(in crate::feed) mod global_hourly;
pub(in crate::feed) mod lite;
mod mandatory;

/// Network that stations of the Integrated Surface Data belong to.
pub const ISD_NETWORK: &str = "ISD";

/// Longest line that is read: the length of what follows the mandatory section has four digits.
const MAX_LINE_BYTES: usize = 16 * 1024;

/// Reads records of the Integrated Surface Data, one per line, and visits each.
///
/// The layout, the missing values (all nines) and the quality codes are those of the *Federal
/// Climate Complex Data Documentation for Integrated Surface Data* (12 January 2018). The native id
/// is `USAF-WBAN`; the call letters, if a record has them, are the name. The elevation is that
/// of the ground. The height of the wind sensor is not given, so wind at 10 m cannot be derived
/// from these records.
///
/// | Element | Series |
/// | --- | --- |
/// | wind | windSpeed, windDirection: Average 2 in METAR and SPECI (FM-15, FM-16), 10 in SYNOP and the like (FM-12, 13, 14, 18); 5, 60, 180 by type H, R, T; else Unknown |
/// | ceiling, visibility | ceilingHeight, visibility Instantaneous |
/// | temperature, dew point, sea level pressure | airTemperature, dewPointTemperature, mslp Instantaneous |
/// | `AA` | precipitation Cumulative of its hours |
/// | `AJ`, `AL` | snowDepth Instantaneous; snowfall Cumulative of its hours |
/// | `KA` | airTemperature Max or Min of its hours |
/// | `MA` | altimeterSetting, barometricPressure Instantaneous |
/// | `MD` | pressureTendency Cumulative 180, negative if its character is a fall; pressureTendencyCharacter Unknown 180 |
/// | `GA` | cloudCover, cloudBaseHeight Instantaneous of each layer; a hidden sky (9) has a cover of 8 and no base |
/// | `OA` | windGust Max (types 3, 4), windSpeed Max (5), windSpeed Average (1, 2) of its hours |
/// | `OC` | windGust: Max 10 in METAR and SPECI, else Unknown |
/// | `RH` | relativeHumidity Average, Max, Min of its hours |
/// | `SA`, `UA` | seaSurfaceTemperature, waveHeight Instantaneous |
/// | `AU`, else `MW`, else `AW` | present weather |
///
/// Where an element leaves a choice:
/// - The interval is Unknown, of 0 minutes, if the period is not given.
/// - A calm has the speed 0 and no direction, a variable wind no direction; a direction of 0 is
///   ignored.
/// - A ceiling of 22000 m means that there is none.
/// - A trace of precipitation (condition 2) or snow depth (3) is 0 with the qualifier Trace. A
///   visibility of 160000 m is at least that. Amounts that are impossible (condition 1), incomplete (I, J),
///   or for an accumulated (4), deleted (5, 6) or missing (7, 8) period are left out and counted by
///   their condition. Condition 3 is a measurable amount in real records of the United States.
/// - In METAR and SPECI an amount for one hour counts from the last hourly report. That is an hour
///   only in FM-15 at minute 45 to 59 or 0; in other reports it is left out and counted.
/// - If one record has several values of a series, the first section wins.
/// - Reports of different types can have the same time. SPECI wins over METAR, METAR over all
///   others, and those over summaries (SOD, SOM); the rank is the revision of the report, so any
///   order gives the same readings.
///
/// Quality codes become verdicts by [`ISD`](crate::observation::ISD); codes that are not in it
/// leave a value unchecked. Present weather that is suspect or erroneous is left out. Remarks and
/// the quality section after them are not read. Other sections are skipped by their length and
/// counted by their identifier. A section that the document does not define ends the reading of its
/// record.
///
/// # Errors
/// If the source fails. A damaged record is counted and listed in the summary.
///
/// ```
/// use mesonet::{Iso8601, feed::read_isd};
/// let record = "0029725472949892016010100537+41991-093619FM-15+0291KAMW V030\
///               2505N00465027435MN0160935N5-00835-01175102805ADDAA101000095MA1102645099165";
/// let summary = read_isd(record.as_bytes(), |item| {
///     assert_eq!(item.station.native_id, "725472-94989");
///     assert_eq!(Iso8601(item.report.ts_ms).to_string(), "2016-01-01T00:53:00Z");
///     let wind = &item.report.readings[0];
///     assert_eq!((wind.series.interval_minutes, wind.value), (2, 16.56));
/// })?;
/// assert_eq!((summary.read, summary.refused), (1, 0));
/// # Ok::<(), mesonet::feed::FeedError>(())
/// ```
pub fn read_isd(
    input: impl BufRead,
    mut visit: impl FnMut(FeedReport),
) -> Result<Summary, FeedError> {
    let mut lines = Lines::new(input, MAX_LINE_BYTES);
    let mut summary = Summary::default();
    while let Some(line) = lines.next()? {
        if line.bytes.is_empty() {
            continue;
        }
        match report(line, &mut summary) {
            Ok(report) => {
                visit(report);
                summary.read += 1;
            }
            Err(reason) => summary.refuse(FilePlace::Line(line.number), line.bytes, reason),
        }
    }
    Ok(summary)
}

/// The sections of a record.
struct IsdRecord<'a> {
    control: &'a [u8; CONTROL_BYTES],
    mandatory: Mandatory<'a>,
    variable: &'a [u8],
}

/// The type of a report, as far as it determines intervals and which of two reports wins.
#[derive(Clone, Copy, PartialEq)]
enum ReportType {
    Synop,
    Metar,
    Speci,
    Summary,
    Other,
}

impl ReportType {
    fn of(code: &[u8]) -> Self {
        match code.trim_ascii() {
            b"FM-12" | b"FM-13" | b"FM-14" | b"FM-18" => Self::Synop,
            b"FM-15" => Self::Metar,
            b"FM-16" => Self::Speci,
            b"SOD" | b"SOM" => Self::Summary,
            _ => Self::Other,
        }
    }

    fn is_aviation(self) -> bool {
        matches!(self, Self::Metar | Self::Speci)
    }

    /// Whether a report of a time is the hourly one.
    fn is_hourly_at(self, ts_ms: i64) -> bool {
        let minute = ts_ms.rem_euclid(HOUR_MS) / MINUTE_MS;
        self == Self::Metar && matches!(minute, 45..=59 | 0)
    }

    fn rank(self) -> u8 {
        match self {
            Self::Summary => 0,
            Self::Synop | Self::Other => 1,
            Self::Metar => 2,
            Self::Speci => 3,
        }
    }
}

fn report(line: Line<'_>, summary: &mut Summary) -> Result<FeedReport, RefusalReason> {
    if line.cut {
        return Err(RefusalReason::TooLong { limit: MAX_LINE_BYTES });
    }
    let record = IsdRecord::of(line.bytes)?;
    let kind = ReportType::of(record.field(42, 46));
    let station = record.station()?;
    let ts_ms = record.time()?;
    let mut readings = ReadingCollector::new(Vocabulary::Plain, &mut summary.kept_as_reported);
    record.mandatory.read(kind, &mut readings)?;
    let is_hourly = kind.is_hourly_at(ts_ms);
    let without_variable = &mut summary.without_variable;
    let mut sections = Sections::new(kind, is_hourly, &mut readings, without_variable);
    sections.read(record.variable)?;
    let present_weather = sections.into_weather();
    let readings = readings.into_readings();
    let report = Report {
        station: station.id(),
        ts_ms,
        revision: kind.rank(),
        present_weather,
        text: None,
        readings,
    };
    Ok(FeedReport::new(station, report))
}

impl<'a> IsdRecord<'a> {
    fn of(line: &'a [u8]) -> Result<Self, RefusalReason> {
        let sections = line.split_first_chunk::<CONTROL_BYTES>().and_then(|(control, rest)| {
            let (mandatory, rest) = rest.split_first_chunk::<MANDATORY_BYTES>()?;
            Some((control, Mandatory(mandatory), rest))
        });
        let Some((control, mandatory, rest)) = sections else {
            return Err(RefusalReason::Without { what: "control and mandatory section" });
        };
        let length = std::str::from_utf8(&control[..4]).ok().and_then(|text| text.parse().ok());
        // A truncated record ends within a section. A record with two-byte letters is longer.
        let variable = length.and_then(|length: usize| rest.get(..length)).ok_or_else(|| {
            let (what, got) = ("count of the characters that follow", text(&control[..4]));
            RefusalReason::Field { what, got }
        })?;
        Ok(Self { control, mandatory, variable })
    }

    /// The characters at positions as the document counts them: from 1, both ends included.
    fn field(&self, first: usize, last: usize) -> &'a [u8] {
        &self.control[first - 1..last]
    }

    fn number(&self, first: usize, last: usize) -> Result<Option<f64>, RefusalReason> {
        number(self.field(first, last))
    }

    fn station(&self) -> Result<FeedStation, RefusalReason> {
        let mut station = station(self.field(5, 10), self.field(11, 15))?;
        let thousandths = |degrees: f64| degrees / 1000.0;
        let (lat, lon) = (self.number(29, 34)?, self.number(35, 41)?);
        station.place = lon
            .zip(lat)
            .and_then(|(lon, lat)| plausible::place(thousandths(lon), thousandths(lat)));
        station.altitude_m = self.number(47, 51)?.and_then(plausible::altitude_m);
        let call_letters = self.field(52, 56).trim_ascii();
        if !is_missing(call_letters) {
            let call_letters = text(call_letters);
            if is_location_indicator(&call_letters) {
                station.identifiers.add(IdScheme::Icao, &call_letters);
            }
            station.name = Some(call_letters);
        }
        Ok(station)
    }

    fn time(&self) -> Result<i64, RefusalReason> {
        let part = |first, last| text(self.field(first, last));
        let (date, hour) = (
            [part(16, 19), part(20, 21), part(22, 23)].join("-"),
            [part(24, 25), part(26, 27)].join(":"),
        );
        plausible::observed(&format!("{date}T{hour}:00Z"))
    }
}

/// The station of two numbers: that of the air force and that of NCEI.
fn station(usaf: &[u8], wban: &[u8]) -> Result<FeedStation, RefusalReason> {
    let id = |field: &[u8]| {
        let is_id = field.iter().all(u8::is_ascii_alphanumeric);
        is_id.then(|| text(field)).ok_or_else(|| RefusalReason::Field {
            what: "station number of the air force or of NCEI",
            got: text(field),
        })
    };
    let (usaf, wban) = (id(usaf)?, id(wban)?);
    let mut station = FeedStation::new(ISD_NETWORK, format!("{usaf}-{wban}"));
    for (scheme, id) in [(IdScheme::Usaf, &usaf), (IdScheme::Wban, &wban)] {
        if !is_missing(id.as_bytes()) {
            station.identifiers.add(scheme, id);
        }
    }
    Ok(station)
}

/// The number in a fixed-width field; `None` if it is missing.
fn number(field: &[u8]) -> Result<Option<f64>, RefusalReason> {
    if is_missing(field) {
        return Ok(None);
    }
    let digits = field.strip_prefix(b"+").or(field.strip_prefix(b"-")).unwrap_or(field);
    let is_number = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
    let value = std::str::from_utf8(field).ok().filter(|_| is_number);
    match value.and_then(|field| field.parse().ok()) {
        Some(value) => Ok(Some(value)),
        None => Err(RefusalReason::Field { what: "number", got: text(field) }),
    }
}

/// Whether a field indicates a missing value: nines, or blanks.
fn is_missing(field: &[u8]) -> bool {
    let digits = field.strip_prefix(b"+").unwrap_or(field);
    digits.iter().all(|&digit| digit == b'9') || field.iter().all(|&character| character == b' ')
}

fn tenths(value: f64) -> f64 {
    value / 10.0
}

fn text(field: &[u8]) -> String {
    excerpt(&String::from_utf8_lossy(field))
}

/// The verdict that a code stands for. An unknown code leaves the value unchecked.
fn verdict(code: u8) -> Quality {
    let quality = ISD.quality(char::from(code));
    if quality.base == BaseQuality::Unknown { Quality::UNCHECKED } else { quality }
}

/// Adds a value if there is one and its series has none yet.
fn push(to: &mut ReadingCollector<'_>, of: Measurement<'_>, value: Option<f64>, quality: Quality) {
    push_qualified(to, of, value, quality, None);
}

/// The same, with the qualifier that the record gives.
fn push_qualified(
    to: &mut ReadingCollector<'_>,
    of: Measurement<'_>,
    value: Option<f64>,
    quality: Quality,
    qualifier: Option<Qualifier>,
) {
    let is_new = to.so_far().iter().all(|reading| !of.is_of(&reading.series));
    if let Some(value) = value.filter(|_| is_new) {
        to.push_qualified(of, value, quality, qualifier);
    }
}

/// Whether a file looks like one of this kind: its first line is a record.
pub(in crate::feed) fn is_sign(_name: &str, start: &[u8]) -> bool {
    let digits = |range: std::ops::Range<usize>| {
        start.get(range).is_some_and(|field| field.iter().all(u8::is_ascii_digit))
    };
    let is_sign = |at: usize| matches!(start.get(at), Some(b'+' | b'-'));
    let is_process = start.get(56..60).is_some_and(|field| field.starts_with(b"V0"));
    digits(0..4) && digits(15..27) && is_sign(28) && is_sign(34) && is_sign(46) && is_process
}

/// Reads a file of this kind.
pub(in crate::feed) fn read(
    input: &mut dyn BufRead,
    _file: &FileContext<'_>,
    visit: &mut dyn FnMut(FeedReport),
) -> Result<Summary, FeedError> {
    read_isd(input, visit)
}

#[cfg(test)]
#[path = "isd_tests.rs"]
mod tests;
