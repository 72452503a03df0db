//! The commands, one file for each.

pub mod archive;
pub mod backup;
pub mod backups;
pub mod copy;
pub mod deliveries;
pub mod grib_ls;
pub mod health;
pub mod ingest;
pub mod keys;
pub mod migrate;
pub mod models;
pub mod mqtt;
pub mod quality;
pub mod restore;
pub mod retention;
pub mod summary;
pub mod token;
pub mod verify;
pub mod webhooks;

use std::error::Error;
use std::io::{self, Write};

use mesonet::StationId;
use mesonet::store::Directory;
use mesonet_server::{Config, ConfigError, Flags, RecordFlags};
use serde::Serialize;

/// Whether a command found everything in order. The exit code is 0 if so, and otherwise 1.
pub type Outcome = Result<bool, Box<dyn Error>>;

/// Loads the settings of the record.
fn load(record: &RecordFlags) -> Result<Config, ConfigError> {
    Config::load(&Flags { record: record.clone(), ..Flags::default() })
}

/// Finds a station by any of its ids, and the time of its newest reading.
fn station_with_readings(
    directory: &Directory,
    text: &str,
) -> Result<(StationId, i64), Box<dyn Error>> {
    let id = directory.named(text)?;
    let known = directory.get(id).ok_or_else(|| format!("no station has the id \"{text}\""))?;
    let newest_ms =
        known.update_time_ms.ok_or_else(|| format!("the station \"{text}\" has no readings"))?;
    Ok((id, newest_ms))
}

/// Writes the result of a command: as a line of JSON, or as text.
fn print<T: Serialize>(
    json: bool,
    value: &T,
    text: impl FnOnce(&mut io::StdoutLock<'_>) -> io::Result<()>,
) -> Result<(), Box<dyn Error>> {
    let mut out = io::stdout().lock();
    let written = if json {
        serde_json::to_writer(&mut out, value).map_err(io::Error::from).and_then(|()| writeln!(out))
    } else {
        text(&mut out)
    };
    written.map_err(|error| format!("cannot write the result: {error}").into())
}
