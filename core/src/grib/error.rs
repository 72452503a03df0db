//! The errors of reading a GRIB message.

/// An error for a message that is broken or of an unsupported kind.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum GribError {
    /// The file ends inside the message.
    #[error("the message is cut short: got {got} of {needed} octets")]
    Truncated {
        /// Octets that are present.
        got: usize,
        /// Octets that the message claims to have.
        needed: u64,
    },
    /// Bytes between messages that do not belong there: the remains of a message, or too many.
    #[error("{octets} octets before octet {before} of the file belong to no message")]
    Gap {
        /// The number of octets.
        octets: usize,
        /// The octet of the file after them, counted from 1.
        before: usize,
    },
    /// An edition other than 2.
    #[error("unsupported GRIB edition {0}: it must be 2")]
    Edition(u8),
    /// A section has an impossible length, or the message does not end where it should.
    #[error("the sections do not fit into the message: at octet {octet} of {octets}")]
    Sections {
        /// The octet where this was noticed, counted from 1.
        octet: usize,
        /// The length of the message.
        octets: usize,
    },
    /// A section comes before one that must precede it.
    #[error("section {section} comes before section {needed}")]
    Order {
        /// The section.
        section: u8,
        /// The section that is missing.
        needed: u8,
    },
    /// A section has fewer octets than its template.
    #[error("section {section} is cut short: it has {octets} octets")]
    ShortSection {
        /// The section.
        section: u8,
        /// The octets that it has.
        octets: usize,
    },
    /// A code of a table that is not supported.
    #[error("unsupported {what} {got}; supported: {allowed}")]
    Unsupported {
        /// What the code stands for.
        what: &'static str,
        /// The code.
        got: u32,
        /// The codes that are supported.
        allowed: &'static str,
    },
    /// A time that is not valid.
    #[error("{0} is not valid")]
    Time(&'static str),
    /// The field has more points than may be unpacked.
    #[error("the field has {got} points; the limit is {limit}")]
    Points {
        /// Points of the field.
        got: usize,
        /// The limit.
        limit: usize,
    },
    /// Numbers in the message contradict each other.
    #[error("unexpected {what}: got {got}; expected {expected}")]
    Mismatch {
        /// What the numbers count.
        what: &'static str,
        /// The number found.
        got: u64,
        /// The number expected.
        expected: u64,
    },
    /// A grid that makes no sense.
    #[error("invalid grid: {0}")]
    Grid(&'static str),
    /// A compressed field that cannot be unpacked.
    #[error("cannot unpack the {codec} data: {reason}")]
    Codec {
        /// The compression.
        codec: &'static str,
        /// The message of the decoder.
        reason: String,
    },
    /// A constant field that readers understand in two ways.
    #[error(
        "a constant field whose value is {value} or, by its decimal scale, {scaled}: its producer \
         may mean either"
    )]
    Constant {
        /// The reference value itself.
        value: f32,
        /// The reference value divided by the decimal scale.
        scaled: f32,
    },
    /// Scale factors that lead to values that are not finite.
    #[error("the packing produces values that are not finite")]
    NotFinite,
}

impl GribError {
    /// Returns whether the message is damaged, rather than whole but of an unsupported kind.
    ///
    /// ```
    /// use mesonet::grib::GribError;
    /// assert!(GribError::Truncated { got: 16, needed: 256 }.is_damage());
    /// assert!(!GribError::Edition(1).is_damage());
    /// ```
    pub fn is_damage(&self) -> bool {
        !matches!(
            self,
            Self::Edition(1) | Self::Unsupported { .. } | Self::Points { .. } | Self::Grid(_)
        )
    }
}
