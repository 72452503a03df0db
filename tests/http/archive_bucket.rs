//! An archive in a service that speaks S3, which `tests/bucket` starts and names in the environment:
//! `tests/bucket cargo test -p mesonet-tests --test http archive_bucket -- --include-ignored`, with a
//! server that has the feature `s3`.

use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

use crate::archive::{ALL, CSV, months, record, tampa};
use crate::archive_serves::{OLD_DAY, bulk, holds, pages};
use crate::bucket::{ask, endpoint, objects, variable, with_bucket};
use crate::child::Process;
use crate::follower::wait_until;
use crate::gate::Gate;
use crate::process::{PATIENCE, Server, command};

const LATER: &str = "\"the data cannot be used right now; try again later\"";

/// What the record holds after 400 days.
const HELD: &str = "start=2023-07-01T00:00:00Z&end=2025-01-01T00:00:00Z";

/// A record, its archive in a part of the bucket, and a gate in front of the bucket.
struct Archived {
    folder: TempDir,
    place: String,
    gate: Gate,
}

impl Archived {
    fn new(prefix: &str) -> Self {
        let place = format!("s3://{}/{prefix}", variable("MESONET_TEST_BUCKET"));
        Self { folder: record(), place, gate: Gate::before(&endpoint()) }
    }

    fn start(&self, args: &[&str]) -> Process {
        let all = [&["archive", "--to", &self.place, "--json"], args].concat();
        let command = command(self.folder.path(), &all);
        Process::start(&mut with_bucket(command, &endpoint()), PATIENCE)
    }

    fn archive(&self) -> Value {
        let (status, said) = self.start(&[]).wait();
        assert!(status.success(), "{}{}", said.out, said.err);
        serde_json::from_str(&said.out).unwrap()
    }

    fn serve(&self, args: &[&str]) -> Server {
        let own =
            ["--listen", "127.0.0.1:0", "--rate-requests", "0", "--assume-plan", "commercial"];
        let command = command(self.folder.path(), &[&own, args].concat());
        Server::spawn(with_bucket(command, self.gate.url()))
    }

    /// A server that has deleted what is archived.
    fn served(&self) -> Server {
        let server = self.serve(&["--archive", &self.place, "--retention", "400d"]);
        wait_until("it has deleted", || !holds(&server, OLD_DAY));
        server
    }
}

/// What a page has: its rows, and how much it says is missing.
fn found(server: &Server) -> (usize, Option<String>) {
    let (status, headers, body) = bulk(server, tampa(), ALL, CSV);
    assert_eq!(status, 200, "{}", String::from_utf8_lossy(&body));
    let missing = headers.into_iter().find(|(name, _)| name == "x-mesonet-damaged");
    (String::from_utf8(body).unwrap().lines().count(), missing.map(|(_, value)| value))
}

/// Even if the first runs were killed.
#[test]
#[ignore = "needs a bucket: see tests/bucket"]
fn bulk_export_from_a_bucket_is_byte_for_byte_what_it_was_before_retention() {
    let archived = Archived::new("whole");
    let before = {
        let server = archived.serve(&[]);
        assert!(holds(&server, OLD_DAY));
        pages(&server, 16_411)
    };
    for at_least in [0, 3, 10] {
        let process = archived.start(&[]);
        let started = Instant::now();
        while objects("whole/manifests/").len() < at_least {
            assert!(started.elapsed() < PATIENCE, "{at_least} months were not archived");
            sleep(Duration::from_millis(2));
        }
        process.kill();
        assert!(objects("whole/manifests/").len() < 15, "no run was killed in the middle");
    }
    let summary = archived.archive();
    assert_eq!(summary["months"].as_array().unwrap().len(), 49);
    assert_eq!(summary["faults"], serde_json::json!([]));
    let objects_then = objects("whole/");
    assert_eq!(months(&archived.archive(), "unchanged").len(), 49);
    assert_eq!(objects("whole/"), objects_then);

    let server = archived.served();
    assert!(pages(&server, 16_411) == before);
    // A page fetches what it needs from the archive, and nothing if the record has everything.
    let came = |query: &str| {
        let before = archived.gate.came();
        assert_eq!(bulk(&server, tampa(), query, CSV).0, 200);
        archived.gate.came() - before
    };
    let all: u64 = objects_then.iter().map(|(_, length)| length).sum();
    let month = came("start=2021-02-01T00:00:00Z&end=2021-03-01T00:00:00Z");
    assert!(month > 10_000 && month < all / 10, "{month} of {all} bytes");
    assert_eq!(came(HELD), 0);
    assert!(server.log().contains("what is older than 2023-06-01T"), "{}", server.log());
    assert_eq!(server.stop().0, Some(0));
}

#[test]
#[ignore = "needs a bucket: see tests/bucket"]
fn without_its_bucket_a_server_answers_what_it_holds_and_says_503_of_the_rest() {
    let archived = Archived::new("gone");
    archived.archive();
    let server = archived.served();
    let whole = bulk(&server, tampa(), ALL, CSV);
    let held = bulk(&server, tampa(), HELD, CSV);
    for away in [Gate::close, Gate::fall_silent] {
        away(&archived.gate);
        for _ in 0..2 {
            let began = Instant::now();
            let (status, _, body) = bulk(&server, tampa(), ALL, CSV);
            assert_eq!((status, &*String::from_utf8(body).unwrap()), (503, LATER));
            // The client of the object store would try for three minutes.
            assert!(began.elapsed() < Duration::from_secs(120), "{:?}", began.elapsed());
            assert!(bulk(&server, tampa(), HELD, CSV) == held);
        }
        archived.gate.open();
        assert!(bulk(&server, tampa(), ALL, CSV) == whole);
    }
    assert_eq!(server.stop().0, Some(0));
    // A server that starts without the bucket says so, deletes nothing, and uses the bucket when it
    // is back.
    archived.gate.fall_silent();
    let server = archived.serve(&["--archive", &archived.place, "--retention", "1d"]);
    assert!(bulk(&server, tampa(), HELD, CSV) == held);
    // The comparison of the record with the archive has been waiting longer.
    assert_eq!(bulk(&server, tampa(), ALL, CSV).0, 503);
    archived.gate.open();
    assert!(bulk(&server, tampa(), ALL, CSV) == whole);
    let (status, said) = server.stop();
    assert_eq!(status, Some(0));
    assert!(said.contains("; nothing is deleted until it can be read"), "{said}");
}

#[test]
#[ignore = "needs a bucket: see tests/bucket"]
fn what_is_damaged_or_gone_in_a_bucket_is_counted() {
    let archived = Archived::new("damage");
    archived.archive();
    let server = archived.served();
    let (all, none) = found(&server);
    assert_eq!(none, None);
    let [(path, length)] = &objects("damage/year=2021/month=02/")[..] else { panic!() };
    let whole = ask("GET", path, b"");
    assert_eq!(whole.len() as u64, *length);
    let mut changed = whole.clone();
    changed[whole.len() / 2] ^= 4;
    for damaged in [&changed[..], &whole[..whole.len() - 1]] {
        ask("PUT", path, damaged);
        let (rows, missing) = found(&server);
        assert!(rows < all && missing.as_deref() == Some("1"), "{rows} of {all}, {missing:?}");
    }
    ask("DELETE", path, b"");
    let (rows, missing) = found(&server);
    assert!(rows < all && missing.as_deref() == Some("1"), "{rows} of {all}, {missing:?}");
    ask("PUT", path, &whole);
    assert_eq!(found(&server), (all, None));
    let (_, log) = server.stop();
    for cause in ["does not match its checksum", "bytes; the manifest says", "it is missing"] {
        assert!(log.contains(cause), "{cause}: {log}");
    }
}
