//! What readers see: the record at one moment, which does not change any more.

use std::sync::Arc;

use super::merge::{Group, groups, merge_parts};
use super::run::{Part, Run};
use super::segment::Segment;
use super::series_table::SeriesTable;
use crate::quality::QualityCode;
use crate::series::SeriesId;
use crate::station::StationId;
use crate::store::{Directory, Reader, Selection, SeriesSlice, StoreError};
use crate::time::ClosedWindow;

/// The record at one moment.
#[derive(Clone, Debug)]
pub(super) struct View {
    pub directory: Arc<Directory>,
    pub series: Arc<SeriesTable>,
    /// Sealed readings, oldest ingest first.
    pub segments: Vec<Arc<Segment>>,
    /// Readings that came in after them, oldest first.
    pub fresh: Vec<Arc<Run>>,
    /// Readings before it are given up.
    pub retain_from_ms: i64,
}

/// One run while it is read, with the place of the station that was last found.
struct Source<'a> {
    run: &'a Run,
    segment: Option<&'a Segment>,
    cursor: usize,
}

/// A part with what tells whose it is: series, place of it, age of the run.
type Found<'a> = (SeriesId, u32, usize, Part<'a>);

/// Where the readings of a slice lie.
enum Piece<'a> {
    Whole(Part<'a>),
    Merged(usize),
}

#[derive(Default)]
struct Merged {
    ts_ms: Vec<i64>,
    value: Vec<f64>,
    quality: Vec<QualityCode>,
    source: Vec<QualityCode>,
}

impl Merged {
    fn extend(&mut self, part: &Part<'_>) {
        self.ts_ms.extend_from_slice(part.ts_ms);
        self.value.extend_from_slice(part.value);
        self.quality.extend_from_slice(part.quality_codes());
        self.source.extend_from_slice(part.source_codes());
    }
}

impl View {
    /// The runs that may have readings in a window, oldest first.
    fn sources(&self, window: ClosedWindow) -> Vec<Source<'_>> {
        let sealed = self.segments.iter().filter_map(|segment| {
            let run = segment.overlaps(window).then(|| segment.run(&self.series)).flatten()?;
            Some(Source { run, segment: Some(segment), cursor: 0 })
        });
        let fresh = self.fresh.iter().filter(|run| run.overlaps(window));
        let fresh = fresh.map(|run| Source { run, segment: None, cursor: 0 });
        sealed.chain(fresh).collect()
    }

    /// The time of the newest reading.
    pub fn newest_ms(&self) -> Option<i64> {
        let sealed = self.segments.iter().map(|segment| segment.entry.last_ms);
        let fresh = self.fresh.iter().filter(|run| run.readings > 0).map(|run| run.last_ms);
        sealed.chain(fresh).max()
    }

    /// A way to look for single readings.
    pub fn lookup(&self) -> Lookup<'_> {
        Lookup {
            view: self,
            segments: self.segments.iter().map(|segment| (segment, 0)).collect(),
            fresh: self.fresh.iter().map(|run| (&**run, 0)).collect(),
        }
    }
}

impl<'a> Source<'a> {
    /// The readings of a station in the window, of the series that are wanted; whether the run can
    /// be read on.
    fn find(
        &mut self,
        id: StationId,
        window: ClosedWindow,
        wanted: &[bool],
        age: usize,
        found: &mut Vec<Found<'a>>,
    ) -> bool {
        let run = self.run;
        for row in &run.rows[run.rows_of(id, &mut self.cursor)] {
            if !wanted[row.slot as usize] {
                continue;
            }
            let part = run.times(row).and_then(|ts_ms| run.part(row, window.range_in(ts_ms)));
            match part {
                Ok(part) if part.is_empty() => {}
                Ok(part) => found.push((row.series, row.slot, age, part)),
                Err(fault) => {
                    if let Some(segment) = self.segment {
                        segment.damage(fault);
                    }
                    return false;
                }
            }
        }
        true
    }
}

impl Reader for View {
    fn directory(&self) -> Result<Arc<Directory>, StoreError> {
        Ok(Arc::clone(&self.directory))
    }

    fn scan(
        &self,
        selection: &Selection<'_>,
        visit: &mut dyn FnMut(usize, &[SeriesSlice<'_>]),
    ) -> Result<(), StoreError> {
        let Selection { stations, variables, window } = *selection;
        let start_ms = window.start_ms().max(self.retain_from_ms);
        let Ok(window) = ClosedWindow::new(start_ms, window.end_ms()) else { return Ok(()) };
        let list = &self.series.list;
        let wanted: Vec<bool> =
            list.iter().map(|series| variables.contains(&series.key.variable)).collect();
        let mut sources = self.sources(window);
        let (mut found, mut merger) = (Vec::new(), Merger::default());
        for (i, &id) in stations.iter().enumerate() {
            found.clear();
            let mut age = 0;
            sources.retain_mut(|source| {
                age += 1;
                source.find(id, window, &wanted, age, &mut found)
            });
            if found.is_empty() {
                continue;
            }
            let pieces = merger.pieces(&mut found);
            let slices: Vec<SeriesSlice<'_>> = pieces
                .iter()
                .map(|(slot, piece)| merger.slice(&list[*slot as usize], piece))
                .collect();
            visit(i, &slices);
        }
        Ok(())
    }
}

/// Puts the parts of a station together. Nothing is copied where the parts of a series do not
/// overlap in time.
#[derive(Default)]
struct Merger<'a> {
    merged: Vec<Merged>,
    parts: Vec<(usize, Part<'a>)>,
    groups: Vec<Group>,
}

impl<'a> Merger<'a> {
    fn pieces(&mut self, found: &mut [Found<'a>]) -> Vec<(u32, Piece<'a>)> {
        self.merged.clear();
        let mut pieces = Vec::with_capacity(found.len());
        // In order already where they come from one run.
        found.sort_by_key(|&(series, _, age, _)| (series, age));
        for of_series in found.chunk_by(|one, next| one.0 == next.0) {
            let slot = of_series[0].1;
            if let [(_, _, _, part)] = of_series {
                pieces.push((slot, Piece::Whole(*part)));
                continue;
            }
            self.parts.clear();
            self.parts.extend(of_series.iter().map(|&(_, _, age, part)| (age, part)));
            groups(&mut self.parts, &mut self.groups);
            for group in &self.groups {
                let parts = &self.parts[group.0.clone()];
                if group.is_single() {
                    pieces.push((slot, Piece::Whole(parts[0].1)));
                } else {
                    let mut merged = Merged::default();
                    merge_parts(parts, &mut |part| merged.extend(part));
                    pieces.push((slot, Piece::Merged(self.merged.len())));
                    self.merged.push(merged);
                }
            }
        }
        pieces
    }

    fn slice<'s>(
        &'s self,
        series: &'s Arc<crate::series::Series>,
        piece: &Piece<'s>,
    ) -> SeriesSlice<'s> {
        match piece {
            Piece::Whole(part) => SeriesSlice {
                series,
                ts_ms: part.ts_ms,
                value: part.value,
                quality: part.quality_codes(),
                source: part.source_codes(),
            },
            Piece::Merged(at) => {
                let Merged { ts_ms, value, quality, source } = &self.merged[*at];
                SeriesSlice { series, ts_ms, value, quality, source }
            }
        }
    }
}

/// Looks for single readings, the newest run first; stations that ascend are found in a few steps.
pub(super) struct Lookup<'a> {
    view: &'a View,
    segments: Vec<(&'a Arc<Segment>, usize)>,
    fresh: Vec<(&'a Run, usize)>,
}

/// One reading that is stored.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stored {
    pub value: f64,
    pub quality: u8,
    pub source: u8,
    pub revision: u8,
}

impl Lookup<'_> {
    pub fn find(&mut self, id: StationId, series: SeriesId, ts_ms: i64) -> Option<Stored> {
        if ts_ms < self.view.retain_from_ms {
            return None;
        }
        let covers = |first_ms: i64, last_ms: i64| first_ms <= ts_ms && ts_ms <= last_ms;
        let fresh = self.fresh.iter_mut().rev();
        for (run, cursor) in fresh.filter(|(run, _)| covers(run.first_ms, run.last_ms)) {
            if let Ok(Some(stored)) = find_in(run, id, series, ts_ms, cursor) {
                return Some(stored);
            }
        }
        for (segment, cursor) in self.segments.iter_mut().rev() {
            if !covers(segment.entry.first_ms, segment.entry.last_ms) {
                continue;
            }
            let Some(run) = segment.run(&self.view.series) else { continue };
            match find_in(run, id, series, ts_ms, cursor) {
                Ok(None) => {}
                Ok(stored) => return stored,
                Err(fault) => segment.damage(fault),
            }
        }
        None
    }
}

fn find_in(
    run: &Run,
    id: StationId,
    series: SeriesId,
    ts_ms: i64,
    cursor: &mut usize,
) -> Result<Option<Stored>, super::fault::Fault> {
    let Some(row) = run.row_of(id, series, cursor) else { return Ok(None) };
    let row = &run.rows[row];
    let Ok(at) = run.times(row)?.binary_search(&ts_ms) else { return Ok(None) };
    let part = run.part(row, at..at + 1)?;
    let (value, quality) = (part.value[0], part.quality[0]);
    Ok(Some(Stored { value, quality, source: part.source[0], revision: part.revision[0] }))
}
