//! What the reader of a file of reports hands out, and what it says at the end.

use std::collections::BTreeMap;
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
    /// A row that has more or fewer fields than there are columns.
    #[error("{got} fields where the header has {expected}")]
    FieldCount {
        /// Fields of the row.
        got: usize,
        /// Columns of the header.
        expected: usize,
    },
    /// An observation of more elements than any real one.
    #[error("more than {limit} elements in an observation")]
    TooManyElements {
        /// The greatest number that is read.
        limit: usize,
    },
    /// Bytes that are not UTF-8.
    #[error("not UTF-8 text")]
    NotText,
    /// A report that does not say of which station it is, or what makes it a report.
    #[error("no {what}")]
    Without {
        /// What is not there.
        what: &'static str,
    },
    /// A field that makes no sense, without which the report makes none.
    #[error("\"{got}\" is no {what}")]
    Field {
        /// What the field should be.
        what: &'static str,
        /// What it is, its first characters.
        got: String,
    },
    /// A message with more of something than any real one.
    #[error("more than {limit} {what}")]
    TooMany {
        /// What there is too much of.
        what: &'static str,
        /// The greatest number that is read.
        limit: usize,
    },
    /// A field that comes twice, where each says something else of the same thing.
    #[error("{what} comes twice")]
    Twice {
        /// The field.
        what: &'static str,
    },
    /// A message that is no official alert to the public.
    #[error("no official alert: {what} is {got:?}; allowed is {allowed}")]
    Unofficial {
        /// The field that says it.
        what: &'static str,
        /// What it says, its first characters.
        got: String,
        /// What it should say.
        allowed: &'static str,
    },
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
    /// Readings of the reports that were handed out, as [`FeedKind::read`](super::FeedKind::read)
    /// counts them.
    pub readings: u64,
    /// Readings kept in the unit that they were reported in, by variable and unit: the unit is
    /// ambiguous or unknown.
    pub kept_as_reported: Tally,
    /// Values that the service has no variable for, by the name that the feed gives them.
    pub without_variable: Tally,
    /// Values that make no sense where they stand, by the name that the feed gives them. The
    /// report was read without them.
    pub unread_values: Tally,
}

/// Counts by name, of a bounded number of names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    counts: BTreeMap<String, u64>,
    others: u64,
}

/// Names that a [`Tally`] tells apart; further ones are counted together.
pub const MAX_TALLY_NAMES: usize = 500;

impl Tally {
    /// Counts one more of a name.
    pub fn add(&mut self, name: &str) {
        self.add_many(name, 1);
    }

    fn add_many(&mut self, name: &str, count: u64) {
        if let Some(known) = self.counts.get_mut(name) {
            *known += count;
        } else if self.counts.len() < MAX_TALLY_NAMES {
            self.counts.insert(name.to_owned(), count);
        } else {
            self.others += count;
        }
    }

    /// Names and counts, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, u64)> {
        self.counts.iter().map(|(name, &count)| (name.as_str(), count))
    }

    /// Counts of names past the first [`MAX_TALLY_NAMES`].
    pub fn others(&self) -> u64 {
        self.others
    }

    /// All counts together.
    pub fn total(&self) -> u64 {
        self.counts.values().sum::<u64>() + self.others
    }

    /// Adds the counts of another.
    pub fn merge(&mut self, other: &Self) {
        for (name, count) in other.iter() {
            self.add_many(name, count);
        }
        self.others += other.others;
    }
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

/// The text as it goes into an error: its first characters.
pub(super) fn excerpt(text: &str) -> String {
    text.chars().take(EXCERPT_BYTES).collect()
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
    /// The file is none of its kind, or lacks what all of its reports need.
    #[error("{0}")]
    NotThisKind(String),
    /// A file that is longer than any real one.
    #[error("longer than {limit} bytes, which no such file is")]
    TooLong {
        /// The greatest length that is read.
        limit: u64,
    },
    /// Not JSON, or not of the shape that the reader needs.
    #[error("not readable JSON at byte {byte}: {message}")]
    Json {
        /// Bytes before the fault.
        byte: u64,
        /// What is wrong.
        message: String,
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
