//! How long points of the model service take at a steady rate.
//!
//! `cargo run --release -p mesonet-server --example model_load -- [RATE [SECONDS [ADDR]]]` asks a
//! running server for cells of NAM all over its grid, each with whole columns of three fields, and
//! prints the percentiles of the time from when a request was due until its answer was there. The
//! rate is kept whatever the server does, so a request that had to wait counts its waiting.

use std::error::Error;
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Connections that take turns.
const CONNECTIONS: u64 = 16;

const RUN: &str = "20180917T000000Z";
const ROWS: u64 = 65;
const COLUMNS: u64 = 93;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |index: usize, otherwise: u64| match arguments.get(index) {
        Some(text) => text.parse(),
        None => Ok(otherwise),
    };
    let (rate, seconds) = (number(0, 1000)?, number(1, 20)?);
    let address = arguments.get(2).map_or("127.0.0.1:8080", String::as_str);
    let requests = rate * seconds;
    let start = Instant::now() + Duration::from_millis(200);
    let connections: Vec<_> = (0..CONNECTIONS)
        .map(|first| tokio::spawn(ask(address.to_owned(), start, rate, first, requests)))
        .collect();
    let mut took_us = Vec::new();
    let mut bytes = 0;
    for connection in connections {
        let (took, length) = connection.await??;
        took_us.extend(took);
        bytes += length;
    }
    let elapsed = start.elapsed().as_secs_f64();
    took_us.sort_unstable();
    let at = |part: f64| took_us[((took_us.len() - 1) as f64 * part) as usize] as f64 / 1e3;
    println!(
        "{} points in {elapsed:.1} s, {} bytes each; ms: median {:.3}, p90 {:.3}, p99 {:.3}, \
         p99.9 {:.3}, most {:.3}",
        took_us.len(),
        bytes / took_us.len().max(1),
        at(0.5),
        at(0.9),
        at(0.99),
        at(0.999),
        at(1.0),
    );
    Ok(())
}

/// Sends every so-many-eth request when it is due. Gives how long each took, in microseconds, and the
/// bytes of their bodies.
async fn ask(
    address: String,
    start: Instant,
    rate: u64,
    first: u64,
    requests: u64,
) -> Result<(Vec<u64>, usize), std::io::Error> {
    let mut stream = TcpStream::connect(&address).await?;
    stream.set_nodelay(true)?;
    let (mut took_us, mut bytes, mut answer) = (Vec::new(), 0, Vec::new());
    for number in (first..requests).step_by(CONNECTIONS as usize) {
        let due = start + Duration::from_nanos(number * 1_000_000_000 / rate);
        // A timer wakes up to a millisecond late, which is not the server's fault; that the answer
        // before came late is.
        let from = if Instant::now() < due {
            tokio::time::sleep_until(due.into()).await;
            Instant::now()
        } else {
            due
        };
        // Neighbours in time are far apart on the grid.
        let (row, column) = (number * 37 % ROWS, number * 59 % COLUMNS);
        let request = format!(
            "GET /models/nam211/point?run={RUN}&hour=0&row={row}&col={column}&fields=temperature,\
             u_wind,v_wind HTTP/1.1\r\nHost: {address}\r\n\r\n"
        );
        stream.write_all(request.as_bytes()).await?;
        bytes += read_answer(&mut stream, &mut answer).await?;
        took_us.push(from.elapsed().as_micros() as u64);
    }
    Ok((took_us, bytes))
}

/// Reads one answer and gives the length of its body.
async fn read_answer(stream: &mut TcpStream, answer: &mut Vec<u8>) -> std::io::Result<usize> {
    answer.clear();
    loop {
        if stream.read_buf(answer).await? == 0 {
            return Err(std::io::Error::other("the server has closed the connection"));
        }
        let Some(end) = answer.windows(4).position(|bytes| bytes == b"\r\n\r\n") else { continue };
        let head = String::from_utf8_lossy(&answer[..end]).to_ascii_lowercase();
        if !head.starts_with("http/1.1 200") {
            return Err(std::io::Error::other(head));
        }
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
        let length: usize = length.and_then(|length| length.parse().ok()).unwrap_or(0);
        if answer.len() >= end + 4 + length {
            return Ok(length);
        }
    }
}
