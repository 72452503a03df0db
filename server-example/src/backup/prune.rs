//! Which backups and files are deleted.
//!
//! Others may make backups meanwhile, and nothing tells of them until they are done. So whatever
//! they may count on is spared: a file that is not a week old, and a backup that another one has
//! replaced only within the time that a backup may take.

use std::collections::HashSet;
use std::fmt;

use mesonet::time::{DAY_MS, parse_window};

use super::BackupError;
use super::list::{FOLDER, manifests, read};
use super::name::Name;
use super::place::{Place, object};
use super::ship::LONGEST_MS;

/// What is not older than this stays. Longer than a backup may take, twice.
const SPARED_MS: i64 = 7 * DAY_MS;

/// What was deleted.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Pruned {
    backups: usize,
    files: usize,
    bytes: u64,
    /// How many backups are left.
    left: usize,
}

impl fmt::Display for Pruned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { backups, files, bytes, left } = self;
        write!(f, "deleted {backups} backups, and {files} files in {bytes} bytes; left are {left}")
    }
}

/// Deletes the backups that are older than a span, but for the newest, and the files that none of
/// the others names.
///
/// # Errors
/// The span is too short. Or a backup that stays cannot be read: what it needs is not known, so
/// nothing is deleted.
pub fn prune(place: &Place, keep: &str, now_ms: i64) -> Result<Pruned, BackupError> {
    let kept_ms = parse_window(keep).ok().filter(|&kept_ms| kept_ms >= SPARED_MS);
    let kept_ms = kept_ms.ok_or_else(|| BackupError::Keep(keep.to_owned()))?;
    let names = manifests(place)?;
    let is_older = |name: &Name, span_ms: i64| name.time_ms < now_ms.saturating_sub(span_ms);
    let replaced = names
        .windows(2)
        .filter(|pair| is_older(&pair[0], kept_ms) && is_older(&pair[1], LONGEST_MS));
    let gone: Vec<&Name> = replaced.map(|pair| &pair[0]).collect();
    let mut pruned = Pruned { left: names.len() - gone.len(), ..Pruned::default() };
    let mut needed = HashSet::new();
    for name in names.iter().filter(|name| !gone.contains(name)) {
        needed.extend(read(place, name)?.files.into_iter().map(|file| file.sha256));
    }
    // The backups first: none may name what is not there.
    for name in gone {
        place.delete(&format!("{FOLDER}/{name}"), i64::MAX)?;
        pruned.backups += 1;
    }
    let before_ms = now_ms.saturating_sub(SPARED_MS);
    for found in place.objects()? {
        let is_old = found.written_ms < before_ms;
        if is_old
            && !needed.contains(&found.name)
            && place.delete(&object(&found.name), before_ms)?
        {
            pruned.files += 1;
            pruned.bytes += found.length;
        }
    }
    Ok(pruned)
}

#[cfg(test)]
#[path = "prune_tests.rs"]
mod tests;
