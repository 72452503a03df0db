//! Files and folders that may not be there.

use std::io;
use std::path::{Path, PathBuf};

/// Returns nothing if a file was deleted in the meantime.
///
/// # Errors
/// All but that there is no such file.
pub fn found<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        result => result.map(Some),
    }
}

/// Returns the paths of the entries of a folder, sorted; none if there is no such folder.
///
/// # Errors
/// It cannot be read.
pub fn entries(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = found(std::fs::read_dir(folder))?.into_iter().flatten();
    let mut paths = entries.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
    paths.sort_unstable();
    Ok(paths)
}
