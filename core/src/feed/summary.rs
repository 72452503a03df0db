//! The results of a reader of a file of reports, and its summary at the end.

use std::collections::BTreeMap;
use std::fmt;
use std::io;

use super::metar_error::MetarError;
use crate::time::TimeError;

/// A position in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FilePlace {
    /// Line number, starting at 1.
    Line(u64),
    /// Byte offset.
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
    /// The time given with the report is invalid.
    #[error(transparent)]
    Time(#[from] TimeError),
    /// The time given with the report cannot be the time of an observation.
    #[error("{got} is before 1750; instrument observations are later")]
    TooEarly {
        /// The time.
        got: String,
    },
    /// The report, or the line that contains it, is longer than any real one.
    #[error("longer than {limit} bytes, the most that is read")]
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
    #[error("{got} fields, but the header has {expected}")]
    FieldCount {
        /// Fields of the row.
        got: usize,
        /// Columns of the header.
        expected: usize,
    },
    /// An observation with more elements than any real one.
    #[error("more than {limit} elements in an observation")]
    TooManyElements {
        /// The greatest number that is read.
        limit: usize,
    },
    /// Bytes that are not UTF-8.
    #[error("not UTF-8 text")]
    NotText,
    /// A report that lacks its station or another required part.
    #[error("no {what}")]
    Without {
        /// What is missing.
        what: &'static str,
    },
    /// A required field with an invalid value.
    #[error("\"{got}\" is not a {what}")]
    Field {
        /// What the field should be.
        what: &'static str,
        /// Its first characters.
        got: String,
    },
    /// A message with more of something than any real message has.
    #[error("more than {limit} {what}")]
    TooMany {
        /// The thing that there is too much of.
        what: &'static str,
        /// The greatest number that is read.
        limit: usize,
    },
    /// A field that occurs twice with different values.
    #[error("{what} occurs twice")]
    Twice {
        /// The field.
        what: &'static str,
    },
    /// A message that is not an official alert to the public.
    #[error("not an official alert: {what} is {got:?}; allowed: {allowed}")]
    Unofficial {
        /// The field that shows this.
        what: &'static str,
        /// Its first characters.
        got: String,
        /// The allowed values.
        allowed: &'static str,
    },
    /// A bulletin of another kind.
    #[error("a bulletin of type {got}; only types SA and SP hold reports")]
    BulletinType {
        /// The two letters of the type.
        got: String,
    },
}

/// A report that was left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportRefusal {
    /// Where it starts.
    pub place: FilePlace,
    /// Its first characters.
    pub excerpt: String,
    /// Its text, for who looks into it: at most [`MAX_REFUSED_BYTES`], and what is no text is replaced.
    pub text: String,
    /// Why it was left out.
    pub reason: RefusalReason,
}

impl fmt::Display for ReportRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} (in {:?})", self.place, self.reason, self.excerpt)
    }
}

/// How reading a file went.
///
/// ```
/// use mesonet::feed::{self, FilePlace, MAX_REFUSALS, MetarItem, RefusalReason, Summary};
/// let text = "METAR CYYZ 032000Z 24012KT 15SM 29/17 A2991=\nMETAR CYXX 0320Z 24012KT=\n";
/// let mut raw = Vec::new();
/// let received_ms = mesonet::time::parse_instant("2024-08-03T20:01:00Z")?;
/// let summary: Summary = feed::read_bulletins(text.as_bytes(), received_ms, |item: MetarItem<'_>| {
///     raw.push(item.raw_text.to_owned());
/// })?;
/// assert_eq!((summary.read, summary.refused, raw.len()), (1, 1, 1));
/// assert!(summary.refusals.len() <= MAX_REFUSALS);
/// let refusal: &feed::ReportRefusal = &summary.refusals[0];
/// assert_eq!(refusal.place, FilePlace::Line(2));
/// assert!(matches!(refusal.reason, RefusalReason::Metar(_)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Reports that were returned.
    pub read: u64,
    /// Reports that were left out.
    pub refused: u64,
    /// The first [`MAX_REFUSALS`] of the reports left out.
    pub refusals: Vec<ReportRefusal>,
    /// Readings of the reports that were returned, as [`Kind::read`](super::Kind::read)
    /// counts them.
    pub readings: u64,
    /// Readings kept in the unit in which they were reported, by variable and unit, because the
    /// unit is ambiguous or unknown.
    pub kept_as_reported: Tally,
    /// Values without a variable in the service, by the feed's name for them.
    pub without_variable: Tally,
    /// Values that make no sense, by the feed's name for them. The report was read without them.
    /// Groups of METAR reports are counted together, as "METAR groups".
    pub unread_values: Tally,
}

/// Counts by name, for a bounded number of names.
///
/// ```
/// use mesonet::feed::{MAX_TALLY_NAMES, Tally};
/// let mut tally = Tally::default();
/// tally.add("METAR CYXX");
/// tally.add("METAR CYXX");
/// assert_eq!(tally.iter().collect::<Vec<_>>(), [("METAR CYXX", 2)]);
/// let mut many = Tally::default();
/// for number in 0..MAX_TALLY_NAMES + 3 {
///     many.add(&format!("station {number}"));
/// }
/// assert_eq!(many.others(), 3);
/// tally.merge(&many);
/// assert_eq!(tally.total(), 2 + MAX_TALLY_NAMES as u64 + 3);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    counts: BTreeMap<String, u64>,
    others: u64,
}

/// Number of names that a [`Tally`] distinguishes; further ones are counted together.
pub const MAX_TALLY_NAMES: usize = 500;

impl Tally {
    /// Adds one to the count of a name.
    pub fn add(&mut self, name: &str) {
        self.add_many(name, 1);
    }

    pub(super) fn add_many(&mut self, name: &str, count: u64) {
        if count == 0 {
            return;
        }
        if let Some(known) = self.counts.get_mut(name) {
            *known += count;
        } else if self.counts.len() < MAX_TALLY_NAMES {
            self.counts.insert(name.to_owned(), count);
        } else {
            self.others += count;
        }
    }

    /// Names and counts, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, u64)> {
        self.counts.iter().map(|(name, &count)| (name.as_str(), count))
    }

    /// Count of all names beyond the first [`MAX_TALLY_NAMES`].
    pub fn others(&self) -> u64 {
        self.others
    }

    /// The sum of all counts.
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

/// Number of refusals that a summary keeps; further ones are only counted.
pub const MAX_REFUSALS: usize = 100;

/// Bytes of a refused report that a summary keeps.
pub const MAX_REFUSED_BYTES: usize = 1_000;

/// Length of the excerpt that a refusal keeps.
const EXCERPT_BYTES: usize = 60;

/// Name under which the groups of METAR reports that cannot be read are counted.
const METAR_GROUPS: &str = "METAR groups";

impl Summary {
    /// Counts a report that was returned, and its groups that could not be read.
    pub(super) fn read_metar(&mut self, unread_groups: u16) {
        self.read += 1;
        self.unread_values.add_many(METAR_GROUPS, u64::from(unread_groups));
    }

    pub(super) fn refuse(&mut self, place: FilePlace, text: &[u8], reason: RefusalReason) {
        self.refused += 1;
        if self.refusals.len() < MAX_REFUSALS {
            let first =
                |bytes: usize| String::from_utf8_lossy(&text[..text.len().min(bytes)]).into_owned();
            let (excerpt, text) = (first(EXCERPT_BYTES), first(MAX_REFUSED_BYTES));
            self.refusals.push(ReportRefusal { place, excerpt, text, reason });
        }
    }
}

/// The text as quoted in an error: its first characters.
pub(super) fn excerpt(text: &str) -> String {
    text.chars().take(EXCERPT_BYTES).collect()
}

/// An error that ends the reading of a file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FeedError {
    /// The source of the bytes failed.
    #[error("cannot read the feed: {message}")]
    Io {
        /// The kind of failure.
        kind: io::ErrorKind,
        /// The message of the source.
        message: String,
    },
    /// There is no header with the required columns.
    #[error("no header line with the columns {needed}, in {lines} lines")]
    Header {
        /// The required columns.
        needed: &'static str,
        /// Number of lines searched.
        lines: u64,
    },
    /// The file is not of its kind, or lacks something that all of its reports need.
    #[error("{0}")]
    NotThisKind(String),
    /// A file that is longer than any real one.
    #[error("the file is longer than {limit} bytes, the most that is read")]
    TooLong {
        /// The greatest length that is read.
        limit: u64,
    },
    /// Not JSON, or not of the structure that the reader needs.
    #[error("unreadable JSON at byte {byte}: {message}")]
    Json {
        /// Byte offset of the fault.
        byte: u64,
        /// What is wrong.
        message: String,
    },
    /// Not well-formed XML.
    #[error("not well-formed XML at byte {byte}: {message}")]
    Xml {
        /// Byte offset of the fault.
        byte: u64,
        /// What is wrong.
        message: String,
    },
}

impl From<io::Error> for FeedError {
    fn from(error: io::Error) -> Self {
        Self::Io { kind: error.kind(), message: error.to_string() }
    }
}
