//! What may be wrong with a cell, a position or an array of a native grid.

use crate::geo::GeoError;

/// The error for a cell or position that is not on the grid, or for arrays of the wrong length.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum NativeGridError {
    /// Indices beyond the grid.
    #[error(
        "row {row}, column {column} is not on the grid; allowed are rows 0 to {last_row} and \
         columns 0 to {last_column}"
    )]
    Cell {
        /// The requested row.
        row: usize,
        /// The requested column.
        column: usize,
        /// The last row.
        last_row: usize,
        /// The last column.
        last_column: usize,
    },
    /// A position more than half a cell beyond the outermost centres.
    #[error(
        "latitude {lat}, longitude {lon} is not on the grid: it would be row {row:.2}, column \
         {column:.2}; allowed are rows 0 to {last_row} and columns 0 to {last_column}"
    )]
    Position {
        /// The latitude of the position.
        lat: f64,
        /// The longitude of the position.
        lon: f64,
        /// The row where it would be.
        row: f64,
        /// The column where it would be.
        column: f64,
        /// The last row.
        last_row: usize,
        /// The last column.
        last_column: usize,
    },
    /// A cell without a position, because the definition extends beyond a pole.
    #[error("row {row}, column {column} is not on the globe: {cause}")]
    OffGlobe {
        /// The requested row.
        row: usize,
        /// The requested column.
        column: usize,
        /// The fault of its position.
        cause: GeoError,
    },
    /// Arrays whose length is not the number of cells.
    #[error("arrays must have {cells} values, one for each cell; got {first} and {second}")]
    Length {
        /// The number of cells.
        cells: usize,
        /// Length of the first array.
        first: usize,
        /// Length of the second array.
        second: usize,
    },
    /// Arrays of different lengths, with the length of each.
    #[error("array lengths must match; got {0}")]
    Lengths(String),
    /// A latitude or longitude out of range.
    #[error(transparent)]
    Geo(#[from] GeoError),
}
