//! The positions at which servers began to send events, and the items that were published.
//!
//! Batches are numbered by the journal of the record. Alerts, runs and products have no number of
//! their own, so each change of one gets a number here before it is published. Only the last number of
//! an item is kept: a client that missed several changes of it gets the item as it is.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use rusqlite::{Connection, OptionalExtension, params};

use super::position::{EventId, Position};
use crate::sqlite::Layout;
use crate::sync::lock;

/// The file in the data folder.
const FILE: &str = "live.sqlite";

/// How many starts are kept. An id from before them is too old.
const STARTS: i64 = 1_000;

/// The file of the log.
// Changes that a power failure undoes get their numbers again. An id with such a number is then beyond
// the next start, so it is recognized.
pub const LAYOUT: Layout = Layout {
    file: FILE,
    version: 1,
    schema: "
        CREATE TABLE start (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            name INTEGER NOT NULL,
            batch INTEGER NOT NULL,
            item INTEGER NOT NULL,
            record TEXT NOT NULL
        );
        CREATE TABLE item (
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            topic TEXT NOT NULL,
            name TEXT NOT NULL,
            state TEXT NOT NULL,
            UNIQUE (topic, name)
        );",
    loss: "callers of /live begin anew",
};

/// What an item is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Topic {
    Alerts,
    Runs,
    Products,
    Feeds,
}

impl Topic {
    const ALL: [Self; 4] = [Self::Alerts, Self::Runs, Self::Products, Self::Feeds];

    const fn name(self) -> &'static str {
        match self {
            Self::Alerts => "alerts",
            Self::Runs => "runs",
            Self::Products => "products",
            Self::Feeds => "feeds",
        }
    }
}

/// An item and its state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// Its name, which no other item of its topic has.
    pub name: String,
    /// A text that changes whenever its event would.
    pub state: String,
}

/// An item that has a number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NumberedItem {
    pub number: u64,
    pub topic: Topic,
    pub name: String,
}

/// What is known of an id that a caller has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// This record published everything up to its position.
    Known,
    /// No start of a server on this folder has the number, or not any more.
    OfAnother,
    /// The record or the folder went back to an earlier state since.
    Undone,
}

/// Why the log cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[error("{path}: {error}", path = FILE)]
pub struct EventLogError {
    #[from]
    error: rusqlite::Error,
}

/// What a server notes about its stream of events.
#[derive(Debug)]
pub struct EventLog {
    /// The random number of this start.
    start: AtomicU64,
    inner: Mutex<Inner>,
}

#[derive(Debug)]
struct Inner {
    connection: Connection,
    /// The state of each item, and the number of its last change.
    states: HashMap<Topic, HashMap<String, (String, u64)>>,
    last: u64,
}

impl EventLog {
    /// Opens the log in a folder, and notes that a server starts at a batch of a record. A log that is
    /// damaged, or of a later version, is left behind under another name; then no earlier id is known.
    ///
    /// # Errors
    /// The folder cannot be read or written.
    pub fn open(folder: &Path, batch: u64, record: &str) -> Result<Self, EventLogError> {
        Ok(LAYOUT.open(folder, |connection| Self::of(connection, batch, record))?)
    }

    /// A log that ends with the process, for a folder that cannot be written.
    ///
    /// # Errors
    /// There is no memory.
    pub fn in_memory(batch: u64) -> Result<Self, EventLogError> {
        Ok(Self::of(LAYOUT.in_memory()?, batch, "")?)
    }

    fn of(connection: Connection, batch: u64, record: &str) -> rusqlite::Result<Self> {
        let mut states: HashMap<Topic, HashMap<String, (String, u64)>> = HashMap::new();
        for (number, topic, name, state) in rows(&connection)? {
            let topic = Topic::ALL.into_iter().find(|known| known.name() == topic);
            if let Some(topic) = topic {
                states.entry(topic).or_default().insert(name, (state, number));
            }
        }
        let sql = "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'item'";
        let last: u64 = connection.query_row(sql, [], |row| row.get(0))?;
        let log = Self {
            start: AtomicU64::new(0),
            inner: Mutex::new(Inner { connection, states, last }),
        };
        log.note_start(batch, record)?;
        Ok(log)
    }

    /// Notes that a stream of events begins at a batch of a record: with the server, and when the
    /// record is exchanged for another or for an earlier state while the server runs.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn begin(&self, batch: u64, record: &str) -> Result<(), EventLogError> {
        Ok(self.note_start(batch, record)?)
    }

    fn note_start(&self, batch: u64, record: &str) -> rusqlite::Result<()> {
        let mut inner = lock(&self.inner);
        let Inner { connection, last, .. } = &mut *inner;
        let start = getrandom::u64().unwrap_or_default();
        let transaction = connection.transaction()?;
        let sql = "SELECT record FROM start ORDER BY id DESC LIMIT 1";
        let before: Option<String> = transaction.query_row(sql, [], |row| row.get(0)).optional()?;
        if before.is_some_and(|before| before != record) {
            // The batches of another record have numbers of their own.
            transaction.execute("DELETE FROM start", [])?;
        }
        let sql = "INSERT INTO start (name, batch, item, record) VALUES (?, ?, ?, ?)";
        let row = params![start.cast_signed(), batch.cast_signed(), *last, record];
        transaction.execute(sql, row)?;
        let sql = "DELETE FROM start WHERE id <= (SELECT max(id) FROM start) - ?";
        transaction.execute(sql, [STARTS])?;
        transaction.commit()?;
        self.start.store(start, Ordering::Relaxed);
        Ok(())
    }

    /// The id of the events at a position.
    pub fn id(&self, position: Position) -> EventId {
        EventId { start: self.start.load(Ordering::Relaxed), position }
    }

    /// Says whether the events after an id can be sent, if this server is at a position now.
    ///
    /// # Errors
    /// The log cannot be read.
    pub fn reach(&self, id: EventId, now: &Position) -> Result<Reach, EventLogError> {
        let inner = lock(&self.inner);
        if id.start == self.start.load(Ordering::Relaxed) {
            let is_known = id.position.is_within(now);
            return Ok(if is_known { Reach::Known } else { Reach::Undone });
        }
        let sql = "SELECT id FROM start WHERE name = ?";
        let found = inner.connection.query_row(sql, [id.start.cast_signed()], |row| row.get(0));
        let Some(found): Option<i64> = found.optional()? else { return Ok(Reach::OfAnother) };
        // All that the start published was durable when the next one began.
        let sql = "SELECT batch, item FROM start WHERE id > ? ORDER BY id LIMIT 1";
        let next = inner.connection.query_row(sql, [found], |row| {
            Ok(Position { batch: (row.get(0)?, 0), item: row.get(1)? })
        })?;
        let is_known = id.position.is_within(&next) && id.position.is_within(now);
        Ok(if is_known { Reach::Known } else { Reach::Undone })
    }

    /// Notes the items of a topic as they are now, and returns those that are new or changed, with
    /// their numbers. They are on disk when this returns. Items that are gone are forgotten.
    ///
    /// # Errors
    /// They cannot be written; nothing has changed then.
    pub fn update(&self, topic: Topic, items: &[Item]) -> Result<Vec<NumberedItem>, EventLogError> {
        let mut inner = lock(&self.inner);
        let Inner { connection, states, last } = &mut *inner;
        let known = states.entry(topic).or_default();
        let changed: Vec<&Item> = items
            .iter()
            .filter(|item| known.get(&item.name).is_none_or(|(state, _)| *state != item.state))
            .collect();
        let now: HashSet<&str> = items.iter().map(|item| &*item.name).collect();
        let gone: Vec<String> =
            known.keys().filter(|name| !now.contains(&***name)).cloned().collect();
        if changed.is_empty() && gone.is_empty() {
            return Ok(Vec::new());
        }
        let transaction = connection.transaction()?;
        let mut numbers = Vec::new();
        {
            let sql = "INSERT OR REPLACE INTO item (topic, name, state) VALUES (?, ?, ?)";
            let mut insert = transaction.prepare_cached(sql)?;
            for item in &changed {
                numbers.push(insert.insert(params![topic.name(), item.name, item.state])?);
            }
            let sql = "DELETE FROM item WHERE topic = ? AND name = ?";
            let mut delete = transaction.prepare_cached(sql)?;
            for name in &gone {
                delete.execute(params![topic.name(), name])?;
            }
        }
        transaction.commit()?;
        for name in gone {
            known.remove(&name);
        }
        let numbered = changed.into_iter().zip(numbers).map(|(item, number)| {
            let number = number.cast_unsigned();
            known.insert(item.name.clone(), (item.state.clone(), number));
            *last = number;
            NumberedItem { number, topic, name: item.name.clone() }
        });
        Ok(numbered.collect())
    }

    /// Returns the items that were published after a number, in the order of their numbers, and the number
    /// of the last one.
    pub fn items_after(&self, number: u64) -> (Vec<NumberedItem>, u64) {
        let inner = lock(&self.inner);
        let mut after: Vec<NumberedItem> = inner
            .states
            .iter()
            .flat_map(|(&topic, items)| {
                let later = items.iter().filter(|(_, (_, last))| *last > number);
                later.map(move |(name, (_, last))| NumberedItem {
                    number: *last,
                    topic,
                    name: name.clone(),
                })
            })
            .collect();
        after.sort_by_key(|item| item.number);
        (after, inner.last)
    }

    /// The number of the last item that was published.
    pub fn last(&self) -> u64 {
        lock(&self.inner).last
    }
}

type Row = (u64, String, String, String);

fn rows(connection: &Connection) -> rusqlite::Result<Vec<Row>> {
    let mut statement = connection.prepare("SELECT number, topic, name, state FROM item")?;
    let rows =
        statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))?;
    rows.collect()
}

#[cfg(test)]
#[path = "event_log_tests.rs"]
mod tests;
