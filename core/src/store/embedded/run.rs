//! A run: immutable columns of readings, sorted by station, series and time.
//!
//! Fresh readings in memory and sealed readings in mapped files have the same form, so the same
//! code reads and merges both.

use std::ops::Range;
use std::sync::Arc;

use arrow_buffer::ScalarBuffer;

use super::mapped::{MappedFile, codes};
use super::report_texts::{SharedTexts, TEXTS, TextPart};
use crate::observation::{Quality, QualityCode, SeriesId, StationId};
use crate::time::ClosedWindow;

/// Marks a column that a row omits.
pub(super) const NONE: u32 = u32::MAX;

/// The source verdict, as columns hold it, of a reading whose source gave none.
pub(super) const UNCHECKED: u8 =
    (Quality::UNCHECKED.base as u8) << 4 | Quality::UNCHECKED.reason as u8;

/// The readings of one series at one station.
#[derive(Clone, Copy, Debug)]
pub(super) struct RunRow {
    pub series: SeriesId,
    /// Index of the series in the store's table.
    pub slot: u32,
    /// The columns that hold the readings, and the position there.
    pub columns: u32,
    pub start: u32,
    pub len: u32,
    /// Where their `source`, `revision` and `qualifier` start; [`NONE`] if all are unchecked or all
    /// are 0, respectively.
    pub source: u32,
    pub revision: u32,
    pub qualifier: u32,
    /// Where their texts start; [`NONE`] if they have none.
    pub text: u32,
}

/// Columns that hold rows one after another. `source`, `revision` and `qualifier` hold only the rows
/// that need them.
#[derive(Clone, Debug)]
pub(super) struct RunColumns {
    pub ts_ms: ScalarBuffer<i64>,
    pub value: ScalarBuffer<f64>,
    pub quality: ScalarBuffer<u8>,
    pub source: ScalarBuffer<u8>,
    pub revision: ScalarBuffer<u8>,
    pub qualifier: ScalarBuffer<u8>,
    /// Only of rows with texts.
    pub text: SharedTexts,
}

/// Immutable columns of readings, sorted by station, series and time.
#[derive(Debug)]
pub(super) struct SortedRun {
    /// The stations, sorted by id, each with its first row.
    pub stations: Vec<(StationId, u32)>,
    pub rows: Vec<RunRow>,
    pub columns: Vec<RunColumns>,
    pub readings: u64,
    /// Number of texts of reports, which do not count as readings.
    pub texts: u64,
    /// The span of all readings; the first is after the last if there are none.
    pub first_ms: i64,
    pub last_ms: i64,
    /// The file behind the columns, whose blocks are checked when they are first read.
    pub mapped: Option<Arc<MappedFile>>,
    /// Rows that are missing here because their part of the file is damaged.
    pub lost: Vec<LostRows>,
    /// Stand-ins for columns that rows omit.
    unchecked: Vec<u8>,
    zeros: Vec<u8>,
}

/// Unreadable rows of a file.
#[derive(Clone, Debug)]
pub(super) struct LostRows {
    /// The damaged blocks.
    pub blocks: Vec<u32>,
    /// The rows belong to stations from the first to the last, both included.
    pub first: StationId,
    pub last: StationId,
}

/// Readings of a row in a damaged block.
#[derive(Clone, Copy, Debug)]
pub(super) struct LostPart {
    pub block: u32,
    /// The span of time that they may be in.
    pub first_ms: i64,
    pub last_ms: i64,
}

/// A stored reading.
#[derive(Clone, Copy, Debug)]
pub(super) struct StoredReading {
    pub value: f64,
    pub quality: u8,
    pub source: u8,
    pub revision: u8,
    pub qualifier: u8,
}

impl StoredReading {
    /// The reading as it came in, regardless of its present verdict.
    pub(super) fn came(&self) -> (u8, u64, u8, u8) {
        (self.revision, self.value.to_bits(), self.source, self.qualifier)
    }
}

/// Readings of one series at one station, from one run.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SeriesPart<'a> {
    pub ts_ms: &'a [i64],
    pub value: &'a [f64],
    pub quality: &'a [u8],
    pub source: &'a [u8],
    pub revision: &'a [u8],
    pub qualifier: &'a [u8],
    /// Mostly none.
    pub text: TextPart<'a>,
}

impl<'a> SeriesPart<'a> {
    pub(super) fn len(&self) -> usize {
        self.ts_ms.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.ts_ms.is_empty()
    }

    pub(super) fn range(&self, range: Range<usize>) -> Self {
        SeriesPart {
            ts_ms: &self.ts_ms[range.clone()],
            value: &self.value[range.clone()],
            quality: &self.quality[range.clone()],
            source: &self.source[range.clone()],
            revision: &self.revision[range.clone()],
            qualifier: &self.qualifier[range.clone()],
            text: self.text.range(range),
        }
    }

    pub(super) fn quality_codes(&self) -> &'a [QualityCode] {
        codes(self.quality)
    }

    pub(super) fn source_codes(&self) -> &'a [QualityCode] {
        codes(self.source)
    }
}

impl SortedRun {
    /// Checks the conditions that the rest relies on: rows are sorted and within their columns.
    pub(super) fn check_order(&self) -> Result<(), String> {
        let ascending =
            self.stations.windows(2).all(|pair| pair[0] < pair[1] && pair[0].1 < pair[1].1);
        let first = self.stations.first().map_or(0, |first| first.1);
        let last = self.stations.last().map_or(0, |last| last.1 as usize + 1);
        if !ascending || first != 0 || last > self.rows.len() {
            return Err("stations are out of order".to_owned());
        }
        for place in 0..self.stations.len() {
            let rows = &self.rows[self.rows_at(place)];
            if !rows.windows(2).all(|pair| pair[0].series < pair[1].series) {
                return Err(format!(
                    "series of station {} are out of order",
                    self.stations[place].0
                ));
            }
            if rows.iter().any(|row| row.len == 0) {
                return Err(format!(
                    "station {} has a row without readings",
                    self.stations[place].0
                ));
            }
        }
        Ok(())
    }

    pub(super) fn new(
        stations: Vec<(StationId, u32)>,
        rows: Vec<RunRow>,
        columns: Vec<RunColumns>,
        (first_ms, last_ms): (i64, i64),
        mapped: Option<Arc<MappedFile>>,
    ) -> Self {
        let longest = |left_out: fn(&RunRow) -> bool| {
            let rows = rows.iter().filter(|row| left_out(row));
            rows.map(|row| row.len as usize).max().unwrap_or(0)
        };
        let unchecked = vec![UNCHECKED; longest(|row| row.source == NONE)];
        let zeros = vec![0; longest(|row| row.revision == NONE || row.qualifier == NONE)];
        let of = |texts: bool| {
            let rows = rows.iter().filter(|row| (row.series == TEXTS) == texts);
            rows.map(|row| u64::from(row.len)).sum()
        };
        let (readings, texts) = (of(false), of(true));
        let lost = Vec::new();
        Self {
            stations,
            rows,
            columns,
            readings,
            texts,
            first_ms,
            last_ms,
            mapped,
            lost,
            unchecked,
            zeros,
        }
    }

    /// Returns the run with other verdicts; the run must lie in one set of columns.
    pub(super) fn with_quality(&self, quality: &[u8]) -> Self {
        let columns = self
            .columns
            .iter()
            .map(|own| RunColumns { quality: quality.to_vec().into(), ..own.clone() });
        let span = (self.first_ms, self.last_ms);
        Self::new(self.stations.clone(), self.rows.clone(), columns.collect(), span, None)
    }

    /// Returns the positions of some readings among all of the run, as ranges.
    pub(super) fn positions_of(
        &self,
        is_meant: impl Fn(StationId, SeriesId, i64) -> bool,
    ) -> Vec<Range<u32>> {
        let mut ranges: Vec<Range<u32>> = Vec::new();
        let mut position = 0;
        for place in 0..self.stations.len() {
            let id = self.stations[place].0;
            for row in &self.rows[self.rows_at(place)] {
                for &ts_ms in self.times(row) {
                    if is_meant(id, row.series, ts_ms) {
                        match ranges.last_mut() {
                            Some(last) if last.end == position => last.end += 1,
                            _ => ranges.push(position..position + 1),
                        }
                    }
                    position += 1;
                }
            }
        }
        ranges
    }

    /// Whether it has neither readings nor texts.
    pub(super) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Whether any reading may lie in a window.
    pub(super) fn overlaps(&self, window: ClosedWindow) -> bool {
        self.first_ms <= window.end_ms() && self.last_ms >= window.start_ms()
    }

    /// Returns the rows of a station by its index.
    pub(super) fn rows_at(&self, place: usize) -> Range<usize> {
        let end = self.stations.get(place + 1).map_or(self.rows.len(), |next| next.1 as usize);
        self.stations[place].1 as usize..end
    }

    /// Returns the row of a series at a station.
    pub(super) fn row_of(
        &self,
        id: StationId,
        series: SeriesId,
        cursor: &mut usize,
    ) -> Option<usize> {
        let rows = self.rows_at(find_station(&self.stations, id, cursor)?);
        let at = self.rows[rows.clone()].binary_search_by_key(&series, |row| row.series).ok()?;
        Some(rows.start + at)
    }

    /// Returns the times of a row as stored: in a file they may be damaged.
    pub(super) fn times(&self, row: &RunRow) -> &[i64] {
        let (start, len) = (row.start as usize, row.len as usize);
        &self.columns[row.columns as usize].ts_ms[start..start + len]
    }

    /// Returns some of the readings of a row as stored.
    pub(super) fn part(&self, row: &RunRow, range: Range<usize>) -> SeriesPart<'_> {
        let columns = &self.columns[row.columns as usize];
        let start = row.start as usize;
        let at = start + range.start..start + range.end;
        let rest = |column: &'_ ScalarBuffer<u8>, start: u32| {
            (start != NONE)
                .then(|| start as usize + range.start..start as usize + range.end)
                .filter(|at| at.end <= column.len())
        };
        SeriesPart {
            ts_ms: &columns.ts_ms[at.clone()],
            value: &columns.value[at.clone()],
            quality: &columns.quality[at],
            source: match rest(&columns.source, row.source) {
                Some(at) => &columns.source[at],
                None => &self.unchecked[..range.len()],
            },
            revision: match rest(&columns.revision, row.revision) {
                Some(at) => &columns.revision[at],
                None => &self.zeros[..range.len()],
            },
            qualifier: match rest(&columns.qualifier, row.qualifier) {
                Some(at) => &columns.qualifier[at],
                None => &self.zeros[..range.len()],
            },
            text: if row.text == NONE {
                TextPart::default()
            } else {
                let at = row.text as usize;
                columns.text.part(at + range.start..at + range.end)
            },
        }
    }

    /// Returns the readings of a row between two times, both included; `None` if a block that they
    /// may lie in is damaged. `near` is where the readings of a similar row were found, and then
    /// where these are: series of a station mostly have the same times.
    #[inline]
    pub(super) fn whole_part(
        &self,
        row: &RunRow,
        (first_ms, last_ms): (i64, i64),
        near: &mut Range<usize>,
    ) -> Option<SeriesPart<'_>> {
        let ts_ms = self.times(row);
        let mapped = self.mapped.as_deref();
        if mapped.is_some_and(|mapped| !mapped.is_whole(ts_ms)) {
            return None;
        }
        let start = border(ts_ms, near.start, |ts_ms| ts_ms < first_ms);
        let end = border(ts_ms, near.end, |ts_ms| ts_ms <= last_ms).max(start);
        *near = start..end;
        if start == end {
            return Some(SeriesPart::default());
        }
        self.whole(row, start..end)
    }

    /// Returns the last reading of a row between two times, both included; `None` if damage may
    /// hide it. Damage before it does not matter. `near` as in [`whole_part`](Self::whole_part), but
    /// only its end.
    #[inline]
    pub(super) fn whole_last(
        &self,
        row: &RunRow,
        (first_ms, last_ms): (i64, i64),
        near: &mut Range<usize>,
    ) -> Option<SeriesPart<'_>> {
        let ts_ms = self.times(row);
        let mapped = self.mapped.as_deref();
        let is_whole = |times: &[i64]| mapped.is_none_or(|mapped| mapped.is_whole(times));
        let is_right = |end: usize| {
            end <= ts_ms.len()
                && is_whole(&ts_ms[end.saturating_sub(1)..ts_ms.len().min(end + 1)])
                && (end == 0 || ts_ms[end - 1] <= last_ms)
                && (end == ts_ms.len() || ts_ms[end] > last_ms)
        };
        // Mostly the end of the row, or where it was in the last row.
        let guess = [near.end, ts_ms.len()].into_iter().find(|&end| is_right(end));
        let end = match guess {
            Some(end) => end,
            None if is_whole(ts_ms) => ts_ms.partition_point(|&ts_ms| ts_ms <= last_ms),
            None => return None,
        };
        near.end = end;
        match end.checked_sub(1).filter(|&last| ts_ms[last] >= first_ms) {
            Some(last) => self.whole(row, last..end),
            None => Some(SeriesPart::default()),
        }
    }

    /// Returns some readings of a row whose times are intact; `None` if another column is damaged.
    #[inline]
    fn whole(&self, row: &RunRow, range: Range<usize>) -> Option<SeriesPart<'_>> {
        let part = self.part(row, range);
        let is_whole = self.mapped.as_deref().is_none_or(|mapped| {
            let given = |column: u32, codes: &[u8]| column == NONE || mapped.is_whole(codes);
            mapped.is_whole(part.value)
                && mapped.is_whole(part.quality)
                && given(row.source, part.source)
                && given(row.revision, part.revision)
                && given(row.qualifier, part.qualifier)
        });
        is_whole.then_some(part)
    }

    /// Visits the readings of a row with damaged blocks between two times, both included, in ascending
    /// non-empty parts, and reports those that lie, or may lie, in damaged blocks.
    #[cold]
    pub(super) fn damaged_parts<'a>(
        &'a self,
        row: &RunRow,
        (first_ms, last_ms): (i64, i64),
        found: &mut dyn FnMut(SeriesPart<'a>),
        lost: &mut dyn FnMut(LostPart),
    ) {
        let ts_ms = self.times(row);
        let within = |ts_ms: &[i64]| {
            ts_ms.partition_point(|&ts_ms| ts_ms < first_ms)
                ..ts_ms.partition_point(|&ts_ms| ts_ms <= last_ms)
        };
        // A row in memory is never damaged.
        let Some(mapped) = self.mapped.as_deref() else { return };
        // Damaged readings lie between the times on either side.
        let (mut before_ms, mut damaged) = (self.first_ms, Vec::new());
        let mut lose = |damaged: &mut Vec<u32>, before_ms: i64, after_ms: i64| {
            for block in damaged.drain(..) {
                if before_ms <= last_ms && after_ms >= first_ms {
                    lost(LostPart { block, first_ms: before_ms, last_ms: after_ms });
                }
            }
        };
        let mut whole = Vec::new();
        for piece in mapped.pieces(ts_ms) {
            let times = &ts_ms[piece.range.clone()];
            match times {
                [] => {}
                &[first, ..] if piece.is_whole => {
                    lose(&mut damaged, before_ms, first);
                    before_ms = times[times.len() - 1];
                    let within = within(times);
                    whole.push(piece.range.start + within.start..piece.range.start + within.end);
                }
                _ => damaged.push(piece.block),
            }
        }
        lose(&mut damaged, before_ms, self.last_ms);
        for range in whole {
            self.parts_at(row, range, found, lost);
        }
    }

    /// Visits some readings of a row whose times are intact.
    fn parts_at<'a>(
        &'a self,
        row: &RunRow,
        range: Range<usize>,
        found: &mut dyn FnMut(SeriesPart<'a>),
        lost: &mut dyn FnMut(LostPart),
    ) {
        if range.is_empty() {
            return;
        }
        let (part, Some(mapped)) = (self.part(row, range), &self.mapped) else { return };
        let source = if row.source == NONE { &[] } else { part.source };
        let revision = if row.revision == NONE { &[] } else { part.revision };
        let qualifier = if row.qualifier == NONE { &[] } else { part.qualifier };
        let bytes = [part.quality, source, revision, qualifier].map(|column| mapped.pieces(column));
        let pieces = mapped.pieces(part.value).chain(bytes.into_iter().flatten());
        let mut holes: Vec<Range<usize>> = Vec::new();
        for piece in pieces.filter(|piece| !piece.is_whole && !piece.range.is_empty()) {
            let times = &part.ts_ms[piece.range.clone()];
            let (first_ms, last_ms) = (times[0], times[times.len() - 1]);
            lost(LostPart { block: piece.block, first_ms, last_ms });
            holes.push(piece.range);
        }
        holes.sort_unstable_by_key(|hole| hole.start);
        let mut from = 0;
        for hole in holes {
            if from < hole.start {
                found(part.range(from..hole.start));
            }
            from = from.max(hole.end);
        }
        if from < part.len() {
            found(part.range(from..part.len()));
        }
    }
}

/// Finds the index of a station, searching from where the last one was found: ascending ids cost a
/// step or two.
pub(super) fn find_station(
    stations: &[(StationId, u32)],
    id: StationId,
    cursor: &mut usize,
) -> Option<usize> {
    if stations.get(*cursor).is_none_or(|&(at, _)| at > id) {
        *cursor = 0;
    }
    // Doubles the step, then searches between the last two positions.
    let (mut low, mut step) = (*cursor, 1);
    while stations.get(low + step).is_some_and(|&(at, _)| at <= id) {
        low += step;
        step *= 2;
    }
    let high = stations.len().min(low + step);
    let within = stations[low.min(high)..high].partition_point(|&(at, _)| at < id);
    *cursor = low + within;
    stations.get(*cursor).filter(|&&(at, _)| at == id).map(|_| *cursor)
}

/// How many instants come before the first that is not `early`. `near` is a guess.
#[inline]
fn border(ts_ms: &[i64], near: usize, early: impl Fn(i64) -> bool) -> usize {
    let len = ts_ms.len();
    let is_right = near <= len
        && (near == 0 || early(ts_ms[near - 1]))
        && (near == len || !early(ts_ms[near]));
    if is_right { near } else { ts_ms.partition_point(|&ts_ms| early(ts_ms)) }
}

#[cfg(test)]
#[path = "run_tests.rs"]
mod tests;
