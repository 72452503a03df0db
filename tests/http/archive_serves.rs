//! Bulk export of what retention has deleted, from an archive.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;

use axum::http::header;
use mesonet::StationId;

use crate::archive::{ALL, CSV, archive, archived, files, page, record, served, tampa, toronto};
use crate::backup::refused;
use crate::follower::{post, wait_until};
use crate::process::{PATIENCE, Server, output};
use crate::support::{Answer, Api};

type AnswerParts = (u16, Vec<(String, String)>, Vec<u8>);

/// One of the first days. A retention of 400 days deletes it.
pub const OLD_DAY: &str = "2021-03-01";

pub const FORMATS: [&str; 3] =
    [CSV, "application/vnd.apache.arrow.stream", "application/vnd.apache.parquet"];

/// Everything that an answer says.
fn answer_parts(answer: &Answer) -> AnswerParts {
    let text = |(name, value): (&header::HeaderName, &header::HeaderValue)| {
        (name.to_string(), value.to_str().unwrap().to_owned())
    };
    (answer.status.as_u16(), answer.headers.iter().map(text).collect(), answer.body.to_vec())
}

/// Sends the same requests to two services, page by page. Returns the number of pages and of bytes.
#[track_caller]
fn alike(
    [one, other]: [&Api; 2],
    of: StationId,
    query: &str,
    fields: &str,
    accept: &str,
) -> (usize, usize) {
    let (mut pages, mut bytes, mut cursor) = (0, 0, String::new());
    loop {
        let query = format!("{query}{cursor}");
        let answers = [one, other].map(|api| page(api, of, &query, fields, accept));
        let [one, other] = answers.each_ref().map(answer_parts);
        assert_eq!((one.0, &one.1), (200, &other.1), "{query}");
        assert!(one == other, "{query} {fields} {accept}");
        (pages, bytes) = (pages + 1, bytes + one.2.len());
        match answers[0].header("x-next-cursor") {
            Some(next) => cursor = format!("&cursor={next}"),
            None => return (pages, bytes),
        }
    }
}

/// The answer of a server process: status, headers and body. The clock of the server runs.
pub fn bulk(server: &Server, of: StationId, query: &str, accept: &str) -> AnswerParts {
    let body = format!(r#"{{"stationId":"{of}"}}"#);
    let mut stream = TcpStream::connect(server.address()).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    // With this version of HTTP the body is not sent in chunks.
    write!(
        stream,
        "POST /api/v1/historical/bulk?{query} HTTP/1.0\r\nhost: test\r\naccept: {accept}\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    let end = answer.windows(4).position(|four| four == b"\r\n\r\n").unwrap();
    let body = answer.split_off(end + 4);
    let head = String::from_utf8(answer).unwrap().to_lowercase();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    let headers = head.lines().skip(1).filter_map(|line| line.split_once(": "));
    let headers = headers.filter(|(name, _)| !["date", "x-request-id"].contains(name));
    (status, headers.map(|(name, value)| (name.to_owned(), value.to_owned())).collect(), body)
}

/// Pages with a given number of rows, of two stations in all formats, from before the first reading
/// until after the last.
pub fn pages(server: &Server, rows: usize) -> Vec<AnswerParts> {
    let mut answers = Vec::new();
    for accept in FORMATS {
        answers.push(bulk(server, toronto(), ALL, accept));
        let (first, mut cursor) = (answers.len(), String::new());
        loop {
            let query = format!("{ALL}&pageSize={rows}&qualifiers=true{cursor}");
            answers.push(bulk(server, tampa(), &query, accept));
            let (status, headers, body) = &answers[answers.len() - 1];
            assert_eq!(*status, 200, "{}", String::from_utf8_lossy(body));
            match headers.iter().find(|(name, _)| name == "x-next-cursor") {
                Some((_, next)) => cursor = format!("&cursor={next}"),
                None => break,
            }
        }
        assert!(answers.len() - first > 5);
    }
    answers
}

/// Whether the record of a server itself has readings of a day. Series are not answered from
/// archives.
pub fn holds(server: &Server, day: &str) -> bool {
    let body = format!(r#"{{"stationId":"{}","name":"airTemperature"}}"#, tampa());
    let path = "/api/v1/observations/series";
    let path = format!("{path}?start={day}T00:00:00Z&end={day}T23:59:59Z");
    let (head, body) = post(server, &path, &body);
    assert!(head.contains(" 200 ") || body.contains("no matching readings"), "{head}{body}");
    head.contains(" 200 ")
}

/// The main promise: callers cannot see that old months were deleted.
#[test]
fn bulk_export_is_byte_for_byte_what_it_was_before_retention() {
    let (whole, cut) = (record(), archived());
    let all = served(whole.path(), None, None);
    // In a month of many reports, between two months, and in the last month.
    for (kept_from, gone) in [
        ("2021-03-15T07:00:00Z", "2021-03-15T06:59:00Z"),
        ("2022-11-01T00:00:00Z", "2022-10-23T12:00:00Z"),
        ("2024-08-03T17:00:00Z", "2024-08-03T16:59:00Z"),
    ] {
        let left = served(cut.path(), Some("archive"), Some(kept_from));
        let both = [&all, &left];
        for accept in FORMATS {
            let (pages, bytes) = alike(both, tampa(), ALL, "", accept);
            assert!(pages == 1 && bytes > 100_000, "{pages} {bytes}");
            let paged = format!("{ALL}&pageSize=16411&qualifiers=true");
            assert!(alike(both, tampa(), &paged, "", accept).0 > 5);
            alike(both, toronto(), ALL, "", accept);
        }
        // Pages that end around the cutoff, also between rows of the same time.
        let from = if kept_from.starts_with("2021") { "03-14T20" } else { "03-30T00" };
        let around = format!("start=2021-{from}:00:00Z&end=2021-04-01T00:00:00Z&pageSize=7");
        assert!(alike(both, tampa(), &around, "", CSV).0 > 30);
        let one = r#","requests":[{"name":"airTemperature","lowerValueBound":30.0}]"#;
        alike(both, tampa(), &format!("{ALL}&pageSize=100"), one, CSV);
        let none = r#","requests":[{"name":"snowDepth"}]"#;
        alike(both, tampa(), ALL, none, CSV);
        // A window that ends before the cutoff, one in a gap, and one before all readings.
        for window in [
            "start=2020-09-30T23:00:00Z&end=2020-10-01T01:00:00Z",
            "start=2021-09-01T00:00:00Z&end=2022-01-01T00:00:00Z",
            "start=1990-01-01T00:00:00Z&end=1999-01-01T00:00:00Z",
        ] {
            alike(both, tampa(), window, "", CSV);
        }
        // Without the archive the readings are gone.
        drop(left);
        let without = served(cut.path(), None, None);
        let window = format!("start=2020-01-01T00:00:00Z&end={gone}");
        let rows = |api| page(api, tampa(), &window, "", CSV).text().lines().count();
        assert!(rows(&all) > 1_000 && rows(&without) == 1, "{kept_from}");
    }
}

/// The rows of the answer, and how many parts it says are missing.
fn damaged(api: &Api) -> (usize, Option<String>) {
    let answer = page(api, tampa(), ALL, "", CSV);
    assert_eq!(answer.status.as_u16(), 200);
    let missing = answer.header("x-mesonet-damaged").map(str::to_owned);
    (answer.text().lines().count(), missing)
}

#[test]
fn an_answer_says_what_is_damaged_or_missing_in_the_archive() {
    let folder = archived();
    let left = served(folder.path(), Some("archive"), Some("2022-01-01T00:00:00Z"));
    let (all, none) = damaged(&left);
    assert_eq!(none, None);
    let [file] = &files(folder.path(), "2021-02")[..] else { panic!() };
    let whole = fs::read(file).unwrap();
    let readings = |month: &str| {
        let summary = archive(folder.path(), &[]);
        let months = summary["months"].as_array().unwrap();
        let of = months.iter().find(|of| of["month"] == month).unwrap();
        of["readings"].as_u64().unwrap() as usize
    };
    let february = readings("2021-02");
    // A flipped bit in a row group, one in the end, a file cut short, and a missing file.
    for at in [whole.len() / 2, whole.len() - 20] {
        let mut bytes = whole.clone();
        bytes[at] ^= 4;
        fs::write(file, bytes).unwrap();
        assert_eq!(damaged(&left), (all - february, Some("1".to_owned())), "{at}");
    }
    fs::write(file, &whole[..whole.len() - 1]).unwrap();
    assert_eq!(damaged(&left), (all - february, Some("1".to_owned())));
    let (ok, out, _) = output(folder.path(), &["archive", "--to", "archive"]);
    assert!(!ok && out.contains("bytes; the manifest says"), "{out}");
    fs::remove_file(file).unwrap();
    assert_eq!(damaged(&left), (all - february, Some("1".to_owned())));
    let (ok, out, _) = output(folder.path(), &["archive", "--to", "archive"]);
    assert!(!ok && out.contains("is missing; delete it and run again, or put it back"), "{out}");
    // Elsewhere nothing is missing.
    let window = "start=2021-03-01T00:00:00Z&end=2025-01-01T00:00:00Z";
    assert_eq!(page(&left, tampa(), window, "", CSV).header("x-mesonet-damaged"), None);
    // When the file is put back, the answer is complete again, without a restart.
    fs::write(file, &whole).unwrap();
    assert_eq!(damaged(&left), (all, None));
}

#[test]
fn months_that_were_never_archived_are_said_to_be_missing() {
    let folder = record();
    archive(folder.path(), &["--before", "2020-12-15T00:00:00Z"]);
    // December and later months are deleted and not in the archive. An answer says so.
    let left = served(folder.path(), Some("archive"), Some("2021-02-10T00:00:00Z"));
    let (_, missing) = damaged(&left);
    assert_eq!(missing.as_deref(), Some("3"));
    drop(left);
    // The rest of February is still there.
    let (ok, out, _) = output(folder.path(), &["archive", "--to", "archive"]);
    assert!(!ok, "{out}");
    assert!(out.contains("2020-12: not in the archive: the record no longer holds it"), "{out}");
    let left = served(folder.path(), Some("archive"), Some("2021-06-01T00:00:00Z"));
    assert_eq!(damaged(&left).1.as_deref(), Some("3"));
}

#[test]
fn without_its_archive_a_server_answers_only_what_it_holds() {
    let folder = archived();
    let kept_from = "2022-01-01T00:00:00Z";
    let held = format!("start={kept_from}&end=2025-01-01T00:00:00Z");
    let later = "the data cannot be used right now; try again later";
    let check = |archive: &str| {
        let left = served(folder.path(), Some(archive), Some(kept_from));
        page(&left, tampa(), ALL, "", CSV).refuses(503, later);
        let answer = page(&left, tampa(), &held, "", CSV);
        assert_eq!((answer.status.as_u16(), answer.header("x-mesonet-damaged")), (200, None));
        assert!(answer.text().lines().count() > 10);
    };
    // A folder that does not exist, one without an archive, and one whose manifest is damaged.
    check("elsewhere");
    fs::create_dir(folder.path().join("empty")).unwrap();
    check("empty");
    let manifests = folder.path().join("archive/manifests");
    let mut names: Vec<_> =
        fs::read_dir(&manifests).unwrap().map(|at| at.unwrap().path()).collect();
    names.sort();
    let newest = names.last().unwrap();
    let whole = fs::read_to_string(newest).unwrap();
    fs::write(newest, whole.replacen("\"readings\": 1", "\"readings\": 2", 1)).unwrap();
    check("archive");
    let error = refused(folder.path(), &["archive", "--to", "archive"]);
    assert!(error.contains(".json is damaged: it does not match its checksum"), "{error}");
    fs::write(newest, whole.replacen("\"format\": 1", "\"format\": 2", 1)).unwrap();
    check("archive");
    let error = refused(folder.path(), &["archive", "--to", "archive"]);
    assert!(error.contains("has format 2; this version reads format 1"), "{error}");
}

/// The server as a process. It looks at its archive when it starts, and when it deletes.
#[test]
fn a_server_deletes_what_is_archived_and_answers_from_there() {
    let folder = record();
    let before = {
        let server = Server::start(&folder, &["--assume-plan", "commercial"]);
        archive(folder.path(), &[]);
        assert!(holds(&server, OLD_DAY));
        pages(&server, 16_411)
    };
    let args = ["--assume-plan", "commercial", "--archive", "archive", "--retention", "400d"];
    let server = Server::start(&folder, &args);
    assert!(server.log().contains("what is older than 2023-06-01T"), "{}", server.log());
    wait_until("it has deleted", || !holds(&server, OLD_DAY));
    assert!(pages(&server, 16_411) == before);
    assert_eq!(server.stop().0, Some(0));
    // Without the archive the months are gone.
    let server = Server::start(&folder, &["--assume-plan", "commercial"]);
    let old = "start=2020-01-01T00:00:00Z&end=2023-06-01T00:00:00Z";
    let (status, _, body) = bulk(&server, tampa(), old, CSV);
    assert_eq!((status, String::from_utf8(body).unwrap().lines().count()), (200, 1));
}
