//! Stamps of model runs.

use std::fmt;
use std::str::FromStr;

use chrono::{DateTime, NaiveDateTime};

/// The start of a model run, written as `yyyyMMddTHHmmssZ` (UTC). Later runs are greater.
///
/// ```
/// use mesonet::model::RunStamp;
/// let run: RunStamp = "20180917T000000Z".parse()?;
/// assert_eq!(run.start_ms(), 1_537_142_400_000);
/// assert_eq!(run.to_string(), "20180917T000000Z");
/// assert_eq!(RunStamp::from_ms(1_537_142_400_000), Ok(run));
/// assert_eq!(
///     "2018-09-17T00:00:00Z".parse::<RunStamp>().unwrap_err().to_string(),
///     "invalid run \"2018-09-17T00:00:00Z\": it must be yyyyMMddTHHmmssZ, for example \
///      20180917T000000Z",
/// );
/// # Ok::<(), mesonet::model::RunStampError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(value_type = String, pattern = "^[0-9]{8}T[0-9]{6}Z$"))]
pub struct RunStamp(i64);

/// The error for a text or an instant that is not a run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid run \"{0}\": it must be yyyyMMddTHHmmssZ, for example 20180917T000000Z")]
pub struct RunStampError(pub String);

const FORMAT: &str = "%Y%m%dT%H%M%SZ";

impl RunStamp {
    /// Returns the run that starts at an instant, in milliseconds since 1970 (UTC).
    ///
    /// # Errors
    /// If the instant has a fraction of a second, or its year does not have four digits.
    pub fn from_ms(start_ms: i64) -> Result<Self, RunStampError> {
        let time = DateTime::from_timestamp_millis(start_ms);
        let text = time.map(|time| time.format(FORMAT).to_string());
        let whole = start_ms.rem_euclid(1000) == 0;
        match text {
            Some(text) if whole && text.len() == 16 => Ok(Self(start_ms)),
            _ => Err(RunStampError(format!("{start_ms} ms"))),
        }
    }

    /// Returns the start in milliseconds since 1970 (UTC).
    pub fn start_ms(self) -> i64 {
        self.0
    }
}

impl FromStr for RunStamp {
    type Err = RunStampError;

    fn from_str(text: &str) -> Result<Self, RunStampError> {
        let parsed = NaiveDateTime::parse_from_str(text, FORMAT);
        let run =
            parsed.ok().and_then(|time| Self::from_ms(time.and_utc().timestamp_millis()).ok());
        // Otherwise blanks and missing zeros would give one run several spellings.
        run.filter(|run| run.to_string() == text).ok_or_else(|| RunStampError(text.to_owned()))
    }
}

impl fmt::Display for RunStamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let time = DateTime::from_timestamp_millis(self.0).ok_or(fmt::Error)?;
        write!(f, "{}", time.format(FORMAT))
    }
}

impl serde::Serialize for RunStamp {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> serde::Deserialize<'de> for RunStamp {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_has_one_name() {
        for text in ["20180917T000000Z", "00000101T000000Z", "99991231T235959Z"] {
            assert_eq!(text.parse::<RunStamp>().unwrap().to_string(), text);
        }
        for text in [
            "",
            "20180917T0000Z",
            "20180917T000000",
            "20180917t000000Z",
            "20181317T000000Z",
            " 20180917T000000Z",
            "2018917T000000Z",
            "20180917T000060Z",
            "+2018917T000000Z",
        ] {
            assert_eq!(text.parse::<RunStamp>(), Err(RunStampError(text.to_owned())));
        }
    }

    #[test]
    fn a_run_starts_at_a_whole_second() {
        assert!(RunStamp::from_ms(1).is_err() && RunStamp::from_ms(i64::MAX).is_err());
        assert_eq!(RunStamp::from_ms(-1000).unwrap().to_string(), "19691231T235959Z");
        assert!(RunStamp::from_ms(0).unwrap() < RunStamp::from_ms(1000).unwrap());
    }
}
