//! What the writer knows without asking: the stations, the series, and which batches count.

use std::collections::{BTreeMap, HashMap};
use std::ops::RangeInclusive;
use std::sync::Arc;

use mesonet::geo::StationIndex;
use mesonet::observation::Station;
use mesonet::store::{Directory, StationNames, StationRecord, StationRecords, StationSeries};
use mesonet::{Batch, Report, Series, StationId, Variable};

use crate::recent::Recent;
use crate::series::KnownSeries;

/// One station.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct StationState {
    /// Shared with directories handed out: a change copies it.
    pub record: Arc<StationRecord>,
    /// Time and revision of the report that the weather in the record is from.
    pub weather_of: (i64, u8),
    /// Time of the newest reading of each series, parallel to `record.series`.
    pub newest_ms: Vec<i64>,
    /// How many readings of each series have come in, also parallel; a corrected reading counts
    /// once.
    pub readings: Vec<u64>,
}

impl StationState {
    fn new(station: Station) -> Self {
        let record = StationRecord {
            station,
            update_time_ms: None,
            present_weather: None,
            series: Vec::new(),
        };
        Self {
            record: Arc::new(record),
            weather_of: (i64::MIN, 0),
            newest_ms: Vec::new(),
            readings: Vec::new(),
        }
    }

    /// Time of the newest reading of a series; a later reading is new.
    pub(crate) fn newest_ms(&self, series: &Series) -> Option<i64> {
        let known = &self.record.series;
        let at = known.binary_search_by_key(&series.id, |known| known.series.id).ok()?;
        Some(self.newest_ms[at])
    }

    /// Notes when a series first appeared, though its readings may be gone.
    pub(crate) fn appear(&mut self, series: &Arc<Series>, first_ms: i64) {
        let known = &self.record.series;
        let at = known.partition_point(|known| known.series.id < series.id);
        if let Some(known) = known.get(at).filter(|known| known.series.id == series.id) {
            if known.first_appearance_ms > first_ms {
                Arc::make_mut(&mut self.record).series[at].first_appearance_ms = first_ms;
            }
        } else {
            let fresh = StationSeries { series: Arc::clone(series), first_appearance_ms: first_ms };
            Arc::make_mut(&mut self.record).series.insert(at, fresh);
            self.newest_ms.insert(at, first_ms);
            self.readings.insert(at, 0);
        }
    }

    /// Counts a reading, or a correction.
    pub(crate) fn note(&mut self, series: &Arc<Series>, ts_ms: i64, is_new: bool) {
        let known = &self.record.series;
        let at = known.partition_point(|known| known.series.id < series.id);
        if let Some(known) = known.get(at).filter(|known| known.series.id == series.id) {
            if known.first_appearance_ms > ts_ms {
                Arc::make_mut(&mut self.record).series[at].first_appearance_ms = ts_ms;
            }
            self.newest_ms[at] = self.newest_ms[at].max(ts_ms);
            self.readings[at] += u64::from(is_new);
        } else {
            let fresh = StationSeries { series: Arc::clone(series), first_appearance_ms: ts_ms };
            Arc::make_mut(&mut self.record).series.insert(at, fresh);
            self.newest_ms.insert(at, ts_ms);
            self.readings.insert(at, 1);
        }
    }

    /// Estimates how many readings of some variables lie between two times, and in how many series,
    /// as if readings came equally often at all times. Both are 0 only if there are certainly none.
    pub(crate) fn expected(
        &self,
        variables: &[Variable],
        times: &RangeInclusive<i64>,
    ) -> (u64, u64) {
        let (mut readings, mut series) = (0, 0);
        for (at, known) in self.record.series.iter().enumerate() {
            let (first_ms, newest_ms) = (known.first_appearance_ms, self.newest_ms[at]);
            let (from_ms, to_ms) = (first_ms.max(*times.start()), newest_ms.min(*times.end()));
            if from_ms > to_ms || !variables.contains(&known.series.key.variable) {
                continue;
            }
            let share = (to_ms - from_ms) as f64 / (newest_ms - first_ms).max(1) as f64;
            readings += (self.readings[at] as f64 * share) as u64 + 1;
            series += 1;
        }
        (readings, series)
    }
}

/// Which rows count: the rows of batches up to a given one, except batches that were never
/// committed.
#[derive(Clone, Debug)]
pub(crate) struct Visible {
    pub up_to: u64,
    /// Begins with 0, which no batch has as its number, so that the list is never empty.
    pub uncommitted: Arc<[u64]>,
    /// Readings before this instant do not count either.
    pub retain_from_ms: i64,
}

/// The state of the record after a batch.
#[derive(Clone, Debug)]
pub(crate) struct KnownRecord {
    pub visible: Visible,
    pub generation: u64,
    pub places_generation: u64,
    pub stations: Arc<BTreeMap<StationId, Arc<StationState>>>,
    pub series: Arc<KnownSeries>,
    pub directory: Arc<Directory>,
    pub recent: Recent,
}

impl KnownRecord {
    pub(crate) fn station(&mut self, id: StationId) -> Option<&mut StationState> {
        if !self.stations.contains_key(&id) {
            return None;
        }
        Arc::make_mut(&mut self.stations).get_mut(&id).map(Arc::make_mut)
    }

    /// Drops recent readings before an instant or the cutoff, and more if they take too much.
    pub(crate) fn limit_recent(&mut self, from_ms: i64, most_bytes: usize) {
        self.recent.limit(from_ms, most_bytes);
        self.recent.drop_before(self.visible.retain_from_ms);
    }

    /// Applies what a batch says of its stations, apart from the readings.
    pub(crate) fn take_in(&mut self, batch: &Batch) {
        let last: HashMap<StationId, &Station> =
            batch.stations.iter().map(|station| (station.id, station)).collect();
        for (id, station) in last {
            self.describe(id, station);
        }
        for report in &batch.reports {
            self.note_report(report);
        }
    }

    fn describe(&mut self, id: StationId, station: &Station) {
        let Some(state) = self.station(id) else {
            let state = Arc::new(StationState::new(station.clone()));
            Arc::make_mut(&mut self.stations).insert(id, state);
            self.places_generation += 1;
            return;
        };
        let known = &state.record.station;
        let described = known.described_as(station, state.record.update_time_ms);
        if *known != described {
            let moved = known.coordinates != described.coordinates;
            Arc::make_mut(&mut state.record).station = described;
            self.places_generation += u64::from(moved);
        }
    }

    fn note_report(&mut self, report: &Report) {
        let Some(state) = self.station(report.station) else { return };
        if state.record.update_time_ms < Some(report.ts_ms) {
            Arc::make_mut(&mut state.record).update_time_ms = Some(report.ts_ms);
        }
        let of = (report.ts_ms, report.revision);
        if let Some(words) = report.present_weather.as_ref().filter(|_| of >= state.weather_of) {
            state.weather_of = of;
            if state.record.present_weather.as_ref() != Some(words) {
                Arc::make_mut(&mut state.record).present_weather = Some(words.clone());
            }
        }
    }

    /// Makes the directory of this state. The index is rebuilt only if a station has moved.
    pub(crate) fn make_directory(&mut self) {
        let stations: StationRecords =
            self.stations.values().map(|state| Arc::clone(&state.record)).collect();
        let known = &self.directory;
        let same_places = known.places_generation == self.places_generation
            && known.stations.len() == stations.len();
        let index = if same_places {
            Arc::clone(&known.index)
        } else {
            Arc::new(StationIndex::new(stations.iter().map(|record| record.station.coordinates)))
        };
        self.directory = Arc::new(Directory {
            generation: self.generation,
            places_generation: self.places_generation,
            stations,
            index,
            names: StationNames::default(),
        });
    }
}
