//! A shard of which only parts are in the folder: the others are fetched when they are first read.
//!
//! The file is as long as the shard, with holes where nothing was fetched yet, and ends with what
//! says which shard it is. So it tells itself apart from a shard that is whole, whatever happens to
//! the files around it, and other programs that read Zarr refuse it.

use std::fmt;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The last bytes of the file.
const MAGIC: &[u8; 8] = b"mesopart";
/// How the shard is known where it is fetched, and the magic.
const ENDING: usize = size_of::<ShardName>() + MAGIC.len();

/// How a shard is known where it is fetched, such as a checksum of its content.
pub type ShardName = [u8; 32];

/// Where shards are fetched of which only parts are in the folder.
///
/// ```
/// use std::{io, ops::Range, sync::Arc};
/// use mesonet::model::{self, RunStore, ShardName, ShardSource};
///
/// /// A shard that is a file elsewhere.
/// #[derive(Debug)]
/// struct Elsewhere(Vec<u8>);
///
/// impl ShardSource for Elsewhere {
///     fn fetch(&self, _: &ShardName, bytes: Range<u64>) -> io::Result<Vec<u8>> {
///         Ok(self.0[bytes.start as usize..bytes.end as usize].to_vec())
///     }
/// }
///
/// # let of = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/data/model_grids/store/nam211");
/// # let folder = tempfile::tempdir()?;
/// # let copy = folder.path().join("nam211");
/// # fn copy_all(from: &std::path::Path, to: &std::path::Path) -> io::Result<()> {
/// #     std::fs::create_dir_all(to)?;
/// #     for entry in std::fs::read_dir(from)? {
/// #         let (path, name) = { let entry = entry?; (entry.path(), entry.file_name()) };
/// #         if path.is_dir() { copy_all(&path, &to.join(name))? } else { std::fs::copy(&path, to.join(name)).map(drop)? }
/// #     }
/// #     Ok(())
/// # }
/// # copy_all(of.as_ref(), &copy)?;
/// # let (folder, shard) = (folder.path(), copy.join("20180917T000000Z/prmsl/c/0/0/0"));
/// let whole = std::fs::read(&shard)?;
/// model::write_part(&shard, whole.len() as u64, &[7; 32])?; // nothing of it is here now
///
/// let store = RunStore::new(folder).fetching(Arc::new(Elsewhere(whole)));
/// let run = store.newest_run("nam211")?;
/// assert!(run.product("prmsl")?.value(0, 0, 40, 20)?.is_some(), "a chunk was fetched");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait ShardSource: fmt::Debug + Send + Sync {
    /// Returns bytes of a shard, all of them.
    ///
    /// # Errors
    /// They cannot be had now.
    fn fetch(&self, shard: &ShardName, bytes: Range<u64>) -> io::Result<Vec<u8>>;
}

/// Writes a file that stands for a shard of which nothing is here yet, and syncs it to disk. A file
/// that is there is overwritten.
///
/// # Errors
/// If the file system reports an error.
pub fn write_part(path: &Path, length: u64, shard: &ShardName) -> io::Result<()> {
    let mut file = File::create(path)?;
    file.set_len(length)?;
    file.seek(SeekFrom::End(0))?;
    file.write_all(&[&shard[..], MAGIC].concat())?;
    file.sync_all()
}

/// Returns the length of the shard that a file stands for, and how the shard is known; `None` if the
/// file is not of that kind.
///
/// # Errors
/// If the file cannot be read.
pub fn read_part(mut file: &File) -> io::Result<Option<(u64, ShardName)>> {
    let Some(length) = file.metadata()?.len().checked_sub(ENDING as u64) else { return Ok(None) };
    let mut ending = [0; ENDING];
    file.seek(SeekFrom::Start(length))?;
    file.read_exact(&mut ending)?;
    let (name, magic) = ending.split_at(size_of::<ShardName>());
    let mut shard = ShardName::default();
    shard.copy_from_slice(name);
    Ok((magic == MAGIC).then_some((length, shard)))
}

/// The file of such a shard, and where its other parts are.
#[derive(Debug)]
pub(super) struct Part {
    shard: ShardName,
    source: Arc<dyn ShardSource>,
    /// Locked while bytes of the file change, or may.
    file: Mutex<File>,
}

impl Part {
    /// Of a file that was opened for writing.
    pub(super) fn new(file: File, shard: ShardName, source: &Arc<dyn ShardSource>) -> Self {
        Self { shard, source: Arc::clone(source), file: Mutex::new(file) }
    }

    /// Fetches bytes of the shard.
    pub(super) fn fetch(&self, bytes: Range<usize>) -> io::Result<Vec<u8>> {
        let length = bytes.len();
        let got = self.source.fetch(&self.shard, bytes.start as u64..bytes.end as u64)?;
        if got.len() == length {
            return Ok(got);
        }
        Err(io::Error::other(format!("{} bytes came; {length} were asked for", got.len())))
    }

    /// Keeps the bytes as they are as long as what this returns lives.
    pub(super) fn lock(&self) -> MutexGuard<'_, File> {
        self.file.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
#[path = "part_tests.rs"]
mod tests;
