//! The texts of reports survive everything that readings survive, and cost readings nothing.

use std::fs;

use super::testing::{SMALL, Temporary, seal};
use super::tests::{NAMES, batch, held, report};
use super::*;
use crate::observation::{Quality, Report, ReportText, StationId};
use crate::store::no_verdicts;
use crate::time::ClosedWindow;

fn with_text(ts_ms: i64, text: &str) -> Report {
    let header = Some("SACN31 CWAO 032000");
    let text = ReportText::new(text, header);
    Report { text, ..report("A", ts_ms, 0, &[1.5, 2.5], Quality::UNCHECKED) }
}

/// Of station A: times and texts, and how many blocks are missing.
fn texts(store: &dyn Reader) -> (Vec<(i64, String)>, u64) {
    let window = ClosedWindow::new(i64::MIN, i64::MAX).unwrap();
    let mut found = Vec::new();
    let damage = store
        .scan_reports(&[StationId::new("TEST", NAMES[0])], window, &mut |_, kept| {
            assert_eq!(kept.header, Some("SACN31 CWAO 032000"));
            found.push((kept.ts_ms, kept.text.to_owned()));
        })
        .unwrap();
    (found, damage.blocks())
}

fn of(list: &[(i64, &str)]) -> (Vec<(i64, String)>, u64) {
    (list.iter().map(|&(ts_ms, text)| (ts_ms, text.to_owned())).collect(), 0)
}

fn append(store: &Temporary, reports: Vec<Report>) {
    store.append(&batch(reports), &mut no_verdicts).unwrap();
}

/// Two texts in a segment, one in the journal.
fn some() -> Temporary {
    let mut store = Temporary::new(SMALL);
    append(&store, vec![with_text(10, "METAR A 10"), with_text(20, "METAR A 20")]);
    seal(&mut store);
    append(&store, vec![with_text(30, "METAR A 30")]);
    store
}

const ALL: [(i64, &str); 3] = [(10, "METAR A 10"), (20, "METAR A 20"), (30, "METAR A 30")];

#[test]
fn they_survive_a_restart_and_are_dropped_with_the_readings_of_their_time() {
    let mut store = some();
    assert_eq!(texts(&*store), of(&ALL));
    assert_eq!((store.health().segments, store.health().text_segments), (1, 1));
    store.reopen();
    assert_eq!(texts(&*store), of(&ALL));
    seal(&mut store);
    store.reopen();
    assert_eq!((texts(&*store), store.health().reports), (of(&ALL), 3));
    let cut = Maintenance { retain_from_ms: Some(20), seal_all: true };
    store.maintain(&cut).unwrap();
    assert_eq!(texts(&*store), of(&ALL[1..]));
    append(&store, vec![with_text(10, "METAR A 10")]);
    store.reopen();
    assert_eq!(texts(&*store), of(&ALL[1..]));
    let cut = Maintenance { retain_from_ms: Some(31), seal_all: true };
    let gone = store.maintain(&cut).unwrap();
    assert_eq!((gone.expired_segments, store.health().text_segments), (2, 0));
    store.store = None;
    assert_eq!(fs::read_dir(store.dir.path().join("segments")).unwrap().count(), 0);
}

#[test]
fn merged_segments_hold_the_texts_in_force() {
    let mut store = Temporary::new(EmbeddedOptions { segment_readings: 640, ..SMALL });
    for round in 0..9 {
        let reports = (0..4).map(|at| {
            let ts_ms = round * 3 + at;
            Report {
                revision: round as u8,
                ..with_text(ts_ms, &format!("METAR A {ts_ms} {round}"))
            }
        });
        append(&store, reports.collect());
        seal(&mut store);
    }
    let health = store.health();
    assert!(health.text_segments < 4, "{health:?}");
    let (found, missing) = texts(&*store);
    // The first time of a round is the last of the one before.
    let round = |ts_ms: i64| (ts_ms / 3).min(8);
    let expected: Vec<_> =
        (0..28).map(|ts_ms| (ts_ms, format!("METAR A {ts_ms} {}", round(ts_ms)))).collect();
    assert_eq!((found, missing), (expected.clone(), 0));
    let readings = held(&*store);
    store.store = None;
    let report = EmbeddedStore::verify(store.dir.path(), false).unwrap();
    assert_eq!((report.faults, report.text_segments), (vec![], health.text_segments));
    assert_eq!(report.reports, health.reports);
    // Rebuilt from its segments it is the same.
    fs::remove_file(store.dir.path().join("mesonet.sqlite")).unwrap();
    let report = EmbeddedStore::rebuild(store.dir.path()).unwrap();
    assert_eq!((report.text_segments, report.faults), (health.text_segments, vec![]));
    store.reopen();
    assert_eq!((texts(&*store), held(&*store)), ((expected, 0), readings));
}

#[test]
fn damage_of_texts_costs_no_reading_and_is_named() {
    let mut store = some();
    seal(&mut store);
    let readings = held(&*store);
    store.store = None;
    let file = store.dir.path().join("segments/00000002.arrow");
    let good = fs::read(&file).unwrap();
    let mut unlucky = 0;
    for at in (0..good.len()).step_by(97) {
        let mut bytes = good.clone();
        bytes[at] ^= 0x20;
        fs::write(&file, &bytes).unwrap();
        let report = EmbeddedStore::verify(store.dir.path(), false).unwrap();
        assert_eq!(report.faults.len(), 1, "{at}: {:?}", report.faults);
        assert_eq!(report.faults[0].file, "segments/00000002.arrow");
        store.reopen();
        assert_eq!(held(&*store), readings);
        let (found, missing) = texts(&*store);
        assert_eq!(found.last(), Some(&(30, "METAR A 30".to_owned())));
        assert!(missing > 0 || found.len() == 3, "{at}: {found:?}");
        unlucky += usize::from(missing > 0);
        store.store = None;
    }
    assert!(unlucky > 0);
    // Set aside, the loss stays known, and concerns only texts.
    fs::remove_file(&file).unwrap();
    EmbeddedStore::verify(store.dir.path(), true).unwrap();
    store.reopen();
    let missed = texts(&*store);
    assert!(missed.0 == of(&ALL[2..]).0 && missed.1 > 0, "{missed:?}");
    assert_eq!(held(&*store), readings);
    // What comes in again is served again.
    append(&store, vec![with_text(10, "METAR A 10"), with_text(20, "METAR A 20")]);
    assert_eq!(texts(&*store).0, of(&ALL).0);
}

#[test]
fn a_record_of_version_7_is_read_and_goes_on() {
    let mut store = Temporary::new(SMALL);
    append(&store, vec![report("A", 1, 0, &[1.0], Quality::UNCHECKED)]);
    seal(&mut store);
    append(&store, vec![report("A", 2, 0, &[2.0], Quality::UNCHECKED)]);
    let readings = held(&*store);
    store.store = None;
    let path = store.dir.path().join("mesonet.sqlite");
    let sql = "DROP TABLE of_texts; PRAGMA user_version = 7";
    rusqlite::Connection::open(&path).unwrap().execute_batch(sql).unwrap();
    let segment = fs::read(store.dir.path().join("segments/00000001.arrow")).unwrap();
    assert_eq!(EmbeddedStore::verify(store.dir.path(), false).unwrap().faults, []);
    let reader = EmbeddedReader::open(store.dir.path()).unwrap();
    assert_eq!(texts(&reader), of(&[]));
    store.reopen();
    assert_eq!((held(&*store), texts(&*store)), (readings, of(&[])));
    append(&store, vec![with_text(3, "METAR A 03")]);
    store.reopen();
    assert_eq!(texts(&*store), of(&[(3, "METAR A 03")]));
    store.store = None;
    assert_eq!(fs::read(store.dir.path().join("segments/00000001.arrow")).unwrap(), segment);
    // An earlier version reads the version first, and refuses.
    let database = rusqlite::Connection::open(&path).unwrap();
    let version: u32 = database.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
    assert_eq!(version, 8);
}

#[test]
fn a_reader_beside_the_writer_sees_them() {
    let mut store = some();
    let reader = EmbeddedReader::open(store.dir.path()).unwrap();
    assert_eq!(texts(&reader), of(&ALL));
    append(&store, vec![with_text(40, "METAR A 40")]);
    reader.refresh().unwrap();
    assert_eq!(texts(&reader).0.len(), 4);
    seal(&mut store);
    reader.refresh().unwrap();
    assert_eq!(texts(&reader), texts(&*store));
}
