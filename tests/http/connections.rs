//! Connections over real sockets: silent or many callers do not keep others from being served.
//!
//! The server distinguishes callers by address. All of 127.0.0.0/8 is this machine.

use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use socket2::{Domain, Socket, Type};
use tempfile::TempDir;

use crate::process::{PATIENCE, Server, binary, data, output};

/// The caller that no other may disturb.
pub const POLITE: u8 = 1;

/// A small answer that is computed for the caller.
pub const SMALL: &str = "/api/v1/stations/readings?minLat=43&minLon=-80&maxLat=44&maxLon=-79";

/// A connection from 127.0.0.x.
pub fn connect(server: SocketAddr, from: u8) -> std::io::Result<TcpStream> {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None)?;
    socket.bind(&SocketAddr::from((Ipv4Addr::new(127, 0, 0, from), 0)).into())?;
    socket.connect(&server.into())?;
    let stream = TcpStream::from(socket);
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    Ok(stream)
}

/// Reads everything until the end. A connection that is reset has also ended.
pub fn read_to_end(stream: &mut TcpStream) -> Vec<u8> {
    let (mut bytes, mut piece) = (Vec::new(), vec![0; 65_536]);
    loop {
        match stream.read(&mut piece) {
            Ok(0) => return bytes,
            Ok(count) => bytes.extend_from_slice(&piece[..count]),
            Err(error) if error.kind() == ErrorKind::ConnectionReset => return bytes,
            Err(error) => panic!("it did not end: {error}"),
        }
    }
}

/// Returns what the server answers to some bytes before it closes the connection.
fn answer_to(server: SocketAddr, request: &str) -> String {
    let mut stream = connect(server, POLITE).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    String::from_utf8(read_to_end(&mut stream)).unwrap()
}

/// A GET by the polite caller, which must be a 200.
pub fn get(server: SocketAddr, path: &str) {
    let answer =
        answer_to(server, &format!("GET {path} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n"));
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{path}: {answer}");
}

pub fn bare_string(answer: &str, status: &str, text: &str) {
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let head = head.to_ascii_lowercase();
    assert!(head.starts_with(&format!("http/1.1 {status}")), "{answer}");
    assert!(head.contains("\r\ncontent-type: application/json"), "{answer}");
    assert!(head.contains("\r\nx-content-type-options: nosniff"), "{answer}");
    assert!(head.contains("\r\nconnection: close"), "{answer}");
    let body: String = serde_json::from_str(body).unwrap();
    assert!(body.contains(text), "{answer}");
}

/// Starts a server that may open only this many files.
fn with_files(folder: &TempDir, files: u32, args: &[&str]) -> Server {
    let mut command = Command::new("sh");
    command.arg("-c").arg(format!("ulimit -n {files}; exec \"$0\" \"$@\"")).arg(binary());
    command
        .args(["--listen", "127.0.0.1:0", "--rate-requests", "0"])
        .args(args)
        .env_clear()
        .current_dir(folder.path());
    command.stdin(Stdio::null()).stderr(Stdio::piped());
    Server::spawn(command)
}

#[test]
fn silent_connections_up_to_the_file_limit_lock_nobody_out() {
    let folder = TempDir::new().unwrap();
    let server = with_files(&folder, 256, &["--now", "live"]);
    let mut silent = Vec::new();
    for round in 0..5 {
        for _ in 0..20 {
            // 300 connections from three addresses: more than the server may have open files.
            silent.extend((2..5).filter_map(|from| connect(server.address(), from).ok()));
        }
        for _ in 0..4 {
            get(server.address(), "/api/v1/observations/units");
        }
        assert!(silent.len() >= 50 * (round + 1), "{}", silent.len());
    }
    drop(silent);
    get(server.address(), SMALL);
    assert_eq!(server.stop().0, Some(0));
}

#[test]
fn a_kept_connection_outlives_a_flood_of_others_that_ask_for_nothing() {
    let folder = TempDir::new().unwrap();
    let args = ["--now", "live", "--max-connections", "32", "--max-address-connections", "32"];
    let server = Server::start(&folder, &args);
    let mut kept = connect(server.address(), POLITE).unwrap();
    let mut silent = Vec::new();
    for _ in 0..4 {
        silent.extend((0..40).filter_map(|_| connect(server.address(), 2).ok()));
        kept.write_all(b"GET /api/v1/observations/units HTTP/1.1\r\nhost: a\r\n\r\n").unwrap();
        let mut start = [0; 15];
        kept.read_exact(&mut start).unwrap();
        assert_eq!(&start, b"HTTP/1.1 200 OK");
        // The rest of the answer, which ends with a brace.
        let mut byte = [0];
        while byte != *b"}" {
            kept.read_exact(&mut byte).unwrap();
        }
        // All connections are in use, and a new one is still accepted.
        get(server.address(), SMALL);
    }
}

/// A connection with an unfinished request: the server waits for its body, which never comes.
fn without_body(address: SocketAddr, from: u8) -> TcpStream {
    let mut stream = connect(address, from).unwrap();
    let head = "POST /api/v1/stations/readings HTTP/1.1\r\nhost: a\r\ncontent-type: \
                application/json\r\nexpect: 100-continue\r\ncontent-length: 100\r\n\r\n";
    stream.write_all(head.as_bytes()).unwrap();
    stream.read_exact(&mut [0; 25]).unwrap();
    stream
}

#[test]
fn if_all_are_busy_a_caller_with_many_loses_one_to_a_newcomer() {
    let folder = TempDir::new().unwrap();
    let args = ["--now", "live", "--max-connections", "8", "--max-address-connections", "8"];
    let server = Server::start(&folder, &args);
    let mut modest = without_body(server.address(), 3);
    let mut greedy: Vec<_> = (0..7).map(|_| without_body(server.address(), 2)).collect();
    get(server.address(), SMALL);
    // The connection that has kept the server waiting longest.
    assert_eq!(greedy[0].read(&mut [0]).unwrap_err().kind(), ErrorKind::ConnectionReset);
    modest.write_all(&[b' '; 100]).unwrap();
    let mut start = [0; 12];
    modest.read_exact(&mut start).unwrap();
    assert_eq!(&start, b"HTTP/1.1 400");
    greedy.clear();
}

#[test]
fn if_all_are_busy_and_nobody_has_many_a_newcomer_is_told_to_come_later() {
    let folder = TempDir::new().unwrap();
    let args = ["--now", "live", "--max-connections", "4", "--max-address-connections", "4"];
    let server = Server::start(&folder, &args);
    let busy: Vec<_> = (2..6).map(|from| without_body(server.address(), from)).collect();
    let mut stranger = connect(server.address(), POLITE).unwrap();
    let told = String::from_utf8(read_to_end(&mut stranger)).unwrap();
    bare_string(&told, "503", "too many connections are open; try again later");
    drop(busy);
    let started = Instant::now();
    loop {
        let mut stream = connect(server.address(), POLITE).unwrap();
        let request = b"GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n";
        if stream.write_all(request).is_ok() && read_to_end(&mut stream).starts_with(b"HTTP/1.1 2")
        {
            break;
        }
        assert!(started.elapsed() < PATIENCE);
    }
}

#[test]
fn an_unfinished_head_and_an_idle_connection_are_closed() {
    let folder = TempDir::new().unwrap();
    let server = Server::start(
        &folder,
        &["--now", "live", "--head-timeout-s", "1", "--idle-timeout-s", "2"],
    );
    assert_eq!(read_to_end(&mut connect(server.address(), 2).unwrap()), b"");
    let mut drop_by_drop = connect(server.address(), 2).unwrap();
    let started = Instant::now();
    for byte in b"GET / HTTP/1.1\r\nhost: a\r\nx: ".iter().chain(std::iter::repeat(&b'y')) {
        assert!(started.elapsed() < PATIENCE, "headers may take forever");
        if drop_by_drop.write_all(&[*byte]).is_err() {
            break;
        }
        thread::sleep(Duration::from_millis(50));
    }
    let kept = "GET /api/v1/observations/units HTTP/1.1\r\nhost: a\r\n\r\n";
    assert!(answer_to(server.address(), kept).starts_with("HTTP/1.1 200 OK"));
}

#[test]
fn two_hosts_no_host_or_a_malformed_one_are_a_400_and_the_end() {
    let folder = TempDir::new().unwrap();
    let server = Server::start(&folder, &["--now", "live"]);
    let ask = |version: &str, hosts: &str| {
        answer_to(server.address(), &format!("GET / HTTP/{version}\r\n{hosts}\r\n"))
    };
    let needed = "a request must have one Host header, host or host:port; got ";
    for (hosts, got) in [
        ("", "none"),
        ("host: a\r\nhost: a\r\n", "2 of them"),
        ("host: a b\r\n", "\"a b\""),
        ("host: a@b\r\n", "\"a@b\""),
        ("host: a:b\r\n", "\"a:b\""),
    ] {
        bare_string(&ask("1.1", hosts), "400", &format!("{needed}{got}"));
    }
    assert!(ask("1.0", "").starts_with("HTTP/1.0 200 OK"));
    assert!(ask("1.1", "host: example.org:8080\r\nconnection: close\r\n").contains("200 OK"));
}

#[test]
fn a_head_that_gives_a_304_has_no_length_on_the_wire() {
    let folder = TempDir::new().unwrap();
    let server = Server::start(&folder, &["--now", "live"]);
    let ask = |method: &str| {
        let head = "host: a\r\nif-none-match: *\r\nconnection: close\r\n\r\n";
        let request = format!("{method} /api/v1/observations/units HTTP/1.1\r\n{head}");
        answer_to(server.address(), &request)
    };
    for method in ["HEAD", "GET"] {
        let answer = ask(method);
        assert!(answer.starts_with("HTTP/1.1 304 Not Modified\r\n"), "{answer}");
        assert!(answer.ends_with("\r\n\r\n") && !answer.contains("content-length"), "{answer}");
        assert!(!answer.contains("transfer-encoding"), "{answer}");
    }
}

#[test]
fn a_server_told_to_stop_finishes_what_it_can_and_ends_while_files_are_pushed() {
    let folder = TempDir::new().unwrap();
    std::fs::create_dir(folder.path().join("in")).unwrap();
    let (_, key, _) = output(folder.path(), &["push-key"]);
    let [key, hash] =
        [0, 1].map(|line| key.lines().nth(line).unwrap().split(": ").nth(1).unwrap().to_owned());
    let args = ["--now", "live", "--ingest-key-hashes", &hash, "--watch", "in"];
    let server = Server::start(&folder, &args);
    let file = std::fs::read(data("metar/liveairdata_metars_20240803T1732Z.csv.gz")).unwrap();
    let push = |stream: &mut TcpStream, length: usize, sent: &[u8]| {
        let head = format!(
            "POST /api/v1/ingest?name=20240803.csv.gz HTTP/1.1\r\nhost: a\r\nauthorization: \
             Bearer {key}\r\ncontent-length: {length}\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).unwrap();
        stream.write_all(sent).unwrap();
    };
    let mut acknowledged = connect(server.address(), POLITE).unwrap();
    push(&mut acknowledged, file.len(), &file);
    acknowledged.read_exact(&mut [0; 15]).unwrap();

    // An answer that stalls, one that is being read, and a file that is about to be read.
    let mut half = connect(server.address(), 2).unwrap();
    push(&mut half, file.len(), &file[..file.len() / 2]);
    let mut whole = connect(server.address(), 2).unwrap();
    push(&mut whole, file.len(), &file);
    std::fs::write(folder.path().join("in/20240803.csv.gz"), &file).unwrap();
    thread::sleep(Duration::from_millis(300));

    let told = Instant::now();
    let (code, log) = server.stop();
    assert_eq!(code, Some(0), "{log}");
    assert!(log.contains("unfinished answers were cut off"), "{log}");
    // The documented limit is 15 s. The rest allows for a busy machine.
    assert!(told.elapsed() < Duration::from_secs(40), "{:?}", told.elapsed());
    let whole = String::from_utf8(read_to_end(&mut whole)).unwrap();
    assert!(whole.is_empty() || whole.contains("\r\nconnection: close\r\n"), "{whole}");
    assert!(read_to_end(&mut half).is_empty());

    let kept = ["in/20240803.csv.gz", "in/done/20240803.csv.gz"];
    assert!(kept.iter().any(|path| folder.path().join(path).is_file()));
    let (ok, out, error) = output(folder.path(), &["verify"]);
    assert!(ok && !out.contains("\n0 readings"), "{out}{error}");
}

/// Reads one answer with a length from a connection that stays open.
fn one_answer(stream: &mut TcpStream) -> String {
    let mut answer = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&answer).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.to_ascii_lowercase();
            let length = length.split("content-length: ").nth(1).unwrap_or("0");
            let length: usize = length.split("\r\n").next().unwrap().parse().unwrap();
            if body.len() >= length {
                return text;
            }
        }
        let mut piece = [0; 4_096];
        match stream.read(&mut piece) {
            Ok(0) => return text,
            Ok(count) => answer.extend_from_slice(&piece[..count]),
            Err(error) if error.kind() == ErrorKind::ConnectionReset => return text,
            Err(error) => panic!("{error}"),
        }
    }
}

/// An answer that comes before the body is read. A short body is drained, so the connection stays
/// open. With a long body, the answer says that the connection closes.
#[test]
fn a_connection_goes_on_after_a_refused_body_or_says_that_it_closes() {
    let folder = TempDir::new().unwrap();
    let server = Server::start(&folder, &[]);
    let post = |bytes: usize, more: &str| {
        // The body is not declared as JSON, so it is refused without being read.
        let head = format!("POST /api/v1/stations/readings HTTP/1.1\r\nhost: a\r\n{more}");
        format!("{head}content-length: {bytes}\r\n\r\n{}", "x".repeat(bytes))
    };
    let next = "GET /healthz HTTP/1.1\r\nhost: a\r\n\r\n";
    for bytes in [0, 1, 1_000, 30_000, 65_536] {
        let mut stream = connect(server.address(), POLITE).unwrap();
        for _ in 0..20 {
            stream.write_all(post(bytes, "").as_bytes()).unwrap();
            let answer = one_answer(&mut stream).to_ascii_lowercase();
            assert!(answer.starts_with("http/1.1 4"), "{bytes}: {answer}");
            assert!(!answer.contains("connection: close"), "{bytes}: {answer}");
            stream.write_all(next.as_bytes()).unwrap();
            assert!(one_answer(&mut stream).starts_with("HTTP/1.1 200"), "{bytes}");
        }
    }
    for (bytes, more) in [(65_537, ""), (1_000_000, ""), (10, "expect: 100-continue\r\n")] {
        let mut stream = connect(server.address(), POLITE).unwrap();
        // The server may close the connection before everything is sent.
        let _ = stream.write_all(post(bytes, more).as_bytes());
        let answer = one_answer(&mut stream).to_ascii_lowercase();
        assert!(answer.starts_with("http/1.1 4"), "{bytes}: {answer}");
        assert!(answer.contains("connection: close"), "{bytes}: {answer}");
    }
    // A body in pieces, and one that never comes.
    let mut stream = connect(server.address(), POLITE).unwrap();
    let head =
        "POST /api/v1/stations/readings HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n";
    stream.write_all(format!("{head}5\r\nhello\r\n0\r\n\r\n{next}").as_bytes()).unwrap();
    assert!(one_answer(&mut stream).starts_with("HTTP/1.1 4"));
    let mut stream = connect(server.address(), POLITE).unwrap();
    let all = post(1_000, "");
    stream.write_all(&all.as_bytes()[..all.len() - 500]).unwrap();
    let answer = one_answer(&mut stream).to_ascii_lowercase();
    assert!(answer.contains("connection: close"), "{answer}");
}
