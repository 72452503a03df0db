//! The record of API keys on disk: one SQLite file in the folder of the record. The command and the
//! server may change it at the same time.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use mesonet::durable::sync_folder;
use rusqlite::{Connection, ErrorCode, OpenFlags, params};

use super::api_key::KeyDigest;
use super::key_count::{FILE as COUNT, KeyCount};
use super::key_record::{ApiKey, KeyRecord, KeysError, VERSION};
use crate::files::found;

/// The file in the folder of the record.
pub const FILE: &str = "keys.sqlite";

/// How long a change waits for another one.
const BUSY: Duration = Duration::from_secs(5);

/// The record of keys, open.
#[derive(Debug)]
pub struct KeyFile {
    path: PathBuf,
    connection: Connection,
}

/// The record of keys in a folder, opened for each use. The first key creates the file.
#[derive(Debug)]
pub struct KeyFolder(pub PathBuf);

/// The folder of the record of keys.
pub fn path_in(data: &Path) -> PathBuf {
    data.join(FILE)
}

impl KeyFile {
    /// Opens the record of keys in a folder; `None` if no key was ever issued. A file without a
    /// table, which a full disk may have left, counts as no file.
    ///
    /// # Errors
    /// The file cannot be read, is of a later version, or lacks keys.
    pub fn open(data: &Path) -> Result<Option<Self>, KeysError> {
        let file = Self::open_unchecked(data)?;
        let keys = file.as_ref().map_or(Ok(Vec::new()), KeyRecord::all)?;
        let lost = |cause| KeysError::Lost { path: path_in(data), cause };
        if let Some(before) = KeyCount::read(data).map_err(lost)? {
            KeyCount::of(&keys).check(&before).map_err(lost)?;
        }
        Ok(file)
    }

    fn open_unchecked(data: &Path) -> Result<Option<Self>, KeysError> {
        let path = path_in(data);
        match path.try_exists() {
            Ok(false) => Ok(None),
            Ok(true) => {
                let file = Self::connect(path, false)?;
                let is_empty = is_empty(&file.connection).map_err(|error| file.fault(error))?;
                Ok((!is_empty).then_some(file))
            }
            Err(error) => Err(KeysError::Io { path, error }),
        }
    }

    /// Writes a count of the keys to a file of its own, so that a lost or replaced file of keys is
    /// detected.
    ///
    /// # Errors
    /// The file cannot be read, or the count cannot be written.
    pub fn count(&self) -> Result<(), KeysError> {
        let data = self.path.parent().unwrap_or(Path::new("."));
        let count = KeyCount::of(&self.all()?);
        if KeyCount::read(data)
            .is_ok_and(|there| there.is_some_and(|there| count.check(&there).is_err()))
        {
            // Lost keys are reported until the operator accepts the loss.
            return Ok(());
        }
        count.write(data).map_err(|error| KeysError::Io { path: data.join(COUNT), error })
    }

    /// Accepts that there are no keys but those in the file. A file that cannot be read is moved
    /// into another folder, and then there are no keys.
    ///
    /// # Errors
    /// A file cannot be moved or written.
    pub fn set_aside(data: &Path, into: &Path) -> Result<(), KeysError> {
        let path = path_in(data);
        let failed = |error| KeysError::Io { path: path.clone(), error };
        found(std::fs::remove_file(data.join(COUNT))).map_err(failed)?;
        if let Some(Ok(())) = Self::check_pages(&path)
            && let Ok(Some(file)) = Self::open_unchecked(data)
        {
            return file.count();
        }
        if path.exists() {
            std::fs::create_dir_all(into).map_err(failed)?;
            let mut to = into.join(FILE);
            for number in 1.. {
                if !to.exists() {
                    break;
                }
                to = into.join(format!("{FILE}.{number}"));
            }
            std::fs::rename(&path, to).map_err(failed)?;
        }
        sync_folder(data).map_err(failed)
    }

    /// Opens the record of keys in a folder, and creates the file if there is none.
    ///
    /// # Errors
    /// As [`open`](Self::open), or the file cannot be created.
    pub fn create(data: &Path) -> Result<Self, KeysError> {
        let path = path_in(data);
        let fault = |error| KeysError::Io { path: path.clone(), error };
        std::fs::create_dir_all(data).map_err(fault)?;
        if !path.try_exists().map_err(fault)? {
            // The file appears with its table, so a failure before that leaves no file.
            let new = tempfile::Builder::new().prefix(".mesonet-keys-").tempfile_in(data);
            let new = new.map_err(fault)?;
            Self::connect(new.path().to_owned(), true).map_err(|error| match error {
                KeysError::Database { error, .. } => {
                    KeysError::Database { path: path.clone(), error }
                }
                error => error,
            })?;
            match new.persist_noclobber(&path) {
                Ok(_) => sync_folder(data).map_err(fault)?,
                // Another command has created it in the meantime.
                Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(fault(error.error)),
            }
        }
        Self::connect(path, true)
    }

    /// Checks every page of the file, and whether keys are missing. The file is only read. `None`
    /// if there is no file; otherwise what is wrong with it, if anything.
    pub fn check(data: &Path) -> Option<Result<(), String>> {
        let path = path_in(data);
        let of_pages = Self::check_pages(&path);
        let is_damaged = of_pages.as_ref().is_some_and(Result::is_err);
        match KeyCount::read(data) {
            _ if is_damaged => of_pages,
            Err(cause) => Some(Err(cause)),
            Ok(None) => of_pages,
            Ok(Some(before)) => {
                let keys = match &of_pages {
                    None => Ok(Vec::new()),
                    Some(_) => Self::read_only(&path).and_then(|file| all(&file)),
                };
                let keys = keys.map_err(|error| error.to_string());
                let checked = keys.and_then(|keys| KeyCount::of(&keys).check(&before));
                Some(checked).filter(|checked| of_pages.is_some() || checked.is_err())
            }
        }
    }

    fn read_only(path: &Path) -> rusqlite::Result<Connection> {
        Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY)
    }

    fn check_pages(path: &Path) -> Option<Result<(), String>> {
        if matches!(path.try_exists(), Ok(false)) {
            return None;
        }
        let found = Self::read_only(path)
            .and_then(|file| {
                if is_empty(&file)? {
                    return Ok("ok".to_owned());
                }
                file.query_row("SELECT count(*) FROM keys", [], |_| Ok(()))?;
                file.query_row("PRAGMA integrity_check", [], |row| row.get::<_, String>(0))
            })
            .map_err(|error| error.to_string());
        Some(found.and_then(|found| if found == "ok" { Ok(()) } else { Err(found) }))
    }

    /// Writes a copy of the record of keys and its count into another folder, while others may
    /// change the record. Returns `false` if no key was ever issued.
    ///
    /// # Errors
    /// The file cannot be read, or the copy cannot be written.
    pub fn copy(data: &Path, into: &Path) -> Result<bool, KeysError> {
        let Some(file) = Self::open(data)? else { return Ok(false) };
        let to = path_in(into);
        let invalid = || io::ErrorKind::InvalidFilename.into();
        let name =
            to.to_str().ok_or_else(|| KeysError::Io { path: to.clone(), error: invalid() })?;
        let copied = file.connection.execute("VACUUM INTO ?", [name]);
        copied.map_err(|error| match error.sqlite_error_code() {
            // The error is of the disk of the copy.
            Some(ErrorCode::DiskFull) => KeysError::Database { path: to, error },
            _ => file.fault(error),
        })?;
        Self::connect(path_in(into), false)?.count()?;
        Ok(true)
    }

    fn connect(path: PathBuf, may_create: bool) -> Result<Self, KeysError> {
        let connect = || {
            let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
            let connection = Connection::open_with_flags(&path, flags)?;
            connection.busy_timeout(BUSY)?;
            connection.pragma_update(None, "synchronous", "FULL")?;
            let version = |connection: &Connection| {
                connection.pragma_query_value(None, "user_version", |row| row.get::<_, i32>(0))
            };
            if version(&connection)? == 0 && may_create {
                // Of two commands at once, the second one finds the table.
                connection.execute_batch(
                    "BEGIN IMMEDIATE;
                     CREATE TABLE IF NOT EXISTS keys (
                         digest BLOB PRIMARY KEY,
                         id TEXT NOT NULL UNIQUE,
                         label TEXT NOT NULL,
                         issued_ms INTEGER NOT NULL,
                         expires_ms INTEGER,
                         last_used_ms INTEGER,
                         revoked_ms INTEGER
                     ) STRICT;
                     PRAGMA user_version = 1;
                     COMMIT;",
                )?;
            }
            let got = version(&connection)?;
            rusqlite::Result::Ok((connection, got))
        };
        match connect() {
            // A file that a command is making right now has no table yet.
            Ok((connection, got)) if got == VERSION || got == 0 && !may_create => {
                Ok(Self { path, connection })
            }
            Ok((_, got)) => Err(KeysError::Version { path, got }),
            Err(error) => Err(KeysError::Database { path, error }),
        }
    }

    /// A number that changes with each change by another process or connection.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn changes(&self) -> Result<i64, KeysError> {
        let changes = self.connection.pragma_query_value(None, "data_version", |row| row.get(0));
        changes.map_err(|error| self.fault(error))
    }

    fn fault(&self, error: rusqlite::Error) -> KeysError {
        KeysError::Database { path: self.path.clone(), error }
    }
}

/// Whether a database has neither a table nor a version.
fn is_empty(connection: &Connection) -> rusqlite::Result<bool> {
    let version: i32 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    let tables = "SELECT count(*) FROM sqlite_schema";
    Ok(version == 0 && connection.query_row(tables, [], |row| row.get::<_, i64>(0))? == 0)
}

/// The keys of a database, in the order of their digests; none if it has no table.
fn all(connection: &Connection) -> rusqlite::Result<Vec<ApiKey>> {
    if is_empty(connection)? {
        return Ok(Vec::new());
    }
    let mut rows = connection.prepare(
        "SELECT digest, label, issued_ms, expires_ms, revoked_ms, last_used_ms FROM keys
         ORDER BY digest",
    )?;
    rows.query_map([], |row| {
        Ok(ApiKey {
            digest: KeyDigest(row.get(0)?),
            label: row.get(1)?,
            issued_ms: row.get(2)?,
            expires_ms: row.get(3)?,
            revoked_ms: row.get(4)?,
            last_used_ms: row.get(5)?,
        })
    })?
    .collect()
}

/// The keys must be in the order of their digests.
impl KeyRecord for KeyFile {
    fn all(&self) -> Result<Vec<ApiKey>, KeysError> {
        all(&self.connection).map_err(|error| self.fault(error))
    }

    fn put(&self, keys: &[ApiKey]) -> Result<(), KeysError> {
        let write = || {
            let change = self.connection.unchecked_transaction()?;
            for key in keys {
                let ApiKey { digest, label, issued_ms, expires_ms, revoked_ms, last_used_ms } = key;
                change.execute(
                    "INSERT INTO keys (digest, id, label, issued_ms, expires_ms, revoked_ms, last_used_ms)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
                     ON CONFLICT (digest) DO UPDATE SET
                         revoked_ms = min(coalesce(revoked_ms, ?6), coalesce(?6, revoked_ms)),
                         last_used_ms = max(coalesce(last_used_ms, ?7), coalesce(?7, last_used_ms))",
                    params![
                        digest.0, digest.id(), label, issued_ms, expires_ms, revoked_ms, last_used_ms
                    ],
                )?;
            }
            change.commit()
        };
        write().map_err(|error| self.fault(error))?;
        self.count()
    }
}

impl KeyRecord for KeyFolder {
    fn all(&self) -> Result<Vec<ApiKey>, KeysError> {
        KeyFile::open(&self.0)?.map_or(Ok(Vec::new()), |file| file.all())
    }

    fn put(&self, keys: &[ApiKey]) -> Result<(), KeysError> {
        if keys.is_empty() {
            return Ok(());
        }
        // No key is issued while keys are lost: the count would then hide the loss.
        KeyFile::open(&self.0)?;
        KeyFile::create(&self.0)?.put(keys)
    }
}

#[cfg(test)]
#[path = "key_file_tests.rs"]
mod tests;
