//! Where readings are kept: one small trait in domain types.
//!
//! What serves from memory, from disk and from a cluster is the same query code over this trait.

#[cfg(feature = "zone")]
mod alerts;
#[cfg(feature = "embedded")]
mod embedded;
mod memory;

use std::collections::HashMap;
use std::sync::Arc;

#[cfg(feature = "zone")]
pub use alerts::{AlertReceipt, AlertRecord, AlertStore};
#[cfg(feature = "embedded")]
pub use embedded::{
    EmbeddedOptions, EmbeddedStore, Fault, Maintained, Maintenance, StoreHealth, Survey,
    VerifyReport, WouldGo,
};
pub use memory::MemoryStore;

use crate::geo::StationIndex;
use crate::quality::{Quality, QualityCode};
use crate::report::Batch;
use crate::series::{Series, SeriesId};
use crate::station::{Station, StationId};
use crate::time::ClosedWindow;
use crate::variable::Variable;

/// The reading side of a record of stations and readings.
pub trait Reader {
    /// The stations on record, as they are now.
    ///
    /// # Errors
    /// A store that cannot read.
    fn directory(&self) -> Result<Arc<Directory>, StoreError>;

    /// Visits the readings of stations in a window: once for each station that has any, in the
    /// order of the selection, with the index of the station there and its series by ascending
    /// id, those without a reading in the window left out. Unknown stations are passed over.
    ///
    /// A series comes in one slice or in several: they then follow one another, each later in time
    /// than the one before. None is empty.
    ///
    /// # Errors
    /// A store that cannot read.
    fn scan(
        &self,
        selection: &Selection<'_>,
        visit: &mut dyn FnMut(usize, &[SeriesSlice<'_>]),
    ) -> Result<(), StoreError>;
}

/// A record of stations and readings.
///
/// Rules that every store keeps:
/// - [`append`](Store::append) takes a batch whole, with the verdicts on it, or refuses it whole.
/// - Same series and time: the newer ingest wins, except that a lower revision never replaces a
///   higher one. A late reading takes its place in time.
/// - What is on record already as it comes changes nothing, and nothing is written for it: a reading
///   of the same value, source's verdict and revision keeps the verdict that it has.
/// - What a call has appended is seen by every later call; no reader sees a part of it.
pub trait Store: Reader + Send + Sync {
    /// Adds stations and reports and what `judge` finds of them.
    ///
    /// `judge` sees the record with the batch in it, which nobody else does yet, and returns the
    /// verdicts that are other than those in the record: on readings of the batch, and on older
    /// ones. Values and the sources' own verdicts stay; a verdict on a reading that is not there is
    /// passed over. [`unjudged`] leaves all verdicts as they are; an empty batch only judges.
    ///
    /// # Errors
    /// A report of a station that is not on record, a value that is not finite, or two series with
    /// one id: nothing is changed. A store that cannot read or write, or a judge that fails.
    fn append(&self, batch: &Batch, judge: &mut Judge<'_>) -> Result<Receipt, StoreError>;
}

/// Finds the verdicts on a batch, and those on older readings that it changes.
pub type Judge<'a> = dyn FnMut(&dyn Reader) -> Result<Vec<Verdicts>, StoreError> + 'a;

/// The judge that leaves all verdicts as they are.
///
/// # Errors
/// None.
pub fn unjudged(_: &dyn Reader) -> Result<Vec<Verdicts>, StoreError> {
    Ok(Vec::new())
}

/// Which readings are meant.
#[derive(Clone, Copy, Debug)]
pub struct Selection<'a> {
    /// The stations.
    pub stations: &'a [StationId],
    /// The variables.
    pub variables: &'a [Variable],
    /// The time, both ends included.
    pub window: ClosedWindow,
}

/// The readings of one series at one station: columns of one length, ascending in time.
#[derive(Clone, Copy, Debug)]
pub struct SeriesSlice<'a> {
    /// The series.
    pub series: &'a Arc<Series>,
    /// Times, milliseconds since 1970.
    pub ts_ms: &'a [i64],
    /// Values, in the series' unit.
    pub value: &'a [f64],
    /// Verdicts.
    pub quality: &'a [QualityCode],
    /// Verdicts as the readings came in with them.
    pub source: &'a [QualityCode],
}

/// Of each series its slice that is the latest in time.
pub fn latest_slices<'s, 'a>(
    slices: &'s [SeriesSlice<'a>],
) -> impl Iterator<Item = &'s SeriesSlice<'a>> {
    slices.iter().enumerate().filter_map(move |(i, slice)| {
        let next = slices.get(i + 1);
        next.is_none_or(|next| next.series.id != slice.series.id).then_some(slice)
    })
}

/// Verdicts on readings of one series at one station: columns of one length.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdicts {
    /// The station.
    pub station: StationId,
    /// The series.
    pub series: SeriesId,
    /// Times of the readings, milliseconds since 1970.
    pub ts_ms: Vec<i64>,
    /// Their verdicts.
    pub quality: Vec<Quality>,
}

/// What became of the readings of a batch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Receipt {
    /// Readings of a series and time that were not there before.
    pub added: usize,
    /// Readings that replaced an older one.
    pub replaced: usize,
    /// Readings that were there already, with the same value, source's verdict and revision. Of
    /// several of one time in a batch the last counts, and those before it as it does.
    pub unchanged: usize,
    /// Readings that a higher revision had overtaken.
    pub overtaken: usize,
    /// Readings of before the time from which the store keeps any: they were not taken.
    pub expired: usize,
    /// Verdicts that the judge changed, on readings of the batch and on older ones.
    pub revised: usize,
}

/// The stations that a batch describes, each as it does last.
fn described(batch: &Batch) -> impl Iterator<Item = &Station> {
    let stations = || batch.stations.iter().enumerate();
    let last: HashMap<StationId, usize> =
        stations().map(|(at, station)| (station.id, at)).collect();
    stations().filter(move |(at, station)| last[&station.id] == *at).map(|(_, station)| station)
}

/// A batch that was refused, or a store that failed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum StoreError {
    /// A report of a station that is not on record.
    #[error("report {index} of the batch is of station {station}, which is not on record")]
    UnknownStation {
        /// Place of the report in the batch.
        index: usize,
        /// The station that it names.
        station: StationId,
    },
    /// A value that is no number.
    #[error("report {index} of the batch has {value} for {variable}; a value must be finite")]
    NotFinite {
        /// Place of the report in the batch.
        index: usize,
        /// The variable.
        variable: Variable,
        /// What was given.
        value: f64,
    },
    /// Columns of a series that are of different lengths or do not ascend.
    #[error("the store holds columns that are none: {0}")]
    Columns(String),
    /// Two different series with the same id.
    #[error(
        "report {index} of the batch has a {variable} series whose id {id} is taken by another"
    )]
    SeriesIdTaken {
        /// Place of the report in the batch.
        index: usize,
        /// The variable of the refused series.
        variable: Variable,
        /// The id.
        id: SeriesId,
    },
    /// No room is left where the store is kept: nothing is changed, and reading goes on.
    #[error("no room is left for the store in {path}: {cause}; nothing was changed")]
    Full {
        /// The file or folder.
        path: String,
        /// What the system said.
        cause: String,
    },
    /// A file that cannot be read or written.
    #[error("{path}: {cause}")]
    Storage {
        /// The file or folder.
        path: String,
        /// What the system said, or what is wrong with it.
        cause: String,
    },
    /// A folder that another store has open.
    #[error("{path} is in use by another process; only one at a time can have it open")]
    Locked {
        /// The folder.
        path: String,
    },
    /// A folder that holds data while its catalogue is not there: nothing was changed.
    #[error(
        "{path}: {catalogue}, but the folder holds {found}. Nothing was changed: put the file \
         back, or make it anew from the segments with: mesonet-server verify --rebuild --data {path}"
    )]
    NoCatalogue {
        /// The folder.
        path: String,
        /// What is wrong with the catalogue.
        catalogue: String,
        /// What the folder holds.
        found: String,
    },
    /// A folder that was written by another version.
    #[error("{path} has schema version {got}; this version reads {allowed}")]
    SchemaVersion {
        /// The file.
        path: String,
        /// The version that was found.
        got: String,
        /// The version that is read.
        allowed: u32,
    },
}

/// A series that a station reports.
#[derive(Clone, Debug, PartialEq)]
pub struct StationSeries {
    /// The series.
    pub series: Arc<Series>,
    /// Time of its first reading at the station.
    pub first_appearance_ms: i64,
}

/// A station with what its reports say of it.
#[derive(Clone, Debug, PartialEq)]
pub struct StationRecord {
    /// The station.
    pub station: Station,
    /// Time of its most recent report; `None` before the first.
    pub update_time_ms: Option<i64>,
    /// Present weather of the most recent report that says anything of the weather.
    pub present_weather: Option<Vec<String>>,
    /// The series that it reports, by ascending id.
    pub series: Vec<StationSeries>,
}

/// The stations on record at one moment.
#[derive(Debug, Default)]
pub struct Directory {
    /// Grows with every batch that changed anything.
    pub generation: u64,
    /// Grows only when a station is added or moves.
    pub places_generation: u64,
    /// The stations, by ascending id.
    pub stations: Vec<Arc<StationRecord>>,
    /// Finds them by place; answers with indices into `stations`.
    pub index: Arc<StationIndex>,
}

impl Directory {
    /// One station.
    pub fn get(&self, id: StationId) -> Option<&StationRecord> {
        let at = self.stations.binary_search_by_key(&id, |record| record.station.id).ok()?;
        Some(&self.stations[at])
    }
}

#[cfg(test)]
mod conformance;
