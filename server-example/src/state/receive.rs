//! Receives the bodies of pushes, even slow ones and many at once.
//!
//! A body that is being received holds no thread and little memory, however slowly it arrives. A
//! body of up to [`IN_MEMORY_BYTES`] stays in memory. A longer body goes piece by piece to an
//! unnamed temporary file. There may be up to [`MAX_FILES`] such files.

use std::fs::File;
use std::io::{self, Cursor, Read, Seek, SeekFrom, Write};
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, HttpBody};
use axum::http::StatusCode;
use futures_util::StreamExt;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout};

use super::lanes::busy;
use crate::http::error::{ApiError, no_disk};
use crate::http::work::hand_over;

/// A body up to this length stays in memory.
pub const IN_MEMORY_BYTES: usize = 64 << 10;

/// How much of a longer body is written at once.
const WRITTEN_BYTES: usize = 256 << 10;

/// Maximum number of bodies that are received at once: more than a few deliberately slow callers
/// open.
const MAX_BODIES: usize = 1_000;

/// Maximum number of bodies in files: being received, waiting or being taken in.
const MAX_FILES: usize = 32;

/// How long the next piece of a body, or the wait for a file, may take.
const PIECE: Duration = Duration::from_secs(60);

/// How fast a body must arrive on average, after a grace period. In the grace period, a small body
/// arrives completely even over the slowest line.
const LEAST_BYTES_PER_S: u64 = 4 << 10;
const GRACE: Duration = Duration::from_secs(120);

/// Receives bodies.
#[derive(Debug)]
pub(crate) struct Reception {
    bodies: Arc<Semaphore>,
    files: Arc<Semaphore>,
}

/// A completely received body.
#[derive(Debug)]
pub enum ReceivedBody {
    Memory(Cursor<Vec<u8>>),
    File(SpoolFile),
}

/// An unnamed file, with the permit for it.
#[derive(Debug)]
pub struct SpoolFile {
    file: File,
    _leave: OwnedSemaphorePermit,
}

impl Default for Reception {
    fn default() -> Self {
        let places = |count| Arc::new(Semaphore::new(count));
        Self { bodies: places(MAX_BODIES), files: places(MAX_FILES) }
    }
}

impl Reception {
    /// Receives a body of bounded length.
    ///
    /// # Errors
    /// The body is too long, arrives too slowly or breaks off, or there are too many others.
    pub async fn receive(&self, body: Body, limit: u64) -> Result<ReceivedBody, ApiError> {
        let too_long = || {
            let text = format!("the body must be at most {limit} bytes long");
            ApiError::Refused(StatusCode::PAYLOAD_TOO_LARGE, text)
        };
        let slow = |text| ApiError::Refused(StatusCode::REQUEST_TIMEOUT, text);
        if HttpBody::size_hint(&body).lower() > limit {
            return Err(too_long());
        }
        let _place = self.bodies.try_acquire().map_err(|_| busy())?;
        let started = Instant::now();
        let mut pieces = body.into_data_stream();
        let (mut received, mut waiting) = (0_u64, Vec::new());
        let mut file = None;
        loop {
            let piece = timeout(PIECE, pieces.next())
                .await
                .map_err(|_| slow(format!("nothing received for {} s", PIECE.as_secs())))?;
            let Some(piece) = piece else { break };
            let piece = piece
                .map_err(|error| ApiError::BadRequest(format!("the body broke off: {error}")))?;
            received += piece.len() as u64;
            if received > limit {
                return Err(too_long());
            }
            let beyond_s = started.elapsed().saturating_sub(GRACE).as_secs();
            if received < beyond_s * LEAST_BYTES_PER_S {
                let text = format!("received less than {LEAST_BYTES_PER_S} bytes a second");
                return Err(slow(text));
            }
            waiting.extend_from_slice(&piece);
            let most = if file.is_some() { WRITTEN_BYTES } else { IN_MEMORY_BYTES };
            if waiting.len() > most {
                let so_far = match file {
                    Some(file) => file,
                    None => self.file().await?,
                };
                let (so_far, empty) = so_far.write(waiting).await?;
                (file, waiting) = (Some(so_far), empty);
            }
        }
        Ok(match file {
            Some(file) => ReceivedBody::File(file.write(waiting).await?.0),
            None => ReceivedBody::Memory(Cursor::new(waiting)),
        })
    }

    /// Creates one more file, as soon as one is allowed.
    async fn file(&self) -> Result<SpoolFile, ApiError> {
        let leave = timeout(PIECE, Arc::clone(&self.files).acquire_owned()).await;
        let leave = leave.map_err(|_| busy())?.map_err(ApiError::internal)?;
        at_once(|| Ok(SpoolFile { file: tempfile::tempfile()?, _leave: leave })).await
    }
}

impl SpoolFile {
    /// Appends bytes and returns their buffer.
    async fn write(mut self, mut bytes: Vec<u8>) -> Result<(Self, Vec<u8>), ApiError> {
        at_once(move || {
            self.file.write_all(&bytes)?;
            bytes.clear();
            Ok((self, bytes))
        })
        .await
    }
}

/// Does quick disk work, off the threads that serve connections.
async fn at_once<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> Result<T, ApiError> {
    hand_over(work).await?.map_err(|error| {
        tracing::error!("cannot store the body of a push: {error}");
        no_disk(error.kind(), "the body")
    })
}

impl ReceivedBody {
    /// Whether it was short enough to stay in memory.
    pub fn is_small(&self) -> bool {
        matches!(self, Self::Memory(_))
    }
}

impl Read for ReceivedBody {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Memory(bytes) => bytes.read(buffer),
            Self::File(file) => file.file.read(buffer),
        }
    }
}

impl Seek for ReceivedBody {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        match self {
            Self::Memory(bytes) => bytes.seek(to),
            Self::File(file) => file.file.seek(to),
        }
    }
}

#[cfg(test)]
#[path = "receive_tests.rs"]
mod tests;
