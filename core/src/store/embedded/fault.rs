//! What is wrong with the files of a store, and who was told.

use std::fmt;
use std::io;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::super::StoreError;
use super::catalogue::DATABASE;

/// A file of a store, or a part of one, that is damaged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The file, relative to the store's folder; with a part of the database also which one.
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

/// How a store is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoreHealth {
    /// What was set aside before the store was opened, and what was found damaged since. Reading
    /// goes on without it.
    pub faults: Vec<Fault>,
    /// Time of the newest reading, milliseconds since 1970; `None` where there is none.
    pub newest_ms: Option<i64>,
    /// Sealed segments.
    pub segments: usize,
    /// Readings in sealed segments; a reading that was corrected counts once for each segment that
    /// holds it.
    pub sealed_readings: u64,
    /// Readings that are in the journal only.
    pub fresh_readings: u64,
    /// Length of the segments' files.
    pub sealed_bytes: u64,
    /// Files of unfinished sealing and merging that were deleted when the store was opened; what
    /// they were made from is there.
    pub swept_files: usize,
}

/// The faults that were met, for those who read and those who set aside.
#[derive(Debug, Default)]
pub(super) struct Faults(Mutex<Vec<Fault>>);

impl Faults {
    pub fn note(&self, fault: Fault) {
        self.note_all([fault]);
    }

    pub fn note_all(&self, noted: impl IntoIterator<Item = Fault>) {
        let mut faults = self.all();
        for fault in noted {
            if !faults.contains(&fault) {
                faults.push(fault);
            }
        }
    }

    pub fn list(&self) -> Vec<Fault> {
        self.all().clone()
    }

    fn all(&self) -> MutexGuard<'_, Vec<Fault>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An error of the file system, told apart by whether there is room.
pub(super) fn storage(path: &Path, error: &io::Error) -> StoreError {
    let (path, cause) = (path.display().to_string(), error.to_string());
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            StoreError::Full { path, cause }
        }
        _ => StoreError::Storage { path, cause },
    }
}

/// An error of the database, told apart likewise.
pub(super) fn database(path: &Path, error: &rusqlite::Error) -> StoreError {
    use rusqlite::ErrorCode::{DatabaseCorrupt, DiskFull, NotADatabase, Unknown};
    let (shown, cause) = (path.display().to_string(), error.to_string());
    match error.sqlite_error_code() {
        Some(DiskFull) => StoreError::Full { path: shown, cause },
        // Unknown is a table or a column that is not there.
        Some(DatabaseCorrupt | NotADatabase | Unknown) if path.ends_with(DATABASE) => {
            damaged_catalogue(path, &cause)
        }
        _ => StoreError::Storage { path: shown, cause },
    }
}

/// A catalogue that cannot be used, with what to do about it.
pub(super) fn damaged_catalogue(path: &Path, cause: &str) -> StoreError {
    let cause = format!("{cause}; mesonet-server verify --rebuild makes it anew");
    StoreError::Storage { path: path.display().to_string(), cause }
}
