//! Callers over real sockets that send or read slowly or not at all, and many that ask for much,
//! do not hold up others.

use std::io::{Read, Write};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use mesonet::StationId;
use tempfile::TempDir;

use crate::connections::{POLITE, SMALL, bare_string, connect, get, read_to_end};
use crate::process::Server;

/// A grid of every minute of 12 hours at all stations: many megabytes, coarsened or not.
const BIG: &str = "GET /api/v1/stations/readings?step=1 HTTP/1.1\r\nhost: a\r\n\r\n";

#[test]
fn a_body_that_comes_too_slowly_is_a_408() {
    let folder = TempDir::new().unwrap();
    let server = Server::start(&folder, &["--now", "live"]);
    let mut slow = connect(server.address(), 2).unwrap();
    let head = "POST /api/v1/stations/readings HTTP/1.1\r\nhost: a\r\ncontent-type: \
                application/json\r\ncontent-length: 100\r\n\r\n{";
    slow.write_all(head.as_bytes()).unwrap();
    let told = String::from_utf8(read_to_end(&mut slow)).unwrap();
    bare_string(
        &told,
        "408",
        "the body arrived too slowly: 1 bytes in 20 s; it must arrive at 4096",
    );
}

#[test]
fn an_answer_that_is_not_read_is_broken_off_and_one_that_is_read_slowly_is_complete() {
    let folder = TempDir::new().unwrap();
    let server = Server::start(&folder, &["--min-bytes-per-s", "65536"]);
    let mut stuck = connect(server.address(), 2).unwrap();
    stuck.write_all(BIG.as_bytes()).unwrap();
    let mut slow = connect(server.address(), 3).unwrap();
    slow.write_all(BIG.replace("host: a", "host: a\r\nconnection: close").as_bytes()).unwrap();
    let (started, mut taken, mut piece) = (Instant::now(), Vec::new(), vec![0; 65_536]);
    loop {
        let count = slow.read(&mut piece).unwrap();
        if count == 0 {
            break;
        }
        taken.extend_from_slice(&piece[..count]);
        // A megabyte a second until the other connection is closed, then the rest at once.
        if started.elapsed() < Duration::from_secs(25) {
            thread::sleep(Duration::from_millis(60));
        }
    }
    assert!(taken.ends_with(b"\r\n0\r\n\r\n"), "the last piece is missing");
    let got = read_to_end(&mut stuck);
    assert!(got.starts_with(b"HTTP/1.1 200 OK"));
    assert!(!got.ends_with(b"\r\n0\r\n\r\n"), "it looks complete");
    assert!(got.len() < taken.len());
}

#[test]
fn two_hundred_clients_that_do_not_read_and_reconnect_keep_nobody_waiting() {
    let folder = TempDir::new().unwrap();
    let server = Server::start(&folder, &[]);
    let address = server.address();
    let (is_over, asked) = (AtomicBool::new(false), AtomicUsize::new(0));
    let mut times_ms = Vec::new();
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let mut held = Vec::new();
                while !is_over.load(Ordering::Relaxed) {
                    let Ok(mut stream) = connect(address, 2) else { continue };
                    if stream.write_all(BIG.as_bytes()).is_ok() {
                        held.push(stream);
                        asked.fetch_add(1, Ordering::Relaxed);
                    }
                    if held.len() == 50 {
                        // All callers keep their connections for a while. Then the first ones
                        // reconnect.
                        thread::sleep(Duration::from_millis(200));
                        held.drain(..10);
                    }
                }
            });
        }
        let answered = std::panic::catch_unwind(|| {
            while asked.load(Ordering::Relaxed) < 200 {
                thread::sleep(Duration::from_millis(10));
            }
            let timed = (0..200).map(|_| {
                let started = Instant::now();
                get(address, SMALL);
                started.elapsed().as_millis()
            });
            timed.collect::<Vec<_>>()
        });
        is_over.store(true, Ordering::Relaxed);
        times_ms = answered.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    });
    times_ms.sort_unstable();
    println!(
        "200 small answers beside {} big ones: median {} ms, p99 {} ms, longest {} ms",
        asked.into_inner(),
        times_ms[100],
        times_ms[198],
        times_ms[199]
    );
}

/// A request of a caller from 127.0.0.x, which must be a 200, and how long it took.
fn timed(server: SocketAddr, from: u8, request: &str) -> Duration {
    let started = Instant::now();
    let mut stream = connect(server, from).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let answer = read_to_end(&mut stream);
    assert!(answer.starts_with(b"HTTP/1.1 200 OK\r\n"), "{}", String::from_utf8_lossy(&answer));
    started.elapsed()
}

#[test]
fn large_answers_for_many_addresses_do_not_hold_up_small_ones() {
    let folder = TempDir::new().unwrap();
    let server = Server::start(&folder, &["--assume-plan", "commercial"]);
    let address = server.address();
    let station = StationId::new("METAR", "CYYZ");
    let end = "HTTP/1.1\r\nhost: a\r\nconnection: close\r\n";
    let grid = format!("GET /api/v1/stations/readings?step=1 {end}\r\n");
    let body = format!("{{\"stationId\":\"{station}\"}}");
    let window = "start=2024-01-01T00:00:00Z&end=2025-01-01T00:00:00Z";
    let bulk = format!(
        "POST /api/v1/historical/bulk?{window} {end}content-type: application/json\r\n\
         content-length: {}\r\n\r\n{body}",
        body.len()
    );
    let model =
        "/models/nam211/series?run=20180917T000000Z&row=10&col=10&fields=pressure_msl,wind_gust";
    let model = format!("GET {model} {end}\r\n");
    let small = [format!("/api/v1/stations/{station}"), SMALL.to_owned(), "/healthz".to_owned()];
    let small = small.map(|path| format!("GET {path} {end}\r\n"));
    // More callers than there are turns for large answers, so they wait in line.
    let large = [&grid, &grid, &bulk, &model];
    let (is_over, grids_done) = (AtomicBool::new(false), AtomicUsize::new(0));
    let mut overtaken = Vec::new();
    thread::scope(|scope| {
        for (from, request) in (2..5).flat_map(|from| large.map(|request| (from, request))) {
            let (is_over, grids_done, grid) = (&is_over, &grids_done, &grid);
            scope.spawn(move || {
                while !is_over.load(Ordering::Relaxed) {
                    timed(address, from, request);
                    grids_done.fetch_add(usize::from(request == grid), Ordering::Relaxed);
                }
            });
        }
        let asked = std::panic::catch_unwind(|| {
            thread::sleep(Duration::from_secs(2));
            let mut overtaken = Vec::new();
            // Until the line of grids has moved on.
            while overtaken.len() < 60 || grids_done.load(Ordering::Relaxed) < 6 {
                for request in &small {
                    let before = grids_done.load(Ordering::Relaxed);
                    let took = timed(address, POLITE, request);
                    overtaken.push((grids_done.load(Ordering::Relaxed) - before, took));
                }
                thread::sleep(Duration::from_millis(100));
            }
            overtaken
        });
        is_over.store(true, Ordering::Relaxed);
        overtaken = asked.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    });
    overtaken.sort_unstable();
    println!("grids that were answered during a small answer, and its time: {overtaken:?}");
    // Six callers ask for grids. A small answer that waited in line would see them all answered.
    assert!(overtaken[overtaken.len() / 2].0 <= 1, "{overtaken:?}");
}
