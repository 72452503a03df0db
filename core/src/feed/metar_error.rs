//! Why a text is not a METAR report.

/// Longest report that is decoded, in bytes. None of the 72,000 reports in the trial exceeds 600
/// bytes.
pub const MAX_REPORT_BYTES: usize = 4096;

/// A text that is not a METAR.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MetarError {
    /// The station is missing or invalid.
    #[error(
        "\"{got}\" is not a station; a report starts with METAR or SPECI, which may be left out, \
         then an indicator of four letters or digits, a letter first, for example CYYZ"
    )]
    Station {
        /// The start of the text found instead.
        got: String,
    },
    /// The time is missing or invalid.
    #[error(
        "\"{got}\" is not the time of a report; after the station come day, hour and minute, for \
         example 231118Z"
    )]
    Time {
        /// The start of the text found instead.
        got: String,
    },
    /// The text is too long to be a report.
    #[error("the text has {got} bytes; a report has {MAX_REPORT_BYTES} at most")]
    TooLong {
        /// Its length in bytes.
        got: usize,
    },
    /// There is something behind the end of the report.
    #[error(
        "the text goes on after the = that ends a report: \"{got}\"; give one report at a time"
    )]
    More {
        /// The start of what follows.
        got: String,
    },
}
