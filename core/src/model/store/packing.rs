//! Writing one file of a product and hour: chunks of blocks with all their planes, followed by their
//! index.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use super::content::Content;
use super::error::{RunStoreError, storage};
use super::shard::{CHECKSUM, ChunkForm, EMPTY, ShardLayout, chunk_side};
use crate::grid::blocks::{ChunkShape, EncodedPlane, append_chunk};

/// The integers of one level of a product at an hour.
#[derive(Clone, Copy, Debug)]
pub enum LevelValues<'a> {
    /// All values are the same: a constant field takes no memory for its cells.
    All(i16),
    /// Row by row.
    Each(&'a [i16]),
    /// Encoded already, so that many levels take little memory.
    Encoded(&'a EncodedPlane),
}

impl<'a> LevelValues<'a> {
    /// Returns the number of values that a level of so many rows and columns gets from this: a constant
    /// level all, one that was encoded in another shape or for another missing value none.
    pub(super) fn len(self, (rows, columns): (usize, usize), nodata: i16) -> usize {
        match self {
            Self::Each(values) => values.len(),
            Self::Encoded(plane) if !plane.fits(rows, columns, nodata) => 0,
            Self::All(_) | Self::Encoded(_) => rows * columns,
        }
    }

    pub(super) fn encoded(self, columns: usize, nodata: i16) -> Cow<'a, EncodedPlane> {
        match self {
            Self::All(value) => Cow::Owned(EncodedPlane::of_one_value(value, nodata)),
            Self::Each(values) => Cow::Owned(EncodedPlane::new(values, columns, nodata)),
            Self::Encoded(plane) => Cow::Borrowed(plane),
        }
    }
}

/// Writes a shard of levels and syncs it to disk. The number and size of the levels must be those
/// of the layout.
pub(super) fn write(
    path: &Path,
    layout: &ShardLayout,
    levels: &[&EncodedPlane],
    content: &Content,
) -> Result<(), RunStoreError> {
    let written = write_file(path, layout, levels, content);
    written.map_err(|error| storage(path, &error))
}

fn write_file(
    path: &Path,
    layout: &ShardLayout,
    levels: &[&EncodedPlane],
    content: &Content,
) -> io::Result<()> {
    let form = ChunkForm::Blocks;
    let side = chunk_side(form, layout.has_levels);
    let shape = ChunkShape { planes: layout.levels, rows: side, columns: side };
    let nodata = content.encoding.nodata();
    let mut file = BufWriter::with_capacity(1 << 18, File::create(path)?);
    let mut index = Vec::with_capacity(layout.index_bytes(form));
    let mut chunk = Vec::new();
    let mut offset = 0_u64;
    // If every level is constant, all chunks are equal, and one is written.
    let all_alike = levels.iter().all(|level| level.value().is_some());
    let mut alike = None;
    for first_row in (0..layout.rows).step_by(side) {
        for first_column in (0..layout.columns).step_by(side) {
            let mut entry = alike.unwrap_or([EMPTY; 2]);
            chunk.clear();
            if alike.is_none()
                && append_chunk(shape, levels, (first_row, first_column), nodata, &mut chunk)
            {
                let checksum = crc32c::crc32c(&chunk).to_le_bytes();
                file.write_all(&chunk)?;
                file.write_all(&checksum)?;
                let length = (chunk.len() + CHECKSUM) as u64;
                entry = [offset, length];
                offset += length;
            }
            index.extend(entry.into_iter().flat_map(u64::to_le_bytes));
            if all_alike {
                alike = Some(entry);
            }
        }
    }
    // Zarr allows gaps between the chunks and the index.
    file.write_all(&content.to_bytes(layout.owner(form)))?;
    file.write_all(&index)?;
    file.write_all(&crc32c::crc32c(&index).to_le_bytes())?;
    file.into_inner()?.sync_all()
}
