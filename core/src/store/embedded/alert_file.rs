//! The alert database: one row per message, as JSON with a checksum.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rusqlite::{Connection, Transaction, params};

use super::access::Access;
use super::codec::{ByteWriter, Bytes};
use super::copy::{copy_count, copy_database};
use super::count::{ALERT_COUNT, Count, read_count};
use super::fault::{Fault, database, storage};
use super::folder::{Folder, sync_folder};
use super::names::{ALERTS, DAMAGED};
use super::unwritten;
use crate::alert;
use crate::store::{AlertBackend, StoreError};

/// Increases with every change of the file format.
const SCHEMA_VERSION: u32 = 3;

const SCHEMA: &str =
    "CREATE TABLE alert (id TEXT PRIMARY KEY, message BLOB NOT NULL) WITHOUT ROWID";

/// Version 2 adds the number of changes, and the number of acknowledged changes that are missing.
const SCHEMA_2: &str = "CREATE TABLE change (count INTEGER NOT NULL, missing INTEGER NOT NULL); \
                        INSERT INTO change VALUES (0, 0)";

/// Version 3 adds the number of alerts, because a damaged page may hide rows.
const SCHEMA_3: &str = "ALTER TABLE change ADD COLUMN alerts INTEGER NOT NULL DEFAULT 0; \
                        UPDATE change SET alerts = (SELECT count(*) FROM alert)";

/// The content of the file.
#[derive(Debug)]
pub(in super::super) struct Loaded {
    /// Every message that can be read.
    pub messages: Vec<alert::Message>,
    /// What is wrong.
    pub faults: Vec<Fault>,
    /// The number of faults that are unreadable alerts.
    pub corrupt: u64,
    /// Whether acknowledged changes are missing; it is unknown which.
    pub lacks_changes: bool,
}

/// The database.
#[derive(Debug)]
pub(in super::super) struct AlertFile {
    connection: Connection,
    path: PathBuf,
    /// The number of acknowledged changes; kept while the database may be written.
    count: Option<Count>,
    /// The number of these changes that are missing.
    missing: u64,
    /// The fault of the count beside the database.
    count_fault: Option<Fault>,
}

impl AlertFile {
    /// Opens the database of a folder, or creates it.
    pub(crate) fn open(dir: &Path) -> Result<Self, StoreError> {
        Self::open_as(dir.join(ALERTS), &dir.join(ALERT_COUNT))
    }

    fn open_as(path: PathBuf, count_path: &Path) -> Result<Self, StoreError> {
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
        let missing_tables = match (version, tables) {
            (SCHEMA_VERSION, _) => String::new(),
            (0, 0) => format!("{SCHEMA}; {SCHEMA_2}; {SCHEMA_3};"),
            (1, _) => format!("{SCHEMA_2}; {SCHEMA_3};"),
            (2, _) => format!("{SCHEMA_3};"),
            _ => {
                return Err(StoreError::SchemaVersion {
                    path: path.display().to_string(),
                    got: version.to_string(),
                    allowed: SCHEMA_VERSION,
                });
            }
        };
        if !missing_tables.is_empty() {
            connection
                .execute_batch(&format!(
                    "BEGIN; {missing_tables} PRAGMA user_version = {SCHEMA_VERSION}; COMMIT"
                ))
                .map_err(failed)?;
        }
        let (changes, mut missing): (u64, u64) = connection
            .query_row("SELECT count, missing FROM change", [], |row| {
                Ok((row.get(0)?, row.get(1)?))
            })
            .map_err(failed)?;
        let acknowledged = read_count(count_path);
        let count_fault = count_fault(&acknowledged, changes);
        let acknowledged = acknowledged.ok().flatten().unwrap_or(0);
        if acknowledged > changes {
            missing += acknowledged - changes;
            connection
                .execute("UPDATE change SET count = ?, missing = ?", [acknowledged, missing])
                .map_err(failed)?;
        }
        let count = Some(Count::open(count_path, changes.max(acknowledged))?);
        Ok(Self { connection, path, count, missing, count_fault })
    }

    /// Reads every message; corrupt messages are reported and left where they are.
    ///
    /// # Errors
    /// If the table cannot be read, or lacks rows that it should have.
    pub(crate) fn load(&mut self) -> Result<Loaded, StoreError> {
        let read = || {
            let sql = "SELECT alerts FROM change";
            let alerts: u64 = self.connection.query_row(sql, [], |row| row.get(0))?;
            rusqlite::Result::Ok((alerts, rows(&self.connection)?))
        };
        let (alerts, rows) = read().map_err(|error| database(&self.path, &error))?;
        if let Some(cause) = rows.lost(alerts) {
            return Err(StoreError::Storage { path: self.path.display().to_string(), cause });
        }
        let MessageRows { messages, mut faults, .. } = rows;
        let corrupt = faults.len() as u64;
        faults.extend(missing(self.missing));
        faults.extend(self.count_fault.take());
        Ok(Loaded { messages, faults, corrupt, lacks_changes: self.missing > 0 })
    }

    fn change(
        &mut self,
        change: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<()>,
    ) -> Result<(), StoreError> {
        let write = || {
            let transaction = self.connection.transaction()?;
            change(&transaction)?;
            let sql = "UPDATE change SET count = count + 1 RETURNING count";
            let count = transaction.query_row(sql, [], |row| row.get(0))?;
            transaction.commit()?;
            rusqlite::Result::Ok(count)
        };
        let changes = write().map_err(|error| database(&self.path, &error))?;
        if let Some(count) = &mut self.count {
            count.note(changes);
        }
        Ok(())
    }
}

impl AlertBackend for AlertFile {
    fn put(&mut self, messages: &[Arc<alert::Message>]) -> Result<(), StoreError> {
        self.change(|transaction| {
            let mut update = transaction.prepare("UPDATE alert SET message = ? WHERE id = ?")?;
            let sql = "INSERT INTO alert (message, id) VALUES (?, ?)";
            let mut insert = transaction.prepare(sql)?;
            let mut added = 0;
            for message in messages {
                let bytes = encode(message)?;
                if update.execute(params![bytes, message.id])? == 0 {
                    added += insert.execute(params![bytes, message.id])?;
                }
            }
            transaction.execute("UPDATE change SET alerts = alerts + ?", [added]).map(drop)
        })
    }

    fn delete(&mut self, ids: &[String]) -> Result<(), StoreError> {
        self.change(|transaction| {
            let mut statement = transaction.prepare("DELETE FROM alert WHERE id = ?")?;
            let mut deleted = 0;
            for id in ids {
                deleted += statement.execute([id])?;
            }
            transaction.execute("UPDATE change SET alerts = alerts - ?", [deleted]).map(drop)
        })
    }
}

/// Reads every message and every fault of a folder, without writing a byte.
pub(in super::super) fn read_alerts(
    dir: &Path,
    access: &Access,
) -> Result<(Vec<alert::Message>, Vec<Fault>), StoreError> {
    let (path, count_path) = (dir.join(ALERTS), dir.join(ALERT_COUNT));
    let acknowledged = read_count(&count_path);
    let length = std::fs::metadata(&path).map_or(0, |metadata| metadata.len());
    // SQLite would delete the write-ahead log of an empty database.
    if length == 0 {
        let faults = match acknowledged {
            Ok(count) => missing(count.unwrap_or(0)).into_iter().collect(),
            Err(cause) => vec![Fault::new(ALERT_COUNT, cause)],
        };
        return Ok((Vec::new(), faults));
    }
    let connection = access.connect(&path)?;
    let read = || {
        let version: u32 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
        let (changes, missing): (u64, u64) = if version >= 2 {
            let sql = "SELECT count, missing FROM change";
            connection.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?)))?
        } else {
            (0, 0)
        };
        let sql = "SELECT alerts FROM change";
        let alerts = (version >= 3).then(|| connection.query_row(sql, [], |row| row.get(0)));
        let mut statement = connection.prepare("PRAGMA integrity_check")?;
        let integrity = statement.query_map([], |row| row.get::<_, String>(0))?;
        let integrity = integrity.collect::<rusqlite::Result<Vec<_>>>()?;
        let mut rows = rows(&connection)?;
        let lost = alerts.transpose()?.and_then(|alerts| rows.lost(alerts));
        rows.faults.extend(lost.map(|cause| Fault::new(ALERTS, cause)));
        rusqlite::Result::Ok((version, changes, missing, integrity, rows))
    };
    let (version, changes, known, integrity, MessageRows { messages, mut faults, .. }) =
        read().map_err(|error| database(&path, &error))?;
    if !(1..=SCHEMA_VERSION).contains(&version) {
        return Err(StoreError::SchemaVersion {
            path: path.display().to_string(),
            got: version.to_string(),
            allowed: SCHEMA_VERSION,
        });
    }
    let wrong = integrity.into_iter().filter(|message| message != "ok");
    faults.extend(wrong.map(|cause| Fault::new(ALERTS, cause)));
    faults.extend(count_fault(&acknowledged, changes));
    if let Ok(count) = acknowledged {
        faults.extend(missing(known + count.unwrap_or(0).saturating_sub(changes)));
    }
    Ok((messages, faults))
}

/// The fault of a count beside a database with a number of changes.
fn count_fault(acknowledged: &Result<Option<u64>, String>, changes: u64) -> Option<Fault> {
    let cause = match acknowledged {
        Ok(None) if changes > 0 => {
            "it is missing, so it is unknown whether acknowledged changes were lost"
        }
        Ok(_) => return None,
        Err(cause) => cause,
    };
    Some(Fault::new(ALERT_COUNT, cause))
}

/// Copies the alerts of a folder, as they are now, into another. Returns the names of the files.
pub(super) fn copy_alerts(
    dir: &Path,
    into: &Path,
    access: &Access,
) -> Result<Vec<&'static str>, StoreError> {
    let (path, copy) = (dir.join(ALERTS), into.join(ALERTS));
    let mut files = Vec::new();
    // SQLite would delete the write-ahead log of an empty database.
    if std::fs::metadata(&path).is_ok_and(|metadata| metadata.len() > 0) {
        copy_database(access, &path, &copy)?;
        files.push(ALERTS);
    }
    let changes = || {
        let read = |connection: Connection| {
            connection.query_row("SELECT count FROM change", [], |row| row.get(0))
        };
        read(unwritten::open(&copy)?).map_err(|error| database(&copy, &error))
    };
    if copy_count(access, dir, into, ALERT_COUNT, changes)? {
        files.push(ALERT_COUNT);
    }
    Ok(files)
}

/// The rows of the table.
struct MessageRows {
    messages: Vec<alert::Message>,
    /// The corrupt rows.
    faults: Vec<Fault>,
    /// The number of rows, including corrupt ones; each id counts once.
    count: u64,
}

impl MessageRows {
    /// The fault if the number of rows is not the expected one. A damaged page may hide rows, or
    /// show a row twice.
    fn lost(&self, alerts: u64) -> Option<String> {
        (self.count != alerts)
            .then(|| format!("its table shows {} alerts; it must have {alerts}", self.count))
    }
}

/// Reads every message of a database; corrupt messages are reported.
fn rows(connection: &Connection) -> rusqlite::Result<MessageRows> {
    let (mut messages, mut faults) = (Vec::new(), Vec::new());
    let mut ids = HashSet::new();
    let mut statement = connection.prepare("SELECT id, message FROM alert")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        // A damaged row must not prevent the others from being read, whatever it holds.
        let bytes = |at| row.get_ref(at).map(|value| value.as_bytes().unwrap_or_default());
        let (id, message) = (bytes(0)?, bytes(1)?);
        if !ids.insert(id.to_vec()) {
            continue;
        }
        let id = String::from_utf8_lossy(id);
        if let Some(message) = decode(message).filter(|message| message.id == id) {
            messages.push(message);
        } else {
            let shown: String = id.chars().take(80).collect();
            let cause = "it is corrupt";
            faults.push(Fault::new(format!("{ALERTS}, alert {shown}"), cause));
        }
    }
    Ok(MessageRows { messages, faults, count: ids.len() as u64 })
}

/// The fault for acknowledged changes that are missing.
fn missing(changes: u64) -> Option<Fault> {
    (changes > 0).then(|| {
        let cause = format!(
            "{changes} acknowledged changes are missing: the file was lost, truncated or emptied, \
             or replaced by an older one"
        );
        Fault::new(ALERTS, cause)
    })
}

/// Writes the readable alerts into a new database and moves the old one into `damaged/`. Returns
/// the number of these alerts. Missing changes no longer count as a fault.
pub(super) fn salvage_alerts(folder: &Folder) -> Result<usize, StoreError> {
    let dir = &folder.path;
    let (path, fresh) = (dir.join(ALERTS), dir.join("alerts.tmp"));
    let mut messages = BTreeMap::new();
    if path.exists() {
        // From both ends, to get the rows before the damage and those after it.
        for order in ["ASC", "DESC"] {
            let mut read = || {
                let connection = Connection::open(&path)?;
                // Otherwise nothing can be read from a truncated file.
                connection.pragma_update(None, "writable_schema", true)?;
                let sql = format!("SELECT message FROM alert ORDER BY id {order}");
                let mut statement = connection.prepare(&sql)?;
                let mut rows = statement.query([])?;
                while let Some(row) = rows.next()? {
                    let message = decode(row.get_ref(0)?.as_bytes().unwrap_or_default());
                    messages.extend(message.map(|message| (message.id.clone(), message)));
                }
                rusqlite::Result::Ok(())
            };
            // Reading ends where the damage begins.
            let _: rusqlite::Result<()> = read();
        }
    }
    for suffix in ["", "-wal", "-shm"] {
        // Left behind by an interrupted salvage; the old database is still there.
        let _ = std::fs::remove_file(dir.join(format!("alerts.tmp{suffix}")));
    }
    let mut file = AlertFile::open_as(fresh.clone(), &dir.join(ALERT_COUNT))?;
    let messages: Vec<_> = messages.into_values().map(Arc::new).collect();
    file.put(&messages)?;
    let cleared = file.connection.execute("UPDATE change SET missing = 0", []);
    cleared.map_err(|error| database(&fresh, &error))?;
    // Its write-ahead log goes with it.
    drop(file);
    for suffix in ["", "-wal", "-shm"] {
        let old = dir.join(format!("{ALERTS}{suffix}"));
        if old.exists() {
            folder.move_to(DAMAGED, &old)?;
        }
    }
    std::fs::rename(&fresh, &path).map_err(|error| storage(&path, &error))?;
    sync_folder(dir)?;
    Ok(messages.len())
}

/// Whether a folder holds alerts, or an alert file that cannot be read.
pub(in super::super) fn holds_alerts(dir: &Path) -> bool {
    let path = dir.join(ALERTS);
    // SQLite would delete the write-ahead log of an empty database.
    if std::fs::metadata(&path).map_or(0, |metadata| metadata.len()) == 0 {
        return path.exists();
    }
    let count = || {
        let sql = "SELECT count(*) FROM alert";
        let count = unwritten::open(&path).ok()?.query_row(sql, [], |row| row.get(0));
        count.ok()
    };
    count().is_none_or(|count: u64| count > 0)
}

fn encode(message: &alert::Message) -> rusqlite::Result<Vec<u8>> {
    let json = serde_json::to_vec(message);
    let json = json.map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))?;
    Ok(checked(json))
}

/// Bytes with their checksum.
pub(in super::super) fn checked(bytes: Vec<u8>) -> Vec<u8> {
    ByteWriter(bytes).close()
}

fn decode(bytes: &[u8]) -> Option<alert::Message> {
    serde_json::from_slice(Bytes::open(bytes).ok()?.rest()).ok()
}

#[cfg(test)]
#[path = "alert_file_tests.rs"]
mod tests;
