//! The record of a server: its store, on disk or in ClickHouse, and the origin of its data.
//!
//! | What | Where |
//! | --- | --- |
//! | Where a record is | `address.rs` |
//! | The store on disk | `on_disk.rs` |
//! | The store in ClickHouse, behind the feature `clickhouse` | `clickhouse.rs` |
//! | What replaces this store without the feature | `no_clickhouse.rs` |
//! | A folder that cannot be written | `read_only.rs` |
//! | The record of another server | `upstream.rs`, `read_status.rs` |
//! | The name of a record in its places | `writer.rs` |
//! | A copy that is not finished | `unfinished.rs` |
//! | Which stations new data may have changed | `changed.rs` |
//! | A store that takes nothing once the server stops | `stop.rs` |
//! | The newest reading by the clock | `newest.rs` |

mod address;
mod changed;
#[cfg(feature = "clickhouse")]
mod clickhouse;
#[cfg(not(feature = "clickhouse"))]
#[path = "no_clickhouse.rs"]
mod clickhouse;
mod newest;
mod on_disk;
mod read_only;
mod read_status;
mod stop;
mod unfinished;
mod upstream;
mod writer;

use std::fmt::Debug;
use std::fs::{self, TryLockError};
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use mesonet::durable::create_folder;
use mesonet::lock::FileLock;
use mesonet::store::{
    AlertStore, ChangeLog, EmbeddedOptions, MaintenanceReport, StoreError, StoreHealth,
};
use mesonet::{Reader, Store};

pub use self::address::{ClickHouseAddress, RecordPlace, RecordPlaceError};
pub use self::changed::ChangedStations;
#[cfg(feature = "clickhouse")]
pub use self::clickhouse::refuse_written;
#[cfg(not(feature = "clickhouse"))]
pub use self::clickhouse::without_clickhouse;
pub use self::clickhouse::{migrate, would_expire};
pub use self::newest::{is_ahead, newest_ms_by};
pub use self::read_only::is_read_only;
pub(crate) use self::read_status::ReadStatus;
pub use self::stop::StopGuard;
pub use self::unfinished::{refuse_unfinished, refuse_unfinished_folder};
pub use self::upstream::{ReadOnlyStore, UpdatedStations, Upstream};
pub use self::writer::{WRITER, check_writer, writer_of_folder};
use crate::origin::make_own;
pub use crate::origin::{Marks, ORIGIN, Origin};
use crate::sync::lock;

/// Time of the newest report of the sample, and the time up to which it was taken in.
const SAMPLE_NEWEST: &str = "sample_newest_ms";
const SAMPLE_PASSED: &str = "sample_passed_ms";

/// The cutoff of retention and the span that is kept, both in milliseconds.
const CUTOFF: &str = "retention";

/// The notes about a record that are copied with it.
pub const NOTES: [&str; 3] = [ORIGIN, SAMPLE_NEWEST, SAMPLE_PASSED];

/// The file that says that a folder follows the backups of another record.
pub const FOLLOWER: &str = "follower";

/// The settings of a record.
#[derive(Clone, Debug)]
pub struct RecordSettings {
    /// The place of the record.
    pub place: RecordPlace,
    /// The folder of the server. If the record is on disk, it is in this folder.
    pub data: PathBuf,
    /// Options of a store on disk.
    pub options: EmbeddedOptions,
    /// The file with the password of ClickHouse.
    pub store_password_file: Option<PathBuf>,
    /// Whether another server writes the record.
    pub read_only: bool,
}

/// Shortest time between two tests of whether the store takes readings.
const TRY_AGAIN: Duration = Duration::from_secs(5);

/// Locks the folder of a server whose record is elsewhere. The folder is created if missing. Also
/// returns whether the folder is empty.
///
/// # Errors
/// Another process has it locked, or it cannot be written.
pub fn lock_folder(folder: &Path) -> Result<(FileLock, bool), StoreError> {
    let path = folder.display().to_string();
    let failed =
        |error: io::Error| StoreError::Storage { path: path.clone(), cause: error.to_string() };
    create_folder(folder).map_err(failed)?;
    let mut entries = fs::read_dir(folder).map_err(failed)?.filter_map(Result::ok);
    let is_empty = entries.all(|entry| entry.file_name() == "lock");
    match FileLock::exclusive(&folder.join("lock")) {
        Ok(lock) => Ok((lock, is_empty)),
        Err(TryLockError::Error(error)) => Err(failed(error)),
        Err(TryLockError::WouldBlock) => {
            Err(StoreError::Locked { path, holder: "another process".to_owned() })
        }
    }
}

/// What a server needs of the store of its record.
trait RecordStore: Store + Marks + Debug {
    /// The newest reading, the damage, and the files of the store.
    fn health(&self) -> StoreHealth;

    /// Does the work that is due. If an instant is given, also deletes older readings.
    fn maintain(&self, retain_from_ms: Option<i64>) -> Result<MaintenanceReport, StoreError>;

    /// Moves the cutoff of retention, forward or back.
    fn retain_from(&self, retain_from_ms: i64) -> Result<(), StoreError>;

    /// Finds out what keeps the store from taking readings.
    fn trouble(&self) -> Option<&'static str>;

    /// The units that retention deletes: each goes as a whole when all of it is too old.
    fn expires_by(&self) -> &'static str;

    /// Keeps recent readings in memory if they are on other machines.
    fn keep_recent(&self, _span_ms: Range<i64>, _most_bytes: usize) -> Result<(), StoreError> {
        Ok(())
    }

    /// What the last batches changed.
    fn change_log(&self) -> &dyn ChangeLog;

    /// Says that this process no longer writes to the store.
    fn close(&self) {}
}

type Tried = (Instant, Option<&'static str>);

/// The record of a server that writes to it.
#[derive(Clone, Debug)]
pub struct Record {
    store: Arc<dyn RecordStore>,
    alerts: Arc<AlertStore>,
    /// How many faults of the store have been logged.
    logged: Arc<Mutex<usize>>,
    /// When the store was last tested for taking readings, and what keeps it from that.
    tried: Arc<Mutex<Option<Tried>>>,
    is_on_disk: bool,
}

impl Record {
    /// Opens the record that the settings name. If another server writes to a record in ClickHouse,
    /// this server takes its place.
    ///
    /// # Errors
    /// Another process has it open, or it cannot be read or written.
    pub fn open(settings: &RecordSettings) -> Result<Self, StoreError> {
        match &settings.place {
            RecordPlace::Embedded(folder) => Self::on_disk(folder, settings.options),
            RecordPlace::ClickHouse(address) => {
                let (store, alerts) = clickhouse::open(address, settings)?;
                Ok(Self::of(store, alerts, false))
            }
        }
    }

    /// Opens the record for a command. If a server writes to the record, the command is refused.
    ///
    /// # Errors
    /// As [`open`](Self::open); also if a server writes to it.
    pub fn open_for_command(settings: &RecordSettings) -> Result<Self, StoreError> {
        if let RecordPlace::ClickHouse(address) = &settings.place {
            clickhouse::refuse_if_written(address, settings)?;
        }
        Self::open(settings)
    }

    /// Opens the record in a folder, which is created if missing.
    ///
    /// # Errors
    /// Another process has it open, or it cannot be read or written.
    pub fn on_disk(folder: &Path, options: EmbeddedOptions) -> Result<Self, StoreError> {
        let (store, alerts) = on_disk::open(folder, options)?;
        Ok(Self::of(Arc::new(store), alerts, true))
    }

    fn of(store: Arc<dyn RecordStore>, alerts: AlertStore, is_on_disk: bool) -> Self {
        let (alerts, logged, tried) = (Arc::new(alerts), Arc::default(), Arc::default());
        let record = Self { store, alerts, logged, tried, is_on_disk };
        record.log_faults();
        record
    }

    /// Opens the record to read only. Another server may write to it.
    ///
    /// # Errors
    /// The record cannot be read, or it is on disk and this process may write to it.
    pub fn beside(settings: &RecordSettings) -> Result<Arc<dyn Upstream>, StoreError> {
        match &settings.place {
            RecordPlace::ClickHouse(address) => clickhouse::beside(address, settings),
            RecordPlace::Embedded(folder) if is_read_only(folder) => read_only::open(folder),
            RecordPlace::Embedded(folder) => Err(StoreError::Storage {
                path: folder.display().to_string(),
                cause: "a record on disk is read by its own server, or by one with --follow".into(),
            }),
        }
    }

    /// Opens the record for a command that reads it. No other process may have the folder of a
    /// record open at the same time.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn reader(settings: &RecordSettings) -> Result<Arc<dyn Reader>, StoreError> {
        match &settings.place {
            RecordPlace::Embedded(folder) => on_disk::reader(folder, settings.options),
            RecordPlace::ClickHouse(address) => clickhouse::reader(address, settings),
        }
    }

    /// Logs each damage once.
    pub fn log_faults(&self) {
        let mut logged = lock(&self.logged);
        let faults = self.health().faults;
        for fault in faults.iter().skip(*logged) {
            tracing::error!("the record is damaged: {fault}");
        }
        *logged = faults.len();
    }

    /// The store.
    pub fn store(&self) -> Arc<dyn Store> {
        Arc::clone(&self.store) as _
    }

    /// Whether its readings are in files of this machine, so that a few of them are read at once.
    pub fn is_on_disk(&self) -> bool {
        self.is_on_disk
    }

    /// The alerts.
    pub fn alerts(&self) -> &Arc<AlertStore> {
        &self.alerts
    }

    /// The newest reading, the damage, and the files of the store.
    pub fn health(&self) -> StoreHealth {
        self.store.health()
    }

    /// Does the work that is due. If an instant is given, also deletes older readings.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn maintain(&self, retain_from_ms: Option<i64>) -> Result<MaintenanceReport, StoreError> {
        self.store.maintain(retain_from_ms)
    }

    /// Keeps the readings of a span of time and later ones in memory if they are on other machines,
    /// fewer hours of them if they are more than so many bytes. To be called again as time passes.
    ///
    /// # Errors
    /// The record cannot be read.
    pub fn keep_recent(&self, span_ms: Range<i64>, most_bytes: usize) -> Result<(), StoreError> {
        self.store.keep_recent(span_ms, most_bytes)
    }

    /// Moves the cutoff of retention, forward or back, until the next look at it.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn retain_from(&self, retain_from_ms: i64) -> Result<(), StoreError> {
        self.store.retain_from(retain_from_ms)
    }

    /// Moves the cutoff of retention by an operator's order. `i64::MIN` keeps everything.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn move_cutoff(&self, at_ms: i64) -> Result<(), StoreError> {
        let span_ms = self.noted_cutoff()?.map(|(_, span_ms)| span_ms);
        match span_ms.filter(|_| at_ms > i64::MIN) {
            Some(span_ms) => self.note_cutoff(at_ms, span_ms)?,
            None => self.store.set_mark(CUTOFF, "")?,
        }
        self.retain_from(at_ms)
    }

    /// The cutoff of retention that was noted last, and how long readings were kept at that time.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn noted_cutoff(&self) -> Result<Option<(i64, i64)>, StoreError> {
        let noted = self.store.mark(CUTOFF)?;
        Ok(noted.and_then(|noted| {
            let (at, span) = noted.split_once(' ')?;
            Some((at.parse().ok()?, span.parse().ok()?))
        }))
    }

    /// Notes the cutoff of retention, and how long readings are kept.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn note_cutoff(&self, at_ms: i64, span_ms: i64) -> Result<(), StoreError> {
        self.store.set_mark(CUTOFF, &format!("{at_ms} {span_ms}"))
    }

    /// The time of the newest alert.
    pub fn newest_alert_ms(&self) -> Option<i64> {
        self.alerts.record().messages.last().map(|message| message.sent_ms)
    }

    /// The units that retention deletes: segments or days. Each goes as a whole when all of it is
    /// too old.
    pub fn expires_by(&self) -> &'static str {
        self.store.expires_by()
    }

    /// What keeps the store from taking readings, as found by a test within the last seconds.
    pub fn trouble(&self) -> Option<&'static str> {
        let mut tried = lock(&self.tried);
        match *tried {
            Some((at, trouble)) if at.elapsed() < TRY_AGAIN => trouble,
            _ => {
                let trouble = self.store.trouble();
                *tried = Some((Instant::now(), trouble));
                trouble
            }
        }
    }

    /// What the last batches changed.
    pub fn change_log(&self) -> &dyn ChangeLog {
        self.store.change_log()
    }

    /// Says that this process no longer writes to the record.
    pub fn close(&self) {
        self.store.close();
    }

    /// What the store holds.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn origin(&self) -> Result<Origin, StoreError> {
        Origin::of(&*self.store)
    }

    /// Marks the store as having readings of the operator. From now on its clock is live by
    /// default.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn make_own(&self) -> Result<(), StoreError> {
        make_own(&*self.store)
    }

    /// Returns the time of the newest report of the sample and the time up to which it was taken
    /// in, milliseconds since 1970.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn sample_span(&self) -> Result<Option<(i64, i64)>, StoreError> {
        let read = |name| Ok(self.store.mark(name)?.and_then(|text| text.parse().ok()));
        Ok(read(SAMPLE_NEWEST)?.zip(read(SAMPLE_PASSED)?))
    }

    /// Records that the sample was taken in up to a time.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn sample_passed(&self, newest_ms: i64, passed_ms: i64) -> Result<(), StoreError> {
        if self.origin()? == Origin::New {
            self.store.set_mark(ORIGIN, "sample")?;
        }
        self.store.set_mark(SAMPLE_NEWEST, &newest_ms.to_string())?;
        self.store.set_mark(SAMPLE_PASSED, &passed_ms.to_string())
    }
}
