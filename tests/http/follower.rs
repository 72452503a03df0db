//! Followers: a second server that serves what the backups of the first one hold.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use mesonet::StationId;
use mesonet_service::ingest::KeyHash;
use serde_json::Value;
use tempfile::TempDir;

use crate::process::{PATIENCE, Server, data, output};
use crate::verify::files;

pub const KEY: &str = "mesonet_push_of_a_test";
const NOW: &str = "2024-08-03T17:45:00Z";

#[track_caller]
pub fn run(folder: &Path, args: &[&str]) -> String {
    let (ok, out, error) = output(folder, args);
    assert!(ok, "{args:?}: {out}{error}");
    out
}

pub fn start(folder: &TempDir, args: &[&str]) -> Server {
    let hash = KeyHash::of(KEY);
    let own = ["--now", NOW, "--assume-plan", "commercial", "--ingest-key-hashes", hash.as_str()];
    Server::start(folder, &[&own, args].concat())
}

const FOLLOWS: [&str; 6] = ["--data", "follower", "--follow", "backups", "--follow-every-s", "1"];

fn follow(folder: &TempDir) -> Server {
    start(folder, &FOLLOWS)
}

pub fn backup(folder: &TempDir) {
    run(folder.path(), &["backup", "--to", "backups"]);
}

pub fn post(server: &Server, path: &str, body: &str) -> (String, String) {
    let mut stream = TcpStream::connect(server.address()).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    write!(
        stream,
        "POST {path} HTTP/1.1\r\nhost: test\r\nconnection: close\r\nauthorization: Bearer {KEY}\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (head.to_owned(), body.to_owned())
}

pub fn push(server: &Server, report: &str) -> String {
    post(server, "/api/v1/ingest?name=sa_20240803.txt", report).0
}

/// Waits until a condition holds.
pub fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let started = Instant::now();
    while !is_so() {
        assert!(started.elapsed() < PATIENCE, "{what}");
        sleep(Duration::from_millis(100));
    }
}

/// What must be equal in two answers: status, tag, cursor and body. The id of a request, its time
/// and the clock of the replay differ between servers.
fn comparable_answer((head, body): (String, String)) -> (Vec<String>, String) {
    let lines = head.lines().map(str::to_lowercase);
    let of_server = ["date:", "x-request-id:", "x-mesonet-replay:", "age:"];
    let kept = lines.filter(|line| !of_server.iter().any(|name| line.starts_with(name)));
    // The cursor of a follower names the backup too.
    let kept = kept.map(|line| match line.split_once('.') {
        Some((bare, _)) if line.starts_with("x-next-cursor:") => bare.to_owned(),
        _ => line,
    });
    (kept.collect(), body)
}

/// Answers that depend on the record: all stations, one station, a grid, a series, an export and
/// its next page, alerts.
pub fn answers(server: &Server) -> Vec<(Vec<String>, String)> {
    let toronto = StationId::new("METAR", "CYYZ");
    let day = "start=2024-08-03T00:00:00Z&end=2024-08-04T00:00:00Z";
    let series = format!(r#"{{"stationId":"{toronto}","name":"airTemperature"}}"#);
    let bulk = format!(r#"{{"stationId":"{toronto}"}}"#);
    let ask = format!("/api/v1/historical/bulk?{day}&pageSize=10");
    let grid = "names=airTemperature&minLat=40&minLon=-90&maxLat=50&maxLon=-70";
    vec![
        comparable_answer(server.get("/api/v1/stations/map/markers")),
        comparable_answer(server.get("/api/v1/stations/map/details")),
        comparable_answer(server.get(&format!("/api/v1/stations/{toronto}"))),
        comparable_answer(server.get(&format!("/api/v1/stations/readings?{grid}&{day}&step=60"))),
        comparable_answer(post(server, &format!("/api/v1/observations/series?{day}"), &series)),
        comparable_answer(post(server, &ask, &bulk)),
        comparable_answer(server.get("/api/v1/alerts")),
    ]
}

pub fn ready(server: &Server) -> Value {
    let (head, body) = server.get("/readyz");
    assert!(head.starts_with("HTTP/1.1 200 "), "{head}{body}");
    serde_json::from_str(&body).unwrap()
}

/// The status line, the tag and the body of the answer to a GET.
pub fn file(server: &Server, path: &str) -> (String, Option<String>, Vec<u8>) {
    let mut stream = TcpStream::connect(server.address()).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nhost: test\r\nconnection: close\r\n\r\n").unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    let end = answer.windows(4).position(|four| four == b"\r\n\r\n").unwrap();
    let body = answer.split_off(end + 4);
    let head = String::from_utf8(answer).unwrap();
    let mut lines = head.lines();
    let status = lines.next().unwrap().to_owned();
    let tag = lines.find_map(|line| line.to_lowercase().strip_prefix("etag: ").map(str::to_owned));
    (status, tag, body)
}

#[test]
fn a_follower_answers_as_the_server_that_it_follows() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    let alerts = data("nws_alerts/alerts_active_2026-05-14T163524Z.geojson.gz");
    run(path, &["ingest", &data("metar/liveairdata_metars_20240803T1732Z.csv.gz"), &alerts]);
    let writer = start(&folder, &[]);
    backup(&folder);
    let follower = follow(&folder);
    assert!(follower.log().contains("following backups, as of 20"), "{}", follower.log());
    // Both clocks run, and the shown verdicts age with them.
    wait_until("the answers are the same", || answers(&writer) == answers(&follower));
    let first = answers(&follower);
    for (head, body) in &first {
        assert!(head[0].contains(" 200 ") && body.len() > 100, "{head:?}{body}");
    }
    let (tag, cursor) = (&first[0].0, &first[5].0);
    assert!(tag.iter().any(|line| line.starts_with("etag: ")), "{tag:?}");
    assert!(cursor.iter().any(|line| line.starts_with("x-next-cursor: ")), "{cursor:?}");

    // Readings that came in after the backup are there after the next backup.
    assert!(push(&writer, "METAR CYYZ 031740Z 24012KT 15SM 28/17 A2991=\n").contains(" 200 "));
    run(path, &["keys", "issue", "--label", "someone"]);
    backup(&folder);
    wait_until("it follows", || {
        answers(&follower) != first && answers(&writer) == answers(&follower)
    });
    let keys = |data: &str| run(path, &["keys", "list", "--data", data]);
    assert_eq!(keys("mesonet-data"), keys("follower"));
    let said = ready(&follower);
    assert!(said["asOf"].as_str().unwrap().starts_with("20"), "{said}");
    assert!((0..600).contains(&said["behindS"].as_i64().unwrap()), "{said}");
    assert_eq!(ready(&writer).get("asOf"), None);

    // The follower takes nothing in.
    let (head, body) = post(&follower, "/api/v1/ingest?name=sa_20240803.txt", "METAR");
    assert!(head.starts_with("HTTP/1.1 503 "), "{head}");
    assert_eq!(
        body,
        "\"this server follows another one and takes nothing in; send it to that one\""
    );

    // Without the place, the follower serves what it has, even after a restart, and says how old
    // that is.
    fs::rename(path.join("backups"), path.join("elsewhere")).unwrap();
    sleep(Duration::from_secs(2));
    assert_eq!(answers(&follower).len(), first.len());
    let behind = ready(&follower)["behindS"].as_i64().unwrap();
    assert!(behind >= 2);
    let (code, log) = follower.stop();
    assert_eq!(code, Some(0), "{log}");
    assert!(
        log.contains("backups is not a folder with backups; serving what is there, of"),
        "{log}"
    );
    let follower = follow(&folder);
    wait_until("the answers are the same", || answers(&writer) == answers(&follower));
    assert!(push(&writer, "METAR CYYZ 031744Z 24012KT 15SM 27/17 A2991=\n").contains(" 200 "));
    fs::rename(path.join("elsewhere"), path.join("backups")).unwrap();
    backup(&folder);
    wait_until("it follows again", || answers(&writer) == answers(&follower));

    // Another process cannot take the folder, and a server that does not follow can never take it.
    let follows = ["--listen", "127.0.0.1:0", "--data", "follower", "--follow", "backups"];
    let (ok, _, error) = output(path, &follows);
    assert!(!ok && error.contains("is in use by another process"), "{error}");
    assert_eq!(follower.stop().0, Some(0));
    assert_eq!(writer.stop().0, Some(0));
    let (ok, _, error) = output(path, &["--listen", "127.0.0.1:0", "--data", "follower"]);
    assert!(
        !ok && error.contains("it is the folder of a follower; start the server with"),
        "{error}"
    );
    let (ok, _, error) = output(path, &["--listen", "127.0.0.1:0", "--follow", "backups"]);
    assert!(!ok && error.contains("is not the folder of a follower"), "{error}");
}

/// Model runs and products come with the backups, and later ones come with later backups.
#[test]
fn a_follower_serves_the_model_runs_and_products_of_the_server_that_it_follows() {
    let folder = crate::verify::record();
    let path = folder.path();
    let catalogue = ["--products", "own.toml"];
    let writer = start(&folder, &catalogue);
    backup(&folder);
    let follower = start(&folder, &[&FOLLOWS[..], &catalogue].concat());
    let paths = [
        "/api/v1/products/pressure",
        "/api/v1/products/pressure/exists?timestamp=2018-09-17T00:00:00Z",
        "/models/coverage",
        "/models/nam211/runs",
        "/models/nam211/point?run=20180917T000000Z&hour=0&row=40&col=20&fields=pressure_msl",
    ];
    let of = |server: &Server| paths.map(|path| file(server, path));
    let first = of(&writer);
    assert_eq!(of(&follower), first);
    assert!(first[0].0.contains(" 200 ") && first[0].2.len() > 1000, "{:?}", first[0].0);

    run(path, &["ingest", "--model", "nam211", &data("grib/nam211_20180917T00Z_f000.grib2.gz")]);
    let product = path.join("mesonet-data/products/pressure");
    let one = files(&product).into_iter().next().unwrap();
    fs::remove_file(product.join(one)).unwrap();
    backup(&folder);
    wait_until("the run is there", || of(&follower) == of(&writer));
    let second = of(&follower);
    let has_run = |of: &[u8]| String::from_utf8_lossy(of).contains("20180917T000000Z");
    assert!(!has_run(&first[3].2) && has_run(&second[3].2), "{second:?}");
    assert!(first[4].0.contains(" 404 ") && second[4].0.contains(" 200 "), "{second:?}");
    assert!(second[0].0.contains(" 404 "), "{second:?}");
}

/// Without `--followed-at`, followers know a key from the first backup after it was issued until
/// the first backup after it was revoked. Followers write nothing into the record of keys, which is
/// replaced.
#[test]
fn keys_are_those_of_the_server_that_is_followed() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    run(path, &["ingest", &data("metar/liveairdata_metars_20240803T1732Z.csv.gz")]);
    backup(&folder);
    let own = [&["--now", NOW], &FOLLOWS[..]].concat();
    let follower = Server::start(&folder, &own);
    let key = run(path, &["keys", "issue", "--label", "someone"]);
    let is_known = || {
        let mut stream = TcpStream::connect(follower.address()).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let line =
            "POST /api/v1/historical/bulk?start=2024-08-03T17:00:00Z&end=2024-08-03T18:00:00Z";
        let json = "content-type: application/json\r\ncontent-length: 2\r\n\r\n{}";
        let bearer = key.trim();
        write!(
            stream,
            "{line} HTTP/1.1\r\nhost: test\r\nconnection: close\r\n\
             authorization: Bearer {bearer}\r\n{json}"
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        !answer.starts_with("HTTP/1.1 401 ")
    };
    assert!(!is_known());
    backup(&folder);
    wait_until("the key is known", is_known);
    let listed: Value = serde_json::from_str(&run(path, &["keys", "list", "--json"])).unwrap();
    let id = listed[0]["id"].as_str().unwrap();
    run(path, &["keys", "revoke", id]);
    backup(&folder);
    wait_until("the key is revoked", || !is_known());
    assert_eq!(follower.stop().0, Some(0));
    let listed = |data: &str| run(path, &["keys", "list", "--data", data]);
    assert_eq!(listed("follower"), listed("mesonet-data"));
    assert!(listed("follower").contains("never used"), "{}", listed("follower"));
    for change in [&["issue", "--label", "x"][..], &["revoke", id]] {
        let args = [&["keys"], change, &["--data", "follower"]].concat();
        let (ok, _, error) = output(path, &args);
        let expected =
            "follower follows another server and has its keys; issue and revoke them there";
        assert!(!ok && error.contains(expected), "{error}");
    }
}

/// A follower needs a backup to begin with. A damaged backup does not replace what the follower
/// has.
#[test]
fn what_cannot_be_followed_is_named() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    let refused = |place: &str| {
        let args = ["--listen", "127.0.0.1:0", "--data", "follower", "--follow", place];
        let (ok, _, error) = output(path, &args);
        assert!(!ok);
        error
    };
    assert!(refused("nowhere").ends_with("nowhere is not a folder with backups\n"));
    fs::create_dir(path.join("empty")).unwrap();
    assert!(refused("empty").ends_with("empty has no backup\n"));
    run(path, &["ingest", &data("metar/liveairdata_metars_20240803T1732Z.csv.gz")]);
    backup(&folder);
    let follower = follow(&folder);
    let before = answers(&follower);
    fs::write(path.join("20240803.txt"), "METAR CYYZ 031745Z 24012KT 15SM 26/17 A2991=\n").unwrap();
    run(path, &["ingest", "20240803.txt"]);
    let objects = || {
        let folders =
            fs::read_dir(path.join("backups/objects")).unwrap().map(|of| of.unwrap().path());
        let files =
            folders.flat_map(|of| fs::read_dir(of).unwrap().map(|file| file.unwrap().path()));
        files.collect::<std::collections::BTreeSet<_>>()
    };
    let known = objects();
    // The backup is made elsewhere, and damaged before the follower sees it.
    run(path, &["backup", "--to", "other"]);
    let copy = |from: &str| {
        for entry in fs::read_dir(path.join("other").join(from)).unwrap() {
            let entry = entry.unwrap();
            let to = path.join("backups").join(from).join(entry.file_name());
            if entry.path().is_dir() {
                fs::create_dir_all(&to).unwrap();
                for file in fs::read_dir(entry.path()).unwrap() {
                    let file = file.unwrap();
                    fs::copy(file.path(), to.join(file.file_name())).unwrap();
                }
            } else {
                fs::copy(entry.path(), to).unwrap();
            }
        }
    };
    copy("objects");
    let fresh: Vec<_> = objects().difference(&known).cloned().collect();
    assert!(!fresh.is_empty());
    let whole: Vec<_> = fresh.iter().map(|file| fs::read(file).unwrap()).collect();
    for file in &fresh {
        let mut bytes = fs::read(file).unwrap();
        bytes[20] ^= 1;
        fs::write(file, bytes).unwrap();
    }
    copy("backups");
    sleep(Duration::from_secs(3));
    assert_eq!(answers(&follower)[2].1, before[2].1);
    for (file, bytes) in fresh.iter().zip(whole) {
        fs::write(file, bytes).unwrap();
    }
    wait_until("it follows", || {
        answers(&follower)[2].1.contains(r#""updateTime":"2024-08-03T17:45:00Z""#)
    });
    let (_, log) = follower.stop();
    assert!(log.contains(" is damaged: objects/"), "{log}");
    assert!(log.contains("; serving what is there, of"), "{log}");
    assert!(log.contains("reading the record again, as of"), "{log}");
}
