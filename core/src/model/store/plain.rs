//! Chunks of runs that were written until version 3 of the layout: 16 × 16 integers of all planes as
//! they are, two bytes each. They are read, and written again in blocks when their run is.

use std::ops::Range;

/// The rows and columns of a chunk.
pub(super) const SIDE: usize = 16;
/// The cells of a plane of a chunk.
const CELLS: usize = SIDE * SIDE;

/// Returns the bytes of a chunk's integers.
pub(super) fn bytes_of(planes: usize) -> usize {
    planes * CELLS * 2
}

/// The integers of a chunk, plane by plane.
#[derive(Clone, Copy)]
pub(super) struct PlainChunk<'a>(pub &'a [[u8; 2]]);

impl PlainChunk<'_> {
    /// Reads a cell of several planes, from the first given one on.
    #[inline]
    pub(super) fn column(self, row: usize, column: usize, first_plane: usize, values: &mut [i16]) {
        let start = first_plane * CELLS + row * SIDE + column;
        for (value, &pair) in values.iter_mut().zip(self.0[start..].iter().step_by(CELLS)) {
            *value = i16::from_le_bytes(pair);
        }
    }

    /// Reads a part of a plane; in the output a row of it begins every `stride` places.
    pub(super) fn part(
        self,
        plane: usize,
        rows: Range<usize>,
        columns: Range<usize>,
        values: &mut [i16],
        stride: usize,
    ) {
        for (number, row) in rows.enumerate() {
            let from = plane * CELLS + row * SIDE + columns.start;
            let values = &mut values[number * stride..][..columns.len()];
            for (value, &pair) in values.iter_mut().zip(&self.0[from..]) {
                *value = i16::from_le_bytes(pair);
            }
        }
    }
}
