//! Damage to sealed readings costs only the readings in the damaged block, and is reported.

use std::collections::BTreeSet;
use std::fs;

use super::mapped::BLOCK_BYTES;
use super::names::DATABASE;
use super::testing::{Temporary, seal};
use super::tests::{NAMES, batch, held, report};
use super::version_6::make_version_6;
use super::*;
use crate::observation::{Quality, StationId, Variable};
use crate::store::{Selection, SeriesSlice, no_verdicts};
use crate::time::ClosedWindow;

/// Number of readings of each series at each station of a large segment.
const TIMES: i64 = 22_000;

/// A byte of the second block, which holds times and values of the first station.
const OF_ONE_STATION: usize = BLOCK_BYTES * 3 / 2;

/// A store that merges nothing.
const SEPARATE: EmbeddedOptions = EmbeddedOptions { seal_readings: 1, segment_readings: 0 };

/// A store that merges segments of any size.
const MERGING: EmbeddedOptions =
    EmbeddedOptions { seal_readings: 1_000_000, segment_readings: 16_000_000 };

const SEGMENT: &str = "segments/00000001.arrow";

pub(super) fn readings(times: std::ops::Range<i64>) -> Batch {
    let reports = times.flat_map(|ts_ms| {
        // No short decimals, so that there are many blocks.
        let value = ts_ms as f64 / 7.0;
        NAMES.map(|name| report(name, ts_ms, 1, &[value, value + 0.5, -value], Quality::GOOD))
    });
    batch(reports.collect())
}

/// A store with one segment of many blocks.
fn large(options: EmbeddedOptions) -> Temporary {
    let mut store = Temporary::new(options);
    store.append(&readings(0..TIMES), &mut no_verdicts).unwrap();
    seal(&mut store);
    store
}

/// The stores that damage is tried on: of this version, and of the one before.
fn both(options: EmbeddedOptions) -> [Temporary; 2] {
    let mut older = large(options);
    make_version_6(&mut older);
    [large(options), older]
}

fn all_times() -> ClosedWindow {
    ClosedWindow::new(i64::MIN, i64::MAX).unwrap()
}

fn damage(store: &dyn Reader, station: &str, window: ClosedWindow) -> u64 {
    let stations = [StationId::new("TEST", station)];
    let selection = Selection { stations: &stations, variables: Variable::ALL, window };
    store.scan(&selection, &mut |_, _| {}).unwrap().blocks()
}

fn damage_of_all(store: &dyn Reader) -> u64 {
    let stations = NAMES.map(|name| StationId::new("TEST", name));
    let selection =
        Selection { stations: &stations, variables: Variable::ALL, window: all_times() };
    store.scan(&selection, &mut |_, _| {}).unwrap().blocks()
}

pub(super) fn flip(path: &Path, at: usize) {
    let mut bytes = fs::read(path).unwrap();
    bytes[at] ^= 0x10;
    fs::write(path, bytes).unwrap();
}

#[test]
fn a_damaged_block_costs_only_its_readings_and_is_reported() {
    for store in both(SEPARATE) {
        a_damaged_block_costs_only_its_readings_and_is_reported_of(store);
    }
}

fn a_damaged_block_costs_only_its_readings_and_is_reported_of(mut store: Temporary) {
    let expected: BTreeSet<_> = held(&store).into_iter().collect();
    let path = store.dir.path().join(SEGMENT);
    let whole = fs::read(&path).unwrap();
    let blocks = whole.len().div_ceil(BLOCK_BYTES);
    assert!(blocks > 6, "{blocks}");
    for block in 0..blocks {
        store.store = None;
        fs::write(&path, &whole).unwrap();
        flip(&path, (block * BLOCK_BYTES + 1000 + block * 7000).min(whole.len() - 1));
        store.reopen();
        let found = held(&store);
        assert!(found.iter().all(|reading| expected.contains(reading)), "block {block}");
        // Damage to the part that identifies the readings costs a whole record batch of 66,000
        // readings; a block holds the beginning of at most one batch. Damage to times and values
        // costs no more than the block holds, 8 bytes each, and 4096 readings at either end; damage
        // to verdicts, no more than one or two batches.
        let lost = expected.len() - found.len();
        assert!(lost <= 132_000, "block {block}: {lost} of {} lost", expected.len());
        assert!(block != 1 || lost <= BLOCK_BYTES / 8 + 2 * 4096, "{lost}");
        let reported = damage_of_all(&store);
        assert_eq!(reported, u64::from(lost > 0), "block {block}: {lost} lost");
        let faults = store.health().faults;
        assert_eq!(faults.len(), 1, "{faults:?}");
        let (start, end) = (block * BLOCK_BYTES, whole.len().min((block + 1) * BLOCK_BYTES));
        assert_eq!(
            faults[0].to_string(),
            format!("{SEGMENT}: bytes {start} to {end} do not match their checksum")
        );
        store.store = None;
        assert_eq!(EmbeddedStore::verify(store.dir.path(), false).unwrap().faults, faults);
    }
}

#[test]
fn a_damaged_segment_stays_in_service() {
    let mut store = large(SEPARATE);
    store.store = None;
    flip(&store.dir.path().join(SEGMENT), OF_ONE_STATION);
    store.reopen();
    let found = held(&store);
    assert_eq!(store.maintain(&Maintenance::default()).unwrap(), MaintenanceReport::default());
    assert_eq!((store.health().segments, held(&store)), (1, found));
}

#[test]
fn answers_without_readings_of_the_damaged_block_do_not_say_so() {
    for store in both(SEPARATE) {
        answers_without_readings_of_the_damaged_block_do_not_say_so_of(store);
    }
}

fn answers_without_readings_of_the_damaged_block_do_not_say_so_of(mut store: Temporary) {
    let expected = held(&store);
    store.store = None;
    flip(&store.dir.path().join(SEGMENT), OF_ONE_STATION);
    store.reopen();
    let found: BTreeSet<_> = held(&store).into_iter().collect();
    let lost: Vec<_> = expected.iter().filter(|reading| !found.contains(reading)).collect();
    assert!(!lost.is_empty() && lost.len() < expected.len());
    let mut clean = 0;
    for (at, name) in NAMES.iter().enumerate() {
        for start_ms in (0..TIMES).step_by(100) {
            let window = ClosedWindow::new(start_ms, start_ms + 99).unwrap();
            let lacks = lost
                .iter()
                .any(|&&(i, _, ts_ms, ..)| i == at && (start_ms..start_ms + 100).contains(&ts_ms));
            let reported = damage(&*store, name, window) > 0;
            assert!(reported || !lacks, "{name} from {start_ms}");
            clean += usize::from(!reported);
        }
    }
    // More is reported than is lost only if it is unknown which station the readings belong to.
    assert!(clean > 100, "{clean}");
}

/// The last readings of all series in a window, and the damage of that answer.
fn latest(store: &dyn Reader, window: ClosedWindow) -> (BTreeSet<(usize, i32, i64, u64)>, u64) {
    let stations = NAMES.map(|name| StationId::new("TEST", name));
    let selection = Selection { stations: &stations, variables: Variable::ALL, window };
    let mut found = BTreeSet::new();
    let damage = store.scan_latest(&selection, &mut |i, slices| {
        let of = |slice: &SeriesSlice<'_>| {
            (i, slice.series.id.0, slice.ts_ms[0], slice.value[0].to_bits())
        };
        found.extend(slices.iter().map(of));
    });
    (found, damage.unwrap().blocks())
}

#[test]
fn damage_counts_in_the_latest_readings_only_where_it_may_hide_them() {
    for is_older in [false, true] {
        damage_of_the_latest(is_older);
    }
}

fn damage_of_the_latest(is_older: bool) {
    let mut store = large(SEPARATE);
    // Later readings, in a segment of their own.
    store.append(&readings(TIMES + 10..TIMES + 12), &mut no_verdicts).unwrap();
    seal(&mut store);
    if is_older {
        make_version_6(&mut store);
    }
    let windows = [(0, TIMES), (5, TIMES / 2), (TIMES - 1, TIMES + 10), (0, TIMES + 20)];
    let windows = windows.map(|(from, to)| ClosedWindow::new(from, to).unwrap());
    let expected = windows.map(|window| latest(&*store, window).0);
    let path = store.dir.path().join(SEGMENT);
    let whole = fs::read(&path).unwrap();
    let (mut hidden, mut beside) = (0, 0);
    for block in 0..whole.len().div_ceil(BLOCK_BYTES) {
        store.store = None;
        fs::write(&path, &whole).unwrap();
        flip(&path, (block * BLOCK_BYTES + 1000 + block * 7000).min(whole.len() - 1));
        for (window, expected) in windows.iter().zip(&expected) {
            // Each answer comes from a store that has seen no damage yet.
            store.reopen();
            let (found, reported) = latest(&*store, *window);
            assert!(reported > 0 || found == *expected, "block {block}, {window:?}");
            hidden += usize::from(found != *expected);
            beside += usize::from(reported == 0 && damage_of_all(&*store) > 0);
        }
    }
    assert!(hidden > 5 && beside > 5, "{hidden} hidden, {beside} beside");
}

#[test]
fn a_truncated_segment_serves_what_is_intact() {
    for store in both(SEPARATE) {
        a_truncated_segment_serves_what_is_intact_of(store);
    }
}

fn a_truncated_segment_serves_what_is_intact_of(mut store: Temporary) {
    let expected: BTreeSet<_> = held(&store).into_iter().collect();
    let path = store.dir.path().join(SEGMENT);
    let length = fs::metadata(&path).unwrap().len();
    for part in [9, 7, 5] {
        store.store = None;
        let cut = length * part / 10;
        fs::File::options().write(true).open(&path).unwrap().set_len(cut).unwrap();
        store.reopen();
        let found = held(&store);
        assert!(found.iter().all(|reading| expected.contains(reading)));
        assert!(found.len() > expected.len() * (part as usize - 4) / 10, "{part}: {}", found.len());
        assert!(damage_of_all(&store) > 0);
        let fault = format!("{SEGMENT}: {cut} bytes long; it must be {length}");
        assert!(store.health().faults.iter().any(|found| found.to_string() == fault));
    }
}

#[test]
fn good_blocks_are_merged_and_losses_stay_reported() {
    let mut store = large(MERGING);
    store.store = None;
    let path = store.dir.path().join(SEGMENT);
    let length = fs::metadata(&path).unwrap().len() as usize;
    flip(&path, OF_ONE_STATION);
    store.reopen();
    for ts_ms in 1..4 {
        let from = ts_ms * 1_000_000;
        store.append(&readings(from..from + 3), &mut no_verdicts).unwrap();
        let all = Maintenance { seal_all: true, ..Maintenance::default() };
        let maintained = store.maintain(&all).unwrap();
        assert_eq!(maintained.merged_segments, if ts_ms == 3 { 4 } else { 0 });
        assert_eq!(maintained.set_aside.len(), usize::from(ts_ms == 3));
    }
    assert_eq!(store.health().segments, 1);
    let found = held(&store);
    assert!(found.len() > 9 * TIMES as usize / 2);
    let reported: Vec<u64> = NAMES.map(|name| damage(&*store, name, all_times())).to_vec();
    assert!(reported.contains(&1) && reported.contains(&0), "{reported:?}");
    let damaged = store.dir.path().join("damaged/00000001.arrow");
    assert_eq!(fs::metadata(&damaged).unwrap().len() as usize, length);
    let faults = store.health().faults;
    assert_eq!(faults.len(), 2, "the bytes, and the readings that they cost: {faults:?}");
    store.reopen();
    assert_eq!(store.health().faults, faults[1..]);
    assert!(faults[1].cause.contains("are lost; the file is kept in damaged/"), "{faults:?}");
    assert_eq!(held(&store), found);
    assert_eq!(NAMES.map(|name| damage(&*store, name, all_times())).to_vec(), reported);
    // Later readings are not lost.
    let later = ClosedWindow::new(1_000_000, 4_000_000).unwrap();
    assert_eq!(NAMES.map(|name| damage(&*store, name, later)), [0; 3]);
    store.store = None;
    // Until the operator accepts the loss.
    let verify = |set_aside| EmbeddedStore::verify(store.dir.path(), set_aside).unwrap();
    assert_eq!(verify(false).faults, faults[1..]);
    assert_eq!(verify(true).set_aside, faults[1..]);
    assert_eq!(verify(false).faults, []);
}

#[test]
fn a_segment_that_is_gone_stays_reported() {
    let mut store = large(SEPARATE);
    store.append(&readings(TIMES..TIMES + 10), &mut no_verdicts).unwrap();
    seal(&mut store);
    store.store = None;
    let blocks = fs::metadata(store.dir.path().join(SEGMENT)).unwrap().len().div_ceil(1 << 18);
    fs::remove_file(store.dir.path().join(SEGMENT)).unwrap();
    store.reopen();
    for _ in 0..2 {
        assert_eq!((held(&store).len(), damage_of_all(&store)), (90, blocks));
        let after = ClosedWindow::new(TIMES, TIMES + 20).unwrap();
        assert_eq!(damage(&*store, "A", after), 0);
        store.maintain(&Maintenance::default()).unwrap();
        assert_eq!((store.health().segments, store.health().faults.len()), (2, 1));
        assert_eq!((held(&store).len(), damage_of_all(&store)), (90, blocks));
        store.reopen();
    }
}

#[test]
fn a_segment_that_the_system_refuses_stays_in_service() {
    let mut store = large(SEPARATE);
    let expected = held(&store);
    store.store = None;
    let path = store.dir.path().join(SEGMENT);
    let elsewhere = store.dir.path().join("elsewhere");
    fs::rename(&path, &elsewhere).unwrap();
    // A folder can be opened like a file, but not mapped.
    fs::create_dir(&path).unwrap();
    fs::write(path.join("x"), "x").unwrap();
    store.reopen();
    assert_eq!(held(&store).len(), 0);
    assert!(damage_of_all(&store) > 6);
    assert_eq!(store.maintain(&Maintenance::default()).unwrap().set_aside, []);
    fs::remove_dir_all(&path).unwrap();
    fs::rename(&elsewhere, &path).unwrap();
    assert_eq!(held(&store), expected);
    assert_eq!(damage_of_all(&store), 0);
}

#[test]
fn intact_parts_of_a_damaged_segment_are_rescued_when_it_is_set_aside() {
    let mut store = large(SEPARATE);
    store.store = None;
    let path = store.dir.path().join(SEGMENT);
    let length = fs::metadata(&path).unwrap().len() as usize;
    flip(&path, length / 3);
    store.reopen();
    let (found, reported) = (held(&store), damage_of_all(&store));
    store.store = None;
    assert_eq!(EmbeddedStore::verify(store.dir.path(), true).unwrap().set_aside.len(), 1);
    assert_eq!(EmbeddedStore::verify(store.dir.path(), false).unwrap().faults, []);
    assert!(store.dir.path().join("damaged/00000001.arrow").exists());
    store.reopen();
    assert_eq!((held(&store), damage_of_all(&store)), (found, reported));
    assert_eq!(store.health().faults.len(), 1);
}

#[test]
fn a_reading_in_a_damaged_block_may_come_in_again() {
    let mut store = large(SEPARATE);
    let expected = held(&store);
    store.store = None;
    let path = store.dir.path().join(SEGMENT);
    let length = fs::metadata(&path).unwrap().len() as usize;
    flip(&path, length / 2);
    store.reopen();
    let lost = expected.len() - held(&store).len();
    let receipt = store.append(&readings(0..TIMES), &mut no_verdicts).unwrap();
    assert_eq!(receipt.added, lost);
    assert_eq!(held(&store), expected);
}

/// A store with ten batches in its journal, each of one time and one station.
fn fresh() -> Temporary {
    let mut store = Temporary::new(SEPARATE);
    for time in 0..10 {
        let name = NAMES[time as usize % NAMES.len()];
        let reports = vec![report(name, time * 1_000, 1, &[time as f64], Quality::GOOD)];
        store.append(&batch(reports), &mut no_verdicts).unwrap();
    }
    store.reopen();
    // Four of the reports mention the weather.
    assert_eq!(store.health().fresh_readings, 14);
    store
}

fn change(store: &mut Temporary, sql: &str) {
    store.store = None;
    let database = rusqlite::Connection::open(store.dir.path().join(DATABASE)).unwrap();
    assert_eq!(database.execute(sql, []).unwrap(), 1);
}

#[test]
fn a_damaged_batch_of_the_journal_is_reported_where_its_readings_would_be() {
    let second = |time: i64| ClosedWindow::new(time * 1_000, time * 1_000 + 999).unwrap();
    let name = |time: i64| NAMES[time as usize % NAMES.len()];
    for set_aside in [false, true] {
        let mut store = fresh();
        let expected = held(&store);
        let sql = "UPDATE journal SET batch = substr(batch, 1, length(batch) - 1) WHERE id = 4";
        change(&mut store, sql);
        if set_aside {
            EmbeddedStore::verify(store.dir.path(), true).unwrap();
        }
        for _ in 0..2 {
            store.reopen();
            let found: BTreeSet<_> = held(&store).into_iter().collect();
            assert_eq!(expected.iter().filter(|reading| !found.contains(reading)).count(), 1);
            for time in 0..10 {
                assert_eq!(damage(&*store, name(time), second(time)), u64::from(time == 3));
                assert_eq!(damage(&*store, name(time + 1), second(time)), 0);
            }
            assert_eq!(store.health().faults.len(), 1, "{:?}", store.health().faults);
        }
    }
}

#[test]
fn a_damaged_batch_whose_note_is_damaged_too_may_have_held_anything() {
    let mut store = fresh();
    change(&mut store, "UPDATE journal SET batch = x'00', note = x'01' WHERE id = 4");
    store.reopen();
    let then = ClosedWindow::new(900_000, 900_001).unwrap();
    assert!(NAMES.iter().all(|name| damage(&*store, name, then) == 1));
}

#[test]
fn a_damaged_note_of_a_batch_costs_no_readings_and_is_repaired() {
    for sql in [
        "UPDATE journal SET note = substr(note, 2) WHERE id = 4",
        "UPDATE journal SET generation = generation + 64 WHERE id = 4",
    ] {
        let mut store = fresh();
        let expected = held(&store);
        change(&mut store, sql);
        let fault = "mesonet.sqlite, batch 4 of the journal: its note is corrupt";
        store.reopen();
        let reported: Vec<String> = store.health().faults.iter().map(Fault::to_string).collect();
        assert_eq!((held(&store), reported), (expected.clone(), vec![fault.to_owned()]));
        store.store = None;
        let report = EmbeddedStore::verify(store.dir.path(), true).unwrap();
        assert_eq!(report.set_aside.iter().map(Fault::to_string).collect::<Vec<_>>(), [fault]);
        assert_eq!(EmbeddedStore::verify(store.dir.path(), false).unwrap().faults, []);
        store.reopen();
        assert_eq!((held(&store), store.health().faults), (expected, vec![]));
        assert_eq!(damage_of_all(&*store), 0);
    }
}
