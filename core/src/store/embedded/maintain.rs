//! Maintenance alongside appends and reads: sealing, merging and dropping what is too old.

use std::borrow::Cow;
use std::sync::Arc;

use super::catalogue::{
    DROPPED, DROPPED_TO, GENERATION, Lost, PLACES_GENERATION, RETAIN_FROM, Retired, SegmentEntry,
    add_lost, add_segment, begin_segment, end_segment, put_state, retire_segment, segment_file,
    set_meta,
};
use super::fault::{Fault, RETENTION};
use super::names::DAMAGED;
use super::report_texts::Content;
use super::run::SortedRun;
use super::segment::Segment;
use super::segment_file::{LostSpan, NewSegment, WrittenSegment, write_segment};
use super::store_state::StoreState;
use super::walk::RunRef;
use super::write::WriterState;
use super::{EmbeddedStore, Maintenance, MaintenanceReport};
use crate::store::StoreError;
use crate::time::Iso8601;

/// How many segments of similar size are merged at once.
const MERGE_AT_ONCE: usize = 4;

/// About how many readings a report has.
const READINGS_OF_REPORT: u64 = 10;

/// Number of journal batches that triggers sealing, however few readings they hold: all batches are
/// read when the store is opened.
const JOURNAL_BATCHES: usize = 10_000;

impl EmbeddedStore {
    pub(super) fn maintain_all(
        &self,
        asked: &Maintenance,
    ) -> Result<MaintenanceReport, StoreError> {
        // Segments change only here.
        let _alone = self.maintenance.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let mut maintained = MaintenanceReport::default();
        self.look_again();
        self.set_damaged_aside(&mut maintained)?;
        if let Some(retain_from_ms) = asked.retain_from_ms {
            self.retain_from(retain_from_ms)?;
        }
        self.seal(asked.seal_all, &mut maintained)?;
        self.expire(&mut maintained)?;
        while let Some(segments) = self.mergeable() {
            if !self.merge(&segments, &mut maintained)? {
                break;
            }
            maintained.merged_segments += segments.len();
        }
        // One at a time: nothing is sealed meanwhile.
        if let Some(segment) = self.old() {
            let rewritten = self.merge(&[segment], &mut maintained)?;
            maintained.rewritten_segments += usize::from(rewritten);
        }
        self.set_damaged_aside(&mut maintained)?;
        Ok(maintained)
    }

    /// Tries again to read the segments that could not be read: a disk may have been mounted in the
    /// meantime.
    fn look_again(&self) {
        let state = self.state();
        let (segments, series) = (state.segments.clone(), Arc::clone(&state.series));
        drop(state);
        for segment in segments.iter().filter(|segment| segment.is_refused()) {
            segment.run(&series);
        }
    }

    pub(super) fn move_cutoff(&self, retain_from_ms: i64) -> Result<(), StoreError> {
        let mut state = self.state();
        if retain_from_ms == state.retain_from_ms {
            return Ok(());
        }
        let dropped_to_ms = state.catalogue.number(DROPPED_TO)?.unwrap_or(i64::MIN);
        self.set_cutoff(&mut state, retain_from_ms, dropped_to_ms)
    }

    /// Moves the cutoff of an unfinished copy: nothing from before it is copied, and nothing else is
    /// missing, as the copy begins anew if the cutoff of its original goes back.
    pub(super) fn set_cutoff_of_copy(&self, retain_from_ms: i64) -> Result<(), StoreError> {
        self.set_cutoff(&mut self.state(), retain_from_ms, retain_from_ms)
    }

    /// Notes, before it happens, that readings before an instant are deleted: if the cutoff goes
    /// back later, or has gone back meanwhile, it must be known what is missing.
    pub(super) fn note_dropped(
        &self,
        state: &mut WriterState,
        dropped_to_ms: i64,
    ) -> Result<(), StoreError> {
        if dropped_to_ms <= state.catalogue.number(DROPPED_TO)?.unwrap_or(i64::MIN) {
            return Ok(());
        }
        self.set_cutoff(state, state.retain_from_ms, dropped_to_ms)
    }

    /// Sets the cutoff and the end of what is deleted, and whether anything is missing by them.
    fn set_cutoff(
        &self,
        state: &mut WriterState,
        retain_from_ms: i64,
        dropped_to_ms: i64,
    ) -> Result<(), StoreError> {
        let lacks_readings = retain_from_ms < dropped_to_ms;
        let dropped = lacks_readings.then(|| dropped(retain_from_ms, dropped_to_ms));
        state.catalogue.take_up(DROPPED)?;
        state.catalogue.transaction(|transaction| {
            transaction.execute("DELETE FROM lost WHERE segment = ?", [DROPPED])?;
            if let Some((lost, cause)) = &dropped {
                add_lost(transaction, lost, cause)?;
            }
            set_meta(transaction, DROPPED_TO, &dropped_to_ms.to_string())?;
            set_meta(transaction, RETAIN_FROM, &retain_from_ms.to_string())
        })?;
        self.faults.forget_retention();
        if let Some((_, cause)) = dropped {
            self.faults.note(Fault::new(RETENTION, cause));
        }
        state.lost = Arc::new(state.catalogue.lost()?);
        state.retain_from_ms = retain_from_ms;
        self.publish(state);
        Ok(())
    }

    /// Writes the fresh readings into a segment. Batches that arrive in the meantime stay fresh.
    fn seal(&self, all: bool, maintained: &mut MaintenanceReport) -> Result<(), StoreError> {
        let mut state = self.state();
        let readings: u64 = state.fresh.iter().map(|(run, _)| run.readings).sum();
        let due = readings >= self.options.seal_readings as u64
            || state.journal_batches >= JOURNAL_BATCHES;
        let Some(&(_, last)) = state.fresh.last().filter(|_| due || all) else { return Ok(()) };
        let runs: Vec<Arc<SortedRun>> =
            state.fresh.iter().map(|(run, _)| Arc::clone(run)).collect();
        let has_texts = runs.iter().any(|run| run.texts > 0);
        let contents = [Content::Readings, Content::Texts];
        let contents = &contents[..if has_texts { 2 } else { 1 }];
        let new: Vec<NewSegment> = contents
            .iter()
            .map(|&content| {
                let id = state.take_id();
                NewSegment { id, sequence: id, content }
            })
            .collect();
        let series = Arc::clone(&state.series);
        let about = state.about(Vec::new(), last);
        state.catalogue.transaction(|transaction| {
            new.iter().try_for_each(|new| begin_segment(transaction, new.id, &[]))
        })?;
        state.frozen = state.fresh.len();
        let holds_readings = state.holds_readings();
        drop(state);

        let runs: Vec<RunRef<'_>> = runs.iter().map(|run| RunRef::Rows(run)).collect();
        let dropped_to_ms = left_out_to_ms(&runs, about.retain_from_ms);
        // Runs in memory have no file that can be damaged.
        let mut written: Result<Vec<SegmentEntry>, StoreError> = Ok(Vec::new());
        for &new in &new {
            written = written.and_then(|mut entries: Vec<SegmentEntry>| {
                let is_described = entries.iter().any(is_of_readings) || holds_readings;
                let about = about_of(new.content, is_described, &about);
                let made = write_segment(&self.folder.path, new, &runs, &series, &about)?;
                entries.extend(made.entry);
                Ok(entries)
            });
        }
        let mut state = self.state();
        let frozen = std::mem::take(&mut state.frozen);
        let entries = written?;
        let state = &mut *state;
        self.note_dropped(state, dropped_to_ms)?;
        let stations = &state.stations;
        let deleted = state.catalogue.transaction(|transaction| {
            for entry in &entries {
                add_segment(transaction, entry)?;
            }
            new.iter().try_for_each(|new| end_segment(transaction, new.id))?;
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
        for entry in entries {
            if entry.content == Content::Readings {
                maintained.sealed_readings += entry.readings;
            }
            state.segments.push(self.segment(entry));
        }
        self.publish(state);
        state.catalogue.checkpoint()?;
        // All is sealed. If this fails, for example on a full disk, the file only stays larger, and
        // what else maintenance does may make room.
        let _ = state.catalogue.shrink();
        Ok(())
    }

    fn segment(&self, entry: SegmentEntry) -> Arc<Segment> {
        Arc::new(Segment::new(&self.folder.path, entry, &self.faults))
    }

    /// Drops segments that are entirely too old.
    fn expire(&self, maintained: &mut MaintenanceReport) -> Result<(), StoreError> {
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
        let last_ms = expired.iter().map(|segment| segment.entry.last_ms).max();
        self.note_dropped(&mut state, last_ms.map_or(i64::MIN, |last_ms| last_ms + 1))?;
        let given_up = Replacement { old: &expired, made: None, new: None, lost: Vec::new() };
        self.replace(&mut state, given_up)?;
        // Texts go with the readings of their time, and are not counted.
        let of_readings =
            expired.iter().filter(|segment| segment.entry.content == Content::Readings);
        for segment in of_readings {
            maintained.expired_segments += 1;
            maintained.expired_readings += segment.entry.readings;
        }
        Ok(())
    }

    /// Replaces several segments with one or none. Files of damaged segments are kept. Returns
    /// their faults.
    fn replace(
        &self,
        state: &mut WriterState,
        replacement: Replacement<'_>,
    ) -> Result<Vec<Fault>, StoreError> {
        let Replacement { old, made, new, lost } = replacement;
        let replaced_by = new.as_ref().map(|entry| entry.id);
        let is_damaged =
            |segment: &Arc<Segment>| lost.iter().any(|(lost, _)| lost.segment == segment.entry.id);
        state.catalogue.transaction(|transaction| {
            for segment in old {
                let (id, damaged) = (segment.entry.id, is_damaged(segment));
                retire_segment(transaction, Retired { id, replaced_by, damaged })?;
            }
            made.map_or(Ok(()), |id| end_segment(transaction, id))?;
            for (lost, cause) in &lost {
                add_lost(transaction, lost, cause)?;
            }
            new.as_ref().map_or(Ok(()), |entry| add_segment(transaction, entry))
        })?;
        let is_old = |segment: &Arc<Segment>| old.iter().any(|old| Arc::ptr_eq(old, segment));
        let at = state.segments.iter().position(is_old).unwrap_or(state.segments.len());
        state.segments.retain(|segment| !is_old(segment));
        if let Some(entry) = new {
            state.segments.insert(at, self.segment(entry));
        }
        if !lost.is_empty() {
            state.lost = Arc::new(state.catalogue.lost()?);
        }
        self.publish(state);
        // Files are deleted only after this: losing the write-ahead log must not bring back
        // segments whose files are gone. Otherwise the files are deleted when the store is next
        // opened.
        state.catalogue.checkpoint()?;
        for segment in old {
            if is_damaged(segment) {
                self.folder.move_to(DAMAGED, segment.path())?;
            } else {
                segment.retire();
            }
        }
        let fault = |(lost, cause): (Lost, String)| Fault::new(segment_file(lost.segment), cause);
        let mut kept: Vec<Fault> = lost.into_iter().map(fault).collect();
        self.faults.note_all(kept.iter().cloned());
        kept.dedup();
        Ok(kept)
    }

    /// Returns consecutive segments of similar size.
    fn mergeable(&self) -> Option<Vec<Arc<Segment>>> {
        let of = |content| self.mergeable_of(content);
        of(Content::Readings).or_else(|| of(Content::Texts))
    }

    fn mergeable_of(&self, content: Content) -> Option<Vec<Arc<Segment>>> {
        let state = self.state();
        let most = self.options.segment_readings as u64;
        // Small segments count as the same size.
        let least = (self.options.seal_readings as u64 / 2).max(1);
        // A text takes about as many bytes as the readings of its report.
        let weight = if content == Content::Texts { READINGS_OF_REPORT } else { 1 };
        let readings = |segment: &Arc<Segment>| segment.entry.readings * weight;
        let size = |segment: &Arc<Segment>| readings(segment).max(least);
        let is_of = |segment: &&Arc<Segment>| segment.entry.content == content;
        let segments: Vec<_> = state.segments.iter().filter(is_of).collect();
        for start in 0..segments.len() {
            let (mut small, mut large) = (u64::MAX, 0);
            let (mut total, mut end) = (0, start);
            while let Some(&segment) = segments.get(end).filter(|segment| !segment.is_refused()) {
                (small, large) = (small.min(size(segment)), large.max(size(segment)));
                if large > 2 * small || large >= most || total >= most {
                    break;
                }
                total += readings(segment);
                end += 1;
            }
            if end - start >= MERGE_AT_ONCE {
                return Some(
                    segments[start..end].iter().map(|&segment| Arc::clone(segment)).collect(),
                );
            }
        }
        None
    }

    /// Returns the first segment of an earlier version.
    fn old(&self) -> Option<Arc<Segment>> {
        let (segments, series) = {
            let state = self.state();
            (state.segments.clone(), Arc::clone(&state.series))
        };
        // Texts have had one form so far.
        let is_old = |segment: &Arc<Segment>| {
            is_of_readings(&segment.entry) && !segment.is_refused() && segment.is_old(&series)
        };
        segments.into_iter().find(is_old)
    }

    /// Merges segments. Returns whether there is more to do.
    fn merge(
        &self,
        segments: &[Arc<Segment>],
        maintained: &mut MaintenanceReport,
    ) -> Result<bool, StoreError> {
        let mut state = self.state();
        let series = Arc::clone(&state.series);
        let runs: Option<Vec<RunRef<'_>>> =
            segments.iter().map(|segment| segment.run(&series)).collect();
        let Some(runs) = runs else {
            // Segments that are gone make room for others; segments that the system refuses are
            // left.
            drop(state);
            let are_gone = segments.iter().any(|segment| segment.gone().is_some());
            self.set_damaged_aside(maintained)?;
            return Ok(are_gone);
        };
        let id = state.take_id();
        let made_from: Vec<i64> = segments.iter().map(|segment| segment.entry.id).collect();
        state.catalogue.transaction(|transaction| begin_segment(transaction, id, &made_from))?;
        let sealed_to = state.catalogue.sealed_to()?;
        let content = segments[0].entry.content;
        let about = state.about(made_from, sealed_to);
        let about = about_of(content, state.holds_readings(), &about).into_owned();
        drop(state);
        let sequence = segments.iter().map(|segment| segment.entry.sequence).max().unwrap_or(id);
        let dir = &self.folder.path;
        let new = NewSegment { id, sequence, content };
        let WrittenSegment { entry, lost } = write_segment(dir, new, &runs, &series, &about)?;
        let lost = lost
            .into_iter()
            .map(|((run, block), span)| lost_block(&segments[run].entry, block, span))
            .collect();
        let merged = Replacement { old: segments, made: Some(id), new: entry, lost };
        let mut state = self.state();
        self.note_dropped(&mut state, left_out_to_ms(&runs, about.retain_from_ms))?;
        let kept = self.replace(&mut state, merged)?;
        maintained.set_aside.extend(kept);
        Ok(true)
    }

    /// Moves the files of unreadable segments out of the way.
    fn set_damaged_aside(&self, maintained: &mut MaintenanceReport) -> Result<(), StoreError> {
        let mut state = self.state();
        let state = &mut *state;
        let gone: Vec<_> =
            state.segments.iter().filter(|segment| segment.gone().is_some()).cloned().collect();
        for segment in gone {
            let Some(fault) = segment.gone() else { continue };
            let entry = &segment.entry;
            state.catalogue.set_segment_aside(&self.folder, entry.id, Some(entry), fault)?;
            state.segments.retain(|known| !Arc::ptr_eq(known, &segment));
            state.lost = Arc::new(state.catalogue.lost()?);
            maintained.set_aside.push(fault.clone());
            self.publish(state);
        }
        Ok(())
    }
}

impl WriterState {
    /// Whether a segment of readings is in service.
    fn holds_readings(&self) -> bool {
        self.segments.iter().any(|segment| is_of_readings(&segment.entry))
    }
}

fn is_of_readings(entry: &SegmentEntry) -> bool {
    entry.content == Content::Readings
}

/// The instant before which readings of some runs are left out because of a cutoff; `i64::MIN` if none
/// are.
fn left_out_to_ms(runs: &[RunRef<'_>], retain_from_ms: i64) -> i64 {
    let spans = runs.iter().map(|run| run.span());
    let old = spans.filter(|&(first_ms, _)| first_ms < retain_from_ms);
    old.map(|(_, last_ms)| last_ms.saturating_add(1).min(retain_from_ms)).max().unwrap_or(i64::MIN)
}

/// What a segment says about its store: one of texts leaves the stations to a segment of readings,
/// if there is one.
fn about_of(content: Content, is_described: bool, about: &StoreState) -> Cow<'_, StoreState> {
    if content == Content::Texts && is_described {
        Cow::Owned(StoreState { stations: Vec::new(), ..about.clone() })
    } else {
        Cow::Borrowed(about)
    }
}

/// The replacement of several segments with one or none.
struct Replacement<'a> {
    old: &'a [Arc<Segment>],
    /// The id recorded as being written.
    made: Option<i64>,
    new: Option<SegmentEntry>,
    /// The readings of the old segments that the new one lacks, and why.
    lost: Vec<(Lost, String)>,
}

/// Describes the readings that retention has dropped, but would keep now that its cutoff went back.
fn dropped(retain_from_ms: i64, dropped_to_ms: i64) -> (Lost, String) {
    let cause = format!(
        "readings from before {} were deleted by retention, whose cutoff was then moved back to {}",
        Iso8601(dropped_to_ms),
        Iso8601(retain_from_ms)
    );
    let lost = Lost { last_ms: dropped_to_ms - 1, ..Lost::of_segment(DROPPED) };
    (lost, cause)
}

/// Describes a damaged block whose readings are in no segment any more, for the catalogue and in
/// words.
pub(super) fn lost_block(of: &SegmentEntry, block: u32, span: LostSpan) -> (Lost, String) {
    let SegmentEntry { id: segment, content, .. } = *of;
    let what = match content {
        Content::Readings => "readings",
        Content::Texts => "texts of reports",
    };
    let LostSpan { first_ms, last_ms, first, last } = span;
    let cause = format!(
        "block {block} is damaged: {what} from {} to {} are lost; the file is kept in {DAMAGED}/",
        Iso8601(first_ms),
        Iso8601(last_ms)
    );
    let (blocks, content) = (block..block + 1, Some(content));
    (Lost { segment, blocks, first_ms, last_ms, first, last, content }, cause)
}
