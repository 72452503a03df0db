use proptest::prelude::*;

use super::*;
use crate::geo::LonLat;
use crate::observation::{Batch, IntervalType, Quality, Reading, Report, SeriesKey, Station};
use crate::observation::{EarlierPlaces, Identifiers};
use crate::store::{MemoryStore, Store, VisitWeather, no_verdicts};

fn key(minutes: i32) -> SeriesKey {
    SeriesKey::new(Variable::WindSpeed, IntervalType::Average, minutes)
}

/// Provides each series in slices of at most the given length, as stores may.
struct Sliced(MemoryStore, usize);

impl Reader for Sliced {
    fn directory(&self) -> Result<Arc<crate::store::Directory>, StoreError> {
        self.0.directory()
    }

    fn scan(
        &self,
        selection: &Selection<'_>,
        visit: &mut dyn FnMut(usize, &[SeriesSlice<'_>]),
    ) -> Result<crate::store::Damage, StoreError> {
        self.0.scan(selection, &mut |i, slices| {
            let parts = slices.iter().flat_map(|slice| {
                (0..slice.ts_ms.len()).step_by(self.1).map(move |start| {
                    let range = start..slice.ts_ms.len().min(start + self.1);
                    SeriesSlice {
                        series: slice.series,
                        ts_ms: &slice.ts_ms[range.clone()],
                        value: &slice.value[range.clone()],
                        quality: &slice.quality[range.clone()],
                        source: &slice.source[range.clone()],
                        revision: &slice.revision[range.clone()],
                        qualifier: &slice.qualifier[range],
                    }
                })
            });
            visit(i, &parts.collect::<Vec<_>>());
        })
    }

    fn scan_weather(
        &self,
        stations: &[StationId],
        window: ClosedWindow,
        visit: &mut VisitWeather<'_>,
    ) -> Result<crate::store::Damage, StoreError> {
        self.0.scan_weather(stations, window, visit)
    }

    fn held_from_ms(&self) -> Result<i64, StoreError> {
        self.0.held_from_ms()
    }
}

fn store(readings: &[(i64, i32)]) -> MemoryStore {
    let id = StationId::new("TEST", "A");
    let station = Station {
        id,
        network: "TEST".into(),
        native_id: "A".into(),
        name: "A".into(),
        station_type: None,
        coordinates: LonLat::new(0.0, 0.0).unwrap(),
        sensor_height_m: 10.0,
        altitude_m: None,
        identifiers: Identifiers::default(),
        earlier_places: EarlierPlaces::default(),
    };
    let reports = readings.iter().map(|&(ts_ms, minutes)| Report {
        station: id,
        ts_ms,
        revision: 0,
        present_weather: None,
        text: None,
        readings: vec![Reading {
            series: key(minutes),
            value: ts_ms as f64 + f64::from(minutes),
            quality: Quality::UNCHECKED,
            qualifier: None,
        }],
    });
    let batch = Batch { stations: vec![station], reports: reports.collect() };
    let store = MemoryStore::default();
    store.append(&batch, &mut no_verdicts).unwrap();
    store
}

fn rows(store: &dyn Reader, start_ms: i64, end_ms: i64) -> StationRows {
    let directory = store.directory().unwrap();
    StationRows::new(StationId::new("TEST", "A"), &directory.stations[0].series, start_ms, end_ms)
}

fn walked(store: &dyn Reader, mut rows: StationRows, count: usize) -> Vec<RowPosition> {
    let series = rows.series().to_vec();
    let mut positions = Vec::new();
    loop {
        let done = rows
            .walk(store, count, &mut |row| {
                let minutes = series[row.series].key.interval_minutes;
                assert_eq!(row.value, row.ts_ms as f64 + f64::from(minutes));
                positions.push(RowPosition { ts_ms: row.ts_ms, series: series[row.series].id });
            })
            .unwrap();
        if done {
            return positions;
        }
    }
}

/// Times close together and far apart: milliseconds to years.
fn any_time() -> impl Strategy<Value = i64> {
    prop_oneof![0..50_i64, 0..100_000_i64, -100_000_000_000..100_000_000_000_i64]
}

proptest! {
    #[test]
    fn rows_are_those_of_the_window_by_time_and_series_however_they_are_walked(
        readings in proptest::collection::vec((any_time(), 1..4_i32), 1..60),
        ends in (any_time(), any_time()),
        count in 1_usize..40,
        sliced in 1_usize..5,
        bounds in proptest::collection::vec((any_time(), 1..4_i32), 2..=2),
    ) {
        let (start_ms, end_ms) = (ends.0.min(ends.1), ends.0.max(ends.1));
        let store = Sliced(store(&readings), sliced);
        let mut expected: Vec<RowPosition> = readings
            .iter()
            .map(|&(ts_ms, minutes)| RowPosition { ts_ms, series: key(minutes).id() })
            .filter(|row| (start_ms..=end_ms).contains(&row.ts_ms))
            .collect();
        expected.sort_unstable();
        expected.dedup();
        prop_assert_eq!(walked(&store, rows(&store, start_ms, end_ms), count), &*expected);

        let [after, last] = [bounds[0], bounds[1]]
            .map(|(ts_ms, minutes)| RowPosition { ts_ms, series: key(minutes).id() });
        let part = rows(&store, start_ms, end_ms).after(after).up_to(last);
        expected.retain(|&row| row > after && row <= last);
        prop_assert_eq!(walked(&store, part, count), &*expected);
    }
}

#[test]
fn a_sparse_record_of_centuries_takes_few_scans() {
    struct CountingStore(MemoryStore, std::cell::Cell<u32>);
    impl Reader for CountingStore {
        fn directory(&self) -> Result<Arc<crate::store::Directory>, StoreError> {
            self.0.directory()
        }
        fn scan(
            &self,
            selection: &Selection<'_>,
            visit: &mut dyn FnMut(usize, &[SeriesSlice<'_>]),
        ) -> Result<crate::store::Damage, StoreError> {
            self.1.set(self.1.get() + 1);
            self.0.scan(selection, visit)
        }

        fn scan_weather(
            &self,
            stations: &[StationId],
            window: ClosedWindow,
            visit: &mut VisitWeather<'_>,
        ) -> Result<crate::store::Damage, StoreError> {
            self.0.scan_weather(stations, window, visit)
        }

        fn held_from_ms(&self) -> Result<i64, StoreError> {
            self.0.held_from_ms()
        }
    }
    let (first_ms, last_ms) = (-6_000_000_000_000, 2_000_000_000_000);
    let store = CountingStore(store(&[(first_ms, 1), (last_ms, 2)]), std::cell::Cell::new(0));
    let all = rows(&store, i64::MIN, last_ms);
    assert_eq!(walked(&store, all, 1_000).len(), 2);
    assert!(store.1.get() < 25, "{}", store.1.get());
    // A regression: a page of one row stepped through the centuries by the millisecond.
    store.1.set(0);
    let all = rows(&store, i64::MIN, last_ms);
    assert_eq!(walked(&store, all, 1).len(), 2);
    assert!(store.1.get() < 50, "{}", store.1.get());
}
