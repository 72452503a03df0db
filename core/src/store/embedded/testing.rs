//! Stores in folders of their own, for tests.

use std::ops::Deref;

use tempfile::TempDir;

use super::*;
use crate::observation::StationId;
use crate::store::{
    Damage, Directory, ReaderWrapper, Selection, SeriesSlice, VisitReports, VisitWeather,
};
use crate::time::ClosedWindow;

/// A store in its own folder, which is deleted with it.
pub(in crate::store) struct Temporary {
    pub store: Option<EmbeddedStore>,
    options: EmbeddedOptions,
    pub dir: TempDir,
}

/// Low thresholds, so that few readings make many segments.
pub(in crate::store) const SMALL: EmbeddedOptions =
    EmbeddedOptions { seal_readings: 8, segment_readings: 64 };

impl Temporary {
    pub fn new(options: EmbeddedOptions) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let store = Some(EmbeddedStore::open(dir.path(), options).unwrap());
        Self { store, options, dir }
    }

    /// Returns how many batches the journal has ever had.
    pub fn journal_rows(&self) -> i64 {
        let sql = "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'journal'";
        self.state().catalogue.connection.query_row(sql, [], |row| row.get(0)).unwrap()
    }

    pub fn reopen(&mut self) {
        self.store = None;
        self.store = Some(EmbeddedStore::open(self.dir.path(), self.options).unwrap());
    }
}

impl Deref for Temporary {
    type Target = EmbeddedStore;
    fn deref(&self) -> &EmbeddedStore {
        self.store.as_ref().unwrap()
    }
}

impl ReaderWrapper for Temporary {
    fn wrapped(&self) -> &dyn Reader {
        &**self
    }
}

impl Store for Temporary {
    fn append(&self, batch: &Batch, judge: &mut VerdictFn<'_>) -> Result<Receipt, StoreError> {
        self.deref().append(batch, judge)
    }
}

/// A store that does something after each batch.
pub(in crate::store) struct After {
    store: Mutex<Temporary>,
    then: fn(&mut Temporary),
}

impl After {
    pub fn new(options: EmbeddedOptions, then: fn(&mut Temporary)) -> Self {
        Self { store: Mutex::new(Temporary::new(options)), then }
    }
}

impl Reader for After {
    fn directory(&self) -> Result<Arc<Directory>, StoreError> {
        self.store.lock().unwrap().directory()
    }

    fn scan(
        &self,
        selection: &Selection<'_>,
        visit: &mut dyn FnMut(usize, &[SeriesSlice<'_>]),
    ) -> Result<Damage, StoreError> {
        self.store.lock().unwrap().scan(selection, visit)
    }

    fn scan_latest(
        &self,
        selection: &Selection<'_>,
        visit: &mut dyn FnMut(usize, &[SeriesSlice<'_>]),
    ) -> Result<Damage, StoreError> {
        self.store.lock().unwrap().scan_latest(selection, visit)
    }

    fn scan_weather(
        &self,
        stations: &[StationId],
        window: ClosedWindow,
        visit: &mut VisitWeather<'_>,
    ) -> Result<Damage, StoreError> {
        self.store.lock().unwrap().scan_weather(stations, window, visit)
    }

    fn scan_reports(
        &self,
        stations: &[StationId],
        window: ClosedWindow,
        visit: &mut VisitReports<'_>,
    ) -> Result<Damage, StoreError> {
        self.store.lock().unwrap().scan_reports(stations, window, visit)
    }

    fn held_from_ms(&self) -> Result<i64, StoreError> {
        self.store.lock().unwrap().held_from_ms()
    }
}

impl Store for After {
    fn append(&self, batch: &Batch, judge: &mut VerdictFn<'_>) -> Result<Receipt, StoreError> {
        let mut store = self.store.lock().unwrap();
        let receipt = store.append(batch, judge);
        (self.then)(&mut store);
        receipt
    }
}

pub(in crate::store) fn seal(store: &mut Temporary) {
    store.maintain(&Maintenance { seal_all: true, ..Maintenance::default() }).unwrap();
}

pub(in crate::store) fn reopen(store: &mut Temporary) {
    store.reopen();
}

pub(in crate::store) fn seal_and_reopen(store: &mut Temporary) {
    seal(store);
    store.reopen();
}
