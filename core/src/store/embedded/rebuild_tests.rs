//! The catalogue comes back from the segments.

use std::fs;

use proptest::prelude::*;

use super::damage_tests::{flip, readings};
use super::names::DATABASE;
use super::testing::{SMALL, Temporary, seal};
use super::tests::{Act, NAMES, any_act, batch, held, report, ten, weather};
use super::*;
use crate::observation::Quality;
use crate::store::{AlertStore, Receipt, StationRecords, no_verdicts};

fn stations(store: &dyn Reader) -> StationRecords {
    store.directory().unwrap().stations.clone()
}

fn lose_catalogue(dir: &Path) {
    for suffix in ["", "-wal", "-shm"] {
        let _ = fs::remove_file(dir.join(format!("{DATABASE}{suffix}")));
    }
}

/// Whatever was appended, sealed and merged, a rebuilt store has the same content, gives the same
/// answers, and treats later batches in the same way.
#[test]
fn a_rebuilt_store_is_unchanged() {
    let acts = prop::collection::vec(any_act(), 1..20);
    proptest!(ProptestConfig::with_cases(24), |(acts in acts)| {
        let mut store = Temporary::new(SMALL);
        for act in acts {
            match act {
                Act::Append(reports, verdicts) => {
                    store.append(&batch(reports), &mut |_| Ok(verdicts.clone())).unwrap();
                }
                Act::Again => {}
                Act::Seal => _ = store.maintain(&Maintenance::default()).unwrap(),
                Act::SealAll => seal(&mut store),
                Act::Reopen => store.reopen(),
            }
        }
        // Something to seal, so that the last segment describes all stations.
        let last = batch(vec![report("A", 99, 0, &[1.0], Quality::GOOD)]);
        store.append(&last, &mut no_verdicts).unwrap();
        seal(&mut store);
        let all = |store: &Temporary| {
            let generation = store.directory().unwrap().generation;
            (held(store), weather(store), stations(store), generation)
        };
        let before = all(&store);
        store.store = None;
        lose_catalogue(store.dir.path());
        let report = EmbeddedStore::rebuild(store.dir.path()).unwrap();
        prop_assert_eq!(&report.faults, &[]);
        store.reopen();
        prop_assert_eq!(store.health().faults, []);
        prop_assert_eq!((report.segments, report.stations), (store.health().segments, 3));
        prop_assert_eq!(all(&store), before);
        drop(store.store.take());
        prop_assert_eq!(EmbeddedStore::verify(store.dir.path(), false).unwrap().faults, []);
    });
}

#[test]
fn revisions_come_back_and_decide_what_a_correction_does() {
    let corrections = || {
        let reports = NAMES.iter().flat_map(|name| {
            (0..10).map(|ts_ms| report(name, ts_ms, 1, &[5.0, 6.0], Quality::UNCHECKED))
        });
        batch(reports.collect())
    };
    let corrected = || {
        let mut store = Temporary::new(SMALL);
        store.append(&ten(), &mut no_verdicts).unwrap();
        let higher = report("B", 4, 2, &[9.0], Quality::GOOD);
        store.append(&batch(vec![higher]), &mut no_verdicts).unwrap();
        seal(&mut store);
        store
    };
    let (one, mut other) = (corrected(), corrected());
    other.store = None;
    lose_catalogue(other.dir.path());
    EmbeddedStore::rebuild(other.dir.path()).unwrap();
    other.reopen();
    let receipts: [Receipt; 2] =
        [&one, &other].map(|store| store.append(&corrections(), &mut no_verdicts).unwrap());
    assert_eq!(receipts[0], receipts[1]);
    assert_eq!(receipts[0].overtaken, 1);
    assert_eq!(held(&*one), held(&*other));
}

#[test]
fn an_intact_catalogue_is_left_alone() {
    let mut store = Temporary::new(SMALL);
    store.append(&ten(), &mut no_verdicts).unwrap();
    seal(&mut store);
    store.store = None;
    let before = fs::read(store.dir.path().join(DATABASE)).unwrap();
    let refused = EmbeddedStore::rebuild(store.dir.path()).unwrap_err().to_string();
    assert!(refused.ends_with("lists every segment; nothing was changed"), "{refused}");
    assert_eq!(fs::read(store.dir.path().join(DATABASE)).unwrap(), before);
}

#[test]
fn a_damaged_catalogue_is_kept_and_fresh_batches_are_taken_from_it() {
    let mut store = Temporary::new(SMALL);
    store.append(&ten(), &mut no_verdicts).unwrap();
    seal(&mut store);
    store.meta_set("origin", "own").unwrap();
    let fresh = batch(vec![report("B", 50, 0, &[7.0], Quality::UNCHECKED)]);
    store.append(&fresh, &mut no_verdicts).unwrap();
    let before = (held(&*store), stations(&*store));
    store.store = None;
    // The stations cannot be read.
    let path = store.dir.path().join(DATABASE);
    let database = rusqlite::Connection::open(&path).unwrap();
    database.execute("UPDATE station SET state = x'00' WHERE 1", []).unwrap();
    drop(database);
    let report = EmbeddedStore::rebuild(store.dir.path()).unwrap();
    assert_eq!((report.journal_batches, report.catalogue_kept), (1, true));
    assert_eq!(report.faults, []);
    assert!(store.dir.path().join("damaged").join(DATABASE).exists());
    store.reopen();
    assert_eq!((held(&*store), stations(&*store)), before);
    assert_eq!(store.meta_get("origin").unwrap().as_deref(), Some("own"));
    assert_eq!(store.health().faults, []);
}

#[test]
fn an_invalid_or_malformed_catalogue_is_rebuilt_as_the_error_says() {
    let mut store = Temporary::new(SMALL);
    store.append(&ten(), &mut no_verdicts).unwrap();
    seal(&mut store);
    let before = held(&*store);
    let path = store.dir.path().join(DATABASE);
    store.store = None;
    let whole = fs::read(&path).unwrap();
    let head = [&whole[..100], &vec![7; whole.len() - 100]].concat();
    // The alert database is a database too, with one of these version numbers.
    drop(AlertStore::open(store.dir.path()).unwrap());
    let alerts = fs::read(store.dir.path().join("alerts.sqlite")).unwrap();
    for bytes in [vec![7; whole.len()], head, alerts] {
        store.store = None;
        fs::write(&path, bytes).unwrap();
        let advice = "run mesonet-server verify --rebuild to rebuild it";
        let error = EmbeddedStore::open(store.dir.path(), SMALL).unwrap_err().to_string();
        assert!(error.ends_with(advice), "{error}");
        let faults = EmbeddedStore::verify(store.dir.path(), true).unwrap().faults;
        assert!(faults.len() == 1 && faults[0].cause.ends_with(advice), "{faults:?}");
        assert!(EmbeddedStore::rebuild(store.dir.path()).unwrap().catalogue_kept);
        store.reopen();
        assert_eq!((held(&*store), store.health().faults), (before.clone(), vec![]));
    }
}

#[test]
fn fresh_batches_lost_with_the_catalogue_are_reported() {
    let mut store = Temporary::new(SMALL);
    store.append(&ten(), &mut no_verdicts).unwrap();
    seal(&mut store);
    let sealed = held(&*store);
    for ts_ms in [50, 51] {
        let fresh = batch(vec![report("B", ts_ms, 0, &[7.0], Quality::UNCHECKED)]);
        store.append(&fresh, &mut no_verdicts).unwrap();
    }
    store.store = None;
    lose_catalogue(store.dir.path());
    let report = EmbeddedStore::rebuild(store.dir.path()).unwrap();
    assert_eq!(report.faults.len(), 1);
    let reported = &report.faults[0].cause;
    assert!(reported.starts_with("2 acknowledged batches, 2 to 3, are missing"), "{reported}");
    store.reopen();
    assert_eq!((held(&*store), store.health().faults), (sealed, report.faults));
}

#[test]
fn orphaned_segments_come_back_and_copies_count_once() {
    let mut store = Temporary::new(EmbeddedOptions { seal_readings: 1, segment_readings: 0 });
    store.append(&ten(), &mut no_verdicts).unwrap();
    seal(&mut store);
    let later = batch(vec![report("B", 50, 0, &[7.0], Quality::UNCHECKED)]);
    store.append(&later, &mut no_verdicts).unwrap();
    seal(&mut store);
    let before = held(&*store);
    store.store = None;
    let dir = store.dir.path();
    fs::create_dir_all(dir.join("orphaned")).unwrap();
    fs::rename(dir.join("segments/00000001.arrow"), dir.join("orphaned/00000001.arrow")).unwrap();
    fs::copy(dir.join("orphaned/00000001.arrow"), dir.join("orphaned/00000001.arrow.2")).unwrap();
    lose_catalogue(dir);
    let report = EmbeddedStore::rebuild(dir).unwrap();
    assert_eq!((report.segments, report.faults), (2, vec![]));
    store.reopen();
    assert_eq!(held(&*store), before);
}

#[test]
fn a_block_that_is_damaged_stays_so_when_the_catalogue_is_rebuilt() {
    let mut store = Temporary::new(SMALL);
    store.append(&readings(0..12_000), &mut no_verdicts).unwrap();
    seal(&mut store);
    store.store = None;
    let path = store.dir.path().join("segments/00000001.arrow");
    flip(&path, 300_000);
    store.reopen();
    let (found, faults) = (held(&*store), store.health().faults);
    assert_eq!(faults.len(), 1);
    store.store = None;
    lose_catalogue(store.dir.path());
    assert_eq!(EmbeddedStore::rebuild(store.dir.path()).unwrap().faults, faults);
    store.reopen();
    assert_eq!(held(&*store), found);
    assert_eq!(store.health().faults, faults);
}

#[test]
fn a_segment_without_its_footer_is_reported_and_kept() {
    let mut store = Temporary::new(SMALL);
    store.append(&ten(), &mut no_verdicts).unwrap();
    seal(&mut store);
    store.store = None;
    let path = store.dir.path().join("segments/00000001.arrow");
    let length = fs::metadata(&path).unwrap().len();
    fs::File::options().write(true).open(&path).unwrap().set_len(length - 20).unwrap();
    lose_catalogue(store.dir.path());
    let report = EmbeddedStore::rebuild(store.dir.path()).unwrap();
    assert_eq!(report.segments, 0);
    assert_eq!(report.faults[0].to_string(), "segments/00000001.arrow: its footer cannot be read");
    store.reopen();
    assert!(store.dir.path().join("orphaned/00000001.arrow").exists());
}
