//! Requests at a steady rate: each is sent when it is due, whatever the server does.

use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Connections that take turns.
const CONNECTIONS: u64 = 16;

/// The numbers and the address on the command line, or else these.
pub fn arguments<const N: usize>(
    otherwise: [u64; N],
) -> Result<([u64; N], String), std::num::ParseIntError> {
    let given: Vec<String> = std::env::args().skip(1).collect();
    let mut numbers = otherwise;
    for (number, text) in numbers.iter_mut().zip(&given) {
        *number = text.parse()?;
    }
    Ok((numbers, given.get(N).map_or("127.0.0.1:8080", String::as_str).to_owned()))
}

/// How long answers took from when their requests were due.
pub struct Took {
    sorted_us: Vec<u64>,
    pub bytes: usize,
    elapsed: Duration,
}

impl Took {
    /// The time within which this part of the answers came, in milliseconds.
    pub fn ms(&self, part: f64) -> f64 {
        self.sorted_us[((self.sorted_us.len() - 1) as f64 * part) as usize] as f64 / 1e3
    }
}

impl fmt::Display for Took {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.sorted_us.len();
        write!(
            f,
            "{count} answers in {:.1} s, {} bytes each; ms: median {:.3}, p90 {:.3}, p99 {:.3}, \
             p99.9 {:.3}, most {:.3}",
            self.elapsed.as_secs_f64(),
            self.bytes / count.max(1),
            self.ms(0.5),
            self.ms(0.9),
            self.ms(0.99),
            self.ms(0.999),
            self.ms(1.0),
        )
    }
}

/// Sends requests for `path` of their number, so many a second.
pub async fn ask(
    address: &str,
    rate: u64,
    seconds: u64,
    path: impl Fn(u64) -> String + Send + Sync + 'static,
) -> Result<Took, Box<dyn std::error::Error>> {
    let (start, requests) = (Instant::now() + Duration::from_millis(200), rate * seconds);
    let path = Arc::new(path);
    let connections: Vec<_> = (0..CONNECTIONS)
        .map(|first| {
            let (address, path) = (address.to_owned(), Arc::clone(&path));
            tokio::spawn(async move {
                in_turn(
                    &address,
                    start,
                    rate,
                    (first..requests).step_by(CONNECTIONS as usize),
                    &*path,
                )
                .await
            })
        })
        .collect();
    let (mut sorted_us, mut bytes) = (Vec::new(), 0);
    for connection in connections {
        let (took, length) = connection.await??;
        sorted_us.extend(took);
        bytes += length;
    }
    sorted_us.sort_unstable();
    Ok(Took { sorted_us, bytes, elapsed: start.elapsed() })
}

/// Sends the requests of these numbers over one connection. Gives how long each took, in
/// microseconds, and the bytes of their bodies.
async fn in_turn(
    address: &str,
    start: Instant,
    rate: u64,
    numbers: impl Iterator<Item = u64>,
    path: &(impl Fn(u64) -> String + Sync),
) -> io::Result<(Vec<u64>, usize)> {
    let mut stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    let (mut took_us, mut bytes, mut answer) = (Vec::new(), 0, Vec::new());
    for number in numbers {
        let due = start + Duration::from_nanos(number * 1_000_000_000 / rate);
        // A timer wakes up to a millisecond late, which is not the server's fault; that the answer
        // before came late is.
        let from = if Instant::now() < due {
            tokio::time::sleep_until(due.into()).await;
            Instant::now()
        } else {
            due
        };
        let request = format!("GET {} HTTP/1.1\r\nHost: {address}\r\n\r\n", path(number));
        stream.write_all(request.as_bytes()).await?;
        bytes += read_answer(&mut stream, &mut answer).await?;
        took_us.push(from.elapsed().as_micros() as u64);
    }
    Ok((took_us, bytes))
}

/// Reads one answer and gives the length of its body.
async fn read_answer(stream: &mut TcpStream, answer: &mut Vec<u8>) -> io::Result<usize> {
    answer.clear();
    loop {
        if stream.read_buf(answer).await? == 0 {
            return Err(io::Error::other("the server has closed the connection"));
        }
        let Some(end) = answer.windows(4).position(|bytes| bytes == b"\r\n\r\n") else { continue };
        let head = String::from_utf8_lossy(&answer[..end]).to_ascii_lowercase();
        if !head.starts_with("http/1.1 200") {
            return Err(io::Error::other(head));
        }
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
        let length: usize = length.and_then(|length| length.parse().ok()).unwrap_or(0);
        if answer.len() >= end + 4 + length {
            return Ok(length);
        }
    }
}
