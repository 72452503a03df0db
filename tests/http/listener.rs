//! A listener of `/live`, and reports to push to its server.

use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};

use mesonet_service::ingest::KeyHash;
use serde_json::Value;
use tempfile::TempDir;

use crate::follower::KEY;
use crate::process::{PATIENCE, Server};

/// An event: its id, its name and its data.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    pub id: String,
    pub name: String,
    pub data: Value,
}

/// A listener. HTTP/1.0 has no chunks, so what comes is the stream itself.
pub struct Listener {
    lines: BufReader<TcpStream>,
    pub head: String,
}

impl Listener {
    pub fn of(server: SocketAddr, query: &str, id: Option<&str>) -> std::io::Result<Self> {
        Self::over(TcpStream::connect(server)?, query, id)
    }

    pub fn over(mut stream: TcpStream, query: &str, id: Option<&str>) -> std::io::Result<Self> {
        stream.set_read_timeout(Some(PATIENCE))?;
        let id = id.map(|id| format!("last-event-id: {id}\r\n")).unwrap_or_default();
        write!(stream, "GET /api/v1/live{query} HTTP/1.0\r\nhost: test\r\n{id}\r\n")?;
        let mut lines = BufReader::new(stream);
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            if lines.read_line(&mut head)? == 0 {
                return Err(ErrorKind::UnexpectedEof.into());
            }
        }
        Ok(Self { lines, head })
    }

    /// The next event; `None` when the stream has ended, even within one.
    pub fn next(&mut self) -> Option<Event> {
        let [mut id, mut name, mut data] = [const { String::new() }; 3];
        loop {
            let mut line = String::new();
            match self.lines.read_line(&mut line) {
                Ok(0) | Err(_) => return None,
                Ok(_) => {}
            }
            let line = line.strip_suffix('\n')?;
            match line.split_once(": ") {
                Some(("id", value)) => value.clone_into(&mut id),
                Some(("event", value)) => value.clone_into(&mut name),
                Some(("data", value)) => value.clone_into(&mut data),
                Some(("retry", "3000")) => {}
                None if line == ":" => {}
                None if line.is_empty() => {
                    return Some(Event { id, name, data: serde_json::from_str(&data).unwrap() });
                }
                _ => panic!("{line}"),
            }
        }
    }

    pub fn body(mut self) -> String {
        let mut body = String::new();
        self.lines.read_to_string(&mut body).unwrap();
        body
    }
}

pub fn start(folder: &TempDir, args: &[&str]) -> Server {
    let hash = KeyHash::of(KEY);
    let own = ["--now", "live", "--assume-plan", "commercial", "--ingest-key-hashes"];
    Server::start(folder, &[&own[..], &[hash.as_str()], args].concat())
}

/// Minutes of a day, and the first day of August that has reports.
const DAY: u32 = 1440;
const FIRST_DAY: u32 = 3;

/// A report of Toronto, of a minute of its own.
pub fn report(number: u32) -> (String, String) {
    let (day, minute) = (FIRST_DAY + number / DAY, number % DAY);
    let (hour, minute) = (minute / 60, minute % 60);
    let celsius = number * 7 % 31;
    let text =
        format!("METAR CYYZ {day:02}{hour:02}{minute:02}Z 24012KT 15SM {celsius:02}/M01 A2991=\n");
    (format!("sa_202408{day:02}.txt"), text)
}

pub fn push(server: SocketAddr, name: &str, body: &[u8]) -> Option<()> {
    let mut stream = TcpStream::connect(server).ok()?;
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let head = format!(
        "POST /api/v1/ingest?name={name} HTTP/1.1\r\nhost: test\r\nconnection: close\r\n\
         authorization: Bearer {KEY}\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).ok()?;
    stream.write_all(body).ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    answer.starts_with("HTTP/1.1 200 ").then_some(())
}

pub fn push_report(server: SocketAddr, number: u32) -> Option<()> {
    let (name, text) = report(number);
    push(server, &name, text.as_bytes())
}

/// The numbers of the reports that an event has a temperature of.
pub fn numbers(event: &Event) -> Vec<u32> {
    let mut numbers = Vec::new();
    for station in event.data["stations"].as_object().unwrap().values() {
        for reading in station["readings"].as_array().unwrap() {
            let at = reading["timestamp"].as_str().unwrap();
            let part = |range: std::ops::Range<usize>| at[range].parse::<u32>().unwrap();
            let minute = (part(8..10) - FIRST_DAY) * DAY + part(11..13) * 60 + part(14..16);
            assert_eq!(reading["value"], f64::from(minute * 7 % 31));
            numbers.push(minute);
        }
    }
    numbers
}
