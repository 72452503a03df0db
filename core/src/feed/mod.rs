//! Readers of published feeds: file formats that yield one decoded report at a time, in bounded
//! memory, and the conversion of a report to the service's series and units.
//!
//! | Feed | Reader |
//! | --- | --- |
//! | The Aviation Weather Center's table (CSV), and tables with `raw_text` | [`read_awc_csv`] |
//! | The Aviation Weather Center's data server (XML) | [`read_awc_xml`] |
//! | The Aviation Weather Center's `/api/data/metar` (JSON) | [`read_awc_json`] |
//! | WMO bulletins, files with one report per line | [`read_bulletins`] |
//! | The National Data Buoy Center's latest observations | [`read_ndbc_latest`] |
//! | Its `realtime2` files of a station | [`read_ndbc_realtime2`] |
//! | Its table of stations, for their places | [`read_ndbc_stations`] |
//! | Canada's surface observations, SWOB-ML | [`read_swob`] |
//! | The same from MSC GeoMet (GeoJSON) | [`read_geomet_swob`] |
//! | Canada's provincial summaries (XML) | [`read_eccc_hourly`] |
//! | The Iowa Environmental Mesonet's tables of airport reports (CSV) | [`read_iem_asos`] |
//! | The weather service's interface of the United States (GeoJSON) | [`read_nws_observations`] |
//! | NCEI's Integrated Surface Data | [`read_isd`] |
//! | The same as a table (CSV), and isd-lite | [`read_isd_csv`], [`read_isd_lite`] |
//! | NCEI's Global Historical Climatology Network hourly | [`read_ghcnh`] |
//! | Alerts of Canada and the United States, CAP (XML) | [`read_cap`] |
//! | Alerts of the United States, api.weather.gov (GeoJSON) | [`read_nws_alerts`] |
//! | A file of any kind, found from its content | [`Kind`] |
//! | The readings of files in columns | [`ReadingColumns`] |
//! | The same as one Arrow table | `FeedTable`, with the feature `feed-table` |
//! | Stations whose places reports do not say | `known_stations`, with the feature `known-stations` |
//! | One METAR or SPECI report | [`metar::Metar::parse`] |
//! | From a decoded report to readings, to a station | [`metar_report`], [`metar_feed_report`], [`metar_station`] |
//!
//! A report that cannot be read is left out and listed in the [`Summary`]; it never affects the
//! others.
//!
//! Each feed has its network, and the same place is a station of its own in each of them:
//!
//! ```
//! use std::collections::HashSet;
//! use mesonet::StationId;
//! use mesonet::feed::{
//!     ECCC_HOURLY_NETWORK, GHCNH_NETWORK, IEM_NETWORK, ISD_NETWORK, METAR_NETWORK, NDBC_NETWORK,
//!     NWS_NETWORK,
//! };
//! let networks = [
//!     ECCC_HOURLY_NETWORK, GHCNH_NETWORK, IEM_NETWORK, ISD_NETWORK, METAR_NETWORK, NDBC_NETWORK,
//!     NWS_NETWORK,
//! ];
//! let ids: HashSet<StationId> =
//!     networks.iter().map(|network| StationId::new(network, "KBUF")).collect();
//! assert_eq!(ids.len(), networks.len());
//! ```

mod cap;
mod collect;
mod columns;
mod eccc;
mod item;
mod kind;
mod known;
pub mod metar;
mod metar_error;
mod ncei;
mod ndbc;
mod nws;
mod plausible;
mod sign;
mod summary;
#[cfg(feature = "arrow")]
mod table;
mod text;

pub use self::cap::{MAX_CAP_BYTES, read_cap};
pub use self::columns::{ReadingColumns, ReportRow, Texts};
pub use self::eccc::geomet::read_geomet_swob;
pub use self::eccc::hourly::{ECCC_HOURLY_NETWORK, read_eccc_hourly};
pub use self::eccc::swob::read_swob;
pub use self::item::{FeedReport, FeedStation, FileContext, Item};
#[cfg(all(feature = "store", feature = "checks"))]
pub(crate) use self::kind::all_names as all_kind_names;
pub use self::kind::{DETECT_BYTES, FeedKindError, Kind};
pub use self::known::known_stations;
pub use self::metar::awc_csv::read_awc_csv;
pub use self::metar::awc_json::read_awc_json;
pub use self::metar::awc_xml::read_awc_xml;
pub use self::metar::bulletin::read_bulletins;
pub use self::metar::iem_asos::{IEM_NETWORK, read_iem_asos};
pub use self::metar::metar_item::MetarItem;
pub use self::metar::series::{
    METAR_NETWORK, metar_feed_report, metar_peak_wind, metar_report, metar_station,
};
pub use self::ncei::ghcnh::{GHCNH_NETWORK, read_ghcnh};
pub use self::ncei::isd::global_hourly::read_isd_csv;
pub use self::ncei::isd::lite::read_isd_lite;
pub use self::ncei::isd::{ISD_NETWORK, read_isd};
pub use self::ndbc::{NDBC_NETWORK, read_ndbc_latest, read_ndbc_realtime2, read_ndbc_stations};
pub use self::nws::alerts::read_nws_alerts;
pub use self::nws::observation::{NWS_NETWORK, read_nws_observations};
pub use self::summary::{
    FeedError, FilePlace, MAX_REFUSALS, MAX_REFUSED_BYTES, MAX_TALLY_NAMES, RefusalReason,
    ReportRefusal, Summary, Tally,
};
#[cfg(feature = "arrow")]
pub use self::table::FeedTable;
