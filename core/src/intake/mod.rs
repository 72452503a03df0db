//! Intake of readings: derives further values, stores them, and checks the readings that they
//! affect.

mod affected;
mod assessment;
#[cfg(feature = "feed")]
mod batches;
mod changes;
mod column;
mod derived;
mod explain;
#[cfg(feature = "feed")]
mod files;
mod hidden;
mod known;
#[cfg(feature = "feed")]
mod moves;
mod nearby;
mod neighbourhood;
mod network;
mod parts;
#[cfg(feature = "feed")]
mod places;
mod station;
mod station_quality;

use std::collections::HashMap;

use crate::check::Checker;
use crate::derived::{derive_report, to_reported_resolution};
use crate::observation::{Batch, Station, StationId};
use crate::store::{Directory, Reader, Receipt, Store, StoreError, Verdicts};
use crate::time::DAY_MS;

use assessment::{Assessment, around_ms};
#[cfg(feature = "feed")]
pub use batches::{AHEAD_MS, FileBatches, FileSink, FileStop, Parcel};
pub use explain::{InputVerdict, ReadingExplanation};
#[cfg(feature = "feed")]
pub use files::{FeedFile, FileError, FileReceipt};
use nearby::{Nearby, NearbyCache};
pub use network::{NetworkError, NetworkStation, StationVerdicts};
pub use station_quality::{
    AgainstNeighbours, DayAgainstNeighbours, MonthOfVerdicts, STATION_QUALITY_MAX_MS,
    StationQuality, VariableQuality, VerdictRate,
};

/// Takes readings into a store, with derived values and verdicts.
///
/// The verdicts in the store are a function of the readings in it: the same readings end up with
/// the same verdicts, in any order and any batches.
///
/// ```
/// use mesonet::{BaseQuality, Batch, ClosedWindow, Intake, LonLat, MemoryStore, Reader, StationId, Variable, feed};
/// use mesonet::check::Checker;
/// use mesonet::store::Selection;
/// use mesonet::time::parse_instant;
/// let received_ms = parse_instant("2024-08-03T20:01:00Z")?;
/// let text = "METAR CYYZ 032000Z 24012G20KT 15SM FEW060 29/17 A2991 RMK SLP125=";
/// let mut batch = Batch::default();
/// feed::read_bulletins(text.as_bytes(), received_ms, |item| {
///     let place = LonLat::new(-79.63, 43.68).unwrap();
///     batch.stations.push(feed::metar_station(item.native_id, None, place, Some(173.0)));
///     batch.reports.push(feed::metar_report(&item));
/// })?;
/// let store = MemoryStore::default();
/// Intake::new(Checker::default()).take_in(&store, batch)?;
///
/// // The humidity was not reported: it is derived, and as good as what it was derived from.
/// let selection = Selection {
///     stations: &[StationId::new("METAR", "CYYZ")],
///     variables: &[Variable::RelativeHumidity],
///     window: ClosedWindow::new(received_ms - 3_600_000, received_ms)?,
/// };
/// store.scan(&selection, &mut |_, slices| {
///     assert!(slices[0].series.key.calculated);
///     assert_eq!(slices[0].value[0].round(), 48.0);
///     assert_eq!(slices[0].quality[0].quality().base, BaseQuality::Good);
/// })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Intake {
    checker: Checker,
    nearby: NearbyCache,
    #[cfg(feature = "feed")]
    moves: moves::Moves,
}

/// A station, and the first and last moment of its new readings. A station whose new readings are
/// far apart has several entries, so that the time between need not be read.
type NewSpan = (StationId, i64, i64);

impl Intake {
    /// Creates an intake with the given checks.
    pub fn new(checker: Checker) -> Self {
        Self { checker, ..Self::default() }
    }

    /// The reports that have placed their stations elsewhere.
    #[cfg(feature = "feed")]
    fn moves(&self) -> &moves::Moves {
        &self.moves
    }

    /// Returns the checks.
    ///
    /// ```
    /// use mesonet::{Intake, check::Checker};
    /// assert_eq!(*Intake::default().checker(), Checker::default());
    /// ```
    pub fn checker(&self) -> &Checker {
        &self.checker
    }

    /// Derives all values that the reports allow, rounds calculated values by
    /// [`to_reported_resolution`] (after everything is derived, so that no rounded value is an
    /// input), stores the batch, and checks every reading whose verdict may have changed, at its
    /// stations and at nearby stations.
    ///
    /// # Errors
    /// The whole batch is refused, or the store fails.
    pub fn take_in(&self, store: &dyn Store, mut batch: Batch) -> Result<Receipt, StoreError> {
        let directory = store.directory()?;
        let fresh: HashMap<StationId, &Station> =
            batch.stations.iter().map(|station| (station.id, station)).collect();
        for report in &mut batch.reports {
            let known = || directory.get(report.station).map(|record| &record.station);
            if let Some(station) = fresh.get(&report.station).copied().or_else(known) {
                derive_report(report, station);
            }
            let calculated = report.readings.iter_mut().filter(|one| one.series.calculated);
            for reading in calculated {
                reading.value = to_reported_resolution(reading.series.variable, reading.value);
            }
        }
        let touched = self.touched(&batch);
        store.append(&batch, &mut |record| self.judge(record, &touched))
    }

    /// Checks the verdicts that the readings in these spans may have changed.
    fn judge(&self, record: &dyn Reader, touched: &[NewSpan]) -> Result<Vec<Verdicts>, StoreError> {
        let directory = record.directory()?;
        let nearby = self.nearby(&directory);
        Assessment { checker: &self.checker, record, directory: &directory, nearby: &nearby }
            .judge(touched)
    }

    /// Returns the stations and spans of a batch.
    fn touched(&self, batch: &Batch) -> Vec<NewSpan> {
        // If readings are farther apart, no reading affects the verdicts of both.
        let apart_ms = around_ms(&self.checker).saturating_mul(2).max(DAY_MS);
        let mut moments: Vec<(StationId, i64)> =
            batch.reports.iter().map(|report| (report.station, report.ts_ms)).collect();
        moments.sort_unstable();
        let together = |one: &(StationId, i64), next: &(StationId, i64)| {
            one.0 == next.0 && next.1.saturating_sub(one.1) <= apart_ms
        };
        let span = |moments: &[(StationId, i64)]| {
            (moments[0].0, moments[0].1, moments[moments.len() - 1].1)
        };
        moments.chunk_by(together).map(span).collect()
    }

    fn nearby(&self, directory: &Directory) -> std::sync::Arc<Nearby> {
        self.nearby.of(directory, self.checker.neighbour_radius_km())
    }
}

#[cfg(test)]
mod around_tests;
#[cfg(test)]
#[path = "intake_tests.rs"]
mod tests;
