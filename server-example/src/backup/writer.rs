//! Which record may back up to a place: one at a time.
//!
//! The first record that is backed up to a place claims it. Another one has to take over, with
//! `backup --take-over` or as a follower that is promoted, and claims the next epoch. A claim is put
//! where none may be, so of two at once one wins. From then on backups of the record before are
//! refused. One that was under way may still appear, but all of the new epoch replace it, whatever
//! the clocks of both say.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use mesonet::durable::sync_folder;
use serde::{Deserialize, Serialize};

use super::BackupError;
use super::gather::found;
use super::list::manifests;
use super::manifest::{instant, shown};
use super::name::Name;
use super::place::{Place, PlaceError};
use crate::clock::system_ms;

/// The file of a data folder with the name by which places know the record. Backups leave it out, so
/// a restored record is another one.
pub const FILE: &str = "writer";

/// Where the claims are, one for each epoch.
const FOLDER: &str = "writers";

/// Digits of the name of a record.
const DIGITS: usize = 16;

/// A record that has claimed a place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Claim {
    /// The name by which places know the record.
    pub writer: String,
    /// The folder that it was in.
    pub folder: String,
    /// When it claimed the place.
    #[serde(with = "instant")]
    pub time: i64,
}

/// What a record may write to a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Turn {
    /// The name by which the place knows the record.
    pub writer: String,
    pub epoch: u32,
    /// The number of the next backup.
    pub number: u32,
}

/// Who may write to a place now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Latest {
    pub epoch: u32,
    /// Or what is wrong with the claim.
    pub claim: Result<Claim, String>,
}

impl Latest {
    /// Reads who may write to a place; `None` if nobody has claimed it.
    ///
    /// # Errors
    /// The place cannot be read.
    pub fn of(place: &Place) -> Result<Option<Self>, BackupError> {
        let claimed = claimed(place)?;
        let used = manifests(place)?.pop().map(|name| name.epoch);
        let Some(epoch) = claimed.max(used) else { return Ok(None) };
        let mut bytes = Vec::new();
        let is_there = place.get(&path(epoch), |piece| {
            bytes.extend_from_slice(piece);
            Ok::<_, PlaceError>(())
        })?;
        let claim = if is_there {
            serde_json::from_slice(&bytes).map_err(|error| format!("is damaged: {error}"))
        } else {
            Err("is missing".to_owned())
        };
        Ok(Some(Self { epoch, claim }))
    }

    /// Whether it is the record of that name.
    pub fn is(&self, writer: &str) -> bool {
        self.claim.as_ref().is_ok_and(|claim| claim.writer == writer)
    }

    /// Names it: its folder, the time of its claim and its epoch.
    pub fn described(&self) -> String {
        let epoch = self.epoch;
        match &self.claim {
            Ok(Claim { folder, time, .. }) => {
                format!("that of {folder}, since {} (epoch {epoch})", shown(*time))
            }
            Err(cause) => format!("one that is not known: {} {cause}", path(epoch)),
        }
    }
}

/// Returns the newest epoch that a record has claimed; `None` if nobody has.
///
/// # Errors
/// The place cannot be read.
pub fn claimed(place: &Place) -> Result<Option<u32>, PlaceError> {
    let claims = place.list(FOLDER)?;
    Ok(claims.iter().filter_map(|claim| claim.name.parse().ok()).max())
}

/// Returns what a record may write to a place, which it claims if nobody has.
///
/// # Errors
/// Another record may write to it, or the place cannot be read or written.
pub fn turn(place: &Place, data: &Path) -> Result<Turn, BackupError> {
    let writer = of_folder(data)?;
    let epoch = match Latest::of(place)? {
        None => claim(place, data, &writer, 1)?,
        Some(latest) if latest.is(&writer) => latest.epoch,
        Some(latest) => return Err(replaced(place, &latest)),
    };
    let newest = manifests(place)?.pop().filter(|name| name.epoch == epoch);
    let number = newest.map_or(1, |name: Name| name.number.saturating_add(1));
    Ok(Turn { writer, epoch, number })
}

/// Makes a record the one that may write to a place. Returns its epoch.
///
/// # Errors
/// Another record takes over at the same time, or the place cannot be read or written.
pub fn take_over(place: &Place, data: &Path) -> Result<u32, BackupError> {
    let writer = of_folder(data)?;
    let epoch = match Latest::of(place)? {
        None => 1,
        Some(latest) if latest.is(&writer) => return Ok(latest.epoch),
        Some(latest) => latest.epoch.checked_add(1).ok_or_else(|| {
            let object = path(latest.epoch);
            let cause = format!(
                "{object} or a backup of its number is the last that there can be; no record has come that \
                 far, so move it away"
            );
            PlaceError::Failed { place: place.address().to_owned(), cause }
        })?,
    };
    claim(place, data, &writer, epoch)
}

/// Checks that a record may still write to a place.
///
/// # Errors
/// Another one has taken over, or the place cannot be read or is not the one that was claimed.
pub fn check_turn(place: &Place, turn: &Turn) -> Result<(), BackupError> {
    match Latest::of(place)? {
        Some(latest) if !latest.is(&turn.writer) => Err(replaced(place, &latest)),
        Some(_) => Ok(()),
        // A folder that is not mounted any more, for one. What was sent before is not there.
        None => {
            let cause = "nobody has claimed it any more: it was emptied, or is another one than a \
                         moment ago; what was sent to it does not count";
            let (place, cause) = (place.address().to_owned(), cause.to_owned());
            Err(PlaceError::Failed { place, cause }.into())
        }
    }
}

fn claim(place: &Place, data: &Path, writer: &str, epoch: u32) -> Result<u32, BackupError> {
    let folder = std::path::absolute(data).unwrap_or_else(|_| data.to_owned());
    let folder = folder.display().to_string();
    let claim = Claim { writer: writer.to_owned(), folder, time: system_ms() };
    let bytes = serde_json::to_vec(&claim).map_err(io::Error::from)?;
    if place.put_new(&path(epoch), bytes)? {
        return Ok(epoch);
    }
    // Another command was faster, perhaps of the same record.
    match Latest::of(place)? {
        Some(latest) if latest.is(writer) => Ok(latest.epoch),
        Some(latest) => Err(replaced(place, &latest)),
        None => {
            let cause = format!("{} is there, but cannot be found", path(epoch));
            Err(PlaceError::Failed { place: place.address().to_owned(), cause }.into())
        }
    }
}

fn replaced(place: &Place, latest: &Latest) -> BackupError {
    let (place, by) = (place.address().to_owned(), latest.described());
    BackupError::Replaced { place, by }
}

/// The object of a claim.
fn path(epoch: u32) -> String {
    format!("{FOLDER}/{epoch:04}")
}

/// Returns the name by which places know the record of a folder. It is made at the first use.
///
/// # Errors
/// The file cannot be read or written, or is not ours.
pub fn of_folder(data: &Path) -> Result<String, BackupError> {
    let path = data.join(FILE);
    let read = || -> io::Result<String> {
        // Whoever did not make it may only be allowed to read it.
        if let Some(text) = found(fs::read_to_string(&path))? {
            return Ok(text);
        }
        // It appears with its content: one that is empty was emptied.
        let text = format!("{:0DIGITS$x}\n", getrandom::u64().map_err(io::Error::from)?);
        let mut file = tempfile::Builder::new().prefix(".mesonet-writer-").tempfile_in(data)?;
        file.write_all(text.as_bytes())?;
        file.as_file().sync_all()?;
        match file.persist_noclobber(&path) {
            Ok(_) => sync_folder(data).map(|()| text),
            // Another command was faster.
            Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => {
                fs::read_to_string(&path)
            }
            Err(error) => Err(error.error),
        }
    };
    let text = read().map_err(BackupError::file(&path))?;
    name_in(&text).ok_or_else(|| {
        BackupError::file(&path)(io::Error::new(io::ErrorKind::InvalidData, DAMAGED))
    })
}

const DAMAGED: &str = "it is damaged; delete it, and the next backup needs --take-over";

/// Checks the file, if there is one.
///
/// # Errors
/// What is wrong with it.
pub fn check(data: &Path) -> Result<(), String> {
    match found(fs::read_to_string(data.join(FILE))).map_err(|error| error.to_string())? {
        Some(text) if name_in(&text).is_none() => Err(DAMAGED.to_owned()),
        _ => Ok(()),
    }
}

/// The name of a record, if a text is one.
fn name_in(text: &str) -> Option<String> {
    let name = text.trim_end();
    let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    (name.len() == DIGITS && name.bytes().all(is_digit)).then(|| name.to_owned())
}

#[cfg(test)]
#[path = "writer_tests.rs"]
mod tests;
