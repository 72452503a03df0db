//! The view of readers: an immutable snapshot of the record.

use std::sync::Arc;

use bumpalo::Bump;
use bumpalo::collections::Vec as BumpVec;

use super::catalogue::{Lost, SegmentEntry};
use super::fault::{Fault, StoreHealth};
use super::merge::{OverlappingParts, groups, merge_parts};
use super::packed::Decoder;
use super::report_texts::{Content, TEXTS, TextPart, parts as text_parts};
use super::run::{SeriesPart, SortedRun, StoredReading};
use super::segment::Segment;
use super::series_table::SeriesList;
use super::walk::{RunCursor, RunRef, StationWalk};
use super::weather_table::WEATHER;
use crate::observation::{Series, SeriesId, StationId};
use crate::store::{
    Damage, Directory, Reader, Selection, SeriesSlice, StoreError, StoredReport, VisitReports,
    VisitWeather,
};
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

/// Readings of overlapping parts, being merged.
struct Merge<'s> {
    ts_ms: BumpVec<'s, i64>,
    value: BumpVec<'s, f64>,
    quality: BumpVec<'s, u8>,
    source: BumpVec<'s, u8>,
    revision: BumpVec<'s, u8>,
    qualifier: BumpVec<'s, u8>,
}

// Texts are never merged here: they are visited one by one.
impl<'s> Merge<'s> {
    /// Merges parts of a series, each with the age of its run.
    fn of(parts: &[(usize, SeriesPart<'_>)], bump: &'s Bump) -> SeriesPart<'s> {
        let most = parts.iter().map(|(_, part)| part.len()).sum();
        let bytes = || BumpVec::with_capacity_in(most, bump);
        let mut merged = Self {
            ts_ms: BumpVec::with_capacity_in(most, bump),
            value: BumpVec::with_capacity_in(most, bump),
            quality: bytes(),
            source: bytes(),
            revision: bytes(),
            qualifier: bytes(),
        };
        merge_parts(parts, &mut |part| merged.extend(part));
        SeriesPart {
            ts_ms: merged.ts_ms.into_bump_slice(),
            value: merged.value.into_bump_slice(),
            quality: merged.quality.into_bump_slice(),
            source: merged.source.into_bump_slice(),
            revision: merged.revision.into_bump_slice(),
            qualifier: merged.qualifier.into_bump_slice(),
            text: TextPart::default(),
        }
    }

    fn extend(&mut self, part: &SeriesPart<'_>) {
        self.ts_ms.extend_from_slice_copy(part.ts_ms);
        self.value.extend_from_slice_copy(part.value);
        self.quality.extend_from_slice_copy(part.quality);
        self.source.extend_from_slice_copy(part.source);
        self.revision.extend_from_slice_copy(part.revision);
        self.qualifier.extend_from_slice_copy(part.qualifier);
    }
}

impl View {
    /// Returns the runs that may have some content in a window, oldest first. Every block of an
    /// unreadable segment counts as missing.
    fn sources(
        &self,
        content: Content,
        window: ClosedWindow,
        damage: &mut Damage,
    ) -> Vec<RunCursor<'_>> {
        let mut sources = Vec::new();
        let is_source =
            |segment: &&Arc<Segment>| segment.entry.content == content && segment.overlaps(window);
        for segment in self.segments.iter().filter(is_source) {
            match segment.run(&self.series) {
                Some(run) => sources.push(RunCursor::new(run, segment.entry.id)),
                None => (0..segment.entry.blocks())
                    .for_each(|block| damage.add(segment.entry.id, block)),
            }
        }
        let fresh = self.fresh.iter().filter(|run| run.overlaps(window));
        sources.extend(fresh.map(|run| RunCursor::new(RunRef::Rows(run), 0)));
        sources
    }

    /// Begins a scan; `None` if none of the window is held.
    fn begin_scan(&self, selection: &Selection<'_>) -> Option<Scan<'_>> {
        let Selection { stations, variables, window } = *selection;
        let window = window.since(self.retain_from_ms)?;
        let mut damage = Damage::default();
        let list = &self.series.list;
        let slots = list.iter().map(|series| variables.contains(&series.key.variable)).collect();
        let sources = self.sources(Content::Readings, window, &mut damage);
        self.damage_of_lost(Content::Readings, stations, window, &sources, &mut damage);
        Some(Scan { walk: StationWalk::new(sources, window), slots, damage })
    }

    /// Adds the damage of a selection because rows or whole segments are lost.
    fn damage_of_lost(
        &self,
        content: Content,
        stations: &[StationId],
        window: ClosedWindow,
        sources: &[RunCursor<'_>],
        damage: &mut Damage,
    ) {
        let asks_for = |first: StationId, last: StationId| {
            stations.iter().any(|station| (first..=last).contains(station))
        };
        for lost in self.lost.iter() {
            if lost.content.is_some_and(|lost| lost != content) {
                continue;
            }
            let overlaps = lost.first_ms <= window.end_ms() && lost.last_ms >= window.start_ms();
            if overlaps && asks_for(lost.first, lost.last) {
                lost.blocks.clone().for_each(|block| damage.add(lost.segment, block));
            }
        }
        for source in sources {
            for rows in source.run.lost().iter().filter(|rows| asks_for(rows.first, rows.last)) {
                rows.blocks.iter().for_each(|&block| damage.add(source.segment, block));
            }
        }
    }

    fn entries(&self, content: Content) -> impl Iterator<Item = &SegmentEntry> {
        let entries = self.segments.iter().map(|segment| &segment.entry);
        entries.filter(move |entry| entry.content == content)
    }

    /// The time of the newest reading.
    pub(super) fn newest_ms(&self) -> Option<i64> {
        let sealed = self.entries(Content::Readings).map(|entry| entry.last_ms);
        let fresh = self.fresh.iter().filter(|run| run.readings > 0).map(|run| run.last_ms);
        sealed.chain(fresh).max()
    }

    /// The state of the store, as far as readers see it.
    pub(super) fn health(&self, faults: Vec<Fault>) -> StoreHealth {
        let entries = || self.entries(Content::Readings);
        let texts = || self.entries(Content::Texts);
        StoreHealth {
            faults,
            newest_ms: self.newest_ms(),
            reports: texts().map(|entry| entry.readings).sum::<u64>()
                + self.fresh.iter().map(|run| run.texts).sum::<u64>(),
            text_segments: texts().count(),
            text_bytes: texts().map(|entry| entry.length).sum(),
            segments: entries().count(),
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
        let sources = self.sources(Content::Readings, window, &mut damage);
        self.damage_of_lost(Content::Readings, stations, window, &sources, &mut damage);
        let wanted = |series: SeriesId, _| series == WEATHER;
        let (mut walk, mut bump) = (StationWalk::new(sources, window), Bump::new());
        for (i, &station) in stations.iter().enumerate() {
            bump.reset();
            let mut merger = Merger::new(&bump);
            walk.station(station, &bump, wanted, &mut damage, |slot, parts| {
                merger.add(slot, parts);
            });
            for (_, part) in &merger.parts {
                for ((&ts_ms, &value), &revision) in
                    part.ts_ms.iter().zip(part.value).zip(part.revision)
                {
                    match self.series.weather.words(value) {
                        Some(words) => visit(i, ts_ms, revision, words),
                        None => damage.add(LOST_WORDS, 0),
                    }
                }
            }
        }
        damage
    }

    /// Visits the texts of the reports of stations.
    fn texts(
        &self,
        stations: &[StationId],
        window: ClosedWindow,
        visit: &mut VisitReports<'_>,
    ) -> Damage {
        let mut damage = Damage::default();
        let Some(window) = window.since(self.retain_from_ms) else { return damage };
        let sources = self.sources(Content::Texts, window, &mut damage);
        self.damage_of_lost(Content::Texts, stations, window, &sources, &mut damage);
        let wanted = |series: SeriesId, _| series == TEXTS;
        let (mut walk, mut bump) = (StationWalk::new(sources, window), Bump::new());
        for (i, &station) in stations.iter().enumerate() {
            bump.reset();
            walk.station(station, &bump, wanted, &mut damage, |_, parts| {
                let mut found = Vec::new();
                groups(parts, &mut found);
                for group in &found {
                    merge_parts(&parts[group.0.clone()], &mut |part| {
                        let of = part.ts_ms.iter().zip(part.revision).zip(part.text.iter());
                        for ((&ts_ms, &revision), text) in of {
                            let (header, text) = text_parts(text);
                            visit(i, &StoredReport { ts_ms, revision, header, text });
                        }
                    });
                }
            });
        }
        damage
    }

    /// Returns a lookup of single readings.
    pub(super) fn lookup(&self) -> Lookup<'_> {
        Lookup {
            view: self,
            segments: self.segments.iter().map(|segment| (segment, None)).collect(),
            fresh: self.fresh.iter().map(|run| RunCursor::new(RunRef::Rows(run), 0)).collect(),
            bump: Bump::new(),
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
        let (list, mut bump) = (&self.series.list, Bump::new());
        for (i, &id) in selection.stations.iter().enumerate() {
            bump.reset();
            let mut merger = Merger::new(&bump);
            scan.station(id, &bump, |slot, parts| merger.add(slot, parts));
            let parts = merger.parts.iter();
            let slices: Vec<_> =
                parts.map(|(slot, part)| slice_of(&list[*slot as usize], part)).collect();
            if !slices.is_empty() {
                visit(i, &slices);
            }
        }
        Ok(scan.damage)
    }

    fn scan_latest(
        &self,
        selection: &Selection<'_>,
        visit: &mut dyn FnMut(usize, &[SeriesSlice<'_>]),
    ) -> Result<Damage, StoreError> {
        let Some(mut scan) = self.begin_scan(selection) else { return Ok(Damage::default()) };
        let (list, mut bump) = (&self.series.list, Bump::new());
        for (i, &id) in selection.stations.iter().enumerate() {
            bump.reset();
            let mut slices = BumpVec::new_in(&bump);
            scan.latest(id, &bump, |slot, part| slices.push(slice_of(&list[slot as usize], part)));
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

    fn scan_reports(
        &self,
        stations: &[StationId],
        window: ClosedWindow,
        visit: &mut VisitReports<'_>,
    ) -> Result<Damage, StoreError> {
        Ok(self.texts(stations, window, visit))
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
    fn station<'s>(
        &mut self,
        id: StationId,
        bump: &'s Bump,
        visit: impl FnMut(u32, &mut [(usize, SeriesPart<'s>)]),
    ) where
        'a: 's,
    {
        let Self { walk, slots, damage } = self;
        walk.station(id, bump, |_, slot| is_wanted(slots, slot), damage, visit);
    }

    fn latest<'s>(&mut self, id: StationId, bump: &'s Bump, visit: impl FnMut(u32, &SeriesPart<'s>))
    where
        'a: 's,
    {
        let Self { walk, slots, damage } = self;
        walk.latest(id, bump, |_, slot| is_wanted(slots, slot), damage, visit);
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
struct Merger<'s> {
    /// The place of the series in the table, and its readings.
    parts: BumpVec<'s, (u32, SeriesPart<'s>)>,
    groups: Vec<OverlappingParts>,
    bump: &'s Bump,
}

impl<'s> Merger<'s> {
    fn new(bump: &'s Bump) -> Self {
        Self { parts: BumpVec::new_in(bump), groups: Vec::new(), bump }
    }

    /// Adds the parts of a series, each with the age of its run.
    fn add(&mut self, slot: u32, parts: &mut [(usize, SeriesPart<'s>)]) {
        if let [(_, part)] = parts {
            self.parts.push((slot, *part));
            return;
        }
        groups(parts, &mut self.groups);
        for group in &self.groups {
            let parts = &parts[group.0.clone()];
            let part = if group.is_single() { parts[0].1 } else { Merge::of(parts, self.bump) };
            self.parts.push((slot, part));
        }
    }
}

/// Looks up single readings, newest run first; ascending stations are found in a few steps.
pub(super) struct Lookup<'a> {
    view: &'a View,
    segments: Vec<(&'a Arc<Segment>, Option<RunCursor<'a>>)>,
    fresh: Vec<RunCursor<'a>>,
    bump: Bump,
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
        let Self { view, segments, fresh, bump } = self;
        let covers = |(first_ms, last_ms): (i64, i64)| first_ms <= ts_ms && ts_ms <= last_ms;
        for cursor in fresh.iter_mut().rev().filter(|cursor| covers(cursor.run.span())) {
            if let Some(stored) = find_in(cursor, id, series, ts_ms, bump) {
                return Some(stored);
            }
        }
        for (segment, cursor) in segments.iter_mut().rev() {
            if segment.entry.content != Content::of(series)
                || !covers((segment.entry.first_ms, segment.entry.last_ms))
            {
                continue;
            }
            if cursor.is_none() {
                // A reading in a damaged block counts as absent: it may come in again.
                *cursor = segment.run(&view.series).map(|run| RunCursor::new(run, 0));
            }
            let Some(cursor) = cursor else { continue };
            if let Some(stored) = find_in(cursor, id, series, ts_ms, bump) {
                return Some(stored);
            }
        }
        None
    }
}

fn find_in(
    cursor: &mut RunCursor<'_>,
    id: StationId,
    series: SeriesId,
    ts_ms: i64,
    bump: &mut Bump,
) -> Option<StoredReading> {
    bump.reset();
    let span = (ts_ms, ts_ms);
    let rows = cursor.seek(id, span, &mut |_| {});
    let row = rows.into_iter().find(|&row| cursor.series(row).0 == series)?;
    let mut stored = None;
    let found = &mut |part: SeriesPart<'_>| {
        let (value, quality) = (part.value[0], part.quality[0]);
        let (source, revision, qualifier) = (part.source[0], part.revision[0], part.qualifier[0]);
        stored = Some(StoredReading { value, quality, source, revision, qualifier });
    };
    cursor.find(row, span, &mut Decoder::new(bump).without_texts(), found, &mut |_| {});
    stored
}
