//! A check of every file of a run, and what becomes of those that are damaged.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::error::storage;
use super::reader::{check_place, layout, shard_path};
use super::shard::Shard;
use super::writer::lock;
use super::zarr::{DOCUMENT, Manifest, array_files, write_named};
use super::{GridStore, GridStoreError};
use crate::durable::sync_folder;
use crate::run_stamp::RunStamp;

/// What a check of a run found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GridCheck {
    /// Documents and coordinates that were checked.
    pub documents: usize,
    /// Shards that were checked: a product at an hour each.
    pub shards: usize,
    /// Length of all of these.
    pub bytes: u64,
    /// What is wrong.
    pub faults: Vec<GridFault>,
    /// Files of the run's folder that are not of the run: of a delivery that is under way or was
    /// broken off, or foreign. They are not checked, and never read.
    pub surplus: Vec<PathBuf>,
}

/// A file that is damaged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GridFault {
    /// The file; the folder of a run without a document that can be read.
    pub file: PathBuf,
    /// What is wrong with it.
    pub cause: String,
}

/// What is damaged of a run.
enum Damage {
    /// Its document: nothing else tells what it is.
    Run,
    /// What follows from the definition, by its name and what it is to hold.
    Document(PathBuf, Vec<u8>),
    /// A product at an hour.
    Shard(PathBuf, String, usize),
}

impl GridStore {
    /// Checks a run: its document, those of its arrays, its coordinates, every chunk of what is
    /// published. Nothing is written.
    ///
    /// # Errors
    /// A name that cannot be one, or a disk that refuses.
    pub fn check_run(&self, model: &str, run: RunStamp) -> Result<GridCheck, GridStoreError> {
        Ok(check(&self.run_folder(model, run)?)?.0)
    }

    /// Moves what [`check_run`](Self::check_run) finds damaged into a folder `aside`, below the
    /// names of the model and the run. A product at an hour is absent from then on, and reading it is
    /// an error until it is delivered again. What follows from the definition of the run is written
    /// anew. A run whose own document is damaged goes as a whole.
    ///
    /// # Errors
    /// As above; a run that is being written.
    pub fn set_aside(
        &self,
        model: &str,
        run: RunStamp,
        aside: &Path,
    ) -> Result<GridCheck, GridStoreError> {
        let folder = self.run_folder(model, run)?;
        let _lock = lock(folder.parent().unwrap_or(&folder), run)?;
        let (found, damaged) = check(&folder)?;
        let aside = aside.join(model).join(run.to_string());
        let moved = |from: &Path, name: &Path| {
            move_aside(from, &aside.join(name)).map_err(|error| storage(from, &error))
        };
        let mut manifest = None;
        for damage in damaged {
            match damage {
                Damage::Run => {
                    let moved = move_aside(&folder, &aside);
                    moved.map_err(|error| storage(&folder, &error))?;
                    return Ok(found);
                }
                Damage::Document(name, bytes) => {
                    moved(&folder.join(&name), &name)?;
                    write_named(&folder, &name, &bytes)?;
                }
                Damage::Shard(path, product, hour) => {
                    if manifest.is_none() {
                        manifest = Manifest::read(&folder)?;
                    }
                    // First out of the manifest: what is not there is then not looked for.
                    if let Some(manifest) = &mut manifest {
                        manifest.lose(&product, hour);
                        manifest.write(&folder)?;
                    }
                    moved(&path, path.strip_prefix(&folder).unwrap_or(&path))?;
                }
            }
        }
        Ok(found)
    }
}

fn check(folder: &Path) -> Result<(GridCheck, Vec<Damage>), GridStoreError> {
    let (mut found, mut damaged) = (GridCheck::default(), Vec::new());
    let document = folder.join(DOCUMENT);
    let manifest = match Manifest::read(folder) {
        Ok(Some(manifest)) => check_place(folder, &manifest.definition).map(|()| manifest),
        // It went away meanwhile, or was never there.
        Ok(None) if !folder.exists() => return Ok((found, damaged)),
        Ok(None) => Err("it is not there".to_owned()),
        Err(GridStoreError::Damaged { cause, .. }) => Err(cause),
        Err(error) => return Err(error),
    };
    let manifest = match manifest {
        Ok(manifest) => manifest,
        Err(cause) => {
            found.faults.push(GridFault { file: document, cause });
            return Ok((found, vec![Damage::Run]));
        }
    };
    let mut known = BTreeSet::from([document.clone()]);
    found.documents += 1;
    found.bytes += length(&document);

    for (name, bytes) in array_files(&manifest.definition)? {
        let file = folder.join(&name);
        if !manifest.is_of_this_format() {
            // Another version wrote it, or did not: nobody reads it here.
            known.insert(file);
            continue;
        }
        found.documents += 1;
        match is_as_written(&file, &bytes) {
            Ok(()) => found.bytes += bytes.len() as u64,
            Err(cause) => {
                found.faults.push(GridFault { file: file.clone(), cause });
                damaged.push(Damage::Document(name, bytes));
            }
        }
        known.insert(file);
    }
    for hour in &manifest.published {
        for product in &manifest.definition.products {
            if hour.absent.contains(&product.name) {
                continue;
            }
            let file = shard_path(folder, product, hour.hour);
            let layout = layout(&manifest.definition, product, hour.hour);
            found.shards += 1;
            let opened = Shard::open(&file, layout, product.encoding.nodata());
            match opened.and_then(|shard| shard.check()) {
                Ok(()) => found.bytes += length(&file),
                Err(GridStoreError::Damaged { cause, .. }) => {
                    found.faults.push(GridFault { file: file.clone(), cause });
                    damaged.push(Damage::Shard(file.clone(), product.name.clone(), hour.hour));
                }
                Err(error) => return Err(error),
            }
            known.insert(file);
        }
    }
    add_surplus(folder, &known, &mut found.surplus)?;
    // A run that was removed while it was read has no fault.
    if !folder.exists() {
        return Ok((GridCheck::default(), Vec::new()));
    }
    Ok((found, damaged))
}

/// Whether a file holds these bytes.
fn is_as_written(path: &Path, bytes: &[u8]) -> Result<(), String> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err("it is not there".to_owned());
        }
        Err(error) => return Err(error.to_string()),
    };
    let mut found = Vec::with_capacity(bytes.len());
    // No more than it takes to tell the difference.
    let read = file.take(bytes.len() as u64 + 1).read_to_end(&mut found);
    read.map_err(|error| error.to_string())?;
    if found == bytes { Ok(()) } else { Err("it is not as it was written".to_owned()) }
}

fn length(path: &Path) -> u64 {
    fs::metadata(path).map_or(0, |metadata| metadata.len())
}

/// The files below a folder that are not known.
fn add_surplus(
    folder: &Path,
    known: &BTreeSet<PathBuf>,
    surplus: &mut Vec<PathBuf>,
) -> Result<(), GridStoreError> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries.map_err(|error| storage(folder, &error))?,
    };
    let mut paths = Vec::new();
    for entry in entries {
        paths.push(entry.map_err(|error| storage(folder, &error))?.path());
    }
    paths.sort_unstable();
    for path in paths {
        if path.is_dir() {
            add_surplus(&path, known, surplus)?;
        } else if !known.contains(&path) {
            surplus.push(path);
        }
    }
    Ok(())
}

/// Moves a file or a folder to another name, or one like it where that is taken: nothing is ever
/// overwritten. The names are on disk when this returns. Gives the name; `None` where there was
/// nothing to move.
///
/// # Errors
/// The file system refuses.
pub fn move_aside(from: &Path, to: &Path) -> io::Result<Option<PathBuf>> {
    let into = to.parent().unwrap_or(Path::new(""));
    fs::create_dir_all(into)?;
    let name = to.file_name().unwrap_or_default();
    let mut free = to.to_owned();
    let mut number = 1;
    while fs::symlink_metadata(&free).is_ok() {
        number += 1;
        free = into.join(format!("{}.{number}", name.display()));
    }
    match fs::rename(from, &free) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        moved => moved?,
    }
    // The new name first: a power failure must not leave neither.
    for folder in [Some(into), from.parent()].into_iter().flatten() {
        sync_folder(folder)?;
    }
    Ok(Some(free))
}

#[cfg(test)]
#[path = "verify_tests.rs"]
mod tests;
