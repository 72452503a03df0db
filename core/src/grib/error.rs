//! What is wrong with a message.

/// A message that is broken, or of a kind that is not read.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum GribError {
    /// The file ends inside the message.
    #[error("the message is cut short: {got} octets are there of {needed}")]
    Truncated {
        /// Octets that are there.
        got: usize,
        /// Octets that its beginning says it has.
        needed: u64,
    },
    /// Another edition than 2.
    #[error("GRIB edition {0}; allowed is 2")]
    Edition(u8),
    /// A section of a length that cannot be, or the message's end is not where it should be.
    #[error("the sections of the message do not fit into it: at octet {octet} of {octets}")]
    Sections {
        /// Where, from 1.
        octet: usize,
        /// Length of the message.
        octets: usize,
    },
    /// A section that another must come before.
    #[error("section {section} comes before section {needed}")]
    Order {
        /// The section.
        section: u8,
        /// The one that is missing.
        needed: u8,
    },
    /// A section with fewer octets than its template has.
    #[error("section {section} is cut short: it has {octets} octets")]
    ShortSection {
        /// The section.
        section: u8,
        /// Octets that it has.
        octets: usize,
    },
    /// A code of a table that is not read.
    #[error("{what} {got} is not supported; allowed are {allowed}")]
    Unsupported {
        /// What the code is of.
        what: &'static str,
        /// The code.
        got: u32,
        /// The codes that are read.
        allowed: &'static str,
    },
    /// A time that is none.
    #[error("{0} is no time")]
    Time(&'static str),
    /// More points than may be unpacked.
    #[error("a field of {got} points; the limit is {limit}")]
    Points {
        /// Points of the field.
        got: usize,
        /// Most points.
        limit: usize,
    },
    /// Numbers in the message that contradict each other.
    #[error("{what}: {got} does not fit {expected}")]
    Mismatch {
        /// What they are of.
        what: &'static str,
        /// The one.
        got: u64,
        /// The other.
        expected: u64,
    },
    /// A grid that makes no sense.
    #[error("the grid is none: {0}")]
    Grid(&'static str),
    /// A compressed field that cannot be unpacked.
    #[error("the {codec} data cannot be unpacked: {reason}")]
    Codec {
        /// The compression.
        codec: &'static str,
        /// What its reader says.
        reason: String,
    },
    /// Scale factors that lead to values that are no numbers.
    #[error("the packing leads to values that are not finite")]
    NotFinite,
}
