//! What a store on disk does besides taking in and reading: rolling back, merging, expiring.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use mesonet::observation::{EarlierPlaces, Identifiers};
use mesonet::store::{
    EmbeddedOptions, Maintenance, MaintenanceReport, Receipt, Selection, StoreError, no_verdicts,
};
use mesonet::{
    Batch, ClosedWindow, EmbeddedStore, IntervalType, LonLat, MemoryStore, Quality, Reader,
    Reading, Report, SeriesKey, Station, StationId, Store, Variable,
};

/// Four segments of similar size are merged, however few readings they have.
const OPTIONS: EmbeddedOptions = EmbeddedOptions { seal_readings: 8, segment_readings: 10_000 };

fn open(dir: &Path) -> EmbeddedStore {
    EmbeddedStore::open(dir, OPTIONS).unwrap()
}

fn station(native_id: &str) -> Station {
    Station {
        id: StationId::new("TEST", native_id),
        network: "TEST".to_owned(),
        native_id: native_id.to_owned(),
        name: native_id.to_owned(),
        station_type: None,
        coordinates: LonLat::new(-100.0, 45.5).unwrap(),
        sensor_height_m: 0.0,
        altitude_m: None,
        identifiers: Identifiers::default(),
        earlier_places: EarlierPlaces::default(),
    }
}

fn reports(native_id: &str, times_ms: impl IntoIterator<Item = i64>, value: f64) -> Vec<Report> {
    let report = |ts_ms| Report {
        station: StationId::new("TEST", native_id),
        ts_ms,
        revision: 0,
        present_weather: Some(vec![format!("weather of {ts_ms}")]),
        text: None,
        readings: vec![Reading {
            series: SeriesKey::new(Variable::AirTemperature, IntervalType::Instantaneous, 0),
            value,
            quality: Quality::UNCHECKED,
            qualifier: None,
        }],
    };
    times_ms.into_iter().map(report).collect()
}

/// Returns a batch with readings of one value at station A.
fn batch(times_ms: impl IntoIterator<Item = i64>, value: f64) -> Batch {
    Batch { stations: vec![station("A")], reports: reports("A", times_ms, value) }
}

/// Returns the time and value of every reading of a station.
fn held_of(store: &dyn Reader, native_id: &str) -> Vec<(i64, f64)> {
    let ids = [StationId::new("TEST", native_id)];
    let window = ClosedWindow::new(i64::MIN, i64::MAX).unwrap();
    let selection = Selection { stations: &ids, variables: Variable::ALL, window };
    let mut held = Vec::new();
    store
        .scan(&selection, &mut |_, slices| {
            for slice in slices {
                held.extend(slice.ts_ms.iter().copied().zip(slice.value.iter().copied()));
            }
        })
        .unwrap();
    held
}

fn held(store: &dyn Reader) -> Vec<(i64, f64)> {
    held_of(store, "A")
}

fn times(store: &dyn Reader) -> Vec<i64> {
    held(store).into_iter().map(|(ts_ms, _)| ts_ms).collect()
}

fn take(store: &EmbeddedStore, batch: &Batch) -> Receipt {
    store.append(batch, &mut no_verdicts).unwrap()
}

fn seal(store: &EmbeddedStore) -> MaintenanceReport {
    store.maintain(&Maintenance { seal_all: true, ..Maintenance::default() }).unwrap()
}

fn retain(store: &EmbeddedStore, from_ms: i64) -> MaintenanceReport {
    let retain_from_ms = Some(from_ms);
    store.maintain(&Maintenance { retain_from_ms, ..Maintenance::default() }).unwrap()
}

/// Counts the files of segments.
fn files(dir: &Path) -> usize {
    let entries = std::fs::read_dir(dir.join("segments")).unwrap();
    entries.filter(|entry| entry.as_ref().unwrap().path().is_file()).count()
}

type Failing = fn(&EmbeddedStore, &Batch);

const FAILINGS: [(&str, Failing); 2] = [
    ("a judge that fails", |store, batch| {
        let error = StoreError::Columns("none".to_owned());
        assert_eq!(store.append(batch, &mut |_| Err(error.clone())), Err(error));
    }),
    ("a judge that panics", |store, batch| {
        let append = || store.append(batch, &mut |_| panic!("a judge that panics"));
        assert!(catch_unwind(AssertUnwindSafe(append)).is_err());
    }),
];

/// Nothing of the refused batch may enter the record with the next one, in memory or on disk.
#[test]
fn what_a_failed_judge_refused_does_not_come_in_with_the_next_batch() {
    for (failing, fail) in FAILINGS {
        let dir = tempfile::tempdir().unwrap();
        let (store, expected) = (open(dir.path()), MemoryStore::default());
        let append = |batch: &Batch| {
            let receipt = take(&store, batch);
            assert_eq!(receipt, expected.append(batch, &mut no_verdicts).unwrap(), "{failing}");
        };
        append(&batch([10], 1.0));
        let refused = Batch {
            stations: vec![station("Z"), Station { altitude_m: Some(9.0), ..station("A") }],
            reports: [reports("Z", [50], 2.0), reports("A", [99], 2.0)].concat(),
        };
        fail(&store, &refused);
        // From a station that nobody has described.
        let undescribed = Batch { stations: vec![], reports: reports("Z", [60], 3.0) };
        let error = store.append(&undescribed, &mut no_verdicts).unwrap_err();
        assert!(matches!(error, StoreError::UnknownStation { .. }), "{failing}: {error}");
        fail(&store, &refused);
        append(&Batch { stations: vec![station("B")], reports: reports("B", [20], 4.0) });
        append(&batch([5], 5.0));

        let check = |store: &EmbeddedStore| {
            let stations = |store: &dyn Reader| store.directory().unwrap().stations.clone();
            assert_eq!(stations(store), stations(&expected), "{failing}");
            for name in ["A", "B", "Z"] {
                assert_eq!(held_of(store, name), held_of(&expected, name), "{failing}");
            }
        };
        check(&store);
        drop(store);
        let store = open(dir.path());
        check(&store);
        seal(&store);
        drop(store);
        check(&open(dir.path()));
    }
}

/// Small segments around a large one that then expires, and a correction after them: the merged
/// segment is as old as the small ones were.
#[test]
fn a_correction_wins_over_older_segments_that_are_merged_after_it() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let sealed = |batch: &Batch| {
        take(&store, batch);
        assert_eq!(seal(&store).merged_segments, 0);
    };
    sealed(&batch(100..104, 1.0));
    sealed(&batch(102..106, 2.0));
    sealed(&batch(108..112, 3.0));
    sealed(&batch(0..40, 4.0));
    sealed(&batch(104..108, 5.0));
    sealed(&batch(101..161, 6.0));
    let expected: Vec<(i64, f64)> =
        (100..161).map(|ts_ms| (ts_ms, if ts_ms == 100 { 1.0 } else { 6.0 })).collect();

    let maintained = retain(&store, 100);
    assert_eq!((maintained.expired_segments, maintained.merged_segments), (1, 4));
    assert_eq!(held(&store), expected);
    drop(store);
    let store = open(dir.path());
    assert_eq!(held(&store), expected, "the correction wins when the store is opened again");
    assert_eq!(take(&store, &batch(101..161, 6.0)).unchanged, 60);
}

#[test]
fn a_reading_at_the_edge_of_the_retention_stays() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    // A segment that ends exactly at the edge, and one that ends just before it.
    take(&store, &batch([10, 20], 1.0));
    seal(&store);
    take(&store, &batch([12, 19], 1.0));
    seal(&store);
    assert_eq!(retain(&store, 20).expired_segments, 1);
    assert_eq!(times(&store), [20]);
    // It is on record, and one just before it is not taken in.
    assert_eq!(take(&store, &batch([20], 1.0)).unchanged, 1);
    assert_eq!(take(&store, &batch([19], 1.0)).expired, 1);
    // It stays when it is merged with others.
    for more in [30, 40, 50] {
        take(&store, &batch([more, more + 1], 1.0));
        seal(&store);
    }
    assert_eq!(store.health().segments, 1);
    assert_eq!(times(&store), [20, 30, 31, 40, 41, 50, 51]);

    // Fresh readings that are sealed when the edge has reached one of them.
    take(&store, &batch([60, 61, 62], 1.0));
    retain(&store, 61);
    assert_eq!(times(&store), [61, 62]);
    seal(&store);
    assert_eq!(times(&store), [61, 62]);
    drop(store);
    let store = open(dir.path());
    assert_eq!(times(&store), [61, 62]);
    // The present weather of each report is counted, too.
    assert_eq!(store.health().sealed_readings, 4);
}

#[test]
fn files_of_merged_segments_go_with_their_last_reader_and_without_a_restart() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    for from in [0, 10, 20] {
        take(&store, &batch(from..from + 4, 1.0));
        seal(&store);
    }
    assert_eq!((files(dir.path()), store.health().segments), (3, 3));
    take(&store, &batch(30..34, 1.0));
    let ids = [StationId::new("TEST", "A")];
    let window = ClosedWindow::new(0, 100).unwrap();
    let selection = Selection { stations: &ids, variables: Variable::ALL, window };
    let mut visits = 0;
    store
        .scan(&selection, &mut |_, slices| {
            assert_eq!(seal(&store).merged_segments, 4);
            // Three of the four are read here; that of the fresh readings was never read.
            assert!(files(dir.path()) >= 4);
            let seen: usize = slices.iter().map(|slice| slice.ts_ms.len()).sum();
            assert_eq!(seen, 16);
            visits += 1;
        })
        .unwrap();
    assert_eq!(visits, 1);
    store.maintain(&Maintenance::default()).unwrap();
    assert_eq!((files(dir.path()), store.health().segments), (1, 1));
    assert_eq!(held(&store).len(), 16);
    // The same goes for segments that expire.
    assert_eq!(retain(&store, 1000).expired_segments, 1);
    store.maintain(&Maintenance::default()).unwrap();
    assert_eq!(files(dir.path()), 0);
}

#[test]
fn what_was_found_damaged_is_still_reported_after_sealing() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    take(&store, &batch([1], 1.0));
    take(&store, &batch([2], 2.0));
    drop(store);
    // The first of the batches: the later ones are sealed up to an id greater than its own.
    let database = rusqlite::Connection::open(dir.path().join("mesonet.sqlite")).unwrap();
    let sql = "UPDATE journal SET batch = zeroblob(40) WHERE id = (SELECT min(id) FROM journal)";
    assert_eq!(database.execute(sql, []).unwrap(), 1);
    drop(database);

    let store = open(dir.path());
    let faults = store.health().faults;
    assert_eq!((faults.len(), times(&store)), (1, vec![2]));
    assert!(faults[0].file.contains("journal"), "{}", faults[0]);
    drop(store);
    let store = open(dir.path());
    take(&store, &batch([3], 3.0));
    assert!(seal(&store).sealed_readings > 0);
    assert_eq!(store.health().faults, faults);
    drop(store);
    let store = open(dir.path());
    assert_eq!(store.health().faults, faults, "it is still reported");
}
