//! The folder of a store: its lock, its files, and what is set aside.

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};

use super::catalogue::{Catalogue, mark_segment, segment_file};
use super::fault::{Fault, storage};
use crate::durable::create_folder;
use crate::store::StoreError;

const LOCK: &str = "lock";
const SEGMENTS: &str = "segments";
const DAMAGED: &str = "damaged";

/// A folder that this store alone has open.
#[derive(Debug)]
pub(super) struct Folder {
    pub path: PathBuf,
    /// Locked as long as it is open: also a process that is killed leaves no lock behind.
    _lock: File,
}

impl Folder {
    /// Makes the folder if there is none, and locks it.
    pub fn create(path: &Path) -> Result<Self, StoreError> {
        for folder in [path.to_owned(), path.join(SEGMENTS), path.join(DAMAGED)] {
            create_folder(&folder).map_err(|error| storage(&folder, &error))?;
        }
        Self::lock(path)
    }

    /// Locks a folder that is there.
    pub fn lock(path: &Path) -> Result<Self, StoreError> {
        let file = path.join(LOCK);
        let lock = File::options().create(true).truncate(false).write(true).open(&file);
        let lock = lock.map_err(|error| storage(&file, &error))?;
        match lock.try_lock() {
            Ok(()) => Ok(Self { path: path.to_owned(), _lock: lock }),
            Err(TryLockError::WouldBlock) => {
                Err(StoreError::Locked { path: path.display().to_string() })
            }
            Err(TryLockError::Error(error)) => Err(storage(&file, &error)),
        }
    }

    /// Names of the files beside the segments of the catalogue: what a process left behind that was
    /// killed while it wrote or deleted.
    pub fn orphans(&self, segments: &[i64]) -> Result<Vec<PathBuf>, StoreError> {
        let folder = self.path.join(SEGMENTS);
        let known: Vec<PathBuf> =
            segments.iter().map(|&id| self.path.join(segment_file(id))).collect();
        let failed = |error| storage(&folder, &error);
        let mut orphans = Vec::new();
        for file in fs::read_dir(&folder).map_err(failed)? {
            let path = file.map_err(failed)?.path();
            if !known.contains(&path) {
                orphans.push(path);
            }
        }
        orphans.sort_unstable();
        Ok(orphans)
    }

    /// Moves the file of a damaged segment out of the way and marks it in the catalogue.
    pub fn set_aside(
        &self,
        catalogue: &mut Catalogue,
        id: i64,
        fault: &Fault,
    ) -> Result<(), StoreError> {
        let path = self.path.join(segment_file(id));
        if let Some(name) = path.file_name() {
            let to = self.path.join(DAMAGED).join(name);
            match fs::rename(&path, &to) {
                // It may be gone: that is one kind of damage.
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    return Err(storage(&path, &error));
                }
                _ => {}
            }
        }
        catalogue.transaction(|transaction| mark_segment(transaction, id, &fault.cause))
    }
}
