//! A small file beside a database that counts the changes it has acknowledged.
//!
//! If a write-ahead log is lost or truncated, or a database is replaced by an older one, the
//! database still looks intact. The count reveals the loss. It is written after each commit without
//! waiting for the disk. So after a kill or a power failure it may lag behind the acknowledged
//! changes, but it is never ahead.

use std::fs::{self, File};
use std::io::{self, Seek, Write};
use std::path::Path;

use super::codec::Wrong;
use super::fault::storage;
use super::folder::sync_folder;
use crate::store::StoreError;

/// Names of the files in the store's folder.
pub(super) const JOURNAL_COUNT: &str = "mesonet.count";
pub(super) const ALERT_COUNT: &str = "alerts.count";

/// A growing count.
#[derive(Debug)]
pub(super) struct Count {
    file: File,
}

impl Count {
    /// Opens the count in a file, creating it if needed, and sets it.
    pub(super) fn open(path: &Path, count: u64) -> Result<Self, StoreError> {
        let failed = |error: io::Error| storage(path, &error);
        if path.exists() {
            let mut own = Self { file: File::options().write(true).open(path).map_err(failed)? };
            own.put(count).and_then(|()| own.file.set_len(LENGTH)).map_err(failed)?;
            return Ok(own);
        }
        // A file under the final name is always complete: a file of another length counts as
        // damaged.
        let fresh = path.with_extension("count.tmp");
        let mut own = Self { file: File::create(&fresh).map_err(failed)? };
        own.put(count).and_then(|()| own.file.sync_all()).map_err(failed)?;
        fs::rename(&fresh, path).map_err(failed)?;
        path.parent().map_or(Ok(()), sync_folder)?;
        Ok(own)
    }

    /// Records the number of changes that are on disk.
    pub(super) fn note(&mut self, count: u64) {
        // A count that lags is like the count after a kill: nothing is lost.
        let _ = self.put(count);
    }

    fn put(&mut self, count: u64) -> io::Result<()> {
        self.file.rewind()?;
        self.file.write_all(line(count).as_bytes())
    }
}

/// Length of the line that [`line`] returns.
const LENGTH: u64 = 30;

fn line(count: u64) -> String {
    let digits = format!("{count:020}");
    format!("{digits} {:08x}\n", crc32fast::hash(digits.as_bytes()))
}

/// Reads the count in a file; `None` if there is no file.
pub(super) fn read_count(path: &Path) -> Result<Option<u64>, Wrong> {
    match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Ok(metadata) if metadata.len() != LENGTH => {
            return Err(format!("{} bytes long; it must be {LENGTH}", metadata.len()));
        }
        _ => {}
    }
    let text = fs::read_to_string(path).map_err(|error| error.to_string())?;
    let count = text.split(' ').next().and_then(|digits| digits.parse().ok());
    match count.filter(|&count| line(count) == text) {
        Some(count) => Ok(Some(count)),
        None => Err("the checksum does not match".to_owned()),
    }
}
