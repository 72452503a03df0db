//! An archive of a record: the readings of whole months as Parquet in a folder or a bucket, asked in
//! SQL by other programs, and by bulk export for what retention has deleted here.
//!
//! | What | Where |
//! | --- | --- |
//! | A month | `month.rs` |
//! | What an archive holds: its manifest | `manifest.rs` |
//! | Writing the past months | `run.rs` |
//! | One month of a record, written | `write.rs` |
//! | The readings of a station, for bulk export | `past.rs` |
//! | What retention may delete | `covered.rs` |
//!
//! Files are in `year=…/month=…/` and never change. The manifest names those that count. It is one
//! small object in `manifests/`, and the one with the highest number is the archive: the next is put
//! where none may be, after the files that it names. So a month is there whole or not at all, and of
//! two who write at the same time one is refused. What a manifest no longer names is deleted after it.

mod ahead;
mod covered;
mod manifest;
mod month;
mod past;
mod run;
mod write;

use std::io;
use std::path::PathBuf;

pub use covered::{Covered, whole_months};
pub use past::Archive;
pub use run::{ArchiveSummary, Run, open};
pub use write::FILE_READINGS;

use mesonet::export::ExportError;
use mesonet::store::StoreError;

use crate::place::{PlaceError, SendError};
use crate::record::{RecordPlace, WRITER, writer_of_folder};
use manifest::ManifestError;

/// The name by which an archive knows a record; empty if none was given to it yet.
///
/// # Errors
/// The name cannot be read.
pub fn name_of(place: &RecordPlace) -> Result<String, StoreError> {
    match place {
        RecordPlace::Embedded(folder) if folder.join(WRITER).exists() => writer_of_folder(folder),
        RecordPlace::Embedded(_) => Ok(String::new()),
        RecordPlace::ClickHouse(_) => Ok(place.to_string()),
    }
}

/// Why an archive could not be written.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    /// There is no record.
    #[error("{} is not the folder of a record", .0.display())]
    NoRecord(PathBuf),
    /// The record cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The rows cannot be written as Parquet.
    #[error(transparent)]
    Export(#[from] ExportError),
    /// The place cannot be read or written.
    #[error(transparent)]
    Place(#[from] PlaceError),
    /// A file cannot be sent.
    #[error(transparent)]
    Send(#[from] SendError),
    /// The manifest cannot be used.
    #[error(transparent)]
    Manifest(#[from] ManifestError),
    /// The place is that of another record.
    #[error(
        "nothing was archived: {place} has the archive of another record, {other}; if this record \
         goes on from that one, add --take-over"
    )]
    OfOther {
        /// The place.
        place: String,
        /// The other record.
        other: String,
    },
    /// The folder of a follower, whose server archives.
    #[error(
        "nothing was archived: {} is the folder of a follower; archive the record of the server that it follows",
        .0.display()
    )]
    OfFollower(PathBuf),
    /// Files of an archive, and no manifest that names them.
    #[error(
        "nothing was archived: {0} has files of an archive in year=…/ and no manifest; put back the newest of \
         manifests/, or use a new place"
    )]
    NoManifest(String),
    /// Another run has written to the archive meanwhile.
    #[error(
        "{0}: another run changed the archive at the same time; what it wrote stays; run the command again"
    )]
    Meanwhile(String),
    /// A run that took longer than unfinished files are spared.
    #[error("the month took more than a day; run again")]
    TooLong,
    /// There is no room for a file until it is sent, or it cannot be written or read.
    #[error(
        "{}, where a file is until it is sent: {cause}; what was archived stays, and the environment \
         variable TMPDIR may name another folder",
        .folder.display()
    )]
    Temporary {
        /// The folder.
        folder: PathBuf,
        /// What the system said.
        cause: io::Error,
    },
    /// The result cannot be written, or the system has no random number.
    #[error("cannot write the result: {0}")]
    Io(#[from] io::Error),
}
