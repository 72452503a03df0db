//! A sealed segment: a run in an Arrow IPC file, which is opened when it is first read.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use super::catalogue::SegmentEntry;
use super::fault::{Fault, Faults};
use super::mapped::Mapped;
use super::run::Run;
use super::segment_file::read_run;
use super::series_table::SeriesTable;
use crate::time::ClosedWindow;

/// A segment of the catalogue.
#[derive(Debug)]
pub(super) struct Segment {
    pub entry: SegmentEntry,
    path: PathBuf,
    run: OnceLock<Option<Run>>,
    /// What is wrong with the file, once something was found.
    fault: OnceLock<Fault>,
    /// Whether the file goes with the last reader.
    obsolete: AtomicBool,
    faults: Arc<Faults>,
}

impl Segment {
    pub fn new(dir: &Path, entry: SegmentEntry, faults: &Arc<Faults>) -> Self {
        Self {
            path: dir.join(entry.file()),
            entry,
            run: OnceLock::new(),
            fault: OnceLock::new(),
            obsolete: AtomicBool::new(false),
            faults: Arc::clone(faults),
        }
    }

    /// Whether any reading may lie in a window.
    pub fn overlaps(&self, window: ClosedWindow) -> bool {
        self.entry.first_ms <= window.end_ms() && self.entry.last_ms >= window.start_ms()
    }

    /// The readings; `None` where the file is damaged.
    pub fn run(&self, series: &SeriesTable) -> Option<&Run> {
        if self.is_damaged() {
            return None;
        }
        let run = self.run.get_or_init(|| match self.open(series) {
            Ok(run) => Some(run),
            Err(fault) => {
                self.damage(fault);
                None
            }
        });
        run.as_ref()
    }

    fn open(&self, series: &SeriesTable) -> Result<Run, Fault> {
        let file = self.entry.file();
        let checksums = self.entry.checksums.clone();
        let mapped = Mapped::open(&self.path, &file, self.entry.length, checksums)?;
        let run = read_run(Arc::new(mapped), &file, &self.entry, series)?;
        Ok(run)
    }

    /// Checks the whole file anew: every block, and the order of what is in it.
    pub fn verify(&self, series: &SeriesTable) -> Result<(), Fault> {
        let run = self.open(series)?;
        let mapped = run.mapped.as_ref().map_or(Ok(()), |mapped| mapped.check_all());
        mapped?;
        run.check_times().map_err(|cause| Fault::new(self.entry.file(), cause))
    }

    /// Notes that the file is damaged: nobody reads it from now on.
    pub fn damage(&self, fault: Fault) {
        self.faults.note(self.fault.get_or_init(|| fault).clone());
    }

    pub fn is_damaged(&self) -> bool {
        self.fault.get().is_some()
    }

    pub fn fault(&self) -> Option<&Fault> {
        self.fault.get()
    }

    /// The file is deleted when the last reader is done.
    pub fn retire(&self) {
        self.obsolete.store(true, Ordering::Release);
    }
}

impl Drop for Segment {
    fn drop(&mut self) {
        if *self.obsolete.get_mut() {
            // What stays behind is put away when the store is opened next.
            let _ = fs::remove_file(&self.path);
        }
    }
}
