//! A cluster of two shards with two replicas each: what is written is on both replicas of its shard, an
//! answer is whole or an error, whatever is down.

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::fs;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

use mesonet::store::{Receipt, Selection, StoreError, no_verdicts};
use mesonet::time::DAY_MS;
use mesonet::{Batch, ClosedWindow, Reader, Report, StationId, Store, Variable};
use mesonet_clickhouse::{ClickHouseStore, MigrationReport, Options, SCHEMA_VERSION, migrate};

use crate::rig::{Process, bring_back, open_at_last, wait_for, wait_for_replicas};
use crate::support::{
    append, held, id, migrated, nodes, open, options, report, sql, sql_at, sql_with, station,
};

/// How many processes write in turns.
const WRITERS: i64 = 3;

/// Enough stations that both shards have some.
pub const STATIONS: [&str; 8] = ["A", "B", "C", "D", "E", "F", "G", "H"];

/// The shard of a station: 0 or 1.
fn shard_of(name: &str) -> usize {
    let id: StationId = id(name);
    usize::from(id.as_bytes()[15] % 2)
}

fn of_shard(shard: usize) -> &'static str {
    STATIONS.into_iter().find(|name| shard_of(name) == shard).unwrap()
}

/// The database by way of some of the nodes.
pub fn by_way_of(options: &Options, numbers: &[usize]) -> Options {
    let urls = numbers.iter().map(|number| nodes()[number - 1].clone()).collect();
    Options { urls, ..options.clone() }
}

pub fn try_append(store: &ClickHouseStore, reports: Vec<Report>) -> Result<Receipt, StoreError> {
    let stations = STATIONS.map(station).into();
    store.append(&Batch { stations, reports }, &mut no_verdicts)
}

pub fn refusal(error: &StoreError) -> String {
    let is_clear = matches!(error, StoreError::Storage { .. } | StoreError::Unavailable { .. });
    assert!(is_clear, "{error}");
    error.to_string()
}

pub fn readings_are_on_both_replicas_of_their_shard(url: &str) {
    let options = migrated(url);
    let store = open(&options);
    try_append(&store, STATIONS.map(|name| report(name, 10, 0, 1.0)).into()).unwrap();
    for (at, url) in nodes().iter().enumerate() {
        let expected = STATIONS.iter().filter(|name| shard_of(name) == at / 2).count();
        let count = sql_at(url, &options, "SELECT count() FROM readings");
        assert_eq!(count.trim(), expected.to_string(), "{url}");
    }
    wait_for_replicas(&options);
    for url in nodes() {
        assert_eq!(sql_at(&url, &options, "SELECT count() FROM stations").trim(), "8");
    }
}

pub fn a_record_has_the_shards_it_was_made_for(url: &str) {
    let options = migrated(url);
    assert_eq!(migrate(&options), Ok(MigrationReport { from: SCHEMA_VERSION, to: SCHEMA_VERSION }));
    append(&open(&options), vec![report("A", 10, 0, 1.0), report("B", 10, 0, 1.0)]);
    // One node alone has a part only.
    let alone = Options::new(&options.urls[0], &options.database);
    let refused = refusal(&ClickHouseStore::open(&alone).unwrap_err());
    assert!(refused.contains("these tables belong to a cluster"), "{refused}");
    // No address of the second shard.
    let half = by_way_of(&options, &[1, 2]);
    let store = ClickHouseStore::open(&half).unwrap();
    let other = of_shard(1);
    let refused = refusal(&try_append(&store, vec![report(other, 20, 0, 1.0)]).unwrap_err());
    assert!(
        refused.contains("no replica of shard 2 has the whole of readings: no address"),
        "{refused}"
    );
    let refused = refusal(&migrate(&half).unwrap_err());
    assert!(refused.contains("among the shards 1, 2, and these nodes are of 1"), "{refused}");
    let refused = refusal(&migrate(&by_way_of(&options, &[1, 3, 4])).unwrap_err());
    assert!(refused.contains("shard 1 has 1 replica"), "{refused}");
    let refused = refusal(&migrate(&by_way_of(&options, &[1, 1])).unwrap_err());
    assert!(refused.contains("another node is also replica 1 of its shard"), "{refused}");
    let named = Options { cluster: Some("a/b".to_owned()), ..options.clone() };
    let refused = refusal(&ClickHouseStore::open(&named).unwrap_err());
    assert!(refused.contains("\"a/b\" cannot be the name of a cluster"), "{refused}");
    let many = Options { cluster: None, ..options };
    let refused = refusal(&ClickHouseStore::open(&many).unwrap_err());
    assert!(refused.contains("4 addresses and no cluster"), "{refused}");
}

/// Processes that become the writer by way of other replicas: one at a time writes, and a batch that was
/// acknowledged is there whole.
pub fn writers_on_several_replicas_take_turns(url: &str) {
    let options = migrated(url);
    let ways = [[1, 3], [2, 4], [2, 3]].map(|numbers| by_way_of(&options, &numbers));
    let written = &AtomicUsize::new(0);
    let acknowledged: Vec<BTreeSet<i64>> = thread::scope(|scope| {
        let writers: Vec<_> = (0..)
            .zip(&ways)
            .map(|(number, way)| scope.spawn(move || write_in_turns(way, number, written)))
            .collect();
        writers.into_iter().map(|writer| writer.join().unwrap()).collect()
    });
    let store = open(&options);
    let seen = counted(&store).unwrap();
    assert!(seen.values().all(|&count| count == STATIONS.len()), "{seen:?}");
    for (number, acknowledged) in acknowledged.iter().enumerate() {
        let lost: Vec<_> = acknowledged.iter().filter(|of| !seen.contains_key(of)).collect();
        assert!(lost.is_empty(), "{lost:?} of writer {number} were acknowledged");
    }
    assert!(acknowledged.iter().filter(|of| !of.is_empty()).count() > 1, "{acknowledged:?}");
    // Each batch that counts is one generation after the one before: none was written beside another.
    let generations = store.directory().unwrap().generation;
    assert_eq!(generations, seen.len() as u64);
    let turns = sql(&options, "SELECT max(number) FROM writers");
    println!("{generations} batches in {} turns", turns.trim());
}

/// Opens, writes until another has become the writer, waits a while and opens again: four times, and on
/// a slow machine until two have written. `written` counts those that have.
fn write_in_turns(options: &Options, number: i64, written: &AtomicUsize) -> BTreeSet<i64> {
    let (mut acknowledged, mut batch) = (BTreeSet::new(), number);
    let mut pause = Duration::from_millis(900 + 400 * number as u64);
    let two_have_written = || written.load(Ordering::Relaxed) > 1;
    let begin = Instant::now();
    for turn in 1.. {
        let before = acknowledged.len();
        match ClickHouseStore::open(options) {
            Ok(store) => {
                for _ in 0..40 {
                    batch += WRITERS;
                    let reports = STATIONS.map(|name| report(name, batch, 0, batch as f64)).into();
                    match try_append(&store, reports) {
                        Ok(_) if acknowledged.is_empty() => written.fetch_add(1, Ordering::Relaxed),
                        Ok(_) => 0,
                        Err(StoreError::Locked { .. }) => break,
                        Err(error) => panic!("{error}"),
                    };
                    acknowledged.insert(batch);
                }
            }
            Err(error) => assert!(matches!(error, StoreError::Locked { .. }), "{error}"),
        }
        let is_enough = turn >= 4 || acknowledged.len() > 40;
        if is_enough && two_have_written() || begin.elapsed() > Duration::from_secs(120) {
            break;
        }
        // A writer that was overtaken before its first batch leaves the others more time.
        if acknowledged.len() == before {
            pause *= 2;
        }
        sleep(pause);
    }
    acknowledged
}

/// How many readings of each batch there are; a batch is known by its value.
pub fn counted(store: &dyn Reader) -> Result<BTreeMap<i64, usize>, StoreError> {
    let selection = Selection {
        stations: &STATIONS.map(id),
        variables: &[Variable::AirTemperature],
        window: ClosedWindow::new(i64::MIN, i64::MAX).unwrap(),
    };
    let mut counts = BTreeMap::new();
    store.scan(&selection, &mut |_, slices| {
        for value in slices.iter().flat_map(|slice| slice.value) {
            *counts.entry(*value as i64).or_default() += 1;
        }
    })?;
    Ok(counts)
}

/// A replica that has not fetched what was acknowledged is not believed: another one is asked, and if there
/// is none, there is an error.
pub fn a_replica_that_lags_is_not_believed(url: &str) {
    let options = migrated(url);
    let (store, name) = (open(&options), of_shard(1));
    try_append(&store, vec![report(name, 10, 0, 1.0)]).unwrap();
    let lagging = nodes()[3].clone();
    let by_lagging = by_way_of(&options, &[1, 4]);
    assert_eq!(held(&open(&by_lagging), name), [(10, 1.0)]);

    // It is told of no more batches. One that writes by way of it would tell it itself.
    let stop = |what: &str| sql_at(&lagging, &options, &format!("SYSTEM STOP FETCHES {what}"));
    let start = |what: &str| sql_at(&lagging, &options, &format!("SYSTEM START FETCHES {what}"));
    stop("batches");
    let store = open_at_last(&by_way_of(&options, &[1, 2, 3]));
    try_append(&store, vec![report(name, 20, 0, 2.0)]).unwrap();
    assert_eq!(held(&store, name), [(10, 1.0), (20, 2.0)]);
    let refused = refusal(&ClickHouseStore::open(&by_way_of(&options, &[4])).unwrap_err());
    assert!(refused.contains("has to fetch"), "{refused}");
    start("batches");
    let store = open_at_last(&by_lagging);
    assert_eq!(held(&store, name), [(10, 1.0), (20, 2.0)]);

    // It has the batches, and lacks readings of one.
    stop("readings");
    let late = "station, series, 30, 0, batch, 3, quality, source, revision, qualifier";
    let late = format!("INSERT INTO readings SELECT {late} FROM readings WHERE ts_ms = 20");
    sql_with(&nodes()[2], &options, "", &late);
    let other_batch = of_shard(0);
    let refused =
        [try_append(&store, vec![report(other_batch, 40, 0, 4.0)]).err(), counted(&store).err()];
    assert!(refused[0].is_none(), "{refused:?}");
    let refused = refusal(&refused[1].clone().unwrap());
    assert!(
        refused.contains("no replica of shard 2 has the whole of readings")
            && refused.contains("has to fetch 1 parts of readings"),
        "{refused}"
    );
    // With the other replica of the shard there is an answer.
    assert_eq!(held(&open(&options), name), [(10, 1.0), (20, 2.0), (30, 3.0)]);
    start("readings");
    wait_for("the lagging replica", || counted(&open_at_last(&by_lagging)).is_ok());
    assert_eq!(held(&open(&by_lagging), name), [(10, 1.0), (20, 2.0), (30, 3.0)]);
}

/// The end of a batch that has not come to a second replica may go again, so nobody writes after it.
pub fn a_batch_that_is_on_one_replica_is_not_built_on(url: &str) {
    let options = migrated(url);
    let store = open(&options);
    append(&store, vec![report("A", 10, 0, 1.0)]);
    wait_for_replicas(&options);
    let next = sql(&options, "SELECT max(batch) + 1 FROM batches");
    let fetches = |word: &str| {
        for url in &nodes()[1..] {
            sql_at(url, &options, &format!("SYSTEM {word} FETCHES batches"));
        }
    };
    fetches("STOP");
    let commit = format!("INSERT INTO batches VALUES ({}, 2, 2, 1)", next.trim());
    sql_with(&nodes()[0], &options, "", &commit);
    let refused = refusal(&ClickHouseStore::open(&options).unwrap_err());
    assert!(refused.contains("1 replicas have rows of batches that 2 must have"), "{refused}");
    fetches("START");
    let store = open_at_last(&options);
    assert_eq!(store.directory().unwrap().generation, 2);
    assert_eq!(held(&store, "A"), [(10, 1.0)]);
}

pub fn without_a_quorum_nothing_is_acknowledged(url: &str) {
    let options = Options { timeout: Duration::from_secs(6), ..migrated(url) };
    let store = open(&options);
    let (there, elsewhere) = (of_shard(1), of_shard(0));
    try_append(&store, vec![report(there, 10, 0, 1.0), report(elsewhere, 10, 0, 1.0)]).unwrap();
    Process::Node(4).kill();
    for _ in 0..2 {
        let refused = try_append(&store, vec![report(there, 20, 0, 2.0)]).unwrap_err();
        let text = refusal(&refused);
        assert!(text.contains("uorum") || text.contains("timeout"), "{text}");
        assert_eq!(held(&store, there), [(10, 1.0)]);
    }
    // What is of the other shard goes on.
    append_at_last(&store, &[report(elsewhere, 30, 0, 3.0)]);
    assert_eq!(held(&store, there), [(10, 1.0)]);
    assert_eq!(held(&store, elsewhere), [(10, 1.0), (30, 3.0)]);
    Process::Node(4).bring_back();
    append_at_last(&store, &[report(there, 40, 0, 4.0)]);
    wait_for_replicas(&options);
    for numbers in [[1, 3], [2, 4]] {
        let store = open(&by_way_of(&options, &numbers));
        assert_eq!(held(&store, there), [(10, 1.0), (40, 4.0)]);
        assert_eq!(held(&store, elsewhere), [(10, 1.0), (30, 3.0)]);
    }
}

pub fn append_at_last(store: &ClickHouseStore, reports: &[Report]) {
    let started = Instant::now();
    while let Err(error) = try_append(store, reports.to_vec()) {
        assert!(started.elapsed() < Duration::from_secs(60), "{error}");
    }
}

/// A node that comes back with an empty disk: its tables are described to it, and it fetches the rest.
pub fn a_node_with_an_empty_disk_is_filled_again(url: &str) {
    let options = migrated(url);
    let store = open(&options);
    let days = |day: i64| STATIONS.map(|name| report(name, day * DAY_MS, 0, day as f64));
    try_append(&store, (0..20).flat_map(days).collect()).unwrap();
    wait_for_replicas(&options);
    Process::Node(4).kill();
    let (lost, kept) =
        (Process::Node(4).folder().join("data"), Process::Node(3).folder().join("data"));
    fs::remove_dir_all(&lost).unwrap();
    fs::create_dir_all(lost.join("flags")).unwrap();
    fs::write(lost.join("flags/force_restore_data"), "").unwrap();
    let copied = std::process::Command::new("cp")
        .arg("-r")
        .arg(kept.join("metadata"))
        .arg(lost.join("metadata"))
        .status();
    assert!(copied.unwrap().success());
    Process::Node(4).bring_back();
    // From now on each answer by way of it is whole or an error.
    let by_empty = by_way_of(&options, &[2, 4]);
    let expected: BTreeMap<i64, usize> = (0..20).map(|day| (day, STATIONS.len())).collect();
    let mut errors = 0;
    let store = open_at_last(&by_empty);
    loop {
        match counted(&store) {
            Ok(counts) => break assert_eq!(counts, expected),
            Err(error) => {
                refusal(&error);
                errors += 1;
            }
        }
    }
    println!("{errors} errors before the first answer");
    append_at_last(&store, &days(20));
    assert_eq!(counted(&open(&options)).unwrap().len(), 21);
}

/// What is killed at a time, in turn: a replica, a shard, Keeper.
const TARGETS: [&[Process]; 7] = [
    &[Process::Node(1)],
    &[Process::Node(2)],
    &[Process::Node(3)],
    &[Process::Node(4)],
    &[Process::Node(3), Process::Node(4)],
    &[Process::Keeper(1)],
    &[Process::Node(1), Process::Node(2)],
];

#[derive(Debug, Default)]
pub struct Tally {
    acknowledged: usize,
    pub refused: usize,
    reads: usize,
    read_errors: usize,
    longest_ms: u128,
}

/// Nothing that was acknowledged is lost, and a reader sees each batch whole or not at all, or gets an error.
pub fn kills_lose_nothing_acknowledged(url: &str) {
    let tally = killed(url, &TARGETS, &[&[1, 3], &[2, 4]]);
    assert!(tally.refused > 0, "no kill hit anything: {tally:?}");
}

/// Writes and reads while processes are killed, and looks at the record by way of some nodes afterwards.
pub fn killed(url: &str, targets: &[&[Process]], ways: &[&[usize]]) -> Tally {
    let kills: usize =
        env::var("MESONET_CLICKHOUSE_KILLS").map_or(targets.len(), |kills| kills.parse().unwrap());
    let options = Options { timeout: Duration::from_secs(8), ..migrated(url) };
    let store = open(&options);
    let batch_of = |batch: i64| -> Vec<Report> {
        let of_day = |day| STATIONS.map(|name| report(name, day * DAY_MS + batch, 0, batch as f64));
        (0..3).flat_map(of_day).collect()
    };
    let whole = 3 * STATIONS.len();
    try_append(&store, batch_of(0)).unwrap();
    let (stop, written) = (AtomicBool::new(false), AtomicUsize::new(0));
    let (mut acknowledged, mut tally) = (vec![0], Tally::default());
    thread::scope(|scope| {
        let killer = scope.spawn(|| {
            for kill in 0..kills {
                // So that each one hits a cluster at work, now in the middle of a batch.
                let before = written.load(Ordering::Relaxed);
                wait_for("another batch", || written.load(Ordering::Relaxed) > before + 1);
                sleep(Duration::from_millis(97 * (kill % 5) as u64));
                let target = targets[kill % targets.len()];
                for process in target {
                    process.kill();
                }
                sleep(Duration::from_millis(100 + 211 * (kill % 7) as u64));
                bring_back(target);
            }
            stop.store(true, Ordering::Relaxed);
        });
        let reader = scope.spawn(|| {
            let mut tally = Tally::default();
            while !stop.load(Ordering::Relaxed) {
                let started = Instant::now();
                match counted(&store) {
                    Ok(counts) => {
                        assert!(counts.values().all(|&count| count == whole), "{counts:?}");
                        tally.reads += 1;
                    }
                    Err(error) => {
                        refusal(&error);
                        tally.read_errors += 1;
                    }
                }
                tally.longest_ms = tally.longest_ms.max(started.elapsed().as_millis());
            }
            tally
        });
        let mut batch = 0;
        while !killer.is_finished() {
            batch += 1;
            match try_append(&store, batch_of(batch)) {
                Ok(receipt) => {
                    assert_eq!(receipt.added, whole);
                    acknowledged.push(batch);
                    written.fetch_add(1, Ordering::Relaxed);
                }
                Err(error) => {
                    refusal(&error);
                    tally.refused += 1;
                    sleep(Duration::from_millis(20));
                }
            }
        }
        killer.join().unwrap();
        let of_reader = reader.join().unwrap();
        tally = Tally { refused: tally.refused, ..of_reader };
    });
    append_at_last(&store, &batch_of(-1));
    wait_for_replicas(&options);
    let ways = ways.iter().map(|numbers| by_way_of(&options, numbers));
    for way in ways.chain([options.clone()]) {
        let counts = counted(&open_at_last(&way)).unwrap();
        assert!(counts.values().all(|&count| count == whole), "{counts:?}");
        let lost: Vec<_> = acknowledged.iter().filter(|of| !counts.contains_key(of)).collect();
        assert!(lost.is_empty(), "{lost:?} were acknowledged");
    }
    tally.acknowledged = acknowledged.len();
    println!("{kills} kills: {tally:?}");
    assert!(tally.reads > kills, "{tally:?}");
    tally
}

pub fn nobody_answers(url: &str) {
    let options = Options { timeout: Duration::from_secs(2), ..options(url) };
    let gone = Options::of_cluster("test", &["http://127.0.0.1:1", "http://127.0.0.1:2"], "none");
    let refused = refusal(&ClickHouseStore::open(&gone).unwrap_err());
    assert!(
        refused.contains("http://127.0.0.1:1: network error")
            && refused.contains("http://127.0.0.1:2: network error"),
        "{refused}"
    );
    // No tables: each node says so.
    let refused = refusal(&ClickHouseStore::open(&options).unwrap_err());
    assert!(refused.contains("no replica has the whole of migrations"), "{refused}");
}
