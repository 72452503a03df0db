//! A store that takes nothing more once the server is told to stop.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use mesonet::{
    Batch, Directory, Judge, Reader, Receipt, Selection, SeriesSlice, Store, StoreError,
};

/// A store for files that are read in: between two batches is where they may stop. What was
/// stored before stays; the files are read again after the next start, or sent again.
pub struct UntilTold<'a> {
    pub store: &'a dyn Store,
    pub told: &'a AtomicBool,
}

impl Store for UntilTold<'_> {
    fn append(&self, batch: &Batch, judge: &mut Judge<'_>) -> Result<Receipt, StoreError> {
        if self.told.load(Ordering::Relaxed) {
            let (path, cause) = ("the record".to_owned(), "the server stops".to_owned());
            return Err(StoreError::Storage { path, cause });
        }
        self.store.append(batch, judge)
    }
}

impl Reader for UntilTold<'_> {
    fn directory(&self) -> Result<Arc<Directory>, StoreError> {
        self.store.directory()
    }

    fn scan(
        &self,
        selection: &Selection<'_>,
        visit: &mut dyn FnMut(usize, &[SeriesSlice<'_>]),
    ) -> Result<(), StoreError> {
        self.store.scan(selection, visit)
    }
}
