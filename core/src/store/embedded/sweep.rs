//! Cleans up after a killed process when a store is opened.
//!
//! A file is deleted only if the catalogue says that it is unfinished or superseded, and its
//! sources or successors exist. Any other file that looks like a segment is moved to `orphaned/`
//! and reported; other files are left where they are.

use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use super::catalogue::{RecordCatalogue, Retired, SegmentEntry, segment_file};
use super::fault::{Faults, storage};
use super::folder::{Folder, orphaned, segment_id, sync_folder};
use super::mapped::MappedFile;
use super::names::{DAMAGED, ORPHANED, SEGMENTS};
use crate::store::StoreError;

/// What to do with a file.
enum Fate {
    Delete,
    Keep,
    MoveTo(&'static str),
}

struct Sweep<'a> {
    folder: &'a Folder,
    entries: HashMap<i64, &'a SegmentEntry>,
    pending: HashMap<i64, Vec<i64>>,
    retired: HashMap<i64, Retired>,
    /// Whether the journal lacks acknowledged batches.
    lacks_batches: bool,
    faults: &'a Arc<Faults>,
}

/// Cleans up the files left behind. Returns how many files were deleted.
pub(super) fn sweep(
    folder: &Folder,
    catalogue: &mut RecordCatalogue,
    entries: &[SegmentEntry],
    lacks_batches: bool,
    faults: &Arc<Faults>,
) -> Result<usize, StoreError> {
    let sweep = Sweep {
        folder,
        entries: entries.iter().map(|entry| (entry.id, entry)).collect(),
        pending: catalogue.pending()?.into_iter().collect(),
        retired: catalogue.retired()?.into_iter().map(|retired| (retired.id, retired)).collect(),
        lacks_batches,
        faults,
    };
    let mut deleted = 0;
    for path in folder.files(SEGMENTS)? {
        match sweep.fate(&path) {
            Fate::Keep => {}
            Fate::Delete => {
                fs::remove_file(&path).map_err(|error| storage(&path, &error))?;
                deleted += 1;
            }
            Fate::MoveTo(name) => _ = folder.move_to(name, &path)?,
        }
    }
    faults.note_all(orphaned(&folder.path)?);
    if !sweep.pending.is_empty() || !sweep.retired.is_empty() {
        // Files whose names come back after a power failure must still be known.
        sync_folder(&folder.path.join(SEGMENTS))?;
        catalogue.forget_swept()?;
    }
    Ok(deleted)
}

/// Returns an id that no segment of the catalogue and no file has.
pub(super) fn next_segment(
    folder: &Folder,
    catalogue: &RecordCatalogue,
) -> Result<i64, StoreError> {
    let mut next = catalogue.next_segment()?;
    for name in [SEGMENTS, DAMAGED, ORPHANED] {
        let ids = folder.files(name)?.iter().filter_map(|path| segment_id(path)).max();
        next = next.max(ids.unwrap_or(0) + 1);
    }
    Ok(next)
}

impl Sweep<'_> {
    fn fate(&self, path: &Path) -> Fate {
        let id = segment_id(path);
        match path.extension().and_then(|name| name.to_str()) {
            Some("tmp") if id.is_some_and(|id| self.pending.contains_key(&id)) => Fate::Delete,
            Some("arrow") => self.fate_of_segment(path, id),
            _ => Fate::Keep,
        }
    }

    fn fate_of_segment(&self, path: &Path, id: Option<i64>) -> Fate {
        let own = id.filter(|&id| path == self.folder.path.join(segment_file(id)));
        let Some(id) = own else { return Fate::MoveTo(ORPHANED) };
        if self.entries.contains_key(&id) {
            return Fate::Keep;
        }
        let superseded = match (self.pending.get(&id), self.retired.get(&id)) {
            (_, Some(retired)) if retired.damaged => return Fate::MoveTo(DAMAGED),
            (Some(made_from), None) => self.are_there(made_from),
            (_, Some(_)) => self.is_superseded(id),
            (None, None) => false,
        };
        if superseded { Fate::Delete } else { Fate::MoveTo(ORPHANED) }
    }

    /// Whether the sources of an unfinished segment exist: other segments, or the journal.
    fn are_there(&self, made_from: &[i64]) -> bool {
        let is_there = |id: &i64| {
            self.entries.get(id).is_some_and(|entry| {
                let found = fs::metadata(self.folder.path.join(entry.file()));
                found.is_ok_and(|found| found.len() == entry.length)
            })
        };
        !self.lacks_batches && made_from.iter().all(is_there)
    }

    /// Whether the readings of a retired segment are intact in another one, or were dropped.
    fn is_superseded(&self, id: i64) -> bool {
        let mut id = id;
        // Each segment was replaced by a later one, so the loop ends.
        while let Some(retired) = self.retired.get(&id) {
            match retired.replaced_by {
                None => return true,
                Some(by) if by > id => id = by,
                Some(_) => return false,
            }
        }
        self.entries.get(&id).is_some_and(|entry| self.is_whole(entry))
    }

    fn is_whole(&self, entry: &SegmentEntry) -> bool {
        let (file, checksums) = (entry.file(), entry.checksums.clone());
        let path = self.folder.path.join(&file);
        let mapped = MappedFile::open(&path, &file, entry.length, checksums, self.faults);
        mapped.is_ok_and(|mapped| mapped.check_all())
    }
}
