//! Reads the files of a folder without writing to them, whether or not a process has the folder
//! open for writing.

use std::path::Path;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use super::fault::database;
use super::unwritten;
use crate::lock::FileLock;
use crate::store::StoreError;

/// How many times reading begins again because the writer went away.
const ATTEMPTS: usize = 3;

/// Who else may use the files.
#[derive(Debug)]
pub(in super::super) enum Access {
    /// No process writes, and none can while this is held: the lock is shared with other readers. A
    /// folder that was never opened has no lock.
    Still { _lock: Option<FileLock> },
    /// A process has the folder open for writing. SQLite's own locks give each of its readers a
    /// state that does not change, and the writer deletes no file that this state names.
    Live,
}

impl Access {
    /// Reads from a folder. A writer that starts in the meantime waits until the read ends, so the
    /// read must be short.
    ///
    /// # Errors
    /// The errors of `read`.
    pub(crate) fn reading<T>(
        dir: &Path,
        mut read: impl FnMut(&Self) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let mut attempts = ATTEMPTS;
        loop {
            let access = Self::of(dir)?;
            let done = read(&access);
            attempts -= 1;
            // When the writer goes away, the files that it shares with its readers go too.
            let is_over = || matches!(access, Self::Live) && unwritten::share_folder(dir).is_ok();
            if done.is_ok() || attempts == 0 || !is_over() {
                return done;
            }
        }
    }

    fn of(dir: &Path) -> Result<Self, StoreError> {
        match unwritten::share_folder(dir) {
            Ok(lock) => Ok(Self::Still { _lock: lock }),
            Err(StoreError::Locked { .. }) => Ok(Self::Live),
            Err(error) => Err(error),
        }
    }

    /// Whether a process has the folder open for writing.
    pub(crate) fn is_live(&self) -> bool {
        matches!(self, Self::Live)
    }

    /// Opens a database for reading. All reads of the connection see one state.
    pub(crate) fn connect(&self, path: &Path) -> Result<Connection, StoreError> {
        let connection = self.open(path)?;
        if self.is_live() {
            connection.execute_batch("BEGIN").map_err(|error| database(path, &error))?;
        }
        Ok(connection)
    }

    /// Opens a database for reading. Each statement sees the state at its moment.
    pub(crate) fn open(&self, path: &Path) -> Result<Connection, StoreError> {
        if !self.is_live() {
            return unwritten::open(path);
        }
        let open = || {
            let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
            let connection = Connection::open_with_flags(path, flags)?;
            connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
            connection.pragma_update(None, "cell_size_check", true)?;
            rusqlite::Result::Ok(connection)
        };
        open().map_err(|error| database(path, &error))
    }
}
