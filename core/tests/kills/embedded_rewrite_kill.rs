//! Writing the segments of an earlier version anew loses nothing, whenever it is killed.
//!
//! A child process opens a record of version 6 and maintains it, which writes one segment anew at a
//! time; it is killed (SIGKILL) at random moments, several times on one record. After each kill the
//! record holds what it held before, each reading once, and is intact; maintenance goes on from
//! there.
//!
//! `MESONET_KILLS` sets the minimum number of kills; the default is 200.

use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

use mesonet::store::{EmbeddedOptions, Maintenance};
use mesonet::{EmbeddedStore, Reader};

use crate::embedded_kill::{held, segment_files};
use crate::kill::{Kills, Test, chance, run_until_killed};
use crate::version_6::{SEGMENTS, unpack};

/// Nothing is merged: a merge writes old segments anew too.
const OPTIONS: EmbeddedOptions = EmbeddedOptions { seal_readings: 1_000_000, segment_readings: 1 };

/// Maintains the record until it is killed.
fn child(_: u64, dir: &Path) {
    println!("opening");
    let store = EmbeddedStore::open(dir, OPTIONS).unwrap();
    println!("maintenance");
    while store.maintain(&Maintenance::default()).unwrap().rewritten_segments > 0 {}
    loop {
        sleep(Duration::from_secs(1));
    }
}

/// Writes all old segments anew, and returns how many there were.
fn rewrite(store: &EmbeddedStore) -> usize {
    let mut rewritten = 0;
    loop {
        let done = store.maintain(&Maintenance::default()).unwrap();
        assert_eq!((done.merged_segments, done.set_aside), (0, Vec::new()));
        if done.rewritten_segments == 0 {
            return rewritten;
        }
        rewritten += done.rewritten_segments;
    }
}

fn old_segments_survive_a_kill_while_they_are_written_anew() {
    let kills = Kills::new(200);
    let folder = tempfile::tempdir().unwrap();
    let untouched = folder.path().join("untouched");
    unpack(&untouched);
    let store = EmbeddedStore::open(&untouched, OPTIONS).unwrap();
    let (expected, stations) = (held(&store), store.directory().unwrap().stations.clone());
    assert!(expected.len() > 100);
    drop(store);

    let (mut kill, mut number, mut unfinished, mut in_between) = (0, 0, 0, 0);
    let mut dir = folder.path().join("0");
    unpack(&dir);
    while kills.go_on(kill, &[("in unfinished writing", unfinished), ("in between", in_between)]) {
        let sign = if kill % 4 == 0 { "opening" } else { "maintenance" };
        let delay = Duration::from_micros(chance(kill) % 30_000);
        run_until_killed(&TEST, 0, &dir, &[sign], delay);

        let store = EmbeddedStore::open(&dir, OPTIONS).unwrap();
        let health = store.health();
        unfinished += usize::from(health.swept_files > 0);
        assert_eq!(health.faults, [], "kill {kill}");
        assert_eq!(
            (health.segments, segment_files(&dir).len()),
            (SEGMENTS, SEGMENTS),
            "kill {kill}"
        );
        assert!(held(&store) == expected, "kill {kill}");
        assert_eq!(store.directory().unwrap().stations, stations, "kill {kill}");
        drop(store);
        assert_eq!(EmbeddedStore::verify(&dir, false).unwrap().faults, [], "kill {kill}");
        kill += 1;
        // The next kill is on the same record, or the rest is written and another record begun.
        if chance(kill ^ 0xabcd).is_multiple_of(2) {
            continue;
        }
        let store = EmbeddedStore::open(&dir, OPTIONS).unwrap();
        let left = rewrite(&store);
        in_between += usize::from((1..SEGMENTS).contains(&left));
        assert!(held(&store) == expected, "kill {kill}, {left} segments later");
        drop(store);
        assert_eq!(EmbeddedStore::verify(&dir, false).unwrap().faults, [], "kill {kill}");
        std::fs::remove_dir_all(&dir).unwrap();
        number += 1;
        dir = folder.path().join(number.to_string());
        unpack(&dir);
    }
    println!(
        "{kill} kills on {} records of {} readings in {SEGMENTS} segments; {unfinished} left the file of an \
         unfinished segment, and on {in_between} records some segments were written and others were not",
        number + 1,
        expected.len()
    );
}

pub const TEST: Test = Test {
    name: "old_segments_survive_a_kill_while_they_are_written_anew",
    test: old_segments_survive_a_kill_while_they_are_written_anew,
    child,
};
