//! The record as a copy, and as the original of one.

use mesonet::store::copy::{Comparison, Copying, Duplicate, NOTE, Original, compare, unfinished};
use mesonet::store::{StoreError, Verdicts, no_verdicts};
use mesonet::time::{DAY_MS, HOUR_MS};
use mesonet::{Batch, MemoryStore, Quality, Reader, Reading, Report, StationId, Store};
use mesonet_clickhouse::{ClickHouseReader, ClickHouseStore};

use crate::support::{id, migrated, open, sql, station, temperature};

const STATIONS: i64 = 1200;
const START_MS: i64 = 1_722_643_200_000;

/// A record with corrections, late reports, verdicts, and weather that was corrected.
fn original() -> MemoryStore {
    let store = MemoryStore::default();
    let stations = (0..STATIONS).map(|at| station(&at.to_string())).collect();
    let report = |at: i64, hour: i64, revision: u8| Report {
        station: id(&(at % STATIONS).to_string()),
        ts_ms: START_MS + hour * HOUR_MS + at % 7,
        revision,
        present_weather: match at % 3 {
            0 => Some(vec![format!("Rain, \\ ' {}", at % 5), "Mist".to_owned()]),
            1 => Some(vec![]),
            _ => None,
        },
        text: None,
        readings: vec![Reading {
            quality: if at % 4 == 0 { Quality::GOOD } else { Quality::UNCHECKED },
            ..Reading::unchecked(temperature(), at as f64 / 8.0 - f64::from(revision))
        }],
    };
    let reports = (0..STATIONS).flat_map(|at| (0..30).map(move |day| (at, day * 24)));
    let reports: Vec<Report> = reports.map(|(at, hour)| report(at, hour, 0)).collect();
    store.append(&Batch { stations, reports }, &mut no_verdicts).unwrap();
    let corrected: Vec<Report> =
        (0..STATIONS).step_by(5).map(|at| report(at, 48, 1 + (at % 2) as u8)).collect();
    let verdicts = Verdicts {
        station: id("7"),
        series: temperature().id(),
        ts_ms: vec![START_MS, START_MS + 24 * HOUR_MS],
        quality: vec![Quality::GOOD, Quality::GOOD],
    };
    let batch = Batch { stations: vec![], reports: corrected };
    store.append(&batch, &mut |_| Ok(vec![verdicts.clone()])).unwrap();
    store
}

fn copied(from: &dyn Original, to: &dyn Duplicate) -> Comparison {
    let mut copying = Copying::begin(from, to, "the original").unwrap();
    copying.run(&mut |_| {}).unwrap();
    let comparison = compare(from, to, &mut |_| {}).unwrap();
    assert_eq!(comparison.differences, []);
    copying.finish(&comparison).unwrap();
    comparison
}

/// Stations without what stores count otherwise.
fn assert_same(one: &dyn Reader, other: &dyn Reader) {
    assert_eq!(one.directory().unwrap().stations, other.directory().unwrap().stations);
}

pub fn a_record_is_copied_here_and_on(url: &str) {
    let original = original();
    let options = migrated(url);
    let comparison = copied(&original, &open(&options));
    assert_eq!(comparison.original.readings, 36_000);
    assert_eq!(comparison.original, comparison.copy);
    // Opened anew, and by a reader.
    let reader = ClickHouseReader::open(&options).unwrap();
    for copy in [&open(&options) as &dyn Original, &reader] {
        assert!(compare(&original, copy, &mut |_| {}).unwrap().is_equal());
        assert_same(&original, copy);
    }
    let states = sql(&options, "SELECT count() FROM stations");
    assert_eq!(states.trim(), STATIONS.to_string(), "states that later ones have overtaken");

    // A correction that comes later is met as in the original.
    let store = open(&options);
    let late = Report {
        station: id("5"),
        ts_ms: START_MS + 48 * HOUR_MS + 5,
        revision: 0,
        present_weather: None,
        text: None,
        readings: vec![Reading::unchecked(temperature(), 99.0)],
    };
    let batch = Batch { stations: vec![], reports: vec![late] };
    let receipts =
        [&original as &dyn Store, &store].map(|to| to.append(&batch, &mut no_verdicts).unwrap());
    assert_eq!(receipts[0], receipts[1]);
    assert_eq!(receipts[1].overtaken, 1);

    // With its cutoff it goes to another database.
    store.maintain(Some(START_MS + 10 * DAY_MS)).unwrap();
    let on = migrated(url);
    let reader = ClickHouseReader::open(&options).unwrap();
    let comparison = copied(&reader, &open(&on));
    assert_eq!(comparison.original.readings, 24_000);
    assert_same(&reader, &open(&on));
    assert_eq!(open(&on).reference_data().unwrap().retain_from_ms, Some(START_MS + 10 * DAY_MS));
}

pub fn a_copy_that_was_interrupted_goes_on(url: &str) {
    let original = original();
    let options = migrated(url);
    // All but the last days are there, and the note says that nothing is.
    let store = open(&options);
    let begun = Copying::begin(&original, &store, "the original").unwrap();
    drop(begun);
    let note = store.mark(NOTE).unwrap().unwrap();
    let mut copying = Copying::begin(&original, &store, "the original").unwrap();
    copying.run(&mut |_| {}).unwrap();
    store.set_mark(NOTE, &note).unwrap();
    sql(&options, "OPTIMIZE TABLE readings FINAL");
    let rows = || sql(&options, "SELECT count() FROM readings");
    let before = rows();
    // The next writer goes on, and the one before is refused.
    let next = open(&options);
    assert_eq!(unfinished(&next.mark(NOTE).unwrap().unwrap()), Some("the original"));
    let refused =
        store.append(&Batch { stations: vec![station("X")], reports: vec![] }, &mut no_verdicts);
    assert!(matches!(refused, Err(StoreError::Locked { .. })), "{refused:?}");
    copied(&original, &next);
    assert_eq!(rows(), before, "what was there is not written again");
    assert_eq!(unfinished(&next.mark(NOTE).unwrap().unwrap()), None);
}

pub fn a_reading_that_is_missing_in_a_copy_is_named(url: &str) {
    let original = original();
    let options = migrated(url);
    copied(&original, &open(&options));
    let station: StationId = id("11");
    let day = START_MS / DAY_MS + 3;
    let at = START_MS + 72 * HOUR_MS + 4;
    // The release of the tests cannot delete rows, so the day is written again without one.
    let columns =
        "station, series, ts_ms, version, batch, value, quality, source, revision, qualifier";
    let others = format!("station != '{station}' OR ts_ms != {at}");
    sql(&options, "CREATE TABLE kept AS readings");
    sql(
        &options,
        &format!(
            "INSERT INTO kept SELECT {columns} FROM readings WHERE intDiv(ts_ms, 86400000) = {day} AND ({others})"
        ),
    );
    sql(&options, &format!("ALTER TABLE readings DROP PARTITION {day}"));
    sql(&options, &format!("INSERT INTO readings SELECT {columns} FROM kept"));
    let reader = ClickHouseReader::open(&options).unwrap();
    let comparison = compare(&original, &reader, &mut |_| {}).unwrap();
    let [difference] = &comparison.differences[..] else { panic!("{comparison:?}") };
    assert_eq!(difference.station, Some(station));
    assert!(difference.what.contains("(airTemperature) of 2024-08"), "{difference}");
    let store: ClickHouseStore = open(&options);
    assert!(!compare(&store, &original, &mut |_| {}).unwrap().is_equal());
}
