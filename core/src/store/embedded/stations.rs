//! The stations of a store: the mutable state in memory.

use std::collections::HashMap;
use std::sync::Arc;

use super::codec::{ByteWriter, Bytes, Wrong};
use super::report_texts::TEXTS;
use super::run::SortedRun;
use super::series_table::SeriesList;
use super::station_codec::{Weather, put_state, put_station, take_state, take_station};
use super::weather_table::WEATHER;
use crate::geo::StationIndex;
use crate::observation::{Batch, Report, SeriesId, Station, StationId};
use crate::store::{
    Directory, StationNames, StationRecord, StationRecords, StationSeries, described,
};

/// One station.
#[derive(Clone, Debug)]
pub(super) struct StationState {
    /// Shared with directories handed out: a change copies it.
    pub record: Arc<StationRecord>,
    /// Time and revision of the report that the weather in the record is from.
    pub weather_of: (i64, u8),
    /// Time of the newest reading of each series, parallel to `record.series`: a later reading is
    /// new, without a lookup in the runs.
    newest_ms: Vec<i64>,
    /// Whether the database has an older state of the station than the journal.
    unsealed: bool,
}

/// All stations, and how to undo a batch that fails.
#[derive(Debug, Default)]
pub(super) struct Stations {
    places: HashMap<StationId, u32>,
    states: Vec<StationState>,
    /// Places, sorted by id.
    order: Vec<u32>,
    /// The inverse: the rank of each place.
    ranks: Vec<u32>,
    /// The records by rank as a directory has them, and the places whose records may have changed
    /// since. There are none if the order has changed.
    records: StationRecords,
    changed: Vec<u32>,
    index: Arc<StationIndex>,
    pub generation: u64,
    pub places_generation: u64,
    undo: Undo,
}

#[derive(Debug, Default)]
struct Undo {
    states: Vec<(u32, StationState)>,
    touched: Vec<bool>,
    count: usize,
    generation: u64,
    places_generation: u64,
    index: Arc<StationIndex>,
}

/// The changes of a batch to one station apart from its readings, as stored in the journal. The
/// description is the one after the batch.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Delta {
    description: Option<Station>,
    update_time_ms: Option<i64>,
    weather: Option<Weather>,
}

impl Delta {
    /// Whether the delta describes the station, which puts the station on record.
    pub(super) fn describes(&self) -> bool {
        self.description.is_some()
    }
}

impl StationState {
    /// Returns an upper bound of the times of a series; `None` if there is no reading. Present
    /// weather and texts are always looked up.
    pub(super) fn newest_ms(&self, series: SeriesId) -> Option<i64> {
        if series == WEATHER || series == TEXTS {
            return Some(i64::MAX);
        }
        let at = self.record.series.binary_search_by_key(&series, |known| known.series.id).ok()?;
        Some(self.newest_ms[at])
    }
}

impl Stations {
    pub(super) fn len(&self) -> usize {
        self.states.len()
    }

    pub(super) fn place(&self, id: StationId) -> Option<u32> {
        self.places.get(&id).copied()
    }

    pub(super) fn state(&self, place: u32) -> &StationState {
        &self.states[place as usize]
    }

    /// Returns the rank of a station by id.
    pub(super) fn rank(&self, place: u32) -> u32 {
        self.ranks[place as usize]
    }

    pub(super) fn place_of_rank(&self, rank: u32) -> u32 {
        self.order[rank as usize]
    }

    /// Begins changes that can be rolled back.
    pub(super) fn begin(&mut self) {
        self.undo = Undo {
            states: Vec::new(),
            touched: vec![false; self.states.len()],
            count: self.states.len(),
            generation: self.generation,
            places_generation: self.places_generation,
            index: Arc::clone(&self.index),
        };
    }

    /// Undoes the changes since [`begin`](Self::begin).
    pub(super) fn roll_back(&mut self) {
        let undo = std::mem::take(&mut self.undo);
        for (place, state) in undo.states {
            self.states[place as usize] = state;
            self.changed.push(place);
        }
        for state in self.states.drain(undo.count..) {
            self.places.remove(&state.record.station.id);
        }
        (self.generation, self.places_generation) = (undo.generation, undo.places_generation);
        self.index = undo.index;
        self.sort();
        self.begin();
    }

    fn touch(&mut self, place: u32) -> &mut StationState {
        if let Some(touched) = self.undo.touched.get_mut(place as usize)
            && !std::mem::replace(touched, true)
        {
            self.undo.states.push((place, self.states[place as usize].clone()));
        }
        if !self.records.is_empty() {
            self.changed.push(place);
        }
        let state = &mut self.states[place as usize];
        state.unsealed = true;
        state
    }

    /// Describes a station. Returns whether that changed anything.
    fn describe(&mut self, station: &Station) -> bool {
        let record = self.place(station.id).map(|place| &self.state(place).record);
        let station = record.map_or_else(
            || station.clone(),
            |known| known.station.described_as(station, known.update_time_ms),
        );
        self.put(station)
    }

    /// Takes over a station unchanged. Returns whether that changed anything on record.
    pub(super) fn put(&mut self, station: Station) -> bool {
        let Some(place) = self.place(station.id) else {
            self.places.insert(station.id, self.states.len() as u32);
            self.states.push(StationState {
                record: Arc::new(StationRecord {
                    station,
                    update_time_ms: None,
                    present_weather: None,
                    series: Vec::new(),
                }),
                weather_of: (i64::MIN, 0),
                newest_ms: Vec::new(),
                unsealed: true,
            });
            self.places_generation += 1;
            return true;
        };
        if self.state(place).record.station == station {
            return false;
        }
        let known = &mut self.touch(place).record;
        let moved = known.station.coordinates != station.coordinates;
        Arc::make_mut(known).station = station;
        self.places_generation += u64::from(moved);
        true
    }

    /// Applies what a batch says about its stations. Returns the changes of each, sorted by id.
    pub(super) fn take_in(&mut self, batch: &Batch) -> Vec<(StationId, Delta)> {
        let mut deltas: HashMap<StationId, Delta> = HashMap::new();
        for station in described(batch) {
            if self.describe(station)
                && let Some(place) = self.place(station.id)
            {
                let now = self.state(place).record.station.clone();
                deltas.entry(station.id).or_default().description = Some(now);
            }
        }
        for report in &batch.reports {
            let delta = deltas.entry(report.station).or_default();
            delta.update_time_ms = delta.update_time_ms.max(Some(report.ts_ms));
            self.take_weather(report, delta);
        }
        let mut deltas: Vec<_> = deltas
            .into_iter()
            .map(|(id, delta)| (id, self.news(id, delta)))
            .filter(|(_, delta)| *delta != Delta::default())
            .collect();
        deltas.sort_unstable_by_key(|&(id, _)| id);
        for (id, delta) in &deltas {
            self.apply(*id, delta);
        }
        self.settle();
        deltas
    }

    /// Returns the part of a delta that is not on record.
    fn news(&self, id: StationId, delta: Delta) -> Delta {
        let Some(place) = self.place(id) else { return delta };
        let state = self.state(place);
        let is_known = |weather: &Weather| {
            state.weather_of == (weather.0, weather.1)
                && state.record.present_weather.as_ref() == Some(&weather.2)
        };
        Delta {
            description: delta.description,
            update_time_ms: delta
                .update_time_ms
                .filter(|_| delta.update_time_ms > state.record.update_time_ms),
            weather: delta.weather.filter(|weather| !is_known(weather)),
        }
    }

    fn take_weather(&self, report: &Report, delta: &mut Delta) {
        let Some(weather) = &report.present_weather else { return };
        let known = self.place(report.station).map(|place| self.state(place).weather_of);
        let of = delta.weather.as_ref().map(|weather| (weather.0, weather.1)).or(known);
        if of.is_none_or(|of| (report.ts_ms, report.revision) >= of) {
            delta.weather = Some((report.ts_ms, report.revision, weather.clone()));
        }
    }

    /// Applies a delta from the journal or a batch. A delta without a description for an unknown
    /// station is ignored.
    pub(super) fn apply(&mut self, id: StationId, delta: &Delta) {
        if let Some(station) = &delta.description {
            let mut station = station.clone();
            // Before version 6 a description could have fewer ids than the station.
            if let Some(place) = self.place(id) {
                station.identifiers.add_all(&self.state(place).record.station.identifiers);
            }
            self.put(station);
        }
        let Some(place) = self.place(id) else { return };
        let state = self.touch(place);
        let record = Arc::make_mut(&mut state.record);
        record.update_time_ms = record.update_time_ms.max(delta.update_time_ms);
        if let Some((ts_ms, revision, weather)) = &delta.weather {
            record.present_weather = Some(weather.clone());
            state.weather_of = (*ts_ms, *revision);
        }
    }

    /// Records which series the stations of a run have, and their first and last times.
    pub(super) fn note(&mut self, run: &SortedRun, series: &SeriesList) {
        for place in 0..run.stations.len() {
            let Some(at) = self.place(run.stations[place].0) else { continue };
            let state = self.touch(at);
            for row in &run.rows[run.rows_at(place)] {
                let (&[first_ms, .., last_ms] | &[first_ms @ last_ms]) = run.times(row) else {
                    continue;
                };
                state.note(series, row.slot, first_ms, last_ms);
            }
        }
    }

    /// Records that a station had a series at a time, though its readings may be gone. Returns
    /// whether that is new.
    pub(super) fn appear(
        &mut self,
        place: u32,
        table: &SeriesList,
        slot: u32,
        first_ms: i64,
    ) -> bool {
        let Some(series) = table.list.get(slot as usize) else { return false };
        let known = &self.state(place).record.series;
        let at = known.binary_search_by_key(&series.id, |known| known.series.id);
        if at.is_ok_and(|at| known[at].first_appearance_ms <= first_ms) {
            return false;
        }
        self.touch(place).note(table, slot, first_ms, first_ms);
        true
    }

    /// Returns the stations, sorted by id.
    pub(super) fn sorted(&self) -> impl Iterator<Item = &StationState> {
        self.order.iter().map(|&place| self.state(place))
    }

    /// Updates the order and the index after stations were added or moved.
    pub(super) fn settle(&mut self) {
        if self.order.len() != self.states.len() {
            self.sort();
        }
        if self.places_generation != self.undo.places_generation {
            self.index_places();
        }
    }

    fn sort(&mut self) {
        self.records = StationRecords::default();
        self.order = (0..self.states.len() as u32).collect();
        let states = &self.states;
        self.order.sort_unstable_by_key(|&place| states[place as usize].record.station.id);
        self.ranks = vec![0; self.order.len()];
        for (rank, &place) in self.order.iter().enumerate() {
            self.ranks[place as usize] = rank as u32;
        }
    }

    fn index_places(&mut self) {
        let places = self.order.iter().map(|&place| self.state(place).record.station.coordinates);
        self.index = Arc::new(StationIndex::new(places));
    }

    /// Returns the stations as they are now. It takes as long as there are changed stations since
    /// the last one, unless there are new stations.
    pub(super) fn directory(&mut self) -> Directory {
        let mut changed = std::mem::take(&mut self.changed);
        if self.records.is_empty() {
            let records = self.order.iter().map(|&place| Arc::clone(&self.state(place).record));
            self.records = records.collect();
        } else {
            // A station is changed by each of its series.
            changed.sort_unstable();
            changed.dedup();
            for place in changed {
                let rank = self.ranks[place as usize] as usize;
                self.records.set(rank, &self.states[place as usize].record);
            }
        }
        Directory {
            generation: self.generation,
            places_generation: self.places_generation,
            stations: self.records.clone(),
            index: Arc::clone(&self.index),
            names: StationNames::default(),
        }
    }

    /// Returns all stations, in no particular order.
    pub(super) fn all(&self) -> &[StationState] {
        &self.states
    }

    /// Returns the stations whose state is newer than in the database.
    pub(super) fn unsealed(&self) -> impl Iterator<Item = &StationState> {
        self.states.iter().filter(|state| state.unsealed)
    }

    pub(super) fn all_sealed(&mut self) {
        for state in &mut self.states {
            state.unsealed = false;
        }
    }

    /// Adds a station from the database.
    pub(super) fn load(&mut self, state: StationState) {
        self.places.insert(state.record.station.id, self.states.len() as u32);
        self.states.push(state);
    }

    /// Ends the opening of a store: its state now matches its files.
    pub(super) fn opened(&mut self) {
        self.sort();
        self.index_places();
        self.begin();
    }
}

impl StationState {
    /// Records that there are readings of a series between two times.
    pub(super) fn note(&mut self, table: &SeriesList, slot: u32, first_ms: i64, last_ms: i64) {
        // Present weather is not a series of a station.
        let Some(series) = table.list.get(slot as usize) else { return };
        let known = &self.record.series;
        let at = known.partition_point(|known| known.series.id < series.id);
        if let Some(known) = known.get(at).filter(|known| known.series.id == series.id) {
            if known.first_appearance_ms > first_ms {
                Arc::make_mut(&mut self.record).series[at].first_appearance_ms = first_ms;
            }
            self.newest_ms[at] = self.newest_ms[at].max(last_ms);
        } else {
            let series = Arc::clone(series);
            let fresh = StationSeries { series, first_appearance_ms: first_ms };
            Arc::make_mut(&mut self.record).series.insert(at, fresh);
            self.newest_ms.insert(at, last_ms);
        }
    }

    /// Returns a station without known series.
    pub(super) fn described(
        station: Station,
        update_time_ms: Option<i64>,
        weather: Option<Weather>,
    ) -> Self {
        let weather_of = weather.as_ref().map_or((i64::MIN, 0), |weather| (weather.0, weather.1));
        let present_weather = weather.map(|weather| weather.2);
        let series = Vec::new();
        let record = Arc::new(StationRecord { station, update_time_ms, present_weather, series });
        Self { record, weather_of, newest_ms: Vec::new(), unsealed: false }
    }

    pub(super) fn weather(&self) -> Option<Weather> {
        let (ts_ms, revision) = self.weather_of;
        self.record.present_weather.clone().map(|weather| (ts_ms, revision, weather))
    }

    pub(super) fn encode(&self) -> Vec<u8> {
        let mut out = ByteWriter::default();
        put_station(&self.record.station, &mut out);
        put_state(self.record.update_time_ms, self.weather().as_ref(), &mut out);
        out.u32(self.record.series.len() as u32);
        for (known, &newest_ms) in self.record.series.iter().zip(&self.newest_ms) {
            out.u32(known.series.id.0 as u32);
            out.i64(known.first_appearance_ms);
            out.i64(newest_ms);
        }
        out.close()
    }

    pub(super) fn decode(bytes: &[u8], table: &SeriesList) -> Result<Self, Wrong> {
        let mut bytes = Bytes::open(bytes)?;
        let station = take_station(&mut bytes)?;
        let (update_time_ms, weather) = take_state(&mut bytes)?;
        let count = bytes.count(20)?;
        let mut series: Vec<StationSeries> = Vec::with_capacity(count);
        let mut newest_ms = Vec::with_capacity(count);
        for _ in 0..count {
            let id = SeriesId(bytes.u32()? as i32);
            let slot = table.slot(id).ok_or_else(|| format!("unknown series {id}"))?;
            if series.last().is_some_and(|last| last.series.id >= id) {
                return Err(format!("series {id} is out of order"));
            }
            let series_of = Arc::clone(&table.list[slot as usize]);
            series.push(StationSeries { series: series_of, first_appearance_ms: bytes.i64()? });
            newest_ms.push(bytes.i64()?);
        }
        let weather_of = weather.as_ref().map_or((i64::MIN, 0), |weather| (weather.0, weather.1));
        let present_weather = weather.map(|weather| weather.2);
        let record = Arc::new(StationRecord { station, update_time_ms, present_weather, series });
        Ok(Self { record, weather_of, newest_ms, unsealed: false })
    }
}

/// Writes the station deltas of a batch.
pub(super) fn put_deltas(deltas: &[(StationId, Delta)], out: &mut ByteWriter) {
    out.u32(deltas.len() as u32);
    for (id, delta) in deltas {
        out.id(*id);
        out.u8(u8::from(delta.description.is_some()));
        if let Some(station) = &delta.description {
            put_station(station, out);
        }
        put_state(delta.update_time_ms, delta.weather.as_ref(), out);
    }
}

pub(super) fn take_deltas(bytes: &mut Bytes<'_>) -> Result<Vec<(StationId, Delta)>, Wrong> {
    let count = bytes.count(18)?;
    let mut deltas = Vec::with_capacity(count);
    for _ in 0..count {
        let id = bytes.id()?;
        let described = bytes.u8()? != 0;
        let description = if described { Some(take_station(bytes)?) } else { None };
        let (update_time_ms, weather) = take_state(bytes)?;
        deltas.push((id, Delta { description, update_time_ms, weather }));
    }
    Ok(deltas)
}
