//! One file of a product and hour: chunks of 16 × 16 cells with all their levels, followed by their
//! index.
//!
//! This is the only unsafe code of the model store.
#![allow(unsafe_code, reason = "mapping a file; the reason stands below")]

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use memmap2::Mmap;

use super::content::Content;
use super::definition::ProductDefinition;
use super::error::{RunStoreError, damaged, storage};
use crate::grid::Encoding;

/// The rows and columns of a chunk.
pub(super) const SIDE: usize = 16;
/// The cells of one level of a chunk.
const CELLS: usize = SIDE * SIDE;
/// The bytes of a CRC-32C.
const CHECKSUM: usize = 4;
/// The bytes of an index entry: offset and length.
const ENTRY: usize = 16;
/// The offset and length of a chunk that is left out because it is empty (Zarr v3, codec
/// `sharding_indexed`).
const EMPTY: u64 = u64::MAX;

/// The sizes of a shard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    pub levels: usize,
    pub rows: usize,
    pub columns: usize,
    /// Identifies the owner, so that a shard in the place of another is noticed.
    pub owner: u32,
}

impl Layout {
    pub(super) fn values(self) -> usize {
        self.levels * self.rows * self.columns
    }

    pub(super) fn chunk_rows(self) -> usize {
        self.rows.div_ceil(SIDE)
    }

    pub(super) fn chunk_columns(self) -> usize {
        self.columns.div_ceil(SIDE)
    }

    fn chunks(self) -> usize {
        self.chunk_rows() * self.chunk_columns()
    }

    /// The bytes of a chunk's integers.
    fn chunk_bytes(self) -> usize {
        self.levels * CELLS * 2
    }

    fn index_bytes(self) -> usize {
        self.chunks() * ENTRY + CHECKSUM
    }
}

/// The integers of one level of a product at an hour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LevelValues<'a> {
    /// All values are this one: a constant field takes no memory for its cells.
    All(i16),
    /// Row by row.
    Each(&'a [i16]),
}

/// Writes a shard of levels and syncs it to disk. The number and length of the levels must be those
/// of the layout.
pub(super) fn write(
    path: &Path,
    layout: Layout,
    levels: &[LevelValues<'_>],
    content: &Content,
) -> Result<(), RunStoreError> {
    let written = write_file(path, layout, levels, content);
    written.map_err(|error| storage(path, &error))
}

fn write_file(
    path: &Path,
    layout: Layout,
    levels: &[LevelValues<'_>],
    content: &Content,
) -> io::Result<()> {
    let nodata = content.encoding.nodata();
    let mut file = BufWriter::with_capacity(1 << 18, File::create(path)?);
    let mut index = Vec::with_capacity(layout.index_bytes());
    let mut chunk = vec![nodata; layout.levels * CELLS];
    let mut bytes = Vec::with_capacity(layout.chunk_bytes());
    let mut offset = 0_u64;
    // If every level is constant, all chunks at equivalent positions are equal, and are written
    // once.
    let all_alike = levels.iter().all(|level| matches!(level, LevelValues::All(_)));
    let mut alike = HashMap::<(usize, usize), [u64; 2]>::new();
    for first_row in (0..layout.rows).step_by(SIDE) {
        for first_column in (0..layout.columns).step_by(SIDE) {
            let size = (SIDE.min(layout.rows - first_row), SIDE.min(layout.columns - first_column));
            if let Some(entry) = alike.get(&size) {
                index.extend(entry.iter().flat_map(|number| number.to_le_bytes()));
                continue;
            }
            let empty = gather(layout, levels, (first_row, first_column), size, nodata, &mut chunk);
            let mut entry = [EMPTY; 2];
            if !empty {
                bytes.clear();
                bytes.extend(chunk.iter().flat_map(|value| value.to_le_bytes()));
                file.write_all(&bytes)?;
                file.write_all(&crc32c::crc32c(&bytes).to_le_bytes())?;
                let length = (bytes.len() + CHECKSUM) as u64;
                entry = [offset, length];
                offset += length;
            }
            index.extend(entry.into_iter().flat_map(u64::to_le_bytes));
            if all_alike {
                alike.insert(size, entry);
            }
        }
    }
    // Zarr allows gaps between the chunks and the index.
    file.write_all(&content.to_bytes(layout.owner))?;
    file.write_all(&index)?;
    file.write_all(&crc32c::crc32c(&index).to_le_bytes())?;
    file.into_inner()?.sync_all()
}

/// Fills a chunk, and returns whether it has no value.
fn gather(
    layout: Layout,
    levels: &[LevelValues<'_>],
    (first_row, first_column): (usize, usize),
    (rows, columns): (usize, usize),
    nodata: i16,
    chunk: &mut [i16],
) -> bool {
    chunk.fill(nodata);
    let mut empty = true;
    for (level, chunk) in levels.iter().zip(chunk.chunks_mut(CELLS)) {
        for (row, chunk) in chunk.chunks_mut(SIDE).take(rows).enumerate() {
            let chunk = &mut chunk[..columns];
            match level {
                LevelValues::All(one) => chunk.fill(*one),
                LevelValues::Each(values) => {
                    let start = (first_row + row) * layout.columns + first_column;
                    chunk.copy_from_slice(&values[start..start + columns]);
                }
            }
            empty &= chunk.iter().all(|&value| value == nodata);
        }
    }
    empty
}

/// A mapped shard.
#[derive(Debug)]
pub(super) struct Shard {
    path: PathBuf,
    /// With the number of planes in the file.
    layout: Layout,
    /// How the values are packed for the reader.
    encoding: Encoding,
    /// How they are packed in the file, if differently.
    packed: Option<Encoding>,
    /// The planes of the file by those of the product, if they differ; `None` for one that is not
    /// published.
    planes: Option<Vec<Option<usize>>>,
    bytes: Mmap,
    /// The offset of the index.
    index: usize,
    /// One bit for each chunk whose checksum was found to be right.
    whole: Vec<AtomicU64>,
}

impl Shard {
    /// Maps a shard and checks its length and the checksum of its index. Of the planes of the
    /// product, `missing` are not published.
    pub(super) fn open(
        path: &Path,
        layout: Layout,
        product: &ProductDefinition,
        missing: &[usize],
    ) -> Result<Self, RunStoreError> {
        let failed = |error: io::Error| match error.kind() {
            io::ErrorKind::NotFound => damaged(path, &"it is missing"),
            _ => storage(path, &error),
        };
        let file = File::open(path).map_err(failed)?;
        let length = file.metadata().map_err(failed)?.len();
        let least = layout.index_bytes();
        if length < least as u64 {
            return Err(damaged(path, &format!("{length} bytes long; expected {least} or more")));
        }
        // SAFETY: mapped bytes must not change while they are borrowed. A shard is written under
        // another name, renamed once it is complete, and never written again. As with every mapped
        // file, nothing here can prevent someone else from overwriting or truncating it meanwhile.
        let bytes = unsafe { Mmap::map(&file) }.map_err(failed)?;
        let Some(index) = bytes.len().checked_sub(least) else {
            return Err(damaged(path, &"it was truncated"));
        };
        let (entries, checksum) = bytes[index..].split_at(least - CHECKSUM);
        if checksum != crc32c::crc32c(entries).to_le_bytes() {
            return Err(damaged(path, &"its index is not the one that was written"));
        }
        let Some((content, owner, stated)) = Content::read(&bytes[..index]) else {
            return Err(damaged(path, &"what it says of its content is not what was written"));
        };
        if owner != layout.owner {
            return Err(damaged(path, &"it is the shard of another product, hour or run"));
        }
        let layout = Layout { levels: content.planes.len(), ..layout };
        let (chunk, chunks_end) = (layout.chunk_bytes() + CHECKSUM, index - stated);
        let mut end = 0;
        for entry in entries.as_chunks::<ENTRY>().0 {
            let (start, size) = split(entry);
            if start == EMPTY && size == EMPTY {
                continue;
            }
            let within = start.checked_add(size).filter(|end| *end <= chunks_end as u64);
            let Some(chunk_end) = within.filter(|_| size == chunk as u64) else {
                let cause = format!("its index lists a chunk of {size} bytes at {start}");
                return Err(damaged(path, &cause));
            };
            end = end.max(chunk_end);
        }
        if end != chunks_end as u64 {
            let cause = format!("{} bytes belong to no chunk", chunks_end as u64 - end);
            return Err(damaged(path, &cause));
        }
        let whole = (0..layout.chunks().div_ceil(64)).map(|_| AtomicU64::new(0)).collect();
        let (encoding, wanted) = (product.encoding, product.planes());
        let packed = Some(content.encoding).filter(|packed| *packed != encoding);
        let planes = (!missing.is_empty() || content.planes != wanted).then(|| {
            let own = |plane| content.planes.iter().position(|own| own == plane);
            let published = |(at, plane)| own(plane).filter(|_| !missing.contains(&at));
            wanted.iter().enumerate().map(published).collect()
        });
        let path = path.to_owned();
        Ok(Self { path, layout, encoding, packed, planes, bytes, index, whole })
    }

    /// Returns whether the file has the planes and the packing of its product, no more and no less.
    pub(super) fn is_as_defined(&self) -> bool {
        self.planes.is_none() && self.packed.is_none()
    }

    /// Reads the levels of a cell, from the first on, as many as there is room for.
    #[inline]
    pub(super) fn column(
        &self,
        row: usize,
        column: usize,
        first_level: usize,
        raw: &mut [i16],
    ) -> Result<(), RunStoreError> {
        let Some(chunk) = self.chunk(row / SIDE, column / SIDE)? else {
            raw.fill(self.encoding.nodata());
            return Ok(());
        };
        let cell = (row % SIDE) * SIDE + column % SIDE;
        if let Some(planes) = &self.planes {
            for (raw, own) in raw.iter_mut().zip(&planes[first_level..]) {
                let value = own.map(|own| i16::from_le_bytes(chunk[own * CELLS + cell]));
                *raw = value.unwrap_or(self.packed.unwrap_or(self.encoding).nodata());
            }
        } else {
            let start = first_level * CELLS + cell;
            for (raw, &value) in raw.iter_mut().zip(chunk[start..].iter().step_by(CELLS)) {
                *raw = i16::from_le_bytes(value);
            }
        }
        self.pack_again(raw);
        Ok(())
    }

    /// Reads a part of a level, row by row.
    pub(super) fn part(
        &self,
        level: usize,
        rows: std::ops::Range<usize>,
        columns: std::ops::Range<usize>,
        raw: &mut [i16],
    ) -> Result<(), RunStoreError> {
        let width = columns.len();
        let own = self.planes.as_ref().map_or(Some(level), |planes| planes[level]);
        let Some(level) = own else {
            raw.fill(self.encoding.nodata());
            return Ok(());
        };
        let nodata = self.packed.unwrap_or(self.encoding).nodata();
        for chunk_row in rows.start / SIDE..rows.end.div_ceil(SIDE) {
            let top = chunk_row * SIDE;
            let inside_rows = rows.start.max(top)..rows.end.min(top + SIDE);
            for chunk_column in columns.start / SIDE..columns.end.div_ceil(SIDE) {
                let left = chunk_column * SIDE;
                let inside = columns.start.max(left)..columns.end.min(left + SIDE);
                let chunk = self.chunk(chunk_row, chunk_column)?;
                for row in inside_rows.clone() {
                    let to = (row - rows.start) * width + (inside.start - columns.start);
                    let raw = &mut raw[to..to + inside.len()];
                    let Some(chunk) = chunk else {
                        raw.fill(nodata);
                        continue;
                    };
                    let from = level * CELLS + (row - top) * SIDE + (inside.start - left);
                    for (raw, &value) in raw.iter_mut().zip(&chunk[from..from + inside.len()]) {
                        *raw = i16::from_le_bytes(value);
                    }
                }
            }
        }
        self.pack_again(raw);
        Ok(())
    }

    /// Packs integers of the file as the product says.
    #[inline]
    fn pack_again(&self, raw: &mut [i16]) {
        if let Some(packed) = self.packed {
            for raw in raw {
                *raw = self.encoding.encode(packed.decode(*raw));
            }
        }
    }

    /// Checks the checksum of every chunk again.
    pub(super) fn check(&self) -> Result<(), RunStoreError> {
        (0..self.layout.chunks()).try_for_each(|chunk| {
            let Some(start) = self.start(chunk) else { return Ok(()) };
            self.check_chunk(chunk, start)
        })
    }

    /// Returns the integers of a chunk; `None` if it is empty.
    #[inline]
    fn chunk(&self, row: usize, column: usize) -> Result<Option<&[[u8; 2]]>, RunStoreError> {
        let chunk = row * self.layout.chunk_columns() + column;
        let Some(start) = self.start(chunk) else { return Ok(None) };
        let (word, bit) = (&self.whole[chunk / 64], 1_u64 << (chunk % 64));
        // The bit publishes nothing else: the bytes were there all along.
        if word.load(Ordering::Relaxed) & bit == 0 {
            self.check_chunk(chunk, start)?;
            word.fetch_or(bit, Ordering::Relaxed);
        }
        Ok(Some(self.bytes[start..start + self.layout.chunk_bytes()].as_chunks().0))
    }

    /// Returns where a chunk begins. The index was checked when the shard was opened.
    #[inline]
    fn start(&self, chunk: usize) -> Option<usize> {
        let entries = self.bytes[self.index..].as_chunks::<ENTRY>().0;
        let (start, _) = split(&entries[chunk]);
        (start != EMPTY).then_some(start as usize)
    }

    fn check_chunk(&self, chunk: usize, start: usize) -> Result<(), RunStoreError> {
        let end = start + self.layout.chunk_bytes();
        let checksum = &self.bytes[end..end + CHECKSUM];
        if checksum == crc32c::crc32c(&self.bytes[start..end]).to_le_bytes() {
            return Ok(());
        }
        let cause = format!("chunk {chunk}, bytes {start} to {end}, is not as it was written");
        Err(damaged(&self.path, &cause))
    }
}

/// Returns the offset and length of an index entry.
#[inline]
fn split(entry: &[u8; ENTRY]) -> (u64, u64) {
    let half = |from: usize| {
        let mut bytes = [0; 8];
        bytes.copy_from_slice(&entry[from..from + 8]);
        u64::from_le_bytes(bytes)
    };
    (half(0), half(8))
}
