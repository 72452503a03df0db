//! Replaces ClickHouse in a server that was built without it. All functions refuse. They are never
//! called, since such a server accepts no place in ClickHouse.

use std::sync::Arc;

use mesonet::Reader;
use mesonet::store::{AlertStore, StoreError};

use super::{ClickHouseAddress, RecordSettings, RecordStore, Upstream};

/// Why a record in ClickHouse cannot be used.
pub fn without_clickhouse(address: &ClickHouseAddress) -> StoreError {
    let cause = "this server was built without the feature clickhouse".to_owned();
    StoreError::Storage { path: address.urls.join(", "), cause }
}

fn without<T>(address: &ClickHouseAddress) -> Result<T, StoreError> {
    Err(without_clickhouse(address))
}

pub fn open(
    address: &ClickHouseAddress,
    _: &RecordSettings,
) -> Result<(Arc<dyn RecordStore>, AlertStore), StoreError> {
    without(address)
}

pub fn refuse_if_written(
    address: &ClickHouseAddress,
    _: &RecordSettings,
) -> Result<(), StoreError> {
    without(address)
}

pub fn beside(
    address: &ClickHouseAddress,
    _: &RecordSettings,
) -> Result<Arc<dyn Upstream>, StoreError> {
    without(address)
}

pub fn reader(
    address: &ClickHouseAddress,
    _: &RecordSettings,
) -> Result<Arc<dyn Reader>, StoreError> {
    without(address)
}

/// Refuses; see `clickhouse.rs`.
///
/// # Errors
/// Always.
pub fn would_expire(
    address: &ClickHouseAddress,
    _: &RecordSettings,
    _: i64,
) -> Result<(u64, usize), StoreError> {
    without(address)
}

/// Refuses; see `clickhouse.rs`.
///
/// # Errors
/// Always.
pub fn migrate(address: &ClickHouseAddress, _: &RecordSettings) -> Result<(u32, u32), StoreError> {
    without(address)
}
