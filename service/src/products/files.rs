//! The files of raster products: `products/TYPE/DURATION/yyyyMMddTHHmmssZ.tif` below the data
//! folder.
//!
//! A file is complete or absent: it is written under a hidden name, made durable, and renamed
//! atomically. Readers of the previous file are not disturbed. A file is locked while it is being
//! written. The next server removes hidden files that a killed process left.

use std::fs::{self, File, TryLockError};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use arc_swap::ArcSwap;
use mesonet::durable::{create_folder, sync_folder};
use mesonet::raster::{ProductDuration, Raster};
use mesonet::time::parse_instant;
use mesonet::{Iso8601, raster};

use super::check::{CheckedFiles, Content, ProductPlace};
use crate::files::{are_the_same, entries, found};

/// The folder of products for an instant.
const INSTANT: &str = "instant";

/// The extension after the time in a name.
const EXTENSION: &str = ".tif";

/// Prefix and suffix of the name of a file that is being written. Between them are
/// [`UNFINISHED_LETTERS`] letters or digits.
const UNFINISHED: [&str; 2] = [".mesonet-", ".tmp"];
const UNFINISHED_LETTERS: usize = 12;

/// The files of raster products and their catalogue.
#[derive(Clone, Debug)]
pub struct ProductFiles {
    folder: PathBuf,
    /// The products. A reload replaces them.
    catalogue: Arc<ArcSwap<raster::RasterCatalogue>>,
    /// Held while a large field is unpacked.
    pub(super) large: Arc<Mutex<()>>,
    /// What is known of the files that were read.
    pub(super) checked: Arc<CheckedFiles>,
}

/// A file in the folder of products.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoredFile {
    /// The file of a product.
    Product(PathBuf, ProductPlace),
    /// A file with a foreign name.
    Foreign(PathBuf),
}

impl ProductFiles {
    /// The files in a data folder, which need not exist.
    pub fn new(data: &Path, catalogue: raster::RasterCatalogue) -> Self {
        let folder = data.join("products");
        let catalogue = Arc::new(ArcSwap::from_pointee(catalogue));
        Self { folder, catalogue, large: Arc::default(), checked: Arc::default() }
    }

    /// The products of the deployment as they are now.
    pub fn catalogue(&self) -> Arc<raster::RasterCatalogue> {
        self.catalogue.load_full()
    }

    /// Replaces the products. All requests from now on see the new ones. Files of a removed product
    /// stay in their folder, and the log names them.
    pub fn take(&self, catalogue: raster::RasterCatalogue) {
        let old = self.catalogue.swap(Arc::new(catalogue));
        let new = self.catalogue();
        for gone in old.iter().filter(|product| new.get(product.name()).is_none()) {
            let (name, mut files) = (gone.name(), 0);
            for span in gone.durations() {
                match self.times(gone, span) {
                    Ok(times) => files += times.len(),
                    Err(error) => {
                        tracing::error!("the files of the removed product {name}: {error}");
                    }
                }
            }
            if files == 0 {
                tracing::info!("the product {name} is no longer in the catalogue");
            } else {
                tracing::warn!(
                    "the product {name} is no longer in the catalogue: files that stay on disk \
                     without being served: {files}"
                );
            }
        }
    }

    /// Returns the file of a product at a time, if it exists.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn find(
        &self,
        product: &raster::RasterProduct,
        span: Option<ProductDuration>,
        ts_ms: i64,
    ) -> io::Result<Option<PathBuf>> {
        let path = self.folder(product, span).join(name(ts_ms));
        // Names have whole seconds, so no file has a fractional time.
        let is_there = ts_ms.rem_euclid(1000) == 0 && path.try_exists()?;
        Ok(is_there.then_some(path))
    }

    /// Returns the times of a product's files, newest first, in milliseconds since 1970.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn times(
        &self,
        product: &raster::RasterProduct,
        span: Option<ProductDuration>,
    ) -> io::Result<Vec<i64>> {
        let mut times = Vec::new();
        for entry in found(fs::read_dir(self.folder(product, span)))?.into_iter().flatten() {
            times.extend(entry?.file_name().to_str().and_then(time));
        }
        times.sort_unstable_by(|a, b| b.cmp(a));
        Ok(times)
    }

    /// Whether a file is as it was written, so that it may be served. The file is read once, when
    /// it is first requested.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn is_whole(&self, path: &Path, place: &ProductPlace) -> io::Result<bool> {
        Ok(self.checked.content(path, place)? != Content::Damaged)
    }

    /// Returns every file in the folder, whatever the catalogue says, by name.
    ///
    /// # Errors
    /// A folder cannot be read.
    pub fn all(&self) -> io::Result<Vec<StoredFile>> {
        let mut all = Vec::new();
        for product in entries(&self.folder)? {
            for span in folder_or_foreign(product, &mut all)? {
                for file in folder_or_foreign(span, &mut all)? {
                    all.push(stored(file));
                }
            }
        }
        Ok(all)
    }

    /// Writes the file of a product, replacing one of the same time. Returns the length in bytes;
    /// `None` if an identical file is already there, which then stays.
    ///
    /// # Errors
    /// The file cannot be written. Nothing has changed then.
    pub fn put(
        &self,
        product: &raster::RasterProduct,
        span: Option<ProductDuration>,
        raster: &Raster,
    ) -> io::Result<Option<u64>> {
        let folder = self.folder(product, span);
        create_folder(&folder)?;
        let [prefix, suffix] = UNFINISHED;
        let mut file = tempfile::Builder::new()
            .prefix(prefix)
            .suffix(suffix)
            .rand_bytes(UNFINISHED_LETTERS)
            .tempfile_in(&folder)?;
        file.as_file().lock()?;
        let mut out = BufWriter::new(file.as_file_mut());
        raster.write_cog(&mut out).map_err(io::Error::other)?;
        out.flush()?;
        drop(out);
        let path = folder.join(name(raster.valid_ms()));
        if hold_the_same(file.path(), &path).unwrap_or(false) {
            return Ok(None);
        }
        // A temporary file is private to its creator; this one is for everyone who may read the
        // folder.
        #[cfg(unix)]
        file.as_file().set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o644))?;
        file.as_file().sync_all()?;
        let bytes = file.as_file().metadata()?.len();
        file.persist(path)?;
        // The name is durable once its folder is.
        sync_folder(&folder)?;
        Ok(Some(bytes))
    }

    /// Removes the unfinished files of killed processes, and nothing else. Returns how many there
    /// were.
    ///
    /// # Errors
    /// A folder cannot be read, or a file cannot be removed.
    pub fn remove_unfinished(&self) -> io::Result<usize> {
        let mut removed = 0;
        for product in folders(&self.folder)? {
            for span in folders(&product)? {
                for entry in fs::read_dir(span)? {
                    let entry = entry?;
                    if entry.file_name().to_str().is_some_and(is_unfinished)
                        && entry.file_type()?.is_file()
                        && remove_unlocked(&entry.path())?
                    {
                        removed += 1;
                    }
                }
            }
        }
        Ok(removed)
    }

    /// The folder of a product's files of a duration. It need not exist.
    pub fn folder(
        &self,
        product: &raster::RasterProduct,
        span: Option<ProductDuration>,
    ) -> PathBuf {
        self.folder.join(product.name()).join(span_name(span))
    }
}

/// Returns the subfolders of a folder; none if it does not exist.
fn folders(folder: &Path) -> io::Result<Vec<PathBuf>> {
    Ok(entries(folder)?.into_iter().filter(|path| path.is_dir()).collect())
}

fn is_unfinished(name: &str) -> bool {
    let [prefix, suffix] = UNFINISHED;
    let between = name.strip_prefix(prefix).and_then(|name| name.strip_suffix(suffix));
    between.is_some_and(|letters| {
        letters.len() == UNFINISHED_LETTERS
            && letters.bytes().all(|one| one.is_ascii_alphanumeric())
    })
}

/// Removes a file unless a process is writing it.
fn remove_unlocked(path: &Path) -> io::Result<bool> {
    let Some(file) = found(File::options().write(true).open(path))? else { return Ok(false) };
    match file.try_lock() {
        Ok(()) => fs::remove_file(path).map(|()| true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Returns the entries of a folder; a file in its place counts as foreign.
fn folder_or_foreign(path: PathBuf, all: &mut Vec<StoredFile>) -> io::Result<Vec<PathBuf>> {
    if path.is_dir() {
        return entries(&path);
    }
    all.push(StoredFile::Foreign(path));
    Ok(Vec::new())
}

/// Identifies a file by its name and those of its folders.
fn stored(path: PathBuf) -> StoredFile {
    let place = || {
        let name = |path: &Path| Some(path.file_name()?.to_str()?.to_owned());
        let span = path.parent()?;
        let product = name(span.parent()?)?;
        let span = match &*name(span)? {
            INSTANT => None,
            span => Some(span.parse().ok()?),
        };
        let ts_ms = time(&name(&path)?)?;
        path.is_file().then_some(ProductPlace { product, span, ts_ms })
    };
    match place() {
        Some(place) => StoredFile::Product(path, place),
        None => StoredFile::Foreign(path),
    }
}

/// Returns the name of a duration, for people and folders.
pub fn span_name(span: Option<ProductDuration>) -> String {
    span.map_or_else(|| INSTANT.to_owned(), |span| span.to_string())
}

/// Returns the file name of a time: `20230406T120039Z.tif`.
fn name(ts_ms: i64) -> String {
    Iso8601(ts_ms).to_string().replace(['-', ':'], "") + EXTENSION
}

/// Parses the time in a file name; `None` for any other name.
pub(super) fn time(file_name: &str) -> Option<i64> {
    let stamp = file_name.strip_suffix(EXTENSION)?;
    let part = |range| stamp.get(range);
    // Year, month, day and hour, minute, second.
    let ranges = [0..4, 4..6, 6..11, 11..13, 13..16].map(part);
    let [Some(year), Some(month), Some(hour), Some(minute), Some(second)] = ranges else {
        return None;
    };
    let text = format!("{year}-{month}-{hour}:{minute}:{second}");
    let ts_ms = parse_instant(&text).ok()?;
    (name(ts_ms) == file_name).then_some(ts_ms)
}

/// Whether two files have the same content.
///
/// # Errors
/// One of the files does not exist or cannot be read.
fn hold_the_same(one: &Path, other: &Path) -> io::Result<bool> {
    let (mut one, mut other) = (File::open(one)?, File::open(other)?);
    Ok(one.metadata()?.len() == other.metadata()?.len() && are_the_same(&mut one, &mut other)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unfinished_files_of_a_killed_process_are_removed_and_nothing_else() {
        let data = tempfile::tempdir().unwrap();
        let files = ProductFiles::new(data.path(), raster::RasterCatalogue::default());
        assert_eq!(files.remove_unfinished().unwrap(), 0);
        let folder = data.path().join("products/rain/24h");
        fs::create_dir_all(folder.join(".mesonet-abcdefGHIJ99.tmp")).unwrap();
        let others = [
            "20230406T120039Z.tif",
            ".abcdef",
            ".mesonet-.tmp",
            ".mesonet-abcdefGHIJ9.tmp",
            ".mesonet-abcdefGHIJ-8.tmp",
            "mesonet-abcdefGHIJ01.tmp",
            "notes.tmp",
        ];
        for name in others.iter().chain(&[".mesonet-abcdefGHIJ01.tmp", ".mesonet-abcdefGHIJ02.tmp"])
        {
            fs::write(folder.join(name), "x").unwrap();
        }
        fs::write(data.path().join("products/.mesonet-abcdefGHIJ03.tmp"), "x").unwrap();
        // One file is being written.
        let written = File::options().write(true).open(folder.join(".mesonet-abcdefGHIJ02.tmp"));
        let written = written.unwrap();
        written.lock().unwrap();
        assert_eq!(files.remove_unfinished().unwrap(), 1);
        drop(written);
        assert_eq!(files.remove_unfinished().unwrap(), 1);
        for name in others {
            assert!(folder.join(name).exists(), "{name}");
        }
        assert!(folder.join(".mesonet-abcdefGHIJ99.tmp").is_dir());
        assert!(data.path().join("products/.mesonet-abcdefGHIJ03.tmp").exists());
    }

    #[test]
    fn only_names_of_files_have_a_time() {
        let ts_ms = parse_instant("2023-04-06T12:00:39Z").unwrap();
        assert_eq!(name(ts_ms), "20230406T120039Z.tif");
        assert_eq!(time("20230406T120039Z.tif"), Some(ts_ms));
        for other in [
            "",
            ".tif",
            "20230406T120039Z",
            "20230406T120039.tif",
            "20230406T120039Z.tif.tmp",
            ".20230406T120039Z.tif",
            "20230406 120039Z.tif",
            "20231306T120039Z.tif",
            "2023é406T12003Z.tif",
        ] {
            assert_eq!(time(other), None, "{other}");
        }
    }
}
