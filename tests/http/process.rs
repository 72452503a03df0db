//! The server as a process: started, asked, told to stop.
//!
//! The binary is the one beside the tests, or that of `MESONET_SERVER_BIN`.

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, ChildStderr, Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use mesonet::StationId;

/// More than the server takes anywhere; a bound, not a measurement.
const PATIENCE: Duration = Duration::from_secs(60);

/// A server on a port of its own, ended with the test.
struct Server {
    child: Child,
    stderr: BufReader<ChildStderr>,
    /// What it has said until it listened.
    log: String,
    address: String,
}

fn command(args: &[&str]) -> Command {
    let binary = std::env::var_os("MESONET_SERVER_BIN").map_or_else(
        || {
            let test = std::env::current_exe().unwrap();
            // target/debug/deps/http-… → target/debug/mesonet-server
            let target = test.parent().and_then(|deps| deps.parent()).unwrap();
            target.join(format!("mesonet-server{}", std::env::consts::EXE_SUFFIX))
        },
        PathBuf::from,
    );
    assert!(
        binary.is_file(),
        "{} is not there: build it first (cargo build -p mesonet-server) or name another in \
         MESONET_SERVER_BIN",
        binary.display()
    );
    let mut command = Command::new(binary);
    command.args(args).env_clear().stdin(Stdio::null()).stderr(Stdio::piped());
    command
}

impl Server {
    fn start(args: &[&str]) -> Self {
        Self::spawn(command(&[&["--listen", "127.0.0.1:0"], args].concat()))
    }

    fn spawn(mut command: Command) -> Self {
        let mut child = command.spawn().unwrap();
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let mut log = String::new();
        let address = loop {
            let start = log.len();
            assert_ne!(stderr.read_line(&mut log).unwrap(), 0, "it ended: {log}");
            if let Some((_, address)) = log[start..].split_once("listens on http://") {
                break address.trim().to_owned();
            }
        };
        Self { child, stderr, log, address }
    }

    /// Head and body of the answer to a GET.
    fn get(&self, path: &str) -> (String, String) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        write!(stream, "GET {path} HTTP/1.1\r\nhost: test\r\nconnection: close\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        (head.to_owned(), body.to_owned())
    }

    /// Sends SIGTERM and gives the exit status and what was said since it listened.
    fn stop(mut self) -> (Option<i32>, String) {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
        let mut rest = String::new();
        self.stderr.read_to_string(&mut rest).unwrap();
        (self.child.wait().unwrap().code(), rest)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It has ended already where the test has stopped it.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn toronto() -> String {
    format!("/api/v1/stations/{}", StationId::new("METAR", "CYYZ"))
}

#[test]
fn without_a_command_it_serves_the_sample_says_that_it_replays_and_stops_when_told() {
    let started = Instant::now();
    let server = Server::start(&[]);
    let (head, body) = server.get(&toronto());
    assert!(started.elapsed() < PATIENCE);
    assert!(head.starts_with("HTTP/1.1 200 OK\r\n"), "{head}");
    assert!(head.contains("\r\nx-mesonet-replay: 2024-08-03T21:1"), "{head}");
    assert!(
        body.starts_with(concat!(
            r#"{"network":"METAR","name":"Toronto Pearson International Airport","#,
            r#""stationType":"OpenCountry","presentWeather":[],"coordinates":[-79.629,43.679],"#,
            r#""elevation":10.0,"updateTime":"2024-08-03T21:00:00Z","#
        )),
        "{body}"
    );
    // 29/22, 23008KT, SLP092.
    let names = "names=airTemperature,dewPointTemperature,windSpeed,mslp";
    let (_, body) = server.get(&format!(
        "/api/v1/stations/readings?{names}&minLat=43.67&minLon=-79.63&maxLat=43.68&maxLon=-79.62"
    ));
    for reading in [
        r#""type":"airTemperature","typeId":1944015174,"value":29.0,"#,
        r#""type":"dewPointTemperature","typeId":173505786,"value":22.0,"#,
        r#""type":"windSpeed","typeId":1265765301,"value":14.816,"#,
        r#""type":"mslp","typeId":214495241,"value":1009.2,"#,
    ] {
        assert!(body.contains(reading), "{body}");
    }
    assert!(server.log.contains("replays data of 2024-08-03: not live"), "{}", server.log);
    let (code, log) = server.stop();
    assert_eq!(code, Some(0), "{log}");
    assert!(log.contains("stops"), "{log}");
}

#[test]
fn the_clock_starts_where_it_is_told_to_and_reports_come_in_as_it_passes_them() {
    // The report before is of 20:00.
    let server = Server::start(&["--now", "2024-08-03T20:59:58Z"]);
    let (head, _) = server.get("/api/v1/observations/units");
    let replay = head.split("x-mesonet-replay: ").nth(1).unwrap();
    assert!(replay.starts_with("2024-08-03T20:59:5") || replay.starts_with("2024-08-03T21:00:"));
    let started = Instant::now();
    let arrived =
        |path: &str| server.get(path).1.contains(r#""updateTime":"2024-08-03T21:00:00Z""#);
    while !(arrived(&toronto()) && arrived("/api/v1/stations/map/details?window=1h")) {
        assert!(started.elapsed() < PATIENCE, "the report of 21:00 did not come in");
        sleep(Duration::from_millis(100));
    }
}

#[test]
fn a_flag_beats_the_environment_and_that_the_file() {
    let file = std::env::temp_dir().join(format!("mesonet-http-{}.toml", std::process::id()));
    let mut settings = String::from("api_prefix = \"/file\"\n");
    writeln!(settings, "assume_plan = \"pro\"\nnow = \"2024-08-03T18:00:00Z\"").unwrap();
    std::fs::write(&file, settings).unwrap();
    let mut command = command(&["serve", "--now", "2024-08-03T20:00:00Z"]);
    command.env("MESONET_CONFIG", &file).env("MESONET_LISTEN", "127.0.0.1:0");
    command.env("MESONET_API_PREFIX", "/environment").env("MESONET_NOW", "2024-08-03T19:00:00Z");
    let server = Server::spawn(command);
    std::fs::remove_file(&file).unwrap();

    let (head, body) = server.get("/environment/capabilities");
    assert!(head.contains("\r\nx-mesonet-replay: 2024-08-03T20:0"), "{head}");
    assert!(body.ends_with(r#""limits":{"maxWindowMs":2592000000,"maxReachMs":2592000000}}"#));
    assert!(server.log.contains("assumes plan pro for every caller"), "{}", server.log);
}

#[test]
fn nonsense_is_refused_at_the_start_with_what_is_allowed() {
    let refusal = |args: &[&str]| -> String {
        let Output { status, stderr, .. } = command(args).output().unwrap();
        assert!(!status.success());
        String::from_utf8(stderr).unwrap()
    };
    assert_eq!(
        refusal(&["--listen", "0.0.0.0:0", "--assume-plan", "free"]),
        "error: assume_plan is free while listening on 0.0.0.0:0; allowed is none unless on a \
         loopback address (127.0.0.1)\n"
    );
    assert_eq!(refusal(&["--max-cells", "0"]), "error: max_cells is 0; allowed is 1 or more\n");
    assert!(refusal(&["--now", "noon"]).contains("allowed are sample and an ISO 8601 instant"));
    assert!(refusal(&["--data", "x"]).contains("unexpected argument '--data'"));
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let refused = refusal(&["--listen", &address]);
    assert!(refused.starts_with(&format!("error: cannot listen on {address}: ")), "{refused}");
}
