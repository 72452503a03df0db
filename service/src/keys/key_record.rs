//! The record of API keys, on disk or in ClickHouse: what is known of each key, and how it changes.

use std::collections::HashMap;
use std::fmt::Debug;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use mesonet::Iso8601;
use mesonet::store::StoreError;
use mesonet::time::DAY_MS;
use serde::Serialize;

use super::api_key::KeyDigest;

/// Version of the form. Increases with every change that older programs cannot read.
pub const VERSION: i32 = 1;

/// Maximum number of keys, and the longest label of a key in bytes.
const MAX_KEYS: usize = 10_000;
const MAX_LABEL_BYTES: usize = 200;

const YEAR_MS: i64 = 365 * DAY_MS;

/// A record of keys that threads share.
pub type SharedKeyRecord = Arc<dyn KeyRecord + Send + Sync>;

/// The valid keys, and when each expires.
pub type ValidKeys = HashMap<KeyDigest, Option<i64>>;

/// The record of one key. Instants are milliseconds since 1970.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiKey {
    /// The hash by which it is recognized.
    pub digest: KeyDigest,
    /// Whose it is, for people.
    pub label: String,
    /// When it was issued.
    pub issued_ms: i64,
    /// When it expires, if ever.
    pub expires_ms: Option<i64>,
    /// When it was revoked, if it was.
    pub revoked_ms: Option<i64>,
    /// When it was last used, if it was.
    pub last_used_ms: Option<i64>,
}

/// A key as it is shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct KeyEntry {
    /// The name by which it is revoked.
    pub id: String,
    /// Whose it is, for people.
    pub label: String,
    /// When it was issued.
    pub issued: Iso8601,
    /// When it expires; absent if never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires: Option<Iso8601>,
    /// When it was last used, to a minute or so; absent if never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_used: Option<Iso8601>,
    /// When it was revoked; absent if it was not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revoked: Option<Iso8601>,
}

/// How long a key is valid.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum, serde::Deserialize, utoipa::ToSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Validity {
    /// One year.
    Year,
    /// Forever.
    Never,
}

/// Why the record of keys cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum KeysError {
    /// The file cannot be created.
    #[error("{}: {error}", .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// The file cannot be read or written.
    #[error("{}: {error}", .path.display())]
    Database {
        /// The file.
        path: PathBuf,
        /// SQLite's error.
        error: rusqlite::Error,
    },
    /// The file is of a later version of the program.
    #[error("{} has version {got}; this program reads version {VERSION}", .path.display())]
    Version {
        /// The file.
        path: PathBuf,
        /// Its version.
        got: i32,
    },
    /// Keys are missing or damaged.
    #[error(
        "{}: {cause}; put the newest file of a backup in its place, or accept the keys that are there as all keys: \
         mesonet-server verify --set-aside", .path.display()
    )]
    Lost {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        cause: String,
    },
    /// The store that has the keys cannot be used.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The label is blank or too long, or has invisible characters.
    #[error(
        "label must be 1 to {MAX_LABEL_BYTES} bytes long, not blank, and without control characters \
         and marks of direction; got {0:?}"
    )]
    Label(String),
    /// There are too many keys.
    #[error("there are {MAX_KEYS} keys, which is the limit; revoked and expired ones count")]
    Full,
    /// No key has this name.
    #[error("no key has the id \"{0}\"")]
    Unknown(String),
    /// The system gives no random bytes.
    #[error(transparent)]
    Random(#[from] getrandom::Error),
}

/// A record of keys. Several processes may change it at the same time.
pub trait KeyRecord: Debug {
    /// All keys, in any order.
    ///
    /// # Errors
    /// The record cannot be read.
    fn all(&self) -> Result<Vec<ApiKey>, KeysError>;

    /// Adds keys with what is known of them. A key that the record already has keeps the earlier
    /// revocation, and gets the later use.
    ///
    /// # Errors
    /// The record cannot be written.
    fn put(&self, keys: &[ApiKey]) -> Result<(), KeysError>;

    /// Issues a key. The key itself is returned only here.
    ///
    /// # Errors
    /// An invalid label, too many keys, or the record cannot be read or written.
    fn issue(
        &self,
        label: &str,
        validity: Validity,
        now_ms: i64,
    ) -> Result<(String, KeyEntry), KeysError> {
        if label.len() > MAX_LABEL_BYTES || label.trim().is_empty() || label.contains(is_unseen) {
            return Err(KeysError::Label(label.chars().take(MAX_LABEL_BYTES).collect()));
        }
        if self.all()?.len() >= MAX_KEYS {
            return Err(KeysError::Full);
        }
        let (text, digest) = KeyDigest::fresh()?;
        let key = ApiKey {
            digest,
            label: label.to_owned(),
            issued_ms: now_ms,
            expires_ms: match validity {
                Validity::Year => Some(now_ms + YEAR_MS),
                Validity::Never => None,
            },
            revoked_ms: None,
            last_used_ms: None,
        };
        self.put(std::slice::from_ref(&key))?;
        Ok((text, key.entry()))
    }

    /// Revokes a key. A key that was revoked before keeps the time of its revocation.
    ///
    /// # Errors
    /// No key has the name, or the record cannot be read or written.
    fn revoke(&self, id: &str, now_ms: i64) -> Result<KeyEntry, KeysError> {
        let found = self.all()?.into_iter().find(|key| key.digest.id() == id);
        let mut key = found.ok_or_else(|| KeysError::Unknown(id.chars().take(40).collect()))?;
        key.revoked_ms.get_or_insert(now_ms);
        // Even if it was revoked before: not all replicas may know that.
        self.put(std::slice::from_ref(&key))?;
        Ok(key.entry())
    }

    /// Lists all keys, oldest first.
    ///
    /// # Errors
    /// The record cannot be read.
    fn list(&self) -> Result<Vec<KeyEntry>, KeysError> {
        let mut entries: Vec<KeyEntry> = self.all()?.iter().map(ApiKey::entry).collect();
        entries.sort_by(|a, b| (a.issued.0, &a.id).cmp(&(b.issued.0, &b.id)));
        Ok(entries)
    }

    /// The keys that are not revoked, and when each expires.
    ///
    /// # Errors
    /// The record cannot be read.
    fn valid(&self) -> Result<ValidKeys, KeysError> {
        let valid = self.all()?.into_iter().filter(|key| key.revoked_ms.is_none());
        Ok(valid.map(|key| (key.digest, key.expires_ms)).collect())
    }

    /// Records when keys were last used.
    ///
    /// # Errors
    /// The record cannot be read or written.
    fn used(&self, used: &HashMap<KeyDigest, i64>) -> Result<(), KeysError> {
        let mut keys = self.all()?;
        keys.retain(|key| used.contains_key(&key.digest));
        for key in &mut keys {
            key.last_used_ms = key.last_used_ms.max(used.get(&key.digest).copied());
        }
        self.put(&keys)
    }
}

impl ApiKey {
    fn entry(&self) -> KeyEntry {
        KeyEntry {
            id: self.digest.id(),
            label: self.label.clone(),
            issued: Iso8601(self.issued_ms),
            expires: self.expires_ms.map(Iso8601),
            last_used: self.last_used_ms.map(Iso8601),
            revoked: self.revoked_ms.map(Iso8601),
        }
    }
}

/// Whether a character is invisible and changes how a list of labels is shown: control characters,
/// the direction marks of Unicode's UAX #9, and characters without width.
fn is_unseen(of: char) -> bool {
    of.is_control()
        || matches!(of, '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}')
        || matches!(of, '\u{2060}'..='\u{206f}' | '\u{feff}')
}
