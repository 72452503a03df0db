//! Writing a run, hour by hour.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use super::cf::check_names;
use super::definition::{ProductDefinition, PublishedHour, RunDefinition};
use super::error::{damaged, storage};
use super::reader::{layout, shard_path};
use super::shard::{self, LevelValues};
use super::zarr::{DOCUMENT, FRESH_DOCUMENT, Manifest, create, write_arrays};
use super::{GridStoreError, clear, take_away};
use crate::durable::{create_folder, sync_folder, sync_folders};
use crate::projection::NativeGrid;
use crate::run_stamp::RunStamp;

/// Writes the hours of a run. What is written is seen by nobody until it is published.
///
/// A run that was left half-written is gone on with: what was published stays, what was not is
/// written anew. One of which nothing was published may also become another.
#[derive(Debug)]
pub struct RunWriter {
    folder: PathBuf,
    manifest: Manifest,
    /// Hour and index of the product of the shards that lie ready.
    ready: BTreeSet<(usize, usize)>,
    /// Locked as long as it is open: also a process that is killed leaves no lock behind.
    _lock: File,
}

impl RunWriter {
    pub(super) fn begin(folder: &Path, definition: RunDefinition) -> Result<Self, GridStoreError> {
        definition.check()?;
        NativeGrid::new(definition.grid)?;
        let model = folder.parent().unwrap_or(folder);
        create_folder(model).map_err(|error| storage(model, &error))?;
        let lock = lock(model, definition.run)?;
        let manifest = match Manifest::read(folder)? {
            Some(manifest) if manifest.definition == definition => manifest,
            // Nobody has seen anything of it.
            Some(manifest) if manifest.published.is_empty() => {
                take_away(folder, definition.run)?;
                found(folder, definition)?
            }
            Some(_) => return Err(GridStoreError::Differs(definition.run.to_string())),
            None => found(folder, definition)?,
        };
        Ok(Self { folder: folder.to_owned(), manifest, ready: BTreeSet::new(), _lock: lock })
    }

    /// What the run is of.
    pub fn definition(&self) -> &RunDefinition {
        &self.manifest.definition
    }

    /// The hours that are published, ascending.
    pub fn published(&self) -> &[PublishedHour] {
        &self.manifest.published
    }

    /// Whether a product of an hour is published, so that it does not change any more.
    pub fn is_published(&self, hour: usize, product: &str) -> bool {
        self.published_hour(hour)
            .is_some_and(|index| !self.published()[index].absent.iter().any(|one| one == product))
    }

    /// Writes the integers of a product at an hour, in the order levels, rows, columns.
    ///
    /// Written again before it is published, it is replaced. An hour that is published may get the
    /// products that it does not have yet.
    ///
    /// # Errors
    /// An hour or product that the run does not have, one that is published, a number of values that
    /// is not levels × rows × columns, a disk that refuses.
    pub fn write(&mut self, hour: usize, product: &str, raw: &[i16]) -> Result<(), GridStoreError> {
        let definition = &self.manifest.definition;
        let cells = definition.grid.rows * definition.grid.columns;
        let levels: Vec<_> = raw.chunks(cells).map(LevelValues::Each).collect();
        self.write_levels(hour, product, &levels)
    }

    /// The same, level by level, of which each may be of one value: then it takes neither memory nor
    /// room on the disk for its cells.
    ///
    /// # Errors
    /// As [`write`](Self::write).
    pub fn write_levels(
        &mut self,
        hour: usize,
        product: &str,
        levels: &[LevelValues<'_>],
    ) -> Result<(), GridStoreError> {
        self.check_hour(hour)?;
        let run = &self.manifest.definition;
        let Some(index) = run.products.iter().position(|known| known.name == product) else {
            let names: Vec<&str> = run.products.iter().map(|known| known.name.as_str()).collect();
            return Err(GridStoreError::UnknownProduct {
                model: run.model.clone(),
                got: product.chars().take(80).collect(),
                allowed: names.join(", "),
            });
        };
        let product = &run.products[index];
        if self.is_published(hour, &product.name) {
            return Err(GridStoreError::Published { hour, product: product.name.clone() });
        }
        let layout = layout(run, product, hour);
        let cells = layout.rows * layout.columns;
        let lengths = levels.iter().map(|level| match level {
            LevelValues::All(_) => cells,
            LevelValues::Each(raw) => raw.len(),
        });
        let got = lengths.clone().sum();
        if levels.len() != layout.levels || lengths.clone().any(|length| length != cells) {
            let (what, needed) = ("a field of all its levels", layout.values());
            return Err(GridStoreError::Length { what, needed, got });
        }
        let path = ready_path(&self.folder, product, hour);
        if let Some(folder) = path.parent() {
            create(folder)?;
        }
        shard::write(&path, layout, levels, product.encoding.nodata())?;
        self.ready.insert((hour, index));
        Ok(())
    }

    /// Publishes what was written of hours, all of them at once. A product that was not written of an
    /// hour has no values there, until it is written and published later.
    ///
    /// `published_ms` is the time now, in milliseconds since 1970; that of an hour is the time of the
    /// newest part of it.
    ///
    /// # Errors
    /// An hour out of range or of which nothing was written: none is published. A disk that refuses:
    /// those who read see all of the hours as they are now, or as they were.
    pub fn publish(&mut self, hours: &[usize], published_ms: i64) -> Result<(), GridStoreError> {
        let hours: BTreeSet<usize> = hours.iter().copied().collect();
        for &hour in &hours {
            self.check_hour(hour)?;
            if self.ready.range((hour, 0)..(hour + 1, 0)).next().is_none() {
                return Err(GridStoreError::NothingWritten(hour));
            }
        }
        let mut manifest = self.manifest.clone();
        let mut folders = BTreeSet::new();
        for &hour in &hours {
            let mut absent = Vec::new();
            for (index, product) in self.manifest.definition.products.iter().enumerate() {
                if self.ready.contains(&(hour, index)) {
                    let shard = self.place(product, hour)?;
                    // The folders of the axes may be new, up to that of the product.
                    let above = shard.ancestors().skip(1).map(Path::to_owned);
                    folders.extend(above.take_while(|folder| *folder != self.folder));
                } else {
                    absent.push(product.name.clone());
                }
            }
            if let Some(index) = self.published_hour(hour) {
                let published = &mut manifest.published[index];
                published.absent.retain(|product| absent.contains(product));
                published.lost.retain(|product| absent.contains(product));
                published.published_ms = published_ms;
            } else {
                let lost = Vec::new();
                manifest.published.push(PublishedHour { hour, published_ms, absent, lost });
            }
        }
        for folder in &folders {
            sync_folder(folder).map_err(|error| storage(folder, &error))?;
        }
        manifest.published.sort_unstable_by_key(|published| published.hour);
        manifest.write(&self.folder)?;
        self.manifest = manifest;
        self.ready.retain(|(hour, _)| !hours.contains(hour));
        Ok(())
    }

    /// Gives a shard the name that Zarr reads it by. Until the group's document says that its hour
    /// is published, this is undone by whoever writes it again.
    fn place(&self, product: &ProductDefinition, hour: usize) -> Result<PathBuf, GridStoreError> {
        let (from, to) =
            (ready_path(&self.folder, product, hour), shard_path(&self.folder, product, hour));
        match fs::rename(&from, &to) {
            // An attempt before this one went so far and then failed.
            Err(error) if error.kind() == io::ErrorKind::NotFound && to.exists() => {}
            Err(error) => return Err(storage(&from, &error)),
            Ok(()) => {}
        }
        Ok(to)
    }

    fn check_hour(&self, hour: usize) -> Result<(), GridStoreError> {
        let hours = self.manifest.definition.valid_ms.len();
        if hour >= hours {
            return Err(GridStoreError::Index { what: "hour", got: hour, last: hours - 1 });
        }
        Ok(())
    }

    /// Where an hour is among those that are published.
    fn published_hour(&self, hour: usize) -> Option<usize> {
        self.published().binary_search_by_key(&hour, |published| published.hour).ok()
    }
}

/// Makes the folder of a run, under another name until it is whole.
fn found(folder: &Path, definition: RunDefinition) -> Result<Manifest, GridStoreError> {
    // A folder without a document is none that was made here.
    if folder.exists() {
        return Err(damaged(folder, &format!("it has no {DOCUMENT}")));
    }
    check_names(&definition)?;
    let fresh = folder.with_file_name(format!(".{}.new", definition.run));
    clear(&fresh)?;
    create(&fresh)?;
    write_arrays(&fresh, &definition)?;
    let manifest = Manifest::new(definition);
    manifest.write(&fresh)?;
    let placed = sync_folders(&fresh)
        .and_then(|()| fs::rename(&fresh, folder))
        .and_then(|()| sync_folder(folder.parent().unwrap_or(folder)));
    placed.map_err(|error| storage(folder, &error))?;
    Ok(manifest)
}

/// Locks a run of a model for the one that writes it.
pub(super) fn lock(model: &Path, run: RunStamp) -> Result<File, GridStoreError> {
    let path = model.join(format!(".{run}.lock"));
    let lock = File::options().create(true).truncate(false).write(true).open(&path);
    let lock = lock.map_err(|error| storage(&path, &error))?;
    match lock.try_lock() {
        Ok(()) => Ok(lock),
        Err(TryLockError::WouldBlock) => Err(GridStoreError::Busy(run.to_string())),
        Err(TryLockError::Error(error)) => Err(storage(&path, &error)),
    }
}

/// Removes what is left of a write that was interrupted, if a path in the folder of a model is
/// that or a run in which there is some, and nobody writes the run. Gives how much there was.
pub(super) fn remove_unfinished(path: &Path) -> Result<usize, GridStoreError> {
    let (Some(model), Some(name)) = (path.parent(), path.file_name().and_then(OsStr::to_str))
    else {
        return Ok(0);
    };
    let hidden = name
        .strip_prefix('.')
        .and_then(|name| name.strip_suffix(".new").or_else(|| name.strip_suffix(".removed")));
    let Ok(run) = hidden.unwrap_or(name).parse::<RunStamp>() else { return Ok(0) };
    if !path.is_dir() {
        return Ok(0);
    }
    let left = match hidden {
        Some(_) => vec![path.to_owned()],
        None => unfinished_of(path)?,
    };
    if left.is_empty() {
        return Ok(0);
    }
    let _lock = match lock(model, run) {
        Err(GridStoreError::Busy(_)) => return Ok(0),
        lock => lock?,
    };
    for one in &left {
        if hidden.is_some() {
            clear(one)?;
            continue;
        }
        match fs::remove_file(one) {
            // It was published, or removed, meanwhile.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            removed => removed.map_err(|error| storage(one, &error))?,
        }
    }
    Ok(left.len())
}

/// Files of a run that are not published.
fn unfinished_of(run: &Path) -> Result<Vec<PathBuf>, GridStoreError> {
    let manifest = match Manifest::read(run) {
        Ok(Some(manifest)) => manifest,
        // One that is damaged says so when it is opened.
        Ok(None) | Err(GridStoreError::Damaged { .. }) => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let RunDefinition { products, valid_ms, .. } = &manifest.definition;
    let mut left: Vec<PathBuf> = vec![run.join(FRESH_DOCUMENT)];
    for product in products {
        left.extend((0..valid_ms.len()).map(|hour| ready_path(run, product, hour)));
    }
    left.retain(|path| path.is_file());
    Ok(left)
}

/// Where the shard of an hour lies until it is published.
fn ready_path(run: &Path, product: &ProductDefinition, hour: usize) -> PathBuf {
    shard_path(run, product, hour).with_extension("new")
}
