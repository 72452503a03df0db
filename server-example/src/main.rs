//! `mesonet-server`: the command line.

use std::io;
use std::io::Write as _;
use std::process::ExitCode;
use std::time::Duration;

use clap::{Parser, Subcommand};
use mesonet_server::ingest::{IngestFlags, KeyHash, ingest_command};
use mesonet_server::{
    Config, Flags, GribLsFlags, KeysFlags, LogFormat, ModelsCommand, QualityFlags, RetentionFlags,
    TokenFlags, VerifyFlags, grib_ls_command, keys_command, models_command, quality_command,
    retention_command, serve, token_command, verify_command,
};
use tracing_subscriber::Layer;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

/// Returns the memory of large answers to the system; the system's own allocator kept half of it.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// How long background work may take once the server has stopped.
const BACKGROUND_GRACE: Duration = Duration::from_secs(3);

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
    Serve {
        #[command(flatten)]
        flags: Box<Flags>,
    },
    /// Print the description of the service (OpenAPI 3.1)
    Openapi,
    /// Read files into the record; exit with 0 if all were read to the end, else with 1
    Ingest {
        #[command(flatten)]
        flags: IngestFlags,
    },
    /// Check every file of the record; exit with 0 if all are intact, else with 1
    Verify {
        #[command(flatten)]
        flags: VerifyFlags,
    },
    /// Delete readings and alerts that are too old, or say what would go
    Retention {
        #[command(flatten)]
        flags: RetentionFlags,
    },
    /// Report on the quality of a station: its verdicts, and what its neighbours say about it
    Quality {
        #[command(flatten)]
        flags: QualityFlags,
    },
    /// Issue, list or revoke API keys
    Keys {
        #[command(flatten)]
        flags: KeysFlags,
    },
    /// Print an account token for development; servers accept it on a loopback address only
    Token {
        #[command(flatten)]
        flags: TokenFlags,
    },
    /// What is in GRIB2 files
    Grib {
        #[command(subcommand)]
        command: GribCommand,
    },
    /// The catalogue of models
    #[command(disable_help_subcommand = true)]
    Models {
        #[command(subcommand)]
        command: ModelsCommand,
    },
    /// Print a new key for pushing feed files, and its hash for the settings
    PushKey,
}

#[derive(Subcommand)]
enum GribCommand {
    /// List the fields, one a line; exit with 0 if all files were read to the end, else with 1
    Ls {
        #[command(flatten)]
        flags: GribLsFlags,
    },
}

fn main() -> ExitCode {
    let CommandLine { command, flags } = CommandLine::parse();
    let outcome = match command {
        None => run(&flags).map(|()| true),
        Some(Command::Serve { flags }) => run(&flags).map(|()| true),
        Some(Command::Openapi) => openapi(),
        Some(Command::Ingest { flags }) => ingest_command(&flags).map_err(Into::into),
        Some(Command::Verify { flags }) => verify_command(&flags).map_err(Into::into),
        Some(Command::Retention { flags }) => {
            retention_command(&flags).map(|()| true).map_err(Into::into)
        }
        Some(Command::Quality { flags }) => {
            quality_command(&flags).map(|()| true).map_err(Into::into)
        }
        Some(Command::Keys { flags }) => keys_command(&flags).map(|()| true).map_err(Into::into),
        Some(Command::Token { flags }) => token_command(&flags).map(|()| true).map_err(Into::into),
        Some(Command::Grib { command: GribCommand::Ls { flags } }) => grib_ls_command(&flags),
        Some(Command::Models { command }) => models_command(&command),
        Some(Command::PushKey) => push_key(),
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

fn push_key() -> Result<bool, Box<dyn std::error::Error>> {
    let (key, hash) = KeyHash::fresh()?;
    println!("key, shown once: {key}");
    println!("for ingest_key_hashes: {}", hash.as_str());
    Ok(true)
}

/// The description under the default prefixes.
fn openapi() -> Result<bool, Box<dyn std::error::Error>> {
    let config = Config::default();
    let description = mesonet_server::description(&config.api_prefix, &config.model_prefix);
    writeln!(io::stdout(), "{}", description.to_pretty_json()?)?;
    Ok(true)
}

fn run(flags: &Flags) -> Result<(), Box<dyn std::error::Error>> {
    let config = Config::load(flags)?;
    let log = tracing_subscriber::fmt::layer().with_writer(io::stderr);
    let log = match config.log_format {
        LogFormat::Text => log.boxed(),
        LogFormat::Json => log.json().flatten_event(true).boxed(),
    };
    let of_requests = if config.log_requests { LevelFilter::TRACE } else { LevelFilter::OFF };
    let targets =
        Targets::new().with_default(LevelFilter::TRACE).with_target("request", of_requests);
    let level = config.log.parse::<LevelFilter>()?;
    tracing_subscriber::registry().with(log.with_filter(targets)).with(level).init();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let served = runtime.block_on(serve(config));
    // Reading in stops between two batches. Work that does not stop is cut off, as by a crash,
    // which loses nothing that was acknowledged.
    runtime.shutdown_timeout(BACKGROUND_GRACE);
    Ok(served?)
}
