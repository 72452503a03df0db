//! Restoring a backup.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use mesonet::durable::{create_folder, sync_folder};
use mesonet::lock::FileLock;

use super::content::fetch;
use super::list::{manifests, read};
use super::manifest::{BackupManifest, ManifestEntry, shown};
use super::name::Name;
use super::{BackupError, lock};
use crate::files::found;
use crate::place::ObjectPlace;
use crate::progress::bar_of_bytes;

/// Restores a record into a new folder, which appears when it is whole. Uses the newest backup, or
/// the newest one at or before a time. Returns the name of the backup and what it holds.
///
/// # Errors
/// There is no such backup, part of it is missing or damaged, or the folder cannot be written or is
/// not empty. The folder then stays unchanged.
pub fn restore(
    from: &str,
    at_ms: Option<i64>,
    to: &Path,
) -> Result<(Name, BackupManifest), BackupError> {
    let place = ObjectPlace::open(from)?;
    let name = chosen(&place, at_ms)?;
    let manifest = read(&place, &name)?;
    let staged = Staged::create(to)?;
    let bar = bar_of_bytes(manifest.bytes());
    for file in &manifest.files {
        write_file(&place, &name, file, &staged.folder, |bytes| bar.inc(bytes))?;
    }
    staged.publish(&manifest)?;
    bar.finish_and_clear();
    Ok((name, manifest))
}

/// Returns the newest backup, or the newest one at or before a time.
fn chosen(place: &ObjectPlace, at_ms: Option<i64>) -> Result<Name, BackupError> {
    let names = manifests(place)?;
    let oldest = names.iter().map(|name| name.time_ms).min().map(shown);
    let is_before = |name: &Name| at_ms.is_none_or(|at_ms| name.time_ms <= at_ms);
    names.into_iter().rfind(is_before).ok_or_else(|| BackupError::None {
        place: place.address().to_owned(),
        at_ms: at_ms.filter(|_| oldest.is_some()),
        oldest: oldest.unwrap_or_default(),
    })
}

/// Writes a file of a backup below a folder. When this returns, the file is on disk and checked.
///
/// # Errors
/// The object is missing or damaged, the place cannot be read, or the file cannot be written.
pub fn write_file(
    place: &ObjectPlace,
    name: &Name,
    file: &ManifestEntry,
    folder: &Path,
    mut written: impl FnMut(u64),
) -> Result<(), BackupError> {
    let path = folder.join(&file.path);
    let failed = |error: io::Error| match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            BackupError::Full(folder.to_owned())
        }
        _ => BackupError::File { path: path.clone(), error },
    };
    fs::create_dir_all(path.parent().unwrap_or(folder)).map_err(failed)?;
    let mut options = File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    if file.path == "keys.sqlite" {
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    }
    let mut out = options.open(&path).map_err(failed)?;
    fetch(place, name, file, |piece| {
        out.write_all(piece).map_err(failed)?;
        written(piece.len() as u64);
        Ok(())
    })?;
    if let Some(ns) = file.modified_ns {
        out.set_modified(UNIX_EPOCH + Duration::from_nanos(ns)).map_err(failed)?;
    }
    out.sync_all().map_err(failed)
}

/// A folder beside the one to restore into. It is removed unless it is published.
struct Staged {
    target: PathBuf,
    folder: PathBuf,
    lock_path: PathBuf,
    _lock: FileLock,
}

impl Staged {
    fn create(target: &Path) -> Result<Self, BackupError> {
        let target = std::path::absolute(target).map_err(BackupError::file(target))?;
        let named = target.file_name().zip(target.parent());
        let Some((name, parent)) = named else {
            return Err(BackupError::Target(target, "does not end in the name of a folder"));
        };
        // Without a slash at the end: a slash would follow a link.
        let target = parent.join(name);
        check(&target, parent)?;
        create_folder(parent).map_err(BackupError::file(parent))?;
        let beside = |end: &str| {
            let mut hidden = OsString::from(".");
            hidden.push(name);
            hidden.push(end);
            parent.join(hidden)
        };
        let (folder, lock_path) = (beside(".restoring"), beside(".restoring.lock"));
        let lock = lock(&lock_path, || BackupError::InUse(target.clone()))?;
        // What a killed restore left.
        if folder.exists() {
            fs::remove_dir_all(&folder).map_err(BackupError::file(&folder))?;
        }
        fs::create_dir(&folder).map_err(BackupError::file(&folder))?;
        Ok(Self { target, folder, lock_path, _lock: lock })
    }

    /// Gives the folder its name.
    fn publish(&self, manifest: &BackupManifest) -> Result<(), BackupError> {
        let mut folders = BTreeSet::from([self.folder.clone()]);
        for file in &manifest.files {
            let inside = Path::new(&file.path).ancestors().skip(1);
            folders.extend(inside.map(|folder| self.folder.join(folder)));
        }
        for folder in &folders {
            sync_folder(folder).map_err(BackupError::file(folder))?;
        }
        // An empty folder with that name may exist.
        match found(fs::remove_dir(&self.target)) {
            // The error for a folder that is mounted on another one of the same disk.
            Err(error) if error.kind() == io::ErrorKind::ResourceBusy => {
                return Err(BackupError::Target(self.target.clone(), MOUNTED));
            }
            removed => removed.map_err(BackupError::file(&self.target))?,
        };
        fs::rename(&self.folder, &self.target).map_err(BackupError::file(&self.target))?;
        let parent = self.target.parent().unwrap_or(&self.target);
        sync_folder(parent).map_err(BackupError::file(parent))
    }
}

const MOUNTED: &str = "is a mounted disk, which cannot be replaced by the folder that was restored";

/// Checks that a folder may be created or replaced: it does not exist, or it is empty and can be
/// replaced.
fn check(target: &Path, parent: &Path) -> Result<(), BackupError> {
    let refused = |cause| Err(BackupError::Target(target.to_owned(), cause));
    let Some(metadata) = found(fs::symlink_metadata(target)).map_err(BackupError::file(target))?
    else {
        return Ok(());
    };
    if metadata.is_symlink() {
        return refused("is a symbolic link");
    }
    if !metadata.is_dir() {
        return refused("is not a folder");
    }
    if fs::read_dir(target).map_err(BackupError::file(target))?.next().is_some() {
        return Err(BackupError::NotEmpty(target.to_owned()));
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let of_parent = fs::metadata(parent).map_err(BackupError::file(parent))?;
        if of_parent.dev() != metadata.dev() {
            return refused(MOUNTED);
        }
    }
    Ok(())
}

impl Drop for Staged {
    fn drop(&mut self) {
        // The next restore removes what is left.
        let _ = fs::remove_dir_all(&self.folder);
        let _ = fs::remove_file(&self.lock_path);
    }
}
