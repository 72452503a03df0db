//! What an archive holds: the files with the readings of each month.
//!
//! A manifest is JSON, so that other programs can find the valid files. It contains its own
//! SHA-256.

use std::fmt;

use mesonet::StationId;
use serde::{Deserialize, Serialize};

use super::month::Month;
use crate::backup::instant;
use crate::hex::hex_sha256;
use crate::place::{Object, ObjectPlace, PlaceError};

/// The folder of the manifests. Each has a number as its name.
const FOLDER: &str = "manifests";

/// Version of the format. Increases with every change that older programs cannot read.
const FORMAT: u32 = 1;

/// Length of the longest manifest that is read.
const MAX_BYTES: usize = 256 << 20;

/// How long a manifest is kept after a newer one exists. This is longer than writing a month may
/// take, so that no number is used again.
pub const KEPT_MS: i64 = 2 * mesonet::time::DAY_MS;

/// What an archive holds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(expecting = "an object", rename_all = "camelCase", deny_unknown_fields)]
pub struct ArchiveManifest {
    /// The name of the record in its places.
    pub record: String,
    /// The months, sorted. A month that is missing between two others is not in the archive.
    pub months: Vec<ArchivedMonth>,
}

/// A month of an archive.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ArchivedMonth {
    /// Which one.
    pub month: Month,
    /// The month has readings from this instant on. It is the start of the month, unless the record
    /// held only a part of it.
    #[serde(with = "instant")]
    pub from: i64,
    /// Number of readings.
    pub readings: u64,
    /// Number of damaged blocks of the record whose readings are missing.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub damaged: u64,
    /// Its files, sorted by the stations in them.
    pub files: Vec<ArchivedFile>,
}

/// A file of an archive. All readings of a station in a month are in one file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ArchivedFile {
    /// Its path in the place.
    pub path: String,
    /// Number of readings.
    pub readings: u64,
    /// The first station in it.
    pub first: StationId,
    /// The last station in it.
    pub last: StationId,
    /// Its length.
    pub bytes: u64,
    /// The SHA-256 of its content, in hexadecimal digits.
    pub sha256: String,
    /// Length of its footer, the last bytes, which say where everything else is.
    pub tail: u64,
    /// The SHA-256 of the footer.
    pub tail_sha256: String,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// The file of a manifest.
#[derive(Serialize, Deserialize)]
#[serde(expecting = "an object", deny_unknown_fields)]
struct ManifestFile<T> {
    format: u32,
    sha256: String,
    archive: T,
}

#[derive(Deserialize)]
struct Format {
    format: u32,
}

/// Why a manifest cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ManifestError {
    /// The place cannot be read or written.
    #[error(transparent)]
    Place(#[from] PlaceError),
    /// It was written by another version of the program.
    #[error(
        "{name} has format {got}; this version reads format {FORMAT}: use another mesonet-server"
    )]
    Other {
        /// Which one.
        name: String,
        /// Its format.
        got: u32,
    },
    /// It is cut short or changed.
    #[error("{name} is damaged: {cause}; put it back, or delete it to go back to the one before")]
    Damaged {
        /// Which one.
        name: String,
        /// What is wrong with it.
        cause: String,
    },
}

/// The number of a manifest; 0 for an empty place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Number(u64);

impl Number {
    fn next(self) -> Self {
        Self(self.0 + 1)
    }

    fn parse(name: &str) -> Option<Self> {
        let digits = name.strip_suffix(".json")?;
        let is_ours = digits.len() == 10 && digits.bytes().all(|byte| byte.is_ascii_digit());
        is_ours.then(|| digits.parse().ok().map(Self)).flatten()
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{FOLDER}/{:010}.json", self.0)
    }
}

impl ArchiveManifest {
    /// The month, if the archive has it.
    pub fn month(&self, month: Month) -> Option<&ArchivedMonth> {
        let at = self.months.binary_search_by_key(&month, |known| known.month).ok()?;
        Some(&self.months[at])
    }

    /// The manifest with a month added or replaced.
    pub fn with(&self, month: ArchivedMonth) -> Self {
        let mut with = self.clone();
        match with.months.binary_search_by_key(&month.month, |known| known.month) {
            Ok(at) => with.months[at] = month,
            Err(at) => with.months.insert(at, month),
        }
        with
    }

    /// Reads the newest manifest of a place. Returns an empty one if the place is empty.
    ///
    /// # Errors
    /// It cannot be read, or is damaged.
    pub fn newest(place: &ObjectPlace) -> Result<(Number, Self), ManifestError> {
        let mut missing = None;
        loop {
            let number = newest(place)?;
            if missing == Some(number) {
                let cause = "it is listed, and cannot be found".to_owned();
                return Err(ManifestError::Damaged { name: number.to_string(), cause });
            }
            if number == Number::default() {
                return Ok((number, Self::default()));
            }
            let mut bytes = Vec::new();
            let is_there = place.get(&number.to_string(), |piece| {
                bytes.extend_from_slice(piece);
                if bytes.len() > MAX_BYTES {
                    let cause = format!("it is longer than {MAX_BYTES} bytes");
                    return Err(ManifestError::Damaged { name: number.to_string(), cause });
                }
                Ok(())
            })?;
            // Otherwise a newer one has replaced it.
            if is_there {
                return Ok((number, Self::decode(&bytes, number)?));
            }
            missing = Some(number);
        }
    }

    /// Puts the manifest after another one, which was the newest. Returns its number. Returns
    /// `None` if another manifest was put in the meantime: that one is valid, and it may be a later
    /// one of the same run.
    ///
    /// # Errors
    /// The place cannot be written.
    pub fn put_after(
        &self,
        place: &ObjectPlace,
        before: Number,
    ) -> Result<Option<Number>, PlaceError> {
        let number = before.next();
        let is_new = place.put_new(&number.to_string(), self.encode())?;
        Ok((is_new && newest(place)? == number).then_some(number))
    }

    fn encode(&self) -> Vec<u8> {
        // Texts and numbers can always be written.
        let sha256 = hex_sha256(&serde_json::to_vec(self).unwrap_or_default());
        let written = ManifestFile { format: FORMAT, sha256, archive: self };
        serde_json::to_vec_pretty(&written).unwrap_or_default()
    }

    fn decode(bytes: &[u8], number: Number) -> Result<Self, ManifestError> {
        let name = || number.to_string();
        let wrong = |cause: String| ManifestError::Damaged { name: name(), cause };
        let wrong_json = |error: serde_json::Error| wrong(error.to_string());
        let Format { format } = serde_json::from_slice(bytes).map_err(wrong_json)?;
        if format != FORMAT {
            return Err(ManifestError::Other { name: name(), got: format });
        }
        let ManifestFile { sha256, archive, .. } =
            serde_json::from_slice::<ManifestFile<Self>>(bytes).map_err(wrong_json)?;
        if hex_sha256(&serde_json::to_vec(&archive).unwrap_or_default()) != sha256 {
            return Err(wrong("it does not match its checksum".to_owned()));
        }
        if !archive.months.is_sorted_by(|one, next| one.month < next.month) {
            return Err(wrong("its months are out of order".to_owned()));
        }
        Ok(archive)
    }
}

impl ArchivedMonth {
    /// Its files that are missing or have another length, by the objects in its folder.
    pub fn faults(&self, found: &[Object]) -> Vec<String> {
        let folder = self.month.folder();
        let length = |path: &str| {
            let name = path.strip_prefix(&folder)?.strip_prefix('/')?;
            Some(found.iter().find(|object| object.name == name)?.length)
        };
        let fault = |file: &ArchivedFile| match length(&file.path) {
            Some(length) if length == file.bytes => None,
            Some(length) => {
                Some(format!("{} has {length} bytes; the manifest says {}", file.path, file.bytes))
            }
            None => Some(format!("{} is missing", file.path)),
        };
        self.files.iter().filter_map(fault).collect()
    }
}

fn newest(place: &ObjectPlace) -> Result<Number, PlaceError> {
    let found = place.list(FOLDER)?;
    Ok(found.iter().filter_map(|object| Number::parse(&object.name)).max().unwrap_or_default())
}

/// How many manifests are kept, however old they are. If the newest is damaged, there is an older
/// one.
const KEPT: u64 = 8;

/// Deletes the manifests before a given one that were written before a given time, except the last
/// of them.
///
/// # Errors
/// The place cannot be read or written.
pub fn delete_before(
    place: &ObjectPlace,
    number: Number,
    before_ms: i64,
) -> Result<(), PlaceError> {
    for object in place.list(FOLDER)? {
        if object.written_ms < before_ms
            && let Some(old) =
                Number::parse(&object.name).filter(|old| old.0.saturating_add(KEPT) < number.0)
        {
            place.delete(&old.to_string(), before_ms)?;
        }
    }
    Ok(())
}

#[cfg(test)]
#[path = "manifest_tests.rs"]
mod tests;
