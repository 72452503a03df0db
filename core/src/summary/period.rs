//! Periods of local dates.

use std::fmt;
use std::str::FromStr;

use chrono::{Datelike, Months, NaiveDate};

use crate::time::{DAY_MS, HOUR_MS, HalfOpenWindow, Iso8601, MINUTE_MS};

/// The error for columns that do not form a series, or for an invalid date, offset or period.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SummaryError {
    /// Columns of different lengths.
    #[error("lengths must match: got {0}")]
    Lengths(String),
    /// A reading that is earlier than the one before it.
    #[error("times must ascend; reading {reading} is earlier than the one before")]
    Order {
        /// The index of the reading.
        reading: usize,
    },
    /// Not a period.
    #[error("\"{0}\" is not a period; allowed are hour, day, month, window")]
    Period(String),
    /// Not a date.
    #[error(
        "\"{0}\" is not a date; allowed is year, month and day from 0000-01-01 to 9999-12-31, for \
         example 2024-08-03"
    )]
    Date(String),
    /// Not an offset.
    #[error(
        "\"{0}\" is not an offset from UTC; allowed are Z and hours and minutes from -12:00 to \
         +14:00, for example -05:00"
    )]
    Offset(String),
    /// The first date is after the last one.
    #[error("from must not be after to; got from {from} and to {to}")]
    Dates {
        /// The first date.
        from: LocalDate,
        /// The last date.
        to: LocalDate,
    },
}

/// What a summary is of.
///
/// ```
/// use mesonet::summary::Period;
/// assert_eq!("day".parse(), Ok(Period::Day));
/// assert_eq!(Period::ALL.map(Period::name), ["hour", "day", "month", "window"]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Period {
    /// Each hour.
    Hour,
    /// Each day.
    Day,
    /// Each month.
    Month,
    /// One window of any length.
    Window,
}

impl Period {
    /// Every period.
    pub const ALL: [Self; 4] = [Self::Hour, Self::Day, Self::Month, Self::Window];

    /// The name on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Hour => "hour",
            Self::Day => "day",
            Self::Month => "month",
            Self::Window => "window",
        }
    }
}

impl FromStr for Period {
    type Err = SummaryError;
    fn from_str(got: &str) -> Result<Self, SummaryError> {
        let found = Self::ALL.into_iter().find(|period| period.name() == got);
        found.ok_or_else(|| SummaryError::Period(got.to_owned()))
    }
}

/// An offset from UTC that does not change: the standard time of a place the whole year, never its
/// summer time.
///
/// A day of the climate of the United States is one of local standard time: `-05:00` in New York in
/// July too. A day of the climate of Canada ends at 06:00 UTC everywhere: `-06:00`.
///
/// ```
/// use mesonet::summary::UtcOffset;
/// let offset: UtcOffset = "-03:30".parse()?;
/// assert_eq!((offset.minutes(), offset.to_string().as_str()), (-210, "-03:30"));
/// assert_eq!("Z".parse(), Ok(UtcOffset::UTC));
/// assert!("EST".parse::<UtcOffset>().is_err());
/// # Ok::<(), mesonet::summary::SummaryError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UtcOffset {
    minutes: i32,
}

impl UtcOffset {
    /// UTC itself.
    pub const UTC: Self = Self { minutes: 0 };

    /// Creates an offset from minutes; those east of Greenwich are positive.
    ///
    /// # Errors
    /// It is not from 12 hours behind UTC to 14 hours ahead of it.
    pub fn from_minutes(minutes: i32) -> Result<Self, SummaryError> {
        if (-12 * 60..=14 * 60).contains(&minutes) {
            Ok(Self { minutes })
        } else {
            Err(SummaryError::Offset(format!("{minutes} min")))
        }
    }

    /// Returns the offset in minutes.
    pub fn minutes(self) -> i32 {
        self.minutes
    }

    fn ms(self) -> i64 {
        i64::from(self.minutes) * MINUTE_MS
    }
}

impl FromStr for UtcOffset {
    type Err = SummaryError;
    fn from_str(got: &str) -> Result<Self, SummaryError> {
        let refused = || SummaryError::Offset(got.to_owned());
        if matches!(got, "Z" | "z") {
            return Ok(Self::UTC);
        }
        let (sign, digits) = match got.split_at_checked(1) {
            Some(("+", digits)) => (1, digits),
            Some(("-", digits)) => (-1, digits),
            _ => return Err(refused()),
        };
        let (hours, minutes) = match digits.len() {
            2 => (digits, "00"),
            4 => digits.split_at_checked(2).ok_or_else(refused)?,
            5 => digits.split_once(':').ok_or_else(refused)?,
            _ => return Err(refused()),
        };
        let number = |text: &str| {
            let is_plain = text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_digit());
            text.parse::<i32>().ok().filter(|_| is_plain).ok_or_else(refused)
        };
        let (hours, minutes) = (number(hours)?, number(minutes)?);
        if minutes > 59 {
            return Err(refused());
        }
        Self::from_minutes(sign * (hours * 60 + minutes)).map_err(|_| refused())
    }
}

impl fmt::Display for UtcOffset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.minutes < 0 { '-' } else { '+' };
        let minutes = self.minutes.abs();
        write!(f, "{sign}{:02}:{:02}", minutes / 60, minutes % 60)
    }
}

impl serde::Serialize for UtcOffset {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A date at the place whose days are summarised.
///
/// ```
/// use mesonet::summary::{LocalDate, UtcOffset};
/// let date: LocalDate = "2024-08-03".parse()?;
/// let midnight_ms = date.start_ms("-05:00".parse()?);
/// assert_eq!(mesonet::Iso8601(midnight_ms).to_string(), "2024-08-03T05:00:00Z");
/// assert_eq!(LocalDate::at(midnight_ms - 1, UtcOffset::UTC), date);
/// assert!("2023-02-29".parse::<LocalDate>().is_err());
/// # Ok::<(), mesonet::summary::SummaryError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LocalDate(NaiveDate);

impl LocalDate {
    /// Returns the date at an instant; the nearest one of the years 0000 to 9999.
    pub fn at(ts_ms: i64, offset: UtcOffset) -> Self {
        let day = ts_ms.saturating_add(offset.ms()).div_euclid(DAY_MS);
        let date = i32::try_from(day).ok().and_then(NaiveDate::from_epoch_days);
        let date = date.filter(|date| (0..=9999).contains(&date.year()));
        let end = if day < 0 { (0, 1, 1) } else { (9999, 12, 31) };
        let end = NaiveDate::from_ymd_opt(end.0, end.1, end.2).unwrap_or_default();
        Self(date.unwrap_or(end))
    }

    /// Returns the instant at which the date begins.
    pub fn start_ms(self, offset: UtcOffset) -> i64 {
        i64::from(self.0.to_epoch_days()) * DAY_MS - offset.ms()
    }

    /// The first date of the month.
    fn month(self) -> NaiveDate {
        self.0.with_day(1).unwrap_or(self.0)
    }
}

impl FromStr for LocalDate {
    type Err = SummaryError;
    fn from_str(got: &str) -> Result<Self, SummaryError> {
        let is_shaped = got.len() == 10
            && got.bytes().enumerate().all(|(at, byte)| match at {
                4 | 7 => byte == b'-',
                _ => byte.is_ascii_digit(),
            });
        let date = is_shaped.then(|| NaiveDate::parse_from_str(got, "%Y-%m-%d").ok()).flatten();
        date.map(Self).ok_or_else(|| SummaryError::Date(got.to_owned()))
    }
}

impl fmt::Display for LocalDate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0.format("%Y-%m-%d"))
    }
}

/// Returns the periods of the dates from one to another, both included: each hour or day of them, or
/// each month that has one of them; of [`Period::Window`] the dates as a whole.
///
/// # Errors
/// The first date is after the last one.
///
/// ```
/// use mesonet::summary::{Period, UtcOffset, period_label, periods};
/// let dates = ("2024-01-31".parse()?, "2024-02-01".parse()?);
/// let of = |period| periods(period, dates.0, dates.1, UtcOffset::UTC).map(Iterator::count);
/// assert_eq!((of(Period::Hour)?, of(Period::Day)?, of(Period::Month)?), (48, 2, 2));
/// let offset = "-05:00".parse()?;
/// let month = periods(Period::Month, dates.0, dates.1, offset)?.next().ok_or("January")?;
/// assert_eq!(mesonet::Iso8601(month.start_ms()).to_string(), "2024-01-01T05:00:00Z");
/// assert_eq!(period_label(Period::Month, month, offset), "2024-01");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn periods(
    period: Period,
    from: LocalDate,
    to: LocalDate,
    offset: UtcOffset,
) -> Result<impl Iterator<Item = HalfOpenWindow> + use<>, SummaryError> {
    if from > to {
        return Err(SummaryError::Dates { from, to });
    }
    let begin_ms = match period {
        Period::Month => LocalDate(from.month()).start_ms(offset),
        _ => from.start_ms(offset),
    };
    let end_ms = to.start_ms(offset) + DAY_MS;
    let mut next_ms = begin_ms;
    Ok(std::iter::from_fn(move || {
        if next_ms >= end_ms {
            return None;
        }
        let start_ms = next_ms;
        next_ms = match period {
            Period::Hour => start_ms + HOUR_MS,
            Period::Day => start_ms + DAY_MS,
            Period::Month => {
                let month = LocalDate::at(start_ms, offset).0;
                let next = month.checked_add_months(Months::new(1));
                next.map_or(end_ms, |next| LocalDate(next).start_ms(offset))
            }
            Period::Window => end_ms,
        };
        HalfOpenWindow::new(start_ms, next_ms).ok()
    }))
}

/// Returns the name of a period at its place: the date of a day, the year and month of a month, and of
/// others the instant at which they begin.
pub fn period_label(period: Period, window: HalfOpenWindow, offset: UtcOffset) -> String {
    let date = LocalDate::at(window.start_ms(), offset);
    match period {
        Period::Day => date.to_string(),
        Period::Month => date.0.format("%Y-%m").to_string(),
        Period::Hour | Period::Window => Iso8601(window.start_ms()).to_string(),
    }
}

#[cfg(test)]
#[path = "period_tests.rs"]
mod tests;
