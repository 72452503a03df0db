//! Reading one file of a product and hour: chunks of 16 × 16 cells with all their levels, followed by
//! their index.
//!
//! This is the only unsafe code of the model store.
#![allow(unsafe_code, reason = "mapping a file; the reason stands below")]

use std::fs::File;
use std::io;
use std::ops::Range;
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
pub(super) const CELLS: usize = SIDE * SIDE;
/// The bytes of a CRC-32C.
pub(super) const CHECKSUM: usize = 4;
/// The bytes of an index entry: offset and length.
const ENTRY: usize = 16;
/// The offset and length of a chunk that is left out because it is empty (Zarr v3, codec
/// `sharding_indexed`).
pub(super) const EMPTY: u64 = u64::MAX;

/// The sizes of a shard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ShardLayout {
    pub levels: usize,
    pub rows: usize,
    pub columns: usize,
    /// Identifies the owner, so that a shard in the wrong place is noticed.
    pub owner: u32,
}

impl ShardLayout {
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
    pub(super) fn chunk_bytes(self) -> usize {
        self.levels * CELLS * 2
    }

    pub(super) fn index_bytes(self) -> usize {
        self.chunks() * ENTRY + CHECKSUM
    }
}

/// A mapped shard.
#[derive(Debug)]
pub(super) struct Shard {
    path: PathBuf,
    /// With the number of planes in the file.
    layout: ShardLayout,
    /// How the values are packed for the reader.
    encoding: Encoding,
    /// How the values are packed in the file, if that differs.
    packed: Option<Encoding>,
    /// The planes of the file by the planes of the product, if they differ; `None` for a plane that
    /// is not published.
    planes: Option<Vec<Option<usize>>>,
    bytes: Mmap,
    /// The offset of the index.
    index: usize,
    /// One bit per chunk, set when its checksum was found to be right.
    whole: Vec<AtomicU64>,
}

impl Shard {
    /// Maps a shard and checks its length and the checksum of its index. Of the planes of the
    /// product, `missing` are not published.
    pub(super) fn open(
        path: &Path,
        layout: ShardLayout,
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
        // another name, renamed once it is complete, and never written again. As with every mapped file, nothing here can
        // prevent someone else from overwriting or truncating it meanwhile.
        let bytes = unsafe { Mmap::map(&file) }.map_err(failed)?;
        let index = bytes.len() - least;
        let (entries, checksum) = bytes[index..].split_at(least - CHECKSUM);
        if checksum != crc32c::crc32c(entries).to_le_bytes() {
            return Err(damaged(path, &"its index is not the one that was written"));
        }
        let Some((content, owner, stated)) = Content::read(&bytes[..index]) else {
            return Err(damaged(path, &"the content that it states is not what was written"));
        };
        if owner != layout.owner {
            return Err(damaged(path, &"it is the shard of another product, hour or run"));
        }
        let layout = ShardLayout { levels: content.planes.len(), ..layout };
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

    /// Reads as many levels of a cell as there is room for, from the first on.
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
        rows: Range<usize>,
        columns: Range<usize>,
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

    /// Repacks integers of the file into the packing of the product.
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
        if !self.is_whole(chunk) {
            self.check_chunk(chunk, start)?;
            self.note_whole(chunk);
        }
        Ok(Some(self.bytes[start..start + self.layout.chunk_bytes()].as_chunks().0))
    }

    // The bits publish nothing else: the bytes were there all along.
    #[inline]
    fn is_whole(&self, chunk: usize) -> bool {
        self.whole[chunk / 64].load(Ordering::Relaxed) & 1 << (chunk % 64) != 0
    }

    fn note_whole(&self, chunk: usize) {
        self.whole[chunk / 64].fetch_or(1 << (chunk % 64), Ordering::Relaxed);
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
        self.compare(chunk, start, &self.bytes[start..end], &self.bytes[end..end + CHECKSUM])
    }

    fn compare(
        &self,
        chunk: usize,
        start: usize,
        integers: &[u8],
        checksum: &[u8],
    ) -> Result<(), RunStoreError> {
        if checksum == crc32c::crc32c(integers).to_le_bytes() {
            return Ok(());
        }
        let end = start + integers.len();
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
