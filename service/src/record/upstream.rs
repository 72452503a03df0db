//! The record of a server that writes none: it serves the record of another server, some time
//! behind it.

use std::ops::Range;
use std::sync::Arc;

use mesonet::store::{
    AlertStore, ChangeLog, ReaderWrapper, Receipt, StoreError, StoreHealth, VerdictFn,
};
use mesonet::{Batch, Reader, StationId, Store};

use crate::clock::system_ms;

/// The record of another server, some time behind it.
pub trait Upstream: Send + Sync {
    /// The stations and readings.
    fn reader(&self) -> &dyn Reader;

    /// Reads what is new, and returns the stations that changed. A record that cannot be read is
    /// logged once.
    fn update(&self) -> UpdatedStations;

    /// Everything that the other server had acknowledged before this time is in the record.
    fn as_of_ms(&self) -> i64;

    /// The age of that time in seconds; 0 if the clocks of the two servers differ by more than the
    /// age.
    fn behind_s(&self) -> f64 {
        (system_ms() - self.as_of_ms()).max(0) as f64 / 1000.0
    }

    /// Keeps recent readings in memory, as [`Record::keep_recent`](super::Record::keep_recent) does.
    ///
    /// # Errors
    /// The record cannot be read.
    fn keep_recent(&self, _span_ms: Range<i64>, _most_bytes: usize) -> Result<(), StoreError> {
        Ok(())
    }

    /// The alerts.
    fn alerts(&self) -> &Arc<AlertStore>;

    /// The state of the store.
    fn health(&self) -> StoreHealth;

    /// What the last batches changed, as far as they have been read.
    fn change_log(&self) -> &dyn ChangeLog;

    /// A name that changes when the record of yet another server takes its place.
    fn record_name(&self) -> String {
        String::new()
    }

    /// What keeps the record from being read.
    fn trouble(&self) -> Option<&'static str>;

    /// The answer to a caller that tries to write to the record.
    fn takes_nothing(&self) -> &'static str;
}

/// The stations with new data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UpdatedStations {
    None,
    Stations(Vec<StationId>),
    All,
}

impl UpdatedStations {
    /// All if the record is another one than before.
    pub(crate) fn all_if(is_new: bool) -> Self {
        if is_new { Self::All } else { Self::None }
    }
}

/// The store of a server that writes none.
pub struct ReadOnlyStore(pub Arc<dyn Upstream>);

impl ReaderWrapper for ReadOnlyStore {
    fn wrapped(&self) -> &dyn Reader {
        self.0.reader()
    }
}

impl Store for ReadOnlyStore {
    fn append(&self, _: &Batch, _: &mut VerdictFn<'_>) -> Result<Receipt, StoreError> {
        let (path, cause) = ("the record".to_owned(), self.0.takes_nothing().to_owned());
        Err(StoreError::Unavailable { path, cause })
    }
}
