//! Taking readings in, including derivation and checks, with three days of earlier readings: a
//! report of every station of a network in one batch, a year of one station, single reports.
//!
//! Stations are 40 km apart and report eight variables every ten minutes. There are 1,000 of
//! them, or as many as `MESONET_BENCH_STATIONS` says; a rate counts the readings that were
//! reported, not those that are derived from them.

use std::time::{Duration, Instant};

use criterion::{Criterion, SamplingMode, Throughput, criterion_group, criterion_main};
use mesonet::IntervalType::{Average, Cumulative, Instantaneous, Max};
use mesonet::derived::derive_report;
use mesonet::observation::{EarlierPlaces, Identifiers};
use mesonet::store::Verdicts;
use mesonet::time::{DAY_MS, MINUTE_MS};
use mesonet::{
    Batch, Intake, LonLat, MemoryStore, Quality, Reading, Report, SeriesKey, Station, StationId,
    StationType, Store, Variable,
};

const SPACING_MS: i64 = 10 * MINUTE_MS;
/// Noon of a day in August.
const START_MS: i64 = 1_722_686_400_000;
const DAYS: i64 = 3;
/// Hours of a year.
const ARCHIVE: i64 = 8_760;
/// Hours of a month.
const MONTH: i64 = 720;
/// The stations whose readings of the month are there already.
const AROUND: usize = 16;

/// The series of a station, each with a first value, a greatest change, and a step.
const SERIES: [(SeriesKey, f64, f64, f64); 8] = [
    (moment(Variable::AirTemperature), 22.0, 0.6, 0.1),
    (moment(Variable::DewPointTemperature), 12.0, 0.4, 0.1),
    (moment(Variable::Mslp), 1013.0, 0.3, 0.1),
    (moment(Variable::BarometricPressure), 989.0, 0.3, 0.1),
    (SeriesKey::new(Variable::WindSpeed, Average, 2), 20.0, 4.0, 1.852),
    (SeriesKey::new(Variable::WindGust, Max, 10), 45.0, 4.0, 1.852),
    (SeriesKey::new(Variable::WindDirection, Average, 2), 180.0, 20.0, 10.0),
    (SeriesKey::new(Variable::Precipitation, Cumulative, 60), 0.5, 0.4, 0.1),
];

const fn moment(variable: Variable) -> SeriesKey {
    SeriesKey::new(variable, Instantaneous, 0)
}

/// Returns the value of a series at a station and a time: the same in every run, moving back and forth
/// around the first value.
fn value(station: usize, which: usize, ts_ms: i64) -> f64 {
    let (_, begin, change, step) = SERIES[which];
    let hash = ((ts_ms / SPACING_MS) as u64)
        .wrapping_mul(0x9e37_79b9_7f4a_7c15)
        .wrapping_add((station * SERIES.len() + which) as u64)
        .wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let noise = (hash >> 40) as f64 / (1_u64 << 24) as f64 - 0.5;
    ((begin + noise * 2.0 * change) / step).round() * step
}

fn report(station: usize, id: StationId, ts_ms: i64) -> Report {
    let reading = |which: usize| Reading {
        series: SERIES[which].0.clone(),
        value: value(station, which, ts_ms),
        quality: Quality::UNCHECKED,
        qualifier: None,
    };
    let readings = (0..SERIES.len()).map(reading).collect();
    Report { station: id, ts_ms, revision: 0, present_weather: None, text: None, readings }
}

struct Network {
    stations: Vec<Station>,
    store: MemoryStore,
    intake: Intake,
    /// Time of the next report of the network.
    next_ms: i64,
}

impl Network {
    fn new() -> Self {
        let count = std::env::var("MESONET_BENCH_STATIONS").ok();
        let count: usize = count.and_then(|count| count.parse().ok()).unwrap_or(1_000);
        let across = (count as f64).sqrt().ceil() as usize;
        let station = |i: usize| {
            let native_id = format!("S{i}");
            let (x, y) = ((i % across) as f64, (i / across) as f64);
            Station {
                id: StationId::new("BENCH", &native_id),
                network: "BENCH".to_owned(),
                name: native_id.clone(),
                native_id,
                station_type: Some(StationType::OpenCountry),
                coordinates: LonLat::new(-130.0 + 0.5 * x, 25.0 + 0.36 * y).unwrap(),
                sensor_height_m: 6.0,
                altitude_m: Some(200.0),
                identifiers: Identifiers::default(),
                earlier_places: EarlierPlaces::default(),
            }
        };
        let stations: Vec<_> = (0..count).map(station).collect();
        let network = Self {
            store: MemoryStore::default(),
            intake: Intake::default(),
            next_ms: START_MS,
            stations,
        };
        network.fill()
    }

    /// Adds the readings of the previous days, all of them found good.
    fn fill(mut self) -> Self {
        let first_ms = self.next_ms - DAYS * DAY_MS;
        let times: Vec<i64> =
            (0..DAYS * DAY_MS / SPACING_MS).map(|i| first_ms + i * SPACING_MS).collect();
        for (i, station) in self.stations.iter().enumerate() {
            let derived = |&ts_ms: &i64| {
                let mut report = report(i, station.id, ts_ms);
                derive_report(&mut report, station);
                report
            };
            let reports: Vec<Report> = times.iter().map(derived).collect();
            let verdicts = |reading: &Reading| Verdicts {
                station: station.id,
                series: reading.series.id(),
                ts_ms: times.clone(),
                quality: vec![Quality::GOOD; times.len()],
            };
            let mut verdicts: Vec<_> = reports[0].readings.iter().map(verdicts).collect();
            let batch = Batch { stations: vec![station.clone()], reports };
            self.store.append(&batch, &mut |_| Ok(std::mem::take(&mut verdicts))).unwrap();
        }
        // Not measured: the lists of neighbouring stations are made.
        self.take_in_report_of_all();
        self
    }

    fn take_in(&self, batch: Batch) -> Duration {
        let started = Instant::now();
        self.intake.take_in(&self.store, batch).unwrap();
        started.elapsed()
    }

    fn take_in_report_of_all(&mut self) -> Duration {
        let stations = self.stations.iter().enumerate();
        let reports = stations.map(|(i, station)| report(i, station.id, self.next_ms)).collect();
        self.next_ms += SPACING_MS;
        self.take_in(Batch { stations: Vec::new(), reports })
    }
}

fn intake(c: &mut Criterion) {
    let mut network = Network::new();
    let count = network.stations.len();
    let readings = SERIES.len() as u64;
    let mut group = c.benchmark_group("take in");
    group.sample_size(10);

    group.throughput(Throughput::Elements(count as u64 * readings));
    group.bench_function("a report of every station", |b| {
        b.iter_custom(|rounds| (0..rounds).map(|_| network.take_in_report_of_all()).sum());
    });

    group.throughput(Throughput::Elements(readings));
    let mut singles = 0;
    group.bench_function("single reports", |b| {
        b.iter_custom(|rounds| {
            let mut elapsed = Duration::ZERO;
            for _ in 0..rounds {
                let station = singles % count;
                let ts_ms = network.next_ms + (singles / count) as i64 * SPACING_MS;
                let reports = vec![report(station, network.stations[station].id, ts_ms)];
                elapsed += network.take_in(Batch { stations: Vec::new(), reports });
                singles += 1;
            }
            elapsed
        });
    });
    network.next_ms += (singles / count + 1) as i64 * SPACING_MS;

    // Reports that arrive an hour late, from one station after the other.
    let mut late = 0;
    group.bench_function("single reports, late", |b| {
        b.iter_custom(|rounds| {
            let mut elapsed = Duration::ZERO;
            for _ in 0..rounds {
                let station = late % count;
                let minutes = 61 + (late / count) as i64 % 9;
                let ts_ms = network.next_ms - minutes * MINUTE_MS;
                let reports = vec![report(station, network.stations[station].id, ts_ms)];
                elapsed += network.take_in(Batch { stations: Vec::new(), reports });
                late += 1;
            }
            elapsed
        });
    });

    // Hourly readings of a year, before the existing ones: each time the year before, so no station
    // around has readings then.
    group.throughput(Throughput::Elements(ARCHIVE as u64 * readings));
    let mut archives = 0;
    let hours = |station: usize, years: i64, count: i64| {
        let first_ms = START_MS - (DAYS + 366 * years) * DAY_MS;
        let hour = |i| report(station, network.stations[station].id, first_ms + i * 6 * SPACING_MS);
        (0..count).map(hour).collect::<Vec<_>>()
    };
    group.bench_function("a year of one station", |b| {
        b.iter_custom(|rounds| {
            let mut elapsed = Duration::ZERO;
            for _ in 0..rounds {
                archives += 1;
                let reports = hours(archives % count, archives as i64, ARCHIVE);
                elapsed += network.take_in(Batch { stations: Vec::new(), reports });
            }
            elapsed
        });
    });
    // A month, which all stations around have already: their readings are compared anew with the new
    // ones.
    group.throughput(Throughput::Elements(MONTH as u64 * readings));
    group.sampling_mode(SamplingMode::Flat);
    let mut years = archives as i64;
    group.bench_function("a month of one station among others", |b| {
        b.iter_custom(|rounds| {
            let mut elapsed = Duration::ZERO;
            for _ in 0..rounds {
                years += 1;
                for station in 1..=AROUND.min(count - 1) {
                    let reports = hours(station, years, MONTH);
                    network.take_in(Batch { stations: Vec::new(), reports });
                }
                let reports = hours(0, years, MONTH);
                elapsed += network.take_in(Batch { stations: Vec::new(), reports });
            }
            elapsed
        });
    });
    group.finish();
}

criterion_group!(benches, intake);
criterion_main!(benches);
