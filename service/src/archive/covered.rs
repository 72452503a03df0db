//! What retention may delete of a record: only what the archive has, reading for reading.
//!
//! Nothing is taken on trust. The archive must belong to the record. Its files must exist and have
//! the right length. For each month to be deleted, it must have as many readings as the record.
//! Only whole months are deleted, so that late readings of the month of the cutoff can still be
//! archived.

use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

use mesonet::store::{PastReadings, Selection, StationRecord, StoreError};
use mesonet::{Iso8601, Reader, StationId};

use super::ahead::variables;
use super::manifest::{ArchiveManifest, ArchivedMonth};
use super::month::Month;
use super::past::{Archive, LOOK_AGAIN, LastLook};
use super::write::{STATIONS_AT_ONCE, window_of};
use crate::place::ObjectPlace;
use crate::sync::lock;

/// The time before which the archive has everything that the record holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArchiveCoverage {
    /// What the record holds before this instant may be deleted.
    pub until_ms: i64,
    /// Why that is earlier than the cutoff that was asked for.
    pub lack: Option<Lack>,
}

/// What an archive lacks.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Lack {
    /// It has no months.
    #[error("it has nothing yet")]
    Empty,
    /// It belongs to another record, named here.
    #[error("it is that of another record, {0}")]
    OfOther(String),
    /// It has no readings of a span of time.
    #[error("it lacks readings of {} to {}", Iso8601(.0.start), Iso8601(.0.end))]
    Nothing(Range<i64>),
    /// A file is missing or of another length.
    #[error("{0}")]
    File(String),
    /// Its number of readings of a month differs from that of the record.
    #[error("it has {archived} readings of {month}, and the record {held}")]
    Readings { month: Month, archived: u64, held: u64 },
}

/// The beginning of the month in which a cutoff lies.
pub fn whole_months(cutoff_ms: i64) -> i64 {
    // There is no month before the year 1.
    Month::of(cutoff_ms).start_ms().min(cutoff_ms)
}

impl Archive {
    /// The given cutoff or an earlier one: the archive has everything that the record holds before
    /// it. The answer may be some minutes old. `None` if the archive or the record cannot be read.
    /// What is missing is logged.
    pub fn known_cutoff_ms(
        self: &Arc<Self>,
        name: &str,
        record: &dyn Reader,
        cutoff_ms: i64,
    ) -> Option<i64> {
        let mut looked = lock(&self.looked);
        if let Some(known) = *looked
            && known.at.elapsed() < LOOK_AGAIN
            && Month::of(known.cutoff_ms) == Month::of(cutoff_ms)
        {
            return known.until_ms;
        }
        let found = self.covered(name, record, cutoff_ms);
        match &found {
            Ok(ArchiveCoverage { lack: Some(lack), .. }) => {
                self.log(format!("{lack}; retention waits there for mesonet-server archive"));
            }
            Ok(_) => {}
            Err(error) => tracing::warn!("{error}; nothing is deleted until it can be read"),
        }
        let until_ms = found.ok().map(|covered| covered.until_ms);
        // The archive of another record covers nothing.
        let until_ms = until_ms.filter(|&until_ms| until_ms > i64::MIN);
        let at = Instant::now();
        *looked = Some(LastLook { at, cutoff_ms, until_ms });
        until_ms
    }

    /// Finds the time, at most the cutoff, before which the archive has everything that the record
    /// holds. Reads months of the record for that.
    ///
    /// # Errors
    /// The archive or the record cannot be read.
    pub fn covered(
        self: &Arc<Self>,
        name: &str,
        record: &dyn Reader,
        cutoff_ms: i64,
    ) -> Result<ArchiveCoverage, StoreError> {
        let cutoff_ms = whole_months(cutoff_ms);
        let manifest = self.manifest()?;
        let nothing = |lack| Ok(ArchiveCoverage { until_ms: i64::MIN, lack: Some(lack) });
        if manifest.months.is_empty() {
            return nothing(Lack::Empty);
        }
        if manifest.record != name {
            return nothing(Lack::OfOther(manifest.record.clone()));
        }
        let held_ms = record.held_from_ms()?;
        let directory = record.directory()?;
        let series = directory.stations.iter().flat_map(|of| &of.series);
        let first_ms = series.map(|known| known.first_appearance_ms).min();
        let first_ms = first_ms.map_or(cutoff_ms, |first_ms| Month::of(first_ms).start_ms());
        let (place, stations) = (self.place()?, directory.stations.iter().cloned().collect());
        let check = Check { archive: self, place: &place, record, stations };
        check.until(&manifest, first_ms.max(held_ms), cutoff_ms)
    }
}

/// A record and its archive.
struct Check<'a> {
    archive: &'a Arc<Archive>,
    place: &'a ObjectPlace,
    record: &'a dyn Reader,
    stations: Vec<Arc<StationRecord>>,
}

impl Check<'_> {
    fn until(
        &self,
        manifest: &ArchiveManifest,
        first_ms: i64,
        cutoff_ms: i64,
    ) -> Result<ArchiveCoverage, StoreError> {
        let mut until_ms = first_ms;
        let stopped = |until_ms, lack| Ok(ArchiveCoverage { until_ms, lack: Some(lack) });
        let later = manifest.months.iter().filter(|known| known.month.span_ms().end > first_ms);
        for known in later {
            if until_ms >= cutoff_ms {
                break;
            }
            if let Some(lack) = self.gap(until_ms..known.from.min(cutoff_ms))? {
                return stopped(until_ms, lack);
            }
            until_ms = until_ms.max(known.from);
            if until_ms >= cutoff_ms {
                break;
            }
            if let Some(lack) = self.month(known, until_ms)? {
                return stopped(until_ms, lack);
            }
            until_ms = known.month.span_ms().end;
        }
        match self.gap(until_ms..cutoff_ms)? {
            Some(lack) => stopped(until_ms, lack),
            None => Ok(ArchiveCoverage { until_ms: cutoff_ms, lack: None }),
        }
    }

    /// What the record holds of a span that the archive has nothing of.
    fn gap(&self, span_ms: Range<i64>) -> Result<Option<Lack>, StoreError> {
        let is_empty = span_ms.is_empty() || self.held(&span_ms)?.0 == 0;
        Ok((!is_empty).then_some(Lack::Nothing(span_ms)))
    }

    /// What the archive lacks of a month, of which the record holds the part from an instant on.
    fn month(&self, known: &ArchivedMonth, from_ms: i64) -> Result<Option<Lack>, StoreError> {
        let found = self.place.list(&known.month.folder());
        let found = found.map_err(|error| self.archive.away(&error))?;
        if let Some(fault) = known.faults(&found).into_iter().next() {
            return Ok(Some(Lack::File(fault)));
        }
        let span_ms = from_ms..known.month.span_ms().end;
        let (held, is_damaged) = self.held(&span_ms)?;
        let archived =
            if from_ms <= known.from { known.readings } else { self.archived(&span_ms)? };
        // What is damaged in the record may be whole in the archive.
        let has_all = held == archived || is_damaged && held < archived;
        Ok((!has_all).then_some(Lack::Readings { month: known.month, archived, held }))
    }

    /// Counts the readings of a span in the record, and says whether any part of the span is
    /// damaged.
    fn held(&self, span_ms: &Range<i64>) -> Result<(u64, bool), StoreError> {
        let (mut count, mut is_damaged, mut from_ms) = (0, false, span_ms.start);
        while from_ms < span_ms.end {
            let longest_ms = self.record.longest_scan_ms();
            let end_ms = from_ms.saturating_add(longest_ms).min(span_ms.end);
            let within = from_ms..end_ms;
            let window = window_of(&within)?;
            for stations in self.stations.chunks(STATIONS_AT_ONCE) {
                let ids: Vec<StationId> = stations.iter().map(|of| of.station.id).collect();
                let variables = variables(stations.iter().map(Arc::as_ref));
                let selection = Selection { stations: &ids, variables: &variables, window };
                let damage = self.record.scan(&selection, &mut |_, slices| {
                    let times = slices.iter().flat_map(|slice| slice.ts_ms);
                    count += times.filter(|ts_ms| within.contains(ts_ms)).count() as u64;
                })?;
                is_damaged |= damage.blocks() > 0;
            }
            from_ms = end_ms;
        }
        Ok((count, is_damaged))
    }

    /// Counts the readings of a part of a month in the archive.
    fn archived(&self, span_ms: &Range<i64>) -> Result<u64, StoreError> {
        let (open, mut count) = (self.archive.open(), 0);
        for station in &self.stations {
            open.scan(station, span_ms.clone(), &mut |slices| {
                count += slices.iter().map(|slice| slice.ts_ms.len() as u64).sum::<u64>();
            })?;
        }
        Ok(count)
    }
}
