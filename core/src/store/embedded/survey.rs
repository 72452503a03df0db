//! Finds out what dropping readings would remove, without changing anything.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::catalogue::{RETAIN_FROM, RecordCatalogue, SegmentEntry};
use super::fault::Faults;
use super::names::DATABASE;
use super::open::decode_batch;
use super::report_texts::{Content, TEXTS};
use super::run::SortedRun;
use super::segment::Segment;
use super::series_table::SeriesList;
use super::unwritten;
use super::walk::RunRef;
use crate::lock::FileLock;
use crate::store::StoreError;

/// A survey of the store in a folder that no process has open; see
/// [`EmbeddedStore::survey`](super::EmbeddedStore::survey).
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let dir = folder.path();
/// # use mesonet::{EmbeddedStore, Intake, intake::FeedFile, store::EmbeddedOptions};
/// # let csv = "raw_text,station_id,observation_time,latitude,longitude\n\
/// #     CYYZ 032000Z 24012G20KT 15SM 29/17 A2991,CYYZ,2024-08-03T20:00:00Z,43.68,-79.63\n";
/// # let store = EmbeddedStore::open(dir, EmbeddedOptions::default())?;
/// # Intake::default().read_file(&store, csv.as_bytes(), &FeedFile::new("metars.csv", 0))?;
/// // The store has one report of Toronto Pearson: 29 °C, wind 12 kt with gusts of 20 kt.
/// use mesonet::store::{Maintenance, Survey, WouldGo};
/// store.maintain(&Maintenance { seal_all: true, ..Maintenance::default() })?;
/// drop(store);
/// let survey: Survey = EmbeddedStore::survey(dir)?;
/// let newest_ms = survey.newest_ms().ok_or("it is empty")?;
/// assert_eq!(survey.before(newest_ms), WouldGo::default());
/// let all = survey.before(newest_ms + 1);
/// assert!(all.readings > 0 && all.segments == 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Survey {
    dir: PathBuf,
    series: SeriesList,
    segments: Vec<SegmentEntry>,
    fresh: Vec<SortedRun>,
    retain_from_ms: i64,
    /// Shared with other readers.
    _lock: Option<FileLock>,
}

/// What would be removed if readings before an instant were dropped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WouldGo {
    /// Number of readings that would no longer be served; readings dropped earlier do not count.
    pub readings: u64,
    /// Number of segments whose files would be deleted.
    pub segments: usize,
}

impl Survey {
    pub(super) fn open(dir: &Path) -> Result<Self, StoreError> {
        let lock = unwritten::share_folder(dir)?;
        let mut survey = Self {
            dir: dir.to_owned(),
            series: SeriesList::default(),
            segments: Vec::new(),
            fresh: Vec::new(),
            retain_from_ms: i64::MIN,
            _lock: lock,
        };
        // A folder may hold only products and models.
        if !dir.join(DATABASE).exists() {
            return Ok(survey);
        }
        let catalogue = RecordCatalogue::unwritten(dir)?;
        survey.retain_from_ms = catalogue.number(RETAIN_FROM)?.unwrap_or(i64::MIN);
        survey.series = catalogue.series()?.0;
        survey.segments = catalogue.segments()?.0;
        survey.segments.retain(|entry| entry.content == Content::Readings);
        for entry in catalogue.journal()? {
            // Damaged batches are not served, so they cannot be removed.
            survey.fresh.extend(decode_batch(&entry.batch, &survey.series).ok().map(|read| read.1));
        }
        Ok(survey)
    }

    /// Returns the time of the newest reading, milliseconds since 1970; `None` if there is none.
    pub fn newest_ms(&self) -> Option<i64> {
        let sealed = self.segments.iter().map(|entry| entry.last_ms);
        let fresh = self.fresh.iter().filter(|run| run.readings > 0).map(|run| run.last_ms);
        sealed.chain(fresh).max()
    }

    /// Returns what would be removed if the readings before an instant were dropped.
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
        would_go.readings +=
            self.fresh.iter().map(|run| self.count(RunRef::Rows(run), instant_ms)).sum::<u64>();
        would_go
    }

    fn in_segment(&self, entry: &SegmentEntry, instant_ms: i64, faults: &Arc<Faults>) -> u64 {
        if entry.first_ms >= self.retain_from_ms && entry.last_ms < instant_ms {
            return entry.readings;
        }
        let segment = Segment::new(&self.dir, entry.clone(), faults);
        segment.run(&self.series).map_or(0, |run| self.count(run, instant_ms))
    }

    /// Counts the readable readings of a run before an instant that are not dropped yet.
    fn count(&self, run: RunRef<'_>, instant_ms: i64) -> u64 {
        let span = (self.retain_from_ms, instant_ms.saturating_sub(1));
        if span.0 > span.1 {
            return 0;
        }
        let mut readings = 0;
        run.parts(span, |_, (series, _), part| {
            readings += if series == TEXTS { 0 } else { part.len() as u64 };
        });
        readings
    }
}
