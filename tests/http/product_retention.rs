//! What a server deletes of raster products, and what it does not.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use flate2::read::GzDecoder;
use mesonet::Iso8601;
use mesonet::time::{HOUR_MS, parse_instant};
use mesonet_service::ingest::KeyHash;
use serde_json::Value;
use tempfile::TempDir;

use crate::process::{PATIENCE, Server, data, output};

const KEY: &str = "mesonet_push_of_a_test";

/// A folder with a catalogue that has pressure, with the given settings.
fn folder(keep: &str) -> TempDir {
    let folder = TempDir::new().unwrap();
    set(&folder, keep);
    folder
}

fn set(folder: &TempDir, keep: &str) {
    let own = format!(
        "[pressure]\ntitle = \"Pressure\"\nunit = \"Pa\"\nscale = 1\noffset = 100000\n{keep}\n\
         fields = [{{ parameter = \"7:0.3.1\" }}]\n"
    );
    fs::write(folder.path().join("own.toml"), own).unwrap();
}

fn start(folder: &TempDir, args: &[&str]) -> Server {
    let hash = KeyHash::of(KEY);
    let own = ["--products", "own.toml", "--ingest-key-hashes", hash.as_str()];
    Server::start(folder, &[&own, args].concat())
}

fn live(folder: &TempDir) -> Server {
    start(folder, &["--now", "live", "--metrics-listen", "127.0.0.1:0"])
}

/// A field of pressure of a time.
fn field(time: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let packed = File::open(data("grib/nam211_prmsl_simple.grib2.gz")).unwrap();
    GzDecoder::new(packed).read_to_end(&mut bytes).unwrap();
    let part = |range: std::ops::Range<usize>| time[range].parse::<u16>().unwrap();
    // Section 1 begins at octet 17, and its time at its octet 13.
    bytes[28..30].copy_from_slice(&part(0..4).to_be_bytes());
    for (at, begin) in [(30, 5), (31, 8), (32, 11), (33, 14), (34, 17)] {
        bytes[at] = part(begin..begin + 2) as u8;
    }
    bytes
}

/// Reads fields of pressure of the given times into the record by the command.
fn ingest(folder: &TempDir, times: &[String]) {
    let mut names = Vec::new();
    for (number, time) in times.iter().enumerate() {
        names.push(format!("{number}.grib2"));
        fs::write(folder.path().join(&names[number]), field(time)).unwrap();
    }
    let args = ["ingest", "--products", "own.toml", "--product", "pressure"];
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let (ok, out, error) = output(folder.path(), &[&args[..], &names].concat());
    assert!(ok, "{out}{error}");
}

/// Pushes a field of pressure of a time.
fn push(server: &Server, time: &str) {
    let body = field(time);
    let mut stream = TcpStream::connect(server.address()).unwrap();
    write!(
        stream,
        "POST /api/v1/ingest?name=a.grib2 HTTP/1.1\r\nhost: test\r\nconnection: close\r\n\
         authorization: Bearer {KEY}\r\ncontent-length: {}\r\n\r\n",
        body.len()
    )
    .unwrap();
    stream.write_all(&body).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let body: Value = serde_json::from_str(answer.split_once("\r\n\r\n").unwrap().1).unwrap();
    assert_eq!(body["products"]["written"]["count"], 1, "{answer}");
}

/// The times that a server lists, newest first.
fn times(server: &Server) -> Vec<String> {
    let list: Value = serde_json::from_str(&server.get("/api/v1/products").1).unwrap();
    let times = &list["products"]["pressure"]["durations"][0]["timestamps"];
    times.as_array().unwrap().iter().map(|time| time.as_str().unwrap().to_owned()).collect()
}

/// The same of a folder without a server: the names of its files.
fn stored(data: &Path) -> BTreeSet<String> {
    let files = fs::read_dir(data.join("products/pressure/instant")).unwrap();
    files.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[track_caller]
fn until(what: &str, is_so: impl Fn() -> bool) {
    let started = Instant::now();
    while !is_so() {
        assert!(started.elapsed() < PATIENCE, "{what}");
        sleep(Duration::from_millis(50));
    }
}

/// Returns times that many hours after 2018-09-17T00:00:00Z.
fn hours(hours: impl IntoIterator<Item = i64>) -> Vec<String> {
    let start_ms = parse_instant("2018-09-17T00:00:00Z").unwrap();
    hours.into_iter().map(|hour| Iso8601(start_ms + hour * HOUR_MS).to_string()).collect()
}

fn status(address: SocketAddr, path: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n").unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    String::from_utf8_lossy(&answer[9..12]).into_owned()
}

fn at(time: &str) -> String {
    format!("/api/v1/products/pressure?timestamp={time}")
}

/// The clock of the machine is years after these files.
#[test]
fn a_running_server_deletes_what_is_older_than_keep_and_lists_it_no_more() {
    let folder = folder("keep = \"1d\"");
    let server = live(&folder);
    assert!(
        server.log().contains("old files of these raster products are deleted: pressure"),
        "{}",
        server.log()
    );
    let all = hours([0, 12, 24, 36, 48]);
    for time in &all {
        push(&server, time);
    }
    let kept: Vec<String> = all[2..].iter().rev().cloned().collect();
    until("old files go", || times(&server) == kept);
    for gone in &all[..2] {
        let (head, body) = server.get(&at(gone));
        assert!(head.starts_with("HTTP/1.1 404"), "{head}");
        assert_eq!(body, format!("\"no file of pressure (instant) of {gone}\""));
        let exists = format!("/api/v1/products/pressure/exists?timestamp={gone}");
        assert_eq!(server.get(&exists).1, r#"{"exists":false}"#);
    }
    assert_eq!(status(server.address(), "/api/v1/products/pressure"), "200");
    assert_eq!(status(server.address(), &at(&all[2])), "200");
    // A file of a wrong time does not count as the newest.
    push(&server, "2026-01-01T00:00:00Z");
    // One that comes too late goes again; so the server has looked.
    push(&server, &all[1]);
    until("the late file goes", || times(&server).len() == 4);
    assert_eq!(times(&server)[1..], kept);
    let (_, address) = server.log().split_once("metrics at http://").unwrap();
    let address = address.split_once("/metrics").unwrap().0;
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "GET /metrics HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n").unwrap();
    let mut page = String::new();
    stream.read_to_string(&mut page).unwrap();
    let bytes = stored_bytes(&folder) / 4 * 3;
    for sample in [
        "mesonet_deleted_product_files_total{product=\"pressure\"} 3\n".to_owned(),
        format!("mesonet_deleted_product_bytes_total{{product=\"pressure\"}} {bytes}\n"),
    ] {
        assert!(page.contains(&sample), "{sample}: {page}");
    }
    let (code, log) = server.stop();
    assert_eq!(code, Some(0), "{log}");
    assert!(log.contains("files of the raster product pressure with "), "{log}");

    // Neither a restart nor verify finds anything amiss.
    let before = stored(&folder.path().join("mesonet-data"));
    assert_eq!(before.len(), 4);
    let server = live(&folder);
    sleep(Duration::from_secs(2));
    let (code, log) = server.stop();
    assert!(code == Some(0) && !log.contains("deleted"), "{log}");
    assert_eq!(stored(&folder.path().join("mesonet-data")), before);
    let (ok, out, error) = output(folder.path(), &["verify"]);
    assert!(ok && out.contains("4 raster products in "), "{out}{error}");
}

fn stored_bytes(folder: &TempDir) -> u64 {
    let instant = folder.path().join("mesonet-data/products/pressure/instant");
    let files = fs::read_dir(instant).unwrap();
    files.map(|entry| entry.unwrap().metadata().unwrap().len()).sum()
}

#[test]
fn a_replay_and_a_product_without_a_setting_lose_nothing() {
    let folder = folder("keep_bytes = 0");
    ingest(&folder, &hours([0, 12, 24, 36, 48]));
    let before = stored(&folder.path().join("mesonet-data"));
    let server = start(&folder, &["--now", "2030-01-01T00:00:00Z"]);
    let said = "keep and keep_bytes of pressure do nothing: in a replay, nothing is too old";
    assert!(server.log().contains(said), "{}", server.log());
    sleep(Duration::from_secs(2));
    assert_eq!(server.stop().0, Some(0));
    set(&folder, "");
    let server = live(&folder);
    sleep(Duration::from_secs(2));
    // With SIGHUP the setting counts, and the newest stays.
    assert_eq!(times(&server).len(), 5);
    assert_eq!(stored(&folder.path().join("mesonet-data")), before);
    set(&folder, "keep_bytes = 0");
    server.signal("HUP");
    until("the newest stays", || times(&server) == hours([48]));
    let (code, log) = server.stop();
    assert_eq!(code, Some(0), "{log}");
    assert!(
        log.contains("deleted 4 files of the raster product pressure with ")
            && log.contains(" bytes, from 2018-09-17T00:00:00Z to 2018-09-18T12:00:00Z"),
        "{log}"
    );
}

#[test]
fn a_setting_that_means_nothing_is_refused_at_the_start() {
    let folder = folder("keep = \"a week\"");
    let args = ["serve", "--listen", "127.0.0.1:0", "--products", "own.toml"];
    let (ok, _, error) = output(folder.path(), &args);
    let said = "own.toml: line 1 in [pressure] of the products: keep: \"a week\" is not a span; allowed is a \
                positive whole number followed by d or h, for example 7d";
    assert!(!ok && error.contains(said), "{error}");
}

/// What is damaged is for `verify --set-aside`, and what somebody else put there is his.
#[test]
fn what_is_damaged_stays_until_verify_sets_it_aside() {
    let folder = folder("keep = \"1d\"");
    ingest(&folder, &hours([0, 1, 2, 47, 48]));
    let data = folder.path().join("mesonet-data");
    let instant = data.join("products/pressure/instant");
    let whole = fs::read(instant.join("20180917T000000Z.tif")).unwrap();
    fs::write(instant.join("20180917T000000Z.tif"), &whole[..whole.len() / 2]).unwrap();
    fs::write(instant.join("20180917T010000Z.tif"), "a picture of mine").unwrap();
    let server = live(&folder);
    until("the old file goes", || times(&server).len() == 4);
    let (code, log) = server.stop();
    assert_eq!(code, Some(0), "{log}");
    let said = "2 files of the raster product pressure are too old and stay, because they are damaged or \
                have no checksum";
    assert_eq!(log.matches(said).count(), 1, "{log}");
    let (ok, _, _) = output(folder.path(), &["verify", "--set-aside"]);
    assert!(!ok);
    let aside = data.join("damaged/products/pressure/instant");
    assert_eq!(fs::read(aside.join("20180917T010000Z.tif")).unwrap(), b"a picture of mine");
    assert!(aside.join("20180917T000000Z.tif").exists());
    assert_eq!(stored(&data).len(), 2);
    assert!(output(folder.path(), &["verify"]).0);
}

#[test]
fn requests_that_meet_a_deletion_get_a_file_or_a_404() {
    let folder = folder("");
    let all = hours(0..200);
    ingest(&folder, &all);
    let server = live(&folder);
    set(&folder, "keep_bytes = 0");
    let is_done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let asked = (0..4).map(|of| {
            let (address, all, is_done) = (server.address(), &all, &is_done);
            scope.spawn(move || {
                let mut statuses = BTreeSet::new();
                while !is_done.load(Ordering::Relaxed) {
                    for time in all.iter().skip(of).step_by(4) {
                        statuses.insert(status(address, &at(time)));
                        statuses.insert(status(address, "/api/v1/products/pressure"));
                    }
                    assert_eq!(status(address, "/api/v1/products"), "200");
                }
                statuses
            })
        });
        let asked: Vec<_> = asked.collect();
        server.signal("HUP");
        until("all but the newest go", || times(&server).len() == 1);
        is_done.store(true, Ordering::Relaxed);
        for statuses in asked {
            assert_eq!(statuses.join().unwrap(), ["200", "404"].map(str::to_owned).into());
        }
    });
    let (code, log) = server.stop();
    assert!(code == Some(0) && !log.contains("ERROR"), "{log}");
}

/// Whenever the server is killed, what is there is whole, and the next start goes on.
#[test]
fn a_server_that_is_killed_while_it_deletes_goes_on_at_the_next_start() {
    let folder = folder("keep_bytes = 0");
    ingest(&folder, &hours(0..240));
    let data = folder.path().join("mesonet-data");
    let mut kills_in_the_midst = 0;
    for number in 0..12 {
        let before = stored(&data);
        let server = live(&folder);
        sleep(Duration::from_millis(20 * number));
        server.kill();
        let after = stored(&data);
        // The oldest went first: what is left is the newest of what was there.
        let newest: BTreeSet<_> = before.iter().rev().take(after.len()).cloned().collect();
        assert!(!after.is_empty() && after == newest, "{after:?}");
        kills_in_the_midst += usize::from(after.len() > 1 && after.len() < before.len());
        let (ok, out, error) = output(folder.path(), &["verify"]);
        assert!(ok && out.contains(&format!("{} raster products", after.len())), "{out}{error}");
    }
    assert!(kills_in_the_midst > 0, "no kill was in the midst");
    let server = live(&folder);
    until("the newest is left", || times(&server) == hours([239]));
    assert_eq!(server.stop().0, Some(0));
}

/// What a backup has and the record no longer has is not missed, and does not come back for good.
#[test]
fn backups_restores_and_followers_agree_with_what_is_deleted() {
    let folder = folder("keep = \"1d\"");
    ingest(&folder, &hours([0, 12, 36, 48]));
    let run = |args: &[&str]| {
        let (ok, out, error) = output(folder.path(), args);
        assert!(ok, "{args:?}: {out}{error}");
        out
    };
    // The record is begun by a server.
    set(&folder, "");
    let server = live(&folder);
    assert_eq!(server.stop().0, Some(0));
    run(&["backup", "--to", "backups"]);
    let first = stored(&folder.path().join("mesonet-data"));
    assert_eq!(first.len(), 4);

    // A follower deletes nothing by itself, whatever its catalogue says.
    set(&folder, "keep = \"1d\"");
    let follows = ["--data", "follower", "--follow", "backups", "--follow-every-s", "1"];
    let follower = start(&folder, &follows);
    sleep(Duration::from_secs(2));
    assert_eq!(times(&follower).len(), 4);

    let server = live(&folder);
    until("old files go", || times(&server).len() == 2);
    run(&["backup", "--to", "backups"]);
    until("the follower has the same", || times(&follower) == times(&server));
    let (code, log) = follower.stop();
    assert!(code == Some(0) && !log.contains("ERROR"), "{log}");
    assert_eq!(server.stop().0, Some(0));
    let second = stored(&folder.path().join("mesonet-data"));
    assert_eq!(stored(&folder.path().join("follower")), second);
    run(&["backups", "--from", "backups", "--check"]);

    // The newest backup does not have them; an older one has, until a server runs on it.
    run(&["restore", "--from", "backups", "--to", "newest"]);
    assert_eq!(stored(&folder.path().join("newest")), second);
    let list: Value =
        serde_json::from_str(&run(&["backups", "--from", "backups", "--json"])).unwrap();
    let made = list[0]["time"].as_str().unwrap();
    run(&["restore", "--from", "backups", "--to", "older", "--at", made]);
    assert_eq!(stored(&folder.path().join("older")), first);
    let server = live_on(&folder, "older");
    until("old files go again", || times(&server).len() == 2);
    assert_eq!(server.stop().0, Some(0));
    assert_eq!(stored(&folder.path().join("older")), second);
}

fn live_on(folder: &TempDir, data: &str) -> Server {
    start(folder, &["--now", "live", "--data", data])
}
