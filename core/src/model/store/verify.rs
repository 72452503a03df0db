//! Checks every file of a run, and sets damaged files aside.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::arrays::DOCUMENT;
use super::error::storage;
use super::reader::{check_place, layout, shard_path};
use super::shard::Shard;
use super::writer::lock;
use super::zarr::{RunManifest, array_files, is_as_written, write_named};
use crate::durable::sync_folder;
use crate::model::{RunStamp, RunStore, RunStoreError};

/// The result of checking a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunCheck {
    /// The number of documents and coordinates checked.
    pub documents: usize,
    /// The number of shards: one for each product at an hour.
    pub shards: usize,
    /// Their length in bytes.
    pub bytes: u64,
    /// The faults found.
    pub faults: Vec<RunFault>,
    /// Files in the run's folder that do not belong to the run: from a delivery that is under way
    /// or was interrupted, or from elsewhere. They are neither checked nor read.
    pub surplus: Vec<PathBuf>,
}

/// A damaged file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunFault {
    /// The file; if a run has no readable document, its folder.
    pub file: PathBuf,
    /// The fault.
    pub cause: String,
}

/// The damaged part of a run.
enum RunDamage {
    /// Its document: nothing else describes the run.
    Run,
    /// A file that follows from the definition, with its name and expected content.
    Document(PathBuf, Vec<u8>),
    /// A product at an hour.
    Shard(PathBuf, String, usize),
}

impl RunStore {
    /// Checks a run: its document, those of its arrays, its coordinates, and every published chunk.
    /// Nothing is written.
    ///
    /// # Errors
    /// If a name is not valid, or the disk reports an error.
    pub fn check_run(&self, model: &str, run: RunStamp) -> Result<RunCheck, RunStoreError> {
        Ok(check(&self.run_folder(model, run)?)?.0)
    }

    /// Moves damaged files that [`check_run`](Self::check_run) finds into a folder `aside`, under
    /// the names of the model and the run. A product at an hour is absent from then on, and reading
    /// it is an error until it is delivered again. Files that follow from the definition of the run
    /// are rewritten. A run whose own document is damaged is moved as a whole.
    ///
    /// # Errors
    /// As above; also if the run is being written.
    ///
    /// ```
    /// # use mesonet::{grid::{Encoding, GridProjection, LatLonGlobe}, model};
    /// # let temporary = tempfile::tempdir().expect("a folder");
    /// # let folder = temporary.path();
    /// # let definition = model::RunDefinition {
    /// #     model: "demo".to_owned(),
    /// #     run: "20180917T000000Z".parse()?,
    /// #     grid: mesonet::grid::Definition {
    /// #         rows: 2,
    /// #         columns: 3,
    /// #         projection: GridProjection::Globe(LatLonGlobe::LatLon),
    /// #         first_lon: -80.0,
    /// #         first_lat: 43.0,
    /// #         column_step: 1.0,
    /// #         row_step: 1.0,
    /// #         grid_relative_winds: false,
    /// #     },
    /// #     valid_ms: vec![1_537_142_400_000, 1_537_153_200_000],
    /// #     products: ["t2m", "rain"].map(|name| model::ProductDefinition {
    /// #         name: name.to_owned(),
    /// #         unit: "1".to_owned(),
    /// #         levels_hpa: None,
    /// #         member: None,
    /// #         attributes: std::collections::BTreeMap::new(),
    /// #         encoding: Encoding::new(0.01, 0.0, i16::MIN).expect("it is valid"),
    /// #     }).into(),
    /// # };
    /// use mesonet::model::{RunCheck, RunFault, RunStore};
    /// let store = RunStore::new(&folder.join("models"));
    /// let mut writer = store.write_run(definition.clone())?;
    /// writer.write(0, "t2m", &[1850; 6])?;
    /// writer.publish(&[0], 1_537_150_000_000)?;
    /// drop(writer);
    /// let intact: RunCheck = store.check_run("demo", definition.run)?;
    /// assert_eq!((intact.shards, &*intact.faults), (1, &[][..]));
    ///
    /// let shard = store.folder().join("demo/20180917T000000Z/t2m/c/0/0/0");
    /// std::fs::write(&shard, "not what was written").expect("the disk takes it");
    /// let found = store.set_aside("demo", definition.run, &folder.join("damaged"))?;
    /// let fault: &RunFault = &found.faults[0];
    /// assert_eq!(fault.file, shard);
    /// let lost = store.newest_run("demo")?;
    /// assert!(lost.product("t2m")?.value(0, 0, 0, 0).is_err());
    /// # Ok::<(), mesonet::Error>(())
    /// ```
    pub fn set_aside(
        &self,
        model: &str,
        run: RunStamp,
        aside: &Path,
    ) -> Result<RunCheck, RunStoreError> {
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
                RunDamage::Run => {
                    let moved = move_aside(&folder, &aside);
                    moved.map_err(|error| storage(&folder, &error))?;
                    return Ok(found);
                }
                RunDamage::Document(name, bytes) => {
                    moved(&folder.join(&name), &name)?;
                    write_named(&folder, &name, &bytes)?;
                }
                RunDamage::Shard(path, product, hour) => {
                    if manifest.is_none() {
                        manifest = RunManifest::read(&folder)?;
                    }
                    // First remove the product from the manifest, so that nobody looks for a file
                    // that is gone.
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

fn check(folder: &Path) -> Result<(RunCheck, Vec<RunDamage>), RunStoreError> {
    let (mut found, mut damaged) = (RunCheck::default(), Vec::new());
    let document = folder.join(DOCUMENT);
    let manifest = match RunManifest::read(folder) {
        Ok(Some(manifest)) => check_place(folder, &manifest.definition).map(|()| manifest),
        // The run was removed in the meantime, or never existed.
        Ok(None) if !folder.exists() => return Ok((found, damaged)),
        Ok(None) => Err("it is missing".to_owned()),
        Err(RunStoreError::Damaged { cause, .. }) => Err(cause),
        Err(error) => return Err(error),
    };
    let manifest = match manifest {
        Ok(manifest) => manifest,
        Err(cause) => {
            found.faults.push(RunFault { file: document, cause });
            return Ok((found, vec![RunDamage::Run]));
        }
    };
    let mut known = BTreeSet::from([document.clone()]);
    found.documents += 1;
    found.bytes += length(&document);

    let slots = manifest.slots();
    for (name, bytes) in array_files(&manifest.definition, &slots, manifest.form())? {
        let file = folder.join(&name);
        if manifest.growing {
            // These files are still to be written again, and this store does not read them.
            known.insert(file);
            continue;
        }
        found.documents += 1;
        match is_as_written(&file, &bytes) {
            Ok(()) => found.bytes += bytes.len() as u64,
            Err(cause) => {
                found.faults.push(RunFault { file: file.clone(), cause });
                damaged.push(RunDamage::Document(name, bytes));
            }
        }
        known.insert(file);
    }
    for hour in &manifest.published {
        for product in &manifest.definition.products {
            if hour.absent.contains(&product.name) {
                continue;
            }
            let slot = slots[hour.hour];
            let file = shard_path(folder, product, slot);
            let layout = layout(&manifest.definition, product, slot);
            found.shards += 1;
            let opened = Shard::open(&file, &layout, product, &[]);
            match opened.and_then(|shard| shard.check()) {
                Ok(()) => found.bytes += length(&file),
                Err(RunStoreError::Damaged { cause, .. }) => {
                    found.faults.push(RunFault { file: file.clone(), cause });
                    damaged.push(RunDamage::Shard(file.clone(), product.name.clone(), hour.hour));
                }
                Err(error) => return Err(error),
            }
            known.insert(file);
        }
    }
    add_surplus(folder, &known, &mut found.surplus)?;
    // A run that was removed while it was being read has no faults.
    if !folder.exists() {
        return Ok((RunCheck::default(), Vec::new()));
    }
    Ok((found, damaged))
}

fn length(path: &Path) -> u64 {
    fs::metadata(path).map_or(0, |metadata| metadata.len())
}

/// Adds the unknown files below a folder.
fn add_surplus(
    folder: &Path,
    known: &BTreeSet<PathBuf>,
    surplus: &mut Vec<PathBuf>,
) -> Result<(), RunStoreError> {
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

/// Moves a file or a folder to another name, or to a similar name if that is taken: nothing is ever
/// overwritten. The names are on disk when this returns. Returns the new name; `None` if there was
/// nothing to move.
///
/// # Errors
/// If the file system reports an error.
///
/// ```
/// # let temporary = tempfile::tempdir()?;
/// # let folder = temporary.path();
/// let (file, aside) = (folder.join("t2m"), folder.join("damaged").join("t2m"));
/// for _ in 0..2 {
///     std::fs::write(&file, "unreadable")?;
///     mesonet::model::move_aside(&file, &aside)?;
/// }
/// assert!(aside.exists() && aside.with_file_name("t2m.2").exists());
/// assert_eq!(mesonet::model::move_aside(&file, &aside)?, None, "nothing is left to move");
/// # Ok::<(), std::io::Error>(())
/// ```
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
    // The new name first: after a power failure at least one of the names must exist.
    for folder in [Some(into), from.parent()].into_iter().flatten() {
        sync_folder(folder)?;
    }
    Ok(Some(free))
}

#[cfg(test)]
#[path = "verify_tests.rs"]
mod tests;
