//! The in-memory store: one set of columns per series and station.

mod original;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use super::columns::Columns;
use super::{
    Damage, Directory, Reader, Receipt, Selection, SeriesSlice, StationNames, StationRecord,
    StationRecords, StationSeries, Store, StoreError, StoredReport, VerdictFn, Verdicts,
    VisitReports, VisitWeather, described,
};
use crate::geo::StationIndex;
use crate::observation::{
    Batch, Qualifier, QualityCode, Reading, Report, ReportText, Series, SeriesId, SeriesKey,
    Station, StationId,
};
use crate::time::ClosedWindow;

/// A store that keeps everything in memory, until the process ends.
///
/// ```
/// use mesonet::{Batch, IntervalType, LonLat, MemoryStore, Quality, Reader, Reading, Report, SeriesKey, Station, StationId, Store, Variable};
/// use mesonet::store::no_verdicts;
/// let id = StationId::new("METAR", "CYYZ");
/// let station = Station {
///     id,
///     network: "METAR".into(),
///     native_id: "CYYZ".into(),
///     name: "Toronto Pearson".into(),
///     station_type: None,
///     coordinates: LonLat::new(-79.63, 43.68)?,
///     sensor_height_m: 10.0,
///     altitude_m: Some(173.0),
///     identifiers: mesonet::observation::Identifiers::default(),
///     earlier_places: mesonet::observation::EarlierPlaces::default(),
/// };
/// let reading = Reading {
///     series: SeriesKey::new(Variable::AirTemperature, IntervalType::Instantaneous, 0),
///     value: 24.6,
///     quality: Quality::UNCHECKED,
///     qualifier: None,
/// };
/// let report = Report {
///     station: id, ts_ms: 0, revision: 0, present_weather: None, text: None,
///     readings: vec![reading],
/// };
/// let store = MemoryStore::default();
/// let receipt = store.append(&Batch { stations: vec![station], reports: vec![report] }, &mut no_verdicts)?;
/// assert_eq!(receipt.added, 1);
/// assert_eq!(store.directory()?.stations.len(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Default)]
pub struct MemoryStore {
    record: RwLock<MemoryRecord>,
    directory: RwLock<Arc<Directory>>,
}

#[derive(Debug, Default)]
struct MemoryRecord {
    generation: u64,
    places_generation: u64,
    places: HashMap<StationId, usize>,
    /// The places in the order of their ids.
    by_id: Vec<usize>,
    stations: Vec<StationData>,
    series: HashMap<SeriesKey, Arc<Series>>,
    series_ids: HashSet<SeriesId>,
}

/// A stored reading.
#[derive(Clone, Copy)]
struct MemoryReading {
    value: f64,
    quality: QualityCode,
    source: QualityCode,
    revision: u8,
    qualifier: u8,
}

/// The revision of a report and its words of the weather.
type ReportWeather = (u8, Vec<String>);

/// The revision of a report and its text.
type Text = (u8, ReportText);

/// The previous state of what a batch changed.
#[derive(Default)]
struct Undo {
    /// By index of the station.
    stations: HashMap<usize, (Arc<StationRecord>, (i64, u8))>,
    /// The replaced readings, and how many times, by index of the station.
    readings: HashMap<(usize, SeriesId, i64), (MemoryReading, usize)>,
    /// By index of the station and time: revision and words, if there were any.
    weather: HashMap<(usize, i64), Option<ReportWeather>>,
    /// The same for texts.
    texts: HashMap<(usize, i64), Option<Text>>,
}

#[derive(Debug)]
struct StationData {
    /// Shared with directories handed out: a change copies it.
    record: Arc<StationRecord>,
    /// Time and revision of the report that the weather in the record is from.
    weather_of: (i64, u8),
    /// Time and revision of each report that mentions the weather, and its words; ascending in
    /// time.
    weather: Vec<(i64, u8, Vec<String>)>,
    /// The revision and text of each report that has one, by time.
    texts: BTreeMap<i64, Text>,
    /// Parallel to `record.series`.
    columns: Vec<Columns>,
}

impl Store for MemoryStore {
    fn append(&self, batch: &Batch, judge: &mut VerdictFn<'_>) -> Result<Receipt, StoreError> {
        let mut record = self.write();
        record.check(batch)?;
        let before = record.generation;
        let mut receipt = record.apply(batch);
        let verdicts = judge(&MemoryView { store: self, record: &record })?;
        receipt.revised = record.revise(&verdicts);
        // The judge has already seen a directory of this generation, made before its verdicts.
        record.generation += u64::from(record.generation == before && receipt.revised > 0);
        Ok(receipt)
    }
}

impl Reader for MemoryStore {
    fn directory(&self) -> Result<Arc<Directory>, StoreError> {
        MemoryView { store: self, record: &self.read() }.directory()
    }

    fn scan(
        &self,
        selection: &Selection<'_>,
        visit: &mut dyn FnMut(usize, &[SeriesSlice<'_>]),
    ) -> Result<Damage, StoreError> {
        MemoryView { store: self, record: &self.read() }.scan(selection, visit)
    }

    fn scan_weather(
        &self,
        stations: &[StationId],
        window: ClosedWindow,
        visit: &mut VisitWeather<'_>,
    ) -> Result<Damage, StoreError> {
        MemoryView { store: self, record: &self.read() }.scan_weather(stations, window, visit)
    }

    fn scan_reports(
        &self,
        stations: &[StationId],
        window: ClosedWindow,
        visit: &mut VisitReports<'_>,
    ) -> Result<Damage, StoreError> {
        MemoryView { store: self, record: &self.read() }.scan_reports(stations, window, visit)
    }

    fn held_from_ms(&self) -> Result<i64, StoreError> {
        Ok(i64::MIN)
    }
}

/// The record while its lock is held.
struct MemoryView<'a> {
    store: &'a MemoryStore,
    record: &'a MemoryRecord,
}

impl Reader for MemoryView<'_> {
    fn directory(&self) -> Result<Arc<Directory>, StoreError> {
        let cache = &self.store.directory;
        let known = cache.read().unwrap_or_else(PoisonError::into_inner).clone();
        if known.generation == self.record.generation {
            return Ok(known);
        }
        let fresh = Arc::new(self.record.directory(&known));
        *cache.write().unwrap_or_else(PoisonError::into_inner) = Arc::clone(&fresh);
        Ok(fresh)
    }

    fn scan(
        &self,
        selection: &Selection<'_>,
        visit: &mut dyn FnMut(usize, &[SeriesSlice<'_>]),
    ) -> Result<Damage, StoreError> {
        let mut slices = Vec::new();
        for (i, id) in selection.stations.iter().enumerate() {
            let Some(&place) = self.record.places.get(id) else { continue };
            slices.clear();
            self.record.stations[place].slices(selection, &mut slices);
            if !slices.is_empty() {
                visit(i, &slices);
            }
        }
        Ok(Damage::default())
    }

    fn scan_weather(
        &self,
        stations: &[StationId],
        window: ClosedWindow,
        visit: &mut VisitWeather<'_>,
    ) -> Result<Damage, StoreError> {
        for (i, station) in stations.iter().enumerate() {
            let Some(&place) = self.record.places.get(station) else { continue };
            for (ts_ms, revision, words) in within(&self.record.stations[place].weather, window) {
                visit(i, *ts_ms, *revision, words);
            }
        }
        Ok(Damage::default())
    }

    fn scan_reports(
        &self,
        stations: &[StationId],
        window: ClosedWindow,
        visit: &mut VisitReports<'_>,
    ) -> Result<Damage, StoreError> {
        for (i, station) in stations.iter().enumerate() {
            let Some(&place) = self.record.places.get(station) else { continue };
            let within = window.start_ms()..=window.end_ms();
            for (&ts_ms, (revision, text)) in self.record.stations[place].texts.range(within) {
                let (header, text) = (text.header(), text.text());
                visit(i, &StoredReport { ts_ms, revision: *revision, header, text });
            }
        }
        Ok(Damage::default())
    }

    fn held_from_ms(&self) -> Result<i64, StoreError> {
        Ok(i64::MIN)
    }
}

/// The reports of the weather in a window.
fn within(
    weather: &[(i64, u8, Vec<String>)],
    window: ClosedWindow,
) -> impl Iterator<Item = &(i64, u8, Vec<String>)> {
    let from = weather.partition_point(|known| known.0 < window.start_ms());
    weather[from..].iter().take_while(move |known| known.0 <= window.end_ms())
}

impl MemoryStore {
    // A writer checks its batch before it changes anything, so the record is intact even if a panic
    // poisoned the lock.
    fn read(&self) -> RwLockReadGuard<'_, MemoryRecord> {
        self.record.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, MemoryRecord> {
        self.record.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl MemoryRecord {
    /// Refuses an invalid batch before anything is changed.
    fn check(&self, batch: &Batch) -> Result<(), StoreError> {
        let announced: HashSet<StationId> =
            batch.stations.iter().map(|station| station.id).collect();
        let mut fresh_keys = HashSet::new();
        let mut fresh_ids = HashSet::new();
        for (index, report) in batch.reports.iter().enumerate() {
            let station = report.station;
            if !self.places.contains_key(&station) && !announced.contains(&station) {
                return Err(StoreError::UnknownStation { index, station });
            }
            for Reading { series, value, .. } in &report.readings {
                let variable = series.variable;
                if !value.is_finite() {
                    return Err(StoreError::NotFinite { index, variable, value: *value });
                }
                if !self.series.contains_key(series) && fresh_keys.insert(series) {
                    let id = series.id();
                    if self.series_ids.contains(&id) || !fresh_ids.insert(id) {
                        return Err(StoreError::SeriesIdTaken { index, variable, id });
                    }
                }
            }
        }
        Ok(())
    }

    fn apply(&mut self, batch: &Batch) -> Receipt {
        let (mut receipt, mut before) = (Receipt::default(), Undo::default());
        let known = self.stations.len();
        for station in described(batch) {
            self.put_station(station, &mut before);
        }
        for report in &batch.reports {
            self.put_report(report, &mut before, &mut receipt);
        }
        for ((place, series, ts_ms), (stored, times)) in before.readings {
            let data = &mut self.stations[place];
            let at = data.record.series.partition_point(|known| known.series.id < series);
            if data.columns[at].is_again(ts_ms, stored) {
                receipt.replaced -= times;
                receipt.unchanged += times;
            }
        }
        let is_other = |(place, (record, weather_of)): (usize, _)| {
            let data = &self.stations[place];
            let same = Arc::ptr_eq(&record, &data.record) || record == data.record;
            !same || weather_of != data.weather_of
        };
        let is_other_weather = |((place, ts_ms), was): ((usize, i64), Option<ReportWeather>)| {
            let weather = &self.stations[place].weather;
            let at = weather.binary_search_by_key(&ts_ms, |known| known.0).ok();
            let is = at.map(|at| (weather[at].1, &weather[at].2));
            is != was.as_ref().map(|(revision, words)| (*revision, words))
        };
        let is_other_text = |((place, ts_ms), was): ((usize, i64), Option<Text>)| {
            let is = self.stations[place].texts.get(&ts_ms);
            !matches!((&was, is), (Some(was), Some(is)) if is_copy(was, is))
        };
        let changed = receipt.added + receipt.replaced > 0
            || before.weather.into_iter().any(is_other_weather)
            || before.texts.into_iter().any(is_other_text)
            || self.stations.len() > known
            || before.stations.into_iter().any(is_other);
        self.generation += u64::from(changed);
        receipt
    }

    fn put_station(&mut self, station: &Station, before: &mut Undo) {
        let Some(&place) = self.places.get(&station.id) else {
            let id = |&place: &usize| self.stations[place].record.station.id;
            let at = self.by_id.partition_point(|place| id(place) < station.id);
            self.by_id.insert(at, self.stations.len());
            self.places.insert(station.id, self.stations.len());
            self.stations.push(StationData {
                record: Arc::new(StationRecord {
                    station: station.clone(),
                    update_time_ms: None,
                    present_weather: None,
                    series: Vec::new(),
                }),
                weather_of: (i64::MIN, 0),
                weather: Vec::new(),
                texts: BTreeMap::new(),
                columns: Vec::new(),
            });
            self.places_generation += 1;
            return;
        };
        let data = &mut self.stations[place];
        let station = data.record.station.described_as(station, data.record.update_time_ms);
        if data.record.station == station {
            return;
        }
        before.note(place, data);
        let moved = data.record.station.coordinates != station.coordinates;
        self.places_generation += u64::from(moved);
        Arc::make_mut(&mut data.record).station = station;
    }

    fn put_report(&mut self, report: &Report, before: &mut Undo, receipt: &mut Receipt) {
        let Report { ts_ms, revision, .. } = *report;
        let place = self.places[&report.station];
        let data = &mut self.stations[place];
        before.note(place, data);
        if data.record.update_time_ms < Some(ts_ms) {
            Arc::make_mut(&mut data.record).update_time_ms = Some(ts_ms);
        }
        if let Some(weather) = &report.present_weather {
            if (ts_ms, revision) >= data.weather_of {
                data.weather_of = (ts_ms, revision);
                if data.record.present_weather.as_ref() != Some(weather) {
                    Arc::make_mut(&mut data.record).present_weather = Some(weather.clone());
                }
            }
            let at = data.weather.partition_point(|known| known.0 < ts_ms);
            let known = data.weather.get_mut(at).filter(|known| known.0 == ts_ms);
            let was = known.as_ref().map(|known| (known.1, known.2.clone()));
            before.weather.entry((place, ts_ms)).or_insert(was);
            match known {
                Some(known) if known.1 > revision => {}
                Some(known) => (known.1, known.2) = (revision, weather.clone()),
                None => data.weather.insert(at, (ts_ms, revision, weather.clone())),
            }
        }
        if let Some(text) = &report.text {
            let came = (revision, text.clone());
            let known = data.texts.get(&ts_ms);
            before.texts.entry((place, ts_ms)).or_insert_with(|| known.cloned());
            if known.is_none_or(|known| known.0 <= revision && !is_copy(known, &came)) {
                data.texts.insert(ts_ms, came);
            }
        }
        for Reading { series, value, quality, qualifier } in &report.readings {
            let series = self.series.entry(series.clone()).or_insert_with_key(|key| {
                let series = Arc::new(Series::from(key.clone()));
                self.series_ids.insert(series.id);
                series
            });
            let known = &data.record.series;
            let at = known.partition_point(|known| known.series.id < series.id);
            match known.get(at).filter(|known| known.series.id == series.id) {
                Some(known) if known.first_appearance_ms <= ts_ms => {}
                Some(_) => {
                    Arc::make_mut(&mut data.record).series[at].first_appearance_ms = ts_ms;
                }
                None => {
                    let (series, first_appearance_ms) = (Arc::clone(series), ts_ms);
                    let fresh = StationSeries { series, first_appearance_ms };
                    Arc::make_mut(&mut data.record).series.insert(at, fresh);
                    data.columns.insert(at, Columns::default());
                }
            }
            let source = QualityCode::from(*quality);
            let qualifier = Qualifier::code(*qualifier);
            let came =
                MemoryReading { value: *value, quality: source, source, revision, qualifier };
            if let Some(replaced) = data.columns[at].put(ts_ms, came, receipt) {
                let key = (place, series.id, ts_ms);
                before.readings.entry(key).or_insert((replaced, 0)).1 += 1;
            }
        }
    }

    fn revise(&mut self, verdicts: &[Verdicts]) -> usize {
        let mut changed = 0;
        for Verdicts { station, series, ts_ms, quality } in verdicts {
            let Some(&place) = self.places.get(station) else { continue };
            let data = &mut self.stations[place];
            let known = &data.record.series;
            let Ok(at) = known.binary_search_by_key(series, |known| known.series.id) else {
                continue;
            };
            let columns = &mut data.columns[at];
            for (ts_ms, &quality) in ts_ms.iter().zip(quality) {
                if let Ok(at) = columns.ts_ms.binary_search(ts_ms) {
                    let quality = QualityCode::from(quality);
                    changed += usize::from(columns.quality[at] != quality);
                    columns.quality[at] = quality;
                }
            }
        }
        changed
    }

    fn directory(&self, known: &Directory) -> Directory {
        let record = |&place: &usize| Arc::clone(&self.stations[place].record);
        let stations: StationRecords = self.by_id.iter().map(record).collect();
        let index = if known.places_generation == self.places_generation {
            Arc::clone(&known.index)
        } else {
            let places = stations.iter().map(|record| record.station.coordinates);
            Arc::new(StationIndex::new(places))
        };
        Directory {
            generation: self.generation,
            places_generation: self.places_generation,
            stations,
            index,
            names: StationNames::default(),
        }
    }
}

/// Whether two texts are copies of one revision of a report.
fn is_copy(one: &Text, other: &Text) -> bool {
    one.0 == other.0 && one.1.is_same_report(&other.1)
}

impl MemoryReading {
    /// Whether another reading came in with the same content, regardless of its present verdict.
    fn came_as(self, other: Self) -> bool {
        (self.value.to_bits(), self.source, self.revision, self.qualifier)
            == (other.value.to_bits(), other.source, other.revision, other.qualifier)
    }
}

impl Undo {
    fn note(&mut self, place: usize, data: &StationData) {
        let was = || (Arc::clone(&data.record), data.weather_of);
        self.stations.entry(place).or_insert_with(was);
    }
}

impl Columns {
    /// Inserts a reading and counts the outcome. Returns the reading that it replaced.
    fn put(
        &mut self,
        ts_ms: i64,
        came: MemoryReading,
        receipt: &mut Receipt,
    ) -> Option<MemoryReading> {
        // Readings nearly always come in order.
        let at = match self.ts_ms.last() {
            Some(&last) if last >= ts_ms => self.ts_ms.partition_point(|&ts| ts < ts_ms),
            _ => self.ts_ms.len(),
        };
        if self.ts_ms.get(at) != Some(&ts_ms) {
            self.ts_ms.insert(at, ts_ms);
            self.value.insert(at, came.value);
            self.quality.insert(at, came.quality);
            self.source.insert(at, came.source);
            self.revision.insert(at, came.revision);
            self.qualifier.insert(at, came.qualifier);
            receipt.added += 1;
            return None;
        }
        let known = self.stored(at);
        if known.revision > came.revision {
            receipt.overtaken += 1;
            None
        } else if known.came_as(came) {
            receipt.unchanged += 1;
            None
        } else {
            receipt.replaced += 1;
            self.set(at, came);
            Some(known)
        }
    }

    /// Whether a reading is the same as before; it then keeps its verdict.
    fn is_again(&mut self, ts_ms: i64, before: MemoryReading) -> bool {
        let Ok(at) = self.ts_ms.binary_search(&ts_ms) else { return false };
        let again = self.stored(at).came_as(before);
        if again {
            self.set(at, before);
        }
        again
    }

    fn stored(&self, at: usize) -> MemoryReading {
        MemoryReading {
            value: self.value[at],
            quality: self.quality[at],
            source: self.source[at],
            revision: self.revision[at],
            qualifier: self.qualifier[at],
        }
    }

    fn set(&mut self, at: usize, to: MemoryReading) {
        (self.value[at], self.revision[at]) = (to.value, to.revision);
        (self.quality[at], self.source[at]) = (to.quality, to.source);
        self.qualifier[at] = to.qualifier;
    }
}

impl StationData {
    fn slices<'a>(&'a self, selection: &Selection<'_>, slices: &mut Vec<SeriesSlice<'a>>) {
        for (known, columns) in self.record.series.iter().zip(&self.columns) {
            let series = &known.series;
            if !selection.variables.contains(&series.key.variable) {
                continue;
            }
            slices.extend(columns.slice(series, selection.window.range_in(&columns.ts_ms)));
        }
    }
}
