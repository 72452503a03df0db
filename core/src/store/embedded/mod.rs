//! The on-disk store.
//!
//! - `lock`: held while a process has the folder open; names that process.
//! - `mesonet.sqlite`: everything that changes: the journal of fresh batches, the stations, the
//!   series and the catalogue of segments. A batch is on disk once its transaction is.
//! - `alerts.sqlite`: the alerts, see [`AlertStore`](crate::store::AlertStore).
//! - `mesonet.count`, `alerts.count`: how many changes the databases have acknowledged.
//! - `segments/`: sealed readings in Arrow files, memory-mapped and never changed.
//! - `damaged/`: segments that were found damaged and set aside.
//! - `orphaned/`: segments that are not in the catalogue.
//!
//! Fresh readings are also in memory, in the same form as sealed ones: a [`run`](run::SortedRun) of
//! columns by station, series and time. For readings of the same time, the newer run wins; a
//! reading overtaken by a higher revision never gets into a run. Readers hold an immutable view of
//! the runs. Sealing and merging write a new file, ensure that it is on disk, and swap it for its
//! sources in one transaction, so the process may be killed at any moment.
//!
//! SQLite treats the first wrong checksum as the end of its write-ahead log. So damage to that file
//! looks like an unfinished write: the batches after the damage, since the last checkpoint, are
//! lost. The [`count`](count) beside the database reveals the loss.

pub(super) mod access;
pub(super) mod alert_file;
mod catalogue;
mod changes;
mod codec;
mod contents;
mod copy;
mod count;
mod duplicate;
mod fault;
mod folder;
mod frozen;
mod maintain;
mod mapped;
mod merge;
pub(super) mod names;
mod open;
mod packed;
mod reader;
mod rebuild;
mod report_texts;
mod run;
mod run_builder;
mod segment;
mod segment_batches;
mod segment_file;
mod segment_note;
mod segment_rows;
mod series_table;
mod station_codec;
mod stations;
mod store_state;
mod survey;
mod sweep;
mod unwritten;
mod verify;
mod view;
mod walk;
mod weather_table;
mod write;

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arc_swap::ArcSwap;

use super::{Reader, ReaderWrapper, Receipt, Store, StoreError, VerdictFn};
use crate::observation::Batch;
use catalogue::{Lost, RecordCatalogue};
use fault::Faults;
pub use fault::{Fault, StoreHealth};
use folder::Folder;
pub use frozen::{FrozenSegment, FrozenStore};
pub use reader::EmbeddedReader;
pub use survey::{Survey, WouldGo};
pub use unwritten::share_folder;
use view::View;
use write::WriterState;

/// Options of an [`EmbeddedStore`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EmbeddedOptions {
    /// Number of fresh readings at which [`EmbeddedStore::maintain`] seals them into a segment.
    pub seal_readings: usize,
    /// Number of readings at which a segment is no longer merged into a larger one.
    pub segment_readings: usize,
}

impl Default for EmbeddedOptions {
    fn default() -> Self {
        Self { seal_readings: 1_000_000, segment_readings: 16_000_000 }
    }
}

/// What maintenance does in addition to sealing and merging.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Maintenance {
    /// The retention cutoff to set first, see [`retain_from`](EmbeddedStore::retain_from); `None`
    /// leaves it unchanged.
    pub retain_from_ms: Option<i64>,
    /// Whether to seal all fresh readings, however few.
    pub seal_all: bool,
}

/// What maintenance did.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let dir = folder.path();
/// # use mesonet::{EmbeddedStore, Intake, intake::FeedFile, store::EmbeddedOptions};
/// # let csv = "raw_text,station_id,observation_time,latitude,longitude\n\
/// #     CYYZ 032000Z 24012G20KT 15SM 29/17 A2991,CYYZ,2024-08-03T20:00:00Z,43.68,-79.63\n";
/// # let store = EmbeddedStore::open(dir, EmbeddedOptions::default())?;
/// # Intake::default().read_file(&store, csv.as_bytes(), &FeedFile::new("metars.csv", 0))?;
/// // The store has one report of Toronto Pearson: 29 °C, wind 12 kt with gusts of 20 kt.
/// use mesonet::store::{MaintenanceReport, Maintenance, StoreHealth};
/// let seal_all = Maintenance { seal_all: true, ..Maintenance::default() };
/// let done: MaintenanceReport = store.maintain(&seal_all)?;
/// let health: StoreHealth = store.health();
/// assert!(done.sealed_readings > 0 && health.sealed_readings == done.sealed_readings);
/// assert_eq!((health.segments, health.fresh_readings), (1, 0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MaintenanceReport {
    /// Number of readings that were sealed. Here and in all counts of a store on disk, the present
    /// weather of a report counts as a reading.
    pub sealed_readings: u64,
    /// Number of segments that were merged into larger ones.
    pub merged_segments: usize,
    /// Number of segments of an earlier version that were written anew.
    pub rewritten_segments: usize,
    /// Number of segments that were deleted because they were too old.
    pub expired_segments: usize,
    /// Number of readings in them.
    pub expired_readings: u64,
    /// Damaged files that were set aside.
    pub set_aside: Vec<Fault>,
}

/// The result of a check of all files.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let dir = folder.path();
/// # use mesonet::{EmbeddedStore, Intake, intake::FeedFile, store::EmbeddedOptions};
/// # let csv = "raw_text,station_id,observation_time,latitude,longitude\n\
/// #     CYYZ 032000Z 24012G20KT 15SM 29/17 A2991,CYYZ,2024-08-03T20:00:00Z,43.68,-79.63\n";
/// # let store = EmbeddedStore::open(dir, EmbeddedOptions::default())?;
/// # Intake::default().read_file(&store, csv.as_bytes(), &FeedFile::new("metars.csv", 0))?;
/// // The store has one report of Toronto Pearson: 29 °C, wind 12 kt with gusts of 20 kt.
/// use mesonet::store::{Fault, Maintenance, VerifyReport};
/// store.maintain(&Maintenance { seal_all: true, ..Maintenance::default() })?;
/// drop(store);
/// let intact: VerifyReport = EmbeddedStore::verify(dir, false)?;
/// assert_eq!((intact.stations, intact.segments, &*intact.faults), (1, 1, &[][..]));
/// let segment = dir.join("segments/00000001.arrow");
/// let mut bytes = std::fs::read(&segment)?;
/// bytes[1000] ^= 1;
/// std::fs::write(&segment, bytes)?;
/// let fault: &Fault = &EmbeddedStore::verify(dir, false)?.faults[0];
/// assert_eq!(fault.file, "segments/00000001.arrow");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VerifyReport {
    /// Number of stations on record.
    pub stations: usize,
    /// Number of sealed segments that were checked.
    pub segments: usize,
    /// Number of readings in them.
    pub sealed_readings: u64,
    /// Total size of their files.
    pub sealed_bytes: u64,
    /// Number of journal batches that were checked.
    pub journal_batches: usize,
    /// Number of readings in them.
    pub journal_readings: u64,
    /// Number of texts of reports, sealed or in the journal.
    pub reports: u64,
    /// Number of sealed segments of texts that were checked.
    pub text_segments: usize,
    /// Total size of their files.
    pub text_bytes: u64,
    /// Number of alerts that were checked.
    pub alerts: usize,
    /// The faults found; empty for an intact store.
    pub faults: Vec<Fault>,
    /// The faults that were set aside, if that was requested.
    pub set_aside: Vec<Fault>,
}

/// The content of a rebuilt catalogue.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let dir = folder.path();
/// # use mesonet::{EmbeddedStore, Intake, intake::FeedFile, store::EmbeddedOptions};
/// # let csv = "raw_text,station_id,observation_time,latitude,longitude\n\
/// #     CYYZ 032000Z 24012G20KT 15SM 29/17 A2991,CYYZ,2024-08-03T20:00:00Z,43.68,-79.63\n";
/// # let store = EmbeddedStore::open(dir, EmbeddedOptions::default())?;
/// # Intake::default().read_file(&store, csv.as_bytes(), &FeedFile::new("metars.csv", 0))?;
/// // The store has one report of Toronto Pearson: 29 °C, wind 12 kt with gusts of 20 kt.
/// use mesonet::Reader;
/// use mesonet::store::{Maintenance, RebuildReport};
/// let sealed = store.maintain(&Maintenance { seal_all: true, ..Maintenance::default() })?;
/// drop(store);
/// assert!(EmbeddedStore::rebuild(dir).is_err(), "the catalogue is intact");
/// std::fs::remove_file(dir.join("mesonet.sqlite"))?;
/// let report: RebuildReport = EmbeddedStore::rebuild(dir)?;
/// assert_eq!((report.stations, report.readings), (1, sealed.sealed_readings));
/// let store = EmbeddedStore::open(dir, EmbeddedOptions::default())?;
/// assert_eq!(store.directory()?.stations.len(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RebuildReport {
    /// Number of stations.
    pub stations: usize,
    /// Number of segments.
    pub segments: usize,
    /// Number of readable readings in them; a corrected reading counts once per segment that holds
    /// it.
    pub readings: u64,
    /// Number of segments of texts of reports.
    pub text_segments: usize,
    /// Number of texts in them.
    pub reports: u64,
    /// Number of fresh batches taken over from the old catalogue.
    pub journal_batches: usize,
    /// Whether there was an old catalogue, which is now in `damaged/`.
    pub catalogue_kept: bool,
    /// The parts that could not be recovered.
    pub faults: Vec<Fault>,
}

/// A store in a folder. Readings are on disk when [`append`](Store::append) returns.
///
/// Only one process can have a folder open, and one thread writes to it at a time; readers never
/// wait. Other processes can read it at the same time through an [`EmbeddedReader`]. Call
/// [`maintain`](Self::maintain) from time to time on a separate thread: it seals fresh readings
/// into memory-mapped files, so the time to open the store does not grow with its content.
///
/// ```
/// use mesonet::{Batch, EmbeddedStore, Reader, Store};
/// use mesonet::store::{EmbeddedOptions, Maintenance, no_verdicts};
/// # let folder = tempfile::tempdir()?;
/// # let dir = folder.path();
/// let store = EmbeddedStore::open(dir, EmbeddedOptions::default())?;
/// store.append(&Batch::default(), &mut no_verdicts)?;
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
    /// Whether the folder held no data when it was opened.
    is_new: bool,
    /// The number of unfinished files that were deleted at that time.
    swept_files: usize,
    /// The view that readers clone and hold, without waiting.
    view: ArcSwap<View>,
    /// The last batch in that view.
    last_batch: AtomicU64,
    /// A connection that reads the journal, so that nobody waits for the writer. Declared before
    /// that of the writer, which must be the last to be closed.
    journal: Mutex<Option<RecordCatalogue>>,
    faults: Arc<Faults>,
    state: Mutex<WriterState>,
    /// Locked while segments are written.
    maintenance: Mutex<()>,
    /// Declared last, so that the folder is unlocked after everything else is closed.
    folder: Folder,
}

impl EmbeddedStore {
    /// Opens the store in a folder, creating it if needed.
    ///
    /// Nothing that may be data is deleted: a segment that is not in the catalogue is moved to
    /// `orphaned/`, and [`health`](Self::health) reports it.
    ///
    /// # Errors
    /// The folder is open in another store, was written by a different version, or cannot be read
    /// or written. Or it holds data but no catalogue; nothing is written to it then.
    pub fn open(dir: &Path, options: EmbeddedOptions) -> Result<Self, StoreError> {
        let (folder, is_new) = contents::create(dir)?;
        let faults: Arc<Faults> = Arc::default();
        let (state, swept_files) = open::load(&folder, is_new, &faults)?;
        let is_new = is_new
            && state.stations.len() == 0
            && state.view.segments.is_empty()
            && faults.list().is_empty();
        let view = ArcSwap::new(Arc::clone(&state.view));
        let last_batch = AtomicU64::new(state.last_batch);
        let (state, maintenance, journal) = (Mutex::new(state), Mutex::new(()), Mutex::new(None));
        Ok(Self {
            options,
            is_new,
            swept_files,
            view,
            last_batch,
            journal,
            faults,
            state,
            maintenance,
            folder,
        })
    }

    /// Seals, merges and expires what is due, and sets damaged files aside. Appends and reads
    /// continue at the same time.
    ///
    /// # Errors
    /// The store cannot be read or written. Work done until then stays done.
    pub fn maintain(&self, maintenance: &Maintenance) -> Result<MaintenanceReport, StoreError> {
        self.maintain_all(maintenance)
    }

    /// Moves the retention cutoff, forward or back; `i64::MIN` keeps everything. Readings before
    /// the cutoff are neither served nor taken in, and [`maintain`](Self::maintain) deletes the
    /// segments that are entirely before it.
    ///
    /// When the cutoff goes back, readings that have not been deleted yet are served again. Answers
    /// lack readings that have been deleted, and say so in the same way as for damaged blocks.
    ///
    /// # Errors
    /// The store cannot be written; the cutoff stays where it was.
    pub fn retain_from(&self, retain_from_ms: i64) -> Result<(), StoreError> {
        self.move_cutoff(retain_from_ms)
    }

    /// Checks every file of the store in a folder that no process has open.
    ///
    /// Nothing is written, so the disk may be full or mounted read-only. A part that was set aside
    /// before, and not accepted as lost, is a fault too. If `set_aside` is true, damage is then set
    /// aside, where possible, and accepted as lost: segments, journal batches, alerts, and the
    /// record that acknowledged batches or segments are missing. To accept the loss of single
    /// segments, use [`give_up`](Self::give_up).
    ///
    /// # Errors
    /// The same as for [`open`](Self::open).
    pub fn verify(dir: &Path, set_aside: bool) -> Result<VerifyReport, StoreError> {
        verify::verify(dir, set_aside)
    }

    /// Accepts that segments are lost: missing segments, and segments that were set aside before.
    /// Give the names that [`verify`](Self::verify) gives; it no longer lists them afterwards.
    /// Answers about their time still say that they lack readings. Returns the faults of the
    /// segments.
    ///
    /// # Errors
    /// A file is not missing; then nothing is changed. Or the folder is open in another process, or
    /// cannot be read or written.
    pub fn give_up(dir: &Path, files: &[String]) -> Result<Vec<Fault>, StoreError> {
        verify::give_up(dir, files)
    }

    /// Rebuilds the catalogue of a folder from its segments, if the catalogue is missing, damaged
    /// or older than the segments. Each segment file describes itself: readings, verdicts, series
    /// and stations come back as they were when the last segment was written. Readable parts of the
    /// old catalogue, such as fresh batches, are taken over, and the old file is kept in
    /// `damaged/`. Segments in `orphaned/` are put back.
    ///
    /// # Errors
    /// The catalogue is intact and lists every segment; then nothing is changed. Or the folder is
    /// open in another process, or cannot be read or written.
    pub fn rebuild(dir: &Path) -> Result<RebuildReport, StoreError> {
        rebuild::rebuild(dir)
    }

    /// Copies the changing parts of the store in a folder, the databases and their counts, into
    /// another folder, as they are at one moment. The sealed segments never change; they are
    /// opened, not copied. Another process, or this one, may write to the store at the same time,
    /// and nobody waits.
    ///
    /// Everything that was acknowledged before the call is in the copy.
    ///
    /// # Errors
    /// There is no store in the folder, it was written by a different version, it is damaged, or the
    /// copy cannot be written.
    pub fn freeze(dir: &Path, into: &Path) -> Result<FrozenStore, StoreError> {
        frozen::freeze(dir, into)
    }

    /// Surveys the store in a folder that no process has open, to find out what dropping readings
    /// would remove. Nothing is written.
    ///
    /// # Errors
    /// The folder is open in another process, was written by a different version, or cannot be
    /// read.
    pub fn survey(dir: &Path) -> Result<Survey, StoreError> {
        Survey::open(dir)
    }

    /// Returns the state of the store.
    pub fn health(&self) -> StoreHealth {
        let health = self.view.load().health(self.faults.list());
        StoreHealth { swept_files: self.swept_files, ..health }
    }

    /// Whether the folder held no data of any kind when it was opened: no readings, alerts,
    /// products or model runs. Files of other programs do not count.
    pub fn is_new(&self) -> bool {
        self.is_new
    }

    /// Returns a small text stored with [`meta_set`](Self::meta_set).
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn meta_get(&self, name: &str) -> Result<Option<String>, StoreError> {
        self.state().catalogue.meta(&user_name(name))
    }

    /// Stores a small text alongside the readings, such as where they came from.
    ///
    /// # Errors
    /// The store cannot be written.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let dir = folder.path();
    /// use mesonet::{EmbeddedStore, store::EmbeddedOptions};
    /// let store = EmbeddedStore::open(dir, EmbeddedOptions::default())?;
    /// assert!(store.is_new());
    /// store.meta_set("origin", "METAR of Canada, August 2024")?;
    /// drop(store);
    /// let store = EmbeddedStore::open(dir, EmbeddedOptions::default())?;
    /// assert_eq!(store.meta_get("origin")?.as_deref(), Some("METAR of Canada, August 2024"));
    /// assert_eq!(store.meta_get("licence")?, None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn meta_set(&self, name: &str, text: &str) -> Result<(), StoreError> {
        let name = user_name(name);
        let mut state = self.state();
        state.catalogue.transaction(|transaction| catalogue::set_meta(transaction, &name, text))
    }

    // If a panic poisoned the lock, the next writer undoes what it left behind.
    fn state(&self) -> MutexGuard<'_, WriterState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn publish(&self, state: &mut WriterState) {
        state.publish();
        self.view.store(Arc::clone(&state.view));
    }
}

/// Keeps the texts of callers apart from the store's own.
fn user_name(name: &str) -> String {
    format!("user.{name}")
}

impl ReaderWrapper for EmbeddedStore {
    fn wrapped(&self) -> &dyn Reader {
        &self.view
    }
}

impl Store for EmbeddedStore {
    fn append(&self, batch: &Batch, judge: &mut VerdictFn<'_>) -> Result<Receipt, StoreError> {
        let mut state = self.state();
        let receipt = state.append(batch, judge)?;
        self.view.store(Arc::clone(&state.view));
        self.last_batch.store(state.last_batch, Ordering::Release);
        Ok(receipt)
    }
}

#[cfg(test)]
mod changes_tests;
#[cfg(test)]
mod count_tests;
#[cfg(test)]
mod damage_tests;
#[cfg(test)]
mod frozen_tests;
#[cfg(test)]
mod moved_tests;
#[cfg(test)]
mod reader_tests;
#[cfg(test)]
mod rebuild_tests;
#[cfg(test)]
mod retention_tests;
#[cfg(test)]
mod set_aside_tests;
#[cfg(test)]
mod start_tests;
#[cfg(test)]
pub(in crate::store) mod testing;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod text_tests;
#[cfg(test)]
mod unwritten_tests;
#[cfg(test)]
mod version_6;
#[cfg(test)]
mod weather_tests;
