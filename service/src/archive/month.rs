//! A month of the calendar, UTC.

use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use mesonet::Iso8601;
use mesonet::time::parse_instant;
use serde::{Deserialize, Serialize};

/// A month; as text `2024-08`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Month {
    year: u16,
    month: u8,
}

impl Month {
    /// The month of an instant. For an instant before the year 1 or after the year 9999, the
    /// nearest month.
    pub fn of(ms: i64) -> Self {
        let first = Self { year: 1, month: 1 };
        let last = Self { year: 9999, month: 12 };
        let ms = ms.clamp(first.start_ms(), last.start_ms());
        Iso8601(ms).to_string().get(..7).and_then(|text| text.parse().ok()).unwrap_or(last)
    }

    /// Its first instant, milliseconds since 1970.
    pub fn start_ms(self) -> i64 {
        // Every month has a first instant.
        parse_instant(&format!("{self}-01T00:00:00Z")).unwrap_or(i64::MAX)
    }

    /// Its instants, milliseconds since 1970.
    pub fn span_ms(self) -> Range<i64> {
        self.start_ms()..self.next().map_or(i64::MAX, Self::start_ms)
    }

    /// The next month; `None` after the end of the year 9999.
    pub fn next(self) -> Option<Self> {
        match self {
            Self { year: 9999, month: 12 } => None,
            Self { year, month: 12 } => Some(Self { year: year + 1, month: 1 }),
            Self { year, month } => Some(Self { year, month: month + 1 }),
        }
    }

    /// The months that have instants of a span of time.
    pub fn within(span_ms: Range<i64>) -> impl Iterator<Item = Self> {
        let first = (!span_ms.is_empty()).then(|| Self::of(span_ms.start));
        std::iter::successors(first, |month| month.next())
            .take_while(move |month| month.start_ms() < span_ms.end)
    }

    /// A number that identifies the month.
    pub fn number(self) -> i64 {
        i64::from(self.year) * 100 + i64::from(self.month)
    }

    /// The folder of its files.
    pub fn folder(self) -> String {
        format!("year={:04}/month={:02}", self.year, self.month)
    }
}

impl fmt::Display for Month {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}", self.year, self.month)
    }
}

impl FromStr for Month {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |digits: &str| {
            digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok()).flatten()
        };
        let month =
            text.split_once('-').filter(|(year, month)| year.len() == 4 && month.len() == 2);
        let month = month.and_then(|(year, month)| Some((number(year)?, number(month)?)));
        match month {
            Some((year @ 1.., month @ 1..=12)) => Ok(Self { year, month: month as u8 }),
            _ => Err(format!("\"{text}\" is not a month such as 2024-08")),
        }
    }
}

impl TryFrom<String> for Month {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Month> for String {
    fn from(month: Month) -> Self {
        month.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn month(text: &str) -> Month {
        text.parse().unwrap()
    }

    #[test]
    fn a_month_ends_where_the_next_one_begins() {
        let of = |text: &str| Month::of(parse_instant(text).unwrap());
        assert_eq!(of("2024-02-29T23:59:59.999Z"), month("2024-02"));
        assert_eq!(of("2024-03-01T00:00:00Z"), month("2024-03"));
        assert_eq!(of("1969-12-31T23:59:59Z"), month("1969-12"));
        assert_eq!(month("2024-12").span_ms().end, month("2025-01").start_ms());
        assert_eq!(
            (Month::of(i64::MIN), Month::of(i64::MAX)),
            (month("0001-01"), month("9999-12"))
        );
        assert_eq!(month("2024-02").folder(), "year=2024/month=02");
    }

    #[test]
    fn a_span_has_the_months_of_its_instants() {
        let (from, to) = (month("2023-11").start_ms() + 1, month("2024-02").start_ms());
        let within = |span| Month::within(span).map(|month| month.to_string()).collect::<Vec<_>>();
        assert_eq!(within(from..to), ["2023-11", "2023-12", "2024-01"]);
        assert_eq!(within(from..to + 1).last().unwrap(), "2024-02");
        assert!(within(to..to).is_empty());
    }

    #[test]
    fn what_is_no_month_is_refused() {
        for text in [
            "",
            "2024",
            "2024-13",
            "2024-00",
            "0000-01",
            "24-08",
            "2024-8",
            "+024-08",
            "2024-08-01",
        ] {
            assert!(text.parse::<Month>().is_err(), "{text}");
        }
    }
}
