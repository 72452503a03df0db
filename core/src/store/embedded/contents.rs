//! The content of a store's folder: whether the folder is new, and whether it holds data without a
//! catalogue.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::alert_file::holds_alerts;
use super::count::{JOURNAL_COUNT, read_count};
use super::fault::storage;
use super::folder::{Folder, files, length};
use super::names::{ALERTS, DAMAGED, DATABASE, ORPHANED, SEGMENTS};
use crate::durable::create_folder;
use crate::store::StoreError;

/// Creates the folder if needed, and locks it. Also returns whether the folder is new and may get a
/// catalogue. A folder with data but no catalogue is refused, and nothing is written.
pub(super) fn create(path: &Path) -> Result<(Folder, bool), StoreError> {
    let is_new = is_new(path)?;
    create_folder(path).map_err(|error| storage(path, &error))?;
    let folder = Folder::lock(path)?;
    // Another process may have created it in the meantime.
    let is_new = is_new && self::is_new(path)?;
    for name in [SEGMENTS, DAMAGED] {
        let folder = path.join(name);
        create_folder(&folder).map_err(|error| storage(&folder, &error))?;
    }
    Ok((folder, is_new))
}

/// Whether there is a file in a folder or below it.
fn holds_files(folder: &Path) -> Result<bool, StoreError> {
    for path in files(folder)? {
        if !path.is_dir() || holds_files(&path)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Describes what a folder holds besides its catalogue that may be data; empty if the folder is
/// new.
pub(super) fn data_in(path: &Path) -> Result<Vec<String>, StoreError> {
    let mut found = Vec::new();
    let is_segment = |path: &PathBuf| path.extension().is_some_and(|name| name == "arrow");
    let segments = files(&path.join(SEGMENTS))?.iter().filter(|path| is_segment(path)).count();
    if segments > 0 {
        found.push(format!("{segments} segments"));
    }
    for name in [DAMAGED, ORPHANED, "products", "models"] {
        if holds_files(&path.join(name))? {
            found.push(format!("files in {name}/"));
        }
    }
    if holds_alerts(path) {
        found.push(ALERTS.to_owned());
    }
    // A count that cannot be read was written too.
    if !matches!(read_count(&path.join(JOURNAL_COUNT)), Ok(None | Some(0))) {
        found.push(format!("a count of acknowledged batches, {JOURNAL_COUNT}"));
    }
    let wal = format!("{DATABASE}-wal");
    if length(&path.join(&wal)) > 0 && length(&path.join(DATABASE)) == 0 {
        found.push(wal);
    }
    Ok(found)
}

/// Returns `true` if a folder is new, `false` if it has a catalogue.
///
/// # Errors
/// There is data but no catalogue.
fn is_new(path: &Path) -> Result<bool, StoreError> {
    check_catalogue(path)?;
    Ok(data_in(path)?.is_empty())
}

/// Checks that a folder with data has a catalogue. Nothing is written.
///
/// # Errors
/// There is data but no catalogue.
pub(super) fn check_catalogue(path: &Path) -> Result<(), StoreError> {
    let database = path.join(DATABASE);
    let state = match fs::metadata(&database) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => "is missing",
        Err(error) => return Err(storage(&database, &error)),
        Ok(metadata) if metadata.len() == 0 => "is empty",
        // The tables may still be only in the write-ahead log; opening the database shows that.
        Ok(_) if length(&path.join(format!("{DATABASE}-wal"))) == 0 && has_no_tables(&database) => {
            "has no tables"
        }
        Ok(_) => return Ok(()),
    };
    if data_in(path)?.is_empty() { Ok(()) } else { Err(no_catalogue(path, state)) }
}

/// Checks that a folder has a record to read. Nothing is written.
///
/// # Errors
/// There is no record, or data without its catalogue.
pub(super) fn check_record(path: &Path) -> Result<(), StoreError> {
    check_catalogue(path)?;
    if path.join(DATABASE).exists() {
        return Ok(());
    }
    let cause = format!("there is no record here: {DATABASE} is missing");
    Err(StoreError::Storage { path: path.display().to_string(), cause })
}

/// Whether the first page of a database, the root of the schema table, is a leaf without cells.
fn has_no_tables(database: &Path) -> bool {
    let mut head = [0; 105];
    let read = File::open(database).and_then(|mut file| file.read_exact(&mut head));
    read.is_ok() && head.starts_with(b"SQLite format 3\0") && head[100..105] == [13, 0, 0, 0, 0]
}

/// The error for a folder with data but no catalogue.
pub(super) fn no_catalogue(path: &Path, state: &str) -> StoreError {
    StoreError::NoCatalogue {
        path: path.display().to_string(),
        catalogue: format!("{DATABASE} {state}"),
        found: data_in(path).unwrap_or_default().join(", "),
    }
}
