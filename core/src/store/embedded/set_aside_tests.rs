//! Tests of damaged files of the on-disk store: they are found, reported and set aside.

use std::fs;

use super::names::DATABASE;
use super::testing::{SMALL, Temporary, seal, seal_and_reopen};
use super::tests::{batch, held, report, ten};
use super::*;
use crate::observation::Quality;
use crate::store::no_verdicts;

/// What can happen to a file.
type Harm = fn(&Path);

const HARMS: [(&str, Harm); 4] = [
    ("a flipped bit", |path| {
        let mut bytes = fs::read(path).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 0x10;
        fs::write(path, bytes).unwrap();
    }),
    ("truncated", |path| {
        let length = fs::metadata(path).unwrap().len();
        fs::File::options().write(true).open(path).unwrap().set_len(length / 2).unwrap();
    }),
    ("zeroed", |path| {
        let length = fs::metadata(path).unwrap().len() as usize;
        fs::write(path, vec![0; length]).unwrap();
    }),
    ("deleted", |path| fs::remove_file(path).unwrap()),
];

#[test]
fn a_damaged_segment_is_reported_and_set_aside() {
    for (harm, damage) in HARMS {
        let mut store = Temporary::new(EmbeddedOptions { seal_readings: 1, segment_readings: 0 });
        store.append(&ten(), &mut no_verdicts).unwrap();
        seal(&mut store);
        let later = batch(vec![report("B", 50, 0, &[7.0], Quality::UNCHECKED)]);
        store.append(&later, &mut no_verdicts).unwrap();
        seal(&mut store);
        store.store = None;
        let file = "segments/00000001.arrow";
        damage(&store.dir.path().join(file));

        let report = EmbeddedStore::verify(store.dir.path(), false).unwrap();
        assert_eq!((report.faults.len(), &*report.faults[0].file), (1, file), "{harm}");
        store.store = Some(EmbeddedStore::open(store.dir.path(), SMALL).unwrap());
        assert_eq!(held(&store).len(), 1, "{harm}: what is intact can still be read");
        assert_eq!(store.health().faults, report.faults);
        let set_aside = store.maintain(&Maintenance::default()).unwrap().set_aside;
        // A missing file may come back.
        let is_deleted = harm == "deleted";
        assert_eq!(set_aside, if is_deleted { vec![] } else { report.faults.clone() });
        assert_eq!(store.health().segments, 1 + usize::from(is_deleted));
        let aside = store.dir.path().join("damaged/00000001.arrow");
        assert_eq!(aside.exists(), harm != "deleted");
        // It is still reported when the store is reopened; what is left is intact.
        store.reopen();
        assert_eq!(store.health().faults, report.faults);
        store.append(&ten(), &mut no_verdicts).unwrap();
        assert_eq!(held(&store).len(), 91);
        store.store = None;
        let verify = |set_aside| EmbeddedStore::verify(store.dir.path(), set_aside).unwrap();
        assert_eq!(verify(false).faults, report.faults);
        assert_eq!(verify(true).set_aside, report.faults);
        assert_eq!(verify(false).faults, []);
    }
}

#[test]
fn every_flipped_bit_of_a_segment_is_found() {
    let mut store = Temporary::new(SMALL);
    store.append(&ten(), &mut no_verdicts).unwrap();
    seal(&mut store);
    store.store = None;
    let path = store.dir.path().join("segments/00000001.arrow");
    let whole = fs::read(&path).unwrap();
    for at in (0..whole.len()).step_by(97) {
        let mut bytes = whole.clone();
        bytes[at] ^= 1 << (at % 8);
        fs::write(&path, &bytes).unwrap();
        let report = EmbeddedStore::verify(store.dir.path(), false).unwrap();
        assert_eq!(report.faults.len(), 1, "byte {at}");
    }
}

#[test]
fn a_damaged_batch_of_the_journal_is_reported_and_set_aside() {
    let mut store = Temporary::new(SMALL);
    store.append(&ten(), &mut no_verdicts).unwrap();
    let later = batch(vec![report("B", 50, 0, &[7.0], Quality::UNCHECKED)]);
    store.append(&later, &mut no_verdicts).unwrap();
    store.store = None;
    let database = rusqlite::Connection::open(store.dir.path().join(DATABASE)).unwrap();
    let blob: Vec<u8> =
        database.query_row("SELECT batch FROM journal WHERE id = 2", [], |row| row.get(0)).unwrap();
    for at in 0..blob.len() {
        let mut bytes = blob.clone();
        bytes[at] ^= 0x40;
        database.execute("UPDATE journal SET batch = ? WHERE id = 2", [bytes]).unwrap();
        if at % 16 == 0 {
            let report = EmbeddedStore::verify(store.dir.path(), false).unwrap();
            assert_eq!(&*report.faults[0].file, "mesonet.sqlite, batch 2 of the journal");
        }
    }
    drop(database);
    store.store = Some(EmbeddedStore::open(store.dir.path(), SMALL).unwrap());
    assert_eq!(held(&store).len(), 90);
    assert_eq!(store.health().faults.len(), 1);
    seal_and_reopen(&mut store);
    assert_eq!((held(&store).len(), store.health().faults.len()), (90, 1));
}

#[test]
fn an_invalid_database_is_an_error_that_names_it() {
    for (harm, damage) in &HARMS[1..3] {
        let mut store = Temporary::new(SMALL);
        store.append(&ten(), &mut no_verdicts).unwrap();
        store.store = None;
        damage(&store.dir.path().join(DATABASE));
        let error = EmbeddedStore::open(store.dir.path(), SMALL).unwrap_err();
        assert!(error.to_string().contains(DATABASE), "{harm}: {error}");
        let error = EmbeddedStore::verify(store.dir.path(), false);
        let named = match error {
            Err(error) => error.to_string().contains(DATABASE),
            Ok(report) => report.faults.iter().any(|fault| fault.file.contains(DATABASE)),
        };
        assert!(named, "{harm}");
    }
}
