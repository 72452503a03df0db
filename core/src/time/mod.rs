//! Instants, spans and windows of time.
//!
//! In slices an instant is an `i64` called `ts_ms`: milliseconds since 1970-01-01T00:00:00Z. Text
//! is ISO 8601 with `Z` or an explicit offset.

mod local;
mod window;

use std::fmt;
use std::str::FromStr;

use chrono::{DateTime, Datelike, NaiveDate};

pub use self::local::LocalClock;
#[cfg(feature = "store")]
pub(crate) use self::window::passed;
pub use self::window::{ClosedWindow, HalfOpenWindow};

/// Milliseconds in a minute.
pub const MINUTE_MS: i64 = 60_000;
/// Milliseconds in an hour.
pub const HOUR_MS: i64 = 60 * MINUTE_MS;
/// Milliseconds in a day.
pub const DAY_MS: i64 = 24 * HOUR_MS;

/// The error for an invalid instant, span, step or window.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TimeError {
    /// Not an RFC 3339 instant.
    #[error(
        "\"{0}\" is not an instant; allowed is RFC 3339 with Z or an offset, years 0000 to 9999, \
         for example 2024-08-03T21:00:00Z"
    )]
    Instant(String),
    /// Not a span.
    #[error(
        "\"{got}\" is not a span; allowed is a positive whole number followed by {units}, for \
         example {example}"
    )]
    Span {
        /// The text that was given.
        got: String,
        /// The allowed unit letters.
        units: &'static str,
        /// An example of a valid span.
        example: &'static str,
    },
    /// Not a step.
    #[error("step must be a whole number of minutes from 1 to {max}; got {0}", max = Step::MAX_MINUTES)]
    Step(String),
    /// A window whose start is not before its end.
    #[error("start must be before end; got start {} and end {}", Iso8601(*.start_ms), Iso8601(*.end_ms))]
    Order {
        /// The start that was given.
        start_ms: i64,
        /// The end that was given.
        end_ms: i64,
    },
}

/// Parses an RFC 3339 instant (the profile of ISO 8601 for the internet), with `Z` or an offset,
/// into milliseconds since 1970 (UTC). The letters may be lower-case, as RFC 3339 (5.6) allows.
///
/// Beyond RFC 3339, seconds may be omitted, an offset may be written `+00` or `+0000`, and the
/// whole instant may be in ISO 8601's basic form, `20240803T211900Z`. Anything finer than a
/// millisecond is truncated.
///
/// # Errors
/// Anything else is a [`TimeError::Instant`], including a local time without an offset.
///
/// ```
/// use mesonet::time::parse_instant;
/// assert_eq!(parse_instant("1970-01-01T00:00:01.5Z"), Ok(1_500));
/// assert_eq!(parse_instant("2024-08-03T17:19-04:00"), parse_instant("2024-08-03t21:19:00z"));
/// assert_eq!(parse_instant("20240803T1719-0400"), parse_instant("2024-08-03T21:19:00+00"));
/// assert!(parse_instant("2024-08-03T21:19:00").is_err());
/// ```
pub fn parse_instant(text: &str) -> Result<i64, TimeError> {
    if let Some(ts_ms) = parse_plain(text.as_bytes()) {
        return Ok(ts_ms);
    }
    let parsed = rfc_3339(text).and_then(|text| DateTime::parse_from_rfc3339(&text).ok());
    match parsed {
        Some(instant) => Ok(instant.timestamp_millis()),
        None => Err(TimeError::Instant(text.to_owned())),
    }
}

/// Rewrites a text as RFC 3339 requires: in the extended form, with seconds, and the offset as `Z`
/// or with a colon. `None` if the text has none of the allowed shapes. The values of the digits are
/// not checked.
fn rfc_3339(text: &str) -> Option<String> {
    // Longer texts have digits that nobody needs.
    if !text.is_ascii() || text.len() > MAX_INSTANT_BYTES {
        return None;
    }
    let (date, rest) = text.split_once(['T', 't'])?;
    let (clock, offset) = rest.split_at(rest.find(['Z', 'z', '+', '-'])?);
    let (clock, fraction) = clock.split_at(clock.find('.').unwrap_or(clock.len()));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let (date, clock) = match (date.len(), clock.len()) {
        (8, 4 | 6) if digits(date) && digits(clock) => {
            let seconds = clock.get(4..6).unwrap_or("00");
            let date = format!("{}-{}-{}", &date[..4], &date[4..6], &date[6..]);
            (date, format!("{}:{}:{seconds}", &clock[..2], &clock[2..4]))
        }
        (10, 5) => (date.to_owned(), format!("{clock}:00")),
        (10, 8) => (date.to_owned(), clock.to_owned()),
        _ => return None,
    };
    // A fraction is one of seconds.
    if !fraction.is_empty() && !matches!(rest.find('.'), Some(6 | 8)) {
        return None;
    }
    let (sign, hours) = offset.split_at(1);
    let offset = match hours.len() {
        2 => format!("{offset}:00"),
        4 if digits(hours) => format!("{sign}{}:{}", &hours[..2], &hours[2..]),
        _ => offset.to_owned(),
    };
    Some(format!("{date}T{clock}{fraction}{offset}"))
}

/// Length of the longest instant that is read, with the nanoseconds and more that some sources write.
const MAX_INSTANT_BYTES: usize = 64;

/// Parses the shape `2024-08-03T21:19:00Z`, which nearly all instants of feeds have, without a
/// format; `None` for all other shapes, and for a second of 60.
fn parse_plain(text: &[u8]) -> Option<i64> {
    let shaped = text.len() == 20
        && [(4, b'-'), (7, b'-'), (10, b'T'), (13, b':'), (16, b':'), (19, b'Z')]
            .iter()
            .all(|&(at, sign)| text[at] == sign);
    if !shaped {
        return None;
    }
    let two = |at: usize| {
        let (tens, ones) = (text[at], text[at + 1]);
        let are_digits = tens.is_ascii_digit() && ones.is_ascii_digit();
        are_digits.then(|| u32::from(tens - b'0') * 10 + u32::from(ones - b'0'))
    };
    let year = two(0)? * 100 + two(2)?;
    let date = NaiveDate::from_ymd_opt(year as i32, two(5)?, two(8)?)?;
    let instant = date.and_hms_opt(two(11)?, two(14)?, two(17)?)?;
    Some(instant.and_utc().timestamp_millis())
}

/// Displays an instant as ISO 8601 in UTC, with milliseconds only if they are not zero.
///
/// ```
/// use mesonet::Iso8601;
/// assert_eq!(Iso8601(1_722_719_940_000).to_string(), "2024-08-03T21:19:00Z");
/// assert_eq!(Iso8601(-1).to_string(), "1969-12-31T23:59:59.999Z");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(value_type = String, format = DateTime))]
pub struct Iso8601(
    /// Milliseconds since 1970 (UTC).
    pub i64,
);

impl fmt::Display for Iso8601 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = Vec::with_capacity(24);
        InstantWriter::default().write(self.0, &mut text);
        f.write_str(std::str::from_utf8(&text).map_err(|_| fmt::Error)?)
    }
}

impl serde::Serialize for Iso8601 {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> serde::Deserialize<'de> for Iso8601 {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        parse_instant(&text).map(Self).map_err(serde::de::Error::custom)
    }
}

/// Writes many instants as ISO 8601 text, computing the date once per day and the time once per
/// second instead of per instant: the readings of a report have the same.
///
/// ```
/// use mesonet::time::InstantWriter;
/// let (mut writer, mut line) = (InstantWriter::default(), Vec::new());
/// for ts_ms in [1_722_719_940_000, 1_722_720_240_500] {
///     writer.write(ts_ms, &mut line);
///     line.push(b';');
/// }
/// assert_eq!(line, b"2024-08-03T21:19:00Z;2024-08-03T21:24:00.500Z;");
/// ```
#[derive(Clone, Debug)]
pub struct InstantWriter {
    day: i64,
    second: i64,
    /// The text of the second, without the `Z`.
    text: Vec<u8>,
    date_bytes: usize,
}

impl Default for InstantWriter {
    fn default() -> Self {
        Self { day: i64::MIN, second: i64::MIN, text: Vec::new(), date_bytes: 0 }
    }
}

impl InstantWriter {
    /// Appends an instant to the text, as [`Iso8601`] displays it.
    pub fn write(&mut self, ts_ms: i64, text: &mut Vec<u8>) {
        let (second, ms) = (ts_ms.div_euclid(1000), ts_ms.rem_euclid(1000));
        if second != self.second {
            self.take(second);
        }
        text.extend_from_slice(&self.text);
        if ms != 0 {
            let [t1, t2] = two_digits(ms % 100);
            text.extend_from_slice(&[b'.', b'0' + (ms / 100) as u8, t1, t2]);
        }
        text.push(b'Z');
    }

    fn take(&mut self, second: i64) {
        let (day, in_day) = (second.div_euclid(DAY_MS / 1000), second.rem_euclid(DAY_MS / 1000));
        self.second = second;
        if day == self.day {
            self.text.truncate(self.date_bytes);
        } else {
            self.day = day;
            self.text.clear();
            write_date(day, &mut self.text);
            self.date_bytes = self.text.len();
        }
        let [h1, h2] = two_digits(in_day / 3600);
        let [m1, m2] = two_digits(in_day / 60 % 60);
        let [s1, s2] = two_digits(in_day % 60);
        self.text.extend_from_slice(&[b'T', h1, h2, b':', m1, m2, b':', s1, s2]);
    }
}

fn write_date(day: i64, text: &mut Vec<u8>) {
    // Days outside chrono's calendar are shown as its nearest end.
    let date = i32::try_from(day).ok().and_then(NaiveDate::from_epoch_days);
    let date = date.unwrap_or(if day < 0 { NaiveDate::MIN } else { NaiveDate::MAX });
    match date.year() {
        year @ 0..=9999 => {
            let parts = [year / 100, year % 100, date.month() as i32, date.day() as i32];
            let [[c1, c2], [y1, y2], [m1, m2], [d1, d2]] =
                parts.map(|part| two_digits(part.into()));
            text.extend_from_slice(&[c1, c2, y1, y2, b'-', m1, m2, b'-', d1, d2]);
        }
        _ => text.extend_from_slice(date.to_string().as_bytes()),
    }
}

fn two_digits(number: i64) -> [u8; 2] {
    [b'0' + (number / 10) as u8, b'0' + (number % 10) as u8]
}

/// Parses a span in days or hours, as in the `window` parameter, into milliseconds.
///
/// A span longer than an `i64` of milliseconds, 292 million years, is cut to that length: either
/// span covers all readings.
///
/// # Errors
/// The text is not a positive whole number followed by `d` or `h`.
///
/// ```
/// use mesonet::time::parse_window;
/// assert_eq!(parse_window("7d"), Ok(7 * 86_400_000));
/// assert_eq!(parse_window("99999999999999999999d"), Ok(i64::MAX));
/// assert_eq!(
///     parse_window("0h").unwrap_err().to_string(),
///     "\"0h\" is not a span; allowed is a positive whole number followed by d or h, for example 7d",
/// );
/// ```
pub fn parse_window(text: &str) -> Result<i64, TimeError> {
    parse_span(text, &[('d', DAY_MS), ('h', HOUR_MS)]).ok_or_else(|| TimeError::Span {
        got: text.to_owned(),
        units: "d or h",
        example: "7d",
    })
}

/// Parses a span in days, hours or minutes, as in the `maxAge` parameter, into milliseconds; a very
/// long one is cut as by [`parse_window`].
///
/// # Errors
/// The text is not a positive whole number followed by `d`, `h` or `m`.
///
/// ```
/// assert_eq!(mesonet::time::parse_max_age("90m"), Ok(5_400_000));
/// ```
pub fn parse_max_age(text: &str) -> Result<i64, TimeError> {
    parse_span(text, &[('d', DAY_MS), ('h', HOUR_MS), ('m', MINUTE_MS)])
        .ok_or_else(|| TimeError::Span { got: text.to_owned(), units: "d, h or m", example: "90m" })
}

fn parse_span(text: &str, units: &[(char, i64)]) -> Option<i64> {
    let (digits, unit_ms) =
        units.iter().find_map(|&(letter, unit_ms)| Some((text.strip_suffix(letter)?, unit_ms)))?;
    let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    // A text of digits only fails to parse if the number is too great.
    let number = plain.then(|| digits.parse::<i64>().unwrap_or(i64::MAX))?;
    (number > 0).then(|| number.saturating_mul(unit_ms))
}

/// The spacing of a grid: a positive whole number of minutes.
///
/// ```
/// use mesonet::Step;
/// assert_eq!("15".parse::<Step>()?.minutes(), 15);
/// assert_eq!(Step::from_minutes(60)?.ms(), mesonet::time::HOUR_MS);
/// assert!(Step::from_minutes(Step::MAX_MINUTES + 1).is_err());
/// assert_eq!(
///     "1.5".parse::<Step>().unwrap_err().to_string(),
///     "step must be a whole number of minutes from 1 to 2147483647; got \"1.5\"",
/// );
/// # Ok::<(), mesonet::time::TimeError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Step {
    minutes: i64,
}

impl Step {
    /// The largest step that can be requested: the interface's `int32`.
    pub const MAX_MINUTES: i64 = i32::MAX as i64;

    /// Creates a step from a number of minutes.
    ///
    /// # Errors
    /// The number is less than 1 or more than [`Step::MAX_MINUTES`].
    pub fn from_minutes(minutes: i64) -> Result<Self, TimeError> {
        if (1..=Self::MAX_MINUTES).contains(&minutes) {
            Ok(Self { minutes })
        } else {
            Err(TimeError::Step(minutes.to_string()))
        }
    }

    /// Returns the length in minutes.
    pub fn minutes(self) -> i64 {
        self.minutes
    }

    /// Returns the length in milliseconds.
    pub fn ms(self) -> i64 {
        self.minutes * MINUTE_MS
    }

    /// Returns a whole multiple of the step. It may exceed the largest step that can be requested;
    /// it is capped at the longest whose milliseconds fit an `i64`.
    #[cfg(feature = "store")]
    pub(crate) fn times(self, factor: i64) -> Self {
        Self { minutes: self.minutes.saturating_mul(factor).min(i64::MAX / MINUTE_MS) }
    }
}

impl FromStr for Step {
    type Err = TimeError;
    fn from_str(text: &str) -> Result<Self, TimeError> {
        let minutes = text.parse::<i64>().ok().filter(|_| !text.starts_with('+'));
        minutes
            .and_then(|minutes| Self::from_minutes(minutes).ok())
            .ok_or_else(|| TimeError::Step(format!("\"{text}\"")))
    }
}

#[cfg(test)]
#[path = "time_tests.rs"]
mod tests;
