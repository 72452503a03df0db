//! What giving up readings would take, found without changing anything.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::catalogue::{Catalogue, DATABASE, RETAIN_FROM, SegmentEntry};
use super::fault::Faults;
use super::open::decode_batch;
use super::run::Run;
use super::segment::Segment;
use super::series_table::SeriesTable;
use super::unwritten;
use crate::store::StoreError;

/// The store in a folder that no process has open: see
/// [`EmbeddedStore::survey`](super::EmbeddedStore::survey).
#[derive(Debug)]
pub struct Survey {
    dir: PathBuf,
    series: SeriesTable,
    segments: Vec<SegmentEntry>,
    fresh: Vec<Run>,
    retain_from_ms: i64,
    /// Shared with others who only read.
    _lock: Option<File>,
}

/// What would go if readings before an instant were given up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WouldGo {
    /// Readings that would not be served any more; those given up before do not count.
    pub readings: u64,
    /// Segments whose files would be deleted.
    pub segments: usize,
}

impl Survey {
    pub(super) fn open(dir: &Path) -> Result<Self, StoreError> {
        let lock = unwritten::share(dir)?;
        let mut survey = Self {
            dir: dir.to_owned(),
            series: SeriesTable::default(),
            segments: Vec::new(),
            fresh: Vec::new(),
            retain_from_ms: i64::MIN,
            _lock: lock,
        };
        // A folder may hold nothing but products and models.
        if !dir.join(DATABASE).exists() {
            return Ok(survey);
        }
        let catalogue = Catalogue::unwritten(dir)?;
        survey.retain_from_ms = catalogue.number(RETAIN_FROM)?.unwrap_or(i64::MIN);
        survey.series = catalogue.series()?.0;
        survey.segments = catalogue.segments()?.0;
        for entry in catalogue.journal()? {
            // What is damaged is not served, so it cannot go.
            survey.fresh.extend(decode_batch(&entry.batch, &survey.series).ok().map(|read| read.1));
        }
        Ok(survey)
    }

    /// Time of the newest reading, milliseconds since 1970; `None` where there is none.
    pub fn newest_ms(&self) -> Option<i64> {
        let sealed = self.segments.iter().map(|entry| entry.last_ms);
        let fresh = self.fresh.iter().filter(|run| run.readings > 0).map(|run| run.last_ms);
        sealed.chain(fresh).max()
    }

    /// What would go if the readings before an instant were given up.
    pub fn before(&self, instant_ms: i64) -> WouldGo {
        let mut would_go = WouldGo::default();
        let faults = Arc::default();
        for entry in &self.segments {
            if entry.first_ms >= instant_ms {
                continue;
            }
            would_go.segments += usize::from(entry.last_ms < instant_ms);
            would_go.readings += self.in_segment(entry, instant_ms, &faults);
        }
        would_go.readings += self.fresh.iter().map(|run| self.count(run, instant_ms)).sum::<u64>();
        would_go
    }

    fn in_segment(&self, entry: &SegmentEntry, instant_ms: i64, faults: &Arc<Faults>) -> u64 {
        if entry.first_ms >= self.retain_from_ms && entry.last_ms < instant_ms {
            return entry.readings;
        }
        let segment = Segment::new(&self.dir, entry.clone(), faults);
        segment.run(&self.series).map_or(0, |run| self.count(run, instant_ms))
    }

    /// The readings of a run before an instant that are not given up yet.
    fn count(&self, run: &Run, instant_ms: i64) -> u64 {
        let mut readings = 0;
        for row in &run.rows {
            let before = (self.retain_from_ms, instant_ms.saturating_sub(1));
            run.parts(row, before, &mut |part| readings += part.len() as u64, &mut |_| {});
        }
        readings
    }
}
