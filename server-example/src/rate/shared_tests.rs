//! Beside a real Redis, which `tests/redis` starts and names in the environment: `tests/redis cargo test -p
//! mesonet-server --features redis --lib rate:: -- --include-ignored --test-threads=1`. Some tests
//! stop or change it, so they run one after the other.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::PathBuf;

use axum::body::Body;
use axum::http::{Request, StatusCode};
use futures_util::future::join_all;
use mesonet::{Intake, MemoryStore};
use proptest::collection::vec;
use proptest::test_runner::{Config as Cases, TestRunner};
use redis::{Commands, Connection, FromRedisValue};
use tokio::task::JoinHandle;
use tower::ServiceExt;

use super::*;
use crate::clock::Clock;
use crate::door::Peer;
use crate::rate::Rate;
use crate::state::State;

/// A bound, not a measurement: a machine that is busy may take its time.
pub(super) const LONG: Duration = Duration::from_secs(60);

/// The Redis of the tests, for them to look at and to change.
pub(super) struct Redis {
    pub address: String,
    folder: PathBuf,
}

impl Redis {
    /// As after its start.
    pub fn new() -> Self {
        let variable = |name| std::env::var(name).expect("tests/redis starts a Redis");
        let own = Self {
            address: format!("redis://{}", variable("MESONET_TEST_REDIS")),
            folder: variable("MESONET_TEST_REDIS_FOLDER").into(),
        };
        own.tell(&["FLUSHALL"]);
        own.tell(&["SCRIPT", "FLUSH"]);
        own
    }

    /// Over its socket, on which it asks for no password.
    fn connection(&self) -> Connection {
        let place = ConnectionAddr::Unix(self.folder.join("socket"));
        let opened = Client::open(place.into_connection_info().unwrap());
        let end = std::time::Instant::now() + LONG;
        loop {
            match opened.as_ref().unwrap().get_connection() {
                Ok(connection) => return connection,
                Err(error) => assert!(std::time::Instant::now() < end, "{error}"),
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    pub fn ask<T: FromRedisValue>(&self, words: &[&str]) -> T {
        let mut command = cmd(words[0]);
        command.arg(&words[1..]).query(&mut self.connection()).unwrap()
    }

    pub fn tell(&self, words: &[&str]) {
        self.ask::<()>(words);
    }

    pub fn keys(&self) -> Vec<String> {
        self.ask(&["KEYS", "*"])
    }

    /// The process of Redis gets a signal, by its name.
    pub fn signal(&self, name: &str) {
        let pid = std::fs::read_to_string(self.folder.join("pid")).unwrap();
        let sent = std::process::Command::new("kill").args([name, pid.trim()]).status();
        assert!(sent.unwrap().success());
    }

    /// Ends Redis; it is not started again until told.
    pub fn kill(&self) {
        std::fs::write(self.folder.join("down"), "").unwrap();
        self.signal("-KILL");
    }

    pub fn start_again(&self) {
        std::fs::remove_file(self.folder.join("down")).unwrap();
        drop(self.connection());
    }

    pub fn socket(&self) -> String {
        format!("unix:{}", self.folder.join("socket").display())
    }
}

/// The count of a server, which is kept connected.
pub(super) struct Server {
    pub rate: Arc<Rate>,
    kept: JoinHandle<()>,
}

impl Server {
    /// One whose requests wait for Redis for as long as a test may take: then no answer is late, and all
    /// that it counts is exact.
    pub async fn patient(config: &Config) -> Self {
        let mut rate = Rate::new(config).unwrap();
        rate.shared.as_mut().unwrap().patience = LONG;
        let server = Self::of(rate);
        server.until_up(true).await;
        server
    }

    /// One as it is used, perhaps not connected yet.
    pub fn new(config: &Config) -> Self {
        Self::of(Rate::new(config).unwrap())
    }

    fn of(rate: Rate) -> Self {
        let rate = Arc::new(rate);
        let kept = Arc::clone(&rate);
        Self { rate, kept: tokio::spawn(async move { kept.keep_connected().await }) }
    }

    pub fn health(&self) -> SharedHealth {
        self.rate.shared_health().unwrap()
    }

    pub async fn until_up(&self, is_up: bool) {
        until(|| self.health().is_up == is_up).await;
    }

    /// So many requests of a caller at once.
    pub async fn burst(&self, caller: u8, requests: usize) -> Vec<Turn> {
        join_all((0..requests).map(|_| self.rate.take(party(caller)))).await
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kept.abort();
    }
}

pub(super) async fn until(is_so: impl Fn() -> bool) {
    let so = async {
        while !is_so() {
            sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(LONG, so).await.unwrap();
}

pub(super) fn party(caller: u8) -> Party {
    Party::of([192, 0, 2, caller].into())
}

/// Ten requests in an hour, of which none waits.
pub(super) fn config(address: &str) -> Config {
    Config {
        rate_redis: Some(address.to_owned()),
        rate_requests: 10,
        rate_span_s: 3_600,
        rate_waiting: 0,
        ..Config::default()
    }
}

pub(super) fn at_once(turns: &[Turn]) -> usize {
    turns.iter().filter(|&&turn| turn == Turn::Now).count()
}

/// The rule at a time that is told, for which the script that is used has none.
struct Told(Script, RefCell<Connection>);

impl Told {
    fn new() -> Self {
        let connection = RefCell::new(Redis::new().connection());
        Self(Script::new("local now = tonumber(ARGV[5])\n"), connection)
    }

    fn take(&self, key: &str, allowance: Allowance, now_us: u64) -> i64 {
        let mut script = cmd("EVAL");
        script.arg(&self.0.text).arg(1).arg(key).arg(&arguments(allowance)).arg(now_us);
        script.query(&mut *self.1.borrow_mut()).unwrap()
    }
}

const SPAN: Duration = Duration::from_secs(100);

#[test]
#[ignore = "needs Redis: see tests/redis"]
fn the_script_gives_the_turns_of_the_window() {
    let told = Told::new();
    let (case, seen) = (RefCell::new(0), RefCell::new(BTreeSet::new()));
    // Servers with three allowances, and a time in microseconds before each request.
    let allowances = vec((1_usize..6, 0_usize..5, 0_u64..=60_000_000), 3);
    let sequence = vec((0_usize..3, 0_u64..30_000_000), 1..80);
    let cases = Cases { cases: 300, failure_persistence: None, ..Cases::default() };
    let compared = TestRunner::new(cases).run(&(allowances, sequence), |(allowances, sequence)| {
        *case.borrow_mut() += 1;
        let key = format!("case {}", case.borrow());
        let allowances: Vec<Allowance> = allowances
            .into_iter()
            .map(|(requests, waiting, us)| {
                let longest_wait = Duration::from_micros(us);
                Allowance { requests, span: SPAN, waiting, longest_wait }
            })
            .collect();
        let (window, start) = (Window::new(allowances[0]), Instant::now());
        let mut now_us = 1_790_000_000_000_000;
        let began_us = now_us;
        for (server, pause_us) in sequence {
            // Often none at all.
            now_us += if pause_us % 3 == 0 { pause_us } else { pause_us % 3 - 1 };
            let now = start + Duration::from_micros(now_us - began_us);
            window.set(allowances[server]);
            let turn = match window.take(party(1), now) {
                Turn::Now => 0,
                Turn::At(turn) => turn.duration_since(now).as_micros() as i64,
                Turn::Refused => -1,
            };
            seen.borrow_mut().insert(turn.signum());
            proptest::prop_assert_eq!(told.take(&key, allowances[server], now_us), turn);
        }
        Ok(())
    });
    compared.unwrap();
    assert_eq!(*seen.borrow(), BTreeSet::from([-1, 0, 1]));
}

#[test]
#[ignore = "needs Redis: see tests/redis"]
fn a_clock_that_is_set_back_keeps_nobody_waiting() {
    let told = Told::new();
    let allowance = Allowance { requests: 2, span: SPAN, waiting: 0, longest_wait: Duration::ZERO };
    let take = |now_s: u64| told.take("caller", allowance, now_s * 1_000_000);
    assert_eq!([take(10_000), take(10_000), take(10_000)], [0, 0, -1]);
    // A minute is within what a turn may be ahead.
    assert_eq!(take(9_940), -1);
    assert_eq!([take(6_400), take(6_400), take(6_400)], [0, 0, -1]);
    // Set right again: as after a silence.
    assert_eq!(take(10_000), 0);
}

#[tokio::test]
#[ignore = "needs Redis: see tests/redis"]
async fn two_servers_let_a_caller_through_as_often_as_one() {
    let redis = Redis::new();
    let config = Config { rate_requests: 150, ..config(&redis.address) };
    let one = Server::patient(&config).await;
    let other = Server::patient(&config).await;
    let (of_one, of_other) = tokio::join!(one.burst(1, 200), other.burst(1, 200));
    assert_eq!(at_once(&of_one) + at_once(&of_other), 150);
    assert!(of_one.iter().chain(&of_other).all(|turn| matches!(turn, Turn::Now | Turn::Refused)));
    // A refused one does not count, and another caller does not count for this one.
    assert_eq!(at_once(&other.burst(2, 151).await), 150);
    assert_eq!(at_once(&one.burst(2, 1).await), 0);
    assert_eq!((one.health().alone, other.health().alone), (0, 0));
}

#[tokio::test]
#[ignore = "needs Redis: see tests/redis"]
async fn two_servers_let_as_many_wait_as_one() {
    let redis = Redis::new();
    let waits = Config {
        rate_requests: 5,
        rate_span_s: 30,
        rate_waiting: 3,
        rate_wait_ms: 60_000,
        ..config(&redis.address)
    };
    let servers = [Server::patient(&waits).await, Server::patient(&waits).await];
    let (began, mut turns) = (Instant::now(), Vec::new());
    for request in 0..12 {
        turns.push(servers[request % 2].rate.take(party(1)).await);
    }
    assert_eq!(turns[..5], [Turn::Now; 5]);
    assert_eq!(turns[8..], [Turn::Refused; 4]);
    for turn in &turns[5..8] {
        let &Turn::At(turn) = turn else { panic!("{turn:?}") };
        let wait = turn.duration_since(began);
        assert!(wait > Duration::ZERO && wait < Duration::from_secs(30) + LONG, "{wait:?}");
    }
}

#[tokio::test]
#[ignore = "needs Redis: see tests/redis"]
async fn servers_with_other_allowances_each_hold_to_their_own() {
    let redis = Redis::new();
    let of = |rate_requests, rate_span_s| Config {
        rate_requests,
        rate_span_s,
        ..config(&redis.address)
    };
    let few = Server::patient(&of(100, 3_600)).await;
    let many = Server::patient(&of(150, 3_600)).await;
    let other_span = Server::patient(&of(100, 1_800)).await;
    assert_eq!(at_once(&many.burst(1, 120).await), 120);
    assert_eq!(at_once(&few.burst(1, 10).await), 0);
    assert_eq!(at_once(&many.burst(1, 50).await), 30);
    assert_eq!(at_once(&other_span.burst(1, 120).await), 100);
    // Without a limit nobody is counted.
    let all = Server::patient(&of(0, 3_600)).await;
    assert_eq!(at_once(&all.burst(9, 1_000).await), 1_000);
    assert_eq!(redis.keys().len(), 2);
}

#[tokio::test]
#[ignore = "needs Redis: see tests/redis"]
async fn what_is_in_redis_is_bounded_names_nobody_and_goes_by_itself() {
    let redis = Redis::new();
    let config = Config { rate_span_s: 1, rate_wait_ms: 0, ..config(&redis.address) };
    let server = Server::patient(&config).await;
    for _ in 0..30 {
        server.burst(1, 20).await;
        sleep(Duration::from_millis(50)).await;
    }
    server.rate.take(party(1)).await;
    server.rate.take(Party::of("2001:db8:1:2::3".parse().unwrap())).await;
    let keys = redis.keys();
    assert_eq!(keys.len(), 2, "{keys:?}");
    for key in keys {
        let digits = key.strip_prefix("mesonet:rate:1:1000:").unwrap();
        assert!(digits.len() == 32 && digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
        assert!(redis.connection().llen::<_, usize>(&key).unwrap() <= 11);
        let lasts_ms: i64 = redis.connection().pttl(&key).unwrap();
        // One that has gone meanwhile has -2.
        assert!(lasts_ms == -2 || (0..=1_000).contains(&lasts_ms), "{lasts_ms}");
    }
    until(|| redis.keys().is_empty()).await;
}

#[tokio::test]
#[ignore = "needs Redis: see tests/redis"]
async fn what_redis_forgets_begins_anew_and_its_scripts_are_loaded_again() {
    let redis = Redis::new();
    let server = Server::patient(&config(&redis.address)).await;
    assert_eq!(at_once(&server.burst(1, 8).await), 8);
    redis.tell(&["SCRIPT", "FLUSH"]);
    assert_eq!(at_once(&server.burst(1, 8).await), 2);
    redis.tell(&["FLUSHALL"]);
    assert_eq!(at_once(&server.burst(1, 20).await), 10);
    assert_eq!(server.health(), SharedHealth { is_up: true, alone: 0 });
}

/// A whole service that counts in Redis, and what keeps it connected.
pub(super) struct Service(pub Arc<State>, JoinHandle<()>);

impl Service {
    pub async fn new(config: Config, patience: Duration) -> Self {
        let (clock, store) = (Clock::stopped_at(0), Arc::new(MemoryStore::default()));
        let mut state = State::new(config, clock, store, Intake::default()).unwrap();
        let rate = &mut Arc::get_mut(&mut state).unwrap().rate;
        rate.shared.as_mut().unwrap().patience = patience;
        let kept = Arc::clone(&state);
        let kept = tokio::spawn(async move { kept.rate.keep_connected().await });
        let own = Self(state, kept);
        until(|| own.0.rate.shared_health().unwrap().is_up).await;
        own
    }

    /// So many requests of a caller at once.
    pub async fn burst(&self, caller: u8, requests: usize) -> Vec<StatusCode> {
        let app = crate::app(Arc::clone(&self.0));
        join_all((0..requests).map(|_| {
            let mut request =
                Request::get("/api/v1/observations/units").body(Body::empty()).unwrap();
            request.extensions_mut().insert(Peer([192, 0, 2, caller].into()));
            let answer = app.clone().oneshot(request);
            async { answer.await.unwrap().status() }
        }))
        .await
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        self.1.abort();
    }
}

#[tokio::test]
#[ignore = "needs Redis: see tests/redis"]
async fn two_services_answer_a_caller_as_often_as_one() {
    let redis = Redis::new();
    let config = Config { rate_requests: 40, ..config(&redis.address) };
    let one = Service::new(config.clone(), LONG).await;
    let other = Service::new(config, LONG).await;
    let (of_one, of_other) = tokio::join!(one.burst(1, 60), other.burst(1, 60));
    let all = [of_one, of_other].concat();
    let count = |status: StatusCode| all.iter().filter(|&&one| one == status).count();
    assert_eq!((count(StatusCode::OK), count(StatusCode::TOO_MANY_REQUESTS)), (40, 80));
}
