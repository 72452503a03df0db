//! The query behind the readings endpoints: a window, a scope and names, as a snapshot or on a
//! grid.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use crate::geo::BBox;
use crate::observation::{Qualifier, Quality, Series, SeriesId, StationId, Variable};
use crate::query::{CARRY_IN_MS, Caps, Coarsening, Pick, Positions, pick_series, plan_time_grid};
use crate::store::{Reader, Selection, SeriesSlice, StoreError};
use crate::time::{ClosedWindow, Step, TimeError};

/// The stations that a query covers.
#[derive(Clone, Debug, PartialEq)]
pub enum Scope {
    /// All stations on record.
    Everywhere,
    /// The stations in a box.
    Box(BBox),
    /// The given stations; unknown stations are left out, repeated stations count once.
    Stations(Vec<StationId>),
}

/// A request for readings.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ReadingsQuery {
    /// The window, both ends included.
    pub window: ClosedWindow,
    /// The stations.
    pub scope: Scope,
    /// The variables, in the order of the answer; a repeated variable counts once.
    pub names: Vec<Variable>,
    /// The spacing of a grid; `None` asks for a snapshot.
    pub step: Option<Step>,
    /// Maximum age of a reading: in a grid at the cell's position, in a snapshot at the end of the
    /// window.
    pub max_age_ms: Option<i64>,
}

impl ReadingsQuery {
    /// A query for a snapshot: the latest readings of all stations within a window.
    ///
    /// ```
    /// use mesonet::query::{ReadingsQuery, Scope};
    /// use mesonet::{ClosedWindow, Step, Variable};
    /// let day = ClosedWindow::new(0, 86_400_000)?;
    /// let hourly = ReadingsQuery::new(day, [Variable::Mslp])
    ///     .scope(Scope::Stations(Vec::new()))
    ///     .step(Step::from_minutes(60)?)
    ///     .max_age_ms(5_400_000);
    /// assert_eq!((hourly.names.len(), hourly.max_age_ms), (1, Some(5_400_000)));
    /// # Ok::<(), mesonet::time::TimeError>(())
    /// ```
    pub fn new(window: ClosedWindow, names: impl Into<Vec<Variable>>) -> Self {
        let names = names.into();
        Self { window, scope: Scope::Everywhere, names, step: None, max_age_ms: None }
    }

    /// Sets the stations.
    #[must_use]
    pub fn scope(self, scope: Scope) -> Self {
        Self { scope, ..self }
    }

    /// Sets the spacing of a grid; `None` asks for a snapshot.
    #[must_use]
    pub fn step(self, step: impl Into<Option<Step>>) -> Self {
        Self { step: step.into(), ..self }
    }

    /// Sets the maximum age of a reading.
    #[must_use]
    pub fn max_age_ms(self, max_age_ms: impl Into<Option<i64>>) -> Self {
        Self { max_age_ms: max_age_ms.into(), ..self }
    }

    /// A query for the latest readings of all stations as of an instant, milliseconds since 1970,
    /// that are at most `max_age_ms` old.
    ///
    /// # Errors
    /// The age is negative, or reaches beyond the range of times.
    ///
    /// ```
    /// use mesonet::Variable;
    /// use mesonet::query::{ReadingsQuery, Scope};
    /// let query = ReadingsQuery::latest(vec![Variable::AirTemperature], 7_200_000, 3_600_000)?;
    /// assert_eq!((query.window.start_ms(), query.window.end_ms()), (3_600_000, 7_200_000));
    /// assert_eq!((query.scope, query.step), (Scope::Everywhere, None));
    /// assert!(ReadingsQuery::latest(Vec::new(), 7_200_000, -1).is_err());
    /// # Ok::<(), mesonet::time::TimeError>(())
    /// ```
    pub fn latest(names: Vec<Variable>, at_ms: i64, max_age_ms: i64) -> Result<Self, TimeError> {
        Ok(Self::new(ClosedWindow::new(at_ms.saturating_sub(max_age_ms), at_ms)?, names))
    }
}

/// A reading in an answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AnswerReading {
    /// Time of the reading, milliseconds since 1970.
    pub ts_ms: i64,
    /// The value, in the series' unit.
    pub value: f64,
    /// Index of the series in [`Readings::series`].
    pub series: u32,
    /// Whole seconds from the reading to the cell's position; 0 in a snapshot.
    pub age_s: u32,
    /// The verdict.
    pub quality: Quality,
    /// The qualifier of the value.
    pub qualifier: Option<Qualifier>,
}

/// The answer to a [`ReadingsQuery`]: the cells of all stations in one array.
///
/// Cells of a station are sorted by position (in a snapshot by time), then in the order of the
/// requested names, then by series id.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Readings {
    /// The stations with readings, sorted by id, each with the end of its cells.
    pub stations: Vec<(StationId, usize)>,
    /// The cells, station by station.
    pub cells: Vec<AnswerReading>,
    /// The series that the cells point to.
    pub series: Vec<Arc<Series>>,
    /// Present for a grid: the step that was used.
    pub step: Option<Step>,
    /// Present for a grid that is coarser than requested.
    pub coarsening: Option<Coarsening>,
}

impl Readings {
    /// Returns the stations, each with its cells.
    pub fn by_station(&self) -> impl Iterator<Item = (StationId, &[AnswerReading])> {
        let mut start = 0;
        self.stations.iter().map(move |&(id, end)| {
            let cells = &self.cells[start..end];
            start = end;
            (id, cells)
        })
    }

    /// Returns the cells of a variable at a station, by ascending time; none if there are none.
    ///
    /// ```
    /// use mesonet::{ClosedWindow, MemoryStore, StationId, Variable, query};
    /// let query = query::ReadingsQuery::new(ClosedWindow::new(0, 1)?, [Variable::Mslp]);
    /// let answer = query::readings(&MemoryStore::default(), &query, query::Caps::default())?;
    /// assert_eq!(answer.get(StationId::new("METAR", "CYYZ"), Variable::Mslp).count(), 0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn get(
        &self,
        station: StationId,
        variable: Variable,
    ) -> impl Iterator<Item = &AnswerReading> {
        let at = self.stations.binary_search_by_key(&station, |&(id, _)| id).ok();
        let cells = at.map_or(&[][..], |at| {
            let start = at.checked_sub(1).map_or(0, |before| self.stations[before].1);
            &self.cells[start..self.stations[at].1]
        });
        let is_of =
            move |cell: &&AnswerReading| self.series[cell.series as usize].key.variable == variable;
        cells.iter().filter(is_of)
    }
}

/// Answers a request for readings.
///
/// In a grid, a reading from up to [`CARRY_IN_MS`] before the start fills the first cells; but a
/// station that reported only before the start is not in the answer.
///
/// # Errors
/// The store cannot be read.
///
/// ```
/// # use mesonet::{Intake, MemoryStore, intake::FeedFile};
/// # let csv = "raw_text,station_id,observation_time,latitude,longitude\n\
/// #     CYYZ 032000Z 24012KT 15SM 29/17 A2991,CYYZ,2024-08-03T20:00:00Z,43.68,-79.63\n\
/// #     CYYZ 040900Z 24006KT 15SM 19/17 A2993,CYYZ,2024-08-04T09:00:00Z,43.68,-79.63\n";
/// # let store = MemoryStore::default();
/// # Intake::default().read_file(&store, csv.as_bytes(), &FeedFile::new("metars.csv", 0))?;
/// // Toronto Pearson reported 29 °C at 20:00 and, after a gap, 19 °C at 09:00.
/// use mesonet::query::{self, CARRY_IN_MS, AnswerReading, ReadingsQuery};
/// use mesonet::{ClosedWindow, Step, StationId, Variable, time::{HOUR_MS, parse_instant}};
/// let start_ms = parse_instant("2024-08-03T20:00:00Z")? + CARRY_IN_MS;
/// let window = ClosedWindow::new(start_ms, start_ms + HOUR_MS)?;
/// let hourly =
///     ReadingsQuery::new(window, [Variable::AirTemperature]).step(Step::from_minutes(60)?);
/// let grid = query::readings(&store, &hourly, query::Caps::default())?;
/// let cells: &[AnswerReading] = &grid.cells;
/// assert_eq!((cells[0].value, cells[0].age_s), (29.0, 12 * 3600));
/// assert_eq!((cells[1].value, cells[1].age_s), (19.0, 0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn readings(
    store: &dyn Reader,
    query: &ReadingsQuery,
    caps: Caps,
) -> Result<Readings, StoreError> {
    let stations = stations_of(store, &query.scope)?;
    let names = Names::new(&query.names);
    match query.step {
        Some(step) => grid(store, query, step, &stations, &names, caps),
        None => snapshot(store, query, &stations, &names),
    }
}

/// The distinct requested names, with the index of each variable among them.
pub(super) struct Names {
    list: Vec<Variable>,
    place: [usize; Variable::ALL.len()],
}

impl Names {
    pub(super) fn new(asked: &[Variable]) -> Self {
        let mut names = Self { list: Vec::new(), place: [usize::MAX; Variable::ALL.len()] };
        for &name in asked {
            if names.place(name) == usize::MAX {
                names.place[name as usize] = names.list.len();
                names.list.push(name);
            }
        }
        names
    }

    pub(super) fn place(&self, name: Variable) -> usize {
        self.place[name as usize]
    }
}

pub(super) fn stations_of(store: &dyn Reader, scope: &Scope) -> Result<Vec<StationId>, StoreError> {
    let directory = store.directory()?;
    let mut stations: Vec<StationId> = match scope {
        Scope::Everywhere => directory.stations.iter().map(|record| record.station.id).collect(),
        Scope::Box(bbox) => {
            directory.index.in_box(*bbox).map(|at| directory.stations[at].station.id).collect()
        }
        Scope::Stations(ids) => ids.clone(),
    };
    stations.sort_unstable();
    stations.dedup();
    Ok(stations)
}

/// Collects the latest reading of each series in the window.
fn snapshot(
    store: &dyn Reader,
    query: &ReadingsQuery,
    stations: &[StationId],
    names: &Names,
) -> Result<Readings, StoreError> {
    let mut answer = Answer::default();
    let oldest_ms =
        query.max_age_ms.map_or(i64::MIN, |age| query.window.end_ms().saturating_sub(age));
    let selection = Selection { stations, variables: &names.list, window: query.window };
    store.scan_latest(&selection, &mut |i, slices| {
        let start = answer.readings.cells.len();
        for slice in slices {
            if slice.ts_ms[0] >= oldest_ms {
                let series = answer.series_index(slice.series);
                answer.readings.cells.push(cell(slice, 0, series, 0));
            }
        }
        let Readings { cells, series, .. } = &mut answer.readings;
        cells[start..].sort_unstable_by_key(|cell| {
            let series = &series[cell.series as usize];
            (cell.ts_ms, names.place(series.key.variable), series.id)
        });
        answer.end_station(stations[i]);
    })?;
    Ok(answer.readings)
}

/// Collects one reading per variable at each position.
fn grid(
    store: &dyn Reader,
    query: &ReadingsQuery,
    step: Step,
    stations: &[StationId],
    names: &Names,
    caps: Caps,
) -> Result<Readings, StoreError> {
    let window = query.window;
    let variables = &*names.list;
    let mut plan = plan_time_grid(window, step, stations.len(), variables.len(), caps);
    if plan.coarsening.is_some() {
        // Only stations in the answer count towards the cap.
        let mut reporting = 0;
        store.scan(&Selection { stations, variables, window }, &mut |_, _| reporting += 1)?;
        plan = plan_time_grid(window, step, reporting, variables.len(), caps);
    }
    let mut answer = Answer::default();
    let room = stations.len() as u64 * variables.len() as u64 * plan.positions.len();
    answer.readings.cells.reserve(room.min(caps.cells) as usize);
    answer.readings.step = Some(plan.step);
    answer.readings.coarsening = plan.coarsening;
    let mut station = StationGrid::new(plan.positions, names, query.max_age_ms);
    let selection = Selection { stations, variables, window: window.widened(CARRY_IN_MS) };
    store.scan(&selection, &mut |i, slices| {
        // A station that reported only before the start is not in the answer.
        let newest_ms = slices.iter().filter_map(|slice| slice.ts_ms.last()).max();
        if newest_ms.is_some_and(|&newest_ms| newest_ms >= window.start_ms()) {
            station.fill(slices, &mut answer);
            answer.end_station(stations[i]);
        }
    })?;
    Ok(answer.readings)
}

/// Fills the cells of one station after another, reusing its buffers.
struct StationGrid<'a> {
    names: &'a Names,
    positions: Positions,
    max_age_ms: Option<i64>,
    order: SliceOrder,
    /// Ordered by name, then by position.
    picks: Vec<Pick>,
    scratch: Vec<u32>,
}

/// The order in which the slices of a station are candidates. It depends only on their series, and
/// most stations have the same series.
#[derive(Default)]
struct SliceOrder {
    /// The series of each slice.
    ids: Vec<SeriesId>,
    /// Indices of slices: by name, then by preference. Each slice of a series is a candidate of its
    /// own; later slices come first, so an earlier slice fills only the positions before them.
    order: Vec<usize>,
    /// The series of the answer, in this order.
    series: Vec<u32>,
    /// The range of each name in this order.
    of_names: Vec<Range<usize>>,
}

impl SliceOrder {
    fn update(&mut self, slices: &[SeriesSlice<'_>], names: &Names, answer: &mut Answer) {
        let ids = || slices.iter().map(|slice| slice.series.id);
        if ids().eq(self.ids.iter().copied()) {
            return;
        }
        let Self { ids: known, order, series, of_names } = self;
        let name_of = |&at: &usize| names.place(slices[at].series.key.variable);
        known.clear();
        known.extend(ids());
        order.clear();
        order.extend(0..slices.len());
        order.sort_unstable_by_key(|at| (name_of(at), slices[*at].series.preference, Reverse(*at)));
        series.clear();
        series.extend(order.iter().map(|&at| answer.series_index(slices[at].series)));
        of_names.clear();
        let mut first = 0;
        for name in 0..names.list.len() {
            let own = order[first..].partition_point(|at| name_of(at) == name);
            of_names.push(first..first + own);
            first += own;
        }
    }
}

impl<'a> StationGrid<'a> {
    fn new(positions: Positions, names: &'a Names, max_age_ms: Option<i64>) -> Self {
        let count = positions.len() as usize;
        let picks = vec![Pick::EMPTY; count * names.list.len()];
        let (order, scratch) = (SliceOrder::default(), vec![0; count]);
        Self { names, positions, max_age_ms, order, picks, scratch }
    }

    fn fill(&mut self, slices: &[SeriesSlice<'_>], answer: &mut Answer) {
        let Self { names, positions, max_age_ms, order, picks, scratch } = self;
        order.update(slices, names, answer);
        let SliceOrder { order, series, of_names, .. } = order;
        let candidates: Vec<&[i64]> = order.iter().map(|&at| slices[at].ts_ms).collect();

        let count = scratch.len();
        let mut before: &[&[i64]] = &[];
        for (name, own) in of_names.iter().enumerate() {
            let own = &candidates[own.clone()];
            let from = name * count;
            if name > 0 && own == before {
                // The series of a station mostly have the same times.
                picks.copy_within(from - count..from, from);
            } else {
                let picks = &mut picks[from..from + count];
                pick_series(own, *positions, *max_age_ms, picks, scratch)
                    .expect("the buffers were made for these positions");
            }
            before = own;
        }

        for (position, at_ms) in positions.iter().enumerate() {
            for (name, own) in of_names.iter().enumerate() {
                let pick = picks[name * count + position];
                if !pick.is_empty() {
                    let at = own.start + pick.series as usize;
                    let slice = &slices[order[at]];
                    let cell = cell(slice, pick.reading as usize, series[at], at_ms);
                    answer.readings.cells.push(cell);
                }
            }
        }
    }
}

fn cell(slice: &SeriesSlice<'_>, reading: usize, series: u32, at_ms: i64) -> AnswerReading {
    let ts_ms = slice.ts_ms[reading];
    let age_s = u32::try_from((at_ms - ts_ms) / 1000).unwrap_or(0);
    let (value, quality) = (slice.value[reading], slice.quality[reading].quality());
    let qualifier = Qualifier::of_code(slice.qualifier[reading]);
    AnswerReading { ts_ms, value, series, age_s, quality, qualifier }
}

/// An answer being built.
#[derive(Default)]
struct Answer {
    readings: Readings,
    series: HashMap<SeriesId, u32>,
    /// The series after the last one.
    next: u32,
}

impl Answer {
    fn series_index(&mut self, series: &Arc<Series>) -> u32 {
        // Stations mostly have the same series in the same order.
        let next = self.next as usize;
        if self.readings.series.get(next).is_some_and(|of| of.id == series.id) {
            self.next += 1;
            return next as u32;
        }
        let index = *self.series.entry(series.id).or_insert_with(|| {
            self.readings.series.push(Arc::clone(series));
            (self.readings.series.len() - 1) as u32
        });
        self.next = index + 1;
        index
    }

    /// Ends a station; a station without cells is left out.
    fn end_station(&mut self, id: StationId) {
        let Readings { stations, cells, .. } = &mut self.readings;
        if stations.last().map_or(0, |&(_, end)| end) < cells.len() {
            stations.push((id, cells.len()));
        }
        self.next = 0;
    }
}

#[cfg(test)]
#[path = "readings_tests.rs"]
mod tests;
