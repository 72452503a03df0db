//! What the server process and the command delete because of its age.

use std::io::{Read, Write};
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use mesonet::store::{AlertStore, EmbeddedOptions, Maintenance, no_verdicts};
use mesonet::time::{DAY_MS, parse_instant};
use mesonet::{BaseQuality, Batch, EmbeddedStore, Quality, ReasonQuality, Store, alert};
use mesonet_service::ingest::KeyHash;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::process::{Server, output};
use crate::support::{AIR, report, station};

/// 2024-08-03T12:00:00Z
const NEWEST_MS: i64 = crate::support::NOW_MS;

/// Longer than the server takes. It is a deadline, not a measurement.
const PATIENCE: Duration = Duration::from_secs(120);

/// A record with a reading every 100 days, the first ones sealed, each with an alert.
fn record(folder: &Path) {
    let data = folder.join("mesonet-data");
    let options = EmbeddedOptions { seal_readings: 1, ..EmbeddedOptions::default() };
    let store = EmbeddedStore::open(&data, options).unwrap();
    store.meta_set("origin", "own").unwrap();
    let alerts = AlertStore::open(&data).unwrap().0;
    for age_d in [900, 800, 700, 600, 500, 400, 300, 200, 100, 0] {
        let ts_ms = NEWEST_MS - age_d * DAY_MS;
        store.append(&reading(ts_ms), &mut no_verdicts).unwrap();
        if age_d == 700 || age_d == 300 {
            store.maintain(&Maintenance { seal_all: true, retain_from_ms: None }).unwrap();
        }
        let alert =
            alert::Message { id: age_d.to_string(), sent_ms: ts_ms, ..alert::Message::default() };
        alerts.append(vec![alert]).unwrap();
    }
}

fn reading(ts_ms: i64) -> Batch {
    let quality = Quality { base: BaseQuality::Unknown, reason: ReasonQuality::None };
    let reports = report("A", NEWEST_MS - ts_ms, &AIR, 20.0, quality).reports;
    Batch { reports, ..station("A", -79.0, 43.0) }
}

/// Counts what a record holds: batches in the journal, sealed readings, alerts.
fn held(folder: &Path) -> (usize, u64, usize) {
    let report = EmbeddedStore::verify(&folder.join("mesonet-data"), false).unwrap();
    assert_eq!(report.faults, []);
    (report.journal_batches, report.sealed_readings, report.alerts)
}

#[test]
fn the_clock_of_a_replay_deletes_nothing() {
    let folder = TempDir::new().unwrap();
    record(folder.path());
    let before = held(folder.path());
    assert_eq!(before, (3, 7, 10));
    let args = ["--now", "2030-01-01T00:00:00Z", "--retention", "400d"];
    let server = Server::start(&folder, &args);
    assert!(server.log().contains("retention 400d does nothing: in a replay"), "{}", server.log());
    sleep(Duration::from_secs(2));
    assert_eq!(server.stop().0, Some(0));
    assert_eq!(held(folder.path()), before);
}

#[test]
fn a_clock_years_after_the_newest_reading_takes_what_was_too_old_at_that_reading() {
    let folder = TempDir::new().unwrap();
    record(folder.path());
    // The machine's clock is years after 2024, as if it had jumped.
    let server = Server::start(&folder, &["--retention", "400d"]);
    let alerts = || -> usize {
        let body: Value = serde_json::from_str(&server.get("/api/v1/alerts").1).unwrap();
        body["features"].as_array().unwrap().len()
    };
    // These are deleted last.
    let started = Instant::now();
    while alerts() > 5 {
        assert!(started.elapsed() < PATIENCE, "nothing was deleted");
        sleep(Duration::from_millis(100));
    }
    let (status, log) = server.stop();
    assert_eq!(status, Some(0), "{log}");
    assert!(
        log.contains(
            "deleted what was older than 2023-06-30T12:00:00Z: 1 segments with 3 readings, \
             5 alerts"
        ),
        "{log}"
    );
    // The reading at the cutoff itself, the later ones, and the segment that contains them.
    assert_eq!(held(folder.path()), (3, 4, 5));
}

/// The help once said that the default is forever, but the command refuses that.
#[test]
fn the_help_of_retention_says_that_a_span_is_required() {
    let folder = TempDir::new().unwrap();
    let (ok, help, _) = output(folder.path(), &["retention", "--help"]);
    let flag = help.split("--retention <SPAN>").nth(1).and_then(|rest| rest.split("--").next());
    let flag = flag.unwrap();
    assert!(ok && flag.contains("required") && !flag.contains("default"), "{flag}");
    let (ok, _, error) = output(folder.path(), &["retention", "--dry-run"]);
    assert!(!ok && error.contains("retention is required"), "{error}");
}

#[test]
fn a_dry_run_says_what_would_be_deleted_and_writes_nothing() {
    let folder = TempDir::new().unwrap();
    record(folder.path());
    let before = held(folder.path());
    let args = ["retention", "--retention", "400d", "--json"];
    let run = |more: &[&str]| -> Value {
        let (ok, out, error) = output(folder.path(), &[&args[..], more].concat());
        assert!(ok, "{error}");
        serde_json::from_str(&out).unwrap()
    };
    let mut told = json!({
        "dryRun": true, "newest": "2024-08-03T12:00:00Z", "cutoff": "2023-06-30T12:00:00Z",
        "readings": 5, "segments": 1, "alerts": 5,
    });
    assert_eq!(run(&["--dry-run"]), told);
    assert_eq!(held(folder.path()), before);
    told["dryRun"] = false.into();
    assert_eq!(run(&[]), told);
    assert_eq!(held(folder.path()), (3, 4, 5));
    // Now they are deleted, and not counted again.
    let again = run(&["--dry-run"]);
    assert_eq!(
        (&again["readings"], &again["segments"], &again["alerts"]),
        (&0.into(), &0.into(), &0.into())
    );

    let (ok, out, _) = output(folder.path(), &["retention", "--retention", "400d", "--dry-run"]);
    assert!(
        ok && out.contains("what is older than 2023-06-30T12:00:00Z would be deleted:\n"),
        "{out}"
    );
    let (ok, _, error) = output(folder.path(), &["retention", "--dry-run"]);
    assert_eq!(
        (ok, &*error),
        (
            false,
            "error: retention is required: how long readings are kept, for example --retention \
             400d\n"
        )
    );
    let (ok, _, error) =
        output(folder.path(), &["retention", "--retention", "1d", "--data", "nowhere"]);
    assert_eq!((ok, &*error), (false, "error: nowhere is not the folder of a record\n"));
    assert!(!folder.path().join("nowhere").exists());
}

#[test]
fn a_report_from_the_future_deletes_nothing() {
    let folder = TempDir::new().unwrap();
    record(folder.path());
    let data = folder.path().join("mesonet-data");
    let store = EmbeddedStore::open(&data, EmbeddedOptions::default()).unwrap();
    let year_2100 = parse_instant("2100-01-01T00:00:00Z").unwrap();
    store.append(&reading(year_2100), &mut no_verdicts).unwrap();
    drop(store);
    let (ok, out, error) =
        output(folder.path(), &["retention", "--retention", "40000d", "--dry-run", "--json"]);
    let told: Value = serde_json::from_str(&out).unwrap();
    assert!(ok && told["readings"] == 0, "{out}{error}");
}

/// Once, after a clock was ahead and then right again, every push of today was answered with
/// success but stored nothing.
#[test]
fn a_cutoff_that_is_too_late_goes_back_before_a_push_is_refused() {
    let folder = TempDir::new().unwrap();
    record(folder.path());
    let run = |args: &[&str]| output(folder.path(), &[&["retention"], args].concat());
    let (ok, out, _) = run(&["--show", "--json"]);
    assert!(ok && out == "{\"cutoff\":null,\"newest\":\"2024-08-03T12:00:00Z\"}\n", "{out}");
    let far = "2099-01-01T00:00:00Z";
    let (ok, out, error) = run(&["--set-cutoff", far]);
    assert!(
        ok && out.starts_with("the cutoff of retention is 2099-01-01T00:00:00Z\n"),
        "{out}{error}"
    );
    let (ok, out, _) = output(folder.path(), &["verify"]);
    assert!(
        !ok && out.contains("fault: retention: the cutoff 2099-01-01T00:00:00Z is later than"),
        "{out}"
    );

    let hash = KeyHash::of(KEY);
    let live = ["--now", "live", "--ingest-key-hashes", hash.as_str()];
    let server = Server::start(&folder, &live);
    let pushed = push(&server, "", BULLETIN);
    assert_eq!(
        (&pushed["whole"], &pushed["kinds"]["metar-bulletin"]["expired"]),
        (&true.into(), &0.into())
    );
    server.stop();
    let (ok, out, _) = run(&["--show"]);
    assert!(
        ok && out.starts_with("there is no cutoff of retention: everything is kept\n"),
        "{out}"
    );
    assert!(output(folder.path(), &["verify"]).0);
}

#[test]
fn readings_that_are_too_old_are_named_as_not_stored() {
    let folder = TempDir::new().unwrap();
    record(folder.path());
    let hash = KeyHash::of(KEY);
    let args = ["--now", "live", "--retention", "400d", "--ingest-key-hashes", hash.as_str()];
    let server = Server::start(&folder, &args);
    let started = Instant::now();
    // From the first maintenance on.
    let pushed = loop {
        let pushed = push(&server, "&received=2020-08-03T20:00:00Z", BULLETIN);
        if pushed["kinds"]["metar-bulletin"]["expired"] != 0 || started.elapsed() > PATIENCE {
            break pushed;
        }
        sleep(Duration::from_millis(200));
    };
    assert_eq!(
        (&pushed["whole"], &pushed["expiredBefore"]),
        (&false.into(), &"2023-06-30T12:00:00Z".into())
    );
    let fault = &pushed["faults"]["first"][0];
    assert_eq!(fault["file"], "retention", "{pushed}");
    let text = "readings from before 2023-06-30T12:00:00Z, the cutoff, were not stored";
    assert!(fault["error"].as_str().unwrap().contains(text), "{pushed}");
}

#[test]
fn the_command_does_not_move_the_cutoff_far_by_itself() {
    let folder = TempDir::new().unwrap();
    record(folder.path());
    let run = |args: &[&str]| output(folder.path(), &[&["retention"], args].concat());
    assert!(run(&["--set-cutoff", "2021-01-01T00:00:00Z"]).0);
    let before = held(folder.path());
    let (ok, _, error) = run(&["--retention", "400d"]);
    let text = "the cutoff would move from 2021-01-01T00:00:00Z to 2023-06-30T12:00:00Z, and this command moves it by \
                31 days at once at most";
    assert!(!ok && error.contains(text), "{error}");
    assert_eq!(held(folder.path()), before);
    assert!(run(&["--set-cutoff", "2023-06-30T12:00:00Z"]).0);
    assert!(run(&["--retention", "400d"]).0);
    let (ok, _, error) = run(&["--set-cutoff", "yesterday"]);
    assert!(!ok && error.contains("\"none\" or an instant"), "{error}");
}

const KEY: &str = "mesonet_push_of_a_test";
const BULLETIN: &str =
    "SACN43 CWAO 032000\nMETAR CYYZ 032000Z 24012G20KT 15SM FEW060 29/17 A2991=\n";

/// Pushes a file, and returns the answer.
fn push(server: &Server, query: &str, body: &str) -> Value {
    let mut stream = std::net::TcpStream::connect(server.address()).unwrap();
    write!(
        stream,
        "POST /api/v1/ingest?name=sa.txt{query} HTTP/1.1\r\nhost: test\r\nconnection: close\r\n\
         authorization: Bearer {KEY}\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    serde_json::from_str(answer.split_once("\r\n\r\n").unwrap().1)
        .unwrap_or_else(|_| panic!("{answer}"))
}
