//! Model grids on disk: packed integers in Zarr v3, read through memory maps.
//!
//! ```text
//! <model>/<run>/zarr.json             the group; its attributes hold the definition of the run and
//!                                     the hours that are published
//! <model>/<run>/valid_time, level_hpa, y, x …  coordinates of the arrays
//! <model>/<run>/crs                   the grid mapping, as attributes
//! <model>/<run>/<product>/zarr.json   an array of hours × (levels ×) rows × columns, int16
//! <model>/<run>/<product>/c/<hour>/…  its shards: one file for each hour
//! <model>/.<run>.lock                 held by the one who writes the run
//! ```
//!
//! A shard (`sharding_indexed`) is made of chunks of all levels × 16 × 16 cells, each with its
//! CRC-32C and not compressed, so that a column of the atmosphere lies in one chunk and is read with
//! no more than an offset. The integers are the truth; `scale_factor`, `add_offset` and `_FillValue`
//! are attributes as the CF conventions have them, so xarray gives the same values; so are the
//! coordinates along rows and columns (`y` and `x` in metres, `lat` and `lon`, or `rlat` and `rlon` on a
//! globe whose poles were moved) and the grid mapping, which `xarray.open_zarr` takes along with
//! `decode_coords="all"`. Here a run is read without them.
//!
//! An hour is published by one rename of the group's document, once all its shards are on disk. Who
//! has opened a run sees the hours that were published then, each of them whole. What was published
//! does not change; an hour may get products later that it lacked (`absent`).

mod cf;
mod definition;
mod error;
mod reader;
mod shard;
mod verify;
mod writer;
mod zarr;

#[cfg(feature = "models")]
pub(crate) use definition::MAX_PRODUCTS;
pub(crate) use definition::check_name;
pub use definition::{ProductDefinition, PublishedHour, RunDefinition};
pub use error::GridStoreError;
pub use reader::{GridLevel, GridProduct, GridRun};
pub use shard::LevelValues;
pub use verify::{GridCheck, GridFault, move_aside};
pub use writer::RunWriter;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::durable::sync_folder;
use crate::run_stamp::RunStamp;
use error::storage;

/// A folder of model runs.
///
/// ```
/// use mesonet::{
///     Encoding, GridDefinition, GridProjection, GridStore, LatLonGlobe, ProductDefinition,
///     RunDefinition,
/// };
/// # let folder = tempfile::tempdir().unwrap();
/// let store = GridStore::new(folder.path());
/// let run = RunDefinition {
///     model: "demo".to_owned(),
///     run: "20180917T000000Z".parse()?,
///     grid: GridDefinition {
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
///     "hour 1 of run 20180917T000000Z is not published yet; published are 0",
/// );
/// # Ok::<(), mesonet::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct GridStore {
    folder: PathBuf,
}

impl GridStore {
    /// The store in a folder, which is made when the first run is written.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }

    /// Its folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The models of which there are runs, by name.
    ///
    /// # Errors
    /// A folder that cannot be read.
    pub fn models(&self) -> Result<Vec<String>, GridStoreError> {
        let mut models = Vec::new();
        for model in names(&self.folder)? {
            if check_name("model", &model).is_ok() && !self.runs(&model)?.is_empty() {
                models.push(model);
            }
        }
        models.sort_unstable();
        Ok(models)
    }

    /// The runs of a model of which at least one hour is published, latest first; also those whose
    /// definition is damaged.
    ///
    /// # Errors
    /// A model's name that cannot be one, a folder that cannot be read.
    pub fn runs(&self, model: &str) -> Result<Vec<RunStamp>, GridStoreError> {
        let mut runs = Vec::new();
        for run in self.begun(model)? {
            match GridRun::open(&self.run_folder(model, run)?) {
                Ok(opened) if opened.published().is_empty() => {}
                // It went away meanwhile.
                Err(GridStoreError::UnknownRun { .. }) => {}
                // One that is damaged says so when it is opened, and keeps no other from being.
                Ok(_) | Err(GridStoreError::Damaged { .. }) => runs.push(run),
                Err(error) => return Err(error),
            }
        }
        Ok(runs)
    }

    /// The runs of a model that somebody has begun to write, latest first.
    ///
    /// # Errors
    /// As [`Self::runs`].
    pub fn begun(&self, model: &str) -> Result<Vec<RunStamp>, GridStoreError> {
        let names = names(&self.model_folder(model)?)?;
        let mut runs: Vec<RunStamp> = names.iter().filter_map(|name| name.parse().ok()).collect();
        runs.sort_unstable_by(|one, other| other.cmp(one));
        Ok(runs)
    }

    /// Opens a run as it is now: hours that are published later are not in it.
    ///
    /// # Errors
    /// A run that is not there, or whose definition is damaged.
    pub fn run(&self, model: &str, run: RunStamp) -> Result<GridRun, GridStoreError> {
        GridRun::open(&self.run_folder(model, run)?)
    }

    /// Opens the latest run of a model.
    ///
    /// # Errors
    /// A model of which there is none, or a run whose definition is damaged.
    pub fn newest_run(&self, model: &str) -> Result<GridRun, GridStoreError> {
        let run = self.runs(model)?.first().copied();
        self.run(model, run.ok_or_else(|| GridStoreError::UnknownModel(model.to_owned()))?)
    }

    /// Begins to write a run, or goes on with one.
    ///
    /// # Errors
    /// A definition that makes no run, another one of the same run, a run that is being written, a
    /// disk that refuses.
    pub fn write_run(&self, definition: RunDefinition) -> Result<RunWriter, GridStoreError> {
        let folder = self.run_folder(&definition.model, definition.run)?;
        RunWriter::begin(&folder, definition)
    }

    /// Removes a run. Who has it open may go on with the shards that were read already.
    ///
    /// # Errors
    /// A run that is not there, or a disk that refuses.
    pub fn remove_run(&self, model: &str, run: RunStamp) -> Result<(), GridStoreError> {
        let folder = self.run_folder(model, run)?;
        if !folder.try_exists().map_err(|error| storage(&folder, &error))? {
            let (model, run) = (model.to_owned(), run.to_string());
            return Err(GridStoreError::UnknownRun { model, run });
        }
        take_away(&folder, run)
    }

    /// Removes all runs of a model but the latest, and says which; also those that were begun before
    /// these and never published. What a removal that was interrupted left behind goes too.
    ///
    /// # Errors
    /// As [`Self::runs`] and [`Self::remove_run`].
    pub fn keep_newest(&self, model: &str, keep: usize) -> Result<Vec<RunStamp>, GridStoreError> {
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

    /// Removes what processes that were killed left behind: runs that were being made or removed,
    /// and hours of which the document of their run does not say that they are there. What is being
    /// written meanwhile stays, as does whatever is not of the store's own making. Gives how many
    /// files and folders there were.
    ///
    /// # Errors
    /// A folder that cannot be read, or a disk that refuses.
    pub fn remove_unfinished(&self) -> Result<usize, GridStoreError> {
        let mut removed = 0;
        for model in names(&self.folder)? {
            if check_name("model", &model).is_err() {
                continue;
            }
            for name in names(&self.model_folder(&model)?)? {
                removed += writer::remove_unfinished(&self.model_folder(&model)?.join(name))?;
            }
        }
        Ok(removed)
    }

    fn model_folder(&self, model: &str) -> Result<PathBuf, GridStoreError> {
        check_name("model", model)?;
        Ok(self.folder.join(model))
    }

    fn run_folder(&self, model: &str, run: RunStamp) -> Result<PathBuf, GridStoreError> {
        Ok(self.model_folder(model)?.join(run.to_string()))
    }
}

/// Removes the folder of a run: out of sight at once, then away.
fn take_away(folder: &Path, run: RunStamp) -> Result<(), GridStoreError> {
    let removed = folder.with_file_name(format!(".{run}.removed"));
    clear(&removed)?;
    // Before the first of its files goes, its name must have gone for good: half a run would be seen
    // after a loss of power.
    let hidden =
        fs::rename(folder, &removed).and_then(|()| sync_folder(folder.parent().unwrap_or(folder)));
    hidden.map_err(|error| storage(folder, &error))?;
    clear(&removed)
}

/// Removes a folder, if there is one.
fn clear(folder: &Path) -> Result<(), GridStoreError> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(storage(folder, &error)),
        _ => Ok(()),
    }
}

/// Names in a folder; none where there is no folder.
fn names(folder: &Path) -> Result<Vec<String>, GridStoreError> {
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
mod tests;
#[cfg(test)]
mod writer_tests;
