//! How far back the record is kept, and the command `retention`.
//!
//! What is deleted is gone for good, so no clock is trusted alone. Ages are counted from the newest
//! reading, or from the clock if that is earlier: a clock that jumps ahead deletes nothing, a
//! record that is not fed for a while stays as it is, and a report from the future, which may be a
//! day ahead of the clock, deletes nothing either. The clock of a replay is ignored.

use std::fmt;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use mesonet::store::{AlertRecord, AlertStore, EmbeddedReader, Maintained, StoreError};
use mesonet::time::DAY_MS;
use mesonet::{EmbeddedStore, Iso8601, Reader};
use serde::Serialize;

use crate::archive::{Archive, Covered, name_of, whole_months};
use crate::backup::BackupError;
use crate::clock::system_ms;
use crate::config::{Config, ConfigError, Flags, KeepFlags, RecordFlags};
use crate::record::{ClickHouseAddress, Record, RecordPlace, would_expire};
use crate::state::State;

/// How long a record may go without readings before the log explains how ages are counted.
const IDLE_MS: i64 = DAY_MS;

/// Returns the instant before which readings and alerts are deleted; `None` if nothing is.
///
/// `live_ms` is the time of a live clock, `None` in a replay; `newest_ms` is the time of the newest
/// reading, or of the newest alert of a record without readings.
fn cutoff_ms(kept_ms: i64, live_ms: Option<i64>, newest_ms: Option<i64>) -> Option<i64> {
    Some(live_ms?.min(newest_ms?).saturating_sub(kept_ms))
}

/// Returns the time of the newest reading, or of the newest alert of a record without readings.
fn newest_ms(reading_ms: Option<i64>, alerts: &AlertRecord) -> Option<i64> {
    reading_ms.or_else(|| alerts.messages.last().map(|message| message.sent_ms))
}

/// The cutoff that the setting of a running server asks for. With an archive whole months go.
fn asked_ms(state: &State, record: &Record) -> Option<i64> {
    let live_ms = state.clock.is_live().then(|| state.clock.now_ms());
    let newest_ms = newest_ms(record.health().newest_ms, &record.alerts().record());
    let cutoff_ms = cutoff_ms(state.config().retention_ms()?, live_ms, newest_ms)?;
    let has_archive = state.services.archive.is_some();
    Some(if has_archive { whole_months(cutoff_ms) } else { cutoff_ms })
}

/// The cutoff of a running server. With an archive what would go is compared with it, which may take long.
pub fn cutoff_of(state: &State, record: &Record) -> Option<i64> {
    let cutoff_ms = asked_ms(state, record)?;
    let Some(archive) = &state.services.archive else { return Some(cutoff_ms) };
    match name_of(&state.config().place()) {
        Ok(name) => archive.known_cutoff_ms(&name, &*record.store(), cutoff_ms),
        Err(error) => {
            tracing::warn!("{error}; nothing is deleted until it can be read");
            None
        }
    }
}

/// Moves a cutoff back to where the archive ends, if there is one: what is deleted is in it. Also returns what
/// the archive lacks.
fn archived(
    config: &Config,
    record: &dyn Reader,
    cutoff_ms: Option<i64>,
) -> Result<(Option<i64>, Option<String>), RetentionError> {
    let (Some(cutoff_ms), Some(address)) = (cutoff_ms, &config.archive) else {
        return Ok((cutoff_ms, None));
    };
    let name = name_of(&config.place())?;
    let Covered { until_ms, lack } =
        Arc::new(Archive::new(address)).covered(&name, record, cutoff_ms)?;
    let lack = lack.map(|lack| format!("the archive {address}: {lack}"));
    // Before all that is held nothing is deleted.
    Ok((Some(until_ms).filter(|&until_ms| until_ms > i64::MIN), lack))
}

/// Logs at the start what the setting will do.
pub fn announce(state: &State, record: &Record) {
    let config = state.config();
    let Some(span) = &config.retention else { return };
    if !state.clock.is_live() {
        tracing::warn!("retention {span} does nothing: in a replay, nothing is too old");
    } else if let Some(cutoff_ms) = asked_ms(state, record) {
        let once = config.archive.as_ref().map_or("", |_| ", once it is in the archive");
        tracing::info!(
            "retention {span}: from now on, what is older than {} is deleted{once}",
            Iso8601(cutoff_ms)
        );
        let newest_ms = record.health().newest_ms;
        if let Some(newest_ms) = newest_ms
            && newest_ms.saturating_add(IDLE_MS) < state.clock.now_ms()
        {
            tracing::warn!(
                "the newest reading is from {}, more than a day before the current time: ages are \
                 counted from that reading",
                Iso8601(newest_ms)
            );
        }
    }
}

/// Logs what was deleted.
pub fn report(record: &Record, cutoff_ms: i64, done: &Maintained, alerts: usize) {
    if done.expired_segments > 0 || alerts > 0 {
        tracing::info!(
            "deleted what was older than {}: {} {} with {} readings, {alerts} alerts",
            Iso8601(cutoff_ms),
            done.expired_segments,
            record.expires_by(),
            done.expired_readings,
        );
    }
}

/// The flags of `retention`.
#[derive(Clone, Debug, Args)]
pub struct RetentionFlags {
    /// How long readings and alerts are kept, in days or hours, for example 400d; required, here, in
    /// the environment or in the configuration file
    #[arg(long, env = "MESONET_RETENTION", value_name = "SPAN", help_heading = "Record")]
    pub retention: Option<String>,

    /// Where the archive of the record is, if there is one: only what is in it is deleted
    #[arg(long, env = "MESONET_ARCHIVE", value_name = "PLACE", help_heading = "Record")]
    pub archive: Option<String>,

    /// Only say what would be deleted; nothing is written
    #[arg(long)]
    pub dry_run: bool,

    /// Print the summary as JSON
    #[arg(long)]
    pub json: bool,

    #[command(flatten)]
    #[allow(missing_docs, reason = "the type describes it")]
    pub record: RecordFlags,
}

/// Why the command failed.
#[derive(Debug, thiserror::Error)]
pub enum RetentionError {
    /// A setting is invalid.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// No span was given.
    #[error("retention is required: how long readings are kept, for example --retention 400d")]
    NoSpan,
    /// There is no record.
    #[error("{} is not the folder of a record", .0.display())]
    NoRecord(PathBuf),
    /// The record cannot be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The name by which the archive knows the record cannot be read.
    #[error(transparent)]
    Name(#[from] BackupError),
    /// The result cannot be written.
    #[error("cannot write the result: {0}")]
    Io(#[from] io::Error),
}

/// What is, or would be, deleted.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Summary {
    dry_run: bool,
    /// Time of the newest reading.
    newest: Option<Iso8601>,
    /// What is older is deleted; nothing is if there is no reading.
    cutoff: Option<Iso8601>,
    readings: u64,
    /// What goes as a whole.
    #[serde(flatten)]
    whole: Whole,
    alerts: usize,
    /// Why the cutoff is earlier than the span that is kept asks for.
    #[serde(skip_serializing_if = "Option::is_none")]
    archive_lacks: Option<String>,
}

/// What of a record goes as a whole, and how many: segments on disk, days in ClickHouse.
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

impl fmt::Display for Summary {
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
        writeln!(f, "  {alerts} alerts")
    }
}

/// Deletes what is too old by the clock of the machine, or says what would be deleted.
///
/// # Errors
/// A setting is invalid, there is no record, or it is open elsewhere.
pub fn retention_command(flags: &RetentionFlags) -> Result<(), RetentionError> {
    let RetentionFlags { retention, archive, dry_run, json, record } = flags;
    let keep = KeepFlags { retention: retention.clone(), archive: archive.clone() };
    let record = record.clone();
    let config = Config::load(&Flags { record, keep, ..Flags::default() })?;
    let kept_ms = config.retention_ms().ok_or(RetentionError::NoSpan)?;
    let summary = match config.place() {
        RecordPlace::Embedded(_) => expire_on_disk(&config, kept_ms, *dry_run)?,
        RecordPlace::ClickHouse(address) => {
            expire_in_clickhouse(&config, &address, kept_ms, *dry_run)?
        }
    };
    let mut out = io::stdout().lock();
    if *json {
        serde_json::to_writer(&mut out, &summary).map_err(io::Error::from)?;
        writeln!(out)?;
    } else {
        write!(out, "{summary}")?;
    }
    Ok(())
}

/// What is deleted in ClickHouse goes by whole days; rows are the readings with all their versions, and
/// the present weather of reports.
fn expire_in_clickhouse(
    config: &Config,
    address: &ClickHouseAddress,
    kept_ms: i64,
    dry_run: bool,
) -> Result<Summary, RetentionError> {
    let beside = Record::beside(config)?;
    let alerts = beside.alerts().record();
    let newest_ms = newest_ms(beside.health().newest_ms, &alerts);
    let cutoff_ms = cutoff_ms(kept_ms, Some(system_ms()), newest_ms);
    let (cutoff_ms, archive_lacks) = archived(config, beside.reader(), cutoff_ms)?;
    let would = cutoff_ms.map(|cutoff_ms| would_expire(address, config, cutoff_ms)).transpose()?;
    let (readings, days) = would.unwrap_or_default();
    let mut summary = Summary {
        dry_run,
        newest: newest_ms.map(Iso8601),
        cutoff: cutoff_ms.map(Iso8601),
        readings,
        whole: Whole::Days(days),
        alerts: cutoff_ms.map_or(0, |cutoff_ms| alerts.past(cutoff_ms)),
        archive_lacks,
    };
    if let Some(cutoff_ms) = cutoff_ms.filter(|_| !dry_run) {
        let record = Record::open_for_command(config)?;
        let done = record.maintain(Some(cutoff_ms))?;
        summary.readings = done.expired_readings;
        summary.whole = Whole::Days(done.expired_segments);
        summary.alerts = record.alerts().expire(cutoff_ms)?;
        record.close();
    }
    Ok(summary)
}

fn expire_on_disk(config: &Config, kept_ms: i64, dry_run: bool) -> Result<Summary, RetentionError> {
    if !config.data.is_dir() {
        return Err(RetentionError::NoRecord(config.data.clone()));
    }
    let survey = EmbeddedStore::survey(&config.data)?;
    let (alerts, _) = AlertStore::read(&config.data)?;
    let newest_ms = newest_ms(survey.newest_ms(), &alerts);
    let cutoff_ms = cutoff_ms(kept_ms, Some(system_ms()), newest_ms);
    let (cutoff_ms, archive_lacks) = match &config.archive {
        Some(_) => archived(config, &EmbeddedReader::open(&config.data)?, cutoff_ms)?,
        None => (cutoff_ms, None),
    };
    let would_go = cutoff_ms.map(|cutoff_ms| survey.before(cutoff_ms)).unwrap_or_default();
    let mut summary = Summary {
        dry_run,
        newest: newest_ms.map(Iso8601),
        cutoff: cutoff_ms.map(Iso8601),
        readings: would_go.readings,
        whole: Whole::Segments(would_go.segments),
        alerts: cutoff_ms.map_or(0, |cutoff_ms| alerts.past(cutoff_ms)),
        archive_lacks,
    };
    // Done before the folder is opened, which keeps writers out.
    drop(survey);
    if !dry_run && cutoff_ms.is_some() {
        let record = Record::open(config)?;
        summary.whole = Whole::Segments(record.maintain(cutoff_ms)?.expired_segments);
        summary.alerts = record.alerts().expire(cutoff_ms.unwrap_or(i64::MIN))?;
    }
    Ok(summary)
}

#[cfg(test)]
mod tests {
    use mesonet::time::parse_instant;

    use super::*;

    const KEPT_MS: i64 = 400 * DAY_MS;

    fn cutoff(live: Option<&str>, newest: Option<&str>) -> Option<String> {
        let at = |text: &str| parse_instant(text).unwrap();
        let cutoff_ms = cutoff_ms(KEPT_MS, live.map(at), newest.map(at));
        cutoff_ms.map(|cutoff_ms| Iso8601(cutoff_ms).to_string())
    }

    #[test]
    fn a_record_that_is_fed_loses_what_is_too_old() {
        let (now, newest) = ("2026-11-22T12:00:00Z", "2026-11-22T11:58:00Z");
        assert_eq!(cutoff(Some(now), Some(newest)).as_deref(), Some("2025-10-18T11:58:00Z"));
        // A clock that lags keeps more.
        let (now, newest) = ("2026-11-01T12:00:00Z", "2026-11-22T11:58:00Z");
        assert_eq!(cutoff(Some(now), Some(newest)).as_deref(), Some("2025-09-27T12:00:00Z"));
    }

    #[test]
    fn a_clock_that_jumps_ahead_and_a_record_that_is_not_fed_lose_nothing() {
        let newest = "2026-11-22T12:00:00Z";
        let kept = Some("2025-10-18T12:00:00Z");
        for now in ["2026-11-22T12:00:01Z", "2026-12-22T12:00:00Z", "2030-01-01T00:00:00Z"] {
            assert_eq!(cutoff(Some(now), Some(newest)).as_deref(), kept, "{now}");
        }
        assert_eq!(cutoff_ms(KEPT_MS, Some(i64::MAX), Some(0)), Some(-KEPT_MS));
        assert_eq!(cutoff_ms(i64::MAX, Some(i64::MIN), Some(i64::MAX)), Some(i64::MIN));
    }

    #[test]
    fn a_replay_and_an_empty_record_delete_nothing() {
        assert_eq!(cutoff(None, Some("2026-11-22T12:00:00Z")), None);
        assert_eq!(cutoff(Some("2030-01-01T00:00:00Z"), None), None);
    }
}
