//! A folder that is kept like the newest backup of a place.
//!
//! Only what has changed is fetched. Databases come last, so that what they name is there; what is
//! no longer named goes after they were looked at.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::fs::{self, File, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process;

use mesonet::durable::{create_folder, sync_folder};

use super::BackupError;
use super::gather::found;
use super::list::{manifests, read};
use super::manifest::{Entry, Manifest, Name};
use super::place::Place;
use super::restore::write_file;

/// The file that says that a folder follows a place, and what it holds.
pub const MARKER: &str = "follower";

/// Where files are until they are whole.
const UNFINISHED: &str = ".mesonet-follower";

/// A folder that is kept like the newest backup of a place.
#[derive(Debug)]
pub struct Mirror {
    /// The address of the place, which may go and come back.
    address: String,
    folder: PathBuf,
    held: Option<(Name, Manifest)>,
    /// The files that were exchanged since, if the last update broke off.
    exchanged: BTreeSet<String>,
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
        let marker = folder.join(MARKER);
        if !marker.exists() && folder.join("mesonet.sqlite").exists() {
            return Err(BackupError::NotFollower(folder.to_owned()));
        }
        create_folder(folder).map_err(BackupError::file(folder))?;
        let lock = lock(folder)?;
        let held = found(fs::read(&marker)).map_err(BackupError::file(&marker))?;
        let held = held.as_deref().map(|bytes| held_of(bytes, &marker)).transpose()?;
        let unfinished = folder.join(UNFINISHED);
        found(fs::remove_dir_all(&unfinished)).map_err(BackupError::file(&unfinished))?;
        let (address, folder) = (address.to_owned(), folder.to_owned());
        let exchanged = BTreeSet::new();
        Ok(Self { address, folder, held, exchanged, is_sure: false, _lock: lock })
    }

    /// Everything that was acknowledged before this time is in the folder; `None` before the first
    /// backup is there.
    pub fn time_ms(&self) -> Option<i64> {
        let held = self.held.as_ref().filter(|(_, manifest)| !manifest.files.is_empty());
        held.map(|(_, manifest)| manifest.time)
    }

    /// Makes the folder like the newest backup. `show` is called when it is, before what is no
    /// longer named goes. Returns whether anything was fetched.
    ///
    /// # Errors
    /// The place cannot be read, has no backup, or lacks something; the folder cannot be written; or
    /// `show` fails. What was there is there.
    pub fn update(
        &mut self,
        show: impl FnOnce() -> Result<(), BackupError>,
    ) -> Result<bool, BackupError> {
        let place = Place::open(&self.address)?;
        let Some(name) = manifests(&place)?.pop() else {
            let (place, at_ms) = (self.address.clone(), None);
            return Err(BackupError::None { place, at_ms, oldest: String::new() });
        };
        if self.is_sure && self.held.as_ref().is_some_and(|(held, _)| name <= *held) {
            return Ok(false);
        }
        let manifest = read(&place, &name)?;
        if self.held.is_none() {
            // From here on the folder is that of a follower, whatever it has.
            self.mark(&name, &Manifest { files: Vec::new(), ..manifest.clone() })?;
        }
        let mut missing: Vec<&Entry> =
            manifest.files.iter().filter(|file| !self.holds(file)).collect();
        missing.sort_by_key(|file| order(&file.path));
        // What an update that broke off has left.
        let unfinished = self.folder.join(UNFINISHED);
        found(fs::remove_dir_all(&unfinished)).map_err(BackupError::file(&unfinished))?;
        for file in &missing {
            write_file(&place, &name, file, &unfinished, |_| {})?;
            let (from, to) = (unfinished.join(&file.path), self.folder.join(&file.path));
            let above = to.parent().unwrap_or(&self.folder);
            create_folder(above).map_err(BackupError::file(above))?;
            self.exchanged.insert(file.path.clone());
            fs::rename(&from, &to).map_err(BackupError::file(&to))?;
            sync_folder(above).map_err(BackupError::file(above))?;
        }
        let is_new = !missing.is_empty();
        found(fs::remove_dir_all(&unfinished)).map_err(BackupError::file(&unfinished))?;
        show()?;
        let before = self.held.take();
        self.mark(&name, &manifest)?;
        if let Some((_, before)) = before {
            self.remove(&before, &manifest)?;
        }
        self.held = Some((name, manifest));
        self.exchanged.clear();
        self.is_sure = true;
        Ok(is_new)
    }

    /// Whether a file of a backup is in the folder. At the first look those that change are fetched
    /// anew: a process that was killed may have left newer ones.
    fn holds(&self, file: &Entry) -> bool {
        let held = self.held.as_ref().and_then(|(_, held)| {
            let at = held.files.binary_search_by(|held| held.path.cmp(&file.path)).ok()?;
            held.files.get(at)
        });
        let is_same =
            held.is_some_and(|held| held.sha256 == file.sha256 && held.length == file.length);
        let length = || fs::metadata(self.folder.join(&file.path)).map(|found| found.len());
        is_same
            && !self.exchanged.contains(&file.path)
            && (self.is_sure || !file.mark.is_empty())
            && (file.mark.is_empty() || length().is_ok_and(|length| length == file.length))
    }

    /// Deletes what the new backup no longer has, and the folders that are empty then.
    fn remove(&self, before: &Manifest, now: &Manifest) -> Result<(), BackupError> {
        let needed: BTreeSet<&str> = now.files.iter().map(|file| &*file.path).collect();
        for file in before.files.iter().filter(|file| !needed.contains(&*file.path)) {
            let path = self.folder.join(&file.path);
            found(fs::remove_file(&path)).map_err(BackupError::file(&path))?;
            for above in Path::new(&file.path).ancestors().skip(1) {
                if above.as_os_str().is_empty() || fs::remove_dir(self.folder.join(above)).is_err()
                {
                    break;
                }
            }
        }
        Ok(())
    }

    /// Writes down what the folder holds.
    fn mark(&self, name: &Name, manifest: &Manifest) -> Result<(), BackupError> {
        let (fresh, marker) = (self.folder.join(".follower.new"), self.folder.join(MARKER));
        let write = || {
            let mut file = File::create(&fresh)?;
            file.write_all(format!("{name}\n").as_bytes())?;
            file.write_all(&manifest.encode())?;
            file.sync_all()?;
            fs::rename(&fresh, &marker)?;
            sync_folder(&self.folder)
        };
        write().map_err(BackupError::file(&marker))
    }
}

/// Makes the folder of a follower that no process has open one of a record of its own. Returns the
/// time of the backup that it holds.
///
/// # Errors
/// It follows nothing, holds no whole backup, or a process has it open.
pub fn promote(folder: &Path) -> Result<i64, BackupError> {
    let marker = folder.join(MARKER);
    let bytes = found(fs::read(&marker)).map_err(BackupError::file(&marker))?;
    let bytes = bytes.ok_or_else(|| BackupError::NotFollower(folder.to_owned()))?;
    let _lock = lock(folder)?;
    let (_, manifest) = held_of(&bytes, &marker)?;
    if manifest.files.is_empty() {
        return Err(BackupError::NotFollower(folder.to_owned()));
    }
    fs::remove_file(&marker).map_err(BackupError::file(&marker))?;
    sync_folder(folder).map_err(BackupError::file(folder))?;
    Ok(manifest.time)
}

/// Reads what a folder holds.
fn held_of(bytes: &[u8], marker: &Path) -> Result<(Name, Manifest), BackupError> {
    let end = bytes.iter().position(|&byte| byte == b'\n').unwrap_or(0);
    let name = std::str::from_utf8(&bytes[..end]).ok().and_then(Name::parse);
    let damaged = || io::Error::new(io::ErrorKind::InvalidData, "it is damaged");
    let name = name.ok_or_else(|| BackupError::file(marker)(damaged()))?;
    let manifest = Manifest::decode(&bytes[end + 1..]);
    let manifest =
        manifest.map_err(|error| BackupError::Manifest { name: name.to_string(), error })?;
    Ok((name, manifest))
}

/// Locks the record of a folder as whoever writes to it does.
fn lock(folder: &Path) -> Result<File, BackupError> {
    let path = folder.join("lock");
    let lock = File::options().create(true).truncate(false).write(true).open(&path);
    let lock = lock.map_err(BackupError::file(&path))?;
    match lock.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Err(BackupError::Open(folder.to_owned())),
        Err(TryLockError::Error(error)) => return Err(BackupError::File { path, error }),
    }
    // It helps only who is refused: no reason to fail.
    let name = format!("process {} (mesonet-server, a follower)", process::id());
    let _ = lock.set_len(0).and_then(|()| (&lock).write_all(name.as_bytes()));
    Ok(lock)
}

/// The order in which files come: what others name first; of a model run its parts before the
/// documents that publish them; a database before its count, which may lag.
fn order(path: &str) -> (usize, Reverse<usize>, &str) {
    let last = ["alerts.sqlite", "keys.sqlite", "mesonet.sqlite", "alerts.count", "mesonet.count"];
    let rank = match last.iter().position(|name| *name == path) {
        Some(at) => at + 2,
        None => usize::from(path.ends_with("/zarr.json")),
    };
    (rank, Reverse(path.split('/').count()), path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_names_others_comes_after_them() {
        let mut paths = [
            "mesonet.count",
            "mesonet.sqlite",
            "models/a/20180917T000000Z/zarr.json",
            "models/a/20180917T000000Z/t/zarr.json",
            "alerts.sqlite",
            "models/a/20180917T000000Z/t/c/0/0/0",
            "segments/00000001.arrow",
        ];
        paths.sort_by_key(|path| order(path));
        assert_eq!(
            paths,
            [
                "models/a/20180917T000000Z/t/c/0/0/0",
                "segments/00000001.arrow",
                "models/a/20180917T000000Z/t/zarr.json",
                "models/a/20180917T000000Z/zarr.json",
                "alerts.sqlite",
                "mesonet.sqlite",
                "mesonet.count",
            ]
        );
    }
}
