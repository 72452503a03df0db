//! The command `backup`.

use crate::config::RecordFlags;
use clap::Args;
use mesonet_service::backup::{BackupError, BackupOptions, LOST, make};

use super::{Outcome, load, print};

/// The flags of `backup`.
#[derive(Clone, Debug, Args)]
pub struct BackupFlags {
    /// Where the backups of this record are: a folder, file:///… or s3://BUCKET/PREFIX
    #[arg(long, value_name = "PLACE")]
    pub to: String,

    /// Take over the place from another record: backups of that record are refused from now on
    #[arg(long)]
    pub take_over: bool,

    /// Back up a record although readings are lost and not given up (mesonet-server verify names
    /// them): the backup does not have them. The newest backup that has lost nothing is never deleted
    #[arg(long)]
    pub without_lost: bool,

    /// Print the summary as JSON
    #[arg(long)]
    pub json: bool,

    #[command(flatten)]
    pub record: RecordFlags,
}

/// Backs up a record, which a server may have open. Returns whether all of it is in the backup.
///
/// # Errors
/// There is no record, the record is damaged, or the place has another record or cannot be written.
pub fn backup(flags: &BackupFlags) -> Outcome {
    let BackupFlags { to, take_over, without_lost, json, record } = flags;
    let config = load(record)?;
    config.on_disk(
        "backup",
        "back that database up with ClickHouse, and the folder of products, model \
         runs and keys as files",
    )?;
    if !config.data.is_dir() {
        return Err(BackupError::NoRecord(config.data).into());
    }
    let options = BackupOptions { takes_over: *take_over, without_lost: *without_lost };
    let summary = make(&config.data, to, options)?;
    print(*json, &summary, |out| summary.print(out))?;
    // Lost readings were left out by the operator's order.
    Ok(summary.left_out.iter().all(|left_out| left_out.starts_with(LOST)))
}
