//! The store.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::{SystemTime, UNIX_EPOCH};

use mesonet::store::{Damage, Directory, Judge, Receipt, Selection, SeriesSlice, StoreError};
use mesonet::{Batch, ClosedWindow, Reader, StationId, Store};

use crate::options::Options;
use crate::schema;
use crate::upkeep::Maintained;
use crate::view::View;
use crate::write::Writer;

/// A store in a ClickHouse database, whose readings are in ClickHouse when [`append`](Store::append)
/// returns.
///
/// Readers never wait for the writer: each sees the record after the last batch that was committed
/// when it began.
#[derive(Debug)]
pub struct ClickHouseStore {
    /// What readers clone and hold.
    view: RwLock<Arc<View>>,
    writer: Mutex<Writer>,
}

impl ClickHouseStore {
    /// Opens a database that [`migrate`](crate::migrate) has made, as its writer. The writer before
    /// is refused from then on.
    ///
    /// # Errors
    /// ClickHouse cannot be reached or refuses, or the tables are of another version.
    pub fn open(options: &Options) -> Result<Self, StoreError> {
        let writer = Writer::open(Arc::new(schema::open(options)?))?;
        let view = RwLock::new(Arc::new(writer.view()));
        Ok(Self { view, writer: Mutex::new(writer) })
    }

    /// Drops what is not needed any more: readings before an instant, if one is given, states of
    /// stations that later ones have overtaken, and what was noted of the batches of earlier writers.
    ///
    /// Readings before the instant are not seen from the next call on, and none is taken in. Their
    /// days go away when the whole day is before it. The instant never moves back.
    ///
    /// # Errors
    /// ClickHouse cannot be reached or refuses, or another process has become the writer. What was
    /// done until then stays done.
    pub fn maintain(&self, retain_from_ms: Option<i64>) -> Result<Maintained, StoreError> {
        let mut writer = self.writer();
        writer.make_sure()?;
        writer.fence.check(&writer.link, None)?;
        if let Some(retain_from_ms) = retain_from_ms {
            writer.retain(retain_from_ms)?;
            self.publish(&writer);
        }
        let (expired_days, expired_rows) = writer.drop_expired()?;
        let station_days = writer.drop_old_states(today())?;
        writer.drop_old_batches()?;
        self.publish(&writer);
        Ok(Maintained { expired_days, expired_rows, station_days })
    }

    fn view(&self) -> Arc<View> {
        Arc::clone(&self.view.read().unwrap_or_else(PoisonError::into_inner))
    }

    // A judge may panic while the lock is held; nothing of the writer is changed by then.
    fn writer(&self) -> MutexGuard<'_, Writer> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn publish(&self, writer: &Writer) {
        *self.view.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(writer.view());
    }
}

impl Reader for ClickHouseStore {
    fn directory(&self) -> Result<Arc<Directory>, StoreError> {
        self.view().directory()
    }

    fn scan(
        &self,
        selection: &Selection<'_>,
        visit: &mut dyn FnMut(usize, &[SeriesSlice<'_>]),
    ) -> Result<Damage, StoreError> {
        self.view().scan(selection, visit)
    }

    fn scan_latest(
        &self,
        selection: &Selection<'_>,
        visit: &mut dyn FnMut(usize, &[SeriesSlice<'_>]),
    ) -> Result<Damage, StoreError> {
        self.view().scan_latest(selection, visit)
    }

    fn present_weather(
        &self,
        station: StationId,
        window: ClosedWindow,
        visit: &mut dyn FnMut(i64, &[String]),
    ) -> Result<Damage, StoreError> {
        self.view().present_weather(station, window, visit)
    }
}

impl Store for ClickHouseStore {
    fn append(&self, batch: &Batch, judge: &mut Judge<'_>) -> Result<Receipt, StoreError> {
        let mut writer = self.writer();
        let receipt = writer.append(batch, judge, today());
        // A batch that failed may have shown that an earlier one is on record.
        self.publish(&writer);
        receipt
    }
}

/// The day since 1970.
fn today() -> i32 {
    let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    (since_1970.as_secs() / 86_400) as i32
}
