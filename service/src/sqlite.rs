//! Small SQLite files beside a record. What they hold can be lost without harm to the record, so a
//! damaged one is left behind under another name, and a new one is made.

use std::path::Path;

use rusqlite::{Connection, Error, ErrorCode, ffi};

/// What a file is made of.
#[derive(Debug)]
pub struct Layout {
    /// Its name in the data folder.
    pub file: &'static str,
    /// The version of the schema; a file of another version is not read.
    pub version: i64,
    /// The statements that make its tables.
    pub schema: &'static str,
    /// What follows if the file is lost, for the log.
    pub loss: &'static str,
}

impl Layout {
    /// Opens the file in a folder, or makes it, and reads what it begins with. If it is damaged or of
    /// another version, it is renamed to `NAME.damaged-1` or the next free number.
    ///
    /// # Errors
    /// The folder cannot be read or written.
    pub fn open<T>(
        &self,
        folder: &Path,
        read: impl Fn(Connection) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<T> {
        let path = folder.join(self.file);
        let opened = || read(self.of(Connection::open(&path)?)?);
        opened().or_else(|error| {
            if !is_of_content(&error) {
                return Err(error);
            }
            let cause = match error {
                Error::IntegralValueOutOfRange(_, version) => {
                    format!("it is of version {version}; allowed is {}", self.version)
                }
                error => error.to_string(),
            };
            tracing::warn!("{}: {cause}; it is set aside, and {}", self.file, self.loss);
            self.set_aside(&path);
            opened()
        })
    }

    /// Makes one that ends with the process, for a folder that cannot be written.
    ///
    /// # Errors
    /// There is no memory.
    pub fn in_memory(&self) -> rusqlite::Result<Connection> {
        self.of(Connection::open_in_memory()?)
    }

    fn of(&self, connection: Connection) -> rusqlite::Result<Connection> {
        connection.pragma_update_and_check(None, "journal_mode", "wal", |_| Ok(()))?;
        // The last changes may be undone by a power failure, but not by a kill.
        connection.pragma_update(None, "synchronous", "NORMAL")?;
        let version: i64 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
        if version == 0 {
            let Self { schema, version, .. } = self;
            connection.execute_batch(&format!(
                "BEGIN; {schema} PRAGMA user_version = {version}; COMMIT"
            ))?;
        } else if version != self.version {
            return Err(Error::IntegralValueOutOfRange(0, version));
        } else {
            // A page that is damaged would otherwise be found when it is next needed.
            let check = "PRAGMA quick_check(1)";
            let found: String = connection.query_row(check, [], |row| row.get(0))?;
            if found != "ok" {
                let corrupt = ffi::Error::new(ffi::SQLITE_CORRUPT);
                return Err(Error::SqliteFailure(corrupt, Some(found)));
            }
        }
        Ok(connection)
    }

    /// Renames the file and those that belong to it, to names that are not taken.
    fn set_aside(&self, path: &Path) {
        let aside = |number: u32, suffix: &str| {
            path.with_file_name(format!("{}.damaged-{number}{suffix}", self.file))
        };
        let mut number = 1;
        while aside(number, "").exists() {
            number += 1;
        }
        for suffix in ["", "-wal", "-shm"] {
            let from = path.with_file_name(format!("{}{suffix}", self.file));
            // If it stays, opening it fails again.
            let _ = std::fs::rename(from, aside(number, suffix));
        }
    }
}

/// Whether the content of the file is wrong, and not the disk or another process.
fn is_of_content(error: &Error) -> bool {
    let code = error.sqlite_error_code();
    matches!(error, Error::IntegralValueOutOfRange(..))
        || matches!(code, Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt))
}
