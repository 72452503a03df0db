//! Recent readings in memory: they are those of the record, whatever becomes of it.

use mesonet::store::{StoreError, no_verdicts};
use mesonet::time::{DAY_MS, HOUR_MS};
use mesonet::{Batch, Reader, Store};
use mesonet_clickhouse::{Changed, ClickHouseReader, ClickHouseStore, Options, RecentReadings};

use crate::between::before_it_is_asked;
use crate::support::{append, held, migrated, open, report, sql, station};

const NONE: RecentReadings = RecentReadings { from_ms: None, readings: 0, bytes: 0 };

/// Asks for all readings of the tests.
const ALL: std::ops::Range<i64> = 0..DAY_MS;

pub fn recent_readings_are_not_asked_for(url: &str) {
    let options = migrated(url);
    let store = open(&options);
    append(&store, vec![report("A", 10, 0, 1.0), report("A", HOUR_MS, 0, 2.0)]);
    let reader = ClickHouseReader::open(&options).unwrap();
    let kept = store.keep_recent(20..DAY_MS, usize::MAX).unwrap();
    assert_eq!((kept.from_ms, kept.readings), (Some(20), 1));
    assert_eq!(reader.keep_recent(20..DAY_MS, usize::MAX), Ok(kept));
    append(&store, vec![report("A", 30, 0, 3.0), report("A", HOUR_MS, 1, 4.0)]);
    reader.update().unwrap();
    // The tables lose them.
    sql(&options, "RENAME TABLE readings TO elsewhere");
    sql(&options, "CREATE TABLE readings AS elsewhere ENGINE = Memory");
    for of in [&store as &dyn Reader, &reader] {
        assert_eq!(held(of, "A"), [(30, 3.0), (HOUR_MS, 4.0)]);
    }
    // A correction is told from what is known, which is in memory.
    let reports = vec![report("A", HOUR_MS, 0, 5.0), report("A", 30, 0, 3.0)];
    let batch = Batch { stations: vec![], reports };
    let receipt = store.append(&batch, &mut no_verdicts).unwrap();
    assert_eq!((receipt.overtaken, receipt.unchanged), (1, 1));
    // Without recent readings, all are asked for again.
    assert_eq!(store.keep_recent(i64::MAX..i64::MAX, usize::MAX), Ok(NONE));
    assert_eq!(held(&store, "A"), []);
}

pub fn more_than_fit_are_kept_for_fewer_hours(url: &str) {
    let options = migrated(url);
    let store = open(&options);
    let hourly = |hours: std::ops::Range<i64>| {
        hours.map(|hour| report("A", hour * HOUR_MS, 0, hour as f64)).collect::<Vec<_>>()
    };
    append(&store, hourly(0..24));
    // The newest reading is of a clock that is ahead.
    append(&store, vec![report("A", 400 * DAY_MS, 0, 1.0)]);
    let all = held(&store, "A");
    let span = 0..23 * HOUR_MS;
    let keep = |store: &ClickHouseStore, most| {
        let kept = store.keep_recent(span.clone(), most).unwrap();
        assert!(kept.bytes <= most, "{kept:?}");
        (kept.from_ms, kept.readings, kept.bytes)
    };
    let (_, 25, whole) = keep(&open(&options), usize::MAX) else { panic!("not all are kept") };
    // Six hours are together. All that are from later come with the last of them.
    let store = open(&options);
    let last = keep(&store, whole / 2);
    assert_eq!((last.0, last.1), (Some(18 * HOUR_MS), 7));
    assert_eq!(held(&store, "A"), all);
    // Not again with each look: that would read them for nothing.
    assert_eq!(keep(&store, whole), last);
    append(&store, hourly(24..40));
    assert_eq!(keep(&store, usize::MAX).1, 23);
    let fewer = keep(&store, whole * 3 / 5);
    assert_eq!((fewer.0, fewer.1), (Some(30 * HOUR_MS), 11));
    // All that there are, however long the span is.
    let long = open(&options).keep_recent(i64::MIN..23 * HOUR_MS, usize::MAX).unwrap();
    assert_eq!((long.from_ms, long.readings), (Some(i64::MIN), 41));
    // None fit.
    let store = open(&options);
    assert_eq!(store.keep_recent(span.clone(), 100), Ok(NONE));
    assert_eq!(held(&store, "A").len(), 41);
    // An hour later some do. The clock was ahead by a year, and is back.
    let year = store.keep_recent(365 * DAY_MS..366 * DAY_MS, 1000).unwrap();
    assert_eq!((year.from_ms, year.readings), (Some(365 * DAY_MS), 1));
    assert_eq!(keep(&store, usize::MAX).1, 41);
}

pub fn what_retention_dropped_is_not_shown_from_memory(url: &str) {
    let options = migrated(url);
    let store = open(&options);
    append(&store, vec![report("A", 10, 0, 1.0), report("A", 2 * DAY_MS, 0, 2.0)]);
    let reader = ClickHouseReader::open(&options).unwrap();
    store.keep_recent(0..3 * DAY_MS, usize::MAX).unwrap();
    reader.keep_recent(0..3 * DAY_MS, usize::MAX).unwrap();
    store.maintain(Some(DAY_MS)).unwrap();
    reader.update().unwrap();
    for moved_back in [false, true] {
        for of in [&store as &dyn Reader, &reader] {
            assert_eq!(held(of, "A"), [(2 * DAY_MS, 2.0)], "{moved_back}");
        }
        store.retain_from(0).unwrap();
        reader.update().unwrap();
    }
    append(&store, vec![report("A", 20, 0, 3.0)]);
    reader.update().unwrap();
    for of in [&store as &dyn Reader, &reader] {
        assert_eq!(held(of, "A"), [(20, 3.0), (2 * DAY_MS, 2.0)]);
    }
}

/// The batch is committed, and the store is not told.
pub fn a_batch_in_doubt_is_in_memory_if_it_counts(url: &str) {
    let options = migrated(url);
    let hidden = {
        let options = options.clone();
        move || drop(sql(&options, "RENAME TABLE writers TO elsewhere"))
    };
    // After the states of stations, the batch is committed. Then the writer asks who writes.
    let urls = vec![before_it_is_asked(url, "INTO+%60stations%60", hidden)];
    let store = open(&Options { urls, ..options.clone() });
    store.keep_recent(ALL, usize::MAX).unwrap();
    let batch = Batch { stations: vec![station("A")], reports: vec![report("A", 10, 0, 1.0)] };
    let failed = store.append(&batch, &mut no_verdicts).unwrap_err();
    assert!(matches!(failed, StoreError::Unavailable { .. }), "{failed}");
    assert_eq!(held(&store, "A"), []);
    sql(&options, "RENAME TABLE elsewhere TO writers");
    append(&store, vec![report("A", 20, 0, 2.0)]);
    let expected = [(10, 1.0), (20, 2.0)];
    assert_eq!(store.keep_recent(ALL, usize::MAX).unwrap().readings, 2);
    assert_eq!(held(&store, "A"), expected);
    assert_eq!(held(&open(&options), "A"), expected);
}

pub fn a_batch_that_no_longer_counts_leaves_memory(url: &str) {
    let options = migrated(url);
    let store = open(&options);
    append(&store, vec![report("A", 10, 0, 1.0)]);
    let reader = ClickHouseReader::open(&options).unwrap();
    append(&store, vec![report("A", 20, 0, 2.0)]);
    reader.update().unwrap();
    assert_eq!(reader.keep_recent(ALL, usize::MAX).unwrap().readings, 2);
    let last: u64 = sql(&options, "SELECT max(batch) FROM batches").trim().parse().unwrap();
    sql(&options, &format!("INSERT INTO batches VALUES ({last}, 3, 0, 0)"));
    assert_eq!(reader.update(), Ok(Changed::Everything));
    assert_eq!(held(&reader, "A"), [(10, 1.0)]);
    assert_eq!(reader.keep_recent(ALL, usize::MAX).unwrap().readings, 1);
    assert_eq!(held(&reader, "A"), [(10, 1.0)]);
}
