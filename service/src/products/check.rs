//! Checks that the files of products are as they were written.

use std::collections::HashMap;
use std::fs::{File, Metadata};
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use mesonet::raster::{ProductDuration, RasterError};
use mesonet::{Iso8601, raster};

use super::span_name;

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

/// Checks a file against its checksum, its structure and its place; with `every_tile`, decodes
/// every pixel. Returns its length in bytes, or what is wrong with it.
pub fn check(path: &Path, place: &ProductPlace, every_tile: bool) -> Result<u64, String> {
    let file = File::open(path).map_err(|error| error.to_string())?;
    check_file(file, place, every_tile)
}

fn check_file(file: File, place: &ProductPlace, every_tile: bool) -> Result<u64, String> {
    let file = raster::File::check(BufReader::new(file), every_tile);
    let file = file.map_err(|error: RasterError| error.to_string())?;
    let span = place.span.map(|span| span.to_string()).unwrap_or_default();
    let is_of = |said: &Option<String>, place: &str| said.as_ref().is_none_or(|said| said == place);
    if !is_of(&file.product, &place.product)
        || !is_of(&file.duration, &span)
        || file.valid_ms.is_some_and(|valid_ms| valid_ms != place.ts_ms)
    {
        let of = |product: &str, span: &str, ts_ms: i64| {
            let span = if span.is_empty() { span_name(None) } else { span.to_owned() };
            format!("{product} ({span}) of {}", Iso8601(ts_ms))
        };
        return Err(format!(
            "it is the file of {}",
            of(
                file.product.as_deref().unwrap_or(&place.product),
                file.duration.as_deref().unwrap_or(&span),
                file.valid_ms.unwrap_or(place.ts_ms),
            )
        ));
    }
    Ok(file.length)
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
pub struct Checked(Mutex<HashMap<PathBuf, (Version, bool)>>);

impl Checked {
    /// Whether a file may be served; a fault is logged when it is found.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn is_whole(&self, path: &Path, place: &ProductPlace) -> io::Result<bool> {
        let file = File::open(path)?;
        let version = Version::of(&file.metadata()?);
        let known = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(&(checked, is_whole)) = known().get(path)
            && checked == version
        {
            return Ok(is_whole);
        }
        let checked = check_file(file, place, false);
        if let Err(cause) = &checked {
            let name = path.display();
            tracing::error!("{name} is damaged and is not served: {cause}; run verify --set-aside");
        }
        let mut known = known();
        if known.len() >= MAX_KNOWN {
            known.clear();
        }
        known.insert(path.to_owned(), (version, checked.is_ok()));
        Ok(checked.is_ok())
    }
}
