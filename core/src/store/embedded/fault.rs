//! Faults in the files of a store.

use std::fmt;
use std::io;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::super::StoreError;
use super::names::DATABASE;

/// A damaged file of a store, or a damaged part of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The file, relative to the store's folder; for a part of the database, also the part.
    pub file: String,
    /// What is wrong with it.
    pub cause: String,
}

impl Fault {
    pub(super) fn new(file: impl Into<String>, cause: impl fmt::Display) -> Self {
        Self { file: file.into(), cause: cause.to_string() }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.file, self.cause)
    }
}

/// The state of a store.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoreHealth {
    /// Parts that were set aside before the store was opened, and damage found since. Reads
    /// continue without them.
    pub faults: Vec<Fault>,
    /// Time of the newest reading, milliseconds since 1970; `None` if there is none.
    pub newest_ms: Option<i64>,
    /// Number of sealed segments.
    pub segments: usize,
    /// Number of readings in sealed segments; a corrected reading counts once per segment that
    /// holds it.
    pub sealed_readings: u64,
    /// Number of readings that are only in the journal.
    pub fresh_readings: u64,
    /// Total size of the segment files.
    pub sealed_bytes: u64,
    /// Number of texts of reports, sealed or in the journal; they count in nothing else. A corrected
    /// one counts once per segment that holds it.
    pub reports: u64,
    /// Number of sealed segments of texts.
    pub text_segments: usize,
    /// Total size of their files.
    pub text_bytes: u64,
    /// Number of unfinished files of sealing and merging that were deleted when the store was
    /// opened; nothing is lost by that.
    pub swept_files: usize,
}

/// In place of a file: readings that retention deleted, and would keep now.
pub(super) const RETENTION: &str = "retention";

/// The faults found so far, shared by readers and maintenance.
#[derive(Debug, Default)]
pub(super) struct Faults(Mutex<Vec<Fault>>);

impl Faults {
    pub(super) fn note(&self, fault: Fault) {
        self.note_all([fault]);
    }

    pub(super) fn note_all(&self, noted: impl IntoIterator<Item = Fault>) {
        let mut faults = self.all();
        for fault in noted {
            if !faults.contains(&fault) {
                faults.push(fault);
            }
        }
    }

    /// Removes a fault that is no longer there.
    pub(super) fn forget(&self, fault: &Fault) {
        self.all().retain(|noted| noted != fault);
    }

    /// Removes the fault of what retention has deleted, which changes with the cutoff.
    pub(super) fn forget_retention(&self) {
        self.all().retain(|noted| noted.file != RETENTION);
    }

    pub(super) fn list(&self) -> Vec<Fault> {
        self.all().clone()
    }

    fn all(&self) -> MutexGuard<'_, Vec<Fault>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Converts a file system error; a full disk has an error of its own.
pub(super) fn storage(path: &Path, error: &io::Error) -> StoreError {
    let (path, cause) = (path.display().to_string(), error.to_string());
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            StoreError::Full { path, cause }
        }
        _ => StoreError::Storage { path, cause },
    }
}

/// Converts a database error in the same way.
pub(super) fn database(path: &Path, error: &rusqlite::Error) -> StoreError {
    use rusqlite::ErrorCode::{DatabaseCorrupt, DiskFull, NotADatabase, Unknown};
    let (shown, cause) = (path.display().to_string(), error.to_string());
    match error.sqlite_error_code() {
        Some(DiskFull) => StoreError::Full { path: shown, cause },
        // `Unknown` is a missing table or column.
        Some(DatabaseCorrupt | NotADatabase | Unknown) if path.ends_with(DATABASE) => {
            damaged_catalogue(path, &cause)
        }
        _ => StoreError::Storage { path: shown, cause },
    }
}

/// The error for an unusable catalogue, with advice.
pub(super) fn damaged_catalogue(path: &Path, cause: &str) -> StoreError {
    let cause = format!("{cause}; run mesonet-server verify --rebuild to rebuild it");
    StoreError::Storage { path: path.display().to_string(), cause }
}
