//! NCEI's isd-lite: eight elements of the Integrated Surface Data, one hour per line.

use std::io::BufRead;

use super::{push, push_qualified, station, tenths};
use crate::feed::collect::{Measurement, ReadingCollector};
use crate::feed::item::{FeedReport, FeedStation, FileContext};
use crate::feed::plausible;
use crate::feed::summary::{FeedError, FilePlace, RefusalReason, Summary, excerpt};
use crate::feed::text::lines::Lines;
use crate::observation::IntervalType::{Cumulative, Unknown};
use crate::observation::{Qualifier, Quality, Report, Variable};
use crate::unit::Vocabulary;

/// Longest line that is read; real ones have 61 characters.
const MAX_LINE_BYTES: usize = 1024;
/// Numbers of a line.
const FIELDS: usize = 12;
/// The number for no value.
const MISSING: f64 = -9999.0;
/// The number for a trace of precipitation.
const TRACE: f64 = -1.0;

/// Reads an isd-lite file of a station, `native_id`, and visits each line.
///
/// A line has year, month, day and hour (UTC), then air temperature, dew point, sea level pressure,
/// wind direction, wind speed, the code of the sky's cover, and the precipitation of one and of six
/// hours (NCEI, isd-lite-format). For each hour NCEI took the observation nearest to it, so the
/// true times are up to half an hour off, and the interval of the wind is unknown. -9999 is no
/// value; a trace of precipitation, -1, is 0 with the qualifier Trace. A calm has no direction. The
/// code of the sky is counted as a value without a variable: it belongs to no layer.
///
/// Neither the file nor its lines name the station: the name of the file does, `USAF-WBAN-YEAR`.
/// They do not give its place either; the place is that of the station on record.
///
/// # Errors
/// If the source fails, or if `native_id` is not an id of the Integrated Surface Data. A line that
/// cannot be read is counted and listed in the summary.
///
/// ```
/// use mesonet::feed::read_isd_lite;
/// let text = "2020 01 01 00   -39   -61 10215   270    46     4     0 -9999\n";
/// let summary = read_isd_lite(text.as_bytes(), "725090-14739", |item| {
///     assert_eq!(item.station.native_id, "725090-14739");
///     let values: Vec<_> = item.report.readings.iter().map(|reading| reading.value).collect();
///     assert_eq!(values, [-3.9, -6.1, 1021.5, 270.0, 16.56, 0.0]);
/// })?;
/// assert_eq!((summary.read, summary.without_variable.total()), (1, 1));
/// # Ok::<(), mesonet::feed::FeedError>(())
/// ```
pub fn read_isd_lite(
    input: impl BufRead,
    native_id: &str,
    mut visit: impl FnMut(FeedReport),
) -> Result<Summary, FeedError> {
    let of = native_id.split_once('-').filter(|(usaf, wban)| usaf.len() == 6 && wban.len() == 5);
    let station = of.and_then(|(usaf, wban)| station(usaf.as_bytes(), wban.as_bytes()).ok());
    let station = station.ok_or_else(|| {
        let got = excerpt(native_id);
        FeedError::NotThisKind(format!(
            "\"{got}\" is not a station; allowed is an id such as 725090-14739"
        ))
    })?;
    let mut lines = Lines::new(input, MAX_LINE_BYTES);
    let mut summary = Summary::default();
    while let Some(line) = lines.next_filled()? {
        let outcome = if line.cut {
            Err(RefusalReason::TooLong { limit: MAX_LINE_BYTES })
        } else {
            report(line.bytes, &station, &mut summary)
        };
        match outcome {
            Ok(report) => {
                visit(FeedReport::new(station.clone(), report));
                summary.read += 1;
            }
            Err(reason) => summary.refuse(FilePlace::Line(line.number), line.bytes, reason),
        }
    }
    Ok(summary)
}

/// The numbers of a line.
fn numbers(line: &[u8]) -> Result<[f64; FIELDS], RefusalReason> {
    let line = std::str::from_utf8(line).map_err(|_| RefusalReason::NotText)?;
    let mut numbers = [MISSING; FIELDS];
    let mut fields = line.split_ascii_whitespace();
    for (at, number) in numbers.iter_mut().enumerate() {
        let field = fields.next().ok_or(RefusalReason::FieldCount { got: at, expected: FIELDS })?;
        let whole = field.parse::<i32>();
        let refused = |_| RefusalReason::Field { what: "whole number", got: excerpt(field) };
        *number = f64::from(whole.map_err(refused)?);
    }
    match fields.count() {
        0 => Ok(numbers),
        more => Err(RefusalReason::FieldCount { got: FIELDS + more, expected: FIELDS }),
    }
}

fn report(
    line: &[u8],
    station: &FeedStation,
    summary: &mut Summary,
) -> Result<Report, RefusalReason> {
    let [year, month, day, hour, air, dew, pressure, direction, speed, sky, one_hour, six_hours] =
        numbers(line)?;
    let ts_ms = plausible::observed(&format!("{year:04}-{month:02}-{day:02}T{hour:02}:00Z"))?;
    let value = |number: f64| Some(number).filter(|&number| number != MISSING);
    let mut readings = ReadingCollector::new(Vocabulary::Plain, &mut summary.kept_as_reported);
    for (variable, number, unit) in [
        (Variable::AirTemperature, air, "°C"),
        (Variable::DewPointTemperature, dew, "°C"),
        (Variable::Mslp, pressure, "hPa"),
    ] {
        let of = Measurement::instantaneous(variable, unit);
        push(&mut readings, of, value(number).map(tenths), Quality::UNCHECKED);
    }
    // A direction of 0 means a calm, or is unknown.
    let direction = value(direction).filter(|&degrees| degrees > 0.0);
    let of = Measurement::new(Variable::WindDirection, Unknown, 0, "°");
    push(&mut readings, of, direction, Quality::UNCHECKED);
    let of = Measurement::new(Variable::WindSpeed, Unknown, 0, "m/s");
    push(&mut readings, of, value(speed).map(tenths), Quality::UNCHECKED);
    for (number, minutes) in [(one_hour, 60), (six_hours, 360)] {
        let is_trace = number == TRACE;
        let amount = value(number).map(|number| if is_trace { 0.0 } else { tenths(number) });
        let qualifier = is_trace.then_some(Qualifier::Trace);
        let of = Measurement::new(Variable::Precipitation, Cumulative, minutes, "mm");
        push_qualified(&mut readings, of, amount, Quality::UNCHECKED, qualifier);
    }
    let readings = readings.into_readings();
    if value(sky).is_some() {
        summary.without_variable.add("sky condition");
    }
    Ok(Report {
        station: station.id(),
        ts_ms,
        revision: 0,
        present_weather: None,
        text: None,
        readings,
    })
}

/// The station in a file name: `725090-14739-2020`.
fn station_of_name(name: &str) -> Option<&str> {
    let stem = name.split_once('.').map_or(name, |(stem, _)| stem);
    let (native_id, year) = stem.rsplit_once('-')?;
    let (usaf, wban) = native_id.split_once('-')?;
    let is_id = |id: &str, length| {
        id.len() == length && id.bytes().all(|byte| byte.is_ascii_alphanumeric())
    };
    let is_year = year.len() == 4 && year.bytes().all(|byte| byte.is_ascii_digit());
    (is_year && is_id(usaf, 6) && is_id(wban, 5)).then_some(native_id)
}

/// Whether a file looks like one of this kind: its first line has the numbers of an hour.
pub(in crate::feed) fn is_sign(_name: &str, start: &[u8]) -> bool {
    let first = start.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let is_time = |[year, month, day, hour, ..]: [f64; FIELDS]| {
        (1750.0..2200.0).contains(&year)
            && (1.0..=12.0).contains(&month)
            && (1.0..=31.0).contains(&day)
            && (0.0..24.0).contains(&hour)
    };
    numbers(first).is_ok_and(is_time)
}

/// Reads a file of this kind.
pub(in crate::feed) fn read(
    input: &mut dyn BufRead,
    file: &FileContext<'_>,
    visit: &mut dyn FnMut(FeedReport),
) -> Result<Summary, FeedError> {
    let native_id = station_of_name(file.name).ok_or_else(|| {
        FeedError::NotThisKind(format!(
            "an isd-lite file names its station only in its file name, and \"{}\" does not; expected a \
             name such as 725090-14739-2020",
            excerpt(file.name)
        ))
    })?;
    read_isd_lite(input, native_id, visit)
}

#[cfg(test)]
#[path = "lite_tests.rs"]
mod tests;
