//! Whether the record of another server can be read, and as of when.

use std::fmt;
use std::sync::Mutex;
use std::sync::atomic::{AtomicI64, Ordering};

use mesonet::Iso8601;

use crate::sync::lock;

/// The time that the record was last read as of, and why the last read failed. A failure is logged when it begins
/// and when it ends, not at each read.
#[derive(Debug)]
pub(crate) struct ReadStatus {
    as_of_ms: AtomicI64,
    failure: Mutex<Option<String>>,
}

impl ReadStatus {
    pub(crate) fn new(as_of_ms: i64) -> Self {
        Self { as_of_ms: AtomicI64::new(as_of_ms), failure: Mutex::default() }
    }

    /// The record is as of this time.
    pub(crate) fn as_of_ms(&self) -> i64 {
        self.as_of_ms.load(Ordering::Relaxed)
    }

    /// Whether the last read failed.
    pub(crate) fn has_failed(&self) -> bool {
        lock(&self.failure).is_some()
    }

    /// Notes the result of a read, and the time that the record is as of now. Returns what was read; `None` if the
    /// read failed.
    pub(crate) fn note<T>(
        &self,
        found: Result<T, impl fmt::Display>,
        as_of_ms: Option<i64>,
    ) -> Option<T> {
        if let Some(as_of_ms) = as_of_ms {
            self.as_of_ms.store(as_of_ms, Ordering::Relaxed);
        }
        let as_of = Iso8601(self.as_of_ms());
        let mut failure = lock(&self.failure);
        match found {
            Ok(found) => {
                if failure.take().is_some() {
                    tracing::info!("reading the record again, as of {as_of}");
                }
                Some(found)
            }
            Err(error) => {
                let text = error.to_string();
                if failure.as_ref() != Some(&text) {
                    tracing::error!("{text}; serving what is there, of {as_of}");
                }
                *failure = Some(text);
                None
            }
        }
    }
}
