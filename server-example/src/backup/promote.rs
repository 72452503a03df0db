//! The command `promote`.

use std::io::{self, Write};

use clap::Args;

use super::BackupError;
use super::manifest::shown;
use super::mirror::promote;
use crate::config::{Config, Flags, RecordFlags};

/// The flags of `promote`.
#[derive(Clone, Debug, Args)]
pub struct PromoteFlags {
    #[command(flatten)]
    #[allow(missing_docs, reason = "the type describes it")]
    pub record: RecordFlags,
}

/// Makes the folder of a follower that has stopped a record of its own, which a server can write to.
///
/// # Errors
/// The folder is not that of a follower, or a process has it open.
pub fn promote_command(flags: &PromoteFlags) -> Result<bool, BackupError> {
    let config = Config::load(&Flags { record: flags.record.clone(), ..Flags::default() })?;
    let time_ms = promote(&config.data)?;
    let mut out = io::stdout().lock();
    writeln!(
        out,
        "{} is a record of its own now, as of {}",
        config.data.display(),
        shown(time_ms)
    )?;
    Ok(true)
}
