//! How far back the record is kept.
//!
//! Deleted readings are gone for good, so no clock is trusted alone: see `cutoff.rs`. The clock of a
//! replay is ignored.

mod cutoff;

use std::sync::Mutex;
use std::time::Instant;

use mesonet::Iso8601;
use mesonet::store::StoreError;
use mesonet::time::HOUR_MS;

pub use self::cutoff::{ADVANCE, is_too_late, newest_ms};
use self::cutoff::{Cutoff, CutoffInputs, oldest_ms};
use crate::record::Record;
use crate::sync::lock;

/// Shortest time between two notes of the cutoff while it moves forward.
const NOTED_EVERY_MS: i64 = HOUR_MS;

/// The state of a record's retention while a server runs.
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
    /// The retention that is noted in a record.
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

    /// Works out the cutoff, and notes it.
    ///
    /// # Errors
    /// The record cannot be read or written.
    pub fn look(
        &self,
        record: &Record,
        span_ms: i64,
        now_ms: i64,
    ) -> Result<Option<i64>, StoreError> {
        let store = record.store();
        let mut inner = lock(&self.0);
        let (newest_ms, oldest_ms) = (newest_ms(&*store)?, oldest_ms(&*store)?);
        // A record may have alerts only.
        let newest_ms = newest_ms.or_else(|| record.newest_alert_ms());
        let ran = inner.started.elapsed();
        let before_ms = inner.cutoff.at_ms;
        let at_ms = inner.cutoff.look(&CutoffInputs { span_ms, now_ms, ran, newest_ms, oldest_ms });
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

    /// Takes the cutoff back if it is later than the clock allows, so that no reading of today is
    /// refused for its age. Otherwise the call is cheap.
    ///
    /// # Errors
    /// The record cannot be read or written.
    pub fn take_back(&self, record: &Record, now_ms: i64) -> Result<(), StoreError> {
        let held_ms = record.store().held_from_ms()?;
        let mut inner = lock(&self.0);
        // A cutoff without a note is from an earlier version. A cutoff later than the present is
        // wrong for every span.
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
        "the cutoff of retention was {}, which is too late by the clock ({}): it was moved back to {to}",
        Iso8601(before_ms),
        Iso8601(now_ms)
    );
}
