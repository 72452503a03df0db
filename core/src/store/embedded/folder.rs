//! The folder of a store: its lock, its files, and what is set aside.

use std::fs::{self, File, TryLockError};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::alert_file::{ALERTS, holds_alerts};
use super::catalogue::{Catalogue, DATABASE, SegmentEntry, mark_segment, segment_file};
use super::count::{JOURNAL_COUNT, read_count};
use super::fault::{Fault, storage};
use crate::durable::create_folder;
use crate::store::StoreError;

pub(super) const LOCK: &str = "lock";
pub(super) const SEGMENTS: &str = "segments";
pub(super) const DAMAGED: &str = "damaged";
pub(super) const ORPHANED: &str = "orphaned";

/// A folder that this store alone has open.
#[derive(Debug)]
pub(super) struct Folder {
    pub path: PathBuf,
    /// Locked as long as it is open: also a process that is killed leaves no lock behind.
    _lock: File,
}

impl Folder {
    /// Makes the folder if there is none, and locks it; whether it is new, so that it may get a
    /// catalogue. One that holds data without a catalogue is refused, and nothing is written.
    pub fn create(path: &Path) -> Result<(Self, bool), StoreError> {
        let is_new = is_new(path)?;
        create_folder(path).map_err(|error| storage(path, &error))?;
        let folder = Self::lock(path)?;
        // Another process may have made it meanwhile.
        let is_new = is_new && self::is_new(path)?;
        for name in [SEGMENTS, DAMAGED] {
            let folder = path.join(name);
            create_folder(&folder).map_err(|error| storage(&folder, &error))?;
        }
        Ok((folder, is_new))
    }

    /// Locks a folder that is there.
    pub fn lock(path: &Path) -> Result<Self, StoreError> {
        let file = path.join(LOCK);
        let lock = File::options().create(true).truncate(false).write(true).open(&file);
        let lock = lock.map_err(|error| storage(&file, &error))?;
        match lock.try_lock() {
            Ok(()) => Ok(Self { path: path.to_owned(), _lock: lock }),
            Err(TryLockError::WouldBlock) => {
                Err(StoreError::Locked { path: path.display().to_string() })
            }
            Err(TryLockError::Error(error)) => Err(storage(&file, &error)),
        }
    }

    /// The files of one of its folders by name; none where it is not there.
    pub fn files(&self, name: &str) -> Result<Vec<PathBuf>, StoreError> {
        files(&self.path.join(name))
    }

    /// Moves a file into one of its folders, under its own name or, where that is taken, one like
    /// it. It may be gone already: that is one kind of damage.
    pub fn move_to(&self, name: &str, file: &Path) -> Result<Option<PathBuf>, StoreError> {
        let into = self.path.join(name);
        fs::create_dir_all(&into).map_err(|error| storage(&into, &error))?;
        let Some(own) = file.file_name() else { return Ok(None) };
        let mut to = into.join(own);
        let mut copy = 1;
        while fs::symlink_metadata(&to).is_ok() {
            copy += 1;
            to = into.join(format!("{}.{copy}", own.display()));
        }
        match fs::rename(file, &to) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(storage(file, &error)),
            Ok(()) => {}
        }
        // The new name first: a power failure must not leave neither.
        for folder in [Some(&*into), file.parent()].into_iter().flatten() {
            sync_folder(folder)?;
        }
        Ok(Some(to))
    }

    /// Moves the file of a segment of which nothing can be read out of the way and marks it in the
    /// catalogue, as far as its entry is there.
    pub fn set_aside(
        &self,
        catalogue: &mut Catalogue,
        id: i64,
        entry: Option<&SegmentEntry>,
        fault: &Fault,
    ) -> Result<(), StoreError> {
        self.move_to(DAMAGED, &self.path.join(segment_file(id)))?;
        catalogue.transaction(|transaction| mark_segment(transaction, id, entry, &fault.cause))
    }
}

/// The files of a folder that were moved to `orphaned/`, as faults.
pub(super) fn orphaned(dir: &Path) -> Result<Vec<Fault>, StoreError> {
    let fault = |path: PathBuf| {
        let name = path.file_name().unwrap_or_default().display();
        let cause = "a segment that the catalogue does not know; it is kept, but its readings \
                     are not served";
        Fault::new(format!("{ORPHANED}/{name}"), cause)
    };
    Ok(files(&dir.join(ORPHANED))?.into_iter().map(fault).collect())
}

/// Makes sure that the names in a folder are on disk.
pub(super) fn sync_folder(folder: &Path) -> Result<(), StoreError> {
    let synced = File::open(folder).and_then(|folder| folder.sync_all());
    synced.map_err(|error| storage(folder, &error))
}

/// The number that the name of a segment's file begins with.
pub(super) fn segment_id(path: &Path) -> Option<i64> {
    let name = path.file_name()?.to_str()?;
    let digits = name.split('.').next()?;
    (digits.len() >= 8).then(|| digits.parse().ok()).flatten()
}

fn files(folder: &Path) -> Result<Vec<PathBuf>, StoreError> {
    let failed = |error: io::Error| storage(folder, &error);
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(failed)?,
    };
    let paths = entries.map(|entry| entry.map(|entry| entry.path()));
    let mut paths: Vec<PathBuf> = paths.collect::<Result<_, _>>().map_err(failed)?;
    paths.sort_unstable();
    Ok(paths)
}

/// Whether there is a file in a folder or in one below it.
fn holds_files(folder: &Path) -> Result<bool, StoreError> {
    for path in files(folder)? {
        if !path.is_dir() || holds_files(&path)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// What a folder holds, besides its catalogue, that may be someone's data, in words: nothing where
/// it is new.
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
    // One that cannot be read was written, too.
    if !matches!(read_count(&path.join(JOURNAL_COUNT)), Ok(None | Some(0))) {
        found.push(format!("a count of acknowledged batches, {JOURNAL_COUNT}"));
    }
    let wal = format!("{DATABASE}-wal");
    if length(&path.join(&wal)) > 0 && length(&path.join(DATABASE)) == 0 {
        found.push(wal);
    }
    Ok(found)
}

pub(super) fn length(file: &Path) -> u64 {
    fs::metadata(file).map_or(0, |metadata| metadata.len())
}

/// Whether a folder has a catalogue (`false`), or is new (`true`).
///
/// # Errors
/// There is none, but there is data.
fn is_new(path: &Path) -> Result<bool, StoreError> {
    check_catalogue(path)?;
    Ok(data_in(path)?.is_empty())
}

/// Makes sure that a folder with data has a catalogue. Nothing is written.
///
/// # Errors
/// There is none, but there is data.
pub(super) fn check_catalogue(path: &Path) -> Result<(), StoreError> {
    let database = path.join(DATABASE);
    let state = match fs::metadata(&database) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => "is missing",
        Err(error) => return Err(storage(&database, &error)),
        Ok(metadata) if metadata.len() == 0 => "is empty",
        // Tables may still be in the write-ahead log alone; that is found out when it is opened.
        Ok(_) if length(&path.join(format!("{DATABASE}-wal"))) == 0 && has_no_tables(&database) => {
            "has no tables"
        }
        Ok(_) => return Ok(()),
    };
    if data_in(path)?.is_empty() { Ok(()) } else { Err(no_catalogue(path, state)) }
}

/// Whether the first page of a database, the root of the table of tables, is a leaf without cells.
fn has_no_tables(database: &Path) -> bool {
    let mut head = [0; 105];
    let read = File::open(database).and_then(|mut file| file.read_exact(&mut head));
    read.is_ok() && head.starts_with(b"SQLite format 3\0") && head[100..105] == [13, 0, 0, 0, 0]
}

/// A folder of data without a catalogue.
pub(super) fn no_catalogue(path: &Path, state: &str) -> StoreError {
    StoreError::NoCatalogue {
        path: path.display().to_string(),
        catalogue: format!("{DATABASE} {state}"),
        found: data_in(path).unwrap_or_default().join(", "),
    }
}
