//! What an HTTP/2 caller sends besides requests and bodies.
//!
//! SETTINGS, PING, PRIORITY and WINDOW_UPDATE cost the caller nothing, but each costs the server an
//! answer or some work. `h2` limits only what it must remember of them. So each frame takes from a
//! budget. Time, requests and bytes sent to the caller fill the budget up again: a caller that
//! downloads grants windows, and a caller that sends requests may give them a priority.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Instant;

/// How many of these frames a connection may send at once, and per second (RFC 9113, 10.5).
const BUDGET: f64 = 1_000.0;
const PER_SECOND: f64 = 50.0;
/// How many frames a request adds to the budget, and how many a kibibyte that is sent to the caller
/// adds. Clients grant a window for the stream and one for the connection: some for each frame of
/// 16 KiB, some for each of 1 KiB.
const PER_REQUEST: f64 = 8.0;
const PER_KIB: f64 = 2.0;

/// Length of the preface before the first frame (RFC 9113, 3.4).
const PREFACE_BYTES: usize = 24;
const HEADER_BYTES: usize = 9;

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const CONTINUATION: u8 = 9;
const END_STREAM: u8 = 1;

/// A stream whose frames are counted as they arrive.
pub struct CountedStream<S> {
    stream: S,
    counter: Counter,
}

/// The position in the frames, and the budget.
struct Counter {
    /// Bytes until the next header.
    skip: usize,
    header: [u8; HEADER_BYTES],
    have: usize,
    budget: f64,
    filled: Instant,
}

impl<S> CountedStream<S> {
    pub fn new(stream: S) -> Self {
        Self { stream, counter: Counter::new(Instant::now()) }
    }
}

impl Counter {
    fn new(now: Instant) -> Self {
        Self { skip: PREFACE_BYTES, header: [0; 9], have: 0, budget: BUDGET, filled: now }
    }

    fn earn(&mut self, frames: f64) {
        self.budget = (self.budget + frames).min(BUDGET);
    }

    /// Counts the frames in bytes. Returns whether the caller is within its budget.
    fn read(&mut self, mut bytes: &[u8], now: Instant) -> bool {
        self.earn(now.duration_since(self.filled).as_secs_f64() * PER_SECOND);
        self.filled = now;
        while !bytes.is_empty() {
            let skipped = self.skip.min(bytes.len());
            self.skip -= skipped;
            bytes = &bytes[skipped..];
            let taken = (HEADER_BYTES - self.have).min(bytes.len());
            self.header[self.have..self.have + taken].copy_from_slice(&bytes[..taken]);
            self.have += taken;
            bytes = &bytes[taken..];
            if self.have == HEADER_BYTES {
                self.have = 0;
                let [high, middle, low, kind, flags, ..] = self.header;
                self.skip = usize::from(high) << 16 | usize::from(middle) << 8 | usize::from(low);
                let is_empty = self.skip == 0 && flags & END_STREAM == 0;
                match kind {
                    HEADERS => self.earn(PER_REQUEST),
                    DATA if !is_empty => {}
                    // `h2` limits these by the length of a head.
                    CONTINUATION => {}
                    _ => self.budget -= 1.0,
                }
            }
        }
        self.budget >= 0.0
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for CountedStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(context, buffer))?;
        if self.counter.read(&buffer.filled()[before..], Instant::now()) {
            return Poll::Ready(Ok(()));
        }
        tracing::debug!("a connection ends: it sends frames without end that ask for nothing");
        Poll::Ready(Err(io::Error::other("too many frames that ask for nothing")))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for CountedStream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = ready!(Pin::new(&mut self.stream).poll_write(context, bytes))?;
        self.counter.earn(written as f64 / 1024.0 * PER_KIB);
        Poll::Ready(Ok(written))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = ready!(Pin::new(&mut self.stream).poll_write_vectored(context, slices))?;
        self.counter.earn(written as f64 / 1024.0 * PER_KIB);
        Poll::Ready(Ok(written))
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn frame(kind: u8, flags: u8, length: usize) -> Vec<u8> {
        let [.., high, middle, low] = (length as u32).to_be_bytes();
        [&[high, middle, low, kind, flags, 0, 0, 0, 1][..], &vec![0xff; length]].concat()
    }

    /// How many frames of a kind a caller may send at once. The bytes arrive in pieces.
    fn most(frames: &[u8], piece: usize) -> usize {
        let now = Instant::now();
        let mut counter = Counter::new(now);
        assert!(counter.read(&[b'P'; PREFACE_BYTES], now));
        let is_within = |_: &usize| frames.chunks(piece).all(|bytes| counter.read(bytes, now));
        (0..10_000).take_while(is_within).count()
    }

    #[test]
    fn frames_that_ask_for_nothing_take_from_a_budget() {
        for piece in [1, 5, 9, 10, 4_096] {
            for (kind, length) in
                [(4, 0), (4, 36), (6, 8), (2, 5), (8, 4), (3, 4), (0, 0), (77, 100)]
            {
                assert_eq!(most(&frame(kind, 0, length), piece), 1_000, "{kind} in {piece}");
            }
            // Requests, bodies, ends of bodies.
            for (kind, flags, length) in [(1, 4, 20), (0, 0, 9_000), (0, 1, 0), (9, 0, 10)] {
                assert_eq!(most(&frame(kind, flags, length), piece), 10_000, "{kind} in {piece}");
            }
        }
        // A request with its priority and its windows.
        let polite = [frame(2, 0, 5), frame(1, 5, 30), frame(8, 0, 4), frame(8, 0, 4)].concat();
        assert_eq!(most(&polite, 64), 10_000);
    }

    #[test]
    fn time_and_what_is_sent_fill_the_budget_up() {
        let start = Instant::now();
        let mut counter = Counter::new(start);
        counter.read(&[b'P'; PREFACE_BYTES], start);
        let pings = frame(6, 0, 8).repeat(1_000);
        assert!(counter.read(&pings, start));
        assert!(!counter.read(&frame(6, 0, 8).repeat(51), start + Duration::from_secs(1)));
        assert!(counter.read(&frame(6, 0, 8).repeat(49), start + Duration::from_secs(2)));
        counter.earn(1e9);
        assert!(counter.read(&pings, start + Duration::from_secs(2)));
        assert!(!counter.read(&pings, start + Duration::from_secs(2)));
    }
}
