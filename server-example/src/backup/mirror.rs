//! A folder that is kept like the newest backup of a place.
//!
//! Only what has changed is fetched. What names others comes after them, and what is no longer named
//! goes after the new files were looked at. Files are exchanged one by one, each when it is whole;
//! an update that breaks off, or is killed, goes on from there.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use mesonet::durable::{create_folder, sync_folder};

use super::BackupError;
use super::address::absolute;
use super::gather::{How, found, how};
use super::list::{manifests, read};
use super::manifest::{Entry, Manifest};
use super::marker::{MARKER, Marker, exchanged, lock, note_exchanged};
use super::name::Name;
use super::place::Place;
use super::restore::write_file;
use super::ship::checksum;
use super::writer::FILE;
use crate::credentials::{KEY_COUNT, KEYS};

/// Where files are until they are whole.
pub const UNFINISHED: &str = ".mesonet-follower";

/// A folder that is kept like the newest backup of a place.
#[derive(Debug)]
pub struct Mirror {
    /// The address of the place, which may go and come back.
    address: String,
    folder: PathBuf,
    held: Option<Marker>,
    /// The files that are not as `held` says since an update broke off, with the checksum of what
    /// is there; empty if that is not known.
    exchanged: BTreeMap<String, String>,
    /// Whether all files were seen to be those of the backup by this process.
    is_sure: bool,
    /// The lock of the record: as long as this lives, nobody writes to it.
    _lock: File,
}

impl Mirror {
    /// Takes a folder, which is new or followed the place before.
    ///
    /// # Errors
    /// It is the folder of a record of its own, another process has it open, or it cannot be written.
    pub fn open(address: &str, folder: &Path) -> Result<Self, BackupError> {
        if !folder.join(MARKER).exists() && has_data(folder)? {
            return Err(BackupError::NotFollower(folder.to_owned()));
        }
        create_folder(folder).map_err(BackupError::file(folder))?;
        let lock = lock(folder)?;
        let held = Marker::of(folder)?;
        let of_killed = exchanged(folder)?.into_iter().map(|path| {
            let there = File::open(folder.join(&path)).and_then(|file| checksum(&file));
            (path, there.map(|(sha256, _)| sha256).unwrap_or_default())
        });
        let exchanged = of_killed.collect();
        // The next process may run in another folder.
        let (address, folder) = (absolute(address), folder.to_owned());
        if let Some(held) = held.as_ref().filter(|held| held.address != address) {
            tracing::warn!(
                "{} followed {} and follows {address} now",
                folder.display(),
                held.address
            );
        }
        Ok(Self { address, folder, held, exchanged, is_sure: false, _lock: lock })
    }

    /// Everything that was acknowledged before this time is in the folder; `None` before the first
    /// backup is there.
    pub fn time_ms(&self) -> Option<i64> {
        let held = self.held.as_ref().filter(|held| !held.manifest.files.is_empty());
        held.map(|held| held.manifest.time)
    }

    /// The backup that the folder holds; `None` before the first one is there.
    pub fn name(&self) -> Option<&Name> {
        let held = self.held.as_ref().filter(|held| !held.manifest.files.is_empty());
        held.map(|held| &held.name)
    }

    /// Makes the folder like the newest backup. `show` is called with its name when it is,
    /// before what is no longer named goes. Returns whether anything was fetched, now or by an update
    /// before it that broke off.
    ///
    /// # Errors
    /// The place cannot be read, has no backup, or lacks something; the folder cannot be written; or
    /// `show` fails. What was there is there.
    pub fn update(
        &mut self,
        show: impl FnOnce(&Name) -> Result<(), BackupError>,
    ) -> Result<bool, BackupError> {
        let place = Place::open(&self.address)?;
        let Some(name) = manifests(&place)?.pop() else {
            let (place, at_ms) = (self.address.clone(), None);
            return Err(BackupError::None { place, at_ms, oldest: String::new() });
        };
        let of_place = self.held.as_ref().filter(|held| held.address == self.address);
        if let Some(held) = of_place.filter(|_| self.exchanged.is_empty()) {
            if name == held.name && self.is_sure {
                return Ok(false);
            }
            // The newest was deleted, or the place was begun anew: what is here goes back only if it is not whole.
            if name < held.name && !held.manifest.files.is_empty() {
                let (place, held) = (self.address.clone(), held.name.clone());
                return Err(BackupError::Older { place, newest: name, held });
            }
        }
        let manifest = read(&place, &name)?;
        let new = Marker { address: self.address.clone(), name, manifest };
        if self.held.is_none() {
            // From here on the folder is that of a follower, whatever it has.
            let manifest = Manifest { files: Vec::new(), ..new.manifest.clone() };
            Marker { manifest, ..new.clone() }.write(&self.folder)?;
        }
        // What an update that broke off has fetched was shown to nobody, or not to all.
        let broke_off = !self.exchanged.is_empty();
        let is_new = self.exchange(&place, &new)? || broke_off;
        show(&new.name)?;
        self.remove_all_but(&new.manifest)?;
        new.write(&self.folder)?;
        note_exchanged(&self.folder, [].into_iter())?;
        self.held = Some(new);
        self.exchanged.clear();
        self.is_sure = true;
        Ok(is_new)
    }

    /// Exchanges the files that are not those of a backup. Returns whether there are any.
    fn exchange(&mut self, place: &Place, new: &Marker) -> Result<bool, BackupError> {
        let files = &new.manifest.files;
        let mut missing: Vec<&Entry> = files.iter().filter(|file| !self.holds(file)).collect();
        missing.sort_by_key(|file| order(&file.path));
        let paths = missing.iter().map(|file| &*file.path);
        let paths: BTreeSet<&str> =
            paths.chain(self.exchanged.keys().map(|path| &**path)).collect();
        // What an update that broke off has left, first of all: it may be what fills the disk.
        let unfinished = self.folder.join(UNFINISHED);
        let clear =
            || found(fs::remove_dir_all(&unfinished)).map_err(BackupError::file(&unfinished));
        clear()?;
        note_exchanged(&self.folder, paths.into_iter())?;
        for file in &missing {
            if let Err(error) = write_file(place, &new.name, file, &unfinished, |_| {}) {
                // Half of a file helps nobody, and takes room. Why it is half is what counts.
                let _ = clear();
                return Err(error);
            }
            let (from, to) = (unfinished.join(&file.path), self.folder.join(&file.path));
            let above = to.parent().unwrap_or(&self.folder);
            create_folder(above).map_err(BackupError::file(above))?;
            self.exchanged.insert(file.path.clone(), String::new());
            fs::rename(&from, &to).map_err(BackupError::file(&to))?;
            sync_folder(above).map_err(BackupError::file(above))?;
            self.exchanged.insert(file.path.clone(), file.sha256.clone());
        }
        clear()?;
        Ok(!missing.is_empty())
    }

    /// Whether a file of a backup is in the folder. At the first look those that change are fetched
    /// anew.
    fn holds(&self, file: &Entry) -> bool {
        let changes = file.mark.is_empty();
        let is_there = match self.exchanged.get(&file.path) {
            Some(sha256) => *sha256 == file.sha256,
            None if changes && !self.is_sure => false,
            None => self.held.as_ref().is_some_and(|held| {
                let files = &held.manifest.files;
                let at = files.binary_search_by(|held| held.path.cmp(&file.path));
                at.is_ok_and(|at| {
                    files[at].sha256 == file.sha256 && files[at].modified_ns == file.modified_ns
                })
            }),
        };
        let length = || fs::metadata(self.folder.join(&file.path)).map(|found| found.len());
        let is_whole = || length().is_ok_and(|found| found == file.length);
        is_there && (changes || is_whole())
    }

    /// Deletes what came of other backups and is not in the new one, and the folders that are empty
    /// then.
    fn remove_all_but(&self, new: &Manifest) -> Result<(), BackupError> {
        let needed: BTreeSet<&str> = new.files.iter().map(|file| &*file.path).collect();
        let held = self.held.iter().flat_map(|held| &held.manifest.files).map(|file| &file.path);
        for file in held.chain(self.exchanged.keys()).filter(|path| !needed.contains(&***path)) {
            let path = self.folder.join(file);
            found(fs::remove_file(&path)).map_err(BackupError::file(&path))?;
            for above in Path::new(file).ancestors().skip(1) {
                if above.as_os_str().is_empty() || fs::remove_dir(self.folder.join(above)).is_err()
                {
                    break;
                }
            }
        }
        Ok(())
    }
}

/// Whether anything is in a folder that a backup would take, or that belongs to a database: it may be all that is
/// left of somebody's data.
fn has_data(folder: &Path) -> Result<bool, BackupError> {
    let Some(entries) = found(fs::read_dir(folder)).map_err(BackupError::file(folder))? else {
        return Ok(false);
    };
    for entry in entries {
        let name = entry.map_err(BackupError::file(folder))?.file_name();
        let name = name.to_string_lossy();
        let is_data = match how(&name) {
            How::Left => name.contains(".sqlite") || name == FILE,
            How::Foreign => false,
            How::Frozen | How::First | How::Keys | How::Files | How::Runs => true,
        };
        if is_data {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The order in which files come: what others name first; of a model run its parts before the
/// documents that publish them; a database before its count, which may lag; and what the fetchers
/// have seen last, so that they pass over nothing that the databases lack.
fn order(path: &str) -> (usize, Reverse<usize>, &str) {
    let last =
        [KEYS, KEY_COUNT, "alerts.sqlite", "mesonet.sqlite", "alerts.count", "mesonet.count"];
    let rank = match last.iter().position(|name| *name == path) {
        Some(at) => at + 2,
        None if path.starts_with("fetch/") => last.len() + 2,
        None => usize::from(path.ends_with("/zarr.json")),
    };
    (rank, Reverse(path.split('/').count()), path)
}

#[cfg(test)]
#[path = "mirror_tests.rs"]
mod tests;
