//! The errors of a store of model grids.

use std::io;
use std::path::Path;

use super::definition::FieldInterval;
use crate::grid::{GridDefinitionError, NativeGridError, TileError};
use crate::time::Iso8601;

/// An error for a request that a run cannot answer, or for a store that is damaged or cannot be
/// used.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RunStoreError {
    /// A name that is not valid.
    #[error(
        "invalid {what} name \"{got}\": it must be 1 to 64 letters, digits, - and _, and start with \
         a letter or digit"
    )]
    Name {
        /// The thing that it would name.
        what: &'static str,
        /// The name.
        got: String,
    },
    /// A model that has no runs.
    #[error("model \"{0}\" has no runs")]
    UnknownModel(String),
    /// A run that does not exist.
    #[error("model \"{model}\" has no run {run}")]
    UnknownRun {
        /// The model.
        model: String,
        /// The run.
        run: String,
    },
    /// A product that the model does not have.
    #[error("unknown product \"{got}\" of model \"{model}\"; known are {allowed}")]
    UnknownProduct {
        /// The model.
        model: String,
        /// The name.
        got: String,
        /// The names of its products.
        allowed: String,
    },
    /// A member that a product does not have.
    #[error("product \"{product}\" has no member {got}; its members are {allowed}")]
    UnknownMember {
        /// The product.
        product: String,
        /// The member.
        got: u8,
        /// The existing members.
        allowed: String,
    },
    /// A pressure level that a product does not have.
    #[error("product \"{product}\" has no level at {got} hPa; its levels are {allowed}")]
    UnknownLevel {
        /// The product.
        product: String,
        /// The level.
        got: f64,
        /// The existing levels.
        allowed: String,
    },
    /// A field over another interval than the rest of its product at an hour.
    #[error("product \"{product}\" of hour {hour} is {own}; it cannot also be {got}")]
    OtherInterval {
        /// The product.
        product: String,
        /// The hour.
        hour: usize,
        /// The existing interval.
        own: FieldInterval,
        /// The interval of the field.
        got: FieldInterval,
    },
    /// An index beyond its axis.
    #[error("{what} {got} is out of range: it must be 0 to {last}")]
    Index {
        /// The axis.
        what: &'static str,
        /// The index.
        got: usize,
        /// The last index.
        last: usize,
    },
    /// A range that is not within the grid.
    #[error("{what} {start} to {end} are not within a grid of {length}")]
    Part {
        /// Rows, columns or hours.
        what: &'static str,
        /// The first index.
        start: usize,
        /// The index after the last one.
        end: usize,
        /// The number on the grid.
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
    #[error("hour {hour} of run {run} is not published yet; published hours: {published}")]
    Unpublished {
        /// The run.
        run: String,
        /// The hour.
        hour: usize,
        /// The hours that are published.
        published: String,
    },
    /// A product of an hour that can no longer be written.
    #[error("product \"{product}\" of hour {hour} is already published and can no longer change")]
    Published {
        /// The hour.
        hour: usize,
        /// The product.
        product: String,
    },
    /// An hour for which nothing was written.
    #[error("nothing was written for hour {0}")]
    NothingWritten(usize),
    /// A cell or a position that the grid does not have.
    #[error(transparent)]
    Cell(#[from] NativeGridError),
    /// A buffer of the wrong length.
    #[error("{what} needs room for {needed} values; got room for {got}")]
    Length {
        /// What is read or written.
        what: &'static str,
        /// The number of values.
        needed: usize,
        /// The length of the buffer.
        got: usize,
    },
    /// Buffers that do not fit a tile.
    #[error(transparent)]
    Tile(#[from] TileError),
    /// An invalid grid.
    #[error(transparent)]
    Grid(#[from] GridDefinitionError),
    /// An invalid definition of a run.
    #[error("invalid run: {0}")]
    Definition(String),
    /// The run exists with another definition.
    #[error("run {0} already exists with a different grid, hours or products")]
    Differs(String),
    /// Another process or thread is writing the run.
    #[error("run {0} is being written by someone else")]
    Busy(String),
    /// A file whose content differs from what was written.
    #[error("{file} is damaged: {cause}")]
    Damaged {
        /// The file.
        file: String,
        /// The fault.
        cause: String,
    },
    /// The file system reports an error.
    #[error("{path}: {cause}")]
    Storage {
        /// The file or folder.
        path: String,
        /// The message of the file system.
        cause: String,
    },
}

pub(super) fn storage(path: &Path, error: &io::Error) -> RunStoreError {
    RunStoreError::Storage { path: path.display().to_string(), cause: error.to_string() }
}

pub(super) fn damaged(path: &Path, cause: &impl ToString) -> RunStoreError {
    RunStoreError::Damaged { file: path.display().to_string(), cause: cause.to_string() }
}
