//! Backups: made while a server takes in readings, killed, damaged, and restored.

use std::collections::BTreeSet;
use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use axum::http::header;
use mesonet::access::Plan;
use mesonet::store::{EmbeddedOptions, EmbeddedReader, Selection};
use mesonet::time::parse_instant;
use mesonet::{ClosedWindow, EmbeddedStore, Reader, StationId, Variable};
use mesonet_server::Config;
use mesonet_service::ingest::KeyHash;
use serde_json::Value;
use tempfile::TempDir;

use crate::child::Process;
use crate::process::{PATIENCE, Server, command, data, output};
use crate::support::Api;
use crate::verify::{files, record};

pub const KEY: &str = "mesonet_push_of_a_test";
pub const METAR: &str = "metar/liveairdata_metars_20240803T1732Z.csv.gz";

/// Runs a command that must succeed, and returns what it printed.
#[track_caller]
pub fn run(folder: &Path, args: &[&str]) -> String {
    let (ok, out, error) = output(folder, args);
    assert!(ok, "{args:?}: {out}{error}");
    out
}

/// Runs a command that must fail, and returns why it did.
#[track_caller]
pub fn refused(folder: &Path, args: &[&str]) -> String {
    let (ok, out, error) = output(folder, args);
    assert!(!ok, "{args:?}: {out}");
    error
}

fn backup(folder: &Path) -> Value {
    serde_json::from_str(&run(folder, &["backup", "--to", "backups", "--json"])).unwrap()
}

fn list(folder: &Path, args: &[&str]) -> (bool, Value) {
    let all = [&["backups", "--from", "backups", "--json"], args].concat();
    let (ok, out, error) = output(folder, &all);
    (ok, serde_json::from_str(&out).unwrap_or_else(|_| panic!("{out}{error}")))
}

/// A record with the reports of one METAR file, and a place with one backup of it.
fn backed_up() -> TempDir {
    let folder = TempDir::new().unwrap();
    run(folder.path(), &["ingest", &data(METAR)]);
    backup(folder.path());
    folder
}

/// Returns the one file of the place whose path contains a text.
fn object(folder: &Path, part: &str) -> PathBuf {
    let place = folder.join("backups");
    let found: Vec<String> = files(&place).into_iter().filter(|name| name.contains(part)).collect();
    assert_eq!(found.len(), 1, "{found:?}");
    place.join(&found[0])
}

/// The checksum of a file in the newest backup.
fn checksum(folder: &Path, path: &str) -> String {
    let name = fs::read_dir(folder.join("backups/backups")).unwrap();
    let newest = name.map(|entry| entry.unwrap().path()).max().unwrap();
    let text = fs::read_to_string(newest).unwrap();
    let manifest: Value = serde_json::from_str(text.lines().nth(1).unwrap()).unwrap();
    let mut files = manifest["files"].as_array().unwrap().iter();
    let file = files.find(|file| file["path"] == path).unwrap();
    file["sha256"].as_str().unwrap().to_owned()
}

pub fn push(server: SocketAddr, body: &str) -> String {
    let mut stream = TcpStream::connect(server).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    write!(
        stream,
        "POST /api/v1/ingest?name=sa_20240803.txt HTTP/1.1\r\nhost: test\r\nconnection: close\r\n\
         authorization: Bearer {KEY}\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

/// Returns how many reports of Toronto have an air temperature, all of which must be 29 °C.
fn reports(data: &Path) -> u32 {
    let reader = EmbeddedReader::open(data).unwrap();
    let station = [StationId::new("METAR", "CYYZ")];
    let window = ClosedWindow::new(i64::MIN, i64::MAX).unwrap();
    let variables = &[Variable::AirTemperature];
    let selection = Selection { stations: &station, variables, window };
    let mut count = 0;
    let damage = reader.scan(&selection, &mut |_, slices| {
        for slice in slices.iter().filter(|slice| !slice.series.key.calculated) {
            count += slice.value.len() as u32;
            assert!(slice.value.iter().all(|&value| value == 29.0));
        }
    });
    assert_eq!(damage.unwrap().blocks(), 0);
    count
}

/// A backup has everything that was acknowledged before its time, however many other backups are
/// killed.
#[test]
fn nothing_that_was_acknowledged_is_lost_by_backups_of_a_server_that_is_fed() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    let hash = KeyHash::of(KEY);
    let server = Server::start(
        &folder,
        &["--now", "live", "--ingest-key-hashes", hash.as_str(), "--seal-readings", "200"],
    );
    let address = server.address();
    let (acknowledged, done) = (AtomicU32::new(0), AtomicBool::new(false));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for report in 0..1200 {
                if done.load(Ordering::SeqCst) {
                    break;
                }
                let (hour, minute) = (report / 60, report % 60);
                let body =
                    format!("METAR CYYZ 03{hour:02}{minute:02}Z 24012KT 15SM 29/17 A2991=\n");
                assert!(push(address, &body).starts_with("HTTP/1.1 200 "));
                acknowledged.fetch_add(1, Ordering::SeqCst);
            }
        });
        while acknowledged.load(Ordering::SeqCst) == 0 {
            std::thread::sleep(Duration::from_millis(10));
        }
        let (mut made, mut killed) = (0, 0);
        for round in 0..24_u64 {
            let before = acknowledged.load(Ordering::SeqCst);
            let mut backup = command(path, &["backup", "--to", "backups"]);
            if round % 4 != 3 {
                // At a random moment: starting and copying take some 50 ms.
                let process = Process::start(&mut backup, PATIENCE);
                std::thread::sleep(Duration::from_millis(round * 37 % 120));
                process.kill();
                killed += 1;
                continue;
            }
            let (status, said) = Process::start(&mut backup, PATIENCE).wait();
            assert!(status.success(), "{}{}", said.out, said.err);
            let into = format!("restored{round}");
            run(path, &["restore", "--from", "backups", "--to", &into]);
            let restored = reports(&path.join(&into));
            let most = acknowledged.load(Ordering::SeqCst) + 1;
            assert!((before..=most).contains(&restored), "{before} {restored} {most}");
            assert!(run(path, &["verify", "--data", &into]).ends_with("no fault\n"));
            made += 1;
        }
        assert_eq!((made, killed), (6, 18));
        done.store(true, Ordering::SeqCst);
    });
    let (ok, backups) = list(path, &["--check"]);
    assert!(ok && backups.as_array().unwrap().len() >= 6, "{backups}");
    assert_eq!(server.stop().0, Some(0));
}

/// Returns the answers of a record at one moment: their tags and bodies.
pub fn answers(data: &Path) -> Vec<(Option<String>, Vec<u8>)> {
    let config = Config { assume_plan: Plan::Commercial, ..Config::default() };
    let store = EmbeddedStore::open(data, EmbeddedOptions::default()).unwrap();
    let api = Api::at(parse_instant("2024-08-03T17:40:00Z").unwrap(), config, Arc::new(store));
    let toronto = StationId::new("METAR", "CYYZ");
    let day = "start=2024-08-03T00:00:00Z&end=2024-08-04T00:00:00Z";
    let body = format!(r#"{{"stationId":"{toronto}"}}"#);
    let series = format!(r#"{{"stationId":"{toronto}","name":"airTemperature"}}"#);
    let box_ = "minLat=40&minLon=-90&maxLat=50&maxLon=-70";
    let found = [
        api.get("/stations/map/markers"),
        api.get("/stations/map/details"),
        api.get("/stations/map/details?window=1h"),
        api.get(&format!("/stations/{toronto}")),
        api.get(&format!("/stations/readings?names=airTemperature&{box_}")),
        api.get(&format!("/stations/readings?names=airTemperature&{box_}&{day}&step=60")),
        api.post(&format!("/observations/series?{day}"), series),
        api.post(&format!("/historical/bulk?{day}"), body),
    ];
    let tag = |answer: &crate::support::Answer| answer.header(header::ETAG).map(str::to_owned);
    found
        .iter()
        .map(|answer| {
            assert_eq!(answer.status, 200, "{}", answer.text());
            (tag(answer), answer.bytes())
        })
        .collect()
}

#[test]
fn a_restored_record_gives_the_answers_of_the_original_to_the_byte() {
    let folder = backed_up();
    let path = folder.path();
    run(path, &["restore", "--from", "backups", "--to", "restored"]);
    let (own, restored) = (answers(&path.join("mesonet-data")), answers(&path.join("restored")));
    assert!(own[1].1.len() > 1_000_000 && own[0].0.is_some());
    assert_eq!(own, restored);
    let verified = |data: &str| {
        let out = run(path, &["verify", "--json", "--data", data]);
        serde_json::from_str::<Value>(&out).unwrap()
    };
    assert_eq!(verified("mesonet-data"), verified("restored"));
}

/// Every kind of file of a data folder comes back, but no foreign or secret file.
#[test]
fn every_kind_of_file_comes_back() {
    let folder = record();
    let path = folder.path();
    run(path, &["keys", "issue", "--label", "someone"]);
    for (name, text) in [
        ("fetch/swob.json", "{}"),
        ("made-models/own.toml", "# a table"),
        ("damaged/segments/00000009.arrow", "once"),
        ("development-token.key", "secret"),
        ("notes.txt", "of a person"),
        ("models/demo/.20180917T000000Z.lock", ""),
        ("products/pressure/.mesonet-1.tmp", "half"),
        ("products/note: old.txt", "of a person"),
    ] {
        let file = path.join("mesonet-data").join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }
    let made = backup(path);
    assert_eq!(made["foreign"], serde_json::json!(["notes.txt", "products/note: old.txt"]));
    assert_eq!(made["leftOut"], serde_json::json!([]));
    let out = run(path, &["restore", "--from", "backups", "--to", "restored"]);
    assert!(out.starts_with("restored backup 0001-00000001-20"), "{out}");
    let (old, new) = (path.join("mesonet-data"), path.join("restored"));
    let not_copied = [
        "development-token.key",
        "lock",
        "models/demo/.20180917T000000Z.lock",
        "notes.txt",
        "products/note: old.txt",
        "products/pressure/.mesonet-1.tmp",
        "writer",
    ];
    let of_old: BTreeSet<String> = files(&old).into_iter().collect();
    let of_new: BTreeSet<String> = files(&new).into_iter().collect();
    let missing: Vec<&String> = of_old.difference(&of_new).collect();
    assert_eq!(missing, not_copied.iter().collect::<Vec<_>>());
    assert!(of_new.is_subset(&of_old));
    for file in of_new.iter().filter(|file| !file.ends_with(".sqlite")) {
        assert_eq!(fs::read(old.join(file)).unwrap(), fs::read(new.join(file)).unwrap(), "{file}");
    }
    for args in [&["verify", "--json"][..], &["keys", "list"]] {
        let of = |data: &str| run(path, &[args, &["--data", data]].concat());
        let (old, new) = (of("mesonet-data"), of("restored"));
        if args[0] == "keys" {
            assert_eq!(old, new);
        } else {
            let verified = |text: &str| {
                let mut verified: Value = serde_json::from_str(text).unwrap();
                verified["notChecked"].take();
                verified
            };
            assert_eq!(verified(&old), verified(&new));
        }
    }
    let mode = |data: &Path| {
        let metadata = fs::metadata(data.join("keys.sqlite")).unwrap();
        std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o777
    };
    assert_eq!((mode(&old), mode(&new)), (0o600, 0o600));
}

/// A second backup sends only what has changed. It does not read files that it knows.
#[test]
fn what_is_there_is_not_sent_again() {
    let folder = record();
    let path = folder.path();
    let first = backup(path);
    assert!(first["sentFiles"].as_u64().unwrap() > 10);
    let second = backup(path);
    assert_eq!(first["files"], second["files"]);
    assert_eq!((&second["sentFiles"], &second["sentBytes"]), (&0.into(), &0.into()), "{second}");
    let segment = path.join("mesonet-data/segments/00000001.arrow");
    let whole = fs::read(&segment).unwrap();
    let mut rotten = whole.clone();
    rotten[1000] ^= 1;
    fs::write(&segment, &rotten).unwrap();
    // Another place has no intact copy of the segment.
    let error = refused(path, &["backup", "--to", "elsewhere"]);
    assert!(
        error.starts_with("error: nothing was backed up: segments/00000001.arrow: bytes 0 to "),
        "{error}"
    );
    assert!(
        refused(path, &["restore", "--from", "elsewhere", "--to", "x"]).contains("has no backup")
    );
    // This place has one.
    assert_eq!(backup(path)["sentFiles"], 0);
    run(path, &["restore", "--from", "backups", "--to", "restored"]);
    assert_eq!(fs::read(path.join("restored/segments/00000001.arrow")).unwrap(), whole);
    let (ok, backups) = list(path, &[]);
    assert!(ok && backups.as_array().unwrap().len() == 3, "{backups}");
}

#[test]
fn two_backups_at_once_are_both_whole() {
    let folder = record();
    let path = folder.path();
    let start = || Process::start(&mut command(path, &["backup", "--to", "backups"]), PATIENCE);
    for process in [start(), start(), start()] {
        let (status, said) = process.wait();
        assert!(status.success(), "{}", said.err);
    }
    let (ok, backups) = list(path, &["--check"]);
    assert!(ok && backups.as_array().unwrap().len() == 3, "{backups}");
}

#[test]
fn a_backup_of_a_time_is_the_newest_before_it() {
    let folder = backed_up();
    let path = folder.path();
    let first = list(path, &[]).1[0]["time"].as_str().unwrap().to_owned();
    fs::write(path.join("20240803.txt"), "METAR CYYZ 032330Z 24012KT 15SM 29/17 A2991=\n").unwrap();
    run(path, &["ingest", "20240803.txt"]);
    backup(path);
    let count = |args: &[&str], to: &str| {
        run(path, &[&["restore", "--from", "backups", "--to", to], args].concat());
        let reader = EmbeddedReader::open(&path.join(to)).unwrap();
        reader.health().newest_ms.unwrap()
    };
    let (new, old) = (count(&[], "new"), count(&["--at", &first], "old"));
    assert_eq!(new, parse_instant("2024-08-03T23:30:00Z").unwrap());
    assert!(old < new);
    let args = ["restore", "--from", "backups", "--to", "none", "--at", "2020-01-01T00:00:00Z"];
    assert_eq!(
        refused(path, &args),
        format!(
            "error: backups has no backup of 2020-01-01T00:00:00Z or before; the oldest is of {first}\n"
        )
    );
    assert!(!path.join("none").exists());
}

/// A restore makes the whole record or no folder.
#[test]
fn what_cannot_be_restored_is_named_and_leaves_nothing() {
    let folder = backed_up();
    let path = folder.path();
    let restore = ["restore", "--from", "backups", "--to", "restored"];
    let names = || {
        let entries = fs::read_dir(path).unwrap().map(|entry| entry.unwrap().file_name());
        entries.map(|name| name.into_string().unwrap()).collect::<BTreeSet<_>>()
    };
    let before = names();
    let name = list(path, &[]).1[0]["name"].as_str().unwrap().to_owned();
    let sha256 = checksum(path, "mesonet.sqlite");
    let place = format!("objects/{}/{sha256}.zst", &sha256[..2]);

    let changed = |file: &Path, change: &dyn Fn(&mut Vec<u8>), reason: &str, listed: &str| {
        let whole = fs::read(file).unwrap();
        let mut bytes = whole.clone();
        change(&mut bytes);
        fs::write(file, bytes).unwrap();
        assert_eq!(refused(path, &restore), format!("error: {reason}\n"));
        assert_eq!(names(), before);
        let (ok, backups) = list(path, &["--check"]);
        assert_eq!((ok, &backups[0]["faults"]), (false, &serde_json::json!([listed])));
        fs::write(file, whole).unwrap();
    };
    let database = object(path, &sha256);
    let content = zstd::decode_all(&fs::read(&database).unwrap()[..]).unwrap();
    let length = content.len();
    let other = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut content = content.clone();
        change(&mut content);
        zstd::encode_all(&content[..], 1).unwrap()
    };
    let of = format!("mesonet.sqlite of the backup {name}");
    changed(
        &database,
        &|bytes| *bytes = other(&|content| content[5000] ^= 1),
        &format!("{of} is damaged: {place} in backups does not match its checksum"),
        &format!("mesonet.sqlite: {place} does not match its checksum"),
    );
    let wrong = format!("has {} decompressed bytes; it must have {length}", length - 1);
    changed(
        &database,
        &|bytes| *bytes = other(&|content| _ = content.pop()),
        &format!("{of} is damaged: {place} in backups {wrong}"),
        &format!("mesonet.sqlite: {place} {wrong}"),
    );
    let manifest = path.join("backups/backups").join(&name);
    changed(
        &manifest,
        &|bytes| bytes.truncate(bytes.len() / 2),
        &format!("the backup {name} is damaged: it is cut short"),
        "it is damaged: it is cut short",
    );
    changed(
        &manifest,
        &|bytes| bytes[15] = b'3',
        &format!(
            "the backup {name} has format 3; this version reads formats up to 2: use a newer mesonet-server"
        ),
        "it has format 3; this version reads formats up to 2: use a newer mesonet-server",
    );

    let whole = fs::read(&database).unwrap();
    fs::remove_file(&database).unwrap();
    let missing = format!("error: {of} is missing: backups has no {place}\n");
    assert_eq!(refused(path, &restore), missing);
    assert_eq!(names(), before);
    // The next backup puts it back.
    assert!(backup(path)["sentFiles"].as_u64().unwrap() > 0);
    fs::write(&database, whole).unwrap();

    assert_eq!(
        refused(path, &["restore", "--from", "backups", "--to", "mesonet-data"]),
        format!(
            "error: {} is not empty; restore into a new folder, and move it into place\n",
            path.canonicalize().unwrap().join("mesonet-data").display()
        )
    );
    let other = |from: &str| refused(path, &["restore", "--from", from, "--to", "restored"]);
    assert_eq!(other("nowhere"), "error: nowhere is not a folder with backups\n");
    assert!(
        other("ftp://x")
            .starts_with("error: \"ftp://x\" is not a place for backups or archives; it must be")
    );
    fs::create_dir(path.join("empty")).unwrap();
    assert_eq!(other("empty"), "error: empty has no backup\n");
    let out = refused(path, &["backup", "--to", "backups", "--data", "nowhere"]);
    assert_eq!(out, "error: nowhere is not the folder of a record\n");
    fs::create_dir(path.join("restored")).unwrap();
    run(path, &restore);
    assert!(path.join("restored/mesonet.sqlite").exists());
}

/// A killed restore leaves no folder that a server would start with, and the next restore begins
/// again.
#[test]
fn a_killed_restore_leaves_no_folder_of_that_name() {
    let folder = backed_up();
    let path = folder.path();
    let mut killed = 0;
    for round in 0..12_u64 {
        let restore = ["restore", "--from", "backups", "--to", "restored"];
        let process = Process::start(&mut command(path, &restore), PATIENCE);
        std::thread::sleep(Duration::from_millis(4 + round * 5));
        process.kill();
        if path.join("restored").exists() {
            // The restore was done before the kill.
            fs::rename(path.join("restored"), path.join(format!("done{round}"))).unwrap();
            let done = format!("done{round}");
            assert!(run(path, &["verify", "--data", &done]).ends_with("no fault\n"));
        } else {
            killed += 1;
        }
    }
    assert!(killed > 0);
    run(path, &["restore", "--from", "backups", "--to", "restored"]);
    assert!(run(path, &["verify", "--data", "restored"]).ends_with("no fault\n"));
    let left = fs::read_dir(path).unwrap().map(|entry| entry.unwrap().file_name());
    let left: Vec<_> = left.filter(|name| name.to_string_lossy().starts_with('.')).collect();
    assert!(left.is_empty(), "{left:?}");
}
