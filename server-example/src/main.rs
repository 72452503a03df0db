//! `mesonet-server`: the command line.

mod commands;
mod log;

use std::cell::Cell;
use std::io;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::parser::ValueSource;
use clap::{ArgMatches, CommandFactory, FromArgMatches, Parser, Subcommand};
use mesonet_server::{Config, Flags, RecordFlags, serve};
use mesonet_service::ingest::{KeyHash, PushKey, Scope};

/// This allocator returns the memory of large answers to the system. The system's own allocator
/// kept half of it.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Maximum number of threads for blocking work. Work on cores and files takes turns, so these
/// threads wait for disks and other machines. Each keeps some memory for itself.
const BLOCKING_THREADS: usize = 48;

/// How long such a thread lives without work. Background work wakes one thread after the other
/// several times a second, so a longer time would keep all of them forever.
const BLOCKING_KEEP_ALIVE: Duration = Duration::from_millis(500);

/// Shortest time between two times at which a thread without work gives freed memory back.
const GIVE_BACK: Duration = Duration::from_secs(1);

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
    Serve(Box<Flags>),
    /// Print the description of the service (OpenAPI 3.1)
    Openapi,
    /// Read files into the record; exit with 0 if all were read to the end, else with 1
    Ingest(commands::ingest::IngestFlags),
    /// Check every file of the record; exit with 0 if all are intact, else with 1
    Verify(commands::verify::VerifyFlags),
    /// Back up the record, which a server may have open, to a folder or an object store; exit with 0
    /// if all of it is in the backup, else with 1
    Backup(commands::backup::BackupFlags),
    /// Write the past months of the record, which a server may have open, as Parquet to a folder or an
    /// object store; exit with 0 if the archive has all of them, else with 1
    Archive(commands::archive::ArchiveFlags),
    /// List the backups of a place, and check them
    Backups(commands::backups::BackupsFlags),
    /// Restore a backup into a new folder
    Restore(commands::restore::RestoreFlags),
    /// Copy a record to another place, a folder or a ClickHouse database, and compare the two; exit with
    /// 0 if they are equal, else with 1
    Copy(commands::copy::CopyFlags),
    /// Make the tables of a record in ClickHouse, or bring them up to date
    Migrate(RecordFlags),
    /// Delete readings and alerts that are too old, or print what would be deleted
    Retention(commands::retention::RetentionFlags),
    /// Report on the quality of a station: its verdicts, and what its neighbours say about it
    Quality(commands::quality::QualityFlags),
    /// Summarise hours, days or months of a station: extremes, means, totals, wind and degree days
    Summary(commands::summary::SummaryFlags),
    /// Issue, list or revoke API keys
    #[command(subcommand)]
    Keys(commands::keys::KeysCommand),
    /// List where alerts are sent, or send a test
    #[command(subcommand)]
    Webhooks(commands::deliveries::DeliveryCommand),
    /// List the brokers that events are sent to, or send a test
    #[command(subcommand)]
    Mqtt(commands::deliveries::DeliveryCommand),
    /// Print an account token for development; servers accept it on a loopback address only
    Token(commands::token::TokenFlags),
    /// What is in GRIB2 files
    #[command(subcommand)]
    Grib(GribCommand),
    /// The catalogue of models
    #[command(subcommand, disable_help_subcommand = true)]
    Models(commands::models::ModelsCommand),
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
    Ls(commands::grib_ls::GribLsFlags),
}

fn main() -> ExitCode {
    let matches = CommandLine::command().get_matches();
    let CommandLine { command, flags } =
        CommandLine::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    let outcome = match command {
        None => run(flags, &matches),
        Some(Command::Serve(flags)) => {
            run(*flags, matches.subcommand_matches("serve").unwrap_or(&matches))
        }
        Some(Command::Openapi) => openapi(),
        Some(Command::Health(flags)) => commands::health::health(&flags),
        Some(Command::Completions { shell }) => {
            let mut command = CommandLine::command();
            clap_complete::generate(shell, &mut command, "mesonet-server", &mut io::stdout());
            Ok(true)
        }
        Some(Command::Man { folder }) => manual(folder).map(|()| true).map_err(Into::into),
        Some(Command::Ingest(flags)) => commands::ingest::ingest(&flags),
        Some(Command::Verify(flags)) => commands::verify::verify(&flags),
        Some(Command::Backup(flags)) => commands::backup::backup(&flags),
        Some(Command::Archive(flags)) => commands::archive::archive(&flags),
        Some(Command::Backups(flags)) => commands::backups::backups(&flags),
        Some(Command::Copy(flags)) => commands::copy::copy(&flags),
        Some(Command::Restore(flags)) => commands::restore::restore(&flags),
        Some(Command::Migrate(record)) => commands::migrate::migrate(&record),
        Some(Command::Retention(flags)) => commands::retention::retention(&flags),
        Some(Command::Quality(flags)) => commands::quality::quality(&flags),
        Some(Command::Summary(flags)) => commands::summary::summary(&flags),
        Some(Command::Keys(command)) => commands::keys::keys(&command),
        Some(Command::Webhooks(command)) => commands::webhooks::webhooks(&command),
        Some(Command::Mqtt(command)) => commands::mqtt::mqtt(&command),
        Some(Command::Token(flags)) => commands::token::token(&flags),
        Some(Command::Grib(GribCommand::Ls(flags))) => commands::grib_ls::grib_ls(&flags),
        Some(Command::Models(command)) => commands::models::models(&command),
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

fn push_key(
    networks: Vec<String>,
    feeds: Vec<String>,
    alerts: bool,
) -> Result<bool, Box<dyn std::error::Error>> {
    let (key, hash) = KeyHash::fresh()?;
    let entry = format!("{}{}", hash.as_str(), Scope::new(networks, feeds, alerts));
    PushKey::parse(&entry)?;
    println!("key, shown once: {key}");
    println!("for ingest_key_hashes: {entry}");
    Ok(true)
}

/// The description under the default prefixes.
fn openapi() -> Result<bool, Box<dyn std::error::Error>> {
    let config = Config::default();
    let description = mesonet_server::description(&config.api_prefix, &config.model_prefix);
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

/// Returns where a setting was given, if by a flag or the environment.
fn given(matches: &ArgMatches, key: &str) -> Option<&'static str> {
    match matches.try_contains_id(key).ok().and_then(|_| matches.value_source(key))? {
        ValueSource::CommandLine => Some("flag"),
        ValueSource::EnvVariable => Some("environment"),
        _ => None,
    }
}

/// Names the environment variables that look like settings but are not.
fn warn_of_unknown_variables() {
    let serve = CommandLine::command();
    let known: Vec<_> = serve.get_arguments().filter_map(clap::Arg::get_env).collect();
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("MESONET_") && !known.contains(&&*name) {
            tracing::warn!("the environment variable {} is not a setting", name.display());
        }
    }
}

fn run(flags: Flags, matches: &ArgMatches) -> Result<bool, Box<dyn std::error::Error>> {
    let config = Config::load(&flags)?;
    if flags.service.print_config {
        print!("{}", config.shown(&flags, |key| given(matches, key)));
        return Ok(true);
    }
    let _guard = log::start(&config)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .max_blocking_threads(BLOCKING_THREADS)
        .thread_keep_alive(BLOCKING_KEEP_ALIVE)
        .on_thread_park(give_memory_back)
        .build()?;
    warn_of_unknown_variables();
    let served = runtime.block_on(serve(config, flags));
    // Taking files in stops between two batches. Work that does not stop is cut off, as in a crash,
    // which loses nothing that was acknowledged.
    runtime.shutdown_timeout(BACKGROUND_GRACE);
    served?;
    Ok(true)
}

/// Gives freed memory back to the system. By itself, the allocator does so when it next needs
/// memory, which is late in a server without requests: 1.7 times the earlier memory stayed for half
/// a minute.
#[allow(unsafe_code, reason = "the allocator's own function has no safe form")]
fn give_memory_back() {
    thread_local!(static LAST: Cell<Option<Instant>> = const { Cell::new(None) });
    let now = Instant::now();
    if LAST.get().is_some_and(|last| now.duration_since(last) < GIVE_BACK) {
        return;
    }
    LAST.set(Some(now));
    // SAFETY: the call has no conditions. `false` gives back only memory that has been free for a
    // while.
    unsafe { libmimalloc_sys::mi_collect(false) };
}
