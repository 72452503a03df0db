//! The command `migrate`.

use std::io::{self, Write};

use crate::config::RecordFlags;
use mesonet_service::record::RecordPlace;

use super::{Outcome, load};

/// Creates the database of a record in ClickHouse and its tables, or updates them to the version
/// that this server reads. Prints the old version and the new one. Servers of the older version
/// must be stopped first.
///
/// # Errors
/// The record is on disk, ClickHouse cannot be reached or refuses, or the tables have a newer
/// version.
pub fn migrate(record: &RecordFlags) -> Outcome {
    let settings = load(record)?.record();
    let place = &settings.place;
    let RecordPlace::ClickHouse(address) = place else {
        let cause = "store is embedded; it must be clickhouse:http://HOST:PORT/DATABASE: a folder is brought up to \
                     date when a server opens it";
        return Err(cause.into());
    };
    let (from, to) = mesonet_service::record::migrate(address, &settings)?;
    let mut out = io::stdout().lock();
    match from {
        0 => writeln!(out, "{place}: made tables of version {to}")?,
        _ if from == to => writeln!(out, "{place}: tables are of version {to} already")?,
        _ => writeln!(out, "{place}: brought tables from version {from} to {to}")?,
    }
    Ok(true)
}
