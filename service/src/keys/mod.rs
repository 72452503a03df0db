//! API keys: where they are kept, and which ones are valid.
//!
//! | What | Where |
//! | --- | --- |
//! | A key | `api_key.rs` |
//! | Where keys are issued and revoked | `key_record.rs` |
//! | The file of keys in a data folder, and how many it has | `key_file.rs`, `key_count.rs` |
//! | The keys of a record in ClickHouse | `clickhouse.rs` |
//! | The keys that a server knows | `known_keys.rs` |

mod api_key;
#[cfg(feature = "clickhouse")]
mod clickhouse;
mod key_count;
mod key_file;
mod key_record;
mod known_keys;

use std::sync::Arc;

use mesonet::store::StoreError;

pub use self::api_key::KeyDigest;
#[cfg(feature = "clickhouse")]
pub use self::clickhouse::{KeysInClickHouse, in_clickhouse};
pub use self::key_count::FILE as KEY_COUNT;
pub use self::key_file::{FILE as KEYS, KeyFile, KeyFolder};
pub use self::key_record::{
    ApiKey, KeyEntry, KeyRecord, KeysError, SharedKeyRecord, ValidKeys, Validity,
};
pub use self::known_keys::{KnownKeys, LOOK};
#[cfg(not(feature = "clickhouse"))]
use crate::record::without_clickhouse as in_clickhouse;
use crate::record::{RecordPlace, RecordSettings};

/// Where the API keys of a record are issued and revoked: in the database of the record if servers
/// share it, otherwise in the folder of the server.
///
/// # Errors
/// The shared record cannot be reached.
pub fn key_record(settings: &RecordSettings) -> Result<SharedKeyRecord, StoreError> {
    match &settings.place {
        RecordPlace::Embedded(_) => Ok(Arc::new(KeyFolder(settings.data.clone()))),
        RecordPlace::ClickHouse(address) => in_clickhouse(address, settings),
    }
}

/// The keys of the same record, as a server knows them.
///
/// # Errors
/// As [`key_record`].
pub fn known_keys(settings: &RecordSettings) -> Result<KnownKeys, StoreError> {
    match &settings.place {
        RecordPlace::Embedded(_) => Ok(KnownKeys::new(&settings.data)),
        RecordPlace::ClickHouse(_) => {
            Ok(KnownKeys::shared(key_record(settings)?, !settings.read_only))
        }
    }
}
