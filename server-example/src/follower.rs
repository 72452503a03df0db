//! The record of a follower: that of another server, as its newest backup has it.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use mesonet::store::{
    AlertStore, EmbeddedReader, InFront, Judge, Receipt, StoreError, StoreHealth,
};
use mesonet::{Batch, Iso8601, Reader, Store};

use crate::backup::{BackupError, FollowRuns, Mirror, Parts};
use crate::clock::system_ms;

/// What a follower says to whoever would write to it.
pub const TAKES_NOTHING: &str =
    "this server follows another one and takes nothing in; send it to that one";

/// The record of another server, some time behind it.
#[derive(Debug)]
pub struct Follower {
    reader: EmbeddedReader,
    alerts: Arc<AlertStore>,
    folder: PathBuf,
    /// Where model runs are that are here in parts only.
    parts: Arc<Parts>,
    mirror: Mutex<Mirror>,
    as_of_ms: AtomicI64,
    /// Why the last look at the backups failed.
    failure: Mutex<Option<String>>,
}

impl Follower {
    /// Follows the backups of a place in a folder. What the folder has from before is served if the
    /// place cannot be reached.
    ///
    /// # Errors
    /// The folder is not that of a follower or cannot be used, or it is empty and there is no backup.
    pub fn open(place: &str, folder: &Path, runs: FollowRuns) -> Result<Self, BackupError> {
        let mut mirror = Mirror::open(place, folder, runs)?;
        let updated = mirror.update(|| Ok(()));
        let as_of_ms = match (updated, mirror.time_ms()) {
            (Ok(_), as_of_ms) => as_of_ms.unwrap_or(0),
            (Err(error), Some(as_of_ms)) => {
                tracing::warn!("{error}; serving what is there, of {}", Iso8601(as_of_ms));
                as_of_ms
            }
            (Err(error), None) => return Err(error),
        };
        let follower = Self {
            reader: EmbeddedReader::open(folder)?,
            alerts: Arc::default(),
            folder: folder.to_owned(),
            parts: Arc::new(Parts::of(place)),
            mirror: Mutex::new(mirror),
            as_of_ms: AtomicI64::new(as_of_ms),
            failure: Mutex::default(),
        };
        follower.show()?;
        Ok(follower)
    }

    /// Fetches the newest backup, if it is not here. Returns whether anything has changed. A place
    /// that cannot be read is logged once.
    pub fn update(&self) -> bool {
        let mut mirror = self.mirror.lock().unwrap_or_else(PoisonError::into_inner);
        let updated = mirror.update(|| self.show());
        if let Some(as_of_ms) = mirror.time_ms() {
            self.as_of_ms.store(as_of_ms, Ordering::Relaxed);
        }
        drop(mirror);
        let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        match updated {
            Ok(is_new) => {
                if failure.take().is_some() {
                    tracing::info!("following again, as of {}", Iso8601(self.as_of_ms()));
                }
                is_new
            }
            Err(error) => {
                let text = error.to_string();
                if failure.as_ref() != Some(&text) {
                    tracing::error!(
                        "{text}; serving what is there, of {}",
                        Iso8601(self.as_of_ms())
                    );
                }
                *failure = Some(text);
                false
            }
        }
    }

    /// Takes in what the folder has now.
    fn show(&self) -> Result<(), BackupError> {
        // Of another record, if one has taken over: nothing of the old one may stay.
        self.reader.reread()?;
        let (record, faults) = AlertStore::read(&self.folder)?;
        for fault in faults {
            tracing::error!("the alerts are damaged: {fault}");
        }
        self.alerts.exchange(record.messages);
        Ok(())
    }

    /// Everything that the other server had acknowledged before this time is in the record.
    pub fn as_of_ms(&self) -> i64 {
        self.as_of_ms.load(Ordering::Relaxed)
    }

    /// How old that is, seconds; 0 if the clocks of the two servers differ by more.
    pub fn behind_s(&self) -> f64 {
        (system_ms() - self.as_of_ms()).max(0) as f64 / 1000.0
    }

    /// The alerts.
    pub fn alerts(&self) -> &Arc<AlertStore> {
        &self.alerts
    }

    /// Where model runs are of which only parts are in the folder.
    pub fn parts(&self) -> &Arc<Parts> {
        &self.parts
    }

    /// The state of the store.
    pub fn health(&self) -> StoreHealth {
        self.reader.health()
    }
}

/// The store of a follower, which takes nothing in.
#[derive(Debug)]
pub struct Followed(pub Arc<Follower>);

impl InFront for Followed {
    fn behind(&self) -> &dyn Reader {
        &self.0.reader
    }
}

impl Store for Followed {
    fn append(&self, _: &Batch, _: &mut Judge<'_>) -> Result<Receipt, StoreError> {
        let path = self.0.folder.display().to_string();
        Err(StoreError::Storage { path, cause: TAKES_NOTHING.to_owned() })
    }
}
