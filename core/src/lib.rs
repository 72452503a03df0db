//! Surface weather observations of Canada and the United States: feeds, readings and their quality,
//! stores, time grids, export.
//!
//! Everything is reached from the crate root. Instants are `i64` milliseconds since 1970 (UTC),
//! arithmetic is in `f64`, and the unit stands in the name where there is one (`interval_minutes`,
//! `age_s`).
//!
//! | Rule of the service | Item |
//! | --- | --- |
//! | Timestamps: ISO 8601 with Z or an offset | [`parse_instant`], [`Iso8601`] |
//! | `window=7d`, `maxAge=90m` | [`parse_window`], [`parse_max_age`] |
//! | Readings windows are closed, exports half-open | [`ClosedWindow`], [`HalfOpenWindow`] |
//! | Bounding boxes, also across the antimeridian | [`BBox`], [`StationIndex`] |
//! | Quality codes, their ranking, distinct worst first | [`BaseQuality`], [`worst`], [`distinct_worst_first`] |
//! | The service's own checks, their limits, and why a verdict is what it is | [`Checker`], [`CheckConfig`], [`Explanation`] |
//! | A network's own verdict, in its flags | [`SWOB_QA_SUMMARY`], [`MADIS`], [`BUFR_033020`], [`QARTOD`], [`ISD`], [`GHCNH_CHECKS`] |
//! | One canonical unit per variable; default names | [`Variable`], [`Unit`] |
//! | Values are converted to it where their unit is certain | [`to_canonical`], [`Canonical`], [`Conversion`] |
//! | A series is one variable measured one way | [`SeriesKey`], [`IntervalType`] |
//! | Station ids are UUIDs and do not change | [`StationId`] |
//! | Positions of a grid, caps, coarsening to a whole multiple | [`Positions`], [`Caps`], [`plan_grid`] |
//! | Each cell holds the latest reading at or before it | [`as_of`] |
//! | The most instantaneous current series fills a cell | [`pick_series`], [`SeriesPreference`] |
//! | Lookback by plan, one hour of grace | [`Plan`], [`Limits`], [`check_lookback`] |
//! | Products and limits of a caller | [`Capabilities`], [`Product`] |
//! | Same series and time: the newer ingest wins | [`Store`], [`MemoryStore`] |
//! | The readings of one variable at one station | [`observation_series`], [`SeriesFilter`] |
//! | Bulk export: rows by time and series, pages, filters, cursor | `ExportPage`, `ExportRequest` (feature `export`) |
//! | Readings as a snapshot or on a grid | [`readings`], [`ReadingsQuery`] |
//! | Station details and their `qualities` | [`details`], [`StationDetail`] |
//! | Derived values, with the worst quality of their inputs | [`derive_report`], [`derive_with_quality`], [`dew_point_c`] |
//! | What has become of an alert and of each of its areas | `resolve_alerts`, `AlertMessage` (feature `zone`) |
//! | Alerts on record: a message is known by its id | `AlertStore` (features `store` and `zone`) |
//! | Alerts by time, box, place and zone | `AlertQuery` (feature `zone`) |
//! | An alert as callers get it | `Alert` (feature `zone`) |
//! | Codes of events, P-VTEC and H-VTEC | [`Vtec`], [`Hvtec`] |
//! | Zones of alerts, by code, box and place; their GeoJSON | `Zone`, `Zones`, `MultiPolygon` (feature `zone`) |
//! | Zones from official files | `read_zone_geojson`, `read_zone_shapefile` (feature `zone-files`) |
//! | Fields of GRIB2 files: grid, parameter, level, times, values | `grib_fields`, `GribField` (feature `grib`) |
//! | Raster products: the catalogue, and Cloud Optimized GeoTIFFs | `RasterCatalogue`, `Raster` (feature `raster`) |
//! | Tiles: value = raw × scale + offset | [`Encoding`] |
//! | The native grid of a model: row and column to latitude and longitude and back | [`NativeGrid`], [`Projection`] |
//! | Points, series and tiles of a model run | `model_point`, `model_series`, `model_tile` (feature `grid-store`) |
//! | Its definition from a JSON object, its projection in the words of PROJ | [`GridDefinition`], [`GridMember`] |
//! | Web-Mercator tiles of a native grid, winds turned before they are interpolated | [`TilePlan`], [`TileAddress`] |
//! | Model runs: their stamps, values, columns and series on disk | [`RunStamp`], `GridStore`, `GridRun` (feature `grid-store`) |
//! | Sources of model output: their products, hours and access | `ModelCatalogue` (feature `models`) |
//! | GRIB2 files of a model become runs: hours together, products that come later, retention | `ModelDelivery` (feature `models`) |
//! | Folders whose names are on disk | [`create_folder`], [`sync_folder`] |
//! | Grid-relative winds | [`Rotation`], [`rotate_field`], [`NativeGrid::wind_rotation`] |
//!
//! # Features
//! Each combination builds. On by default are:
//! - `serde`: the wire shapes, and the quality checks, whose limits are a text.
//! - `feed`: readers of published feeds; brings `zone`, which alerts are made of.
//! - `store`: the store trait, the memory store and the queries over them.
//!
//! Not on by default:
//! - `export`: bulk export as CSV, Arrow stream and Parquet.
//! - `zone`: polygons, the zones that alerts are issued for, `Zones`, and alerts.
//! - `zone-files`: readers of files of zones, GeoJSON and shapefiles.
//! - `embedded`: the store on disk, `EmbeddedStore`.
//! - `grib`: fields of GRIB edition 2.
//! - `raster`: fields as Cloud Optimized GeoTIFFs, and the catalogue of products.
//! - `grid-store`: model grids on disk, `GridStore`.
//! - `models`: the sources of model output, `ModelCatalogue`, and their GRIB2 files.

/// The examples of the project's front page are tested too.
#[cfg(all(doctest, feature = "feed", feature = "store", feature = "serde"))]
#[doc = include_str!("../../README.md")]
struct Readme;

// Level 0: imports nothing of the crate.
mod durable;
mod geo;
#[cfg(feature = "zone")]
mod geometry;
mod quality;
mod tile;
mod time;
#[cfg(feature = "serde")]
mod toml_text;
mod unit;
mod wind;
// Level 1: the domain types.
#[cfg(feature = "zone")]
mod alert;
mod report;
mod run_stamp;
mod series;
mod station;
mod variable;
mod vtec;
#[cfg(feature = "zone")]
mod zone;
// Level 2: the rules.
#[cfg(feature = "zone")]
mod alert_chain;
#[cfg(feature = "zone")]
mod alert_view;
mod canonical;
mod capability;
#[cfg(feature = "serde")]
#[cfg_attr(
    not(feature = "store"),
    allow(dead_code, unused_imports, reason = "what only the intake asks for")
)]
mod check;
mod crosswalk;
mod derived;
mod error;
mod grid;
mod lookback;
#[cfg(feature = "models")]
mod model_access;
mod model_tile;
mod projection;
mod series_filter;
#[cfg(feature = "zone")]
mod zone_bundle;
// Level 3: what comes in and what is kept.
#[cfg(feature = "feed")]
pub mod feed;
#[cfg(feature = "grib")]
mod grib;
#[cfg(feature = "grib")]
mod grib_native_grid;
#[cfg(feature = "grid-store")]
mod grid_store;
#[cfg(feature = "models")]
mod model_catalogue;
#[cfg(feature = "models")]
mod model_intake;
#[cfg(feature = "raster")]
mod raster;
#[cfg(feature = "store")]
mod store;
#[cfg(feature = "zone-files")]
mod zone_file;
// Level 4: what an endpoint asks.
#[cfg(feature = "zone")]
mod alert_query;
#[cfg(feature = "store")]
mod detail;
#[cfg(feature = "export")]
mod export;
#[cfg(all(feature = "store", feature = "serde"))]
mod intake;
#[cfg(feature = "grid-store")]
mod model;
#[cfg(feature = "grid-store")]
mod model_cell;
#[cfg(feature = "grid-store")]
mod model_map;
#[cfg(feature = "store")]
mod observation_series;
#[cfg(feature = "store")]
mod query;
#[cfg(feature = "store")]
#[cfg_attr(not(feature = "export"), allow(dead_code, reason = "what only the export asks for"))]
mod station_rows;

#[cfg(feature = "zone")]
pub use alert::{
    AlertColour, AlertConfidence, AlertImpact, AlertMessage, AlertMessageType, AlertPart,
    AlertStatus, AlertText, AlertType, AreaKind, MessageArea, Outcome, Storm, ThreatStatus,
};
#[cfg(feature = "zone")]
pub use alert_chain::{AlertClock, AlertState, next_alert_change_ms, resolve_alerts};
#[cfg(feature = "zone")]
pub use alert_query::{AlertQuery, alert_outlines};
#[cfg(feature = "zone")]
pub use alert_view::{Alert, AlertArea, AlertStorm, LatLon};
pub use canonical::{Canonical, to_canonical};
pub use capability::{Capabilities, Product, ProductAccess};
#[cfg(feature = "serde")]
pub use check::{
    Check, CheckConfig, CheckConfigError, CheckError, CheckInput, CheckLimit, CheckReport, Checker,
    DEFAULT_LIMITS_TOML, Explanation, NotRun, Reach, SeriesReadings, StationSite, Surroundings,
};
pub use crosswalk::{BUFR_033020, Crosswalk, GHCNH_CHECKS, ISD, MADIS, QARTOD, SWOB_QA_SUMMARY};
pub use derived::{
    DERIVED_INPUTS, DerivedLengthError, derive_report, derive_with_quality, dew_point_c,
    dew_point_c_into, heat_index_c, heat_index_c_into, heat_index_f, heat_index_f_into, humidex,
    humidex_into, mean_sea_level_pressure_hpa, mean_sea_level_pressure_hpa_into,
    relative_humidity_pct, relative_humidity_pct_into, roughness_m, station_pressure_hpa,
    station_pressure_hpa_into, stull_wet_bulb_c, stull_wet_bulb_c_into, wet_bulb_c,
    wet_bulb_c_into, wind_at_10m, wind_at_10m_into, wind_chill_c, wind_chill_c_into, wind_chill_f,
    wind_chill_f_into,
};
#[cfg(feature = "store")]
pub use detail::{QUALITIES_SPAN_MS, StationDetail, detail, details};
#[cfg(all(feature = "store", feature = "serde"))]
pub use detail::{StationMarker, StationMarkers};
pub use durable::{create_folder, sync_folder};
pub use error::{Error, ErrorKind};
#[cfg(feature = "export")]
pub use export::{
    CursorError, ExportEntry, ExportError, ExportFormat, ExportPage, ExportRequest, ExportWriter,
    MAX_PAGE_ROWS, QualityRange, RowFilter,
};
#[cfg(feature = "feed")]
pub use feed::{
    ECCC_HOURLY_NETWORK, FeedError, FeedItem, FeedKind, FeedReport, FeedStation, FeedSummary,
    FileContext, FilePlace, GHCNH_NETWORK, IEM_NETWORK, ISD_NETWORK, METAR_NETWORK, MetarItem,
    NDBC_NETWORK, NWS_NETWORK, Refusal, RefusalReason,
    metar::{Metar, MetarError, MetarKind},
    metar_report, metar_station, read_awc_csv, read_awc_xml, read_bulletins, read_cap,
    read_eccc_hourly, read_ghcnh, read_iem_asos, read_isd, read_ndbc_latest, read_ndbc_realtime2,
    read_ndbc_stations, read_nws_alerts, read_nws_observations, read_swob,
};
pub use geo::{BBox, GeoError, LonLat, StationIndex};
#[cfg(feature = "zone")]
pub use geometry::{COORDINATE_DECIMALS, GeometryError, MAX_RING_POSITIONS, MultiPolygon, Polygon};
#[cfg(feature = "grib")]
pub use grib::{
    Earth, GRIB_MAX_POINTS, GribError, GribField, GribFields, GribGrid, GribLevel, GribLevelError,
    GribParameter, GribParameterError, GribProduct, GridGeometry, LatLonAxes, grib_fields,
};
pub use grid::{
    CARRY_IN_MS, CURRENT_AGE_MS, Caps, Coarsening, GridLengthError, GridPlan, LimitedBy,
    NO_READING, Pick, Positions, as_of, pick_series, plan_grid,
};
#[cfg(feature = "grid-store")]
pub use grid_store::{
    GridCheck, GridFault, GridLevel, GridProduct, GridRun, GridStore, GridStoreError, LevelValues,
    ProductDefinition, PublishedHour, RunDefinition, RunWriter, move_aside,
};
#[cfg(all(feature = "store", feature = "serde"))]
pub use intake::{InputVerdict, Intake, ReadingExplanation};
pub use lookback::{GRACE_MS, Limits, LookbackError, Plan, PlanError, check_lookback};
#[cfg(feature = "grid-store")]
pub use model::{
    CellCentre, GridEncoding, ModelFields, ModelPoint, ModelPointQuery, ModelProduct, ModelSeries,
    ModelSeriesQuery, PointEntry, SeriesEntry, SeriesItem, SeriesValue, model_point,
    model_products, model_series,
};
#[cfg(feature = "models")]
pub use model_access::{AccessRefusal, AccessRule, ModelCaller, ModelCapabilities, ModelUse};
#[cfg(feature = "models")]
pub use model_catalogue::{
    DEFAULT_MODELS_TOML, ModelCatalogue, ModelCatalogueError, ModelSource, SourceProduct,
};
#[cfg(feature = "grid-store")]
pub use model_cell::ModelWinds;
#[cfg(feature = "models")]
pub use model_intake::{
    DeliveryLimits, ModelDelivery, ModelIntakeError, ModelRefusal, ModelReport,
    WrittenModelProduct, WrittenRun,
};
#[cfg(feature = "grid-store")]
pub use model_map::{ModelTileQuery, model_tile};
pub use model_tile::{
    MAX_TILE_ZOOM, TILE_SIDE, TileAddress, TileError, TilePlan, TileSampling, WindComponent,
};
#[cfg(feature = "store")]
pub use observation_series::{ObservationSeries, SeriesReading, observation_series};
pub use projection::{
    GridDefinition, GridDefinitionError, GridMember, GridProjection, LatLonGlobe, MAX_GRID_CELLS,
    NativeGrid, NativeGridError, Projection,
};
pub use quality::{
    BaseQuality, Quality, QualityCode, QualityError, ReasonQuality, distinct_worst_first, worst,
    worst_code,
};
#[cfg(feature = "store")]
pub use query::{Cell, Readings, ReadingsQuery, Scope, readings};
#[cfg(feature = "raster")]
pub use raster::{
    CatalogueError, DEFAULT_PRODUCTS_TOML, DurationError, FieldRule, ProductDuration, Raster,
    RasterCatalogue, RasterError, RasterFile, RasterProduct, Resampling,
};
pub use report::{Batch, Reading, Report};
pub use run_stamp::{RunStamp, RunStampError};
pub use series::{IntervalType, IntervalTypeError, Series, SeriesId, SeriesKey, SeriesPreference};
pub use series_filter::SeriesFilter;
pub use station::{Station, StationId, StationIdError, StationType};
#[cfg(all(feature = "store", feature = "zone"))]
pub use store::{AlertReceipt, AlertRecord, AlertStore};
#[cfg(feature = "store")]
pub use store::{
    Damage, Directory, Judge, MemoryStore, Reader, Receipt, Selection, SeriesSlice, StationRecord,
    StationSeries, Store, StoreError, Verdicts, Watched, latest_slices, unjudged,
};
#[cfg(feature = "embedded")]
pub use store::{
    EmbeddedOptions, EmbeddedStore, Fault, Maintained, Maintenance, RebuildReport, StoreHealth,
    Survey, VerifyReport, WouldGo,
};
pub use tile::{Encoding, EncodingError};
pub use time::{
    ClosedWindow, DAY_MS, HOUR_MS, HalfOpenWindow, InstantWriter, Iso8601, MINUTE_MS, Step,
    TimeError, parse_instant, parse_max_age, parse_window,
};
pub use unit::{
    Conversion, Dimension, MAX_UNIT_BYTES, Resolution, Sample, Unit, UnitError, Vocabulary,
    feet_to_m, inches_of_mercury_to_hpa, inches_to_mm, knots_to_kmh, metres_per_second_to_kmh,
    statute_miles_to_km,
};
pub use variable::{Variable, VariableError};
pub use vtec::{Hvtec, Vtec, VtecAction, VtecError, VtecEvent};
pub use wind::{Rotation, RotationLengthError, rotate_field};
#[cfg(feature = "zone")]
pub use zone::{Zone, ZoneCode, ZoneCodeError, ZoneKind, ZoneKindError, Zones};
#[cfg(feature = "zone")]
pub use zone_bundle::ZoneBundleError;
#[cfg(feature = "zone-files")]
pub use zone_file::{
    MAX_ZONE_FILE_BYTES, ProjectionError, ZoneFile, ZoneFileError, ZoneRefusal, ZoneShapefile,
    read_zone_geojson, read_zone_shapefile,
};
