//! Alerts, as messages in JSON.

use std::sync::Arc;

use mesonet::alert;
use mesonet::store::{AlertStore, KeptAlerts, StoreError};

use crate::fence::Fence;
use crate::link::{Found, Link, Place};
use crate::options::Options;
use crate::rows::AlertRow;
use crate::{schema, sql};

const ALERTS: Place = Place { table: "alerts", shard: None };

/// The table of alerts. A change is one block of one partition, which ClickHouse takes whole or not
/// at all.
#[derive(Debug)]
struct AlertTable {
    link: Link,
    fence: Fence,
    /// Number of the last change.
    last: u64,
}

/// Opens the alerts of a database that [`migrate`](crate::migrate) has made.
///
/// They are in memory as those of every [`AlertStore`], and in ClickHouse when a call that changes them
/// returns. One process at a time changes them: the last to open them; the one before is refused from
/// then on, with [`StoreError::Locked`], whoever writes the record. What it was writing at that moment is
/// not acknowledged, and may be there or not.
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
    let link = schema::open(options)?;
    let fence = Fence::take(&link, "alerts")?;
    let rows: Vec<AlertRow> = link.rows(ALERTS, None, &link.query(sql::ALERTS))?;
    let mut messages = Vec::with_capacity(rows.len());
    for row in rows.into_iter().filter(|row| !row.deleted) {
        let message: alert::Message = serde_json::from_str(&row.message)
            .map_err(|error| link.failed(&format!("alert {}: {error}", row.id)))?;
        messages.push(message);
    }
    Ok(AlertStore::kept(messages, Box::new(AlertTable { link, fence, last: fence.first_batch() })))
}

impl KeptAlerts for AlertTable {
    fn put(&mut self, messages: &[Arc<alert::Message>]) -> Result<(), StoreError> {
        let change = self.last + 1;
        let row = |message: &Arc<alert::Message>| {
            let text =
                serde_json::to_string(&**message).map_err(|error| self.link.failed(&error))?;
            Ok(AlertRow { id: message.id.clone(), change, deleted: false, message: text })
        };
        let rows = messages.iter().map(row).collect::<Result<_, StoreError>>()?;
        self.write(rows)
    }

    fn delete(&mut self, ids: &[String]) -> Result<(), StoreError> {
        let change = self.last + 1;
        let message = String::new;
        let row =
            |id: &String| AlertRow { id: id.clone(), change, deleted: true, message: message() };
        self.write(ids.iter().map(row).collect())
    }
}

impl AlertTable {
    fn write(&mut self, rows: Vec<AlertRow>) -> Result<(), StoreError> {
        self.fence.check(&self.link, None)?;
        // Also if it fails: it may have been written, and the next one must be newer.
        self.last += 1;
        let found = Found { condition: format!("change = {}", self.last), rows: rows.len() };
        let at = self.link.insert(ALERTS, rows, &found)?;
        self.fence.check(&self.link, Some(at))
    }
}
