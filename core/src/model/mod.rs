//! Runs of numerical weather models: kept on disk, and asked for values at a place, over time, and as
//! map tiles.
//!
//! | What | Items |
//! | --- | --- |
//! | The run of a model: its time | [`RunStamp`] |
//! | Runs on disk | [`RunStore`], [`Run`], [`RunWriter`] |
//! | Values at a place, and over time | [`point`], [`series`] |
//! | Map tiles | [`tile`] |
//! | Sources, their products and hours | `Catalogue` (feature `model-delivery`) |
//! | From GRIB2 files to runs | `Delivery` (feature `model-delivery`) |

#[cfg(feature = "model-delivery")]
mod catalogue;
mod cell;
#[cfg(feature = "model-delivery")]
mod delivery;
mod point;
mod stamp;
mod store;
mod tile;

#[cfg(feature = "model-delivery")]
pub use self::catalogue::{
    Catalogue, DEFAULT_MODELS_TOML, ModelCatalogueError, Source, SourceProduct,
};
pub use self::cell::Winds;
#[cfg(feature = "model-delivery")]
pub use self::delivery::{
    Delivery, DeliveryError, DeliveryLimits, DeliveryReport, Refusal, WrittenProduct, WrittenRun,
};
pub use self::point::{
    CellCentre, Fields, Point, PointEntry, PointQuery, Product, ProductEncoding, Series,
    SeriesEntry, SeriesItem, SeriesQuery, SeriesValue, point, products, series,
};
pub use self::stamp::{RunStamp, RunStampError};
pub use self::store::{
    LevelValues, ProductDefinition, PublishedHour, Run, RunCheck, RunDefinition, RunFault,
    RunLevel, RunProduct, RunStore, RunStoreError, RunWriter, move_aside,
};
pub use self::tile::{TileQuery, tile};
