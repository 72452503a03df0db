//! Reads recent readings from the tables.

use std::ops::Range;

use mesonet::store::StoreError;

use crate::columns::Times;
use crate::recent::{BLOCK_MS, Recent};
use crate::rows::ReadingRow;
use crate::sql;
use crate::view::{READINGS_AT_ONCE, RecordView};

/// What a reading takes at least.
const READING_BYTES: u64 = 22;

/// Reads what a view sees in a span of time and later, the newest first, until it takes more than so
/// many bytes.
pub(crate) fn load_recent(
    view: &RecordView,
    span_ms: Range<i64>,
    most_bytes: usize,
) -> Result<Recent, StoreError> {
    let mut recent = Recent::asked_from(span_ms.start);
    // A long span is asked for only as far back as there are readings.
    let series = view.stations.values().flat_map(|state| &state.record.series);
    let earliest_ms = series.map(|of| of.first_appearance_ms).min().unwrap_or(span_ms.end);
    let first_ms = span_ms.start.max(earliest_ms.min(span_ms.end));
    let [first, last] = [first_ms, span_ms.end].map(|ms| ms.div_euclid(BLOCK_MS));
    for block in (first..=last).rev() {
        let start_ms = (block * BLOCK_MS).max(span_ms.start);
        let end_ms = if block == last { span_ms.end } else { (block + 1) * BLOCK_MS };
        // Clocks of stations may be ahead.
        let to_ms = if block == last { i64::MAX } else { end_ms - 1 };
        let count = count(view, &(start_ms..=to_ms))?;
        let bytes = READING_BYTES.saturating_mul(count);
        if (recent.kept().bytes as u64).saturating_add(bytes) > most_bytes as u64 {
            return Ok(recent);
        }
        recent.reach_back_to(start_ms);
        let parts = (count / READINGS_AT_ONCE) as i64 + 1;
        let part_ms = (end_ms - start_ms) / parts + 1;
        for part in 0..parts {
            let from_ms = start_ms + part * part_ms;
            let to_ms = if part + 1 == parts { to_ms } else { from_ms + part_ms - 1 };
            add(&mut recent, view, &(from_ms..=to_ms), 0)?;
        }
    }
    recent.reach_back_to(span_ms.start);
    Ok(recent)
}

/// Adds what has come in after a batch and up to the batch of a view.
pub(crate) fn follow_recent(
    recent: &mut Recent,
    view: &RecordView,
    after: u64,
) -> Result<(), StoreError> {
    match recent.start_ms() {
        i64::MAX => Ok(()),
        from_ms => add(recent, view, &(from_ms..=i64::MAX), after),
    }
}

/// Counts the versions of readings in a window.
fn count(view: &RecordView, times: &Times) -> Result<u64, StoreError> {
    let mut count = 0;
    for shard in 0..view.link.shards() {
        let query = view.link.query(sql::COUNT).bind(times.start()).bind(times.end());
        count += view.rows::<u64>("readings", shard, &view.seen(query))?.iter().sum::<u64>();
    }
    Ok(count)
}

fn add(
    recent: &mut Recent,
    view: &RecordView,
    times: &Times,
    after: u64,
) -> Result<(), StoreError> {
    for shard in 0..view.link.shards() {
        let query = view.link.query(sql::RECENT).bind(times.start()).bind(times.end());
        let query = view.seen(query.bind(after));
        recent.put(view.rows::<ReadingRow>("readings", shard, &query)?, &view.series);
    }
    Ok(())
}
