//! Runs of numerical weather models: kept on disk, and queried for values at a place, for series
//! over time, and for map tiles.
//!
//! | What | Items |
//! | --- | --- |
//! | The run of a model: its time | [`RunStamp`] |
//! | Runs on disk | [`RunStore`], [`Run`], [`RunWriter`] |
//! | Values at a place, and over time | [`point`], [`series`] |
//! | Map tiles | [`tile`] |
//! | Sources, their products and hours | `Catalogue` (feature `model-delivery`) |
//! | From GRIB2 files to runs | `Delivery` (feature `model-delivery`) |
//!
//! A series of the forecast at one cell, and the position of that cell:
//!
//! ```
//! use mesonet::model::{self, CellCentre, Fields, Series, SeriesEntry, SeriesItem, SeriesValue};
//! # let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/data/model_grids/store");
//! let run = model::RunStore::new(folder).newest_run("nam211")?;
//! let first_ms = run.definition().valid_ms[0];
//! let query = model::SeriesQuery::new((40, 20), &["u"]).from_ms(first_ms).to_ms(first_ms);
//! assert_eq!(query.values(&run)?, 4); // at most: two hours, two levels
//! let series: Series = model::series(&run, &query)?;
//! let CellCentre { lat, lon } = series.centre;
//! assert_eq!((lat.map(f64::round), lon.map(f64::round)), (Some(44.0), Some(-126.0)));
//! let fields: &Fields<SeriesEntry> = &series.fields;
//! let entry = fields.get("u").expect("it was asked for");
//! let levels_hpa = entry.levels_hpa.as_deref();
//! assert_eq!((entry.unit.as_str(), levels_hpa), ("m/s", Some(&[150.0, 100.0][..])));
//! let item: &SeriesItem = &entry.series[0];
//! assert_eq!(item.value, SeriesValue::Levels(vec![Some(21.32), Some(18.2)]));
//! # Ok::<(), model::RunStoreError>(())
//! ```
//!
//! The list of the products endpoint, with the packing of the tiles:
//!
//! ```
//! use mesonet::model::{self, ProductEncoding};
//! # let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/data/model_grids/store");
//! let run = model::RunStore::new(folder).newest_run("nam211")?;
//! let products: Vec<model::ModelProduct> = model::products(run.definition());
//! assert_eq!((products[0].name.as_str(), products[0].unit.as_str()), ("prmsl", "Pa"));
//! let ProductEncoding { height, width, encoding } = products[0].encoding;
//! assert_eq!((height, width, encoding.scale()), (65, 93, 0.1));
//! # Ok::<(), model::RunStoreError>(())
//! ```

#[cfg(feature = "grib")]
mod catalogue;
mod cell;
#[cfg(feature = "grib")]
mod delivery;
mod point;
mod query;
mod stamp;
mod store;
mod tile;

#[cfg(feature = "grib")]
pub use self::catalogue::{
    Catalogue, DEFAULT_MODELS_TOML, MadeSource, ModelCatalogueError, Source, SourceProduct,
};
pub use self::cell::Winds;
#[cfg(feature = "grib")]
pub use self::delivery::{
    Delivery, DeliveryError, DeliveryLimits, DeliveryReport, FieldRefusal, WrittenProduct,
    WrittenRun,
};
pub use self::point::{
    AnswerInterval, CellCentre, Fields, ModelProduct, Point, PointEntry, ProductEncoding, Series,
    SeriesEntry, SeriesItem, SeriesValue, ValueFacts, point, products, series,
};
pub use self::query::{PointQuery, SeriesQuery};
pub use self::stamp::{RunStamp, RunStampError};
pub use self::store::{
    EnsembleMember, FieldInterval, LevelValues, ProductDefinition, PublishedHour, Run, RunCheck,
    RunDefinition, RunFault, RunLevel, RunProduct, RunStore, RunStoreError, RunWriter, move_aside,
};
pub use self::tile::{TileQuery, planned_tile, tile};
