//! The rotation of the winds of a part of a grid.

use super::map::Map;
use super::rotation::Rotation;

/// The rotations of a part of a grid, with the terms for each row and column precomputed.
pub(crate) struct WindTurns<'a> {
    pub(super) map: &'a Map,
    pub(super) grid_relative_winds: bool,
    pub(super) first_row: usize,
    pub(super) first_column: usize,
    pub(super) by_row: Vec<(f64, f64)>,
    pub(super) by_column: Vec<(f64, f64)>,
}

impl WindTurns<'_> {
    /// Returns the rotation of a cell of the part.
    #[inline]
    pub(crate) fn at(&self, row: usize, column: usize) -> Rotation {
        if !self.grid_relative_winds {
            return Rotation::IDENTITY;
        }
        let (y, x) =
            (self.by_row[row - self.first_row], self.by_column[column - self.first_column]);
        self.map.rotation_at(x, y)
    }

    /// Writes the rotations of the cells of a row of the part.
    pub(crate) fn row(&self, row: usize, rotations: &mut [Rotation]) {
        if self.grid_relative_winds {
            let y = self.by_row[row - self.first_row];
            self.map.rotations_of_row(&self.by_column, y, rotations);
        } else {
            rotations.fill(Rotation::IDENTITY);
        }
    }
}
