//! Which record may back up to a place: that of its newest backup.
//!
//! The backups of another record are refused, unless it is to replace the one before: `backup --take-over`. From then
//! on the newest backup is of the new record, so the one before is refused. A backup of that one which is under way
//! meanwhile may still appear; the next backup of the new record is then refused, and needs `--take-over` once more.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use mesonet::durable::sync_folder;

use super::BackupError;
use super::gather::found;
use super::list::{manifests, read};
use super::manifest::{Manifest, shown};
use super::name::Name;
use super::place::Place;

/// The file of a data folder with the name by which places know the record. Backups leave it out, so
/// a restored record is another one.
pub const FILE: &str = "writer";

/// Digits of the name of a record.
const DIGITS: usize = 16;

/// Checks that a record may back up to a place. Returns the newest backup that is there.
///
/// # Errors
/// The newest backup is of another record, or the place cannot be read.
pub fn check_turn(place: &Place, writer: &str) -> Result<Option<Name>, BackupError> {
    let mut names = manifests(place)?;
    let Some(newest) = names.pop() else { return Ok(None) };
    let refused = |by| {
        let place = place.address().to_owned();
        Err(BackupError::Replaced { place, by })
    };
    match read(place, &newest) {
        Ok(manifest) if manifest.writer == writer => Ok(Some(newest)),
        Ok(Manifest { folder, time, .. }) => {
            refused(format!("that of {folder}, which was backed up at {}", shown(time)))
        }
        // It tells of no record: the one before it does.
        Err(BackupError::Manifest { error, .. }) => {
            let mut writers = names.iter().rev().filter_map(|name| read(place, name).ok());
            match writers.next() {
                Some(manifest) if manifest.writer == writer => Ok(Some(newest)),
                _ => refused(format!("one that is not known: {newest} {error}")),
            }
        }
        Err(error) => Err(error),
    }
}

/// Returns the name by which places know the record of a folder. It is made at the first use.
///
/// # Errors
/// The file cannot be read or written, or is not ours.
pub fn of_folder(data: &Path) -> Result<String, BackupError> {
    let path = data.join(FILE);
    let read = || -> io::Result<String> {
        // Whoever did not make it may only be allowed to read it.
        if let Some(text) = found(fs::read_to_string(&path))? {
            return Ok(text);
        }
        // It appears with its content: one that is empty was emptied.
        let text = format!("{:0DIGITS$x}\n", getrandom::u64().map_err(io::Error::from)?);
        let mut file = tempfile::Builder::new().prefix(".mesonet-writer-").tempfile_in(data)?;
        file.write_all(text.as_bytes())?;
        file.as_file().sync_all()?;
        match file.persist_noclobber(&path) {
            Ok(_) => sync_folder(data).map(|()| text),
            // Another command was faster.
            Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => {
                fs::read_to_string(&path)
            }
            Err(error) => Err(error.error),
        }
    };
    let text = read().map_err(BackupError::file(&path))?;
    name_in(&text).ok_or_else(|| {
        BackupError::file(&path)(io::Error::new(io::ErrorKind::InvalidData, DAMAGED))
    })
}

const DAMAGED: &str = "it is damaged; delete it, and the next backup needs --take-over";

/// Checks the file, if there is one.
///
/// # Errors
/// What is wrong with it.
pub fn check(data: &Path) -> Result<(), String> {
    match found(fs::read_to_string(data.join(FILE))).map_err(|error| error.to_string())? {
        Some(text) if name_in(&text).is_none() => Err(DAMAGED.to_owned()),
        _ => Ok(()),
    }
}

/// The name of a record, if a text is one.
fn name_in(text: &str) -> Option<String> {
    let name = text.trim_end();
    let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    (name.len() == DIGITS && name.bytes().all(is_digit)).then(|| name.to_owned())
}

#[cfg(test)]
#[path = "writer_tests.rs"]
mod tests;
