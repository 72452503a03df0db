//! The database of a store: the journal of fresh batches, the stations, the series, and the
//! catalogue of sealed segments.

use std::path::{Path, PathBuf};

use rusqlite::{Connection, OptionalExtension, Transaction, params};

use super::codec::{Bytes, Writer, Wrong};
use super::fault::{Fault, database};
use super::series_table::SeriesTable;
use super::stations::StationState;
use super::unwritten;
use crate::series::{IntervalType, SeriesKey};
use crate::store::StoreError;
use crate::variable::Variable;

/// What was read, and what of it is damaged.
type Read<T, F = Fault> = Result<(T, Vec<F>), StoreError>;

/// Name of the database in the store's folder.
pub(super) const DATABASE: &str = "mesonet.sqlite";

/// Grows with every change of what the files of a store hold.
pub(super) const SCHEMA_VERSION: u32 = 1;

const SCHEMA: &str = "
    CREATE TABLE meta (name TEXT PRIMARY KEY, text TEXT NOT NULL) WITHOUT ROWID;
    CREATE TABLE series (
        id INTEGER PRIMARY KEY,
        name TEXT NOT NULL,
        interval_type TEXT NOT NULL,
        interval_minutes INTEGER NOT NULL,
        calculated INTEGER NOT NULL,
        reported_unit TEXT NOT NULL,
        bucket TEXT NOT NULL
    );
    CREATE TABLE station (id BLOB PRIMARY KEY, state BLOB NOT NULL) WITHOUT ROWID;
    CREATE TABLE journal (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        generation INTEGER NOT NULL,
        places_generation INTEGER NOT NULL,
        batch BLOB NOT NULL,
        damaged TEXT
    );
    CREATE TABLE segment (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        sequence INTEGER NOT NULL,
        readings INTEGER NOT NULL,
        first_ms INTEGER NOT NULL,
        last_ms INTEGER NOT NULL,
        length INTEGER NOT NULL,
        checksums BLOB NOT NULL,
        damaged TEXT
    );
";

/// Names of texts that the store keeps for itself.
pub(super) const GENERATION: &str = "store.generation";
pub(super) const PLACES_GENERATION: &str = "store.places_generation";
pub(super) const RETAIN_FROM: &str = "store.retain_from_ms";

/// The database.
#[derive(Debug)]
pub(super) struct Catalogue {
    pub connection: Connection,
    pub path: PathBuf,
}

/// What the catalogue says of a segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SegmentEntry {
    pub id: i64,
    /// Order of the segments: the readings of a later one are newer.
    pub sequence: i64,
    pub readings: u64,
    pub first_ms: i64,
    pub last_ms: i64,
    pub length: u64,
    /// CRC-32 of each block of the file.
    pub checksums: Vec<u32>,
}

/// One batch of the journal.
#[derive(Debug)]
pub(super) struct JournalEntry {
    pub id: i64,
    pub generation: u64,
    pub places_generation: u64,
    pub batch: Vec<u8>,
}

impl SegmentEntry {
    /// Name of the file, relative to the store's folder.
    pub fn file(&self) -> String {
        segment_file(self.id)
    }

    fn encode_checksums(&self) -> Vec<u8> {
        let mut out = Writer::default();
        for number in [self.sequence, self.readings as i64, self.first_ms, self.last_ms] {
            out.i64(number);
        }
        self.checksums.iter().for_each(|&checksum| out.u32(checksum));
        out.close()
    }

    /// The checksums of the blocks, and whether the rest is as it was written.
    fn decode_checksums(&mut self, bytes: &[u8]) -> Result<(), Wrong> {
        let mut bytes = Bytes::open(bytes)?;
        for number in [self.sequence, self.readings as i64, self.first_ms, self.last_ms] {
            if bytes.i64()? != number {
                return Err("its entry is not as it was written".to_owned());
            }
        }
        while !bytes.is_empty() {
            self.checksums.push(bytes.u32()?);
        }
        Ok(())
    }
}

/// Name of the file of a segment, relative to the store's folder.
pub(super) fn segment_file(id: i64) -> String {
    format!("segments/{id:08}.arrow")
}

impl Catalogue {
    /// Opens the database of a folder, or makes it.
    pub fn open(dir: &Path) -> Result<Self, StoreError> {
        let path = dir.join(DATABASE);
        let failed = |error: &rusqlite::Error| database(&path, error);
        let connection = Connection::open(&path).map_err(|error| failed(&error))?;
        let set = |name: &str, value: &dyn rusqlite::ToSql| {
            connection.pragma_update(None, name, value).map_err(|error| failed(&error))
        };
        set("page_size", &16384)?;
        connection
            .pragma_update_and_check(None, "journal_mode", "wal", |_| Ok(()))
            .map_err(|error| failed(&error))?;
        set("synchronous", &"FULL")?;
        set("wal_autocheckpoint", &2048)?;
        set("cell_size_check", &true)?;
        let mut catalogue = Self { connection, path };
        catalogue.check_version()?;
        Ok(catalogue)
    }

    /// Opens the database of a folder that nobody writes to, without writing a byte.
    pub fn unwritten(dir: &Path) -> Result<Self, StoreError> {
        let path = dir.join(DATABASE);
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

    fn check_version(&mut self) -> Result<(), StoreError> {
        let connection = &self.connection;
        let version: u32 = connection
            .pragma_query_value(None, "user_version", |row| row.get(0))
            .map_err(|error| self.failed(&error))?;
        let tables: u32 = connection
            .query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))
            .map_err(|error| self.failed(&error))?;
        if version == SCHEMA_VERSION {
            return Ok(());
        }
        if version != 0 || tables != 0 {
            return Err(StoreError::SchemaVersion {
                path: self.path.display().to_string(),
                got: version.to_string(),
                allowed: SCHEMA_VERSION,
            });
        }
        self.transaction(|transaction| {
            transaction.execute_batch(SCHEMA)?;
            transaction.pragma_update(None, "user_version", SCHEMA_VERSION)
        })
    }

    pub fn failed(&self, error: &rusqlite::Error) -> StoreError {
        database(&self.path, error)
    }

    /// Changes all or nothing; what was changed is on disk when this returns.
    pub fn transaction<T>(
        &mut self,
        change: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        let path = &self.path;
        let failed = |error: rusqlite::Error| database(path, &error);
        let transaction = self.connection.transaction().map_err(failed)?;
        let changed = change(&transaction).map_err(failed)?;
        transaction.commit().map_err(failed)?;
        Ok(changed)
    }

    /// Reads rows one by one.
    fn rows<T>(
        &self,
        sql: &str,
        mut read: impl FnMut(&rusqlite::Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, StoreError> {
        let mut rows = || {
            let mut statement = self.connection.prepare(sql)?;
            let rows = statement.query_map([], |row| read(row))?;
            rows.collect::<rusqlite::Result<Vec<T>>>()
        };
        rows().map_err(|error| self.failed(&error))
    }

    pub fn meta(&self, name: &str) -> Result<Option<String>, StoreError> {
        let sql = "SELECT text FROM meta WHERE name = ?";
        let text = self.connection.query_row(sql, [name], |row| row.get(0)).optional();
        text.map_err(|error| self.failed(&error))
    }

    /// A number that the store keeps for itself.
    pub fn number<T: std::str::FromStr>(&self, name: &str) -> Result<Option<T>, StoreError> {
        let Some(text) = self.meta(name)? else { return Ok(None) };
        let number = text.parse().map_err(|_| StoreError::Storage {
            path: self.path.display().to_string(),
            cause: format!("{name} is \"{text}\", which is no number"),
        })?;
        Ok(Some(number))
    }

    pub fn series(&self) -> Read<SeriesTable> {
        let mut table = SeriesTable::default();
        let mut faults = Vec::new();
        let sql = "SELECT id, name, interval_type, interval_minutes, calculated, reported_unit, \
                   bucket FROM series ORDER BY id";
        let rows = self.rows(sql, |row| {
            let texts: [String; 4] = [row.get(1)?, row.get(2)?, row.get(5)?, row.get(6)?];
            Ok((row.get::<_, i32>(0)?, texts, row.get::<_, i32>(3)?, row.get::<_, bool>(4)?))
        })?;
        for (id, [name, kind, unit, bucket], interval_minutes, calculated) in rows {
            let fault = |cause: String| Fault::new(format!("{DATABASE}, series {id}"), cause);
            let key = name
                .parse::<Variable>()
                .map_err(|error| error.to_string())
                .and_then(|variable| {
                    let interval_type =
                        kind.parse::<IntervalType>().map_err(|error| error.to_string())?;
                    let (reported_unit, bucket) = (unit.into(), bucket.into());
                    let key = SeriesKey {
                        variable,
                        interval_type,
                        interval_minutes,
                        calculated,
                        reported_unit,
                        bucket,
                    };
                    if key.id().0 != id {
                        return Err("it is not as it was written".to_owned());
                    }
                    Ok(key)
                })
                .map_err(fault);
            match key {
                Ok(key) => _ = table.add(&key),
                Err(fault) => faults.push(fault),
            }
        }
        Ok((table, faults))
    }

    pub fn stations(&self, table: &SeriesTable) -> Read<Vec<StationState>> {
        let (mut states, mut faults) = (Vec::new(), Vec::new());
        let mut at = 0;
        self.rows("SELECT state FROM station ORDER BY id", |row| {
            match StationState::decode(row.get_ref(0)?.as_blob()?, table) {
                Ok(state) => states.push(state),
                Err(cause) => faults.push(Fault::new(format!("{DATABASE}, station {at}"), cause)),
            }
            at += 1;
            Ok(())
        })?;
        Ok((states, faults))
    }

    pub fn journal(&self) -> Result<Vec<JournalEntry>, StoreError> {
        let sql = "SELECT id, generation, places_generation, batch FROM journal \
                   WHERE damaged IS NULL ORDER BY id";
        self.rows(sql, |row| {
            Ok(JournalEntry {
                id: row.get(0)?,
                generation: row.get(1)?,
                places_generation: row.get(2)?,
                batch: row.get(3)?,
            })
        })
    }

    /// The segments in their order, and those whose entries are damaged.
    pub fn segments(&self) -> Read<Vec<SegmentEntry>, (i64, Fault)> {
        let sql = "SELECT id, sequence, readings, first_ms, last_ms, length, checksums \
                   FROM segment WHERE damaged IS NULL ORDER BY sequence";
        let rows = self.rows(sql, |row| {
            let entry = SegmentEntry {
                id: row.get(0)?,
                sequence: row.get(1)?,
                readings: row.get(2)?,
                first_ms: row.get(3)?,
                last_ms: row.get(4)?,
                length: row.get(5)?,
                checksums: Vec::new(),
            };
            Ok((entry, row.get::<_, Vec<u8>>(6)?))
        })?;
        let (mut entries, mut faults) = (Vec::new(), Vec::new());
        for (mut entry, checksums) in rows {
            match entry.decode_checksums(&checksums) {
                Ok(()) => entries.push(entry),
                Err(cause) => {
                    let file = format!("{DATABASE}, entry of {}", entry.file());
                    faults.push((entry.id, Fault::new(file, cause)));
                }
            }
        }
        Ok((entries, faults))
    }

    /// An id that no segment ever had.
    pub fn next_segment(&self) -> Result<i64, StoreError> {
        let sql = "SELECT coalesce(max(id), 0) + 1 FROM \
                   (SELECT max(id) AS id FROM segment \
                    UNION ALL SELECT seq FROM sqlite_sequence WHERE name = 'segment')";
        let next = self.connection.query_row(sql, [], |row| row.get(0));
        next.map_err(|error| self.failed(&error))
    }

    /// What was set aside before.
    pub fn set_aside(&self) -> Result<Vec<Fault>, StoreError> {
        let mut faults = self.rows(
            "SELECT id, damaged FROM segment WHERE damaged IS NOT NULL ORDER BY id",
            |row| Ok(Fault { file: segment_file(row.get(0)?), cause: row.get(1)? }),
        )?;
        faults.extend(self.rows(
            "SELECT id, damaged FROM journal WHERE damaged IS NOT NULL ORDER BY id",
            |row| Ok(Fault { file: journal_batch(row.get(0)?), cause: row.get(1)? }),
        )?);
        Ok(faults)
    }

    /// Every fault that the database finds in itself.
    pub fn integrity(&self) -> Result<Vec<Fault>, StoreError> {
        let told = self.rows("PRAGMA integrity_check", |row| row.get::<_, String>(0))?;
        let wrong = told.into_iter().filter(|told| told != "ok");
        Ok(wrong.map(|cause| Fault::new(DATABASE, cause)).collect())
    }
}

/// How a batch of the journal is named in a fault.
pub(super) fn journal_batch(id: i64) -> String {
    format!("{DATABASE}, batch {id} of the journal")
}

pub(super) fn set_meta(
    transaction: &Transaction<'_>,
    name: &str,
    text: &str,
) -> rusqlite::Result<()> {
    let sql = "INSERT OR REPLACE INTO meta (name, text) VALUES (?, ?)";
    transaction.prepare_cached(sql)?.execute([name, text]).map(|_| ())
}

pub(super) fn add_series(
    transaction: &Transaction<'_>,
    series: &crate::series::Series,
) -> rusqlite::Result<()> {
    let key = &series.key;
    let sql = "INSERT INTO series VALUES (?, ?, ?, ?, ?, ?, ?)";
    let row = params![
        series.id.0,
        key.variable.name(),
        key.interval_type.name(),
        key.interval_minutes,
        key.calculated,
        key.reported_unit,
        key.bucket,
    ];
    transaction.prepare_cached(sql)?.execute(row).map(|_| ())
}

pub(super) fn add_batch(
    transaction: &Transaction<'_>,
    generation: u64,
    places_generation: u64,
    batch: &[u8],
) -> rusqlite::Result<i64> {
    let sql = "INSERT INTO journal (generation, places_generation, batch) VALUES (?, ?, ?)";
    transaction.prepare_cached(sql)?.insert(params![generation, places_generation, batch])
}

pub(super) fn put_state(
    transaction: &Transaction<'_>,
    state: &StationState,
) -> rusqlite::Result<()> {
    let sql = "INSERT OR REPLACE INTO station (id, state) VALUES (?, ?)";
    let row = params![state.record.station.id.as_bytes(), state.encode()];
    transaction.prepare_cached(sql)?.execute(row).map(|_| ())
}

pub(super) fn add_segment(
    transaction: &Transaction<'_>,
    entry: &SegmentEntry,
) -> rusqlite::Result<()> {
    let sql = "INSERT INTO segment (id, sequence, readings, first_ms, last_ms, length, checksums) \
               VALUES (?, ?, ?, ?, ?, ?, ?)";
    let row = params![
        entry.id,
        entry.sequence,
        entry.readings,
        entry.first_ms,
        entry.last_ms,
        entry.length,
        entry.encode_checksums(),
    ];
    transaction.prepare_cached(sql)?.execute(row).map(|_| ())
}

pub(super) fn remove_segment(transaction: &Transaction<'_>, id: i64) -> rusqlite::Result<()> {
    transaction.prepare_cached("DELETE FROM segment WHERE id = ?")?.execute([id]).map(|_| ())
}

pub(super) fn mark_segment(
    transaction: &Transaction<'_>,
    id: i64,
    cause: &str,
) -> rusqlite::Result<()> {
    let sql = "UPDATE segment SET damaged = ? WHERE id = ?";
    transaction.prepare_cached(sql)?.execute(params![cause, id]).map(|_| ())
}

pub(super) fn mark_batch(
    transaction: &Transaction<'_>,
    id: i64,
    cause: &str,
) -> rusqlite::Result<()> {
    let sql = "UPDATE journal SET damaged = ? WHERE id = ?";
    transaction.prepare_cached(sql)?.execute(params![cause, id]).map(|_| ())
}
