//! Where the clock of a server starts.

use std::str::FromStr;

use mesonet::Iso8601;
use mesonet::time::parse_instant;
use serde::{Deserialize, Serialize};

/// Where the clock starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum ReplayStart {
    /// At the newest reading of the sample.
    Sample,
    /// At real time.
    Live,
    /// At an instant, milliseconds since 1970 (UTC).
    At(i64),
}

/// The text is not a start of the clock.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "\"{0}\" is not a start of the clock; it must be sample, live or an RFC 3339 instant, for \
     example 2024-08-03T18:00:00Z"
)]
pub struct ReplayStartError(pub String);

impl FromStr for ReplayStart {
    type Err = ReplayStartError;
    fn from_str(text: &str) -> Result<Self, ReplayStartError> {
        match text {
            "sample" => Ok(Self::Sample),
            "live" => Ok(Self::Live),
            _ => parse_instant(text).map(Self::At).map_err(|_| ReplayStartError(text.to_owned())),
        }
    }
}

impl TryFrom<String> for ReplayStart {
    type Error = ReplayStartError;
    fn try_from(text: String) -> Result<Self, ReplayStartError> {
        text.parse()
    }
}

impl From<ReplayStart> for String {
    fn from(start: ReplayStart) -> Self {
        match start {
            ReplayStart::Sample => "sample".to_owned(),
            ReplayStart::Live => "live".to_owned(),
            ReplayStart::At(ts_ms) => Iso8601(ts_ms).to_string(),
        }
    }
}
