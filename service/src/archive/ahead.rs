//! Reads many stations at once for code that asks for them one after the other. A query to a
//! cluster takes about as long for one station as for hundreds.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use mesonet::store::{
    Damage, Directory, Selection, SeriesSlice, StationReadings, StationRecord, StoreError,
    VisitReports, VisitWeather,
};
use mesonet::{ClosedWindow, Reader, StationId, Variable};

/// Number of readings after which no further station is held.
const READINGS_HELD: usize = 1_000_000;

/// Number of stations that are asked for first, and at most.
const FIRST_STATIONS: usize = 8;
const MOST_STATIONS: usize = 512;

/// A store that holds the readings of some stations in a window in memory: those of one station, or
/// of several with some million readings in all.
pub struct ReadAhead<'a> {
    store: &'a dyn Reader,
    window: ClosedWindow,
    held: HashMap<StationId, StationReadings>,
    /// How many stations are read at once.
    stations: usize,
    /// Number of readings after which no further station is held.
    most: usize,
}

impl<'a> ReadAhead<'a> {
    pub fn new(store: &'a dyn Reader, window: ClosedWindow) -> Self {
        let (held, stations) = (HashMap::new(), FIRST_STATIONS);
        Self { store, window, held, stations, most: READINGS_HELD }
    }

    /// Holds the first of some stations and as many of the next as fit. Does nothing if the first
    /// is held already.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn hold(&mut self, stations: &[&StationRecord]) -> Result<(), StoreError> {
        if stations.first().is_none_or(|first| self.held.contains_key(&first.station.id)) {
            return Ok(());
        }
        self.held.clear();
        let stations = &stations[..stations.len().min(self.stations)];
        let ids: Vec<StationId> = stations.iter().map(|record| record.station.id).collect();
        let variables = variables(stations.iter().copied());
        let selection = Selection { stations: &ids, variables: &variables, window: self.window };
        let mut readings = 0;
        self.store.scan(&selection, &mut |i, slices| {
            if readings < self.most {
                let mut of_station = StationReadings::default();
                of_station.add(slices);
                readings += of_station.len();
                self.held.insert(ids[i], of_station);
            }
        })?;
        if readings >= self.most {
            self.stations = self.held.len();
        } else if readings < self.most / 2 {
            self.stations = (self.stations * 2).min(MOST_STATIONS);
        }
        Ok(())
    }
}

/// The variables of some stations, each once.
pub fn variables<'a>(stations: impl Iterator<Item = &'a StationRecord>) -> Vec<Variable> {
    let series = stations.flat_map(|record| &record.series);
    let variables: BTreeSet<Variable> = series.map(|known| known.series.key.variable).collect();
    variables.into_iter().collect()
}

impl Reader for ReadAhead<'_> {
    fn directory(&self) -> Result<Arc<Directory>, StoreError> {
        self.store.directory()
    }

    fn scan(
        &self,
        selection: &Selection<'_>,
        visit: &mut dyn FnMut(usize, &[SeriesSlice<'_>]),
    ) -> Result<Damage, StoreError> {
        let Selection { stations, variables, window } = *selection;
        let is_within =
            self.window.start_ms() <= window.start_ms() && window.end_ms() <= self.window.end_ms();
        let ([station], true) = (stations, is_within) else {
            return self.store.scan(selection, visit);
        };
        let Some(held) = self.held.get(station) else { return self.store.scan(selection, visit) };
        let span_ms = window.start_ms()..window.end_ms().saturating_add(1);
        let slices = held.slices(&span_ms);
        let slices: Vec<_> =
            slices.filter(|slice| variables.contains(&slice.series.key.variable)).collect();
        if !slices.is_empty() {
            visit(0, &slices);
        }
        // The caller of `hold` has been told of damage.
        Ok(Damage::default())
    }

    fn scan_weather(
        &self,
        stations: &[StationId],
        window: ClosedWindow,
        visit: &mut VisitWeather<'_>,
    ) -> Result<Damage, StoreError> {
        self.store.scan_weather(stations, window, visit)
    }

    fn scan_reports(
        &self,
        stations: &[StationId],
        window: ClosedWindow,
        visit: &mut VisitReports<'_>,
    ) -> Result<Damage, StoreError> {
        self.store.scan_reports(stations, window, visit)
    }

    fn held_from_ms(&self) -> Result<i64, StoreError> {
        self.store.held_from_ms()
    }

    fn longest_scan_ms(&self) -> i64 {
        self.store.longest_scan_ms()
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use mesonet::store::no_verdicts;
    use mesonet::time::{DAY_MS, HOUR_MS};
    use mesonet::{Batch, IntervalType, MemoryStore, Quality, Reading, Report, SeriesKey, Store};

    use super::*;
    use crate::testing::station;

    /// Counts how often it is read.
    struct CountingStore(MemoryStore, Cell<usize>);

    impl Reader for CountingStore {
        fn directory(&self) -> Result<Arc<Directory>, StoreError> {
            self.0.directory()
        }

        fn scan(
            &self,
            selection: &Selection<'_>,
            visit: &mut dyn FnMut(usize, &[SeriesSlice<'_>]),
        ) -> Result<Damage, StoreError> {
            self.1.set(self.1.get() + 1);
            self.0.scan(selection, visit)
        }

        fn scan_weather(
            &self,
            stations: &[StationId],
            window: ClosedWindow,
            visit: &mut VisitWeather<'_>,
        ) -> Result<Damage, StoreError> {
            self.0.scan_weather(stations, window, visit)
        }

        fn held_from_ms(&self) -> Result<i64, StoreError> {
            self.0.held_from_ms()
        }
    }

    const VARIABLES: [Variable; 2] = [Variable::AirTemperature, Variable::WindSpeed];

    /// A hundred stations with readings of two days. Each has a few more readings than the one
    /// before.
    fn counted() -> CountingStore {
        let mut batch = Batch::default();
        for number in 0..100 {
            let station = station(&format!("C{number:03}"));
            for hour in 0..=number % 48 {
                let reading = |variable| Reading {
                    series: SeriesKey::new(variable, IntervalType::Instantaneous, 0),
                    value: f64::from(number + hour),
                    quality: Quality::GOOD,
                    qualifier: None,
                };
                let readings = VARIABLES.map(reading).into();
                let (ts_ms, station) = (i64::from(hour) * HOUR_MS, station.id);
                let report = Report {
                    station,
                    ts_ms,
                    revision: 0,
                    present_weather: None,
                    text: None,
                    readings,
                };
                batch.reports.push(report);
            }
            batch.stations.push(station);
        }
        let store = MemoryStore::default();
        store.append(&batch, &mut no_verdicts).unwrap();
        CountingStore(store, Cell::new(0))
    }

    fn values(reader: &dyn Reader, selection: &Selection<'_>) -> Vec<(usize, i32, i64, f64)> {
        let mut values = Vec::new();
        let scanned = reader.scan(selection, &mut |i, slices| {
            for slice in slices {
                let rows = slice.ts_ms.iter().zip(slice.value);
                values.extend(rows.map(|(&ts_ms, &value)| (i, slice.series.id.0, ts_ms, value)));
            }
        });
        assert_eq!(scanned.unwrap(), Damage::default());
        values
    }

    /// Reads all stations as a writer does, and returns how often the store was read for that.
    fn asked(most: usize) -> usize {
        let (store, window) = (counted(), ClosedWindow::new(0, 2 * DAY_MS).unwrap());
        let directory = store.directory().unwrap();
        let stations: Vec<&StationRecord> = directory.stations.iter().map(Arc::as_ref).collect();
        let mut ahead = ReadAhead { most, ..ReadAhead::new(&store, window) };
        for (at, record) in stations.iter().enumerate() {
            ahead.hold(&stations[at..]).unwrap();
            assert!(ahead.held.contains_key(&record.station.id));
            for (start_ms, end_ms) in
                [(0, 2 * DAY_MS), (HOUR_MS, 5 * HOUR_MS), (DAY_MS, DAY_MS + 1)]
            {
                let window = ClosedWindow::new(start_ms, end_ms).unwrap();
                for variables in [&VARIABLES[..], &VARIABLES[1..]] {
                    let stations = &[record.station.id];
                    let selection = Selection { stations, variables, window };
                    assert_eq!(values(&ahead, &selection), values(&store.0, &selection));
                }
            }
        }
        store.1.get()
    }

    #[test]
    fn what_is_held_is_what_the_store_says_and_it_is_seldom_asked() {
        // 8, 16, 32 and 44 stations.
        assert_eq!(asked(READINGS_HELD), 4);
        assert!((5..100).contains(&asked(400)));
        // One by one: a station is held even if it has more readings than the limit.
        assert_eq!(asked(1), 100);
    }

    #[test]
    fn what_is_not_held_is_asked_for() {
        let (store, day) = (counted(), ClosedWindow::new(0, DAY_MS).unwrap());
        let directory = store.directory().unwrap();
        let stations: Vec<&StationRecord> = directory.stations.iter().map(Arc::as_ref).collect();
        let mut ahead = ReadAhead::new(&store, day);
        ahead.hold(&stations[90..]).unwrap();
        let longer = ClosedWindow::new(0, DAY_MS + HOUR_MS).unwrap();
        let (held, other) = (stations[90].station.id, stations[3].station.id);
        for (stations, window) in
            [(&[held][..], longer), (&[other][..], day), (&[held, other][..], day)]
        {
            let selection = Selection { stations, variables: &VARIABLES, window };
            let found = values(&ahead, &selection);
            assert!(!found.is_empty());
            assert_eq!(found, values(&store.0, &selection));
        }
        assert_eq!(store.1.get(), 1 + 3);
    }
}
