//! A store combined with readings that it no longer holds, which come from elsewhere.

use std::cell::Cell;
use std::ops::Range;
use std::sync::Arc;

use super::{
    Damage, Directory, Reader, Selection, SeriesSlice, StationRecord, Store, StoreError,
    VisitReports, VisitWeather,
};
use crate::observation::StationId;
use crate::time::{ClosedWindow, DAY_MS};

/// Readings that a store no longer holds, kept elsewhere.
pub trait PastReadings: Send + Sync {
    /// Visits the readings of a station in a span of time, end excluded: once, if there are any, in
    /// the same form as [`Reader::scan`]. The returned [`Damage`] lists readings that are known to
    /// be missing.
    ///
    /// # Errors
    /// They cannot be read.
    fn scan(
        &self,
        station: &StationRecord,
        span_ms: Range<i64>,
        visit: &mut dyn FnMut(&[SeriesSlice<'_>]),
    ) -> Result<Damage, StoreError>;
}

/// A store whose readings from before [`Reader::held_from_ms`] come from elsewhere. A caller finds
/// all readings, as if nothing had been dropped. Present weather comes only from the store.
///
/// ```
/// # use mesonet::{Intake, MemoryStore, intake::FeedFile};
/// # let csv = "raw_text,station_id,observation_time,latitude,longitude\n\
/// #     CYYZ 032000Z 24012G20KT 15SM 29/17 A2991,CYYZ,2024-08-03T20:00:00Z,43.68,-79.63\n";
/// # let store = MemoryStore::default();
/// # Intake::default().read_file(&store, csv.as_bytes(), &FeedFile::new("metars.csv", 0))?;
/// use std::ops::Range;
/// use std::sync::Arc;
/// use mesonet::Reader;
/// use mesonet::store::{ContinuedStore, Damage, PastReadings, SeriesSlice, StationRecord, StoreError};
/// struct Nothing;
///
/// impl PastReadings for Nothing {
///     fn scan(
///         &self,
///         _: &StationRecord,
///         _: Range<i64>,
///         _: &mut dyn FnMut(&[SeriesSlice<'_>]),
///     ) -> Result<Damage, StoreError> {
///         Ok(Damage::default())
///     }
/// }
///
/// let whole = ContinuedStore::new(Arc::new(store), Arc::new(Nothing));
/// assert_eq!(whole.held_from_ms()?, i64::MIN);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct ContinuedStore {
    store: Arc<dyn Store>,
    past: Arc<dyn PastReadings>,
}

impl ContinuedStore {
    /// Longest window of the past that is read at once.
    const SPAN_MS: i64 = 4 * DAY_MS;

    /// Puts past readings in front of a store.
    pub fn new(store: Arc<dyn Store>, past: Arc<dyn PastReadings>) -> Self {
        Self { store, past }
    }

    /// Visits the readings of one station.
    fn station(
        &self,
        selection: &Selection<'_>,
        record: &StationRecord,
        visit: &mut dyn FnMut(&[SeriesSlice<'_>]),
    ) -> Result<Damage, StoreError> {
        let Selection { window, variables, .. } = *selection;
        let after_ms = window.end_ms().saturating_add(1);
        let mut of_past = |held_ms: i64, held: &[SeriesSlice<'_>]| {
            let span_ms = window.start_ms()..after_ms.min(held_ms);
            let is_visited = Cell::new(false);
            let mut join = |past: &[SeriesSlice<'_>]| {
                is_visited.set(true);
                let wanted = |slice: &&SeriesSlice<'_>| {
                    variables.contains(&slice.series.key.variable) && !slice.ts_ms.is_empty()
                };
                let mut all: Vec<SeriesSlice<'_>> = past.iter().filter(wanted).copied().collect();
                all.extend(held.iter().filter_map(|slice| slice.since(held_ms)));
                // The sort is stable: earlier parts stay first.
                all.sort_by_key(|slice| slice.series.id);
                if !all.is_empty() {
                    visit(&all);
                }
            };
            let mut damage = Damage::default();
            if !span_ms.is_empty() {
                damage = self.past.scan(record, span_ms, &mut join)?;
            }
            if !is_visited.get() {
                join(&[]);
            }
            Ok::<_, StoreError>(damage)
        };
        let held_ms = self.store.held_from_ms()?;
        if after_ms <= held_ms {
            return of_past(held_ms, &[]);
        }
        // The cutoff may move while the store is read. So it is asked for again after the scan of
        // the store has begun: readings dropped by then come from the past, and the store's part
        // starts at the cutoff.
        let mut joined = None;
        let mut damage = self.store.scan(selection, &mut |_, slices| {
            joined = Some(self.store.held_from_ms().and_then(|held_ms| of_past(held_ms, slices)));
        })?;
        let of_past = match joined {
            Some(joined) => joined?,
            None => of_past(self.store.held_from_ms()?, &[])?,
        };
        damage.join(of_past);
        Ok(damage)
    }
}

impl Reader for ContinuedStore {
    fn directory(&self) -> Result<Arc<Directory>, StoreError> {
        self.store.directory()
    }

    fn scan(
        &self,
        selection: &Selection<'_>,
        visit: &mut dyn FnMut(usize, &[SeriesSlice<'_>]),
    ) -> Result<Damage, StoreError> {
        let directory = self.store.directory()?;
        let mut damage = Damage::default();
        for (i, id) in selection.stations.iter().enumerate() {
            let Some(record) = directory.get(*id) else { continue };
            let alone = Selection { stations: &[*id], ..*selection };
            damage.join(self.station(&alone, record, &mut |slices| visit(i, slices))?);
        }
        Ok(damage)
    }

    fn scan_weather(
        &self,
        stations: &[StationId],
        window: ClosedWindow,
        visit: &mut VisitWeather<'_>,
    ) -> Result<Damage, StoreError> {
        self.store.scan_weather(stations, window, visit)
    }

    fn scan_reports(
        &self,
        stations: &[StationId],
        window: ClosedWindow,
        visit: &mut VisitReports<'_>,
    ) -> Result<Damage, StoreError> {
        self.store.scan_reports(stations, window, visit)
    }

    fn held_from_ms(&self) -> Result<i64, StoreError> {
        Ok(i64::MIN)
    }

    fn longest_scan_ms(&self) -> i64 {
        Self::SPAN_MS
    }
}

#[cfg(test)]
#[path = "continued_tests.rs"]
mod tests;
