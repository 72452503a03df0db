//! Checks that the files of products are as they were written.

use std::collections::HashMap;
use std::fs::{File, Metadata};
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::SystemTime;

use mesonet::raster::{ProductDuration, RasterError};
use mesonet::{Iso8601, raster};

use super::span_name;
use crate::files::found;
use crate::sync::lock;

/// Number of files whose state is remembered. If there are more, all are checked again.
const MAX_KNOWN: usize = 100_000;

/// Identifies a file by its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProductPlace {
    /// The type of the product.
    pub product: String,
    /// The length of time that it covers; `None` is an instant.
    pub span: Option<ProductDuration>,
    /// Its valid time, milliseconds since 1970.
    pub ts_ms: i64,
}

/// What a file was found to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// It names its product, duration and time, and its checksum holds.
    Sealed,
    /// It can be read, but has no checksum or does not name its place: an earlier version or another
    /// program wrote it.
    Unsealed,
    /// It is not as it was written.
    Damaged,
}

/// Checks the file of a product against its checksum, its structure and its place, and decodes every
/// pixel. Returns its length in bytes; `None` if it was deleted in the meantime.
///
/// # Errors
/// What is wrong with the file, for people.
pub fn check_product(path: &Path, place: &ProductPlace) -> Result<Option<u64>, String> {
    let Some(file) = found(File::open(path)).map_err(|error| error.to_string())? else {
        return Ok(None);
    };
    Ok(Some(check_file(file, place, true)?.length))
}

/// The same for an open file; only with `every_tile` it decodes every pixel of a file that has a
/// checksum.
fn check_file(file: File, place: &ProductPlace, every_tile: bool) -> Result<raster::File, String> {
    let file = raster::File::check(BufReader::new(file), every_tile);
    let file = file.map_err(|error: RasterError| error.to_string())?;
    let span = place.span.map(|span| span.to_string()).unwrap_or_default();
    let is_of = |said: &Option<String>, place: &str| said.as_ref().is_none_or(|said| said == place);
    if !is_of(&file.product, &place.product)
        || !is_of(&file.duration, &span)
        || file.valid_ms.is_some_and(|valid_ms| valid_ms != place.ts_ms)
    {
        let product = file.product.as_ref().unwrap_or(&place.product);
        let span = file.duration.unwrap_or(span);
        let span = if span.is_empty() { span_name(None) } else { span };
        let at = Iso8601(file.valid_ms.unwrap_or(place.ts_ms));
        return Err(format!("it is the file of {product} ({span}) of {at}"));
    }
    Ok(file)
}

/// What distinguishes one version of a file from the next. Each version is a new file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Version {
    bytes: u64,
    modified: Option<SystemTime>,
    #[cfg(unix)]
    inode: u64,
}

impl Version {
    fn of(metadata: &Metadata) -> Self {
        Self {
            bytes: metadata.len(),
            modified: metadata.modified().ok(),
            #[cfg(unix)]
            inode: std::os::unix::fs::MetadataExt::ino(metadata),
        }
    }
}

/// The files checked since the server started, each version once.
#[derive(Debug, Default)]
pub struct CheckedFiles(Mutex<HashMap<PathBuf, (Version, Content)>>);

impl CheckedFiles {
    /// Returns what a file is; a fault is logged when it is found.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn content(&self, path: &Path, place: &ProductPlace) -> io::Result<Content> {
        let file = File::open(path)?;
        let version = Version::of(&file.metadata()?);
        if let Some(&(checked, content)) = lock(&self.0).get(path)
            && checked == version
        {
            return Ok(content);
        }
        let content = match check_file(file, place, false) {
            Ok(file) if file.is_sealed && names_its_place(&file) => Content::Sealed,
            Ok(_) => Content::Unsealed,
            Err(cause) => {
                let name = path.display();
                tracing::error!(
                    "{name} is damaged and is not served: {cause}; run verify --set-aside"
                );
                Content::Damaged
            }
        };
        let mut known = lock(&self.0);
        if known.len() >= MAX_KNOWN {
            known.clear();
        }
        known.insert(path.to_owned(), (version, content));
        Ok(content)
    }

    /// Forgets a file that was deleted.
    pub fn forget(&self, path: &Path) {
        lock(&self.0).remove(path);
    }
}

fn names_its_place(file: &raster::File) -> bool {
    file.product.is_some() && file.duration.is_some() && file.valid_ms.is_some()
}
