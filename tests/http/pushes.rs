//! Many pushes at once, and slow ones, over real sockets.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use mesonet_service::ingest::KeyHash;
use tempfile::TempDir;

use crate::bombs::{field, gz};
use crate::process::Server;

const KEY: &str = "mesonet_push_of_a_test";

/// Longer than any of these takes, and shorter than the time after which a slow push is closed. It
/// is a deadline, not a measurement.
const PATIENCE: Duration = Duration::from_secs(45);

const BULLETIN: &[u8] =
    b"SACN43 CWAO 032000\nMETAR CYYZ 032000Z 24012G20KT 15SM FEW060 29/17 A2991=\n";

/// Starts a live server that accepts pushes, with an empty record.
fn server(folder: &TempDir) -> Server {
    let hash = KeyHash::of(KEY);
    Server::start(
        folder,
        &["--now", "live", "--max-ingest-bytes", "400000", "--ingest-key-hashes", hash.as_str()],
    )
}

/// Begins a push with a body of a given length. The test then sends the body.
fn begin(server: &Server, name: &str, length: usize) -> TcpStream {
    let mut stream = TcpStream::connect(server.address()).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    write!(
        stream,
        "POST /api/v1/ingest?name={name} HTTP/1.1\r\nhost: test\r\nconnection: close\r\n\
         authorization: Bearer {KEY}\r\ncontent-length: {length}\r\n\r\n"
    )
    .unwrap();
    stream
}

fn answer(mut stream: TcpStream) -> String {
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

fn push(server: &Server, name: &str, body: &[u8]) -> String {
    let mut stream = begin(server, name, body.len());
    stream.write_all(body).unwrap();
    answer(stream)
}

#[test]
fn with_more_than_500_slow_pushes_open_another_push_and_other_requests_are_answered() {
    let folder = TempDir::new().unwrap();
    let server = server(&folder);
    // Some of them have sent more than the server keeps in memory.
    let slow: Vec<TcpStream> = (0..520)
        .map(|number| {
            let sent = if number % 25 == 0 { 100_000 } else { 10 };
            let mut stream = begin(&server, "slow.txt", 200_000);
            stream.write_all(&vec![b'\n'; sent]).unwrap();
            stream
        })
        .collect();
    for _ in 0..3 {
        let answer = push(&server, "sa_20240803.txt", BULLETIN);
        assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
        let large = [BULLETIN, &vec![b'\n'; 150_000]].concat();
        let answer = push(&server, "sa_20240803.txt", &large);
        assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
        let (head, _) = server.get("/api/v1/stations/map/markers");
        assert!(head.starts_with("HTTP/1.1 200 OK\r\n"), "{head}");
        // The alerts are processed off the threads that serve connections.
        let (head, _) = server.get("/api/v1/products/reflectivity/exists");
        assert!(head.starts_with("HTTP/1.1 "), "{head}");
    }
    drop(slow);
}

#[test]
fn small_pushes_do_not_wait_for_those_that_cost_much() {
    let folder = TempDir::new().unwrap();
    let server = server(&folder);
    // Thirty fields of 67 million cells each, in 5 kB.
    let constants = field((0, 0), b"").repeat(30);
    // The file costs as much as its length allows: empty lines, millions in a hundred kB.
    let lines = [gz(BULLETIN), gz(&vec![b'\n'; 1 << 20]).repeat(100)].concat();
    assert!(lines.len() > 70_000 && lines.len() < 200_000, "{}", lines.len());
    let mut costly = Vec::new();
    for (name, body) in [("constants.grib2", &constants), ("sa.txt", &lines), ("sa.txt", &lines)] {
        let mut stream = begin(&server, name, body.len());
        stream.write_all(body).unwrap();
        costly.push(stream);
    }
    for _ in 0..10 {
        let answer = push(&server, "sa_20240803.txt", BULLETIN);
        assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
    }
    let constants = answer(costly.remove(0));
    assert!(constants.starts_with("HTTP/1.1 200 OK\r\n"), "{constants}");
    // All of them are the same field.
    assert!(constants.contains(r#""written":{"count":1,"#), "{constants}");
    assert!(constants.contains(r#""unchanged":29,"#), "{constants}");
    for costly in costly {
        let answer = answer(costly);
        // The report before the empty lines is stored.
        assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
        assert!(answer.contains(r#"{"whole":false,"#), "{answer}");
        assert!(answer.contains("bytes once unpacked, the limit"), "{answer}");
    }
}

#[test]
fn each_push_and_each_refused_file_is_in_the_log() {
    let folder = TempDir::new().unwrap();
    let server = server(&folder);
    push(&server, "sa_20240803.txt", BULLETIN);
    push(&server, "sa_20240803.txt", BULLETIN);
    push(&server, "letter.txt", b"Dear reader");
    push(&server, "long.txt", &vec![b'x'; 400_001]);
    let (status, log) = server.stop();
    assert_eq!(status, Some(0));
    for line in [
        "push of sa_20240803.txt: metar-bulletin: reports 1, readings 12, added 17, replaced 0, \
         unchanged 0",
        "push of sa_20240803.txt: metar-bulletin: reports 1, readings 12, added 0, replaced 0, \
         unchanged 17",
        "push of letter.txt refused: letter.txt: unknown kind of file",
        "push of long.txt refused: the body must be at most 400000 bytes long",
    ] {
        let said =
            log.lines().filter(|said| said.contains(line) && said.contains(" INFO ")).count();
        assert_eq!(said, 1, "{line}: {log}");
    }
}

#[test]
fn what_a_killed_process_left_unfinished_is_gone_once_a_server_has_started() {
    let folder = TempDir::new().unwrap();
    drop(server(&folder));
    let of_product = folder.path().join("mesonet-data/products/rain/24h");
    let of_model = folder.path().join("mesonet-data/models/nam211");
    let unfinished_run = of_model.join(".20100101T000000Z.new");
    std::fs::create_dir_all(&of_product).unwrap();
    std::fs::create_dir_all(&unfinished_run).unwrap();
    let unfinished_file = of_product.join(".mesonet-abcdefGHIJ01.tmp");
    let own = [of_product.join("notes.tmp"), of_model.join("notes.new")];
    for file in own.iter().chain([&unfinished_file]) {
        std::fs::write(file, "x").unwrap();
    }
    drop(server(&folder));
    let left = || unfinished_file.exists() || unfinished_run.exists();
    assert!(!left());
    assert!(own.iter().all(|file| file.exists()));
}
