//! A reader of a folder that a store writes to at the same time.

use std::fs;

use super::testing::{SMALL, Temporary, seal};
use super::tests::{NAMES, batch, held, report, ten, weather};
use super::*;
use crate::observation::{Quality, StationId};
use crate::store::{Selection, no_verdicts};
use crate::time::ClosedWindow;

fn same(reader: &EmbeddedReader, store: &EmbeddedStore) {
    assert_eq!(held(reader), held(store));
    assert_eq!(weather(reader), weather(store));
    let (read, own) = (reader.directory().unwrap(), store.directory().unwrap());
    assert_eq!(read.stations, own.stations);
    assert_eq!((read.generation, read.places_generation), (own.generation, own.places_generation));
}

/// The effects of a batch, of sealing, merging and dropping, are visible at the next refresh,
/// whole, and not before.
#[test]
fn a_reader_follows_a_writer() {
    let store = Temporary::new(SMALL);
    let reader = EmbeddedReader::open(store.dir.path()).unwrap();
    assert!(!reader.refresh().unwrap());
    for round in 0..40_i64 {
        let before = held(&reader);
        let reports = NAMES.map(|name| {
            let ts_ms = if round % 5 == 4 { round - 3 } else { round };
            report(name, ts_ms, round as u8, &[round as f64, 2.0], Quality::GOOD)
        });
        store.append(&batch(reports.to_vec()), &mut no_verdicts).unwrap();
        assert_eq!(held(&reader), before);
        assert!(reader.refresh().unwrap());
        same(&reader, &store);
        let retain_from_ms = (round == 30).then_some(12);
        store.maintain(&Maintenance { retain_from_ms, seal_all: round % 7 == 0 }).unwrap();
        if retain_from_ms.is_none() {
            // Files that are merged in the meantime are still open.
            same(&reader, &store);
        }
        reader.refresh().unwrap();
        same(&reader, &store);
    }
    assert_eq!(reader.health().segments, store.health().segments);
    assert!(store.health().segments > 0 && reader.health().faults.is_empty());
}

/// Between refreshes nothing is locked: writers come and go, and a reader needs none.
#[test]
fn writers_come_and_go() {
    let mut store = Temporary::new(SMALL);
    let dir = store.dir.path().to_owned();
    let reader = EmbeddedReader::open(&dir).unwrap();
    store.append(&ten(), &mut no_verdicts).unwrap();
    reader.refresh().unwrap();
    store.reopen();
    reader.refresh().unwrap();
    same(&reader, &store);
    seal(&mut store);
    store.store = None;
    assert!(reader.refresh().unwrap());
    assert_eq!(held(&reader).len(), held(&EmbeddedReader::open(&dir).unwrap()).len());
    store.reopen();
    same(&reader, &store);
}

/// Two stores that continued from one state have batches with the same numbers. A reader whose
/// files are replaced by those of the other store shows the other store, and nothing of the first.
#[test]
fn a_reader_whose_files_are_exchanged_takes_all_anew() {
    let one = Temporary::new(SMALL);
    one.append(&ten(), &mut no_verdicts).unwrap();
    let (of_other, shown) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    EmbeddedStore::freeze(one.dir.path(), of_other.path()).unwrap();
    let other = EmbeddedStore::open(of_other.path(), SMALL).unwrap();
    let append = |store: &EmbeddedStore, name: &str, ts_ms: i64, value: f64| {
        let report = report(name, ts_ms, 0, &[value, 2.0], Quality::GOOD);
        store.append(&batch(vec![report]), &mut no_verdicts).unwrap();
    };
    let show = |dir: &Path| {
        let fresh = tempfile::tempdir().unwrap();
        for name in EmbeddedStore::freeze(dir, fresh.path()).unwrap().files {
            fs::rename(fresh.path().join(name), shown.path().join(name)).unwrap();
        }
    };
    append(&one, NAMES[0], 1000, 1.0);
    show(one.dir.path());
    let reader = EmbeddedReader::open(shown.path()).unwrap();
    assert_eq!(held(&reader), held(&*one));
    let (one, other) = ((&*one, one.dir.path()), (&other, of_other.path()));
    for ((store, dir), round) in [(other, 1), (one, 2), (other, 3), (other, 4)] {
        // As many batches as the shown store has, then one more, and so on.
        append(store, NAMES[1], 1000 + round, round as f64);
        show(dir);
        let before = reader.directory().unwrap();
        reader.reread().unwrap();
        assert_eq!(held(&reader), held(store), "{round}");
        let now = reader.directory().unwrap();
        assert!(now.generation > before.generation);
        assert!(now.places_generation > before.places_generation);
    }
}

/// The files of a folder without a writer are not touched, and none is created.
#[test]
fn a_reader_writes_nothing() {
    let mut store = Temporary::new(SMALL);
    store.append(&ten(), &mut no_verdicts).unwrap();
    seal(&mut store);
    store.append(&ten(), &mut no_verdicts).unwrap();
    let dir = store.dir.path().to_owned();
    store.store = None;
    let names = || {
        let entries = fs::read_dir(&dir).unwrap().map(Result::unwrap);
        let mut names: Vec<_> = entries
            .map(|entry| (entry.file_name(), entry.metadata().unwrap().modified().unwrap()))
            .collect();
        names.sort();
        names
    };
    let before = names();
    let reader = EmbeddedReader::open(&dir).unwrap();
    assert_eq!(held(&reader).len(), 90);
    drop(reader);
    assert_eq!(names(), before);
}

#[test]
fn a_folder_without_a_record_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let error = EmbeddedReader::open(dir.path()).unwrap_err().to_string();
    assert!(error.ends_with("there is no record here: mesonet.sqlite is missing"), "{error}");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
}

/// A damaged segment costs the readings in it, and each answer says so.
#[test]
fn damage_is_told() {
    let mut store = Temporary::new(SMALL);
    store.append(&ten(), &mut no_verdicts).unwrap();
    seal(&mut store);
    let dir = store.dir.path().to_owned();
    store.store = None;
    let path = dir.join("segments/00000001.arrow");
    fs::write(&path, &fs::read(&path).unwrap()[..1000]).unwrap();
    let reader = EmbeddedReader::open(&dir).unwrap();
    let ids = NAMES.map(|name| StationId::new("TEST", name));
    let window = ClosedWindow::new(i64::MIN, i64::MAX).unwrap();
    let variables = crate::observation::Variable::ALL;
    let selection = Selection { stations: &ids, variables, window };
    let damage = reader.scan(&selection, &mut |_, _| {}).unwrap();
    assert_eq!(damage.blocks(), 1);
    assert_eq!(reader.health().faults[0].file, "segments/00000001.arrow");
}

/// Short looks of readers do not prevent a writer from starting: it waits for them.
#[test]
fn readers_do_not_keep_a_writer_out() {
    let mut store = Temporary::new(SMALL);
    store.append(&ten(), &mut no_verdicts).unwrap();
    let dir = store.dir.path().to_owned();
    let (stop, told) = std::sync::mpsc::channel::<()>();
    let reader = std::thread::spawn(move || {
        let mut looks = 0;
        while told
            .recv_timeout(std::time::Duration::from_millis(3))
            .is_err_and(|error| error == std::sync::mpsc::RecvTimeoutError::Timeout)
        {
            assert_eq!(held(&EmbeddedReader::open(&dir).unwrap()).len(), 90);
            looks += 1;
        }
        looks
    });
    for _ in 0..10 {
        store.reopen();
        seal(&mut store);
    }
    drop(stop);
    assert!(reader.join().unwrap() > 0);
}

/// The error names the holder of the folder: a reader with a long look is named as a reader, not as
/// a writer.
#[test]
fn a_reader_that_does_not_end_is_named_as_one() {
    let mut store = Temporary::new(SMALL);
    store.store = None;
    let dir = store.dir.path().to_owned();
    let survey = EmbeddedStore::survey(&dir).unwrap();
    let refused = EmbeddedStore::open(&dir, SMALL).unwrap_err().to_string();
    assert!(refused.contains(" is in use by a process that reads it; only one "), "{refused}");
    drop(survey);
    store.reopen();
}
