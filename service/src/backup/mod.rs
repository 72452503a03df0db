//! Backups of a data folder in an object store, made while a server writes to it.
//!
//! | What | Where |
//! | --- | --- |
//! | What a backup holds: its manifest | `manifest.rs` |
//! | What backups are called, and which is newer | `name.rs` |
//! | Which record may back up to a place | `writer.rs` |
//! | What is in a data folder, and how each file is copied | `gather.rs` |
//! | Making one | `ship.rs` |
//! | The content of a file of a backup | `content.rs` |
//! | Restoring one | `restore.rs` |
//! | The backups of a place, and whether they are whole | `list.rs` |
//! | The record of another server, as of its newest backup | `follower.rs` |
//! | A folder that is kept equal to the newest backup, for followers | `mirror.rs`, `marker.rs` |
//! | Which backups and files are deleted | `prune.rs` |
//!
//! Files are stored by their content: `objects/` has each content once, compressed, under the SHA-256
//! of the content. Backups before version 2 of the manifest stored it as it is; such an object is used
//! as long as a backup needs its content, and never sent again. A backup is one small object in `backups/`, the manifest, which names its files. The manifest is written
//! last, so a backup is there completely or not at all. After an interruption, the next backup
//! sends only the rest.

mod content;
mod follower;
mod gather;
mod list;
mod manifest;
mod marker;
mod mirror;
mod name;
mod prune;
mod restore;
#[cfg(all(test, feature = "s3"))]
mod s3_tests;
mod ship;
mod writer;

use std::fs::TryLockError;
use std::io;
use std::path::{Path, PathBuf};

use mesonet::Iso8601;
use mesonet::lock::FileLock;
use mesonet::store::{Fault, StoreError};

pub use follower::Follower;
pub use gather::is_record;
pub use list::{ListedBackup, listed};
pub use manifest::{BackupManifest, instant, shown};
pub use mirror::Mirror;
pub use name::Name;
pub use prune::{PruneReport, prune};
pub use restore::restore;
pub use ship::{BackupOptions, BackupSummary, LOST, make};

use crate::keys::KeysError;
use crate::place::PlaceError;
use manifest::ManifestError;

fn and_more(count: usize) -> String {
    if count == 0 { String::new() } else { format!("; and {count} more") }
}

/// Why a backup could not be made, read or restored.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    /// There is no record.
    #[error("{} is not the folder of a record", .0.display())]
    NoRecord(PathBuf),
    /// The place is in the folder of the record itself.
    #[error(
        "{place} is in {}, the folder of the record; the backups must be in another one",
        .data.display()
    )]
    Inside {
        /// The place.
        place: String,
        /// The folder of the record.
        data: PathBuf,
    },
    /// The record cannot be read, or no room is left for its copy.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The record of API keys cannot be read.
    #[error(transparent)]
    Keys(#[from] KeysError),
    /// The place of the backups cannot be read or written.
    #[error(transparent)]
    Place(#[from] PlaceError),
    /// A sealed segment is damaged, and no earlier backup has it.
    #[error(
        "nothing was backed up: {0}; mesonet-server verify --set-aside keeps what is whole of it"
    )]
    Damaged(Fault),
    /// Readings are lost, and the operator has not given them up.
    #[error(
        "nothing was backed up: {first}{}. Put back what is missing, accept the loss with mesonet-server verify, \
         or back up what there is with --without-lost", and_more(*.more)
    )]
    Lost {
        /// What is lost.
        first: Fault,
        /// How many other parts are.
        more: usize,
    },
    /// A file was written while it was read.
    #[error(
        "nothing was backed up: {0} was changed while it was read; only a server may write to the folder"
    )]
    Changed(String),
    /// The new manifest could not be read back.
    #[error("nothing was backed up: the manifest {0}")]
    Unreadable(ManifestError),
    /// The place has the backups of another record.
    #[error(
        "nothing was backed up: {place} has the backups of another record, {by}. If this one is to \
         replace it, add --take-over"
    )]
    Replaced {
        /// The place.
        place: String,
        /// The other record.
        by: String,
    },
    /// The backup took too many days.
    #[error(
        "the backup took more than three days; make it again: the files of those days are there"
    )]
    TooLong,
    /// Backups cannot be kept for this span.
    #[error("keep is \"{0}\"; it must be a whole number followed by d or h, at least 7d")]
    Keep(String),
    /// A manifest cannot be used.
    #[error("the backup {name} {error}")]
    Manifest {
        /// Its name.
        name: String,
        /// What is wrong with it.
        error: ManifestError,
    },
    /// There is no backup of that time.
    #[error("{place} has no backup{}", .at_ms.map(|at_ms| format!(" of {} or before; the oldest is of {}", Iso8601(at_ms), .oldest)).unwrap_or_default())]
    None {
        /// The place.
        place: String,
        /// The time that was asked for, if the place has backups.
        at_ms: Option<i64>,
        /// The time of the oldest backup.
        oldest: String,
    },
    /// An object that a backup names is not there.
    #[error("{file} of the backup {name} is missing: {place} has no {object}")]
    Missing {
        /// The place.
        place: String,
        /// The backup.
        name: String,
        /// The file of the record.
        file: String,
        /// The object that held it.
        object: String,
    },
    /// An object has changed since it was put there.
    #[error("{file} of the backup {name} is damaged: {object} in {place} {cause}")]
    Corrupt {
        /// The place.
        place: String,
        /// The backup.
        name: String,
        /// The file of the record.
        file: String,
        /// The object that holds it.
        object: String,
        /// What is wrong with it.
        cause: String,
    },
    /// The folder to restore into is not empty.
    #[error("{} is not empty; restore into a new folder, and move it into place", .0.display())]
    NotEmpty(PathBuf),
    /// The restored folder cannot replace what is there.
    #[error("{} {}; restore into a new folder, and use that", .0.display(), .1)]
    Target(PathBuf, &'static str),
    /// The folder does not follow a place.
    #[error("{} is not the folder of a follower; a follower starts in a new folder", .0.display())]
    NotFollower(PathBuf),
    /// The folder of a follower. The server that it follows makes the backups.
    #[error(
        "nothing was backed up: {} is the folder of a follower; the server that it follows makes the backups",
        .0.display()
    )]
    OfFollower(PathBuf),
    /// The newest backup of the place is older than what a follower has.
    #[error(
        "the newest backup in {place} is {newest}, which is older than {held}, the one that is here and stays. To \
         take the older one all the same, start the follower in a new folder"
    )]
    Older {
        /// The place.
        place: String,
        /// The newest backup that is there.
        newest: Name,
        /// The backup that the follower has.
        held: Name,
    },
    /// Another process has the folder open.
    #[error("{} is in use by another process; only one at a time can have it open", .0.display())]
    Open(PathBuf),
    /// Another process is restoring into the folder.
    #[error("another process is restoring into {}", .0.display())]
    InUse(PathBuf),
    /// The disk is full.
    #[error("no space is left in {}; nothing of the backup was taken", .0.display())]
    Full(PathBuf),
    /// A file cannot be read or written.
    #[error("{}: {error}", .path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// The result cannot be written.
    #[error("cannot write the result: {0}")]
    Output(#[from] io::Error),
}

/// Locks a file; the error says so if another process has it locked.
fn lock(path: &Path, taken: impl FnOnce() -> BackupError) -> Result<FileLock, BackupError> {
    FileLock::exclusive(path).map_err(|error| match error {
        TryLockError::WouldBlock => taken(),
        TryLockError::Error(error) => BackupError::file(path)(error),
    })
}

impl BackupError {
    fn file(path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |error| Self::File { path: path.to_owned(), error }
    }
}
