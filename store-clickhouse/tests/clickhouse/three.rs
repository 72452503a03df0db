//! A shard of three replicas beside three Keepers: with one of either away all goes on.

use std::thread::sleep;
use std::time::{Duration, Instant};

use mesonet::{Reader, Report};
use mesonet_clickhouse::ClickHouseStore;

use crate::replicas::{STATIONS, append_at_last, by_way_of, counted, killed, refusal, try_append};
use crate::rig::{Process, open_at_last, wait_for, wait_for_replicas};
use crate::support::{count, migrated, nodes, open, report, sql_at};

fn batch_of(batch: i64) -> Vec<Report> {
    STATIONS.map(|name| report(name, batch, 0, batch as f64)).into()
}

/// How many readings each batch should have, of those up to one.
fn whole(up_to: i64) -> Vec<(i64, usize)> {
    (1..=up_to).map(|batch| (batch, STATIONS.len())).collect()
}

fn seen(store: &ClickHouseStore) -> Vec<(i64, usize)> {
    counted(store).unwrap().into_iter().collect()
}

/// Any two take a batch, and whoever has all answers alone.
pub fn of_three_replicas_one_may_be_away(url: &str) {
    let options = migrated(url);
    let store = open(&options);
    try_append(&store, batch_of(1)).unwrap();
    let mut last = 1;
    for away in 1..=3 {
        let process = Process::Node(away);
        process.kill();
        // At once: the one that is away is found out and passed over.
        last += 1;
        try_append(&store, batch_of(last)).unwrap();
        assert_eq!(seen(&store), whole(last));
        process.bring_back();
        let rows = (STATIONS.len() * last as usize).to_string();
        let url = &nodes()[away - 1];
        wait_for("what it missed", || {
            sql_at(url, &options, "SELECT count() FROM readings").trim() == rows
        });
    }
    wait_for_replicas(&options);
    for way in [[1, 2], [2, 3], [3, 1]] {
        assert_eq!(seen(&open_at_last(&by_way_of(&options, &way))), whole(last));
    }
    // Each of these became the writer.
    let store = open_at_last(&options);
    Process::Node(1).kill();
    Process::Node(2).kill();
    let refused = refusal(&try_append(&store, batch_of(last + 1)).unwrap_err());
    assert!(refused.contains(&format!("{}: ", nodes()[2])), "{refused}");
    assert_eq!(seen(&store), whole(last));
    Process::Node(1).bring_back();
    append_at_last(&store, &batch_of(last + 1));
    assert_eq!(seen(&store), whole(last + 1));
    Process::Node(2).bring_back();
    wait_for_replicas(&options);
    assert_eq!(count(&options, "readings") % STATIONS.len(), 0);
    assert_eq!(seen(&open_at_last(&options)), whole(last + 1));
}

/// The nodes find another Keeper within the time of a session.
pub fn of_three_keepers_one_may_be_away(url: &str) {
    let options = migrated(url);
    let store = open(&options);
    let mut last = 0;
    for away in 1..=3 {
        Process::Keeper(away).kill();
        // The longest is an election with the leader gone.
        let started = Instant::now();
        while let Err(error) = try_append(&store, batch_of(last + 1)) {
            refusal(&error);
            assert!(started.elapsed() < Duration::from_secs(60), "{error}");
            sleep(Duration::from_millis(200));
        }
        last += 1;
        println!("keeper {away} away: written after {} ms", started.elapsed().as_millis());
        let started = Instant::now();
        let counts = loop {
            match counted(&store) {
                Ok(counts) => break counts.into_iter().collect::<Vec<_>>(),
                Err(error) => assert!(started.elapsed() < Duration::from_secs(60), "{error}"),
            }
        };
        assert_eq!(counts, whole(last));
        Process::Keeper(away).bring_back();
    }
    wait_for_replicas(&options);
    let generation = store.directory().unwrap().generation;
    assert_eq!(generation, open_at_last(&options).directory().unwrap().generation);
}

pub fn of_three_replicas_and_keepers_kills_lose_nothing(url: &str) {
    let targets: [&[Process]; 5] = [
        &[Process::Node(2)],
        &[Process::Keeper(2)],
        &[Process::Node(3), Process::Keeper(1)],
        &[Process::Node(1), Process::Node(2)],
        &[Process::Keeper(2), Process::Keeper(3)],
    ];
    killed(url, &targets, &[&[1, 2], &[2, 3], &[3, 1]]);
}
