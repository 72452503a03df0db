//! Which record may back up to a place: that of its newest backup.
//!
//! Backups of another record are refused, unless it is to replace the old record: `backup
//! --take-over`. From then on the newest backup belongs to the new record, so the old record is
//! refused. A backup of the old record that was in flight may still appear. Then the next backup of
//! the new record is refused, and needs `--take-over` once more.

use super::BackupError;
use super::list::{manifests, read};
use super::manifest::{BackupManifest, shown};
use super::name::Name;
use crate::place::ObjectPlace;

/// Checks that a record may back up to a place. Returns the newest backup that is there.
///
/// # Errors
/// The newest backup belongs to another record, or the place cannot be read.
pub fn check_turn(place: &ObjectPlace, writer: &str) -> Result<Option<Name>, BackupError> {
    let mut names = manifests(place)?;
    let Some(newest) = names.pop() else { return Ok(None) };
    let refused = |by| {
        let place = place.address().to_owned();
        Err(BackupError::Replaced { place, by })
    };
    match read(place, &newest) {
        Ok(manifest) if manifest.writer == writer => Ok(Some(newest)),
        Ok(BackupManifest { folder, time, .. }) => {
            refused(format!("that of {folder}, which was backed up at {}", shown(time)))
        }
        // It does not say whose it is, but the backup before it does.
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

#[cfg(test)]
#[path = "writer_tests.rs"]
mod tests;
