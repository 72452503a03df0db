//! The tables, made and changed by numbered migrations.

use clickhouse::sql::Identifier;
use mesonet::store::StoreError;

use crate::link::{Link, Options};

/// The version of the tables that this crate reads and writes: the number of the last migration.
pub const SCHEMA_VERSION: u32 = MIGRATIONS.len() as u32;

/// What each migration is called, and its statements, separated by semicolons at the ends of lines.
/// Each statement can run again, so that a migration that was interrupted is just repeated.
const MIGRATIONS: &[(&str, &str)] = &[
    ("record", include_str!("../migrations/0001_record.sql")),
    ("alerts", include_str!("../migrations/0002_alerts.sql")),
    ("marks", include_str!("../migrations/0003_marks.sql")),
];

/// What [`migrate`] has done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Migrated {
    /// The version of the tables before; 0 if there were none.
    pub from: u32,
    /// The version now, [`SCHEMA_VERSION`].
    pub to: u32,
}

/// Makes the database and its tables, or brings those of an older version up to this one. Does nothing
/// if they are of this version.
///
/// # Errors
/// ClickHouse cannot be reached or refuses, or the tables are of a newer version.
pub fn migrate(options: &Options) -> Result<Migrated, StoreError> {
    let server = Link::new(options)?;
    let create = server.query("CREATE DATABASE IF NOT EXISTS ?");
    server.execute(create.bind(Identifier(&options.database)))?;
    let link = server.within(&options.database);
    link.run(
        "CREATE TABLE IF NOT EXISTS migrations (number UInt32, name String) \
         ENGINE = ReplacingMergeTree() ORDER BY number",
    )?;
    let from = version(&link)?;
    if from > SCHEMA_VERSION {
        return Err(other_version(&link, from));
    }
    for (number, (name, statements)) in (1..).zip(MIGRATIONS).skip(from as usize) {
        for statement in statements.split(";\n") {
            link.run(statement)?;
        }
        let done = link.query("INSERT INTO migrations (number, name) VALUES (?, ?)");
        link.execute(done.bind(number).bind(*name))?;
    }
    Ok(Migrated { from, to: SCHEMA_VERSION })
}

/// Refuses tables of another version.
pub(crate) fn check(link: &Link) -> Result<(), StoreError> {
    let there: Vec<u8> = link.rows(link.query("EXISTS TABLE migrations"))?;
    let version = if there == [1] { version(link)? } else { 0 };
    if version == SCHEMA_VERSION { Ok(()) } else { Err(other_version(link, version)) }
}

fn version(link: &Link) -> Result<u32, StoreError> {
    let newest = "SELECT number FROM migrations ORDER BY number DESC LIMIT 1";
    let found: Vec<u32> = link.rows(link.query(newest))?;
    Ok(found.first().copied().unwrap_or(0))
}

fn other_version(link: &Link, got: u32) -> StoreError {
    let advice =
        if got < SCHEMA_VERSION { " (mesonet-server migrate brings it up to date)" } else { "" };
    StoreError::SchemaVersion {
        path: link.name().to_owned(),
        got: format!("{got}{advice}"),
        allowed: SCHEMA_VERSION,
    }
}
