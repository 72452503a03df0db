use std::sync::atomic::{AtomicI64, Ordering};

use proptest::prelude::*;

use super::*;
use crate::geo::LonLat;
use crate::observation::{
    Batch, EarlierPlaces, Identifiers, IntervalType, Quality, Reading, Report, SeriesKey, Station,
    Variable,
};
use crate::store::{MemoryStore, ReaderWrapper, Receipt, VerdictFn, no_verdicts};

const VARIABLES: [Variable; 2] = [Variable::AirTemperature, Variable::WindSpeed];

fn key(number: usize) -> SeriesKey {
    SeriesKey::new(VARIABLES[number % 2], IntervalType::Average, number as i32)
}

/// A store with readings of two stations: station, time, series.
fn store(readings: &[(usize, i64, usize)]) -> Arc<MemoryStore> {
    let id = |name: usize| StationId::new("TEST", ["A", "B"][name]);
    let station = |name| Station {
        id: id(name),
        network: "TEST".into(),
        native_id: ["A", "B"][name].into(),
        name: String::new(),
        station_type: None,
        coordinates: LonLat::new(0.0, 0.0).unwrap(),
        sensor_height_m: 0.0,
        altitude_m: None,
        identifiers: Identifiers::default(),
        earlier_places: EarlierPlaces::default(),
    };
    let report = |&(name, ts_ms, series): &(usize, i64, usize)| Report {
        station: id(name),
        ts_ms,
        revision: 0,
        present_weather: None,
        text: None,
        readings: vec![Reading {
            series: key(series),
            value: (ts_ms * 10) as f64 + series as f64,
            quality: Quality::GOOD,
            qualifier: None,
        }],
    };
    let store = MemoryStore::default();
    let batch = Batch {
        stations: vec![station(0), station(1)],
        reports: readings.iter().map(report).collect(),
    };
    store.append(&batch, &mut no_verdicts).unwrap();
    Arc::new(store)
}

/// A store that has dropped readings older than an instant; the instant moves at each look.
struct Forgetful {
    all: Arc<MemoryStore>,
    from_ms: AtomicI64,
    step_ms: i64,
}

impl Reader for Forgetful {
    fn directory(&self) -> Result<Arc<Directory>, StoreError> {
        self.all.directory()
    }

    fn scan(
        &self,
        selection: &Selection<'_>,
        visit: &mut dyn FnMut(usize, &[SeriesSlice<'_>]),
    ) -> Result<Damage, StoreError> {
        let from_ms = self.held_from_ms()?;
        self.all.scan(selection, &mut |i, slices| {
            let held: Vec<_> = slices.iter().filter_map(|slice| slice.since(from_ms)).collect();
            if !held.is_empty() {
                visit(i, &held);
            }
        })
    }

    fn scan_weather(
        &self,
        stations: &[StationId],
        window: ClosedWindow,
        visit: &mut VisitWeather<'_>,
    ) -> Result<Damage, StoreError> {
        self.all.scan_weather(stations, window, visit)
    }

    fn held_from_ms(&self) -> Result<i64, StoreError> {
        Ok(self.from_ms.fetch_add(self.step_ms, Ordering::Relaxed))
    }
}

impl Store for Forgetful {
    fn append(&self, _: &Batch, _: &mut VerdictFn<'_>) -> Result<Receipt, StoreError> {
        Ok(Receipt::default())
    }
}

/// All readings, also those that the store holds.
struct WholePast(Arc<MemoryStore>);

impl ReaderWrapper for WholePast {
    fn wrapped(&self) -> &dyn Reader {
        &*self.0
    }
}

impl PastReadings for WholePast {
    fn scan(
        &self,
        station: &StationRecord,
        span_ms: Range<i64>,
        visit: &mut dyn FnMut(&[SeriesSlice<'_>]),
    ) -> Result<Damage, StoreError> {
        let stations = &[station.station.id];
        let window = ClosedWindow::new(span_ms.start, span_ms.end.max(span_ms.start + 1)).unwrap();
        let selection = Selection { stations, variables: &VARIABLES, window };
        Reader::scan(self, &selection, &mut |_, slices| {
            visit(&slices.iter().map(|slice| before(*slice, span_ms.end)).collect::<Vec<_>>());
        })
    }
}

fn before(mut slice: SeriesSlice<'_>, end_ms: i64) -> SeriesSlice<'_> {
    slice.ts_ms = &slice.ts_ms[..slice.ts_ms.partition_point(|&at| at < end_ms)];
    slice
}

type FoundReadings = Vec<(usize, Vec<(i32, i64, f64)>)>;

/// The readings that a reader hands out. A series may come in any number of slices.
fn found(reader: &dyn Reader, variables: &[Variable], window: ClosedWindow) -> FoundReadings {
    let stations = [StationId::new("TEST", "B"), StationId::new("TEST", "A")];
    let mut found = Vec::new();
    let selection = Selection { stations: &stations, variables, window };
    let damage = reader.scan(&selection, &mut |i, slices| {
        assert!(slices.iter().all(|slice| !slice.ts_ms.is_empty()));
        let rows = slices.iter().flat_map(|slice| {
            let at = |at| (slice.series.id.0, slice.ts_ms[at], slice.value[at]);
            (0..slice.ts_ms.len()).map(at)
        });
        found.push((i, rows.collect()));
    });
    assert_eq!(damage.unwrap().blocks(), 0);
    found
}

proptest! {
    #[test]
    fn nothing_seems_to_be_dropped_wherever_the_cutoff_is_and_while_it_moves(
        readings in prop::collection::vec((0_usize..2, 0_i64..40, 0_usize..4), 0..60),
        from_ms in -5_i64..45,
        step_ms in prop::sample::select(vec![0_i64, 1, 7]),
        (start_ms, span_ms) in (0_i64..40, 1_i64..40),
        one_variable: bool,
    ) {
        let all = store(&readings);
        let forgetful =
            Forgetful { all: Arc::clone(&all), from_ms: AtomicI64::new(from_ms), step_ms };
        let whole = ContinuedStore::new(Arc::new(forgetful), Arc::new(WholePast(Arc::clone(&all))));
        let window = ClosedWindow::new(start_ms, start_ms + span_ms).unwrap();
        let variables = if one_variable { &VARIABLES[..1] } else { &VARIABLES };
        prop_assert_eq!(found(&whole, variables, window), found(&*all, variables, window));
    }
}

#[test]
fn the_past_is_not_asked_for_what_the_store_holds() {
    struct Away;
    impl PastReadings for Away {
        fn scan(
            &self,
            _: &StationRecord,
            _: Range<i64>,
            _: &mut dyn FnMut(&[SeriesSlice<'_>]),
        ) -> Result<Damage, StoreError> {
            Err(StoreError::Unavailable { path: "the past".into(), cause: "it is away".into() })
        }
    }
    let all = store(&[(0, 5, 0), (0, 20, 0)]);
    let forgetful = Forgetful { all, from_ms: AtomicI64::new(10), step_ms: 0 };
    let whole = ContinuedStore::new(Arc::new(forgetful), Arc::new(Away));
    let scan = |start_ms| {
        let stations = &[StationId::new("TEST", "A")];
        let window = ClosedWindow::new(start_ms, 30).unwrap();
        let selection = Selection { stations, variables: &VARIABLES, window };
        whole.scan(&selection, &mut |_, slices| assert_eq!(slices[0].ts_ms, [20]))
    };
    assert!(scan(10).is_ok());
    assert!(matches!(scan(9), Err(StoreError::Unavailable { .. })));
}
