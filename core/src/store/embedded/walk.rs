//! Finds the readings of stations in several runs.

use std::ops::Range;

use bumpalo::Bump;
use bumpalo::collections::Vec as BumpVec;

use super::packed::{Decoder, PackedRow, PackedRun};
use super::run::{LostPart, LostRows, SeriesPart, SortedRun, find_station};
use crate::observation::{SeriesId, StationId};
use crate::store::Damage;
use crate::time::ClosedWindow;

/// A run in either form.
#[derive(Clone, Copy, Debug)]
pub(super) enum RunRef<'a> {
    Rows(&'a SortedRun),
    Packed(&'a PackedRun),
}

impl<'a> RunRef<'a> {
    /// Returns the stations, sorted by id.
    pub(super) fn stations(self) -> &'a [(StationId, u32)] {
        match self {
            Self::Rows(run) => &run.stations,
            Self::Packed(run) => &run.stations,
        }
    }

    /// Returns the number of readings of a station by its index.
    pub(super) fn readings_at(self, place: usize) -> u64 {
        match self {
            Self::Rows(run) => {
                run.rows[run.rows_at(place)].iter().map(|row| u64::from(row.len)).sum()
            }
            Self::Packed(run) => run.readings_at(place),
        }
    }

    /// Returns the times of the first and the last reading.
    pub(super) fn span(self) -> (i64, i64) {
        match self {
            Self::Rows(run) => (run.first_ms, run.last_ms),
            Self::Packed(run) => (run.first_ms, run.last_ms),
        }
    }

    /// Visits the readable readings between two times, both included: the index of the station, the
    /// series with its index in the store's table, and a part of its readings.
    pub(super) fn parts(
        self,
        span: (i64, i64),
        mut visit: impl FnMut(usize, (SeriesId, u32), SeriesPart<'_>),
    ) {
        let (mut cursor, mut bump) = (RunCursor::new(self, 0), Bump::new());
        for place in 0..self.stations().len() {
            bump.reset();
            let mut decoder = Decoder::new(&bump);
            for row in cursor.seek_at(place, span, &mut |_| {}) {
                let series = cursor.series(row);
                let found = &mut |part: SeriesPart<'_>| visit(place, series, part);
                cursor.find(row, span, &mut decoder, found, &mut |_| {});
            }
        }
    }

    /// Checks that the readings of each series of each station ascend in time.
    pub(super) fn check_times(self) -> Result<(), String> {
        let (from_ms, to_ms) = self.span();
        let mut last: Option<(usize, SeriesId, i64)> = None;
        let mut wrong = None;
        self.parts((i64::MIN, i64::MAX), |place, (series, _), part| {
            let (first_ms, last_ms) = (part.ts_ms[0], part.ts_ms[part.len() - 1]);
            let is_after = last.is_none_or(|(of, before, before_ms)| {
                (of, before) != (place, series) || before_ms < first_ms
            });
            let ascends = part.ts_ms.is_sorted_by(|a, b| a < b) && is_after;
            if !ascends || first_ms < from_ms || last_ms > to_ms {
                wrong.get_or_insert((place, series));
            }
            last = Some((place, series, last_ms));
        });
        wrong.map_or(Ok(()), |(place, series)| {
            let id = self.stations()[place].0;
            Err(format!("times of series {series} of station {id} are not ascending"))
        })
    }

    /// Returns the rows that are missing because their part of the file is damaged.
    pub(super) fn lost(self) -> &'a [LostRows] {
        match self {
            Self::Rows(run) => &run.lost,
            Self::Packed(run) => &run.lost,
        }
    }
}

/// A run being read, station by station.
pub(super) struct RunCursor<'a> {
    pub run: RunRef<'a>,
    /// The id of its segment; 0 for a run in memory.
    pub segment: i64,
    /// The position of the last station found: ascending ids cost a step or two.
    cursor: usize,
    /// Where the readings of the last row were.
    near: Range<usize>,
    /// The rows of the station, if the run is packed.
    rows: Vec<PackedRow>,
}

impl<'a> RunCursor<'a> {
    pub(super) fn new(run: RunRef<'a>, segment: i64) -> Self {
        Self { run, segment, cursor: 0, near: 0..0, rows: Vec::new() }
    }

    /// Finds the rows of a station that may have readings between two times, both included,
    /// ascending by series. Several rows of one series ascend in time.
    pub(super) fn seek(
        &mut self,
        id: StationId,
        span: (i64, i64),
        lost: &mut dyn FnMut(LostPart),
    ) -> Range<usize> {
        match find_station(self.run.stations(), id, &mut self.cursor) {
            Some(place) => self.seek_at(place, span, lost),
            None => 0..0,
        }
    }

    /// As [`seek`](Self::seek), for a station by its index.
    pub(super) fn seek_at(
        &mut self,
        place: usize,
        span: (i64, i64),
        lost: &mut dyn FnMut(LostPart),
    ) -> Range<usize> {
        match self.run {
            RunRef::Rows(run) => run.rows_at(place),
            RunRef::Packed(run) => {
                run.find_rows(place, span, &mut self.rows, lost);
                0..self.rows.len()
            }
        }
    }

    /// Returns the series of a row, and its index in the store's table.
    #[inline]
    pub(super) fn series(&self, row: usize) -> (SeriesId, u32) {
        match self.run {
            RunRef::Rows(run) => (run.rows[row].series, run.rows[row].slot),
            RunRef::Packed(_) => (self.rows[row].series, self.rows[row].slot),
        }
    }

    /// Visits the readings of a row between two times, both included, in ascending non-empty parts,
    /// and reports those that lie, or may lie, in damaged blocks.
    pub(super) fn find<'s>(
        &mut self,
        row: usize,
        span: (i64, i64),
        decoder: &mut Decoder<'s>,
        found: &mut dyn FnMut(SeriesPart<'s>),
        lost: &mut dyn FnMut(LostPart),
    ) where
        'a: 's,
    {
        self.read(row, span, false, decoder, found, lost);
    }

    /// Visits the last reading of a row in a span, and maybe earlier ones. Damage before it does not
    /// matter.
    fn last<'s>(
        &mut self,
        row: usize,
        span: (i64, i64),
        decoder: &mut Decoder<'s>,
        found: &mut dyn FnMut(SeriesPart<'s>),
        lost: &mut dyn FnMut(LostPart),
    ) where
        'a: 's,
    {
        self.read(row, span, true, decoder, found, lost);
    }

    #[inline]
    fn read<'s>(
        &mut self,
        row: usize,
        span: (i64, i64),
        only_last: bool,
        decoder: &mut Decoder<'s>,
        found: &mut dyn FnMut(SeriesPart<'s>),
        lost: &mut dyn FnMut(LostPart),
    ) where
        'a: 's,
    {
        let near = &mut self.near;
        let part = match self.run {
            RunRef::Rows(run) if only_last => run.whole_last(&run.rows[row], span, near),
            RunRef::Rows(run) => run.whole_part(&run.rows[row], span, near),
            RunRef::Packed(run) if only_last => run.whole_last(&self.rows[row], span, decoder),
            RunRef::Packed(run) => run.whole_part(&self.rows[row], span, decoder),
        };
        match (part, self.run) {
            (Some(part), _) if part.is_empty() => {}
            (Some(part), _) => found(part),
            (None, RunRef::Rows(run)) => run.damaged_parts(&run.rows[row], span, found, lost),
            (None, RunRef::Packed(run)) => {
                run.damaged_parts(&self.rows[row], span, decoder, found, lost);
            }
        }
    }
}

/// A row with readings of a wanted series.
struct WantedRow {
    series: SeriesId,
    /// The place of the series in the table.
    slot: u32,
    /// The age of its run.
    age: usize,
    row: usize,
}

/// Walks through the runs of a view, station by station, and series by series.
pub(super) struct StationWalk<'a> {
    /// Oldest first: the place of a run is its age.
    sources: Vec<RunCursor<'a>>,
    span: (i64, i64),
    /// The wanted rows of the station, by series and age.
    rows: Vec<WantedRow>,
}

impl<'a> StationWalk<'a> {
    pub(super) fn new(sources: Vec<RunCursor<'a>>, window: ClosedWindow) -> Self {
        let span = (window.start_ms(), window.end_ms());
        Self { sources, span, rows: Vec::new() }
    }

    /// Finds the rows of a station.
    fn begin(
        &mut self,
        id: StationId,
        wanted: impl Fn(SeriesId, u32) -> bool,
        damage: &mut Damage,
    ) {
        let Self { sources, span, rows } = self;
        rows.clear();
        for (age, source) in sources.iter_mut().enumerate() {
            let segment = source.segment;
            let found = source.seek(id, *span, &mut |lost| damage.add(segment, lost.block));
            rows.extend(found.filter_map(|row| {
                let (series, slot) = source.series(row);
                wanted(series, slot).then_some(WantedRow { series, slot, age, row })
            }));
        }
        // Stable: the rows of a series stay in the order of age, and of time. Those of a single run
        // are sorted already.
        rows.sort_by_key(|row| row.series);
    }

    /// Visits the wanted series of a station that have readings in the span: their places in the
    /// table, and the parts with the ages of their runs.
    pub(super) fn station<'s>(
        &mut self,
        id: StationId,
        bump: &'s Bump,
        wanted: impl Fn(SeriesId, u32) -> bool,
        damage: &mut Damage,
        mut visit: impl FnMut(u32, &mut [(usize, SeriesPart<'s>)]),
    ) where
        'a: 's,
    {
        self.begin(id, wanted, damage);
        let Self { sources, span, rows } = self;
        let mut decoder = Decoder::new(bump);
        let mut parts = BumpVec::new_in(bump);
        for of_series in rows.chunk_by(|a, b| a.series == b.series) {
            parts.clear();
            for &WantedRow { age, row, .. } in of_series {
                let segment = sources[age].segment;
                sources[age].find(
                    row,
                    *span,
                    &mut decoder,
                    &mut |part| parts.push((age, part)),
                    &mut |lost| damage.add(segment, lost.block),
                );
            }
            if !parts.is_empty() {
                visit(of_series[0].slot, &mut parts);
            }
        }
    }

    /// Visits the wanted series of a station with their last readings in the span.
    pub(super) fn latest<'s>(
        &mut self,
        id: StationId,
        bump: &'s Bump,
        wanted: impl Fn(SeriesId, u32) -> bool,
        damage: &mut Damage,
        mut visit: impl FnMut(u32, &SeriesPart<'s>),
    ) where
        'a: 's,
    {
        self.begin(id, wanted, damage);
        let Self { sources, span, rows } = self;
        let mut decoder = Decoder::new(bump);
        for of_series in rows.chunk_by(|a, b| a.series == b.series) {
            let mut latest = SeriesPart::default();
            for &WantedRow { age, row, .. } in of_series.iter().rev() {
                let (segment, found_ms) = (sources[age].segment, latest.ts_ms.last().copied());
                // Of several runs with the same time, the newest wins.
                if found_ms.is_some_and(|found_ms| sources[age].run.span().1 <= found_ms) {
                    continue;
                }
                sources[age].last(
                    row,
                    *span,
                    &mut decoder,
                    &mut |part| {
                        if part.ts_ms.last() > latest.ts_ms.last() {
                            latest = part;
                        }
                    },
                    &mut |lost| damage.add(segment, lost.block),
                );
            }
            if !latest.is_empty() {
                visit(of_series[0].slot, &latest.range(latest.len() - 1..latest.len()));
            }
        }
    }
}
