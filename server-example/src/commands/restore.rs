//! The command `restore`.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;
use mesonet::time::parse_instant;
use mesonet_service::backup::shown;

use super::Outcome;

/// The flags of `restore`.
#[derive(Clone, Debug, Args)]
pub struct RestoreFlags {
    /// Where the backups are: a folder, file:///… or s3://BUCKET/PREFIX
    #[arg(long, value_name = "PLACE")]
    pub from: String,

    /// Restore the newest backup of this time or before, an RFC 3339 instant [default: the newest]
    #[arg(long, value_name = "TIME", value_parser = parse_instant)]
    pub at: Option<i64>,

    /// The folder to restore into, which must not exist or be empty
    #[arg(long, value_name = "DIR")]
    pub to: PathBuf,
}

/// Restores a record into a new folder, which appears when it is whole.
///
/// # Errors
/// There is no such backup, part of it is missing or damaged, or the folder cannot be written or is
/// not empty. The folder then stays unchanged.
pub fn restore(flags: &RestoreFlags) -> Outcome {
    let RestoreFlags { from, at, to } = flags;
    let (name, manifest) = mesonet_service::backup::restore(from, *at, to)?;
    let mut out = io::stdout().lock();
    writeln!(out, "restored backup {name} of {} into {}", shown(manifest.time), to.display())?;
    writeln!(out, "{} files in {} bytes", manifest.files.len(), manifest.bytes())?;
    for left_out in &manifest.left_out {
        writeln!(out, "left out when it was made: {left_out}")?;
    }
    Ok(true)
}
