//! The record in a folder that cannot be written. It is served unchanged, and takes nothing in.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use mesonet::Reader;
use mesonet::store::{AlertStore, ChangeLog, EmbeddedReader, StoreError, StoreHealth};

use super::{UpdatedStations, Upstream};
use crate::clock::system_ms;

/// Whether a folder exists and this process may not write to it.
pub fn is_read_only(folder: &Path) -> bool {
    folder.is_dir()
        && tempfile::tempfile_in(folder).is_err_and(|error| {
            matches!(
                error.kind(),
                io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem
            )
        })
}

#[derive(Debug)]
struct ReadOnly {
    folder: PathBuf,
    reader: EmbeddedReader,
    alerts: Arc<AlertStore>,
    as_of_ms: AtomicI64,
    /// Why the last look at the record failed.
    failure: Mutex<Option<String>>,
}

/// Opens a record that this process may only read. Another process may write to it.
///
/// # Errors
/// It cannot be read.
pub fn open(folder: &Path) -> Result<Arc<dyn Upstream>, StoreError> {
    let as_of_ms = AtomicI64::new(system_ms());
    let reader = EmbeddedReader::open(folder)?;
    let (folder, alerts, failure) = (folder.to_owned(), Arc::default(), Mutex::default());
    let record = ReadOnly { folder, reader, alerts, as_of_ms, failure };
    record.read_alerts()?;
    Ok(Arc::new(record))
}

impl ReadOnly {
    fn read_alerts(&self) -> Result<(), StoreError> {
        let (alerts, faults) = AlertStore::read(&self.folder)?;
        if self.alerts.exchange(alerts.messages) {
            for fault in faults {
                tracing::error!("the alerts are damaged: {fault}");
            }
        }
        Ok(())
    }
}

impl Upstream for ReadOnly {
    fn reader(&self) -> &dyn Reader {
        &self.reader
    }

    fn update(&self) -> UpdatedStations {
        let began_ms = system_ms();
        let read = self.reader.refresh().and_then(|is_new| self.read_alerts().map(|()| is_new));
        let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        match read {
            Ok(is_new) => {
                *failure = None;
                self.as_of_ms.store(began_ms, Ordering::Relaxed);
                if is_new { UpdatedStations::All } else { UpdatedStations::None }
            }
            Err(error) => {
                let text = error.to_string();
                if failure.as_ref() != Some(&text) {
                    tracing::error!("the record cannot be read: {text}");
                }
                *failure = Some(text);
                UpdatedStations::None
            }
        }
    }

    fn as_of_ms(&self) -> i64 {
        self.as_of_ms.load(Ordering::Relaxed)
    }

    fn alerts(&self) -> &Arc<AlertStore> {
        &self.alerts
    }

    fn health(&self) -> StoreHealth {
        self.reader.health()
    }

    fn change_log(&self) -> &dyn ChangeLog {
        &self.reader
    }

    fn trouble(&self) -> Option<&'static str> {
        let failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        failure.is_some().then_some("the record cannot be read")
    }

    fn takes_nothing(&self) -> &'static str {
        "the folder of the record is read-only, and this server takes nothing in"
    }
}
