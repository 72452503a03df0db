//! The record of a server: its store on disk, and the origin of its data.

mod place;

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use mesonet::store::copy::NOTE;
use mesonet::store::{AlertStore, EmbeddedOptions, StoreError};
use mesonet::{EmbeddedStore, Reader};

pub use self::place::{ClickHouseAddress, RecordPlace, RecordPlaceError};
use crate::backup::MARKER;
use crate::copy::refuse_unfinished;

/// The origin of the readings of a store.
const ORIGIN: &str = "origin";
/// Time of the newest report of the sample, and the time up to which it was taken in.
const SAMPLE_NEWEST: &str = "sample_newest_ms";
const SAMPLE_PASSED: &str = "sample_passed_ms";

/// What is noted about a record and goes along when it is copied.
pub const NOTES: [&str; 3] = [ORIGIN, SAMPLE_NEWEST, SAMPLE_PASSED];

/// Written to find out whether the store can be written, at most so often.
const WRITABLE: &str = "writable";
const TRY_AGAIN: Duration = Duration::from_secs(5);

fn shown(dir: &Path) -> String {
    RecordPlace::Embedded(dir.to_owned()).to_string()
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

/// The store on disk of a server.
#[derive(Clone, Debug)]
pub struct Record {
    store: Arc<EmbeddedStore>,
    alerts: Arc<AlertStore>,
    /// How many faults of the store have been logged.
    logged: Arc<Mutex<usize>>,
    /// When it was last written to see whether it can be, and the outcome.
    tried: Arc<Mutex<Option<(Instant, bool)>>>,
}

impl Record {
    /// Opens the record in a folder, which is created if missing.
    ///
    /// # Errors
    /// Another process has it open, or it cannot be read or written.
    pub fn open(dir: &Path, options: EmbeddedOptions) -> Result<Self, StoreError> {
        if dir.join(MARKER).exists() {
            let cause = "it is the folder of a follower; start the server with --follow, or make it a \
                         record of its own with mesonet-server promote";
            let (path, cause) = (dir.display().to_string(), cause.to_owned());
            return Err(StoreError::Storage { path, cause });
        }
        let store = EmbeddedStore::open(dir, options)?;
        refuse_unfinished(store.meta_get(NOTE)?.as_deref(), &shown(dir))?;
        let swept = store.health().swept_files;
        if swept > 0 {
            tracing::info!("deleted {swept} files of unfinished work");
        }
        // Only now, since the folder is locked.
        let alerts = match AlertStore::open(dir) {
            Ok((alerts, faults)) => {
                for fault in faults {
                    tracing::error!("the alerts are damaged: {fault}");
                }
                alerts
            }
            Err(error @ StoreError::SchemaVersion { .. }) => return Err(error),
            Err(error) => {
                tracing::error!(
                    "alerts are neither served nor taken in: {error}; to recover the readable \
                     ones, run: mesonet-server verify --set-aside --data {}",
                    dir.display()
                );
                AlertStore::unavailable(error)
            }
        };
        let logged = Arc::new(Mutex::new(0));
        let tried = Arc::default();
        let record = Self { store: Arc::new(store), alerts: Arc::new(alerts), logged, tried };
        record.log_faults();
        Ok(record)
    }

    /// Logs each damage that was found, once.
    pub fn log_faults(&self) {
        let mut logged = self.logged.lock().unwrap_or_else(PoisonError::into_inner);
        let faults = self.store.health().faults;
        for fault in faults.iter().skip(*logged) {
            tracing::error!("the record is damaged: {fault}");
        }
        *logged = faults.len();
    }

    /// The store.
    pub fn store(&self) -> &Arc<EmbeddedStore> {
        &self.store
    }

    /// The alerts.
    pub fn alerts(&self) -> &Arc<AlertStore> {
        &self.alerts
    }

    /// Whether the store can be written, as found within the last seconds by writing to it.
    pub fn is_writable(&self) -> bool {
        let mut tried = self.tried.lock().unwrap_or_else(PoisonError::into_inner);
        match *tried {
            Some((at, is_writable)) if at.elapsed() < TRY_AGAIN => is_writable,
            _ => {
                let is_writable = self.store.meta_set(WRITABLE, "").is_ok();
                *tried = Some((Instant::now(), is_writable));
                is_writable
            }
        }
    }

    /// What the store holds.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn origin(&self) -> Result<Origin, StoreError> {
        Ok(match self.store.meta_get(ORIGIN)?.as_deref() {
            Some("sample") => Origin::Sample,
            None if self.store.is_new() && self.store.directory()?.stations.is_empty() => {
                Origin::New
            }
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
            Origin::New | Origin::Sample => self.store.meta_set(ORIGIN, "own"),
        }
    }

    /// Returns the time of the newest report of the sample and the time up to which it was taken
    /// in, milliseconds since 1970.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn sample_span(&self) -> Result<Option<(i64, i64)>, StoreError> {
        let read = |name| Ok(self.store.meta_get(name)?.and_then(|text| text.parse().ok()));
        Ok(read(SAMPLE_NEWEST)?.zip(read(SAMPLE_PASSED)?))
    }

    /// Records that the sample was taken in up to a time.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn sample_passed(&self, newest_ms: i64, passed_ms: i64) -> Result<(), StoreError> {
        if self.origin()? == Origin::New {
            self.store.meta_set(ORIGIN, "sample")?;
        }
        self.store.meta_set(SAMPLE_NEWEST, &newest_ms.to_string())?;
        self.store.meta_set(SAMPLE_PASSED, &passed_ms.to_string())
    }
}
