//! What Redis may do to a server, beside a real one: see `shared_tests.rs`.

use std::io::Write;
use std::sync::Mutex;

use axum::http::StatusCode;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::tests::{Redis, Server, Service, at_once, config, party, until};
use super::*;
use crate::rate::Rate;

/// What is in the log while it is held. Tests of one thread only.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    fn hold(&self) -> tracing::subscriber::DefaultGuard {
        let own = self.clone();
        let log = tracing_subscriber::fmt().with_ansi(false).with_writer(move || own.clone());
        tracing::subscriber::set_default(log.finish())
    }

    fn lines(&self) -> Vec<String> {
        let text = String::from_utf8(self.0.lock().unwrap().clone()).unwrap();
        text.lines().map(str::to_owned).collect()
    }

    /// Whether there is a line for each of these, and no other.
    fn has(&self, parts: &[&str]) {
        let lines = self.lines();
        let fit = lines.iter().zip(parts).all(|(line, part)| line.contains(part));
        assert!(fit && lines.len() == parts.len(), "{parts:?} {lines:#?}");
    }
}

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

const ALONE: &str = "rates are counted by this server alone";
const TOGETHER: &str = "rates are counted in Redis";

/// A server at the address that does with each connection what it is told.
async fn at_the_address<F: Future<Output = ()> + Send + 'static>(
    act: impl Fn(TcpStream) -> F + Send + Sync + 'static,
) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(act(stream));
        }
    });
    format!("redis://{address}")
}

/// Answers everything with the same bytes.
async fn says(mut stream: TcpStream, answer: &'static [u8]) {
    let mut asked = [0; 4_096];
    while stream.read(&mut asked).await.is_ok_and(|length| length > 0) {
        if stream.write_all(answer).await.is_err() {
            break;
        }
    }
}

/// A caller of a server that counts alone gets what it would of a server without Redis, and soon.
async fn counts_alone(server: &Server, caller: u8) {
    let began = Instant::now();
    let before = server.health().alone;
    assert_eq!(at_once(&server.burst(caller, 30).await), 10);
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
    assert_eq!(server.health().alone, before + 30);
}

#[tokio::test]
#[ignore = "needs Redis: see tests/redis"]
async fn a_server_whose_redis_is_killed_counts_alone_with_what_it_knows_until_it_is_back() {
    let (redis, log) = (Redis::new(), Log::default());
    let held = log.hold();
    let server = Server::patient(&config(&redis.address)).await;
    assert_eq!(at_once(&server.burst(1, 4).await), 4);
    redis.kill();
    // The four count here too.
    assert_eq!(at_once(&server.burst(1, 30).await), 6);
    counts_alone(&server, 2).await;
    assert!(!server.health().is_up);
    // Once, however often it is tried.
    sleep(RETRY * 5 / 2).await;
    counts_alone(&server, 3).await;
    log.has(&[TOGETHER, ALONE]);
    redis.start_again();
    server.until_up(true).await;
    // It kept nothing.
    assert_eq!(at_once(&server.burst(1, 30).await), 10);
    log.has(&[TOGETHER, ALONE, TOGETHER]);
    drop(held);
}

#[tokio::test]
#[ignore = "needs Redis: see tests/redis"]
async fn a_redis_that_is_stopped_holds_no_request_up() {
    let (redis, log) = (Redis::new(), Log::default());
    let held = log.hold();
    let server = Server::new(&config(&redis.address));
    server.until_up(true).await;
    redis.signal("-STOP");
    counts_alone(&server, 1).await;
    counts_alone(&server, 2).await;
    sleep(RETRY * 5 / 2).await;
    counts_alone(&server, 3).await;
    redis.signal("-CONT");
    server.until_up(true).await;
    let went = format!("{ALONE}: Redis, {}: no answer within 50 ms", redis.address);
    log.has(&[TOGETHER, &went, TOGETHER]);
    drop(held);
}

#[tokio::test]
#[ignore = "needs Redis: see tests/redis"]
async fn a_service_answers_whatever_redis_does() {
    let redis = Redis::new();
    let config = Config { rate_requests: 10, ..config(&redis.address) };
    let service = Service::new(config, PATIENCE).await;
    let answers = async |caller| {
        let began = Instant::now();
        let answers = service.burst(caller, 20).await;
        assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
        let answered = answers.iter().filter(|&&status| status == StatusCode::OK).count();
        let refused = answers.iter().filter(|&&status| status == StatusCode::TOO_MANY_REQUESTS);
        assert_eq!((answered, refused.count()), (10, 10));
    };
    redis.signal("-STOP");
    answers(1).await;
    redis.signal("-CONT");
    redis.kill();
    answers(2).await;
    redis.start_again();
    until(|| service.0.rate.shared_health().unwrap().is_up).await;
}

#[tokio::test]
async fn what_is_no_redis_is_left_alone_and_named() {
    let long = Box::leak(vec![b'a'; 100_000].into_boxed_slice());
    let cases: [(&'static [u8], &str); 7] = [
        (b"HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n", ""),
        (b"-LOADING Redis is loading the dataset in memory\r\n", "loading the dataset"),
        (b"-NOAUTH Authentication required.\r\n", "Authentication required"),
        (b"-MASTERDOWN Link with MASTER is down\r\n", "MASTER is down"),
        (b":77\r\n", ""),
        (b"\0\n\x1b[31m\r\n", ""),
        (long, ""),
    ];
    for (said, reason) in cases {
        let log = Log::default();
        let held = log.hold();
        let address = at_the_address(move |stream| says(stream, said)).await;
        let server = Server::new(&config(&address));
        until(|| !log.lines().is_empty()).await;
        counts_alone(&server, 1).await;
        log.has(&[ALONE]);
        let line = &log.lines()[0];
        assert!(line.contains(&address) && line.contains(reason) && line.len() < 500, "{line}");
        assert!(!line.chars().any(char::is_control), "{line}");
        drop(held);
    }
}

#[tokio::test]
async fn nobody_waits_for_a_redis_that_is_not_there_or_says_nothing() {
    let closed = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let nobody = format!("redis://{}", closed.local_addr().unwrap());
    drop(closed);
    let silent = at_the_address(|stream| async {
        let _held = stream;
        std::future::pending::<()>().await;
    });
    let closing = at_the_address(|stream| async { drop(stream) });
    for address in [nobody, silent.await, closing.await, "unix:/nowhere/redis.sock".to_owned()] {
        let log = Log::default();
        let held = log.hold();
        let server = Server::new(&config(&address));
        counts_alone(&server, 1).await;
        until(|| !log.lines().is_empty()).await;
        counts_alone(&server, 2).await;
        log.has(&[ALONE]);
        drop(held);
    }
}

/// Stands between a server and Redis, and holds back what Redis says for as long as it is told.
async fn slow(redis: &Redis, delay: Arc<Mutex<Duration>>) -> String {
    let upstream = redis.address.strip_prefix("redis://").unwrap().to_owned();
    at_the_address(move |stream| {
        let (upstream, delay) = (upstream.clone(), Arc::clone(&delay));
        async move {
            let (mut asked, mut asking) = stream.into_split();
            let redis = TcpStream::connect(upstream).await.unwrap();
            let (mut said, mut saying) = redis.into_split();
            let back = tokio::spawn(async move {
                let mut bytes = [0; 4_096];
                while let Ok(length @ 1..) = said.read(&mut bytes).await {
                    let held = *delay.lock().unwrap();
                    sleep(held).await;
                    if asking.write_all(&bytes[..length]).await.is_err() {
                        break;
                    }
                }
            });
            let _ = tokio::io::copy(&mut asked, &mut saying).await;
            back.abort();
        }
    })
    .await
}

#[tokio::test]
#[ignore = "needs Redis: see tests/redis"]
async fn a_redis_that_is_slow_is_left_alone_until_it_is_not() {
    let (redis, log) = (Redis::new(), Log::default());
    let held = log.hold();
    let delay = Arc::new(Mutex::new(Duration::ZERO));
    let server = Server::new(&config(&slow(&redis, Arc::clone(&delay)).await));
    server.until_up(true).await;
    *delay.lock().unwrap() = Duration::from_millis(300);
    counts_alone(&server, 1).await;
    // It answers, but later than a request may wait.
    sleep(RETRY * 5 / 2).await;
    counts_alone(&server, 2).await;
    log.has(&[TOGETHER, ALONE]);
    *delay.lock().unwrap() = Duration::ZERO;
    server.until_up(true).await;
    log.has(&[TOGETHER, ALONE, TOGETHER]);
    drop(held);
}

#[tokio::test]
#[ignore = "needs Redis: see tests/redis"]
async fn a_redis_that_takes_nothing_is_away_until_it_does() {
    let redis = Redis::new();
    for (change, back, reason) in [
        (
            ["CONFIG", "SET", "maxmemory", "1"],
            ["CONFIG", "SET", "maxmemory", "0"],
            "used memory > 'maxmemory'",
        ),
        (
            ["CONFIG", "SET", "min-replicas-to-write", "1"],
            ["CONFIG", "SET", "min-replicas-to-write", "0"],
            "Not enough good replicas to write",
        ),
        (["", "REPLICAOF", "127.0.0.1", "1"], ["", "REPLICAOF", "NO", "ONE"], "read only replica"),
    ] {
        let words = |words: [&'static str; 4]| -> Vec<&str> {
            words.into_iter().filter(|word| !word.is_empty()).collect()
        };
        redis.tell(&["FLUSHALL"]);
        let log = Log::default();
        let held = log.hold();
        let server = Server::patient(&config(&redis.address)).await;
        assert_eq!(at_once(&server.burst(1, 12).await), 10);
        redis.tell(&words(change));
        counts_alone(&server, 2).await;
        // A caller that is refused writes nothing, so Redis would have answered: it is away all the same.
        for _ in 0..10 {
            assert_eq!(server.rate.take(party(1)).await, Turn::Refused);
            sleep(RETRY / 4).await;
        }
        log.has(&[TOGETHER, ALONE]);
        assert!(log.lines()[1].contains(reason), "{:?}", log.lines());
        redis.tell(&words(back));
        server.until_up(true).await;
        log.has(&[TOGETHER, ALONE, TOGETHER]);
        drop(held);
    }
}

#[tokio::test]
#[ignore = "needs Redis: see tests/redis"]
async fn redis_is_reached_with_a_password_over_tls_and_over_its_socket() {
    let redis = Redis::new();
    let folder = tempfile::tempdir().unwrap();
    let password = folder.path().join("password");
    // No more than it needs.
    let rights = "on >hunter2 ~mesonet:rate:1:* +auth +select +evalsha +eval \
                  +time +llen +lindex +rpush +linsert +lpop +pexpire +del";
    let user: Vec<&str> = ["ACL", "SETUSER", "me"].into_iter().chain(rights.split(' ')).collect();
    redis.tell(&user);
    let with_user = redis.address.replace("//", "//me@");
    let with_password = |address: &str, text: &str| {
        std::fs::write(&password, text).unwrap();
        Config { rate_redis_password_file: Some(password.clone()), ..config(address) }
    };
    let server = Server::patient(&with_password(&with_user, "hunter2\n")).await;
    assert_eq!(at_once(&server.burst(1, 30).await), 10);
    let tls = std::env::var("MESONET_TEST_REDIS_TLS").expect("tests/redis starts a Redis");
    // Another database, so another count.
    let over_tls = Server::patient(&config(&format!("rediss://{tls}/3"))).await;
    assert_eq!(at_once(&over_tls.burst(1, 30).await), 10);
    let over_socket = Server::patient(&config(&redis.socket())).await;
    assert_eq!(at_once(&over_socket.burst(1, 30).await), 0);

    // A user that needs none.
    redis.tell(&["ACL", "SETUSER", "free", "on", "nopass", "~*", "+@all"]);
    let with_none = Server::patient(&config(&redis.address.replace("//", "//free@"))).await;
    assert_eq!(at_once(&with_none.burst(2, 30).await), 10);

    let other_name = tls.replace("localhost", "127.0.0.1");
    for (config, reason) in [
        (with_password(&with_user, "hunter3"), "authentication failed"),
        (config(&with_user), "authentication failed"),
        (config(&with_user.replace("me@", "nobody@")), "authentication failed"),
        (config(&format!("rediss://{other_name}")), "certificate"),
        (config(&format!("redis://{tls}")), ""),
    ] {
        let log = Log::default();
        let held = log.hold();
        let server = Server::new(&config);
        until(|| !log.lines().is_empty()).await;
        counts_alone(&server, 1).await;
        log.has(&[ALONE]);
        let line = &log.lines()[0];
        assert!(line.contains(reason) && !line.contains("hunter"), "{line}");
        drop(held);
    }
    redis.tell(&["ACL", "DELUSER", "me", "free"]);
    let missing = Config {
        rate_redis_password_file: Some(folder.path().join("none")),
        ..config(&redis.address)
    };
    let refused = Rate::new(&missing).err().unwrap().to_string();
    assert!(refused.starts_with("the password in ") && refused.contains("none"), "{refused}");
}

/// How long the count of a request takes, without Redis and with it: `tests/redis cargo test -p mesonet-server
/// --features redis --lib cost_of -- --ignored --nocapture`.
#[tokio::test]
#[ignore = "a measurement, needs Redis: see tests/redis"]
async fn cost_of_a_request() {
    const REQUESTS: usize = 5_000;
    let redis = Redis::new();
    let lifted = |address| Config { rate_requests: 150, ..config(address) };
    let with = Server::patient(&lifted(&redis.address)).await;
    let without = Rate::new(&Config { rate_redis: None, ..lifted("") }).unwrap();
    let mut measured = Vec::new();
    for (name, rate) in [("without Redis", &without), ("with Redis", &*with.rate)] {
        let mut times: Vec<Duration> = Vec::new();
        for request in 0..REQUESTS {
            let caller = Party::of(std::net::Ipv4Addr::from_bits(request as u32 / 100).into());
            let began = Instant::now();
            assert_eq!(rate.take(caller).await, Turn::Now);
            times.push(began.elapsed());
        }
        times.sort();
        measured.push(format!(
            "{name}: {REQUESTS} in turn, p50 {:?}, p99 {:?}",
            times[REQUESTS / 2],
            times[REQUESTS * 99 / 100]
        ));
    }
    println!("{}", measured.join("\n"));
    let key = redis.keys().swap_remove(0);
    println!("{} bytes a caller with 100 requests", redis.ask::<u64>(&["MEMORY", "USAGE", &key]));
    assert_eq!(with.health().alone, 0);
}
