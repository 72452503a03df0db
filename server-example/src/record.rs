//! The record of a server: its store on disk, and where what is in it came from.

use std::path::Path;
use std::sync::Arc;

use mesonet::{AlertStore, EmbeddedOptions, EmbeddedStore, Reader, StoreError};

/// Where the readings of a store came from.
const ORIGIN: &str = "origin";
/// Time of the newest report of the sample, and time up to which it was taken in.
const SAMPLE_NEWEST: &str = "sample_newest_ms";
const SAMPLE_PASSED: &str = "sample_passed_ms";

/// What a store holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Nothing yet, and no alerts, products or model runs beside it.
    New,
    /// Nothing but the sample.
    Sample,
    /// What somebody has brought in.
    Own,
}

/// The store on disk of a server.
#[derive(Clone, Debug)]
pub struct Record {
    store: Arc<EmbeddedStore>,
    alerts: Arc<AlertStore>,
}

impl Record {
    /// Opens the record in a folder, which is made if there is none.
    ///
    /// # Errors
    /// Another process has it open, or it cannot be read or written.
    pub fn open(dir: &Path, options: EmbeddedOptions) -> Result<Self, StoreError> {
        let store = EmbeddedStore::open(dir, options)?;
        let health = store.health();
        for fault in &health.faults {
            tracing::error!("the record is damaged: {fault}");
        }
        if health.swept_files > 0 {
            tracing::info!("{} files of unfinished work were deleted", health.swept_files);
        }
        // After it: the folder is locked.
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
                    "alerts are neither served nor taken in: {error}; what can be read of them is \
                     kept by: mesonet-server verify --set-aside --data {}",
                    dir.display()
                );
                AlertStore::unavailable(error)
            }
        };
        Ok(Self { store: Arc::new(store), alerts: Arc::new(alerts) })
    }

    /// The store.
    pub fn store(&self) -> &Arc<EmbeddedStore> {
        &self.store
    }

    /// The alerts.
    pub fn alerts(&self) -> &Arc<AlertStore> {
        &self.alerts
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

    /// Notes that the store is for readings that somebody brings in: from now on its clock is
    /// live unless it is told otherwise.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn make_own(&self) -> Result<(), StoreError> {
        match self.origin()? {
            Origin::Own => Ok(()),
            Origin::New | Origin::Sample => self.store.meta_set(ORIGIN, "own"),
        }
    }

    /// Time of the newest report of the sample, and time up to which it was taken in: milliseconds
    /// since 1970.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn sample_span(&self) -> Result<Option<(i64, i64)>, StoreError> {
        let read = |name| Ok(self.store.meta_get(name)?.and_then(|text| text.parse().ok()));
        Ok(read(SAMPLE_NEWEST)?.zip(read(SAMPLE_PASSED)?))
    }

    /// Notes that the sample was taken in up to a time.
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
