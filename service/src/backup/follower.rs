//! The record of another server, as of its newest backup.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use mesonet::store::{AlertStore, ChangeLog, EmbeddedReader, StoreHealth};
use mesonet::{Iso8601, Reader};

use super::{BackupError, Mirror, Name};
use crate::record::{ReadStatus, UpdatedStations, Upstream, refuse_unfinished_folder};
use crate::sync::lock;

/// What a follower answers to a caller that tries to write to it.
const TAKES_NOTHING: &str =
    "this server follows another one and takes nothing in; send it to that one";

/// The record of another server, as of its newest backup.
#[derive(Debug)]
pub struct Follower {
    reader: EmbeddedReader,
    alerts: Arc<AlertStore>,
    folder: PathBuf,
    mirror: Mutex<Mirror>,
    /// The name of the record that the folder holds.
    record_name: Mutex<String>,
    shown: Mutex<ServedBackups>,
    status: ReadStatus,
}

/// The backups that answers may be made from: both, while one replaces the other.
#[derive(Debug, Default)]
struct ServedBackups {
    /// At least this one.
    oldest: Option<Name>,
    /// At most this one.
    newest: Option<Name>,
}

impl Follower {
    /// Follows the backups of a place in a folder. If the place cannot be reached, what the folder
    /// already has is served.
    ///
    /// # Errors
    /// The folder does not belong to a follower or cannot be used, or it is empty and there is no
    /// backup.
    pub fn open(place: &str, folder: &Path) -> Result<Self, BackupError> {
        let mut mirror = Mirror::open(place, folder)?;
        let updated = mirror.update(|_| Ok(()));
        let as_of_ms = match (updated, mirror.time_ms()) {
            (Ok(_), as_of_ms) => as_of_ms.unwrap_or(0),
            (Err(error), Some(as_of_ms)) => {
                tracing::warn!("{error}; serving what is there, of {}", Iso8601(as_of_ms));
                as_of_ms
            }
            (Err(error), None) => return Err(error),
        };
        let shown =
            ServedBackups { oldest: mirror.name().cloned(), newest: mirror.name().cloned() };
        let follower = Self {
            shown: Mutex::new(shown),
            reader: EmbeddedReader::open(folder)?,
            alerts: Arc::default(),
            folder: folder.to_owned(),
            record_name: Mutex::new(mirror.writer().to_owned()),
            mirror: Mutex::new(mirror),
            status: ReadStatus::new(as_of_ms),
        };
        follower.show()?;
        Ok(follower)
    }

    /// Reads again what the folder has now.
    fn show(&self) -> Result<(), BackupError> {
        refuse_unfinished_folder(&self.folder)?;
        // Another record may have taken over. Then nothing of the old record may stay.
        self.reader.reread()?;
        let (record, faults) = AlertStore::read(&self.folder)?;
        for fault in faults {
            tracing::error!("the alerts are damaged: {fault}");
        }
        self.alerts.exchange(record.messages);
        Ok(())
    }

    /// The newest backup that an answer may be made from; `None` before the first.
    pub fn newest_shown(&self) -> Option<Name> {
        lock(&self.shown).newest.clone()
    }

    /// Whether all answers are made from a backup or newer ones, and whether some may be.
    pub fn shows(&self, backup: &Name) -> (bool, bool) {
        let shown = lock(&self.shown);
        let has = |name: &Option<Name>| name.as_ref().is_some_and(|name| name >= backup);
        (has(&shown.oldest), has(&shown.newest))
    }
}

impl Upstream for Follower {
    fn reader(&self) -> &dyn Reader {
        &self.reader
    }

    /// Fetches the newest backup, unless the folder has it.
    fn update(&self) -> UpdatedStations {
        let mut mirror = lock(&self.mirror);
        let updated = mirror.update(|name| {
            lock(&self.shown).newest = Some(name.clone());
            self.show()?;
            lock(&self.shown).oldest = Some(name.clone());
            Ok(())
        });
        mirror.writer().clone_into(&mut lock(&self.record_name));
        let as_of_ms = mirror.time_ms();
        drop(mirror);
        UpdatedStations::all_if(self.status.note(updated, as_of_ms).unwrap_or(false))
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

    fn record_name(&self) -> String {
        lock(&self.record_name).clone()
    }

    /// What the folder has can be served in any case.
    fn trouble(&self) -> Option<&'static str> {
        None
    }

    fn takes_nothing(&self) -> &'static str {
        TAKES_NOTHING
    }
}
