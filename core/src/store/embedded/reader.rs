//! Reads a store without blocking its writer.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use arc_swap::ArcSwap;

use super::access::Access;
use super::catalogue::{
    Edition, GENERATION, PLACES_GENERATION, RETAIN_FROM, RecordCatalogue, SegmentEntry,
    journal_batch,
};
use super::contents::check_record;
use super::fault::{Fault, Faults};
use super::names::DATABASE;
use super::open::decode_batch;
use super::run::SortedRun;
use super::segment::Segment;
use super::series_table::SeriesList;
use super::stations::Stations;
use super::view::View;
use super::write::add_run;
use super::{Lost, StoreHealth, user_name};
use crate::store::copy::{Original, ReferenceData};
use crate::store::{Reader, ReaderWrapper, StoreError};

/// Reads the store in a folder, even while another process writes to it.
///
/// A reader sees the record as it was at the last [`refresh`](Self::refresh): whole batches, with
/// their verdicts. It writes nothing, and holds no lock between refreshes, so a writer can come and
/// go. Segments that the writer has merged or dropped in the meantime stay readable until the next
/// refresh.
///
/// ```
/// use mesonet::{Batch, EmbeddedStore, Reader, Store};
/// use mesonet::store::{EmbeddedOptions, EmbeddedReader, no_verdicts};
/// # let folder = tempfile::tempdir()?;
/// # let dir = folder.path();
/// # let batch = Batch::default();
/// let store = EmbeddedStore::open(dir, EmbeddedOptions::default())?;
/// let reader = EmbeddedReader::open(dir)?;
/// store.append(&batch, &mut no_verdicts)?;
/// reader.refresh()?;
/// assert_eq!(reader.directory()?.stations, store.directory()?.stations);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct EmbeddedReader {
    dir: PathBuf,
    view: ArcSwap<View>,
    known: Mutex<ReadState>,
    faults: Arc<Faults>,
}

/// The parts of the files read so far.
#[derive(Debug, Default)]
struct ReadState {
    edition: Edition,
    stations: Stations,
    series: Arc<SeriesList>,
    segments: Vec<Arc<Segment>>,
    /// The fresh runs, oldest first, each with the last journal entry in it.
    fresh: Vec<(Arc<SortedRun>, i64)>,
    lost: Arc<Vec<Lost>>,
    retain_from_ms: i64,
}

impl EmbeddedReader {
    /// Opens the store in a folder for reading.
    ///
    /// # Errors
    /// There is no store in the folder, it was written by a different version, or it cannot be read.
    pub fn open(dir: &Path) -> Result<Self, StoreError> {
        check_record(dir)?;
        // Nothing has been dropped from a record that was never written.
        let mut known = ReadState { retain_from_ms: i64::MIN, ..ReadState::default() };
        let view = ArcSwap::from_pointee(known.view());
        let (known, faults) = (Mutex::new(known), Arc::default());
        let reader = Self { dir: dir.to_owned(), view, known, faults };
        reader.refresh()?;
        Ok(reader)
    }

    /// Takes in what was written since the last refresh. Returns whether anything was written.
    ///
    /// # Errors
    /// The store cannot be read; the reader then keeps its state.
    pub fn refresh(&self) -> Result<bool, StoreError> {
        self.update(false)
    }

    /// Reads everything again, after the files of the folder were replaced by those of another
    /// state of the store. That state may lack what was known. [`refresh`](Self::refresh) would
    /// confuse batches that have the same numbers.
    ///
    /// # Errors
    /// As [`refresh`](Self::refresh).
    pub fn reread(&self) -> Result<(), StoreError> {
        self.update(true).map(|_| ())
    }

    fn update(&self, is_exchanged: bool) -> Result<bool, StoreError> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let read = |access: &Access| known.update(&self.dir, access, is_exchanged, &self.faults);
        let is_new = Access::reading(&self.dir, read)?;
        if is_new {
            self.view.store(Arc::new(known.view()));
        }
        Ok(is_new)
    }

    /// Returns a small text that is stored with the readings: see
    /// [`EmbeddedStore::meta_get`](super::EmbeddedStore::meta_get). The text is read at each call.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn meta_get(&self, name: &str) -> Result<Option<String>, StoreError> {
        Self::meta_of(&self.dir, name)
    }

    /// Returns a small text that is stored with the readings in a folder, and reads nothing else.
    ///
    /// # Errors
    /// There is no store, or it cannot be read.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let dir = folder.path();
    /// use mesonet::{EmbeddedStore, store::{EmbeddedOptions, EmbeddedReader}};
    /// let store = EmbeddedStore::open(dir, EmbeddedOptions::default())?;
    /// store.meta_set("origin", "sample")?;
    /// assert_eq!(EmbeddedReader::meta_of(dir, "origin")?.as_deref(), Some("sample"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn meta_of(dir: &Path, name: &str) -> Result<Option<String>, StoreError> {
        check_record(dir)?;
        let path = dir.join(DATABASE);
        Access::reading(dir, |access| {
            let catalogue = RecordCatalogue::read(access.connect(&path)?, path.clone())?;
            catalogue.meta(&user_name(name))
        })
    }

    /// The last batch that was read, and the series.
    pub(super) fn seen(&self) -> (u64, Arc<SeriesList>) {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        (known.edition.last_batch as u64, Arc::clone(&known.series))
    }

    /// Reads the database as it is now.
    pub(super) fn with_catalogue<T>(
        &self,
        read: impl Fn(&RecordCatalogue) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let path = self.dir.join(DATABASE);
        Access::reading(&self.dir, |access| {
            read(&RecordCatalogue::read(access.connect(&path)?, path.clone())?)
        })
    }

    /// Returns the state of the store, as far as it has been read.
    pub fn health(&self) -> StoreHealth {
        self.view.load().health(self.faults.list())
    }
}

impl ReadState {
    fn update(
        &mut self,
        dir: &Path,
        access: &Access,
        is_exchanged: bool,
        faults: &Arc<Faults>,
    ) -> Result<bool, StoreError> {
        let path = dir.join(DATABASE);
        let catalogue = RecordCatalogue::read(access.connect(&path)?, path)?;
        let edition = catalogue.edition()?;
        if edition == self.edition && !is_exchanged {
            return Ok(false);
        }
        if edition.only_adds_to(&self.edition) && !is_exchanged {
            self.take_journal(&catalogue, self.edition.last_batch, faults)?;
        } else {
            // The new state is built separately; if this fails, the old state stays.
            let mut fresh = Self::default();
            fresh.take_all(&catalogue, dir, &self.segments, faults)?;
            if !access.is_live() {
                faults.note_all(catalogue.missing_batches()?);
            }
            if is_exchanged {
                // The numbers of another state may be the same.
                let (now, before) = (&mut fresh.stations, &self.stations);
                now.generation = now.generation.max(before.generation + 1);
                now.places_generation = now.places_generation.max(before.places_generation + 1);
            }
            *self = fresh;
        }
        self.edition = edition;
        Ok(true)
    }

    fn take_all(
        &mut self,
        catalogue: &RecordCatalogue,
        dir: &Path,
        known: &[Arc<Segment>],
        faults: &Arc<Faults>,
    ) -> Result<(), StoreError> {
        faults.forget_retention();
        faults.note_all(catalogue.set_aside()?);
        let (series, damaged) = catalogue.series()?;
        faults.note_all(damaged);
        let (states, damaged) = catalogue.stations(&series)?;
        faults.note_all(damaged);
        for state in states {
            self.stations.load(state);
        }
        self.stations.generation = catalogue.number(GENERATION)?.unwrap_or(0);
        self.stations.places_generation = catalogue.number(PLACES_GENERATION)?.unwrap_or(0);
        self.stations.opened();
        self.series = Arc::new(series);
        self.retain_from_ms = catalogue.number(RETAIN_FROM)?.unwrap_or(i64::MIN);

        let (entries, damaged) = catalogue.segments()?;
        let mut lost = catalogue.lost()?;
        for (id, fault) in damaged {
            lost.push(Lost::of_segment(id));
            faults.note(fault);
        }
        self.lost = Arc::new(lost);
        // Files are opened while the catalogue still names them.
        let open = |entry: SegmentEntry| {
            let same = known.iter().find(|segment| segment.entry == entry);
            same.cloned().unwrap_or_else(|| Arc::new(Segment::held(dir, entry, faults)))
        };
        self.segments = entries.into_iter().map(open).collect();
        self.take_journal(catalogue, 0, faults)
    }

    /// Takes in the batches after a given one, with their new series and words.
    fn take_journal(
        &mut self,
        catalogue: &RecordCatalogue,
        after: i64,
        faults: &Arc<Faults>,
    ) -> Result<(), StoreError> {
        let entries = catalogue.journal_after(after)?;
        let series = Arc::make_mut(&mut self.series);
        let (now, _) = catalogue.series()?;
        // Runs refer to series by their places, so known series keep their places.
        for of in &now.list {
            let _ = series.add(&of.key);
        }
        now.weather.list.into_iter().for_each(|words| series.weather.add(words));
        for entry in entries {
            match decode_batch(&entry.batch, &self.series) {
                Ok((deltas, run)) => {
                    for (id, delta) in &deltas {
                        self.stations.apply(*id, delta);
                    }
                    self.stations.note(&run, &self.series);
                    add_run(&mut self.fresh, 0, run, entry.id);
                }
                Err(cause) => {
                    Arc::make_mut(&mut self.lost).extend(entry.lost());
                    faults.note(Fault::new(journal_batch(entry.id), cause));
                }
            }
            entry.fault.into_iter().for_each(|fault| faults.note(fault));
            self.stations.generation = entry.generation;
            self.stations.places_generation = entry.places_generation;
        }
        self.stations.opened();
        Ok(())
    }

    fn view(&mut self) -> View {
        View {
            directory: Arc::new(self.stations.directory()),
            series: Arc::clone(&self.series),
            segments: self.segments.clone(),
            fresh: self.fresh.iter().map(|(run, _)| Arc::clone(run)).collect(),
            lost: Arc::clone(&self.lost),
            retain_from_ms: self.retain_from_ms,
        }
    }
}

impl Original for EmbeddedReader {
    fn reference_data(&self) -> Result<ReferenceData, StoreError> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(known.stations.reference_data(&self.view.load()))
    }

    fn note(&self, name: &str) -> Result<Option<String>, StoreError> {
        self.meta_get(name)
    }
}

impl ReaderWrapper for EmbeddedReader {
    fn wrapped(&self) -> &dyn Reader {
        &self.view
    }
}
