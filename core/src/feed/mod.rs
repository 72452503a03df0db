//! Readers of published feeds: containers that hand out one decoded report at a time, in bounded
//! memory, and the conversion of a report to the service's series and units.
//!
//! | Feed | Reader |
//! | --- | --- |
//! | The Aviation Weather Center's table (CSV), and tables with `raw_text` | [`read_awc_csv`] |
//! | The Aviation Weather Center's data server (XML) | [`read_awc_xml`] |
//! | WMO bulletins, files with one report to a line | [`read_bulletins`] |
//! | The National Data Buoy Center's latest observations | [`read_ndbc_latest`] |
//! | Its `realtime2` files of a station | [`read_ndbc_realtime2`] |
//! | Its table of stations, for their places | [`read_ndbc_stations`] |
//! | Canada's surface observations, SWOB-ML | [`read_swob`] |
//! | Canada's provincial summaries (XML) | [`read_eccc_hourly`] |
//! | The Iowa Environmental Mesonet's tables of airport reports (CSV) | [`read_iem_asos`] |
//! | The weather service's interface of the United States (GeoJSON) | [`read_nws_observations`] |
//! | NCEI's Integrated Surface Data | [`read_isd`] |
//! | NCEI's Global Historical Climatology Network hourly | [`read_ghcnh`] |
//! | Alerts of Canada and the United States, CAP (XML) | [`read_cap`] |
//! | Alerts of the United States, api.weather.gov (GeoJSON) | [`read_nws_alerts`] |
//! | A file of any kind, found from its content | [`FeedKind`] |
//! | One METAR or SPECI report | [`metar::Metar::parse`] |
//! | From a decoded report to readings, to a station | [`metar_report`], [`metar_station`] |
//!
//! A report that cannot be read is left out and said in the [`FeedSummary`]; it never takes the
//! others with it.

mod awc_csv;
mod awc_xml;
mod bulletin;
mod cap;
mod csv_row;
mod eccc_hourly;
mod features;
mod ghcnh;
mod iem_asos;
mod ingest;
mod isd;
mod kind;
mod lines;
pub mod metar;
mod ndbc;
mod nws_alerts;
mod nws_observation;
mod point_observation;
mod readings;
mod report;
mod summary;
mod swob;
mod synop_weather;
mod xml;

pub use awc_csv::read_awc_csv;
pub use awc_xml::read_awc_xml;
pub use bulletin::read_bulletins;
pub use cap::{MAX_CAP_BYTES, read_cap};
pub use eccc_hourly::{ECCC_HOURLY_NETWORK, read_eccc_hourly};
pub use ghcnh::{GHCNH_NETWORK, read_ghcnh};
pub use iem_asos::{IEM_NETWORK, read_iem_asos};
pub use ingest::{METAR_NETWORK, metar_report, metar_station};
pub use isd::{ISD_NETWORK, read_isd};
pub use kind::{DETECT_BYTES, FeedKind, FeedKindError};
pub use ndbc::{NDBC_NETWORK, read_ndbc_latest, read_ndbc_realtime2, read_ndbc_stations};
pub use nws_alerts::read_nws_alerts;
pub use nws_observation::{NWS_NETWORK, read_nws_observations};
pub use report::{FeedItem, FeedReport, FeedStation, FileContext};
pub use summary::{
    FeedError, FeedSummary, FilePlace, MAX_REFUSALS, MAX_TALLY_NAMES, MetarItem, Refusal,
    RefusalReason, Tally,
};
pub use swob::read_swob;
