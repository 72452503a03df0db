//! The database of a store: the journal of fresh batches, the stations, the series, and the
//! catalogue of sealed segments.

use std::path::{Path, PathBuf};

use rusqlite::{Connection, OpenFlags, OptionalExtension, Transaction, params};

use super::codec::{Bytes, Writer, Wrong};
use super::count::{Count, JOURNAL_COUNT, read_count};
use super::fault::{Fault, database};
use super::folder::no_catalogue;
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
pub(super) const SCHEMA_VERSION: u32 = 2;

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

/// What version 2 has beside version 1: the segments that are being written (`made_from` names
/// those that they are merged from; none for the journal), the segments that others have taken the
/// place of (`damaged`: what could not be read of them is not in the others), and what of sealed
/// readings is lost.
const SCHEMA_2: &str = "
    CREATE TABLE pending (id INTEGER PRIMARY KEY, made_from TEXT NOT NULL);
    CREATE TABLE retired (
        id INTEGER PRIMARY KEY,
        replaced_by INTEGER,
        damaged INTEGER NOT NULL
    );
    CREATE TABLE lost (
        segment INTEGER NOT NULL,
        first_block INTEGER NOT NULL,
        end_block INTEGER NOT NULL,
        first_ms INTEGER NOT NULL,
        last_ms INTEGER NOT NULL,
        first_station BLOB NOT NULL,
        last_station BLOB NOT NULL,
        cause TEXT NOT NULL
    );
    INSERT INTO lost SELECT id, 0, (length + 262143) / 262144, first_ms, last_ms,
        zeroblob(16), x'ffffffffffffffffffffffffffffffff', damaged
        FROM segment WHERE damaged IS NOT NULL;
";

/// Names of texts that the store keeps for itself.
pub(super) const GENERATION: &str = "store.generation";
pub(super) const PLACES_GENERATION: &str = "store.places_generation";
pub(super) const RETAIN_FROM: &str = "store.retain_from_ms";
/// Spans of acknowledged batches that are missing, each on a line; kept until somebody takes note.
const MISSING: &str = "store.missing_batches";
/// Whether there is a count of acknowledged batches beside the database.
const COUNTED: &str = "store.counted";

/// The database.
#[derive(Debug)]
pub(super) struct Catalogue {
    pub connection: Connection,
    pub path: PathBuf,
    /// How many batches were acknowledged; kept while the store is open.
    count: Option<Count>,
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
    /// Opens the database of a folder; one without tables is made only where `is_new` says that
    /// there is nothing yet that it should tell of.
    pub fn open(dir: &Path, is_new: bool) -> Result<Self, StoreError> {
        let path = dir.join(DATABASE);
        let failed = |error: &rusqlite::Error| database(&path, error);
        let flags = OpenFlags::default();
        let flags = if is_new { flags } else { flags - OpenFlags::SQLITE_OPEN_CREATE };
        let connection =
            Connection::open_with_flags(&path, flags).map_err(|error| failed(&error))?;
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
        let mut catalogue = Self { connection, path, count: None };
        catalogue.check_version(is_new)?;
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
        Ok(Self { connection, path, count: None })
    }

    fn check_version(&mut self, is_new: bool) -> Result<(), StoreError> {
        let connection = &self.connection;
        let version: u32 = connection
            .pragma_query_value(None, "user_version", |row| row.get(0))
            .map_err(|error| self.failed(&error))?;
        let tables: u32 = connection
            .query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))
            .map_err(|error| self.failed(&error))?;
        match (version, tables) {
            (SCHEMA_VERSION, _) => return Ok(()),
            (0, 0) if is_new => {}
            (0, 0) => {
                let dir = self.path.parent().unwrap_or(Path::new(""));
                return Err(no_catalogue(dir, "has no tables"));
            }
            (1, _) => {}
            _ => {
                return Err(StoreError::SchemaVersion {
                    path: self.path.display().to_string(),
                    got: version.to_string(),
                    allowed: SCHEMA_VERSION,
                });
            }
        }
        self.transaction(|transaction| {
            if version == 0 {
                transaction.execute_batch(SCHEMA)?;
            }
            transaction.execute_batch(SCHEMA_2)?;
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

    /// Id of the last batch that the journal ever had.
    fn last_batch(&self) -> Result<u64, StoreError> {
        let sql = "SELECT coalesce(max(seq), 0) FROM \
                   (SELECT seq FROM sqlite_sequence WHERE name = 'journal' \
                    UNION ALL SELECT max(id) FROM journal)";
        let last = self.connection.query_row(sql, [], |row| row.get(0));
        last.map_err(|error| self.failed(&error))
    }

    /// The acknowledged batches that are missing: those that were noted before, and those that the
    /// count beside the database tells of. Nothing is written.
    pub fn missing_batches(&self) -> Result<Vec<Fault>, StoreError> {
        let mut faults: Vec<Fault> = self
            .meta(MISSING)?
            .iter()
            .flat_map(|text| text.lines())
            .map(|line| Fault::new(JOURNAL, line))
            .collect();
        match self.counted() {
            Ok(Some(count)) => faults.extend(missing(self.last_batch()?, count)),
            Ok(None) if self.meta(COUNTED)?.is_some() => {
                let cause = "it is missing, so whether acknowledged batches are missing cannot be \
                             told";
                faults.push(Fault::new(JOURNAL_COUNT, cause));
            }
            Ok(None) => {}
            Err(cause) => faults.push(Fault::new(JOURNAL_COUNT, cause)),
        }
        Ok(faults)
    }

    fn counted(&self) -> Result<Option<u64>, Wrong> {
        read_count(&self.path.with_file_name(JOURNAL_COUNT))
    }

    /// Notes which acknowledged batches are missing, goes on above them, and counts from now on.
    pub fn count_batches(&mut self) -> Result<(), StoreError> {
        let last = self.last_batch()?;
        let count = self.counted().ok().flatten().unwrap_or(0);
        let noted = self.meta(MISSING)?;
        if let Some(fault) = missing(last, count) {
            let text = noted.map_or_else(String::new, |noted| noted + "\n") + &fault.cause;
            self.transaction(|transaction| {
                set_meta(transaction, MISSING, &text)?;
                transaction.execute("DELETE FROM sqlite_sequence WHERE name = 'journal'", [])?;
                let sql = "INSERT INTO sqlite_sequence (name, seq) VALUES ('journal', ?)";
                transaction.execute(sql, [count])
            })?;
        }
        // First the file: a note of it without it would be a fault.
        let path = self.path.with_file_name(JOURNAL_COUNT);
        self.count = Some(Count::open(path, last.max(count))?);
        if self.meta(COUNTED)?.is_none() {
            self.transaction(|transaction| set_meta(transaction, COUNTED, "yes"))?;
        }
        Ok(())
    }

    /// Takes note of the acknowledged batches that are missing: they are no fault any more.
    pub fn forget_missing_batches(&mut self) -> Result<(), StoreError> {
        self.count_batches()?;
        self.transaction(|transaction| {
            transaction.execute("DELETE FROM meta WHERE name = ?", [MISSING])
        })?;
        Ok(())
    }

    /// Notes that a batch is on disk.
    pub fn acknowledge(&mut self, batch: i64) {
        if let Some(count) = &mut self.count {
            count.note(batch as u64);
        }
    }

    /// Moves what is in the write-ahead log into the database, so that it does not depend on it.
    pub fn checkpoint(&mut self) -> Result<(), StoreError> {
        let sql = "PRAGMA wal_checkpoint(TRUNCATE)";
        let busy = self.connection.query_row(sql, [], |row| row.get::<_, bool>(0));
        match busy {
            Ok(false) => Ok(()),
            Ok(true) => Err(StoreError::Storage {
                path: self.path.display().to_string(),
                cause: "another program reads the database".to_owned(),
            }),
            Err(error) => Err(self.failed(&error)),
        }
    }

    /// An id that no segment of the catalogue ever had.
    pub fn next_segment(&self) -> Result<i64, StoreError> {
        let sql = "SELECT coalesce(max(id), 0) + 1 FROM \
                   (SELECT max(id) AS id FROM segment \
                    UNION ALL SELECT max(id) FROM pending UNION ALL SELECT max(id) FROM retired \
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

    /// The segments whose files were being written, with those that each was to be merged from.
    pub fn pending(&self) -> Result<Vec<(i64, Vec<i64>)>, StoreError> {
        self.rows("SELECT id, made_from FROM pending", |row| {
            let made_from: String = row.get(1)?;
            Ok((row.get(0)?, made_from.split(',').filter_map(|id| id.parse().ok()).collect()))
        })
    }

    /// The segments that were taken out of service.
    pub fn retired(&self) -> Result<Vec<Retired>, StoreError> {
        self.rows("SELECT id, replaced_by, damaged FROM retired", |row| {
            Ok(Retired { id: row.get(0)?, replaced_by: row.get(1)?, damaged: row.get(2)? })
        })
    }

    /// Forgets the segments whose files are gone.
    pub fn forget_swept(&mut self) -> Result<(), StoreError> {
        self.transaction(|transaction| {
            transaction.execute_batch("DELETE FROM pending; DELETE FROM retired")
        })
    }

    /// Every fault that the database finds in itself.
    pub fn integrity(&self) -> Result<Vec<Fault>, StoreError> {
        let told = self.rows("PRAGMA integrity_check", |row| row.get::<_, String>(0))?;
        let wrong = told.into_iter().filter(|told| told != "ok");
        Ok(wrong.map(|cause| Fault::new(DATABASE, cause)).collect())
    }
}

/// A segment that was taken out of service.
#[derive(Clone, Copy, Debug)]
pub(super) struct Retired {
    pub id: i64,
    /// The segment that its readings are in now; `None` where they were given up as too old.
    pub replaced_by: Option<i64>,
    /// Whether parts of it could not be read: its file is kept.
    pub damaged: bool,
}

/// How the journal is named in a fault.
const JOURNAL: &str = "mesonet.sqlite, journal";

/// The batches that were acknowledged after the last one that is there.
fn missing(last: u64, count: u64) -> Option<Fault> {
    let cause = |count: u64| {
        format!(
            "{} acknowledged batches, {} to {count}, are missing: its write-ahead log was lost or \
             cut, or an older file was put in its place",
            count - last,
            last + 1
        )
    };
    (count > last).then(|| Fault::new(JOURNAL, cause(count)))
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

/// Notes that the file of a segment is about to be written.
pub(super) fn begin_segment(
    transaction: &Transaction<'_>,
    id: i64,
    made_from: &[i64],
) -> rusqlite::Result<()> {
    let made_from: Vec<String> = made_from.iter().map(i64::to_string).collect();
    let sql = "INSERT OR REPLACE INTO pending (id, made_from) VALUES (?, ?)";
    transaction.prepare_cached(sql)?.execute(params![id, made_from.join(",")]).map(|_| ())
}

/// Notes that the file of a segment is in the catalogue, or came to nothing.
pub(super) fn end_segment(transaction: &Transaction<'_>, id: i64) -> rusqlite::Result<()> {
    transaction.prepare_cached("DELETE FROM pending WHERE id = ?")?.execute([id]).map(|_| ())
}

/// Takes a segment out of service.
pub(super) fn retire_segment(
    transaction: &Transaction<'_>,
    retired: Retired,
) -> rusqlite::Result<()> {
    let Retired { id, replaced_by, damaged } = retired;
    transaction.prepare_cached("DELETE FROM segment WHERE id = ?")?.execute([id])?;
    let sql = "INSERT OR REPLACE INTO retired (id, replaced_by, damaged) VALUES (?, ?, ?)";
    transaction.prepare_cached(sql)?.execute(params![id, replaced_by, damaged]).map(|_| ())
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
