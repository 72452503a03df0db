//! Copies of a store that are made while it is written, merged and closed.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};

use tempfile::TempDir;

use super::testing::{SMALL, Temporary, seal};
use super::tests::{NAMES, batch, held, report, ten, weather};
use super::*;
use crate::alert;
use crate::observation::Quality;
use crate::store::{AlertStore, no_verdicts};

/// Puts the segments beside the copied databases, as a backup does.
fn whole(dir: &Path) -> TempDir {
    let copy = tempfile::tempdir().unwrap();
    let frozen = EmbeddedStore::freeze(dir, copy.path()).unwrap();
    fs::create_dir(copy.path().join("segments")).unwrap();
    for segment in &frozen.segments {
        segment.check().unwrap();
        let mut to = fs::File::create(copy.path().join(segment.name())).unwrap();
        std::io::copy(&mut segment.file(), &mut to).unwrap();
    }
    copy
}

/// A copy contains everything appended before it began, each batch whole, whatever the writer does.
#[test]
fn a_copy_of_a_store_that_is_written_has_all_that_was_acknowledged_and_whole_batches() {
    let store = Temporary::new(SMALL);
    let (acknowledged, done) = (AtomicI64::new(0), AtomicBool::new(false));
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            for round in 1..=150_i64 {
                let reports =
                    NAMES.map(|name| report(name, round, 0, &[round as f64, 2.0], Quality::GOOD));
                store.append(&batch(reports.to_vec()), &mut no_verdicts).unwrap();
                acknowledged.store(round, Ordering::SeqCst);
                // A checkpoint that meets a copy in progress is made later.
                let _ = store.maintain(&Maintenance::default());
            }
            done.store(true, Ordering::SeqCst);
        });
        let mut copies = 0;
        while !done.load(Ordering::SeqCst) {
            let least = acknowledged.load(Ordering::SeqCst);
            let copy = whole(store.dir.path());
            let most = acknowledged.load(Ordering::SeqCst) + 1;
            assert_eq!(EmbeddedStore::verify(copy.path(), false).unwrap().faults, []);
            let copied = EmbeddedStore::open(copy.path(), SMALL).unwrap();
            assert_eq!(copied.health().faults, []);
            let readings = held(&copied);
            let per_round = 2 * NAMES.len();
            let rounds = readings.len() / per_round;
            assert_eq!(readings.len(), rounds * per_round);
            assert!((least..=most).contains(&(rounds as i64)), "{least} {rounds} {most}");
            copies += 1;
        }
        assert!(copies > 0);
        writer.join().unwrap();
    });
    let copy = whole(store.dir.path());
    let copied = EmbeddedStore::open(copy.path(), SMALL).unwrap();
    assert_eq!((held(&copied), weather(&copied)), (held(&*store), weather(&*store)));
    let (own, other) = (store.directory().unwrap(), copied.directory().unwrap());
    assert_eq!((own.generation, &own.stations), (other.generation, &other.stations));
}

/// A copy contains revised verdicts, alerts, and the texts stored with the readings.
#[test]
fn a_copy_has_all_kinds_of_data_and_writes_nothing_to_the_folder() {
    let mut store = Temporary::new(SMALL);
    store.append(&ten(), &mut no_verdicts).unwrap();
    seal(&mut store);
    store.append(&ten(), &mut no_verdicts).unwrap();
    store.meta_set("origin", "own").unwrap();
    let (alerts, _) = AlertStore::open(store.dir.path()).unwrap();
    let message = alert::Message { id: "1".to_owned(), ..alert::Message::default() };
    alerts.append(vec![message]).unwrap();
    let live = whole(store.dir.path());
    drop(alerts);
    store.store = None;
    let dir = store.dir.path();
    let names = || -> BTreeSet<_> {
        let entries = fs::read_dir(dir).unwrap().map(Result::unwrap);
        entries
            .map(|entry| (entry.file_name(), entry.metadata().unwrap().modified().unwrap()))
            .collect()
    };
    let before = names();
    let still = whole(dir);
    assert_eq!(names(), before);
    for copy in [live, still] {
        let report = EmbeddedStore::verify(copy.path(), false).unwrap();
        assert_eq!((report.faults, report.alerts, report.segments), (vec![], 1, 1));
        let copied = EmbeddedStore::open(copy.path(), SMALL).unwrap();
        assert_eq!(copied.meta_get("origin").unwrap().as_deref(), Some("own"));
        assert_eq!(held(&copied).len(), 90);
    }
}

/// The digest of a segment is in the catalogue: the same file has the same digest in every copy,
/// and a different file has a different digest.
#[test]
fn a_segment_is_told_by_its_content_and_damage_to_it_is_found() {
    let mut store = Temporary::new(SMALL);
    store.append(&ten(), &mut no_verdicts).unwrap();
    seal(&mut store);
    let more = report(NAMES[0], 77, 0, &[3.0], Quality::GOOD);
    store.append(&batch(vec![more]), &mut no_verdicts).unwrap();
    seal(&mut store);
    let dir = store.dir.path().to_owned();
    let into = tempfile::tempdir().unwrap();
    let marks = |frozen: &FrozenStore| -> Vec<_> {
        frozen.segments.iter().map(FrozenSegment::mark).collect()
    };
    let first = EmbeddedStore::freeze(&dir, into.path()).unwrap();
    assert_ne!(marks(&first)[0], marks(&first)[1]);
    store.store = None;
    let path = dir.join(first.segments[0].name());
    let mut bytes = fs::read(&path).unwrap();
    bytes[1000] ^= 1;
    fs::write(&path, &bytes).unwrap();
    let second = EmbeddedStore::freeze(&dir, into.path()).unwrap();
    assert_eq!(marks(&first), marks(&second));
    let fault = second.segments[0].check().unwrap_err();
    let end = bytes.len();
    assert_eq!(
        fault.to_string(),
        format!("segments/00000001.arrow: bytes 0 to {end} do not match their checksum")
    );
    fs::write(&path, &bytes[..1000]).unwrap();
    let cause = second.segments[0].check().unwrap_err().cause;
    assert_eq!(cause, format!("1000 bytes long; it must be {end}"));
    fs::remove_file(&path).unwrap();
    let frozen = EmbeddedStore::freeze(&dir, into.path()).unwrap();
    let lost = frozen.lost[0].to_string();
    assert!(lost.starts_with("segments/00000001.arrow: it is missing; put it back"), "{lost}");
}

/// A copy does not forget that acknowledged batches are missing.
#[test]
fn a_loss_that_nobody_has_seen_is_still_told_by_the_copy() {
    let mut store = Temporary::new(SMALL);
    store.append(&ten(), &mut no_verdicts).unwrap();
    store.store = None;
    let count = store.dir.path().join("mesonet.count");
    let digits = format!("{:020}", 9);
    fs::write(&count, format!("{digits} {:08x}\n", crc32fast::hash(digits.as_bytes()))).unwrap();
    let copy = whole(store.dir.path());
    let faults = EmbeddedStore::verify(copy.path(), false).unwrap().faults;
    assert!(faults[0].cause.contains("acknowledged batches"), "{faults:?}");
}

#[test]
fn a_folder_without_a_record_has_no_copy() {
    let (dir, into) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let error = EmbeddedStore::freeze(dir.path(), into.path()).unwrap_err().to_string();
    assert!(error.ends_with("there is no record here: mesonet.sqlite is missing"), "{error}");
}
