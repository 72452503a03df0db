//! The time grid: 10,000 stations × 5 names × 10 positions from 72 irregular readings a series.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use mesonet::observation::{EarlierPlaces, Identifiers};
use mesonet::query::{Caps, NO_READING, Positions, ReadingsQuery, as_of, readings};
use mesonet::store::no_verdicts;
use mesonet::time::MINUTE_MS;
use mesonet::{
    Batch, ClosedWindow, IntervalType, LonLat, MemoryStore, Quality, Reading, Report, SeriesKey,
    Station, StationId, Step, Store, Variable,
};

const STATIONS: usize = 10_000;
const NAMES: [Variable; 5] = [
    Variable::AirTemperature,
    Variable::DewPointTemperature,
    Variable::WindSpeed,
    Variable::WindDirection,
    Variable::Mslp,
];
const READINGS: i64 = 72;
const DAY_MINUTES: i64 = 24 * 60;

/// A small xorshift generator: the same irregular times in every run.
struct Times(u64);

impl Times {
    fn next(&mut self, below: i64) -> i64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % below as u64) as i64
    }

    /// One reading every twenty minutes, at an irregular second, the first before the grid.
    fn series(&mut self) -> Vec<i64> {
        let spacing_ms = DAY_MINUTES * MINUTE_MS / READINGS;
        (0..READINGS).map(|i| (i - 1) * spacing_ms + self.next(spacing_ms)).collect()
    }
}

fn positions() -> Positions {
    let window = ClosedWindow::new(0, DAY_MINUTES * MINUTE_MS).unwrap();
    let positions = Positions::new(window, Step::from_minutes(DAY_MINUTES / 9).unwrap());
    assert_eq!(positions.len(), 10);
    positions
}

/// The rule as it is specified: for each cell a search through the whole series.
fn naive(ts_ms: &[i64], positions: Positions, out: &mut [u32]) {
    for (at_ms, place) in positions.iter().zip(out) {
        *place = ts_ms.iter().rposition(|&ts| ts <= at_ms).map_or(NO_READING, |at| at as u32);
    }
}

/// One walk through the series, as joins of sorted frames do it.
fn merged(ts_ms: &[i64], positions: Positions, out: &mut [u32]) {
    let mut passed = 0;
    for (at_ms, place) in positions.iter().zip(out) {
        while ts_ms.get(passed).is_some_and(|&ts| ts <= at_ms) {
            passed += 1;
        }
        *place = (passed as u32).wrapping_sub(1);
    }
}

fn as_of_cells(c: &mut Criterion) {
    let mut times = Times(0x6d65_736f_6e65_7400);
    let series: Vec<Vec<i64>> = (0..STATIONS * NAMES.len()).map(|_| times.series()).collect();
    let positions = positions();
    let mut out = vec![0; series.len() * 10];
    let mut group = c.benchmark_group("as_of 50000x72x10");
    group.throughput(Throughput::Elements(out.len() as u64));
    group.sample_size(20);
    group.bench_function("mesonet", |b| {
        b.iter(|| {
            for (ts_ms, out) in series.iter().zip(out.chunks_exact_mut(10)) {
                as_of(ts_ms, positions, out).unwrap();
            }
            black_box(&out);
        });
    });
    group.bench_function("one merge per series", |b| {
        b.iter(|| {
            for (ts_ms, out) in series.iter().zip(out.chunks_exact_mut(10)) {
                merged(ts_ms, positions, out);
            }
            black_box(&out);
        });
    });
    group.bench_function("scan per cell", |b| {
        b.iter(|| {
            for (ts_ms, out) in series.iter().zip(out.chunks_exact_mut(10)) {
                naive(ts_ms, positions, out);
            }
            black_box(&out);
        });
    });
    // The physical limit: reading the times once.
    group.bench_function("sum of all times", |b| {
        b.iter(|| black_box(series.iter().flatten().fold(0_i64, |sum, &ts| sum.wrapping_add(ts))));
    });
    group.finish();
}

fn store() -> MemoryStore {
    let mut times = Times(0x6d65_736f_6e65_7400);
    let key = |name| SeriesKey::new(name, IntervalType::Instantaneous, 0);
    let mut batch = Batch::default();
    for i in 0..STATIONS {
        let native_id = format!("{i:05}");
        let id = StationId::new("BENCH", &native_id);
        let lon = -130.0 + (i % 100) as f64 * 0.7;
        let lat = 25.0 + (i / 100) as f64 * 0.4;
        batch.stations.push(Station {
            id,
            network: "BENCH".to_owned(),
            name: native_id.clone(),
            native_id,
            station_type: None,
            coordinates: LonLat::new(lon, lat).unwrap(),
            sensor_height_m: 0.0,
            altitude_m: None,
            identifiers: Identifiers::default(),
            earlier_places: EarlierPlaces::default(),
        });
        for ts_ms in times.series() {
            let reading = |&name| Reading {
                series: key(name),
                value: 1.5,
                quality: Quality::UNCHECKED,
                qualifier: None,
            };
            let readings = NAMES.iter().map(reading).collect();
            batch.reports.push(Report {
                station: id,
                ts_ms,
                revision: 0,
                present_weather: None,
                text: None,
                readings,
            });
        }
    }
    let store = MemoryStore::default();
    store.append(&batch, &mut no_verdicts).unwrap();
    store
}

fn whole_query(c: &mut Criterion) {
    let store = store();
    let window = ClosedWindow::new(0, DAY_MINUTES * MINUTE_MS).unwrap();
    let query = ReadingsQuery::new(window, NAMES.to_vec())
        .step(Step::from_minutes(DAY_MINUTES / 9).unwrap());
    let answer = readings(&store, &query, Caps::default()).unwrap();
    assert!(answer.coarsening.is_none() && answer.cells.len() > 490_000);
    let mut group = c.benchmark_group("readings 10000 stations x 5 names");
    group.throughput(Throughput::Elements(answer.cells.len() as u64));
    group.sample_size(20);
    group.bench_function("grid of 10 positions", |b| {
        b.iter(|| black_box(readings(&store, &query, Caps::default()).unwrap()));
    });
    let snapshot = query.clone().step(None);
    group.bench_function("snapshot", |b| {
        b.iter(|| black_box(readings(&store, &snapshot, Caps::default()).unwrap()));
    });
    group.finish();
}

criterion_group!(benches, as_of_cells, whole_query);
criterion_main!(benches);
