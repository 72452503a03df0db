//! What a server does beside the requests: it feeds, seals, merges, deletes, follows and looks.

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use mesonet::store::MaintenanceReport;
use mesonet::time::HOUR_MS;
use mesonet_service::record::Record;
use tokio::task::JoinSet;

use super::background::{repeat, rest};
use super::error::ServeError;
use super::key_renewal::keep_keys;
use super::model_layout::{RunQueue, upgrade};
use super::watch::Watch;
use super::{live, product_retention, retention};
use crate::sample::replay::Timeline;
use crate::state::{State, StateError};

/// The record that a server writes to, and the reports that wait for its clock.
pub type Fed = (Record, Option<Timeline>);

/// How often the server checks whether the clock has passed a report.
const TICK: Duration = Duration::from_secs(1);

/// How often the server looks at the watched folder, and whether the store needs maintenance.
pub const LOOK: Duration = Duration::from_secs(2);
const MAINTENANCE: Duration = Duration::from_secs(10);

/// How often the server looks for stations with new data: their details must be current within a
/// second.
const GLANCE: Duration = Duration::from_millis(100);

/// How long the details must stay unchanged before they are compressed thoroughly.
const SETTLED: Duration = Duration::from_secs(3);

/// Starts the work that runs beside the requests under all settings.
pub fn work_beside(beside: &mut JoinSet<()>, state: &Arc<State>, fed: Option<Fed>) {
    if let Some((record, timeline)) = fed {
        let replayed = record.clone();
        repeat(beside, state, timeline, rest, move |state, timeline| {
            advance(state, &replayed, timeline.as_mut())?;
            state.refresh_alerts()?;
            Ok::<_, ServeError>(TICK)
        });
        repeat(beside, state, record, rest, maintain);
        repeat(beside, state, RunQueue::default(), rest, upgrade);
        let stayed = product_retention::Stayed::new();
        repeat(beside, state, stayed, rest, product_retention::expire);
    }
    if state.services.follower().is_some() {
        repeat(beside, state, (), rest, |state, ()| {
            state.refresh_alerts()?;
            Ok::<_, ServeError>(TICK)
        });
        let config = state.config();
        let every =
            if config.read_only { TICK } else { Duration::from_secs(config.follow_every_s) };
        let look = move |state: &State, (): &mut ()| {
            state.follow()?;
            state.publish_batches()?;
            if let (Some(follower), Some(span_ms)) = (state.services.follower(), recent(state)) {
                follower.keep_recent(span_ms, state.config().recent_memory_bytes)?;
            }
            Ok::<_, ServeError>(every)
        };
        repeat(beside, state, (), |_| Duration::ZERO, look);
    }
    repeat(beside, state, (), rest_of_details, |state, ()| {
        state.refresh_stations()?;
        Ok::<_, ServeError>(GLANCE)
    });
    repeat(beside, state, None, rest, |state, last| {
        state.snapshots.settle(last).map_err(StateError::from)?;
        Ok::<_, ServeError>(SETTLED)
    });
    keep_keys(beside, state);
    live::publish(beside, state);
}

/// The pause after an update of the details. It is short enough to keep them current within a
/// second, and takes at least half of the time.
fn rest_of_details(took: Duration) -> Duration {
    const LONGEST: Duration = Duration::from_millis(400);
    (took * 3).min(LONGEST).max(took)
}

/// Feeds the store recorded reports as the clock passes them.
fn advance(
    state: &State,
    record: &Record,
    timeline: Option<&mut Timeline>,
) -> Result<(), ServeError> {
    if let Some(timeline) = timeline {
        let (now_ms, newest_ms) = (state.clock.now_ms(), timeline.newest_ms());
        let batch = timeline.pass(now_ms);
        if let Some(newest_ms) = newest_ms.filter(|_| !batch.reports.is_empty()) {
            let reports = batch.reports.len();
            state.services.intake.take_in(&*state.services.store, batch)?;
            record.sample_passed(newest_ms, now_ms)?;
            tracing::debug!("{reports} reports arrived, {} are waiting", timeline.waiting());
        }
    }
    Ok(())
}

/// Seals, merges and deletes what is due.
fn maintain(state: &State, record: &mut Record) -> Result<Duration, ServeError> {
    let retain_from_ms = retention::cutoff_of(state, record)?;
    let done = record.maintain(retain_from_ms)?;
    record.log_faults();
    for fault in &done.set_aside {
        tracing::error!("set aside a damaged file: {fault}");
    }
    if let Some(retain_from_ms) = retain_from_ms {
        let alerts = match record.alerts().failure() {
            Some(_) => 0,
            None => record.alerts().expire(retain_from_ms)?,
        };
        retention::report(record, retain_from_ms, &done, alerts);
    }
    if let Some(span_ms) = recent(state) {
        record.keep_recent(span_ms, state.config().recent_memory_bytes)?;
    }
    if done.sealed_readings > 0 || done.merged_segments > 0 {
        let MaintenanceReport { sealed_readings, merged_segments, .. } = done;
        tracing::info!("sealed {sealed_readings} readings, merged {merged_segments} segments");
    }
    if done.rewritten_segments > 0 {
        tracing::info!("wrote {} segments of an earlier version anew", done.rewritten_segments);
    }
    Ok(MAINTENANCE)
}

/// The span of time whose readings are in memory, from a whole hour to now.
fn recent(state: &State) -> Option<Range<i64>> {
    let hours = i64::from(state.config().recent_hours);
    let now_ms = state.clock.now_ms();
    let from_ms = (now_ms.div_euclid(HOUR_MS) - hours) * HOUR_MS;
    (hours > 0).then_some(from_ms..now_ms)
}

/// Looks at the watched folder.
pub fn look(state: &State, watch: &mut Watch) -> Result<Duration, ServeError> {
    for summary in watch.look(state)? {
        tracing::info!("watched folder: {}", summary.line());
    }
    Ok(LOOK)
}
