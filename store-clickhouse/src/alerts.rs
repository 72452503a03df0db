//! Alerts, as messages in JSON.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use mesonet::alert;
use mesonet::store::{AlertStore, KeptAlerts, StoreError};

use crate::link::{Link, Options};
use crate::rows::AlertRow;
use crate::write::check_number;
use crate::{schema, sql};

/// The table of alerts. A change is one block of one partition, which ClickHouse takes whole or not
/// at all.
#[derive(Debug)]
struct AlertTable {
    link: Arc<Link>,
    /// Number of the last change.
    changes: u64,
    fence: Option<Fence>,
}

/// Keeps out who is not the writer of the record any more.
#[derive(Debug)]
pub(crate) struct Fence {
    /// The number of the writer.
    pub number: Arc<AtomicU64>,
}

/// Opens the alerts of a database that [`migrate`](crate::migrate) has made.
///
/// They are in memory as those of every [`AlertStore`], and in ClickHouse when a call that changes them
/// returns. One process at a time should change them; others see what was there when they opened it.
///
/// ```no_run
/// use mesonet_clickhouse::{Options, open_alerts};
/// let alerts = open_alerts(&Options::new("http://127.0.0.1:8123", "mesonet"))?;
/// println!("{} alerts", alerts.record().messages.len());
/// # Ok::<(), mesonet::store::StoreError>(())
/// ```
///
/// # Errors
/// ClickHouse cannot be reached or refuses, the tables are of another version, or a message cannot
/// be read.
pub fn open_alerts(options: &Options) -> Result<AlertStore, StoreError> {
    let link = Link::new(options)?.within(&options.database);
    schema::check(&link)?;
    load_alerts(&Arc::new(link), 0, None)
}

/// Reads the alerts. Changes are counted from a number on, or from the last one.
pub(crate) fn load_alerts(
    link: &Arc<Link>,
    first_change: u64,
    fence: Option<Fence>,
) -> Result<AlertStore, StoreError> {
    let rows: Vec<AlertRow> = link.rows(link.query(sql::ALERTS).bind(0))?;
    let last = rows.iter().map(|row| row.change).max().unwrap_or(0);
    let mut messages = Vec::with_capacity(rows.len());
    for row in rows.iter().filter(|row| !row.deleted) {
        messages.push(message_of(link, row)?);
    }
    let table = AlertTable { link: Arc::clone(link), changes: last.max(first_change), fence };
    Ok(AlertStore::kept(messages, Box::new(table)))
}

pub(crate) fn message_of(link: &Link, row: &AlertRow) -> Result<alert::Message, StoreError> {
    let read = serde_json::from_str(&row.message);
    read.map_err(|error| link.failed(&format!("alert {}: {error}", row.id)))
}

impl KeptAlerts for AlertTable {
    fn put(&mut self, messages: &[Arc<alert::Message>]) -> Result<(), StoreError> {
        let change = self.changes + 1;
        let row = |message: &Arc<alert::Message>| {
            let text =
                serde_json::to_string(&**message).map_err(|error| self.link.failed(&error))?;
            Ok(AlertRow { id: message.id.clone(), change, deleted: false, message: text })
        };
        let rows = messages.iter().map(row).collect::<Result<_, StoreError>>()?;
        self.write(rows)
    }

    fn delete(&mut self, ids: &[String]) -> Result<(), StoreError> {
        let change = self.changes + 1;
        let message = String::new;
        let row =
            |id: &String| AlertRow { id: id.clone(), change, deleted: true, message: message() };
        self.write(ids.iter().map(row).collect())
    }
}

impl AlertTable {
    fn write(&mut self, rows: Vec<AlertRow>) -> Result<(), StoreError> {
        // Also if it fails: it may have been written, and the next one must be newer.
        self.changes += 1;
        self.check()?;
        self.link.insert("alerts", rows)?;
        // A writer that has opened the record meanwhile may not have found them.
        self.check()
    }

    fn check(&self) -> Result<(), StoreError> {
        let Some(Fence { number }) = &self.fence else { return Ok(()) };
        check_number(&self.link, number.load(Ordering::Relaxed))
    }
}
