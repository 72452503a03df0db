//! The command `archive`: past months as Parquet. `archive_serves.rs` tests what a server does with
//! them.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::time::{Duration, Instant, SystemTime};

use axum::body::Body;
use axum::http::{Method, header};
use mesonet::access::Plan;
use mesonet::store::{EmbeddedOptions, Maintenance, no_verdicts};
use mesonet::time::{DAY_MS, parse_instant};
use mesonet::{EmbeddedStore, Intake, Quality, StationId, Store};
use mesonet_server::{Clock, Config, State};
use mesonet_service::record::Record;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::backup::{refused, run};
use crate::child::Process;
use crate::process::{PATIENCE, command, data, output};
use crate::support::{AIR, Answer, Api, NOW_MS, report, station};

/// A year of Tampa, and all stations at some hours of October 2022 and of August 2024.
pub const FILES: [&str; 3] = [
    "metar/ktpa_weather-reports_0.1.5.txt.gz",
    "metar/awc_metars_cache_2022-10-23T1137Z.csv.gz",
    "metar/liveairdata_metars_20240803T1732Z.csv.gz",
];

/// All of them, and later than all of them.
pub const ALL: &str = "start=2020-01-01T00:00:00Z&end=2025-01-01T00:00:00Z";

static ORIGINAL: LazyLock<TempDir> = LazyLock::new(|| {
    let folder = TempDir::new().unwrap();
    let files = FILES.map(data);
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    run(folder.path(), &[&["ingest"][..], &files].concat());
    let store = EmbeddedStore::open(&folder.path().join("mesonet-data"), options()).unwrap();
    store.maintain(&Maintenance { seal_all: true, ..Maintenance::default() }).unwrap();
    folder
});

fn options() -> EmbeddedOptions {
    EmbeddedOptions::default()
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let into = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &into);
        } else {
            fs::copy(entry.path(), into).unwrap();
        }
    }
}

/// A folder with a record of the files.
pub fn record() -> TempDir {
    let folder = TempDir::new().unwrap();
    copy(&ORIGINAL.path().join("mesonet-data"), &folder.path().join("mesonet-data"));
    folder
}

/// A folder with a record of the files, archived completely.
pub fn archived() -> TempDir {
    static ARCHIVED: LazyLock<TempDir> = LazyLock::new(|| {
        let folder = record();
        archive(folder.path(), &[]);
        folder
    });
    let folder = TempDir::new().unwrap();
    copy(ARCHIVED.path(), folder.path());
    folder
}

/// Runs the command, which must find everything complete.
#[track_caller]
pub fn archive(folder: &Path, args: &[&str]) -> Value {
    let all = [&["archive", "--to", "archive", "--json"], args].concat();
    serde_json::from_str(&run(folder, &all)).unwrap()
}

/// The months of a summary that have an outcome.
pub fn months<'a>(summary: &'a Value, outcome: &str) -> Vec<&'a str> {
    let months = summary["months"].as_array().unwrap().iter();
    let of = months.filter(|month| month["outcome"] == outcome);
    of.map(|month| month["month"].as_str().unwrap()).collect()
}

pub fn instant(text: &str) -> i64 {
    parse_instant(text).unwrap()
}

/// A service over the record of a folder. It keeps what is not older than a given span.
pub fn served(folder: &Path, archive: Option<&str>, kept_from: Option<&str>) -> Api {
    let config = Config {
        data: folder.join("mesonet-data"),
        assume_plan: Plan::Commercial,
        archive: archive.map(|archive| folder.join(archive).display().to_string()),
        ..Config::default()
    };
    let record = Record::on_disk(&config.data, options()).unwrap();
    if let Some(kept_from) = kept_from {
        record.maintain(Some(instant(kept_from))).unwrap();
    }
    let clock = Clock::stopped_at(NOW_MS);
    Api::of(State::of_record(config, clock, record, Intake::default()).unwrap())
}

pub fn tampa() -> StationId {
    StationId::new("METAR", "KTPA")
}

pub fn toronto() -> StationId {
    StationId::new("METAR", "CYYZ")
}

pub fn page(api: &Api, of: StationId, query: &str, fields: &str, accept: &str) -> Answer {
    let headers = [(header::CONTENT_TYPE, "application/json"), (header::ACCEPT, accept)];
    let body = format!(r#"{{"stationId":"{of}"{fields}}}"#);
    let uri = format!("/api/v1/historical/bulk?{query}");
    api.call(Method::POST, &uri, &headers, Body::from(body))
}

pub const CSV: &str = "text/csv";
#[test]
fn the_same_run_again_changes_nothing() {
    let folder = archived();
    let files = || {
        let mut found = Vec::new();
        walk(&folder.path().join("archive"), &mut |path| {
            found.push((path.to_owned(), fs::metadata(path).unwrap().modified().unwrap()));
        });
        found.sort();
        found
    };
    let before = files();
    let again = archive(folder.path(), &[]);
    assert_eq!(months(&again, "unchanged").len(), 49);
    assert_eq!(again["months"].as_array().unwrap().len(), 49);
    assert!(again["months"].as_array().unwrap().iter().all(|month| month["sentBytes"] == 0));
    assert_eq!(files(), before);
    let october = &again["months"][26];
    assert_eq!((&october["month"], &october["files"]), (&json!("2022-10"), &json!(1)));
    assert!(october["readings"].as_u64().unwrap() > 30_000);
}

fn walk(folder: &Path, visit: &mut impl FnMut(&Path)) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { walk(&path, visit) } else { visit(&path) }
    }
}

/// The files of a month.
pub fn files(folder: &Path, month: &str) -> Vec<PathBuf> {
    let (year, month) = month.split_once('-').unwrap();
    let mut found = Vec::new();
    let folder = folder.join(format!("archive/year={year}/month={month}"));
    walk(&folder, &mut |path| found.push(path.to_owned()));
    found
}

#[test]
fn a_late_reading_and_a_new_verdict_write_their_months_anew_and_no_other() {
    let folder = archived();
    let before = files(folder.path(), "2021-05");
    {
        let data = folder.path().join("mesonet-data");
        let store = EmbeddedStore::open(&data, options()).unwrap();
        let late_ms = instant("2021-05-06T12:34:00Z");
        let mut late = report("A", NOW_MS - late_ms, &AIR, 21.5, Quality::GOOD);
        late.reports[0].station = tampa();
        store.append(&late, &mut no_verdicts).unwrap();
        let verdicts = mesonet::store::Verdicts {
            station: tampa(),
            series: AIR.id(),
            ts_ms: vec![instant("2020-12-24T12:53:00Z")],
            quality: vec![crate::support::DOUBTFUL],
        };
        let receipt = store.append(&mesonet::Batch::default(), &mut |_| Ok(vec![verdicts.clone()]));
        assert_eq!(receipt.unwrap().revised, 1);
    }
    let again = archive(folder.path(), &[]);
    assert_eq!(months(&again, "replaced"), ["2020-12", "2021-05"]);
    let after = files(folder.path(), "2021-05");
    assert!(after.len() == 1 && before.len() == 1 && after != before, "{before:?} {after:?}");
    let whole = served(folder.path(), None, None);
    let expected = page(&whole, tampa(), ALL, "", CSV).text();
    assert!(expected.contains("2021-05-06T12:34:00Z,21.5,Good"));
    drop(whole);
    let left = served(folder.path(), Some("archive"), Some("2022-01-01T00:00:00Z"));
    assert!(page(&left, tampa(), ALL, "", CSV).text() == expected);
}

#[test]
fn what_the_record_no_longer_holds_stays_in_the_archive() {
    let folder = archived();
    drop(served(folder.path(), None, Some("2021-03-15T07:00:00Z")));
    let again = archive(folder.path(), &[]);
    let kept = months(&again, "kept");
    assert_eq!((kept[0], kept[kept.len() - 1], kept.len()), ("2020-08", "2021-03", 8));
    assert_eq!(months(&again, "unchanged").len(), 41);
    // An archive that begins late has what the record still holds.
    let (ok, out, _) = output(folder.path(), &["archive", "--to", "late", "--json"]);
    let late: Value = serde_json::from_str(&out).unwrap();
    assert!(ok, "{late}");
    assert_eq!(late["months"][0]["month"], "2021-03");
    let left = served(folder.path(), Some("late"), Some("2021-04-01T00:00:00Z"));
    let answer = page(&left, tampa(), ALL, "", CSV);
    assert_eq!((answer.status.as_u16(), answer.header("x-mesonet-damaged")), (200, None));
    let text = answer.text();
    assert!(text.lines().nth(1).unwrap().contains(",2021-03-15T07:"), "{}", &text[..200]);
}

#[test]
fn a_file_that_is_lost_is_made_again_while_the_record_holds_its_month() {
    let folder = archived();
    let [file] = &files(folder.path(), "2021-02")[..] else { panic!() };
    fs::remove_file(file).unwrap();
    let again = archive(folder.path(), &[]);
    assert_eq!(months(&again, "replaced"), ["2021-02"]);
    assert_eq!(files(folder.path(), "2021-02").len(), 1);
}

#[test]
fn an_archive_is_of_one_record() {
    let (folder, other) = (archived(), TempDir::new().unwrap());
    {
        let data = other.path().join("mesonet-data");
        let store = EmbeddedStore::open(&data, options()).unwrap();
        let mut batch = station("A", -80.5, 44.0);
        batch.reports = report("A", 400 * DAY_MS, &AIR, 20.5, Quality::GOOD).reports;
        store.append(&batch, &mut no_verdicts).unwrap();
    }
    let place = folder.path().join("archive").display().to_string();
    let error = refused(other.path(), &["archive", "--to", &place]);
    assert!(error.contains("has the archive of another record"), "{error}");
    run(other.path(), &["archive", "--to", "own"]);
    let all = archive(folder.path(), &[]);
    assert_eq!(months(&all, "unchanged").len(), 49);
}

#[test]
fn what_is_not_allowed_is_said() {
    let folder = TempDir::new().unwrap();
    let of = |args: &[&str]| refused(folder.path(), &[&["archive", "--to", "a"], args].concat());
    assert!(of(&[]).ends_with("mesonet-data is not the folder of a record\n"));
    assert!(
        of(&["--before", "noon"]).contains("before is \"noon\"; it must be an RFC 3339 instant")
    );
    assert!(
        of(&["--before", "2024-01-01T00:00:00Z", "--days", "3"]).contains("cannot be used with")
    );
    assert!(!folder.path().join("a").exists());
    let folder = record();
    let error = refused(folder.path(), &["archive", "--to", "ftp://x"]);
    assert!(
        error.contains("\"ftp://x\" is not a place for backups or archives; it must be"),
        "{error}"
    );
}

#[test]
fn retention_deletes_only_what_is_archived() {
    let folder = record();
    let retention = |args: &[&str]| {
        let all = [&["retention", "--retention", "1d", "--dry-run", "--json"], args].concat();
        output(folder.path(), &all)
    };
    let cutoff = |args: &[&str]| -> Value {
        let (ok, out, error) = retention(args);
        assert!(ok, "{error}");
        serde_json::from_str::<Value>(&out).unwrap()["cutoff"].clone()
    };
    assert!(cutoff(&[]).as_str().unwrap().starts_with("2024-08-02T"));
    let (ok, _, error) = retention(&["--archive", "nowhere"]);
    assert!(!ok && error.contains("the archive") && error.contains("nowhere"), "{error}");
    fs::create_dir(folder.path().join("empty")).unwrap();
    assert_eq!(cutoff(&["--archive", "empty"]), Value::Null);
    archive(folder.path(), &["--before", "2021-01-15T00:00:00Z"]);
    assert_eq!(cutoff(&["--archive", "archive"]), json!("2021-01-01T00:00:00Z"));
    archive(folder.path(), &[]);
    // Only whole months are deleted: late readings of the last month can still be archived.
    assert_eq!(cutoff(&["--archive", "archive"]), json!("2024-08-01T00:00:00Z"));
}

/// Whenever a run is killed, the archive has only whole months, and the next run completes it.
#[test]
fn a_run_that_is_killed_is_finished_by_the_next() {
    let (folder, whole) = (record(), archived());
    let expected = {
        let left = served(whole.path(), Some("archive"), Some("2022-01-01T00:00:00Z"));
        page(&left, tampa(), ALL, "", CSV).text()
    };
    let manifests = || {
        let found = fs::read_dir(folder.path().join("archive/manifests"));
        found.map_or(0, Iterator::count)
    };
    // At the first month, then in each later one.
    for archived in [0, 1, 2, 5, 9, 12] {
        let mut command = command(folder.path(), &["archive", "--to", "archive"]);
        let process = Process::start(&mut command, PATIENCE);
        let started = Instant::now();
        while manifests() < archived {
            assert!(started.elapsed() < PATIENCE, "{archived} months were not archived");
            std::thread::sleep(Duration::from_millis(1));
        }
        process.kill();
        assert!(manifests() < 15, "no run was killed in the middle");
    }
    // Files that a killed run left are deleted once no run can still be writing them.
    let orphan = folder.path().join("archive/year=2021/month=01/2021-01-0123abcd-0000.parquet");
    let foreign = orphan.with_file_name("notes.parquet");
    fs::create_dir_all(orphan.parent().unwrap()).unwrap();
    for path in [&orphan, &foreign] {
        fs::write(path, "half").unwrap();
        let old = SystemTime::now() - Duration::from_secs(3 * 86_400);
        fs::File::options().append(true).open(path).unwrap().set_modified(old).unwrap();
    }
    archive(folder.path(), &[]);
    assert!(!orphan.exists() && foreign.exists());
    fs::remove_file(foreign).unwrap();
    let left = served(folder.path(), Some("archive"), Some("2022-01-01T00:00:00Z"));
    assert!(page(&left, tampa(), ALL, "", CSV).text() == expected);
}

/// Two runs at once: one is refused, or both find nothing to do. The archive is complete.
#[test]
fn of_two_runs_at_once_none_harms_the_other() {
    let folder = record();
    let args = ["archive", "--to", "archive"];
    let mut commands = [0; 2].map(|_| command(folder.path(), &args));
    let processes = commands.each_mut().map(|command| Process::start(command, PATIENCE));
    let done = processes.map(Process::wait);
    for (status, said) in &done {
        let is_refused = said.err.contains("another run changed the archive at the same time");
        assert!(status.success() || is_refused, "{}", said.err);
    }
    assert!(done.iter().any(|(status, _)| status.success()));
    let again = archive(folder.path(), &[]);
    assert_eq!(months(&again, "unchanged").len(), 49);
    assert_eq!(again["faults"], json!([]));
}
