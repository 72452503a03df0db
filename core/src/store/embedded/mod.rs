//! The store on disk.

mod fault;

use std::path::Path;
use std::sync::Arc;

use super::{Directory, Judge, Reader, Receipt, Selection, SeriesSlice, Store, StoreError};
use crate::report::Batch;
pub use fault::{Fault, StoreHealth};

/// How a store on disk is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EmbeddedOptions {
    /// Fresh readings from which on [`EmbeddedStore::maintain`] seals them into a segment.
    pub seal_readings: usize,
    /// Readings of a segment beyond which it is not merged into a greater one.
    pub segment_readings: usize,
}

impl Default for EmbeddedOptions {
    fn default() -> Self {
        Self { seal_readings: 1_000_000, segment_readings: 16_000_000 }
    }
}

/// What maintenance is to do besides sealing and merging.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Maintenance {
    /// Readings before this instant are given up, for good; `None` leaves the cutoff as it is. A
    /// cutoff never goes back.
    pub retain_from_ms: Option<i64>,
    /// Whether all fresh readings are sealed, however few.
    pub seal_all: bool,
}

/// What maintenance did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Maintained {
    /// Readings that were sealed.
    pub sealed_readings: u64,
    /// Segments that were merged into greater ones.
    pub merged_segments: usize,
    /// Segments that were deleted as too old.
    pub expired_segments: usize,
    /// Damaged files that were set aside.
    pub set_aside: Vec<Fault>,
}

/// What a check of all files found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VerifyReport {
    /// Stations on record.
    pub stations: usize,
    /// Sealed segments that were checked.
    pub segments: usize,
    /// Readings in them.
    pub sealed_readings: u64,
    /// Length of their files.
    pub sealed_bytes: u64,
    /// Batches in the journal that were checked.
    pub journal_batches: usize,
    /// Readings in them.
    pub journal_readings: u64,
    /// What is wrong; none for a store that is whole.
    pub faults: Vec<Fault>,
}

/// A store in a folder.
#[derive(Debug)]
pub struct EmbeddedStore {}

impl EmbeddedStore {
    /// Opens the store of a folder, which is made if there is none.
    ///
    /// # Errors
    /// A folder that another store has open, that a different version wrote, or that cannot be
    /// read or written.
    pub fn open(_dir: &Path, _options: EmbeddedOptions) -> Result<Self, StoreError> {
        todo!()
    }

    /// Seals, merges and expires what is due, and sets damaged files aside. Appending and reading
    /// go on meanwhile.
    ///
    /// # Errors
    /// A store that cannot read or write; what was done until then stays done.
    pub fn maintain(&self, _maintenance: &Maintenance) -> Result<Maintained, StoreError> {
        todo!()
    }

    /// Checks every file of the store in a folder that no process has open.
    ///
    /// Nothing is changed, except that damaged files are set aside if `set_aside` says so.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn verify(_dir: &Path, _set_aside: bool) -> Result<VerifyReport, StoreError> {
        todo!()
    }

    /// How the store is.
    pub fn health(&self) -> StoreHealth {
        todo!()
    }

    /// A small text that was kept with [`meta_set`](Self::meta_set).
    ///
    /// # Errors
    /// A store that cannot read.
    pub fn meta_get(&self, _name: &str) -> Result<Option<String>, StoreError> {
        todo!()
    }

    /// Keeps a small text beside the readings, such as where they came from.
    ///
    /// # Errors
    /// A store that cannot write.
    pub fn meta_set(&self, _name: &str, _text: &str) -> Result<(), StoreError> {
        todo!()
    }
}

impl Reader for EmbeddedStore {
    fn directory(&self) -> Result<Arc<Directory>, StoreError> {
        todo!()
    }

    fn scan(
        &self,
        _selection: &Selection<'_>,
        _visit: &mut dyn FnMut(usize, &[SeriesSlice<'_>]),
    ) -> Result<(), StoreError> {
        todo!()
    }
}

impl Store for EmbeddedStore {
    fn append(&self, _batch: &Batch, _judge: &mut Judge<'_>) -> Result<Receipt, StoreError> {
        todo!()
    }
}
