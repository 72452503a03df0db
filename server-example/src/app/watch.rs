//! A folder from which files are read as they arrive.

use std::collections::{HashMap, HashSet};
use std::fs::{self, DirEntry, FileType};
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use mesonet::model;
use mesonet::store::StoreError;

use crate::state::State;
use mesonet_service::clock::system_ms;
use mesonet_service::files::{FileFault, FileLimits, shown_path};
use mesonet_service::ingest::{IngestSummary, Options};
use mesonet_service::products::DiskFailure;
use mesonet_service::sync::lock;

/// Number of files that are read together.
const MAX_FILES: usize = 1_000;

/// Subfolders for files that were read and for files that could not be read.
const DONE: &str = "done";
const FAILED: &str = "failed";

/// The subfolder with a folder for each model.
const MODELS: &str = "models";

/// A folder that is polled.
///
/// A file is read once its length and modification time are the same in two consecutive looks, so
/// that a file still being written is left alone. Files whose names start with a dot or end in
/// `.tmp` or `.part` are left alone too. A file is moved only once its readings are durable: after
/// a crash it is read again, which changes nothing. The subfolder `models/NAME` holds files of the
/// model NAME, with its own `done` and `failed`.
#[derive(Debug)]
pub struct Watch {
    folder: PathBuf,
    /// The model that all files belong to.
    model: Option<String>,
    /// The subfolders of models.
    models: HashMap<String, Watch>,
    /// Whether files stay where they are after they are read.
    keep: bool,
    /// Files of the last look.
    seen: HashMap<PathBuf, Stamp>,
    /// Files that were read and kept.
    read: HashMap<PathBuf, Stamp>,
}

/// A mark that changes with the content of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    bytes: u64,
    modified: Option<SystemTime>,
}

/// A look failed. The files stay for the next one.
#[derive(Debug, thiserror::Error)]
pub enum WatchError {
    /// The folder cannot be read.
    #[error("the watched folder {}: {error}", .folder.display())]
    Folder {
        /// The folder.
        folder: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// The store takes nothing.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The model runs take nothing.
    #[error(transparent)]
    Models(#[from] model::DeliveryError),
    /// The raster products take nothing.
    #[error(transparent)]
    Products(#[from] DiskFailure),
}

impl Watch {
    /// Watches a folder. With `keep`, files stay where they are after they are read, and are read
    /// again when they change or after a restart.
    pub fn new(folder: PathBuf, keep: bool) -> Self {
        let (model, models) = (None, HashMap::new());
        Self { folder, model, models, keep, seen: HashMap::new(), read: HashMap::new() }
    }

    /// Looks at the folder and reads the complete files, at most 1,000 of them. Returns a summary
    /// for each group of files that were read together.
    ///
    /// # Errors
    /// The folder cannot be read, or the store takes nothing. The files stay.
    pub fn look(&mut self, state: &State) -> Result<Vec<IngestSummary>, WatchError> {
        let files = self
            .whole_files()
            .map_err(|error| WatchError::Folder { folder: self.folder.clone(), error })?;
        let mut summaries = Vec::new();
        match &self.model {
            _ if files.is_empty() => {}
            None => self.read(state, &files, &mut summaries)?,
            Some(model) => summaries.extend(self.read_model(state, &model.clone(), &files)?),
        }
        if self.model.is_none() {
            for folder in self.model_folders()? {
                summaries.extend(folder.look(state)?);
            }
        }
        Ok(summaries)
    }

    /// Returns the subfolders of models that exist now.
    fn model_folders(&mut self) -> Result<Vec<&mut Self>, WatchError> {
        let folder = self.folder.join(MODELS);
        let failed = |error| WatchError::Folder { folder: folder.clone(), error };
        match fs::symlink_metadata(&folder) {
            Ok(metadata) if metadata.is_dir() => {}
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(error)),
            _ => {
                self.models.clear();
                return Ok(Vec::new());
            }
        }
        let entries = fs::read_dir(&folder).map_err(failed)?;
        let mut names = HashSet::new();
        for entry in entries {
            let entry = entry.map_err(failed)?;
            if entry.file_type().map_err(failed)?.is_dir() {
                names.extend(entry.file_name().into_string());
            }
        }
        self.models.retain(|name, _| names.contains(name));
        for name in names {
            let new =
                || Self { model: Some(name.clone()), ..Self::new(folder.join(&name), self.keep) };
            self.models.entry(name.clone()).or_insert_with(new);
        }
        Ok(self.models.values_mut().collect())
    }

    /// Reads files of a model together. Returns no summary if the model is unknown.
    fn read_model(
        &mut self,
        state: &State,
        model: &str,
        files: &[PathBuf],
    ) -> Result<Option<IngestSummary>, WatchError> {
        let read = {
            let _turn = state
                .services
                .models
                .catalogue()
                .get(model)
                .map(|_| state.services.lanes.model(model));
            state.services.ingest_model(model, options(), |delivery| {
                for file in files {
                    delivery.path(file);
                }
            })
        };
        let (faults, summary) = match read {
            Ok(read) => read,
            Err(error) => {
                for file in files {
                    self.put_away(file, Some(&format!("{}: {error}", file.display())));
                }
                return Ok(None);
            }
        };
        if let Some(failure) = summary.models.as_ref().and_then(|models| models.failure.clone()) {
            return Err(failure.into());
        }
        for file in files {
            let shown = shown_path(file);
            let of_file = |fault: &&FileFault| {
                let inside = fault.file.strip_prefix(&shown);
                inside.is_some_and(|inside| inside.is_empty() || inside.starts_with('/'))
            };
            let fault = faults.iter().find(of_file);
            let fault = fault.map(|fault| format!("{}: {}", fault.file, fault.error));
            self.put_away(file, fault.as_deref());
        }
        Ok(Some(summary))
    }

    fn whole_files(&mut self) -> io::Result<Vec<PathBuf>> {
        let (mut now, mut whole) = (HashMap::new(), Vec::new());
        for entry in fs::read_dir(&self.folder)? {
            let Some((path, kind, stamp)) = stamped(&entry?)? else { continue };
            if kind.is_symlink() {
                if self.read.get(&path) == Some(&stamp) || self.put_away_link(&path, stamp) {
                    now.insert(path, stamp);
                }
                continue;
            }
            if self.seen.get(&path) == Some(&stamp) && self.read.get(&path) != Some(&stamp) {
                whole.push((stamp.modified, path.clone()));
            }
            now.insert(path, stamp);
        }
        self.read.retain(|path, stamp| now.get(path) == Some(stamp));
        self.seen = now;
        whole.sort_unstable();
        whole.truncate(MAX_FILES);
        Ok(whole.into_iter().map(|(_, path)| path).collect())
    }

    fn read(
        &mut self,
        state: &State,
        files: &[PathBuf],
        summaries: &mut Vec<IngestSummary>,
    ) -> Result<(), WatchError> {
        let (faults, summary) = {
            let _turn = lock(&state.services.lanes.watched);
            state.services.ingest(options(), |ingest| -> Vec<Option<FileFault>> {
                files.iter().map(|file| ingest.path(file)).collect()
            })?
        };
        if let Some(failure) = &summary.products.failure {
            return Err(failure.clone().into());
        }
        match &summary.store_error {
            None => {
                for (file, fault) in files.iter().zip(faults) {
                    let fault = fault.map(|fault| format!("{}: {}", fault.file, fault.error));
                    self.put_away(file, fault.as_deref());
                }
            }
            Some(error) if !is_of_the_readings(error) => return Err(error.clone().into()),
            Some(error) => {
                if let [file] = files {
                    self.put_away(file, Some(&error.to_string()));
                } else {
                    // One of the files is at fault, so each is read by itself.
                    for file in files {
                        self.read(state, std::slice::from_ref(file), summaries)?;
                    }
                    return Ok(());
                }
            }
        }
        summaries.push(summary);
        Ok(())
    }

    /// Moves a file that was read. For a file with a fault, the reason is written beside it.
    fn put_away(&mut self, file: &Path, fault: Option<&str>) {
        if let Some(fault) = fault {
            tracing::warn!("{fault}");
        }
        if !self.keep {
            match self.moved(file, fault) {
                Ok(()) => return,
                Err(error) => tracing::error!("cannot move {}: {error}", file.display()),
            }
        }
        // A file that cannot be moved is not read again and again.
        if let Some(stamp) = self.seen.get(file) {
            self.read.insert(file.to_owned(), *stamp);
        }
    }

    /// Does not follow a link: a user who may create links in the folder must not be able to read
    /// other files through them. Returns whether the link stays.
    fn put_away_link(&mut self, link: &Path, stamp: Stamp) -> bool {
        let reason = format!("{}: a symbolic link is not followed", shown_path(link));
        // Somebody may have put `done` on another disk.
        if link.is_dir() || self.keep {
            tracing::warn!("{reason}");
        } else {
            self.put_away(link, Some(&reason));
            if fs::symlink_metadata(link).is_err() {
                return false;
            }
        }
        self.read.insert(link.to_owned(), stamp);
        true
    }

    fn moved(&self, file: &Path, fault: Option<&str>) -> io::Result<()> {
        let folder = self.folder.join(if fault.is_some() { FAILED } else { DONE });
        fs::create_dir_all(&folder)?;
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let mut to = folder.join(&name);
        let mut number = 1;
        while to.try_exists()? {
            to = folder.join(format!("{name}.{number}"));
            number += 1;
        }
        if let Some(fault) = fault {
            let mut beside = to.clone().into_os_string();
            beside.push(".error.txt");
            fs::write(beside, format!("{fault}\n"))?;
        }
        fs::rename(file, to)
    }
}

fn options() -> Options {
    Options { bounds: FileLimits::WATCHED, ..Options::at(system_ms()) }
}

/// Returns a regular file that may be read, or a link, with its stamp. Returns `None` for anything
/// else, and for a file that has just disappeared.
fn stamped(entry: &DirEntry) -> io::Result<Option<(PathBuf, FileType, Stamp)>> {
    let name = entry.file_name();
    let name = name.as_encoded_bytes();
    if name.starts_with(b".") || name.ends_with(b".tmp") || name.ends_with(b".part") {
        return Ok(None);
    }
    let metadata = match fs::symlink_metadata(entry.path()) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let (kind, modified) = (metadata.file_type(), metadata.modified().ok());
    let stamp = Stamp { bytes: metadata.len(), modified };
    Ok((kind.is_file() || kind.is_symlink()).then(|| (entry.path(), kind, stamp)))
}

/// Whether the readings are at fault, not the store.
fn is_of_the_readings(error: &StoreError) -> bool {
    matches!(
        error,
        StoreError::UnknownStation { .. }
            | StoreError::NotFinite { .. }
            | StoreError::SeriesIdTaken { .. }
    )
}

#[cfg(test)]
#[path = "watch_tests.rs"]
mod tests;
