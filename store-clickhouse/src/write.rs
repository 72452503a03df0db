//! Appending: a batch and its verdicts become rows, which are committed together.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use clickhouse::{RowOwned, RowWrite};
use mesonet::observation::{Qualifier, QualityCode};
use mesonet::store::{Receipt, StoreError, VerdictFn, Verdicts};
use mesonet::time::DAY_MS;
use mesonet::{Batch, Reading, Series, StationId};

use crate::changes::changes_row;
use crate::fence::Fence;
use crate::known::KnownRecord;
use crate::link::{At, InsertedRows, Link, TablePlace};
use crate::load::{BATCHES, COMMITTED, earlier_places_row, load, newest_committed, station_row};
use crate::load_recent::follow_recent;
use crate::rows::{BatchRow, ChangesRow, ReadingRow, SeriesRow, StationKey, WeatherRow};
use crate::series::KnownSeries;
use crate::versions::{after, next_version};
use crate::view::{NewestReadings, RecordView};

const BEGUN: u8 = 1;
/// Found without its end by the next writer: what is written of it later does not count either.
const ABANDONED: u8 = 3;

/// Rows of one insert, and days of it: a day is a partition, and ClickHouse refuses a block with
/// more than a hundred.
const ROWS_AT_ONCE: usize = 100_000;
const DAYS_AT_ONCE: usize = 64;

/// What the one writer holds.
#[derive(Debug)]
pub(crate) struct BatchWriter {
    pub link: Arc<Link>,
    pub known: KnownRecord,
    pub fence: Arc<Fence>,
    /// Number of the last batch, committed or not.
    last_batch: u64,
    /// Whether a batch has failed after it was begun. If so, what is on record has to be read
    /// again.
    unsure: bool,
}

/// The rows that a batch adds.
#[derive(Default)]
pub(crate) struct Additions {
    pub series: Vec<Arc<Series>>,
    pub readings: Vec<ReadingRow>,
    /// How many of these, the last ones, are older readings with another verdict.
    pub revised: usize,
    pub weather: Vec<WeatherRow>,
}

impl BatchWriter {
    /// Becomes the writer of a record.
    pub(crate) fn open(link: Arc<Link>) -> Result<Self, StoreError> {
        // From here on the previous writer is refused.
        let fence = Fence::take(&link)?;
        Self::begin(link, Arc::new(fence))
    }

    fn begin(link: Arc<Link>, fence: Arc<Fence>) -> Result<Self, StoreError> {
        let batch = fence.first_number();
        let mut known = load(&link)?;
        // The previous writer may have committed its last batch while this one was asking. Such a
        // batch was found neither as committed nor as left behind. It would count, and be missing
        // from what is known.
        while newest_committed(&link)?.batch > known.visible.up_to {
            known = load(&link)?;
        }
        confirm_last(&link, known.visible.up_to)?;
        let left = known.visible.uncommitted.iter().filter(|&&left| left > 0 && left < batch);
        let left = left.map(|&batch| BatchRow { batch, state: ABANDONED, ..BatchRow::default() });
        insert_states(&link, left.collect())?;
        // An empty batch, so that the list of those that were never committed does not grow.
        let note = changes_row(batch, known.visible.up_to, &[], 0, today());
        insert_note(&link, note)?;
        let (generation, places_generation) = (known.generation, known.places_generation);
        let row = BatchRow { batch, state: COMMITTED, generation, places_generation };
        insert_states(&link, vec![row])?;
        known.visible.up_to = batch;
        Ok(Self { link, known, fence, last_batch: batch, unsure: false })
    }

    /// After a failed batch, finds out what is on record. The batch may have been committed
    /// although ClickHouse did not say so.
    pub(crate) fn make_sure(&mut self) -> Result<(), StoreError> {
        if self.unsure {
            self.fence.check(&self.link, None)?;
            self.fence.take_again(&self.link)?;
            let mut again = Self::begin(Arc::clone(&self.link), Arc::clone(&self.fence))?;
            let mut recent = self.known.recent.clone();
            follow_recent(&mut recent, &again.view(), self.known.visible.up_to)?;
            again.known.recent = recent;
            *self = again;
        }
        Ok(())
    }

    /// Returns what readers see.
    pub(crate) fn view(&self) -> RecordView {
        RecordView::new(&self.link, &self.known)
    }

    pub(crate) fn append(
        &mut self,
        batch: &Batch,
        judge: &mut VerdictFn<'_>,
        written_day: i32,
    ) -> Result<Receipt, StoreError> {
        self.make_sure()?;
        let (series, new_series) = self.check(batch)?;
        let before = self.view();
        let mut next = self.known.clone();
        next.series = series;
        next.take_in(batch);
        let mut receipt = Receipt::default();
        let (came, weather_came) = incoming(batch, &next.series);
        let mut add = Additions { series: new_series, ..Additions::default() };
        add.readings = self.resolve(&came, &before, &mut receipt)?;
        add.weather = self.resolve_weather(&weather_came, &before)?;
        for row in &add.readings {
            let series = next.series.by_id(row.series).map(Arc::clone);
            if let (Some(series), Some(state)) = (series, next.station(row.station.into())) {
                state.note(&series, row.ts_ms, row.version == 0);
            }
        }
        let changed_stations = self.changed_stations(batch, &next);
        let changed =
            !changed_stations.is_empty() || !add.readings.is_empty() || !add.weather.is_empty();
        next.generation += u64::from(changed);
        next.make_directory();
        next.recent.put(add.readings.iter().copied(), &next.series);

        let seen = RecordView {
            directory: Arc::clone(&next.directory),
            series: Arc::clone(&next.series),
            stations: Arc::clone(&next.stations),
            recent: next.recent.clone(),
            fresh: add.readings.clone().into(),
            fresh_weather: add.weather.clone().into(),
            ..before.clone()
        };
        let verdicts = judge(&seen)?;
        drop(seen);
        let came = add.readings.len();
        self.revise(&verdicts, &before, &mut add.readings, &mut receipt)?;
        add.revised = add.readings.len() - came;
        if !changed && receipt.revised > 0 {
            // The judge has already seen a directory of this generation, made before its verdicts.
            next.generation += 1;
            next.make_directory();
        }
        if receipt.revised > 0 {
            next.recent.put(add.readings.iter().copied(), &next.series);
        }
        if changed || receipt.revised > 0 {
            // Includes stations of older readings: a reader finds what has changed by the states of
            // stations.
            let revised = add.readings.iter().map(|row| StationId::from(row.station));
            let touched: BTreeSet<StationId> =
                changed_stations.into_iter().chain(revised).collect();
            let touched: Vec<StationId> = touched.into_iter().collect();
            self.commit(next, &add, &touched, written_day)?;
        }
        Ok(receipt)
    }

    /// Refuses an invalid batch before anything is changed. Returns the series on record together
    /// with the series of the batch, and the series of the batch alone.
    fn check(&self, batch: &Batch) -> Result<(Arc<KnownSeries>, Vec<Arc<Series>>), StoreError> {
        let announced: HashSet<StationId> =
            batch.stations.iter().map(|station| station.id).collect();
        let mut series = Arc::clone(&self.known.series);
        let mut added = Vec::new();
        for (index, report) in batch.reports.iter().enumerate() {
            let station = report.station;
            if !self.known.stations.contains_key(&station) && !announced.contains(&station) {
                return Err(StoreError::UnknownStation { index, station });
            }
            for Reading { series: key, value, .. } in &report.readings {
                let variable = key.variable;
                if !value.is_finite() {
                    return Err(StoreError::NotFinite { index, variable, value: *value });
                }
                if series.get(key).is_none() {
                    let Some(fresh) = Arc::make_mut(&mut series).add(key.clone()) else {
                        return Err(StoreError::SeriesIdTaken { index, variable, id: key.id() });
                    };
                    added.push(fresh);
                }
            }
        }
        Ok((series, added))
    }

    /// Decides which readings become the next versions.
    fn resolve(
        &self,
        came: &[ReadingRow],
        before: &RecordView,
        receipt: &mut Receipt,
    ) -> Result<Vec<ReadingRow>, StoreError> {
        // A reading later than all others of its series is new. Nearly all readings are.
        let may_be_known = |row: &&ReadingRow| {
            let state = self.known.stations.get(&row.station.into());
            let series = self.known.series.by_id(row.series);
            let newest_ms = state.zip(series).and_then(|(state, series)| state.newest_ms(series));
            newest_ms.is_some_and(|newest_ms| row.ts_ms <= newest_ms)
        };
        let moment = |row: &ReadingRow| (row.station.into(), row.ts_ms);
        let moments: Vec<_> = came.iter().filter(may_be_known).map(moment).collect();
        let stored = before.find(&moments)?;
        let mut next = Vec::new();
        let key = |row: &ReadingRow| (row.station, row.series, row.ts_ms);
        for same in came.chunk_by(|a, b| key(a) == key(b)) {
            if same[0].ts_ms < self.known.visible.retain_from_ms {
                receipt.expired += same.len();
                continue;
            }
            let of = next_version(stored.get(&key(&same[0])), same, receipt);
            next.extend(of.map_err(|_| self.too_many(&same[0]))?);
        }
        Ok(next)
    }

    fn resolve_weather(
        &self,
        came: &[WeatherRow],
        before: &RecordView,
    ) -> Result<Vec<WeatherRow>, StoreError> {
        let may_be_known = |row: &&WeatherRow| {
            let state = self.known.stations.get(&row.station.into());
            state.is_some_and(|state| row.ts_ms <= state.weather_of.0)
        };
        let moment = |row: &WeatherRow| (row.station.into(), row.ts_ms);
        let moments: Vec<_> = came.iter().filter(may_be_known).map(moment).collect();
        let stored = before.find_weather(&moments)?;
        let mut next = Vec::new();
        let key = |row: &WeatherRow| (row.station, row.ts_ms);
        for same in came.chunk_by(|a, b| key(a) == key(b)) {
            if same[0].ts_ms >= self.known.visible.retain_from_ms {
                // Receipts count readings.
                let of = next_version(stored.get(&key(&same[0])), same, &mut Receipt::default());
                let full = || self.link.failed(&"present weather has no room for another version");
                next.extend(of.map_err(|_| full())?);
            }
        }
        Ok(next)
    }

    fn too_many(&self, row: &ReadingRow) -> StoreError {
        let ReadingRow { station, series, ts_ms, .. } = *row;
        let station = StationId::from(station);
        self.link.failed(&format!(
            "the reading of series {series} of station {station} at {ts_ms} has {} versions, \
             and there is no room for another",
            u16::MAX
        ))
    }

    /// Puts verdicts on readings of the batch. A verdict on an older reading becomes its next
    /// version.
    fn revise(
        &self,
        verdicts: &[Verdicts],
        before: &RecordView,
        readings: &mut Vec<ReadingRow>,
        receipt: &mut Receipt,
    ) -> Result<(), StoreError> {
        let mut places: HashMap<(StationKey, i32, i64), usize> = readings
            .iter()
            .enumerate()
            .map(|(at, row)| ((row.station, row.series, row.ts_ms), at))
            .collect();
        let all = || {
            verdicts.iter().flat_map(|Verdicts { station, series, ts_ms, quality }| {
                let one = move |(&ts_ms, &quality)| {
                    ((StationKey::from(*station), series.0, ts_ms), QualityCode::from(quality).0)
                };
                ts_ms.iter().zip(quality).map(one)
            })
        };
        let older: Vec<_> = all()
            .filter(|(key, _)| !places.contains_key(key))
            .map(|((station, _, ts_ms), _)| (StationId::from(station), ts_ms))
            .filter(|(station, _)| self.known.stations.contains_key(station))
            .filter(|&(_, ts_ms)| ts_ms >= self.known.visible.retain_from_ms)
            .collect();
        let stored: NewestReadings = before.find(&older)?;
        for (key, code) in all() {
            let at = if let Some(&at) = places.get(&key) {
                at
            } else {
                let older = stored.get(&key).filter(|known| known.quality != code);
                let Some(known) = older else { continue };
                let version = after(Some(known)).map_err(|_| self.too_many(known))?;
                places.insert(key, readings.len());
                readings.push(ReadingRow { version, ..*known });
                readings.len() - 1
            };
            receipt.revised += usize::from(readings[at].quality != code);
            readings[at].quality = code;
        }
        Ok(())
    }

    /// The stations that a batch has changed.
    fn changed_stations(&self, batch: &Batch, next: &KnownRecord) -> Vec<StationId> {
        let described = batch.stations.iter().map(|station| station.id);
        let reported = batch.reports.iter().map(|report| report.station);
        let all: BTreeSet<StationId> = described.chain(reported).collect();
        let is_same = |id: &StationId| match (self.known.stations.get(id), next.stations.get(id)) {
            (Some(was), Some(is)) => Arc::ptr_eq(was, is) || was == is,
            (was, is) => was.is_none() && is.is_none(),
        };
        all.into_iter().filter(|id| !is_same(id)).collect()
    }

    /// Writes a batch. Nobody sees any part of it before it is committed.
    pub(crate) fn commit(
        &mut self,
        mut next: KnownRecord,
        add: &Additions,
        stations: &[StationId],
        written_day: i32,
    ) -> Result<(), StoreError> {
        self.unsure = true;
        let batch = self.last_batch + 1;
        self.last_batch = batch;
        let (generation, places_generation) = (next.generation, next.places_generation);
        let of_state = |state| BatchRow { batch, state, generation, places_generation };
        let link = &self.link;
        let begun = insert_states(link, vec![of_state(BEGUN)])?;
        self.fence.check(link, Some(begun))?;
        let series: Vec<_> = add.series.iter().map(|series| series_row(series, batch)).collect();
        let everywhere = TablePlace::everywhere;
        Blocks::new(link, everywhere("series"), batch).insert(series)?;
        for shard in 0..link.shards() {
            let is_of = |station: StationKey| station.shard(link.shards()) == shard;
            let readings = add.readings.iter().filter(|row| is_of(row.station));
            let readings = readings.map(|row| ReadingRow { batch, ..*row }).collect();
            let mut sent = Blocks::new(link, TablePlace::of_shard("readings", shard), batch);
            for rows in blocks(readings, |row: &ReadingRow| row.ts_ms) {
                sent.insert(rows)?;
            }
            let weather = add.weather.iter().filter(|row| is_of(row.station)).cloned();
            let weather = weather.map(|row| WeatherRow { batch, ..row }).collect();
            let mut sent = Blocks::new(link, TablePlace::of_shard("weather", shard), batch);
            for rows in blocks(weather, |row: &WeatherRow| row.ts_ms) {
                sent.insert(rows)?;
            }
        }
        let mut sent = Blocks::new(link, everywhere("stations"), batch);
        let mut sent_places = Blocks::new(link, everywhere("earlier_places"), batch);
        for ids in stations.chunks(ROWS_AT_ONCE) {
            let states = || ids.iter().filter_map(|id| next.stations.get(id));
            sent.insert(states().map(|of| station_row(of, batch, written_day)).collect())?;
            let places = states().filter_map(|of| earlier_places_row(of, batch, written_day));
            sent_places.insert(places.collect())?;
        }
        let before = self.known.visible.up_to;
        let note = changes_row(batch, before, &add.readings, add.revised, written_day);
        insert_note(link, note)?;
        let committed = insert_states(link, vec![of_state(COMMITTED)])?;
        // Another writer may have opened the record in the meantime. It does not count this batch,
        // so the batch must not be acknowledged. Its readings come again from the feed.
        self.fence.check(link, Some(committed))?;
        next.visible.up_to = batch;
        self.known = next;
        self.unsure = false;
        Ok(())
    }
}

/// The rows of a batch in one table, block by block.
struct Blocks<'a> {
    link: &'a Link,
    place: TablePlace,
    batch: u64,
    rows: usize,
}

impl<'a> Blocks<'a> {
    fn new(link: &'a Link, place: TablePlace, batch: u64) -> Self {
        Self { link, place, batch, rows: 0 }
    }

    fn insert<R>(&mut self, rows: Vec<R>) -> Result<(), StoreError>
    where
        R: RowOwned + RowWrite + Send + Sync + 'static,
    {
        self.rows += rows.len();
        let found = InsertedRows { condition: format!("batch = {}", self.batch), rows: self.rows };
        self.link.insert(self.place, rows, &found).map(|_| ())
    }
}

/// Makes sure that the last batch, on which the next ones are built, does not disappear again.
fn confirm_last(link: &Link, batch: u64) -> Result<(), StoreError> {
    let condition = format!("batch = {batch} AND state = {COMMITTED}");
    let rows = usize::from(batch > 0);
    link.confirm(BATCHES, &InsertedRows { condition, rows })
}

/// Writes what a batch changes.
fn insert_note(link: &Link, note: ChangesRow) -> Result<(), StoreError> {
    Blocks::new(link, TablePlace::everywhere("changes"), note.batch).insert(vec![note])
}

/// Writes that batches are in a state.
fn insert_states(link: &Link, rows: Vec<BatchRow>) -> Result<At, StoreError> {
    let batches: Vec<String> = rows.iter().map(|row| row.batch.to_string()).collect();
    let state = rows.first().map_or(0, |row| row.state);
    let condition = format!("state = {state} AND batch IN ({})", batches.join(", "));
    let found = InsertedRows { condition, rows: rows.len() };
    link.insert(BATCHES, rows, &found)
}

/// The readings and the weather of a batch, sorted by station, series and time. Rows with the same
/// key keep their order in the batch.
fn incoming(batch: &Batch, table: &KnownSeries) -> (Vec<ReadingRow>, Vec<WeatherRow>) {
    let (mut readings, mut weather) = (Vec::new(), Vec::new());
    for report in &batch.reports {
        let (station, ts_ms, revision) =
            (StationKey::from(report.station), report.ts_ms, report.revision);
        for Reading { series, value, quality, qualifier } in &report.readings {
            let Some(series) = table.get(series) else { continue };
            let quality = QualityCode::from(*quality).0;
            readings.push(ReadingRow {
                station,
                series: series.id.0,
                ts_ms,
                version: 0,
                batch: 0,
                value: *value,
                quality,
                source: quality,
                revision,
                qualifier: Qualifier::code(*qualifier),
            });
        }
        if let Some(words) = &report.present_weather {
            let words = words.clone();
            weather.push(WeatherRow { station, ts_ms, version: 0, batch: 0, revision, words });
        }
    }
    readings.sort_by_key(|row| (row.station, row.series, row.ts_ms));
    weather.sort_by_key(|row| (row.station, row.ts_ms));
    (readings, weather)
}

fn series_row(series: &Series, batch: u64) -> SeriesRow {
    let key = &series.key;
    SeriesRow {
        series: series.id.0,
        batch,
        variable: key.variable.name().to_owned(),
        interval_type: key.interval_type.name().to_owned(),
        interval_minutes: key.interval_minutes,
        calculated: key.calculated,
        reported_unit: key.reported_unit.clone().into_owned(),
        bucket: key.bucket.clone().into_owned(),
    }
}

/// Divides rows into blocks of a bounded number of rows and days.
fn blocks<T>(rows: Vec<T>, ts_ms: impl Fn(&T) -> i64) -> Vec<Vec<T>> {
    let mut by_day: BTreeMap<i64, Vec<T>> = BTreeMap::new();
    for row in rows {
        by_day.entry(ts_ms(&row) / DAY_MS).or_default().push(row);
    }
    let (mut blocks, mut days): (Vec<Vec<T>>, usize) = (Vec::new(), DAYS_AT_ONCE);
    for (_, rows) in by_day {
        for row in rows {
            match blocks.last_mut() {
                Some(block) if days < DAYS_AT_ONCE && block.len() < ROWS_AT_ONCE => block.push(row),
                _ => {
                    blocks.push(vec![row]);
                    days = 0;
                }
            }
        }
        days += 1;
    }
    blocks
}

/// The day since 1970.
pub(crate) fn today() -> i32 {
    let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    (since_1970.as_secs() / 86_400) as i32
}

#[cfg(test)]
#[path = "write_tests.rs"]
mod tests;
