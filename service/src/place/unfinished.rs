//! Unfinished files that killed backups left in a place that is a folder.
//!
//! The store writes a file beside its final name, as `HASH.zst#1`, and hides it until it is whole. A
//! leftover is deleted once no backup can still be writing it.

use std::fs;
use std::io;
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use super::{OBJECTS, is_object};
use crate::files::found;

/// What was deleted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unfinished {
    pub files: usize,
    pub bytes: u64,
}

/// Deletes the unfinished files of a place that were last written before a time.
///
/// # Errors
/// The folder cannot be read or written.
pub fn delete(place: &Path, before_ms: i64) -> io::Result<Unfinished> {
    let mut deleted = Unfinished::default();
    let before = UNIX_EPOCH + Duration::from_millis(before_ms.try_into().unwrap_or(0));
    for folder in found(fs::read_dir(place.join(OBJECTS)))?.into_iter().flatten() {
        let folder = folder?;
        if !folder.file_type()?.is_dir() {
            continue;
        }
        for file in found(fs::read_dir(folder.path()))?.into_iter().flatten() {
            let file = file?;
            let is_ours = is_unfinished(
                &folder.file_name().display().to_string(),
                &file.file_name().display().to_string(),
            );
            // In the meantime it may have become whole, or have been deleted.
            let Some(metadata) = found(file.metadata())?.filter(|_| is_ours) else { continue };
            if metadata.is_file()
                && metadata.modified()? < before
                && found(fs::remove_file(file.path()))?.is_some()
            {
                deleted.files += 1;
                deleted.bytes += metadata.len();
            }
        }
    }
    Ok(deleted)
}

/// Whether a file has the name of an unfinished one: `HASH.zst#1`, or `HASH#1`, in the
/// folder of the hash.
fn is_unfinished(folder: &str, name: &str) -> bool {
    name.split_once('#').is_some_and(|(object, number)| {
        is_object(object)
            && folder.len() == 2
            && object.starts_with(folder)
            && !number.is_empty()
            && number.bytes().all(|byte| byte.is_ascii_digit())
    })
}
