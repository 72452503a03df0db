//! The store on disk: 10,000 stations × 8 series every ten minutes, generated.
//!
//! `MESONET_BENCH_HOURS` says how many hours of it are stored: 24 by default, or 11.5 million
//! readings; 125 are 60 million. `MESONET_BENCH_DIR` says where; a folder that is already filled is
//! used as it is.

use std::hint::black_box;
use std::path::PathBuf;
use std::time::Instant;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use mesonet::observation::{EarlierPlaces, Identifiers};
use mesonet::query::{Caps, ReadingsQuery, readings};
use mesonet::store::{EmbeddedOptions, Maintenance, Selection, no_verdicts};
use mesonet::time::{HOUR_MS, MINUTE_MS};
use mesonet::{
    Batch, ClosedWindow, EmbeddedStore, IntervalType, LonLat, Quality, Reader, Reading, Report,
    SeriesKey, Station, StationId, Step, Store, Variable,
};

const STATIONS: usize = 10_000;
const EVERY_MS: i64 = 10 * MINUTE_MS;
const START_MS: i64 = 1_700_000_400_000;
static SERIES: [SeriesKey; 8] = [
    SeriesKey::new(Variable::AirTemperature, IntervalType::Instantaneous, 0),
    SeriesKey::new(Variable::DewPointTemperature, IntervalType::Instantaneous, 0),
    SeriesKey::new(Variable::WindSpeed10m, IntervalType::Average, 10),
    SeriesKey::new(Variable::WindGust10m, IntervalType::Max, 10),
    SeriesKey::new(Variable::WindDirection, IntervalType::Average, 10),
    SeriesKey::new(Variable::Mslp, IntervalType::Instantaneous, 0),
    SeriesKey::new(Variable::SeaSurfaceTemperature, IntervalType::Instantaneous, 0),
    SeriesKey::new(Variable::SeaSurfaceTemperature1m, IntervalType::Instantaneous, 0),
];

fn stations() -> Vec<Station> {
    let station = |i: usize| {
        let native_id = format!("S{i:05}");
        Station {
            id: StationId::new("BENCH", &native_id),
            network: "BENCH".to_owned(),
            name: format!("Station {i}"),
            native_id,
            station_type: None,
            coordinates: LonLat::new(
                -130.0 + (i % 100) as f64 * 0.7,
                30.0 + (i / 100) as f64 * 0.3,
            )
            .unwrap(),
            sensor_height_m: 10.0,
            altitude_m: Some(100.0),
            identifiers: Identifiers::default(),
            earlier_places: EarlierPlaces::default(),
        }
    };
    (0..STATIONS).map(station).collect()
}

/// Returns the readings of ten minutes: 80,000.
fn batch(stations: &[Station], at: i64) -> Batch {
    let ts_ms = START_MS + at * EVERY_MS;
    let report = |(i, station): (usize, &Station)| {
        let value = |s: usize| ((i * 7 + s * 13) as i64 + at) as f64 % 311.0 * 0.1;
        let readings = SERIES.iter().enumerate().map(|(s, series)| Reading {
            series: series.clone(),
            value: value(s),
            quality: Quality::UNCHECKED,
            qualifier: None,
        });
        Report {
            station: station.id,
            // Not all in the same second.
            ts_ms: ts_ms + (i as i64 * 7919) % EVERY_MS,
            revision: 0,
            present_weather: None,
            text: None,
            readings: readings.collect(),
        }
    };
    let reports = stations.iter().enumerate().map(report).collect();
    let stations = if at == 0 { stations.to_vec() } else { Vec::new() };
    Batch { stations, reports }
}

/// Fills a store and reports what that took.
fn fill(store: &EmbeddedStore, stations: &[Station], batches: i64) {
    let (mut appending, mut maintaining) = (0.0, 0.0);
    for at in 0..batches {
        let batch = batch(stations, at);
        let start = Instant::now();
        store.append(&batch, &mut no_verdicts).unwrap();
        appending += start.elapsed().as_secs_f64();
        let start = Instant::now();
        store.maintain(&Maintenance::default()).unwrap();
        maintaining += start.elapsed().as_secs_f64();
    }
    let health = store.health();
    let count = (batches as usize * STATIONS * SERIES.len()) as f64;
    eprintln!(
        "filled with {count} readings: append {:.2} million a second, sealing and merging {:.2} \
         million a second; {} segments, {:.2} bytes a sealed reading, {} fresh readings",
        count / appending / 1e6,
        count / maintaining / 1e6,
        health.segments,
        health.sealed_bytes as f64 / health.sealed_readings as f64,
        health.fresh_readings,
    );
}

fn bench(c: &mut Criterion) {
    let hours: i64 =
        std::env::var("MESONET_BENCH_HOURS").ok().and_then(|text| text.parse().ok()).unwrap_or(24);
    let temporary = tempfile::tempdir().unwrap();
    let dir = std::env::var_os("MESONET_BENCH_DIR")
        .map_or_else(|| temporary.path().join("filled"), PathBuf::from);
    let (stations, batches) = (stations(), hours * HOUR_MS / EVERY_MS);
    let open = || EmbeddedStore::open(&dir, EmbeddedOptions::default()).unwrap();
    {
        let store = open();
        if store.directory().unwrap().stations.is_empty() {
            fill(&store, &stations, batches);
        }
    }
    c.bench_function("store/open", |b| b.iter(open));

    let store = open();
    let end_ms = START_MS + batches * EVERY_MS;
    let query = |step: Option<i64>, hours: i64| {
        let window = ClosedWindow::new(end_ms - hours * HOUR_MS, end_ms).unwrap();
        let names: Vec<Variable> = SERIES.iter().map(|series| series.variable).collect();
        let step = step.map(|minutes| Step::from_minutes(minutes).unwrap());
        ReadingsQuery::new(window, names).step(step)
    };
    let snapshot = query(None, 12);
    let cells = readings(&store, &snapshot, Caps::default()).unwrap().cells.len();
    assert_eq!(cells, STATIONS * SERIES.len());
    c.bench_function("store/snapshot of 12 h", |b| {
        b.iter(|| readings(&store, &snapshot, Caps::default()).unwrap());
    });
    let grid = query(Some(120), 10);
    let cells = readings(&store, &grid, Caps::default()).unwrap().cells.len();
    eprintln!("the grid has {cells} cells");
    c.bench_function("store/grid of 10 h", |b| {
        b.iter(|| readings(&store, &grid, Caps::default()).unwrap());
    });
    let ids: Vec<StationId> =
        store.directory().unwrap().stations.iter().map(|record| record.station.id).collect();
    let selection = Selection { stations: &ids, variables: &snapshot.names, window: grid.window };
    c.bench_function("store/scan of 10 h", |b| {
        b.iter(|| store.scan(&selection, &mut |_, slices| _ = black_box(slices.len())));
    });
    drop(store);

    let fresh = EmbeddedStore::open(&temporary.path().join("fresh"), EmbeddedOptions::default());
    let fresh = fresh.unwrap();
    let mut group = c.benchmark_group("store");
    group.sample_size(10).throughput(Throughput::Elements((STATIONS * SERIES.len()) as u64));
    let mut at = 0;
    group.bench_function("append of 80,000", |b| {
        b.iter_batched(
            || {
                fresh.maintain(&Maintenance::default()).unwrap();
                at += 1;
                batch(&stations, at - 1)
            },
            |batch| fresh.append(&batch, &mut no_verdicts).unwrap(),
            criterion::BatchSize::PerIteration,
        );
    });
    group.finish();
}

criterion_group!(benches, bench);
criterion_main!(benches);
