//! The record in ClickHouse. Zones, products and model runs are in the folder of the server.

use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, Mutex};

use mesonet::lock::FileLock;
use mesonet::store::copy::NOTE;
use mesonet::store::{
    AlertStore, ChangeLog, MaintenanceReport, ReaderWrapper, Receipt, StoreError, StoreHealth,
    VerdictFn,
};
use mesonet::time::HOUR_MS;
use mesonet::{Batch, Iso8601, Reader, Store};
use mesonet_clickhouse::{
    Changed, ClickHouseReader, ClickHouseStore, Options, RecentReadings, read_mark,
};

use super::address::PASSWORD;
use super::{
    ClickHouseAddress, Marks, ReadStatus, RecordPlace, RecordPlaceError, RecordSettings,
    RecordStore, UpdatedStations, Upstream, lock_folder, refuse_unfinished,
};
use crate::clock::system_ms;
use crate::password::read_password;
use crate::sync::lock;

/// The note of when a server last said that it writes to the record.
const WRITTEN: &str = "written_ms";
/// How long the note is valid. A server renews it every ten seconds.
const WRITTEN_MS: i64 = 60_000;

const NOT_REACHED: &str = "the record in ClickHouse cannot be reached";
const NOT_WRITER: &str =
    "another server writes the record now; restart this server to make it write again";
const ONLY_READS: &str =
    "this server only reads its record and takes nothing in; send it to the one that writes";

/// The record of a server that writes to it.
#[derive(Debug)]
struct InClickHouse {
    store: ClickHouseStore,
    kept: MemoryLog,
    is_new: bool,
    /// Locked while the server runs.
    _folder: FileLock,
}

impl ClickHouseAddress {
    /// How the database is opened. The password is in a file, or otherwise in the environment.
    ///
    /// # Errors
    /// The file cannot be read, or has more than one line.
    pub fn options(&self, password_file: Option<&Path>) -> Result<Options, RecordPlaceError> {
        let Self { urls, database, cluster, user } = self;
        let options = match cluster {
            Some(name) => Options::of_cluster(name, urls, database),
            None => Options::new(&urls[0], database),
        };
        let password = match password_file {
            Some(file) => Some(read_password(file)?),
            None => std::env::var(PASSWORD).ok(),
        };
        Ok(Options { user: user.clone(), password, ..options })
    }
}

impl RecordSettings {
    /// The options of a record in ClickHouse.
    ///
    /// # Errors
    /// The password cannot be read.
    pub fn clickhouse(&self, address: &ClickHouseAddress) -> Result<Options, StoreError> {
        let options = address.options(self.store_password_file.as_deref());
        options.map_err(|error| StoreError::Storage {
            path: address.urls.join(", "),
            cause: error.to_string(),
        })
    }
}

/// Opens a record as its writer.
pub fn open(
    address: &ClickHouseAddress,
    settings: &RecordSettings,
) -> Result<(Arc<dyn RecordStore>, AlertStore), StoreError> {
    let options = settings.clickhouse(address)?;
    refuse_half(&options, address)?;
    let (folder, is_empty) = lock_folder(&settings.data)?;
    let store = ClickHouseStore::open(&options)?;
    let alerts = store.open_alerts()?;
    let is_new = is_empty && alerts.record().messages.is_empty();
    for (file, what) in [("mesonet.sqlite", "readings and alerts"), ("keys.sqlite", "API keys")] {
        if settings.data.join(file).exists() {
            let folder = settings.data.display();
            tracing::warn!("the {what} in {folder} are not used: the record is in ClickHouse");
        }
    }
    let kept = MemoryLog::default();
    let record = InClickHouse { store, kept, is_new, _folder: folder };
    record.say_written()?;
    Ok((Arc::new(record), alerts))
}

/// Refuses a record that a server writes to.
pub fn refuse_if_written(
    address: &ClickHouseAddress,
    settings: &RecordSettings,
) -> Result<(), StoreError> {
    refuse_written(&settings.clickhouse(address)?, address)
}

/// Refuses a record that a server writes to.
///
/// # Errors
/// A server writes to it, or it cannot be read.
pub fn refuse_written(options: &Options, address: &ClickHouseAddress) -> Result<(), StoreError> {
    let written_ms: Option<i64> = read_mark(options, WRITTEN)?.and_then(|text| text.parse().ok());
    let age_ms = written_ms.map(|written_ms| (system_ms() - written_ms).abs());
    match age_ms.filter(|&age_ms| age_ms < WRITTEN_MS) {
        None => Ok(()),
        Some(age_ms) => {
            let holder = format!("a server that wrote to it {} s ago", age_ms / 1000);
            Err(StoreError::Locked { path: address.database.clone(), holder })
        }
    }
}

/// Refuses a copy that is not finished, without opening it to write: that would refuse the command
/// that is copying.
fn refuse_half(options: &Options, address: &ClickHouseAddress) -> Result<(), StoreError> {
    let place = RecordPlace::ClickHouse(address.clone()).to_string();
    refuse_unfinished(read_mark(options, NOTE)?.as_deref(), &place)
}

/// Creates the tables or brings them up to date. Returns the old version and the new one.
///
/// # Errors
/// ClickHouse cannot be reached or refuses, or the tables are of a newer version.
pub fn migrate(
    address: &ClickHouseAddress,
    settings: &RecordSettings,
) -> Result<(u32, u32), StoreError> {
    let done = mesonet_clickhouse::migrate(&settings.clickhouse(address)?)?;
    Ok((done.from, done.to))
}

/// Counts the rows of days that are wholly older than an instant, and those days.
///
/// # Errors
/// The record cannot be read.
pub fn would_expire(
    address: &ClickHouseAddress,
    settings: &RecordSettings,
    before_ms: i64,
) -> Result<(u64, usize), StoreError> {
    let reader = ClickHouseReader::open(&settings.clickhouse(address)?)?;
    let would = reader.would_expire(before_ms)?;
    Ok((would.expired_rows, would.expired_days))
}

/// Opens a record that a command reads.
pub fn reader(
    address: &ClickHouseAddress,
    settings: &RecordSettings,
) -> Result<Arc<dyn Reader>, StoreError> {
    let options = settings.clickhouse(address)?;
    refuse_half(&options, address)?;
    Ok(Arc::new(ClickHouseReader::open(&options)?))
}

/// Opens a record that another server writes.
pub fn beside(
    address: &ClickHouseAddress,
    settings: &RecordSettings,
) -> Result<Arc<dyn Upstream>, StoreError> {
    let options = settings.clickhouse(address)?;
    refuse_half(&options, address)?;
    let as_of_ms = system_ms();
    let reader = ClickHouseReader::open(&options)?;
    let status = ReadStatus::new(as_of_ms);
    Ok(Arc::new(BesideWriter { reader, kept: MemoryLog::default(), status }))
}

/// The hour in which an instant lies.
fn whole_hour(ts_ms: i64) -> i64 {
    ts_ms.div_euclid(HOUR_MS).saturating_mul(HOUR_MS)
}

/// Logs what is in memory of a record, once and when fewer hours have to do.
#[derive(Debug, Default)]
struct MemoryLog(Mutex<Option<bool>>);

impl MemoryLog {
    fn note(&self, kept: RecentReadings, asked_from_ms: i64) {
        let is_whole = kept.from_ms.is_some_and(|from_ms| from_ms <= asked_from_ms);
        let mut noted = lock(&self.0);
        if noted.replace(is_whole) == Some(is_whole) {
            return;
        }
        let RecentReadings { from_ms, readings, bytes } = kept;
        let megabytes = bytes.div_ceil(1_000_000);
        let held = from_ms.map_or("in memory: no readings".to_owned(), |from_ms| {
            let since = Iso8601(from_ms);
            format!("in memory: {readings} readings, {megabytes} MB, since {since}")
        });
        if is_whole {
            tracing::info!("{held}");
        } else {
            let asked = Iso8601(asked_from_ms);
            tracing::warn!("{held}; those since {asked} would take more than recent_memory_bytes");
        }
    }
}

impl InClickHouse {
    fn say_written(&self) -> Result<(), StoreError> {
        self.store.set_mark(WRITTEN, &system_ms().to_string())
    }
}

impl ReaderWrapper for InClickHouse {
    fn wrapped(&self) -> &dyn Reader {
        &self.store
    }
}

impl Store for InClickHouse {
    fn append(&self, batch: &Batch, judge: &mut VerdictFn<'_>) -> Result<Receipt, StoreError> {
        self.store.append(batch, judge)
    }
}

impl Marks for InClickHouse {
    fn is_new(&self) -> bool {
        self.is_new
    }

    fn mark(&self, name: &str) -> Result<Option<String>, StoreError> {
        self.store.mark(name)
    }

    fn set_mark(&self, name: &str, value: &str) -> Result<(), StoreError> {
        self.store.set_mark(name, value)
    }
}

impl RecordStore for InClickHouse {
    fn health(&self) -> StoreHealth {
        StoreHealth { newest_ms: self.store.newest_ms(), ..StoreHealth::default() }
    }

    /// The instant is rounded down to the hour, since each instant is a row.
    fn maintain(&self, retain_from_ms: Option<i64>) -> Result<MaintenanceReport, StoreError> {
        self.say_written()?;
        let done = self.store.maintain(retain_from_ms.map(whole_hour))?;
        Ok(MaintenanceReport {
            expired_segments: done.expired_days,
            expired_readings: done.expired_rows,
            ..MaintenanceReport::default()
        })
    }

    fn retain_from(&self, retain_from_ms: i64) -> Result<(), StoreError> {
        self.store.retain_from(whole_hour(retain_from_ms))
    }

    fn keep_recent(&self, span_ms: Range<i64>, most_bytes: usize) -> Result<(), StoreError> {
        let from_ms = span_ms.start.max(self.store.held_from_ms()?);
        self.kept.note(self.store.keep_recent(span_ms, most_bytes)?, from_ms);
        Ok(())
    }

    fn trouble(&self) -> Option<&'static str> {
        match self.store.check() {
            Ok(()) => None,
            Err(StoreError::Locked { .. }) => Some(NOT_WRITER),
            Err(_) => Some(NOT_REACHED),
        }
    }

    fn expires_by(&self) -> &'static str {
        "days"
    }

    fn change_log(&self) -> &dyn ChangeLog {
        &self.store
    }

    fn close(&self) {
        if let Err(error) = self.store.set_mark(WRITTEN, "") {
            tracing::warn!("{error}; commands are refused for a minute");
        }
    }
}

/// The record of a server that only reads it.
#[derive(Debug)]
struct BesideWriter {
    reader: ClickHouseReader,
    kept: MemoryLog,
    status: ReadStatus,
}

impl Upstream for BesideWriter {
    fn reader(&self) -> &dyn Reader {
        &self.reader
    }

    fn update(&self) -> UpdatedStations {
        let began_ms = system_ms();
        let updated = self.reader.update();
        let as_of_ms = updated.is_ok().then_some(began_ms);
        match self.status.note(updated, as_of_ms) {
            None | Some(Changed::Nothing) => UpdatedStations::None,
            Some(Changed::Stations(stations)) => UpdatedStations::Stations(stations),
            Some(Changed::Everything) => UpdatedStations::All,
        }
    }

    fn as_of_ms(&self) -> i64 {
        self.status.as_of_ms()
    }

    fn keep_recent(&self, span_ms: Range<i64>, most_bytes: usize) -> Result<(), StoreError> {
        let from_ms = span_ms.start.max(self.reader.held_from_ms()?);
        self.kept.note(self.reader.keep_recent(span_ms, most_bytes)?, from_ms);
        Ok(())
    }

    fn alerts(&self) -> &Arc<AlertStore> {
        self.reader.alerts()
    }

    fn health(&self) -> StoreHealth {
        StoreHealth { newest_ms: self.reader.newest_ms(), ..StoreHealth::default() }
    }

    fn change_log(&self) -> &dyn ChangeLog {
        &self.reader
    }

    fn trouble(&self) -> Option<&'static str> {
        self.status.has_failed().then_some(NOT_REACHED)
    }

    fn takes_nothing(&self) -> &'static str {
        ONLY_READS
    }
}
