//! A store that remembers the stations that new data may have changed.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use mesonet::store::{ReaderWrapper, Receipt, StoreError, VerdictFn};
use mesonet::{Batch, Reader, StationId, Store};
use tokio::sync::Notify;

use crate::sync::lock;

/// A store, and the stations with new readings or revised verdicts since they were last taken. So
/// the views of all stations are updated for these stations alone.
pub struct ChangedStations {
    store: Arc<dyn Store>,
    touched: Mutex<HashSet<StationId>>,
    /// Notified after each batch.
    batches: Arc<Notify>,
}

impl ChangedStations {
    /// Notes the stations of everything that comes into a store from now on.
    pub fn new(store: Arc<dyn Store>) -> Self {
        Self { store, touched: Mutex::default(), batches: Arc::default() }
    }

    /// Takes the stations that changed since the last time.
    pub fn take(&self) -> HashSet<StationId> {
        std::mem::take(&mut *lock(&self.touched))
    }

    /// Notes stations that the record of another server has changed, or puts back those whose views
    /// could not be updated.
    pub fn put_back(&self, stations: HashSet<StationId>) {
        lock(&self.touched).extend(stations);
        self.batches.notify_one();
    }

    /// Notifies one waiting task after each batch that came in.
    pub fn new_batches(&self) -> Arc<Notify> {
        Arc::clone(&self.batches)
    }
}

impl Store for ChangedStations {
    fn append(&self, batch: &Batch, judge: &mut VerdictFn<'_>) -> Result<Receipt, StoreError> {
        let mut revised = Vec::new();
        let receipt = self.store.append(batch, &mut |record| {
            let verdicts = judge(record)?;
            revised.extend(verdicts.iter().map(|verdicts| verdicts.station));
            Ok(verdicts)
        })?;
        // Only after the batch: a noted station must have its new readings in the store.
        let mut touched = lock(&self.touched);
        touched.extend(batch.reports.iter().map(|report| report.station));
        touched.extend(revised);
        self.batches.notify_one();
        Ok(receipt)
    }
}

impl ReaderWrapper for ChangedStations {
    fn wrapped(&self) -> &dyn Reader {
        &*self.store
    }
}

#[cfg(test)]
mod tests {
    use mesonet::store::{Verdicts, no_verdicts};
    use mesonet::{MemoryStore, Quality, Report};

    use super::*;
    use crate::testing::station;

    #[test]
    fn stations_with_new_readings_or_revised_verdicts_are_noted_until_they_are_taken() {
        let store = ChangedStations::new(Arc::new(MemoryStore::default()));
        let (a, b) = (station("KAAA"), station("KBBB"));
        let report = Report {
            station: a.id,
            ts_ms: 0,
            revision: 0,
            present_weather: None,
            text: None,
            readings: vec![],
        };
        let batch = Batch { stations: vec![a.clone(), b.clone()], reports: vec![report] };
        store.append(&batch, &mut no_verdicts).unwrap();
        assert_eq!(store.take(), HashSet::from([a.id]));
        assert!(store.take().is_empty());
        let verdicts = || Verdicts {
            station: b.id,
            series: mesonet::observation::SeriesId(1),
            ts_ms: vec![0],
            quality: vec![Quality::GOOD],
        };
        store.append(&Batch::default(), &mut |_| Ok(vec![verdicts()])).unwrap();
        let touched = store.take();
        assert_eq!(touched, HashSet::from([b.id]));
        store.put_back(touched);
        assert_eq!(store.take().len(), 1);
        // A refused batch changes nothing.
        let unknown = Batch { stations: vec![], reports: batch.reports };
        let other = ChangedStations::new(Arc::new(MemoryStore::default()));
        assert!(other.append(&unknown, &mut no_verdicts).is_err());
        assert!(other.take().is_empty());
    }
}
