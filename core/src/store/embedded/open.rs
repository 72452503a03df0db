//! Reads the files of a store when it is opened.

use std::sync::Arc;

use super::catalogue::{
    GENERATION, PLACES_GENERATION, RETAIN_FROM, RecordCatalogue, journal_batch, mark_batch,
};
use super::codec::{Bytes, Wrong, take_run};
use super::fault::{Fault, Faults};
use super::folder::Folder;
use super::run::SortedRun;
use super::segment::Segment;
use super::series_table::SeriesList;
use super::stations::{Delta, Stations, take_deltas};
use super::sweep::{next_segment, sweep};
use super::view::View;
use super::walk::RunRef;
use super::write::WriterState;
use crate::observation::StationId;
use crate::store::{Directory, StoreError};

/// Reads the database; segments are opened when they are first read. Damage is recorded and set
/// aside, and files that a killed process left behind are cleaned up. Also returns how many
/// unfinished files were deleted.
pub(super) fn load(
    folder: &Folder,
    is_new: bool,
    faults: &Arc<Faults>,
) -> Result<(WriterState, usize), StoreError> {
    let mut catalogue = RecordCatalogue::open(&folder.path, is_new)?;
    faults.note_all(catalogue.set_aside()?);
    let missing = catalogue.missing_batches()?;
    let lacks_batches = !missing.is_empty();
    faults.note_all(missing);
    catalogue.count_batches()?;
    let (series, damaged) = catalogue.series()?;
    faults.note_all(damaged);
    let (states, damaged) = catalogue.stations(&series)?;
    faults.note_all(damaged);
    let mut stations = Stations::default();
    for state in states {
        stations.load(state);
    }
    stations.generation = catalogue.number(GENERATION)?.unwrap_or(0);
    stations.places_generation = catalogue.number(PLACES_GENERATION)?.unwrap_or(0);
    stations.opened();

    let (entries, damaged) = catalogue.segments()?;
    for (id, fault) in damaged {
        catalogue.set_segment_aside(folder, id, None, &fault)?;
        faults.note(fault);
    }
    let swept = sweep(folder, &mut catalogue, &entries, lacks_batches, faults)?;
    let segment = |entry| {
        let segment = Segment::new(&folder.path, entry, faults);
        segment.look();
        Arc::new(segment)
    };
    let series = Arc::new(series);
    let retain_from_ms = catalogue.number(RETAIN_FROM)?.unwrap_or(i64::MIN);
    let lost = Arc::new(catalogue.lost()?);
    let next_segment = next_segment(folder, &catalogue)?;
    let last_batch = catalogue.last_batch()?;
    let mut state = WriterState {
        catalogue,
        stations,
        segments: entries.into_iter().map(segment).collect(),
        fresh: Vec::new(),
        frozen: 0,
        journal_batches: 0,
        last_batch,
        lost: Arc::clone(&lost),
        retain_from_ms,
        next_segment,
        appending: false,
        view: Arc::new(View {
            directory: Arc::new(Directory::default()),
            series: Arc::clone(&series),
            segments: Vec::new(),
            fresh: Vec::new(),
            lost,
            retain_from_ms,
        }),
        series,
    };
    state.replay(faults)?;
    Ok((state, swept))
}

impl WriterState {
    /// Replays the journal.
    fn replay(&mut self, faults: &Faults) -> Result<(), StoreError> {
        for entry in self.catalogue.journal()? {
            match decode_batch(&entry.batch, &self.series) {
                Ok((deltas, run)) => {
                    for (id, delta) in &deltas {
                        self.stations.apply(*id, delta);
                    }
                    self.stations.note(&run, &self.series);
                    self.add_fresh(run, entry.id);
                }
                Err(cause) => {
                    self.catalogue
                        .transaction(|transaction| mark_batch(transaction, &entry, &cause))?;
                    self.lost = Arc::new(self.catalogue.lost()?);
                    faults.note(Fault::new(journal_batch(entry.id), cause));
                }
            }
            entry.fault.into_iter().for_each(|fault| faults.note(fault));
            self.stations.generation = entry.generation;
            self.stations.places_generation = entry.places_generation;
        }
        self.stations.opened();
        self.publish();
        Ok(())
    }
}

/// Decodes a journal batch into its station changes and its readings.
pub(super) fn decode_batch(
    batch: &[u8],
    series: &SeriesList,
) -> Result<(Vec<(StationId, Delta)>, SortedRun), Wrong> {
    let mut bytes = Bytes::open(batch)?;
    let deltas = take_deltas(&mut bytes)?;
    let run = take_run(&mut bytes, series)?;
    RunRef::Rows(&run).check_times()?;
    if !bytes.is_empty() {
        return Err("it has trailing bytes".to_owned());
    }
    Ok((deltas, run))
}
