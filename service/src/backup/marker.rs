//! The file that says which place a folder follows, and what the folder holds.

use std::fs;
use std::io;
use std::path::Path;

use mesonet::durable;
use mesonet::lock::FileLock;

use super::manifest::BackupManifest;
use super::name::Name;
use super::{BackupError, lock};
use crate::files::found;
use crate::record::FOLLOWER;

/// The files that an update in flight replaces: a JSON array of their paths.
const EXCHANGED: &str = "follower.next";

/// What a folder follows and what it holds. The file has a line with the address of the place, a
/// line with the name of a backup, and the manifest of that backup.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Marker {
    pub address: String,
    pub name: Name,
    /// Has no files before the first backup is there.
    pub manifest: BackupManifest,
}

impl Marker {
    /// Reads the marker of a folder; `None` if the folder follows nothing.
    ///
    /// # Errors
    /// It cannot be read, or is damaged.
    pub fn of(folder: &Path) -> Result<Option<Self>, BackupError> {
        let path = folder.join(FOLLOWER);
        let Some(bytes) = found(fs::read(&path)).map_err(BackupError::file(&path))? else {
            return Ok(None);
        };
        let mut lines = bytes.splitn(3, |&byte| byte == b'\n');
        let mut line = || std::str::from_utf8(lines.next()?).ok();
        let head = line().and_then(|address| Some((address.to_owned(), Name::parse(line()?)?)));
        let damaged = || io::Error::new(io::ErrorKind::InvalidData, "it is damaged");
        let (address, name) = head.ok_or_else(|| BackupError::file(&path)(damaged()))?;
        let manifest = BackupManifest::decode(lines.next().unwrap_or_default());
        let manifest =
            manifest.map_err(|error| BackupError::Manifest { name: name.to_string(), error })?;
        Ok(Some(Self { address, name, manifest }))
    }

    /// Writes the marker into a folder.
    ///
    /// # Errors
    /// The folder cannot be written.
    pub fn write(&self, folder: &Path) -> Result<(), BackupError> {
        let Self { address, name, manifest } = self;
        let head = format!("{address}\n{name}\n");
        replace(&folder.join(FOLLOWER), &[head.as_bytes(), &manifest.encode()].concat())
    }
}

/// Notes which files an update is about to replace, so that a killed update can be detected. No
/// files: the update is done.
///
/// # Errors
/// The folder cannot be written.
pub fn note_exchanged<'a>(
    folder: &Path,
    paths: impl Iterator<Item = &'a str>,
) -> Result<(), BackupError> {
    let paths: Vec<&str> = paths.collect();
    if paths.is_empty() {
        let path = folder.join(EXCHANGED);
        return found(fs::remove_file(&path)).map(|_| ()).map_err(BackupError::file(&path));
    }
    replace(&folder.join(EXCHANGED), &serde_json::to_vec(&paths).map_err(io::Error::from)?)
}

fn replace(path: &Path, content: &[u8]) -> Result<(), BackupError> {
    durable::replace(path, content).map_err(BackupError::file(path))
}

/// Returns the files that a killed update may have replaced.
///
/// # Errors
/// The folder cannot be read.
pub fn exchanged(folder: &Path) -> Result<Vec<String>, BackupError> {
    let path = folder.join(EXCHANGED);
    let bytes = found(fs::read(&path)).map_err(BackupError::file(&path))?;
    let Some(bytes) = bytes else { return Ok(Vec::new()) };
    serde_json::from_slice(&bytes).map_err(io::Error::from).map_err(BackupError::file(&path))
}

/// Locks the record of a folder, as a writer does.
///
/// # Errors
/// Another process has it open, or the folder cannot be written.
pub fn lock_record(folder: &Path) -> Result<FileLock, BackupError> {
    let lock = lock(&folder.join("lock"), || BackupError::Open(folder.to_owned()))?;
    lock.name_holder(Some("a follower"));
    Ok(lock)
}
