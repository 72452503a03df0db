//! Alerts on record.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use super::StoreError;
#[cfg(feature = "embedded")]
use super::embedded::alert_file::{AlertFile, read_alerts};
use crate::alert::AlertMessage;
use crate::time::DAY_MS;

/// How long an alert without an end is kept after it was sent, where alerts are given up at all.
const OPEN_MS: i64 = 30 * DAY_MS;

/// The alerts on record at one moment.
#[derive(Clone, Debug, Default)]
pub struct AlertRecord {
    /// Grows with every change.
    pub generation: u64,
    /// The messages by the time they were sent, then by id.
    pub messages: Vec<Arc<AlertMessage>>,
}

/// What became of the messages of an append.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AlertReceipt {
    /// Messages of an id that was not there before.
    pub added: usize,
    /// Messages that took the place of another one of their id.
    pub replaced: usize,
    /// Messages that are on record already, as they are or newer.
    pub known: usize,
}

/// Where alerts are kept: in memory, or in a database in a folder.
///
/// A message is known by its id: the same one twice is once. Where two differ, the one sent later
/// stays, whichever came first; of two sent at one moment always the same one.
///
/// ```
/// use mesonet::{AlertMessage, AlertStore};
/// let store = AlertStore::default();
/// let message = |id: &str| AlertMessage { id: id.into(), ..AlertMessage::default() };
/// assert_eq!(store.append(vec![message("1"), message("2")])?.added, 2);
/// assert_eq!(store.append(vec![message("2")])?.known, 1);
/// assert_eq!(store.record().messages.len(), 2);
/// # Ok::<(), mesonet::StoreError>(())
/// ```
#[derive(Debug, Default)]
pub struct AlertStore {
    /// What readers see: they take it and hold it.
    record: RwLock<Arc<AlertRecord>>,
    /// Held while the record is changed; the file, where there is one.
    writer: Mutex<Writer>,
    /// Why the alerts cannot be read.
    failure: Option<StoreError>,
}

#[derive(Debug, Default)]
struct Writer {
    messages: BTreeMap<String, Arc<AlertMessage>>,
    #[cfg(feature = "embedded")]
    file: Option<AlertFile>,
}

impl AlertRecord {
    /// How many of the alerts [`AlertStore::expire`] would give up.
    pub fn past(&self, before_ms: i64) -> usize {
        self.messages.iter().filter(|message| is_past(message, before_ms)).count()
    }
}

impl AlertStore {
    /// Opens the alerts in a folder: `alerts.sqlite`, made if there is none. Gives what in it is
    /// damaged, too; the rest is read.
    ///
    /// The folder is that of an [`EmbeddedStore`](crate::EmbeddedStore), whose lock keeps other
    /// processes out; by itself an alert store has none.
    ///
    /// # Errors
    /// A file that another version wrote, or that cannot be read or written.
    #[cfg(feature = "embedded")]
    pub fn open(dir: &std::path::Path) -> Result<(Self, Vec<super::Fault>), StoreError> {
        let mut file = AlertFile::open(dir)?;
        let (messages, faults) = file.load()?;
        let messages = messages.into_iter().map(|message| (message.id.clone(), Arc::new(message)));
        let writer = Writer { messages: messages.collect(), file: Some(file) };
        let record = RwLock::new(Arc::new(writer.record(0)));
        Ok((Self { record, writer: Mutex::new(writer), failure: None }, faults))
    }

    /// The alerts of a file that cannot be read: there is none to be had, and what comes in is
    /// refused with this error, so that readings can be served meanwhile.
    pub fn unavailable(failure: StoreError) -> Self {
        Self { failure: Some(failure), ..Self::default() }
    }

    /// Why the alerts cannot be read; `None` where they can.
    pub fn failure(&self) -> Option<&StoreError> {
        self.failure.as_ref()
    }

    fn check(&self) -> Result<(), StoreError> {
        self.failure.clone().map_or(Ok(()), Err)
    }

    /// The alerts in a folder that nobody writes to, read without writing a byte; none where there
    /// is no file of them.
    ///
    /// # Errors
    /// A file that another version wrote, or that cannot be read.
    #[cfg(feature = "embedded")]
    pub fn read(dir: &std::path::Path) -> Result<(AlertRecord, Vec<super::Fault>), StoreError> {
        let (messages, faults) = read_alerts(dir)?;
        let messages = messages.into_iter().map(|message| (message.id.clone(), Arc::new(message)));
        let writer = Writer { messages: messages.collect(), file: None };
        Ok((writer.record(0), faults))
    }

    /// The alerts as they are now.
    pub fn record(&self) -> Arc<AlertRecord> {
        Arc::clone(&self.record.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Adds messages, all or none. What was added is on disk when this returns, where the store is.
    ///
    /// # Errors
    /// A store that cannot write.
    pub fn append(&self, messages: Vec<AlertMessage>) -> Result<AlertReceipt, StoreError> {
        self.check()?;
        let mut writer = self.writer();
        let mut receipt = AlertReceipt::default();
        let mut changed: BTreeMap<String, Arc<AlertMessage>> = BTreeMap::new();
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
        #[cfg(feature = "embedded")]
        if let Some(file) = &mut writer.file {
            file.put(changed.values().map(|message| &**message))?;
        }
        writer.messages.append(&mut changed);
        self.publish(&writer);
        Ok(receipt)
    }

    /// Gives up the alerts whose interval was over before an instant, or that have no end and were
    /// sent 30 days before it. Gives how many there were.
    ///
    /// # Errors
    /// A store that cannot write; nothing is given up then.
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
        #[cfg(feature = "embedded")]
        if let Some(file) = &mut writer.file {
            file.delete(&past)?;
        }
        for id in &past {
            writer.messages.remove(id);
        }
        self.publish(&writer);
        Ok(past.len())
    }

    fn publish(&self, writer: &Writer) {
        let mut record = self.record.write().unwrap_or_else(PoisonError::into_inner);
        *record = Arc::new(writer.record(record.generation + 1));
    }

    // The file is changed by transactions and the messages after them: a panic leaves no half.
    fn writer(&self) -> MutexGuard<'_, Writer> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Writer {
    fn record(&self, generation: u64) -> AlertRecord {
        let mut messages: Vec<_> = self.messages.values().cloned().collect();
        // Stable: by id they are already.
        messages.sort_by_key(|message| message.sent_ms);
        AlertRecord { generation, messages }
    }
}

/// Whether the interval of an alert was over before an instant.
fn is_past(message: &AlertMessage, before_ms: i64) -> bool {
    let end_ms = message.interval_ms().1;
    end_ms.unwrap_or(message.sent_ms.saturating_add(OPEN_MS)) < before_ms
}

/// Whether a message takes the place of another one of its id.
fn is_newer(message: &AlertMessage, known: &AlertMessage) -> bool {
    match message.sent_ms.cmp(&known.sent_ms) {
        std::cmp::Ordering::Greater => true,
        std::cmp::Ordering::Less => false,
        // Any order does, as long as it is one: which came first must not matter.
        std::cmp::Ordering::Equal => {
            message != known && format!("{message:?}") > format!("{known:?}")
        }
    }
}

#[cfg(test)]
#[path = "alerts_tests.rs"]
mod tests;
