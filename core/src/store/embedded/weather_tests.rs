//! The present weather of every report survives everything that readings survive.

use super::names::DATABASE;
use super::testing::{SMALL, Temporary, seal};
use super::tests::{NAMES, batch, held, report};
use super::*;
use crate::observation::{Quality, Report, StationId};
use crate::store::no_verdicts;
use crate::time::ClosedWindow;

/// A report with nothing but the weather.
fn weather_report(ts_ms: i64, words: &[&str]) -> Report {
    Report {
        present_weather: Some(words.iter().map(|&word| word.to_owned()).collect()),
        text: None,
        readings: vec![],
        ..report("A", ts_ms, 0, &[], Quality::UNCHECKED)
    }
}

/// Of station A: times and words, and how many blocks are missing.
fn weather(store: &dyn Reader) -> (Vec<(i64, String)>, u64) {
    let window = ClosedWindow::new(i64::MIN, i64::MAX).unwrap();
    let mut found = Vec::new();
    let visit = &mut |_, ts_ms, _, words: &[String]| found.push((ts_ms, words.join(", ")));
    let damage = store.scan_weather(&[StationId::new("TEST", NAMES[0])], window, visit).unwrap();
    (found, damage.blocks())
}

fn of(list: &[(i64, &str)]) -> (Vec<(i64, String)>, u64) {
    (list.iter().map(|&(ts_ms, words)| (ts_ms, words.to_owned())).collect(), 0)
}

fn change(store: &Temporary, sql: &str) {
    let path = store.dir.path().join(DATABASE);
    rusqlite::Connection::open(path).unwrap().execute_batch(sql).unwrap();
}

/// Rain and hail in a segment, snow in the journal.
fn some() -> Temporary {
    let mut store = Temporary::new(SMALL);
    store
        .append(
            &batch(vec![weather_report(10, &["Rain"]), weather_report(20, &["Hail"])]),
            &mut no_verdicts,
        )
        .unwrap();
    seal(&mut store);
    store.append(&batch(vec![weather_report(30, &["Snow"])]), &mut no_verdicts).unwrap();
    store
}

#[test]
fn it_survives_a_restart_and_is_dropped_with_the_readings_of_its_time() {
    let mut store = some();
    let all = of(&[(10, "Rain"), (20, "Hail"), (30, "Snow")]);
    assert_eq!(weather(&*store), all);
    store.reopen();
    assert_eq!(weather(&*store), all);
    seal(&mut store);
    store.reopen();
    assert_eq!(weather(&*store), all);
    let cut = Maintenance { retain_from_ms: Some(20), seal_all: true };
    store.maintain(&cut).unwrap();
    assert_eq!(weather(&*store), of(&[(20, "Hail"), (30, "Snow")]));
    // Weather that is too old is no longer taken in.
    store.append(&batch(vec![weather_report(10, &["Rain"])]), &mut no_verdicts).unwrap();
    store.reopen();
    assert_eq!(weather(&*store), of(&[(20, "Hail"), (30, "Snow")]));
}

#[test]
fn words_that_are_damaged_are_named_and_missed_and_come_back() {
    let mut store = some();
    let (all, expected) = (weather(&*store), held(&*store));
    let damaged = |store: &mut Temporary| {
        store.store = None;
        change(store, "UPDATE weather SET words = '[\"Half\"]' WHERE words = '[\"Hail\"]'");
        let report = EmbeddedStore::verify(store.dir.path(), false).unwrap();
        assert_eq!(report.faults.len(), 1);
        assert!(report.faults[0].file.starts_with("mesonet.sqlite, weather "));
        assert_eq!(report.faults[0].cause, "it does not match its number");
    };
    damaged(&mut store);
    store.reopen();
    assert_eq!(store.health().faults.len(), 1);
    // The reading shows that there was weather, and the answer says that it is missing.
    let (found, missing) = weather(&*store);
    assert_eq!((found, missing), (of(&[(10, "Rain"), (30, "Snow")]).0, 1));
    // The same words again heal it, though the report is on record.
    store.append(&batch(vec![weather_report(25, &["Hail"])]), &mut no_verdicts).unwrap();
    let more = of(&[(10, "Rain"), (20, "Hail"), (25, "Hail"), (30, "Snow")]);
    assert_eq!(weather(&*store), more);
    store.reopen();
    assert_eq!((weather(&*store), store.health().faults), (more, vec![]));

    // A rebuild from the segments heals it too.
    let mut store = some();
    seal(&mut store);
    damaged(&mut store);
    assert!(EmbeddedStore::rebuild(store.dir.path()).unwrap().catalogue_kept);
    store.reopen();
    assert_eq!((weather(&*store), held(&*store)), (all.clone(), expected.clone()));
    store.store = None;
    std::fs::remove_file(store.dir.path().join(DATABASE)).unwrap();
    EmbeddedStore::rebuild(store.dir.path()).unwrap();
    store.reopen();
    assert_eq!((weather(&*store), held(&*store)), (all, expected));
    store.store = None;
    assert_eq!(EmbeddedStore::verify(store.dir.path(), false).unwrap().faults, []);
}

/// Before version 5 only the newest report was kept.
#[test]
fn a_folder_of_version_4_has_none_until_it_comes_in() {
    let mut store = Temporary::new(SMALL);
    let rain = |ts_ms| batch(vec![report("A", ts_ms, 0, &[1.0], Quality::UNCHECKED)]);
    store.append(&rain(1), &mut no_verdicts).unwrap();
    seal(&mut store);
    store.store = None;
    change(&store, "DROP TABLE weather; PRAGMA user_version = 4");
    assert_eq!(EmbeddedStore::verify(store.dir.path(), false).unwrap().faults, []);
    store.reopen();
    assert_eq!(weather(&*store), of(&[]));
    store.append(&batch(vec![weather_report(2, &["Rain"])]), &mut no_verdicts).unwrap();
    store.reopen();
    assert_eq!(weather(&*store), of(&[(2, "Rain")]));
}
