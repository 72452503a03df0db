//! The command `promote`.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use clap::Args;

use super::BackupError;
use super::gather::found;
use super::keys::KeyMirror;
use super::manifest::shown;
use super::marker::{Marker, lock};
use super::mirror::UNFINISHED;
use super::parts;
use super::place::Place;
use super::writer::{Latest, of_folder, take_over};
use crate::config::{Config, Flags, RecordFlags};

/// The flags of `promote`.
#[derive(Clone, Debug, Args)]
pub struct PromoteFlags {
    /// Promote it even if the place of the backups cannot be reached, another follower has taken
    /// over, or model runs are there in parts only
    #[arg(long)]
    pub force: bool,

    #[command(flatten)]
    #[allow(missing_docs, reason = "the type describes it")]
    pub record: RecordFlags,
}

/// Makes the folder of a follower that has stopped a record of its own, which a server can write to.
/// It claims the place of the backups, so that the server that it followed is no longer backed up
/// there.
///
/// # Errors
/// The folder is not that of a follower, or a process has it open. The place cannot be reached, or
/// another follower has taken over.
pub fn promote_command(flags: &PromoteFlags) -> Result<bool, BackupError> {
    let PromoteFlags { force, record } = flags;
    let config = Config::load(&Flags { record: record.clone(), ..Flags::default() })?;
    config.on_disk(
        "promote",
        "a server without read_only writes to it, in the place of the one before",
    )?;
    let folder = config.data;
    let Promoted { marker, epoch, keys } = promote(&folder, *force)?;
    let mut out = io::stdout().lock();
    let (folder, address) = (folder.display(), &marker.address);
    writeln!(out, "{folder} is a record of its own now, as of {}", shown(marker.manifest.time))?;
    if let Err(error) = keys {
        writeln!(out, "{error}; its API keys are those that it had fetched before")?;
    }
    match epoch {
        Ok(epoch) => writeln!(
            out,
            "it is the one that is backed up to {address} (epoch {epoch}); backups of the other \
             record are refused"
        )?,
        Err(error) => writeln!(
            out,
            "{error}; so nothing keeps the other record from being backed up there. The first backup \
             of this one needs --take-over"
        )?,
    }
    Ok(true)
}

/// What was promoted.
#[derive(Debug)]
pub struct Promoted {
    /// What the folder followed and holds.
    pub marker: Marker,
    /// Its epoch in the place of the backups, or why that could not be claimed.
    pub epoch: Result<u32, BackupError>,
    /// Why its API keys may not be the newest of the record before.
    pub keys: Result<(), BackupError>,
}

/// Makes the folder of a follower a record of its own.
///
/// # Errors
/// It follows nothing, holds no whole backup, or a process has it open. Unless it is forced, also if
/// the place cannot be claimed, or model runs are there in parts only.
pub fn promote(folder: &Path, force: bool) -> Result<Promoted, BackupError> {
    let is_one = Marker::of(folder)?.is_some();
    let none = || BackupError::NotFollower(folder.to_owned());
    if !is_one {
        return Err(none());
    }
    let _lock = lock(folder)?;
    // As it is now that nobody else has it open.
    let marker = Marker::of(folder)?.ok_or_else(none)?;
    if marker.manifest.files.is_empty() {
        return Err(BackupError::Unfinished(folder.to_owned()));
    }
    let parts = parts::count(&marker.manifest, folder)?;
    if parts > 0 && !force {
        return Err(BackupError::Parts { folder: folder.to_owned(), parts });
    }
    let epoch = match claim(folder, &marker, force) {
        Err(error) if !force => {
            let is_refusal =
                matches!(error, BackupError::TakenOver { .. } | BackupError::Replaced { .. });
            return Err(if is_refusal {
                error
            } else {
                BackupError::Unclaimed { error: Box::new(error) }
            });
        }
        epoch => epoch,
    };
    // The other record can put no more there from now on.
    let keys = match &epoch {
        Ok(epoch) => newest_keys(folder, &marker, *epoch),
        Err(_) => Ok(()),
    };
    let unfinished = folder.join(UNFINISHED);
    found(fs::remove_dir_all(&unfinished)).map_err(BackupError::file(&unfinished))?;
    Marker::remove(folder)?;
    Ok(Promoted { marker, epoch, keys })
}

/// Takes over the API keys of the record before: one that was revoked a moment ago is revoked here.
fn newest_keys(folder: &Path, marker: &Marker, epoch: u32) -> Result<(), BackupError> {
    KeyMirror::open(&marker.address, folder)?.take_over(epoch).map(|_| ())
}

/// Claims the place that a folder follows.
fn claim(folder: &Path, marker: &Marker, force: bool) -> Result<u32, BackupError> {
    let place = Place::open(&marker.address)?;
    let writer = of_folder(folder)?;
    if let Some(latest) = Latest::of(&place)?
        && latest.epoch > marker.name.epoch
        && !latest.is(&writer)
        && !force
    {
        let by = latest.described();
        return Err(BackupError::TakenOver { place: marker.address.clone(), by });
    }
    take_over(&place, folder)
}
