//! What stands in the place of ClickHouse in a server that was built without it: refusals. None is
//! met, since such a server reads no place in ClickHouse.

use std::sync::Arc;

use mesonet::Reader;
use mesonet::store::{AlertStore, StoreError};

use super::{ClickHouseAddress, RecordStore};
use crate::config::Config;
use crate::credentials::SharedKeyRecord;
use crate::follower::Upstream;

fn without<T>(address: &ClickHouseAddress) -> Result<T, StoreError> {
    let cause = "this server was built without the feature clickhouse".to_owned();
    Err(StoreError::Storage { path: address.urls.join(", "), cause })
}

pub(super) fn open(
    address: &ClickHouseAddress,
    _: &Config,
) -> Result<(Arc<dyn RecordStore>, AlertStore), StoreError> {
    without(address)
}

pub(super) fn refuse_if_written(address: &ClickHouseAddress, _: &Config) -> Result<(), StoreError> {
    without(address)
}

pub(super) fn beside(
    address: &ClickHouseAddress,
    _: &Config,
) -> Result<Arc<dyn Upstream>, StoreError> {
    without(address)
}

pub(super) fn keys(address: &ClickHouseAddress, _: &Config) -> Result<SharedKeyRecord, StoreError> {
    without(address)
}

pub(super) fn reader(
    address: &ClickHouseAddress,
    _: &Config,
) -> Result<Arc<dyn Reader>, StoreError> {
    without(address)
}

/// Refuses: see the file beside this one.
pub fn would_expire(
    address: &ClickHouseAddress,
    _: &Config,
    _: i64,
) -> Result<(u64, usize), StoreError> {
    without(address)
}

/// Refuses: see the file beside this one.
pub fn migrate(address: &ClickHouseAddress, _: &Config) -> Result<(u32, u32), StoreError> {
    without(address)
}
