//! The API keys of a record in ClickHouse: one record of keys for all its servers.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use mesonet::store::StoreError;
use mesonet_clickhouse::{ApiKey as Row, ApiKeys, Options};

use crate::keys::{ApiKey, KeyDigest, KeyRecord, KeysError, SharedKeyRecord};
use crate::record::{ClickHouseAddress, RecordSettings};

/// The keys of a record as its settings name it.
///
/// # Errors
/// As [`KeysInClickHouse::open`], or the password cannot be read.
pub fn in_clickhouse(
    address: &ClickHouseAddress,
    settings: &RecordSettings,
) -> Result<SharedKeyRecord, StoreError> {
    Ok(Arc::new(KeysInClickHouse::open(&settings.clickhouse(address)?)?))
}

#[derive(Debug)]
pub struct KeysInClickHouse {
    keys: ApiKeys,
    /// Whether rows of another form were logged already.
    is_told: AtomicBool,
}

impl KeysInClickHouse {
    /// Connects to the database of a record.
    ///
    /// # Errors
    /// The database cannot be reached, or its tables have another version.
    pub fn open(options: &Options) -> Result<Self, StoreError> {
        Ok(Self { keys: ApiKeys::open(options)?, is_told: AtomicBool::new(false) })
    }
}

impl KeyRecord for KeysInClickHouse {
    fn all(&self) -> Result<Vec<ApiKey>, KeysError> {
        let read = |row: Row| {
            let digest = KeyDigest::of_digits(&row.digest);
            if digest.is_none() && !self.is_told.swap(true, Ordering::Relaxed) {
                tracing::error!("passing over rows of api_keys whose digest is no SHA-256");
            }
            let Row { label, issued_ms, expires_ms, revoked_ms, last_used_ms, .. } = row;
            let digest = digest?;
            Some(ApiKey { digest, label, issued_ms, expires_ms, revoked_ms, last_used_ms })
        };
        Ok(self.keys.list()?.into_iter().filter_map(read).collect())
    }

    fn put(&self, keys: &[ApiKey]) -> Result<(), KeysError> {
        let row = |key: &ApiKey| Row {
            digest: key.digest.digits(),
            label: key.label.clone(),
            issued_ms: key.issued_ms,
            expires_ms: key.expires_ms,
            revoked_ms: key.revoked_ms,
            last_used_ms: key.last_used_ms,
        };
        Ok(self.keys.put(&keys.iter().map(row).collect::<Vec<_>>())?)
    }
}
