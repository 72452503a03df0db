//! The length of time that a product covers.

use std::fmt;
use std::str::FromStr;

use serde::Deserialize;

use crate::time::{DAY_MS, MINUTE_MS};

/// The longest duration: a year.
const MAX_MINUTES: u32 = 366 * 24 * 60;

/// The length of time that a product covers, in whole minutes.
///
/// Written as a positive whole number followed by `min`, `h` or `d`; displayed in hours if it is a
/// whole number of hours, otherwise in minutes.
///
/// ```
/// use mesonet::raster::ProductDuration;
/// let day: ProductDuration = "1d".parse()?;
/// assert_eq!((day.to_string().as_str(), day.minutes()), ("24h", 1440));
/// assert_eq!("90min".parse::<ProductDuration>()?.to_string(), "90min");
/// assert_eq!(ProductDuration::from_ms(86_400_000), Some(day));
/// assert_eq!(ProductDuration::from_ms(90_500), None);
/// assert_eq!(
///     "1.5h".parse::<ProductDuration>().unwrap_err().to_string(),
///     "invalid duration \"1.5h\": it must be a positive whole number followed by min, h or d, up \
///      to 366d, for example 24h",
/// );
/// # Ok::<(), mesonet::raster::DurationError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(try_from = "String")]
pub struct ProductDuration {
    minutes: u32,
}

/// The error for a text that is not a duration.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "invalid duration \"{0}\": it must be a positive whole number followed by min, h or d, up to \
     366d, for example 24h"
)]
pub struct DurationError(pub String);

impl ProductDuration {
    /// Returns a length in milliseconds; `None` unless it is a whole number of minutes from 1 to
    /// those of a year.
    pub fn from_ms(ms: i64) -> Option<Self> {
        let minutes = u32::try_from(ms / MINUTE_MS).ok()?;
        let whole = ms % MINUTE_MS == 0 && (1..=MAX_MINUTES).contains(&minutes);
        whole.then_some(Self { minutes })
    }

    /// Returns the length in minutes.
    pub fn minutes(self) -> u32 {
        self.minutes
    }

    /// Returns the length in milliseconds.
    pub fn ms(self) -> i64 {
        i64::from(self.minutes) * MINUTE_MS
    }
}

impl FromStr for ProductDuration {
    type Err = DurationError;
    fn from_str(text: &str) -> Result<Self, DurationError> {
        let parse = || {
            let digits = text.find(|letter: char| !letter.is_ascii_digit())?;
            let (count, unit) = text.split_at(digits);
            let unit_ms = match unit {
                "min" => MINUTE_MS,
                "h" => 60 * MINUTE_MS,
                "d" => DAY_MS,
                _ => return None,
            };
            Self::from_ms(count.parse::<i64>().ok()?.checked_mul(unit_ms)?)
        };
        parse().ok_or_else(|| DurationError(text.to_owned()))
    }
}

impl TryFrom<String> for ProductDuration {
    type Error = DurationError;
    fn try_from(text: String) -> Result<Self, DurationError> {
        text.parse()
    }
}

impl fmt::Display for ProductDuration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.minutes / 60, self.minutes % 60) {
            (hours, 0) => write!(f, "{hours}h"),
            _ => write!(f, "{}min", self.minutes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_length_has_one_name() {
        for (text, name) in
            [("10min", "10min"), ("60min", "1h"), ("24h", "24h"), ("2d", "48h"), ("366d", "8784h")]
        {
            let duration: ProductDuration = text.parse().unwrap();
            assert_eq!(duration.to_string(), name);
            assert_eq!(name.parse(), Ok(duration));
        }
    }

    #[test]
    fn invalid_durations_are_refused() {
        for text in ["", "h", "1", "0h", "-1h", "+1h", "1 h", "1H", "1.5h", "367d", "1m", "１h"] {
            assert_eq!(text.parse::<ProductDuration>(), Err(DurationError(text.to_owned())));
        }
        assert!("99999999999999999999h".parse::<ProductDuration>().is_err());
        assert_eq!(ProductDuration::from_ms(61_000), None);
    }
}
