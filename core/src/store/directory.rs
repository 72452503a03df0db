//! The stations on record.

use std::fmt;
use std::iter::FlatMap;
use std::ops::Index;
use std::sync::Arc;

use super::names::StationNames;
use crate::geo::StationIndex;
use crate::observation::{Series, Station, StationId, Variable};

/// A series that a station reports.
#[derive(Clone, Debug, PartialEq)]
pub struct StationSeries {
    /// The series.
    pub series: Arc<Series>,
    /// Time of its first reading at the station.
    pub first_appearance_ms: i64,
}

/// A station with what its reports say about it.
#[derive(Clone, Debug, PartialEq)]
pub struct StationRecord {
    /// The station.
    pub station: Station,
    /// Time of its most recent report; `None` before the first.
    pub update_time_ms: Option<i64>,
    /// Present weather from the most recent report that says anything about it.
    pub present_weather: Option<Vec<String>>,
    /// The series that it reports, sorted by id.
    pub series: Vec<StationSeries>,
}

/// A snapshot of the stations on record.
///
/// ```
/// # use mesonet::{Intake, MemoryStore, intake::FeedFile};
/// # let csv = "raw_text,station_id,observation_time,latitude,longitude\n\
/// #     CYYZ 032000Z 24012G20KT 15SM 29/17 A2991,CYYZ,2024-08-03T20:00:00Z,43.68,-79.63\n";
/// # let store = MemoryStore::default();
/// # Intake::default().read_file(&store, csv.as_bytes(), &FeedFile::new("metars.csv", 0))?;
/// // The store has one report of Toronto Pearson: 29 °C, wind 12 kt with gusts of 20 kt.
/// use mesonet::store::{Directory, StationRecord, StationSeries};
/// use mesonet::{Reader, StationId, Variable};
/// let directory: &Directory = &*store.directory()?;
/// let id = StationId::new("METAR", "CYYZ");
/// let record: &StationRecord = directory.get(id).ok_or("it is not on record")?;
/// assert_eq!(record.update_time_ms, Some(1_722_715_200_000));
/// let is_wind = |series: &&StationSeries| series.series.key.variable == Variable::WindSpeed;
/// let wind = record.series.iter().find(is_wind).ok_or("it has no wind")?;
/// assert_eq!((wind.series.key.interval_minutes, wind.first_appearance_ms), (2, 1_722_715_200_000));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Default)]
pub struct Directory {
    /// Increases with every batch that changes anything.
    pub generation: u64,
    /// Increases only when a station is added or moves.
    pub places_generation: u64,
    /// The stations, sorted by id.
    pub stations: StationRecords,
    /// Finds stations by location, as indices into `stations`.
    pub index: Arc<StationIndex>,
    /// The stations by what people call them.
    pub names: StationNames,
}

impl Directory {
    /// Returns a station by its id.
    pub fn get(&self, id: StationId) -> Option<&StationRecord> {
        Some(&self.stations[self.stations.place(id)?])
    }
}

/// Stations on record, in the order of a [`Directory`]. A copy with few changes shares the others.
///
/// ```
/// use mesonet::{MemoryStore, Reader};
/// let directory = MemoryStore::default().directory()?;
/// assert!(directory.stations.is_empty() && directory.stations.iter().next().is_none());
/// # Ok::<(), mesonet::store::StoreError>(())
/// ```
#[derive(Clone, Default, PartialEq)]
pub struct StationRecords {
    /// Parts of [`AT_ONCE`](Self::AT_ONCE) stations; the last one may have fewer.
    records: Vec<Chunk>,
    /// In the same parts.
    outlines: Vec<Arc<Vec<StationOutline>>>,
}

/// What a comparison asks of every station around, in one place: records are all over the memory.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct StationOutline {
    pub update_time_ms: Option<i64>,
    /// Time of the first reading; the latest time if there is none.
    pub first_ms: i64,
    /// The variables of its series, one bit each.
    variables: u64,
    pub altitude_m: Option<f64>,
}

const _: () = assert!(Variable::ALL.len() <= 64, "a variable is a bit of a number");

impl StationOutline {
    fn new(record: &StationRecord) -> Self {
        let StationRecord { station, update_time_ms, series, .. } = record;
        let first_ms = series.iter().map(|of| of.first_appearance_ms).min().unwrap_or(i64::MAX);
        let variables = series.iter().fold(0, |all, of| all | bit(of.series.key.variable));
        let (update_time_ms, altitude_m) = (*update_time_ms, station.altitude_m);
        Self { update_time_ms, first_ms, variables, altitude_m }
    }

    /// Whether it has a series of a variable.
    #[cfg(feature = "checks")]
    pub(crate) fn has(&self, variable: Variable) -> bool {
        self.variables & bit(variable) != 0
    }
}

fn bit(variable: Variable) -> u64 {
    1 << variable as u8
}

type Chunk = Arc<Vec<Arc<StationRecord>>>;
type OfChunk<'a> = std::slice::Iter<'a, Arc<StationRecord>>;
type OfAll<'a> = FlatMap<std::slice::Iter<'a, Chunk>, OfChunk<'a>, fn(&'a Chunk) -> OfChunk<'a>>;

impl StationRecords {
    /// How many are copied if one changes.
    const AT_ONCE: usize = 128;

    /// Number of stations.
    pub fn len(&self) -> usize {
        let Some((last, whole)) = self.records.split_last() else { return 0 };
        whole.len() * Self::AT_ONCE + last.len()
    }

    /// Whether there are no stations.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// The stations in order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Arc<StationRecord>> + Clone {
        self.into_iter()
    }

    /// Returns the index of a station.
    pub fn place(&self, id: StationId) -> Option<usize> {
        let is_before = |last: &Arc<StationRecord>| last.station.id < id;
        let at = self.records.partition_point(|chunk| chunk.last().is_some_and(is_before));
        let chunk = self.records.get(at)?;
        let of_chunk = chunk.binary_search_by_key(&id, |record| record.station.id).ok()?;
        Some(at * Self::AT_ONCE + of_chunk)
    }

    #[cfg(feature = "checks")]
    pub(crate) fn outline(&self, at: usize) -> &StationOutline {
        &self.outlines[at / Self::AT_ONCE][at % Self::AT_ONCE]
    }

    /// The outlines of all stations in order.
    #[cfg(feature = "checks")]
    pub(crate) fn outlines(&self) -> impl Iterator<Item = &StationOutline> {
        self.outlines.iter().flat_map(|chunk| chunk.iter())
    }

    /// Puts a station in the place of another.
    #[cfg(feature = "embedded")]
    pub(super) fn set(&mut self, at: usize, record: &Arc<StationRecord>) {
        if !Arc::ptr_eq(&self[at], record) {
            let (chunk, at) = (at / Self::AT_ONCE, at % Self::AT_ONCE);
            Arc::make_mut(&mut self.records[chunk])[at] = Arc::clone(record);
            Arc::make_mut(&mut self.outlines[chunk])[at] = StationOutline::new(record);
        }
    }
}

impl<'a> IntoIterator for &'a StationRecords {
    type Item = &'a Arc<StationRecord>;
    type IntoIter = OfAll<'a>;

    fn into_iter(self) -> OfAll<'a> {
        self.records.iter().flat_map(|chunk| chunk.iter())
    }
}

impl Index<usize> for StationRecords {
    type Output = Arc<StationRecord>;

    fn index(&self, at: usize) -> &Arc<StationRecord> {
        &self.records[at / Self::AT_ONCE][at % Self::AT_ONCE]
    }
}

impl FromIterator<Arc<StationRecord>> for StationRecords {
    fn from_iter<I: IntoIterator<Item = Arc<StationRecord>>>(stations: I) -> Self {
        let mut stations = stations.into_iter().peekable();
        let mut all = Self::default();
        while stations.peek().is_some() {
            let records: Vec<_> = stations.by_ref().take(Self::AT_ONCE).collect();
            let outlines = records.iter().map(|record| StationOutline::new(record)).collect();
            all.outlines.push(Arc::new(outlines));
            all.records.push(Arc::new(records));
        }
        all
    }
}

impl fmt::Debug for StationRecords {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

#[cfg(test)]
#[path = "directory_tests.rs"]
mod tests;
