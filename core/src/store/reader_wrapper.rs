//! Readers that pass on the answers of another reader.

use std::sync::Arc;

use arc_swap::ArcSwap;

use super::{
    Damage, Directory, Reader, Selection, SeriesSlice, StoreError, VisitReports, VisitWeather,
};
use crate::observation::StationId;
use crate::time::ClosedWindow;

/// A store in front of another, with the same record. This makes it a [`Reader`], so that only
/// [`append`](super::Store::append) remains to be implemented.
///
/// ```
/// use mesonet::store::{ReaderWrapper, VerdictFn, Receipt, StoreError, no_verdicts};
/// use mesonet::{Batch, MemoryStore, Reader, Store};
/// struct Closed(MemoryStore);
///
/// impl ReaderWrapper for Closed {
///     fn wrapped(&self) -> &dyn Reader {
///         &self.0
///     }
/// }
///
/// impl Store for Closed {
///     fn append(&self, _: &Batch, _: &mut VerdictFn<'_>) -> Result<Receipt, StoreError> {
///         Err(StoreError::Locked { path: "the record".into(), holder: "a test".into() })
///     }
/// }
///
/// let closed = Closed(MemoryStore::default());
/// assert_eq!(closed.directory()?.stations.len(), 0);
/// assert!(closed.append(&Batch::default(), &mut no_verdicts).is_err());
/// # Ok::<(), StoreError>(())
/// ```
pub trait ReaderWrapper {
    /// The reader that has the record.
    fn wrapped(&self) -> &dyn Reader;
}

impl<T: ReaderWrapper> Reader for T {
    fn directory(&self) -> Result<Arc<Directory>, StoreError> {
        self.wrapped().directory()
    }

    fn scan(
        &self,
        selection: &Selection<'_>,
        visit: &mut dyn FnMut(usize, &[SeriesSlice<'_>]),
    ) -> Result<Damage, StoreError> {
        self.wrapped().scan(selection, visit)
    }

    fn scan_latest(
        &self,
        selection: &Selection<'_>,
        visit: &mut dyn FnMut(usize, &[SeriesSlice<'_>]),
    ) -> Result<Damage, StoreError> {
        self.wrapped().scan_latest(selection, visit)
    }

    fn scan_weather(
        &self,
        stations: &[StationId],
        window: ClosedWindow,
        visit: &mut VisitWeather<'_>,
    ) -> Result<Damage, StoreError> {
        self.wrapped().scan_weather(stations, window, visit)
    }

    fn scan_reports(
        &self,
        stations: &[StationId],
        window: ClosedWindow,
        visit: &mut VisitReports<'_>,
    ) -> Result<Damage, StoreError> {
        self.wrapped().scan_reports(stations, window, visit)
    }

    fn held_from_ms(&self) -> Result<i64, StoreError> {
        self.wrapped().held_from_ms()
    }

    fn longest_scan_ms(&self) -> i64 {
        self.wrapped().longest_scan_ms()
    }
}

/// The current reader: each answer comes from one reader, even if another takes its place in the
/// meantime.
impl<R: Reader> Reader for ArcSwap<R> {
    fn directory(&self) -> Result<Arc<Directory>, StoreError> {
        self.load().directory()
    }

    fn scan(
        &self,
        selection: &Selection<'_>,
        visit: &mut dyn FnMut(usize, &[SeriesSlice<'_>]),
    ) -> Result<Damage, StoreError> {
        self.load_full().scan(selection, visit)
    }

    fn scan_latest(
        &self,
        selection: &Selection<'_>,
        visit: &mut dyn FnMut(usize, &[SeriesSlice<'_>]),
    ) -> Result<Damage, StoreError> {
        self.load_full().scan_latest(selection, visit)
    }

    fn scan_weather(
        &self,
        stations: &[StationId],
        window: ClosedWindow,
        visit: &mut VisitWeather<'_>,
    ) -> Result<Damage, StoreError> {
        self.load_full().scan_weather(stations, window, visit)
    }

    fn scan_reports(
        &self,
        stations: &[StationId],
        window: ClosedWindow,
        visit: &mut VisitReports<'_>,
    ) -> Result<Damage, StoreError> {
        self.load_full().scan_reports(stations, window, visit)
    }

    fn held_from_ms(&self) -> Result<i64, StoreError> {
        self.load().held_from_ms()
    }

    fn longest_scan_ms(&self) -> i64 {
        self.load().longest_scan_ms()
    }
}
