//! Why a field does not become part of a run.

use crate::grib::GribError;
use crate::grid;
use crate::model::{RunStamp, RunStampError, RunStoreError};
use crate::time::Iso8601;

/// Why a field does not become part of a run.
///
/// ```
/// # let sample = concat!(env!("CARGO_MANIFEST_DIR"), "/../server-example/sample/safrica_ps_20100308T12Z_25hours.grib2");
/// # let folder = tempfile::tempdir()?;
/// use mesonet::model::{self, Delivery, DeliveryError, DeliveryLimits};
/// let (catalogue, store) = (model::Catalogue::default(), model::RunStore::new(folder.path()));
/// let source = catalogue.get("safrica").expect("it ships");
/// // At most 10 kB may wait, less than the first field.
/// let limits = DeliveryLimits { packed_bytes: 10_000, ..DeliveryLimits::default() };
/// let mut delivery = Delivery::new(source, &store, std::io::Cursor::new(Vec::new()), limits);
/// delivery.add_within("safrica.grib2", &std::fs::read(sample)?, u64::MAX);
/// let report = delivery.write(1_268_060_000_000, || ());
/// let refusal: &model::FieldRefusal = &report.refusals[0];
/// assert_eq!(refusal.file, "safrica.grib2");
/// let error: &DeliveryError = &refusal.error;
/// assert_eq!(*error, DeliveryError::Full(10_000));
/// assert!(!error.is_temporary());
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DeliveryError {
    /// The field cannot be read or is not supported.
    #[error(transparent)]
    Grib(#[from] GribError),
    /// Its reference time cannot be the start of a run.
    #[error(transparent)]
    Run(#[from] RunStampError),
    /// Its grid is not that of the run.
    #[error("its grid is not that of run {run}: got {}; expected {}", GridText(.got), GridText(.allowed))]
    Grid {
        /// The run.
        run: RunStamp,
        /// The grid of the field.
        got: Box<grid::Definition>,
        /// The grid of the run.
        allowed: Box<grid::Definition>,
    },
    /// Its time is not an hour of the run.
    #[error("{} is not an hour of run {run}; its hours are {allowed}", Iso8601(*.valid_ms))]
    Hour {
        /// The run.
        run: RunStamp,
        /// The valid time, in milliseconds since 1970.
        valid_ms: i64,
        /// The first and the last hour, and the number of hours.
        allowed: String,
    },
    /// Its level is not one of the product's levels.
    #[error("{hpa} hPa is not a level of product {product}; its levels are {allowed}")]
    Level {
        /// The product.
        product: String,
        /// The level.
        hpa: f64,
        /// The levels of the product.
        allowed: String,
    },
    /// Another field of the delivery already has its place.
    #[error("{field} of {file} has its place in product {product} already, with other content")]
    Twice {
        /// The product.
        product: String,
        /// The other field.
        field: String,
        /// The file of the other field.
        file: String,
    },
    /// A value that the integers of the product cannot hold.
    #[error(
        "{value} is beyond the packing of product {product}, which holds {} to {}; a larger scale, \
         or packing = \"auto\", would hold it", .allowed[0], .allowed[1]
    )]
    Range {
        /// The product.
        product: String,
        /// The value that is farthest beyond.
        value: f64,
        /// The least and the greatest value that it holds.
        allowed: [f64; 2],
    },
    /// Its run starts in the future.
    #[error("run {run} is in the future: it is {} now", Iso8601(*.now_ms))]
    Future {
        /// The run.
        run: RunStamp,
        /// The clock, in milliseconds since 1970.
        now_ms: i64,
    },
    /// The run exists, laid out differently from the current catalogue.
    #[error(
        "run {0} already exists with hours, products or packing that differ from the current \
         catalogue; it can only grow as it was laid out"
    )]
    Differs(RunStamp),
    /// The run would be removed right away.
    #[error(
        "run {run} is older than the {keep} runs that are kept; the oldest of those is {oldest}"
    )]
    Old {
        /// The run.
        run: RunStamp,
        /// The number of runs that are kept.
        keep: usize,
        /// The oldest run that is kept.
        oldest: RunStamp,
    },
    /// The delivery has too many runs.
    #[error("its run is beyond the {0} runs that a delivery may have")]
    Runs(usize),
    /// The field is too large with all its levels.
    #[error("an hour of product {product} has {got} values; the limit is {limit}")]
    Values {
        /// The product.
        product: String,
        /// Levels × rows × columns.
        got: usize,
        /// The limit.
        limit: usize,
    },
    /// The fields of the delivery have too many bytes.
    #[error("the fields of the delivery exceed the limit of {0} bytes")]
    Full(u64),
    /// The fields of the file cost more than the limit.
    #[error(
        "the fields of the file have more than {limit} cells, the limit for a file of its length; \
         fields left out: {left_out}"
    )]
    Cells {
        /// The limit.
        limit: u64,
        /// How many fields of the file were not used, including this one.
        left_out: u64,
    },
    /// A field that waits for its run cannot be written or read.
    #[error("it cannot be kept until its run is written: {0}")]
    Spool(String),
    /// The store reports an error.
    #[error(transparent)]
    Store(#[from] RunStoreError),
}

impl DeliveryError {
    /// Returns whether the error shows that a file is not whole, or was not read to its end.
    pub(super) fn is_of_broken_file(&self) -> bool {
        match self {
            Self::Grib(error) => error.is_damage(),
            Self::Cells { .. } | Self::Full(_) => true,
            _ => false,
        }
    }

    /// Returns whether the error means that the run lacks a field that it should have.
    pub(super) fn is_loss(&self) -> bool {
        let is_lost = matches!(
            self,
            Self::Range { .. }
                | Self::Values { .. }
                | Self::Grid { .. }
                | Self::Twice { .. }
                | Self::Grib(_)
                | Self::Store(RunStoreError::Damaged { .. })
        );
        is_lost || self.is_of_broken_file()
    }

    /// Returns whether the field itself is good, so that it may be delivered again: the disk
    /// reported an error, or someone else is writing the run.
    pub fn is_temporary(&self) -> bool {
        let passes = |error: &RunStoreError| {
            matches!(error, RunStoreError::Busy(_) | RunStoreError::Storage { .. })
        };
        match self {
            Self::Spool(_) => true,
            Self::Store(error) => passes(error),
            _ => false,
        }
    }
}

/// Describes a grid.
struct GridText<'a>(&'a grid::Definition);

impl std::fmt::Display for GridText<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let grid::Definition { rows, columns, first_lat, first_lon, row_step, column_step, .. } =
            self.0;
        write!(
            f,
            "{rows} rows of {columns} from {first_lat}, {first_lon} in steps of {row_step} and \
             {column_step}"
        )
    }
}
