//! Reports: what a station measured at one moment, in canonical units and with verdicts.

use crate::observation::{Qualifier, Quality, SeriesKey, Station, StationId};

/// One value of one series.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    /// The series that the value belongs to.
    pub series: SeriesKey,
    /// The value, in the series' unit.
    pub value: f64,
    /// The verdict.
    pub quality: Quality,
    /// What the report says about the value in addition to the number; mostly `None`.
    pub qualifier: Option<Qualifier>,
}

impl Reading {
    /// Returns an unchecked reading without a qualifier.
    pub fn unchecked(series: SeriesKey, value: f64) -> Self {
        Self { series, value, quality: Quality::UNCHECKED, qualifier: None }
    }
}

/// The report of a station for one moment.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// The station.
    pub station: StationId,
    /// Time of the report, milliseconds since 1970 (UTC).
    pub ts_ms: i64,
    /// 0 for a first report, higher for each correction of it. A reading of the same or a higher
    /// revision replaces a reading, so a late copy of the first report does not undo a correction.
    pub revision: u8,
    /// Present-weather descriptions; `None` if the report says nothing about the weather.
    pub present_weather: Option<Vec<String>>,
    /// The report as it came in; `None` if the feed gives only values.
    pub text: Option<ReportText>,
    /// The values.
    pub readings: Vec<Reading>,
}

/// A report as it came in, such as a METAR, and the heading of its bulletin.
///
/// White space, also between lines, is one space. Two texts are
/// [the same report](Self::is_same_report) if they differ only in what a feed leaves out: the name of
/// the code before it, the mark of its end, and the heading.
///
/// ```
/// use mesonet::observation::ReportText;
/// let heading = Some("SACN31 CWAO 032000");
/// let text = ReportText::new("METAR CYYZ 032000Z 24012G20KT\n  29/17 A2991=", heading);
/// let text = text.ok_or("it is no text")?;
/// assert_eq!(text.text(), "METAR CYYZ 032000Z 24012G20KT 29/17 A2991=");
/// assert_eq!(text.header(), Some("SACN31 CWAO 032000"));
/// let of_other_feed = ReportText::new("CYYZ 032000Z 24012G20KT 29/17 A2991", None);
/// assert!(of_other_feed.is_some_and(|other| other.is_same_report(&text)));
/// assert_eq!(ReportText::new(&"x".repeat(ReportText::MOST_BYTES + 1), None), None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportText {
    text: Box<str>,
    header: Option<Box<str>>,
}

impl ReportText {
    /// The most bytes of a text: twice those of the longest report that a bulletin may have.
    pub const MOST_BYTES: usize = 2048;
    /// The most bytes of a heading.
    pub const MOST_HEADER_BYTES: usize = 64;

    /// A text with the heading of its bulletin; a heading that is too long or not text is left out.
    /// `None` if the text is empty, longer than [`MOST_BYTES`](Self::MOST_BYTES) or has control
    /// characters other than white space.
    pub fn new(text: &str, header: Option<&str>) -> Option<Self> {
        let header = header.and_then(|header| clean(header, Self::MOST_HEADER_BYTES));
        Some(Self { text: clean(text, Self::MOST_BYTES)?, header })
    }

    /// The report.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The heading of the bulletin that the report was in, such as `SACN31 CWAO 032000`.
    pub fn header(&self) -> Option<&str> {
        self.header.as_deref()
    }

    /// Whether two texts are copies of one report from different feeds.
    pub fn is_same_report(&self, other: &Self) -> bool {
        bare(&self.text) == bare(&other.text)
    }

    /// A number of 31 bits that is the same for [the same report](Self::is_same_report), and mostly
    /// another for another. It is FNV-1a of the bare report, folded, so it never changes.
    pub fn code(&self) -> u32 {
        let mut hash = 0xcbf2_9ce4_8422_2325_u64;
        for byte in bare(&self.text).bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
        ((hash >> 33) ^ (hash & 0x7fff_ffff)) as u32 & 0x7fff_ffff
    }
}

/// A text with white space as one space; `None` if it is empty, too long or not text.
fn clean(text: &str, most_bytes: usize) -> Option<Box<str>> {
    // A text that is only white space beyond the limit need not be read.
    if text.len() > 8 * most_bytes {
        return None;
    }
    let mut clean = String::with_capacity(text.len());
    for word in text.split_ascii_whitespace() {
        if word.contains(char::is_control) {
            return None;
        }
        if !clean.is_empty() {
            clean.push(' ');
        }
        clean.push_str(word);
    }
    (!clean.is_empty() && clean.len() <= most_bytes).then(|| clean.into())
}

/// A report without the name of its code and the mark of its end.
fn bare(text: &str) -> &str {
    let text = text.strip_prefix("METAR ").or_else(|| text.strip_prefix("SPECI ")).unwrap_or(text);
    text.trim_end_matches(['=', ' '])
}

/// Stations and reports to be stored together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Batch {
    /// Stations that are new, have moved or were renamed.
    pub stations: Vec<Station>,
    /// Reports, in the order in which they came in.
    pub reports: Vec<Report>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_is_too_long_or_no_text_is_none() {
        let of = |text: &str| ReportText::new(text, None).map(|text| text.text().to_owned());
        assert_eq!(of(" A\r\n\t B  "), Some("A B".to_owned()));
        let longest = "x".repeat(ReportText::MOST_BYTES);
        assert_eq!(of(&longest), Some(longest.clone()));
        for wrong in ["", " \n", "A\u{1}B", "A\u{85}B", &format!("{longest}x")] {
            assert_eq!(of(wrong), None, "{wrong:?}");
        }
        let headed = ReportText::new("A", Some(&"H".repeat(ReportText::MOST_HEADER_BYTES + 1)));
        assert_eq!(headed.as_ref().map(ReportText::header), Some(None));
    }

    #[test]
    fn copies_of_a_report_have_one_code_that_never_changes() {
        let of = |text: &str| ReportText::new(text, None).unwrap();
        let report = of("METAR CYYZ 032000Z 24012KT=");
        for copy in
            ["CYYZ 032000Z 24012KT", "SPECI CYYZ 032000Z 24012KT =", "CYYZ  032000Z 24012KT"]
        {
            assert!(of(copy).is_same_report(&report), "{copy}");
            assert_eq!(of(copy).code(), report.code());
        }
        for other in ["CYYZ 032000Z 24012KT $", "METAR COR CYYZ 032000Z 24012KT"] {
            assert!(!of(other).is_same_report(&report), "{other}");
            assert_ne!(of(other).code(), report.code());
        }
        assert_eq!(of("A").code(), CODE_OF_A);
    }

    /// FNV-1a of `A`, 0xaf63fc4c860222ec, folded.
    const CODE_OF_A: u32 =
        ((0xaf63_fc4c_8602_22ec_u64 >> 33) ^ (0xaf63_fc4c_8602_22ec & 0x7fff_ffff)) as u32;
}
