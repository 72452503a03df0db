//! The command line: `mesonet-server`, and its commands, one file for each.

mod archive;
mod backup;
mod backups;
mod copy;
mod deliveries;
mod grib_ls;
mod health;
mod ingest;
mod keys;
mod migrate;
mod models;
mod mqtt;
mod quality;
mod restore;
mod retention;
mod serve;
mod summary;
mod token;
mod verify;
mod webhooks;

use std::error::Error;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use mesonet::{Reader, StationId};
use mesonet_service::ingest::{KeyHash, PushKey, Scope};
use mesonet_service::record::{Record, RecordPlace};
use serde::Serialize;

use crate::config::{CatalogueFlags, Config, ConfigError, Flags, RecordFlags};
use crate::routes::description;

/// The mesonet observation service. Without a command it serves.
///
/// A flag overrides its environment variable, which overrides the configuration file.
#[derive(Parser)]
#[command(name = "mesonet-server", version, args_conflicts_with_subcommands = true)]
struct CommandLine {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    flags: Flags,
}

#[derive(Subcommand)]
enum Command {
    /// Answer requests over HTTP
    Serve(Box<Flags>),
    /// Print the description of the service (OpenAPI 3.1)
    Openapi,
    /// Read files into the record; exit with 0 if all were read to the end, else with 1
    Ingest(ingest::IngestFlags),
    /// Check every file of the record; exit with 0 if all are intact, else with 1
    Verify(verify::VerifyFlags),
    /// Back up the record, which a server may have open, to a folder or an object store; exit with 0
    /// if all of it is in the backup, else with 1
    Backup(backup::BackupFlags),
    /// Write the past months of the record, which a server may have open, as Parquet to a folder or an
    /// object store; exit with 0 if the archive has all of them, else with 1
    Archive(archive::ArchiveFlags),
    /// List the backups of a place, and check them
    Backups(backups::BackupsFlags),
    /// Restore a backup into a new folder
    Restore(restore::RestoreFlags),
    /// Copy a record to another place, a folder or a ClickHouse database, and compare the two; exit with
    /// 0 if they are equal, else with 1
    Copy(copy::CopyFlags),
    /// Make the tables of a record in ClickHouse, or bring them up to date
    Migrate(RecordFlags),
    /// Delete readings and alerts that are too old, or print what would be deleted
    Retention(retention::RetentionFlags),
    /// Report on the quality of a station: its verdicts, and what its neighbours say about it
    Quality(quality::QualityFlags),
    /// Summarise hours, days or months of a station: extremes, means, totals, wind and degree days
    Summary(summary::SummaryFlags),
    /// Issue, list or revoke API keys
    #[command(subcommand)]
    Keys(keys::KeysCommand),
    /// List where alerts are sent, or send a test
    #[command(subcommand)]
    Webhooks(deliveries::DeliveryCommand),
    /// List the brokers that events are sent to, or send a test
    #[command(subcommand)]
    Mqtt(deliveries::DeliveryCommand),
    /// Print an account token for development; servers accept it on a loopback address only
    Token(token::TokenFlags),
    /// What is in GRIB2 files
    #[command(subcommand)]
    Grib(GribCommand),
    /// The catalogue of models
    #[command(subcommand, disable_help_subcommand = true)]
    Models(models::ModelsCommand),
    /// Ask the server with these settings whether it answers; exit with 0 if it does, else with 1
    Health(Box<Flags>),
    /// Print the completions of a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page, or write those of all commands into a folder
    Man {
        /// The folder, which must exist
        folder: Option<PathBuf>,
    },
    /// Print a new key for pushing feed files, and its hash for the settings
    PushKey {
        /// A network whose reports may be pushed; may be repeated. By default any
        #[arg(long = "network", value_name = "NAME")]
        networks: Vec<String>,
        /// A kind of file that may be pushed, as ingest --feed takes it, or products or models; may be repeated.
        /// By default any
        #[arg(long = "feed", value_name = "KIND")]
        feeds: Vec<String>,
        /// Let a limited key push alerts too
        #[arg(long)]
        alerts: bool,
    },
}

#[derive(Subcommand)]
enum GribCommand {
    /// List the fields, one a line; exit with 0 if all files were read to the end, else with 1
    Ls(grib_ls::GribLsFlags),
}

/// Runs the command that the process was started with. Returns its exit code.
pub fn run() -> ExitCode {
    let matches = CommandLine::command().get_matches();
    let CommandLine { command, flags } =
        CommandLine::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    let outcome = match command {
        None => serve::run(flags, &CommandLine::command(), &matches),
        Some(Command::Serve(flags)) => {
            let given = matches.subcommand_matches("serve").unwrap_or(&matches);
            serve::run(*flags, &CommandLine::command(), given)
        }
        Some(Command::Openapi) => openapi(),
        Some(Command::Health(flags)) => health::health(&flags),
        Some(Command::Completions { shell }) => {
            let mut command = CommandLine::command();
            clap_complete::generate(shell, &mut command, "mesonet-server", &mut io::stdout());
            Ok(true)
        }
        Some(Command::Man { folder }) => manual(folder).map(|()| true).map_err(Into::into),
        Some(Command::Ingest(flags)) => ingest::ingest(&flags),
        Some(Command::Verify(flags)) => verify::verify(&flags),
        Some(Command::Backup(flags)) => backup::backup(&flags),
        Some(Command::Archive(flags)) => archive::archive(&flags),
        Some(Command::Backups(flags)) => backups::backups(&flags),
        Some(Command::Copy(flags)) => copy::copy(&flags),
        Some(Command::Restore(flags)) => restore::restore(&flags),
        Some(Command::Migrate(record)) => migrate::migrate(&record),
        Some(Command::Retention(flags)) => retention::retention(&flags),
        Some(Command::Quality(flags)) => quality::quality(&flags),
        Some(Command::Summary(flags)) => summary::summary(&flags),
        Some(Command::Keys(command)) => keys::keys(&command),
        Some(Command::Webhooks(command)) => webhooks::webhooks(&command),
        Some(Command::Mqtt(command)) => mqtt::mqtt(&command),
        Some(Command::Token(flags)) => token::token(&flags),
        Some(Command::Grib(GribCommand::Ls(flags))) => grib_ls::grib_ls(&flags),
        Some(Command::Models(command)) => models::models(&command),
        Some(Command::PushKey { networks, feeds, alerts }) => push_key(networks, feeds, alerts),
    };
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn push_key(networks: Vec<String>, feeds: Vec<String>, alerts: bool) -> Outcome {
    let (key, hash) = KeyHash::fresh()?;
    let entry = format!("{}{}", hash.as_str(), Scope::new(networks, feeds, alerts));
    PushKey::parse(&entry)?;
    println!("key, shown once: {key}");
    println!("for ingest_key_hashes: {entry}");
    Ok(true)
}

/// The description under the default prefixes.
fn openapi() -> Outcome {
    let config = Config::default();
    let description = description(&config.api_prefix, &config.model_prefix);
    writeln!(io::stdout(), "{}", description.to_pretty_json()?)?;
    Ok(true)
}

fn manual(folder: Option<PathBuf>) -> io::Result<()> {
    let command = CommandLine::command();
    match folder {
        Some(folder) => clap_mangen::generate_to(command, folder),
        None => clap_mangen::Man::new(command).render(&mut io::stdout()),
    }
}

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
