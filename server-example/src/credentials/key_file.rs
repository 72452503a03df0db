//! The record of API keys on disk: one SQLite file in the folder of the record, which the command and the
//! server change at the same time.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use mesonet::durable::sync_folder;
use rusqlite::{Connection, ErrorCode, OpenFlags, params};
use sha2::{Digest, Sha256};

use super::api_key::KeyDigest;
use super::key_record::{ApiKey, KeyRecord, KeysError};

/// The file in the folder of the record.
pub const FILE: &str = "keys.sqlite";

/// Increases with every change of the form that older programs cannot read.
pub const VERSION: i32 = 1;

/// How long a change waits for another one.
const BUSY: Duration = Duration::from_secs(5);

/// The record of keys, open.
#[derive(Debug)]
pub struct KeyFile {
    path: PathBuf,
    connection: Connection,
}

/// The record of keys in a folder, opened for each use. Its file is made with the first key.
#[derive(Debug)]
pub struct KeyFolder(pub PathBuf);

/// Where the record of keys is.
pub fn path_in(data: &Path) -> PathBuf {
    data.join(FILE)
}

impl KeyFile {
    /// Opens the record of keys in a folder; `None` if no key was ever issued. A file without a table,
    /// as a full disk may have left it, is as good as none.
    ///
    /// # Errors
    /// The file cannot be read, or is of a later version.
    pub fn open(data: &Path) -> Result<Option<Self>, KeysError> {
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

    /// The same; the file is created if there is none.
    ///
    /// # Errors
    /// As [`open`](Self::open), or the file cannot be created.
    pub fn create(data: &Path) -> Result<Self, KeysError> {
        let path = path_in(data);
        let fault = |error| KeysError::Io { path: path.clone(), error };
        std::fs::create_dir_all(data).map_err(fault)?;
        if !path.try_exists().map_err(fault)? {
            // It appears with its table: what fails before leaves no file.
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
                // Another command was faster.
                Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(fault(error.error)),
            }
        }
        Self::connect(path, true)
    }

    /// Checks every page of the file, for which it is only read; `None` if there is none, else what is
    /// wrong with it, or nothing.
    pub fn check(data: &Path) -> Option<Result<(), String>> {
        let path = path_in(data);
        if matches!(path.try_exists(), Ok(false)) {
            return None;
        }
        let found = Connection::open_with_flags(&path, OpenFlags::SQLITE_OPEN_READ_ONLY)
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

    /// Writes the record of keys as it is now, while it may be changed, into another folder. Returns
    /// `false` if no key was ever issued.
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
            // It is the disk of the copy.
            Some(ErrorCode::DiskFull) => KeysError::Database { path: to, error },
            _ => file.fault(error),
        })?;
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
                // Two commands at once: the second one finds the table.
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

    /// A checksum of the keys, whoever has used them: the same as long as none is issued or revoked.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn state(&self) -> Result<String, KeysError> {
        let mut hasher = Sha256::new();
        for key in self.all()? {
            let times = [Some(key.issued_ms), key.expires_ms, key.revoked_ms];
            hasher.update(key.digest.0);
            hasher.update(format!("{:?} {times:?}\n", key.label));
        }
        Ok(super::hex(&hasher.finalize()))
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

/// Whether a database has no table and says nothing of its form.
fn is_empty(connection: &Connection) -> rusqlite::Result<bool> {
    let version: i32 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    let tables = "SELECT count(*) FROM sqlite_schema";
    Ok(version == 0 && connection.query_row(tables, [], |row| row.get::<_, i64>(0))? == 0)
}

/// The keys are in the order of their digests.
impl KeyRecord for KeyFile {
    fn all(&self) -> Result<Vec<ApiKey>, KeysError> {
        let read = || {
            let mut rows = self.connection.prepare(
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
            .collect::<rusqlite::Result<_>>()
        };
        read().map_err(|error| self.fault(error))
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
        write().map_err(|error| self.fault(error))
    }
}

impl KeyRecord for KeyFolder {
    fn all(&self) -> Result<Vec<ApiKey>, KeysError> {
        KeyFile::open(&self.0)?.map_or(Ok(Vec::new()), |file| file.all())
    }

    fn put(&self, keys: &[ApiKey]) -> Result<(), KeysError> {
        if keys.is_empty() { Ok(()) } else { KeyFile::create(&self.0)?.put(keys) }
    }
}

#[cfg(test)]
#[path = "key_file_tests.rs"]
mod tests;
