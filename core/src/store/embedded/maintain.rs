//! What goes on beside appending and reading: sealing, merging, giving up what is too old.

use std::sync::Arc;

use super::catalogue::{
    GENERATION, PLACES_GENERATION, RETAIN_FROM, Retired, SegmentEntry, add_segment, begin_segment,
    end_segment, put_state, retire_segment, set_meta,
};
use super::merge::MergeError;
use super::run::Run;
use super::segment::Segment;
use super::segment_file::write_segment;
use super::series_table::SeriesTable;
use super::{EmbeddedStore, Maintained, Maintenance};
use crate::store::StoreError;

/// Segments of about one size that are merged at once.
const MERGE_AT_ONCE: usize = 4;

/// Batches of the journal from which on they are sealed, however few readings are in them: all of
/// them are read when the store is opened.
const JOURNAL_BATCHES: usize = 10_000;

impl EmbeddedStore {
    pub(super) fn maintain_all(&self, asked: &Maintenance) -> Result<Maintained, StoreError> {
        // The segments change only here.
        let _alone = self.maintenance.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let mut maintained = Maintained::default();
        self.set_damaged_aside(&mut maintained)?;
        if let Some(retain_from_ms) = asked.retain_from_ms {
            self.retain(retain_from_ms)?;
        }
        self.seal(asked.seal_all, &mut maintained)?;
        self.expire(&mut maintained)?;
        while let Some(segments) = self.mergeable() {
            self.merge(&segments, &mut maintained)?;
        }
        self.set_damaged_aside(&mut maintained)?;
        Ok(maintained)
    }

    fn retain(&self, retain_from_ms: i64) -> Result<(), StoreError> {
        let mut state = self.state();
        if retain_from_ms <= state.retain_from_ms {
            return Ok(());
        }
        let text = retain_from_ms.to_string();
        state.catalogue.transaction(|transaction| set_meta(transaction, RETAIN_FROM, &text))?;
        state.retain_from_ms = retain_from_ms;
        self.publish(&mut state);
        Ok(())
    }

    /// Writes the fresh readings into a segment. Batches that come in meanwhile stay fresh.
    fn seal(&self, all: bool, maintained: &mut Maintained) -> Result<(), StoreError> {
        let mut state = self.state();
        let readings: u64 = state.fresh.iter().map(|(run, _)| run.readings).sum();
        let due = readings >= self.options.seal_readings as u64
            || state.journal_batches >= JOURNAL_BATCHES;
        let Some(&(_, last)) = state.fresh.last().filter(|_| due || all) else { return Ok(()) };
        let runs: Vec<Arc<Run>> = state.fresh.iter().map(|(run, _)| Arc::clone(run)).collect();
        let (id, series) = (state.take_id(), Arc::clone(&state.series));
        let retain_from_ms = state.retain_from_ms;
        state.catalogue.transaction(|transaction| begin_segment(transaction, id, &[]))?;
        state.frozen = state.fresh.len();
        drop(state);

        let runs: Vec<&Run> = runs.iter().map(|run| &**run).collect();
        let written = write_segment(&self.folder.path, id, id, &runs, &series, retain_from_ms);
        let mut state = self.state();
        let frozen = std::mem::take(&mut state.frozen);
        let entry = match written {
            Ok(entry) => entry,
            Err(MergeError::Store(error)) => return Err(error),
            // Runs in memory have no file that could be damaged.
            Err(MergeError::Fault(_, fault)) => {
                return Err(StoreError::Storage { path: fault.file, cause: fault.cause });
            }
        };
        let state = &mut *state;
        let stations = &state.stations;
        let deleted = state.catalogue.transaction(|transaction| {
            if let Some(entry) = &entry {
                add_segment(transaction, entry)?;
            }
            end_segment(transaction, id)?;
            for station in stations.unsealed() {
                put_state(transaction, station)?;
            }
            set_meta(transaction, GENERATION, &stations.generation.to_string())?;
            set_meta(transaction, PLACES_GENERATION, &stations.places_generation.to_string())?;
            transaction.execute("DELETE FROM journal WHERE id <= ? AND damaged IS NULL", [last])
        })?;
        state.stations.all_sealed();
        state.journal_batches -= deleted.min(state.journal_batches);
        state.fresh.drain(..frozen);
        if let Some(entry) = entry {
            maintained.sealed_readings += entry.readings;
            state.segments.push(self.segment(entry));
        }
        self.publish(state);
        state.catalogue.checkpoint()
    }

    fn segment(&self, entry: SegmentEntry) -> Arc<Segment> {
        Arc::new(Segment::new(&self.folder.path, entry, &self.faults))
    }

    /// Gives up segments that are wholly too old.
    fn expire(&self, maintained: &mut Maintained) -> Result<(), StoreError> {
        let mut state = self.state();
        let retain_from_ms = state.retain_from_ms;
        let expired: Vec<Arc<Segment>> = state
            .segments
            .iter()
            .filter(|segment| segment.entry.last_ms < retain_from_ms)
            .cloned()
            .collect();
        if expired.is_empty() {
            return Ok(());
        }
        self.replace(&mut state, &expired, None, None)?;
        maintained.expired_segments += expired.len();
        maintained.expired_readings +=
            expired.iter().map(|segment| segment.entry.readings).sum::<u64>();
        Ok(())
    }

    /// Puts one segment, or none, in the place of several.
    fn replace(
        &self,
        state: &mut super::write::State,
        old: &[Arc<Segment>],
        made: Option<i64>,
        new: Option<SegmentEntry>,
    ) -> Result<(), StoreError> {
        let replaced_by = new.as_ref().map(|entry| entry.id);
        state.catalogue.transaction(|transaction| {
            for segment in old {
                let retired = Retired { id: segment.entry.id, replaced_by, damaged: false };
                retire_segment(transaction, retired)?;
            }
            made.map_or(Ok(()), |id| end_segment(transaction, id))?;
            new.as_ref().map_or(Ok(()), |entry| add_segment(transaction, entry))
        })?;
        let is_old = |segment: &Arc<Segment>| old.iter().any(|old| Arc::ptr_eq(old, segment));
        let at = state.segments.iter().position(is_old).unwrap_or(state.segments.len());
        state.segments.retain(|segment| !is_old(segment));
        if let Some(entry) = new {
            state.segments.insert(at, self.segment(entry));
        }
        self.publish(state);
        // Only then: a write-ahead log that is lost must not bring segments back whose files are
        // gone. Otherwise the files go when the store is opened next.
        state.catalogue.checkpoint()?;
        for segment in old {
            segment.retire();
        }
        Ok(())
    }

    /// Segments that follow one another and are of about one size.
    fn mergeable(&self) -> Option<Vec<Arc<Segment>>> {
        let state = self.state();
        let most = self.options.segment_readings as u64;
        // Small ones count as if they were of one size.
        let least = (self.options.seal_readings as u64 / 2).max(1);
        let size = |segment: &Arc<Segment>| segment.entry.readings.max(least);
        let segments = &state.segments;
        for start in 0..segments.len() {
            let (mut small, mut large) = (u64::MAX, 0);
            let (mut total, mut end) = (0, start);
            while let Some(segment) = segments.get(end) {
                (small, large) = (small.min(size(segment)), large.max(size(segment)));
                if large > 2 * small || large >= most || total >= most {
                    break;
                }
                total += segment.entry.readings;
                end += 1;
            }
            if end - start >= MERGE_AT_ONCE {
                return Some(segments[start..end].to_vec());
            }
        }
        None
    }

    fn merge(
        &self,
        segments: &[Arc<Segment>],
        maintained: &mut Maintained,
    ) -> Result<(), StoreError> {
        let mut state = self.state();
        let (id, series) = (state.take_id(), Arc::clone(&state.series));
        let retain_from_ms = state.retain_from_ms;
        let made_from: Vec<i64> = segments.iter().map(|segment| segment.entry.id).collect();
        state.catalogue.transaction(|transaction| begin_segment(transaction, id, &made_from))?;
        drop(state);
        let Some(runs) = runs_of(segments, &series) else {
            return self.set_damaged_aside(maintained);
        };
        let sequence = segments.iter().map(|segment| segment.entry.sequence).max().unwrap_or(id);
        let dir = &self.folder.path;
        match write_segment(dir, id, sequence, &runs, &series, retain_from_ms) {
            Ok(entry) => {
                self.replace(&mut self.state(), segments, Some(id), entry)?;
                maintained.merged_segments += segments.len();
                Ok(())
            }
            Err(MergeError::Store(error)) => Err(error),
            Err(MergeError::Fault(i, fault)) => {
                segments[i].damage(fault);
                self.set_damaged_aside(maintained)
            }
        }
    }

    /// Moves the files of segments out of the way that were found damaged.
    fn set_damaged_aside(&self, maintained: &mut Maintained) -> Result<(), StoreError> {
        let mut state = self.state();
        let state = &mut *state;
        let damaged: Vec<_> =
            state.segments.iter().filter(|segment| segment.is_damaged()).cloned().collect();
        for segment in damaged {
            let Some(fault) = segment.fault() else { continue };
            self.folder.set_aside(&mut state.catalogue, segment.entry.id, fault)?;
            state.segments.retain(|known| !Arc::ptr_eq(known, &segment));
            maintained.set_aside.push(fault.clone());
            self.publish(state);
        }
        Ok(())
    }
}

/// The runs of segments, unless one is damaged.
fn runs_of<'a>(segments: &'a [Arc<Segment>], series: &SeriesTable) -> Option<Vec<&'a Run>> {
    segments.iter().map(|segment| segment.run(series)).collect()
}
