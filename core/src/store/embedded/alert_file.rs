//! The database of alerts: one row for each message, as JSON with a checksum.

use std::path::{Path, PathBuf};

use rusqlite::{Connection, params};

use super::codec::{Bytes, Writer};
use super::fault::{Fault, database};
use super::unwritten;
use crate::alert::AlertMessage;
use crate::store::StoreError;

/// Name of the database in the store's folder.
pub(in super::super) const ALERTS: &str = "alerts.sqlite";

/// Grows with every change of what the file holds.
const SCHEMA_VERSION: u32 = 1;

const SCHEMA: &str =
    "CREATE TABLE alert (id TEXT PRIMARY KEY, message BLOB NOT NULL) WITHOUT ROWID";

/// The database.
#[derive(Debug)]
pub(in super::super) struct AlertFile {
    connection: Connection,
    path: PathBuf,
}

impl AlertFile {
    /// Opens the database of a folder, or makes it.
    pub fn open(dir: &Path) -> Result<Self, StoreError> {
        let path = dir.join(ALERTS);
        let failed = |error: rusqlite::Error| database(&path, &error);
        let connection = Connection::open(&path).map_err(failed)?;
        connection
            .pragma_update_and_check(None, "journal_mode", "wal", |_| Ok(()))
            .and_then(|()| connection.pragma_update(None, "synchronous", "FULL"))
            .and_then(|()| connection.pragma_update(None, "cell_size_check", true))
            .map_err(failed)?;
        let version: u32 = connection
            .pragma_query_value(None, "user_version", |row| row.get(0))
            .map_err(failed)?;
        let tables: u32 = connection
            .query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))
            .map_err(failed)?;
        if version == 0 && tables == 0 {
            connection
                .execute_batch(&format!(
                    "BEGIN; {SCHEMA}; PRAGMA user_version = {SCHEMA_VERSION}; COMMIT"
                ))
                .map_err(failed)?;
        } else if version != SCHEMA_VERSION {
            return Err(StoreError::SchemaVersion {
                path: path.display().to_string(),
                got: version.to_string(),
                allowed: SCHEMA_VERSION,
            });
        }
        Ok(Self { connection, path })
    }

    /// Opens the database of a folder that nobody writes to, without writing a byte.
    pub fn unwritten(dir: &Path) -> Result<Self, StoreError> {
        let path = dir.join(ALERTS);
        let connection = unwritten::open(&path)?;
        let version: u32 = connection
            .pragma_query_value(None, "user_version", |row| row.get(0))
            .map_err(|error| database(&path, &error))?;
        if !(1..=SCHEMA_VERSION).contains(&version) {
            return Err(StoreError::SchemaVersion {
                path: path.display().to_string(),
                got: version.to_string(),
                allowed: SCHEMA_VERSION,
            });
        }
        Ok(Self { connection, path })
    }

    /// Every fault that the database finds in itself.
    pub fn integrity(&self) -> Result<Vec<Fault>, StoreError> {
        let told = || {
            let mut statement = self.connection.prepare("PRAGMA integrity_check")?;
            let told = statement.query_map([], |row| row.get::<_, String>(0))?;
            told.collect::<rusqlite::Result<Vec<_>>>()
        };
        let told = told().map_err(|error| database(&self.path, &error))?;
        let wrong = told.into_iter().filter(|told| told != "ok");
        Ok(wrong.map(|cause| Fault::new(ALERTS, cause)).collect())
    }

    /// Every message; those that are not as they were written are named and left where they are.
    pub fn load(&mut self) -> Result<(Vec<AlertMessage>, Vec<Fault>), StoreError> {
        let (mut messages, mut faults) = (Vec::new(), Vec::new());
        let mut read = || {
            let mut statement = self.connection.prepare("SELECT id, message FROM alert")?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                // Whatever stands in a damaged row, it does not keep the others from being read.
                let bytes = |at| row.get_ref(at).map(|value| value.as_bytes().unwrap_or_default());
                let (id, message) = (String::from_utf8_lossy(bytes(0)?), bytes(1)?);
                if let Some(message) = decode(message).filter(|message| message.id == id) {
                    messages.push(message);
                } else {
                    let shown: String = id.chars().take(80).collect();
                    let cause = "it is not as it was written";
                    faults.push(Fault::new(format!("{ALERTS}, alert {shown}"), cause));
                }
            }
            rusqlite::Result::Ok(())
        };
        read().map_err(|error| database(&self.path, &error))?;
        Ok((messages, faults))
    }

    /// Writes messages, all or none; on disk when this returns.
    pub fn put<'a>(
        &mut self,
        messages: impl Iterator<Item = &'a AlertMessage>,
    ) -> Result<(), StoreError> {
        let write = || {
            let transaction = self.connection.transaction()?;
            {
                let sql = "INSERT OR REPLACE INTO alert (id, message) VALUES (?, ?)";
                let mut insert = transaction.prepare(sql)?;
                for message in messages {
                    insert.execute(params![message.id, encode(message)?])?;
                }
            }
            transaction.commit()
        };
        write().map_err(|error| database(&self.path, &error))
    }

    /// Deletes messages, all or none.
    pub fn delete(&mut self, ids: &[String]) -> Result<(), StoreError> {
        let mut delete = || {
            let transaction = self.connection.transaction()?;
            {
                let mut statement = transaction.prepare("DELETE FROM alert WHERE id = ?")?;
                for id in ids {
                    statement.execute([id])?;
                }
            }
            transaction.commit()
        };
        delete().map_err(|error| database(&self.path, &error))
    }
}

fn encode(message: &AlertMessage) -> rusqlite::Result<Vec<u8>> {
    let json = serde_json::to_vec(message);
    let json = json.map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))?;
    Ok(Writer(json).close())
}

fn decode(bytes: &[u8]) -> Option<AlertMessage> {
    serde_json::from_slice(Bytes::open(bytes).ok()?.rest()).ok()
}
