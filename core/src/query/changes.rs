//! What a batch has changed, as an answer of readings.

use std::ops::Range;

use super::readings::Names;
use super::{AnswerReading, Readings};
use crate::observation::{StationId, Variable};
use crate::store::ChangedBatch;

/// A selection of what a batch has changed.
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
/// use mesonet::query::ChangedReadings;
/// use mesonet::{Variable, store::ChangeLog};
/// let changes = store.changes_after(0, 1 << 20)?;
/// let selection = ChangedReadings {
///     stations: 0..1,
///     are_revised: false,
///     names: &[Variable::AirTemperature],
///     from_ms: i64::MIN,
///     is_meant: &|_| true,
/// };
/// let readings = selection.of(&changes.batches[0]);
/// assert_eq!(readings.cells[0].value, 29.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct ChangedReadings<'a> {
    /// The range of the stations, as indices into those of the batch.
    pub stations: Range<usize>,
    /// Whether to select readings that were on record before and got another verdict, instead of
    /// those that are new or have another value.
    pub are_revised: bool,
    /// The variables, in the order of the answer.
    pub names: &'a [Variable],
    /// The time of the earliest reading, milliseconds since 1970.
    pub from_ms: i64,
    /// Whether a station is selected.
    pub is_meant: &'a dyn Fn(StationId) -> bool,
}

impl ChangedReadings<'_> {
    /// Returns the selected readings of a batch: station by station, sorted as in a snapshot.
    pub fn of(&self, batch: &ChangedBatch) -> Readings {
        let names = Names::new(self.names);
        let mut answer = Readings { series: batch.series.clone(), ..Readings::default() };
        let place = |series: u32| names.place(batch.series[series as usize].key.variable);
        let stations = batch.by_station().skip(self.stations.start).take(self.stations.len());
        for (id, readings) in stations.filter(|&(id, _)| (self.is_meant)(id)) {
            let start = answer.cells.len();
            let meant = readings.iter().filter(|reading| {
                reading.is_revised == self.are_revised
                    && reading.ts_ms >= self.from_ms
                    && place(reading.series) != usize::MAX
            });
            answer.cells.extend(meant.map(|reading| AnswerReading {
                ts_ms: reading.ts_ms,
                value: reading.value,
                series: reading.series,
                age_s: 0,
                quality: reading.quality,
                qualifier: reading.qualifier,
            }));
            if answer.cells.len() > start {
                answer.cells[start..].sort_unstable_by_key(|cell| {
                    (cell.ts_ms, place(cell.series), batch.series[cell.series as usize].id)
                });
                answer.stations.push((id, answer.cells.len()));
            }
        }
        answer
    }
}
