//! What was acknowledged and is not there stays a fault until it is back or given up.

use std::fs;
use std::path::{Path, PathBuf};

use mesonet::observation::{EarlierPlaces, Identifiers};
use mesonet::store::{EmbeddedOptions, Maintenance, Selection, no_verdicts};
use mesonet::{
    Batch, ClosedWindow, EmbeddedStore, IntervalType, LonLat, Quality, Reader, Reading, Report,
    SeriesKey, Station, StationId, Store, Variable,
};

/// Each seal makes a segment that is never merged.
const OPTIONS: EmbeddedOptions = EmbeddedOptions { seal_readings: 1, segment_readings: 0 };

fn open(dir: &Path) -> EmbeddedStore {
    EmbeddedStore::open(dir, OPTIONS).unwrap()
}

fn batch(times_ms: std::ops::Range<i64>) -> Batch {
    let id = StationId::new("TEST", "A");
    let station = Station {
        id,
        network: "TEST".to_owned(),
        native_id: "A".to_owned(),
        name: "A".to_owned(),
        station_type: None,
        coordinates: LonLat::new(-100.0, 45.5).unwrap(),
        sensor_height_m: 0.0,
        altitude_m: None,
        identifiers: Identifiers::default(),
        earlier_places: EarlierPlaces::default(),
    };
    let key = SeriesKey::new(Variable::AirTemperature, IntervalType::Instantaneous, 0);
    let report = |ts_ms| Report {
        station: id,
        ts_ms,
        revision: 0,
        present_weather: None,
        text: None,
        readings: vec![Reading {
            series: key.clone(),
            value: ts_ms as f64,
            quality: Quality::UNCHECKED,
            qualifier: None,
        }],
    };
    Batch { stations: vec![station], reports: times_ms.map(report).collect() }
}

/// Two segments of ten readings each, and five in the journal.
fn record(dir: &Path) {
    let store = open(dir);
    for times_ms in [0..10, 10..20] {
        store.append(&batch(times_ms), &mut no_verdicts).unwrap();
        store.maintain(&Maintenance { seal_all: true, ..Maintenance::default() }).unwrap();
    }
    store.append(&batch(20..25), &mut no_verdicts).unwrap();
}

/// How many readings are found, and how many blocks are said to be missing.
fn found(store: &dyn Reader) -> (usize, u64) {
    let stations = [StationId::new("TEST", "A")];
    let window = ClosedWindow::new(i64::MIN, i64::MAX).unwrap();
    let selection = Selection { stations: &stations, variables: Variable::ALL, window };
    let mut readings = 0;
    let visit = &mut |_: usize, slices: &[mesonet::store::SeriesSlice<'_>]| {
        readings += slices.iter().map(|slice| slice.ts_ms.len()).sum::<usize>();
    };
    let damage = store.scan(&selection, visit).unwrap();
    (readings, damage.blocks())
}

fn faults(dir: &Path) -> Vec<String> {
    let faults = EmbeddedStore::verify(dir, false).unwrap().faults;
    faults.into_iter().map(|fault| fault.to_string()).collect()
}

const FIRST: &str = "segments/00000001.arrow";
const MISSING: &str = "segments/00000001.arrow: it is missing; put it back, or give it up: \
                       mesonet-server verify --give-up segments/00000001.arrow";

/// Takes a file away, as a mount that is late does. Returns where it is.
fn take_away(dir: &Path) -> PathBuf {
    let away = dir.join("away");
    fs::rename(dir.join(FIRST), &away).unwrap();
    away
}

/// One start without its disk once took a segment out of the catalogue for good, and `verify` and backups
/// were content.
#[test]
fn a_segment_that_is_missing_at_a_start_stays_a_fault_until_it_is_back() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    record(dir);
    let away = take_away(dir);
    for start in 0..2 {
        assert_eq!(faults(dir), [MISSING]);
        let store = open(dir);
        assert_eq!(store.health().faults[0].to_string(), MISSING);
        assert_eq!(found(&store), (15 + start, 1));
        // What goes on in the background meanwhile.
        store.append(&batch(25 + start as i64..26 + start as i64), &mut no_verdicts).unwrap();
        assert_eq!(store.maintain(&Maintenance::default()).unwrap().set_aside, []);
        assert_eq!(store.health().faults.len(), 1);
        let copy = tempfile::tempdir().unwrap();
        let frozen = EmbeddedStore::freeze(dir, copy.path()).unwrap();
        assert_eq!(frozen.lost[0].to_string(), MISSING);
    }
    // Back without a restart.
    let store = open(dir);
    assert_eq!(found(&store), (17, 1));
    fs::rename(away, dir.join(FIRST)).unwrap();
    store.maintain(&Maintenance::default()).unwrap();
    assert_eq!((store.health().faults, found(&store)), (vec![], (27, 0)));
    drop(store);
    assert_eq!(faults(dir), [""; 0]);
}

#[test]
fn a_segment_that_is_missing_is_given_up_by_name() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    record(dir);
    take_away(dir);
    let give_up = |files: &[&str]| {
        let files: Vec<String> = files.iter().map(|&file| file.to_owned()).collect();
        EmbeddedStore::give_up(dir, &files).map_err(|error| error.to_string())
    };
    let other = "segments/00000002.arrow";
    let refused = format!("{other}: it is not missing, so it cannot be given up");
    // All of them or none.
    assert!(give_up(&[FIRST, other]).unwrap_err().starts_with(&refused));
    assert_eq!(faults(dir), [MISSING]);
    assert_eq!(give_up(&[FIRST]).unwrap()[0].to_string(), MISSING);
    assert_eq!(faults(dir), [""; 0]);
    // Answers still say what they lack.
    let store = open(dir);
    assert_eq!(found(&store), (15, 1));
    assert_eq!(store.health().faults.len(), 1);
    let copy = tempfile::tempdir().unwrap();
    assert_eq!(EmbeddedStore::freeze(dir, copy.path()).unwrap().lost, []);
}

/// A running server sets damage aside by itself. That is no reason for `verify` to be content.
#[test]
fn what_a_server_has_set_aside_stays_a_fault_until_somebody_accepts_it() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    record(dir);
    let segment = dir.join(FIRST);
    fs::write(&segment, vec![0; fs::metadata(&segment).unwrap().len() as usize]).unwrap();
    let store = open(dir);
    assert_eq!(found(&store), (15, 1));
    assert_eq!(store.maintain(&Maintenance::default()).unwrap().set_aside.len(), 1);
    drop(store);
    assert!(!segment.exists());
    let named = faults(dir);
    assert!(named.len() == 1 && named[0].starts_with(FIRST), "{named:?}");
    let set_aside = EmbeddedStore::verify(dir, true).unwrap().set_aside;
    assert_eq!(set_aside[0].to_string(), named[0]);
    assert_eq!(faults(dir), [""; 0]);
}
