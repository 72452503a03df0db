//! The store in memory: one set of columns per series and station.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use super::{
    Directory, Judge, Reader, Receipt, Selection, SeriesSlice, StationRecord, StationSeries, Store,
    StoreError, Verdicts,
};
use crate::geo::StationIndex;
use crate::quality::{Quality, QualityCode};
use crate::report::{Batch, Reading, Report};
use crate::series::{Series, SeriesId, SeriesKey};
use crate::station::{Station, StationId};

/// A store that keeps everything in memory and forgets it at the end of the process.
///
/// ```
/// use mesonet::{
///     Batch, IntervalType, LonLat, MemoryStore, Quality, Reader, Reading, Report, SeriesKey, Station,
///     StationId, Store, Variable, unjudged,
/// };
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
/// };
/// let reading = Reading {
///     series: SeriesKey::new(Variable::AirTemperature, IntervalType::Instantaneous, 0),
///     value: 24.6,
///     quality: Quality::UNCHECKED,
/// };
/// let report = Report {
///     station: id, ts_ms: 0, revision: 0, present_weather: None, readings: vec![reading],
/// };
/// let store = MemoryStore::default();
/// let receipt = store.append(&Batch { stations: vec![station], reports: vec![report] }, &mut unjudged)?;
/// assert_eq!(receipt.added, 1);
/// assert_eq!(store.directory()?.stations.len(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Default)]
pub struct MemoryStore {
    record: RwLock<Record>,
    directory: RwLock<Arc<Directory>>,
}

#[derive(Debug, Default)]
struct Record {
    generation: u64,
    places_generation: u64,
    places: HashMap<StationId, usize>,
    stations: Vec<StationData>,
    series: HashMap<SeriesKey, Arc<Series>>,
    series_ids: HashSet<SeriesId>,
}

#[derive(Debug)]
struct StationData {
    /// Shared with the directories that were given out: a change copies it.
    record: Arc<StationRecord>,
    /// Time and revision of the report whose weather the record shows.
    weather_of: (i64, u8),
    /// In step with `record.series`.
    columns: Vec<Columns>,
}

#[derive(Debug, Default)]
struct Columns {
    ts_ms: Vec<i64>,
    value: Vec<f64>,
    quality: Vec<QualityCode>,
    source: Vec<QualityCode>,
    revision: Vec<u8>,
}

impl Store for MemoryStore {
    fn append(&self, batch: &Batch, judge: &mut Judge<'_>) -> Result<Receipt, StoreError> {
        let mut record = self.write();
        record.check(batch)?;
        let mut receipt = record.apply(batch);
        let verdicts = judge(&View { store: self, record: &record })?;
        receipt.revised = record.revise(&verdicts);
        // The judge has had a directory of this generation already: it tells nothing of verdicts.
        record.generation += u64::from(batch.reports.is_empty() && receipt.revised > 0);
        Ok(receipt)
    }
}

impl Reader for MemoryStore {
    fn directory(&self) -> Result<Arc<Directory>, StoreError> {
        View { store: self, record: &self.read() }.directory()
    }

    fn scan(
        &self,
        selection: &Selection<'_>,
        visit: &mut dyn FnMut(usize, &[SeriesSlice<'_>]),
    ) -> Result<(), StoreError> {
        View { store: self, record: &self.read() }.scan(selection, visit)
    }
}

/// The record while it is held.
struct View<'a> {
    store: &'a MemoryStore,
    record: &'a Record,
}

impl Reader for View<'_> {
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
    ) -> Result<(), StoreError> {
        let mut slices = Vec::new();
        for (i, id) in selection.stations.iter().enumerate() {
            let Some(&place) = self.record.places.get(id) else { continue };
            slices.clear();
            self.record.stations[place].slices(selection, &mut slices);
            if !slices.is_empty() {
                visit(i, &slices);
            }
        }
        Ok(())
    }
}

impl MemoryStore {
    // A writer checks its batch before it changes anything, so what a panic may have left behind
    // a poisoned lock is whole.
    fn read(&self) -> RwLockReadGuard<'_, Record> {
        self.record.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Record> {
        self.record.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Record {
    /// Refuses what cannot be taken before anything is changed.
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
        let mut receipt = Receipt::default();
        let mut changed = false;
        for station in &batch.stations {
            changed |= self.put_station(station);
        }
        for report in &batch.reports {
            self.put_report(report, &mut receipt);
            changed = true;
        }
        self.generation += u64::from(changed);
        receipt
    }

    fn put_station(&mut self, station: &Station) -> bool {
        let Some(&place) = self.places.get(&station.id) else {
            self.places.insert(station.id, self.stations.len());
            self.stations.push(StationData {
                record: Arc::new(StationRecord {
                    station: station.clone(),
                    update_time_ms: None,
                    present_weather: None,
                    series: Vec::new(),
                }),
                weather_of: (i64::MIN, 0),
                columns: Vec::new(),
            });
            self.places_generation += 1;
            return true;
        };
        let known = &mut self.stations[place].record;
        if known.station == *station {
            return false;
        }
        self.places_generation += u64::from(known.station.coordinates != station.coordinates);
        Arc::make_mut(known).station = station.clone();
        true
    }

    fn put_report(&mut self, report: &Report, receipt: &mut Receipt) {
        let Report { ts_ms, revision, .. } = *report;
        let data = &mut self.stations[self.places[&report.station]];
        let record = Arc::make_mut(&mut data.record);
        record.update_time_ms = record.update_time_ms.max(Some(ts_ms));
        if report.present_weather.is_some() && (ts_ms, revision) >= data.weather_of {
            record.present_weather.clone_from(&report.present_weather);
            data.weather_of = (ts_ms, revision);
        }
        for Reading { series, value, quality } in &report.readings {
            let series = self.series.entry(series.clone()).or_insert_with_key(|key| {
                let series = Arc::new(Series::from(key.clone()));
                self.series_ids.insert(series.id);
                series
            });
            let at = record.series.partition_point(|known| known.series.id < series.id);
            if record.series.get(at).is_none_or(|known| known.series.id != series.id) {
                let (series, first_appearance_ms) = (Arc::clone(series), ts_ms);
                record.series.insert(at, StationSeries { series, first_appearance_ms });
                data.columns.insert(at, Columns::default());
            }
            let known = &mut record.series[at];
            known.first_appearance_ms = known.first_appearance_ms.min(ts_ms);
            *data.columns[at].put(ts_ms, *value, *quality, revision, receipt) += 1;
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
        let mut stations: Vec<_> =
            self.stations.iter().map(|data| Arc::clone(&data.record)).collect();
        stations.sort_unstable_by_key(|record| record.station.id);
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
        }
    }
}

impl Columns {
    /// Puts a reading in its place and gives the count of the receipt that it belongs to.
    fn put<'r>(
        &mut self,
        ts_ms: i64,
        value: f64,
        quality: Quality,
        revision: u8,
        receipt: &'r mut Receipt,
    ) -> &'r mut usize {
        let quality = QualityCode::from(quality);
        // Readings come in order nearly always.
        let at = match self.ts_ms.last() {
            Some(&last) if last >= ts_ms => self.ts_ms.partition_point(|&ts| ts < ts_ms),
            _ => self.ts_ms.len(),
        };
        if self.ts_ms.get(at) != Some(&ts_ms) {
            self.ts_ms.insert(at, ts_ms);
            self.value.insert(at, value);
            self.quality.insert(at, quality);
            self.source.insert(at, quality);
            self.revision.insert(at, revision);
            return &mut receipt.added;
        }
        if self.revision[at] > revision {
            return &mut receipt.overtaken;
        }
        (self.value[at], self.revision[at]) = (value, revision);
        (self.quality[at], self.source[at]) = (quality, quality);
        &mut receipt.replaced
    }
}

impl StationData {
    fn slices<'a>(&'a self, selection: &Selection<'_>, slices: &mut Vec<SeriesSlice<'a>>) {
        for (known, columns) in self.record.series.iter().zip(&self.columns) {
            let series = &known.series;
            if !selection.variables.contains(&series.key.variable) {
                continue;
            }
            let range = selection.window.range_in(&columns.ts_ms);
            if !range.is_empty() {
                slices.push(SeriesSlice {
                    series,
                    ts_ms: &columns.ts_ms[range.clone()],
                    value: &columns.value[range.clone()],
                    quality: &columns.quality[range.clone()],
                    source: &columns.source[range],
                });
            }
        }
    }
}
