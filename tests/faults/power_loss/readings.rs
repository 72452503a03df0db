//! Readings: batches into the journal, sealing, merging, retention, closing and opening.

use std::path::Path;

use mesonet::observation::{EarlierPlaces, Identifiers};
use mesonet::observation::{QualityCode, SeriesId};
use mesonet::store::{
    EmbeddedOptions, Maintenance, Selection, StationRecords, StoreError, Verdicts,
};
use mesonet::{
    Batch, ClosedWindow, EmbeddedStore, IntervalType, LonLat, MemoryStore, Quality, Reader,
    Reading, Report, SeriesKey, Station, StationId, Store, Variable,
};

use crate::Work;

/// Small, so that a few batches are enough for sealing and merging.
const OPTIONS: EmbeddedOptions = EmbeddedOptions { seal_readings: 8, segment_readings: 200 };

const STATIONS: u64 = 3;

pub struct Readings {
    store: Option<EmbeddedStore>,
    dir: std::path::PathBuf,
}

/// What a step does.
enum Act {
    /// Takes in the batch of this number.
    Take(u64),
    /// Seals fresh readings, and merges segments that are due.
    Seal,
    Reopen,
    /// Deletes readings older than the batch of this number.
    Retain(u64),
}

/// Two batches, sealed, repeatedly: every fourth time the small segments are merged.
fn act(step: usize) -> Act {
    match step {
        9 | 25 => Act::Reopen,
        20 => Act::Retain(4),
        27 => Act::Retain(10),
        step if step % 3 == 2 => Act::Seal,
        step => Act::Take(step as u64),
    }
}

fn station(place: u64) -> Station {
    let native_id = format!("S{place}");
    Station {
        id: StationId::new("TEST", &native_id),
        network: "TEST".to_owned(),
        name: native_id.clone(),
        native_id,
        station_type: None,
        coordinates: LonLat::new(-100.0 + place as f64, 45.5).unwrap(),
        sensor_height_m: 0.0,
        altitude_m: None,
        identifiers: Identifiers::default(),
        earlier_places: EarlierPlaces::default(),
    }
}

fn keys() -> [SeriesKey; 2] {
    [
        SeriesKey::new(Variable::AirTemperature, IntervalType::Instantaneous, 0),
        SeriesKey::new(Variable::WindSpeed, IntervalType::Average, 10),
    ]
}

pub fn ts_ms(number: u64) -> i64 {
    number as i64 * 60_000
}

/// Returns the readings of a minute, and corrections of an earlier one.
pub fn batch(number: u64) -> Batch {
    let report = |place: u64, at: u64, revision: u8| Report {
        station: station(place).id,
        ts_ms: ts_ms(at),
        revision,
        present_weather: (number.is_multiple_of(3)).then(|| vec![format!("rain {number}")]),
        text: None,
        readings: keys()
            .into_iter()
            .map(|series| Reading {
                series,
                value: number as f64 + place as f64 / 10.0,
                quality: Quality::UNCHECKED,
                qualifier: None,
            })
            .collect(),
    };
    let mut reports: Vec<Report> = (0..STATIONS).map(|place| report(place, number, 0)).collect();
    reports.push(report(1, number / 2, 1));
    Batch { stations: (0..STATIONS).map(station).collect(), reports }
}

/// Changes the verdict of a reading of the previous batch.
pub fn judge(number: u64) -> impl FnMut(&dyn Reader) -> Result<Vec<Verdicts>, StoreError> {
    move |_| {
        let series = keys()[0].id();
        let (ts_ms, quality) = (vec![ts_ms(number.saturating_sub(1))], vec![Quality::GOOD]);
        Ok(vec![Verdicts { station: station(0).id, series, ts_ms, quality }])
    }
}

impl Work for Readings {
    const NAME: &'static str = "readings";
    const STEPS: usize = 30;
    /// The stations; and for each reading its station, series, time, value, verdict and source's
    /// verdict.
    type Seen = (StationRecords, Vec<(StationId, SeriesId, i64, u64, QualityCode, QualityCode)>);

    fn open(dir: &Path) -> Self {
        let store = EmbeddedStore::open(dir, OPTIONS).unwrap();
        Self { store: Some(store), dir: dir.to_owned() }
    }

    fn step(&mut self, number: usize) {
        let store = self.store.as_ref().unwrap();
        let maintenance = match act(number) {
            Act::Take(number) => {
                store.append(&batch(number), &mut judge(number)).unwrap();
                return;
            }
            Act::Reopen => {
                self.store = None;
                self.store = Some(EmbeddedStore::open(&self.dir, OPTIONS).unwrap());
                return;
            }
            Act::Seal => Maintenance { seal_all: true, ..Maintenance::default() },
            Act::Retain(number) => {
                Maintenance { retain_from_ms: Some(ts_ms(number)), ..Maintenance::default() }
            }
        };
        store.maintain(&maintenance).unwrap();
    }

    fn expected(steps: usize) -> Self::Seen {
        let (store, mut from_ms) = (MemoryStore::default(), i64::MIN);
        for step in 0..steps {
            match act(step) {
                Act::Take(number) => {
                    // Readings older than the retention are not taken in.
                    let mut batch = batch(number);
                    for report in &mut batch.reports {
                        if report.ts_ms < from_ms {
                            report.readings.clear();
                        }
                    }
                    store.append(&batch, &mut judge(number)).unwrap();
                }
                Act::Retain(number) => from_ms = ts_ms(number),
                Act::Seal | Act::Reopen => {}
            }
        }
        retained(&store, from_ms)
    }

    fn seen(dir: &Path) -> Self::Seen {
        let store = EmbeddedStore::open(dir, OPTIONS).unwrap();
        let seen = seen(&store);
        assert_eq!(store.health().faults, []);
        drop(store);
        assert_eq!(EmbeddedStore::verify(dir, false).unwrap().faults, []);
        seen
    }
}

/// What is seen of a record from an instant on.
pub fn retained(record: &dyn Reader, from_ms: i64) -> <Readings as Work>::Seen {
    let (stations, mut readings) = seen(record);
    readings.retain(|reading| reading.2 >= from_ms);
    (stations, readings)
}

fn seen(record: &dyn Reader) -> <Readings as Work>::Seen {
    let directory = record.directory().unwrap();
    let ids: Vec<StationId> = directory.stations.iter().map(|known| known.station.id).collect();
    let window = ClosedWindow::new(i64::MIN, i64::MAX).unwrap();
    let selection = Selection { stations: &ids, variables: Variable::ALL, window };
    let mut readings = Vec::new();
    record
        .scan(&selection, &mut |i, slices| {
            for slice in slices {
                for (at, &ts_ms) in slice.ts_ms.iter().enumerate() {
                    let (quality, source) = (slice.quality[at], slice.source[at]);
                    let value = slice.value[at].to_bits();
                    readings.push((ids[i], slice.series.id, ts_ms, value, quality, source));
                }
            }
        })
        .unwrap();
    (directory.stations.clone(), readings)
}
