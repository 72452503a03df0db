//! Appending: a batch and its verdicts become a run, a journal entry and a new view.

use std::collections::{BTreeMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

use super::catalogue::{BatchNote, Lost, RecordCatalogue, add_batch, add_series, add_weather};
use super::codec::{ByteWriter as Out, put_run};
use super::merge::merge_fresh;
use super::report_texts::{TEXTS, TEXTS_SLOT, held as held_text};
use super::run::{SortedRun, StoredReading, UNCHECKED};
use super::run_builder::RunBuilder;
use super::segment::Segment;
use super::series_table::SeriesList;
use super::stations::{Stations, put_deltas};
use super::store_state::StoreState;
use super::view::{Lookup, View};
use super::weather_table::{WEATHER, WEATHER_SLOT, Words};
use crate::observation::{Batch, Qualifier, QualityCode, Reading, SeriesId, SeriesKey, StationId};
use crate::store::{Directory, Receipt, StoreError, VerdictFn, Verdicts};

/// How many runs of similar size are merged at once: each reading is then copied only a few times
/// before it is sealed.
const MERGE_AT_ONCE: usize = 4;

/// All mutable state, held by one writer at a time.
#[derive(Debug)]
pub(super) struct WriterState {
    pub catalogue: RecordCatalogue,
    pub stations: Stations,
    pub series: Arc<SeriesList>,
    pub segments: Vec<Arc<Segment>>,
    /// The fresh runs, oldest first, each with the last journal entry in it.
    pub fresh: Vec<(Arc<SortedRun>, i64)>,
    /// The number of fresh runs that are being sealed and must not change.
    pub frozen: usize,
    /// Number of journal batches that are not sealed.
    pub journal_batches: usize,
    /// The last batch that the journal ever had.
    pub last_batch: u64,
    /// Sealed readings that are lost for good.
    pub lost: Arc<Vec<Lost>>,
    pub retain_from_ms: i64,
    /// Id of the next segment.
    pub next_segment: i64,
    /// Whether a batch is being appended; the flag stays set if a judge panics.
    pub appending: bool,
    /// The view that readers see now.
    pub view: Arc<View>,
}

/// A reading being appended.
struct Incoming {
    /// Rank of its station by id.
    rank: u32,
    series: SeriesId,
    slot: u32,
    ts_ms: i64,
    stored: StoredReading,
    /// The report, by its index in the batch.
    report: u32,
}

impl WriterState {
    /// Appends a batch; the new view exists once the batch is on disk.
    pub(super) fn append(
        &mut self,
        batch: &Batch,
        judge: &mut VerdictFn<'_>,
    ) -> Result<Receipt, StoreError> {
        if self.appending {
            self.stations.roll_back();
        }
        let series = self.check(batch)?;
        self.stations.begin();
        self.appending = true;
        let appended = self.try_append(batch, judge, series);
        if appended.is_err() {
            self.stations.roll_back();
        }
        self.appending = false;
        appended
    }

    /// Refuses an invalid batch before anything is changed. Returns the series and the words of
    /// weather, including the new ones of the batch.
    fn check(&self, batch: &Batch) -> Result<Arc<SeriesList>, StoreError> {
        let mut series = Arc::clone(&self.series);
        let announced: HashSet<StationId> =
            batch.stations.iter().map(|station| station.id).collect();
        for (index, report) in batch.reports.iter().enumerate() {
            let station = report.station;
            if self.stations.place(station).is_none() && !announced.contains(&station) {
                return Err(StoreError::UnknownStation { index, station });
            }
            for Reading { series: key, value, .. } in &report.readings {
                let variable = key.variable;
                if !value.is_finite() {
                    return Err(StoreError::NotFinite { index, variable, value: *value });
                }
                if series.slot_of(key).is_none() && Arc::make_mut(&mut series).add(key).is_none() {
                    return Err(StoreError::SeriesIdTaken { index, variable, id: key.id() });
                }
            }
            if let Some(words) = report.present_weather.as_deref().map(Words::new)
                && !series.weather.has(&words)
            {
                Arc::make_mut(&mut series).weather.add(words);
            }
        }
        Ok(series)
    }

    fn try_append(
        &mut self,
        batch: &Batch,
        judge: &mut VerdictFn<'_>,
        series: Arc<SeriesList>,
    ) -> Result<Receipt, StoreError> {
        let deltas = self.stations.take_in(batch);
        let before = Arc::clone(&self.view);
        let mut receipt = Receipt::default();
        let incoming = self.incoming(batch, &series);
        let run = self.resolve(batch, &incoming, &mut before.lookup(), &mut receipt);
        self.stations.note(&run, &series);
        let changed = !deltas.is_empty() || !run.is_empty();
        self.stations.generation += u64::from(changed);

        let mut fresh: Vec<Arc<SortedRun>> = before.fresh.clone();
        let run = Arc::new(run);
        if !run.is_empty() {
            fresh.push(Arc::clone(&run));
        }
        let directory = Arc::new(self.stations.directory());
        let seen = View { directory, series: Arc::clone(&series), fresh, ..View::clone(&before) };
        let verdicts = judge(&seen)?;
        let (run, revised) = revise(&run, &seen, &mut before.lookup(), &verdicts, &mut receipt);
        // The judge has already seen a directory of this generation, made before its verdicts.
        self.stations.generation += u64::from(!changed && receipt.revised > 0);

        if !deltas.is_empty() || !run.is_empty() {
            let mut out = Out::default();
            put_deltas(&deltas, &mut out);
            put_run(&run, &mut out);
            let blob = out.close();
            let stations = &self.stations;
            let note = BatchNote::of(stations.generation, stations.places_generation, &run);
            let (known, known_words) = (self.series.list.len(), self.series.weather.list.len());
            let id = self.catalogue.transaction(|transaction| {
                for fresh in &series.list[known..] {
                    add_series(transaction, fresh)?;
                }
                for fresh in &series.weather.list[known_words..] {
                    add_weather(transaction, fresh)?;
                }
                add_batch(transaction, None, &note, &revised, &blob)
            })?;
            // The batch is on disk: from here on nothing can fail.
            self.catalogue.acknowledge(id);
            self.last_batch = id as u64;
            self.series = series;
            self.add_fresh(run, id);
            self.publish_with(&seen.directory);
        }
        Ok(receipt)
    }

    fn incoming(&self, batch: &Batch, series: &SeriesList) -> Vec<Incoming> {
        let count = batch.reports.iter().map(|report| report.readings.len()).sum();
        let mut incoming = Vec::with_capacity(count);
        let mut slots = Slots { series, last: Vec::new() };
        for (number, report) in (0..).zip(&batch.reports) {
            let Some(place) = self.stations.place(report.station) else { continue };
            let rank = self.stations.rank(place);
            for (at, reading) in report.readings.iter().enumerate() {
                let Some(slot) = slots.find(at, &reading.series) else { continue };
                let quality = QualityCode::from(reading.quality).0;
                let stored = StoredReading {
                    value: reading.value,
                    quality,
                    source: quality,
                    revision: report.revision,
                    qualifier: Qualifier::code(reading.qualifier),
                };
                let (series, ts_ms) = (series.list[slot as usize].id, report.ts_ms);
                incoming.push(Incoming { rank, series, slot, ts_ms, stored, report: number });
            }
            let mut put = |series, slot, value| {
                let (revision, ts_ms) = (report.revision, report.ts_ms);
                let (quality, source) = (UNCHECKED, UNCHECKED);
                let stored = StoredReading { value, quality, source, revision, qualifier: 0 };
                incoming.push(Incoming { rank, series, slot, ts_ms, stored, report: number });
            };
            if let Some(words) = &report.present_weather {
                put(WEATHER, WEATHER_SLOT, Words::new(words).value());
            }
            if let Some(text) = &report.text {
                put(TEXTS, TEXTS_SLOT, f64::from(text.code()));
            }
        }
        // The sort is stable: readings with the same series and time keep their order in the batch.
        incoming.sort_by_key(|reading| (reading.rank, reading.series, reading.ts_ms));
        incoming
    }

    /// Decides which readings are stored: for each series and time, the last one not overtaken by a
    /// higher revision, unless it is already stored.
    fn resolve(
        &self,
        batch: &Batch,
        incoming: &[Incoming],
        lookup: &mut Lookup<'_>,
        receipt: &mut Receipt,
    ) -> SortedRun {
        let mut builder = RunBuilder::with_capacity(incoming.len());
        for row in incoming.chunk_by(|a, b| (a.rank, a.series) == (b.rank, b.series)) {
            let Incoming { rank, series, slot, .. } = row[0];
            let state = self.stations.state(self.stations.place_of_rank(rank));
            let (id, newest_ms) = (state.record.station.id, state.newest_ms(series));
            // Receipts count readings.
            let mut uncounted = Receipt::default();
            let is_reading = series != WEATHER && series != TEXTS;
            let receipt = if is_reading { &mut *receipt } else { &mut uncounted };
            builder.row(id, series, slot);
            for same in row.chunk_by(|a, b| a.ts_ms == b.ts_ms) {
                let ts_ms = same[0].ts_ms;
                if ts_ms < self.retain_from_ms {
                    receipt.expired += same.len();
                    continue;
                }
                let stored = newest_ms.filter(|&newest_ms| ts_ms <= newest_ms);
                let stored = stored.and_then(|_| lookup.find(id, series, ts_ms));
                let (mut first, mut held, mut replaced, mut of) = (stored, stored, 0, None);
                for Incoming { stored: came, report, .. } in same {
                    match held {
                        Some(higher) if higher.revision > came.revision => {
                            receipt.overtaken += 1;
                            continue;
                        }
                        Some(held) if held.came() == came.came() => receipt.unchanged += 1,
                        Some(_) => replaced += 1,
                        None => receipt.added += 1,
                    }
                    if held.is_none_or(|held| held.came() != came.came()) {
                        of = Some(*report as usize);
                    }
                    held = Some(*came);
                    first = first.or(held);
                }
                let came = |of: Option<StoredReading>| of.map(|stored| stored.came());
                let again = came(held) == came(first);
                *(if again { &mut receipt.unchanged } else { &mut receipt.replaced }) += replaced;
                if let Some(held) = held.filter(|_| came(held) != came(stored)) {
                    builder.push(ts_ms, held);
                    let text = of.filter(|_| series == TEXTS);
                    if let Some(text) = text.and_then(|of| batch.reports[of].text.as_ref()) {
                        builder.push_text(&held_text(text));
                    }
                }
            }
            builder.end_row();
        }
        builder.finish()
    }

    /// Describes the store, for a segment about to be written.
    pub(super) fn about(&self, made_from: Vec<i64>, sealed_to: i64) -> StoreState {
        StoreState {
            made_from,
            sealed_to,
            generation: self.stations.generation,
            places_generation: self.stations.places_generation,
            retain_from_ms: self.retain_from_ms,
            stations: self.stations.all().to_vec(),
        }
    }

    /// Returns the id for a new segment.
    pub(super) fn take_id(&mut self) -> i64 {
        self.next_segment += 1;
        self.next_segment - 1
    }

    /// Adds a run that is in the journal.
    pub(super) fn add_fresh(&mut self, run: SortedRun, journal_id: i64) {
        add_run(&mut self.fresh, self.frozen, run, journal_id);
        self.journal_batches += 1;
    }

    /// Makes the state on disk visible to readers.
    pub(super) fn publish(&mut self) {
        let known = Arc::clone(&self.view.directory);
        self.publish_with(&known);
    }

    /// Makes the state on disk visible to readers. A directory of the present generation need not
    /// be made again: it takes as long as there are stations.
    fn publish_with(&mut self, known: &Arc<Directory>) {
        let directory = if known.generation == self.stations.generation
            && known.stations.len() == self.stations.len()
        {
            Arc::clone(known)
        } else {
            Arc::new(self.stations.directory())
        };
        self.view = Arc::new(View {
            directory,
            series: Arc::clone(&self.series),
            segments: self.segments.clone(),
            fresh: self.fresh.iter().map(|(run, _)| Arc::clone(run)).collect(),
            lost: Arc::clone(&self.lost),
            retain_from_ms: self.retain_from_ms,
        });
    }
}

/// Adds a run that is in the journal to the fresh runs; the first `frozen` of these must not
/// change. The newest runs are merged when several have a similar size, so that few have to be
/// searched.
pub(super) fn add_run(
    fresh: &mut Vec<(Arc<SortedRun>, i64)>,
    frozen: usize,
    run: SortedRun,
    journal_id: i64,
) {
    let mut readings = run.readings;
    fresh.push((Arc::new(run), journal_id));
    let mut start = fresh.len() - 1;
    while start > frozen && fresh[start - 1].0.readings <= readings {
        start -= 1;
        readings += fresh[start].0.readings;
    }
    if fresh.len() - start >= MERGE_AT_ONCE {
        let runs: Vec<&SortedRun> = fresh[start..].iter().map(|(run, _)| &**run).collect();
        let merged = Arc::new(merge_fresh(&runs));
        fresh.truncate(start);
        fresh.push((merged, journal_id));
    }
}

/// Finds the indices of series. Reports of a feed name their series in the same order, so the
/// series at the same position of the previous report is tried first.
struct Slots<'a> {
    series: &'a SeriesList,
    last: Vec<u32>,
}

impl Slots<'_> {
    fn find(&mut self, at: usize, key: &SeriesKey) -> Option<u32> {
        if let Some(&slot) = self.last.get(at)
            && self.series.list[slot as usize].key == *key
        {
            return Some(slot);
        }
        let slot = self.series.slot_of(key)?;
        match self.last.get_mut(at) {
            Some(last) => *last = slot,
            None => self.last.push(slot),
        }
        Some(slot)
    }
}

/// Returns the run with the verdicts in it: on its own readings, and on older readings, which are
/// copied with the new verdict. Also returns the positions of these copies.
fn revise(
    run: &SortedRun,
    seen: &View,
    older: &mut Lookup<'_>,
    verdicts: &[Verdicts],
    receipt: &mut Receipt,
) -> (SortedRun, Vec<Range<u32>>) {
    let mut quality: Vec<u8> = run.columns.iter().flat_map(|own| own.quality.to_vec()).collect();
    let mut copies: BTreeMap<(StationId, SeriesId, i64), StoredReading> = BTreeMap::new();
    let mut cursor = 0;
    let mut put = |verdict: &mut u8, code: u8| {
        receipt.revised += usize::from(*verdict != code);
        *verdict = code;
    };
    for Verdicts { station, series, ts_ms, quality: codes } in verdicts {
        let row = run.row_of(*station, *series, &mut cursor).map(|at| &run.rows[at]);
        let own = row.map(|row| (row, run.times(row)));
        for (&ts_ms, &code) in ts_ms.iter().zip(codes) {
            let code = QualityCode::from(code).0;
            let here = own.and_then(|(row, times)| {
                Some(row.start as usize + times.binary_search(&ts_ms).ok()?)
            });
            if let Some(at) = here {
                put(&mut quality[at], code);
            } else if let Some(copy) = copies.get_mut(&(*station, *series, ts_ms)) {
                put(&mut copy.quality, code);
            } else if let Some(mut stored) = older.find(*station, *series, ts_ms)
                && stored.quality != code
            {
                put(&mut stored.quality, code);
                copies.insert((*station, *series, ts_ms), stored);
            }
        }
    }
    let run = run.with_quality(&quality);
    if copies.is_empty() {
        return (run, Vec::new());
    }
    let mut builder = RunBuilder::with_capacity(copies.len());
    let mut row = None;
    for (&(station, series, ts_ms), &stored) in &copies {
        if row != Some((station, series)) {
            builder.end_row();
            builder.row(station, series, seen.series.slot(series).unwrap_or_default());
            row = Some((station, series));
        }
        builder.push(ts_ms, stored);
    }
    builder.end_row();
    let run = merge_fresh(&[&run, &builder.finish()]);
    let is_copy = |station, series, ts_ms| copies.contains_key(&(station, series, ts_ms));
    let revised = run.positions_of(is_copy);
    (run, revised)
}
