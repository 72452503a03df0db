//! The command `copy`.

use std::path::PathBuf;

use clap::Args;
use mesonet_service::copy::CopyOptions;
use mesonet_service::record::RecordPlace;

use super::{Outcome, print};

/// The flags of `copy`.
#[derive(Clone, Debug, Args)]
pub struct CopyFlags {
    /// The record: embedded:FOLDER, which a server may have open, or clickhouse:http://HOST:PORT/DATABASE
    #[arg(long, value_name = "PLACE")]
    pub from: RecordPlace,

    /// The place of the copy: a new folder or an empty database, or an unfinished copy of the same
    /// record, which is then finished
    #[arg(long, value_name = "PLACE")]
    pub to: RecordPlace,

    /// Copy nothing; only compare the two
    #[arg(long)]
    pub check: bool,

    /// File with the password of ClickHouse [default: the environment variable CLICKHOUSE_PASSWORD]
    #[arg(long, value_name = "FILE")]
    pub store_password_file: Option<PathBuf>,

    /// Print the summary as JSON
    #[arg(long)]
    pub json: bool,
}

/// Copies a record and compares the copy with it, or only compares. Returns whether they are equal.
///
/// # Errors
/// A place cannot be opened, read or written; the record is damaged; or the other place already
/// holds something.
pub fn copy(flags: &CopyFlags) -> Outcome {
    let CopyFlags { from, to, check, store_password_file, json } = flags;
    let options = CopyOptions { check: *check, password_file: store_password_file.as_deref() };
    let copied = mesonet_service::copy::copy(from, to, options)?;
    for left in copied.left.iter().filter(|_| !json && copied.is_equal()) {
        eprintln!("not part of the record, so not copied: {left}");
    }
    print(*json, &copied.json(), |out| copied.print(out))?;
    Ok(copied.is_equal())
}
