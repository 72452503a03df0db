//! Folders that are there after a loss of power.
//!
//! A file is on disk once it is synced, its name once its folder is: a folder that was made has a
//! name too, in the one above.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// Makes a folder and those above it that are missing, and makes sure that their names are on disk.
///
/// ```
/// # let temporary = tempfile::tempdir()?;
/// let folder = temporary.path().join("products").join("rain");
/// mesonet::create_folder(&folder)?;
/// mesonet::create_folder(&folder)?;
/// assert!(folder.is_dir());
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
/// As [`fs::create_dir_all`], or a disk that refuses.
pub fn create_folder(folder: &Path) -> io::Result<()> {
    let missing: Vec<&Path> = folder
        .ancestors()
        .take_while(|folder| !folder.as_os_str().is_empty() && !folder.is_dir())
        .collect();
    fs::create_dir_all(folder)?;
    for made in missing.into_iter().rev() {
        let above = made.parent().filter(|above| !above.as_os_str().is_empty());
        sync_folder(above.unwrap_or(Path::new(".")))?;
    }
    Ok(())
}

/// Makes sure that the names in a folder are on disk.
///
/// # Errors
/// A folder that is not there, or a disk that refuses.
pub fn sync_folder(folder: &Path) -> io::Result<()> {
    // Only Unix can open a folder; elsewhere names are on disk when the file system says so.
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}

/// The same for a folder and all folders in it.
#[cfg_attr(not(feature = "grid-store"), allow(dead_code, reason = "what only runs are made of"))]
pub(crate) fn sync_folders(folder: &Path) -> io::Result<()> {
    let mut folders: Vec<PathBuf> = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                folders.push(entry.path());
            }
        }
        sync_folder(&folder)?;
    }
    Ok(())
}
