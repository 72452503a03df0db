//! Messages that wait until their run is written.

use std::io::{self, Read, Seek, SeekFrom, Write};

use super::ModelIntakeError;

/// Packed messages, one after the other, in a place that the caller gives.
#[derive(Debug)]
pub(super) struct Spool<S> {
    inner: S,
    bytes: u64,
    limit: u64,
}

/// Where a message lies.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    offset: u64,
    bytes: usize,
}

impl<S: Read + Write + Seek> Spool<S> {
    pub fn new(inner: S, limit: u64) -> Self {
        Self { inner, bytes: 0, limit }
    }

    pub fn put(&mut self, message: &[u8]) -> Result<Place, ModelIntakeError> {
        let place = Place { offset: self.bytes, bytes: message.len() };
        let end = self.bytes + message.len() as u64;
        if end > self.limit {
            return Err(ModelIntakeError::Full(self.limit));
        }
        self.inner
            .seek(SeekFrom::Start(place.offset))
            .and_then(|_| self.inner.write_all(message))
            .map_err(|error| failed(&error))?;
        self.bytes = end;
        Ok(place)
    }

    pub fn get(&mut self, place: Place) -> Result<Vec<u8>, ModelIntakeError> {
        let mut message = vec![0; place.bytes];
        self.inner
            .seek(SeekFrom::Start(place.offset))
            .and_then(|_| self.inner.read_exact(&mut message))
            .map_err(|error| failed(&error))?;
        Ok(message)
    }
}

fn failed(error: &io::Error) -> ModelIntakeError {
    ModelIntakeError::Spool(error.to_string())
}
