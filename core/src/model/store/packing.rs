//! Writing one file of a product and hour: chunks of 16 × 16 cells with all their levels, followed by
//! their index.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use super::content::Content;
use super::error::{RunStoreError, storage};
use super::shard::{CELLS, CHECKSUM, EMPTY, SIDE, ShardLayout};

/// The integers of one level of a product at an hour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LevelValues<'a> {
    /// All values are the same: a constant field takes no memory for its cells.
    All(i16),
    /// Row by row.
    Each(&'a [i16]),
}

/// Writes a shard of levels and syncs it to disk. The number and length of the levels must be those
/// of the layout.
pub(super) fn write(
    path: &Path,
    layout: ShardLayout,
    levels: &[LevelValues<'_>],
    content: &Content,
) -> Result<(), RunStoreError> {
    let written = write_file(path, layout, levels, content);
    written.map_err(|error| storage(path, &error))
}

fn write_file(
    path: &Path,
    layout: ShardLayout,
    levels: &[LevelValues<'_>],
    content: &Content,
) -> io::Result<()> {
    let nodata = content.encoding.nodata();
    let mut file = BufWriter::with_capacity(1 << 18, File::create(path)?);
    let mut index = Vec::with_capacity(layout.index_bytes());
    let mut chunk = vec![nodata; layout.levels * CELLS];
    let mut bytes = Vec::with_capacity(layout.chunk_bytes());
    let mut offset = 0_u64;
    // If every level is constant, all chunks at equivalent positions are equal and are written
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
    layout: ShardLayout,
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
