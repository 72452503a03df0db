//! An archive of a record in ClickHouse.

use std::fs;
use std::io::Read;

use flate2::read::GzDecoder;
use mesonet_clickhouse::Options;
use serde_json::json;
use tempfile::TempDir;

use crate::archive::{archive, months};
use crate::archive_serves::{holds, pages};
use crate::backup::{refused, run};
use crate::follower::wait_until;
use crate::in_clickhouse::{own_database, place, server, sql};
use crate::process::{Server, data};

/// All stations at some hours of October 2022 and of August 2024.
const FILES: [&str; 2] = [
    "metar/awc_metars_cache_2022-10-23T1137Z.csv.gz",
    "metar/liveairdata_metars_20240803T1732Z.csv.gz",
];

/// Only some of the stations: each month is looked up, which takes a while with thousands.
const STATIONS: [&str; 6] = ["KTPA", "CYYZ", "CYOW", "KJFK", "KSEA", "KDEN"];

const OLD_DAY: &str = "2022-10-23";

#[test]
fn bulk_export_is_byte_for_byte_what_it_was_before_clickhouse_dropped_the_days() {
    let Some(url) = server() else { return };
    let (options, folder) = (own_database(&url), TempDir::new().unwrap());
    let (path, place) = (folder.path(), place(&options));
    for file in FILES {
        let mut text = String::new();
        let packed = fs::File::open(data(file)).unwrap();
        GzDecoder::new(packed).read_to_string(&mut text).unwrap();
        let is_wanted = |line: &str| STATIONS.iter().any(|name| line.contains(name));
        let wanted = text.lines().enumerate().filter(|(at, line)| *at == 0 || is_wanted(line));
        let wanted: Vec<&str> = wanted.map(|(_, line)| line).collect();
        fs::write(path.join("metars.csv"), wanted.join("\n")).unwrap();
        run(path, &["ingest", "--store", &place, "metars.csv"]);
    }

    let own = ["--store", &place, "--now", "live", "--assume-plan", "commercial"];
    let server = Server::start(&folder, &own);
    assert!(holds(&server, OLD_DAY));
    let before = pages(&server, 7);
    // While the server writes.
    let done = archive(path, &["--store", &place]);
    assert_eq!((months(&done, "added").len(), &done["faults"]), (23, &json!([])));
    let again = archive(path, &["--store", &place]);
    assert_eq!(months(&again, "unchanged").len(), 23);
    assert_eq!(server.stop().0, Some(0));

    let days = "SELECT uniqExact(toYYYYMMDD(toDateTime(intDiv(ts_ms, 1000)))) FROM readings";
    // On a cluster, the most of any node: a node of a shard without these stations has none.
    let of_node = |url: &String| {
        let node = Options { urls: vec![url.clone()], ..options.clone() };
        sql(&node, days).trim().parse::<u32>().unwrap()
    };
    let days = || options.urls.iter().map(of_node).max().unwrap();
    let all = days();
    let keeps = ["--archive", "archive", "--retention", "400d"];
    let server = Server::start(&folder, &[&own[..], &keeps].concat());
    assert!(server.log().contains("what is older than 2023-06-01T"), "{}", server.log());
    wait_until("it has deleted", || !holds(&server, OLD_DAY));
    wait_until("days are dropped", || days() == 1);
    assert!(all > 1);
    assert!(pages(&server, 7) == before);

    // What was dropped stays in the archive.
    let kept = archive(path, &["--store", &place]);
    assert_eq!((months(&kept, "kept").len(), months(&kept, "unchanged").len()), (8, 15));
    assert_eq!(server.stop().0, Some(0));

    // Another database is another record.
    let other = own_database(&url);
    let other = crate::in_clickhouse::place(&other);
    let error = refused(path, &["archive", "--to", "archive", "--store", &other]);
    assert!(error.contains("has the archive of another record, clickhouse:http://"), "{error}");
    // The setting is refused for a server that only reads the record.
    let reads = ["--read-only", "true", "--archive", "archive", "--store", &*place];
    let error = refused(path, &[&["--listen", "127.0.0.1:0"], &reads[..]].concat());
    assert!(error.contains("must be left out with read_only"), "{error}");
}
