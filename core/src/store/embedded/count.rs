//! How many changes a database has acknowledged, in a small file beside it.
//!
//! A write-ahead log that is lost or cut, and an older database put in the place of a newer one, look
//! like a database that is whole. The count tells them: it is written after each commit without
//! waiting for the disk, so that a kill or a power failure can leave it behind what was
//! acknowledged, never ahead.

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

/// A count that grows.
#[derive(Debug)]
pub(super) struct Count {
    file: File,
}

impl Count {
    /// Opens the count in a file, made if there is none, and sets it.
    pub fn open(path: &Path, count: u64) -> Result<Self, StoreError> {
        let failed = |error: io::Error| storage(path, &error);
        if path.exists() {
            let mut own = Self { file: File::options().write(true).open(path).map_err(failed)? };
            own.put(count).and_then(|()| own.file.set_len(LENGTH)).map_err(failed)?;
            return Ok(own);
        }
        // Under its name it is whole: one of another length is taken for a damaged one.
        let fresh = path.with_extension("count.tmp");
        let mut own = Self { file: File::create(&fresh).map_err(failed)? };
        own.put(count).and_then(|()| own.file.sync_all()).map_err(failed)?;
        fs::rename(&fresh, path).map_err(failed)?;
        path.parent().map_or(Ok(()), sync_folder)?;
        Ok(own)
    }

    /// Notes that so many changes are on disk.
    pub fn note(&mut self, count: u64) {
        // A count that stays behind is as after a kill: nothing is lost by it.
        let _ = self.put(count);
    }

    fn put(&mut self, count: u64) -> io::Result<()> {
        self.file.rewind()?;
        self.file.write_all(line(count).as_bytes())
    }
}

/// Length of the line that [`line`] makes.
const LENGTH: u64 = 30;

fn line(count: u64) -> String {
    let digits = format!("{count:020}");
    format!("{digits} {:08x}\n", crc32fast::hash(digits.as_bytes()))
}

/// The count in a file; `None` where there is none.
pub(super) fn read_count(path: &Path) -> Result<Option<u64>, Wrong> {
    match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Ok(metadata) if metadata.len() != LENGTH => {
            return Err(format!("{} bytes long; {LENGTH} were written", metadata.len()));
        }
        _ => {}
    }
    let text = fs::read_to_string(path).map_err(|error| error.to_string())?;
    let count = text.split(' ').next().and_then(|digits| digits.parse().ok());
    match count.filter(|&count| line(count) == text) {
        Some(count) => Ok(Some(count)),
        None => Err("the bytes are not those that were written".to_owned()),
    }
}
