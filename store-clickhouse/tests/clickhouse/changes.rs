//! What batches have changed is told again, as the store on disk tells it.

use mesonet::store::{ChangeLog, ChangedBatch, EmbeddedOptions, Verdicts, no_verdicts};
use mesonet::time::DAY_MS;
use mesonet::{BaseQuality, Batch, EmbeddedStore, Quality, ReasonQuality, Report, Store};
use mesonet_clickhouse::{ClickHouseReader, ClickHouseStore};

use crate::support::{append, id, migrated, open, report, sql, station, temperature};

const MOST: usize = 1 << 20;
const BROKEN: Quality =
    Quality { base: BaseQuality::Instrumentation, reason: ReasonQuality::Unknown };

/// Reads everything after a batch, so many bytes at once.
fn batches_after(log: &dyn ChangeLog, mut after: u64, most_bytes: usize) -> Vec<ChangedBatch> {
    let mut batches: Vec<ChangedBatch> = Vec::new();
    loop {
        let changes = log.changes_after(after, most_bytes).unwrap();
        assert!(changes.known_after <= after, "{changes:?}");
        let Some(last) = changes.batches.last() else { break };
        assert!(changes.batches[0].after <= after);
        assert!(changes.batches.is_sorted_by(|a, b| a.number <= b.after));
        after = last.number;
        batches.extend(changes.batches);
    }
    assert_eq!(log.changes_after(after, 0).unwrap().last, after);
    batches
}

/// What batches say, whatever numbers they and their series have.
fn contents(batches: &[ChangedBatch]) -> Vec<String> {
    let with_readings = batches.iter().filter(|batch| !batch.readings.is_empty());
    let text = with_readings.map(|batch| {
        let readings = batch.by_station().flat_map(|(station, readings)| {
            readings.iter().map(move |of| {
                let key = &batch.series[of.series as usize].key;
                let (ts_ms, value, quality) = (of.ts_ms, of.value, of.quality);
                format!("{station} {key:?} {ts_ms} {value} {quality:?} {}", of.is_revised)
            })
        });
        readings.collect::<Vec<_>>().join("\n")
    });
    text.collect()
}

/// Batches with corrections, verdicts on older readings, late readings of other days, and nothing
/// new.
fn fill(store: &dyn Store) {
    let verdicts = |name: &str, ts_ms: Vec<i64>| Verdicts {
        station: id(name),
        series: temperature().id(),
        quality: vec![BROKEN; ts_ms.len()],
        ts_ms,
    };
    append(store, vec![report("A", 1, 0, 1.5), report("B", 1, 0, 2.5)]);
    append(store, vec![report("A", 1, 0, 1.5)]);
    let reports = vec![report("A", 2, 0, 3.5), report("B", -40 * DAY_MS, 0, 4.5)];
    let stations = vec![station("A"), station("B"), station("C")];
    let batch = Batch { stations, reports };
    let judge = vec![verdicts("A", vec![1, 2]), verdicts("B", vec![1])];
    store.append(&batch, &mut |_| Ok(judge.clone())).unwrap();
    append(store, vec![report("A", 2, 1, 3.6)]);
    // Nothing but a verdict, between others of its series.
    let later: Vec<Report> = (3..30).map(|ts_ms| report("A", ts_ms, 0, 0.5)).collect();
    append(store, later);
    let judge = vec![verdicts("A", vec![4, 5, 9])];
    assert_eq!(store.append(&Batch::default(), &mut |_| Ok(judge.clone())).unwrap().revised, 3);
    let far: Vec<Report> = (0..40).map(|n| report("B", 3 * n * DAY_MS + 7, 0, 1.0)).collect();
    append(store, far);
}

pub fn batches_are_told_as_by_the_store_on_disk(url: &str) {
    let folder = tempfile::tempdir().unwrap();
    let on_disk = EmbeddedStore::open(folder.path(), EmbeddedOptions::default()).unwrap();
    fill(&on_disk);
    let expected = contents(&batches_after(&on_disk, 0, MOST));
    assert_eq!(expected.len(), 6);
    let options = migrated(url);
    // Also from before there is a writer.
    let reader = ClickHouseReader::open(&options).unwrap();
    assert_eq!(batches_after(&reader, 0, MOST), []);
    let store = open(&options);
    fill(&store);
    assert_eq!(batches_after(&reader, 0, MOST), [], "it has not looked yet");
    reader.update().unwrap();
    for most_bytes in [MOST, 100, 0] {
        assert_eq!(contents(&batches_after(&store, 0, most_bytes)), expected);
        assert_eq!(contents(&batches_after(&reader, 0, most_bytes)), expected);
    }
    // A block that was sent again is there twice until it is merged.
    sql(&options, "INSERT INTO changes SELECT * FROM changes");
    sql(&options, "INSERT INTO readings SELECT * FROM readings");
    assert_eq!(contents(&batches_after(&store, 0, MOST)), expected);
    let one = store.changes_after(0, 0).unwrap().batches;
    assert_eq!(one.len(), 1, "at least one, and no more than was asked for");
    // The next writer goes on.
    let before = store.changes_after(u64::MAX, 0).unwrap().last;
    let store = open(&options);
    append(&store, vec![report("B", 50, 0, 9.0)]);
    assert_eq!(contents(&batches_after(&store, 0, MOST))[..6], expected);
    reader.update().unwrap();
    for log in [&store as &dyn ChangeLog, &reader] {
        let after = contents(&batches_after(log, before, MOST));
        assert!(after.len() == 1 && after[0].contains(" 50 9 "), "{after:?}");
    }
}

pub fn what_is_no_longer_known_batch_by_batch_is_not_told(url: &str) {
    let options = migrated(url);
    let store = open(&options);
    let last = |store: &ClickHouseStore| store.changes_after(u64::MAX, 0).unwrap().last;
    let began = last(&store);
    append(&store, vec![report("A", 10, 0, 1.0)]);
    append(&store, vec![report("A", 2 * DAY_MS, 0, 2.0)]);
    // The day of a batch was dropped.
    store.maintain(Some(DAY_MS)).unwrap();
    let changes = store.changes_after(began, MOST).unwrap();
    assert_eq!(changes.known_after, began + 1);
    assert_eq!(contents(&changes.batches).len(), 1);
    assert_eq!(batches_after(&store, began + 1, MOST), changes.batches);
    // Another version wrote batches without saying what they changed.
    let day = sql(&options, "SELECT DISTINCT written_day FROM changes");
    for day in day.lines() {
        sql(&options, &format!("ALTER TABLE changes DROP PARTITION {day}"));
    }
    let changes = store.changes_after(began, MOST).unwrap();
    assert_eq!((changes.known_after, changes.batches), (last(&store), vec![]));
    let known = last(&store);
    append(&store, vec![report("A", 3 * DAY_MS, 0, 3.0)]);
    let changes = store.changes_after(began, MOST).unwrap();
    assert_eq!((changes.known_after, changes.batches.len()), (known, 1));
    assert_eq!(contents(&batches_after(&store, known, MOST)).len(), 1);
}

/// A reader shows a batch that its writer could not finish before another one took over.
pub fn after_a_batch_that_does_not_count_listeners_begin_anew(url: &str) {
    let options = migrated(url);
    let store = open(&options);
    append(&store, vec![report("A", 10, 0, 1.0)]);
    let last = store.changes_after(u64::MAX, 0).unwrap().last;
    let late = last + 1;
    sql(&options, &format!("INSERT INTO batches VALUES ({late}, 2, 2, 1)"));
    let reader = ClickHouseReader::open(&options).unwrap();
    assert_eq!(reader.changes_after(u64::MAX, 0).unwrap().last, late);
    sql(&options, &format!("INSERT INTO batches VALUES ({late}, 3, 0, 0)"));
    let store = open(&options);
    store.append(&Batch::default(), &mut no_verdicts).unwrap();
    append(&store, vec![report("A", 20, 0, 2.0)]);
    reader.update().unwrap();
    let changes = reader.changes_after(late, MOST).unwrap();
    assert_eq!((changes.known_after, changes.batches), (changes.last, vec![]));
    assert_eq!(contents(&batches_after(&reader, last, MOST)).len(), 1);
}

/// What a batch that failed halfway wrote is not told.
pub fn a_batch_without_an_end_is_not_told(url: &str) {
    let options = migrated(url);
    let store = open(&options);
    append(&store, vec![report("A", 10, 0, 1.0)]);
    let last = store.changes_after(u64::MAX, 0).unwrap().last;
    let begun = last + 1;
    sql(&options, &format!("INSERT INTO batches VALUES ({begun}, 1, 2, 1)"));
    sql(&options, &format!("INSERT INTO changes VALUES ({begun}, 1, {last}, [0], 1, [])"));
    let row = "station, series, 20, 0, batch + 1, -99, quality, source, revision, qualifier";
    sql(&options, &format!("INSERT INTO readings SELECT {row} FROM readings"));
    let reader = ClickHouseReader::open(&options).unwrap();
    assert_eq!(batches_after(&reader, last, MOST), []);
    let store = open(&options);
    append(&store, vec![report("A", 30, 0, 3.0)]);
    reader.update().unwrap();
    for log in [&store as &dyn ChangeLog, &reader] {
        let after = contents(&batches_after(log, last, MOST));
        assert!(after.len() == 1 && after[0].contains(" 30 3 "), "{after:?}");
    }
}
