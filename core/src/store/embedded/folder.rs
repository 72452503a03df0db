//! The folder of a store: its lock, its files, and files that are set aside.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use super::fault::{Fault, storage};
use super::names::{LOCK, ORPHANED};
use crate::lock::FileLock;
use crate::store::StoreError;

/// How many times, and how far apart, to try a folder that readers are looking at.
const READER_PATIENCE: usize = 200;
const READER_TURN: Duration = Duration::from_millis(10);

/// A folder that only this store has open.
#[derive(Debug)]
pub(super) struct Folder {
    pub path: PathBuf,
    _lock: FileLock,
}

impl Folder {
    /// Locks an existing folder.
    pub(super) fn lock(path: &Path) -> Result<Self, StoreError> {
        let file = path.join(LOCK);
        let mut patience = READER_PATIENCE;
        let lock = loop {
            match FileLock::exclusive(&file) {
                Ok(lock) => break lock,
                Err(TryLockError::Error(error)) => return Err(storage(&file, &error)),
                Err(TryLockError::WouldBlock) => {}
            }
            // Readers share the lock for as long as they look at the catalogue.
            let is_shared = FileLock::shared(&file).is_ok();
            if !is_shared || patience == 0 {
                let holder =
                    if is_shared { "a process that reads it".into() } else { holder(&file) };
                return Err(StoreError::Locked { path: path.display().to_string(), holder });
            }
            patience -= 1;
            thread::sleep(READER_TURN);
        };
        lock.name_holder(None);
        Ok(Self { path: path.to_owned(), _lock: lock })
    }

    /// Returns the files of one of its folders, sorted by name; empty if the folder does not exist.
    pub(super) fn files(&self, name: &str) -> Result<Vec<PathBuf>, StoreError> {
        files(&self.path.join(name))
    }

    /// Moves a file into one of its folders, under its own name or, if that is taken, a similar
    /// one. The file may already be gone: that is one kind of damage.
    pub(super) fn move_to(&self, name: &str, file: &Path) -> Result<Option<PathBuf>, StoreError> {
        let into = self.path.join(name);
        fs::create_dir_all(&into).map_err(|error| storage(&into, &error))?;
        let Some(own) = file.file_name() else { return Ok(None) };
        let mut to = into.join(own);
        let mut copy = 1;
        while fs::symlink_metadata(&to).is_ok() {
            copy += 1;
            to = into.join(format!("{}.{copy}", own.display()));
        }
        match fs::rename(file, &to) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(storage(file, &error)),
            Ok(()) => {}
        }
        // The new name comes first, so that a power failure leaves at least one of the two.
        for folder in [Some(&*into), file.parent()].into_iter().flatten() {
            sync_folder(folder)?;
        }
        Ok(Some(to))
    }
}

/// Returns the holder of a lock file, as named in the file.
pub(super) fn holder(lock: &Path) -> String {
    let said = fs::read_to_string(lock).unwrap_or_default();
    let is_name = said.len() < 300 && said.starts_with("process ") && !said.contains('\n');
    if is_name { said } else { "another process".to_owned() }
}

/// Returns the files that were moved to `orphaned/`, as faults.
pub(super) fn orphaned(dir: &Path) -> Result<Vec<Fault>, StoreError> {
    let fault = |path: PathBuf| {
        let name = path.file_name().unwrap_or_default().display();
        let cause = "a segment that is not in the catalogue; it is kept, but its readings \
                     are not served";
        Fault::new(format!("{ORPHANED}/{name}"), cause)
    };
    Ok(files(&dir.join(ORPHANED))?.into_iter().map(fault).collect())
}

/// Ensures that the names in a folder are on disk.
pub(super) fn sync_folder(folder: &Path) -> Result<(), StoreError> {
    let synced = File::open(folder).and_then(|folder| folder.sync_all());
    synced.map_err(|error| storage(folder, &error))
}

/// Returns the number at the start of a segment's file name.
pub(super) fn segment_id(path: &Path) -> Option<i64> {
    let name = path.file_name()?.to_str()?;
    let digits = name.split('.').next()?;
    (digits.len() >= 8).then(|| digits.parse().ok()).flatten()
}

pub(super) fn files(folder: &Path) -> Result<Vec<PathBuf>, StoreError> {
    let failed = |error: io::Error| storage(folder, &error);
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(failed)?,
    };
    let paths = entries.map(|entry| entry.map(|entry| entry.path()));
    let mut paths: Vec<PathBuf> = paths.collect::<Result<_, _>>().map_err(failed)?;
    paths.sort_unstable();
    Ok(paths)
}

pub(super) fn length(file: &Path) -> u64 {
    fs::metadata(file).map_or(0, |metadata| metadata.len())
}
