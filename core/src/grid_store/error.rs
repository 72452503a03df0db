//! What may be wrong with a store of model grids, or with what is asked of it.

use std::io;
use std::path::Path;

use crate::projection::{GridDefinitionError, NativeGridError};
use crate::time::Iso8601;

/// A question that a run has no answer to, or a store that is damaged or refuses.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum GridStoreError {
    /// A name that cannot be one.
    #[error(
        "\"{got}\" is no name of a {what}; allowed are 1 to 64 letters, digits, - and _, the first \
         of them no sign"
    )]
    Name {
        /// What it is to name.
        what: &'static str,
        /// The name.
        got: String,
    },
    /// A model without runs.
    #[error("there is no run of model \"{0}\"")]
    UnknownModel(String),
    /// A run that is not there.
    #[error("there is no run {run} of model \"{model}\"")]
    UnknownRun {
        /// The model.
        model: String,
        /// The run.
        run: String,
    },
    /// A product that the model does not have.
    #[error("\"{got}\" is no product of model \"{model}\"; allowed are {allowed}")]
    UnknownProduct {
        /// The model.
        model: String,
        /// The name.
        got: String,
        /// The names that there are.
        allowed: String,
    },
    /// An index beyond its axis.
    #[error("{what} {got} is out of range; allowed is 0 to {last}")]
    Index {
        /// The axis.
        what: &'static str,
        /// The index.
        got: usize,
        /// The last index.
        last: usize,
    },
    /// A part of a grid that is none.
    #[error("{what} {start} to {end} are no part of a grid of {length}")]
    Part {
        /// Rows or columns.
        what: &'static str,
        /// The first one.
        start: usize,
        /// The one behind the last one.
        end: usize,
        /// How many there are.
        length: usize,
    },
    /// A window of valid times whose end is before its start.
    #[error("from must not be after to; got {} and {}", Iso8601(*.from_ms), Iso8601(*.to_ms))]
    Window {
        /// The start that was given.
        from_ms: i64,
        /// The end that was given.
        to_ms: i64,
    },
    /// An hour that is not published yet.
    #[error("hour {hour} of run {run} is not published yet; published are {published}")]
    Unpublished {
        /// The run.
        run: String,
        /// The hour.
        hour: usize,
        /// The hours that are.
        published: String,
    },
    /// A product of an hour that cannot be written again.
    #[error("product \"{product}\" of hour {hour} is published and does not change any more")]
    Published {
        /// The hour.
        hour: usize,
        /// The product.
        product: String,
    },
    /// An hour of which nothing was written.
    #[error("nothing was written of hour {0}")]
    NothingWritten(usize),
    /// A cell or a position that the grid does not have.
    #[error(transparent)]
    Cell(#[from] NativeGridError),
    /// A buffer of the wrong length.
    #[error("{what} needs room for {needed} values; got {got}")]
    Length {
        /// What is read or written.
        what: &'static str,
        /// Values that there are.
        needed: usize,
        /// Length of the buffer.
        got: usize,
    },
    /// A grid that is none.
    #[error(transparent)]
    Grid(#[from] GridDefinitionError),
    /// A definition that makes no run.
    #[error("the run is none: {0}")]
    Definition(String),
    /// The run is there with another definition.
    #[error("run {0} is there already, with another grid, other hours or other products")]
    Differs(String),
    /// Another process or thread writes the run.
    #[error("run {0} is being written by someone else")]
    Busy(String),
    /// A file that is not as it was written.
    #[error("{file} is damaged: {cause}")]
    Damaged {
        /// The file.
        file: String,
        /// What is wrong with it.
        cause: String,
    },
    /// The file system refuses.
    #[error("{path}: {cause}")]
    Storage {
        /// The file or folder.
        path: String,
        /// What the file system says.
        cause: String,
    },
}

pub(super) fn storage(path: &Path, error: &io::Error) -> GridStoreError {
    GridStoreError::Storage { path: path.display().to_string(), cause: error.to_string() }
}

pub(super) fn damaged(path: &Path, cause: &impl ToString) -> GridStoreError {
    GridStoreError::Damaged { file: path.display().to_string(), cause: cause.to_string() }
}
