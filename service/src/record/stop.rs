//! A store that refuses batches once the server is told to stop.

use std::sync::atomic::{AtomicBool, Ordering};

use mesonet::store::{ReaderWrapper, Receipt, StoreError, VerdictFn};
use mesonet::{Batch, Reader, Store};

/// A store for taking in files that can stop between two batches. What was stored before is kept.
/// The files are read again after the next start, or sent again.
pub struct StopGuard<'a> {
    pub store: &'a dyn Store,
    pub stopped: &'a AtomicBool,
}

impl Store for StopGuard<'_> {
    fn append(&self, batch: &Batch, judge: &mut VerdictFn<'_>) -> Result<Receipt, StoreError> {
        if self.stopped.load(Ordering::Relaxed) {
            let (path, cause) = ("the record".to_owned(), "the server is stopping".to_owned());
            return Err(StoreError::Storage { path, cause });
        }
        self.store.append(batch, judge)
    }
}

impl ReaderWrapper for StopGuard<'_> {
    fn wrapped(&self) -> &dyn Reader {
        self.store
    }
}

#[cfg(test)]
mod tests {
    use mesonet::MemoryStore;
    use mesonet::store::no_verdicts;

    use super::*;
    use crate::testing::station;

    #[test]
    fn what_was_stored_before_is_kept_and_nothing_is_added() {
        let (known, stopped) = (MemoryStore::default(), AtomicBool::new(false));
        let store = StopGuard { store: &known, stopped: &stopped };
        let batch = |name| Batch { stations: vec![station(name)], reports: vec![] };
        store.append(&batch("KAAA"), &mut no_verdicts).unwrap();
        stopped.store(true, Ordering::Relaxed);
        let refused = store.append(&batch("KBBB"), &mut no_verdicts).unwrap_err();
        assert_eq!(refused.to_string(), "the record: the server is stopping");
        assert_eq!(known.directory().unwrap().stations.len(), 1);
    }
}
