//! Copies the databases of a folder while they may be written.

use std::fs;
use std::io;
use std::path::Path;

use rusqlite::ErrorCode;

use super::access::Access;
use super::count::Count;
use super::fault::{database, storage};
use crate::store::StoreError;

/// Writes the current state of a database into a new file, whole and without unused space.
pub(super) fn copy_database(access: &Access, from: &Path, to: &Path) -> Result<(), StoreError> {
    match fs::remove_file(to) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(storage(to, &error)),
        _ => {}
    }
    let connection = access.open(from)?;
    let target = to.to_str().ok_or_else(|| storage(to, &io::ErrorKind::InvalidFilename.into()))?;
    let copied = connection.execute("VACUUM INTO ?", [target]);
    copied.map(drop).map_err(|error| match error.sqlite_error_code() {
        // The full disk is that of the copy.
        Some(ErrorCode::DiskFull) => database(to, &error),
        _ => database(from, &error),
    })
}

/// Writes the count beside a copied database. Returns whether there is one.
///
/// A count that says that changes are missing is kept unchanged. While a process writes, that
/// process has checked the count itself, and its count may be ahead of the copy.
pub(super) fn copy_count(
    access: &Access,
    dir: &Path,
    into: &Path,
    name: &str,
    count: impl FnOnce() -> Result<u64, StoreError>,
) -> Result<bool, StoreError> {
    let (from, to) = (dir.join(name), into.join(name));
    if !from.exists() {
        return Ok(false);
    }
    if access.is_live() {
        Count::open(&to, count()?)?;
    } else {
        fs::copy(&from, &to).map_err(|error| storage(&to, &error))?;
    }
    Ok(true)
}
