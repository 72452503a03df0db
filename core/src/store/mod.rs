//! Stores of readings, behind one small trait in domain types.
//!
//! The same query code over this trait serves readings from memory, from disk and from a cluster.

#[cfg(feature = "feed")]
mod alerts;
mod changes;
mod columns;
#[cfg(any(test, feature = "conformance"))]
pub mod conformance;
mod continued;
pub mod copy;
mod damage;
mod directory;
#[cfg(feature = "embedded")]
mod embedded;
mod memory;
mod names;
mod reader_wrapper;

use std::collections::HashMap;
use std::ops::AddAssign;
use std::sync::Arc;

#[cfg(feature = "feed")]
pub use alerts::{AlertBackend, AlertReceipt, AlertRecord, AlertStore};
pub use changes::{ChangeLog, ChangedBatch, ChangedReading, Changes};
pub use columns::StationReadings;
pub use continued::{ContinuedStore, PastReadings};
pub use damage::{Damage, Watched};
pub use directory::{Directory, StationRecord, StationRecords, StationSeries};
#[cfg(feature = "embedded")]
pub use embedded::{
    EmbeddedOptions, EmbeddedReader, EmbeddedStore, Fault, FrozenSegment, FrozenStore, Maintenance,
    MaintenanceReport, RebuildReport, StoreHealth, Survey, VerifyReport, WouldGo, share_folder,
};
pub use memory::MemoryStore;
pub use names::{StationNameError, StationNames};
pub use reader_wrapper::ReaderWrapper;

use crate::observation::{
    Batch, Quality, QualityCode, Series, SeriesId, Station, StationId, Variable,
};
use crate::time::ClosedWindow;

/// A callback that takes the present weather of a report: the index of its station in the list, the
/// time, the revision and the words.
pub type VisitWeather<'a> = dyn FnMut(usize, i64, u8, &[String]) + 'a;

/// A callback that takes the text of a report: the index of its station in the list, and the report.
pub type VisitReports<'a> = dyn FnMut(usize, &StoredReport<'_>) + 'a;

/// The text of a report on record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoredReport<'a> {
    /// Time of the report, milliseconds since 1970.
    pub ts_ms: i64,
    /// 0 for a first report, higher for each correction of it.
    pub revision: u8,
    /// The heading of the bulletin that the report was in, if it was in one.
    pub header: Option<&'a str>,
    /// The report.
    pub text: &'a str,
}

/// The reading side of a record of stations and readings.
pub trait Reader {
    /// Returns the current stations on record.
    ///
    /// # Errors
    /// The store cannot be read.
    fn directory(&self) -> Result<Arc<Directory>, StoreError>;

    /// Visits the readings of stations in a window: once for each station with readings, in the
    /// order of the selection. The visitor receives the index of the station in the selection, and
    /// its series sorted by id; series without a reading in the window are left out. Unknown
    /// stations are skipped.
    ///
    /// A series comes in one slice, or in several consecutive ones that ascend in time. No slice is
    /// empty.
    ///
    /// Readings in damaged blocks are left out, and the returned [`Damage`] says so. Queries report
    /// it through [`Watched`].
    ///
    /// # Errors
    /// The store cannot be read.
    fn scan(
        &self,
        selection: &Selection<'_>,
        visit: &mut dyn FnMut(usize, &[SeriesSlice<'_>]),
    ) -> Result<Damage, StoreError>;

    /// Visits stations like [`scan`](Self::scan), but only with the last reading of each series in
    /// the window. A store that can find these without reading the window does so; it reports only
    /// damage that may hide one of them.
    ///
    /// # Errors
    /// The store cannot be read.
    ///
    /// ```
    /// # use mesonet::{Intake, MemoryStore, intake::FeedFile};
    /// # let csv = "raw_text,station_id,observation_time,latitude,longitude\n\
    /// #     CYYZ 032000Z 24012G20KT 15SM 29/17 A2991,CYYZ,2024-08-03T20:00:00Z,43.68,-79.63\n";
    /// # let store = MemoryStore::default();
    /// # Intake::default().read_file(&store, csv.as_bytes(), &FeedFile::new("metars.csv", 0))?;
    /// // The store has one report of Toronto Pearson: 29 °C, wind 12 kt with gusts of 20 kt.
    /// use mesonet::store::Selection;
    /// use mesonet::{ClosedWindow, Reader, StationId, Variable};
    /// let selection = Selection {
    ///     stations: &[StationId::new("METAR", "CYYZ")],
    ///     variables: &[Variable::WindSpeed],
    ///     window: ClosedWindow::new(1_722_711_600_000, 1_722_715_200_000)?,
    /// };
    /// let mut newest_kmh = Vec::new();
    /// store.scan_latest(&selection, &mut |_, slices| {
    ///     newest_kmh.extend(slices.iter().map(|slice| slice.value[0]));
    /// })?;
    /// assert_eq!(newest_kmh, [22.224]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    fn scan_latest(
        &self,
        selection: &Selection<'_>,
        visit: &mut dyn FnMut(usize, &[SeriesSlice<'_>]),
    ) -> Result<Damage, StoreError> {
        self.scan(selection, &mut |i, slices| {
            let last: Vec<_> = latest_slices(slices).map(SeriesSlice::last).collect();
            visit(i, &last);
        })
    }

    /// Visits the present weather of the reports of stations in a window. Stations come in the
    /// order of the list, and the reports of each ascend in time. If several reports have the same
    /// time, the one in force is visited. A report of no weather has no words; a report that does
    /// not mention the weather is not visited. An unknown station has no reports.
    ///
    /// # Errors
    /// The store cannot be read.
    fn scan_weather(
        &self,
        stations: &[StationId],
        window: ClosedWindow,
        visit: &mut VisitWeather<'_>,
    ) -> Result<Damage, StoreError>;

    /// Visits the texts of the reports of stations in a window, as
    /// [`scan_weather`](Self::scan_weather) does. A report without a text is not visited.
    ///
    /// # Errors
    /// The store cannot be read, or keeps no texts ([`StoreError::NoTexts`]), which is what this does
    /// unless a store does more.
    ///
    /// ```
    /// # use mesonet::{Intake, MemoryStore, intake::FeedFile};
    /// # let csv = "raw_text,station_id,observation_time,latitude,longitude\n\
    /// #     CYYZ 032000Z 24012G20KT 15SM 29/17 A2991,CYYZ,2024-08-03T20:00:00Z,43.68,-79.63\n";
    /// # let store = MemoryStore::default();
    /// # Intake::default().read_file(&store, csv.as_bytes(), &FeedFile::new("metars.csv", 0))?;
    /// // The store has one report of Toronto Pearson.
    /// use mesonet::store::StoredReport;
    /// use mesonet::{ClosedWindow, Reader, StationId};
    /// let (stations, day) = ([StationId::new("METAR", "CYYZ")], ClosedWindow::new(0, i64::MAX)?);
    /// let mut texts = Vec::new();
    /// store.scan_reports(&stations, day, &mut |_, report: &StoredReport<'_>| {
    ///     texts.push((report.revision, report.text.to_owned()));
    /// })?;
    /// assert_eq!(texts, [(0, "CYYZ 032000Z 24012G20KT 15SM 29/17 A2991".to_owned())]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    fn scan_reports(
        &self,
        _stations: &[StationId],
        _window: ClosedWindow,
        _visit: &mut VisitReports<'_>,
    ) -> Result<Damage, StoreError> {
        Err(StoreError::NoTexts)
    }

    /// Returns the instant before which readings are no longer held, because they were too old to
    /// keep; `i64::MIN` if none were dropped. It moves back only if a clock was wrong, or if the
    /// operator orders it.
    ///
    /// # Errors
    /// The store cannot be read.
    fn held_from_ms(&self) -> Result<i64, StoreError>;

    /// Returns the longest window that can be scanned in little memory, however many readings it
    /// has. A walk through years should not exceed it.
    fn longest_scan_ms(&self) -> i64 {
        i64::MAX
    }
}

/// A record of stations and readings.
///
/// Every store follows these rules:
/// - [`append`](Store::append) takes all of a batch, with the verdicts on it, or refuses all of it.
/// - For the same series and time, the newer ingest wins, except that a lower revision never
///   replaces a higher one. A late reading is inserted at its time.
/// - A reading that is already on record, with the same value, qualifier, source verdict and revision,
///   changes nothing, keeps its verdict, and is not written again.
/// - The present weather of every report is kept by the same rules; receipts do not count it.
/// - So is the text of every report, unless the store keeps none. A copy of
///   [the same report](crate::observation::ReportText::is_same_report) changes nothing.
/// - An appended batch is visible to every later call; no reader sees only a part of it.
pub trait Store: Reader + Send + Sync {
    /// Adds stations and reports, and the verdicts of `judge` on them.
    ///
    /// `judge` sees the record with the batch in it, before anyone else. It returns the verdicts
    /// that differ from those in the record, on readings of the batch and on older readings. Values
    /// and the sources' own verdicts stay; a verdict on a missing reading is ignored. [`no_verdicts`]
    /// leaves all verdicts unchanged; an empty batch only judges.
    ///
    /// # Errors
    /// A report is for a station that is not on record, a value is not finite, or two series have
    /// the same id. Or the store cannot be read or written, or the judge fails. Nothing is changed
    /// then.
    fn append(&self, batch: &Batch, judge: &mut VerdictFn<'_>) -> Result<Receipt, StoreError>;
}

/// A function that finds the verdicts on a batch, and the changed verdicts on older readings.
pub type VerdictFn<'a> = dyn FnMut(&dyn Reader) -> Result<Vec<Verdicts>, StoreError> + 'a;

/// A judge that leaves all verdicts unchanged.
///
/// # Errors
/// None.
pub fn no_verdicts(_: &dyn Reader) -> Result<Vec<Verdicts>, StoreError> {
    Ok(Vec::new())
}

/// A selection of readings.
#[derive(Clone, Copy, Debug)]
pub struct Selection<'a> {
    /// The stations.
    pub stations: &'a [StationId],
    /// The variables.
    pub variables: &'a [Variable],
    /// The window, both ends included.
    pub window: ClosedWindow,
}

/// The readings of one series at one station: columns of one length, ascending in time.
///
/// ```
/// # use mesonet::{Intake, MemoryStore, intake::FeedFile};
/// # let csv = "raw_text,station_id,observation_time,latitude,longitude\n\
/// #     CYYZ 032000Z 24012G20KT 15SM 29/17 A2991,CYYZ,2024-08-03T20:00:00Z,43.68,-79.63\n";
/// # let store = MemoryStore::default();
/// # Intake::default().read_file(&store, csv.as_bytes(), &FeedFile::new("metars.csv", 0))?;
/// // The store has one report of Toronto Pearson: 29 °C, wind 12 kt with gusts of 20 kt.
/// use mesonet::store::{Damage, Selection, SeriesSlice, latest_slices};
/// use mesonet::{ClosedWindow, Reader, StationId, Variable};
/// let selection = Selection {
///     stations: &[StationId::new("METAR", "CYYZ")],
///     variables: &[Variable::WindSpeed],
///     window: ClosedWindow::new(1_722_711_600_000, 1_722_715_200_000)?,
/// };
/// let mut newest_kmh = Vec::new();
/// let damage: Damage = store.scan(&selection, &mut |_, slices: &[SeriesSlice<'_>]| {
///     newest_kmh.extend(latest_slices(slices).flat_map(|slice| slice.value.last().copied()));
/// })?;
/// assert_eq!((newest_kmh, damage.blocks()), (vec![22.224], 0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
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
    /// The verdicts that the readings came in with.
    pub source: &'a [QualityCode],
    /// The revisions of the reports that the readings are from.
    pub revision: &'a [u8],
    /// The qualifiers of the values, as codes:
    /// [`Qualifier::of_code`](crate::observation::Qualifier::of_code).
    pub qualifier: &'a [u8],
}

impl SeriesSlice<'_> {
    /// The slice with its last reading only.
    fn last(&self) -> Self {
        self.after(self.ts_ms.len().saturating_sub(1))
    }

    /// The slice with its readings from an instant on; `None` if there are none.
    fn since(&self, from_ms: i64) -> Option<Self> {
        let from = self.ts_ms.partition_point(|&ts_ms| ts_ms < from_ms);
        (from < self.ts_ms.len()).then(|| self.after(from))
    }

    /// The slice without its first readings.
    fn after(&self, from: usize) -> Self {
        Self {
            series: self.series,
            ts_ms: &self.ts_ms[from..],
            value: &self.value[from..],
            quality: &self.quality[from..],
            source: &self.source[from..],
            revision: &self.revision[from..],
            qualifier: &self.qualifier[from..],
        }
    }
}

/// Returns the latest slice of each series.
pub fn latest_slices<'s, 'a>(
    slices: &'s [SeriesSlice<'a>],
) -> impl Iterator<Item = &'s SeriesSlice<'a>> {
    slices.iter().enumerate().filter_map(move |(i, slice)| {
        let next = slices.get(i + 1);
        next.is_none_or(|next| next.series.id != slice.series.id).then_some(slice)
    })
}

/// Verdicts on readings of one series at one station: columns of one length.
///
/// ```
/// # use mesonet::{Intake, MemoryStore, intake::FeedFile};
/// # let csv = "raw_text,station_id,observation_time,latitude,longitude\n\
/// #     CYYZ 032000Z 24012G20KT 15SM 29/17 A2991,CYYZ,2024-08-03T20:00:00Z,43.68,-79.63\n";
/// # let store = MemoryStore::default();
/// # Intake::default().read_file(&store, csv.as_bytes(), &FeedFile::new("metars.csv", 0))?;
/// // The store has one report of Toronto Pearson: 29 °C, wind 12 kt with gusts of 20 kt.
/// use mesonet::store::{VerdictFn, Receipt, Verdicts};
/// use mesonet::{BaseQuality, Batch, IntervalType, Quality, ReasonQuality, SeriesKey};
/// use mesonet::{StationId, Store, Variable};
/// // Someone found out that the thermometer was broken.
/// let broken = Quality { base: BaseQuality::Instrumentation, reason: ReasonQuality::Unknown };
/// let verdicts = Verdicts {
///     station: StationId::new("METAR", "CYYZ"),
///     series: SeriesKey::new(Variable::AirTemperature, IntervalType::Instantaneous, 0).id(),
///     ts_ms: vec![1_722_715_200_000],
///     quality: vec![broken],
/// };
/// let judge: &mut VerdictFn<'_> = &mut |_| Ok(vec![verdicts.clone()]);
/// let receipt: Receipt = store.append(&Batch::default(), judge)?;
/// assert_eq!(receipt, Receipt { revised: 1, ..Receipt::default() });
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
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

/// The outcome of appending a batch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Receipt {
    /// Readings with a new series and time.
    #[cfg_attr(feature = "openapi", schema(value_type = u64))]
    pub added: usize,
    /// Readings that replaced an older one.
    #[cfg_attr(feature = "openapi", schema(value_type = u64))]
    pub replaced: usize,
    /// Readings that were already there, with the same value, qualifier, source verdict and
    /// revision. If a batch has several readings for one time, the last one decides, and the others
    /// count the same way.
    #[cfg_attr(feature = "openapi", schema(value_type = u64))]
    pub unchanged: usize,
    /// Readings that were already overtaken by a higher revision.
    #[cfg_attr(feature = "openapi", schema(value_type = u64))]
    pub overtaken: usize,
    /// Readings from before the retention cutoff; they were not taken in.
    #[cfg_attr(feature = "openapi", schema(value_type = u64))]
    pub expired: usize,
    /// Verdicts that the judge changed, on readings of the batch or on older readings.
    #[cfg_attr(feature = "openapi", schema(value_type = u64))]
    pub revised: usize,
}

/// Adds the receipt of another batch.
impl AddAssign for Receipt {
    fn add_assign(&mut self, more: Self) {
        let Self { added, replaced, unchanged, overtaken, expired, revised } = self;
        *added += more.added;
        *replaced += more.replaced;
        *unchanged += more.unchanged;
        *overtaken += more.overtaken;
        *expired += more.expired;
        *revised += more.revised;
    }
}

/// Returns the stations that a batch describes, using the last description of each.
fn described(batch: &Batch) -> impl Iterator<Item = &Station> {
    let stations = || batch.stations.iter().enumerate();
    let last: HashMap<StationId, usize> =
        stations().map(|(at, station)| (station.id, at)).collect();
    stations().filter(move |(at, station)| last[&station.id] == *at).map(|(_, station)| station)
}

/// Why a batch was refused, or how a store failed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum StoreError {
    /// A report for a station that is not on record.
    #[error("report {index} of the batch is for station {station}, which is not on record")]
    UnknownStation {
        /// Index of the report in the batch.
        index: usize,
        /// The station that the report is for.
        station: StationId,
    },
    /// A value that is not finite.
    #[error("report {index} of the batch has {value} for {variable}; a value must be finite")]
    NotFinite {
        /// Index of the report in the batch.
        index: usize,
        /// The variable.
        variable: Variable,
        /// What was given.
        value: f64,
    },
    /// Columns of a series that have different lengths or do not ascend.
    #[error("the store holds invalid columns: {0}")]
    Columns(String),
    /// Two different series with the same id.
    #[error("report {index} of the batch has a {variable} series whose id {id} belongs to another")]
    SeriesIdTaken {
        /// Index of the report in the batch.
        index: usize,
        /// The variable of the refused series.
        variable: Variable,
        /// The id.
        id: SeriesId,
    },
    /// No space is left for the store. Nothing is changed, and reads continue.
    #[error("no space is left for the store in {path}: {cause}; nothing was changed")]
    Full {
        /// The file or folder.
        path: String,
        /// The message of the system.
        cause: String,
    },
    /// A file that cannot be read or written.
    #[error("{path}: {cause}")]
    Storage {
        /// The file or folder.
        path: String,
        /// The message of the system, or the fault of the file.
        cause: String,
    },
    /// A database of another program that cannot be reached or refuses. The record is unchanged;
    /// the database may be available again at the next call.
    #[error("{path}: {cause}")]
    Unavailable {
        /// The database.
        path: String,
        /// The message of the database, or of the network.
        cause: String,
    },
    /// A folder that another store has open.
    #[error("{path} is in use by {holder}; only one process at a time can have it open")]
    Locked {
        /// The folder.
        path: String,
        /// The process that has it open: its number and program, if known.
        holder: String,
    },
    /// A folder that holds data but no catalogue. Nothing was changed.
    #[error(
        "{path}: {catalogue}, but the folder holds {found}. Nothing was changed: put the file \
         back, or rebuild it from the segments with: mesonet-server verify --rebuild --data {path}"
    )]
    NoCatalogue {
        /// The folder.
        path: String,
        /// What is wrong with the catalogue.
        catalogue: String,
        /// What the folder holds.
        found: String,
    },
    /// A store that keeps no texts of reports.
    #[error("this store keeps no texts of reports")]
    NoTexts,
    /// A file that was written by another version.
    #[error("{path} has schema version {got}; this version reads {allowed}")]
    SchemaVersion {
        /// The file.
        path: String,
        /// The version that was found.
        got: String,
        /// The version that can be read.
        allowed: u32,
    },
}
