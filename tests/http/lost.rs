//! Acknowledged data is missing: a segment whose disk is mounted late.

use std::fs;
use std::path::Path;

use mesonet::store::{EmbeddedOptions, Maintenance, no_verdicts};
use mesonet::{EmbeddedStore, Quality, Store};
use serde_json::Value;
use tempfile::TempDir;

use crate::process::{Server, output};
use crate::support::{AIR, report, station};

const SEGMENT: &str = "segments/00000001.arrow";

/// A record with one sealed segment, and one reading outside it.
fn record(folder: &Path) {
    let data = folder.join("mesonet-data");
    let store = EmbeddedStore::open(&data, EmbeddedOptions::default()).unwrap();
    store.meta_set("origin", "own").unwrap();
    store.append(&station("A", -79.0, 43.0), &mut no_verdicts).unwrap();
    for (age_ms, value) in [(3_600_000, 20.0), (0, 21.0)] {
        store
            .append(&report("A", age_ms, &AIR, value, Quality::UNCHECKED), &mut no_verdicts)
            .unwrap();
        if age_ms > 0 {
            store.maintain(&Maintenance { seal_all: true, ..Maintenance::default() }).unwrap();
        }
    }
}

fn readiness(server: &Server) -> Value {
    serde_json::from_str(&server.get("/readyz").1).unwrap()
}

/// Once, a start without the disk removed the segment from the catalogue. `verify` and `backup`
/// then accepted the record without its readings, and `backups --keep` deleted the backups that had
/// them.
#[test]
fn what_is_missing_at_a_start_is_said_everywhere_until_it_is_back_or_given_up() {
    let folder = TempDir::new().unwrap();
    record(folder.path());
    let run = |args: &[&str]| output(folder.path(), args);
    assert!(run(&["backup", "--to", "whole"]).0);
    let (file, away) =
        (folder.path().join("mesonet-data").join(SEGMENT), folder.path().join("away"));
    fs::rename(&file, &away).unwrap();
    for _ in 0..2 {
        let server = Server::start(&folder, &["--now", "2024-08-03T12:00:00Z"]);
        let grid =
            "/api/v1/stations/readings?step=60&start=2024-08-03T10:00:00Z&end=2024-08-03T12:00:00Z";
        let (head, body) = server.get(grid);
        assert!(head.contains("\r\nx-mesonet-damaged: 1"), "{head}{body}");
        assert_eq!(readiness(&server)["faults"], 1);
        assert_eq!(server.stop().0, Some(0));
        let (ok, out, _) = run(&["verify"]);
        let fault = format!("fault: {SEGMENT}: it is missing; put it back, or give it up: ");
        assert!(!ok && out.contains(&fault), "{out}");
        let (ok, _, error) = run(&["backup", "--to", "place"]);
        assert!(
            !ok && error.contains("nothing was backed up: ") && error.contains(SEGMENT),
            "{error}"
        );
    }
    let (ok, out, error) = run(&["backup", "--to", "place", "--without-lost"]);
    assert!(
        ok && out.contains(&format!("left out: lost: {SEGMENT}: it is missing")),
        "{out}{error}"
    );

    // The disk comes back while the server runs.
    let server = Server::start(&folder, &["--now", "2024-08-03T12:00:00Z"]);
    assert_eq!(readiness(&server)["faults"], 1);
    fs::rename(&away, &file).unwrap();
    let started = std::time::Instant::now();
    while readiness(&server)["faults"] != 0 {
        assert!(started.elapsed() < crate::process::PATIENCE, "it is not found again");
        std::thread::sleep(std::time::Duration::from_millis(200));
    }
    server.stop();
    assert!(run(&["verify"]).0);

    fs::remove_file(&file).unwrap();
    let (ok, _, error) = run(&["verify", "--give-up", "segments/00000009.arrow"]);
    assert!(!ok && error.contains("it is not missing, so it cannot be given up"), "{error}");
    let (ok, out, error) = run(&["verify", "--give-up", SEGMENT]);
    assert!(ok && out.starts_with(&format!("given up: {SEGMENT}")), "{out}{error}");
    assert!(run(&["verify"]).0 && run(&["backup", "--to", "place"]).0);
}
