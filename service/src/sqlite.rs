//! Small SQLite files beside a record. What they hold can be lost without harm to the record, so a
//! damaged one is left behind under another name, and a new one is made.

use std::path::Path;
use std::{fs, io};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_encode};
use rusqlite::{Connection, Error, ErrorCode, OpenFlags, ffi};

use crate::files::found;

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
            let cause = self.cause(error);
            tracing::warn!("{}: {cause}; it is set aside, and {}", self.file, self.loss);
            // If it stays, opening it fails again.
            let _ = self.set_aside(folder);
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

    /// Returns what is wrong with the content of the file in a folder that no server has open; `None` if
    /// it is whole, or if there is none.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn damage(&self, folder: &Path) -> rusqlite::Result<Option<String>> {
        let path = folder.join(self.file);
        if !path.exists() {
            return Ok(None);
        }
        match read_only(&path).and_then(|connection| self.check(&connection)) {
            Ok(()) => Ok(None),
            Err(error) if is_of_content(&error) => Ok(Some(self.cause(error))),
            Err(error) => Err(error),
        }
    }

    /// Renames the file in a folder and those that belong to it, to names that are not taken.
    ///
    /// # Errors
    /// It cannot be renamed.
    pub fn set_aside(&self, folder: &Path) -> io::Result<()> {
        let aside = |number: u32, suffix: &str| {
            folder.join(format!("{}.damaged-{number}{suffix}", self.file))
        };
        let mut number = 1;
        while aside(number, "").exists() {
            number += 1;
        }
        for suffix in ["", "-wal", "-shm"] {
            let from = folder.join(format!("{}{suffix}", self.file));
            found(fs::rename(from, aside(number, suffix)))?;
        }
        Ok(())
    }

    fn of(&self, connection: Connection) -> rusqlite::Result<Connection> {
        connection.pragma_update_and_check(None, "journal_mode", "wal", |_| Ok(()))?;
        // The last changes may be undone by a power failure, but not by a kill.
        connection.pragma_update(None, "synchronous", "NORMAL")?;
        if version(&connection)? == 0 {
            let Self { schema, version, .. } = self;
            connection.execute_batch(&format!(
                "BEGIN; {schema} PRAGMA user_version = {version}; COMMIT"
            ))?;
        } else {
            self.check(&connection)?;
        }
        Ok(connection)
    }

    /// Checks the version and every page. A page that is damaged would otherwise be found when it is
    /// next needed.
    fn check(&self, connection: &Connection) -> rusqlite::Result<()> {
        let version = version(connection)?;
        // A server was killed before it had made the tables.
        if version != 0 && version != self.version {
            return Err(Error::IntegralValueOutOfRange(0, version));
        }
        let check = "PRAGMA quick_check(1)";
        let found: String = connection.query_row(check, [], |row| row.get(0))?;
        if found == "ok" {
            return Ok(());
        }
        let corrupt = ffi::Error::new(ffi::SQLITE_CORRUPT);
        Err(Error::SqliteFailure(corrupt, Some(found)))
    }

    fn cause(&self, error: Error) -> String {
        match error {
            Error::IntegralValueOutOfRange(_, version) => {
                format!("it is of version {version}; allowed is {}", self.version)
            }
            error => error.to_string(),
        }
    }
}

/// Opens a file for reading. Without a log, SQLite would create one beside it unless told that the file
/// is immutable.
fn read_only(path: &Path) -> rusqlite::Result<Connection> {
    const PATH: &AsciiSet = &NON_ALPHANUMERIC.remove(b'/');
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    if Path::new(&log).exists() {
        return Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY);
    }
    let path = percent_encode(path.as_os_str().as_encoded_bytes(), PATH);
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
    Connection::open_with_flags(format!("file:{path}?immutable=1"), flags)
}

fn version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}

/// Whether the content of the file is wrong, and not the disk or another process.
fn is_of_content(error: &Error) -> bool {
    let code = error.sqlite_error_code();
    matches!(error, Error::IntegralValueOutOfRange(..))
        || matches!(code, Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt))
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;

    const NUMBERS: Layout = Layout {
        file: "numbers.sqlite",
        version: 3,
        schema: "CREATE TABLE number (value INTEGER NOT NULL);",
        loss: "they are gone",
    };

    #[test]
    fn damage_is_found_and_nothing_is_written_beside_it() {
        let folder = TempDir::with_prefix("100 % of it? #").unwrap();
        let damage = || NUMBERS.damage(folder.path()).unwrap();
        assert_eq!(damage(), None);
        let connection = NUMBERS.open(folder.path(), Ok).unwrap();
        let sql = "WITH RECURSIVE n(v) AS (SELECT 1 UNION ALL SELECT v + 1 FROM n WHERE v < 5000)
                   INSERT INTO number SELECT v FROM n";
        connection.execute(sql, []).unwrap();
        assert_eq!(damage(), None, "also while it is open");
        drop(connection);
        assert_eq!(damage(), None);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);

        let path = folder.path().join(NUMBERS.file);
        let whole = fs::read(&path).unwrap();
        for (from, to) in [(0, 16), (4_096, 8_192), (8_192, whole.len())] {
            let mut bytes = whole.clone();
            bytes[from..to].fill(0x5a);
            fs::write(&path, &bytes).unwrap();
            assert!(damage().is_some(), "{from} to {to}");
            assert_eq!(fs::read(&path).unwrap(), bytes);
        }
        fs::write(&path, &whole[..whole.len() / 2]).unwrap();
        assert!(damage().is_some(), "half of it");
        fs::write(&path, &whole).unwrap();
        Connection::open(&path).unwrap().pragma_update(None, "user_version", 7).unwrap();
        assert_eq!(damage().unwrap(), "it is of version 7; allowed is 3");

        NUMBERS.set_aside(folder.path()).unwrap();
        assert!(folder.path().join("numbers.sqlite.damaged-1").exists());
        assert_eq!(damage(), None);
        NUMBERS.set_aside(folder.path()).unwrap();
    }
}
