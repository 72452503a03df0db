//! The view of readers: an immutable snapshot of the record.

use std::sync::Arc;

use super::catalogue::Lost;
use super::fault::{Fault, StoreHealth};
use super::merge::{OverlappingParts, groups, merge_parts};
use super::run::{RunRow, SeriesPart, SortedRun, StoredReading};
use super::segment::Segment;
use super::series_table::SeriesList;
use super::weather_table::WEATHER;
use crate::observation::{QualityCode, SeriesId, StationId};
use crate::store::{Damage, Directory, Reader, Selection, SeriesSlice, StoreError, VisitWeather};
use crate::time::ClosedWindow;

/// A snapshot of the record.
#[derive(Clone, Debug)]
pub(super) struct View {
    pub directory: Arc<Directory>,
    pub series: Arc<SeriesList>,
    /// The sealed readings, oldest ingest first.
    pub segments: Vec<Arc<Segment>>,
    /// Readings that came in after the sealed ones, oldest first.
    pub fresh: Vec<Arc<SortedRun>>,
    /// Sealed readings that are lost for good.
    pub lost: Arc<Vec<Lost>>,
    /// Readings before this instant have been dropped.
    pub retain_from_ms: i64,
}

/// A run being read, with the position of the last station found.
struct RunCursor<'a> {
    run: &'a SortedRun,
    segment: Option<&'a Segment>,
    cursor: usize,
}

/// A part with its series, the index of the series and the age of its run.
type Found<'a> = (SeriesId, u32, usize, SeriesPart<'a>);

/// The position of the readings of a slice.
enum Piece<'a> {
    Whole(SeriesPart<'a>),
    Merged(usize),
}

#[derive(Default)]
struct Merged {
    ts_ms: Vec<i64>,
    value: Vec<f64>,
    quality: Vec<QualityCode>,
    source: Vec<QualityCode>,
    revision: Vec<u8>,
    qualifier: Vec<u8>,
}

impl Merged {
    fn extend(&mut self, part: &SeriesPart<'_>) {
        self.ts_ms.extend_from_slice(part.ts_ms);
        self.value.extend_from_slice(part.value);
        self.quality.extend_from_slice(part.quality_codes());
        self.source.extend_from_slice(part.source_codes());
        self.revision.extend_from_slice(part.revision);
        self.qualifier.extend_from_slice(part.qualifier);
    }
}

impl View {
    /// Returns the runs that may have readings in a window, oldest first. Every block of an
    /// unreadable segment counts as missing.
    fn sources(&self, window: ClosedWindow, damage: &mut Damage) -> Vec<RunCursor<'_>> {
        let mut sources = Vec::new();
        for segment in self.segments.iter().filter(|segment| segment.overlaps(window)) {
            match segment.run(&self.series) {
                Some(run) => sources.push(RunCursor { run, segment: Some(segment), cursor: 0 }),
                None => (0..segment.entry.blocks())
                    .for_each(|block| damage.add(segment.entry.id, block)),
            }
        }
        let fresh = self.fresh.iter().filter(|run| run.overlaps(window));
        sources.extend(fresh.map(|run| RunCursor { run, segment: None, cursor: 0 }));
        sources
    }

    /// Adds the damage of a selection because rows or whole segments are lost.
    fn damage_of_lost(
        &self,
        stations: &[StationId],
        window: ClosedWindow,
        sources: &[RunCursor<'_>],
        damage: &mut Damage,
    ) {
        let asks_for = |first: StationId, last: StationId| {
            stations.iter().any(|station| (first..=last).contains(station))
        };
        for lost in self.lost.iter() {
            let overlaps = lost.first_ms <= window.end_ms() && lost.last_ms >= window.start_ms();
            if overlaps && asks_for(lost.first, lost.last) {
                lost.blocks.clone().for_each(|block| damage.add(lost.segment, block));
            }
        }
        for source in sources {
            let Some(segment) = source.segment else { continue };
            for rows in source.run.lost.iter().filter(|rows| asks_for(rows.first, rows.last)) {
                rows.blocks.iter().for_each(|&block| damage.add(segment.entry.id, block));
            }
        }
    }

    /// The time of the newest reading.
    pub(super) fn newest_ms(&self) -> Option<i64> {
        let sealed = self.segments.iter().map(|segment| segment.entry.last_ms);
        let fresh = self.fresh.iter().filter(|run| run.readings > 0).map(|run| run.last_ms);
        sealed.chain(fresh).max()
    }

    /// The state of the store, as far as readers see it.
    pub(super) fn health(&self, faults: Vec<Fault>) -> StoreHealth {
        let entries = || self.segments.iter().map(|segment| &segment.entry);
        StoreHealth {
            faults,
            newest_ms: self.newest_ms(),
            segments: self.segments.len(),
            sealed_readings: entries().map(|entry| entry.readings).sum(),
            fresh_readings: self.fresh.iter().map(|run| run.readings).sum(),
            sealed_bytes: entries().map(|entry| entry.length).sum(),
            swept_files: 0,
        }
    }

    /// Visits the present weather of stations: the index of the station, time, revision and words.
    pub(super) fn weather(
        &self,
        stations: &[StationId],
        window: ClosedWindow,
        visit: &mut VisitWeather<'_>,
    ) -> Damage {
        let mut damage = Damage::default();
        let Some(window) = window.since(self.retain_from_ms) else { return damage };
        let mut sources = self.sources(window, &mut damage);
        self.damage_of_lost(stations, window, &sources, &mut damage);
        let wanted = |row: &RunRow| row.series == WEATHER;
        let (mut found, mut merger) = (Vec::new(), Merger::default());
        for (i, &station) in stations.iter().enumerate() {
            found.clear();
            for (age, source) in sources.iter_mut().enumerate() {
                source.find(station, window, &wanted, age, &mut found, &mut damage);
            }
            for (_, piece) in merger.pieces(&mut found) {
                let (ts_ms, value, revision) = match &piece {
                    Piece::Whole(part) => (part.ts_ms, part.value, part.revision),
                    Piece::Merged(at) => {
                        let merged = &merger.merged[*at];
                        (&*merged.ts_ms, &*merged.value, &*merged.revision)
                    }
                };
                for ((&ts_ms, &value), &revision) in ts_ms.iter().zip(value).zip(revision) {
                    match self.series.weather.words(value) {
                        Some(words) => visit(i, ts_ms, revision, words),
                        None => damage.add(LOST_WORDS, 0),
                    }
                }
            }
        }
        damage
    }

    /// Returns a lookup of single readings.
    pub(super) fn lookup(&self) -> Lookup<'_> {
        Lookup {
            view: self,
            segments: self.segments.iter().map(|segment| (segment, 0)).collect(),
            fresh: self.fresh.iter().map(|run| (&**run, 0)).collect(),
        }
    }
}

impl<'a> RunCursor<'a> {
    /// Finds the readings of a station in the window, for the requested series.
    fn find(
        &mut self,
        id: StationId,
        window: ClosedWindow,
        wanted: &dyn Fn(&RunRow) -> bool,
        age: usize,
        found: &mut Vec<Found<'a>>,
        damage: &mut Damage,
    ) {
        let run = self.run;
        let file = self.segment.map_or(0, |segment| segment.entry.id);
        for row in &run.rows[run.rows_of(id, &mut self.cursor)] {
            if wanted(row) {
                run.parts(
                    row,
                    (window.start_ms(), window.end_ms()),
                    &mut |part| found.push((row.series, row.slot, age, part)),
                    &mut |lost| damage.add(file, lost.block),
                );
            }
        }
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
    ) -> Result<Damage, StoreError> {
        let mut damage = Damage::default();
        let Selection { stations, variables, window } = *selection;
        let Some(window) = window.since(self.retain_from_ms) else { return Ok(damage) };
        let list = &self.series.list;
        let slots: Vec<bool> =
            list.iter().map(|series| variables.contains(&series.key.variable)).collect();
        // Present weather has no place among them.
        let wanted = |row: &RunRow| slots.get(row.slot as usize) == Some(&true);
        let mut sources = self.sources(window, &mut damage);
        self.damage_of_lost(stations, window, &sources, &mut damage);
        let (mut found, mut merger) = (Vec::new(), Merger::default());
        for (i, &id) in stations.iter().enumerate() {
            found.clear();
            for (age, source) in sources.iter_mut().enumerate() {
                source.find(id, window, &wanted, age, &mut found, &mut damage);
            }
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
        Ok(damage)
    }

    fn scan_weather(
        &self,
        stations: &[StationId],
        window: ClosedWindow,
        visit: &mut VisitWeather<'_>,
    ) -> Result<Damage, StoreError> {
        Ok(self.weather(stations, window, visit))
    }

    fn held_from_ms(&self) -> Result<i64, StoreError> {
        Ok(self.retain_from_ms)
    }
}

/// Stands for the file of the words of present weather, if their table is damaged.
const LOST_WORDS: i64 = i64::MAX;

/// Merges the parts of a station. Parts of a series that do not overlap in time are not copied.
#[derive(Default)]
struct Merger<'a> {
    merged: Vec<Merged>,
    parts: Vec<(usize, SeriesPart<'a>)>,
    groups: Vec<OverlappingParts>,
}

impl<'a> Merger<'a> {
    fn pieces(&mut self, found: &mut [Found<'a>]) -> Vec<(u32, Piece<'a>)> {
        self.merged.clear();
        let mut pieces = Vec::with_capacity(found.len());
        // Already in order if they come from one run.
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
        series: &'s Arc<crate::observation::Series>,
        piece: &Piece<'s>,
    ) -> SeriesSlice<'s> {
        match piece {
            Piece::Whole(part) => SeriesSlice {
                series,
                ts_ms: part.ts_ms,
                value: part.value,
                quality: part.quality_codes(),
                source: part.source_codes(),
                revision: part.revision,
                qualifier: part.qualifier,
            },
            Piece::Merged(at) => {
                let Merged { ts_ms, value, quality, source, revision, qualifier } =
                    &self.merged[*at];
                SeriesSlice { series, ts_ms, value, quality, source, revision, qualifier }
            }
        }
    }
}

/// Looks up single readings, newest run first; ascending stations are found in a few steps.
pub(super) struct Lookup<'a> {
    view: &'a View,
    segments: Vec<(&'a Arc<Segment>, usize)>,
    fresh: Vec<(&'a SortedRun, usize)>,
}

impl Lookup<'_> {
    pub(super) fn find(
        &mut self,
        id: StationId,
        series: SeriesId,
        ts_ms: i64,
    ) -> Option<StoredReading> {
        if ts_ms < self.view.retain_from_ms {
            return None;
        }
        let covers = |first_ms: i64, last_ms: i64| first_ms <= ts_ms && ts_ms <= last_ms;
        let fresh = self.fresh.iter_mut().rev();
        for (run, cursor) in fresh.filter(|(run, _)| covers(run.first_ms, run.last_ms)) {
            if let Some(stored) = find_in(run, id, series, ts_ms, cursor) {
                return Some(stored);
            }
        }
        for (segment, cursor) in self.segments.iter_mut().rev() {
            if !covers(segment.entry.first_ms, segment.entry.last_ms) {
                continue;
            }
            // A reading in a damaged block counts as absent: it may come in again.
            let Some(run) = segment.run(&self.view.series) else { continue };
            if let Some(stored) = find_in(run, id, series, ts_ms, cursor) {
                return Some(stored);
            }
        }
        None
    }
}

fn find_in(
    run: &SortedRun,
    id: StationId,
    series: SeriesId,
    ts_ms: i64,
    cursor: &mut usize,
) -> Option<StoredReading> {
    let row = &run.rows[run.row_of(id, series, cursor)?];
    let mut stored = None;
    let found = &mut |part: SeriesPart<'_>| {
        let (value, quality) = (part.value[0], part.quality[0]);
        let (source, revision, qualifier) = (part.source[0], part.revision[0], part.qualifier[0]);
        stored = Some(StoredReading { value, quality, source, revision, qualifier });
    };
    run.parts(row, (ts_ms, ts_ms), found, &mut |_| {});
    stored
}
