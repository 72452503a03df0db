use std::fs;

use tempfile::TempDir;

use super::*;
use crate::store::embedded::testing::SMALL;
use crate::store::{AlertStore, EmbeddedStore};

fn message(at: usize) -> alert::Message {
    // Some with pages of their own.
    let sender = "x".repeat(if at.is_multiple_of(7) { 9_000 } else { 300 });
    alert::Message { id: format!("{at:03}"), sender, ..alert::Message::default() }
}

const COUNT: usize = 120;

/// A folder with alerts, all of them in the database file.
fn folder() -> (TempDir, Vec<u8>) {
    let dir = tempfile::tempdir().unwrap();
    drop(EmbeddedStore::open(dir.path(), SMALL).unwrap());
    let (alerts, faults) = AlertStore::open(dir.path()).unwrap();
    assert_eq!(faults, []);
    for at in 0..COUNT {
        alerts.append(vec![message(at)]).unwrap();
    }
    drop(alerts);
    let bytes = fs::read(dir.path().join(ALERTS)).unwrap();
    (dir, bytes)
}

/// What a server does with a damaged file: it has all alerts, or says how many it lacks, or says
/// that it cannot read them. Then `--set-aside` mends the file.
fn is_reported(dir: &Path, harm: &str) -> bool {
    let lacks = match AlertStore::open(dir) {
        Err(_) => true,
        Ok((alerts, faults)) => {
            let record = alerts.record();
            for found in &record.messages {
                assert_eq!(**found, message(found.id.parse().unwrap()), "{harm}");
            }
            let lacking = COUNT - record.messages.len();
            assert_eq!(alerts.faults(), faults.len(), "{harm}");
            let is_reported = alerts.damaged() == lacking as u64 || alerts.failure().is_some();
            assert!(is_reported, "{harm}: {lacking} are missing; {faults:?}");
            assert!(lacking == 0 || !faults.is_empty(), "{harm}");
            lacking > 0
        }
    };
    if lacks {
        let report = EmbeddedStore::verify(dir, true).unwrap();
        assert!(!report.faults.is_empty(), "{harm}: verify finds nothing");
        let (alerts, faults) =
            AlertStore::open(dir).unwrap_or_else(|error| panic!("{harm}: {error}"));
        assert_eq!((faults, alerts.failure(), alerts.damaged()), (vec![], None, 0), "{harm}");
        alerts.append(vec![message(COUNT)]).unwrap();
        drop(alerts);
        assert_eq!(EmbeddedStore::verify(dir, false).unwrap().faults, [], "{harm}");
    }
    lacks
}

/// The folder with another file in place of the database, and nothing left of earlier harm.
fn put(dir: &Path, count: &[u8], bytes: &[u8]) {
    for name in ["alerts.sqlite-wal", "alerts.sqlite-shm"] {
        let _ = fs::remove_file(dir.join(name));
    }
    let _ = fs::remove_dir_all(dir.join(DAMAGED));
    fs::write(dir.join(ALERT_COUNT), count).unwrap();
    fs::write(dir.join(ALERTS), bytes).unwrap();
}

#[test]
fn no_flipped_bit_costs_an_alert_without_a_word() {
    let (dir, bytes) = folder();
    let count = fs::read(dir.path().join(ALERT_COUNT)).unwrap();
    let mut reported = 0;
    // The start of each page holds the structure of the page; 97 and 4,096 share no factor.
    let starts = (0..bytes.len()).step_by(4_096).flat_map(|page| (0..16).map(move |at| page + at));
    let spread = (100..bytes.len()).step_by(bytes.len() / 150).map(|at| at / 97 * 97);
    for (i, at) in starts.chain(spread).enumerate() {
        let mut flipped = bytes.clone();
        flipped[at] ^= 1 << (i % 8);
        put(dir.path(), &count, &flipped);
        reported += usize::from(is_reported(dir.path(), &format!("bit {} of byte {at}", i % 8)));
    }
    assert!(reported > 50, "{reported}");
}

#[test]
fn no_zeroed_page_and_no_cut_costs_an_alert_without_a_word() {
    let (dir, bytes) = folder();
    let count = fs::read(dir.path().join(ALERT_COUNT)).unwrap();
    for page in (0..bytes.len()).step_by(4_096) {
        let mut zeroed = bytes.clone();
        let end = bytes.len().min(page + 4_096);
        zeroed[page..end].fill(0);
        put(dir.path(), &count, &zeroed);
        is_reported(dir.path(), &format!("page at {page}"));
        put(dir.path(), &count, &bytes[..page]);
        is_reported(dir.path(), &format!("cut to {page}"));
        put(dir.path(), &count, &bytes[..page + 1_000]);
        is_reported(dir.path(), &format!("cut to {}", page + 1_000));
    }
}

/// A message that comes again takes the place of the damaged row.
#[test]
fn a_damaged_alert_may_come_in_again() {
    let (dir, mut bytes) = folder();
    // Rows have moved, and their old bytes are still in the file.
    let id = b"\"id\":\"050\"";
    for at in 0..bytes.len() - 100 {
        if bytes[at..].starts_with(id) {
            bytes[at + 60] ^= 4;
        }
    }
    fs::write(dir.path().join(ALERTS), bytes).unwrap();
    let (alerts, faults) = AlertStore::open(dir.path()).unwrap();
    assert_eq!((alerts.damaged(), faults.len()), (1, 1));
    assert_eq!(alerts.append((0..COUNT).map(message).collect()).unwrap().added, 1);
    drop(alerts);
    let (alerts, faults) = AlertStore::open(dir.path()).unwrap();
    assert_eq!((alerts.record().messages.len(), faults), (COUNT, vec![]));
}

#[test]
fn the_number_of_alerts_follows_what_comes_and_goes() {
    let dir = tempfile::tempdir().unwrap();
    drop(EmbeddedStore::open(dir.path(), SMALL).unwrap());
    let ended = |at: usize, expires_ms| {
        let part = alert::Part { expires_ms: Some(expires_ms), ..alert::Part::default() };
        alert::Message { parts: vec![part], ..message(at) }
    };
    let alerts = AlertStore::open(dir.path()).unwrap().0;
    alerts.append((0..20).map(|at| ended(at, at as i64)).collect()).unwrap();
    let again = (0..5).map(|at| alert::Message { sent_ms: 1, ..ended(at, 100) });
    assert_eq!(alerts.append(again.collect()).unwrap().replaced, 5);
    assert_eq!(alerts.expire(10).unwrap(), 5);
    drop(alerts);
    let (alerts, faults) = AlertStore::open(dir.path()).unwrap();
    assert_eq!((alerts.record().messages.len(), faults, alerts.failure()), (15, vec![], None));
    assert_eq!(EmbeddedStore::verify(dir.path(), false).unwrap().faults, []);
}

/// A database of version 2 has no number of alerts: its content is taken as complete.
#[test]
fn an_older_database_gets_the_number_of_its_alerts() {
    let (dir, _) = folder();
    let connection = Connection::open(dir.path().join(ALERTS)).unwrap();
    let back = "ALTER TABLE change DROP COLUMN alerts; PRAGMA user_version = 2";
    connection.execute_batch(back).unwrap();
    drop(connection);
    assert_eq!(EmbeddedStore::verify(dir.path(), false).unwrap().faults, []);
    let (alerts, faults) = AlertStore::open(dir.path()).unwrap();
    assert_eq!((alerts.record().messages.len(), faults), (COUNT, vec![]));
}
