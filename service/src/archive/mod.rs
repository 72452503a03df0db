//! An archive of a record: the readings of whole months as Parquet in a folder or a bucket. Other
//! programs query it in SQL. Bulk export reads from it what retention has deleted from the record.
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
//! Files are in `year=…/month=…/` and never change. The manifest, a small object in `manifests/`,
//! names the valid ones. The manifest with the highest number is the archive. The next one is
//! written after the files that it names, and only if no other has its number. So a month is there
//! whole or not at all, and of two runs at the same time one is refused. Files that the new
//! manifest no longer names are deleted after it is written.

mod ahead;
mod covered;
mod manifest;
mod month;
mod past;
mod run;
mod write;

use std::io;
use std::path::PathBuf;

pub use covered::{ArchiveCoverage, whole_months};
pub use past::Archive;
pub use run::{ArchiveRun, ArchiveSummary, open};
pub use write::FILE_READINGS;

use mesonet::export::ExportError;
use mesonet::store::StoreError;

use crate::place::{PlaceError, SendError};
use crate::record::{RecordPlace, WRITER, writer_of_folder};
use manifest::ManifestError;

/// The name of a record in its archive; empty if the record has none yet.
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
    /// The place has the archive of another record.
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
    /// The folder of a follower. The server that it follows writes the archive.
    #[error(
        "nothing was archived: {} is the folder of a follower; archive the record of the server that it follows",
        .0.display()
    )]
    OfFollower(PathBuf),
    /// There are files of an archive, but no manifest.
    #[error(
        "nothing was archived: {0} has files of an archive in year=…/ and no manifest; put back the newest of \
         manifests/, or use a new place"
    )]
    NoManifest(String),
    /// Another run has written to the archive at the same time.
    #[error(
        "{0}: another run changed the archive at the same time; what it wrote stays; run the command again"
    )]
    Meanwhile(String),
    /// The run took longer than unfinished files are kept.
    #[error("the month took more than a day; run again")]
    TooLong,
    /// A temporary file, which is to be sent, cannot be written or read, or there is no room for
    /// it.
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
