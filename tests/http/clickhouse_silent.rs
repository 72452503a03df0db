//! A server whose ClickHouse accepts queries but answers none, or has no room left.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use mesonet_clickhouse::{ClickHouseStore, Options, migrate};
use tempfile::TempDir;

use crate::follower::{KEY, post, push, start, wait_until};
use crate::gate::Gate;
use crate::in_clickhouse::{own_database, place, server, sql};

const TORONTO: &str = "/api/v1/stations/readings?names=airTemperature&minLat=43&minLon=-80&maxLat=44\
                       &maxLon=-79&start=2024-08-03T17:00:00Z&end=2024-08-03T18:00:00Z&step=1";
const MARKERS: &str = "/api/v1/stations/map/markers?minLat=43&minLon=-80&maxLat=44&maxLon=-79";
const PUSH: &str = "/api/v1/ingest?name=sa_20240803.txt";

/// More requests than can be read at once, so most of them wait for others.
const READERS: usize = 12;

fn report(minute: u32) -> String {
    format!("METAR CYYZ 0317{minute}Z 24012KT 15SM 28/17 A2991=\n")
}

/// The status and the body of an answer. Another thread may send the request.
fn answer(to: SocketAddr, method: &str, path: &str, body: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(to).unwrap();
    let length = body.len();
    write!(
        stream,
        "{method} {path} HTTP/1.1\r\nhost: test\r\nconnection: close\r\n\
         authorization: Bearer {KEY}\r\ncontent-length: {length}\r\n\r\n{body}"
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (head[9..12].parse().unwrap(), body.to_owned())
}

#[test]
fn a_silent_clickhouse_is_found_out_before_patience_ends() {
    let Some(url) = server() else { return };
    let (options, folder) = (own_database(&url), TempDir::new().unwrap());
    let gate = Gate::before(&url);
    // Without readings in memory, each request needs ClickHouse.
    let args = ["--store", &*place(&gate.to(&options)), "--recent-hours", "0"];
    let server = start(&folder, &args);
    assert!(push(&server, &report(10)).contains(" 200 "));
    let (_, whole) = server.get(TORONTO);
    gate.fall_silent();
    let to = server.address();
    let asked: Vec<_> = (0..READERS)
        .map(|reader| {
            let path = format!("{TORONTO}&reader={reader}");
            thread::spawn(move || answer(to, "GET", &path, ""))
        })
        .collect();
    let pushed = thread::spawn(move || answer(to, "POST", PUSH, &report(20)));
    // In the meantime, requests are answered from memory.
    assert_eq!(answer(to, "GET", "/healthz", "").0, 200);
    assert_eq!(answer(to, "GET", MARKERS, "").0, 200);
    assert_eq!(answer(to, "GET", "/readyz", "").0, 503);
    // The answer to a request that the server gave up has no body.
    for asked in asked {
        let text = "\"the data cannot be used right now; try again later\"";
        assert_eq!(asked.join().unwrap(), (503, text.to_owned()));
    }
    let text = "\"the store cannot be reached now; send it again later\"";
    assert_eq!(pushed.join().unwrap(), (503, text.to_owned()));
    gate.open();
    wait_until("it goes on", || server.get(TORONTO).0.contains(" 200 "));
    wait_until("it says so", || server.get("/readyz").0.contains(" 200 "));
    assert_eq!(server.get(TORONTO).1, whole);
    assert!(push(&server, &report(20)).contains(" 200 "));
    assert_ne!(server.get(TORONTO).1, whole);
    let (code, log) = server.stop();
    assert_eq!(code, Some(0), "{log}");
}

/// A file system in memory, until it is dropped.
struct Small(PathBuf);

impl Small {
    /// `None` if this user may not mount one.
    fn mounted(at: &Path) -> Option<Self> {
        fs::create_dir_all(at).unwrap();
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", "size=16m", "tmpfs"]).arg(at);
        let is_mounted = mount.output().is_ok_and(|done| done.status.success());
        is_mounted.then(|| Self(at.to_owned()))
    }

    /// Fills the disk, and any room that is freed, until the ballast is dropped.
    fn fill(&self) -> Ballast {
        let path = self.0.join("ballast");
        let mut file = File::create(&path).unwrap();
        let mut fill = move || while file.write_all(&[0; 4096]).is_ok() {};
        fill();
        let (keep, kept) = mpsc::channel();
        let filler = thread::spawn(move || {
            while kept.recv_timeout(Duration::from_millis(1)) == Err(RecvTimeoutError::Timeout) {
                fill();
            }
        });
        Ballast { keep: Some(keep), filler: Some(filler), path }
    }
}

struct Ballast {
    keep: Option<Sender<()>>,
    filler: Option<JoinHandle<()>>,
    path: PathBuf,
}

impl Drop for Ballast {
    fn drop(&mut self) {
        drop(self.keep.take());
        let _ = self.filler.take().map(JoinHandle::join);
        let _ = fs::remove_file(&self.path);
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

#[test]
fn a_full_disk_of_clickhouse_refuses_pushes_and_loses_nothing() {
    let Some(url) = server() else { return };
    if std::env::var_os("MESONET_TEST_CLICKHOUSE_NODES").is_some() {
        return;
    }
    let name = format!("full_{}", std::process::id());
    let of_nodes = std::env::var_os("MESONET_TEST_CLICKHOUSE_FOLDER").unwrap();
    let Some(disk) = Small::mounted(&Path::new(&of_nodes).join("1/data/data").join(&name)) else {
        eprintln!("this user may not mount a file system");
        return;
    };
    let options = Options::new(&url, &name);
    migrate(&options).unwrap();
    ClickHouseStore::open(&options).unwrap().set_mark("origin", "own").unwrap();
    let folder = TempDir::new().unwrap();
    let server = start(&folder, &["--store", &place(&options)]);
    assert!(push(&server, &report(10)).contains(" 200 "));
    let (_, whole) = server.get(TORONTO);
    let ballast = disk.fill();
    for minute in 20..24 {
        let (head, body) = post(&server, PUSH, &report(minute));
        assert!(head.contains(" 507 "), "{head}");
        assert_eq!(body, "\"no room is left for readings; send it again later\"");
        let (head, body) = server.get(TORONTO);
        assert!(head.contains(" 200 "), "{head}");
        assert_eq!(body, whole);
    }
    // Reading still works.
    assert!(server.get("/readyz").0.contains(" 200 "));
    drop(ballast);
    for minute in 20..24 {
        wait_until("it is taken", || push(&server, &report(minute)).contains(" 200 "));
    }
    let (_, body) = server.get(TORONTO);
    for minute in [10, 20, 21, 22, 23] {
        assert!(body.contains(&format!("2024-08-03T17:{minute}:00Z")), "{body}");
    }
    let (code, log) = server.stop();
    assert_eq!(code, Some(0), "{log}");
    assert_eq!(log.matches("a push was refused: the store is full").count(), 4, "{log}");
    // Otherwise the merges would fail without the disk.
    for table in sql(&options, "SHOW TABLES").lines() {
        sql(&options, &format!("DROP TABLE {table}"));
    }
}
