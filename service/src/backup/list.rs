//! The backups of a place.

use std::collections::BTreeMap;

use serde::Serialize;
use sha2::{Digest, Sha256};

use super::BackupError;
use super::manifest::{BackupManifest, MAX_BYTES, ManifestEntry, ManifestError, shown};
use super::name::Name;
use crate::hex::hex;
use crate::place::{ObjectPlace, PlaceError, object};
use crate::progress::bar_of_bytes;

/// The folder of the manifests.
pub const FOLDER: &str = "backups";

/// A backup in the list.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ListedBackup {
    pub name: String,
    pub time: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
    pub files: usize,
    pub bytes: u64,
    pub left_out: Vec<String>,
    /// What is wrong with it.
    pub faults: Vec<String>,
}

/// Lists the backups of a place, oldest first; with `checks`, every file is read and compared with its checksum.
///
/// # Errors
/// The place cannot be read.
pub fn listed(place: &ObjectPlace, checks: bool) -> Result<Vec<ListedBackup>, BackupError> {
    let mut backups = Vec::new();
    let mut checked = BTreeMap::new();
    for name in manifests(place)? {
        let mut listed = ListedBackup {
            name: name.to_string(),
            time: shown(name.time_ms),
            folder: None,
            files: 0,
            bytes: 0,
            left_out: Vec::new(),
            faults: Vec::new(),
        };
        match read(place, &name) {
            Ok(manifest) => {
                listed.files = manifest.files.len();
                listed.bytes = manifest.bytes();
                if checks {
                    listed.faults = check(place, &name, &manifest, &mut checked)?;
                }
                listed.folder = Some(manifest.folder);
                listed.left_out = manifest.left_out;
            }
            Err(BackupError::Manifest { error, .. }) => listed.faults.push(format!("it {error}")),
            Err(error) => return Err(error),
        }
        backups.push(listed);
    }
    Ok(backups)
}

/// Returns the names of the backups of a place. Each comes after those that it replaced.
pub fn manifests(place: &ObjectPlace) -> Result<Vec<Name>, PlaceError> {
    let found = place.list(FOLDER)?;
    let mut names: Vec<Name> =
        found.iter().filter_map(|object| Name::parse(&object.name)).collect();
    names.sort_unstable();
    Ok(names)
}

/// Reads a backup's manifest.
///
/// # Errors
/// It is damaged or of a newer format, or the place cannot be read.
pub fn read(place: &ObjectPlace, name: &Name) -> Result<BackupManifest, BackupError> {
    let wrong = |error| BackupError::Manifest { name: name.to_string(), error };
    let mut bytes = Vec::new();
    let is_there = place.get(&format!("{FOLDER}/{name}"), |piece| {
        if (bytes.len() + piece.len()) as u64 > MAX_BYTES {
            let cause = format!("it is longer than {MAX_BYTES} bytes");
            return Err(wrong(ManifestError::Damaged(cause)));
        }
        bytes.extend_from_slice(piece);
        Ok(())
    })?;
    if !is_there {
        return Err(wrong(ManifestError::Damaged("it is no longer there".to_owned())));
    }
    let manifest = BackupManifest::decode(&bytes).map_err(wrong)?;
    if name.time_ms != manifest.time {
        let cause = format!("it is the manifest of another time, {}", shown(manifest.time));
        return Err(wrong(ManifestError::Damaged(cause)));
    }
    Ok(manifest)
}

/// Hands out the content of a file of a backup, and checks that it has not changed.
///
/// # Errors
/// The object is missing or damaged, the place cannot be read, or `take` fails.
pub fn fetch(
    place: &ObjectPlace,
    name: &Name,
    file: &ManifestEntry,
    mut take: impl FnMut(&[u8]) -> Result<(), BackupError>,
) -> Result<(), BackupError> {
    let (mut hasher, mut length) = (Sha256::new(), 0);
    let object = object(&file.sha256);
    let is_there = place.get(&object, |piece| {
        hasher.update(piece);
        length += piece.len() as u64;
        take(piece)
    })?;
    let (at, name, path) = (place.address().to_owned(), name.to_string(), file.path.clone());
    if !is_there {
        return Err(BackupError::Missing { place: at, name, file: path, object });
    }
    let cause = if length != file.length {
        format!("has {length} bytes; it must have {}", file.length)
    } else if hex(&hasher.finalize()) != file.sha256 {
        "does not match its checksum".to_owned()
    } else {
        return Ok(());
    };
    Err(BackupError::Corrupt { place: at, name, file: path, object, cause })
}

/// Reads every file of a backup. Each object is read only once for all backups.
fn check(
    place: &ObjectPlace,
    name: &Name,
    manifest: &BackupManifest,
    checked: &mut BTreeMap<(String, u64), Option<String>>,
) -> Result<Vec<String>, BackupError> {
    let bar = bar_of_bytes(manifest.bytes());
    let mut faults = Vec::new();
    for file in &manifest.files {
        let key = (file.sha256.clone(), file.length);
        if !checked.contains_key(&key) {
            let cause = match fetch(place, name, file, |_| Ok(())) {
                Ok(()) => None,
                Err(BackupError::Missing { object, .. }) => Some(format!("{object} is missing")),
                Err(BackupError::Corrupt { object, cause, .. }) => {
                    Some(format!("{object} {cause}"))
                }
                Err(error) => return Err(error),
            };
            checked.insert(key.clone(), cause);
        }
        bar.inc(file.length);
        if let Some(Some(cause)) = checked.get(&key) {
            faults.push(format!("{}: {cause}", file.path));
        }
    }
    bar.finish_and_clear();
    Ok(faults)
}
