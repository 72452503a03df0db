//! Alerts, as messages in JSON.

use std::sync::Arc;

use mesonet::alert;
use mesonet::store::{AlertStore, KeptAlerts, StoreError};

use crate::link::{Link, Options};
use crate::rows::AlertRow;
use crate::{schema, sql};

/// The table of alerts. A change is one block of one partition, which ClickHouse takes whole or not
/// at all.
#[derive(Debug)]
struct AlertTable {
    link: Link,
    /// Number of the last change.
    changes: u64,
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
    let rows: Vec<AlertRow> = link.rows(link.query(sql::ALERTS))?;
    let changes = rows.iter().map(|row| row.change).max().unwrap_or(0);
    let mut messages = Vec::with_capacity(rows.len());
    for row in rows.into_iter().filter(|row| !row.deleted) {
        let message: alert::Message = serde_json::from_str(&row.message)
            .map_err(|error| link.failed(&format!("alert {}: {error}", row.id)))?;
        messages.push(message);
    }
    Ok(AlertStore::kept(messages, Box::new(AlertTable { link, changes })))
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
        self.link.insert("alerts", rows)
    }
}
