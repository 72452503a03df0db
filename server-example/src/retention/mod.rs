//! How far back the record is kept, and the command `retention`.
//!
//! What is deleted is gone for good, so no clock is trusted alone: see [`cutoff`]. The clock of a replay is
//! ignored.

mod command;
mod cutoff;

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use mesonet::Iso8601;
use mesonet::store::{Maintained, StoreError};
use mesonet::time::{DAY_MS, HOUR_MS};

pub use self::command::{RetentionError, RetentionFlags, retention_command};
pub use self::cutoff::{ADVANCE, is_too_late};
use self::cutoff::{Cutoff, Known, newest_ms, oldest_ms};
use crate::archive::{name_of, whole_months};
use crate::record::Record;
use crate::state::State;

/// How often at most the cutoff is noted while it moves forward.
const NOTED_EVERY_MS: i64 = HOUR_MS;

/// How long a record may go without readings before the log explains how ages are counted.
const IDLE_MS: i64 = DAY_MS;

/// What a record knows of its retention while a server runs.
#[derive(Debug)]
pub struct Retention(Mutex<Inner>);

#[derive(Debug)]
struct Inner {
    started: Instant,
    cutoff: Cutoff,
    /// How long readings were kept when the cutoff was moved last.
    span_ms: Option<i64>,
    /// The cutoff that is noted in the record.
    noted_ms: Option<i64>,
}

impl Retention {
    /// What is noted in a record.
    ///
    /// # Errors
    /// The record cannot be read.
    pub fn of(record: &Record) -> Result<Self, StoreError> {
        let noted = record.noted_cutoff()?;
        let held_ms = Some(record.store().held_from_ms()?).filter(|&held_ms| held_ms > i64::MIN);
        let at_ms = noted.map(|(at_ms, _)| at_ms).or(held_ms);
        let began_empty = record.store().directory()?.stations.is_empty();
        Ok(Self(Mutex::new(Inner {
            started: Instant::now(),
            cutoff: Cutoff::of_record(at_ms, began_empty),
            span_ms: noted.map(|(_, span_ms)| span_ms),
            noted_ms: at_ms,
        })))
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Looks where the cutoff is, and notes it.
    fn look(&self, record: &Record, span_ms: i64, now_ms: i64) -> Result<Option<i64>, StoreError> {
        let store = record.store();
        let mut inner = self.inner();
        let (newest_ms, oldest_ms) = (newest_ms(&*store)?, oldest_ms(&*store)?);
        // A record may have alerts only.
        let newest_ms = newest_ms.or_else(|| record.newest_alert_ms());
        let ran = inner.started.elapsed();
        let before_ms = inner.cutoff.at_ms;
        let at_ms = inner.cutoff.look(&Known { span_ms, now_ms, ran, newest_ms, oldest_ms });
        if let (Some(before_ms), Some(at_ms)) = (before_ms, at_ms)
            && at_ms < before_ms
        {
            log_taken_back(before_ms, at_ms, now_ms);
        }
        let is_due = match (at_ms, inner.noted_ms) {
            (Some(at_ms), Some(noted_ms)) => at_ms < noted_ms || at_ms - noted_ms >= NOTED_EVERY_MS,
            (at_ms, noted_ms) => at_ms != noted_ms,
        };
        if let Some(at_ms) = at_ms.filter(|_| is_due || inner.span_ms != Some(span_ms)) {
            record.note_cutoff(at_ms, span_ms)?;
            (inner.noted_ms, inner.span_ms) = (Some(at_ms), Some(span_ms));
        }
        Ok(at_ms)
    }

    /// Takes the cutoff back if it is later than the clock allows, so that no reading of today is refused for
    /// its age. Cheap if it is not.
    ///
    /// # Errors
    /// The record cannot be read or written.
    pub fn take_back(&self, record: &Record, now_ms: i64) -> Result<(), StoreError> {
        let held_ms = record.store().held_from_ms()?;
        let mut inner = self.inner();
        // A cutoff that nothing is noted of is from an earlier version. What is later than the present is wrong
        // for every span.
        let span_ms = inner.span_ms.unwrap_or(0);
        if held_ms == i64::MIN || !is_too_late(held_ms, span_ms, now_ms) {
            return Ok(());
        }
        let at_ms = if inner.span_ms.is_some() { now_ms.saturating_sub(span_ms) } else { i64::MIN };
        record.retain_from(at_ms)?;
        log_taken_back(held_ms, at_ms, now_ms);
        inner.cutoff.at_ms = Some(at_ms).filter(|&at_ms| at_ms > i64::MIN);
        if inner.span_ms.is_some() {
            record.note_cutoff(at_ms, span_ms)?;
            inner.noted_ms = Some(at_ms);
        }
        Ok(())
    }
}

fn log_taken_back(before_ms: i64, at_ms: i64, now_ms: i64) {
    let to = match at_ms {
        i64::MIN => "the beginning".to_owned(),
        at_ms => Iso8601(at_ms).to_string(),
    };
    tracing::warn!(
        "the cutoff of retention was {}, which is too late by the clock ({}): it went back to {to}",
        Iso8601(before_ms),
        Iso8601(now_ms)
    );
}

/// The cutoff of a running server. With an archive whole months go, and what would go is compared with it, which
/// may take long.
pub fn cutoff_of(state: &State, record: &Record) -> Result<Option<i64>, StoreError> {
    if !state.clock.is_live() {
        return Ok(None);
    }
    let now_ms = state.clock.now_ms();
    let Some(span_ms) = state.config().retention_ms() else {
        if state.services.archive.is_none() {
            record.retention()?.take_back(record, now_ms)?;
        }
        return Ok(None);
    };
    let Some(cutoff_ms) = record.retention()?.look(record, span_ms, now_ms)? else {
        return Ok(None);
    };
    let Some(archive) = &state.services.archive else { return Ok(Some(cutoff_ms)) };
    match name_of(&state.config().place()) {
        Ok(name) => {
            let store = record.store();
            let held_ms = store.held_from_ms()?;
            let archived_ms = archive.known_cutoff_ms(&name, &*store, whole_months(cutoff_ms));
            // What was deleted is answered from the archive.
            Ok(archived_ms.map(|archived_ms| archived_ms.max(held_ms)))
        }
        Err(error) => {
            tracing::warn!("{error}; nothing is deleted until it can be read");
            Ok(None)
        }
    }
}

/// Logs at the start what the setting will do.
///
/// # Errors
/// The record cannot be read.
pub fn announce(state: &State, record: &Record) -> Result<(), StoreError> {
    let config = state.config();
    let (Some(span), Some(span_ms)) = (&config.retention, config.retention_ms()) else {
        return Ok(());
    };
    let now_ms = state.clock.now_ms();
    if !state.clock.is_live() {
        tracing::warn!("retention {span} does nothing: in a replay, nothing is too old");
        return Ok(());
    }
    let Some(cutoff_ms) = record.retention()?.look(record, span_ms, now_ms)? else { return Ok(()) };
    let (cutoff_ms, once) = match &config.archive {
        Some(_) => (whole_months(cutoff_ms), ", once it is in the archive"),
        None => (cutoff_ms, ""),
    };
    tracing::info!(
        "retention {span}: from now on, what is older than {} is deleted{once}",
        Iso8601(cutoff_ms)
    );
    let newest_ms = newest_ms(&*record.store())?;
    if let Some(newest_ms) = newest_ms
        && newest_ms.saturating_add(IDLE_MS) < now_ms
    {
        tracing::warn!(
            "the newest reading is from {}, more than a day before the current time: ages are \
             counted from that reading",
            Iso8601(newest_ms)
        );
    }
    let wanted_ms = newest_ms.map(|newest_ms| newest_ms.min(now_ms).saturating_sub(span_ms));
    if let Some(wanted_ms) = wanted_ms.filter(|&wanted_ms| wanted_ms - cutoff_ms > DAY_MS) {
        tracing::warn!(
            "the cutoff of retention goes on to {} by {ADVANCE} days a day, so that a wrong clock deletes \
             nothing; mesonet-server retention --set-cutoff moves it at once",
            Iso8601(wanted_ms)
        );
    }
    Ok(())
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
