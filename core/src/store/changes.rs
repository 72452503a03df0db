//! What batches have changed, batch by batch.

use std::sync::Arc;

use super::StoreError;
use crate::observation::{Qualifier, Quality, Series, StationId};

/// A store that can say again what its last batches changed.
///
/// Batches have ascending numbers, which no later batch ever gets again. A batch is in the log once it
/// is durable.
pub trait ChangeLog: Send + Sync {
    /// Returns what the batches after one have changed, oldest first: at least one if there is any,
    /// and no more once they took so many bytes in the store. Ask again after the last one that
    /// came. Batches that are no longer known one by one are left out, see [`Changes::known_after`].
    ///
    /// # Errors
    /// The store cannot be read.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let dir = folder.path();
    /// # use mesonet::{EmbeddedStore, Intake, intake::FeedFile, store::EmbeddedOptions};
    /// # let csv = "raw_text,station_id,observation_time,latitude,longitude\n\
    /// #     CYYZ 032000Z 24012G20KT 15SM 29/17 A2991,CYYZ,2024-08-03T20:00:00Z,43.68,-79.63\n";
    /// # let store = EmbeddedStore::open(dir, EmbeddedOptions::default())?;
    /// # Intake::default().read_file(&store, csv.as_bytes(), &FeedFile::new("metars.csv", 0))?;
    /// // The store has one report of Toronto Pearson: 29 °C, wind 12 kt with gusts of 20 kt.
    /// use mesonet::store::{ChangeLog, ChangedBatch, ChangedReading, Changes};
    /// use mesonet::StationId;
    /// let changes: Changes = store.changes_after(0, 1 << 20)?;
    /// assert_eq!((changes.known_after, changes.last), (0, 1));
    /// let batch: &ChangedBatch = &changes.batches[0];
    /// assert_eq!((batch.number, batch.stations[0].0), (1, StationId::new("METAR", "CYYZ")));
    /// let is_gust = |of: &&ChangedReading| {
    ///     batch.series[of.series as usize].key.variable.name() == "windGust"
    /// };
    /// let gust = batch.readings.iter().find(is_gust).ok_or("it has no gust")?;
    /// assert_eq!((gust.value, gust.is_revised), (37.04, false));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    fn changes_after(&self, batch: u64, most_bytes: usize) -> Result<Changes, StoreError>;
}

/// The batches after a given one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Changes {
    /// The batches up to this number are no longer known one by one.
    pub known_after: u64,
    /// Number of the last batch that there ever was.
    pub last: u64,
    /// The batches, in ascending order. One is left out if it is damaged; then [`ChangedBatch::after`] of
    /// the next one is not the one before it.
    pub batches: Vec<ChangedBatch>,
}

/// What a batch has changed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ChangedBatch {
    /// The number of the batch.
    pub number: u64,
    /// The number of the batch before it.
    pub after: u64,
    /// The stations with changed readings, sorted by id, each with the end of its readings.
    pub stations: Vec<(StationId, usize)>,
    /// The series that the readings point to.
    pub series: Vec<Arc<Series>>,
    /// The readings, station by station; those of a station sorted by series id and time.
    pub readings: Vec<ChangedReading>,
}

/// A reading as a batch left it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChangedReading {
    /// Its time, milliseconds since 1970.
    pub ts_ms: i64,
    /// The value, in the series' unit.
    pub value: f64,
    /// Index of the series in [`ChangedBatch::series`].
    pub series: u32,
    /// The verdict.
    pub quality: Quality,
    /// The qualifier of the value.
    pub qualifier: Option<Qualifier>,
    /// Whether it was on record before the batch, with this value, and only its verdict changed.
    pub is_revised: bool,
}

impl ChangedBatch {
    /// Returns the stations, each with its readings.
    pub fn by_station(&self) -> impl Iterator<Item = (StationId, &[ChangedReading])> {
        let mut start = 0;
        self.stations.iter().map(move |&(id, end)| {
            let readings = &self.readings[start..end];
            start = end;
            (id, readings)
        })
    }
}
