//! Model grids on disk: packed integers in Zarr v3, read through memory maps.
//!
//! ```text
//! <model>/<run>/zarr.json             the group; its attributes hold the definition of the run and
//!                                     the hours that are published
//! <model>/<run>/valid_time, level_hpa, y, x …  coordinates of the arrays
//! <model>/<run>/crs                   the grid mapping, as attributes
//! <model>/<run>/<product>/zarr.json   an array of hours × (levels ×) rows × columns, int16
//! <model>/<run>/<product>/c/<hour>/…  its shards: one file for each hour; of an ensemble one for
//!                                     each hour and member, c/<hour>/<member>/…
//! <model>/.<run>.lock                 held by the writer of the run
//! ```
//!
//! A shard (`sharding_indexed`) is made of chunks of all levels × 32 × 32 cells, or 64 × 64 where a
//! product has no levels, each with its CRC-32C. They are encoded in blocks
//! ([`grid::blocks`](crate::grid::blocks)): a column of the atmosphere lies in one chunk, of which
//! little is decoded. The integers are authoritative. `scale_factor`, `add_offset` and `_FillValue` are
//! attributes that follow the CF conventions, so xarray gives the same values. So do the
//! coordinates along rows and columns (`y` and `x` in metres, `lat` and `lon`, or `rlat` and `rlon`
//! on a globe whose poles were moved) and the grid mapping, which `xarray.open_zarr` reads with
//! `decode_coords="all"`. They are not needed to read a run here.
//!
//! Products with the same levels share the axis `level_hpa`; products with other levels have
//! `level_hpa_2` and so on. Each axis is a coordinate with the standard name `air_pressure`. The
//! members of an ensemble are products of their own here (`temperature/3`), but one array in Zarr.
//! Along `member` each has the place of its number, so a member that arrives later is one more
//! file. The start of the run is the coordinate `forecast_reference_time`.
//!
//! An hour is published by renaming the group's document once, when all shards of the hour are on
//! disk. An open run shows the hours that were published when it was opened, each of them complete.
//! A published product does not change, but an hour may later get products that it lacked
//! (`absent`).

mod arrays;
mod cf;
mod content;
mod definition;
mod error;
mod growth;
mod members;
mod packing;
mod plain;
mod reader;
mod shard;
mod unfinished;
mod verify;
mod writer;
mod zarr;

pub(crate) use definition::check_name;
pub use definition::{
    EnsembleMember, FieldInterval, ProductDefinition, PublishedHour, RunDefinition,
};
pub use error::RunStoreError;
pub use packing::LevelValues;
pub use reader::{Run, RunLevel, RunProduct};
pub use verify::{RunCheck, RunFault, move_aside};
pub use writer::RunWriter;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::durable::sync_folder;
use crate::model::RunStamp;
use error::storage;

/// A folder of model runs.
///
/// ```
/// use mesonet::grid::{Encoding, GridProjection, LatLonGlobe};
/// use mesonet::{grid, model};
/// use mesonet::model::{ProductDefinition, RunDefinition};
/// # let folder = tempfile::tempdir().unwrap();
/// let store = model::RunStore::new(folder.path());
/// let run = RunDefinition {
///     model: "demo".to_owned(),
///     run: "20180917T000000Z".parse()?,
///     grid: grid::Definition {
///         rows: 2,
///         columns: 3,
///         projection: GridProjection::Globe(LatLonGlobe::LatLon),
///         first_lon: -80.0,
///         first_lat: 43.0,
///         column_step: 1.0,
///         row_step: 1.0,
///         grid_relative_winds: false,
///     },
///     valid_ms: vec![1_537_142_400_000, 1_537_153_200_000],
///     products: vec![ProductDefinition {
///         name: "temperature".to_owned(),
///         unit: "K".to_owned(),
///         levels_hpa: None,
///         member: None,
///         attributes: std::collections::BTreeMap::new(),
///         encoding: Encoding::new(0.01, 273.15, i16::MIN)?,
///     }],
/// };
/// let mut writer = store.write_run(run)?;
/// writer.write(0, "temperature", &[0, 100, 200, 300, 400, i16::MIN])?;
/// writer.publish(&[0], 1_537_150_000_000)?;
///
/// let run = store.newest_run("demo")?;
/// let temperature = run.product("temperature")?;
/// assert_eq!(temperature.value(0, 0, 1, 1)?, Some(277.15));
/// assert_eq!(temperature.value(0, 0, 1, 2)?, None);
/// assert_eq!(
///     temperature.value(1, 0, 1, 1).unwrap_err().to_string(),
///     "hour 1 of run 20180917T000000Z is not published yet; published hours: 0",
/// );
/// # Ok::<(), mesonet::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct RunStore {
    folder: PathBuf,
}

impl RunStore {
    /// Returns the store in a folder. The folder is created when the first run is written.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }

    /// Returns the folder of the store.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the models that have runs, by name.
    ///
    /// # Errors
    /// If a folder cannot be read.
    pub fn models(&self) -> Result<Vec<String>, RunStoreError> {
        let mut models = Vec::new();
        for model in names(&self.folder)? {
            if check_name("model", &model).is_ok() && !self.runs(&model)?.is_empty() {
                models.push(model);
            }
        }
        models.sort_unstable();
        Ok(models)
    }

    /// Returns the runs of a model with at least one published hour, latest first, including those
    /// whose definition is damaged.
    ///
    /// # Errors
    /// If the model name is not valid, or a folder cannot be read.
    pub fn runs(&self, model: &str) -> Result<Vec<RunStamp>, RunStoreError> {
        let mut runs = Vec::new();
        for run in self.begun(model)? {
            match Run::open(&self.run_folder(model, run)?) {
                Ok(opened) if opened.published().is_empty() => {}
                // The run was removed in the meantime.
                Err(RunStoreError::UnknownRun { .. }) => {}
                // A damaged run is reported when it is opened, and must not hide the others.
                Ok(_) | Err(RunStoreError::Damaged { .. }) => runs.push(run),
                Err(error) => return Err(error),
            }
        }
        Ok(runs)
    }

    /// Returns the runs of a model that have been begun, latest first.
    ///
    /// # Errors
    /// As [`Self::runs`].
    pub fn begun(&self, model: &str) -> Result<Vec<RunStamp>, RunStoreError> {
        let names = names(&self.model_folder(model)?)?;
        let mut runs: Vec<RunStamp> = names.iter().filter_map(|name| name.parse().ok()).collect();
        runs.sort_unstable_by(|one, other| other.cmp(one));
        Ok(runs)
    }

    /// Returns when a run of a model was last begun or removed; `None` if the model has no folder.
    /// Until that changes, [`Self::begun`] lists the same runs.
    ///
    /// ```
    /// use mesonet::model::RunStore;
    /// # let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/data/model_grids/store");
    /// let store = RunStore::new(folder);
    /// assert!(store.modified("nam211")?.is_some());
    /// assert_eq!(store.modified("unknown")?, None);
    /// # Ok::<(), mesonet::model::RunStoreError>(())
    /// ```
    ///
    /// # Errors
    /// If the name is invalid, or the disk reports an error.
    pub fn modified(&self, model: &str) -> Result<Option<SystemTime>, RunStoreError> {
        let folder = self.model_folder(model)?;
        match fs::metadata(&folder).and_then(|folder| folder.modified()) {
            Ok(modified) => Ok(Some(modified)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(storage(&folder, &error)),
        }
    }

    /// Opens a run in its present state: it does not contain hours that are published later.
    ///
    /// # Errors
    /// If the run does not exist, or its definition is damaged.
    pub fn run(&self, model: &str, run: RunStamp) -> Result<Run, RunStoreError> {
        Run::open(&self.run_folder(model, run)?)
    }

    /// Opens the latest run of a model.
    ///
    /// # Errors
    /// If the model has no runs, or the definition of the run is damaged.
    pub fn newest_run(&self, model: &str) -> Result<Run, RunStoreError> {
        let run = self.runs(model)?.first().copied();
        self.run(model, run.ok_or_else(|| RunStoreError::UnknownModel(model.to_owned()))?)
    }

    /// Begins writing a run, or continues one.
    ///
    /// # Errors
    /// If the definition is invalid, the run exists with another definition or is being written, or
    /// the disk reports an error.
    pub fn write_run(&self, definition: RunDefinition) -> Result<RunWriter, RunStoreError> {
        let folder = self.run_folder(&definition.model, definition.run)?;
        RunWriter::begin(&folder, definition)
    }

    /// Writes a run again in the present layout, if it has an older one or was being written again
    /// when its process was killed; returns whether that was needed. Its values stay the same, and
    /// readers may read it meanwhile. A damaged shard stays as it is.
    ///
    /// # Errors
    /// If the run does not exist, is being written or is damaged, or the disk reports an error. What
    /// was written again stays, and the next call goes on with the rest.
    ///
    /// ```
    /// # let folder = tempfile::tempdir().expect("a folder");
    /// # let store = mesonet::model::RunStore::new(folder.path());
    /// for model in store.models()? {
    ///     for run in store.runs(&model)? {
    ///         store.upgrade(&model, run)?;
    ///     }
    /// }
    /// # Ok::<(), mesonet::model::RunStoreError>(())
    /// ```
    pub fn upgrade(&self, model: &str, run: RunStamp) -> Result<bool, RunStoreError> {
        RunWriter::upgrade(&self.run_folder(model, run)?, run)
    }

    /// Removes a run. Readers that have it open can still use the shards that they have already
    /// read.
    ///
    /// # Errors
    /// If the run does not exist, or the disk reports an error.
    pub fn remove_run(&self, model: &str, run: RunStamp) -> Result<(), RunStoreError> {
        let folder = self.run_folder(model, run)?;
        if !folder.try_exists().map_err(|error| storage(&folder, &error))? {
            let (model, run) = (model.to_owned(), run.to_string());
            return Err(RunStoreError::UnknownRun { model, run });
        }
        take_away(&folder, run)
    }

    /// Removes all runs of a model except the `keep` latest, and returns the removed ones. Runs that
    /// were begun earlier and never published, and the remains of interrupted removals, go too.
    ///
    /// # Errors
    /// As [`Self::runs`] and [`Self::remove_run`].
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
    /// let store = model::RunStore::new(folder);
    /// let run_at = |run: &str| run.parse::<model::RunStamp>();
    /// for hour in ["00", "06", "12"] {
    ///     let run = run_at(&format!("20180917T{hour}0000Z"))?;
    ///     let mut writer = store.write_run(model::RunDefinition { run, ..definition.clone() })?;
    ///     writer.write(0, "t2m", &[0; 6])?;
    ///     writer.publish(&[0], 1_537_200_000_000)?;
    /// }
    /// assert_eq!(store.models()?, ["demo"]);
    /// assert_eq!(store.keep_newest("demo", 2)?, [run_at("20180917T000000Z")?]);
    /// store.remove_run("demo", run_at("20180917T060000Z")?)?;
    /// assert_eq!(store.runs("demo")?, [run_at("20180917T120000Z")?]);
    /// assert_eq!(store.begun("demo")?, store.runs("demo")?);
    /// assert_eq!(store.remove_unfinished()?, 0, "no process was killed");
    /// # Ok::<(), mesonet::Error>(())
    /// ```
    pub fn keep_newest(&self, model: &str, keep: usize) -> Result<Vec<RunStamp>, RunStoreError> {
        let runs = self.runs(model)?;
        let kept = &runs[..keep.min(runs.len())];
        let is_full = kept.len() == keep;
        let goes = |run: &RunStamp| is_full && kept.last().is_none_or(|oldest| run < oldest);
        let removed: Vec<RunStamp> = self.begun(model)?.into_iter().filter(goes).collect();
        for &run in &removed {
            self.remove_run(model, run)?;
        }
        let folder = self.model_folder(model)?;
        for name in names(&folder)? {
            let run = name.strip_prefix('.').and_then(|name| name.strip_suffix(".removed"));
            if run.is_some_and(|run| run.parse::<RunStamp>().is_ok()) {
                clear(&folder.join(name))?;
            }
        }
        Ok(removed)
    }

    /// Removes the oldest runs of a model until the others take no more than a number of bytes on
    /// disk, and returns the removed ones. The latest run stays, however large it is.
    ///
    /// # Errors
    /// As [`Self::runs`] and [`Self::remove_run`].
    pub fn keep_newest_within(
        &self,
        model: &str,
        bytes: u64,
    ) -> Result<Vec<RunStamp>, RunStoreError> {
        let (mut taken, mut removed) = (0, Vec::new());
        for (number, run) in self.runs(model)?.into_iter().enumerate() {
            taken += self.run_bytes(model, run)?;
            if number > 0 && taken > bytes {
                self.remove_run(model, run)?;
                removed.push(run);
            }
        }
        Ok(removed)
    }

    /// Returns the total bytes of the files of a run.
    ///
    /// # Errors
    /// If a folder cannot be read.
    pub fn run_bytes(&self, model: &str, run: RunStamp) -> Result<u64, RunStoreError> {
        let (mut bytes, mut folders) = (0, vec![self.run_folder(model, run)?]);
        while let Some(folder) = folders.pop() {
            for name in names(&folder)? {
                let path = folder.join(name);
                match fs::metadata(&path) {
                    Ok(metadata) if metadata.is_dir() => folders.push(path),
                    Ok(metadata) => bytes += metadata.len(),
                    // The file was replaced in the meantime.
                    Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                    Err(error) => return Err(storage(&path, &error)),
                }
            }
        }
        Ok(bytes)
    }

    /// Removes the remains of killed processes: runs that were being created or removed, and hours
    /// that the document of their run does not list. Files that are being written at the moment
    /// stay, and so do files that the store did not create. Returns the number of files and folders
    /// removed.
    ///
    /// # Errors
    /// If a folder cannot be read, or the disk reports an error.
    pub fn remove_unfinished(&self) -> Result<usize, RunStoreError> {
        let mut removed = 0;
        for model in names(&self.folder)? {
            if check_name("model", &model).is_err() {
                continue;
            }
            for name in names(&self.model_folder(&model)?)? {
                removed += unfinished::remove_unfinished(&self.model_folder(&model)?.join(name))?;
            }
        }
        Ok(removed)
    }

    fn model_folder(&self, model: &str) -> Result<PathBuf, RunStoreError> {
        check_name("model", model)?;
        Ok(self.folder.join(model))
    }

    fn run_folder(&self, model: &str, run: RunStamp) -> Result<PathBuf, RunStoreError> {
        Ok(self.model_folder(model)?.join(run.to_string()))
    }
}

/// Removes the folder of a run: hides it at once, then deletes it.
fn take_away(folder: &Path, run: RunStamp) -> Result<(), RunStoreError> {
    let removed = folder.with_file_name(format!(".{run}.removed"));
    clear(&removed)?;
    // Its name must be gone for good before the first of its files is deleted. Otherwise half a run
    // could be visible after a loss of power.
    let hidden =
        fs::rename(folder, &removed).and_then(|()| sync_folder(folder.parent().unwrap_or(folder)));
    hidden.map_err(|error| storage(folder, &error))?;
    clear(&removed)
}

/// Removes a folder, if it exists.
fn clear(folder: &Path) -> Result<(), RunStoreError> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(storage(folder, &error)),
        _ => Ok(()),
    }
}

/// Returns the names in a folder; none if it does not exist.
fn names(folder: &Path) -> Result<Vec<String>, RunStoreError> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(storage(folder, &error)),
    };
    let mut names = Vec::new();
    for entry in entries {
        let name = entry.map_err(|error| storage(folder, &error))?.file_name();
        names.extend(name.into_string());
    }
    Ok(names)
}

#[cfg(test)]
mod damage_tests;
#[cfg(test)]
mod growth_tests;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod version_3_tests;
#[cfg(test)]
mod writer_tests;
