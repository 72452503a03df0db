//! Folders that survive a loss of power.
//!
//! A file is on disk once it is synced; its name is on disk once its folder is synced. A new folder
//! has a name too, in its parent.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::Path;
#[cfg(feature = "model")]
use std::path::PathBuf;

/// Creates a folder and its missing parents, and makes sure that their names are on disk.
///
/// ```
/// # let temporary = tempfile::tempdir()?;
/// let folder = temporary.path().join("products").join("rain");
/// mesonet::durable::create_folder(&folder)?;
/// mesonet::durable::create_folder(&folder)?;
/// assert!(folder.is_dir());
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
/// The errors of [`fs::create_dir_all`], or a disk that fails to sync.
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
/// If the folder does not exist, or the disk fails to sync.
///
/// ```
/// # let temporary = tempfile::tempdir()?;
/// # let folder = temporary.path();
/// // Nobody sees half a file, and the new name survives a loss of power.
/// std::fs::write(folder.join("rain.new"), "12.4 mm")?;
/// std::fs::File::open(folder.join("rain.new"))?.sync_all()?;
/// std::fs::rename(folder.join("rain.new"), folder.join("rain"))?;
/// mesonet::durable::sync_folder(folder)?;
/// assert_eq!(std::fs::read_to_string(folder.join("rain"))?, "12.4 mm");
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn sync_folder(folder: &Path) -> io::Result<()> {
    // Only Unix can open a folder; elsewhere the file system decides when names are on disk.
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}

/// Replaces a file, or creates it. Whatever happens, it has either the old content or the new one; once this
/// returns, the new one survives a loss of power. The content is first written to a file that ends in `.new`, so only
/// one process at a time may replace a file.
///
/// ```
/// # let temporary = tempfile::tempdir()?;
/// let path = temporary.path().join("seen.json");
/// mesonet::durable::replace(&path, b"[1]")?;
/// mesonet::durable::replace(&path, b"[1, 2]")?;
/// assert_eq!(std::fs::read(&path)?, b"[1, 2]");
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
/// The new file cannot be written, made durable or renamed. The old content stays, unless only the last
/// [`sync_folder`] fails.
pub fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    let fresh = path.with_extension("new");
    let mut file = File::create(&fresh)?;
    file.write_all(content)?;
    file.sync_all()?;
    fs::rename(&fresh, path)?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    sync_folder(folder.unwrap_or(Path::new(".")))
}

/// Like [`sync_folder`], for a folder and all folders in it.
#[cfg(feature = "model")]
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
