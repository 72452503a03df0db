//! Shards of model runs that a follower fetches by range, when they are first read.

use std::fs::{self, File};
use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use mesonet::model::{ShardName, ShardSource, read_part, write_part};
use serde::{Deserialize, Serialize};

use super::BackupError;
use super::gather::found;
use super::manifest::{Entry, Manifest};
use super::place::{Place, PlaceError, object};
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

/// A place that cannot be reached is not asked again for so many times as long as it took to find out:
/// whoever waits for it holds a turn that others need, who ask for what is here.
const RESTS: u32 = 2;

/// The objects of a place as shards.
#[derive(Debug)]
pub struct Parts {
    address: String,
    /// Opened when it is first needed.
    place: Mutex<Option<Arc<Place>>>,
    /// Until when it is not asked.
    rests_until: Mutex<Option<Instant>>,
}

impl Parts {
    /// Those of a place, which may be out of reach now.
    pub fn of(address: &str) -> Self {
        let address = address.to_owned();
        Self { address, place: Mutex::default(), rests_until: Mutex::default() }
    }

    fn place(&self) -> Result<Arc<Place>, PlaceError> {
        let mut place = self.place.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(place) = &*place {
            return Ok(Arc::clone(place));
        }
        Ok(Arc::clone(place.insert(Arc::new(Place::open(&self.address)?))))
    }

    fn rests_until(&self) -> MutexGuard<'_, Option<Instant>> {
        self.rests_until.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ShardSource for Parts {
    fn fetch(&self, shard: &ShardName, bytes: Range<u64>) -> io::Result<Vec<u8>> {
        let started = Instant::now();
        if self.rests_until().is_some_and(|until| started < until) {
            let cause = format!("{} could not be reached a moment ago", self.address);
            return Err(io::Error::other(cause));
        }
        let got = self.place().and_then(|place| place.get_range(&object(&hex(shard)), bytes));
        got.map_err(|error| {
            *self.rests_until() = Some(Instant::now() + started.elapsed() * RESTS);
            io::Error::other(error)
        })
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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tempfile::TempDir;

    use super::*;

    /// One that is far away takes seconds to fail.
    #[test]
    fn a_place_that_could_not_be_reached_is_not_asked_for_a_while() {
        let folder = TempDir::new().unwrap();
        let parts = Parts::of(folder.path().to_str().unwrap());
        let path = folder.path().join(object(&hex(&[7; 32])));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let fetch = || parts.fetch(&[7; 32], 1..3);
        assert!(fetch().is_err());
        assert!(parts.rests_until().is_some());
        fs::write(path, b"abcd").unwrap();
        *parts.rests_until() = Some(Instant::now() + Duration::from_secs(3600));
        let cause = fetch().unwrap_err().to_string();
        assert!(cause.ends_with("could not be reached a moment ago"), "{cause}");
        *parts.rests_until() = Some(Instant::now());
        assert_eq!(fetch().unwrap(), b"bc");
    }
}
