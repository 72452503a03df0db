//! The command `copy`: a record in another place gives the same answers.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use mesonet::store::copy::{Copying, NOTE, unfinished};
use mesonet::store::{AlertStore, EmbeddedOptions, EmbeddedReader, Maintenance};
use mesonet::{EmbeddedStore, MemoryStore};
use mesonet_service::ingest::KeyHash;
use serde_json::Value;
use tempfile::TempDir;

use crate::backup::{KEY, METAR, answers, push, refused, run};
use crate::child::Process;
use crate::process::{PATIENCE, Server, command, data, output};

const FROM: &str = "embedded:mesonet-data";
const ALERTS: &str = "nws_alerts/alerts_active_2026-05-14T163524Z.geojson.gz";

/// A record of reports and alerts, some of it sealed.
fn record() -> TempDir {
    let folder = TempDir::new().unwrap();
    run(folder.path(), &["ingest", &data(ALERTS), &data(METAR)]);
    let store =
        EmbeddedStore::open(&folder.path().join("mesonet-data"), EmbeddedOptions::default());
    store.unwrap().maintain(&Maintenance { seal_all: true, ..Maintenance::default() }).unwrap();
    folder
}

fn copy_args<'a>(from: &'a str, to: &'a str) -> [&'a str; 5] {
    ["copy", "--from", from, "--to", to]
}

fn copied(folder: &Path, from: &str, to: &str) -> Value {
    serde_json::from_str(&run(folder, &[&copy_args(from, to)[..], &["--json"]].concat())).unwrap()
}

fn alerts(data: &Path) -> AlertStore {
    let store = AlertStore::default();
    store.exchange(AlertStore::read(data).unwrap().0.messages);
    store
}

/// The databases differ, but not their answers.
#[track_caller]
fn assert_same(one: &Path, other: &Path) {
    assert_eq!(answers(one), answers(other));
    assert_eq!(alerts(one).record().messages, alerts(other).record().messages);
}

#[test]
fn a_copy_gives_the_answers_of_the_original_to_the_byte() {
    let folder = record();
    let path = folder.path();
    fs::write(path.join("mesonet-data/notes.txt"), "").unwrap();
    for label in ["a network", "another"] {
        run(path, &["keys", "issue", "--label", label]);
    }
    let keys = |data: &str| run(path, &["keys", "list", "--json", "--data", data]);
    let listed: Value = serde_json::from_str(&keys("mesonet-data")).unwrap();
    let id = listed[0]["id"].as_str().unwrap();
    run(path, &["keys", "revoke", id]);
    let own = EmbeddedStore::open(&path.join("mesonet-data"), EmbeddedOptions::default()).unwrap();
    own.meta_set("origin", "sample").unwrap();
    drop(own);
    let done = copied(path, FROM, "embedded:copy");
    assert_eq!((&done["equal"], &done["differenceCount"]), (&true.into(), &0.into()), "{done}");
    assert_eq!(done["original"], done["copy"]);
    assert!(
        done["copied"].as_u64() > Some(10_000) && done["alerts"].as_u64() > Some(100),
        "{done}"
    );
    assert_same(&path.join("mesonet-data"), &path.join("copy"));
    assert_eq!((&done["keys"], keys("copy")), (&2.into(), keys("mesonet-data")));
    let reader = EmbeddedReader::open(&path.join("copy")).unwrap();
    assert_eq!(unfinished(&reader.meta_get(NOTE).unwrap().unwrap()), None);
    assert_eq!(reader.meta_get("origin").unwrap().as_deref(), Some("sample"));

    let out = run(path, &[&copy_args(FROM, "embedded:copy")[..], &["--check"]].concat());
    assert!(out.contains("\nequal, with ") && !out.contains("copied"), "{out}");
    assert!(run(path, &["verify", "--data", "copy"]).ends_with("no fault\n"));
    let (ok, _, said) = output(path, &copy_args(FROM, "embedded:again"));
    assert!(ok && said.contains("not part of the record, so not copied: "), "{said}");
    assert!(said.contains("notes.txt") && !said.contains("keys.sqlite"), "{said}");
    // Copying goes on from the copy, which is a record like any other.
    copied(path, "embedded:copy", "embedded:third");
    assert_same(&path.join("mesonet-data"), &path.join("third"));
    // A key that was revoked after the copy is a difference. A further key of the copy is not.
    run(path, &["keys", "issue", "--label", "third", "--data", "third"]);
    run(path, &[&copy_args(FROM, "embedded:third")[..], &["--check"]].concat());
    let id = listed[1]["id"].as_str().unwrap();
    run(path, &["keys", "revoke", id]);
    let (ok, out, _) =
        output(path, &[&copy_args(FROM, "embedded:third")[..], &["--check"]].concat());
    assert!(!ok && out.contains(&format!("different: API key {id}\n")), "{out}");
}

#[test]
fn a_copy_that_is_killed_goes_on_to_the_same_record() {
    let folder = record();
    let path = folder.path();
    let began = Instant::now();
    run(path, &copy_args(FROM, "embedded:whole"));
    // How long a copy takes. It follows what the copies below show, for the machine may have become
    // faster or slower since.
    let mut whole = began.elapsed();
    let (mut killed, mut left_unfinished, mut copies) = (0_u32, 0, 0);
    while killed < 20 || left_unfinished < 3 {
        assert!(killed < 200, "of {killed} copies {left_unfinished} were left unfinished");
        let to = format!("embedded:copy{copies}");
        let mut copy = command(path, &copy_args(FROM, &to));
        let process = Process::start(&mut copy, PATIENCE);
        let moment = killed * 7 % 20;
        std::thread::sleep(whole * moment / 20);
        process.kill();
        killed += 1;
        let folder = path.join(format!("copy{copies}"));
        let note = EmbeddedReader::open(&folder).and_then(|reader| reader.meta_get(NOTE));
        let note = note.unwrap_or_default();
        let is_unfinished = note.as_deref().and_then(unfinished).is_some();
        if is_unfinished {
            left_unfinished += 1;
            let data = folder.to_str().unwrap();
            let error = refused(path, &["--data", data, "--listen", "127.0.0.1:0"]);
            assert!(error.contains("it is an unfinished copy of embedded:/"), "{error}");
            assert!(error.contains("mesonet-server copy --from embedded:/"), "{error}");
            assert!(
                refused(path, &["ingest", "--data", data, &self::data(METAR)])
                    .contains("unfinished")
            );
            assert!(
                refused(path, &copy_args(&to, "embedded:of-a-half"))
                    .contains("is an unfinished copy")
            );
        } else if note.is_some() {
            whole = whole * 3 / 4;
        } else if moment > 10 {
            whole = whole * 4 / 3;
        }
        // The next kill meets a copy that goes on, or one that begins.
        copies += u32::from(killed % 4 == 0 || note.is_some() && !is_unfinished);
    }
    for number in 0..=copies {
        let to = format!("embedded:copy{number}");
        let (ok, _, error) = output(path, &copy_args(FROM, &to));
        // The copy may have ended before the kill.
        assert!(ok || error.contains("it is a finished copy of"), "{error}");
        assert_same(&path.join("whole"), &path.join(format!("copy{number}")));
        run(path, &[&copy_args(FROM, &to)[..], &["--check"]].concat());
    }
}

/// The server of the original goes on. The copy has the record of one moment.
#[test]
fn a_record_is_copied_while_its_server_is_fed() {
    let folder = record();
    let path = folder.path();
    let hash = KeyHash::of(KEY);
    let server = Server::start(&folder, &["--ingest-key-hashes", hash.as_str()]);
    let (address, done) = (server.address(), std::sync::atomic::AtomicBool::new(false));
    let pushed = std::sync::atomic::AtomicU32::new(0);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for report in 0..600 {
                let (hour, minute) = (report / 60, report % 60);
                let body =
                    format!("METAR CYYZ 03{hour:02}{minute:02}Z 24012KT 15SM 29/17 A2991=\n");
                assert!(push(address, &body).starts_with("HTTP/1.1 200 "));
                pushed.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
                if done.load(std::sync::atomic::Ordering::SeqCst) {
                    break;
                }
            }
        });
        while pushed.load(std::sync::atomic::Ordering::SeqCst) < 3 {
            std::thread::sleep(Duration::from_millis(5));
        }
        let copied = copied(path, FROM, "embedded:copy");
        assert_eq!(copied["equal"], true, "{copied}");
        done.store(true, std::sync::atomic::Ordering::SeqCst);
    });
    assert_eq!(server.stop().0, Some(0));
    // Readings that came in later are a difference.
    push_more(path);
    let (ok, out, _) =
        output(path, &[&copy_args(FROM, "embedded:copy")[..], &["--check"]].concat());
    assert!(
        !ok && out.contains("different: station ") && out.contains("the copy must not be used"),
        "{out}"
    );
}

fn push_more(path: &Path) {
    fs::write(path.join("20240803.txt"), "METAR CYYZ 032359Z 24012KT 15SM 9/7 A2991=\n").unwrap();
    run(path, &["ingest", "20240803.txt"]);
}

#[test]
fn a_damaged_record_is_named_and_its_copy_never_verified() {
    let folder = record();
    let path = folder.path();
    run(path, &copy_args(FROM, "embedded:before"));
    let segment = path.join("mesonet-data/segments/00000001.arrow");
    let mut bytes = fs::read(&segment).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&segment, bytes).unwrap();
    let error = refused(path, &copy_args(FROM, "embedded:copy"));
    assert!(error.contains("segments/00000001.arrow"), "{error}");
    assert!(error.contains("is damaged, so it is not copied"), "{error}");
    let error = refused(path, &["--data", "copy", "--listen", "127.0.0.1:0"]);
    assert!(error.contains("unfinished copy"), "{error}");
    let error = refused(path, &[&copy_args(FROM, "embedded:before")[..], &["--check"]].concat());
    assert!(error.contains("segments/00000001.arrow"), "{error}");
    // And the other way round: a damaged copy does not equal the original.
    let error = refused(path, &[&copy_args("embedded:before", FROM)[..], &["--check"]].concat());
    assert!(error.contains("blocks of the copy are damaged"), "{error}");
}

#[test]
fn a_place_that_cannot_take_the_record_is_refused_with_its_name() {
    let folder = record();
    let path = folder.path();
    let to = |place: &str| refused(path, &copy_args(FROM, place));
    assert!(to("embedded:./mesonet-data").contains("both places are embedded:/"));
    assert!(to("mesonet-data").contains("it must be embedded:FOLDER"));
    assert!(
        refused(path, &copy_args("embedded:nowhere", "embedded:copy"))
            .contains("there is no record here")
    );
    assert!(!path.join("copy").exists(), "nothing is made for nothing");

    run(path, &["ingest", &data(METAR), "--data", "other"]);
    let before = answers(&path.join("other"));
    assert!(
        to("embedded:other")
            .contains("stations already; a record is copied into an empty place only")
    );
    assert_eq!(answers(&path.join("other")), before);
    run(path, &["ingest", &data(ALERTS), "--data", "of-alerts"]);
    assert!(to("embedded:of-alerts").contains("alerts already"));

    // A copy of another record, and two copies at once.
    let half = EmbeddedStore::open(&path.join("half"), EmbeddedOptions::default()).unwrap();
    Copying::begin(&MemoryStore::default(), &half, "embedded:/srv/other").unwrap();
    assert!(to("embedded:half").contains("in use by"));
    drop(half);
    assert!(to("embedded:half").contains("it is an unfinished copy of embedded:/srv/other"));
}

/// Files may not grow beyond a size, as on a full disk. The copy says so, and goes on later.
#[test]
fn a_copy_without_room_says_so_and_goes_on_when_there_is_some() {
    let folder = record();
    let path = folder.path();
    // Blocks of 512 or 1024 bytes, depending on the shell. The signal is ignored, so that a write
    // fails.
    let binary = crate::process::binary();
    let limited = format!(
        "trap '' XFSZ; ulimit -f 300; exec {} copy --from {FROM} --to embedded:copy",
        binary.display()
    );
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", &limited]).current_dir(path);
    let out = shell.output().unwrap();
    let said = String::from_utf8_lossy(&out.stderr);
    assert!(!out.status.success(), "{said}");
    assert!(said.contains("copy/"), "{said}");
    let done = copied(path, FROM, "embedded:copy");
    assert_eq!(done["equal"], true, "{done}");
    assert_same(&path.join("mesonet-data"), &path.join("copy"));
}

/// To ClickHouse and back, killed at random moments. Needs ClickHouse: see `tests/cluster`.
#[test]
fn a_record_goes_through_clickhouse_and_back() {
    let Ok(url) = std::env::var("MESONET_TEST_CLICKHOUSE") else {
        return eprintln!("no ClickHouse: run this as `tests/cluster cargo test …`");
    };
    let folder = record();
    let path = folder.path();
    run(path, &["keys", "issue", "--label", "a network"]);
    let keys = |place: &[&str]| run(path, &[&["keys", "list", "--json"], place].concat());
    let database = format!("clickhouse:{url}/copy_{}", std::process::id());
    let began = Instant::now();
    let done = copied(path, FROM, &format!("{database}_whole"));
    assert_eq!(done["equal"], true, "{done}");
    let whole = began.elapsed();
    for moment in 0..20_u32 {
        let mut copy = command(path, &copy_args(FROM, &database));
        let process = Process::start(&mut copy, PATIENCE);
        std::thread::sleep(whole * (moment * 7 % 20) / 20);
        process.kill();
    }
    let (ok, _, error) = output(path, &copy_args(FROM, &database));
    assert!(ok || error.contains("it is a finished copy of"), "{error}");
    run(path, &[&copy_args(FROM, &database)[..], &["--check"]].concat());
    assert!(
        refused(path, &copy_args(FROM, &database)).contains("it is a finished copy of embedded:/")
    );
    copied(path, &database, "embedded:back");
    assert_same(&path.join("mesonet-data"), &path.join("back"));
    assert_eq!(keys(&["--store", &database]), keys(&[]));
    assert_eq!(keys(&["--data", "back"]), keys(&[]));
    let nowhere = "clickhouse:http://127.0.0.1:9/mesonet";
    assert!(refused(path, &copy_args(FROM, nowhere)).contains("http://127.0.0.1:9"));
}
