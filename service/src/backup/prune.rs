//! Which backups and files are deleted.
//!
//! Other processes may be making backups at the same time, and nothing shows these until they are
//! done. So everything that they may rely on is kept: a file that is less than a week old, and a
//! backup that was replaced within the time that a backup may take.
//!
//! If the clock is ahead of the newest backup and the newest file, ages are counted from these and
//! not from the clock. So a wrong clock deletes no more than a right one would, and a place that
//! gets no more backups keeps what it has.

use std::collections::HashSet;
use std::fmt;

use mesonet::time::{DAY_MS, parse_window};

use super::BackupError;
use super::list::{FOLDER, manifests, read};
use super::manifest::ManifestEntry;
use super::name::Name;
use super::ship::{LONGEST_MS, LOST};
use crate::place::{ObjectPlace, Unfinished, object};

/// Files that are not older than this are kept. It is more than twice as long as a backup may take.
const SPARED_MS: i64 = 7 * DAY_MS;

/// What was deleted.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct PruneReport {
    backups: usize,
    files: usize,
    bytes: u64,
    /// Parts of files that killed commands left.
    unfinished: Unfinished,
    /// How many backups are left.
    left: usize,
}

impl fmt::Display for PruneReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { backups, files, bytes, unfinished, left } = self;
        write!(
            f,
            "deleted {backups} backups, and {files} files in {bytes} bytes; {left} are left"
        )?;
        let Unfinished { files, bytes } = unfinished;
        if *files > 0 {
            write!(f, "\ndeleted {files} unfinished files of killed backups in {bytes} bytes")?;
        }
        Ok(())
    }
}

/// Deletes the backups that are older than a span. Keeps the newest one, those that were replaced
/// lately, and the newest one of a record that had lost nothing. Then deletes the files that none
/// of the remaining backups names, and the unfinished files of killed backups.
///
/// # Errors
/// The span is too short. Or a backup to keep cannot be read: what it needs is not known, so
/// nothing is deleted.
pub fn prune(place: &ObjectPlace, keep: &str, now_ms: i64) -> Result<PruneReport, BackupError> {
    let kept_ms = parse_window(keep).ok().filter(|&kept_ms| kept_ms >= SPARED_MS);
    let kept_ms = kept_ms.ok_or_else(|| BackupError::Keep(keep.to_owned()))?;
    let names = manifests(place)?;
    let Some(newest) = names.last() else { return Ok(PruneReport::default()) };
    let objects = place.objects()?;
    let written_ms =
        objects.iter().chain(&place.list(FOLDER)?).map(|object| object.written_ms).max();
    let now_ms = now_ms.min(newest.time_ms);
    let is_older = |name: &Name, span_ms: i64| name.time_ms < now_ms.saturating_sub(span_ms);
    let replaced = names
        .windows(2)
        .filter(|pair| is_older(&pair[0], kept_ms) && is_older(&pair[1], LONGEST_MS));
    let mut gone: Vec<&Name> = replaced.map(|pair| &pair[0]).collect();
    let whole = newest_whole(place, &names)?;
    gone.retain(|name| Some(*name) != whole);
    let mut pruned = PruneReport { left: names.len() - gone.len(), ..PruneReport::default() };
    let mut needed = HashSet::new();
    for name in names.iter().filter(|name| !gone.contains(name)) {
        needed.extend(read(place, name)?.files.iter().map(ManifestEntry::object_name));
    }
    // The backups first, so that none names a file that is no longer there.
    for name in gone {
        place.delete(&format!("{FOLDER}/{name}"), i64::MAX)?;
        pruned.backups += 1;
    }
    let before_ms = now_ms.min(written_ms.unwrap_or(now_ms)).saturating_sub(SPARED_MS);
    for found in objects {
        let is_old = found.written_ms < before_ms;
        if is_old
            && !needed.contains(&found.name)
            && place.delete(&object(&found.name), before_ms)?
        {
            pruned.files += 1;
            pruned.bytes += found.length;
        }
    }
    pruned.unfinished = place.delete_unfinished(before_ms)?;
    Ok(pruned)
}

/// The newest backup of a record that had lost nothing.
fn newest_whole<'a>(
    place: &ObjectPlace,
    names: &'a [Name],
) -> Result<Option<&'a Name>, BackupError> {
    for name in names.iter().rev() {
        if !read(place, name)?.left_out.iter().any(|left_out| left_out.starts_with(LOST)) {
            return Ok(Some(name));
        }
    }
    Ok(None)
}

#[cfg(test)]
#[path = "prune_tests.rs"]
mod tests;
