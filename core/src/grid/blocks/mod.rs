//! The codec of model grids: chunks of packed integers that take about what their GRIB took, of
//! which one value or one plane is read without the others.
//!
//! In Zarr v3 it is a codec from arrays to bytes with the name [`CODEC`]. It takes no configuration.
//! The integers are signed and have 16 bits; rows and columns are the last two axes of a chunk, and
//! whole multiples of 16. All axes before them are planes. Every value comes back as it was.
//!
//! | Bytes | What |
//! | --- | --- |
//! | 1 | the version, 1 |
//! | 1 | bit 0: the ends take four bytes; bit 1: some planes have no value |
//! | 2 | the integer of missing values |
//! | 2 | the number of steps |
//! | 8 each | the steps: `factor`, `offset` |
//! | planes / 8, rounded up, if some have no value | a bit for each plane that has one, the first in the lowest bit; the others appear no more below |
//! | 1 each, if there are two or more steps | the step of each plane, by its number |
//! | 2 or 4 each | where each block ends, counted from the first: block by block, row by row, with all planes of a block together |
//! | | the blocks, in this order; one without any value takes no byte |
//!
//! All numbers are little-endian. A block is 16 × 16 integers (`block.rs`), a step gives the integers
//! from smaller ones (`step.rs`). Without steps the integers are stored as they are.
//!
//! Two-dimensional differences, and bits packed by blocks with exceptions, are known from images
//! and from search engines: Lemire and Boytsov, Decoding billions of integers per second through
//! vectorization, Software: Practice and Experience 45 (2015).
#![allow(clippy::inline_always, reason = "each caller has the instructions that it may use")]

mod block;
mod plane;
mod step;

use std::fmt;
use std::ops::Range;

pub use plane::EncodedPlane;

use block::SIDE;
use step::Step;

/// The name of the codec in Zarr.
pub const CODEC: &str = "mesonet.blocks";

/// The rows and columns of a block: those of a chunk are multiples of it.
pub const BLOCK_SIDE: usize = SIDE;

const VERSION: u8 = 1;
const WIDE_ENDS: u8 = 1;
const SOME_PLANES: u8 = 2;
const HEAD: usize = 6;
const STEP: usize = 8;

/// The most planes and values of a chunk.
const MAX_PLANES: usize = 256;
const MAX_VALUES: usize = 1 << 26;

/// The shape of a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChunkShape {
    /// The planes, 1 to 256: levels, or whatever comes before rows and columns.
    pub planes: usize,
    /// The rows, a multiple of 16.
    pub rows: usize,
    /// The columns, a multiple of 16.
    pub columns: usize,
}

impl ChunkShape {
    /// Returns the number of values.
    pub fn values(self) -> usize {
        self.planes * self.rows * self.columns
    }

    fn block_columns(self) -> usize {
        self.columns / SIDE
    }

    /// The blocks of a plane.
    fn blocks(self) -> usize {
        self.rows / SIDE * self.block_columns()
    }

    /// Checks that the codec takes chunks of this shape.
    ///
    /// # Errors
    /// If it does not.
    pub fn check(self) -> Result<(), BlocksError> {
        let is_whole = |length: usize| length > 0 && length.is_multiple_of(SIDE);
        let values =
            self.rows.checked_mul(self.columns).and_then(|one| one.checked_mul(self.planes));
        if is_whole(self.rows)
            && is_whole(self.columns)
            && (1..=MAX_PLANES).contains(&self.planes)
            && values.is_some_and(|values| values <= MAX_VALUES)
        {
            return Ok(());
        }
        Err(BlocksError::Shape(self))
    }
}

/// The reason why a chunk cannot be encoded or decoded.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BlocksError {
    /// The codec does not take chunks of this shape.
    Shape(ChunkShape),
    /// The values do not fill the chunk, or have no room in the output.
    Length {
        /// The values of the shape.
        needed: usize,
        /// The values that were given.
        got: usize,
    },
    /// The chunk was written by a later version.
    Version(u8),
    /// The bytes are not a chunk of this shape.
    Damaged,
}

impl fmt::Display for BlocksError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Shape(ChunkShape { planes, rows, columns }) => write!(
                f,
                "invalid chunk of {planes} × {rows} × {columns}: rows and columns must be multiples \
                 of {SIDE}, with 1 to {MAX_PLANES} planes and at most {MAX_VALUES} values"
            ),
            Self::Length { needed, got } => {
                write!(f, "the chunk has {needed} values; got {got}")
            }
            Self::Version(got) => {
                write!(f, "the chunk has version {got} of {CODEC}; supported is {VERSION}")
            }
            Self::Damaged => write!(f, "the bytes are not a chunk of {CODEC} of this shape"),
        }
    }
}

impl std::error::Error for BlocksError {}

/// Encodes a chunk, given plane by plane and row by row.
///
/// ```
/// use mesonet::grid::blocks::{self, ChunkShape};
/// let shape = ChunkShape { planes: 2, rows: 16, columns: 32 };
/// let values: Vec<i16> = (0..1024).map(|at| if at == 5 { -32768 } else { at % 91 * 10 }).collect();
/// let bytes = blocks::encode(&values, shape, -32768)?;
/// let mut decoded = vec![0; 1024];
/// blocks::decode(&bytes, shape, &mut decoded)?;
/// assert_eq!(decoded, values);
/// # Ok::<(), blocks::BlocksError>(())
/// ```
///
/// # Errors
/// If the shape is invalid, or there are more or fewer values than it has.
pub fn encode(values: &[i16], shape: ChunkShape, nodata: i16) -> Result<Vec<u8>, BlocksError> {
    shape.check()?;
    let (needed, got) = (shape.values(), values.len());
    if needed != got {
        return Err(BlocksError::Length { needed, got });
    }
    let planes = values.chunks(shape.rows * shape.columns);
    let planes: Vec<_> =
        planes.map(|plane| EncodedPlane::new(plane, shape.columns, nodata)).collect();
    let mut bytes = Vec::new();
    append_chunk(shape, &planes.iter().collect::<Vec<_>>(), (0, 0), nodata, &mut bytes);
    Ok(bytes)
}

/// Decodes a chunk, plane by plane and row by row.
///
/// # Errors
/// If the shape is invalid, the output has more or fewer places than it, or the bytes are not a
/// chunk of the shape. Then the output is undefined.
pub fn decode(bytes: &[u8], shape: ChunkShape, values: &mut [i16]) -> Result<(), BlocksError> {
    let chunk = Chunk::new(bytes, shape)?;
    let (needed, got) = (shape.values(), values.len());
    if needed != got {
        return Err(BlocksError::Length { needed, got });
    }
    let planes = values.chunks_mut(shape.rows * shape.columns);
    planes.enumerate().try_for_each(|(plane, values)| {
        chunk.part(plane, 0..shape.rows, 0..shape.columns, values, shape.columns)
    })
}

/// Appends the chunk of encoded planes that begins at a row and a column, both multiples of 16.
/// Returns whether the chunk has a value; if it has none, nothing is appended.
///
/// # Panics
/// If the planes are not as many as the shape has.
pub fn append_chunk(
    shape: ChunkShape,
    planes: &[&EncodedPlane],
    (first_row, first_column): (usize, usize),
    nodata: i16,
    bytes: &mut Vec<u8>,
) -> bool {
    assert_eq!(planes.len(), shape.planes, "each plane of the chunk is given");
    let place = |block: usize| {
        let (row, column) = (block / shape.block_columns(), block % shape.block_columns());
        (first_row / SIDE + row, first_column / SIDE + column)
    };
    let has_value = |plane: &&&EncodedPlane| {
        let mut places = (0..shape.blocks()).map(place);
        places.any(|(row, column)| !plane.block(row, column).is_empty())
    };
    let present: Vec<&EncodedPlane> = planes.iter().filter(has_value).copied().collect();
    if present.is_empty() {
        return false;
    }
    let blocks = (0..shape.blocks()).map(place);
    let blocks =
        blocks.flat_map(|(row, column)| present.iter().map(move |one| one.block(row, column)));
    let length: usize = blocks.clone().map(<[u8]>::len).sum();
    let is_wide = length > usize::from(u16::MAX);
    let (steps, own) = steps_of(&present);
    let are_some = present.len() < planes.len();
    let width = if is_wide { WIDE_ENDS } else { 0 };
    bytes.extend([VERSION, width | if are_some { SOME_PLANES } else { 0 }]);
    bytes.extend(nodata.to_le_bytes());
    bytes.extend((steps.len() as u16).to_le_bytes());
    for step in &steps {
        bytes.extend(step.factor.to_le_bytes());
        bytes.extend(step.offset.to_le_bytes());
    }
    if are_some {
        bytes.extend(planes.chunks(8).map(|planes| {
            let bits = planes.iter().zip(0..).filter(|(plane, _)| has_value(plane));
            bits.fold(0_u8, |bits, (_, bit)| bits | 1 << bit)
        }));
    }
    if steps.len() > 1 {
        bytes.extend(own);
    }
    let mut end = 0;
    for block in blocks.clone() {
        end += block.len();
        if is_wide {
            bytes.extend((end as u32).to_le_bytes());
        } else {
            bytes.extend((end as u16).to_le_bytes());
        }
    }
    blocks.for_each(|block| bytes.extend(block));
    true
}

/// Returns the distinct steps of planes, and the number of each plane's; none if there is no other
/// step than one.
fn steps_of(planes: &[&EncodedPlane]) -> (Vec<Step>, Vec<u8>) {
    let mut steps: Vec<Step> = Vec::new();
    let own = planes.iter().map(|plane| {
        let number = steps.iter().position(|known| *known == plane.step);
        number.unwrap_or_else(|| {
            steps.push(plane.step);
            steps.len() - 1
        }) as u8
    });
    let own = own.collect();
    if steps == [Step::ONE] {
        steps.clear();
    }
    (steps, own)
}

/// A chunk whose values are read where they lie.
#[derive(Clone, Copy, Debug)]
pub struct Chunk<'a> {
    shape: ChunkShape,
    nodata: i16,
    steps: &'a [[u8; STEP]],
    /// A bit for each plane that has a value, if not all have.
    present: &'a [u8],
    /// The number of planes that have a value.
    planes: usize,
    /// The number of each such plane's step, if there are several.
    own: &'a [u8],
    is_wide: bool,
    ends: &'a [u8],
    blocks: &'a [u8],
}

impl<'a> Chunk<'a> {
    /// Looks at the head of a chunk.
    ///
    /// # Errors
    /// If the shape is invalid, or the head is not one of a chunk of this shape.
    #[inline]
    pub fn new(bytes: &'a [u8], shape: ChunkShape) -> Result<Self, BlocksError> {
        shape.check()?;
        let (head, rest) = bytes.split_first_chunk::<HEAD>().ok_or(BlocksError::Damaged)?;
        let &[version, flags, nodata @ .., low, high] = head;
        if version != VERSION {
            return Err(BlocksError::Version(version));
        }
        let split = |bytes: &'a [u8], length: usize| {
            bytes.split_at_checked(length).ok_or(BlocksError::Damaged)
        };
        let steps = usize::from(u16::from_le_bytes([low, high]));
        let is_wide = flags & WIDE_ENDS != 0;
        let (stated, rest) = split(rest, steps * STEP)?;
        let (mut present, mut rest, mut planes) = (&[][..], rest, shape.planes);
        if flags & SOME_PLANES != 0 {
            (present, rest) = split(rest, shape.planes.div_ceil(8))?;
            planes = ones(present, shape.planes);
        }
        let (own, rest) = split(rest, if steps > 1 { planes } else { 0 })?;
        let ends = shape.blocks() * planes * if is_wide { 4 } else { 2 };
        let (ends, blocks) = split(rest, ends)?;
        let (nodata, steps) = (i16::from_le_bytes(nodata), stated.as_chunks().0);
        Ok(Self { shape, nodata, steps, present, planes, own, is_wide, ends, blocks })
    }

    /// Reads a cell of several planes, from the first given one on.
    ///
    /// # Errors
    /// If the bytes are not a chunk. Then the output is undefined.
    ///
    /// # Panics
    /// If the cell or a plane is outside the chunk.
    #[inline]
    pub fn column(
        &self,
        row: usize,
        column: usize,
        first_plane: usize,
        values: &mut [i16],
    ) -> Result<(), BlocksError> {
        assert!(row < self.shape.rows && column < self.shape.columns, "the cell is inside");
        assert!(first_plane + values.len() <= self.shape.planes, "the planes are inside");
        read_column(self, (row, column), first_plane, values).ok_or(BlocksError::Damaged)
    }

    /// Reads a part of a plane; in the output a row of it begins every `stride` places.
    ///
    /// # Errors
    /// If the bytes are not a chunk. Then the output is undefined.
    ///
    /// # Panics
    /// If the part is outside the chunk, or has no room.
    pub fn part(
        &self,
        plane: usize,
        rows: Range<usize>,
        columns: Range<usize>,
        values: &mut [i16],
        stride: usize,
    ) -> Result<(), BlocksError> {
        let is_inside = rows.end <= self.shape.rows && columns.end <= self.shape.columns;
        assert!(is_inside && plane < self.shape.planes, "the part is inside the chunk");
        read_part(self, plane, rows, columns, values, stride).ok_or(BlocksError::Damaged)
    }

    /// Returns the place of a plane among those that have values; `None` if it has none.
    #[inline(always)]
    fn place(&self, plane: usize) -> Option<usize> {
        let Some(bits) = self.present.get(plane / 8) else { return Some(plane) };
        (bits >> (plane % 8) & 1 != 0).then(|| ones(self.present, plane))
    }

    /// Returns the bytes of a block, by the place of its plane.
    #[inline(always)]
    fn block(&self, block: usize, place: usize) -> Option<&'a [u8]> {
        let at = block * self.planes + place;
        let end = |at: usize| -> Option<usize> {
            Some(if self.is_wide {
                u32::from_le_bytes(*self.ends.as_chunks().0.get(at)?) as usize
            } else {
                usize::from(u16::from_le_bytes(*self.ends.as_chunks().0.get(at)?))
            })
        };
        let start = if at == 0 { 0 } else { end(at - 1)? };
        self.blocks.get(start..end(at)?)
    }

    /// Returns the step of the plane at a place.
    #[inline(always)]
    fn step(&self, place: usize) -> Option<Step> {
        let number = self.own.get(place).copied().map_or(0, usize::from);
        if self.steps.is_empty() {
            return Some(Step::ONE);
        }
        let &[f0, f1, f2, f3, offset @ ..] = self.steps.get(number)?;
        let factor = u32::from_le_bytes([f0, f1, f2, f3]);
        Some(Step { factor, offset: u32::from_le_bytes(offset) })
    }
}

#[multiversion::multiversion(targets("x86_64+avx2"))]
fn read_column(
    chunk: &Chunk<'_>,
    (row, column): (usize, usize),
    first_plane: usize,
    values: &mut [i16],
) -> Option<()> {
    let number = row / SIDE * chunk.shape.block_columns() + column / SIDE;
    let (row, column) = (row % SIDE, column % SIDE);
    for (plane, value) in (first_plane..).zip(values) {
        *value = chunk.nodata;
        let Some(place) = chunk.place(plane) else { continue };
        let block = chunk.block(number, place)?;
        if !block.is_empty() {
            let (cell, step) = ((row, column), chunk.step(place)?);
            *value = block::value(block, cell, step, chunk.nodata as u16)? as i16;
        }
    }
    Some(())
}

/// Counts the bits that are set among the first of some.
#[inline(always)]
fn ones(bits: &[u8], first: usize) -> usize {
    let (whole, rest) = (first / 8, first % 8);
    let part = bits.get(whole).map_or(0, |bits| bits & ((1 << rest) - 1));
    let ones = bits[..whole].iter().map(|bits| bits.count_ones()).sum::<u32>();
    (ones + part.count_ones()) as usize
}

#[multiversion::multiversion(targets("x86_64+avx2"))]
fn read_part(
    chunk: &Chunk<'_>,
    plane: usize,
    rows: Range<usize>,
    columns: Range<usize>,
    values: &mut [i16],
    stride: usize,
) -> Option<()> {
    let Some(place) = chunk.place(plane) else {
        for row in 0..rows.len() {
            values[row * stride..][..columns.len()].fill(chunk.nodata);
        }
        return Some(());
    };
    let step = chunk.step(place)?;
    for block_row in rows.start / SIDE..rows.end.div_ceil(SIDE) {
        let top = block_row * SIDE;
        let inside_rows = rows.start.max(top)..rows.end.min(top + SIDE);
        for block_column in columns.start / SIDE..columns.end.div_ceil(SIDE) {
            let left = block_column * SIDE;
            let inside = columns.start.max(left)..columns.end.min(left + SIDE);
            let block =
                chunk.block(block_row * chunk.shape.block_columns() + block_column, place)?;
            let to = inside.start - columns.start;
            let width = inside.len();
            if block.is_empty() {
                for row in inside_rows.clone() {
                    let to = (row - rows.start) * stride + to;
                    values[to..to + width].fill(chunk.nodata);
                }
                continue;
            }
            let (mut integers, holes) = block::decode(block, step)?;
            if let Some(holes) = holes {
                for (row, holes) in integers.iter_mut().zip(holes) {
                    for (column, value) in row.iter_mut().enumerate() {
                        if holes >> column & 1 != 0 {
                            *value = chunk.nodata as u16;
                        }
                    }
                }
            }
            for row in inside_rows.clone() {
                let to = (row - rows.start) * stride + to;
                let from = &integers[row - top];
                if let Some(values) = values[to..].first_chunk_mut::<SIDE>()
                    && width == SIDE
                {
                    *values = from.map(|value| value as i16);
                } else {
                    let from = &from[inside.start - left..];
                    for (value, integer) in values[to..to + width].iter_mut().zip(from) {
                        *value = *integer as i16;
                    }
                }
            }
        }
    }
    Some(())
}

#[cfg(test)]
mod tests;
