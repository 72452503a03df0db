//! Finds the readings of stations in several runs.

use std::ops::Range;

use super::run::{RunRow, SeriesPart, SortedRun};
use super::segment::Segment;
use crate::observation::{SeriesId, StationId};
use crate::store::Damage;
use crate::time::ClosedWindow;

/// A run being read, with the position of the last station found, and where the readings of the
/// last row were.
pub(super) struct RunCursor<'a> {
    pub run: &'a SortedRun,
    pub segment: Option<&'a Segment>,
    cursor: usize,
    near: Range<usize>,
}

impl<'a> RunCursor<'a> {
    pub(super) fn new(run: &'a SortedRun, segment: Option<&'a Segment>) -> Self {
        Self { run, segment, cursor: 0, near: 0..0 }
    }
}

/// Walks through the runs of a view, station by station, and series by series.
pub(super) struct StationWalk<'a> {
    /// Oldest first: the place of a run is its age.
    sources: Vec<RunCursor<'a>>,
    span: (i64, i64),
    /// The runs with rows of the station, each with the rows that are left.
    heads: Vec<(usize, Range<usize>)>,
    /// The rows of a series, oldest first, each with the age of its run.
    rows: Vec<(usize, &'a RunRow)>,
    parts: Vec<(usize, SeriesPart<'a>)>,
}

impl<'a> StationWalk<'a> {
    pub(super) fn new(sources: Vec<RunCursor<'a>>, window: ClosedWindow) -> Self {
        let span = (window.start_ms(), window.end_ms());
        Self { sources, span, heads: Vec::new(), rows: Vec::new(), parts: Vec::new() }
    }

    fn begin(&mut self, id: StationId) {
        self.heads.clear();
        for (age, source) in self.sources.iter_mut().enumerate() {
            let rows = source.run.rows_of(id, &mut source.cursor);
            if !rows.is_empty() {
                self.heads.push((age, rows));
            }
        }
    }

    /// Finds the rows of the next series of the station, ascending by id. Returns its place in the
    /// table.
    fn next_series(&mut self) -> Option<(SeriesId, u32)> {
        let Self { sources, heads, rows, .. } = self;
        let row_of = |age: usize, at: usize| -> &'a RunRow { &sources[age].run.rows[at] };
        let series = heads.iter().map(|(age, rows)| row_of(*age, rows.start).series).min()?;
        rows.clear();
        heads.retain_mut(|(age, left)| {
            let row = row_of(*age, left.start);
            if row.series == series {
                rows.push((*age, row));
                left.start += 1;
            }
            left.start < left.end
        });
        Some((series, rows[0].1.slot))
    }

    /// Visits the wanted series of a station that have readings in the span: their places in the
    /// table, and the parts with the ages of their runs.
    pub(super) fn station(
        &mut self,
        id: StationId,
        wanted: impl Fn(SeriesId, u32) -> bool,
        damage: &mut Damage,
        mut visit: impl FnMut(u32, &mut [(usize, SeriesPart<'a>)]),
    ) {
        self.begin(id);
        while let Some((series, slot)) = self.next_series() {
            if !wanted(series, slot) {
                continue;
            }
            let Self { sources, span, rows, parts, .. } = self;
            parts.clear();
            for &(age, row) in rows.iter() {
                sources[age].find(row, *span, damage, |part| parts.push((age, part)));
            }
            if !parts.is_empty() {
                visit(slot, parts);
            }
        }
    }

    /// Visits the wanted series of a station with their last readings in the span.
    pub(super) fn latest(
        &mut self,
        id: StationId,
        wanted: impl Fn(SeriesId, u32) -> bool,
        damage: &mut Damage,
        mut visit: impl FnMut(u32, &SeriesPart<'a>),
    ) {
        self.begin(id);
        while let Some((series, slot)) = self.next_series() {
            if !wanted(series, slot) {
                continue;
            }
            let Self { sources, span, rows, .. } = self;
            let mut latest = SeriesPart::default();
            for &(age, row) in rows.iter().rev() {
                let found_ms = latest.ts_ms.last().copied();
                // Of several runs with the same time, the newest wins.
                if found_ms.is_some_and(|found_ms| sources[age].run.last_ms <= found_ms) {
                    continue;
                }
                sources[age].last(row, *span, damage, |part| {
                    if part.ts_ms.last() > latest.ts_ms.last() {
                        latest = part;
                    }
                });
            }
            if !latest.is_empty() {
                visit(slot, &latest.range(latest.len() - 1..latest.len()));
            }
        }
    }
}

impl<'a> RunCursor<'a> {
    /// Finds the readings of a row in a span.
    fn find(
        &mut self,
        row: &RunRow,
        span: (i64, i64),
        damage: &mut Damage,
        mut found: impl FnMut(SeriesPart<'a>),
    ) {
        match self.run.whole_part(row, span, &mut self.near) {
            Some(part) if part.is_empty() => {}
            Some(part) => found(part),
            None => self.find_damaged(row, span, damage, &mut found),
        }
    }

    /// Finds the last reading of a row in a span, and maybe earlier ones. Damage before it does not
    /// matter.
    fn last(
        &mut self,
        row: &RunRow,
        span: (i64, i64),
        damage: &mut Damage,
        mut found: impl FnMut(SeriesPart<'a>),
    ) {
        match self.run.whole_last(row, span, &mut self.near) {
            Some(part) if part.is_empty() => {}
            Some(part) => found(part),
            None => self.find_damaged(row, span, damage, &mut found),
        }
    }

    #[cold]
    fn find_damaged(
        &self,
        row: &RunRow,
        span: (i64, i64),
        damage: &mut Damage,
        found: &mut dyn FnMut(SeriesPart<'a>),
    ) {
        let file = self.segment.map_or(0, |segment| segment.entry.id);
        self.run.damaged_parts(row, span, found, &mut |lost| damage.add(file, lost.block));
    }
}
