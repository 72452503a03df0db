//! The database of a store: the journal of fresh batches, the stations, the series and the
//! catalogue of sealed segments.

mod journal;
mod meta;
mod segments;

use std::path::{Path, PathBuf};

use rusqlite::{Connection, OpenFlags, Transaction, params};

pub(super) use self::journal::{
    BatchNote, JournalEntry, add_batch, end_journal, journal_batch, mark_batch, set_note,
};
pub(super) use self::meta::{
    DROPPED_TO, GENERATION, GIVEN_UP, PLACES_GENERATION, RETAIN_FROM, set_meta,
};
pub(super) use self::segments::{
    DROPPED, Lost, Retired, SegmentEntry, add_lost, add_segment, begin_segment, end_segment,
    retire_segment, segment_file,
};
use super::contents::no_catalogue;
use super::count::Count;
use super::fault::{Fault, database};
use super::names::DATABASE;
use super::series_table::SeriesList;
use super::stations::StationState;
use super::unwritten;
use super::weather_table::Words;
use crate::observation::{IntervalType, SeriesKey, Variable};
use crate::store::StoreError;

/// The content that was read, and the damage found.
type Read<T, F = Fault> = Result<(T, Vec<F>), StoreError>;

/// Increases with every change of the format of a store's files.
pub(super) const SCHEMA_VERSION: u32 = 8;

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

/// Version 2 adds the segments being written (`made_from` lists the segments merged into them;
/// empty for the journal), the segments that were replaced (`damaged`: part of them could not be
/// read and is not in the replacement), and the sealed readings that are lost.
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

/// Version 3 adds checksums of the texts, and notes on the batches.
const SCHEMA_3: &str = "
    ALTER TABLE meta ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE journal ADD COLUMN note BLOB;
";

/// Version 5 adds the words of present weather.
const SCHEMA_5: &str = "
    CREATE TABLE weather (code INTEGER PRIMARY KEY, words TEXT NOT NULL);
";

/// Version 8 adds segments that hold texts of reports, and lists all that ever were: what is lost of
/// them is no reading.
const SCHEMA_8: &str = "
    CREATE TABLE IF NOT EXISTS of_texts (segment INTEGER PRIMARY KEY);
";

/// The value of `auto_vacuum` with which pages can be given back a few at a time.
const INCREMENTAL: i64 = 2;
/// The fewest pages that are given back: 1 MiB.
const FEWEST_PAGES: i64 = 64;

/// Identifies a state of the database.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Edition {
    /// The first batch of the journal that is not damaged, and the last batch that the journal ever
    /// had.
    first_batch: i64,
    pub last_batch: i64,
    segments: Vec<i64>,
    lost: i64,
    retain_from_ms: Option<i64>,
}

impl Edition {
    /// Whether nothing but batches came after another edition.
    pub(super) fn only_adds_to(&self, before: &Self) -> bool {
        let as_before = Self { last_batch: before.last_batch, ..self.clone() };
        before.first_batch > 0 && as_before == *before && self.last_batch > before.last_batch
    }
}

/// The database.
#[derive(Debug)]
pub(super) struct RecordCatalogue {
    pub connection: Connection,
    pub path: PathBuf,
    version: u32,
    /// The number of acknowledged batches; kept while the store is open.
    count: Option<Count>,
}

impl RecordCatalogue {
    /// Opens the database of a folder. Tables are created only if `is_new` says that there is no
    /// data yet for the database to describe.
    pub(super) fn open(dir: &Path, is_new: bool) -> Result<Self, StoreError> {
        Self::open_as(dir.join(DATABASE), is_new)
    }

    fn open_as(path: PathBuf, is_new: bool) -> Result<Self, StoreError> {
        let failed = |error: &rusqlite::Error| database(&path, error);
        let flags = OpenFlags::default();
        let flags = if is_new { flags } else { flags - OpenFlags::SQLITE_OPEN_CREATE };
        let connection =
            Connection::open_with_flags(&path, flags).map_err(|error| failed(&error))?;
        let set = |name: &str, value: &dyn rusqlite::ToSql| {
            connection.pragma_update(None, name, value).map_err(|error| failed(&error))
        };
        set("page_size", &16384)?;
        // Takes effect in a new database, and when another is first written anew.
        set("auto_vacuum", &INCREMENTAL)?;
        connection
            .pragma_update_and_check(None, "journal_mode", "wal", |_| Ok(()))
            .map_err(|error| failed(&error))?;
        set("synchronous", &"FULL")?;
        set("wal_autocheckpoint", &2048)?;
        set("cell_size_check", &true)?;
        let mut catalogue = Self { connection, path, version: SCHEMA_VERSION, count: None };
        catalogue.check_version(is_new)?;
        Ok(catalogue)
    }

    /// Creates a database in a file that does not exist.
    pub(super) fn make(path: PathBuf) -> Result<Self, StoreError> {
        Self::open_as(path, true)
    }

    /// Opens the database of a folder that no process writes to, without writing a byte.
    pub(super) fn unwritten(dir: &Path) -> Result<Self, StoreError> {
        let path = dir.join(DATABASE);
        Self::read(unwritten::open(&path)?, path)
    }

    /// Opens the database of a folder that this process writes to, for reading at the same time.
    pub(super) fn beside(dir: &Path) -> Result<Self, StoreError> {
        let path = dir.join(DATABASE);
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(&path, flags);
        Self::read(connection.map_err(|error| database(&path, &error))?, path)
    }

    /// The database that was opened for reading.
    pub(super) fn read(connection: Connection, path: PathBuf) -> Result<Self, StoreError> {
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
        Ok(Self { connection, path, version, count: None })
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
            (1..=7, _) => {}
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
            if version < 2 {
                transaction.execute_batch(SCHEMA_2)?;
            }
            if version < 3 {
                transaction.execute_batch(SCHEMA_3)?;
                meta::seal_all(transaction)?;
            }
            // Version 4 adds no table: stations may have identifiers.
            if version < 5 {
                transaction.execute_batch(SCHEMA_5)?;
            }
            // Nor do version 6, where stations may have earlier places, and version 7, where segments
            // are packed.
            if version < 8 {
                transaction.execute_batch(SCHEMA_8)?;
            }
            transaction.pragma_update(None, "user_version", SCHEMA_VERSION)
        })
    }

    pub(super) fn failed(&self, error: &rusqlite::Error) -> StoreError {
        database(&self.path, error)
    }

    /// Applies all changes or none; they are on disk when this returns.
    pub(super) fn transaction<T>(
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

    /// Returns the series and the words of present weather.
    pub(super) fn series(&self) -> Read<SeriesList> {
        let mut table = SeriesList::default();
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
                        return Err("it does not match its id".to_owned());
                    }
                    Ok(key)
                })
                .map_err(fault);
            match key {
                Ok(key) => _ = table.add(&key),
                Err(fault) => faults.push(fault),
            }
        }
        let rows = if self.version < 5 {
            Vec::new()
        } else {
            let sql = "SELECT code, words FROM weather ORDER BY code";
            self.rows(sql, |row| Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?)))?
        };
        for (code, text) in rows {
            match Words::from_text(code, &text) {
                Ok(words) => table.weather.add(words),
                Err(cause) => faults.push(Fault::new(format!("{DATABASE}, weather {code}"), cause)),
            }
        }
        Ok((table, faults))
    }

    pub(super) fn stations(&self, table: &SeriesList) -> Read<Vec<StationState>> {
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

    /// Returns what identifies this state of the database.
    pub(super) fn edition(&self) -> Result<Edition, StoreError> {
        let failed = |error: rusqlite::Error| self.failed(&error);
        let number = |sql| self.connection.query_row(sql, [], |row| row.get(0)).map_err(failed);
        let lost =
            if self.version < 2 { 0 } else { number("SELECT coalesce(sum(rowid), 0) FROM lost")? };
        Ok(Edition {
            first_batch: number("SELECT coalesce(min(id), 0) FROM journal WHERE damaged IS NULL")?,
            last_batch: self.last_batch()? as i64,
            segments: self
                .rows("SELECT id FROM segment WHERE damaged IS NULL ORDER BY sequence", |row| {
                    row.get(0)
                })?,
            lost,
            retain_from_ms: self.number(RETAIN_FROM)?,
        })
    }

    /// Moves the content of the write-ahead log into the database, which then no longer depends on
    /// the log.
    pub(super) fn checkpoint(&mut self) -> Result<(), StoreError> {
        let sql = "PRAGMA wal_checkpoint(TRUNCATE)";
        let busy = self.connection.query_row(sql, [], |row| row.get::<_, bool>(0));
        match busy {
            Ok(false) => Ok(()),
            Ok(true) => Err(StoreError::Storage {
                path: self.path.display().to_string(),
                cause: "another program is reading the database".to_owned(),
            }),
            Err(error) => Err(self.failed(&error)),
        }
    }

    /// Gives the pages of deleted rows back to the system, if they are most of the file.
    pub(super) fn shrink(&mut self) -> Result<(), StoreError> {
        let number = |name: &str| {
            let value = self.connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
            value.map_err(|error| self.failed(&error))
        };
        let (unused, pages) = (number("freelist_count")?, number("page_count")?);
        if unused < FEWEST_PAGES || 2 * unused < pages {
            return Ok(());
        }
        let sql = if number("auto_vacuum")? == INCREMENTAL {
            "PRAGMA incremental_vacuum"
        } else {
            "VACUUM"
        };
        // It gives back a page in each step.
        let step_through = || {
            let mut statement = self.connection.prepare(sql)?;
            let mut rows = statement.query([])?;
            while rows.next()?.is_some() {}
            Ok(())
        };
        step_through().map_err(|error: rusqlite::Error| self.failed(&error))?;
        self.checkpoint()
    }

    /// Returns every fault that the database finds in itself.
    pub(super) fn integrity(&self) -> Result<Vec<Fault>, StoreError> {
        let messages = self.rows("PRAGMA integrity_check", |row| row.get::<_, String>(0))?;
        let wrong = messages.into_iter().filter(|message| message != "ok");
        Ok(wrong.map(|cause| Fault::new(DATABASE, cause)).collect())
    }
}

pub(super) fn add_series(
    transaction: &Transaction<'_>,
    series: &crate::observation::Series,
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

/// Adds words of present weather, or replaces damaged ones.
pub(super) fn add_weather(transaction: &Transaction<'_>, words: &Words) -> rusqlite::Result<()> {
    let sql = "INSERT OR REPLACE INTO weather (code, words) VALUES (?, ?)";
    let row = params![words.code, words.to_text()];
    transaction.prepare_cached(sql)?.execute(row).map(|_| ())
}

pub(super) fn put_state(
    transaction: &Transaction<'_>,
    state: &StationState,
) -> rusqlite::Result<()> {
    let sql = "INSERT OR REPLACE INTO station (id, state) VALUES (?, ?)";
    let row = params![state.record.station.id.as_bytes(), state.encode()];
    transaction.prepare_cached(sql)?.execute(row).map(|_| ())
}
