//! A server, its backups and its follower, killed in turn while readings are pushed: nothing that
//! was acknowledged is lost, and nothing that a backup holds is lost when a restored record takes over.
//!
//! `MESONET_FOLLOWER_KILLS` is the number of kills, 20 by default.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use mesonet::store::{EmbeddedReader, Selection};
use mesonet::time::parse_instant;
use mesonet::{ClosedWindow, Reader, StationId, Variable};
use mesonet_service::ingest::KeyHash;
use tempfile::TempDir;

use crate::child::Process;
use crate::follower::{KEY, run};
use crate::process::{PATIENCE, Server, command, output};
use crate::verify::files;

const VARIABLE: &str = "MESONET_FOLLOWER_KILLS";
const KILLS: u32 = 20;

/// Minutes of a day, and the first day of August that has reports.
const DAY: u32 = 1440;
const FIRST_DAY: u32 = 3;

/// The temperature of a report, by which it is recognized.
fn celsius(report: u32) -> u32 {
    report * 7 % 31
}

/// Random numbers, the same in every run (a linear congruential generator of Knuth).
struct Chance(u64);

impl Chance {
    fn below(&mut self, end: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }

    fn pause(&mut self, up_to_ms: u64) {
        sleep(Duration::from_millis(self.below(up_to_ms)));
    }
}

/// The feed to the server that writes at the time: one report a minute. Each is sent until it is
/// acknowledged.
#[derive(Default)]
struct Feed {
    to: Mutex<Option<SocketAddr>>,
    /// All reports before this one were acknowledged.
    acknowledged: AtomicU32,
    is_done: AtomicBool,
}

impl Feed {
    fn run(&self) {
        while !self.is_done.load(Ordering::SeqCst) {
            // Held while a report is sent, so that after a change of servers all reports go to the
            // new one.
            let to = self.to.lock().unwrap();
            let report = self.acknowledged.load(Ordering::SeqCst);
            if to.is_some_and(|to| push(to, report).is_some()) {
                self.acknowledged.store(report + 1, Ordering::SeqCst);
                continue;
            }
            drop(to);
            sleep(Duration::from_millis(20));
        }
    }

    fn send_to(&self, server: &Server) {
        *self.to.lock().unwrap() = Some(server.address());
    }

    fn count(&self) -> u32 {
        self.acknowledged.load(Ordering::SeqCst)
    }
}

/// Pushes a report; `None` if it was not acknowledged.
fn push(to: SocketAddr, report: u32) -> Option<()> {
    let (day, minute) = (FIRST_DAY + report / DAY, report % DAY);
    let (hour, minute, celsius) = (minute / 60, minute % 60, celsius(report));
    let body =
        format!("METAR CYYZ {day:02}{hour:02}{minute:02}Z 24012KT 15SM {celsius:02}/M01 A2991=\n");
    let mut stream = TcpStream::connect(to).ok()?;
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    write!(
        stream,
        "POST /api/v1/ingest?name=sa_202408{day:02}.txt HTTP/1.1\r\nhost: test\r\n\
         connection: close\r\nauthorization: Bearer {KEY}\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
    .ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    answer.starts_with("HTTP/1.1 200 ").then_some(())
}

/// Returns the temperatures of Toronto that a record holds, by the number of the report.
fn held(data: &Path) -> BTreeMap<u32, f64> {
    let reader = EmbeddedReader::open(data).unwrap();
    let station = [StationId::new("METAR", "CYYZ")];
    let window = ClosedWindow::new(i64::MIN, i64::MAX).unwrap();
    let variables = &[Variable::AirTemperature];
    let selection = Selection { stations: &station, variables, window };
    let first_ms = parse_instant("2024-08-03T00:00:00Z").unwrap();
    let mut held = BTreeMap::new();
    let damage = reader.scan(&selection, &mut |_, slices| {
        for slice in slices.iter().filter(|slice| !slice.series.key.calculated) {
            for (ts_ms, value) in slice.ts_ms.iter().zip(slice.value) {
                let report = (ts_ms - first_ms) / 60_000;
                assert!(held.insert(report as u32, *value).is_none(), "{report} is there twice");
            }
        }
    });
    assert_eq!(damage.unwrap().blocks(), 0);
    held
}

/// Asserts that a record has all reports before a number, each with its temperature.
#[track_caller]
fn assert_holds(data: &Path, count: u32, what: &str) {
    let held = held(data);
    let lost: Vec<u32> = (0..count).filter(|report| !held.contains_key(report)).collect();
    assert!(lost.is_empty(), "{what}: {} of {count} are lost: {lost:?}", lost.len());
    for (report, value) in held {
        assert_eq!(value, f64::from(celsius(report)), "{what}: report {report}");
    }
}

/// The servers, and which folders they use.
struct Pair<'a> {
    folder: &'a TempDir,
    feed: &'a Feed,
    /// The number of folders so far.
    folders: u32,
    writer: Option<(String, Server)>,
    follower: Option<(String, Server)>,
    /// How many reports the newest backup holds at least.
    backed_up: u32,
}

impl Pair<'_> {
    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn start_writer(&mut self, name: String) {
        let hash = KeyHash::of(KEY);
        let seal = ["--seal-readings", "100"];
        let own = ["--now", "live", "--data", &name, "--ingest-key-hashes", hash.as_str()];
        let server = Server::start(self.folder, &[&own[..], &seal].concat());
        self.feed.send_to(&server);
        self.writer = Some((name, server));
    }

    fn start_follower(&mut self, name: String) {
        let args = ["--now", "live", "--data", &name, "--follow", "backups"];
        let server = Server::start(self.folder, &[&args[..], &["--follow-every-s", "1"]].concat());
        self.follower = Some((name, server));
    }

    fn new_folder(&mut self) -> String {
        self.folders += 1;
        format!("record{}", self.folders)
    }

    fn writers(&self) -> &str {
        &self.writer.as_ref().unwrap().0
    }

    /// Makes a whole backup.
    fn back_up(&mut self) {
        let count = self.feed.count();
        run(self.path(), &["backup", "--to", "backups", "--data", self.writers()]);
        self.backed_up = count;
    }

    /// Kills the server that writes. When it starts again, it has everything that it acknowledged.
    fn kill_writer(&mut self) {
        let (name, server) = self.writer.take().unwrap();
        server.kill();
        let count = self.feed.count();
        assert_holds(&self.path().join(&name), count, "the killed server");
        self.start_writer(name.clone());
        assert_holds(&self.path().join(name), count, "the server that was started again");
    }

    /// Kills the follower at a random moment while it loads. When it is started again, it serves
    /// the newest backup.
    fn kill_follower(&mut self, chance: &mut Chance) {
        let (name, server) = self.follower.take().unwrap();
        self.back_up();
        chance.pause(1500);
        server.kill();
        let args = ["--now", "live", "--data", &name, "--follow", "backups"];
        let mut again = command(self.path(), &[&["--listen", "127.0.0.1:0"], &args[..]].concat());
        let again = Process::start(&mut again, PATIENCE);
        chance.pause(150);
        again.kill();
        self.start_follower(name.clone());
        assert_holds(&self.path().join(name), self.backed_up, "the follower");
    }

    /// Kills a backup in flight. The newest whole backup does not change.
    fn kill_backup(&mut self, chance: &mut Chance) {
        let args = ["backup", "--to", "backups", "--data", self.writers()];
        let backup = Process::start(&mut command(self.path(), &args), PATIENCE);
        chance.pause(150);
        backup.kill();
        let to = format!("restored{}", self.feed.count());
        run(self.path(), &["restore", "--from", "backups", "--to", &to]);
        assert_holds(&self.path().join(to), self.backed_up, "the restored record");
    }

    /// Kills both. A restored record has everything that the newest backup holds, and takes over.
    fn fail_over(&mut self, chance: &mut Chance) {
        self.back_up();
        chance.pause(1200);
        let (old, server) = self.writer.take().unwrap();
        server.kill();
        let (following, server) = self.follower.take().unwrap();
        // The follower may not have seen the newest backup yet, or may be fetching it.
        server.kill();
        let new = self.new_folder();
        run(self.path(), &["restore", "--from", "backups", "--to", &new]);
        assert_holds(&self.path().join(&new), self.backed_up, "the restored record");
        run(self.path(), &["backup", "--to", "backups", "--data", &new, "--take-over"]);
        let (ok, _, error) = output(self.path(), &["backup", "--to", "backups", "--data", &old]);
        assert!(!ok && error.contains("has the backups of another record"), "{error}");
        // Reports that the old server acknowledged after the backup are sent again.
        let to = self.feed.to.lock().unwrap();
        self.feed.acknowledged.store(self.backed_up, Ordering::SeqCst);
        drop(to);
        self.start_writer(new);
        self.back_up();
        self.start_follower(following);
    }
}

#[test]
fn nothing_acknowledged_is_lost_whoever_is_killed() {
    let kills = std::env::var(VARIABLE).map_or(KILLS, |text| text.parse().unwrap());
    let folder = TempDir::new().unwrap();
    let feed = Feed::default();
    let mut chance = Chance(11);
    let began = Instant::now();
    std::thread::scope(|scope| {
        scope.spawn(|| feed.run());
        // A test that fails must not wait for the feed.
        let _done = Done(&feed);
        let mut pair = Pair {
            folder: &folder,
            feed: &feed,
            folders: 0,
            writer: None,
            follower: None,
            backed_up: 0,
        };
        let (writer, follower) = (pair.new_folder(), pair.new_folder());
        pair.start_writer(writer);
        pair.back_up();
        pair.start_follower(follower);
        let mut of_kind = [0; 4];
        for round in 0..kills {
            chance.pause(400);
            // First one kill of each kind, then random kinds.
            let kind = if round < 4 { u64::from(round) } else { chance.below(4) };
            of_kind[kind as usize] += 1;
            match kind {
                0 => pair.kill_writer(),
                1 => pair.kill_follower(&mut chance),
                2 => pair.kill_backup(&mut chance),
                _ => pair.fail_over(&mut chance),
            }
        }
        feed.is_done.store(true, Ordering::SeqCst);
        pair.back_up();
        let (name, writer) = pair.writer.take().unwrap();
        assert_eq!(writer.stop().0, Some(0));
        let (of_follower, follower) = pair.follower.take().unwrap();
        assert_eq!(follower.stop().0, Some(0));
        for name in [&name, &of_follower] {
            assert!(run(pair.path(), &["verify", "--data", name]).ends_with("no fault\n"));
        }
        assert_holds(&pair.path().join(&name), feed.count(), "the server in the end");
        let list = run(pair.path(), &["backups", "--from", "backups", "--check", "--json"]);
        assert!(list.len() > 2 && files(&pair.path().join("backups")).len() > 3);
        let [writer, follower, backup, both] = of_kind;
        println!(
            "killed: the server {writer} times, the follower {follower} times, a backup {backup} \
             times, both with a restored record {both} times; {} reports acknowledged, in {:?}",
            feed.count(),
            began.elapsed()
        );
    });
}

/// Ends the feed, even if the test fails.
struct Done<'a>(&'a Feed);

impl Drop for Done<'_> {
    fn drop(&mut self) {
        self.0.is_done.store(true, Ordering::SeqCst);
    }
}
