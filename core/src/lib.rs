//! Surface weather observations, official alerts and numerical-model grids of Canada and the United
//! States: it reads feeds; converts, checks and stores readings; and answers queries.
//!
//! # Quick start
//! ```
//! # #[cfg(all(feature = "feed", feature = "store", feature = "checks"))] {
//! use mesonet::{ClosedWindow, Intake, LonLat, MemoryStore, Variable, feed, query};
//!
//! let bulletin = "METAR CYYZ 032000Z 24012G20KT 15SM FEW060 29/17 A2991 RMK CU1 SLP125=";
//! let received_ms = mesonet::time::parse_instant("2024-08-03T20:01:00Z")?;
//! let mut batch = mesonet::Batch::default();
//! feed::read_bulletins(bulletin.as_bytes(), received_ms, |item| {
//!     let pearson = LonLat::new(-79.63, 43.68).expect("on the globe");
//!     batch.stations.push(feed::metar_station(item.native_id, None, pearson, Some(173.0)));
//!     batch.reports.push(feed::metar_report(&item));
//! })?;
//!
//! // The store on disk is `EmbeddedStore`. Derived values and verdicts come with the intake.
//! let store = MemoryStore::default();
//! Intake::default().take_in(&store, batch)?;
//!
//! let hour = ClosedWindow::new(received_ms - 3_600_000, received_ms)?;
//! let question = query::ReadingsQuery::new(hour, [Variable::WindSpeed10m]);
//! let snapshot = query::readings(&store, &question, query::Caps::default())?;
//! assert_eq!(snapshot.cells[0].value, 22.2); // 12 kt in km/h
//! # }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Instants are `i64` milliseconds since 1970 (UTC). Arithmetic is in `f64`. Longitude comes before
//! latitude. A name ends with its unit if it has one (`interval_minutes`, `age_s`). The root has
//! the nouns that nearly every program needs; everything else has one path, in the module of its
//! domain.
//!
//! # The rules of the service, and where they are
//! | Rule | Item |
//! | --- | --- |
//! | Timestamps: ISO 8601 with Z or an offset | [`time::parse_instant`], [`Iso8601`] |
//! | `window=7d`, `maxAge=90m` | [`time::parse_window`], [`time::parse_max_age`] |
//! | Readings windows are closed, exports half-open | [`ClosedWindow`], [`HalfOpenWindow`] |
//! | Bounding boxes, also across the antimeridian | [`BBox`], [`geo::StationIndex`] |
//! | Quality codes, their ranking, distinct worst first | [`BaseQuality`], [`observation::worst`], [`observation::distinct_worst_first`] |
//! | The service's own checks, their limits, and why a verdict is what it is | [`check::Checker`], [`check::Config`], [`check::Explanation`] |
//! | A network's own verdict, in its flags | [`observation::Crosswalk`], [`observation::MADIS`], [`observation::QARTOD`] |
//! | One canonical unit per variable; default names | [`Variable`], [`Unit`] |
//! | Values are converted to it if their unit is certain | [`observation::to_canonical`], [`unit::Conversion`] |
//! | A series is one variable measured one way | [`SeriesKey`], [`IntervalType`] |
//! | Station ids are UUIDs and do not change | [`StationId`] |
//! | Derived values, with the worst quality of their inputs | [`derived::derive_report`], [`derived::derive_with_quality`], [`derived::dew_point_c`] |
//! | Any feed file: its kind, its items | [`feed::Kind`], [`feed::Item`] |
//! | A feed file into a store, with its places | [`Intake::read_file`] |
//! | Same series and time: the newer ingest wins | [`Store`], [`MemoryStore`], [`EmbeddedStore`] |
//! | Readings as a snapshot or on a grid | [`query::readings`], [`query::ReadingsQuery`] |
//! | Positions of a grid, caps, coarsening to a whole multiple | [`query::Positions`], [`query::Caps`], [`query::plan_time_grid`] |
//! | Each cell holds the latest reading at or before it | [`query::as_of`] |
//! | The most instantaneous current series fills a cell | [`query::pick_series`], [`observation::SeriesPreference`] |
//! | Station details and their `qualities` | [`query::details`], [`query::StationDetail`] |
//! | The readings of one variable at one station | [`query::observation_series`], [`observation::SeriesFilter`] |
//! | Hours, days and months: extremes, means, totals, wind, degree days, and what made them | [`summary::Summarizer`], [`query::station_summaries`] |
//! | Bulk export: rows by time and series, pages, filters, cursor | [`export::Page`], [`export::Request`] |
//! | Lookback by plan, one hour of grace | [`access::Plan`], [`access::Limits`], [`access::check_lookback`] |
//! | Products and limits of a caller | [`access::Capabilities`], [`access::Product`] |
//! | The status of an alert and of each of its areas | [`alert::resolve`], [`alert::Message`] |
//! | Alerts on record: a message is known by its id | [`store::AlertStore`] |
//! | A record in another place, and whether it is the same | [`store::copy::Copying`], [`store::copy::compare`] |
//! | Alerts by time, box, place and zone | [`alert::Query`] |
//! | An alert as callers get it | [`alert::Alert`] |
//! | Codes of events, P-VTEC and H-VTEC | [`alert::Vtec`], [`alert::Hvtec`] |
//! | Zones of alerts, by code, box and place; their GeoJSON | [`zone::Zone`], [`zone::Zones`], [`geo::MultiPolygon`] |
//! | Zones from official files | [`zone::read_geojson`], [`zone::read_shapefile`] |
//! | Fields of GRIB2 files: grid, parameter, level, times, values | [`grib::fields`], [`grib::Field`] |
//! | Raster products: the catalogue, and Cloud Optimized GeoTIFFs | [`raster::RasterCatalogue`], [`raster::Raster`] |
//! | Tiles: value = raw × scale + offset; their colours | [`grid::Encoding`], [`grid::ColourScale`], [`grid::TileColours`] |
//! | The native grid of a model: row and column to longitude and latitude and back | [`grid::NativeGrid`], [`grid::Projection`] |
//! | Its definition from a JSON object | [`grid::Definition`], [`grid::MemberValue`] |
//! | Web-Mercator tiles of a native grid, winds turned before they are interpolated | [`grid::TilePlan`], [`grid::TileAddress`] |
//! | Grid-relative winds | [`grid::Rotation`], [`grid::rotate_field`], [`grid::NativeGrid::wind_rotation`] |
//! | Model runs on disk | [`model::RunStamp`], [`model::RunStore`], [`model::Run`] |
//! | Points, series and tiles of a model run | [`model::point`], [`model::series`], [`model::tile`] |
//! | Sources of model output: their products, hours and access | [`model::Catalogue`] |
//! | From GRIB2 files to runs: hours together, later products, retention | [`model::Delivery`] |
//! | What went wrong, in seven kinds | [`Error`], [`ErrorKind`] |
//!
//! # Features
//! Every combination builds. On by default are `checks`, `feed` and `store`.
//! - `checks`: the quality checks.
//! - `feed`: readers of published feeds; alerts, and the zones that they are issued for.
//! - `store`: the store trait, the store in memory, and the queries of endpoints. With `checks`, also
//!   the way into a store: [`intake`].
//! - `arrow`: with `feed`, readings as Arrow tables; with `store`, bulk export as CSV, Arrow stream
//!   and Parquet.
//! - `embedded`: the store on disk. Brings `feed` and `store`.
//! - `grib`: fields of GRIB edition 2.
//! - `model`: runs of models on disk. With `grib`, also their sources, and the way from GRIB2 files to
//!   runs.
//! - `raster`: products as Cloud Optimized GeoTIFFs. Brings `grib`.
//! - `openapi`: the forms of answers and requests as schemas of OpenAPI (`utoipa::ToSchema`).
//! - `time-zones`: the time zone of a place in Canada or the United States.
//! - `conformance`: for authors of stores, what every store must do as a suite of tests.

#![cfg_attr(docsrs, feature(doc_cfg))]
#![cfg_attr(not(test), warn(unreachable_pub))]
#![cfg_attr(not(test), warn(clippy::unwrap_used))]

/// The examples of the front page are tested too.
#[cfg(all(doctest, feature = "feed", feature = "store", feature = "checks"))]
#[doc = include_str!("../../README.md")]
struct Readme;

/// So are those of the tutorial.
#[cfg(all(doctest, feature = "embedded", feature = "feed", feature = "checks"))]
#[doc = include_str!("../../docs/tutorials/rust.md")]
struct Tutorial;

#[macro_use]
mod openapi;

pub mod access;
#[cfg(feature = "feed")]
pub mod alert;
#[cfg(feature = "checks")]
pub mod check;
pub mod derived;
pub mod durable;
mod error;
#[cfg(all(feature = "store", feature = "arrow"))]
pub mod export;
#[cfg(feature = "feed")]
pub mod feed;
pub mod geo;
#[cfg(feature = "grib")]
pub mod grib;
pub mod grid;
#[cfg(all(feature = "store", feature = "checks"))]
pub mod intake;
mod lengths;
pub mod lock;
#[cfg(feature = "model")]
pub mod model;
pub mod observation;
#[cfg(feature = "store")]
pub mod query;
#[cfg(feature = "raster")]
pub mod raster;
#[cfg(any(feature = "checks", all(feature = "grib", feature = "model"), feature = "raster"))]
mod settings;
#[cfg(feature = "store")]
pub mod store;
pub mod summary;
pub mod time;
pub mod unit;
#[cfg(feature = "feed")]
pub mod zone;

pub use error::{Error, ErrorKind};
pub use geo::{BBox, LonLat};
#[cfg(all(feature = "store", feature = "checks"))]
pub use intake::Intake;
pub use observation::{
    BaseQuality, Batch, IntervalType, Quality, Reading, ReasonQuality, Report, Series, SeriesKey,
    Station, StationId, StationType, Variable,
};
#[cfg(feature = "embedded")]
pub use store::EmbeddedStore;
#[cfg(feature = "store")]
pub use store::{MemoryStore, Reader, Store};
pub use time::{ClosedWindow, HalfOpenWindow, Iso8601, Step};
pub use unit::Unit;
