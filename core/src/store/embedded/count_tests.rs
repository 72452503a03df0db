//! The counts beside the databases reveal that a database is older than the acknowledged changes.

use std::fs;

use tempfile::TempDir;

use super::names::DATABASE;
use super::testing::{SMALL, Temporary, seal};
use super::tests::{batch, held, report, ten};
use super::*;
use crate::alert;
use crate::observation::Quality;
use crate::store::{AlertStore, no_verdicts};

/// Copies the files of a folder that is in use, as a backup program would.
fn copy_of(dir: &Path) -> TempDir {
    let copy = tempfile::tempdir().unwrap();
    fs::create_dir_all(copy.path().join("segments")).unwrap();
    for folder in ["", "segments"] {
        for entry in fs::read_dir(dir.join(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path.is_file() {
                let to = copy.path().join(folder).join(path.file_name().unwrap());
                fs::copy(&path, to).unwrap();
            }
        }
    }
    copy
}

fn later(ts_ms: i64) -> Batch {
    batch(vec![report("B", ts_ms, 0, &[7.0], Quality::UNCHECKED)])
}

fn faults_of(dir: &Path) -> Vec<String> {
    let store = EmbeddedStore::open(dir, SMALL).unwrap();
    store.health().faults.iter().map(Fault::to_string).collect()
}

const MISSING: &str = "mesonet.sqlite, journal: 2 acknowledged batches, 2 to 3, are missing: its \
                       write-ahead log was lost or truncated, or the file was replaced by an older \
                       one";

#[test]
fn a_lost_or_truncated_write_ahead_log_is_reported_until_acknowledged() {
    let mut store = Temporary::new(SMALL);
    store.append(&ten(), &mut no_verdicts).unwrap();
    seal(&mut store);
    for ts_ms in [50, 51] {
        store.append(&later(ts_ms), &mut no_verdicts).unwrap();
    }
    for harm in ["lost", "cut", "emptied"] {
        let copy = copy_of(store.dir.path());
        let dir = copy.path();
        let wal = dir.join(format!("{DATABASE}-wal"));
        assert!(fs::metadata(&wal).unwrap().len() > 100);
        match harm {
            "lost" => fs::remove_file(&wal).unwrap(),
            "cut" => fs::File::options().write(true).open(&wal).unwrap().set_len(100).unwrap(),
            _ => fs::write(&wal, "").unwrap(),
        }
        let found = EmbeddedStore::verify(dir, false).unwrap().faults;
        assert_eq!(found.iter().map(Fault::to_string).collect::<Vec<_>>(), [MISSING], "{harm}");
        assert_eq!(faults_of(dir), [MISSING]);
        {
            let store = EmbeddedStore::open(dir, SMALL).unwrap();
            assert_eq!(held(&store).len(), 90, "sealed readings do not depend on it");
            assert!(!store.is_new());
            // The ids of new batches continue after the missing ones.
            store.append(&later(60), &mut no_verdicts).unwrap();
        }
        assert_eq!(faults_of(dir), [MISSING], "it is still so");
        assert_eq!(EmbeddedStore::verify(dir, true).unwrap().set_aside.len(), 1);
        assert_eq!(EmbeddedStore::verify(dir, false).unwrap().faults, []);
        assert_eq!(faults_of(dir), [""; 0]);
        assert_eq!(held(&EmbeddedStore::open(dir, SMALL).unwrap()).len(), 91);
    }
}

#[test]
fn an_older_catalogue_is_noticed_and_costs_no_newer_segment() {
    let mut store = Temporary::new(SMALL);
    store.append(&ten(), &mut no_verdicts).unwrap();
    store.reopen();
    let older = copy_of(store.dir.path());
    for ts_ms in [50, 51] {
        store.append(&later(ts_ms), &mut no_verdicts).unwrap();
    }
    seal(&mut store);
    store.store = None;
    fs::copy(older.path().join(DATABASE), store.dir.path().join(DATABASE)).unwrap();
    store.reopen();
    let faults: Vec<String> = store.health().faults.iter().map(Fault::to_string).collect();
    assert_eq!(faults.len(), 2, "{faults:?}");
    assert_eq!(faults[0], MISSING);
    assert!(faults[1].starts_with("orphaned/00000001.arrow: "), "{faults:?}");
    assert_eq!(held(&store).len(), 90);
}

#[test]
fn a_database_that_is_gone_while_nothing_was_sealed_is_noticed() {
    let mut store = Temporary::new(SMALL);
    store.append(&ten(), &mut no_verdicts).unwrap();
    store.store = None;
    fs::remove_file(store.dir.path().join(DATABASE)).unwrap();
    let refused = EmbeddedStore::open(store.dir.path(), SMALL).unwrap_err().to_string();
    assert!(refused.contains("holds a count of acknowledged batches, mesonet.count."), "{refused}");
}

#[test]
fn a_count_that_is_gone_or_damaged_is_noticed_once() {
    let harms: [fn(&Path); 3] = [
        |path| fs::remove_file(path).unwrap(),
        |path| fs::write(path, "00000000000000000009 00000000\n").unwrap(),
        |path| fs::write(path, "0").unwrap(),
    ];
    for harm in harms {
        let mut store = Temporary::new(SMALL);
        store.append(&ten(), &mut no_verdicts).unwrap();
        store.store = None;
        harm(&store.dir.path().join("mesonet.count"));
        let faults = faults_of(store.dir.path());
        assert!(faults.len() == 1 && faults[0].starts_with("mesonet.count: "), "{faults:?}");
        assert_eq!(faults_of(store.dir.path()), [""; 0]);
    }
}

fn message(id: &str) -> alert::Message {
    alert::Message { id: id.into(), sender: "x".repeat(2_000), ..alert::Message::default() }
}

/// A folder with 40 alerts.
fn alerts() -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    drop(EmbeddedStore::open(dir.path(), SMALL).unwrap());
    let (alerts, faults) = AlertStore::open(dir.path()).unwrap();
    assert_eq!(faults, []);
    for at in 0..40 {
        alerts.append(vec![message(&format!("{at:02}"))]).unwrap();
    }
    dir
}

#[test]
fn alerts_that_are_gone_emptied_or_older_are_reported_until_acknowledged() {
    for harm in ["gone", "emptied", "older"] {
        let dir = alerts();
        let path = dir.path().join("alerts.sqlite");
        let older = fs::read(&path).unwrap();
        AlertStore::open(dir.path()).unwrap().0.append(vec![message("later")]).unwrap();
        match harm {
            "gone" => fs::remove_file(&path).unwrap(),
            "emptied" => fs::write(&path, "").unwrap(),
            _ => fs::write(&path, older).unwrap(),
        }
        let missing = if harm == "older" { 1 } else { 41 };
        for more in 0..2 {
            let (alerts, faults) = AlertStore::open(dir.path()).unwrap();
            assert_eq!(alerts.record().messages.len(), 41 - missing + more);
            assert_eq!(
                faults.iter().map(Fault::to_string).collect::<Vec<_>>(),
                [format!(
                    "alerts.sqlite: {missing} acknowledged changes are missing: the file was lost, \
                     truncated or emptied, or replaced by an older one"
                )]
            );
            alerts.append(vec![message(&format!("more {more}"))]).unwrap();
        }
        assert_eq!(EmbeddedStore::verify(dir.path(), true).unwrap().set_aside.len(), 1);
        assert_eq!(EmbeddedStore::verify(dir.path(), false).unwrap().faults, []);
    }
}

#[test]
fn a_count_of_alerts_that_is_gone_or_damaged_is_noticed() {
    let dir = alerts();
    let count = dir.path().join("alerts.count");
    let reported = || {
        let faults = EmbeddedStore::verify(dir.path(), false).unwrap().faults;
        faults.iter().map(Fault::to_string).collect::<Vec<_>>()
    };
    assert_eq!(reported(), [""; 0]);
    let bytes = fs::read(&count).unwrap();
    fs::remove_file(&count).unwrap();
    assert_eq!(
        reported(),
        ["alerts.count: it is missing, so it is unknown whether acknowledged changes were lost"]
    );
    fs::write(&count, &bytes[1..]).unwrap();
    assert_eq!(reported().len(), 1);
    assert!(reported()[0].starts_with("alerts.count: "), "{:?}", reported());
}

#[test]
fn readable_alerts_of_a_truncated_file_are_salvaged_and_the_file_is_kept() {
    let dir = alerts();
    let path = dir.path().join("alerts.sqlite");
    let mut bytes = fs::read(&path).unwrap();
    bytes.truncate(bytes.len() / 2);
    fs::write(&path, &bytes).unwrap();
    let report = EmbeddedStore::verify(dir.path(), true).unwrap();
    assert_eq!(report.faults.len(), 1);
    assert_eq!(report.set_aside, report.faults);
    assert_eq!(report.faults[0].file, "alerts.sqlite");
    let (alerts, faults) = AlertStore::open(dir.path()).unwrap();
    assert_eq!(faults, []);
    let kept = alerts.record().messages.len();
    assert!((1..40).contains(&kept), "{kept}");
    assert_eq!(report.alerts, kept);
    assert!(fs::read(dir.path().join("damaged/alerts.sqlite")).unwrap().len() >= bytes.len());
}

#[test]
fn unreadable_alerts_refuse_new_ones_and_say_why() {
    let error = StoreError::Columns("none".into());
    let alerts = AlertStore::unavailable(error.clone());
    assert_eq!(alerts.failure(), Some(&error));
    assert_eq!(alerts.append(vec![message("1")]), Err(error.clone()));
    assert_eq!(alerts.expire(0), Err(error));
    assert_eq!(alerts.record().messages.len(), 0);
}
