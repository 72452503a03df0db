//! Tells again what batches have changed, for those who follow the record.
//!
//! Each batch has a row that says which days its readings are of, so that a query for them reads no
//! other day.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use mesonet::observation::{Qualifier, QualityCode};
use mesonet::store::{ChangedBatch, ChangedReading, Changes, StoreError};
use mesonet::time::DAY_MS;

use crate::columns::Times;
use crate::link::TablePlace;
use crate::rows::{ChangesRow, ReadingRow, SqlList, StationKey};
use crate::sql;
use crate::view::RecordView;

/// What a reading takes in the table, about, before it is compressed.
const READING_BYTES: u64 = 46;

/// A query names at most so many spans of days; beyond, it reads what lies between them too.
const SPANS: usize = 16;

impl RecordView {
    /// Tells what the batches after one have changed, as [`mesonet::store::ChangeLog`] says.
    pub(crate) fn changes_after(
        &self,
        after: u64,
        most_bytes: usize,
    ) -> Result<Changes, StoreError> {
        let last = self.visible.up_to;
        let mut changes = Changes { last, ..Changes::default() };
        if after >= last {
            return Ok(changes);
        }
        if after > 0 && self.visible.uncommitted.contains(&after) {
            // It was shown before another writer found that it does not count.
            changes.known_after = last;
            return Ok(changes);
        }
        let query = self.seen(self.link.query(sql::CHANGES).bind(after));
        let place = TablePlace::everywhere("changes");
        let mut notes: Vec<ChangesRow> = self.link.rows(place, Some(last), &query)?;
        // A row that was sent twice is there twice until it is merged.
        notes.dedup_by_key(|note| note.batch);
        let Some(first) = notes.first() else {
            // Batches of an earlier version have no rows.
            changes.known_after = last;
            return Ok(changes);
        };
        if first.after > after {
            changes.known_after = first.after;
        }
        let mut bytes = 0_u64;
        let fit = notes.iter().take_while(|note| {
            let is_read = bytes < most_bytes as u64;
            bytes = bytes.saturating_add(note.readings.saturating_mul(READING_BYTES));
            is_read
        });
        let count = fit.count().max(1);
        notes.truncate(count);
        let mut rows = self.changed(&notes)?;
        for note in notes {
            let rows = rows.remove(&note.batch).unwrap_or_default();
            if rows.len() as u64 != note.readings {
                // Retention has dropped some of its days.
                changes.known_after = note.batch;
                changes.batches.clear();
                continue;
            }
            changes.batches.push(self.changed_batch(&note, &rows));
        }
        Ok(changes)
    }

    /// The readings that batches have changed, batch by batch.
    fn changed(&self, notes: &[ChangesRow]) -> Result<HashMap<u64, Vec<ReadingRow>>, StoreError> {
        let of_readings = || notes.iter().filter(|note| note.readings > 0);
        let batches: Vec<u64> = of_readings().map(|note| note.batch).collect();
        let days: BTreeSet<i64> = of_readings().flat_map(|note| &note.days).copied().collect();
        let mut rows: HashMap<u64, Vec<ReadingRow>> = HashMap::new();
        for times in spans_ms(&days) {
            for shard in 0..self.link.shards() {
                let query = self.link.query(sql::CHANGED).bind(times.start()).bind(times.end());
                let found: Vec<ReadingRow> =
                    self.rows("readings", shard, &query.bind(SqlList(&batches)))?;
                for row in found {
                    rows.entry(row.batch).or_default().push(row);
                }
            }
        }
        for rows in rows.values_mut() {
            rows.sort_unstable_by_key(key);
            // A block that was sent twice is there twice until it is merged.
            rows.dedup_by_key(|row| key(row));
        }
        Ok(rows)
    }

    fn changed_batch(&self, note: &ChangesRow, rows: &[ReadingRow]) -> ChangedBatch {
        let ChangesRow { batch, after, revised, .. } = note;
        let mut changed = ChangedBatch { number: *batch, after: *after, ..ChangedBatch::default() };
        let mut numbers: HashMap<i32, u32> = HashMap::new();
        let revised = revised.as_chunks::<2>().0;
        for (position, row) in (0..).zip(rows) {
            if row.ts_ms < self.visible.retain_from_ms {
                continue;
            }
            let Some(series) = self.series.by_id(row.series) else { continue };
            let series = *numbers.entry(row.series).or_insert_with(|| {
                changed.series.push(Arc::clone(series));
                changed.series.len() as u32 - 1
            });
            let at = revised.partition_point(|&[_, end]| end <= position);
            changed.readings.push(ChangedReading {
                ts_ms: row.ts_ms,
                value: row.value,
                series,
                quality: QualityCode(row.quality).quality(),
                qualifier: Qualifier::of_code(row.qualifier),
                is_revised: revised.get(at).is_some_and(|&[first, _]| first <= position),
            });
            let (id, end) = (row.station.into(), changed.readings.len());
            match changed.stations.last_mut() {
                Some((last, of_last)) if *last == id => *of_last = end,
                _ => changed.stations.push((id, end)),
            }
        }
        changed
    }
}

/// The row of what a batch changes: the last `revised` of its readings are older ones with another
/// verdict.
pub(crate) fn changes_row(
    batch: u64,
    after: u64,
    readings: &[ReadingRow],
    revised: usize,
    written_day: i32,
) -> ChangesRow {
    let days: BTreeSet<i64> = readings.iter().map(|row| row.ts_ms.div_euclid(DAY_MS)).collect();
    let first_revised = readings.len() - revised;
    let mut order: Vec<usize> = (0..readings.len()).collect();
    order.sort_unstable_by_key(|&at| key(&readings[at]));
    let mut revised: Vec<u64> = Vec::new();
    for (position, at) in (0..).zip(order) {
        if at < first_revised {
            continue;
        }
        match revised.last_mut() {
            Some(end) if *end == position => *end += 1,
            _ => revised.extend([position, position + 1]),
        }
    }
    let (days, readings) = (days.into_iter().collect(), readings.len() as u64);
    ChangesRow { batch, written_day, after, days, readings, revised }
}

fn key(row: &ReadingRow) -> (StationKey, i32, i64) {
    (row.station, row.series, row.ts_ms)
}

/// The spans of time of some days.
fn spans_ms(days: &BTreeSet<i64>) -> Vec<Times> {
    let mut spans: Vec<(i64, i64)> = Vec::new();
    for &day in days {
        match spans.last_mut() {
            Some((_, last)) if *last + 1 == day => *last = day,
            _ => spans.push((day, day)),
        }
    }
    if let ([(first, _), .., (_, last)], true) = (&spans[..], spans.len() > SPANS) {
        spans = vec![(*first, *last)];
    }
    let ms = |(first, last): (i64, i64)| {
        first.saturating_mul(DAY_MS)..=(last + 1).saturating_mul(DAY_MS).saturating_sub(1)
    };
    spans.into_iter().map(ms).collect()
}
