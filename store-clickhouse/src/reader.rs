//! The record as seen by a process that does not write.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arc_swap::ArcSwap;
use mesonet::store::{AlertStore, ChangeLog, Changes, ReaderWrapper, StoreError};
use mesonet::{Reader, StationId, alert};

use crate::alerts::{ALERTS, message_of};
use crate::known::KnownRecord;
use crate::link::Link;
use crate::load::{News, load, news};
use crate::load_recent::{follow_recent, load_recent};
use crate::marks::Marks;
use crate::options::Options;
use crate::recent::RecentReadings;
use crate::rows::AlertRow;
use crate::upkeep::{MaintenanceReport, days_and_rows, expired};
use crate::view::RecordView;
use crate::{schema, sql};

/// A record in a ClickHouse database that another process writes.
///
/// The reader shows the record after the last batch that was committed at the last
/// [`update`](Self::update), and never a part of a batch. The generation, the stations and the
/// readings are those that the store of the writer had after that batch. The reader does not write.
///
/// ```no_run
/// use mesonet::Reader;
/// use mesonet_clickhouse::{Changed, ClickHouseReader, Options};
/// let reader = ClickHouseReader::open(&Options::new("http://127.0.0.1:8123", "mesonet"))?;
/// if reader.update()? != Changed::Nothing {
///     println!("{} stations", reader.directory()?.stations.len());
/// }
/// println!("{} alerts", reader.alerts().record().messages.len());
/// # Ok::<(), mesonet::store::StoreError>(())
/// ```
#[derive(Debug)]
pub struct ClickHouseReader {
    link: Arc<Link>,
    /// What is read from.
    view: ArcSwap<RecordView>,
    /// Locked while the record is read anew.
    seen: Mutex<LastRead>,
    alerts: Arc<AlertStore>,
}

/// What was read last.
#[derive(Debug)]
struct LastRead {
    known: KnownRecord,
    /// Number of the last change of the alerts.
    change: u64,
    messages: BTreeMap<String, Arc<alert::Message>>,
}

/// What an [`update`](ClickHouseReader::update) has found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Changed {
    /// The stations and readings are as they were.
    Nothing,
    /// Readings, verdicts or descriptions of these stations came in, or older readings were
    /// dropped.
    Stations(Vec<StationId>),
    /// Anything may have changed.
    Everything,
}

impl ClickHouseReader {
    /// Opens a database that [`migrate`](crate::migrate) has made, beside its writer.
    ///
    /// # Errors
    /// ClickHouse cannot be reached or refuses, or the tables are of another version.
    pub fn open(options: &Options) -> Result<Self, StoreError> {
        let link = Arc::new(schema::open(options)?);
        let known = load_all(&link)?;
        let view = ArcSwap::from_pointee(RecordView::new(&link, &known));
        let mut seen = LastRead { known, change: 0, messages: BTreeMap::new() };
        let alerts = Arc::default();
        seen.read_alerts(&link, &alerts)?;
        Ok(Self { link, view, seen: Mutex::new(seen), alerts })
    }

    /// Takes in what was committed since the last update, including alerts. Asks only for what has
    /// changed.
    ///
    /// # Errors
    /// ClickHouse cannot be reached or refuses. The reader then shows the record as before.
    pub fn update(&self) -> Result<Changed, StoreError> {
        let mut seen = self.seen();
        self.link.check_tables()?;
        let (known, changed) = match news(&self.link, &seen.known)? {
            News::None => (None, Changed::Nothing),
            News::More(mut known, stations) => {
                let view = RecordView::new(&self.link, &known);
                follow_recent(&mut known.recent, &view, seen.known.visible.up_to)?;
                known.recent.drop_before(known.visible.retain_from_ms);
                (Some(known), Changed::Stations(stations))
            }
            News::Other => (Some(load_all(&self.link)?), Changed::Everything),
        };
        if let Some(known) = known {
            self.view.store(Arc::new(RecordView::new(&self.link, &known)));
            seen.known = known;
        }
        seen.read_alerts(&self.link, &self.alerts)?;
        Ok(changed)
    }

    /// Keeps recent readings in memory, as
    /// [`ClickHouseStore::keep_recent`](crate::ClickHouseStore::keep_recent) does.
    ///
    /// # Errors
    /// ClickHouse cannot be reached or refuses. What was in memory before stays.
    pub fn keep_recent(
        &self,
        span_ms: Range<i64>,
        most_bytes: usize,
    ) -> Result<RecentReadings, StoreError> {
        let mut seen = self.seen();
        let from_ms = span_ms.start;
        if seen.known.recent.lacks(from_ms) {
            seen.known.recent = load_recent(&self.view(), span_ms, most_bytes)?;
        }
        seen.known.limit_recent(from_ms, most_bytes);
        self.view.store(Arc::new(RecordView::new(&self.link, &seen.known)));
        Ok(seen.known.recent.kept())
    }

    /// The alerts, which cannot be changed here.
    pub fn alerts(&self) -> &Arc<AlertStore> {
        &self.alerts
    }

    /// Returns the time of the newest reading, milliseconds since 1970; `None` if there is none.
    pub fn newest_ms(&self) -> Option<i64> {
        self.view().newest_ms()
    }

    /// Returns a mark, as [`ClickHouseStore::mark`](crate::ClickHouseStore::mark) does.
    ///
    /// # Errors
    /// ClickHouse cannot be reached or refuses.
    pub fn mark(&self, name: &str) -> Result<Option<String>, StoreError> {
        Marks::new(Arc::clone(&self.link)).get(name)
    }

    /// Counts what [`ClickHouseStore::maintain`](crate::ClickHouseStore::maintain) would drop for
    /// an instant: the days that lie wholly before it, and their rows.
    ///
    /// # Errors
    /// ClickHouse cannot be reached or refuses.
    pub fn would_expire(&self, retain_from_ms: i64) -> Result<MaintenanceReport, StoreError> {
        let up_to = self.view().visible.up_to;
        let expired = expired(&self.link, up_to, retain_from_ms)?;
        let (expired_days, expired_rows) = days_and_rows(&expired);
        Ok(MaintenanceReport { expired_days, expired_rows, station_days: 0 })
    }

    pub(crate) fn view(&self) -> Arc<RecordView> {
        self.view.load_full()
    }

    // The state that was read is replaced as a whole.
    fn seen(&self) -> MutexGuard<'_, LastRead> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ReaderWrapper for ClickHouseReader {
    fn wrapped(&self) -> &dyn Reader {
        &self.view
    }
}

impl ChangeLog for ClickHouseReader {
    /// Only batches that were there at the last update are given.
    fn changes_after(&self, batch: u64, most_bytes: usize) -> Result<Changes, StoreError> {
        self.view().changes_after(batch, most_bytes)
    }
}

impl LastRead {
    fn read_alerts(&mut self, link: &Link, alerts: &AlertStore) -> Result<(), StoreError> {
        let rows: Vec<AlertRow> =
            link.rows(ALERTS, None, &link.query(sql::ALERTS).bind(self.change))?;
        if rows.is_empty() {
            return Ok(());
        }
        let mut messages = self.messages.clone();
        for row in &rows {
            if row.deleted {
                messages.remove(&row.id);
            } else {
                messages.insert(row.id.clone(), Arc::new(message_of(link, row)?));
            }
        }
        self.change = rows.iter().map(|row| row.change).fold(self.change, u64::max);
        self.messages = messages;
        alerts.exchange(self.messages.values().cloned().collect());
        Ok(())
    }
}

/// Reads the record after the last committed batch.
fn load_all(link: &Link) -> Result<KnownRecord, StoreError> {
    let mut known = load(link)?;
    // Batches that are begun later are not part of the record yet.
    let up_to = known.visible.up_to;
    known.visible.uncommitted =
        known.visible.uncommitted.iter().copied().filter(|&batch| batch <= up_to).collect();
    // In the meantime the writer may have rewritten the states of all stations and dropped the old
    // ones.
    match news(link, &known)? {
        News::None => Ok(known),
        News::More(more, _) => Ok(more),
        News::Other => Err(link.failed(&"another writer opens the record; try again")),
    }
}
