//! Why a field does not become part of a run.

use crate::grib::GribError;
use crate::grid_store::GridStoreError;
use crate::projection::GridDefinition;
use crate::run_stamp::{RunStamp, RunStampError};
use crate::time::Iso8601;

/// What is said where a run has but what it was first made from.
pub(super) const GROW: &str = "; runs of this model have the hours, products and levels of the \
    files that they are first made from: state its hours in the catalogue for runs that grow";

/// Why a field does not become part of a run.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ModelIntakeError {
    /// It cannot be read, or is of a kind that is not.
    #[error(transparent)]
    Grib(#[from] GribError),
    /// Its reference time is the start of no run.
    #[error(transparent)]
    Run(#[from] RunStampError),
    /// Its grid is not that of the run.
    #[error("its grid is not that of run {run}: {}; allowed is {}", Grid(.got), Grid(.allowed))]
    Grid {
        /// The run.
        run: RunStamp,
        /// The grid of the field.
        got: Box<GridDefinition>,
        /// The grid of the run.
        allowed: Box<GridDefinition>,
    },
    /// Its time is no hour of the run.
    #[error("{} is no hour of run {run}; allowed are {allowed}{advice}", Iso8601(*.valid_ms))]
    Hour {
        /// The run.
        run: RunStamp,
        /// When it is valid, milliseconds since 1970.
        valid_ms: i64,
        /// The first and the last hour, and how many there are.
        allowed: String,
        /// What may be done about it.
        advice: &'static str,
    },
    /// Its level is none of the product's.
    #[error("{hpa} hPa is no level of product {product}; allowed are {allowed}{advice}")]
    Level {
        /// The product.
        product: String,
        /// The level.
        hpa: f64,
        /// Those that there are.
        allowed: String,
        /// What may be done about it.
        advice: &'static str,
    },
    /// The run does not have its product.
    #[error("run {run} has no product {product}{GROW}")]
    Product {
        /// The run.
        run: RunStamp,
        /// The product.
        product: String,
    },
    /// The run is there, and was laid out unlike the catalogue has it now.
    #[error(
        "run {0} is there already, with other hours, products or packing than the catalogue has \
         now; it takes more only as it was"
    )]
    Differs(RunStamp),
    /// The run would be removed at once.
    #[error("run {run} is older than the {keep} that are kept; the oldest of them is {oldest}")]
    Old {
        /// The run.
        run: RunStamp,
        /// How many are kept.
        keep: usize,
        /// The oldest that is.
        oldest: RunStamp,
    },
    /// More runs than a delivery may have.
    #[error("it is of one run more than the {0} that a delivery may have")]
    Runs(usize),
    /// A field of all its levels that is too large.
    #[error("an hour of product {product} has {got} values; the limit is {limit}")]
    Values {
        /// The product.
        product: String,
        /// Levels × rows × columns.
        got: usize,
        /// Most values.
        limit: usize,
    },
    /// The fields of the delivery are too many bytes.
    #[error("the fields of the delivery are more than {0} bytes, which is the limit")]
    Full(u64),
    /// The fields of a file cost more than they may.
    #[error("the fields of the file have more than {0} cells, the limit for a file of its length")]
    Cells(u64),
    /// What was set aside until the run is written cannot be written or read.
    #[error("it cannot be set aside: {0}")]
    Spool(String),
    /// The store refuses.
    #[error(transparent)]
    Store(#[from] GridStoreError),
}

impl ModelIntakeError {
    /// Whether nothing is wrong with the field, so that it may be delivered again: the disk refuses,
    /// or the run is being written by someone else.
    pub fn is_temporary(&self) -> bool {
        let passes = |error: &GridStoreError| {
            matches!(error, GridStoreError::Busy(_) | GridStoreError::Storage { .. })
        };
        match self {
            Self::Spool(_) => true,
            Self::Store(error) => passes(error),
            _ => false,
        }
    }
}

/// A grid in words.
struct Grid<'a>(&'a GridDefinition);

impl std::fmt::Display for Grid<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let GridDefinition { rows, columns, first_lat, first_lon, row_step, column_step, .. } =
            self.0;
        write!(
            f,
            "{rows} rows of {columns} from {first_lat}, {first_lon} in steps of {row_step} and \
             {column_step}"
        )
    }
}
