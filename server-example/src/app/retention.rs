//! How far back a running server keeps its record.

use mesonet::Iso8601;
use mesonet::store::{MaintenanceReport, StoreError};
use mesonet::time::DAY_MS;
use mesonet_service::archive::{name_of, whole_months};
use mesonet_service::record::Record;
use mesonet_service::retention::{ADVANCE, newest_ms};

use crate::state::State;

/// The cutoff of a running server. With an archive, only whole months are deleted. They are
/// compared with the archive first, which may take long.
pub fn cutoff_of(state: &State, record: &Record) -> Result<Option<i64>, StoreError> {
    if !state.clock.is_live() {
        return Ok(None);
    }
    let now_ms = state.clock.now_ms();
    let Some(span_ms) = state.config().retention_ms() else {
        if state.services.archive.is_none() {
            state.services.retention(record)?.take_back(record, now_ms)?;
        }
        return Ok(None);
    };
    let Some(cutoff_ms) = state.services.retention(record)?.look(record, span_ms, now_ms)? else {
        return Ok(None);
    };
    let Some(archive) = &state.services.archive else { return Ok(Some(cutoff_ms)) };
    match name_of(&state.config().place()) {
        Ok(name) => {
            let store = record.store();
            let held_ms = store.held_from_ms()?;
            let archived_ms = archive.known_cutoff_ms(&name, &*store, whole_months(cutoff_ms));
            // The archive answers for what was deleted.
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
    let Some(cutoff_ms) = state.services.retention(record)?.look(record, span_ms, now_ms)? else {
        return Ok(());
    };
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
        && newest_ms.saturating_add(DAY_MS) < now_ms
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
pub fn report(record: &Record, cutoff_ms: i64, done: &MaintenanceReport, alerts: usize) {
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
