//! Shards of model runs that a follower fetches by range, when they are first read.

use std::fs::{self, File};
use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use mesonet::model::{ShardName, ShardSource, read_part, write_part};
use serde::{Deserialize, Serialize};

use super::BackupError;
use super::gather::found;
use super::manifest::{Entry, Manifest};
use super::place::{Place, object};
use crate::credentials::hex;

/// Shorter files are fetched whole: a request takes longer than their bytes.
const LEAST_BYTES: u64 = 1 << 16;

/// How a follower has the model runs of the other server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum FollowRuns {
    /// Fetched whole with each backup.
    #[default]
    Whole,
    /// What is asked for is fetched when it is first asked for, and kept.
    ByRange,
}

/// The objects of a place as shards.
#[derive(Debug)]
pub struct Parts {
    address: String,
    /// Opened when it is first needed.
    place: Mutex<Option<Arc<Place>>>,
}

impl Parts {
    /// Those of a place, which may be out of reach now.
    pub fn of(address: &str) -> Self {
        Self { address: address.to_owned(), place: Mutex::default() }
    }
}

impl ShardSource for Parts {
    fn fetch(&self, shard: &ShardName, bytes: Range<u64>) -> io::Result<Vec<u8>> {
        let place = {
            let mut place = self.place.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(place) = &*place {
                Arc::clone(place)
            } else {
                let opened = Place::open(&self.address).map_err(io::Error::other)?;
                Arc::clone(place.insert(Arc::new(opened)))
            }
        };
        place.get_range(&object(&hex(shard)), bytes).map_err(io::Error::other)
    }
}

/// Whether a file of a backup may be here in parts: it is a shard of a model run.
pub fn may_be_part(file: &Entry) -> bool {
    let mut parts = file.path.split('/');
    file.length >= LEAST_BYTES && parts.next() == Some("models") && parts.nth(3) == Some("c")
}

/// Writes what stands for a file of a backup of which nothing is here yet, below a folder.
///
/// # Errors
/// It cannot be written.
pub fn write(file: &Entry, folder: &Path) -> Result<(), BackupError> {
    let path = folder.join(&file.path);
    fs::create_dir_all(path.parent().unwrap_or(folder))
        .and_then(|()| write_part(&path, file.length, &name(file)))
        .map_err(BackupError::file(&path))
}

/// Whether parts of a file of a backup are in a folder, and not all of it.
pub fn is_part(file: &Entry, folder: &Path) -> bool {
    let part = File::open(folder.join(&file.path)).and_then(|file| read_part(&file));
    part.is_ok_and(|part| part == Some((file.length, name(file))))
}

/// Returns how many files of a backup are in a folder in parts only.
///
/// # Errors
/// One cannot be read.
pub fn count(manifest: &Manifest, folder: &Path) -> Result<usize, BackupError> {
    let mut count = 0;
    for file in manifest.files.iter().filter(|file| may_be_part(file)) {
        let path = folder.join(&file.path);
        let file = found(File::open(&path)).map_err(BackupError::file(&path))?;
        let part = file.map_or(Ok(None), |file| read_part(&file));
        count += usize::from(part.map_err(BackupError::file(&path))?.is_some());
    }
    Ok(count)
}

/// The checksum of the content, by which the object is named too.
fn name(file: &Entry) -> ShardName {
    let digit =
        |at: usize| file.sha256.get(at..at + 2).and_then(|two| u8::from_str_radix(two, 16).ok());
    // The digits were checked when the manifest was read.
    std::array::from_fn(|at| digit(2 * at).unwrap_or_default())
}
