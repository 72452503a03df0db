//! Reading one file of a product and hour: chunks of blocks with all their planes, followed by their
//! index.
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
use super::plain::{self, PlainChunk};
use crate::grid::Encoding;
use crate::grid::blocks::{BlocksError, CODEC, Chunk, ChunkShape};

/// The bytes of a CRC-32C.
pub(super) const CHECKSUM: usize = 4;
/// The bytes of an index entry: offset and length.
const ENTRY: usize = 16;
/// The offset and length of a chunk that is left out because it is empty (Zarr v3, codec
/// `sharding_indexed`).
pub(super) const EMPTY: u64 = u64::MAX;

/// The form of the chunks of a shard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ChunkForm {
    /// Encoded in blocks.
    Blocks,
    /// The integers as they are: until version 3 of the layout.
    Plain,
}

/// The sizes of a shard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ShardLayout {
    pub levels: usize,
    /// Whether the product has levels, if only one.
    pub has_levels: bool,
    pub rows: usize,
    pub columns: usize,
    /// Names the model, the run, the product and the place of the hour.
    pub name: String,
}

impl ShardLayout {
    pub(super) fn values(&self) -> usize {
        self.levels * self.rows * self.columns
    }

    /// Returns what identifies the owner of a shard and its form, so that a shard in the wrong place
    /// is noticed.
    pub(super) fn owner(&self, form: ChunkForm) -> u32 {
        match form {
            ChunkForm::Blocks => crc32c::crc32c(format!("{} {CODEC}", self.name).as_bytes()),
            ChunkForm::Plain => crc32c::crc32c(self.name.as_bytes()),
        }
    }

    fn chunks(&self, side: usize) -> usize {
        self.rows.div_ceil(side) * self.columns.div_ceil(side)
    }

    /// Returns the bytes of the index of chunks of a form.
    pub(super) fn index_bytes(&self, form: ChunkForm) -> usize {
        self.chunks(chunk_side(form, self.has_levels)) * ENTRY + CHECKSUM
    }
}

/// Returns the rows and columns of a chunk. With levels it is smaller, so that a column of the
/// atmosphere needs little of it.
pub(super) fn chunk_side(form: ChunkForm, has_levels: bool) -> usize {
    match form {
        ChunkForm::Plain => plain::SIDE,
        ChunkForm::Blocks if has_levels => 32,
        ChunkForm::Blocks => 64,
    }
}

/// A mapped shard.
#[derive(Debug)]
pub(super) struct Shard {
    path: PathBuf,
    form: ChunkForm,
    /// The shape of a chunk, with the number of planes in the file.
    shape: ChunkShape,
    chunk_columns: usize,
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

/// A chunk of either form.
#[derive(Clone, Copy)]
enum OpenChunk<'a> {
    Blocks(Chunk<'a>),
    Plain(PlainChunk<'a>),
}

impl Shard {
    /// Maps a shard and checks its length and the checksum of its index. Of the planes of the
    /// product, `missing` are not published.
    pub(super) fn open(
        path: &Path,
        layout: &ShardLayout,
        product: &ProductDefinition,
        missing: &[usize],
    ) -> Result<Self, RunStoreError> {
        let failed = |error: io::Error| match error.kind() {
            io::ErrorKind::NotFound => damaged(path, &"it is missing"),
            _ => storage(path, &error),
        };
        let file = File::open(path).map_err(failed)?;
        let length = file.metadata().map_err(failed)?.len();
        let least = layout.index_bytes(ChunkForm::Blocks);
        if length < least as u64 {
            return Err(damaged(path, &format!("{length} bytes long; expected {least} or more")));
        }
        // SAFETY: mapped bytes must not change while they are borrowed. A shard is written under
        // another name, renamed once it is complete, and never written again. As with every mapped file, nothing here can
        // prevent someone else from overwriting or truncating it meanwhile.
        let bytes = unsafe { Mmap::map(&file) }.map_err(failed)?;
        let (form, content, ends) = find_content(path, &bytes, layout)?;
        let side = chunk_side(form, layout.has_levels);
        let shape = ChunkShape { planes: content.planes.len(), rows: side, columns: side };
        let chunks = layout.chunks(side);
        let index = bytes.len() - layout.index_bytes(form);
        let mut end = 0;
        for entry in bytes[index..].as_chunks::<ENTRY>().0.iter().take(chunks) {
            let (start, size) = split(entry);
            if start == EMPTY && size == EMPTY {
                continue;
            }
            let is_possible = match form {
                ChunkForm::Blocks => size > CHECKSUM as u64,
                ChunkForm::Plain => size == (plain::bytes_of(shape.planes) + CHECKSUM) as u64,
            };
            let within = start.checked_add(size).filter(|end| *end <= ends as u64);
            let Some(chunk_end) = within.filter(|_| is_possible) else {
                let cause = format!("its index lists a chunk of {size} bytes at {start}");
                return Err(damaged(path, &cause));
            };
            end = end.max(chunk_end);
        }
        if end != ends as u64 {
            let cause = format!("{} bytes belong to no chunk", ends as u64 - end);
            return Err(damaged(path, &cause));
        }
        let whole = (0..chunks.div_ceil(64)).map(|_| AtomicU64::new(0)).collect();
        let (encoding, wanted) = (product.encoding, product.planes());
        let packed = Some(content.encoding).filter(|packed| *packed != encoding);
        let planes = (!missing.is_empty() || content.planes != wanted).then(|| {
            let own = |plane| content.planes.iter().position(|own| own == plane);
            let published = |(at, plane)| own(plane).filter(|_| !missing.contains(&at));
            wanted.iter().enumerate().map(published).collect()
        });
        let (path, chunk_columns) = (path.to_owned(), layout.columns.div_ceil(side));
        Ok(Self { path, form, shape, chunk_columns, encoding, packed, planes, bytes, index, whole })
    }

    /// Returns whether the file has the planes and the packing of its product, no more and no less,
    /// in blocks.
    pub(super) fn is_as_defined(&self) -> bool {
        self.planes.is_none() && self.packed.is_none() && self.form == ChunkForm::Blocks
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
        let side = self.shape.rows;
        let number = row / side * self.chunk_columns + column / side;
        let Some(chunk) = self.chunk(number)? else {
            raw.fill(self.encoding.nodata());
            return Ok(());
        };
        let (row, column) = (row % side, column % side);
        if let Some(planes) = &self.planes {
            for (raw, own) in raw.iter_mut().zip(&planes[first_level..]) {
                *raw = self.packed.unwrap_or(self.encoding).nodata();
                if let Some(own) = *own {
                    let raw = std::slice::from_mut(raw);
                    self.whole(number, chunk.column(row, column, own, raw))?;
                }
            }
        } else {
            self.whole(number, chunk.column(row, column, first_level, raw))?;
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
        let (side, width) = (self.shape.rows, columns.len());
        if raw.is_empty() {
            return Ok(());
        }
        let own = self.planes.as_ref().map_or(Some(level), |planes| planes[level]);
        let Some(level) = own else {
            raw.fill(self.encoding.nodata());
            return Ok(());
        };
        let nodata = self.packed.unwrap_or(self.encoding).nodata();
        for chunk_row in rows.start / side..rows.end.div_ceil(side) {
            let top = chunk_row * side;
            let inside_rows = rows.start.max(top)..rows.end.min(top + side);
            for chunk_column in columns.start / side..columns.end.div_ceil(side) {
                let left = chunk_column * side;
                let inside = columns.start.max(left)..columns.end.min(left + side);
                let to = (inside_rows.start - rows.start) * width + (inside.start - columns.start);
                let number = chunk_row * self.chunk_columns + chunk_column;
                if let Some(chunk) = self.chunk(number)? {
                    let own_rows = inside_rows.start - top..inside_rows.end - top;
                    let own_columns = inside.start - left..inside.end - left;
                    let read = chunk.part(level, own_rows, own_columns, &mut raw[to..], width);
                    self.whole(number, read)?;
                } else {
                    for row in 0..inside_rows.len() {
                        raw[to + row * width..][..inside.len()].fill(nodata);
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

    /// Checks every chunk again: its checksum, and that it can be read.
    pub(super) fn check(&self) -> Result<(), RunStoreError> {
        let mut values = Vec::new();
        for (number, entry) in self.entries().iter().enumerate() {
            let Some(bytes) = span(entry) else { continue };
            self.check_chunk(number, bytes.clone())?;
            if self.form == ChunkForm::Blocks {
                values.resize(self.shape.values(), 0);
                let decoded = crate::grid::blocks::decode(
                    &self.bytes[bytes.start..bytes.end - CHECKSUM],
                    self.shape,
                    &mut values,
                );
                self.whole(number, decoded)?;
            }
        }
        Ok(())
    }

    /// Returns a chunk; `None` if it is empty.
    #[inline]
    fn chunk(&self, number: usize) -> Result<Option<OpenChunk<'_>>, RunStoreError> {
        let Some(span) = span(&self.entries()[number]) else { return Ok(None) };
        if !self.is_whole(number) {
            self.check_chunk(number, span.clone())?;
            self.note_whole(number);
        }
        let bytes = &self.bytes[span.start..span.end - CHECKSUM];
        Ok(Some(match self.form {
            ChunkForm::Plain => OpenChunk::Plain(PlainChunk(bytes.as_chunks().0)),
            ChunkForm::Blocks => {
                OpenChunk::Blocks(self.whole(number, Chunk::new(bytes, self.shape))?)
            }
        }))
    }

    /// Returns what was read from a chunk whose checksum is right.
    #[inline]
    fn whole<T>(&self, number: usize, read: Result<T, BlocksError>) -> Result<T, RunStoreError> {
        read.map_err(|error| damaged(&self.path, &format!("chunk {number}: {error}")))
    }

    // The bits publish nothing else: the bytes were there all along.
    #[inline]
    fn is_whole(&self, chunk: usize) -> bool {
        self.whole[chunk / 64].load(Ordering::Relaxed) & 1 << (chunk % 64) != 0
    }

    fn note_whole(&self, chunk: usize) {
        self.whole[chunk / 64].fetch_or(1 << (chunk % 64), Ordering::Relaxed);
    }

    /// Returns the entries of the index, which was checked when the shard was opened.
    #[inline]
    fn entries(&self) -> &[[u8; ENTRY]] {
        self.bytes[self.index..].as_chunks().0
    }

    fn check_chunk(&self, number: usize, span: Range<usize>) -> Result<(), RunStoreError> {
        let end = span.end - CHECKSUM;
        if self.bytes[end..span.end] == crc32c::crc32c(&self.bytes[span.start..end]).to_le_bytes() {
            return Ok(());
        }
        let start = span.start;
        let cause = format!("chunk {number}, bytes {start} to {end}, is not as it was written");
        Err(damaged(&self.path, &cause))
    }
}

impl OpenChunk<'_> {
    #[inline]
    fn column(
        self,
        row: usize,
        column: usize,
        first_plane: usize,
        values: &mut [i16],
    ) -> Result<(), BlocksError> {
        match self {
            Self::Blocks(chunk) => chunk.column(row, column, first_plane, values),
            Self::Plain(chunk) => {
                chunk.column(row, column, first_plane, values);
                Ok(())
            }
        }
    }

    fn part(
        self,
        plane: usize,
        rows: Range<usize>,
        columns: Range<usize>,
        values: &mut [i16],
        stride: usize,
    ) -> Result<(), BlocksError> {
        match self {
            Self::Blocks(chunk) => chunk.part(plane, rows, columns, values, stride),
            Self::Plain(chunk) => {
                chunk.part(plane, rows, columns, values, stride);
                Ok(())
            }
        }
    }
}

/// Finds the form of a shard by the index that has the right checksum, and the content that it
/// states; also where its chunks end.
fn find_content(
    path: &Path,
    bytes: &[u8],
    layout: &ShardLayout,
) -> Result<(ChunkForm, Content, usize), RunStoreError> {
    let (mut has_index, mut has_content) = (false, false);
    for form in [ChunkForm::Blocks, ChunkForm::Plain] {
        let Some(index) = bytes.len().checked_sub(layout.index_bytes(form)) else { continue };
        let (entries, checksum) = bytes[index..].split_at(bytes.len() - index - CHECKSUM);
        if checksum != crc32c::crc32c(entries).to_le_bytes() {
            continue;
        }
        has_index = true;
        let Some((content, owner, stated)) = Content::read(&bytes[..index]) else { continue };
        has_content = true;
        // A small grid has one chunk in both forms; the owner tells them apart.
        if owner == layout.owner(form) {
            return Ok((form, content, index - stated));
        }
    }
    Err(match (has_index, has_content) {
        (false, _) => damaged(path, &"its index is not the one that was written"),
        (true, false) => damaged(path, &"the content that it states is not what was written"),
        (true, true) => damaged(path, &"it is the shard of another product, hour or run"),
    })
}

/// Returns where the chunk of an index entry lies, with its checksum; `None` if it is empty.
#[inline]
fn span(entry: &[u8; ENTRY]) -> Option<Range<usize>> {
    let (start, size) = split(entry);
    (start != EMPTY).then(|| start as usize..start as usize + size as usize)
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
