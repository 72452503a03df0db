//! A server whose record is in ClickHouse, when ClickHouse is unreachable or not as expected, and
//! commands on such a record.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::Path;
use std::process::Output;

use mesonet_clickhouse::{Options, SCHEMA_VERSION};
use tempfile::TempDir;

use crate::follower::{post, push, run, start, wait_until};
use crate::gate::Gate;
use crate::in_clickhouse::{own_database, place, server, sql};
use crate::process::{Server, command, data, output};

const TORONTO: &str = "/api/v1/stations/readings?names=airTemperature&minLat=43&minLon=-80&maxLat=44\
                       &maxLon=-79&start=2024-08-03T17:00:00Z&end=2024-08-03T18:00:00Z&step=5";

/// How many reports there are at an airport.
fn reports(server: &Server) -> usize {
    let (head, body) = server.get(TORONTO);
    assert!(head.starts_with("HTTP/1.1 200 "), "{head}{body}");
    let times = body.split("\"timestamp\":\"").skip(1).filter_map(|rest| rest.split('"').next());
    times.collect::<BTreeSet<_>>().len()
}

#[test]
fn what_cannot_be_stored_or_read_is_a_503_and_the_server_goes_on_by_itself() {
    let Some(url) = server() else { return };
    let (options, folder) = (own_database(&url), TempDir::new().unwrap());
    let gate = Gate::before(&url);
    let place = place(&gate.to(&options));
    // Nothing is read from memory.
    let server = start(&folder, &["--store", &place, "--recent-hours", "0"]);
    let report = |minute| format!("METAR CYYZ 0317{minute}Z 24012KT 15SM 28/17 A2991=\n");
    assert!(push(&server, &report(10)).contains(" 200 "));
    let held = reports(&server);
    assert!(held > 0);

    for away in [Gate::close, Gate::talk_nonsense] {
        away(&gate);
        let (head, body) = post(&server, "/api/v1/ingest?name=sa_20240803.txt", &report(20));
        assert!(head.starts_with("HTTP/1.1 503 "), "{head}{body}");
        assert_eq!(body, "\"the store cannot be reached now; send it again later\"");
        let (head, body) = server.get(TORONTO);
        assert!(head.starts_with("HTTP/1.1 503 "), "{head}{body}");
        assert_eq!(body, "\"the data cannot be used right now; try again later\"");
        wait_until("it says so", || {
            let (head, body) = server.get("/readyz");
            head.contains(" 503 ") && body.contains("the record in ClickHouse cannot be reached")
        });
        assert!(server.get("/healthz").0.contains(" 200 "));
        gate.open();
        wait_until("it goes on", || server.get("/readyz").0.contains(" 200 "));
        assert_eq!(reports(&server), held);
    }
    assert!(push(&server, &report(20)).contains(" 200 "));
    assert!(reports(&server) > held);
    let (code, log) = server.stop();
    assert_eq!(code, Some(0), "{log}");
    assert!(log.contains("a push was refused: http://"), "{log}");
}

#[test]
fn recent_readings_are_answered_while_clickhouse_is_away() {
    let Some(url) = server() else { return };
    let (options, folder) = (own_database(&url), TempDir::new().unwrap());
    let gate = Gate::before(&url);
    let own = place(&gate.to(&options));
    let mut writer = start(&folder, &["--store", &own]);
    writer.wait_for("in memory: 0 readings");
    let beside = ["--store", &own, "--data", "beside", "--read-only", "true"];
    let mut reader = start(&folder, &beside);
    reader.wait_for("in memory: 0 readings");
    assert!(push(&writer, "METAR CYYZ 031710Z 24012KT 15SM 28/17 A2991=\n").contains(" 200 "));
    let held = reports(&writer);
    assert!(held > 0);
    wait_until("the reader has it", || reports(&reader) == held);

    gate.close();
    for server in [&writer, &reader] {
        wait_until("it says so", || server.get("/readyz").0.contains(" 503 "));
        assert_eq!(reports(server), held);
    }
    // What was not taken in is not shown.
    let refused = push(&writer, "METAR CYYZ 031720Z 24012KT 15SM 28/17 A2991=\n");
    assert!(refused.starts_with("HTTP/1.1 503 "), "{refused}");
    assert_eq!(reports(&writer), held);
    gate.open();
    wait_until("it is taken", || {
        push(&writer, "METAR CYYZ 031720Z 24012KT 15SM 28/17 A2991=\n").contains(" 200 ")
    });
    let held = reports(&writer);
    wait_until("the reader has it", || reports(&reader) == held);
    assert_eq!((writer.stop().0, reader.stop().0), (Some(0), Some(0)));
}

#[test]
fn clickhouse_that_goes_away_in_the_middle_loses_nothing_acknowledged() {
    let Some(url) = server() else { return };
    let (options, folder) = (own_database(&url), TempDir::new().unwrap());
    let gate = Gate::before(&url);
    let server = start(&folder, &["--store", &place(&gate.to(&options))]);
    let mut acknowledged = 0;
    for minute in 10..40 {
        // At some request of a batch.
        gate.cut_after(minute * 7 % 13);
        let report = format!("METAR CYYZ 0317{minute}Z 24012KT 15SM 28/17 A2991=\n");
        let is_taken = push(&server, &report).contains(" 200 ");
        gate.open();
        // A refused report may still be stored, and is sent again.
        if !is_taken {
            wait_until("it is taken", || push(&server, &report).contains(" 200 "));
        }
        acknowledged += 1;
    }
    let held = || {
        let (_, body) = server.get(&TORONTO.replace("step=5", "step=1"));
        (10..40).filter(|minute| body.contains(&format!("2024-08-03T17:{minute}:00Z"))).count()
    };
    assert_eq!(held(), acknowledged);
    assert_eq!(server.stop().0, Some(0));
    let rows = "SELECT count() FROM (SELECT DISTINCT station, ts_ms FROM readings)";
    assert_eq!(sql(&options, rows).trim(), "30");
}

#[test]
fn the_last_server_to_open_the_record_writes_and_the_one_before_says_so() {
    let Some(url) = server() else { return };
    let (options, folder) = (own_database(&url), TempDir::new().unwrap());
    let place = place(&options);
    let first = start(&folder, &["--store", &place]);
    assert!(push(&first, "METAR CYYZ 031710Z 24012KT 15SM 28/17 A2991=\n").contains(" 200 "));
    let second = start(&folder, &["--store", &place, "--data", "second"]);
    let report = "METAR CYYZ 031720Z 24012KT 15SM 28/17 A2991=\n";
    let (head, body) = post(&first, "/api/v1/ingest?name=sa_20240803.txt", report);
    assert!(head.starts_with("HTTP/1.1 503 "), "{head}");
    assert_eq!(
        body,
        "\"another server writes the record now, and this one takes nothing in; send it to that one\""
    );
    wait_until("it says so", || {
        let (head, body) = first.get("/readyz");
        head.contains(" 503 ") && body.contains("another server writes the record now")
    });
    assert!(push(&second, report).contains(" 200 "));
    assert!(reports(&second) > reports(&first));
    let (_, log) = first.stop();
    assert!(log.contains("is in use by a writer that opened it later"), "{log}");
    // The killed server has not noted that it stopped writing.
    let metars = data("metar/liveairdata_metars_20240803T1732Z.csv.gz");
    let (ok, _, error) = output(folder.path(), &["ingest", "--store", &place, &metars]);
    assert!(!ok && error.contains("is in use by a server that wrote to it"), "{error}");
    assert_eq!(second.stop().0, Some(0));
    run(folder.path(), &["ingest", "--store", &place, &metars]);
}

#[test]
fn a_database_that_cannot_be_used_is_refused_at_the_start_with_the_reason() {
    let Some(url) = server() else { return };
    let (options, folder) = (own_database(&url), TempDir::new().unwrap());
    let refusal = |place: &str, env: &[(&str, &str)]| {
        let mut command = command(folder.path(), &["--listen", "127.0.0.1:0", "--store", place]);
        let Output { status, stderr, .. } = command.envs(env.iter().copied()).output().unwrap();
        let error = String::from_utf8(stderr).unwrap();
        assert_eq!(status.code(), Some(1), "{error}");
        error.lines().last().unwrap().to_owned()
    };
    let nowhere = refusal("clickhouse:http://127.0.0.1:9/mesonet", &[]);
    let start = "error: http://127.0.0.1:9 database mesonet: network error";
    assert!(nowhere.starts_with(start), "{nowhere}");
    let gate = Gate::before(&url);
    gate.talk_nonsense();
    let nonsense = refusal(&place(&gate.to(&options)), &[]);
    let said = format!("database {}: it does not answer like ClickHouse", options.database);
    assert!(nonsense.ends_with(&said), "{nonsense}");
    let wrong = refusal(&place(&options), &[("CLICKHOUSE_PASSWORD", "hunter2")]);
    assert!(wrong.contains("password") && !wrong.contains("hunter2"), "{wrong}");
    fs::write(folder.path().join("password"), "hunter3\n").unwrap();
    let in_file = [("MESONET_STORE_PASSWORD_FILE", "password"), ("CLICKHOUSE_PASSWORD", "")];
    let wrong = refusal(&place(&options), &in_file);
    assert!(wrong.contains("password") && !wrong.contains("hunter3"), "{wrong}");

    sql(&options, &format!("INSERT INTO migrations VALUES ({}, 'later')", SCHEMA_VERSION + 1));
    let newer = format!("has schema version {}; this version reads", SCHEMA_VERSION + 1);
    let said = refusal(&place(&options), &[]);
    assert!(said.contains(&newer), "{said}");
    let fresh = Options::new(&url, &format!("{}_fresh", options.database));
    sql(&Options::new(&url, "default"), &format!("CREATE DATABASE {}", fresh.database));
    let said = refusal(&place(&fresh), &[]);
    let advice = "has schema version 0 (mesonet-server migrate brings it up to date)";
    assert!(said.contains(advice), "{said}");
    let migrate = |options| run(folder.path(), &["migrate", "--store", &place(options)]);
    let place = place(&fresh);
    assert_eq!(migrate(&fresh), format!("{place}: made tables of version {SCHEMA_VERSION}\n"));
    let done = format!("{place}: tables are of version {SCHEMA_VERSION} already\n");
    assert_eq!(migrate(&fresh), done);
    let server = Server::start(&folder, &["--store", &place, "--now", "live"]);
    assert!(server.log().contains("writing to clickhouse:http://"), "{}", server.log());
}

#[test]
fn a_command_works_on_a_record_in_clickhouse_or_is_refused() {
    let Some(url) = server() else { return };
    let (options, folder) = (own_database(&url), TempDir::new().unwrap());
    let (path, place) = (folder.path(), place(&options));
    let with = |args: &[&str]| output(path, &[args, &["--store", &*place]].concat());
    // A record on disk that must not be mistaken for the record in ClickHouse.
    let metars = data("metar/liveairdata_metars_20240803T1732Z.csv.gz");
    let (ok, out, error) = with(&["quality", "CYYZ"]);
    assert!(!ok && error.contains("no station has the id"), "{out}{error}");
    for (command, reason) in [
        (
            &["verify", "--rebuild"][..],
            "error: verify --rebuild is for a record on disk; store is clickhouse:http://",
        ),
        (&["backup", "--to", "backups"], "error: backup is for a record on disk; store is"),
    ] {
        let (ok, _, error) = with(command);
        assert!(!ok && error.starts_with(reason), "{error}");
    }
    let (ok, out, error) = with(&["ingest", "--json", &metars]);
    assert!(ok, "{out}{error}");
    // The files in the folder are checked. The command says that the rest is not checked.
    let (ok, out, error) = with(&["verify"]);
    let elsewhere =
        format!("not checked: readings, stations and alerts are in {place}; ClickHouse ");
    assert!(ok && out.starts_with(&elsewhere) && out.ends_with("no fault\n"), "{out}{error}");
    let (ok, out, error) = with(&["verify", "--json"]);
    let told: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert!(ok && told["recordIn"] == place.as_str() && told["modelRuns"] == 0, "{out}{error}");
    verify_shares_the_folder(path, &place);
    let (ok, out, error) = with(&["quality", "CYYZ"]);
    assert!(ok && out.contains("airTemperature"), "{out}{error}");
    let readings = || sql(&options, "SELECT count() FROM readings").trim().parse::<u64>().unwrap();
    let held = readings();
    assert!(held > 1000);
    // The newest reading is of the same day.
    let (ok, out, error) = with(&["retention", "--retention", "1h", "--dry-run"]);
    assert!(ok && out.contains("would be deleted:\n  0 readings, 0 days"), "{out}{error}");
    sql(
        &options,
        "INSERT INTO readings SELECT station, series, ts_ms - 172800000, version, batch, \
                   value, quality, source, revision, qualifier FROM readings",
    );
    let (ok, out, error) = with(&["retention", "--retention", "1h", "--dry-run"]);
    assert!(ok && out.contains(&format!("  {held} readings, 1 days as a whole")), "{out}{error}");
    assert_eq!(readings(), 2 * held);
    let (ok, out, error) = with(&["retention", "--retention", "1h"]);
    assert!(ok && out.contains("was deleted"), "{out}{error}");
    assert_eq!(readings(), held);
    assert!(!path.join("mesonet-data/mesonet.sqlite").exists());
    let (ok, _, error) = output(path, &["migrate", "--store", "embedded"]);
    assert!(
        !ok && error.starts_with("error: store is embedded; it must be clickhouse:"),
        "{error}"
    );
}

/// Several commands may check a folder at once, and nothing is written. A running server keeps them
/// out.
#[track_caller]
fn verify_shares_the_folder(path: &Path, place: &str) {
    let verified = || output(path, &["verify", "--store", place]);
    let data = path.join("mesonet-data");
    let names = || fs::read_dir(&data).unwrap().map(|entry| entry.unwrap().file_name());
    let lock = File::options().write(true).open(data.join("lock")).unwrap();
    lock.lock_shared().unwrap();
    let (ok, out, error) = verified();
    assert!(ok, "{out}{error}");
    let (ok, _, error) = output(path, &["verify", "--set-aside", "--store", place]);
    assert!(!ok && error.contains("is in use by another process"), "{error}");
    lock.unlock().unwrap();
    lock.lock().unwrap();
    let (ok, _, error) = verified();
    assert!(!ok && error.contains("is in use by another process"), "{error}");
    drop(lock);
    fs::remove_file(data.join("lock")).unwrap();
    let before: BTreeSet<_> = names().collect();
    let (ok, out, error) = verified();
    assert!(ok, "{out}{error}");
    assert_eq!(names().collect::<BTreeSet<_>>(), before);
}
