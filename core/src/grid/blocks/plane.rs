//! A plane of integers, encoded block by block.

use super::block::{self, Holes, Rows, SIDE};
use super::step::Step;

/// A plane of integers in blocks, from which chunks are assembled: about a third of its size.
///
/// ```
/// use mesonet::grid::blocks::{self, ChunkShape, EncodedPlane};
/// let row: Vec<i16> = (0..40).map(|column| 10 * column).collect();
/// let plane = EncodedPlane::new(&row.repeat(20), 40, i16::MIN);
/// assert_eq!(plane.value(), None, "its integers differ");
/// // Chunks of 32 rows and columns: the second begins at column 32.
/// let shape = ChunkShape { planes: 1, rows: 32, columns: 32 };
/// let mut bytes = Vec::new();
/// assert!(blocks::append_chunk(shape, &[&plane], (0, 32), i16::MIN, &mut bytes));
/// let mut values = vec![0; shape.values()];
/// blocks::decode(&bytes, shape, &mut values)?;
/// assert_eq!(values[..8], [320, 330, 340, 350, 360, 370, 380, 390]);
/// # Ok::<(), blocks::BlocksError>(())
/// ```
#[derive(Clone, Debug)]
pub struct EncodedPlane {
    /// The rows and columns of values, unless they are all the same.
    shape: Option<[usize; 2]>,
    nodata: i16,
    /// The blocks side by side.
    columns: usize,
    pub(super) step: Step,
    /// Where each block ends in the bytes, row by row; a single entry if all values are the same.
    ends: Vec<usize>,
    bytes: Vec<u8>,
    value: Option<i16>,
}

impl EncodedPlane {
    /// Encodes a plane, given row by row with a number of columns.
    ///
    /// # Panics
    /// If the values are not whole rows.
    pub fn new(values: &[i16], columns: usize, nodata: i16) -> Self {
        assert!(columns > 0 && values.len().is_multiple_of(columns), "the values are whole rows");
        if let Some((&first, rest)) = values.split_first()
            && rest.iter().all(|value| *value == first)
        {
            return Self::of_one_value(first, nodata);
        }
        let mut bytes = Vec::with_capacity(values.len() / 2);
        let mut ends =
            Vec::with_capacity((values.len() / columns).div_ceil(SIDE) * columns.div_ceil(SIDE));
        let mut step = coarsest_step(values, nodata);
        if !encode(values, columns, nodata, step, &mut ends, &mut bytes) {
            debug_assert!(false, "every integer was found to be on the step");
            step = Step::ONE;
            ends.clear();
            bytes.clear();
            encode(values, columns, nodata, step, &mut ends, &mut bytes);
        }
        bytes.shrink_to_fit();
        let shape = Some([values.len() / columns, columns]);
        Self { shape, nodata, columns: columns.div_ceil(SIDE), step, ends, bytes, value: None }
    }

    /// A plane whose values are all the same, of any size.
    pub fn of_one_value(value: i16, nodata: i16) -> Self {
        let mut bytes = Vec::new();
        if value != nodata {
            block::encode(&[[value as u16; SIDE]; SIDE], &[0; SIDE], &mut bytes);
        }
        Self {
            shape: None,
            nodata,
            columns: 0,
            step: Step::ONE,
            ends: vec![bytes.len()],
            bytes,
            value: Some(value),
        }
    }

    /// Returns whether the plane has these rows and columns, and this integer for missing values. One
    /// whose values are all the same has any size.
    pub fn fits(&self, rows: usize, columns: usize, nodata: i16) -> bool {
        self.shape.is_none_or(|shape| shape == [rows, columns]) && self.nodata == nodata
    }

    /// Returns the value of all cells, if they have the same.
    pub fn value(&self) -> Option<i16> {
        self.value
    }

    /// Returns a block, by its row and column among the blocks; without bytes if it has no values.
    pub(super) fn block(&self, row: usize, column: usize) -> &[u8] {
        if self.value.is_some() {
            return &self.bytes;
        }
        if column >= self.columns {
            return &[];
        }
        let at = row * self.columns + column;
        let Some(&end) = self.ends.get(at) else { return &[] };
        let start = if at == 0 { 0 } else { self.ends[at - 1] };
        &self.bytes[start..end]
    }
}

/// Returns the coarsest step of the values of a plane.
fn coarsest_step(values: &[i16], nodata: i16) -> Step {
    let mut seen = vec![false; 1 << 16];
    for &value in values {
        seen[usize::from(value as u16)] = true;
    }
    seen[usize::from(nodata as u16)] = false;
    let integers = (i16::MIN..=i16::MAX).filter(|integer| seen[usize::from(*integer as u16)]);
    Step::of(&integers.collect::<Vec<i16>>()).unwrap_or(Step::ONE)
}

/// Encodes a plane; returns whether all its values are on the step.
#[multiversion::multiversion(targets("x86_64+avx2"))]
fn encode(
    values: &[i16],
    columns: usize,
    nodata: i16,
    step: Step,
    ends: &mut Vec<usize>,
    bytes: &mut Vec<u8>,
) -> bool {
    for rows in values.chunks(SIDE * columns) {
        for first in (0..columns).step_by(SIDE) {
            let (mut block, holes) = gather(rows, columns, first, nodata);
            if holes.iter().any(|row| *row != u16::MAX) {
                if !step.numbers(block.as_flattened_mut()) {
                    return false;
                }
                block::encode(&block, &holes, bytes);
            }
            ends.push(bytes.len());
        }
    }
    true
}

/// Returns a block of some rows, with the holes filled from their neighbours. Beyond the edges of
/// the plane it repeats the last row and column.
#[inline(always)]
fn gather(rows: &[i16], columns: usize, first: usize, nodata: i16) -> (Rows, Holes) {
    let (mut block, mut holes) = ([[0; SIDE]; SIDE], [0; SIDE]);
    let width = SIDE.min(columns - first);
    let mut has_holes = false;
    let mut last_row = 0;
    for (at, values) in rows.chunks(columns).enumerate() {
        let row = &mut block[at];
        if let Some(values) = values[first..].first_chunk::<SIDE>() {
            *row = values.map(|value| value as u16);
        } else {
            for (column, cell) in row.iter_mut().enumerate() {
                *cell = values[first + column.min(width - 1)] as u16;
            }
        }
        has_holes |= row.contains(&(nodata as u16));
        last_row = at;
    }
    for at in last_row + 1..SIDE {
        block[at] = block[last_row];
    }
    if has_holes {
        fill(&mut block, &mut holes, nodata as u16);
    }
    (block, holes)
}

/// Finds the holes of a block, and gives each the value to its left, or above, or the first of all.
fn fill(block: &mut Rows, holes: &mut Holes, nodata: u16) {
    let first = block.as_flattened().iter().find(|value| **value != nodata);
    let mut above = first.copied().unwrap_or_default();
    for (row, holes) in block.iter_mut().zip(holes) {
        let mut before = above;
        for (column, value) in row.iter_mut().enumerate() {
            if *value == nodata {
                *holes |= 1 << column;
                *value = before;
            }
            before = *value;
        }
        above = row[0];
    }
}
