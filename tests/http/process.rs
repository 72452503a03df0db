//! The server as a process: start, requests, stop.
//!
//! The binary is the one beside the tests, or the one that `MESONET_SERVER_BIN` names.

use std::fmt::Write as _;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

use mesonet::StationId;
use mesonet::time::parse_instant;
use serde_json::Value;
use tempfile::TempDir;

use crate::child::Process;
use crate::in_clickhouse;

/// Longer than anything takes the server. It is a deadline, not a measurement.
pub const PATIENCE: Duration = Duration::from_secs(180);

/// A server on its own port, which ends with the test.
pub struct Server {
    process: Process,
    /// The output of the server until it listened.
    log: String,
    address: String,
}

/// Returns the server program.
pub fn binary() -> PathBuf {
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
    binary
}

/// Returns a command that runs in its own folder. Its record is `mesonet-data` there, or a database
/// of its own if the tests run on ClickHouse.
pub fn command(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(binary());
    command.args(args).env_clear().current_dir(folder);
    if let Some(place) = in_clickhouse::place_of(folder, args) {
        command.env("MESONET_STORE", place);
    }
    command
}

impl Server {
    /// Starts a server without a rate limit, unless the arguments give one: tests send requests
    /// faster than callers may.
    pub fn start(folder: &TempDir, args: &[&str]) -> Self {
        let own = ["--listen", "127.0.0.1:0", "--rate-requests", "0"];
        let own = if args.contains(&"--rate-requests") { &own[..2] } else { &own[..] };
        Self::spawn(command(folder.path(), &[own, args].concat()))
    }

    /// Starts a server from the given command, and waits until it listens.
    pub fn spawn(mut command: Command) -> Self {
        let mut process = Process::start(&mut command, PATIENCE);
        let log = process.wait_for("listening on http").err.clone();
        let (_, address) = log.split_once("listening on http").unwrap();
        let address = address.split_once("://").unwrap().1.trim().to_owned();
        Self { process, log, address }
    }

    /// Returns its output until it listened.
    pub fn log(&self) -> &str {
        &self.log
    }

    /// Returns the address on which it listens.
    pub fn address(&self) -> SocketAddr {
        self.address.parse().unwrap()
    }

    /// Sends a signal: `TERM`, `HUP`.
    pub fn signal(&self, name: &str) {
        let pid = self.process.id().to_string();
        assert!(Command::new("kill").args(["-s", name, &pid]).status().unwrap().success());
    }

    /// Returns the headers and the body of the answer to a GET.
    pub fn get(&self, path: &str) -> (String, String) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        write!(stream, "GET {path} HTTP/1.1\r\nhost: test\r\nconnection: close\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        (head.to_owned(), body.to_owned())
    }

    /// Waits until the server has printed something.
    #[cfg(feature = "clickhouse")]
    pub fn wait_for(&mut self, text: &str) {
        self.process.wait_for(text);
    }

    /// Sends SIGKILL, and returns the output.
    pub fn kill(self) -> String {
        self.process.kill().err
    }

    /// Sends SIGTERM, and returns the exit status and the output since it listened.
    pub fn stop(self) -> (Option<i32>, String) {
        self.signal("TERM");
        let (status, said) = self.process.wait();
        (status.code(), said.err[self.log.len()..].to_owned())
    }
}

fn toronto() -> String {
    format!("/api/v1/stations/{}", StationId::new("METAR", "CYYZ"))
}

#[test]
fn without_a_command_it_serves_the_sample_says_that_it_replays_and_stops_when_told() {
    let started = Instant::now();
    let folder = TempDir::new().unwrap();
    let server = Server::start(&folder, &[]);
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
    assert!(server.log.contains("replaying data of 2024-08-03: not live"), "{}", server.log);
    let (code, log) = server.stop();
    assert_eq!(code, Some(0), "{log}");
    assert!(log.contains("stopping"), "{log}");
}

#[test]
fn the_clock_starts_where_it_is_told_to_and_reports_come_in_as_it_passes_them() {
    // The previous report is of 02:00.
    const START: &str = "2022-10-22T18:59:58Z";
    let folder = TempDir::new().unwrap();
    let began = Instant::now();
    let server = Server::start(&folder, &["--now", START]);
    let (head, _) = server.get("/api/v1/observations/units");
    let replay = head.split("x-mesonet-replay: ").nth(1).unwrap().lines().next().unwrap();
    // The clock has run since, however long the sample took.
    let ran_ms = parse_instant(replay).unwrap() - parse_instant(START).unwrap();
    assert!((0..=began.elapsed().as_millis() as i64).contains(&ran_ms), "{replay}");
    let started = Instant::now();
    let arrived =
        |path: &str| server.get(path).1.contains(r#""updateTime":"2022-10-22T19:00:00Z""#);
    while !(arrived(&toronto()) && arrived("/api/v1/stations/map/details?window=1h")) {
        assert!(started.elapsed() < PATIENCE, "the report of 19:00 did not come in");
        sleep(Duration::from_millis(100));
    }
}

#[test]
fn a_clock_after_the_sample_starts_with_all_of_it_without_judging_it() {
    let folder = TempDir::new().unwrap();
    let server = Server::start(&folder, &["--now", "2024-08-04T00:00:00Z"]);
    let (head, body) = server.get(&toronto());
    assert!(head.contains("\r\nx-mesonet-replay: 2024-08-04T00:0"), "{head}");
    assert!(body.contains(r#""updateTime":"2024-08-03T21:00:00Z""#), "{body}");
    assert!(!server.log().contains(" reports of "), "{}", server.log());
}

#[test]
fn a_flag_beats_the_environment_and_that_the_file() {
    let file = std::env::temp_dir().join(format!("mesonet-http-{}.toml", std::process::id()));
    let mut settings = String::from("api_prefix = \"/file\"\n");
    writeln!(settings, "assume_plan = \"pro\"\nnow = \"2022-10-22T01:46:00Z\"").unwrap();
    std::fs::write(&file, settings).unwrap();
    let folder = TempDir::new().unwrap();
    let mut command = command(folder.path(), &["serve", "--now", "2022-10-22T01:48:00Z"]);
    command.env("MESONET_CONFIG", &file).env("MESONET_LISTEN", "127.0.0.1:0");
    command.env("MESONET_API_PREFIX", "/environment").env("MESONET_NOW", "2022-10-22T01:47:00Z");
    let server = Server::spawn(command);
    std::fs::remove_file(&file).unwrap();

    let (head, body) = server.get("/environment/capabilities");
    assert!(head.contains("\r\nx-mesonet-replay: 2022-10-22T01:48"), "{head}");
    assert!(body.ends_with(r#""limits":{"maxWindowMs":2592000000,"maxReachMs":2592000000}}"#));
    assert!(server.log.contains("assuming plan pro for every caller"), "{}", server.log);
}

#[test]
fn nonsense_is_refused_at_the_start_with_what_is_allowed() {
    let folder = TempDir::new().unwrap();
    let refusal = |args: &[&str]| -> String {
        let (ok, _, error) = output(folder.path(), args);
        assert!(!ok);
        error
    };
    assert_eq!(
        refusal(&["--listen", "0.0.0.0:0", "--assume-plan", "free"]),
        "error: assume_plan is free while listening on 0.0.0.0:0; it must be none unless on a \
         loopback address (127.0.0.1)\n"
    );
    assert_eq!(refusal(&["--max-cells", "0"]), "error: max_cells is 0; it must be 1 or more\n");
    assert!(refusal(&["--now", "noon"]).contains("it must be sample, live or an RFC 3339"));
    assert!(refusal(&["--date", "x"]).contains("unexpected argument '--date'"));
    assert!(!folder.path().join("mesonet-data").exists(), "nothing was made");
    let refused = refusal(&["--listen", "127.0.0.1:0", "--zones", "zones.kml"]);
    let reason =
        "error: the file of zones zones.kml: its name must end with .shp, .geojson or .json\n";
    assert!(refused.ends_with(reason), "{refused}");
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let refused = refusal(&["--listen", &address]);
    assert!(refused.starts_with(&format!("error: cannot listen on {address}: ")), "{refused}");
}

/// Runs a command that ends by itself. Returns whether it succeeded, its standard output and its
/// standard error.
pub fn output(folder: &Path, args: &[&str]) -> (bool, String, String) {
    let (status, said) = Process::start(&mut command(folder, args), PATIENCE).wait();
    (status.success(), said.out, said.err)
}

pub fn data(name: &str) -> String {
    format!("{}/data/{name}", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn the_record_outlives_the_server_and_only_one_has_it_open() {
    let folder = TempDir::new().unwrap();
    let first = Server::start(&folder, &["--now", "2024-08-03T20:30:00Z"]);
    let (_, body) = first.get(&toronto());
    assert!(body.contains(r#""updateTime":"2024-08-03T20:00:00Z""#), "{body}");
    let (ok, _, refused) = output(folder.path(), &["serve", "--listen", "127.0.0.1:0"]);
    assert!(!ok && refused.contains("mesonet-data"), "{refused}");
    let (ok, _, refused) = output(folder.path(), &["verify"]);
    assert!(!ok && refused.contains("mesonet-data"), "{refused}");
    assert_eq!(first.stop().0, Some(0));

    // The second start goes on with the sample where the first one stopped, at its newest reading.
    let second = Server::start(&folder, &[]);
    let (head, body) = second.get(&toronto());
    assert!(head.contains("\r\nx-mesonet-replay: 2024-08-03T21:1"), "{head}");
    assert!(body.contains(r#""updateTime":"2024-08-03T21:00:00Z""#), "{body}");
    assert_eq!(second.stop().0, Some(0));

    // The third start has nothing to read.
    let third = Server::start(&folder, &[]);
    let (head, again) = third.get(&toronto());
    assert!(head.contains("\r\nx-mesonet-replay: 2024-08-03T21:1"), "{head}");
    assert_eq!(again, body);
    assert!(!third.log.contains("reports"), "{}", third.log);
    assert_eq!(third.stop().0, Some(0));

    let (ok, out, error) = output(folder.path(), &["verify"]);
    assert!(ok && out.ends_with("no fault\n"), "{out}{error}");
}

#[test]
fn files_are_read_into_a_record_that_is_live_from_then_on() {
    let folder = TempDir::new().unwrap();
    let files = data("metar/liveairdata_metars_20240803T1732Z.csv.gz");
    let ingest = |path: &str| output(folder.path(), &["ingest", "--json", path]);
    let of_kind = |out: &str, count: &str| -> u64 {
        let summary: Value = serde_json::from_str(out).unwrap();
        summary["kinds"]["awc-csv"][count].as_u64().unwrap()
    };
    let (ok, out, error) = ingest(&files);
    assert!(ok && error.is_empty(), "{error}");
    assert!(of_kind(&out, "added") > of_kind(&out, "readings") / 2);
    let (ok, again, _) = ingest(&files);
    assert_eq!((ok, of_kind(&again, "added")), (true, 0));
    assert_eq!(of_kind(&again, "reports"), of_kind(&out, "reports"));

    let server = Server::start(&folder, &[]);
    let (head, body) = server.get(&toronto());
    assert!(head.starts_with("HTTP/1.1 200 OK\r\n"), "{head}");
    assert!(!head.contains("x-mesonet-replay"), "{head}");
    assert!(body.contains(r#""updateTime":"2024-08-03T17:"#), "{body}");
    assert_eq!(server.stop().0, Some(0));
    let (ok, _, error) = output(folder.path(), &["--listen", "127.0.0.1:0", "--now", "sample"]);
    assert!(
        !ok && error.contains("now is sample, but the record holds readings other than the sample"),
        "{error}"
    );

    let (ok, out, _) = output(folder.path(), &["ingest", "/nowhere", &files]);
    assert!(!ok && out.contains("\n  /nowhere: cannot be read: "), "{out}");
    assert!(out.starts_with("kind     files  reports  readings"), "{out}");
    let (ok, _, error) = output(folder.path(), &["verify", "--data", "nowhere"]);
    assert!(!ok && error == "error: nowhere is not the folder of a record\n", "{error}");
}

#[test]
fn alerts_are_read_into_a_record_and_resolved_at_the_time_of_the_clock() {
    let folder = TempDir::new().unwrap();
    let files = std::fs::read_dir(data("capcp")).unwrap().map(|file| file.unwrap().path());
    let files = files.map(|file| file.into_os_string().into_string().unwrap());
    let canada: Vec<String> = files.filter(|file| !file.contains("SOURCES")).collect();
    let canada: Vec<&str> = canada.iter().map(String::as_str).collect();
    let united_states = data("nws_alerts/alerts_active_2026-05-14T163524Z.geojson.gz");
    let all = [&["ingest", "--json", &united_states], &canada[..]].concat();
    let (ok, out, error) = output(folder.path(), &all);
    assert!(ok, "{out}{error}");
    let summary: Value = serde_json::from_str(&out).unwrap();
    let of = |kind: &str, count: &str| summary["kinds"][kind][count].as_u64().unwrap();
    assert_eq!((of("cap", "files"), of("cap", "added"), of("cap", "readings")), (9, 9, 0));
    assert_eq!((of("nws-alerts", "reports"), of("nws-alerts", "added")), (246, 246));
    let (ok, out, _) = output(folder.path(), &["ingest", "--feed", "cap", canada[0]]);
    assert!(ok && out.contains("cap "), "{out}");
    let (ok, out, error) = output(folder.path(), &["verify"]);
    assert!(ok && out.contains("255 alerts\n"), "{out}{error}");

    let alerts = |server: &Server, query: &str| -> usize {
        let (head, body) = server.get(&format!("/api/v1/alerts{query}"));
        assert!(head.starts_with("HTTP/1.1 200 OK\r\n"), "{head}");
        serde_json::from_str::<Value>(&body).unwrap()["features"].as_array().unwrap().len()
    };
    let server = Server::start(&folder, &["--now", "2026-05-14T16:35:24Z"]);
    assert_eq!((alerts(&server, ""), alerts(&server, "?active=true")), (255, 245));
    assert_eq!(server.stop().0, Some(0));
    let server = Server::start(&folder, &["--now", "2026-09-01T00:00:00Z"]);
    assert_eq!((alerts(&server, ""), alerts(&server, "?active=true")), (255, 0));
    assert_eq!(server.stop().0, Some(0));
}

#[test]
fn verify_names_a_damaged_record() {
    let folder = TempDir::new().unwrap();
    let files = data("metar/liveairdata_metars_20240803T1732Z.csv.gz");
    assert!(output(folder.path(), &["ingest", &files]).0);
    let database = folder.path().join("mesonet-data/mesonet.sqlite");
    let mut bytes = std::fs::read(&database).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle..middle + 64].fill(0x55);
    std::fs::write(&database, bytes).unwrap();
    let (ok, out, error) = output(folder.path(), &["verify"]);
    assert!(!ok && format!("{out}{error}").contains("mesonet.sqlite"), "{out}{error}");
}

#[test]
fn files_of_a_watched_folder_come_in() {
    let folder = TempDir::new().unwrap();
    std::fs::create_dir(folder.path().join("in")).unwrap();
    let server = Server::start(&folder, &["--now", "live", "--watch", "in"]);
    let name = "liveairdata_metars_20240803T1732Z.csv.gz";
    std::fs::copy(data(&format!("metar/{name}")), folder.path().join("in").join(name)).unwrap();
    let started = Instant::now();
    while !folder.path().join("in/done").join(name).exists() {
        assert!(started.elapsed() < PATIENCE, "the file was not read");
        sleep(Duration::from_millis(100));
    }
    let (head, body) = server.get(&toronto());
    assert!(body.contains(r#""updateTime":"2024-08-03T17:"#), "{head}{body}");
}

#[test]
fn a_fresh_key_pushes_with_its_hash_in_the_settings() {
    let folder = TempDir::new().unwrap();
    let (ok, out, _) = output(folder.path(), &["push-key"]);
    let lines: Vec<&str> = out.lines().collect();
    let [key, hash] = *lines else { panic!("{out}") };
    let key = key.strip_prefix("key, shown once: ").unwrap();
    let hash = hash.strip_prefix("for ingest_key_hashes: ").unwrap();
    assert!(ok);
    let server = Server::start(&folder, &["--now", "live", "--ingest-key-hashes", hash]);
    let body = "METAR CYYZ 032000Z 24012G20KT 15SM FEW060 29/17 A2991=\n";
    let mut stream = TcpStream::connect(&server.address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    write!(
        stream,
        "POST /api/v1/ingest?name=20240803.txt HTTP/1.1\r\nhost: test\r\nconnection: close\r\n\
         authorization: Bearer {key}\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
    assert!(server.get(&toronto()).1.contains(r#""updateTime":"2024-08-03T20:00:00Z""#));
}

#[test]
fn the_sample_has_a_raster_product_which_is_made_once() {
    let folder = TempDir::new().unwrap();
    let path = "/api/v1/products/reflectivity/exists?timestamp=2023-04-06T12:00:39Z";
    let server = Server::start(&folder, &[]);
    assert!(server.get(path).1.ends_with(r#"{"exists":true}"#));
    assert_eq!(server.stop().0, Some(0));
    let file = "mesonet-data/products/reflectivity/instant/20230406T120039Z.tif";
    let written = || std::fs::metadata(folder.path().join(file)).unwrap().modified().unwrap();
    let first = written();
    let server = Server::start(&folder, &[]);
    assert!(server.get(path).1.ends_with(r#"{"exists":true}"#));
    assert_eq!(server.stop().0, Some(0));
    assert_eq!(written(), first);
}

#[test]
fn a_product_is_made_while_a_server_runs() {
    let folder = TempDir::new().unwrap();
    let own = "[pressure]\ntitle = \"Pressure\"\nunit = \"Pa\"\nscale = 1\noffset = 100000\n\
               fields = [{ parameter = \"7:0.3.1\" }]\n";
    std::fs::write(folder.path().join("own.toml"), own).unwrap();
    let server = Server::start(&folder, &["--now", "live", "--products", "own.toml"]);
    let path = "/api/v1/products/pressure/exists";
    assert!(server.get(path).1.ends_with(r#"{"exists":false}"#));

    let field = data("grib/nam211_20180917T00Z_f000.grib2.gz");
    let ingest = |more: &[&str]| {
        output(folder.path(), &[&["ingest", "--products", "own.toml", &*field], more].concat())
    };
    let (ok, out, error) = ingest(&["--product", "pressure"]);
    assert!(ok && error.is_empty(), "{out}{error}");
    assert!(
        out.starts_with(
            "raster products written: 1\n  pressure (instant) of 2018-09-17T00:00:00Z: 93 × 65, "
        ),
        "{out}"
    );
    assert!(out.ends_with("fields that belong to no product: 6\n"), "{out}");
    assert!(server.get(path).1.ends_with(r#"{"exists":true}"#));

    let (ok, _, error) = ingest(&["--product", "snow"]);
    assert!(!ok && error.starts_with("error: unknown product \"snow\"; known are "), "{error}");
    let (ok, out, _) = output(
        folder.path(),
        &["ingest", "--product", "reflectivity", &data("metar/ktpa_weather-reports_0.1.5.txt.gz")],
    );
    assert!(!ok && out.contains("none of its fields belongs to the product reflectivity"), "{out}");
    // Without a product a file may be of any kind. So the command opens the record, which is in
    // use.
    let (ok, _, error) = ingest(&[]);
    assert!(!ok && error.contains("mesonet-data"), "{error}");
    assert_eq!(server.stop().0, Some(0));
    // A file that is already there, identical byte for byte, stays.
    let (ok, out, _) = ingest(&[]);
    assert!(ok && out.starts_with("raster products unchanged: 1\n"), "{out}");
}
