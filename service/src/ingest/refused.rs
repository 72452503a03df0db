//! The reports that could not be read, for the operator: those of the last day.

use std::path::Path;
use std::sync::Mutex;
use std::time::Duration;

use mesonet::Iso8601;
use mesonet::time::DAY_MS;
use rusqlite::{Connection, params};
use serde::Serialize;

use super::IngestSummary;
use crate::sqlite::Layout;
use crate::sync::lock;

/// The file in the data folder.
const FILE: &str = "refused.sqlite";

/// How long another process may hold the file before reports are not kept.
const BUSY: Duration = Duration::from_millis(500);

/// The most reports that are kept; the oldest go first.
pub const MOST_REFUSED: usize = 1_000;

/// The file of the reports.
pub const LAYOUT: Layout = Layout {
    file: FILE,
    version: 1,
    schema: "
        CREATE TABLE report (
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            received_ms INTEGER NOT NULL,
            kind TEXT NOT NULL,
            file TEXT NOT NULL,
            reason TEXT NOT NULL,
            text TEXT NOT NULL
        );",
    loss: "no report that was refused before is shown",
};

/// A report that could not be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = RefusedReport)]
pub struct Refused {
    /// When it came.
    #[schema(value_type = String, format = DateTime)]
    pub received_at: Iso8601,
    /// The kind of its file, as `feeds` has it.
    pub kind: String,
    /// The name of the file.
    pub file: String,
    /// Where it is in the file, and why it was left out.
    pub reason: String,
    /// The first 1000 bytes of its text; invalid UTF-8 is replaced.
    pub text: String,
}

/// Why the refused reports cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[error("{path}: {error}", path = FILE)]
pub struct RefusedError {
    #[from]
    error: rusqlite::Error,
}

/// The refused reports of a data folder.
#[derive(Debug)]
pub struct RefusedReports(Mutex<Connection>);

impl RefusedReports {
    /// Opens those of a folder; without one they end with the process.
    ///
    /// # Errors
    /// The folder cannot be read or written.
    pub fn open(folder: Option<&Path>) -> Result<Self, RefusedError> {
        let connection = match folder {
            Some(folder) => LAYOUT.open(folder, Ok)?,
            None => LAYOUT.in_memory()?,
        };
        // Intake waits for another process no longer than this.
        connection.busy_timeout(BUSY)?;
        Ok(Self(Mutex::new(connection)))
    }

    /// Keeps the refused reports of files that were read at an instant. Those of more than a day
    /// before go, and so do those of more than a day after: the clock of the machine was wrong.
    ///
    /// # Errors
    /// They cannot be written; then none is kept.
    pub fn note(&self, summary: &IngestSummary, now_ms: i64) -> Result<(), RefusedError> {
        let kinds = summary.kinds.iter();
        let mut new = kinds
            .flat_map(|(kind, of_kind)| of_kind.refused_reports.iter().map(move |one| (kind, one)))
            .peekable();
        if new.peek().is_none() {
            return Ok(());
        }
        let mut connection = lock(&self.0);
        let transaction = connection.transaction()?;
        {
            let sql =
                "INSERT INTO report (received_ms, kind, file, reason, text) VALUES (?, ?, ?, ?, ?)";
            let mut insert = transaction.prepare_cached(sql)?;
            for (kind, one) in new {
                insert.execute(params![now_ms, kind.name(), one.file, one.reason, one.text])?;
            }
            let sql = "DELETE FROM report WHERE received_ms NOT BETWEEN ? AND ?";
            transaction.prepare_cached(sql)?.execute(day_around(now_ms))?;
            let sql = "DELETE FROM report WHERE number <= (SELECT max(number) FROM report) - ?";
            transaction.prepare_cached(sql)?.execute([MOST_REFUSED])?;
        }
        Ok(transaction.commit()?)
    }

    /// Returns those of the day before an instant, newest first.
    ///
    /// # Errors
    /// They cannot be read.
    pub fn of_last_day(&self, now_ms: i64) -> Result<Vec<Refused>, RefusedError> {
        let sql = "SELECT received_ms, kind, file, reason, text FROM report \
                   WHERE received_ms BETWEEN ? AND ? ORDER BY number DESC";
        let connection = lock(&self.0);
        let mut statement = connection.prepare_cached(sql)?;
        let rows = statement.query_map(day_around(now_ms), |row| {
            Ok(Refused {
                received_at: Iso8601(row.get(0)?),
                kind: row.get(1)?,
                file: row.get(2)?,
                reason: row.get(3)?,
                text: row.get(4)?,
            })
        })?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }
}

const fn day_around(now_ms: i64) -> [i64; 2] {
    [now_ms.saturating_sub(DAY_MS), now_ms.saturating_add(DAY_MS)]
}

#[cfg(test)]
#[path = "refused_tests.rs"]
mod tests;
