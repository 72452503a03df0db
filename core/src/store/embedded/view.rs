//! The view of readers: an immutable snapshot of the record.

use std::sync::Arc;

use super::catalogue::Lost;
use super::fault::{Fault, StoreHealth};
use super::merge::{OverlappingParts, groups, merge_parts};
use super::run::{SeriesPart, SortedRun, StoredReading};
use super::segment::Segment;
use super::series_table::SeriesList;
use super::walk::{RunCursor, StationWalk};
use super::weather_table::WEATHER;
use crate::observation::{QualityCode, Series, SeriesId, StationId};
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
                Some(run) => sources.push(RunCursor::new(run, Some(segment))),
                None => (0..segment.entry.blocks())
                    .for_each(|block| damage.add(segment.entry.id, block)),
            }
        }
        let fresh = self.fresh.iter().filter(|run| run.overlaps(window));
        sources.extend(fresh.map(|run| RunCursor::new(run, None)));
        sources
    }

    /// Begins a scan; `None` if none of the window is held.
    fn begin_scan(&self, selection: &Selection<'_>) -> Option<Scan<'_>> {
        let Selection { stations, variables, window } = *selection;
        let window = window.since(self.retain_from_ms)?;
        let mut damage = Damage::default();
        let list = &self.series.list;
        let slots = list.iter().map(|series| variables.contains(&series.key.variable)).collect();
        let sources = self.sources(window, &mut damage);
        self.damage_of_lost(stations, window, &sources, &mut damage);
        Some(Scan { walk: StationWalk::new(sources, window), slots, damage })
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
        let sources = self.sources(window, &mut damage);
        self.damage_of_lost(stations, window, &sources, &mut damage);
        let wanted = |series: SeriesId, _| series == WEATHER;
        let (mut walk, mut merger) = (StationWalk::new(sources, window), Merger::default());
        for (i, &station) in stations.iter().enumerate() {
            merger.clear();
            walk.station(station, wanted, &mut damage, |slot, parts| merger.add(slot, parts));
            for (_, piece) in &merger.pieces {
                let (ts_ms, value, revision) = match piece {
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

impl Reader for View {
    fn directory(&self) -> Result<Arc<Directory>, StoreError> {
        Ok(Arc::clone(&self.directory))
    }

    fn scan(
        &self,
        selection: &Selection<'_>,
        visit: &mut dyn FnMut(usize, &[SeriesSlice<'_>]),
    ) -> Result<Damage, StoreError> {
        let Some(mut scan) = self.begin_scan(selection) else { return Ok(Damage::default()) };
        let (list, mut merger) = (&self.series.list, Merger::default());
        for (i, &id) in selection.stations.iter().enumerate() {
            merger.clear();
            scan.station(id, |slot, parts| merger.add(slot, parts));
            if merger.pieces.is_empty() {
                continue;
            }
            let pieces = merger.pieces.iter();
            let slices: Vec<_> =
                pieces.map(|(slot, piece)| merger.slice(&list[*slot as usize], piece)).collect();
            visit(i, &slices);
        }
        Ok(scan.damage)
    }

    fn scan_latest(
        &self,
        selection: &Selection<'_>,
        visit: &mut dyn FnMut(usize, &[SeriesSlice<'_>]),
    ) -> Result<Damage, StoreError> {
        let Some(mut scan) = self.begin_scan(selection) else { return Ok(Damage::default()) };
        let mut slices = Vec::new();
        for (i, &id) in selection.stations.iter().enumerate() {
            slices.clear();
            let list = &self.series.list;
            scan.latest(id, |slot, part| slices.push(slice_of(&list[slot as usize], part)));
            if !slices.is_empty() {
                visit(i, &slices);
            }
        }
        Ok(scan.damage)
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

/// A scan of a view.
struct Scan<'a> {
    walk: StationWalk<'a>,
    /// Whether each series of the table is wanted.
    slots: Vec<bool>,
    damage: Damage,
}

impl<'a> Scan<'a> {
    fn station(&mut self, id: StationId, visit: impl FnMut(u32, &mut [(usize, SeriesPart<'a>)])) {
        let Self { walk, slots, damage } = self;
        walk.station(id, |_, slot| is_wanted(slots, slot), damage, visit);
    }

    fn latest(&mut self, id: StationId, visit: impl FnMut(u32, &SeriesPart<'a>)) {
        let Self { walk, slots, damage } = self;
        walk.latest(id, |_, slot| is_wanted(slots, slot), damage, visit);
    }
}

/// Present weather has no place among the series.
fn is_wanted(slots: &[bool], slot: u32) -> bool {
    slots.get(slot as usize) == Some(&true)
}

fn slice_of<'s>(series: &'s Arc<Series>, part: &SeriesPart<'s>) -> SeriesSlice<'s> {
    SeriesSlice {
        series,
        ts_ms: part.ts_ms,
        value: part.value,
        quality: part.quality_codes(),
        source: part.source_codes(),
        revision: part.revision,
        qualifier: part.qualifier,
    }
}

/// Merges the parts of a station. Parts of a series that do not overlap in time are not copied.
#[derive(Default)]
struct Merger<'a> {
    /// The place of the series in the table, and where its readings are.
    pieces: Vec<(u32, Piece<'a>)>,
    merged: Vec<Merged>,
    groups: Vec<OverlappingParts>,
}

impl<'a> Merger<'a> {
    fn clear(&mut self) {
        self.pieces.clear();
        self.merged.clear();
    }

    /// Adds the parts of a series, each with the age of its run.
    fn add(&mut self, slot: u32, parts: &mut [(usize, SeriesPart<'a>)]) {
        if let [(_, part)] = parts {
            self.pieces.push((slot, Piece::Whole(*part)));
            return;
        }
        groups(parts, &mut self.groups);
        for group in &self.groups {
            let parts = &parts[group.0.clone()];
            if group.is_single() {
                self.pieces.push((slot, Piece::Whole(parts[0].1)));
            } else {
                let mut merged = Merged::default();
                merge_parts(parts, &mut |part| merged.extend(part));
                self.pieces.push((slot, Piece::Merged(self.merged.len())));
                self.merged.push(merged);
            }
        }
    }

    fn slice<'s>(&'s self, series: &'s Arc<Series>, piece: &Piece<'s>) -> SeriesSlice<'s> {
        match piece {
            Piece::Whole(part) => slice_of(series, part),
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
