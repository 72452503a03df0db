//! The record of a server: its store, on disk or in ClickHouse, and the origin of its data.
//!
//! | What | Where |
//! | --- | --- |
//! | Where a record is | `place.rs` |
//! | The store on disk | `on_disk.rs` |
//! | The store in ClickHouse, behind the feature `clickhouse`, and its API keys | `clickhouse.rs`, `clickhouse_keys.rs` |
//! | A folder that cannot be written | `read_only.rs` |
//! | What stands in its place without the feature | `no_clickhouse.rs` |

#[cfg(feature = "clickhouse")]
mod clickhouse;
#[cfg(not(feature = "clickhouse"))]
#[path = "no_clickhouse.rs"]
mod clickhouse;
#[cfg(feature = "clickhouse")]
mod clickhouse_keys;
mod on_disk;
mod place;
mod read_only;

use std::fmt::Debug;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use mesonet::durable::create_folder;
use mesonet::store::{AlertStore, EmbeddedOptions, Maintained, StoreError, StoreHealth};
use mesonet::{Reader, Store};

#[cfg(feature = "clickhouse")]
pub use self::clickhouse::refuse_written;
pub use self::clickhouse::{migrate, would_expire};
#[cfg(feature = "clickhouse")]
pub use self::clickhouse_keys::KeysInClickHouse;
pub use self::place::{ClickHouseAddress, RecordPlace, RecordPlaceError};
pub use self::read_only::is_read_only;
use crate::config::Config;
use crate::credentials::{KeyFolder, KnownKeys, SharedKeyRecord};
use crate::follower::Upstream;
use crate::retention::Retention;

/// The origin of the readings of a store.
const ORIGIN: &str = "origin";
/// Time of the newest report of the sample, and the time up to which it was taken in.
const SAMPLE_NEWEST: &str = "sample_newest_ms";
const SAMPLE_PASSED: &str = "sample_passed_ms";

/// The cutoff of retention and the span that is kept, both in milliseconds.
const CUTOFF: &str = "retention";

/// What is noted about a record and goes along when it is copied.
pub const NOTES: [&str; 3] = [ORIGIN, SAMPLE_NEWEST, SAMPLE_PASSED];

/// How often at most it is found out whether the store takes readings.
const TRY_AGAIN: Duration = Duration::from_secs(5);

/// Locks the folder of a server whose record is elsewhere, which is created if missing. Also returns
/// whether nothing is in it.
pub(crate) fn lock_folder(folder: &Path) -> Result<(File, bool), StoreError> {
    let path = folder.display().to_string();
    let failed =
        |error: io::Error| StoreError::Storage { path: path.clone(), cause: error.to_string() };
    create_folder(folder).map_err(failed)?;
    let mut entries = fs::read_dir(folder).map_err(failed)?.filter_map(Result::ok);
    let is_empty = entries.all(|entry| entry.file_name() == "lock");
    let file = File::options().create(true).truncate(false).write(true).open(folder.join("lock"));
    let file = file.map_err(failed)?;
    match file.try_lock() {
        Ok(()) => Ok((file, is_empty)),
        Err(TryLockError::Error(error)) => Err(failed(error)),
        Err(TryLockError::WouldBlock) => {
            Err(StoreError::Locked { path, holder: "another process".to_owned() })
        }
    }
}

/// What a store holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Nothing yet, and no alerts, products or model runs either.
    New,
    /// Nothing but the sample.
    Sample,
    /// Data that somebody has brought in.
    Own,
}

/// Where the API keys of a record are issued and revoked: with the record if servers share it, else in the
/// folder of the server.
///
/// # Errors
/// A record that is shared cannot be reached.
pub fn key_record(config: &Config) -> Result<SharedKeyRecord, StoreError> {
    match config.place() {
        RecordPlace::Embedded(_) => Ok(Arc::new(KeyFolder(config.data.clone()))),
        RecordPlace::ClickHouse(address) => clickhouse::keys(&address, config),
    }
}

/// The same keys, as a server knows them.
///
/// # Errors
/// As [`key_record`].
pub fn known_keys(config: &Config) -> Result<KnownKeys, StoreError> {
    match config.place() {
        RecordPlace::Embedded(_) => Ok(KnownKeys::new(&config.data)),
        RecordPlace::ClickHouse(_) => Ok(KnownKeys::shared(key_record(config)?, !config.read_only)),
    }
}

/// What a server needs of the store that its record is in.
trait RecordStore: Store + Debug {
    /// Whether it was made when it was opened, and nothing else was there.
    fn is_new(&self) -> bool;

    /// What was noted under a name.
    fn mark(&self, name: &str) -> Result<Option<String>, StoreError>;

    /// Notes a text under a name, instead of what was there.
    fn set_mark(&self, name: &str, value: &str) -> Result<(), StoreError>;

    /// The newest reading, what is damaged, and what of it is in files.
    fn health(&self) -> StoreHealth;

    /// Does what is due, and deletes what is older than an instant, if one is given.
    fn maintain(&self, retain_from_ms: Option<i64>) -> Result<Maintained, StoreError>;

    /// Moves the cutoff of retention, forward or back.
    fn retain_from(&self, retain_from_ms: i64) -> Result<(), StoreError>;

    /// Finds out what keeps it from taking readings.
    fn trouble(&self) -> Option<&'static str>;

    /// What is deleted as a whole when it is too old.
    fn expires_by(&self) -> &'static str;

    /// Says that nobody writes to it any more.
    fn close(&self) {}
}

type Tried = (Instant, Option<&'static str>);

/// The record of a server, which it writes.
#[derive(Clone, Debug)]
pub struct Record {
    kept: Arc<dyn RecordStore>,
    alerts: Arc<AlertStore>,
    /// How many faults of the store have been logged.
    logged: Arc<Mutex<usize>>,
    /// When it was last tried whether it takes readings, and what keeps it from that.
    tried: Arc<Mutex<Option<Tried>>>,
    /// Set when it is first needed.
    retention: Arc<OnceLock<Retention>>,
}

impl Record {
    /// Opens the record where the settings have it. Where a server writes to a record in ClickHouse,
    /// this one takes its place.
    ///
    /// # Errors
    /// Another process has it open, or it cannot be read or written.
    pub fn open(config: &Config) -> Result<Self, StoreError> {
        match config.place() {
            RecordPlace::Embedded(folder) => Self::on_disk(&folder, config.store_options()),
            RecordPlace::ClickHouse(address) => {
                let (kept, alerts) = clickhouse::open(&address, config)?;
                Ok(Self::of(kept, alerts))
            }
        }
    }

    /// Opens the record for a command: where a server writes to it, the command is refused.
    ///
    /// # Errors
    /// As [`open`](Self::open); also if a server writes to it.
    pub fn open_for_command(config: &Config) -> Result<Self, StoreError> {
        if let RecordPlace::ClickHouse(address) = config.place() {
            clickhouse::refuse_if_written(&address, config)?;
        }
        Self::open(config)
    }

    /// Opens the record in a folder, which is created if missing.
    ///
    /// # Errors
    /// Another process has it open, or it cannot be read or written.
    pub fn on_disk(folder: &Path, options: EmbeddedOptions) -> Result<Self, StoreError> {
        let (store, alerts) = on_disk::open(folder, options)?;
        Ok(Self::of(Arc::new(store), alerts))
    }

    fn of(kept: Arc<dyn RecordStore>, alerts: AlertStore) -> Self {
        let (alerts, logged, tried) = (Arc::new(alerts), Arc::default(), Arc::default());
        let record = Self { kept, alerts, logged, tried, retention: Arc::default() };
        record.log_faults();
        record
    }

    /// Opens the record as one that another server writes, or nobody.
    ///
    /// # Errors
    /// It cannot be read, or it is on disk and this process may write to it.
    pub(crate) fn beside(config: &Config) -> Result<Arc<dyn Upstream>, StoreError> {
        match config.place() {
            RecordPlace::ClickHouse(address) => clickhouse::beside(&address, config),
            RecordPlace::Embedded(folder) if is_read_only(&folder) => read_only::open(&folder),
            RecordPlace::Embedded(folder) => Err(StoreError::Storage {
                path: folder.display().to_string(),
                cause: "a record on disk is read by its own server, or by one with --follow".into(),
            }),
        }
    }

    /// Opens the record for a command that reads it. Nobody may have a folder open meanwhile.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn reader(config: &Config) -> Result<Arc<dyn Reader>, StoreError> {
        match config.place() {
            RecordPlace::Embedded(folder) => on_disk::reader(&folder, config.store_options()),
            RecordPlace::ClickHouse(address) => clickhouse::reader(&address, config),
        }
    }

    /// Logs each damage that was found, once.
    pub fn log_faults(&self) {
        let mut logged = self.logged.lock().unwrap_or_else(PoisonError::into_inner);
        let faults = self.health().faults;
        for fault in faults.iter().skip(*logged) {
            tracing::error!("the record is damaged: {fault}");
        }
        *logged = faults.len();
    }

    /// The store.
    pub fn store(&self) -> Arc<dyn Store> {
        Arc::clone(&self.kept) as _
    }

    /// The alerts.
    pub fn alerts(&self) -> &Arc<AlertStore> {
        &self.alerts
    }

    /// The newest reading, what is damaged, and what of the store is in files.
    pub fn health(&self) -> StoreHealth {
        self.kept.health()
    }

    /// Does what is due, and deletes what is older than an instant, if one is given.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn maintain(&self, retain_from_ms: Option<i64>) -> Result<Maintained, StoreError> {
        self.kept.maintain(retain_from_ms)
    }

    /// Moves the cutoff of retention, forward or back, until it is looked at the next time.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn retain_from(&self, retain_from_ms: i64) -> Result<(), StoreError> {
        self.kept.retain_from(retain_from_ms)
    }

    /// What is known of its retention.
    ///
    /// # Errors
    /// It cannot be read.
    pub(crate) fn retention(&self) -> Result<&Retention, StoreError> {
        if let Some(retention) = self.retention.get() {
            return Ok(retention);
        }
        let retention = Retention::of(self)?;
        Ok(self.retention.get_or_init(|| retention))
    }

    /// Moves the cutoff of retention by order: `i64::MIN` keeps everything.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn move_cutoff(&self, at_ms: i64) -> Result<(), StoreError> {
        let span_ms = self.noted_cutoff()?.map(|(_, span_ms)| span_ms);
        match span_ms.filter(|_| at_ms > i64::MIN) {
            Some(span_ms) => self.note_cutoff(at_ms, span_ms)?,
            None => self.kept.set_mark(CUTOFF, "")?,
        }
        self.retain_from(at_ms)
    }

    /// The cutoff of retention that was noted last, and how long readings were kept then.
    ///
    /// # Errors
    /// It cannot be read.
    pub(crate) fn noted_cutoff(&self) -> Result<Option<(i64, i64)>, StoreError> {
        let noted = self.kept.mark(CUTOFF)?;
        Ok(noted.and_then(|noted| {
            let (at, span) = noted.split_once(' ')?;
            Some((at.parse().ok()?, span.parse().ok()?))
        }))
    }

    /// Notes the cutoff of retention, and how long readings are kept.
    ///
    /// # Errors
    /// It cannot be written.
    pub(crate) fn note_cutoff(&self, at_ms: i64, span_ms: i64) -> Result<(), StoreError> {
        self.kept.set_mark(CUTOFF, &format!("{at_ms} {span_ms}"))
    }

    /// The time of the newest alert.
    pub(crate) fn newest_alert_ms(&self) -> Option<i64> {
        self.alerts.record().messages.last().map(|message| message.sent_ms)
    }

    /// What of it is deleted as a whole when it is too old: segments, or days.
    pub fn expires_by(&self) -> &'static str {
        self.kept.expires_by()
    }

    /// What keeps the store from taking readings, as found within the last seconds by trying.
    pub fn trouble(&self) -> Option<&'static str> {
        let mut tried = self.tried.lock().unwrap_or_else(PoisonError::into_inner);
        match *tried {
            Some((at, trouble)) if at.elapsed() < TRY_AGAIN => trouble,
            _ => {
                let trouble = self.kept.trouble();
                *tried = Some((Instant::now(), trouble));
                trouble
            }
        }
    }

    /// Says that this process does not write to it any more.
    pub fn close(&self) {
        self.kept.close();
    }

    /// What the store holds.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn origin(&self) -> Result<Origin, StoreError> {
        Ok(match self.kept.mark(ORIGIN)?.as_deref() {
            Some("sample") => Origin::Sample,
            None if self.kept.is_new() && self.kept.directory()?.stations.is_empty() => Origin::New,
            _ => Origin::Own,
        })
    }

    /// Marks the store as having readings that somebody brought in: from now on its clock is live
    /// by default.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn make_own(&self) -> Result<(), StoreError> {
        match self.origin()? {
            Origin::Own => Ok(()),
            Origin::New | Origin::Sample => self.kept.set_mark(ORIGIN, "own"),
        }
    }

    /// Returns the time of the newest report of the sample and the time up to which it was taken
    /// in, milliseconds since 1970.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn sample_span(&self) -> Result<Option<(i64, i64)>, StoreError> {
        let read = |name| Ok(self.kept.mark(name)?.and_then(|text| text.parse().ok()));
        Ok(read(SAMPLE_NEWEST)?.zip(read(SAMPLE_PASSED)?))
    }

    /// Records that the sample was taken in up to a time.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn sample_passed(&self, newest_ms: i64, passed_ms: i64) -> Result<(), StoreError> {
        if self.origin()? == Origin::New {
            self.kept.set_mark(ORIGIN, "sample")?;
        }
        self.kept.set_mark(SAMPLE_NEWEST, &newest_ms.to_string())?;
        self.kept.set_mark(SAMPLE_PASSED, &passed_ms.to_string())
    }
}
