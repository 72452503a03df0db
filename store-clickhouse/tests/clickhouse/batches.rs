//! Batches are seen whole or not at all.

use std::collections::BTreeMap;
use std::env;
use std::io::{BufRead, BufReader};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

use mesonet::store::{Receipt, Selection, StoreError, no_verdicts};
use mesonet::time::DAY_MS;
use mesonet::{Batch, ClosedWindow, Reader, Report, Store, Variable};
use mesonet_clickhouse::{ClickHouseStore, Options};

use crate::between::before_it_is_asked;
use crate::support::{append, held, id, migrated, open, options_of, report, sql, station};

/// Each opening of the record leaves a batch, which must not become a part of each query.
pub fn openings_leave_nothing_behind(url: &str) {
    let options = migrated(url);
    for _ in 0..3 {
        append(&open(&options), vec![report("A", 10, 0, 1.0)]);
    }
    let uncommitted = "SELECT count() FROM \
        (SELECT batch FROM batches GROUP BY batch HAVING max(state) < 2)";
    assert_eq!(sql(&options, uncommitted).trim(), "0");
    assert_eq!(sql(&options, "SELECT uniqExact(batch) FROM batches").trim(), "4");
}

/// What a writer leaves that was killed after the last row and before the commit.
pub fn a_batch_that_was_not_committed_is_never_seen(url: &str) {
    let options = migrated(url);
    let store = open(&options);
    append(&store, vec![report("A", 10, 0, 1.0), report("A", 20, 0, 2.0)]);
    let last = sql(&options, "SELECT max(batch) FROM batches");
    let batch: u64 = last.trim().parse().unwrap();
    drop(store);
    let next = batch + 1;
    sql(&options, &format!("INSERT INTO batches VALUES ({next}, 1, 9, 9)"));
    let copy = |table: &str, changes: &str| {
        let select = format!("SELECT {changes} FROM {table} WHERE batch = {batch}");
        sql(&options, &format!("INSERT INTO {table} {select}"));
    };
    let half = "station, series, ts_ms, 1, batch + 1, -99, quality, source, revision, qualifier";
    copy("readings", half);
    let half =
        "station, series, ts_ms + 20, 0, batch + 1, -99, quality, source, revision, qualifier";
    copy("readings", half);
    // Nor does a merge of the parts let it through.
    for _ in 0..2 {
        let store = open(&options);
        assert_eq!(held(&store, "A"), [(10, 1.0), (20, 2.0)]);
        assert_eq!(store.directory().unwrap().generation, 1);
        sql(&options, "OPTIMIZE TABLE readings FINAL");
    }
    // The same readings as the batch that failed.
    let store = open(&options);
    let receipt = append(&store, vec![report("A", 10, 0, -99.0), report("A", 30, 0, -99.0)]);
    assert_eq!(receipt, Receipt { added: 1, replaced: 1, ..Receipt::default() });
    sql(&options, "OPTIMIZE TABLE readings FINAL");
    let expected = [(10, -99.0), (20, 2.0), (30, -99.0)];
    assert_eq!(held(&store, "A"), expected);
    assert_eq!(held(&open(&options), "A"), expected);
}

/// The writer before commits its last batch after the next has asked for the last that is committed, and
/// before it asks which were left.
pub fn a_batch_that_is_committed_while_the_next_writer_opens_is_known_to_it(url: &str) {
    let options = migrated(url);
    let store = open(&options);
    append(&store, vec![report("A", 10, 0, 1.0)]);
    let last: u64 = sql(&options, "SELECT max(batch) FROM batches").trim().parse().unwrap();
    let next = last + 1;
    sql(&options, &format!("INSERT INTO batches VALUES ({next}, 1, 2, 1)"));
    let columns = "station, series, ts_ms + 10, version, batch + 1, 2, quality, source, revision";
    let rows = format!("SELECT {columns}, qualifier FROM readings WHERE batch = {last}");
    sql(&options, &format!("INSERT INTO readings {rows}"));
    let commit = {
        let options = options.clone();
        move || drop(sql(&options, &format!("INSERT INTO batches VALUES ({next}, 2, 2, 1)")))
    };
    let urls = vec![before_it_is_asked(url, "max(state) != 2", commit)];
    let opened = open(&Options { urls, ..options.clone() });
    assert_eq!(opened.directory().unwrap().generation, 2);
    assert_eq!(append(&opened, vec![report("A", 30, 0, 3.0)]).added, 1);
    for store in [opened, open(&options)] {
        assert_eq!(held(&store, "A"), [(10, 1.0), (20, 2.0), (30, 3.0)]);
        assert_eq!(store.directory().unwrap().generation, 3);
    }
}

/// The readings of this one are in the table when it fails, and those of the next are newer.
pub fn a_batch_that_failed_halfway_is_never_seen(url: &str) {
    let options = migrated(url);
    let store = open(&options);
    append(&store, vec![report("A", 10, 0, 1.0)]);
    sql(&options, "RENAME TABLE stations TO elsewhere");
    let stations = vec![station("A"), station("B")];
    let reports = vec![report("A", 10, 0, -99.0), report("A", 20, 0, -99.0)];
    let failed = store.append(&Batch { stations, reports }, &mut no_verdicts).unwrap_err();
    assert!(matches!(failed, StoreError::Unavailable { .. }), "{failed}");
    assert_eq!(sql(&options, "SELECT count() FROM readings").trim(), "3");
    assert_eq!(held(&store, "A"), [(10, 1.0)]);
    sql(&options, "RENAME TABLE elsewhere TO stations");
    assert_eq!(append(&store, vec![report("A", 30, 0, 3.0)]).added, 1);
    for store in [store, open(&options)] {
        assert_eq!(held(&store, "A"), [(10, 1.0), (30, 3.0)]);
        assert_eq!(store.directory().unwrap().generation, 2);
    }
}

pub fn a_judge_that_fails_changes_nothing(url: &str) {
    let options = migrated(url);
    let store = open(&options);
    append(&store, vec![report("A", 10, 0, 1.0)]);
    let failure = StoreError::Columns("the judge fell asleep".to_owned());
    let batch = Batch { stations: vec![], reports: vec![report("A", 20, 0, 2.0)] };
    let failed = store.append(&batch, &mut |record| {
        assert_eq!(held(record, "A"), [(10, 1.0), (20, 2.0)]);
        Err(failure.clone())
    });
    assert_eq!(failed, Err(failure));
    assert_eq!(held(&store, "A"), [(10, 1.0)]);
    assert_eq!(append(&store, batch.reports).added, 1);
    assert_eq!(held(&open(&options), "A"), [(10, 1.0), (20, 2.0)]);
}

pub fn the_last_to_open_is_the_writer(url: &str) {
    let options = migrated(url);
    let (first, second) = (open(&options), open(&options));
    assert_eq!(append(&second, vec![report("A", 10, 0, 1.0)]).added, 1);
    // It has not seen that, and what it would not write does not tell it.
    let batch = Batch { stations: vec![], reports: vec![report("A", 10, 0, 5.0)] };
    let refused = first.append(&batch, &mut no_verdicts).unwrap_err();
    assert!(matches!(refused, StoreError::UnknownStation { .. }), "{refused}");
    let batch = Batch { stations: vec![station("A")], ..batch };
    for _ in 0..2 {
        let refused = first.append(&batch, &mut no_verdicts).unwrap_err();
        assert!(matches!(refused, StoreError::Locked { .. }), "{refused}");
        assert!(refused.to_string().contains("a writer that opened it later"), "{refused}");
        assert!(first.maintain(Some(0)).is_err());
    }
    assert_eq!(held(&open(&options), "A"), [(10, 1.0)]);
}

pub fn of_many_that_open_at_once_one_writes(url: &str) {
    let options = migrated(url);
    for round in 0..4 {
        let (start, opened) = (Barrier::new(6), Barrier::new(6));
        let write = || {
            start.wait();
            let store = open(&options);
            opened.wait();
            let reports = vec![report("A", 10, 0, f64::from(round))];
            let stations = vec![station("A")];
            match store.append(&Batch { stations, reports }, &mut no_verdicts) {
                Ok(_) => 1,
                Err(error) => {
                    assert!(matches!(error, StoreError::Locked { .. }), "{error}");
                    0
                }
            }
        };
        let written: usize = thread::scope(|scope| {
            let writers: Vec<_> = (0..6).map(|_| scope.spawn(write)).collect();
            writers.into_iter().map(|writer| writer.join().unwrap()).sum()
        });
        assert_eq!(written, 1, "round {round}");
    }
    assert_eq!(held(&open(&options), "A"), [(10, 3.0)]);
}

/// Stations and days of each batch of the writer that is killed: several inserts in many parts.
const DAYS: i64 = 70;
const WRITER: &str = "MESONET_TEST_WRITER";

/// Whether this process is the writer of the test below.
pub fn is_writer() -> bool {
    env::var_os(WRITER).is_some()
}

/// Appends batches and says so after each.
pub fn write_until_killed() {
    let url = env::var("MESONET_TEST_CLICKHOUSE").unwrap();
    let store = open(&options_of(&url, &env::var(WRITER).unwrap()));
    let first = held(&store, "A").iter().map(|&(_, value)| value as i64).max().unwrap_or(0);
    for batch in first + 1.. {
        append(&store, reports_of(batch));
        println!("{batch}");
    }
}

/// A reading a day at both stations, of which half correct the batch before.
fn reports_of(batch: i64) -> Vec<Report> {
    let days = (batch * DAYS / 2)..(batch * DAYS / 2 + DAYS);
    let of_day = |day| ["A", "B"].map(|name| report(name, day * DAY_MS, 0, batch as f64));
    days.flat_map(of_day).collect()
}

pub fn a_killed_writer_leaves_whole_batches(url: &str) {
    let options = migrated(url);
    let mut acknowledged = 0;
    for after_ms in [15, 40, 90, 140, 200, 260, 330, 400] {
        let mut writer = Command::new(env::current_exe().unwrap())
            .env(WRITER, &options.database)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        // From its first batch on.
        let mut lines = BufReader::new(writer.stdout.take().unwrap()).lines();
        let first = lines.next().unwrap().unwrap();
        sleep(Duration::from_millis(after_ms));
        writer.kill().unwrap();
        writer.wait().unwrap();
        let last = lines.map_while(Result::ok).last().unwrap_or(first);
        acknowledged = acknowledged.max(last.parse::<i64>().unwrap());

        let store = open(&options);
        let mut expected = BTreeMap::new();
        let seen = held(&store, "A");
        let newest = seen.iter().map(|&(_, value)| value as i64).max().unwrap();
        assert!((acknowledged..=acknowledged + 1).contains(&newest), "{acknowledged} {newest}");
        for batch in 1..=newest {
            expected.extend(reports_of(batch).iter().map(|of| (of.ts_ms, batch as f64)));
        }
        assert_eq!(seen, expected.clone().into_iter().collect::<Vec<_>>());
        assert_eq!(held(&store, "B"), expected.into_iter().collect::<Vec<_>>());
        assert_eq!(store.directory().unwrap().generation, newest as u64);
    }
}

const KILLS: usize = 6;

/// Readings that no other batch has, over many days.
fn own_reports_of(batch: i64) -> Vec<Report> {
    let of_day = |day| ["A", "B"].map(|name| report(name, day * DAY_MS + batch, 0, batch as f64));
    (0..DAYS).flat_map(of_day).collect()
}

/// How many readings of each batch a reader sees.
fn counted(store: &ClickHouseStore) -> Result<BTreeMap<i64, usize>, StoreError> {
    let (stations, variables) = (["A", "B"].map(id), [Variable::AirTemperature]);
    let window = ClosedWindow::new(i64::MIN, i64::MAX).unwrap();
    let selection = Selection { stations: &stations, variables: &variables, window };
    let mut counts = BTreeMap::new();
    store.scan(&selection, &mut |_, slices| {
        for value in slices.iter().flat_map(|slice| slice.value) {
            *counts.entry(*value as i64).or_default() += 1;
        }
    })?;
    Ok(counts)
}

/// The server is killed while batches come in: each of them is there whole or not at all, and whole if it
/// was acknowledged. A reader never sees a part of one, and gets an error while there is no server.
pub fn a_killed_server_loses_nothing_acknowledged(url: &str) {
    let folder = PathBuf::from(env::var("MESONET_TEST_CLICKHOUSE_FOLDER").unwrap());
    let options = Options { timeout: Duration::from_secs(5), ..migrated(url) };
    let store = open(&options);
    append(&store, own_reports_of(0));
    let (stop, mut acknowledged) = (AtomicBool::new(false), vec![0]);
    let whole = 2 * DAYS as usize;
    let (mut failed, mut reads, mut read_errors) = (0, 0, 0);
    thread::scope(|scope| {
        let killer = scope.spawn(|| {
            for kill in 0..KILLS {
                sleep(Duration::from_millis(600 + 130 * kill as u64));
                let pid = || std::fs::read_to_string(folder.join("1/pid")).unwrap_or_default();
                let killed = pid();
                let kill = Command::new("kill").args(["-KILL", killed.trim()]).status();
                assert!(kill.unwrap().success());
                let address = url.strip_prefix("http://").unwrap();
                let started = Instant::now();
                while pid() == killed || TcpStream::connect(address).is_err() {
                    assert!(started.elapsed() < Duration::from_secs(60), "it does not come back");
                    sleep(Duration::from_millis(20));
                }
            }
            stop.store(true, Ordering::Relaxed);
        });
        let reader = scope.spawn(|| {
            let (mut reads, mut errors) = (0, 0);
            while !stop.load(Ordering::Relaxed) {
                match counted(&store) {
                    Ok(counts) => {
                        assert!(counts.values().all(|&count| count == whole), "{counts:?}");
                        reads += 1;
                    }
                    Err(error) => {
                        assert!(matches!(error, StoreError::Unavailable { .. }), "{error}");
                        errors += 1;
                    }
                }
            }
            (reads, errors)
        });
        for batch in 1.. {
            if killer.is_finished() {
                break;
            }
            let batch_of = Batch { stations: vec![], reports: own_reports_of(batch) };
            match store.append(&batch_of, &mut no_verdicts) {
                Ok(receipt) => {
                    assert_eq!(receipt.added, whole);
                    acknowledged.push(batch);
                }
                Err(error) => {
                    assert!(matches!(error, StoreError::Unavailable { .. }), "{error}");
                    failed += 1;
                }
            }
        }
        killer.join().unwrap();
        (reads, read_errors) = reader.join().unwrap();
    });
    assert_eq!(append(&store, own_reports_of(-1)).added, whole);
    for store in [store, open(&options)] {
        let counts = counted(&store).unwrap();
        assert!(counts.values().all(|&count| count == whole), "{counts:?}");
        let lost: Vec<_> = acknowledged.iter().filter(|of| !counts.contains_key(of)).collect();
        assert!(lost.is_empty(), "{lost:?} were acknowledged");
    }
    println!(
        "{KILLS} kills: {} batches acknowledged, {failed} failed; {reads} reads, {read_errors} failed",
        acknowledged.len()
    );
    assert!(failed > 0 && read_errors > 0, "no kill hit anything");
}
