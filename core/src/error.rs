//! One error above the small ones of the modules, with stable kinds for adapters to map.

#[cfg(feature = "serde")]
use crate::check::{CheckConfigError, CheckError};
#[cfg(feature = "export")]
use crate::export::ExportError;
use crate::geo::GeoError;
#[cfg(feature = "zone")]
use crate::geometry::GeometryError;
#[cfg(feature = "grib")]
use crate::grib::GribError;
use crate::grid::GridLengthError;
#[cfg(feature = "grid-store")]
use crate::grid_store::GridStoreError;
use crate::lookback::{LookbackError, PlanError};
#[cfg(feature = "models")]
use crate::model_catalogue::ModelCatalogueError;
use crate::model_tile::TileError;
use crate::projection::{GridDefinitionError, NativeGridError};
use crate::quality::QualityError;
#[cfg(feature = "raster")]
use crate::raster::{CatalogueError, DurationError, RasterError};
use crate::run_stamp::RunStampError;
use crate::series::IntervalTypeError;
use crate::station::StationIdError;
#[cfg(feature = "store")]
use crate::store::StoreError;
use crate::tile::EncodingError;
use crate::time::TimeError;
use crate::unit::UnitError;
use crate::variable::VariableError;
use crate::wind::RotationLengthError;
#[cfg(feature = "zone")]
use crate::zone::{ZoneCodeError, ZoneKindError};

/// What kind of thing went wrong. The kinds are stable: each adapter maps them once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The input is not of the form that is allowed.
    Invalid,
    /// The input is beyond a named limit.
    Limit,
    /// The store refused a batch or failed, or what it holds could not be encoded.
    Store,
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
    #[cfg(feature = "raster")]
    #[error(transparent)]
    Catalogue(#[from] CatalogueError),
    #[cfg(feature = "serde")]
    #[error(transparent)]
    Check(#[from] CheckError),
    #[cfg(feature = "serde")]
    #[error(transparent)]
    CheckConfig(#[from] CheckConfigError),
    #[cfg(feature = "raster")]
    #[error(transparent)]
    Duration(#[from] DurationError),
    #[error(transparent)]
    Encoding(#[from] EncodingError),
    #[cfg(feature = "export")]
    #[error(transparent)]
    Export(#[from] ExportError),
    #[error(transparent)]
    Geo(#[from] GeoError),
    #[cfg(feature = "zone")]
    #[error(transparent)]
    Geometry(#[from] GeometryError),
    #[cfg(feature = "grib")]
    #[error(transparent)]
    Grib(#[from] GribError),
    #[error(transparent)]
    GridDefinition(#[from] GridDefinitionError),
    #[error(transparent)]
    GridLength(#[from] GridLengthError),
    #[cfg(feature = "grid-store")]
    #[error(transparent)]
    GridStore(#[from] GridStoreError),
    #[error(transparent)]
    IntervalType(#[from] IntervalTypeError),
    #[error(transparent)]
    Lookback(#[from] LookbackError),
    #[cfg(feature = "models")]
    #[error(transparent)]
    ModelCatalogue(#[from] ModelCatalogueError),
    #[error(transparent)]
    NativeGrid(#[from] NativeGridError),
    #[error(transparent)]
    Plan(#[from] PlanError),
    #[error(transparent)]
    Quality(#[from] QualityError),
    #[cfg(feature = "raster")]
    #[error(transparent)]
    Raster(#[from] RasterError),
    #[error(transparent)]
    RotationLength(#[from] RotationLengthError),
    #[error(transparent)]
    RunStamp(#[from] RunStampError),
    #[error(transparent)]
    StationId(#[from] StationIdError),
    #[cfg(feature = "store")]
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Tile(#[from] TileError),
    #[error(transparent)]
    Time(#[from] TimeError),
    #[error(transparent)]
    Unit(#[from] UnitError),
    #[error(transparent)]
    Variable(#[from] VariableError),
    #[cfg(feature = "zone")]
    #[error(transparent)]
    ZoneCode(#[from] ZoneCodeError),
    #[cfg(feature = "zone")]
    #[error(transparent)]
    ZoneKind(#[from] ZoneKindError),
}

impl Error {
    /// The kind, for an adapter to map.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Lookback(_) => ErrorKind::Limit,
            #[cfg(feature = "store")]
            Self::Store(_) => ErrorKind::Store,
            #[cfg(feature = "grid-store")]
            Self::GridStore(
                GridStoreError::Damaged { .. }
                | GridStoreError::Storage { .. }
                | GridStoreError::Busy(_),
            ) => ErrorKind::Store,
            #[cfg(feature = "export")]
            Self::Export(ExportError::Store(_) | ExportError::Encoding(_)) => ErrorKind::Store,
            _ => ErrorKind::Invalid,
        }
    }
}
