//! The kinds of files that are read: their names, their signs, their readers.

use std::fmt;
use std::io::BufRead;
use std::str::FromStr;

use super::ndbc::{latest as ndbc_latest, realtime2 as ndbc_realtime2};
use super::report::{FeedItem, FileContext, Read, ReadAlerts};
use super::summary::{FeedError, FeedSummary};
use super::{
    awc_csv, awc_xml, bulletin, cap, eccc_hourly, ghcnh, iem_asos, isd, nws_alerts,
    nws_observation, swob,
};

/// Bytes from the start of a file that are enough to tell its kind.
pub const DETECT_BYTES: usize = 4096;

macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident, $name:literal, $module:ident, $holds:ident;)*) => {
        /// A kind of file of reports or alerts.
        ///
        /// ```
        /// use mesonet::feed::{FeedKind, FileContext};
        /// let text = b"SAUS70 KWBC 010000\nMETAR KBUF 312354Z 21014KT 02/M07 A2973=\n";
        /// let kind = FeedKind::detect("sa.txt", text).unwrap();
        /// assert_eq!(kind.to_string(), "metar-bulletin");
        /// let file = FileContext::new("sa.txt", 1_577_836_800_000);
        /// let mut stations = Vec::new();
        /// kind.read(&mut &text[..], &file, &mut |item| {
        ///     stations.extend(item.into_report().map(|report| report.station.native_id));
        /// })?;
        /// assert_eq!(stations, ["KBUF"]);
        /// # Ok::<(), mesonet::feed::FeedError>(())
        /// ```
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum FeedKind { $($(#[$doc])* $kind,)* }

        impl FeedKind {
            /// Every kind, in the order in which files are tried: the most certain sign first.
            pub const ALL: &[Self] = &[$(Self::$kind,)*];

            /// The name on command lines and in addresses.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$kind => $name,)* }
            }

            /// Whether a file looks like this kind, by its name and first [`DETECT_BYTES`].
            fn is_sign(self, name: &str, start: &[u8]) -> bool {
                match self { $(Self::$kind => $module::is_sign(name, start),)* }
            }

            fn reader(self) -> Reader {
                match self { $(Self::$kind => Reader::$holds($module::read),)* }
            }
        }
    };
}

/// How a kind is read, by what it holds.
enum Reader {
    Reports(Read),
    Alerts(ReadAlerts),
}

// Each module has `is_sign(name, start) -> bool` and `read`, a `Read` or a `ReadAlerts`. Certain
// signs first.
kinds! {
    /// METAR: the Aviation Weather Center's table, and tables like it.
    AwcCsv, "awc-csv", awc_csv, Reports;
    /// METAR: the Aviation Weather Center's data server.
    AwcXml, "awc-xml", awc_xml, Reports;
    /// Canada: SWOB-ML 2.0, observations of one or more stations.
    Swob, "swob", swob, Reports;
    /// Canada: the provincial summaries of this hour and of yesterday.
    EcccHourly, "eccc-hourly", eccc_hourly, Reports;
    /// Iowa Environmental Mesonet: airport reports as a table.
    IemAsos, "iem-asos", iem_asos, Reports;
    /// National Data Buoy Center: the latest observation of each station.
    NdbcLatest, "ndbc-latest", ndbc_latest, Reports;
    /// National Data Buoy Center: the last 45 days of a station.
    NdbcRealtime2, "ndbc-realtime2", ndbc_realtime2, Reports;
    /// United States: observations of api.weather.gov, GeoJSON.
    NwsObservation, "nws-observation", nws_observation, Reports;
    /// Alerts: the Common Alerting Protocol, of Canada and of the United States.
    Cap, "cap", cap, Alerts;
    /// United States: alerts of api.weather.gov, GeoJSON.
    NwsAlerts, "nws-alerts", nws_alerts, Alerts;
    /// NCEI: the Integrated Surface Data.
    Isd, "isd", isd, Reports;
    /// NCEI: the Global Historical Climatology Network hourly.
    Ghcnh, "ghcnh", ghcnh, Reports;
    /// METAR: WMO bulletins, and files with one report to a line.
    MetarBulletin, "metar-bulletin", bulletin, Reports;
}

impl FeedKind {
    /// Tells the kind of a file from its first bytes and, where they do not say it, its name.
    /// `None` where it looks like none.
    pub fn detect(name: &str, start: &[u8]) -> Option<Self> {
        let start = &start[..start.len().min(DETECT_BYTES)];
        Self::ALL.iter().copied().find(|kind| kind.is_sign(name, start))
    }

    /// Reads a file of this kind and visits each report or alert, in bounded memory.
    ///
    /// # Errors
    /// A source that fails, or a file that is none of this kind. What of it was read before has
    /// been visited; a single one that cannot be read is counted in the summary.
    pub fn read(
        self,
        input: &mut dyn BufRead,
        file: &FileContext<'_>,
        visit: &mut dyn FnMut(FeedItem),
    ) -> Result<FeedSummary, FeedError> {
        let mut readings = 0;
        let mut summary = match self.reader() {
            Reader::Reports(read) => read(input, file, &mut |item| {
                readings += item.report.readings.len() as u64;
                visit(FeedItem::Report(item));
            }),
            Reader::Alerts(read) => read(input, &mut |alert| visit(FeedItem::Alert(alert))),
        }?;
        summary.readings = readings;
        Ok(summary)
    }
}

impl fmt::Display for FeedKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that is no kind of file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("\"{got}\" is not a kind of feed; allowed are {}", all_names())]
pub struct FeedKindError {
    /// The name that was given.
    pub got: String,
}

fn all_names() -> String {
    FeedKind::ALL.iter().map(|kind| kind.name()).collect::<Vec<_>>().join(", ")
}

impl FromStr for FeedKind {
    type Err = FeedKindError;
    fn from_str(got: &str) -> Result<Self, FeedKindError> {
        let found = Self::ALL.iter().copied().find(|kind| kind.name() == got);
        found.ok_or_else(|| FeedKindError { got: got.to_owned() })
    }
}

/// Whether a text stands in the first bytes of a file, whatever its case.
pub(super) fn holds(start: &[u8], text: &str) -> bool {
    start.windows(text.len()).any(|window| window.eq_ignore_ascii_case(text.as_bytes()))
}
