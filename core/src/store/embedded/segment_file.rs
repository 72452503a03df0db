//! Writes the file of a segment: Arrow IPC, in [packed form](super::packed).

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::Arc;

use arrow_ipc::MetadataVersion;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions};
use arrow_schema::ArrowError;

use super::catalogue::{SegmentEntry, segment_file};
use super::fault::storage;
use super::mapped::BLOCK_BYTES;
use super::merge::merge;
use super::packed::{PackedColumns, TEXTS_NUMBER, WEATHER_NUMBER, packed_batch, packed_schema};
use super::report_texts::{Content, TEXTS_SLOT};
use super::run::LostPart;
use super::run_builder::RunBuilder;
use super::segment_batches::ALIGNMENT;
use super::segment_note::{footer_texts, series_text};
use super::series_table::SeriesList;
use super::store_state::StoreState;
use super::walk::RunRef;
use crate::observation::StationId;
use crate::store::StoreError;

/// Number of readings in a record batch. All of them are lost if the columns that identify them are
/// damaged.
const BATCH_READINGS: u64 = 1 << 16;

/// Number of texts in a record batch, which take about as many bytes as its readings.
const BATCH_TEXTS: u64 = 1 << 13;

/// Number of readings of one station that are held in memory at once.
const STATION_READINGS: u64 = 1 << 19;

/// The result of writing a segment.
pub(super) struct WrittenSegment {
    /// `None` if no reading is left; then there is no file.
    pub entry: Option<SegmentEntry>,
    /// The readings in damaged blocks, by the index of the run and the block.
    pub lost: BTreeMap<(usize, u32), LostSpan>,
}

/// The times and stations of lost readings, all ends included.
#[derive(Clone, Copy, Debug)]
pub(super) struct LostSpan {
    pub first_ms: i64,
    pub last_ms: i64,
    pub first: StationId,
    pub last: StationId,
}

impl LostSpan {
    fn join(&mut self, other: Self) {
        self.first_ms = self.first_ms.min(other.first_ms);
        self.last_ms = self.last_ms.max(other.last_ms);
        self.first = self.first.min(other.first);
        self.last = self.last.max(other.last);
    }
}

/// A segment to be written.
#[derive(Clone, Copy)]
pub(super) struct NewSegment {
    pub id: i64,
    pub sequence: i64,
    pub content: Content,
}

/// Merges what runs, oldest first, have of a content into the file of a new segment. The file is on disk under its final
/// name when this returns.
pub(super) fn write_segment(
    dir: &Path,
    new: NewSegment,
    runs: &[RunRef<'_>],
    series: &SeriesList,
    about: &StoreState,
) -> Result<WrittenSegment, StoreError> {
    let path = dir.join(segment_file(new.id));
    let temporary = path.with_extension("tmp");
    let written = write_file(&temporary, new, runs, series, about).and_then(|written| {
        if written.entry.is_some() {
            let renamed = fs::rename(&temporary, &path).and_then(|()| {
                // The name is on disk once the folder is.
                path.parent().map_or(Ok(()), |folder| File::open(folder)?.sync_all())
            });
            renamed.map_err(|error| storage(&path, &error))?;
        }
        Ok(written)
    });
    if !written.as_ref().is_ok_and(|written| written.entry.is_some()) {
        // A file left behind is cleaned up when the store is next opened.
        let _ = fs::remove_file(&temporary);
    }
    written
}

fn write_file(
    path: &Path,
    new: NewSegment,
    runs: &[RunRef<'_>],
    series: &SeriesList,
    about: &StoreState,
) -> Result<WrittenSegment, StoreError> {
    let NewSegment { id, sequence, content } = new;
    // Texts have no series.
    let of_texts = SeriesList::default();
    let series = if content == Content::Texts { &of_texts } else { series };
    let failed = |error: &io::Error| storage(path, error);
    let failed_arrow = |error: ArrowError| match error {
        ArrowError::IoError(_, error) => failed(&error),
        other => failed(&io::Error::other(other)),
    };
    let file = File::create(path).map_err(|error| failed(&error))?;
    let version = MetadataVersion::V5;
    let options = IpcWriteOptions::try_new(ALIGNMENT, false, version).map_err(failed_arrow)?;
    if series.list.len() >= usize::from(TEXTS_NUMBER) {
        let cause = format!("{} series; {} are allowed", series.list.len(), TEXTS_NUMBER - 1);
        return Err(failed(&io::Error::other(cause)));
    }
    let number = |slot: u32| match slot {
        TEXTS_SLOT => TEXTS_NUMBER,
        slot => u16::try_from(slot).unwrap_or(WEATHER_NUMBER),
    };
    let names = series_text(series).map_err(|error| failed(&error.into()))?;
    let schema = Arc::new(packed_schema(content, names));
    let out = Checksummed::new(BufWriter::with_capacity(1 << 20, file));
    let mut writer =
        FileWriter::try_new_with_options(out, &schema, options).map_err(failed_arrow)?;
    let (mut readings, mut first_ms, mut last_ms) = (0, i64::MAX, i64::MIN);
    let mut put = |columns: PackedColumns| {
        readings += columns.readings();
        let batch = packed_batch(columns, &schema).map_err(failed_arrow)?;
        writer.write(&batch).map_err(failed_arrow)
    };
    let mut lost: BTreeMap<(usize, u32), LostSpan> = BTreeMap::new();
    let mut lose = |run: usize, block: u32, span: LostSpan| {
        lost.entry((run, block)).or_insert(span).join(span);
    };
    for (at, run) in runs.iter().enumerate() {
        for rows in run.lost() {
            let (first_ms, last_ms) = run.span();
            let span = LostSpan { first_ms, last_ms, first: rows.first, last: rows.last };
            rows.blocks.iter().for_each(|&block| lose(at, block, span));
        }
    }
    let full = if content == Content::Texts { BATCH_TEXTS } else { BATCH_READINGS };
    let mut columns = PackedColumns::default();
    merge(
        runs,
        Some(content),
        about.retain_from_ms,
        STATION_READINGS,
        &mut RunBuilder::default(),
        &mut |builder| {
            let run = std::mem::take(builder).finish();
            if run.is_empty() {
                return Ok(());
            }
            (first_ms, last_ms) = (first_ms.min(run.first_ms), last_ms.max(run.last_ms));
            columns.add_station(&run, 0, content, number).map_err(|error| failed(&error))?;
            if columns.readings() < full {
                return Ok(());
            }
            put(std::mem::take(&mut columns))
        },
        &mut |run, station, LostPart { block, first_ms, last_ms }| {
            lose(run, block, LostSpan { first_ms, last_ms, first: station, last: station });
        },
    )?;
    if columns.readings() > 0 {
        put(columns)?;
    }
    if readings == 0 {
        return Ok(WrittenSegment { entry: None, lost });
    }
    let (length, checksums) = writer.get_ref().so_far();
    let mut entry =
        SegmentEntry { content, id, sequence, readings, first_ms, last_ms, length, checksums };
    let texts = footer_texts(&entry, about, series);
    for (name, text) in texts.map_err(|error| failed(&error.into()))? {
        writer.write_metadata(name, text);
    }
    let out = writer.into_inner().map_err(failed_arrow)?;
    (entry.length, entry.checksums) = out.so_far();
    let file = out.inner.into_inner().map_err(|error| failed(error.error()))?;
    file.sync_all().map_err(|error| failed(&error))?;
    Ok(WrittenSegment { entry: Some(entry), lost })
}

/// A writer that computes the checksum of each block.
struct Checksummed<W> {
    inner: W,
    hasher: crc32fast::Hasher,
    length: u64,
    checksums: Vec<u32>,
}

impl<W: Write> Checksummed<W> {
    fn new(inner: W) -> Self {
        Self { inner, hasher: crc32fast::Hasher::new(), length: 0, checksums: Vec::new() }
    }

    /// Returns how much is written, and the checksums of the blocks; the last block may be partial.
    fn so_far(&self) -> (u64, Vec<u32>) {
        let mut checksums = self.checksums.clone();
        if !self.length.is_multiple_of(BLOCK_BYTES as u64) {
            checksums.push(self.hasher.clone().finalize());
        }
        (self.length, checksums)
    }
}

impl<W: Write> Write for Checksummed<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let in_block = (self.length % BLOCK_BYTES as u64) as usize;
        let count = self.inner.write(&bytes[..bytes.len().min(BLOCK_BYTES - in_block)])?;
        self.hasher.update(&bytes[..count]);
        self.length += count as u64;
        if in_block + count == BLOCK_BYTES {
            self.checksums.push(std::mem::take(&mut self.hasher).finalize());
        }
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}
