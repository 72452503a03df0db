//! Readers of published feeds: containers that hand out one decoded report at a time, in bounded
//! memory, and the conversion of a report to the service's series and units.
//!
//! | Feed | Reader |
//! | --- | --- |
//! | The Aviation Weather Center's table (CSV), and tables with `raw_text` | [`read_awc_csv`] |
//! | The Aviation Weather Center's data server (XML) | [`read_awc_xml`] |
//! | WMO bulletins, files with one report to a line | [`read_bulletins`] |
//! | A file of any kind, found from its content | [`FeedKind`] |
//! | One METAR or SPECI report | [`metar::Metar::parse`] |
//! | From a decoded report to readings, to a station | [`metar_report`], [`metar_station`] |
//!
//! A report that cannot be read is left out and said in the [`FeedSummary`]; it never takes the
//! others with it.

mod awc_csv;
mod awc_xml;
mod bulletin;
mod csv_row;
mod ingest;
mod kind;
mod lines;
pub mod metar;
mod readings;
mod report;
mod summary;

pub use awc_csv::read_awc_csv;
pub use awc_xml::read_awc_xml;
pub use bulletin::read_bulletins;
pub use ingest::{METAR_NETWORK, metar_report, metar_station};
pub use kind::{DETECT_BYTES, FeedKind, FeedKindError};
pub use report::{FeedReport, FeedStation, FileContext};
pub use summary::{
    FeedError, FeedSummary, FilePlace, MAX_REFUSALS, MAX_TALLY_NAMES, MetarItem, Refusal,
    RefusalReason, Tally,
};
