//! Copies a record from one store into another, so that both give the same answers.
//!
//! [`Copying`] reads the original in windows of time and writes it in chunks; each chunk is a batch
//! of the copy. It notes its progress in the copy, so an interrupted copy can go on. Afterwards
//! [`compare`] reads both, and only an equal copy is marked as finished.
//!
//! The copy contains the current record: stations with their identifiers, their series and when
//! each first appeared; readings with value, qualifier, revision, verdict and original verdict; the
//! present weather of every report, with its revision; and the retention cutoff. It does not
//! contain values that a later revision has replaced, nor the generations, which count the batches
//! of one store.
//!
//! ```
//! # let folder = tempfile::tempdir()?;
//! # let dir = folder.path();
//! # use mesonet::{EmbeddedStore, Intake, MemoryStore, Reader, intake::FeedFile, store::EmbeddedOptions};
//! # let csv = "raw_text,station_id,observation_time,latitude,longitude\n\
//! #     CYYZ 032000Z 24012G20KT 15SM 29/17 A2991,CYYZ,2024-08-03T20:00:00Z,43.68,-79.63\n";
//! use mesonet::store::copy::{Comparison, Copying, compare};
//! let original = MemoryStore::default();
//! Intake::default().read_file(&original, csv.as_bytes(), &FeedFile::new("metars.csv", 0))?;
//! let copy = EmbeddedStore::open(dir, EmbeddedOptions::default())?;
//! let mut copying = Copying::begin(&original, &copy, "the reports of Toronto")?;
//! copying.run(&mut |_| {})?;
//! let comparison: Comparison = compare(&original, &copy, &mut |_| {})?;
//! assert!(comparison.is_equal() && comparison.original.readings > 0);
//! copying.finish(&comparison)?;
//! assert_eq!(copy.directory()?.stations, original.directory()?.stations);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod chunk;
mod compare;
mod digest;
mod locate;
mod mark;
mod pass;
mod sums;
mod walk;

use std::sync::Arc;

pub use compare::{Comparison, Difference, compare};
pub use digest::Digest;
pub use mark::{NOTE, unfinished};
pub use pass::Copying;

use super::{Directory, Reader, StationRecords, Store, StoreError};

/// A reader that hands out everything in its store, so that another store can have the same.
///
/// It shows one moment: its content does not change while it is read.
///
/// ```
/// use mesonet::MemoryStore;
/// use mesonet::store::copy::{Original, ReferenceData};
/// let reference: ReferenceData = MemoryStore::default().reference_data()?;
/// assert_eq!((reference.directory.stations.len(), reference.retain_from_ms), (0, None));
/// # Ok::<(), mesonet::store::StoreError>(())
/// ```
pub trait Original: Reader {
    /// Returns everything except the readings.
    ///
    /// # Errors
    /// The store cannot be read.
    fn reference_data(&self) -> Result<ReferenceData, StoreError>;

    /// Returns a small text that is kept with the readings; `None` if there is none.
    ///
    /// # Errors
    /// The store cannot be read.
    fn note(&self, name: &str) -> Result<Option<String>, StoreError>;
}

/// A store that can become the copy of another.
pub trait Duplicate: Original + Store {
    /// Keeps a small text with the readings.
    ///
    /// # Errors
    /// The store cannot be written.
    fn set_note(&self, name: &str, text: &str) -> Result<(), StoreError>;

    /// From now on, readings before an instant, milliseconds since 1970, do not count. They are not
    /// deleted: the instant may go back. If it does so after the copy is finished, the store says
    /// that it lacks what was before.
    ///
    /// # Errors
    /// The store cannot be written.
    fn retain(&self, from_ms: i64) -> Result<(), StoreError>;

    /// Takes over the descriptions of stations, with their earlier places, unchanged. Also takes
    /// over which series they have, and when each first appeared, if that is earlier than known so
    /// far: the readings themselves may have been dropped since. Stations that are not on record
    /// are left out.
    ///
    /// # Errors
    /// The store cannot be written, or two series have the same id; nothing is changed then.
    fn appear(&self, records: &StationRecords) -> Result<(), StoreError>;

    /// Does the maintenance due after a batch, such as sealing, or after the last batch.
    ///
    /// # Errors
    /// The store cannot be written.
    fn upkeep(&self, is_last: bool) -> Result<(), StoreError>;
}

/// Everything that a store knows except its readings.
#[derive(Clone, Debug)]
pub struct ReferenceData {
    /// The stations.
    pub directory: Arc<Directory>,
    /// For each station, time and revision of the report that its present weather is from.
    pub weather_of: Vec<Option<(i64, u8)>>,
    /// Readings before this instant do not count; `None` if all do.
    pub retain_from_ms: Option<i64>,
    /// The approximate number of readings and weather reports.
    pub readings: u64,
}

/// Why a record cannot be copied, or compared.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CopyError {
    /// A store cannot be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A part of a record cannot be read, so the copy would lack it.
    #[error(
        "{blocks} blocks of the {side} are damaged or lost, and the readings in them cannot be read; \
         a copy that lacks them would not say so"
    )]
    Damaged {
        /// Which record: `original` or `copy`.
        side: &'static str,
        /// Number of blocks.
        blocks: u64,
    },
    /// The target of the copy already holds something.
    #[error("it holds {stations} stations already; a record is copied into an empty place only")]
    Occupied {
        /// Number of stations.
        stations: usize,
    },
    /// The target of the copy is a finished copy.
    #[error("it is a finished copy of {of}; nothing more is copied into it")]
    Finished {
        /// The name of the original.
        of: String,
    },
    /// The target of the copy is an unfinished copy of something else.
    #[error("it is an unfinished copy of {of}; only that copy can go on here")]
    OtherCopy {
        /// The name of the original.
        of: String,
    },
    /// The note of how far a copy has come cannot be understood.
    #[error("the note of how far the copy has come cannot be understood: {text:?}")]
    Note {
        /// The note.
        text: String,
    },
    /// The copy is not equal to the original, so it is not marked as finished.
    #[error("the copy differs from the original in {differences} places")]
    Differs {
        /// Number of differences.
        differences: usize,
    },
}

#[cfg(all(test, feature = "embedded"))]
mod tests;
