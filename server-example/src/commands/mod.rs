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
use std::sync::Arc;

use mesonet::{Reader, StationId};
use mesonet_server::{CatalogueFlags, Config, ConfigError, Flags, RecordFlags};
use mesonet_service::record::{Record, RecordPlace};
use serde::Serialize;

/// Whether a command found everything in order. The exit code is 0 if so, and otherwise 1.
pub type Outcome = Result<bool, Box<dyn Error>>;

/// Loads the settings of the record.
fn load(record: &RecordFlags) -> Result<Config, ConfigError> {
    Config::load(&Flags { record: record.clone(), ..Flags::default() })
}

/// Loads the settings of the catalogues.
fn load_catalogues(catalogues: &CatalogueFlags) -> Result<Config, ConfigError> {
    Config::load(&Flags { catalogues: catalogues.clone(), ..Flags::default() })
}

/// Refuses a folder without a record.
fn check_folder(config: &Config) -> Result<(), Box<dyn Error>> {
    if matches!(config.place(), RecordPlace::Embedded(_)) && !config.data.is_dir() {
        return Err(format!("{} is not the folder of a record", config.data.display()).into());
    }
    Ok(())
}

/// A station of a record that is open for reading.
struct OpenStation {
    store: Arc<dyn Reader>,
    id: StationId,
    /// The time of its newest reading.
    newest_ms: i64,
}

/// Opens a record to read it, and finds a station in it by any of its ids.
fn open_station(config: &Config, text: &str) -> Result<OpenStation, Box<dyn Error>> {
    check_folder(config)?;
    let store = Record::reader(&config.record())?;
    let directory = store.directory()?;
    let id = directory.named(text)?;
    let known = directory.get(id).ok_or_else(|| format!("no station has the id \"{text}\""))?;
    let newest_ms =
        known.update_time_ms.ok_or_else(|| format!("the station \"{text}\" has no readings"))?;
    Ok(OpenStation { store, id, newest_ms })
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
