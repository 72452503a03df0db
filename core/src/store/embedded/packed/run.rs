//! A sealed run in packed form: its rows are found here, and their readings made on demand.

use std::ops::Range;
use std::sync::Arc;

use super::batch::PackedBatch;
use super::form::{TEXTS_NUMBER, WEATHER_NUMBER, read_form};
use super::row::{Chunk, PackedRow};
use crate::observation::{SeriesId, StationId};
use crate::store::embedded::catalogue::SegmentEntry;
use crate::store::embedded::fault::Fault;
use crate::store::embedded::mapped::MappedFile;
use crate::store::embedded::report_texts::{TEXTS, TEXTS_SLOT};
use crate::store::embedded::run::{LostPart, LostRows};
use crate::store::embedded::segment_batches::{Batch, BatchReader, Cause, walk, without_readings};
use crate::store::embedded::weather_table::{WEATHER, WEATHER_SLOT};

/// Readings of a file in packed form, sorted by station and time.
#[derive(Debug)]
pub(in crate::store::embedded) struct PackedRun {
    /// The stations, sorted by id, each with its first row.
    pub stations: Vec<(StationId, u32)>,
    pub(super) chunks: Vec<Chunk>,
    pub(super) batches: Vec<PackedBatch>,
    /// The series by their number, each with its index in the store's table.
    series: Vec<(SeriesId, u32)>,
    pub first_ms: i64,
    pub last_ms: i64,
    /// The file, whose blocks are checked when they are first read.
    pub mapped: Arc<MappedFile>,
    /// Rows that are missing here because their part of the file is damaged.
    pub lost: Vec<LostRows>,
}

/// Reads the rows of a mapped file; `series` are those of the file.
///
/// # Errors
/// No part of the file can be read.
pub(in crate::store::embedded) fn read_packed(
    mapped: &Arc<MappedFile>,
    file: &str,
    entry: &SegmentEntry,
    series: Vec<(SeriesId, u32)>,
) -> Result<PackedRun, Fault> {
    let mut rows = PackedRows {
        mapped: Arc::clone(mapped),
        stations: Vec::new(),
        chunks: Vec::new(),
        batches: Vec::new(),
    };
    let lost = walk(mapped, &mut rows);
    let PackedRows { stations, chunks, batches, .. } = rows;
    let readings: u64 = chunks.iter().map(|chunk| u64::from(chunk.readings)).sum();
    if readings == 0 {
        return Err(without_readings(mapped, file));
    }
    let (first_ms, last_ms) = (entry.first_ms, entry.last_ms);
    let mapped = Arc::clone(mapped);
    let mut run = PackedRun {
        stations,
        chunks,
        batches,
        series,
        first_ms,
        last_ms,
        mapped,
        lost: Vec::new(),
    };
    run.check_order().map_err(|cause| Fault::new(file, cause))?;
    run.lost = LostRows::of_count(readings, entry.readings, lost, &run.mapped);
    Ok(run)
}

struct PackedRows {
    mapped: Arc<MappedFile>,
    stations: Vec<(StationId, u32)>,
    chunks: Vec<Chunk>,
    batches: Vec<PackedBatch>,
}

impl BatchReader for PackedRows {
    /// A station may continue in the next batch.
    fn add(&mut self, batch: &Batch<'_>) -> Result<Option<StationId>, Cause> {
        let (packed, ids) = PackedBatch::read(batch, &self.mapped)?;
        let number = self.batches.len() as u32;
        for (row, &id) in ids.iter().enumerate() {
            if self.stations.last().is_none_or(|&(last, _)| last != id) {
                self.stations.push((id, self.chunks.len() as u32));
            }
            self.chunks.push(packed.chunk(number, row));
        }
        self.batches.push(packed);
        Ok(ids.first().copied())
    }

    fn last_station(&self) -> Option<StationId> {
        self.stations.last().map(|&(last, _)| last)
    }
}

impl PackedRun {
    /// Checks the conditions that the rest relies on: stations and their rows are sorted.
    fn check_order(&self) -> Result<(), String> {
        if !self.stations.is_sorted_by(|a, b| a.0 < b.0 && a.1 < b.1) {
            return Err("stations are out of order".to_owned());
        }
        for place in 0..self.stations.len() {
            let chunks = &self.chunks[self.chunks_at(place)];
            let is_sorted = chunks.is_sorted_by(|a, b| a.last_ms < b.first_ms)
                && chunks.iter().all(|chunk| chunk.first_ms <= chunk.last_ms);
            if !is_sorted {
                let id = self.stations[place].0;
                return Err(format!("rows of station {id} are out of order"));
            }
        }
        Ok(())
    }

    /// Returns the rows of a station by its index.
    fn chunks_at(&self, place: usize) -> Range<usize> {
        let end = self.stations.get(place + 1).map_or(self.chunks.len(), |next| next.1 as usize);
        self.stations[place].1 as usize..end
    }

    /// Returns the number of readings of a station by its index.
    pub(in crate::store::embedded) fn readings_at(&self, place: usize) -> u64 {
        self.chunks[self.chunks_at(place)].iter().map(|chunk| u64::from(chunk.readings)).sum()
    }

    /// Finds the series of a station that may have readings between two times, both included:
    /// ascending by id, and those of one series ascending in time. Reports what is damaged.
    pub(in crate::store::embedded) fn find_rows(
        &self,
        place: usize,
        (first_ms, last_ms): (i64, i64),
        rows: &mut Vec<PackedRow>,
        lost: &mut dyn FnMut(LostPart),
    ) {
        rows.clear();
        let of_station = self.chunks_at(place);
        let chunks = &self.chunks[of_station.clone()];
        let start = chunks.partition_point(|chunk| chunk.last_ms < first_ms);
        let end = chunks.partition_point(|chunk| chunk.first_ms <= last_ms).max(start);
        for (at, chunk) in (start..).zip(&chunks[start..end]) {
            let from = rows.len();
            if let Err(cause) = self.read_rows(of_station.start + at, rows) {
                rows.truncate(from);
                self.lose(chunk, cause, lost);
            }
        }
        if end - start > 1 {
            // Stable: those of one series stay in the order of time.
            rows.sort_by_key(|row| row.series);
        }
    }

    /// Reports that a row of the file cannot be read.
    #[cold]
    fn lose(&self, chunk: &Chunk, cause: Cause, lost: &mut dyn FnMut(LostPart)) {
        let batch = &self.batches[chunk.batch as usize];
        let head = batch.head_bytes(chunk.row as usize);
        let mut blocks: Vec<u32> =
            head.into_iter().flat_map(|range| self.mapped.damaged_blocks(range)).collect();
        if let Some(cause) = cause {
            // Intact, but wrong: this cannot come from a disk.
            self.mapped.note(format!("row {} of batch {}: {cause}", chunk.row, chunk.batch));
            blocks.push(0);
        }
        blocks.sort_unstable();
        blocks.dedup();
        for block in blocks {
            lost(LostPart { block, first_ms: chunk.first_ms, last_ms: chunk.last_ms });
        }
    }

    /// Reads the series of a row of the file.
    fn read_rows(&self, at: usize, rows: &mut Vec<PackedRow>) -> Result<(), Cause> {
        let chunk = &self.chunks[at];
        let row = chunk.row as usize;
        let batch = &self.batches[chunk.batch as usize];
        let head = batch.head_bytes(row);
        if !head.into_iter().all(|bytes| batch.bytes_are_whole(bytes)) {
            return Err(None);
        }
        let times = batch.time.at(row).len();
        let mut places = batch.places(row);
        let (mut before, mut last) = (0, None);
        for entry in batch.series.at(row) {
            let number = batch.number[entry];
            let (series, slot) = match self.series.get(usize::from(number)) {
                _ if number == WEATHER_NUMBER => (WEATHER, WEATHER_SLOT),
                _ if number == TEXTS_NUMBER => (TEXTS, TEXTS_SLOT),
                Some(&known) => known,
                None => return Err(Some(format!("unknown series {number}"))),
            };
            if last.is_some_and(|last| last >= series) {
                return Err(Some("its series are out of order".to_owned()));
            }
            last = Some(series);
            let (presence, width) = read_form(batch.form[entry])
                .ok_or_else(|| Some(format!("unknown form {}", batch.form[entry])))?;
            let mut row = PackedRow {
                series,
                slot,
                chunk: at as u32,
                presence,
                width,
                scale: batch.scale[entry],
                len: 0,
                present_at: 0,
                base: 0,
                value_at: 0,
                table_at: 0,
                before,
            };
            places.take(batch, &mut row, times)?;
            before += row.len;
            rows.push(row);
        }
        if before != chunk.readings {
            return Err(Some(format!("{before} readings; it must have {}", chunk.readings)));
        }
        Ok(())
    }
}
