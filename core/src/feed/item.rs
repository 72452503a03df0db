//! The result of the reader of any feed: a station as the file describes it, and its report.

use std::io::BufRead;

use super::summary::{FeedError, Summary};
use crate::alert;
use crate::geo::LonLat;
use crate::observation::{EarlierPlaces, Identifiers, Report, Station, StationId, StationType};

/// A station as far as a file describes it.
///
/// ```
/// use mesonet::{LonLat, StationId, feed::FeedStation};
/// let buoy = FeedStation::new("NDBC", "41002");
/// assert_eq!(buoy.id(), StationId::new("NDBC", "41002"));
/// let station = buoy.at(LonLat::new(-74.84, 31.76)?);
/// assert_eq!((station.name.as_str(), station.sensor_height_m), ("41002", 0.0));
/// # Ok::<(), mesonet::geo::GeoError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct FeedStation {
    /// Data provider, as the feed names it.
    pub network: String,
    /// Id within the network.
    pub native_id: String,
    /// Name, if the file gives it.
    pub name: Option<String>,
    /// Place, if the file gives it.
    pub place: Option<LonLat>,
    /// Altitude above mean sea level, if the file gives it.
    pub altitude_m: Option<f64>,
    /// Height of the wind sensor above ground, if the file gives it or a rule fixes it.
    pub sensor_height_m: Option<f64>,
    /// Exposure class, if a rule fixes it.
    pub station_type: Option<StationType>,
    /// The ids that others give the station, as far as the file has them.
    pub identifiers: Identifiers,
}

impl FeedStation {
    /// A station with a known id and nothing else.
    pub fn new(network: impl Into<String>, native_id: impl Into<String>) -> Self {
        Self {
            network: network.into(),
            native_id: native_id.into(),
            name: None,
            place: None,
            altitude_m: None,
            sensor_height_m: None,
            station_type: None,
            identifiers: Identifiers::default(),
        }
    }

    /// Id of the station.
    pub fn id(&self) -> StationId {
        StationId::new(&self.network, &self.native_id)
    }

    /// The station at a place. Without a name its native id is used; without a sensor height
    /// it is 0, as the interface requires.
    pub fn at(self, coordinates: LonLat) -> Station {
        Station {
            id: self.id(),
            name: self.name.unwrap_or_else(|| self.native_id.clone()),
            network: self.network,
            native_id: self.native_id,
            station_type: self.station_type,
            coordinates,
            sensor_height_m: self.sensor_height_m.unwrap_or(0.0),
            altitude_m: self.altitude_m,
            identifiers: self.identifiers,
            earlier_places: EarlierPlaces::default(),
        }
    }
}

/// Whether an id is the location indicator of an aerodrome (four capital letters), in a feed that
/// also has other ids.
pub(super) fn is_location_indicator(id: &str) -> bool {
    id.len() == 4 && id.bytes().all(|byte| byte.is_ascii_uppercase())
}

/// One report of a file, in the service's series and units.
#[derive(Clone, Debug, PartialEq)]
pub struct FeedReport {
    /// The reporting station.
    pub station: FeedStation,
    /// The content of the report. Values without a verdict of the source are
    /// [`Quality::UNCHECKED`](crate::Quality::UNCHECKED).
    pub report: Report,
    /// What the same report says about an earlier moment, such as the time of the peak wind.
    pub earlier: Option<Report>,
}

impl FeedReport {
    /// A report that is about one moment.
    pub fn new(station: FeedStation, report: Report) -> Self {
        Self { station, report, earlier: None }
    }

    /// Makes the report a correction, unless it is a later correction already.
    pub(super) fn correct(&mut self, revision: u8) {
        for report in std::iter::once(&mut self.report).chain(&mut self.earlier) {
            report.revision = report.revision.max(revision);
        }
    }

    /// Number of readings of both moments.
    pub fn readings(&self) -> u64 {
        let earlier = self.earlier.as_ref().map_or(0, |earlier| earlier.readings.len());
        (self.report.readings.len() + earlier) as u64
    }
}

/// What is known about a file before it is read.
#[derive(Clone, Copy)]
pub struct FileContext<'a> {
    /// Its name without folders and without a compression suffix: some feeds give the
    /// station only there.
    pub name: &'a str,
    /// When it was received, milliseconds since 1970, or any time within two weeks of it: reports
    /// of some feeds give only the day of the month.
    pub received_ms: i64,
    /// Finds a station on record or in a table: some feeds give no place and no altitude.
    pub known: &'a dyn Fn(StationId) -> Option<Station>,
}

impl<'a> FileContext<'a> {
    /// A file with a known name and time of receipt, and nothing else.
    pub fn new(name: &'a str, received_ms: i64) -> Self {
        Self { name, received_ms, known: &|_| None }
    }
}

/// One item of a file.
///
/// ```
/// use mesonet::feed::{FeedReport, FileContext, Item, Kind};
/// let text = b"METAR KBUF 312354Z 21014KT 02/M07 A2973=\n";
/// let file = FileContext::new("sa.txt", 1_577_836_800_000);
/// let mut items = Vec::new();
/// Kind::MetarBulletin.read(&mut &text[..], &file, &mut |item| items.push(item))?;
/// let item: Item = items.remove(0);
/// assert_eq!(item.clone().into_alert(), None);
/// let report: FeedReport = item.into_report().expect("it is a report");
/// assert_eq!(report.station.native_id, "KBUF");
/// assert_eq!(mesonet::Iso8601(report.report.ts_ms).to_string(), "2019-12-31T23:54:00Z");
/// # Ok::<(), mesonet::feed::FeedError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "one is in memory at a time, and most are reports")]
pub enum Item {
    /// A report of a station.
    Report(FeedReport),
    /// An alert message.
    Alert(alert::Message),
}

impl Item {
    /// Number of readings in the report; an alert has none.
    pub fn readings(&self) -> u64 {
        match self {
            Self::Report(report) => report.readings(),
            Self::Alert(_) => 0,
        }
    }

    /// The report, if it is one.
    pub fn into_report(self) -> Option<FeedReport> {
        match self {
            Self::Report(report) => Some(report),
            Self::Alert(_) => None,
        }
    }

    /// The alert, if it is one.
    pub fn into_alert(self) -> Option<alert::Message> {
        match self {
            Self::Report(_) => None,
            Self::Alert(alert) => Some(alert),
        }
    }
}

/// The reader of one kind of file of alerts, as [`Kind`](super::Kind) calls it.
pub(super) type ReadAlerts = fn(
    input: &mut dyn BufRead,
    visit: &mut dyn FnMut(alert::Message),
) -> Result<Summary, FeedError>;

/// The reader of one kind of file of reports, as [`Kind`](super::Kind) calls it.
pub(super) type Read = fn(
    input: &mut dyn BufRead,
    file: &FileContext<'_>,
    visit: &mut dyn FnMut(FeedReport),
) -> Result<Summary, FeedError>;
