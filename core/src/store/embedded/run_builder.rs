//! Builds a run row by row.

use super::report_texts::TextColumn;
use super::run::{NONE, RunColumns, RunRow, SeriesPart, SortedRun, StoredReading, UNCHECKED};
use crate::observation::{SeriesId, StationId};

/// Builds a run, row by row in order.
#[derive(Debug)]
pub(super) struct RunBuilder {
    stations: Vec<(StationId, u32)>,
    rows: Vec<RunRow>,
    ts_ms: Vec<i64>,
    value: Vec<f64>,
    quality: Vec<u8>,
    source: Vec<u8>,
    revision: Vec<u8>,
    qualifier: Vec<u8>,
    text: TextColumn,
    first_ms: i64,
    last_ms: i64,
}

impl Default for RunBuilder {
    fn default() -> Self {
        Self::with_capacity(0)
    }
}

impl RunBuilder {
    pub(super) fn with_capacity(readings: usize) -> Self {
        Self {
            stations: Vec::new(),
            rows: Vec::new(),
            ts_ms: Vec::with_capacity(readings),
            value: Vec::with_capacity(readings),
            quality: Vec::with_capacity(readings),
            source: Vec::new(),
            revision: Vec::new(),
            qualifier: Vec::new(),
            text: TextColumn::default(),
            first_ms: i64::MAX,
            last_ms: i64::MIN,
        }
    }

    /// Begins the row of a series at a station; rows must come in order.
    pub(super) fn row(&mut self, station: StationId, series: SeriesId, slot: u32) {
        if self.stations.last().is_none_or(|&(last, _)| last != station) {
            self.stations.push((station, self.rows.len() as u32));
        }
        self.rows.push(RunRow {
            series,
            slot,
            columns: 0,
            start: self.ts_ms.len() as u32,
            len: 0,
            source: self.source.len() as u32,
            revision: self.revision.len() as u32,
            qualifier: self.qualifier.len() as u32,
            text: self.text.len() as u32,
        });
    }

    /// Adds readings to the current row, later than those in it.
    pub(super) fn extend(&mut self, part: &SeriesPart<'_>) {
        self.ts_ms.extend_from_slice(part.ts_ms);
        self.value.extend_from_slice(part.value);
        self.quality.extend_from_slice(part.quality);
        self.source.extend_from_slice(part.source);
        self.revision.extend_from_slice(part.revision);
        self.qualifier.extend_from_slice(part.qualifier);
        self.text.extend(&part.text);
    }

    /// Adds one reading.
    pub(super) fn push(&mut self, ts_ms: i64, stored: StoredReading) {
        let StoredReading { value, quality, source, revision, qualifier } = stored;
        self.ts_ms.push(ts_ms);
        self.value.push(value);
        self.quality.push(quality);
        self.source.push(source);
        self.revision.push(revision);
        self.qualifier.push(qualifier);
    }

    /// Adds the text of the reading that was added last.
    pub(super) fn push_text(&mut self, text: &str) {
        self.text.push(text);
    }

    /// Ends the current row; a row without readings is dropped.
    pub(super) fn end_row(&mut self) {
        let Some(row) = self.rows.last_mut() else { return };
        row.len = (self.ts_ms.len() - row.start as usize) as u32;
        if row.len == 0 {
            self.rows.pop();
            if self.stations.last().is_some_and(|last| last.1 as usize == self.rows.len()) {
                self.stations.pop();
            }
            return;
        }
        self.first_ms = self.first_ms.min(self.ts_ms[row.start as usize]);
        self.last_ms = self.last_ms.max(self.ts_ms[self.ts_ms.len() - 1]);
        if self.source[row.source as usize..].iter().all(|&source| source == UNCHECKED) {
            self.source.truncate(row.source as usize);
            row.source = NONE;
        }
        if self.revision[row.revision as usize..].iter().all(|&revision| revision == 0) {
            self.revision.truncate(row.revision as usize);
            row.revision = NONE;
        }
        if self.qualifier[row.qualifier as usize..].iter().all(|&qualifier| qualifier == 0) {
            self.qualifier.truncate(row.qualifier as usize);
            row.qualifier = NONE;
        }
        if self.text.len() == row.text as usize {
            row.text = NONE;
        }
    }

    pub(super) fn finish(self) -> SortedRun {
        let columns = RunColumns {
            ts_ms: self.ts_ms.into(),
            value: self.value.into(),
            quality: self.quality.into(),
            source: self.source.into(),
            revision: self.revision.into(),
            qualifier: self.qualifier.into(),
            text: self.text.into(),
        };
        SortedRun::new(self.stations, self.rows, vec![columns], (self.first_ms, self.last_ms), None)
    }
}

impl SortedRun {
    pub(super) fn empty() -> Self {
        RunBuilder::default().finish()
    }
}
