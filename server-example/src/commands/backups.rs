//! The command `backups`.

use std::io::{self, Write};

use clap::Args;
use mesonet_service::backup::{ListedBackup, listed, prune};
use mesonet_service::clock::system_ms;
use mesonet_service::place::ObjectPlace;

use super::{Outcome, print};

/// The flags of `backups`.
#[derive(Clone, Debug, Args)]
pub struct BackupsFlags {
    /// Where the backups are: a folder, file:///… or s3://BUCKET/PREFIX
    #[arg(long, value_name = "PLACE")]
    pub from: String,

    /// Read every file of every backup and compare it with its checksum; exit with 1 if one is
    /// missing or damaged
    #[arg(long)]
    pub check: bool,

    /// Delete the backups that are older than this, in days or hours, at least 7d, and the files that
    /// no other backup has; the newest two backups stay
    #[arg(long, value_name = "SPAN", conflicts_with_all = ["check", "json"])]
    pub keep: Option<String>,

    /// Print the list as JSON
    #[arg(long)]
    pub json: bool,
}

/// Lists the backups of a place, oldest first. Returns whether all of them can be restored, as far
/// as was checked.
///
/// # Errors
/// The place cannot be read.
pub fn backups(flags: &BackupsFlags) -> Outcome {
    let place = ObjectPlace::open(&flags.from)?;
    if let Some(span) = &flags.keep {
        let pruned = prune(&place, span, system_ms())?;
        writeln!(io::stdout(), "{pruned}")?;
        return Ok(true);
    }
    let backups = listed(&place, flags.check)?;
    print(flags.json, &backups, |out| write_list(&backups, out))?;
    Ok(backups.iter().all(|backup| backup.faults.is_empty()))
}

fn write_list(backups: &[ListedBackup], out: &mut impl Write) -> io::Result<()> {
    for ListedBackup { name, time, folder, files, bytes, left_out, faults } in backups {
        let folder = folder.as_ref().map(|folder| format!(", of {folder}")).unwrap_or_default();
        writeln!(out, "{name}  {time}  {files} files in {bytes} bytes{folder}")?;
        for left_out in left_out {
            writeln!(out, "  left out: {left_out}")?;
        }
        for fault in faults {
            writeln!(out, "  fault: {fault}")?;
        }
    }
    if backups.is_empty() {
        writeln!(out, "no backup")?;
    }
    Ok(())
}
