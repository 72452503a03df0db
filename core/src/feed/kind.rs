//! The supported kinds of files: their names, their signatures, their readers.

use std::collections::HashMap;
use std::fmt;
use std::io::BufRead;
use std::str::FromStr;

use super::cap;
use super::eccc::{geomet, hourly, swob};
use super::item::{FeedReport, FileContext, Item, Read, ReadAlerts};
use super::metar::{awc_csv, awc_json, awc_xml, bulletin, iem_asos};
use super::ncei::isd::{global_hourly, lite};
use super::ncei::{ghcnh, isd};
use super::ndbc::{latest as ndbc_latest, realtime2 as ndbc_realtime2};
use super::nws::{alerts, observation};
use super::summary::{FeedError, Summary};
use super::text::encoding::readable;
use crate::observation::{Report, StationId};

/// Number of bytes from the start of a file that suffice to detect its kind.
///
/// ```
/// use std::io::Read;
/// use mesonet::feed::{DETECT_BYTES, Kind};
/// let file = &b"station,valid,tmpf,dwpf\nORD,2024-08-03 20:51,84.0,66.0\n"[..];
/// let mut start = Vec::new();
/// file.take(DETECT_BYTES as u64).read_to_end(&mut start)?;
/// assert_eq!(Kind::detect("asos.csv", &start), Some(Kind::IemAsos));
/// # Ok::<(), std::io::Error>(())
/// ```
pub const DETECT_BYTES: usize = 4096;

macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident, $name:literal, $module:ident, $holds:ident;)*) => {
        /// A kind of file of reports or alerts.
        ///
        /// ```
        /// use mesonet::feed;
        /// use mesonet::feed::FileContext;
        /// let text = b"SAUS70 KWBC 010000\nMETAR KBUF 312354Z 21014KT 02/M07 A2973=\n";
        /// let kind = feed::Kind::detect("sa.txt", text).unwrap();
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
        pub enum Kind { $($(#[$doc])* $kind,)* }

        impl Kind {
            /// Every kind, in the order in which files are tried: the most reliable signature
            /// first.
            pub const ALL: &[Self] = &[$(Self::$kind,)*];

            /// The name on command lines and in URLs.
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

/// How a kind is read, by its content.
enum Reader {
    Reports(Read),
    Alerts(ReadAlerts),
}

// Each module has `is_sign(name, start) -> bool` and `read`, a `Read` or a `ReadAlerts`. The most
// reliable signatures come first.
kinds! {
    /// METAR: the Aviation Weather Center's table, and tables like it.
    AwcCsv, "awc-csv", awc_csv, Reports;
    /// METAR: the Aviation Weather Center's data server.
    AwcXml, "awc-xml", awc_xml, Reports;
    /// METAR: the Aviation Weather Center's `/api/data/metar`, JSON.
    AwcJson, "awc-json", awc_json, Reports;
    /// Canada: SWOB-ML 2.0, observations of one or more stations.
    Swob, "swob", swob, Reports;
    /// Canada: SWOB from MSC GeoMet, GeoJSON.
    GeometSwob, "geomet-swob", geomet, Reports;
    /// Canada: the provincial summaries of this hour and of yesterday.
    EcccHourly, "eccc-hourly", hourly, Reports;
    /// Iowa Environmental Mesonet: airport reports as a table.
    IemAsos, "iem-asos", iem_asos, Reports;
    /// National Data Buoy Center: the latest observation of each station.
    NdbcLatest, "ndbc-latest", ndbc_latest, Reports;
    /// National Data Buoy Center: the last 45 days of a station.
    NdbcRealtime2, "ndbc-realtime2", ndbc_realtime2, Reports;
    /// United States: observations of api.weather.gov, GeoJSON.
    NwsObservation, "nws-observation", observation, Reports;
    /// Alerts: the Common Alerting Protocol, of Canada and of the United States.
    Cap, "cap", cap, Alerts;
    /// United States: alerts of api.weather.gov, GeoJSON.
    NwsAlerts, "nws-alerts", alerts, Alerts;
    /// NCEI: the Integrated Surface Data.
    Isd, "isd", isd, Reports;
    /// NCEI: the Integrated Surface Data as a table, "global-hourly".
    IsdCsv, "isd-csv", global_hourly, Reports;
    /// NCEI: isd-lite, a station and a year in each file.
    IsdLite, "isd-lite", lite, Reports;
    /// NCEI: the Global Historical Climatology Network hourly.
    Ghcnh, "ghcnh", ghcnh, Reports;
    /// METAR: WMO bulletins, and files with one report per line.
    MetarBulletin, "metar-bulletin", bulletin, Reports;
}

impl Kind {
    /// Detects the kind of a file from its first bytes or, if they do not tell, from its name.
    /// `None` if the kind is not known.
    pub fn detect(name: &str, start: &[u8]) -> Option<Self> {
        let start = readable(&start[..start.len().min(DETECT_BYTES)]);
        let start = &*start;
        Self::ALL.iter().copied().find(|kind| kind.is_sign(name, start))
    }

    /// Reads a file of this kind and visits each report or alert, in bounded memory.
    ///
    /// # Errors
    /// If the source fails, or if the file is not of this kind. Items read before that have been
    /// visited. A single item that cannot be read is counted in the summary.
    pub fn read(
        self,
        input: &mut dyn BufRead,
        file: &FileContext<'_>,
        visit: &mut dyn FnMut(Item),
    ) -> Result<Summary, FeedError> {
        let mut readings = 0;
        let mut peaks = EarlierMoments::default();
        let mut summary = match self.reader() {
            Reader::Reports(read) => read(input, file, &mut |mut item| {
                peaks.leave_out_known(&mut item);
                readings += item.readings();
                visit(Item::Report(item));
            }),
            Reader::Alerts(read) => read(input, &mut |alert| visit(Item::Alert(alert))),
        }?;
        summary.readings = readings;
        Ok(summary)
    }
}

/// The last statement about an earlier moment in the reports of a file, by station: a special
/// report and the routine report after it both state the peak wind.
#[derive(Default)]
struct EarlierMoments(HashMap<StationId, Report>);

/// The number of stations whose last earlier moment is remembered. A file with more stations
/// forgets them all.
const MAX_EARLIER_MOMENTS: usize = 10_000;

impl EarlierMoments {
    /// Leaves out an earlier moment that the report before stated in the same words.
    fn leave_out_known(&mut self, item: &mut FeedReport) {
        let Some(earlier) = &item.earlier else { return };
        if self.0.get(&earlier.station) == Some(earlier) {
            item.earlier = None;
            return;
        }
        if self.0.len() >= MAX_EARLIER_MOMENTS {
            self.0.clear();
        }
        self.0.insert(earlier.station, earlier.clone());
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that is not a kind of file.
///
/// ```
/// use mesonet::feed::{FeedKindError, Kind};
/// assert!(Kind::ALL.iter().all(|kind| kind.name().parse() == Ok(*kind)));
/// assert_eq!("metar".parse::<Kind>(), Err(FeedKindError { got: "metar".to_owned() }));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("\"{got}\" is not a feed kind; allowed are {}", all_names())]
pub struct FeedKindError {
    /// The name that was given.
    pub got: String,
}

/// The names of all kinds, for errors.
pub(crate) fn all_names() -> String {
    Kind::ALL.iter().map(|kind| kind.name()).collect::<Vec<_>>().join(", ")
}

impl FromStr for Kind {
    type Err = FeedKindError;
    fn from_str(got: &str) -> Result<Self, FeedKindError> {
        let found = Self::ALL.iter().copied().find(|kind| kind.name() == got);
        found.ok_or_else(|| FeedKindError { got: got.to_owned() })
    }
}
