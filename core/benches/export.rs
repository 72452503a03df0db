//! Bulk export: pages of 200,000 rows of one station with eight series, planned and written.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use mesonet::export::MAX_PAGE_ROWS;
use mesonet::observation::{EarlierPlaces, Identifiers};
use mesonet::store::no_verdicts;
use mesonet::time::MINUTE_MS;
use mesonet::{
    Batch, HalfOpenWindow, IntervalType, LonLat, MemoryStore, Quality, Reading, Report, SeriesKey,
    Station, StationId, Store, Variable, export,
};

const TIMES: i64 = 100_000;

fn station() -> Station {
    Station {
        id: StationId::new("TEST", "A"),
        network: "TEST".into(),
        native_id: "A".into(),
        name: "A".into(),
        station_type: None,
        coordinates: LonLat::new(-79.63, 43.68).unwrap(),
        sensor_height_m: 10.0,
        altitude_m: None,
        identifiers: Identifiers::default(),
        earlier_places: EarlierPlaces::default(),
    }
}

/// A store with a reading of each of eight series every minute, with one decimal. With `spread`, each
/// series has its own second, so that no two rows share a time.
fn store(spread: bool) -> MemoryStore {
    let keys: Vec<_> = Variable::map_variables()
        .map(|variable| SeriesKey::new(variable, IntervalType::Instantaneous, 0))
        .collect();
    let reading = |minute: i64, series: usize| Reading {
        series: keys[series].clone(),
        value: (minute * 7 + series as i64 * 31) as f64 % 400.0 / 10.0 - 10.0,
        quality: Quality::GOOD,
        qualifier: None,
    };
    let report = |ts_ms, readings| Report {
        station: station().id,
        ts_ms,
        revision: 0,
        present_weather: None,
        text: None,
        readings,
    };
    let reports = (0..TIMES).flat_map(|minute| {
        let at_ms = minute * MINUTE_MS;
        let all = (0..keys.len()).map(|series| reading(minute, series));
        if spread {
            (0..).zip(all).map(|(i, one)| report(at_ms + i * 1_000, vec![one])).collect()
        } else {
            vec![report(at_ms, all.collect())]
        }
    });
    let batch = Batch { stations: vec![station()], reports: reports.collect() };
    let store = MemoryStore::default();
    store.append(&batch, &mut no_verdicts).unwrap();
    store
}

fn export(c: &mut Criterion) {
    let window = HalfOpenWindow::new(0, TIMES * MINUTE_MS).unwrap();
    let request = export::Request::new(station().id, window);
    let mut group = c.benchmark_group("export 200000 rows");
    group.throughput(Throughput::Elements(MAX_PAGE_ROWS as u64));
    group.sample_size(20);
    for (kind, spread) in [("of common times", false), ("of times of their own", true)] {
        let store = store(spread);
        group.bench_function(format!("plan, {kind}"), |b| {
            b.iter(|| black_box(export::Page::plan(&store, &request, None).unwrap()));
        });
        let page = export::Page::plan(&store, &request, None).unwrap();
        for (name, format) in [
            ("csv", export::Format::Csv),
            ("arrow", export::Format::ArrowStream),
            ("parquet", export::Format::Parquet),
        ] {
            let mut text = Vec::with_capacity(1 << 20);
            group.bench_function(format!("{name}, {kind}"), |b| {
                b.iter(|| {
                    let mut writer = page.clone().writer(format).unwrap();
                    loop {
                        text.clear();
                        if writer.write(&store, &mut text, 256 * 1024).unwrap() {
                            break;
                        }
                        black_box(&text);
                    }
                });
            });
        }
    }
    group.finish();
}

criterion_group!(benches, export);
criterion_main!(benches);
