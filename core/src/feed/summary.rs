//! What the reader of a file of reports hands out, and what it says at the end.

use std::fmt;
use std::io;

use super::metar::{Metar, MetarError, MetarKind};
use crate::geo::LonLat;
use crate::time::TimeError;

/// One report of a file, decoded. What it borrows is gone after the visit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MetarItem<'a> {
    /// Id of the station in its network: its ICAO location indicator.
    pub native_id: &'a str,
    /// Time of the report, milliseconds since 1970 (UTC).
    pub ts_ms: i64,
    /// The report as it came, its lines joined.
    pub raw_text: &'a str,
    /// Place of the station, where the file gives it.
    pub place: Option<LonLat>,
    /// Altitude of the station above mean sea level, where the file gives it.
    pub altitude_m: Option<f64>,
    /// Why the report was made, by its own word or else by that of the file.
    pub kind: MetarKind,
    /// The decoded report.
    pub metar: Metar,
}

/// Where in a file something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FilePlace {
    /// Number of a line, the first is 1.
    Line(u64),
    /// Number of bytes before it.
    Byte(u64),
}

impl fmt::Display for FilePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(line) => write!(f, "line {line}"),
            Self::Byte(byte) => write!(f, "byte {byte}"),
        }
    }
}

/// Why a report was left out.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RefusalReason {
    /// The report has no station or no time.
    #[error(transparent)]
    Metar(#[from] MetarError),
    /// The time beside the report is none.
    #[error(transparent)]
    Time(#[from] TimeError),
    /// The report, or the line that holds it, is longer than any real one.
    #[error("longer than {limit} bytes, which no report is")]
    TooLong {
        /// The greatest length that is read.
        limit: usize,
    },
    /// A row with more fields than any real one.
    #[error("more than {limit} fields in a row")]
    TooManyFields {
        /// The greatest number that is read.
        limit: usize,
    },
    /// Bytes that are not UTF-8.
    #[error("not UTF-8 text")]
    NotText,
    /// A bulletin of another kind.
    #[error("a bulletin of type {got}; reports come in types SA and SP")]
    BulletinType {
        /// The two letters of the type.
        got: String,
    },
}

/// A report that was left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Where it starts.
    pub place: FilePlace,
    /// Its first characters.
    pub excerpt: String,
    /// Why it was left out.
    pub reason: RefusalReason,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} (in {:?})", self.place, self.reason, self.excerpt)
    }
}

/// How the reading of a file went.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FeedSummary {
    /// Reports that were handed out.
    pub read: u64,
    /// Reports that were left out.
    pub refused: u64,
    /// The first [`MAX_REFUSALS`] of those left out.
    pub refusals: Vec<Refusal>,
}

/// Refusals that a summary keeps; further ones are only counted.
pub const MAX_REFUSALS: usize = 100;

/// Length of the excerpt that a refusal keeps.
const EXCERPT_BYTES: usize = 60;

impl FeedSummary {
    pub(super) fn refuse(&mut self, place: FilePlace, text: &[u8], reason: RefusalReason) {
        self.refused += 1;
        if self.refusals.len() < MAX_REFUSALS {
            let excerpt = &text[..text.len().min(EXCERPT_BYTES)];
            let excerpt = String::from_utf8_lossy(excerpt).into_owned();
            self.refusals.push(Refusal { place, excerpt, reason });
        }
    }
}

/// A file that cannot be read on.
#[derive(Debug, thiserror::Error)]
pub enum FeedError {
    /// The source of the bytes failed.
    #[error("cannot read the feed: {0}")]
    Io(#[from] io::Error),
    /// No header with the columns that are needed.
    #[error("no header line with the columns {needed}, in {lines} lines")]
    Header {
        /// The columns that are needed.
        needed: &'static str,
        /// Lines that were looked at.
        lines: u64,
    },
    /// Not well-formed XML.
    #[error("not well-formed XML at byte {byte}: {message}")]
    Xml {
        /// Bytes before the fault.
        byte: u64,
        /// What is wrong.
        message: String,
    },
}
