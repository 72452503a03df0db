//! Where backups and archives are: a folder, or a bucket of an object store.
//!
//! Commands and background threads use a place, one call after the other, so its methods block.

mod address;
#[cfg(feature = "s3")]
mod s3;
mod send;
mod unfinished;

use std::fmt::Display;
use std::future::Future;
use std::io;
use std::ops::{Deref, Range};
use std::path::{Path as FilePath, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use futures_util::TryStreamExt;
use mesonet::durable::create_folder;
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::{
    Error, ObjectMeta, ObjectStore, ObjectStoreExt, PutMode, PutOptions, PutPayload,
};
use tokio::runtime::{Builder, Runtime};
use tokio::time::timeout;

pub use self::address::{Address, PLACES, absolute, is_address, is_inside};
pub use self::send::{checksum, compressed_length};
pub use self::unfinished::Unfinished;
use crate::hex::is_hex;

/// The folder of the files of the backups.
pub const OBJECTS: &str = "objects";

/// What the name of an object ends in if its content is compressed. The SHA-256 before it is that of
/// the content, whatever compressed it, so that a content has one name.
pub const ZSTD: &str = ".zst";

/// Why a place cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PlaceError {
    /// The text is not the address of a place.
    #[error("\"{0}\" is not a place for backups or archives; it must be {PLACES}")]
    Address(String),
    /// There is no such folder.
    #[error("{0} is not a folder with backups")]
    NoFolder(String),
    /// No room is left.
    #[error("no space is left in {0}; what is there stays whole")]
    Full(String),
    /// The place cannot be read or written.
    #[error("{place}: {cause}")]
    Failed {
        /// The place.
        place: String,
        /// What the place or the system said.
        cause: String,
    },
    /// The system gives no threads.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Why a file was not sent.
#[derive(Debug, thiserror::Error)]
pub enum SendError {
    /// The place cannot be written.
    #[error(transparent)]
    Place(#[from] PlaceError),
    /// The file cannot be read.
    #[error("cannot read the file: {0}")]
    Read(#[from] io::Error),
    /// The file has changed since its checksum was taken.
    #[error("the file has changed")]
    Changed,
}

/// An object that is there.
#[derive(Clone, Debug)]
pub struct Object {
    /// The last part of its name.
    pub name: String,
    /// Its length in bytes.
    pub length: u64,
    /// When it was written, according to the place.
    pub written_ms: i64,
}

/// Where backups, or the files of an archive, are.
#[derive(Debug)]
pub struct ObjectPlace {
    store: Arc<dyn ObjectStore>,
    prefix: Path,
    /// The folder, unless the place is a bucket.
    folder: Option<PathBuf>,
    /// As it was given.
    address: String,
    runtime: Background,
    /// How long each step of reading may take. Writing has the time limits of the store.
    patience: Duration,
}

/// How long reading may take if no caller waits for it. The store gives up long before.
const UNHURRIED: Duration = Duration::from_secs(3600);

/// A runtime that may be dropped anywhere, even where blocking is not allowed.
#[derive(Debug)]
struct Background(Option<Runtime>);

impl Deref for Background {
    type Target = Runtime;

    #[allow(clippy::expect_used, reason = "only the destructor takes it")]
    fn deref(&self) -> &Runtime {
        self.0.as_ref().expect("a runtime until it is dropped")
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

impl ObjectPlace {
    /// Opens a place that exists.
    ///
    /// # Errors
    /// The address is not one of a place, or the folder does not exist.
    pub fn open(address: &str) -> Result<Self, PlaceError> {
        Self::of(address, false)
    }

    /// Opens a place to write to; a folder is created.
    ///
    /// # Errors
    /// The address is not one of a place, or the folder cannot be created.
    pub fn create(address: &str) -> Result<Self, PlaceError> {
        Self::of(address, true)
    }

    fn of(address: &str, create: bool) -> Result<Self, PlaceError> {
        let (store, prefix, folder) = match Address::of(address) {
            None => return Err(PlaceError::Address(address.to_owned())),
            Some(Address::Folder(folder)) => {
                (open_folder(&folder, create)?, Path::default(), Some(folder))
            }
            #[cfg(feature = "s3")]
            Some(Address::Bucket) => {
                let (store, prefix) = s3::bucket(address)?;
                (store, prefix, None)
            }
        };
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
        let runtime = Background(Some(runtime));
        let address = address.to_owned();
        Ok(Self { store, prefix, folder, address, runtime, patience: UNHURRIED })
    }

    /// Limits how long reading may take, because a caller waits for it.
    #[must_use]
    pub fn patient_for(self, patience: Duration) -> Self {
        Self { patience, ..self }
    }

    /// The address as it was given.
    pub fn address(&self) -> &str {
        &self.address
    }

    fn path(&self, name: &str) -> Path {
        let parts = self.prefix.parts().map(|part| part.as_ref().to_owned());
        parts.chain(name.split('/').map(str::to_owned)).collect()
    }

    fn wait<T>(&self, work: impl Future<Output = Result<T, Error>>) -> Result<T, PlaceError> {
        self.runtime.block_on(work).map_err(|error| self.failed(&error))
    }

    /// Does a step of reading, if it ends in time.
    fn read<T>(
        &self,
        work: impl Future<Output = Result<T, Error>>,
    ) -> Result<Result<T, Error>, PlaceError> {
        // Inside the runtime, which has the timer.
        self.runtime
            .block_on(async { timeout(self.patience, work).await })
            .map_err(|_| self.fault(&format!("no answer within {} s", self.patience.as_secs())))
    }

    fn failed(&self, error: &Error) -> PlaceError {
        if is_full(error) {
            return PlaceError::Full(self.address.clone());
        }
        self.fault(error)
    }

    /// Why the place cannot be read or written.
    pub fn fault(&self, cause: &dyn Display) -> PlaceError {
        PlaceError::Failed { place: self.address.clone(), cause: cause.to_string() }
    }

    /// Puts a small object, unless the name is taken. Returns `false` if it is.
    ///
    /// # Errors
    /// The place cannot be written.
    pub fn put_new(&self, name: &str, bytes: Vec<u8>) -> Result<bool, PlaceError> {
        let options = PutOptions::from(PutMode::Create);
        let path = self.path(name);
        let put = self.store.put_opts(&path, PutPayload::from(bytes), options);
        match self.runtime.block_on(put) {
            Ok(_) => Ok(true),
            Err(Error::AlreadyExists { .. } | Error::Precondition { .. }) => Ok(false),
            Err(error) => Err(self.failed(&error)),
        }
    }

    /// Hands out the content of an object, piece by piece. Returns `false` if there is no such
    /// object.
    ///
    /// # Errors
    /// The place cannot be read, or `take` fails.
    pub fn get<E: From<PlaceError>>(
        &self,
        name: &str,
        mut take: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<bool, E> {
        let got = self.read(self.store.get(&self.path(name)));
        let mut stream = match got? {
            Ok(got) => got.into_stream(),
            Err(Error::NotFound { .. }) => return Ok(false),
            Err(error) => return Err(self.failed(&error).into()),
        };
        loop {
            let piece = self.read(stream.try_next())?;
            match piece.map_err(|error| self.failed(&error))? {
                Some(piece) => take(&piece)?,
                None => return Ok(true),
            }
        }
    }

    /// Returns bytes of an object, all of them.
    ///
    /// # Errors
    /// The place cannot be read, has no such object or fewer bytes of it, or has not answered in time.
    pub fn get_range(&self, name: &str, bytes: Range<u64>) -> Result<Vec<u8>, PlaceError> {
        let path = self.path(name);
        let got = self.read(self.store.get_range(&path, bytes))?;
        got.map(Vec::from).map_err(|error| self.failed(&error))
    }

    /// Returns the length of an object in bytes; `None` if there is none.
    ///
    /// # Errors
    /// The place cannot be read.
    pub fn length(&self, name: &str) -> Result<Option<u64>, PlaceError> {
        match self.read(self.store.head(&self.path(name)))? {
            Ok(object) => Ok(Some(object.size)),
            Err(Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(self.failed(&error)),
        }
    }

    /// Returns the objects directly in a folder. Objects in subfolders are left out:
    /// [`get`](Self::get) would not find them by their names.
    ///
    /// # Errors
    /// The place cannot be read.
    pub fn list(&self, folder: &str) -> Result<Vec<Object>, PlaceError> {
        self.find(folder, |name| Some(format!("{folder}/{name}")))
    }

    /// Returns the objects that hold files, each where [`object`] expects it.
    ///
    /// # Errors
    /// The place cannot be read.
    pub fn objects(&self) -> Result<Vec<Object>, PlaceError> {
        self.find(OBJECTS, |name| is_object(name).then(|| object(name)))
    }

    /// Returns the objects below a folder that are where `at` says that an object of that name
    /// belongs.
    fn find(
        &self,
        folder: &str,
        at: impl Fn(&str) -> Option<String>,
    ) -> Result<Vec<Object>, PlaceError> {
        let folder = self.path(folder);
        let list = self.store.list(Some(&folder)).try_collect::<Vec<_>>();
        let found = self.read(list)?.map_err(|error| self.failed(&error))?;
        let object = |object: ObjectMeta| {
            let name = object.location.filename()?.to_owned();
            let is_there = self.path(&at(&name)?) == object.location;
            let written_ms = object.last_modified.timestamp_millis();
            is_there.then_some(Object { name, length: object.size, written_ms })
        };
        Ok(found.into_iter().filter_map(object).collect())
    }

    /// Returns the names of the folders.
    ///
    /// # Errors
    /// The place cannot be read.
    pub fn folders(&self) -> Result<Vec<String>, PlaceError> {
        let list = self.store.list_with_delimiter(Some(&self.prefix));
        let found = self.read(list)?.map_err(|error| self.failed(&error))?;
        let name = |folder: &Path| folder.filename().map(str::to_owned);
        Ok(found.common_prefixes.iter().filter_map(name).collect())
    }

    /// Deletes the unfinished files that killed backups left and that were last written before a
    /// time. A bucket shows no unfinished files.
    ///
    /// # Errors
    /// The place cannot be read or written.
    pub fn delete_unfinished(&self, before_ms: i64) -> Result<Unfinished, PlaceError> {
        let Some(folder) = &self.folder else { return Ok(Unfinished::default()) };
        unfinished::delete(folder, before_ms).map_err(|error| self.fault(&error))
    }

    /// Deletes an object, unless it was written again after a time. Returns whether it is gone.
    ///
    /// # Errors
    /// The place cannot be read or written.
    pub fn delete(&self, name: &str, before_ms: i64) -> Result<bool, PlaceError> {
        let path = self.path(name);
        match self.runtime.block_on(self.store.head(&path)) {
            Ok(object) if object.last_modified.timestamp_millis() >= before_ms => Ok(false),
            Ok(_) => self.wait(self.store.delete(&path)).map(|()| true),
            Err(Error::NotFound { .. }) => Ok(true),
            Err(error) => Err(self.failed(&error)),
        }
    }
}

/// Where the object with this name is: a SHA-256, or a SHA-256 with [`ZSTD`].
pub fn object(name: &str) -> String {
    format!("{OBJECTS}/{}/{name}", name.get(..2).unwrap_or_default())
}

/// Whether a text is the name of an object.
fn is_object(name: &str) -> bool {
    is_hex(name.strip_suffix(ZSTD).unwrap_or(name), 64)
}

fn open_folder(path: &FilePath, create: bool) -> Result<Arc<dyn ObjectStore>, PlaceError> {
    let shown = path.display().to_string();
    let failed = |cause: String| PlaceError::Failed { place: shown.clone(), cause };
    if create {
        create_folder(path).map_err(|error| failed(error.to_string()))?;
    } else if !path.is_dir() {
        return Err(PlaceError::NoFolder(shown));
    }
    let store =
        LocalFileSystem::new_with_prefix(path).map_err(|error| failed(error.to_string()))?;
    // What a backup names must survive a loss of power.
    Ok(Arc::new(store.with_fsync(true)))
}

/// Whether an error is of a full disk.
fn is_full(error: &Error) -> bool {
    let first: &(dyn std::error::Error + 'static) = error;
    let mut causes = std::iter::successors(Some(first), |error| error.source());
    let of_system = causes.find_map(|error| error.downcast_ref::<io::Error>());
    of_system.is_some_and(|error| {
        matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
    })
}

#[cfg(test)]
#[path = "place_tests.rs"]
mod tests;
