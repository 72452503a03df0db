//! The command `migrate`.

use std::io::{self, Write};

use clap::Args;
use mesonet::store::StoreError;

use crate::config::{Config, ConfigError, Flags, RecordFlags};
use crate::record::{RecordPlace, migrate};

/// The flags of `migrate`.
#[derive(Clone, Debug, Args)]
pub struct MigrateFlags {
    #[command(flatten)]
    #[allow(missing_docs, reason = "the type describes it")]
    pub record: RecordFlags,
}

/// Why the command failed.
#[derive(Debug, thiserror::Error)]
pub enum MigrateError {
    /// A setting is invalid.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The record has no tables to migrate.
    #[error(
        "store is embedded; it must be clickhouse:http://HOST:PORT/DATABASE: a folder is brought up to \
         date when a server opens it"
    )]
    OnDisk,
    /// ClickHouse cannot be reached or refuses, or the tables are of a newer version.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The result cannot be written.
    #[error("cannot write the result: {0}")]
    Io(#[from] io::Error),
}

/// Makes the database of a record in ClickHouse and its tables, or brings them up to the version that
/// this server reads, and says from which version to which. Servers of the older version must be
/// stopped before.
///
/// # Errors
/// The record is on disk, ClickHouse cannot be reached or refuses, or the tables are of a newer version.
pub fn migrate_command(flags: &MigrateFlags) -> Result<(), MigrateError> {
    let config = Config::load(&Flags { record: flags.record.clone(), ..Flags::default() })?;
    let place = config.place();
    let RecordPlace::ClickHouse(address) = &place else { return Err(MigrateError::OnDisk) };
    let (from, to) = migrate(address, &config)?;
    let mut out = io::stdout().lock();
    match from {
        0 => writeln!(out, "{place}: made tables of version {to}")?,
        _ if from == to => writeln!(out, "{place}: tables are of version {to} already")?,
        _ => writeln!(out, "{place}: brought tables from version {from} to {to}")?,
    }
    Ok(())
}
