//! Messages that wait for their run to be written.

use std::io::{self, Read, Seek, SeekFrom, Write};

use crate::model::DeliveryError;

/// Packed messages, one after another, in storage that the caller provides.
#[derive(Debug)]
pub(super) struct Spool<S> {
    inner: S,
    bytes: u64,
    limit: u64,
}

/// The position of a message.
#[derive(Clone, Copy, Debug)]
pub(super) struct MessageSpan {
    offset: u64,
    bytes: usize,
}

impl<S: Read + Write + Seek> Spool<S> {
    pub(super) fn new(inner: S, limit: u64) -> Self {
        Self { inner, bytes: 0, limit }
    }

    pub(super) fn put(&mut self, message: &[u8]) -> Result<MessageSpan, DeliveryError> {
        let place = MessageSpan { offset: self.bytes, bytes: message.len() };
        let end = self.bytes + message.len() as u64;
        if end > self.limit {
            return Err(DeliveryError::Full(self.limit));
        }
        self.inner
            .seek(SeekFrom::Start(place.offset))
            .and_then(|_| self.inner.write_all(message))
            .map_err(|error| failed(&error))?;
        self.bytes = end;
        Ok(place)
    }

    pub(super) fn get(&mut self, place: MessageSpan) -> Result<Vec<u8>, DeliveryError> {
        let mut message = vec![0; place.bytes];
        self.inner
            .seek(SeekFrom::Start(place.offset))
            .and_then(|_| self.inner.read_exact(&mut message))
            .map_err(|error| failed(&error))?;
        Ok(message)
    }
}

fn failed(error: &io::Error) -> DeliveryError {
    DeliveryError::Spool(error.to_string())
}
