//! One error above those of the modules, with stable kinds that callers can map.

#[cfg(feature = "feed")]
use crate::alert;
#[cfg(feature = "checks")]
use crate::check;
#[cfg(all(feature = "store", feature = "arrow"))]
use crate::export;
#[cfg(feature = "feed")]
use crate::feed;
#[cfg(feature = "grib")]
use crate::grib;
#[cfg(all(feature = "store", feature = "checks"))]
use crate::intake;
#[cfg(feature = "model")]
use crate::model;
#[cfg(feature = "store")]
use crate::query;
#[cfg(feature = "raster")]
use crate::raster;
#[cfg(feature = "store")]
use crate::store;
#[cfg(feature = "feed")]
use crate::zone;
use crate::{access, derived, geo, grid, observation, summary, time, unit};

/// What kind of error it is. The kinds are stable, so a caller maps each of them once: the
/// reference server answers with the status given here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The input does not have the required form: 400.
    Invalid,
    /// Something that was named does not exist: 404.
    NotFound,
    /// The plan of the caller does not allow it: 400 for a window that is too long or too far back,
    /// as the interface says; 401 or 403 where access is decided.
    Refused,
    /// The input is valid, but of a kind or version that is not read: 400.
    Unsupported,
    /// Stored data is damaged: 503, with the details in the log only.
    Damaged,
    /// It is not possible now, but may work later: 503.
    Unavailable,
    /// A disk or an encoder failed, which is not the caller's fault: 500, with an empty body.
    Internal,
}

/// Any error of the crate. The message is that of the module's own error: what was got and what
/// is allowed.
///
/// ```
/// use mesonet::{Error, ErrorKind, Step};
/// let error = Error::from("x".parse::<Step>().unwrap_err());
/// assert_eq!(error.kind(), ErrorKind::Invalid);
/// assert_eq!(
///     error.to_string(),
///     "step must be a whole number of minutes from 1 to 2147483647; got \"x\"",
/// );
/// ```
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "each variant wraps the error of the module that it names")]
pub enum Error {
    #[cfg(all(feature = "grib", feature = "model"))]
    #[error(transparent)]
    AccessRefusal(#[from] access::Refusal),
    #[cfg(feature = "store")]
    #[error(transparent)]
    AnswerUnit(#[from] query::AnswerUnitError),
    #[cfg(all(feature = "store", feature = "arrow"))]
    #[error(transparent)]
    ArchiveDamage(#[from] export::archive::ArchiveDamage),
    #[cfg(feature = "checks")]
    #[error(transparent)]
    Check(#[from] check::CheckError),
    #[cfg(feature = "checks")]
    #[error(transparent)]
    CheckConfig(#[from] check::CheckConfigError),
    #[error(transparent)]
    Colour(#[from] grid::ColourError),
    #[cfg(all(feature = "grib", feature = "model"))]
    #[error(transparent)]
    Delivery(#[from] model::DeliveryError),
    #[error(transparent)]
    DerivedLength(#[from] derived::DerivedLengthError),
    #[cfg(feature = "store")]
    #[error(transparent)]
    DetailField(#[from] query::DetailFieldError),
    #[cfg(feature = "raster")]
    #[error(transparent)]
    Duration(#[from] raster::DurationError),
    #[error(transparent)]
    Encoding(#[from] grid::EncodingError),
    #[cfg(all(feature = "store", feature = "arrow"))]
    #[error(transparent)]
    Export(#[from] export::ExportError),
    #[cfg(feature = "feed")]
    #[error(transparent)]
    Feed(#[from] feed::FeedError),
    #[cfg(all(feature = "feed", feature = "store", feature = "checks"))]
    #[error(transparent)]
    FeedFile(#[from] intake::FileError),
    #[cfg(feature = "feed")]
    #[error(transparent)]
    FeedKind(#[from] feed::FeedKindError),
    #[cfg(feature = "feed")]
    #[error(transparent)]
    FeedRefusal(#[from] feed::RefusalReason),
    #[error(transparent)]
    Geo(#[from] geo::GeoError),
    #[cfg(feature = "feed")]
    #[error(transparent)]
    Geometry(#[from] geo::GeometryError),
    #[cfg(feature = "grib")]
    #[error(transparent)]
    Grib(#[from] grib::GribError),
    #[cfg(feature = "grib")]
    #[error(transparent)]
    GribFieldKind(#[from] grib::FieldKindError),
    #[cfg(feature = "grib")]
    #[error(transparent)]
    GribLevel(#[from] grib::GribLevelError),
    #[cfg(feature = "grib")]
    #[error(transparent)]
    GribParameter(#[from] grib::GribParameterError),
    #[error(transparent)]
    GridDefinition(#[from] grid::GridDefinitionError),
    #[error(transparent)]
    IntervalType(#[from] observation::IntervalTypeError),
    #[error(transparent)]
    Lookback(#[from] access::LookbackError),
    #[cfg(feature = "feed")]
    #[error(transparent)]
    Metar(#[from] feed::metar::MetarError),
    #[cfg(all(feature = "grib", feature = "model"))]
    #[error(transparent)]
    ModelCatalogue(#[from] model::ModelCatalogueError),
    #[error(transparent)]
    NativeGrid(#[from] grid::NativeGridError),
    #[error(transparent)]
    Plan(#[from] access::PlanError),
    #[cfg(feature = "feed")]
    #[error(transparent)]
    Projection(#[from] zone::ProjectionError),
    #[error(transparent)]
    Quality(#[from] observation::QualityError),
    #[cfg(feature = "raster")]
    #[error(transparent)]
    Raster(#[from] raster::RasterError),
    #[cfg(feature = "raster")]
    #[error(transparent)]
    RasterCatalogue(#[from] raster::CatalogueError),
    #[error(transparent)]
    RotationLength(#[from] grid::RotationLengthError),
    #[cfg(feature = "model")]
    #[error(transparent)]
    RunStamp(#[from] model::RunStampError),
    #[cfg(all(feature = "store", feature = "checks"))]
    #[error(transparent)]
    Network(#[from] intake::NetworkError),
    #[cfg(feature = "store")]
    #[error(transparent)]
    Ragged(#[from] query::RaggedError),
    #[error(transparent)]
    Region(#[from] geo::RegionError),
    #[cfg(feature = "model")]
    #[error(transparent)]
    RunStore(#[from] model::RunStoreError),
    #[error(transparent)]
    SeriesKey(#[from] observation::SeriesKeyError),
    #[error(transparent)]
    StationId(#[from] observation::StationIdError),
    #[cfg(feature = "store")]
    #[error(transparent)]
    StationName(#[from] store::StationNameError),
    #[cfg(feature = "store")]
    #[error(transparent)]
    Store(#[from] store::StoreError),
    #[cfg(feature = "store")]
    #[error(transparent)]
    StoreCopy(#[from] store::copy::CopyError),
    #[error(transparent)]
    Summary(#[from] summary::SummaryError),
    #[error(transparent)]
    Tile(#[from] grid::TileError),
    #[error(transparent)]
    Time(#[from] time::TimeError),
    #[cfg(feature = "store")]
    #[error(transparent)]
    TimeGridLength(#[from] query::TimeGridLengthError),
    #[error(transparent)]
    Unit(#[from] unit::UnitError),
    #[error(transparent)]
    Variable(#[from] observation::VariableError),
    #[cfg(feature = "feed")]
    #[error(transparent)]
    Vtec(#[from] alert::VtecError),
    #[cfg(feature = "feed")]
    #[error(transparent)]
    ZoneBundle(#[from] zone::ZoneBundleError),
    #[cfg(feature = "feed")]
    #[error(transparent)]
    ZoneCode(#[from] zone::ZoneCodeError),
    #[cfg(feature = "feed")]
    #[error(transparent)]
    ZoneFile(#[from] zone::ZoneFileError),
    #[cfg(feature = "feed")]
    #[error(transparent)]
    ZoneKind(#[from] zone::ZoneKindError),
}

impl Error {
    /// Returns the kind.
    pub fn kind(&self) -> ErrorKind {
        match self {
            #[cfg(all(feature = "grib", feature = "model"))]
            Self::AccessRefusal(_) => ErrorKind::Refused,
            #[cfg(feature = "store")]
            Self::AnswerUnit(_) => ErrorKind::Invalid,
            #[cfg(all(feature = "store", feature = "arrow"))]
            Self::ArchiveDamage(_) => ErrorKind::Damaged,
            #[cfg(feature = "checks")]
            Self::Check(_) => ErrorKind::Invalid,
            #[cfg(feature = "checks")]
            Self::CheckConfig(_) => ErrorKind::Invalid,
            Self::Colour(_) => ErrorKind::Invalid,
            #[cfg(all(feature = "grib", feature = "model"))]
            Self::Delivery(error) => kind_of_delivery(error),
            Self::DerivedLength(_) => ErrorKind::Invalid,
            #[cfg(feature = "store")]
            Self::DetailField(_) => ErrorKind::Invalid,
            Self::Region(_) => ErrorKind::Invalid,
            #[cfg(feature = "store")]
            Self::StationName(store::StationNameError::Unknown(_)) => ErrorKind::NotFound,
            #[cfg(feature = "store")]
            Self::StationName(_) => ErrorKind::Invalid,
            #[cfg(feature = "raster")]
            Self::Duration(_) => ErrorKind::Invalid,
            Self::Encoding(_) => ErrorKind::Invalid,
            #[cfg(all(feature = "store", feature = "arrow"))]
            Self::Export(error) => kind_of_export(error),
            #[cfg(feature = "feed")]
            Self::Feed(error) => kind_of_feed(error),
            #[cfg(all(feature = "feed", feature = "store", feature = "checks"))]
            Self::FeedFile(error) => kind_of_feed_file(error),
            #[cfg(feature = "feed")]
            Self::FeedKind(_) => ErrorKind::Invalid,
            #[cfg(feature = "feed")]
            Self::FeedRefusal(_) => ErrorKind::Invalid,
            Self::Geo(_) => ErrorKind::Invalid,
            #[cfg(feature = "feed")]
            Self::Geometry(_) => ErrorKind::Invalid,
            #[cfg(feature = "grib")]
            Self::Grib(error) => kind_of_grib(error),
            #[cfg(feature = "grib")]
            Self::GribFieldKind(_) | Self::GribLevel(_) => ErrorKind::Invalid,
            #[cfg(feature = "grib")]
            Self::GribParameter(_) => ErrorKind::Invalid,
            Self::GridDefinition(_) => ErrorKind::Invalid,
            Self::IntervalType(_) => ErrorKind::Invalid,
            Self::Lookback(_) => ErrorKind::Refused,
            #[cfg(feature = "feed")]
            Self::Metar(_) => ErrorKind::Invalid,
            #[cfg(all(feature = "grib", feature = "model"))]
            Self::ModelCatalogue(_) => ErrorKind::Invalid,
            Self::NativeGrid(_) => ErrorKind::Invalid,
            Self::Plan(_) => ErrorKind::Invalid,
            #[cfg(feature = "feed")]
            Self::Projection(_) => ErrorKind::Invalid,
            Self::Quality(_) => ErrorKind::Invalid,
            #[cfg(feature = "raster")]
            Self::Raster(error) => kind_of_raster(error),
            #[cfg(feature = "raster")]
            Self::RasterCatalogue(_) => ErrorKind::Invalid,
            Self::RotationLength(_) => ErrorKind::Invalid,
            #[cfg(feature = "model")]
            Self::RunStamp(_) => ErrorKind::Invalid,
            #[cfg(all(feature = "store", feature = "checks"))]
            Self::Network(error) => kind_of_network(error),
            #[cfg(feature = "store")]
            Self::Ragged(_) => ErrorKind::Invalid,
            #[cfg(feature = "model")]
            Self::RunStore(error) => kind_of_run_store(error),
            Self::SeriesKey(_) => ErrorKind::Invalid,
            Self::StationId(_) => ErrorKind::Invalid,
            #[cfg(feature = "store")]
            Self::Store(error) => kind_of_store(error),
            #[cfg(feature = "store")]
            Self::StoreCopy(error) => kind_of_copy(error),
            Self::Summary(_) => ErrorKind::Invalid,
            Self::Tile(_) => ErrorKind::Invalid,
            Self::Time(_) => ErrorKind::Invalid,
            #[cfg(feature = "store")]
            Self::TimeGridLength(_) => ErrorKind::Invalid,
            Self::Unit(_) => ErrorKind::Invalid,
            Self::Variable(_) => ErrorKind::Invalid,
            #[cfg(feature = "feed")]
            Self::Vtec(_) => ErrorKind::Invalid,
            #[cfg(feature = "feed")]
            Self::ZoneBundle(error) => kind_of_zone_bundle(error),
            #[cfg(feature = "feed")]
            Self::ZoneCode(_) => ErrorKind::Invalid,
            #[cfg(feature = "feed")]
            Self::ZoneFile(_) => ErrorKind::Invalid,
            #[cfg(feature = "feed")]
            Self::ZoneKind(_) => ErrorKind::Invalid,
        }
    }
}

#[cfg(all(feature = "grib", feature = "model"))]
fn kind_of_delivery(error: &model::DeliveryError) -> ErrorKind {
    use model::DeliveryError as E;
    match error {
        E::Grib(error) => kind_of_grib(error),
        E::Store(error) => kind_of_run_store(error),
        E::Spool(_) => ErrorKind::Internal,
        E::Run(_)
        | E::Grid { .. }
        | E::Hour { .. }
        | E::Level { .. }
        | E::Twice { .. }
        | E::Range { .. }
        | E::Future { .. }
        | E::Differs(_)
        | E::Old { .. }
        | E::Runs(_)
        | E::Values { .. }
        | E::Full(_)
        | E::Cells { .. } => ErrorKind::Invalid,
    }
}

#[cfg(all(feature = "store", feature = "arrow"))]
fn kind_of_export(error: &export::ExportError) -> ErrorKind {
    use export::ExportError as E;
    match error {
        E::Cursor(_) | E::PageRows(_) | E::Filters(_) | E::Bounds { .. } | E::Range { .. } => {
            ErrorKind::Invalid
        }
        E::Store(error) => kind_of_store(error),
        E::Encoding(_) => ErrorKind::Internal,
    }
}

#[cfg(feature = "feed")]
fn kind_of_feed(error: &feed::FeedError) -> ErrorKind {
    use feed::FeedError as E;
    match error {
        E::Io { .. } => ErrorKind::Internal,
        E::Header { .. }
        | E::NotThisKind(_)
        | E::TooLong { .. }
        | E::Json { .. }
        | E::Xml { .. } => ErrorKind::Invalid,
    }
}

#[cfg(all(feature = "feed", feature = "store", feature = "checks"))]
fn kind_of_feed_file(error: &intake::FileError) -> ErrorKind {
    use intake::FileError as E;
    match error {
        E::UnknownKind { .. } => ErrorKind::Unsupported,
        E::Start(cause) | E::Feed { cause, .. } => kind_of_feed(cause),
        E::Store { cause, .. } => kind_of_store(cause),
    }
}

#[cfg(feature = "grib")]
fn kind_of_grib(error: &grib::GribError) -> ErrorKind {
    use grib::GribError as E;
    match error {
        E::Edition(_) | E::Unsupported { .. } => ErrorKind::Unsupported,
        E::Truncated { .. }
        | E::Gap { .. }
        | E::Sections { .. }
        | E::Order { .. }
        | E::ShortSection { .. }
        | E::Time(_)
        | E::Points { .. }
        | E::Mismatch { .. }
        | E::Grid(_)
        | E::Codec { .. }
        | E::Constant { .. }
        | E::NotFinite => ErrorKind::Invalid,
    }
}

#[cfg(feature = "raster")]
fn kind_of_raster(error: &raster::RasterError) -> ErrorKind {
    use raster::RasterError as E;
    match error {
        E::Grib(error) => kind_of_grib(error),
        E::Grid(_) => ErrorKind::Unsupported,
        E::Damaged(_) => ErrorKind::Damaged,
        E::Tiff(_) | E::Unreadable(_) => ErrorKind::Internal,
    }
}

#[cfg(feature = "model")]
fn kind_of_run_store(error: &model::RunStoreError) -> ErrorKind {
    use model::RunStoreError as E;
    match error {
        E::UnknownModel(_) | E::UnknownRun { .. } | E::Unpublished { .. } => ErrorKind::NotFound,
        // A product is named in a parameter, not in a path.
        E::UnknownProduct { .. }
        | E::UnknownMember { .. }
        | E::UnknownLevel { .. }
        | E::OtherInterval { .. }
        | E::Name { .. }
        | E::Index { .. }
        | E::Part { .. }
        | E::Window { .. }
        | E::Published { .. }
        | E::NothingWritten(_)
        | E::Cell(_)
        | E::Length { .. }
        | E::Grid(_)
        | E::Tile(_)
        | E::Definition(_)
        | E::Differs(_) => ErrorKind::Invalid,
        E::Busy(_) => ErrorKind::Unavailable,
        E::Damaged { .. } => ErrorKind::Damaged,
        E::Storage { .. } => ErrorKind::Internal,
    }
}

#[cfg(feature = "store")]
fn kind_of_store(error: &store::StoreError) -> ErrorKind {
    use store::StoreError as E;
    match error {
        E::UnknownStation { .. } | E::NotFinite { .. } | E::SeriesIdTaken { .. } => {
            ErrorKind::Invalid
        }
        E::SchemaVersion { .. } | E::NoTexts => ErrorKind::Unsupported,
        E::NoCatalogue { .. } => ErrorKind::Damaged,
        E::Full { .. } | E::Locked { .. } | E::Unavailable { .. } => ErrorKind::Unavailable,
        E::Columns(_) | E::Storage { .. } => ErrorKind::Internal,
    }
}

#[cfg(feature = "store")]
fn kind_of_copy(error: &store::copy::CopyError) -> ErrorKind {
    use store::copy::CopyError as E;
    match error {
        E::Store(error) => kind_of_store(error),
        E::Occupied { .. } | E::Finished { .. } | E::OtherCopy { .. } => ErrorKind::Invalid,
        E::Damaged { .. } | E::Note { .. } | E::Differs { .. } => ErrorKind::Damaged,
    }
}

#[cfg(all(feature = "store", feature = "checks"))]
fn kind_of_network(error: &intake::NetworkError) -> ErrorKind {
    use intake::NetworkError as E;
    match error {
        E::Columns { .. } | E::Twice { .. } | E::NoStation { .. } => ErrorKind::Invalid,
        E::Store(error) => kind_of_store(error),
    }
}

#[cfg(feature = "feed")]
fn kind_of_zone_bundle(error: &zone::ZoneBundleError) -> ErrorKind {
    use zone::ZoneBundleError as E;
    match error {
        E::Format(_) => ErrorKind::Unsupported,
        E::Layout(_)
        | E::Rest(_)
        | E::Decimals(_)
        | E::Code(_)
        | E::Kind { .. }
        | E::Place(_)
        | E::Geometry(_) => ErrorKind::Invalid,
    }
}

#[cfg(test)]
#[path = "error_tests.rs"]
mod tests;
