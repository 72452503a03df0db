//! Alerts on record.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::AddAssign;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use super::StoreError;
#[cfg(feature = "embedded")]
use super::embedded::access::Access;
#[cfg(feature = "embedded")]
use super::embedded::alert_file::{AlertFile, Loaded, read_alerts};
#[cfg(feature = "embedded")]
use super::embedded::names::ALERTS;
use crate::alert;
use crate::time::DAY_MS;

/// How long an alert without an end is kept after it was sent, if alerts expire.
const OPEN_MS: i64 = 30 * DAY_MS;

/// A snapshot of the alerts on record.
#[derive(Clone, Debug, Default)]
pub struct AlertRecord {
    /// Grows with every change.
    pub generation: u64,
    /// The messages, sorted by the time they were sent, then by id.
    pub messages: Vec<Arc<alert::Message>>,
}

/// The outcome of an append.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AlertReceipt {
    /// Messages with a new id.
    pub added: usize,
    /// Messages that replaced another with the same id.
    pub replaced: usize,
    /// Messages that were already on record, in the same or a newer version.
    pub known: usize,
}

/// Adds the receipt of another append.
impl AddAssign for AlertReceipt {
    fn add_assign(&mut self, more: Self) {
        let Self { added, replaced, known } = self;
        *added += more.added;
        *replaced += more.replaced;
        *known += more.known;
    }
}

/// A store of alerts in memory, and in a database if there is one.
///
/// Messages are identified by their id, and duplicates count once. If two messages with the same id
/// differ, the one sent later is kept, regardless of arrival order. If both were sent at the same
/// moment, as when a message comes in two feeds, the one that says more is kept.
///
/// ```
/// use mesonet::alert;
/// use mesonet::store::AlertStore;
/// let store = AlertStore::default();
/// let message = |id: &str| alert::Message { id: id.into(), ..alert::Message::default() };
/// assert_eq!(store.append(vec![message("1"), message("2")])?.added, 2);
/// assert_eq!(store.append(vec![message("2")])?.known, 1);
/// assert_eq!(store.record().messages.len(), 2);
/// # Ok::<(), mesonet::store::StoreError>(())
/// ```
#[derive(Debug, Default)]
pub struct AlertStore {
    /// The snapshot that readers clone and hold.
    record: RwLock<Arc<AlertRecord>>,
    /// Locked while the record is changed.
    writer: Mutex<AlertWriter>,
    /// Why the alerts cannot be read.
    failure: Option<StoreError>,
    /// Why the alerts that can be read are not reliable.
    gap: Option<StoreError>,
    /// How many alerts cannot be read, and how many faults there are in all.
    damage: (u64, usize),
}

#[derive(Debug, Default)]
struct AlertWriter {
    messages: BTreeMap<String, Arc<alert::Message>>,
    backend: Option<Box<dyn AlertBackend>>,
}

/// The place where an [`AlertStore`] keeps its alerts in addition to memory: a file, or a database
/// of another crate.
pub trait AlertBackend: Send + fmt::Debug {
    /// Writes messages, all or none. Each replaces a message with its id. The messages are kept
    /// when this returns.
    ///
    /// # Errors
    /// They cannot be written.
    fn put(&mut self, messages: &[Arc<alert::Message>]) -> Result<(), StoreError>;

    /// Deletes messages, all or none.
    ///
    /// # Errors
    /// They cannot be deleted.
    fn delete(&mut self, ids: &[String]) -> Result<(), StoreError>;
}

impl AlertRecord {
    /// Returns how many alerts [`AlertStore::expire`] would drop.
    pub fn past(&self, before_ms: i64) -> usize {
        self.messages.iter().filter(|message| is_past(message, before_ms)).count()
    }
}

impl AlertStore {
    /// Opens `alerts.sqlite` in a folder, creating it if needed. Also returns the damage found in
    /// it; the rest is read. If acknowledged changes are missing, for example because the file was
    /// deleted or replaced by an older one, the store takes alerts in but has a
    /// [failure](Self::failure) until
    /// [`EmbeddedStore::verify`](crate::store::EmbeddedStore::verify) acknowledges the loss.
    ///
    /// The folder belongs to an [`EmbeddedStore`](crate::store::EmbeddedStore), whose lock keeps
    /// other processes out. The alert store has no lock of its own.
    ///
    /// # Errors
    /// The file was written by another version, or cannot be read or written.
    #[cfg(feature = "embedded")]
    pub fn open(dir: &std::path::Path) -> Result<(Self, Vec<super::Fault>), StoreError> {
        let mut file = AlertFile::open(dir)?;
        let Loaded { messages, faults, corrupt, lacks_changes } = file.load()?;
        let mut store = Self::with_backend(messages, Box::new(file));
        store.damage = (corrupt, faults.len());
        store.gap = lacks_changes.then(|| StoreError::Storage {
            path: dir.join(ALERTS).display().to_string(),
            cause: "acknowledged changes are missing, so it is unknown which alerts are in force"
                .to_owned(),
        });
        Ok((store, faults))
    }

    /// Creates a store of alerts that are also kept elsewhere, with the alerts that are there.
    ///
    /// ```
    /// use std::sync::{Arc, Mutex};
    /// use mesonet::alert;
    /// use mesonet::store::{AlertStore, AlertBackend, StoreError};
    /// /// A list of what is done.
    /// #[derive(Debug)]
    /// struct Notes(Arc<Mutex<Vec<String>>>);
    ///
    /// impl AlertBackend for Notes {
    ///     fn put(&mut self, messages: &[Arc<alert::Message>]) -> Result<(), StoreError> {
    ///         self.0.lock().unwrap().extend(messages.iter().map(|message| message.id.clone()));
    ///         Ok(())
    ///     }
    ///
    ///     fn delete(&mut self, _: &[String]) -> Result<(), StoreError> {
    ///         Ok(())
    ///     }
    /// }
    ///
    /// let notes = Arc::default();
    /// let message = |id: &str| alert::Message { id: id.into(), ..alert::Message::default() };
    /// let store = AlertStore::with_backend(vec![message("1")], Box::new(Notes(Arc::clone(&notes))));
    /// store.append(vec![message("1"), message("2")])?;
    /// assert_eq!(*notes.lock().unwrap(), ["2"]);
    /// assert_eq!(store.record().messages.len(), 2);
    /// # Ok::<(), StoreError>(())
    /// ```
    pub fn with_backend(messages: Vec<alert::Message>, backend: Box<dyn AlertBackend>) -> Self {
        let writer = AlertWriter { messages: by_id(messages), backend: Some(backend) };
        let record = RwLock::new(Arc::new(writer.record(0)));
        Self { record, writer: Mutex::new(writer), ..Self::default() }
    }

    /// Creates a stand-in for a file that cannot be read. It holds no alerts and refuses new ones
    /// with this error, so that readings can still be served.
    ///
    /// ```
    /// use mesonet::alert;
    /// use mesonet::store::{AlertStore, StoreError};
    /// let failure = StoreError::Storage { path: "alerts.sqlite".into(), cause: "it is cut short".into() };
    /// let store = AlertStore::unavailable(failure.clone());
    /// assert_eq!(store.failure(), Some(&failure));
    /// assert_eq!(store.append(vec![alert::Message::default()]), Err(failure));
    /// assert!(store.record().messages.is_empty());
    /// ```
    pub fn unavailable(failure: StoreError) -> Self {
        Self { failure: Some(failure), damage: (0, 1), ..Self::default() }
    }

    /// Returns why the alerts cannot be read, or are not reliable as a whole; `None` if there is no
    /// such reason.
    pub fn failure(&self) -> Option<&StoreError> {
        self.failure.as_ref().or(self.gap.as_ref())
    }

    /// Returns how many alerts could not be read when the store was opened: the record lacks them.
    ///
    /// ```
    /// use mesonet::store::AlertStore;
    /// let store = AlertStore::default();
    /// assert_eq!((store.damaged(), store.faults()), (0, 0));
    /// ```
    pub fn damaged(&self) -> u64 {
        self.damage.0
    }

    /// Returns how many faults there were when the store was opened.
    pub fn faults(&self) -> usize {
        self.damage.1
    }

    fn check(&self) -> Result<(), StoreError> {
        self.failure.clone().map_or(Ok(()), Err)
    }

    /// Reads the alerts in a folder without writing a byte, even while a process writes to it.
    /// Returns no alerts if there is no file.
    ///
    /// # Errors
    /// The file was written by another version, or cannot be read.
    #[cfg(feature = "embedded")]
    pub fn read(dir: &std::path::Path) -> Result<(AlertRecord, Vec<super::Fault>), StoreError> {
        let (messages, faults) = Access::reading(dir, |access| read_alerts(dir, access))?;
        let writer = AlertWriter { messages: by_id(messages), backend: None };
        Ok((writer.record(0), faults))
    }

    /// Returns the current alerts.
    pub fn record(&self) -> Arc<AlertRecord> {
        Arc::clone(&self.record.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Replaces the alerts of a store in memory, for example with those that another process has on
    /// disk now. Returns whether anything has changed. A store that is also kept elsewhere is left
    /// unchanged.
    ///
    /// ```
    /// use mesonet::alert;
    /// use mesonet::store::AlertStore;
    /// let message = |id: &str| alert::Message { id: id.into(), ..alert::Message::default() }.into();
    /// let store = AlertStore::default();
    /// assert!(store.exchange(vec![message("1"), message("2")]));
    /// assert!(store.exchange(vec![message("2")]));
    /// assert!(!store.exchange(vec![message("2")]));
    /// assert_eq!(store.record().messages.len(), 1);
    /// ```
    pub fn exchange(&self, messages: Vec<Arc<alert::Message>>) -> bool {
        let mut writer = self.writer();
        if writer.backend.is_some() {
            return false;
        }
        let messages = messages.into_iter().map(|message| (message.id.clone(), message));
        let messages: BTreeMap<_, _> = messages.collect();
        if self.failure.is_some() || messages == writer.messages {
            return false;
        }
        writer.messages = messages;
        self.publish(&writer);
        true
    }

    /// Adds messages, all or none. If the alerts are also kept elsewhere, the messages are there
    /// when this returns.
    ///
    /// # Errors
    /// The store cannot be written.
    pub fn append(&self, messages: Vec<alert::Message>) -> Result<AlertReceipt, StoreError> {
        self.check()?;
        let mut writer = self.writer();
        let mut receipt = AlertReceipt::default();
        let mut changed: BTreeMap<String, Arc<alert::Message>> = BTreeMap::new();
        for message in messages {
            let known = changed.get(&message.id).or(writer.messages.get(&message.id));
            match known {
                Some(known) if !is_newer(&message, known) => {
                    receipt.known += 1;
                    continue;
                }
                Some(_) => receipt.replaced += 1,
                None => receipt.added += 1,
            }
            changed.insert(message.id.clone(), Arc::new(message));
        }
        if changed.is_empty() {
            return Ok(receipt);
        }
        if let Some(backend) = &mut writer.backend {
            backend.put(&changed.values().cloned().collect::<Vec<_>>())?;
        }
        writer.messages.append(&mut changed);
        self.publish(&writer);
        Ok(receipt)
    }

    /// Drops alerts that ended before an instant, or that have no end and were sent 30 days before
    /// it. Returns how many were dropped.
    ///
    /// # Errors
    /// The store cannot be written; nothing is dropped then.
    ///
    /// ```
    /// use mesonet::alert;
    /// use mesonet::store::{AlertReceipt, AlertRecord, AlertStore};
    /// let message = |id: &str, expires_ms| {
    ///     let part = alert::Part { expires_ms: Some(expires_ms), ..alert::Part::default() };
    ///     alert::Message { id: id.into(), parts: vec![part], ..alert::Message::default() }
    /// };
    /// let store = AlertStore::default();
    /// let receipt: AlertReceipt = store.append(vec![message("past", 10), message("in force", 30)])?;
    /// assert_eq!(receipt.added, 2);
    /// assert_eq!(store.record().past(20), 1);
    /// assert_eq!(store.expire(20)?, 1);
    /// let record: &AlertRecord = &store.record();
    /// assert_eq!(record.messages[0].id, "in force");
    /// # Ok::<(), mesonet::store::StoreError>(())
    /// ```
    pub fn expire(&self, before_ms: i64) -> Result<usize, StoreError> {
        self.check()?;
        let mut writer = self.writer();
        let past: Vec<String> = writer
            .messages
            .values()
            .filter(|message| is_past(message, before_ms))
            .map(|message| message.id.clone())
            .collect();
        if past.is_empty() {
            return Ok(0);
        }
        if let Some(backend) = &mut writer.backend {
            backend.delete(&past)?;
        }
        for id in &past {
            writer.messages.remove(id);
        }
        self.publish(&writer);
        Ok(past.len())
    }

    fn publish(&self, writer: &AlertWriter) {
        let mut record = self.record.write().unwrap_or_else(PoisonError::into_inner);
        *record = Arc::new(writer.record(record.generation + 1));
    }

    // The file is changed in transactions, and the messages after that: a panic leaves no partial
    // change.
    fn writer(&self) -> MutexGuard<'_, AlertWriter> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl AlertWriter {
    fn record(&self, generation: u64) -> AlertRecord {
        let mut messages: Vec<_> = self.messages.values().cloned().collect();
        // The sort is stable: messages are already sorted by id.
        messages.sort_by_key(|message| message.sent_ms);
        AlertRecord { generation, messages }
    }
}

fn by_id(messages: Vec<alert::Message>) -> BTreeMap<String, Arc<alert::Message>> {
    messages.into_iter().map(|message| (message.id.clone(), Arc::new(message))).collect()
}

/// Whether an alert ended before an instant.
fn is_past(message: &alert::Message, before_ms: i64) -> bool {
    let end_ms = message.interval_ms().1;
    end_ms.unwrap_or(message.sent_ms.saturating_add(OPEN_MS)) < before_ms
}

/// Whether a message replaces another with the same id.
fn is_newer(message: &alert::Message, known: &alert::Message) -> bool {
    match message.sent_ms.cmp(&known.sent_ms) {
        std::cmp::Ordering::Greater => true,
        std::cmp::Ordering::Less => false,
        // Any total order will do, because arrival order must not matter. The longer message says
        // more: the shorter one may be the same message, stored before all of its fields were read.
        std::cmp::Ordering::Equal => {
            let order = |message: &alert::Message| {
                let text = format!("{message:?}");
                (text.len(), text)
            };
            message != known && order(message) > order(known)
        }
    }
}

#[cfg(test)]
#[path = "alerts_tests.rs"]
mod tests;
