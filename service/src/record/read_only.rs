//! The record in a folder that cannot be written. It is served unchanged, and takes nothing in.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use mesonet::Reader;
use mesonet::store::{AlertStore, ChangeLog, EmbeddedReader, StoreError, StoreHealth};

use super::{ReadStatus, UpdatedStations, Upstream};
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
    status: ReadStatus,
}

/// Opens a record that this process may only read. Another process may write to it.
///
/// # Errors
/// It cannot be read.
pub fn open(folder: &Path) -> Result<Arc<dyn Upstream>, StoreError> {
    let status = ReadStatus::new(system_ms());
    let reader = EmbeddedReader::open(folder)?;
    let record = ReadOnly { folder: folder.to_owned(), reader, alerts: Arc::default(), status };
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
        let as_of_ms = read.is_ok().then_some(began_ms);
        UpdatedStations::all_if(self.status.note(read, as_of_ms).unwrap_or(false))
    }

    fn as_of_ms(&self) -> i64 {
        self.status.as_of_ms()
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
        self.status.has_failed().then_some("the record cannot be read")
    }

    fn takes_nothing(&self) -> &'static str {
        "the folder of the record is read-only, and this server takes nothing in"
    }
}
