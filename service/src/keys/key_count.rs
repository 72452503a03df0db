//! What is known of the file of API keys without reading it: the number of keys and revocations,
//! and a checksum.
//!
//! Keys are never deleted, and revocations are never undone, so the number of both together only
//! grows. If the file has fewer than were counted, it was deleted or replaced with an older one,
//! which would make a revoked key valid. If it has as many but another checksum, it is damaged.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use mesonet::durable::sync_folder;
use sha2::{Digest, Sha256};

use super::key_record::ApiKey;
use crate::files::found;
use crate::hex::{hex, hex_sha256};

/// The file in the folder of the record.
pub const FILE: &str = "keys.count";

/// What a record of keys holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyCount {
    /// Number of keys that were issued and of revocations, together.
    changes: u64,
    /// SHA-256 of everything except the uses.
    checksum: String,
}

impl KeyCount {
    /// Counts keys. Their order must always be the same.
    pub fn of(keys: &[ApiKey]) -> Self {
        let revoked = keys.iter().filter(|key| key.revoked_ms.is_some()).count();
        Self { changes: (keys.len() + revoked) as u64, checksum: checksum(keys) }
    }

    /// Reads the count; `None` if there is none.
    ///
    /// # Errors
    /// The file is damaged or cannot be read.
    pub fn read(data: &Path) -> Result<Option<Self>, String> {
        let text = found(fs::read_to_string(path_in(data)));
        let Some(text) = text.map_err(|error| format!("{FILE}: {error}"))? else { return Ok(None) };
        let mut words = text.split_whitespace();
        let changes = words.next().and_then(|word| word.parse().ok());
        let count = changes
            .zip(words.next())
            .map(|(changes, checksum)| Self { changes, checksum: checksum.to_owned() });
        let damaged = || format!("{FILE}: its checksum does not match");
        count.filter(|count| count.line() == text).map(Some).ok_or_else(damaged)
    }

    /// Writes the count, if the file does not have it yet.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write(&self, data: &Path) -> io::Result<()> {
        if Self::read(data).is_ok_and(|there| there.as_ref() == Some(self)) {
            return Ok(());
        }
        let mut file = tempfile::Builder::new().prefix(".mesonet-keys-").tempfile_in(data)?;
        file.write_all(self.line().as_bytes())?;
        file.as_file().sync_all()?;
        file.persist(path_in(data))?;
        sync_folder(data)
    }

    /// Compares the count with an earlier one.
    ///
    /// # Errors
    /// Keys are missing or damaged.
    pub fn check(&self, before: &Self) -> Result<(), String> {
        if self.changes < before.changes {
            return Err(format!(
                "keys or revocations are missing: {} were counted, {} are there",
                before.changes, self.changes
            ));
        }
        if self.changes == before.changes && self.checksum != before.checksum {
            return Err("the keys do not match their checksum".to_owned());
        }
        Ok(())
    }

    fn line(&self) -> String {
        let Self { changes, checksum } = self;
        let counted = format!("{changes} {checksum}");
        format!("{counted} {}\n", &hex_sha256(counted.as_bytes())[..16])
    }
}

/// Where it is.
pub fn path_in(data: &Path) -> PathBuf {
    data.join(FILE)
}

/// A checksum of keys without their uses: it stays the same as long as no key is issued or revoked.
pub fn checksum(keys: &[ApiKey]) -> String {
    let mut hasher = Sha256::new();
    for key in keys {
        let times = [Some(key.issued_ms), key.expires_ms, key.revoked_ms];
        hasher.update(key.digest.0);
        hasher.update(format!("{:?} {times:?}\n", key.label));
    }
    hex(&hasher.finalize())
}
