//! The store.

use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use arc_swap::ArcSwap;
use mesonet::store::{
    AlertStore, ChangeLog, Changes, ReaderWrapper, Receipt, StoreError, VerdictFn,
};
use mesonet::{Batch, Reader, Store};

use crate::alerts::load_alerts;
use crate::fence::Fence;
use crate::link::Link;
use crate::load_recent::{follow_recent, load_recent};
use crate::marks::Marks;
use crate::options::Options;
use crate::recent::RecentReadings;
use crate::schema;
use crate::upkeep::MaintenanceReport;
use crate::view::RecordView;
use crate::write::{BatchWriter, today};

/// How long it may take to find out whether the record can be written.
const GLANCE: Duration = Duration::from_secs(3);

/// A store in a ClickHouse database. Readings are in ClickHouse when [`append`](Store::append)
/// returns.
///
/// Readers never wait for the writer: each sees the record after the last batch that was committed
/// when it began.
#[derive(Debug)]
pub struct ClickHouseStore {
    /// What readers clone and hold.
    view: ArcSwap<RecordView>,
    writer: Mutex<BatchWriter>,
    /// The fence of the writer, also for callers that do not wait for the writer.
    fence: Arc<Fence>,
    /// For a quick look.
    glance: Link,
    marks: Marks,
}

impl ClickHouseStore {
    /// Opens a database that [`migrate`](crate::migrate) has made, as its writer. The previous
    /// writer is refused from then on.
    ///
    /// # Errors
    /// ClickHouse cannot be reached or refuses, or the tables are of another version.
    pub fn open(options: &Options) -> Result<Self, StoreError> {
        let link = Arc::new(schema::open(options)?);
        let writer = BatchWriter::open(Arc::clone(&link))?;
        let view = ArcSwap::from_pointee(writer.view());
        let fence = Arc::clone(&writer.fence);
        let glance = Options { timeout: options.timeout.min(GLANCE), ..options.clone() };
        let glance = Link::new(&glance)?.within(&options.database);
        Ok(Self { view, writer: Mutex::new(writer), fence, glance, marks: Marks::new(link) })
    }

    /// Opens the alerts of the record. They are in memory, as in every [`AlertStore`], and in
    /// ClickHouse when a call that changes them returns. A call is refused if another process has
    /// become the writer of the record.
    ///
    /// # Errors
    /// ClickHouse cannot be reached or refuses, or a message cannot be read.
    pub fn open_alerts(&self) -> Result<AlertStore, StoreError> {
        let link = Arc::clone(&self.writer().link);
        load_alerts(&link, Arc::clone(&self.fence))
    }

    /// Finds out within seconds whether the next batch would be refused. Does not wait for a batch
    /// that is being written.
    ///
    /// # Errors
    /// ClickHouse cannot be reached or refuses, or another process has become the writer.
    pub fn check(&self) -> Result<(), StoreError> {
        self.fence.check(&self.glance, None)?;
        self.glance.check_tables()
    }

    /// Returns the time of the newest reading, milliseconds since 1970; `None` if there is none.
    pub fn newest_ms(&self) -> Option<i64> {
        self.view().newest_ms()
    }

    /// Returns a mark: a text that was put on the record under a name.
    ///
    /// # Errors
    /// ClickHouse cannot be reached or refuses.
    pub fn mark(&self, name: &str) -> Result<Option<String>, StoreError> {
        self.marks.get(name)
    }

    /// Puts a mark on the record. It replaces a mark with the same name.
    ///
    /// # Errors
    /// ClickHouse cannot be reached or refuses, or another process has become the writer.
    pub fn set_mark(&self, name: &str, value: &str) -> Result<(), StoreError> {
        self.write(|writer| {
            let at = self.marks.set(name, value)?;
            writer.fence.check(&writer.link, Some(at))
        })
    }

    /// Moves the retention cutoff, forward or back. Readings from before the cutoff are neither
    /// shown nor taken in.
    ///
    /// # Errors
    /// ClickHouse cannot be reached or refuses, or another process has become the writer.
    pub fn retain_from(&self, retain_from_ms: i64) -> Result<(), StoreError> {
        self.write(|writer| writer.retain(&self.marks, retain_from_ms))
    }

    /// Keeps the readings of a span of time and later ones in memory, so that they need not be asked
    /// for. If they take more than so many bytes, fewer hours are kept. To be called again as time
    /// passes, with a later span.
    ///
    /// # Errors
    /// ClickHouse cannot be reached or refuses. What was in memory before stays.
    pub fn keep_recent(
        &self,
        span_ms: Range<i64>,
        most_bytes: usize,
    ) -> Result<RecentReadings, StoreError> {
        let from_ms = span_ms.start;
        // While the readings are read, batches are written.
        let view = self.view();
        let read = view.recent.lacks(from_ms).then(|| load_recent(&view, span_ms, most_bytes));
        let read = read.transpose()?;
        let mut writer = self.writer();
        writer.make_sure()?;
        if let Some(mut recent) = read {
            follow_recent(&mut recent, &writer.view(), view.visible.up_to)?;
            writer.known.recent = recent;
        }
        writer.known.limit_recent(from_ms, most_bytes);
        self.publish(&writer);
        Ok(writer.known.recent.kept())
    }

    /// Drops what is no longer needed: readings before an instant, if one is given; states of
    /// stations that later states have overtaken; notes about the batches of earlier writers; and what
    /// each batch of more than a week ago changed.
    ///
    /// From the next call on, readings before the instant are neither shown nor taken in. A day of
    /// readings is dropped when the whole day is before the instant.
    ///
    /// # Errors
    /// ClickHouse cannot be reached or refuses, or another process has become the writer. Work done
    /// until then stays done.
    pub fn maintain(&self, retain_from_ms: Option<i64>) -> Result<MaintenanceReport, StoreError> {
        if let Some(retain_from_ms) = retain_from_ms {
            // The new cutoff is shown before anything is dropped. Otherwise a reader would look for
            // days that are gone.
            self.retain_from(retain_from_ms)?;
        }
        self.write(|writer| {
            let (expired_days, expired_rows) = writer.drop_expired()?;
            let station_days = writer.drop_old_states(today())?;
            writer.drop_old_changes(today())?;
            writer.drop_old_batches()?;
            Ok(MaintenanceReport { expired_days, expired_rows, station_days })
        })
    }

    /// Changes the record by other means than a batch.
    pub(crate) fn write<T>(
        &self,
        change: impl FnOnce(&mut BatchWriter) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let mut writer = self.writer();
        writer.make_sure()?;
        // A batch that was in doubt may be on record.
        self.publish(&writer);
        writer.fence.check(&writer.link, None)?;
        let changed = change(&mut writer);
        self.publish(&writer);
        changed
    }

    pub(crate) fn view(&self) -> Arc<RecordView> {
        self.view.load_full()
    }

    // A judge may panic while the lock is held. Nothing of the writer has changed by then.
    fn writer(&self) -> MutexGuard<'_, BatchWriter> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn publish(&self, writer: &BatchWriter) {
        self.view.store(Arc::new(writer.view()));
    }
}

impl ReaderWrapper for ClickHouseStore {
    fn wrapped(&self) -> &dyn Reader {
        &self.view
    }
}

impl ChangeLog for ClickHouseStore {
    fn changes_after(&self, batch: u64, most_bytes: usize) -> Result<Changes, StoreError> {
        self.view().changes_after(batch, most_bytes)
    }
}

impl Store for ClickHouseStore {
    fn append(&self, batch: &Batch, judge: &mut VerdictFn<'_>) -> Result<Receipt, StoreError> {
        let mut writer = self.writer();
        let receipt = writer.append(batch, judge, today());
        // A failed batch may have shown that an earlier batch is on record.
        self.publish(&writer);
        receipt
    }
}
