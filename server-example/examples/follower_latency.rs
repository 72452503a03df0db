//! How long a server, a follower of it and a server over ClickHouse take for the same requests, side by
//! side.
//!
//! `cargo build --release -p mesonet-server && cargo run --release -p mesonet-server --example
//! follower_latency -- [COUNT [DIR]]` starts a server over the bundled sample (or over the record in
//! DIR), backs it up, starts a follower, and asks each in turn COUNT times (200) for a snapshot of all
//! stations, a grid of readings, a series and a bulk export. It prints the median and the 99th percentile
//! of each, and how long a backup and the first fetch took. Each server is alone while it answers.
//!
//! Built with the feature `clickhouse` and run by `tests/cluster` (or `tests/cluster --replicated`), it
//! also copies the record there, and asks a third server, over the copy.

use std::error::Error;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use mesonet::Iso8601;
use mesonet::StationId;
use mesonet::store::EmbeddedReader;
use mesonet::time::DAY_MS;

const COUNT: usize = 200;

/// How long a server may take to start, and to answer.
const PATIENCE: Duration = Duration::from_secs(300);

fn main() -> Result<(), Box<dyn Error>> {
    let given: Vec<String> = std::env::args().skip(1).collect();
    let count = given.first().map_or(Ok(COUNT), |text| text.parse())?;
    let folder = tempfile::tempdir()?;
    let data = given.get(1).map_or_else(|| folder.path().join("writer"), PathBuf::from);
    let [place, follower] = ["backups", "follower"].map(|name| folder.path().join(name));

    // Answers of one moment: the sample's last minutes. A record of one's own is live.
    let now = if given.len() < 2 { "2024-08-03T21:15:00Z" } else { "live" };
    let clickhouse =
        cluster().map(|store| copied(&data, &store, folder.path(), now)).transpose()?;
    let writer = Server::start(&data, now, &[])?;
    let began = Instant::now();
    run(["backup", "--data"], &[&data, Path::new("--to"), &place])?;
    let backed_up = began.elapsed();
    let began = Instant::now();
    let follower = Server::start(&follower, now, &[Path::new("--follow"), &place])?;
    let fetched = began.elapsed();

    let health = EmbeddedReader::open(&data)?.health();
    let newest_ms = health.newest_ms.ok_or("the record is empty")?;
    println!(
        "{} readings; a backup took {:.2} s, the start of the follower with it {:.2} s; ms, {count} \
         requests each",
        health.sealed_readings + health.fresh_readings,
        backed_up.as_secs_f64(),
        fetched.as_secs_f64()
    );
    let mut servers = vec![("server", &writer), ("follower", &follower)];
    servers.extend(clickhouse.as_ref().map(|server| ("ClickHouse", server)));
    print!("{:<10}", "p50/p99");
    for (name, _) in &servers {
        print!(" {name:>18} {:>9}", "bytes");
    }
    println!();
    for (name, request) in requests(newest_ms) {
        print!("{name:<10}");
        for (_, server) in &servers {
            // All clocks run, and what is shown of ages may change from one to the next.
            let (bytes, took) = measure(server, &request, count)?;
            print!(" {took:>18} {bytes:>9}");
        }
        println!();
    }
    Ok(())
}

/// The place of a database of its own, beside a ClickHouse that `tests/cluster` has started.
fn cluster() -> Option<String> {
    let database = format!("latency_{}", std::process::id());
    let url = std::env::var("MESONET_TEST_CLICKHOUSE").ok()?;
    let nodes = std::env::var("MESONET_TEST_CLICKHOUSE_NODES").unwrap_or_default();
    let nodes: Vec<&str> =
        nodes.split_whitespace().map(|node| node.trim_start_matches("http://")).collect();
    Some(match nodes.as_slice() {
        [] => format!("clickhouse:{url}/{database}"),
        nodes => format!("clickhouse:http://{}/{database}/test", nodes.join(",")),
    })
}

/// A server over a copy of a record in ClickHouse.
fn copied(data: &Path, store: &str, folder: &Path, now: &str) -> Result<Server, Box<dyn Error>> {
    // The first start reads the sample in, and a record that a server has open is not copied.
    drop(Server::start(data, now, &[])?);
    let from = format!("embedded:{}", data.display());
    run(["copy", "--from"], &[Path::new(&from), Path::new("--to"), Path::new(store)])?;
    let args = [Path::new("--store"), Path::new(store)];
    Server::start(&folder.join("clickhouse"), now, &args)
}

/// Runs a command of the server.
fn run(begin: [&str; 2], rest: &[&Path]) -> Result<(), Box<dyn Error>> {
    let mut command = Command::new(binary()?);
    let done = command.args(begin).args(rest).stdout(Stdio::null()).status()?;
    if done.success() { Ok(()) } else { Err(format!("{} failed", begin[0]).into()) }
}

/// The requests: their names, and head and body.
fn requests(newest_ms: i64) -> Vec<(&'static str, String)> {
    let (start, end) = (Iso8601(newest_ms - DAY_MS), Iso8601(newest_ms));
    let day = format!("start={start}&end={end}");
    let toronto = StationId::new("METAR", "CYYZ");
    let get = |path: &str| format!("GET {path} HTTP/1.1\r\nhost: test\r\n\r\n");
    let post = |path: &str, body: &str| {
        let length = body.len();
        let json = "content-type: application/json";
        format!(
            "POST {path} HTTP/1.1\r\nhost: test\r\n{json}\r\ncontent-length: {length}\r\n\r\n{body}"
        )
    };
    let area = "minLat=40&minLon=-90&maxLat=50&maxLon=-70";
    vec![
        ("snapshot", get("/api/v1/stations/map/details")),
        (
            "grid",
            get(&format!("/api/v1/stations/readings?names=airTemperature&{area}&{day}&step=60")),
        ),
        (
            "series",
            post(
                &format!("/api/v1/observations/series?{day}"),
                &format!(r#"{{"stationId":"{toronto}","name":"airTemperature"}}"#),
            ),
        ),
        (
            "bulk",
            post(
                &format!("/api/v1/historical/bulk?{day}"),
                &format!(r#"{{"stationId":"{toronto}"}}"#),
            ),
        ),
    ]
}

/// Sends a request so many times, and returns the length of the body and the percentiles.
fn measure(
    server: &Server,
    request: &str,
    count: usize,
) -> Result<(usize, String), Box<dyn Error>> {
    let mut stream = TcpStream::connect(server.address)?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    let mut took_ms = Vec::with_capacity(count);
    let mut length = 0;
    // The first one brings what is needed into memory.
    for _ in 0..=count {
        let began = Instant::now();
        stream.write_all(request.as_bytes())?;
        length = read_body(&mut stream)?;
        took_ms.push(began.elapsed().as_secs_f64() * 1e3);
    }
    took_ms.remove(0);
    took_ms.sort_by(f64::total_cmp);
    let at = |part: f64| took_ms[((took_ms.len() - 1) as f64 * part) as usize];
    Ok((length, format!("{:.3}/{:.3}", at(0.5), at(0.99))))
}

/// Reads an answer, with a length or in chunks, and returns the bytes of its body as sent.
fn read_body(stream: &mut TcpStream) -> Result<usize, Box<dyn Error>> {
    let (mut answer, mut buffer) = (Vec::new(), vec![0; 1 << 16]);
    let end = loop {
        if let Some(end) = answer.windows(4).position(|bytes| bytes == b"\r\n\r\n") {
            break end + 4;
        }
        read_some(stream, &mut buffer, &mut answer)?;
    };
    let head = String::from_utf8_lossy(&answer[..end]).to_ascii_lowercase();
    if !head.starts_with("http/1.1 200") {
        return Err(head.into());
    }
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
    let length: Option<usize> = length.map(str::parse).transpose()?;
    while match length {
        Some(length) => answer.len() < end + length,
        None => !answer.ends_with(b"\r\n0\r\n\r\n"),
    } {
        read_some(stream, &mut buffer, &mut answer)?;
    }
    Ok(answer.len() - end)
}

fn read_some(
    stream: &mut TcpStream,
    buffer: &mut [u8],
    answer: &mut Vec<u8>,
) -> Result<(), Box<dyn Error>> {
    match stream.read(buffer)? {
        0 => Err("the server has closed the connection".into()),
        read => {
            answer.extend_from_slice(&buffer[..read]);
            Ok(())
        }
    }
}

/// A server in a process of its own, which ends with this.
struct Server {
    process: Child,
    address: SocketAddr,
}

impl Server {
    fn start(data: &Path, now: &str, args: &[&Path]) -> Result<Self, Box<dyn Error>> {
        let address = std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?;
        let listen = address.to_string();
        let own = ["--listen", &listen, "--rate-requests", "0", "--assume-plan", "commercial"];
        let mut command = Command::new(binary()?);
        command.args(own).args(["--now", now]);
        command.arg("--data").arg(data).args(args).stderr(Stdio::null());
        let server = Self { process: command.spawn()?, address };
        let began = Instant::now();
        let mut stream = loop {
            match TcpStream::connect(address) {
                Ok(stream) => break stream,
                Err(_) if began.elapsed() < PATIENCE => {
                    std::thread::sleep(Duration::from_millis(5));
                }
                Err(error) => return Err(error.into()),
            }
        };
        // It listens before its record is open, and answers after that.
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.write_all(b"GET /healthz HTTP/1.1\r\nhost: test\r\n\r\n")?;
        read_body(&mut stream)?;
        Ok(server)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The server that was built beside the example.
fn binary() -> Result<PathBuf, Box<dyn Error>> {
    let example = std::env::current_exe()?;
    let folder = example.parent().and_then(Path::parent).ok_or("no folder of builds")?;
    let binary = folder.join(format!("mesonet-server{}", std::env::consts::EXE_SUFFIX));
    if !binary.is_file() {
        return Err(format!("{} is not there: build it first", binary.display()).into());
    }
    Ok(binary)
}
