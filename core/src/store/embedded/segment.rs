//! A sealed segment: a run in an Arrow IPC file, opened when it is first read.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::catalogue::SegmentEntry;
use super::fault::{Fault, Faults};
use super::mapped::{MappedFile, Unmapped, missing};
use super::packed::{PackedRun, is_packed, read_packed};
use super::run::SortedRun;
use super::segment_batches::schema_of;
use super::segment_note::{footer_schema, read_series};
use super::segment_rows::read_run;
use super::series_table::SeriesList;
use super::walk::RunRef;
use crate::observation::{SeriesId, SeriesKey};
use crate::time::ClosedWindow;

/// A segment in the catalogue.
#[derive(Debug)]
pub(super) struct Segment {
    pub entry: SegmentEntry,
    path: PathBuf,
    /// The file, if it was opened before it is read.
    held: OnceLock<Arc<MappedFile>>,
    run: OnceLock<SegmentRun>,
    /// Why none of it can ever be read.
    gone: OnceLock<Fault>,
    /// Why it could not be read the last time; it may be readable next time.
    refused: Mutex<Option<Fault>>,
    /// Locked while it is opened.
    opening: Mutex<()>,
    /// Whether the file is deleted after the last reader.
    obsolete: AtomicBool,
    faults: Arc<Faults>,
}

/// The readings of a segment.
#[derive(Debug)]
enum SegmentRun {
    /// Of a file before version 7.
    Rows(SortedRun),
    Packed(PackedRun),
}

impl SegmentRun {
    fn as_ref(&self) -> RunRef<'_> {
        match self {
            Self::Rows(run) => RunRef::Rows(run),
            Self::Packed(run) => RunRef::Packed(run),
        }
    }
}

impl Segment {
    pub(super) fn new(dir: &Path, entry: SegmentEntry, faults: &Arc<Faults>) -> Self {
        Self {
            path: dir.join(entry.file()),
            entry,
            held: OnceLock::new(),
            run: OnceLock::new(),
            gone: OnceLock::new(),
            refused: Mutex::default(),
            opening: Mutex::default(),
            obsolete: AtomicBool::new(false),
            faults: Arc::clone(faults),
        }
    }

    /// A segment whose file is opened at once, so that it can be read even if another process
    /// deletes it.
    pub(super) fn held(dir: &Path, entry: SegmentEntry, faults: &Arc<Faults>) -> Self {
        let segment = Self::new(dir, entry, faults);
        match segment.map(faults) {
            Ok(mapped) => _ = segment.held.set(mapped),
            Err(Unmapped::Refused(fault)) => segment.refuse(Some(fault)),
            Err(Unmapped::Gone(fault)) => {
                faults.note(fault.clone());
                let _ = segment.gone.set(fault);
            }
        }
        segment
    }

    /// If the file is missing, notes that. Reads nothing of it.
    pub(super) fn look(&self) {
        let found = fs::metadata(&self.path);
        if found.is_err_and(|error| error.kind() == io::ErrorKind::NotFound) {
            self.refuse(Some(missing(&self.entry.file())));
        }
    }

    /// Notes why the file cannot be read now; `None` if it can be read.
    fn refuse(&self, fault: Option<Fault>) {
        let mut refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(before) = refused.take() {
            self.faults.forget(&before);
        }
        if let Some(fault) = &fault {
            self.faults.note(fault.clone());
        }
        *refused = fault;
    }

    /// Whether it could not be read the last time, but may be readable next time.
    pub(super) fn is_refused(&self) -> bool {
        self.refused.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// Whether any reading may lie in a window.
    pub(super) fn overlaps(&self, window: ClosedWindow) -> bool {
        self.entry.first_ms <= window.end_ms() && self.entry.last_ms >= window.start_ms()
    }

    /// Returns the readings, parts of which may be damaged; `None` if nothing can be read, now or
    /// ever.
    pub(super) fn run(&self, series: &SeriesList) -> Option<RunRef<'_>> {
        if let Some(run) = self.run.get() {
            return Some(run.as_ref());
        }
        let _one_at_a_time = self.opening.lock().unwrap_or_else(PoisonError::into_inner);
        if self.run.get().is_none() && self.gone.get().is_none() {
            let held = self.held.get().cloned().map_or_else(|| self.map(&self.faults), Ok);
            match held.and_then(|mapped| self.read(&mapped, series)) {
                Ok(run) => {
                    self.refuse(None);
                    let _ = self.run.set(run);
                }
                Err(Unmapped::Refused(fault)) => self.refuse(Some(fault)),
                Err(Unmapped::Gone(fault)) => {
                    self.faults.note(fault.clone());
                    let _ = self.gone.set(fault);
                }
            }
        }
        self.run.get().map(SegmentRun::as_ref)
    }

    fn map(&self, faults: &Arc<Faults>) -> Result<Arc<MappedFile>, Unmapped> {
        let (file, checksums) = (self.entry.file(), self.entry.checksums.clone());
        MappedFile::open(&self.path, &file, self.entry.length, checksums, faults).map(Arc::new)
    }

    fn read(&self, mapped: &Arc<MappedFile>, series: &SeriesList) -> Result<SegmentRun, Unmapped> {
        let (file, entry) = (self.entry.file(), &self.entry);
        let read = match series_numbers(mapped, series) {
            Some(Ok(numbers)) => read_packed(mapped, &file, entry, numbers).map(SegmentRun::Packed),
            Some(Err(cause)) => Err(Fault::new(&file, cause)),
            None => read_run(mapped, &file, entry, series).map(SegmentRun::Rows),
        };
        read.map_err(Unmapped::Gone)
    }

    /// Whether it is in a form that is no longer written; `false` if it cannot be read.
    pub(super) fn is_old(&self, series: &SeriesList) -> bool {
        matches!(self.run(series), Some(RunRef::Rows(_)))
    }

    /// Checks the whole file again, every block and the order of its content. Returns the faults.
    pub(super) fn verify(&self, series: &SeriesList) -> Vec<Fault> {
        let faults = Arc::new(Faults::default());
        match self.map(&faults).and_then(|mapped| Ok((self.read(&mapped, series)?, mapped))) {
            Ok((run, mapped)) => {
                mapped.check_all();
                if let Err(cause) = run.as_ref().check_times() {
                    faults.note(Fault::new(self.entry.file(), cause));
                }
            }
            Err(Unmapped::Refused(fault)) => faults.note(fault),
            // If there are several faults, the cause comes first.
            Err(Unmapped::Gone(fault)) if faults.list().is_empty() => faults.note(fault),
            Err(Unmapped::Gone(_)) => {}
        }
        faults.list()
    }

    /// Why none of it can ever be read.
    pub(super) fn gone(&self) -> Option<&Fault> {
        self.gone.get()
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Marks the file to be deleted when the last reader is done.
    pub(super) fn retire(&self) {
        self.obsolete.store(true, Ordering::Release);
    }
}

/// Returns the series of a packed file by their number, each with its index in the store's table;
/// `None` if the file is not packed.
fn series_numbers(
    mapped: &MappedFile,
    series: &SeriesList,
) -> Option<Result<Vec<(SeriesId, u32)>, String>> {
    let schema = schema_of(mapped).or_else(|| footer_schema(mapped))?;
    if !is_packed(&schema) {
        return None;
    }
    let number = |key: &SeriesKey| {
        let slot = series.slot_of(key);
        slot.map(|slot| (key.id(), slot)).ok_or_else(|| format!("unknown series {}", key.id()))
    };
    Some(read_series(&schema).and_then(|keys| keys.iter().map(number).collect()))
}

impl Drop for Segment {
    fn drop(&mut self) {
        if *self.obsolete.get_mut() {
            // A file left behind is cleaned up when the store is next opened.
            let _ = fs::remove_file(&self.path);
        }
    }
}
