//! How the looks at the record of another server went.

use std::fmt;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Mutex, PoisonError};

use mesonet::Iso8601;

/// The time of the last look that succeeded, and why the last one failed. A failure is logged when it begins and
/// when it ends, not at each look.
#[derive(Debug)]
pub(crate) struct Lookups {
    as_of_ms: AtomicI64,
    failure: Mutex<Option<String>>,
}

impl Lookups {
    pub(crate) fn new(as_of_ms: i64) -> Self {
        Self { as_of_ms: AtomicI64::new(as_of_ms), failure: Mutex::default() }
    }

    /// The record is as of this time.
    pub(crate) fn as_of_ms(&self) -> i64 {
        self.as_of_ms.load(Ordering::Relaxed)
    }

    /// Whether the last look failed.
    pub(crate) fn has_failed(&self) -> bool {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// Notes how a look went, and the time of the record that is there now. Returns what was found; `None` if
    /// the look failed.
    pub(crate) fn note<T>(
        &self,
        found: Result<T, impl fmt::Display>,
        as_of_ms: Option<i64>,
    ) -> Option<T> {
        if let Some(as_of_ms) = as_of_ms {
            self.as_of_ms.store(as_of_ms, Ordering::Relaxed);
        }
        let as_of = Iso8601(self.as_of_ms());
        let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
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
