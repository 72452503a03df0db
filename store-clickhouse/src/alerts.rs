//! Alerts, as messages in JSON.

use std::sync::Arc;

use mesonet::alert;
use mesonet::store::{AlertBackend, AlertStore, StoreError};

use crate::fence::Fence;
use crate::link::{InsertedRows, Link, TablePlace};
use crate::rows::AlertRow;
use crate::sql;

pub(crate) const ALERTS: TablePlace = TablePlace { table: "alerts", shard: None };

/// The table of alerts. A change is one block of one partition. ClickHouse takes such a block whole
/// or not at all.
#[derive(Debug)]
struct AlertTable {
    link: Arc<Link>,
    /// Number of the last change.
    changes: u64,
    fence: Arc<Fence>,
}

/// Reads the alerts, which the writer of the record may change.
pub(crate) fn load_alerts(link: &Arc<Link>, fence: Arc<Fence>) -> Result<AlertStore, StoreError> {
    let rows: Vec<AlertRow> = link.rows(ALERTS, None, &link.query(sql::ALERTS).bind(0))?;
    let last = rows.iter().map(|row| row.change).max().unwrap_or(0);
    // The last change may still be on its way to a quorum; the earlier changes have reached theirs.
    let of_last = rows.iter().filter(|row| row.change == last).count();
    let condition = format!("change = {last}");
    link.confirm(ALERTS, &InsertedRows { condition, rows: of_last })?;
    let mut messages = Vec::with_capacity(rows.len());
    for row in rows.iter().filter(|row| !row.deleted) {
        messages.push(message_of(link, row)?);
    }
    let table =
        AlertTable { link: Arc::clone(link), changes: last.max(fence.first_number()), fence };
    Ok(AlertStore::with_backend(messages, Box::new(table)))
}

pub(crate) fn message_of(link: &Link, row: &AlertRow) -> Result<alert::Message, StoreError> {
    let read = serde_json::from_str(&row.message);
    read.map_err(|error| link.failed(&format!("alert {}: {error}", row.id)))
}

impl AlertBackend for AlertTable {
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
        // The number goes up even if the insert fails: the change may have been written, and the
        // next change must have a newer number. The first change of a writer must also be newer
        // than the last change of the writer before.
        self.changes = (self.changes + 1).max(self.fence.first_number());
        self.fence.check(&self.link, None)?;
        let found =
            InsertedRows { condition: format!("change = {}", self.changes), rows: rows.len() };
        let at = self.link.insert(ALERTS, rows, &found)?;
        // Another writer may have opened the record in the meantime without finding these rows.
        self.fence.check(&self.link, Some(at))
    }
}
