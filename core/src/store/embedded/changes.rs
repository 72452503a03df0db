//! What the batches of the journal have changed.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};

use super::EmbeddedStore;
use super::catalogue::{JournalEntry, RecordCatalogue};
use super::open::decode_batch;
use super::reader::EmbeddedReader;
use super::report_texts::TEXTS;
use super::run::SortedRun;
use super::series_table::SeriesList;
use super::weather_table::WEATHER;
use crate::observation::Qualifier;
use crate::store::{ChangeLog, ChangedBatch, ChangedReading, Changes, StoreError};

impl ChangeLog for EmbeddedStore {
    fn changes_after(&self, batch: u64, most_bytes: usize) -> Result<Changes, StoreError> {
        // The view has the series of all batches up to this one.
        let last = self.last_batch.load(Ordering::Acquire);
        let series = Arc::clone(&self.view.load().series);
        let mut journal = self.journal.lock().unwrap_or_else(PoisonError::into_inner);
        let journal = match &mut *journal {
            Some(journal) => journal,
            none => none.insert(RecordCatalogue::beside(&self.folder.path)?),
        };
        let (known_after, entries) = entries_after(journal, batch, last, most_bytes)?;
        Ok(Changes { known_after, last, batches: changed_batches(&entries, &series) })
    }
}

impl ChangeLog for EmbeddedReader {
    /// Only batches that were there at the last refresh are given.
    fn changes_after(&self, batch: u64, most_bytes: usize) -> Result<Changes, StoreError> {
        let (last, series) = self.seen();
        let (known_after, entries) =
            self.with_catalogue(|catalogue| entries_after(catalogue, batch, last, most_bytes))?;
        Ok(Changes { known_after, last, batches: changed_batches(&entries, &series) })
    }
}

/// Returns the last batch that is sealed, and the first batches after a given one, up to another.
fn entries_after(
    catalogue: &RecordCatalogue,
    after: u64,
    up_to: u64,
    most_bytes: usize,
) -> Result<(u64, Vec<JournalEntry>), StoreError> {
    let known_after = catalogue.sealed_to()?;
    let after = i64::try_from(after).unwrap_or(i64::MAX);
    let up_to = i64::try_from(up_to).unwrap_or(i64::MAX);
    let entries = catalogue.journal_between(after.max(known_after), up_to, most_bytes)?;
    Ok((known_after as u64, entries))
}

/// A batch that cannot be read is left out; the store reports it elsewhere.
fn changed_batches(entries: &[JournalEntry], series: &SeriesList) -> Vec<ChangedBatch> {
    let changed = entries.iter().filter_map(|entry| {
        let (_, run) = decode_batch(&entry.batch, series).ok()?;
        Some(changed_batch(entry.id as u64, &run, &entry.revised, series))
    });
    changed.collect()
}

fn changed_batch(
    number: u64,
    run: &SortedRun,
    revised: &[Range<u32>],
    list: &SeriesList,
) -> ChangedBatch {
    let mut batch = ChangedBatch { number, after: number - 1, ..ChangedBatch::default() };
    let mut slots: HashMap<u32, u32> = HashMap::new();
    // The position of a reading among all of the run, as the ranges count.
    let mut position = 0;
    let mut revised = revised.iter().peekable();
    for place in 0..run.stations.len() {
        let before = batch.readings.len();
        for row in &run.rows[run.rows_at(place)] {
            let first = position;
            position += row.len;
            if row.series == WEATHER || row.series == TEXTS {
                continue;
            }
            let series = *slots.entry(row.slot).or_insert_with(|| {
                batch.series.push(Arc::clone(&list.list[row.slot as usize]));
                batch.series.len() as u32 - 1
            });
            let part = run.part(row, 0..row.len as usize);
            for (at, quality) in part.quality_codes().iter().enumerate() {
                let position = first + at as u32;
                while revised.next_if(|range| range.end <= position).is_some() {}
                batch.readings.push(ChangedReading {
                    ts_ms: part.ts_ms[at],
                    value: part.value[at],
                    series,
                    quality: quality.quality(),
                    qualifier: Qualifier::of_code(part.qualifier[at]),
                    is_revised: revised.peek().is_some_and(|range| range.contains(&position)),
                });
            }
        }
        if batch.readings.len() > before {
            batch.stations.push((run.stations[place].0, batch.readings.len()));
        }
    }
    batch
}
