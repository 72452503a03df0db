//! Writing a run, hour by hour.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use super::arrays::DOCUMENT;
use super::cf::check_names;
use super::content::Content;
use super::definition::{FieldInterval, ProductDefinition, PublishedHour, RunDefinition};
use super::error::{damaged, storage};
use super::growth::{finish, read_planes, ready_path};
use super::members::StatedIntervals;
use super::packing::{self, LevelValues};
use super::reader::{layout, shard_path};
use super::zarr::{RunManifest, create, write_arrays};
use super::{clear, take_away};
use crate::durable::{create_folder, sync_folder, sync_folders};
use crate::grid::NativeGrid;
use crate::grid::blocks::EncodedPlane;
use crate::lock::FileLock;
use crate::model::{RunStamp, RunStoreError};

/// Writes the hours of a run. Nobody sees the written data until it is published.
///
/// A run that was left half-written is continued: published hours stay, and the rest is written
/// again. If nothing was published, the run may also get another definition. Otherwise a new
/// definition may only add to the old one: further hours, products and levels, or another packing,
/// in which the whole run is then packed.
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
/// use mesonet::model::{LevelValues, RunStore, RunWriter};
/// let store = RunStore::new(folder);
/// let mut writer: RunWriter = store.write_run(definition)?;
/// writer.write(0, "t2m", &[1850, 1860, 1870, 1880, 1890, 1900])?;
/// writer.publish(&[0], 1_537_150_000_000)?;
/// assert!(writer.is_published(0, "t2m"));
/// // The hour gets a product that it lacked: no rain anywhere.
/// writer.write_levels(0, "rain", &[LevelValues::All(0)])?;
/// writer.publish(&[0], 1_537_151_000_000)?;
/// let run = store.newest_run("demo")?;
/// assert_eq!(run.product("rain")?.value(0, 0, 1, 2)?, Some(0.0));
/// assert_eq!(run.published()[0].published_ms, 1_537_151_000_000);
/// # Ok::<(), mesonet::Error>(())
/// ```
#[derive(Debug)]
pub struct RunWriter {
    folder: PathBuf,
    manifest: RunManifest,
    /// The hour and product index of each shard that is ready, with the planes that it lacks.
    ready: BTreeMap<(usize, usize), Vec<usize>>,
    /// The intervals that were stated since the last publication, by hour and product.
    intervals: StatedIntervals,
    _lock: FileLock,
}

impl RunWriter {
    pub(super) fn begin(folder: &Path, definition: RunDefinition) -> Result<Self, RunStoreError> {
        definition.check()?;
        NativeGrid::new(definition.grid)?;
        let model = folder.parent().unwrap_or(folder);
        create_folder(model).map_err(|error| storage(model, &error))?;
        let lock = lock(model, definition.run)?;
        let mut manifest = match RunManifest::read(folder)? {
            Some(mut manifest) if manifest.definition == definition => {
                if manifest.upgrade() {
                    manifest.write(folder)?;
                }
                manifest
            }
            // No reader has seen any of it.
            Some(manifest) if manifest.published.is_empty() => {
                take_away(folder, definition.run)?;
                found(folder, definition)?
            }
            Some(manifest) => {
                check_names(&definition)?;
                let run = definition.run.to_string();
                let grown = manifest.grown(definition).ok_or(RunStoreError::Differs(run))?;
                grown.write(folder)?;
                grown
            }
            None => found(folder, definition)?,
        };
        if manifest.growing {
            finish(folder, &mut manifest)?;
        }
        let (ready, intervals) = (BTreeMap::new(), StatedIntervals::default());
        Ok(Self { folder: folder.to_owned(), manifest, ready, intervals, _lock: lock })
    }

    /// Writes a run again in the present layout, if it has an older one; returns whether it had.
    pub(super) fn upgrade(folder: &Path, run: RunStamp) -> Result<bool, RunStoreError> {
        let unknown = || {
            let model = folder.parent().and_then(Path::file_name).unwrap_or_default();
            let model = model.to_string_lossy().into_owned();
            RunStoreError::UnknownRun { model, run: run.to_string() }
        };
        // Most runs have the present layout, and then nobody waits for the lock.
        let manifest = RunManifest::read(folder)?.ok_or_else(unknown)?;
        if !manifest.is_older() {
            return Ok(false);
        }
        let _lock = lock(folder.parent().unwrap_or(folder), run)?;
        let mut manifest = RunManifest::read(folder)?.ok_or_else(unknown)?;
        if manifest.upgrade() {
            manifest.write(folder)?;
        }
        if manifest.growing {
            finish(folder, &mut manifest)?;
        }
        Ok(true)
    }

    /// Returns the definition of the run.
    pub fn definition(&self) -> &RunDefinition {
        &self.manifest.definition
    }

    /// Returns the published hours, ascending.
    pub fn published(&self) -> &[PublishedHour] {
        &self.manifest.published
    }

    /// Returns whether a product of an hour is published with all its levels, and so can no longer
    /// change.
    pub fn is_published(&self, hour: usize, product: &str) -> bool {
        self.missing_levels(hour, product).is_empty()
    }

    /// Returns the levels that a product of an hour does not have yet, by index: all levels, if it
    /// is not published or if the run has no such product.
    pub fn missing_levels(&self, hour: usize, product: &str) -> Vec<usize> {
        let published = self.published_hour(hour).map(|index| &self.published()[index]);
        let published = published.filter(|hour| !hour.absent.iter().any(|one| one == product));
        let known = self.definition().products.iter().find(|known| known.name == product);
        match (published, known) {
            (Some(hour), Some(_)) => hour.partial.get(product).cloned().unwrap_or_default(),
            (_, known) => (0..known.map_or(1, ProductDefinition::levels)).collect(),
        }
    }

    /// States the interval of a product at an hour, for a statistic; it is published with the hour.
    /// An ensemble is given by the name that its members share; all members have the same interval.
    ///
    /// # Errors
    /// If another interval was stated before.
    pub fn state_interval(
        &mut self,
        hour: usize,
        product: &str,
        interval: FieldInterval,
    ) -> Result<(), RunStoreError> {
        let published = self.published_hour(hour).map(|index| &self.published()[index].intervals);
        let published = published.and_then(|intervals| intervals.get(product)).copied();
        self.intervals.state(hour, product, interval, published)
    }

    /// Writes the integers of a product at an hour, in the order levels, rows, columns.
    ///
    /// If the product is written again before it is published, the new data replaces the old. A
    /// published hour may get the products that it does not have yet.
    ///
    /// # Errors
    /// If the run does not have the hour or the product, the product is already published, the
    /// number of values is not levels × rows × columns, or the disk reports an error.
    pub fn write(&mut self, hour: usize, product: &str, raw: &[i16]) -> Result<(), RunStoreError> {
        let definition = &self.manifest.definition;
        let cells = definition.grid.rows * definition.grid.columns;
        let levels: Vec<_> = raw.chunks(cells).map(LevelValues::Each).collect();
        self.write_levels(hour, product, &levels)
    }

    /// Like [`write`](Self::write), level by level. A constant level takes no space for its cells,
    /// neither in memory nor on disk.
    ///
    /// # Errors
    /// As [`write`](Self::write).
    pub fn write_levels(
        &mut self,
        hour: usize,
        product: &str,
        levels: &[LevelValues<'_>],
    ) -> Result<(), RunStoreError> {
        let levels: Vec<_> = levels.iter().copied().map(Some).collect();
        self.add_levels(hour, product, &levels)
    }

    /// Like [`write_levels`](Self::write_levels) for some of the levels. The others, `None`, stay
    /// as published, or missing until they are added.
    ///
    /// # Errors
    /// As [`write`](Self::write); also if the published part of the hour is damaged.
    ///
    /// ```
    /// # use mesonet::{grid::{Encoding, GridProjection, LatLonGlobe}, model};
    /// # let temporary = tempfile::tempdir().expect("a folder");
    /// # let store = model::RunStore::new(temporary.path());
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
    /// #     products: vec![model::ProductDefinition {
    /// #         name: "wind".to_owned(),
    /// #         unit: "m/s".to_owned(),
    /// #         levels_hpa: Some(vec![1000.0, 850.0]),
    /// #         member: None,
    /// #         attributes: std::collections::BTreeMap::new(),
    /// #         encoding: Encoding::new(0.5, 0.0, i16::MIN).expect("it is valid"),
    /// #     }],
    /// # };
    /// use mesonet::model::LevelValues;
    /// let mut writer = store.write_run(definition)?;
    /// writer.add_levels(0, "wind", &[None, Some(LevelValues::All(40))])?;
    /// writer.publish(&[0], 1_537_150_000_000)?;
    /// assert_eq!(writer.missing_levels(0, "wind"), [0]);
    /// writer.add_levels(0, "wind", &[Some(LevelValues::All(10)), None])?;
    /// writer.publish(&[0], 1_537_151_000_000)?;
    /// let (run, mut column) = (store.newest_run("demo")?, [0.0; 2]);
    /// run.product("wind")?.column_into(0, 1, 1, &mut column)?;
    /// assert_eq!(column, [5.0, 20.0]);
    /// # Ok::<(), mesonet::Error>(())
    /// ```
    pub fn add_levels(
        &mut self,
        hour: usize,
        product: &str,
        levels: &[Option<LevelValues<'_>>],
    ) -> Result<(), RunStoreError> {
        self.check_hour(hour)?;
        let run = &self.manifest.definition;
        let Some(index) = run.products.iter().position(|known| known.name == product) else {
            let names: Vec<&str> = run.products.iter().map(|known| known.name.as_str()).collect();
            return Err(RunStoreError::UnknownProduct {
                model: run.model.clone(),
                got: product.chars().take(80).collect(),
                allowed: names.join(", "),
            });
        };
        let product = &run.products[index];
        let slot = self.manifest.slots()[hour];
        let layout = layout(run, product, slot);
        let cells = layout.rows * layout.columns;
        let (columns, nodata) = (layout.columns, product.encoding.nodata());
        let length = |level: LevelValues<'_>| level.len((layout.rows, columns), nodata);
        let lengths = levels.iter().map(|level| level.map_or(cells, length));
        let got = lengths.clone().sum();
        if levels.len() != layout.levels || lengths.clone().any(|length| length != cells) {
            let (what, needed) = ("a field of all its levels", layout.values());
            return Err(RunStoreError::Length { what, needed, got });
        }
        let missing = self.missing_levels(hour, &product.name);
        let adds =
            |(level, values): (usize, &Option<_>)| values.is_some() && !missing.contains(&level);
        if missing.is_empty() || levels.iter().enumerate().any(adds) {
            return Err(RunStoreError::Published { hour, product: product.name.clone() });
        }
        let there: Vec<usize> =
            (0..levels.len()).filter(|level| !missing.contains(level)).collect();
        let planes = match &*there {
            [] => Vec::new(),
            there => read_planes(&self.folder, &self.manifest, hour, product, there)?,
        };
        let whole = levels.iter().enumerate().map(|(level, values)| {
            let known = there.binary_search(&level).ok();
            let known = known.map(|at| LevelValues::Encoded(&planes[at]));
            values.or(known).unwrap_or(LevelValues::All(nodata)).encoded(columns, nodata)
        });
        let whole: Vec<Cow<'_, EncodedPlane>> = whole.collect();
        let whole: Vec<&EncodedPlane> = whole.iter().map(AsRef::as_ref).collect();
        let path = ready_path(&self.folder, product, slot);
        if let Some(folder) = path.parent() {
            create(folder)?;
        }
        packing::write(&path, &layout, &whole, &Content::of(product))?;
        let still = missing.into_iter().filter(|level| levels[*level].is_none()).collect();
        self.ready.insert((hour, index), still);
        Ok(())
    }

    /// Publishes the written data of some hours, all of them at once. A product or level that was
    /// not written for an hour has no values there until it is written and published later.
    ///
    /// `published_ms` is the current time, in milliseconds since 1970. The time of an hour is that
    /// of its newest part.
    ///
    /// # Errors
    /// If an hour is out of range or nothing was written for it; then no hour is published. If the
    /// disk reports an error; then readers see all of the hours either in the new state or in the
    /// old.
    pub fn publish(&mut self, hours: &[usize], published_ms: i64) -> Result<(), RunStoreError> {
        let hours: BTreeSet<usize> = hours.iter().copied().collect();
        for &hour in &hours {
            self.check_hour(hour)?;
            if self.ready.range((hour, 0)..(hour + 1, 0)).next().is_none() {
                return Err(RunStoreError::NothingWritten(hour));
            }
        }
        let mut manifest = self.manifest.clone();
        let mut folders = BTreeSet::new();
        for &hour in &hours {
            let (mut absent, mut written) = (Vec::new(), BTreeMap::new());
            for (index, product) in self.manifest.definition.products.iter().enumerate() {
                if let Some(missing) = self.ready.get(&(hour, index)) {
                    written.insert(product.name.clone(), missing.clone());
                    let shard = self.place(product, hour)?;
                    // The folders of the axes may be new, up to that of the product.
                    let above = shard.ancestors().skip(1).map(Path::to_owned);
                    folders.extend(above.take_while(|folder| *folder != self.folder));
                } else {
                    absent.push(product.name.clone());
                }
            }
            let index = self.published_hour(hour).unwrap_or_else(|| {
                let absent = absent.clone();
                manifest.published.push(PublishedHour { hour, absent, ..PublishedHour::default() });
                manifest.published.len() - 1
            });
            let published = &mut manifest.published[index];
            published.absent.retain(|product| absent.contains(product));
            published.lost.retain(|product| absent.contains(product));
            published.published_ms = published_ms;
            published.intervals.extend(self.intervals.of_hour(hour));
            published.partial.extend(written);
            published.partial.retain(|_, missing| !missing.is_empty());
        }
        for folder in &folders {
            sync_folder(folder).map_err(|error| storage(folder, &error))?;
        }
        manifest.published.sort_unstable_by_key(|published| published.hour);
        manifest.write(&self.folder)?;
        self.manifest = manifest;
        self.ready.retain(|(hour, _), _| !hours.contains(hour));
        self.intervals.forget(&hours);
        Ok(())
    }

    /// Notes which files with fields of published hours were broken, and which of these have since
    /// arrived whole. An hour that lacks nothing has no broken files.
    ///
    /// # Errors
    /// If the disk reports an error: nothing has changed.
    pub fn note_files(
        &mut self,
        hours: &BTreeMap<usize, BTreeSet<String>>,
        is_broken: impl Fn(&str) -> bool,
        published_ms: i64,
    ) -> Result<(), RunStoreError> {
        let mut manifest = self.manifest.clone();
        for published in &mut manifest.published {
            let Some(files) = hours.get(&published.hour) else { continue };
            let before = published.broken.clone();
            for file in files {
                if is_broken(file) {
                    published.broken.insert(file.clone());
                } else {
                    published.broken.remove(file);
                }
            }
            if published.absent.is_empty() && published.partial.is_empty() {
                published.broken.clear();
            }
            if published.broken != before {
                published.published_ms = published_ms;
            }
        }
        if manifest != self.manifest {
            manifest.write(&self.folder)?;
            self.manifest = manifest;
        }
        Ok(())
    }

    /// Gives a shard the name under which Zarr reads it. Until the group's document lists the hour
    /// of the shard as published, writing the shard again undoes this.
    fn place(&self, product: &ProductDefinition, hour: usize) -> Result<PathBuf, RunStoreError> {
        let slot = self.manifest.slots()[hour];
        let (from, to) =
            (ready_path(&self.folder, product, slot), shard_path(&self.folder, product, slot));
        match fs::rename(&from, &to) {
            // An earlier attempt got this far and then failed.
            Err(error) if error.kind() == io::ErrorKind::NotFound && to.exists() => {}
            Err(error) => return Err(storage(&from, &error)),
            Ok(()) => {}
        }
        Ok(to)
    }

    fn check_hour(&self, hour: usize) -> Result<(), RunStoreError> {
        let hours = self.manifest.definition.valid_ms.len();
        if hour >= hours {
            return Err(RunStoreError::Index { what: "hour", got: hour, last: hours - 1 });
        }
        Ok(())
    }

    /// Returns the index of an hour among the published hours.
    fn published_hour(&self, hour: usize) -> Option<usize> {
        self.published().binary_search_by_key(&hour, |published| published.hour).ok()
    }
}

/// Creates the folder of a run, under another name until it is complete.
fn found(folder: &Path, definition: RunDefinition) -> Result<RunManifest, RunStoreError> {
    // A folder without a document was not created here.
    if folder.exists() {
        return Err(damaged(folder, &format!("it has no {DOCUMENT}")));
    }
    check_names(&definition)?;
    let fresh = folder.with_file_name(format!(".{}.new", definition.run));
    clear(&fresh)?;
    create(&fresh)?;
    write_arrays(&fresh, &definition)?;
    let manifest = RunManifest::new(definition);
    manifest.write(&fresh)?;
    let placed = sync_folders(&fresh)
        .and_then(|()| fs::rename(&fresh, folder))
        .and_then(|()| sync_folder(folder.parent().unwrap_or(folder)));
    placed.map_err(|error| storage(folder, &error))?;
    Ok(manifest)
}

/// Locks a run of a model for its writer.
pub(super) fn lock(model: &Path, run: RunStamp) -> Result<FileLock, RunStoreError> {
    let path = model.join(format!(".{run}.lock"));
    FileLock::exclusive(&path).map_err(|error| match error {
        TryLockError::WouldBlock => RunStoreError::Busy(run.to_string()),
        TryLockError::Error(error) => storage(&path, &error),
    })
}
