//! The backups of a place.

use std::collections::BTreeMap;

use serde::Serialize;

use super::BackupError;
use super::content::fetch;
use super::manifest::{BackupManifest, MAX_BYTES, ManifestError, shown};
use super::name::Name;
use crate::place::{ObjectPlace, PlaceError};
use crate::progress::bar_of_bytes;

/// The folder of the manifests.
pub const FOLDER: &str = "backups";

/// A backup in the list.
#[derive(Debug, Default, Serialize)]
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
            ..ListedBackup::default()
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
        let key = (file.object_name(), file.length);
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
