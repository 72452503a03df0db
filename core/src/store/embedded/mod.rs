//! The store on disk.
//!
//! - `lock`: held while a process has the folder open.
//! - `mesonet.sqlite`: what changes. The journal of fresh batches, the stations, the series, the
//!   catalogue of segments. A batch is on disk when its transaction is.
//! - `alerts.sqlite`: the alerts, see [`AlertStore`](crate::AlertStore).
//! - `mesonet.count`, `alerts.count`: how many changes the databases have acknowledged.
//! - `segments/`: sealed readings in Arrow files, mapped into memory, never changed.
//! - `damaged/`: segments that were found damaged and set aside.
//! - `orphaned/`: segments that were found beside those of the catalogue.
//!
//! Fresh readings are in memory too, in the same shape as sealed ones: a [`run`](run::Run) of
//! columns by station, series and time. At the same time the newer run wins; a reading that a
//! higher revision has overtaken never gets into a run. Readers hold a view of runs that does not
//! change. Sealing and merging write a new file, make sure that it is on disk, and put it in the
//! place of what it was made from by one transaction: a process may be killed at any moment.
//!
//! SQLite's write-ahead log ends where a checksum of its own is wrong. Damage to that file is
//! therefore taken for a write that was not finished: the batches after it, since the last
//! checkpoint, are lost. The [`count`](count) beside the database tells that they are.

pub(super) mod alert_file;
mod catalogue;
mod codec;
mod count;
mod fault;
mod folder;
mod maintain;
mod mapped;
mod merge;
mod open;
mod rebuild;
mod run;
mod segment;
mod segment_file;
mod segment_note;
mod segment_rows;
mod series_table;
mod stations;
mod survey;
mod sweep;
mod unwritten;
mod verify;
mod view;
mod write;

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arc_swap::ArcSwap;

use super::{Damage, Directory, Judge, Reader, Receipt, Selection, SeriesSlice, Store, StoreError};
use crate::report::Batch;
use fault::Faults;
pub use fault::{Fault, StoreHealth};
use folder::Folder;
pub use survey::{Survey, WouldGo};
use view::View;
use write::State;

/// How a store on disk is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EmbeddedOptions {
    /// Fresh readings from which on [`EmbeddedStore::maintain`] seals them into a segment.
    pub seal_readings: usize,
    /// Readings of a segment from which on it is not merged into a greater one.
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
    /// Readings in them.
    pub expired_readings: u64,
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
    /// Alerts that were checked.
    pub alerts: usize,
    /// What is wrong; none for a store that is whole.
    pub faults: Vec<Fault>,
    /// Those of the faults that were set aside, where that was asked for.
    pub set_aside: Vec<Fault>,
}

/// What a catalogue that was made anew knows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RebuildReport {
    /// Stations.
    pub stations: usize,
    /// Segments.
    pub segments: usize,
    /// Readings in them that can be read; a corrected one counts once for each segment that holds it.
    pub readings: u64,
    /// Fresh batches that were taken over from the old catalogue.
    pub journal_batches: usize,
    /// Whether there was an old catalogue, which is in `damaged/` now.
    pub catalogue_kept: bool,
    /// What could not be recovered.
    pub faults: Vec<Fault>,
}

/// A store in a folder: readings that are on disk when [`append`](Store::append) returns.
///
/// One process has a folder open at a time, and one thread writes to it at a time; readers wait for
/// nobody. Call [`maintain`](Self::maintain) now and then, from a thread of its own: it seals fresh
/// readings into files that are mapped into memory, so that the time to open the store does not
/// grow with what is in it.
///
/// ```
/// use mesonet::{Batch, EmbeddedOptions, EmbeddedStore, Maintenance, Reader, Store, unjudged};
/// # let folder = tempfile::tempdir()?;
/// # let dir = folder.path();
/// let store = EmbeddedStore::open(dir, EmbeddedOptions::default())?;
/// store.append(&Batch::default(), &mut unjudged)?;
/// store.maintain(&Maintenance::default())?;
/// assert_eq!(store.health().faults, []);
/// assert!(EmbeddedStore::open(dir, EmbeddedOptions::default()).is_err(), "it is open already");
/// drop(store);
/// assert_eq!(EmbeddedStore::verify(dir, false)?.faults, []);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct EmbeddedStore {
    options: EmbeddedOptions,
    /// Whether nothing was in the folder when it was opened.
    is_new: bool,
    /// How many files of unfinished work were deleted then.
    swept_files: usize,
    /// What readers see: they take it and hold it, and wait for nobody.
    view: ArcSwap<View>,
    faults: Arc<Faults>,
    state: Mutex<State>,
    /// Held while segments are written.
    maintenance: Mutex<()>,
    /// Last, so that the lock of the folder goes when all else is closed.
    folder: Folder,
}

impl EmbeddedStore {
    /// Opens the store of a folder, which is made if there is none.
    ///
    /// Nothing that may be someone's data is deleted: a segment that the catalogue does not know is
    /// moved to `orphaned/` and named by [`health`](Self::health).
    ///
    /// # Errors
    /// A folder that another store has open, that a different version wrote, or that cannot be
    /// read or written; one that holds data but no catalogue, which nothing is written to.
    pub fn open(dir: &Path, options: EmbeddedOptions) -> Result<Self, StoreError> {
        let (folder, is_new) = Folder::create(dir)?;
        let faults: Arc<Faults> = Arc::default();
        let (state, swept_files) = open::load(&folder, is_new, &faults)?;
        let is_new = is_new
            && state.stations.len() == 0
            && state.view.segments.is_empty()
            && faults.list().is_empty();
        let view = ArcSwap::new(Arc::clone(&state.view));
        let (state, maintenance) = (Mutex::new(state), Mutex::new(()));
        Ok(Self { options, is_new, swept_files, view, faults, state, maintenance, folder })
    }

    /// Seals, merges and expires what is due, and sets damaged files aside. Appending and reading
    /// go on meanwhile.
    ///
    /// # Errors
    /// A store that cannot read or write; what was done until then stays done.
    pub fn maintain(&self, maintenance: &Maintenance) -> Result<Maintained, StoreError> {
        self.maintain_all(maintenance)
    }

    /// Checks every file of the store in a folder that no process has open.
    ///
    /// Nothing is written: the folder may be on a disk that is full or mounted read-only. Only if
    /// `set_aside` says so, what is damaged is set aside afterwards, where it can be: segments,
    /// batches of the journal, alerts, and the note that acknowledged batches are missing.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn verify(dir: &Path, set_aside: bool) -> Result<VerifyReport, StoreError> {
        verify::verify(dir, set_aside)
    }

    /// Makes the catalogue of a folder anew from its segments, where it is missing, damaged, or older
    /// than they are. Each segment says in its file what is needed: readings, verdicts, series and
    /// stations come back as they were when the last one was written. What can be read of the old
    /// catalogue, such as fresh batches, is taken over, and the file is kept in `damaged/`; segments
    /// in `orphaned/` are put back.
    ///
    /// # Errors
    /// A catalogue that is whole and knows every segment: nothing is changed. A folder that a
    /// process has open, or that cannot be read or written.
    pub fn rebuild(dir: &Path) -> Result<RebuildReport, StoreError> {
        rebuild::rebuild(dir)
    }

    /// Looks at the store in a folder that no process has open, to tell what giving up readings
    /// would take from it. Nothing is written.
    ///
    /// # Errors
    /// A folder that a process has open, that a different version wrote, or that cannot be read.
    pub fn survey(dir: &Path) -> Result<Survey, StoreError> {
        Survey::open(dir)
    }

    /// How the store is.
    pub fn health(&self) -> StoreHealth {
        let view = self.view.load();
        let entries = || view.segments.iter().map(|segment| &segment.entry);
        StoreHealth {
            faults: self.faults.list(),
            newest_ms: view.newest_ms(),
            segments: view.segments.len(),
            sealed_readings: entries().map(|entry| entry.readings).sum(),
            fresh_readings: view.fresh.iter().map(|run| run.readings).sum(),
            sealed_bytes: entries().map(|entry| entry.length).sum(),
            swept_files: self.swept_files,
        }
    }

    /// Whether the folder held no data of any kind when it was opened: no readings, and no alerts,
    /// products or model runs beside them. Files of other programs do not count.
    pub fn is_new(&self) -> bool {
        self.is_new
    }

    /// A small text that was kept with [`meta_set`](Self::meta_set).
    ///
    /// # Errors
    /// A store that cannot read.
    pub fn meta_get(&self, name: &str) -> Result<Option<String>, StoreError> {
        self.state().catalogue.meta(&user_name(name))
    }

    /// Keeps a small text beside the readings, such as where they came from.
    ///
    /// # Errors
    /// A store that cannot write.
    pub fn meta_set(&self, name: &str, text: &str) -> Result<(), StoreError> {
        let name = user_name(name);
        let mut state = self.state();
        state.catalogue.transaction(|transaction| catalogue::set_meta(transaction, &name, text))
    }

    // What a panic may have left behind a poisoned lock is taken back by the next writer.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn publish(&self, state: &mut State) {
        state.publish();
        self.view.store(Arc::clone(&state.view));
    }
}

/// Texts of callers are kept apart from those that the store keeps for itself.
fn user_name(name: &str) -> String {
    format!("user.{name}")
}

impl Reader for EmbeddedStore {
    fn directory(&self) -> Result<Arc<Directory>, StoreError> {
        self.view.load().directory()
    }

    fn scan(
        &self,
        selection: &Selection<'_>,
        visit: &mut dyn FnMut(usize, &[SeriesSlice<'_>]),
    ) -> Result<Damage, StoreError> {
        self.view.load_full().scan(selection, visit)
    }
}

impl Store for EmbeddedStore {
    fn append(&self, batch: &Batch, judge: &mut Judge<'_>) -> Result<Receipt, StoreError> {
        let mut state = self.state();
        let receipt = state.append(batch, judge)?;
        self.view.store(Arc::clone(&state.view));
        Ok(receipt)
    }
}

#[cfg(test)]
mod count_tests;
#[cfg(test)]
mod damage_tests;
#[cfg(test)]
mod rebuild_tests;
#[cfg(test)]
mod start_tests;
#[cfg(test)]
pub(in crate::store) mod testing;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod unwritten_tests;
