//! What a backup holds: its files with their checksums.
//!
//! A manifest is text: a line with the version of the format, a line of JSON, and a line with the
//! SHA-256 of both. The first line stays as it is in all versions.

use std::path::{Component, Path};

use mesonet::Iso8601;
use serde::{Deserialize, Serialize};

use crate::hex::{hex_sha256, is_hex};
use crate::place::ZSTD;

/// Version of the format. Increases with every change that older programs cannot read. Format 1 has no
/// compressed objects.
const FORMAT: u32 = 2;

const FIRST_LINE: &str = "mesonet-backup ";

/// Length of the longest manifest that is read: that of a million files.
pub const MAX_BYTES: u64 = 512 << 20;

/// A backup.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(expecting = "an object", rename_all = "camelCase", deny_unknown_fields)]
pub struct BackupManifest {
    /// Everything that was acknowledged before this time is in the backup.
    #[serde(with = "instant")]
    pub time: i64,
    /// Version of the program that made it.
    pub version: String,
    /// The folder that was backed up.
    pub folder: String,
    /// The name of that folder's record in its places.
    pub writer: String,
    /// The files, sorted by path.
    pub files: Vec<ManifestEntry>,
    /// What the backup does not have as of that time, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
}

/// A file of a backup.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(expecting = "an object", rename_all = "camelCase", deny_unknown_fields)]
pub struct ManifestEntry {
    /// Its path in the data folder, with `/` between the parts.
    pub path: String,
    /// Its length in bytes.
    pub length: u64,
    /// The SHA-256 of its content, in hexadecimal digits.
    pub sha256: String,
    /// The length in bytes of its object, which is compressed; absent if the object is the content
    /// itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zstd_bytes: Option<u64>,
    /// What identifies its content for the next backup without reading it; empty for files that
    /// change.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub mark: String,
    /// When it was written, nanoseconds since 1970; absent for files that change. Tags of products
    /// are made from it, so they are the same on every server that has the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub modified_ns: Option<u64>,
}

impl ManifestEntry {
    /// The name of the object that holds it.
    pub fn object_name(&self) -> String {
        let end = if self.zstd_bytes.is_some() { ZSTD } else { "" };
        format!("{}{end}", self.sha256)
    }

    /// The length of that object in bytes.
    pub fn object_bytes(&self) -> u64 {
        self.zstd_bytes.unwrap_or(self.length)
    }
}

/// Why a manifest cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ManifestError {
    /// It was written by a later version of the program.
    #[error(
        "has format {got}; this version reads formats up to {FORMAT}: use a newer mesonet-server"
    )]
    Newer {
        /// Its format.
        got: u32,
    },
    /// It is cut short or changed.
    #[error("is damaged: {0}")]
    Damaged(String),
}

impl BackupManifest {
    /// Writes it as text.
    pub fn encode(&self) -> Vec<u8> {
        let mut text = format!("{FIRST_LINE}{FORMAT}\n").into_bytes();
        // Texts and numbers can always be written.
        text.extend(serde_json::to_vec(self).unwrap_or_default());
        text.push(b'\n');
        let checksum = hex_sha256(&text);
        text.extend(checksum.bytes());
        text.push(b'\n');
        text
    }

    /// Reads a manifest, and checks that it is whole and names only files in the folder.
    ///
    /// # Errors
    /// It is damaged, or of a newer format.
    pub fn decode(bytes: &[u8]) -> Result<Self, ManifestError> {
        let wrong = |cause: &str| ManifestError::Damaged(cause.to_owned());
        let first = bytes.split(|&byte| byte == b'\n').next().unwrap_or_default();
        let first = std::str::from_utf8(first).ok();
        let format = first.and_then(|line| line.strip_prefix(FIRST_LINE)?.parse::<u32>().ok());
        match format.ok_or_else(|| wrong("it does not begin as a manifest does"))? {
            1..=FORMAT => {}
            got if got > FORMAT => return Err(ManifestError::Newer { got }),
            got => return Err(wrong(&format!("there is no format {got}"))),
        }
        let end = bytes.len().checked_sub(65).ok_or_else(|| wrong("it is cut short"))?;
        let (text, checksum) = bytes.split_at(end);
        if checksum.last() != Some(&b'\n') || text.last() != Some(&b'\n') {
            return Err(wrong("it is cut short"));
        }
        if hex_sha256(text).as_bytes() != &checksum[..64] {
            return Err(wrong("it does not match its checksum"));
        }
        let json = &text[first.map_or(0, str::len) + 1..];
        let manifest: Self =
            serde_json::from_slice(json).map_err(|error| wrong(&error.to_string()))?;
        manifest.check().map_err(ManifestError::Damaged)?;
        Ok(manifest)
    }

    fn check(&self) -> Result<(), String> {
        for (at, ManifestEntry { path, sha256, .. }) in self.files.iter().enumerate() {
            if !is_inside(path) {
                return Err(format!("{path:?} is not the path of a file in a data folder"));
            }
            if !is_hex(sha256, 64) {
                return Err(format!("{path:?} has no SHA-256"));
            }
            if at > 0 && self.files[at - 1].path >= *path {
                return Err(format!("{path:?} is named twice or out of order"));
            }
        }
        Ok(())
    }

    /// Number of bytes of all files.
    pub fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.length).sum()
    }
}

/// Whether a path names something in the folder that it is relative to, on every system.
pub fn is_inside(path: &str) -> bool {
    let is_plain = |part: &str| !matches!(part, "" | "." | "..");
    let mut parts = Path::new(path).components();
    !path.contains(['\\', ':', '\0'])
        && path.split('/').all(is_plain)
        && parts.all(|part| matches!(part, Component::Normal(_)))
}

/// An instant with its milliseconds.
pub mod instant {
    use mesonet::time::parse_instant;
    use serde::{Deserialize, Deserializer, Serializer, de};

    /// # Errors
    /// Those of the serializer.
    #[allow(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
    pub fn serialize<S: Serializer>(ms: &i64, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&super::shown(*ms))
    }

    /// # Errors
    /// It is not an instant.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<i64, D::Error> {
        let text = String::deserialize(deserializer)?;
        parse_instant(&text).map_err(de::Error::custom)
    }
}

/// Formats an instant with its milliseconds.
pub fn shown(ms: i64) -> String {
    let seconds = Iso8601(ms.div_euclid(1000) * 1000).to_string();
    let seconds: String = seconds.chars().take(19).collect();
    format!("{seconds}.{:03}Z", ms.rem_euclid(1000))
}

#[cfg(test)]
#[path = "manifest_tests.rs"]
mod tests;
