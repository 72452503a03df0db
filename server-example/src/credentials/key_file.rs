//! The record of API keys: one SQLite file in the folder of the record, which the command and the
//! server change at the same time.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use mesonet::Iso8601;
use rusqlite::{Connection, OpenFlags, OptionalExtension, params};
use serde::Serialize;
use sha2::{Digest, Sha256};

use super::api_key::KeyDigest;

/// The file in the folder of the record.
pub const FILE: &str = "keys.sqlite";
const VERSION: i32 = 1;

/// How long a change waits for another one.
const BUSY: Duration = Duration::from_secs(5);

/// Most keys, and the longest label of one in bytes.
const MAX_KEYS: u32 = 10_000;
pub const MAX_LABEL_BYTES: usize = 200;

const YEAR_MS: i64 = 365 * 86_400_000;

/// What is known of a key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct KeyEntry {
    /// The name by which it is revoked.
    pub id: String,
    /// Whose it is, for people.
    pub label: String,
    /// When it was issued.
    #[schema(value_type = String, format = DateTime)]
    pub issued: Iso8601,
    /// When it expires; absent if never.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<String>, format = DateTime)]
    pub expires: Option<Iso8601>,
    /// When it was last used, to a minute or so; absent if never.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<String>, format = DateTime)]
    pub last_used: Option<Iso8601>,
    /// When it was revoked; absent if it was not.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<String>, format = DateTime)]
    pub revoked: Option<Iso8601>,
}

/// How long a key is valid.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum, serde::Deserialize, utoipa::ToSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Validity {
    /// One year.
    Year,
    /// Without end.
    Never,
}

/// Why the record of keys cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum KeysError {
    /// The file cannot be created.
    #[error("{}: {error}", .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// The file cannot be read or written.
    #[error("{}: {error}", .path.display())]
    Database {
        /// The file.
        path: PathBuf,
        /// SQLite's error.
        error: rusqlite::Error,
    },
    /// The file is of a later version of the program.
    #[error("{} has version {got}; known is {VERSION}", .path.display())]
    Version {
        /// The file.
        path: PathBuf,
        /// Its version.
        got: i32,
    },
    /// The label is blank or too long, or has characters that are not seen.
    #[error(
        "label must be 1 to {MAX_LABEL_BYTES} bytes long, not blank, and without control characters \
         and marks of direction; got {0:?}"
    )]
    Label(String),
    /// There are too many keys.
    #[error("there are {MAX_KEYS} keys, which is the limit; revoked and expired ones count")]
    Full,
    /// No key has this name.
    #[error("no key has the id \"{0}\"")]
    Unknown(String),
    /// The system gives no random bytes.
    #[error(transparent)]
    Random(#[from] getrandom::Error),
}

/// The record of keys, open.
#[derive(Debug)]
pub struct KeyFile {
    path: PathBuf,
    connection: Connection,
}

/// Where the record of keys is.
pub fn path_in(data: &Path) -> PathBuf {
    data.join(FILE)
}

impl KeyFile {
    /// Opens the record of keys in a folder; `None` if no key was ever issued.
    ///
    /// # Errors
    /// The file cannot be read, or is of a later version.
    pub fn open(data: &Path) -> Result<Option<Self>, KeysError> {
        let path = path_in(data);
        match path.try_exists() {
            Ok(false) => Ok(None),
            Ok(true) => Self::connect(path, false).map(Some),
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
        let mut options = std::fs::OpenOptions::new();
        options.append(true).create(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        options.open(&path).map_err(fault)?;
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
        let to = to.to_str().ok_or_else(|| KeysError::Io { path: to.clone(), error: invalid() })?;
        let copied = file.connection.execute("VACUUM INTO ?", [to]);
        copied.map_err(|error| file.fault(error))?;
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

    /// Issues a key. The key itself is returned only here.
    ///
    /// # Errors
    /// An invalid label, too many keys, or the file cannot be written.
    pub fn issue(
        &mut self,
        label: &str,
        validity: Validity,
        now_ms: i64,
    ) -> Result<(String, KeyEntry), KeysError> {
        if label.len() > MAX_LABEL_BYTES || label.trim().is_empty() || label.contains(is_unseen) {
            return Err(KeysError::Label(label.chars().take(MAX_LABEL_BYTES).collect()));
        }
        let (key, digest) = KeyDigest::fresh()?;
        let expires_ms = match validity {
            Validity::Year => Some(now_ms + YEAR_MS),
            Validity::Never => None,
        };
        let insert = || {
            self.connection.execute(
                "INSERT INTO keys (digest, id, label, issued_ms, expires_ms)
                 SELECT ?1, ?2, ?3, ?4, ?5 WHERE (SELECT count(*) FROM keys) < ?6",
                params![digest.0, digest.id(), label, now_ms, expires_ms, MAX_KEYS],
            )
        };
        if insert().map_err(|error| self.fault(error))? == 0 {
            return Err(KeysError::Full);
        }
        let entry = KeyEntry {
            id: digest.id(),
            label: label.to_owned(),
            issued: Iso8601(now_ms),
            expires: expires_ms.map(Iso8601),
            last_used: None,
            revoked: None,
        };
        Ok((key, entry))
    }

    /// Revokes a key; one that was revoked before keeps its time.
    ///
    /// # Errors
    /// No key has the name, or the file cannot be written.
    pub fn revoke(&mut self, id: &str, now_ms: i64) -> Result<KeyEntry, KeysError> {
        let revoke = || {
            self.connection.execute(
                "UPDATE keys SET revoked_ms = coalesce(revoked_ms, ?2) WHERE id = ?1",
                params![id, now_ms],
            )?;
            let of = format!("{COLUMNS} WHERE id = ?1");
            self.connection.query_row(&of, [id], entry).optional()
        };
        let found = revoke().map_err(|error| self.fault(error))?;
        found.ok_or_else(|| KeysError::Unknown(id.chars().take(40).collect()))
    }

    /// Lists all keys, oldest first.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn list(&self) -> Result<Vec<KeyEntry>, KeysError> {
        let list = || {
            let mut rows = self.connection.prepare(&format!("{COLUMNS} ORDER BY issued_ms, id"))?;
            rows.query_map([], entry)?.collect::<rusqlite::Result<_>>()
        };
        list().map_err(|error| self.fault(error))
    }

    /// The keys that are not revoked, and when each expires.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn valid(&self) -> Result<HashMap<KeyDigest, Option<i64>>, KeysError> {
        let read = || {
            let sql = "SELECT digest, expires_ms FROM keys WHERE revoked_ms IS NULL";
            let mut rows = self.connection.prepare(sql)?;
            rows.query_map([], |row| Ok((KeyDigest(row.get(0)?), row.get(1)?)))?
                .collect::<rusqlite::Result<_>>()
        };
        read().map_err(|error| self.fault(error))
    }

    /// A checksum of the keys, whoever has used them: the same as long as none is issued or revoked.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn state(&self) -> Result<String, KeysError> {
        let read = || {
            let sql =
                "SELECT digest, label, issued_ms, expires_ms, revoked_ms FROM keys ORDER BY digest";
            let (mut rows, mut hasher) = (self.connection.prepare(sql)?, Sha256::new());
            let mut rows = rows.query([])?;
            while let Some(row) = rows.next()? {
                let (digest, label): ([u8; 32], String) = (row.get(0)?, row.get(1)?);
                let times: [Option<i64>; 3] = [row.get(2)?, row.get(3)?, row.get(4)?];
                hasher.update(digest);
                hasher.update(format!("{label:?} {times:?}\n"));
            }
            rusqlite::Result::Ok(super::hex(&hasher.finalize()))
        };
        read().map_err(|error| self.fault(error))
    }

    /// A number that changes with each change by another process or connection.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn changes(&self) -> Result<i64, KeysError> {
        let changes = self.connection.pragma_query_value(None, "data_version", |row| row.get(0));
        changes.map_err(|error| self.fault(error))
    }

    /// Records when keys were last used.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn used(&mut self, used: &HashMap<KeyDigest, i64>) -> Result<(), KeysError> {
        let write = |connection: &mut Connection| {
            let change = connection.transaction()?;
            for (digest, used_ms) in used {
                change.execute(
                    "UPDATE keys SET last_used_ms = max(coalesce(last_used_ms, ?2), ?2)
                     WHERE digest = ?1",
                    params![digest.0, used_ms],
                )?;
            }
            change.commit()
        };
        let written = write(&mut self.connection);
        written.map_err(|error| self.fault(error))
    }

    fn fault(&self, error: rusqlite::Error) -> KeysError {
        KeysError::Database { path: self.path.clone(), error }
    }
}

/// Whether a character changes how a list of labels is shown, and is not seen itself: control
/// characters, and the marks of direction of Unicode's UAX #9 with those of no width.
fn is_unseen(of: char) -> bool {
    of.is_control()
        || matches!(of, '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}')
        || matches!(of, '\u{2060}'..='\u{206f}' | '\u{feff}')
}

const COLUMNS: &str = "SELECT id, label, issued_ms, expires_ms, last_used_ms, revoked_ms FROM keys";

fn entry(row: &rusqlite::Row<'_>) -> rusqlite::Result<KeyEntry> {
    let instant = |column| row.get::<_, Option<i64>>(column).map(|ms| ms.map(Iso8601));
    Ok(KeyEntry {
        id: row.get(0)?,
        label: row.get(1)?,
        issued: Iso8601(row.get(2)?),
        expires: instant(3)?,
        last_used: instant(4)?,
        revoked: instant(5)?,
    })
}

#[cfg(test)]
#[path = "key_file_tests.rs"]
mod tests;
