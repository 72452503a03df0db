//! Reads the files of a store without writing a byte: on a disk that is full or mounted read-only,
//! or as a user with read access only.

use std::fmt::Write;
use std::fs::TryLockError;
use std::io;
use std::path::{Path, PathBuf};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use super::fault::{database, storage};
use super::folder::holder;
use super::names::LOCK;
use crate::lock::FileLock;
use crate::store::StoreError;

/// SQLite's file system layer without locks: the lock of the folder replaces them, and a read-only
/// file cannot be locked for writing.
const WITHOUT_LOCKS: &str = if cfg!(windows) { "win32-none" } else { "unix-none" };

/// Keeps writers out of the folder of a store while the returned file is open. Nothing is written,
/// and any number of readers can share it. A folder that no writer has opened has no lock file, and
/// none is created.
///
/// # Errors
/// A writer has the folder open, or its lock file cannot be read.
///
/// ```
/// use mesonet::store::{EmbeddedStore, EmbeddedOptions, share_folder};
///
/// let folder = tempfile::tempdir()?;
/// assert!(share_folder(folder.path())?.is_none());
/// let store = EmbeddedStore::open(folder.path(), EmbeddedOptions::default())?;
/// assert!(share_folder(folder.path()).is_err());
/// drop(store);
/// let shared = share_folder(folder.path())?;
/// assert!(shared.is_some() && share_folder(folder.path()).is_ok());
/// assert!(EmbeddedStore::open(folder.path(), EmbeddedOptions::default()).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn share_folder(dir: &Path) -> Result<Option<FileLock>, StoreError> {
    let path = dir.join(LOCK);
    match FileLock::shared(&path) {
        Ok(lock) => Ok(Some(lock)),
        Err(TryLockError::WouldBlock) => {
            Err(StoreError::Locked { path: dir.display().to_string(), holder: holder(&path) })
        }
        Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(TryLockError::Error(error)) => Err(storage(&path, &error)),
    }
}

/// Opens a database for reading, including its write-ahead log.
///
/// SQLite reads a write-ahead log through an index file beside it, which it would have to create. A
/// connection with exclusive access keeps the index in memory instead. Without a log, SQLite would
/// create an empty one unless told that the file is immutable.
pub(super) fn open(path: &Path) -> Result<Connection, StoreError> {
    let failed = |error: rusqlite::Error| database(path, &error);
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    let log = PathBuf::from(log);
    let has_log = log.try_exists().map_err(|error| storage(&log, &error))?;
    let how = if has_log { format!("vfs={WITHOUT_LOCKS}") } else { "immutable=1".to_owned() };
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_URI
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let address = format!("file:{}?mode=ro&{how}", escaped(path));
    let connection = Connection::open_with_flags(address, flags).map_err(failed)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true).map_err(failed)?;
    for (name, value) in
        [("locking_mode", "exclusive"), ("temp_store", "memory"), ("cell_size_check", "true")]
    {
        connection.pragma_update_and_check(None, name, value, |_| Ok(())).or_else(|error| {
            match error {
                // Not all of these pragmas return a row.
                rusqlite::Error::QueryReturnedNoRows => Ok(()),
                error => Err(failed(error)),
            }
        })?;
    }
    Ok(connection)
}

/// Escapes a path for a URI.
fn escaped(path: &Path) -> String {
    let mut text = String::new();
    for &byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' => {
                text.push(char::from(byte));
            }
            byte => _ = write!(text, "%{byte:02X}"),
        }
    }
    text
}
