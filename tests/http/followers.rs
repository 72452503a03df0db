//! Several servers: exports that one follower begins and another continues, keys that all servers
//! know, and a server that stops in order.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::thread::sleep;
use std::time::{Duration, Instant};

use mesonet::StationId;
use serde_json::Value;
use tempfile::TempDir;

use crate::follower::{backup, push, run, start, wait_until};
use crate::process::{PATIENCE, Server, data};

const FILE: &str = "metar/liveairdata_metars_20240803T1732Z.csv.gz";

/// A follower in a folder that looks for backups at an interval.
fn follow(folder: &TempDir, name: &str, every_s: &str, args: &[&str]) -> Server {
    let own = ["--data", name, "--follow", "backups", "--follow-every-s", every_s];
    start(folder, &[&own, args].concat())
}

/// The head and the body of the answer to a request for a page of an export.
fn page(server: &Server, cursor: Option<&str>, key: Option<&str>) -> (String, String) {
    let toronto = StationId::new("METAR", "CYYZ");
    let body = format!(r#"{{"stationId":"{toronto}"}}"#);
    let cursor = cursor.map_or_else(String::new, |cursor| format!("&cursor={cursor}"));
    let key = key.map_or_else(String::new, |key| format!("authorization: Bearer {key}\r\n"));
    let mut stream = TcpStream::connect(server.address()).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let day = "start=2024-08-03T00:00:00Z&end=2024-08-04T00:00:00Z";
    write!(
        stream,
        "POST /api/v1/historical/bulk?{day}&pageSize=5{cursor} HTTP/1.1\r\nhost: test\r\n\
         connection: close\r\n{key}content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (head.to_owned(), body.to_owned())
}

fn cursor(head: &str) -> &str {
    assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
    head.split("x-next-cursor: ").nth(1).unwrap().lines().next().unwrap()
}

/// A page of an older backup would end the export too early. It is refused, so that the other
/// follower answers.
#[test]
fn a_follower_that_is_a_backup_behind_does_not_go_on_with_an_export() {
    let folder = TempDir::new().unwrap();
    run(folder.path(), &["ingest", &data(FILE)]);
    let writer = start(&folder, &[]);
    backup(&folder);
    let ahead = follow(&folder, "ahead", "1", &[]);
    let behind = follow(&folder, "behind", "3600", &[]);
    let first = page(&ahead, None, None);
    let same = page(&behind, None, None);
    let cursor_and_body = |(head, body): &(String, String)| (cursor(head).to_owned(), body.clone());
    assert_eq!(
        cursor_and_body(&same),
        cursor_and_body(&first),
        "the same backup gives the same cursor"
    );
    let known = cursor(&first.0).to_owned();
    assert!(page(&behind, Some(&known), None).0.starts_with("HTTP/1.1 200 "));

    assert!(push(&writer, "METAR CYYZ 031740Z 24012KT 15SM 28/17 A2991=\n").contains(" 200 "));
    backup(&folder);
    wait_until("it follows", || cursor(&page(&ahead, None, None).0) != known);
    let (head, _) = page(&ahead, None, None);
    let (refused, body) = page(&behind, Some(cursor(&head)), None);
    assert!(
        refused.starts_with("HTTP/1.1 503 ") && refused.contains("retry-after: 5"),
        "{refused}"
    );
    assert!(body.contains("knows more than this one yet; send the request again"), "{body}");
    // The other way round the export goes on, as it does when readings come in between pages.
    assert!(page(&ahead, Some(&known), None).0.starts_with("HTTP/1.1 200 "));

    // The followed server is ahead of all followers.
    let (of_writer, _) = page(&writer, None, None);
    assert!(!cursor(&of_writer).contains('.'), "{of_writer}");
    let (refused, body) = page(&ahead, Some(cursor(&of_writer)), None);
    assert!(
        refused.starts_with("HTTP/1.1 400 ") && body.contains("begin again"),
        "{refused}{body}"
    );
    assert!(page(&writer, Some(cursor(&head)), None).0.starts_with("HTTP/1.1 200 "));
    // Damage is reported as damage.
    for bad in ["x", "0a.b", &format!("{}.0001", &known[..10])] {
        let (refused, body) = page(&ahead, Some(bad), None);
        assert!(refused.starts_with("HTTP/1.1 400 ") && body.contains("invalid"), "{bad}: {body}");
    }
}

/// A follower has the keys of the backup that it serves.
#[test]
fn a_follower_knows_and_refuses_keys_with_the_next_backup() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    run(path, &["ingest", &data(FILE)]);
    backup(&folder);
    let now = ["--now", "2024-08-03T17:45:00Z"];
    let follows = ["--data", "one", "--follow", "backups", "--follow-every-s", "1"];
    let follower = Server::start(&folder, &[&now[..], &follows].concat());
    let is_known = |key: &str| page(&follower, None, Some(key)).0.starts_with("HTTP/1.1 200 ");

    let key = run(path, &["keys", "issue", "--label", "someone"]).trim().to_owned();
    assert!(!is_known(&key));
    backup(&folder);
    wait_until("the key is known", || is_known(&key));
    let listed: Value =
        serde_json::from_str(&run(path, &["keys", "list", "--json", "--data", "one"])).unwrap();
    run(path, &["keys", "revoke", listed[0]["id"].as_str().unwrap()]);
    backup(&folder);
    wait_until("the key is refused", || !is_known(&key));

    // Without the place the follower keeps what it knows.
    let other = run(path, &["keys", "issue", "--label", "other"]).trim().to_owned();
    backup(&folder);
    wait_until("the key is known", || is_known(&other));
    fs::rename(path.join("backups"), path.join("elsewhere")).unwrap();
    sleep(Duration::from_secs(2));
    assert!(is_known(&other));
}

/// Until it stops, the server answers as usual, says that it will stop, and ends each connection
/// properly.
#[test]
fn a_server_that_is_told_to_stop_takes_its_leave() {
    let folder = TempDir::new().unwrap();
    let server = Server::start(&folder, &["--now", "live", "--leave-s", "3"]);
    let kept = |stream: &mut TcpStream| {
        write!(stream, "GET /api/v1/observations/units HTTP/1.1\r\nhost: test\r\n\r\n").unwrap();
        let (mut answer, mut byte) = (Vec::new(), [0]);
        while !answer.ends_with(b"\r\n\r\n") && stream.read(&mut byte).unwrap() == 1 {
            answer.push(byte[0]);
        }
        String::from_utf8(answer).unwrap()
    };
    let mut stream = TcpStream::connect(server.address()).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let head = kept(&mut stream);
    assert!(head.starts_with("HTTP/1.1 200 ") && !head.contains("connection:"), "{head}");
    let length = head.split("content-length: ").nth(1).unwrap().lines().next().unwrap();
    let mut body = vec![0; length.parse().unwrap()];
    stream.read_exact(&mut body).unwrap();

    let told = Instant::now();
    server.signal("TERM");
    wait_until("it says so", || server.get("/readyz").0.starts_with("HTTP/1.1 503 "));
    let (head, body) = server.get("/readyz");
    assert!(body.contains("the server is stopping"), "{head}{body}");
    // New connections are accepted, and existing ones end with their next answer.
    assert!(server.get("/healthz").0.starts_with("HTTP/1.1 200 "));
    let head = kept(&mut stream);
    assert!(head.starts_with("HTTP/1.1 200 ") && head.contains("connection: close"), "{head}");
    let mut rest = Vec::new();
    stream.read_to_end(&mut rest).unwrap();
    assert!(rest.len() > 100);
    let (code, log) = server.stop();
    assert!(code == Some(0) && log.contains("shutting down: the server stops in 3 s"), "{log}");
    assert!(told.elapsed() < Duration::from_secs(60));
}
