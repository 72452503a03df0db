//! The API keys of a record in the place of its backups, where followers look for them.
//!
//! A backup comes too late for a key that was revoked. So the keys are put there as soon as they
//! change, as small objects of their own, `keys/EPOCH-NUMBER`, each with all keys. Which is newer is a
//! matter of the epoch of the record and of the number, of no clock. An object is put where none may
//! be, so two processes of one record cannot take one number; whoever comes second reads the keys
//! again. What a record puts there that was replaced has an older epoch, and followers pass over it.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use mesonet::durable::sync_folder;

use super::BackupError;
use super::gather::found;
use super::place::{Object, Place, PlaceError, hex_sha256};
use super::writer::{Turn, check_turn, claimed, turn};
use crate::credentials::{KEYS, KeyFile};

/// Where they are in the place.
const FOLDER: &str = "keys";

/// Increases with every change of the form that older programs cannot read.
const FIRST_LINE: &str = "mesonet-keys 1";

/// Longest object that is read: many times that of the most keys.
const MAX_BYTES: usize = 32 << 20;

/// How often a number may be taken by another process of the same record.
const ATTEMPTS: usize = 10;

/// How many objects stay, for whom is just reading one.
const KEPT: usize = 8;

/// The file of a follower that says which of the objects its keys are.
pub const HELD: &str = "follower.keys";

/// Where new keys are until they are whole.
const UNFINISHED: &str = ".mesonet-keys";

/// The name of an object, in the order in which they replace one another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct KeysName {
    /// Which of the records that have claimed the place it is of.
    pub epoch: u32,
    /// Increases from one object to the next.
    pub number: u32,
}

impl KeysName {
    /// Reads a name; `None` for names of other things.
    pub fn parse(text: &str) -> Option<Self> {
        let (epoch, number) = text.split_once('-')?;
        let name = Self { epoch: epoch.parse().ok()?, number: number.parse().ok()? };
        (name.to_string() == text).then_some(name)
    }

    fn path(self) -> String {
        format!("{FOLDER}/{self}")
    }
}

impl fmt::Display for KeysName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:08}", self.epoch, self.number)
    }
}

/// All keys of a record at one moment.
#[derive(Debug, PartialEq, Eq)]
struct Keys {
    /// A checksum of what followers need to know of them: not of when they were used.
    state: String,
    /// The database; empty if no key was ever issued.
    database: Vec<u8>,
}

impl Keys {
    /// Reads those of a data folder, while they may be changed.
    fn of(data: &Path) -> Result<Self, BackupError> {
        let scratch = tempfile::tempdir().map_err(BackupError::file(&std::env::temp_dir()))?;
        if !KeyFile::copy(data, scratch.path())? {
            return Ok(Self { state: String::new(), database: Vec::new() });
        }
        let state = state_of(scratch.path())?;
        let path = scratch.path().join(KEYS);
        let database = fs::read(&path).map_err(BackupError::file(&path))?;
        Ok(Self { state, database })
    }

    /// Three lines and the database: the form, the state, and the SHA-256 of all else.
    fn encode(&self) -> Vec<u8> {
        let Self { state, database } = self;
        let checksum = self.checksum();
        [format!("{FIRST_LINE}\n{state}\n{checksum}\n").as_bytes(), database].concat()
    }

    fn checksum(&self) -> String {
        hex_sha256(&[self.state.as_bytes(), b"\n", &self.database].concat())
    }

    /// Reads an object, and checks that it is whole.
    fn decode(bytes: &[u8]) -> Result<Self, &'static str> {
        let mut lines = bytes.splitn(4, |&byte| byte == b'\n');
        let mut line = || lines.next().and_then(|line| std::str::from_utf8(line).ok());
        if line() != Some(FIRST_LINE) {
            return Err("does not begin as one that this version reads");
        }
        let (Some(state), Some(checksum)) = (line(), line()) else { return Err("is cut short") };
        let (state, checksum) = (state.to_owned(), checksum.to_owned());
        let keys = Self { state, database: lines.next().ok_or("is cut short")?.to_vec() };
        if keys.checksum() == checksum { Ok(keys) } else { Err("does not match its checksum") }
    }

    /// Reads an object of a place.
    fn read(place: &Place, name: KeysName) -> Result<Self, BackupError> {
        let wrong = |cause: &str| BackupError::KeysDamaged {
            place: place.address().to_owned(),
            object: name.path(),
            cause: cause.to_owned(),
        };
        let mut bytes = Vec::new();
        let is_there = place.get(&name.path(), |piece| {
            if bytes.len() + piece.len() > MAX_BYTES {
                return Err(wrong("is too long"));
            }
            bytes.extend_from_slice(piece);
            Ok(())
        })?;
        if !is_there {
            return Err(wrong("is no longer there"));
        }
        Self::decode(&bytes).map_err(wrong)
    }
}

/// The checksum of the keys in a folder.
fn state_of(folder: &Path) -> Result<String, BackupError> {
    let file = KeyFile::open(folder)?;
    Ok(file.map(|file| file.state()).transpose()?.unwrap_or_default())
}

/// Returns the objects of a place, oldest first.
fn objects(place: &Place) -> Result<Vec<KeysObject>, PlaceError> {
    let known = |object: &Object| {
        let (name, written_ms) = (KeysName::parse(&object.name)?, object.written_ms);
        Some(KeysObject { name, written_ms })
    };
    let mut objects: Vec<KeysObject> = place.list(FOLDER)?.iter().filter_map(known).collect();
    objects.sort_unstable();
    Ok(objects)
}

/// Puts the keys of a record into the place of its backups, if they are not those that are there. The
/// place is there already: a folder that is not mounted is not made anew.
///
/// # Errors
/// There is no such place, another record has taken over, the keys cannot be read, or the place cannot be written.
pub fn send_keys(address: &str, data: &Path) -> Result<bool, BackupError> {
    let place = Place::open(address)?;
    let turn = turn(&place, data)?;
    put_keys(&place, data, &turn)
}

/// The same, of a record whose turn it is.
pub fn put_keys(place: &Place, data: &Path, turn: &Turn) -> Result<bool, BackupError> {
    for _ in 0..ATTEMPTS {
        // The names before the keys: who takes a later number has read the keys later.
        let names: Vec<KeysName> = objects(place)?.into_iter().map(|object| object.name).collect();
        let newest = names.last().filter(|newest| newest.epoch >= turn.epoch).copied();
        let keys = Keys::of(data)?;
        if names.is_empty() && keys.database.is_empty() {
            return Ok(false);
        }
        // One that is damaged is replaced.
        if let Some(newest) = newest
            && Keys::read(place, newest).is_ok_and(|known| known.state == keys.state)
        {
            return Ok(false);
        }
        check_turn(place, turn)?;
        let number = newest.map_or(0, |newest| newest.number).saturating_add(1);
        let name = KeysName { epoch: turn.epoch, number };
        if place.put_new(&name.path(), keys.encode())? {
            for old in names.iter().rev().skip(KEPT) {
                place.delete(&old.path(), i64::MAX)?;
            }
            return Ok(true);
        }
    }
    let cause =
        format!("the objects in {FOLDER} have no number left, or are changed all the while");
    Err(PlaceError::Failed { place: place.address().to_owned(), cause }.into())
}

/// The keys of a follower, which are kept like the newest of the place.
#[derive(Debug)]
pub struct KeyMirror {
    address: String,
    folder: PathBuf,
    /// Which are in the folder; `None` before the first.
    held: Option<KeysObject>,
}

/// An object with keys. One that was deleted and made anew has the same name and another time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct KeysObject {
    name: KeysName,
    /// When the object was written, milliseconds since 1970.
    written_ms: i64,
}

impl KeysObject {
    fn parse(text: &str) -> Option<Self> {
        let mut words = text.split_whitespace();
        let name = KeysName::parse(words.next()?)?;
        // Folders of before do not say when: these keys are looked at once more.
        Some(Self {
            name,
            written_ms: words.next().and_then(|ms| ms.parse().ok()).unwrap_or(i64::MIN),
        })
    }
}

/// Forgets which keys a follower has: the next that it finds are taken, whatever they are called.
///
/// # Errors
/// The folder cannot be written.
pub fn forget_keys(folder: &Path) -> Result<(), BackupError> {
    let path = folder.join(HELD);
    found(fs::remove_file(&path)).map(drop).map_err(BackupError::file(&path))
}

impl KeyMirror {
    /// Those of the folder of a follower.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn open(address: &str, folder: &Path) -> Result<Self, BackupError> {
        let path = folder.join(HELD);
        let text = found(fs::read_to_string(&path)).map_err(BackupError::file(&path))?;
        let held = text.and_then(|text| KeysObject::parse(&text));
        Ok(Self { address: address.to_owned(), folder: folder.to_owned(), held })
    }

    /// Takes the newest keys of the record that may write to the place. Returns whether they are new
    /// here.
    ///
    /// # Errors
    /// The place cannot be read, its newest keys are damaged, or they are older than those here. Those
    /// here stay.
    pub fn look(&mut self) -> Result<bool, BackupError> {
        let place = Place::open(&self.address)?;
        let claimed = claimed(&place)?.unwrap_or(0);
        let newest = objects(&place)?.pop().filter(|newest| newest.name.epoch >= claimed);
        // A record that has taken over may have put none there yet.
        let held = self.held.map(|held| held.name).filter(|held| held.epoch >= claimed);
        if newest.map(|newest| newest.name) < held {
            let newest = newest.map(|newest| newest.name.to_string());
            let held = held.map(|held| held.to_string()).unwrap_or_default();
            return Err(BackupError::KeysOlder { place: self.address.clone(), newest, held });
        }
        self.take(&place, newest)
    }

    /// Takes the newest keys of the records before an epoch, which takes over from them.
    ///
    /// # Errors
    /// As [`look`](Self::look).
    pub fn take_over(&mut self, epoch: u32) -> Result<bool, BackupError> {
        let place = Place::open(&self.address)?;
        let newest = objects(&place)?.into_iter().rfind(|object| object.name.epoch < epoch);
        let newer = newest.filter(|newest| self.held.is_none_or(|held| newest.name >= held.name));
        self.take(&place, newer)
    }

    fn take(&mut self, place: &Place, newest: Option<KeysObject>) -> Result<bool, BackupError> {
        let Some(new) = newest.filter(|newest| self.held != Some(*newest)) else {
            return Ok(false);
        };
        let KeysObject { name, written_ms } = new;
        let keys = Keys::read(place, name)?;
        let path = self.folder.join(KEYS);
        if keys.database.is_empty() {
            found(fs::remove_file(&path)).map_err(BackupError::file(&path))?;
        } else {
            self.exchange(name, &keys)?;
        }
        sync_folder(&self.folder).map_err(BackupError::file(&self.folder))?;
        // Afterwards: until then the next look takes them again.
        let held = self.folder.join(HELD);
        fs::write(&held, format!("{name} {written_ms}\n")).map_err(BackupError::file(&held))?;
        self.held = Some(new);
        Ok(true)
    }

    /// Puts the database into place once it can be read.
    fn exchange(&self, name: KeysName, keys: &Keys) -> Result<(), BackupError> {
        let scratch = self.folder.join(UNFINISHED);
        found(fs::remove_dir_all(&scratch)).map_err(BackupError::file(&scratch))?;
        fs::create_dir(&scratch).map_err(BackupError::file(&scratch))?;
        let new = scratch.join(KEYS);
        let write = || -> io::Result<()> {
            let mut options = File::options();
            options.write(true).create_new(true);
            #[cfg(unix)]
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
            let mut file = options.open(&new)?;
            file.write_all(&keys.database)?;
            file.sync_all()
        };
        write().map_err(BackupError::file(&new))?;
        if state_of(&scratch)? != keys.state {
            let (place, object) = (self.address.clone(), name.path());
            let cause = "holds other keys than it says".to_owned();
            return Err(BackupError::KeysDamaged { place, object, cause });
        }
        let path = self.folder.join(KEYS);
        fs::rename(&new, &path).map_err(BackupError::file(&path))?;
        found(fs::remove_dir_all(&scratch)).map_err(BackupError::file(&scratch))?;
        Ok(())
    }
}

#[cfg(test)]
#[path = "keys_tests.rs"]
mod tests;
