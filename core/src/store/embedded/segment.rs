//! A sealed segment: a run in an Arrow IPC file, opened when it is first read.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::catalogue::SegmentEntry;
use super::fault::{Fault, Faults};
use super::mapped::{Mapped, Unmapped, missing};
use super::run::SortedRun;
use super::segment_rows::read_run;
use super::series_table::SeriesList;
use crate::time::ClosedWindow;

/// A segment in the catalogue.
#[derive(Debug)]
pub(super) struct Segment {
    pub entry: SegmentEntry,
    path: PathBuf,
    /// The file, if it was opened before it is read.
    held: OnceLock<Arc<Mapped>>,
    run: OnceLock<SortedRun>,
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
    pub(super) fn run(&self, series: &SeriesList) -> Option<&SortedRun> {
        if let Some(run) = self.run.get() {
            return Some(run);
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
        self.run.get()
    }

    fn map(&self, faults: &Arc<Faults>) -> Result<Arc<Mapped>, Unmapped> {
        let (file, checksums) = (self.entry.file(), self.entry.checksums.clone());
        Mapped::open(&self.path, &file, self.entry.length, checksums, faults).map(Arc::new)
    }

    fn read(&self, mapped: &Arc<Mapped>, series: &SeriesList) -> Result<SortedRun, Unmapped> {
        read_run(mapped, &self.entry.file(), &self.entry, series).map_err(Unmapped::Gone)
    }

    /// Checks the whole file again, every block and the order of its content. Returns the faults.
    pub(super) fn verify(&self, series: &SeriesList) -> Vec<Fault> {
        let faults = Arc::new(Faults::default());
        match self.map(&faults).and_then(|mapped| self.read(&mapped, series)) {
            Ok(run) => {
                if let Some(mapped) = &run.mapped {
                    mapped.check_all();
                }
                if let Err(cause) = run.check_times() {
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

impl Drop for Segment {
    fn drop(&mut self) {
        if *self.obsolete.get_mut() {
            // A file left behind is cleaned up when the store is next opened.
            let _ = fs::remove_file(&self.path);
        }
    }
}
