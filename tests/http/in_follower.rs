//! Records that a follower serves. With `MESONET_TEST_STORE=follower` the record of each test is on
//! disk, its content is backed up to a folder, and a follower of these backups answers.
//!
//! Before each read the follower gets what was written. Each answer must equal that of the followed
//! server: status, headers and body. Intended differences are named below, and
//! `tests/http/not_followed` names the tests that are left out.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use axum::body::Body;
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method, Request, header};
use mesonet::access::Plan;
use mesonet::store::{EmbeddedOptions, no_verdicts};
use mesonet::{Intake, Store};
use mesonet_server::{App, Clock, Config, State, app};
use mesonet_service::backup::{BackupOptions, make};
use mesonet_service::record::Record;
use tempfile::TempDir;

use crate::support::{AIR, Answer, Api, NOW_MS, TestStore, id, reading, station};

/// Whether a follower answers in all tests.
pub fn is_asked() -> bool {
    match std::env::var("MESONET_TEST_STORE").as_deref() {
        Err(_) | Ok("clickhouse") => false,
        Ok("follower") => true,
        Ok(other) => {
            panic!("MESONET_TEST_STORE is {other}; it must be clickhouse or follower, or not set")
        }
    }
}

/// The files of a data folder: how long each is, and when it was written.
type Files = BTreeMap<PathBuf, (u64, SystemTime)>;

/// A record on disk that is backed up to a folder.
pub struct Followed {
    data: PathBuf,
    record: Record,
    place: PathBuf,
    /// The files before the newest backup was made.
    backed_up: Mutex<Files>,
    /// The folder of the backups, and of the record if it has no folder of its own.
    _folder: TempDir,
}

impl Followed {
    /// An empty record, in a folder that may have other files of its server.
    pub fn new(data: Option<&Path>) -> Arc<Self> {
        let folder = TempDir::new().unwrap();
        let data = data.map_or_else(|| folder.path().join("record"), Path::to_owned);
        let record = Record::on_disk(&data, EmbeddedOptions::default()).unwrap();
        let (place, backed_up) = (folder.path().join("backups"), Mutex::default());
        Arc::new(Self { data, record, place, backed_up, _folder: folder })
    }

    pub fn store(&self) -> Arc<dyn Store> {
        self.record.store()
    }

    /// A server that writes to the record, and one that follows it.
    pub fn serve(self: &Arc<Self>, now_ms: i64, config: Config) -> (Arc<State>, Follower) {
        let own = [Config::default().data, self.data.clone()];
        assert!(own.contains(&config.data), "the record is in {}", self.data.display());
        let clock = || Clock::stopped_at(now_ms);
        let of_writer = Config { data: self.data.clone(), ..config.clone() };
        let record = self.record.clone();
        let writer = State::of_record(of_writer, clock(), record, Intake::default()).unwrap();
        self.back_up();
        let folder = TempDir::new().unwrap();
        let config = Config {
            data: folder.path().to_owned(),
            follow: Some(self.place.to_str().unwrap().to_owned()),
            ..config
        };
        config.check().unwrap();
        let state = State::of_backups(config, clock(), Intake::default()).unwrap();
        let router = app(Arc::clone(&state));
        (writer, Follower { followed: Arc::clone(self), state, router, _folder: folder })
    }

    /// Makes a backup, unless the newest one is up to date.
    fn back_up(&self) {
        let mut backed_up = self.backed_up.lock().unwrap();
        let files = files(&self.data);
        if *backed_up != files {
            let place = self.place.to_str().unwrap();
            let made = make(&self.data, place, BackupOptions::default()).unwrap();
            assert!(made.left_out.is_empty());
            *backed_up = files;
        }
    }

    /// Whether nothing was written since the newest backup.
    fn is_backed_up(&self) -> bool {
        *self.backed_up.lock().unwrap() == files(&self.data)
    }
}

/// A server that follows a record.
pub struct Follower {
    followed: Arc<Followed>,
    pub state: Arc<State>,
    router: App,
    _folder: TempDir,
}

impl Follower {
    /// Gets what was written.
    pub fn take_in(&self) {
        self.followed.back_up();
        self.state.follow().unwrap();
    }

    /// The answer to a request. The followed server answers a request that writes. The follower
    /// answers any other request, with the same answer.
    pub fn answer(&self, api: &Api, request: Request<Body>) -> Answer {
        let (head, body) = request.into_parts();
        if writes(&head) {
            return api.ask(&api.router, Request::from_parts(head, body));
        }
        let body = api.bytes(body);
        let again = || Request::from_parts(head.clone(), Body::from(body.clone()));
        self.take_in();
        let here = api.ask(&self.router, again());
        let there = api.ask(&api.router, again());
        // Another thread of the test may write at the same time.
        if self.followed.is_backed_up() && head.uri.path() != "/readyz" {
            let difference = difference(&here, &there);
            let Parts { method, uri, .. } = &head;
            assert_eq!(difference, None, "the follower answers otherwise: {method} {uri}");
        }
        here
    }
}

/// Whether a request is for the followed server: a follower takes nothing in.
fn writes(head: &Parts) -> bool {
    let path = head.uri.path();
    head.method == Method::POST && ["/ingest", "/keys"].iter().any(|push| path.contains(push))
}

/// How the answer of a follower differs from that of the followed server.
fn difference(here: &Answer, there: &Answer) -> Option<String> {
    if here.status != there.status {
        return Some(format!("it is a {} instead of a {}", here.status, there.status));
    }
    let (of_here, of_there) =
        (comparable_headers(&here.headers), comparable_headers(&there.headers));
    if of_here != of_there {
        return Some(format!("its headers are {of_here:?} instead of {of_there:?}"));
    }
    let body = |of: &Answer| match of.header("x-request-id") {
        // The cursor is in the body, which is short.
        Some(id) => String::from_utf8_lossy(&of.body).replace(id, "").into_bytes(),
        None => of.body.to_vec(),
    };
    let (of_here, of_there) = (body(here), body(there));
    (of_here != of_there).then(|| {
        let texts = [of_here, of_there].map(|of| String::from_utf8_lossy(&of).into_owned());
        let same = texts[0].chars().zip(texts[1].chars()).take_while(|(a, b)| a == b).count();
        let from = same.saturating_sub(100);
        let [here, there] = texts.map(|of| of.chars().skip(from).take(300).collect::<String>());
        format!("its body has {here} instead of {there}")
    })
}

/// The headers of an answer, without what differs between servers: the id of a request, and the
/// backup that the cursor of a follower names.
fn comparable_headers(headers: &HeaderMap) -> Vec<(String, String)> {
    let comparable = headers.iter().filter(|(name, _)| *name != "x-request-id");
    let mut comparable: Vec<_> = comparable
        .map(|(name, value)| {
            let (name, value) = (name.to_string(), String::from_utf8_lossy(value.as_bytes()));
            let bare = value.split('.').next().filter(|_| name == "x-next-cursor");
            (name.clone(), bare.unwrap_or(&value).to_owned())
        })
        .collect();
    comparable.sort();
    comparable
}

/// The files below a folder, without those that a backup makes and SQLite's shared memory.
fn files(data: &Path) -> Files {
    let (mut files, mut folders) = (Files::new(), vec![data.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            let Ok(found) = fs::metadata(&path) else { continue };
            if found.is_dir() {
                folders.push(path);
            } else if !["lock", "writer"].contains(&&*name) && !name.ends_with("-shm") {
                files.insert(path, (found.len(), found.modified().unwrap()));
            }
        }
    }
    files
}

/// A service of a follower and its store, whatever the other tests run on.
fn followed() -> (Api, Arc<TestStore>) {
    let store = Arc::new(TestStore::followed());
    store.append(&station("A", 0.0, 0.0), &mut no_verdicts).unwrap();
    (Api::at(NOW_MS, Config::default(), Arc::clone(&store)), store)
}

#[test]
fn what_a_test_writes_is_read_from_a_follower() {
    let (api, store) = followed();
    let readings = || api.get("/stations/readings").text();
    assert!(!readings().contains("21.5"));
    store.append(&reading("A", 0, &AIR, 21.5), &mut no_verdicts).unwrap();
    assert!(readings().contains("21.5"));
    let ready = api.call(Method::GET, "/readyz", &[], Body::empty()).text();
    assert!(ready.contains(r#""asOf":"#), "{ready}");
    // Readings that were not backed up are missing.
    let follower = api.follower.as_ref().unwrap();
    store.append(&reading("A", 0, &AIR, 22.5), &mut no_verdicts).unwrap();
    follower.state.follow().unwrap();
    let request = || Request::get("/api/v1/stations/readings").body(Body::empty()).unwrap();
    let not_yet = api.ask(&follower.router, request()).text();
    assert!(not_yet.contains("21.5") && !not_yet.contains("22.5"), "{not_yet}");
    assert!(api.ask(&api.router, request()).text().contains("22.5"));
    // Reads without new data make no new backup.
    let backups = || fs::read_dir(follower.followed.place.join("backups")).unwrap().count();
    assert!(readings().contains("22.5"));
    let count = backups();
    assert!(readings().contains("22.5"));
    assert_eq!(backups(), count);
}

#[test]
fn a_follower_that_answers_otherwise_is_noticed() {
    let (api, store) = followed();
    store.append(&reading("A", 0, &AIR, 21.5), &mut no_verdicts).unwrap();
    let ask = |headers: &[(header::HeaderName, &str)], path: &str| api.get_with(path, headers);
    let is_same = |here: &Answer, there: &Answer| difference(here, there).is_none();
    let markers = || ask(&[], "/stations/map/markers");
    assert!(is_same(&markers(), &markers()));
    let other_status = ask(&[(header::IF_NONE_MATCH, "*")], "/stations/map/markers");
    let (other_body, mut other_tag) = (ask(&[], "/stations/map/details"), markers());
    other_tag.headers.insert(header::ETAG, "\"other\"".parse().unwrap());
    for other in [other_status, other_body, other_tag] {
        assert!(!is_same(&markers(), &other), "{other:?}");
    }
    let mut one = markers();
    one.headers.insert("x-next-cursor", "0a1b.0001-0001".parse().unwrap());
    let mut other = markers();
    other.headers.insert("x-next-cursor", "0a1b".parse().unwrap());
    assert!(is_same(&one, &other), "the cursor of a follower names its backup");
    other.headers.insert("x-next-cursor", "0a1c".parse().unwrap());
    assert!(!is_same(&one, &other));
}

/// Once, an empty cursor and one with fewer digits were taken for cursors of the followed server.
#[test]
fn a_follower_says_of_a_damaged_cursor_that_it_is() {
    let config = Config { assume_plan: Plan::Commercial, ..Config::default() };
    let api = Api::with(config, TestStore::followed());
    let day = "start=2024-08-03T00:00:00Z&end=2024-08-04T00:00:00Z";
    for bad in ["", "0a", "0a.0001"] {
        let path = format!("/historical/bulk?{day}&cursor={bad}");
        api.post(&path, format!(r#"{{"stationId":"{}"}}"#, id("A"))).refuses(
            400,
            "invalid cursor: it must be the X-Next-Cursor of the previous page, unchanged",
        );
    }
}
