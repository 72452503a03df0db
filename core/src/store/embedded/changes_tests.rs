//! What the batches of the journal changed is told again, exactly, as long as it is in the journal.

use super::testing::{SMALL, Temporary, seal};
use super::tests::{NAMES, batch, keys, report};
use super::*;
use crate::observation::{BaseQuality, Quality, ReasonQuality, StationId};
use crate::store::{ChangeLog, Changes, Verdicts, no_verdicts};

const BROKEN: Quality =
    Quality { base: BaseQuality::Instrumentation, reason: ReasonQuality::Unknown };
const MOST: usize = 1 << 20;
const LARGE: EmbeddedOptions =
    EmbeddedOptions { seal_readings: 1_000_000, segment_readings: 1_000_000 };

fn id(name: &str) -> StationId {
    StationId::new("TEST", name)
}

/// Number, then station, series, time, value, verdict, and whether only that is new.
type Contents = Vec<(u64, Vec<(StationId, i32, i64, f64, Quality, bool)>)>;

fn contents(changes: &Changes) -> Contents {
    let batches = changes.batches.iter().map(|batch| {
        let readings = batch.by_station().flat_map(|(id, readings)| {
            readings.iter().map(move |of| {
                let series = batch.series[of.series as usize].id.0;
                (id, series, of.ts_ms, of.value, of.quality, of.is_revised)
            })
        });
        (batch.number, readings.collect())
    });
    batches.collect()
}

/// A verdict of a person on an older reading, together with new readings: before them and after
/// them in the order of the batch.
fn mixed(store: &EmbeddedStore) -> Contents {
    let [temperature, wind, _] = keys().map(|key| key.id());
    let one = |name, ts_ms, value| report(name, ts_ms, 0, &[value], Quality::UNCHECKED);
    store.append(&batch(vec![one("A", 1, 1.5), one("B", 1, 2.5)]), &mut no_verdicts).unwrap();
    let again = batch(vec![one("A", 1, 1.5)]);
    assert_eq!(store.append(&again, &mut no_verdicts).unwrap().unchanged, 1);
    let judge: &mut VerdictFn<'_> = &mut |_| {
        let of = |name, ts_ms: Vec<i64>| Verdicts {
            station: id(name),
            series: temperature,
            quality: vec![BROKEN; ts_ms.len()],
            ts_ms,
        };
        Ok(vec![of("A", vec![1, 2]), of("B", vec![1])])
    };
    let reports = vec![report("A", 2, 0, &[3.5, 20.0], Quality::UNCHECKED), one("C", 0, 4.5)];
    assert_eq!(store.append(&batch(reports), judge).unwrap().revised, 3);
    // A value that is corrected is no mere verdict.
    store
        .append(&batch(vec![report("A", 2, 1, &[3.6], Quality::UNCHECKED)]), &mut no_verdicts)
        .unwrap();
    let (plain, temperature, wind) = (Quality::UNCHECKED, temperature.0, wind.0);
    let by_station = |mut readings: Vec<(StationId, i32, i64, f64, Quality, bool)>| {
        readings.sort_by_key(|&(id, series, ts_ms, ..)| (id, series, ts_ms));
        readings
    };
    vec![
        (
            1,
            by_station(vec![
                (id("A"), temperature, 1, 1.5, plain, false),
                (id("B"), temperature, 1, 2.5, plain, false),
            ]),
        ),
        (
            2,
            by_station(vec![
                (id("A"), temperature, 1, 1.5, BROKEN, true),
                (id("A"), temperature, 2, 3.5, BROKEN, false),
                (id("A"), wind, 2, 20.0, plain, false),
                (id("B"), temperature, 1, 2.5, BROKEN, true),
                (id("C"), temperature, 0, 4.5, plain, false),
            ]),
        ),
        (3, vec![(id("A"), temperature, 2, 3.6, plain, false)]),
    ]
}

#[test]
fn each_batch_is_told_with_what_only_got_another_verdict() {
    let mut store = Temporary::new(LARGE);
    let expected = mixed(&store);
    let changes = store.changes_after(0, MOST).unwrap();
    assert_eq!((changes.known_after, changes.last), (0, 3));
    assert_eq!(contents(&changes), expected);
    assert_eq!(contents(&store.changes_after(2, MOST).unwrap()), expected[2..]);
    assert_eq!(contents(&store.changes_after(3, MOST).unwrap()), []);
    assert_eq!(contents(&store.changes_after(u64::MAX, MOST).unwrap()), []);
    // A reader and the next process tell the same.
    let reader = EmbeddedReader::open(store.dir.path()).unwrap();
    assert_eq!(reader.changes_after(0, MOST).unwrap(), changes);
    store.reopen();
    assert_eq!(store.changes_after(0, MOST).unwrap(), changes);
}

/// A reader tells only what it also serves.
#[test]
fn a_reader_tells_what_it_has_read() {
    let store = Temporary::new(LARGE);
    let reader = EmbeddedReader::open(store.dir.path()).unwrap();
    mixed(&store);
    assert_eq!(reader.changes_after(0, MOST).unwrap(), Changes::default());
    reader.refresh().unwrap();
    assert_eq!(reader.changes_after(0, MOST).unwrap(), store.changes_after(0, MOST).unwrap());
}

#[test]
fn sealed_batches_are_no_longer_told_and_their_numbers_never_come_again() {
    let mut store = Temporary::new(SMALL);
    mixed(&store);
    seal(&mut store);
    let sealed = Changes { known_after: 3, last: 3, batches: Vec::new() };
    assert_eq!(store.changes_after(0, MOST).unwrap(), sealed);
    store.reopen();
    assert_eq!(store.changes_after(0, MOST).unwrap(), sealed);
    let next = batch(vec![report("A", 9, 0, &[9.5], Quality::UNCHECKED)]);
    store.append(&next, &mut no_verdicts).unwrap();
    let changes = store.changes_after(0, MOST).unwrap();
    assert_eq!((changes.known_after, changes.last), (3, 4));
    assert_eq!(contents(&changes)[0].0, 4);
}

/// A long journal is told in parts, none of which skips a batch.
#[test]
fn much_is_told_in_parts() {
    let store = Temporary::new(LARGE);
    let reports = |round: i64| {
        let times = (0..5_000).map(move |at| round * 5_000 + at);
        times.map(|ts_ms| report(NAMES[0], ts_ms, 0, &[1.0, 2.0, 3.0], Quality::UNCHECKED))
    };
    for round in 0..8 {
        store.append(&batch(reports(round).collect()), &mut no_verdicts).unwrap();
    }
    let (mut after, mut parts) = (0, 0);
    while after < 8 {
        let changes = store.changes_after(after, MOST).unwrap();
        assert!(changes.batches.len() < 8);
        for batch in &changes.batches {
            assert_eq!(batch.number, after + 1);
            after = batch.number;
        }
        parts += 1;
    }
    assert!(parts > 1);
}

/// A damaged batch is left out, so that its number is missing.
#[test]
fn a_damaged_batch_is_missing() {
    let mut store = Temporary::new(LARGE);
    mixed(&store);
    store
        .state()
        .catalogue
        .transaction(|transaction| {
            transaction.execute("UPDATE journal SET batch = x'00' WHERE id = 2", [])
        })
        .unwrap();
    let numbers = |store: &Temporary| -> Vec<u64> {
        let changes = store.changes_after(0, MOST).unwrap();
        changes.batches.iter().map(|batch| batch.number).collect()
    };
    assert_eq!(numbers(&store), [1, 3]);
    store.reopen();
    assert_eq!(numbers(&store), [1, 3]);
}
