//! Replaces ClickHouse in a server that was built without it. All functions refuse. They are never
//! called, since such a server accepts no place in ClickHouse.

use mesonet::store::StoreError;

pub use without_clickhouse as beside;
pub use without_clickhouse as open;
pub use without_clickhouse as reader;

use super::{ClickHouseAddress, RecordSettings};

/// Refuses a record in ClickHouse, whatever is to be done with it.
///
/// # Errors
/// Always.
pub fn without_clickhouse<T>(
    address: &ClickHouseAddress,
    _: &RecordSettings,
) -> Result<T, StoreError> {
    let cause = "this server was built without the feature clickhouse".to_owned();
    Err(StoreError::Storage { path: address.urls.join(", "), cause })
}

/// Refuses; see `clickhouse.rs`.
///
/// # Errors
/// Always.
pub fn refuse_if_written(
    address: &ClickHouseAddress,
    settings: &RecordSettings,
) -> Result<(), StoreError> {
    without_clickhouse(address, settings)
}

/// Refuses; see `clickhouse.rs`.
///
/// # Errors
/// Always.
pub fn would_expire(
    address: &ClickHouseAddress,
    settings: &RecordSettings,
    _: i64,
) -> Result<(u64, usize), StoreError> {
    without_clickhouse(address, settings)
}

/// Refuses; see `clickhouse.rs`.
///
/// # Errors
/// Always.
pub fn migrate(
    address: &ClickHouseAddress,
    settings: &RecordSettings,
) -> Result<(u32, u32), StoreError> {
    without_clickhouse(address, settings)
}
