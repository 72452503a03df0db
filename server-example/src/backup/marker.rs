//! What says that a folder follows a place, and what it holds.

use std::fs::{self, File, TryLockError};
use std::io::{self, Write};
use std::path::Path;
use std::process;

use mesonet::durable::sync_folder;

use super::BackupError;
use super::gather::found;
use super::manifest::Manifest;
use super::name::Name;

/// The file that says that a folder follows a place.
pub const MARKER: &str = "follower";

/// The files that an update under way exchanges: a JSON array of their paths.
const EXCHANGED: &str = "follower.next";

/// What replaces one of them, until it is whole.
const NEXT: &str = ".follower.new";

/// What a folder follows, and what it holds: the address of the place, a backup's name, a line each,
/// and its manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Marker {
    pub address: String,
    pub name: Name,
    /// Without files before the first backup is there.
    pub manifest: Manifest,
}

impl Marker {
    /// Reads that of a folder; `None` if the folder follows nothing.
    ///
    /// # Errors
    /// It cannot be read, or is damaged.
    pub fn of(folder: &Path) -> Result<Option<Self>, BackupError> {
        let path = folder.join(MARKER);
        let Some(bytes) = found(fs::read(&path)).map_err(BackupError::file(&path))? else {
            return Ok(None);
        };
        let mut lines = bytes.splitn(3, |&byte| byte == b'\n');
        let mut line = || std::str::from_utf8(lines.next()?).ok();
        let head = line().and_then(|address| Some((address.to_owned(), Name::parse(line()?)?)));
        let damaged = || io::Error::new(io::ErrorKind::InvalidData, "it is damaged");
        let (address, name) = head.ok_or_else(|| BackupError::file(&path)(damaged()))?;
        let manifest = Manifest::decode(lines.next().unwrap_or_default());
        let manifest =
            manifest.map_err(|error| BackupError::Manifest { name: name.to_string(), error })?;
        Ok(Some(Self { address, name, manifest }))
    }

    /// Writes it down in a folder.
    ///
    /// # Errors
    /// The folder cannot be written.
    pub fn write(&self, folder: &Path) -> Result<(), BackupError> {
        let Self { address, name, manifest } = self;
        let head = format!("{address}\n{name}\n");
        replace(folder, MARKER, &[head.as_bytes(), &manifest.encode()].concat())
    }
}

/// Writes down which files an update is about to exchange, so that one that is killed is known; none:
/// it is done.
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
    replace(folder, EXCHANGED, &serde_json::to_vec(&paths).map_err(io::Error::from)?)
}

/// Writes a file of a folder, which is as before or as given whatever happens.
fn replace(folder: &Path, name: &str, content: &[u8]) -> Result<(), BackupError> {
    let (next, path) = (folder.join(NEXT), folder.join(name));
    let write = || {
        let mut file = File::create(&next)?;
        file.write_all(content)?;
        file.sync_all()?;
        fs::rename(&next, &path)?;
        sync_folder(folder)
    };
    write().map_err(BackupError::file(&path))
}

/// Returns which files an update that was killed may have exchanged.
///
/// # Errors
/// The folder cannot be read.
pub fn exchanged(folder: &Path) -> Result<Vec<String>, BackupError> {
    let path = folder.join(EXCHANGED);
    let bytes = found(fs::read(&path)).map_err(BackupError::file(&path))?;
    let Some(bytes) = bytes else { return Ok(Vec::new()) };
    serde_json::from_slice(&bytes).map_err(|error| {
        BackupError::file(&path)(io::Error::new(io::ErrorKind::InvalidData, error))
    })
}

/// Locks the record of a folder as whoever writes to it does.
///
/// # Errors
/// Another process has it open, or the folder cannot be written.
pub fn lock(folder: &Path) -> Result<File, BackupError> {
    let path = folder.join("lock");
    let lock = File::options().create(true).truncate(false).write(true).open(&path);
    let lock = lock.map_err(BackupError::file(&path))?;
    match lock.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Err(BackupError::Open(folder.to_owned())),
        Err(TryLockError::Error(error)) => return Err(BackupError::File { path, error }),
    }
    // It helps only who is refused: no reason to fail.
    let name = format!("process {} (mesonet-server, a follower)", process::id());
    let _ = lock.set_len(0).and_then(|()| (&lock).write_all(name.as_bytes()));
    Ok(lock)
}
