//! Taking readings in: what they allow is derived, they are stored, and what they change is
//! checked.

mod derived;
mod explain;
mod judge;
mod nearby;
mod neighbourhood;
mod parts;
mod station;

use std::collections::HashMap;

use crate::check::Checker;
use crate::derived::derive_report;
use crate::report::Batch;
use crate::station::{Station, StationId};
use crate::store::{Directory, Reader, Receipt, Store, StoreError, Verdicts};
use crate::time::DAY_MS;

pub use explain::{InputVerdict, ReadingExplanation};
use judge::{Judging, around_ms};
use nearby::{Nearby, NearbyCache};

/// The way into a store.
///
/// The verdicts in the store are a function of the readings in it: whatever the order and the
/// batches in which the same readings came in, they end up with the same verdicts.
///
/// ```
/// use mesonet::{
///     BaseQuality, Batch, Checker, ClosedWindow, Intake, LonLat, MemoryStore, Reader, Selection,
///     StationId, Variable, feed, parse_instant,
/// };
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
}

/// A station, and the first and last moment of readings of it that came in. One whose readings lie
/// far apart comes with several, so that what lies between them need not be read.
type Touched = (StationId, i64, i64);

impl Intake {
    /// An intake that judges by these checks.
    pub fn new(checker: Checker) -> Self {
        Self { checker, nearby: NearbyCache::default() }
    }

    /// The checks.
    pub fn checker(&self) -> &Checker {
        &self.checker
    }

    /// Derives what the reports allow, stores the batch, and checks every reading whose verdict it
    /// may have changed: of its stations, and of those around them.
    ///
    /// # Errors
    /// The batch is refused whole, or the store fails.
    pub fn take_in(&self, store: &dyn Store, mut batch: Batch) -> Result<Receipt, StoreError> {
        let directory = store.directory()?;
        let fresh: HashMap<StationId, &Station> =
            batch.stations.iter().map(|station| (station.id, station)).collect();
        for report in &mut batch.reports {
            let known = || directory.get(report.station).map(|record| &record.station);
            if let Some(station) = fresh.get(&report.station).copied().or_else(known) {
                derive_report(report, station);
            }
        }
        let touched = self.touched(&batch);
        store.append(&batch, &mut |record| self.judge(record, &touched))
    }

    /// Checks what readings in these spans may have changed.
    fn judge(&self, record: &dyn Reader, touched: &[Touched]) -> Result<Vec<Verdicts>, StoreError> {
        let directory = record.directory()?;
        let nearby = self.nearby(&directory);
        Judging { checker: &self.checker, record, directory: &directory, nearby: &nearby }
            .judge(touched)
    }

    /// What came in, by station and time.
    fn touched(&self, batch: &Batch) -> Vec<Touched> {
        // Farther apart no reading is within what the verdicts of both depend on.
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
