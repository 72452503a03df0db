//! The command `archive`.

use std::io::Write as _;

use crate::config::RecordFlags;
use clap::Args;
use mesonet::time::{DAY_MS, parse_instant};
use mesonet_service::archive::{ArchiveRun, FILE_READINGS, open};
use mesonet_service::clock::system_ms;
use mesonet_service::place::ObjectPlace;

use super::{Outcome, load, print};

/// The flags of `archive`.
#[derive(Clone, Debug, Args)]
pub struct ArchiveFlags {
    /// Where the archive is: a folder, file:///… or s3://BUCKET/PREFIX (with the feature s3)
    #[arg(long, value_name = "PLACE")]
    pub to: String,

    /// Only months that have ended by this time, an RFC 3339 instant [default: now]
    #[arg(long, value_name = "TIME", conflicts_with = "days")]
    pub before: Option<String>,

    /// Only months that ended at least this many days ago
    #[arg(long, value_name = "N")]
    pub days: Option<u32>,

    /// Continue the archive of another record, which this record continues
    #[arg(long)]
    pub take_over: bool,

    /// Print the summary as JSON
    #[arg(long)]
    pub json: bool,

    #[command(flatten)]
    pub record: RecordFlags,
}

/// Writes the past months of a record into an archive. Returns whether the archive has all of them,
/// complete.
///
/// # Errors
/// A setting is invalid, the record cannot be read, or the place cannot be written. Months that
/// were done stay.
pub fn archive(flags: &ArchiveFlags) -> Outcome {
    let ArchiveFlags { to, before, days, take_over, json, record } = flags;
    let before_ms = match (before, days) {
        (Some(text), _) => parse_instant(text).map_err(|_| {
            format!(
                "before is \"{text}\"; it must be an RFC 3339 instant, for example 2024-08-01T00:00:00Z"
            )
        })?,
        (None, days) => system_ms() - i64::from(days.unwrap_or(0)) * DAY_MS,
    };
    // An unfinished month would be archived as if it were complete.
    let before_ms = before_ms.min(system_ms());
    let settings = load(record)?.record();
    let (store, held_now, name) = open(&settings)?;
    let run = ArchiveRun {
        place: ObjectPlace::create(to)?,
        store: &*store,
        held_now,
        name,
        before_ms,
        take_over: *take_over,
        file_readings: FILE_READINGS,
    };
    let summary = run.run()?;
    print(*json, &summary, |out| write!(out, "{summary}"))?;
    Ok(summary.is_whole())
}
