//! The record in files of a folder.

use std::path::Path;
use std::sync::Arc;

use mesonet::store::copy::NOTE;
use mesonet::store::{
    AlertStore, ChangeLog, EmbeddedOptions, Maintenance, MaintenanceReport, StoreError, StoreHealth,
};
use mesonet::{EmbeddedStore, Reader};

use super::{FOLLOWER, RecordPlace, RecordStore, refuse_unfinished};

/// The file that is written to find out whether the store can be written.
const WRITABLE: &str = "writable";

/// Opens a folder, which is created if missing.
pub fn open(
    dir: &Path,
    options: EmbeddedOptions,
) -> Result<(EmbeddedStore, AlertStore), StoreError> {
    if dir.join(FOLLOWER).exists() {
        let cause = "it is the folder of a follower; start the server with --follow, or restore a backup \
                     into a new folder";
        let (path, cause) = (dir.display().to_string(), cause.to_owned());
        return Err(StoreError::Storage { path, cause });
    }
    let store = EmbeddedStore::open(dir, options)?;
    refuse_half(&store, dir)?;
    let swept = store.health().swept_files;
    if swept > 0 {
        tracing::info!("deleted {swept} files of unfinished work");
    }
    // Only now, when the folder is locked.
    let alerts = match AlertStore::open(dir) {
        Ok((alerts, faults)) => {
            for fault in faults {
                tracing::error!("the alerts are damaged: {fault}");
            }
            if let Some(failure) = alerts.failure() {
                tracing::error!(
                    "alerts are taken in but not served: {failure}; when what is there has been \
                     looked at, run: mesonet-server verify --set-aside --data {}",
                    dir.display()
                );
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
    Ok((store, alerts))
}

/// Opens a folder for a command that reads.
pub fn reader(dir: &Path, options: EmbeddedOptions) -> Result<Arc<dyn Reader>, StoreError> {
    let store = EmbeddedStore::open(dir, options)?;
    refuse_half(&store, dir)?;
    Ok(Arc::new(store))
}

/// Refuses a copy that is not finished.
fn refuse_half(store: &EmbeddedStore, dir: &Path) -> Result<(), StoreError> {
    let place = RecordPlace::Embedded(dir.to_owned()).to_string();
    refuse_unfinished(store.meta_get(NOTE)?.as_deref(), &place)
}

impl RecordStore for EmbeddedStore {
    fn health(&self) -> StoreHealth {
        Self::health(self)
    }

    fn maintain(&self, retain_from_ms: Option<i64>) -> Result<MaintenanceReport, StoreError> {
        Self::maintain(self, &Maintenance { retain_from_ms, seal_all: false })
    }

    fn retain_from(&self, retain_from_ms: i64) -> Result<(), StoreError> {
        Self::retain_from(self, retain_from_ms)
    }

    fn trouble(&self) -> Option<&'static str> {
        self.meta_set(WRITABLE, "").is_err().then_some("the record cannot be written")
    }

    fn expires_by(&self) -> &'static str {
        "segments"
    }

    fn change_log(&self) -> &dyn ChangeLog {
        self
    }
}
