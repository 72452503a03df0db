//! The command `retention`.

use std::error::Error;
use std::fmt;
use std::io::Write as _;
use std::sync::Arc;

use crate::config::{Config, Flags, KeepFlags, RecordFlags};
use clap::Args;
use mesonet::store::{AlertRecord, AlertStore, EmbeddedReader, StoreError};
use mesonet::time::{DAY_MS, parse_instant};
use mesonet::{EmbeddedStore, Iso8601, Reader};
use mesonet_service::archive::{Archive, ArchiveCoverage, name_of};
use mesonet_service::clock::system_ms;
use mesonet_service::record::{ClickHouseAddress, Record, RecordPlace, would_expire};
use mesonet_service::retention::newest_ms;
use serde::Serialize;

use super::{Outcome, check_folder, print};

/// Maximum number of days by which the command moves the cutoff at once.
const MOST_DAYS: i64 = 31;

/// Returns the instant before which readings and alerts are deleted; `None` if nothing is deleted.
fn wanted_ms(kept_ms: i64, newest_ms: Option<i64>) -> Option<i64> {
    Some(system_ms().min(newest_ms?).saturating_sub(kept_ms))
}

/// Returns the time of the newest reading that counts, or of the newest alert of a record without readings.
fn newest_of(record: &dyn Reader, alerts: &AlertRecord) -> Result<Option<i64>, StoreError> {
    let newest_alert = || alerts.messages.last().map(|message| message.sent_ms);
    Ok(newest_ms(record)?.or_else(newest_alert))
}

/// If there is an archive, moves a cutoff back to where the archive ends, so that it has everything
/// that is deleted. Also returns what the archive lacks.
fn archived(
    config: &Config,
    record: &dyn Reader,
    cutoff_ms: Option<i64>,
) -> Result<(Option<i64>, Option<String>), Box<dyn Error>> {
    let (Some(cutoff_ms), Some(address)) = (cutoff_ms, &config.archive) else {
        return Ok((cutoff_ms, None));
    };
    let name = name_of(&config.record().place)?;
    let ArchiveCoverage { until_ms, lack } =
        Arc::new(Archive::new(address)).covered(&name, record, cutoff_ms)?;
    let lack = lack.map(|lack| format!("the archive {address}: {lack}"));
    // A cutoff before everything that the record holds deletes nothing.
    let held_ms = record.held_from_ms()?;
    Ok((Some(until_ms.max(held_ms)).filter(|&until_ms| until_ms > i64::MIN), lack))
}

/// The flags of `retention`.
#[derive(Clone, Debug, Args)]
pub struct RetentionFlags {
    /// How long readings and alerts are kept, in days or hours, for example 400d; required, here, in
    /// the environment or in the configuration file, except with --show and --set-cutoff
    #[arg(long, env = "MESONET_RETENTION", value_name = "SPAN", help_heading = "Record")]
    pub retention: Option<String>,

    /// Where the archive of the record is, if there is one: only what is in it is deleted
    #[arg(long, env = "MESONET_ARCHIVE", value_name = "PLACE", help_heading = "Record")]
    pub archive: Option<String>,

    /// Only print what would be deleted; nothing is written
    #[arg(long, conflicts_with_all = ["show", "set_cutoff"])]
    pub dry_run: bool,

    /// Print the cutoff: what is older than it is deleted, and refused when it comes in
    #[arg(long, conflicts_with = "set_cutoff")]
    pub show: bool,

    /// Move the cutoff, forward or back: an RFC 3339 instant, or "none" to keep everything. Nothing is deleted by
    /// this command; a server deletes what is older
    #[arg(long, value_name = "TIME", value_parser = cutoff_of_text)]
    pub set_cutoff: Option<i64>,

    /// Print the summary as JSON
    #[arg(long)]
    pub json: bool,

    #[command(flatten)]
    pub record: RecordFlags,
}

/// What is, or would be, deleted.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct RetentionSummary {
    dry_run: bool,
    /// Time of the newest reading.
    newest: Option<Iso8601>,
    /// Everything older is deleted. `None` if there is no reading: nothing is deleted.
    cutoff: Option<Iso8601>,
    readings: u64,
    /// The units that are deleted as a whole.
    #[serde(flatten)]
    whole: Whole,
    alerts: usize,
    /// Why the cutoff is earlier than the kept span requires.
    #[serde(skip_serializing_if = "Option::is_none")]
    archive_lacks: Option<String>,
}

/// The units of a record that are deleted as a whole, and their number: segments on disk, days in
/// ClickHouse.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
enum Whole {
    Segments(usize),
    Days(usize),
}

impl fmt::Display for Whole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Segments(count) => write!(f, "{count} segments"),
            Self::Days(count) => write!(f, "{count} days"),
        }
    }
}

impl fmt::Display for RetentionSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { dry_run, newest, cutoff, readings, whole, alerts, archive_lacks } = self;
        if let Some(lack) = archive_lacks {
            writeln!(f, "{lack}; retention waits there for mesonet-server archive")?;
        }
        let (Some(newest), Some(cutoff)) = (newest, cutoff) else {
            let why = if archive_lacks.is_none() { "there are no readings: " } else { "" };
            return writeln!(f, "{why}nothing is deleted");
        };
        let goes = if *dry_run { "would be deleted" } else { "was deleted" };
        writeln!(f, "the newest reading is from {newest}")?;
        writeln!(f, "what is older than {cutoff} {goes}:")?;
        writeln!(f, "  {readings} readings, {whole} as a whole")?;
        writeln!(f, "  {alerts} alerts")?;
        if *readings > 0 && matches!(whole, Whole::Segments(_)) {
            writeln!(
                f,
                "readings that lie beside later ones leave the disk when these are sealed or merged"
            )?;
        }
        Ok(())
    }
}

/// The cutoff of a record.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct CutoffReport {
    /// Readings before the cutoff are deleted and refused. `None` if there is no cutoff.
    cutoff: Option<Iso8601>,
    /// Time of the newest reading that counts.
    newest: Option<Iso8601>,
}

impl fmt::Display for CutoffReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { cutoff, newest } = self;
        match cutoff {
            Some(cutoff) => writeln!(f, "the cutoff of retention is {cutoff}")?,
            None => writeln!(f, "there is no cutoff of retention: everything is kept")?,
        }
        match newest {
            Some(newest) => writeln!(f, "the newest reading is from {newest}"),
            None => writeln!(f, "there are no readings"),
        }
    }
}

fn cutoff_of_text(text: &str) -> Result<i64, String> {
    if text == "none" {
        return Ok(i64::MIN);
    }
    parse_instant(text).map_err(|error| format!("it must be \"none\" or an instant: {error}"))
}

/// Prints the cutoff, and moves it first if asked to.
fn cutoff(config: &Config, moved_to_ms: Option<i64>) -> Result<CutoffReport, Box<dyn Error>> {
    if let Some(at_ms) = moved_to_ms {
        check_folder(config)?;
        let record = Record::open_for_command(&config.record())?;
        record.move_cutoff(at_ms)?;
        record.close();
    }
    let shown = |record: &dyn Reader| {
        let held_ms = Some(record.held_from_ms()?).filter(|&held_ms| held_ms > i64::MIN);
        let newest_ms = newest_ms(record)?;
        Ok(CutoffReport { cutoff: held_ms.map(Iso8601), newest: newest_ms.map(Iso8601) })
    };
    match config.record().place {
        // A server may be writing to the record.
        RecordPlace::Embedded(folder) => shown(&EmbeddedReader::open(&folder)?),
        RecordPlace::ClickHouse(_) => shown(Record::beside(&config.record())?.reader()),
    }
}

/// Refuses to move the cutoff by many days at once: the clock may be wrong.
fn check_step(from_ms: i64, to_ms: Option<i64>) -> Result<(), Box<dyn Error>> {
    match to_ms {
        Some(to_ms) if from_ms > i64::MIN && to_ms.saturating_sub(from_ms) > MOST_DAYS * DAY_MS => {
            let to = Iso8601(to_ms);
            Err(format!(
                "the cutoff would move from {} to {to}, and this command moves it by {MOST_DAYS} days at once at most. \
                 If the clock and the newest reading are right, move it with --set-cutoff {to}",
                Iso8601(from_ms)
            )
            .into())
        }
        _ => Ok(()),
    }
}

/// Deletes what is too old by the clock of the machine, prints what would be deleted, or shows or
/// moves the cutoff.
///
/// # Errors
/// A setting is invalid, there is no record, another process has it open, or the cutoff would move
/// too far.
pub fn retention(flags: &RetentionFlags) -> Outcome {
    let RetentionFlags { retention, archive, dry_run, json, record, show, set_cutoff } = flags;
    let keep = KeepFlags { retention: retention.clone(), archive: archive.clone() };
    let config = Config::load(&Flags { record: record.clone(), keep, ..Flags::default() })?;
    if *show || set_cutoff.is_some() {
        let cutoff = cutoff(&config, *set_cutoff)?;
        print(*json, &cutoff, |out| write!(out, "{cutoff}"))?;
        return Ok(true);
    }
    let kept_ms = config
        .retention_ms()
        .ok_or("retention is required: how long readings are kept, for example --retention 400d")?;
    let summary = match config.record().place {
        RecordPlace::Embedded(_) => expire_on_disk(&config, kept_ms, *dry_run)?,
        RecordPlace::ClickHouse(address) => {
            expire_in_clickhouse(&config, &address, kept_ms, *dry_run)?
        }
    };
    print(*json, &summary, |out| write!(out, "{summary}"))?;
    Ok(true)
}

/// ClickHouse deletes whole days. Rows are the readings with all their versions, and the present
/// weather of reports.
fn expire_in_clickhouse(
    config: &Config,
    address: &ClickHouseAddress,
    kept_ms: i64,
    dry_run: bool,
) -> Result<RetentionSummary, Box<dyn Error>> {
    let beside = Record::beside(&config.record())?;
    let alerts = beside.alerts().record();
    let newest_ms = newest_of(beside.reader(), &alerts)?;
    let cutoff_ms = wanted_ms(kept_ms, newest_ms);
    let (cutoff_ms, archive_lacks) = archived(config, beside.reader(), cutoff_ms)?;
    check_step(beside.reader().held_from_ms()?, cutoff_ms)?;
    let would = cutoff_ms
        .map(|cutoff_ms| would_expire(address, &config.record(), cutoff_ms))
        .transpose()?;
    let (readings, days) = would.unwrap_or_default();
    let mut summary = RetentionSummary {
        dry_run,
        newest: newest_ms.map(Iso8601),
        cutoff: cutoff_ms.map(Iso8601),
        readings,
        whole: Whole::Days(days),
        alerts: cutoff_ms.map_or(0, |cutoff_ms| alerts.past(cutoff_ms)),
        archive_lacks,
    };
    if let Some(cutoff_ms) = cutoff_ms.filter(|_| !dry_run) {
        let record = Record::open_for_command(&config.record())?;
        record.note_cutoff(cutoff_ms, kept_ms)?;
        let done = record.maintain(Some(cutoff_ms))?;
        summary.readings = done.expired_readings;
        summary.whole = Whole::Days(done.expired_segments);
        summary.alerts = record.alerts().expire(cutoff_ms)?;
        record.close();
    }
    Ok(summary)
}

fn expire_on_disk(
    config: &Config,
    kept_ms: i64,
    dry_run: bool,
) -> Result<RetentionSummary, Box<dyn Error>> {
    check_folder(config)?;
    let survey = EmbeddedStore::survey(&config.data)?;
    let (alerts, _) = AlertStore::read(&config.data)?;
    let reader = EmbeddedReader::open(&config.data)?;
    let newest_ms = newest_of(&reader, &alerts)?;
    let (cutoff_ms, archive_lacks) = archived(config, &reader, wanted_ms(kept_ms, newest_ms))?;
    check_step(reader.held_from_ms()?, cutoff_ms)?;
    drop(reader);
    let would_go = cutoff_ms.map(|cutoff_ms| survey.before(cutoff_ms)).unwrap_or_default();
    let mut summary = RetentionSummary {
        dry_run,
        newest: newest_ms.map(Iso8601),
        cutoff: cutoff_ms.map(Iso8601),
        readings: would_go.readings,
        whole: Whole::Segments(would_go.segments),
        alerts: cutoff_ms.map_or(0, |cutoff_ms| alerts.past(cutoff_ms)),
        archive_lacks,
    };
    // Done before the folder is opened, because an open folder keeps writers out.
    drop(survey);
    if let Some(cutoff_ms) = cutoff_ms.filter(|_| !dry_run) {
        let record = Record::open(&config.record())?;
        record.note_cutoff(cutoff_ms, kept_ms)?;
        summary.whole = Whole::Segments(record.maintain(Some(cutoff_ms))?.expired_segments);
        summary.alerts = record.alerts().expire(cutoff_ms)?;
    }
    Ok(summary)
}
