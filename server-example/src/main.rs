//! `mesonet-server`: the command line.

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use mesonet_server::{Config, Flags, serve};
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

/// The mesonet observation service. Without a command it serves.
///
/// A flag beats its environment variable, and that the configuration file.
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
    /// Answers requests over HTTP
    Serve {
        #[command(flatten)]
        flags: Flags,
    },
}

fn main() -> ExitCode {
    let CommandLine { command, flags } = CommandLine::parse();
    let flags = match command {
        Some(Command::Serve { flags }) => flags,
        None => flags,
    };
    match run(&flags) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(flags: &Flags) -> Result<(), Box<dyn std::error::Error>> {
    let config = Config::load(flags)?;
    let log = tracing_subscriber::fmt::layer().with_writer(std::io::stderr);
    tracing_subscriber::registry().with(log).with(config.log.parse::<LevelFilter>()?).init();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(serve(config))?;
    Ok(())
}
