//! A folder that is kept equal to the newest backup of a place.
//!
//! Only changes are fetched. A file that names others comes after them. Files that are no longer
//! named are deleted once the new ones are in use. Files are replaced one by one, each when it is
//! whole. After an update that broke off or was killed, the next one goes on from there.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use mesonet::durable::{create_folder, sync_folder};
use mesonet::lock::FileLock;

use super::BackupError;
use super::gather::{How, how};
use super::list::{manifests, read};
use super::manifest::{BackupManifest, ManifestEntry};
use super::marker::{Marker, exchanged, lock_record, note_exchanged};
use super::name::Name;
use super::restore::write_file;
use crate::files::found;
use crate::keys::{KEY_COUNT, KEYS};
use crate::place::{ObjectPlace, absolute, checksum};
use crate::record::{FOLLOWER, WRITER};

/// The folder for files that are not whole yet.
pub const UNFINISHED: &str = ".mesonet-follower";

/// A folder that is kept equal to the newest backup of a place.
#[derive(Debug)]
pub struct Mirror {
    /// The address of the place, which may be unreachable at times.
    address: String,
    folder: PathBuf,
    held: Option<Marker>,
    /// The files that differ from `held` because an update broke off, with the checksum of the
    /// present file; empty if the checksum is not known.
    exchanged: BTreeMap<String, String>,
    /// Whether this process has checked that all files are those of the backup.
    is_sure: bool,
    /// The lock of the record: as long as it is held, no other process writes to the record.
    _lock: FileLock,
}

impl Mirror {
    /// Opens a folder that is new or already follows a place.
    ///
    /// # Errors
    /// The folder has a record of its own, another process has it open, or it cannot be written.
    pub fn open(address: &str, folder: &Path) -> Result<Self, BackupError> {
        if !folder.join(FOLLOWER).exists() && has_data(folder)? {
            return Err(BackupError::NotFollower(folder.to_owned()));
        }
        create_folder(folder).map_err(BackupError::file(folder))?;
        let lock = lock_record(folder)?;
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
                "{} followed {}, and now follows {address}",
                folder.display(),
                held.address
            );
        }
        Ok(Self { address, folder, held, exchanged, is_sure: false, _lock: lock })
    }

    /// Everything that was acknowledged before this time is in the folder; `None` before the first
    /// backup is there.
    pub fn time_ms(&self) -> Option<i64> {
        self.name().map(|name| name.time_ms)
    }

    /// The backup that the folder holds; `None` before the first one is there.
    pub fn name(&self) -> Option<&Name> {
        let held = self.held.as_ref().filter(|held| !held.manifest.files.is_empty());
        held.map(|held| &held.name)
    }

    /// The name of the record that the folder holds; empty before the first backup is there.
    pub fn writer(&self) -> &str {
        self.held.as_ref().map_or("", |held| &held.manifest.writer)
    }

    /// Makes the folder equal to the newest backup. Then `show` is called with the name of the
    /// backup, before files that are no longer named are deleted. Returns whether anything was
    /// fetched, by this update or by one before it that broke off.
    ///
    /// # Errors
    /// The place cannot be read, has no backup, or lacks something; the folder cannot be written;
    /// or `show` fails. What was there stays.
    pub fn update(
        &mut self,
        show: impl FnOnce(&Name) -> Result<(), BackupError>,
    ) -> Result<bool, BackupError> {
        let place = ObjectPlace::open(&self.address)?;
        let Some(name) = manifests(&place)?.pop() else {
            let (place, at_ms) = (self.address.clone(), None);
            return Err(BackupError::None { place, at_ms, oldest: String::new() });
        };
        let of_place = self.held.as_ref().filter(|held| held.address == self.address);
        if let Some(held) = of_place.filter(|_| self.exchanged.is_empty()) {
            if name == held.name && self.is_sure {
                return Ok(false);
            }
            // The newest backup was deleted, or the place was emptied. The folder goes back to an
            // older backup only if it is not whole.
            if name < held.name && !held.manifest.files.is_empty() {
                let (place, held) = (self.address.clone(), held.name.clone());
                return Err(BackupError::Older { place, newest: name, held });
            }
        }
        let manifest = read(&place, &name)?;
        let new = Marker { address: self.address.clone(), name, manifest };
        if self.held.is_none() {
            // From here on the folder belongs to a follower, whatever it contains.
            let manifest = BackupManifest { files: Vec::new(), ..new.manifest.clone() };
            Marker { manifest, ..new.clone() }.write(&self.folder)?;
        }
        // `show` may not have been called for files that an interrupted update fetched.
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

    /// Replaces the files that differ from those of a backup. Returns whether there are any.
    fn exchange(&mut self, place: &ObjectPlace, new: &Marker) -> Result<bool, BackupError> {
        let files = &new.manifest.files;
        let mut missing: Vec<&ManifestEntry> =
            files.iter().filter(|file| !self.holds(file)).collect();
        missing.sort_by_key(|file| order(&file.path));
        let paths = missing.iter().map(|file| &*file.path);
        let paths: BTreeSet<&str> =
            paths.chain(self.exchanged.keys().map(|path| &**path)).collect();
        // First delete what an interrupted update left: it may be what fills the disk.
        let unfinished = self.folder.join(UNFINISHED);
        let clear =
            || found(fs::remove_dir_all(&unfinished)).map_err(BackupError::file(&unfinished));
        clear()?;
        note_exchanged(&self.folder, paths.into_iter())?;
        for file in &missing {
            if let Err(error) = write_file(place, &new.name, file, &unfinished, |_| {}) {
                // Half a file is useless and takes room. The first error is the one to report.
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

    /// Whether a file of a backup is in the folder. At the first look, files that change are
    /// fetched again.
    fn holds(&self, file: &ManifestEntry) -> bool {
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

    /// Deletes files that came from other backups and are not in the new one, and then empty
    /// folders.
    fn remove_all_but(&self, new: &BackupManifest) -> Result<(), BackupError> {
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

/// Whether a folder contains anything that a backup would copy, or that belongs to a database. It
/// may be all that is left of somebody's data.
fn has_data(folder: &Path) -> Result<bool, BackupError> {
    let Some(entries) = found(fs::read_dir(folder)).map_err(BackupError::file(folder))? else {
        return Ok(false);
    };
    for entry in entries {
        let name = entry.map_err(BackupError::file(folder))?.file_name();
        let name = name.to_string_lossy();
        let is_data = match how(&name) {
            How::Left => name.contains(".sqlite") || name == WRITER,
            How::Foreign => false,
            How::Frozen | How::First | How::Keys | How::Files | How::Runs => true,
        };
        if is_data {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The order in which files are fetched. Files that others name come first. The parts of a model
/// run come before the documents that publish them. A database comes before its count, which may be
/// behind. The notes of what the fetchers have seen come last, so that the fetchers skip nothing
/// that the databases lack.
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
