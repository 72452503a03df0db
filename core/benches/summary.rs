//! Summaries of a day: of one airport, and of 3,000 stations with its reports.

use std::fs::File;
use std::hint::black_box;
use std::io::BufReader;

use criterion::{Criterion, criterion_group, criterion_main};
use flate2::read::GzDecoder;
use mesonet::feed::{metar_peak_wind, metar_report, metar_station, read_bulletins};
use mesonet::query::{Scope, SummaryQuery, area_summaries, station_summaries};
use mesonet::store::{Selection, StationReadings, no_verdicts};
use mesonet::summary::{LocalDate, Period, Rules, SeriesColumns, Summarizer, Summary, UtcOffset};
use mesonet::time::{DAY_MS, HOUR_MS};
use mesonet::{
    Batch, ClosedWindow, LonLat, MemoryStore, Reader, Report, StationId, Store, Variable,
};

const STATIONS: usize = 3_000;

/// The reports of Tampa of some days around the day that is summarised, a wet and gusty one.
fn reports(from_ms: i64, to_ms: i64) -> Vec<Report> {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../tests/data/metar/ktpa_weather-reports_0.1.5.txt.gz"
    );
    let file = BufReader::new(GzDecoder::new(File::open(path).expect("the file")));
    let mut reports = Vec::new();
    read_bulletins(file, 0, |item| {
        if (from_ms..to_ms).contains(&item.ts_ms) {
            reports.extend(metar_peak_wind(&item));
            reports.push(metar_report(&item));
        }
    })
    .expect("bulletins");
    reports
}

/// Stations that all have these reports.
fn store(names: &[String], reports: &[Report]) -> MemoryStore {
    let store = MemoryStore::default();
    for (at, name) in names.iter().enumerate() {
        let place = LonLat::new(-60.0 - at as f64 / 100.0, 30.0).expect("on the globe");
        let station = metar_station(name, None, place, None);
        let id = station.id;
        let reports = reports.iter().map(|report| Report { station: id, ..report.clone() });
        let batch = Batch { stations: vec![station], reports: reports.collect() };
        store.append(&batch, &mut no_verdicts).expect("a batch");
    }
    store
}

fn summaries(c: &mut Criterion) {
    let date: LocalDate = "2021-07-07".parse().expect("a date");
    let offset: UtcOffset = "-05:00".parse().expect("an offset");
    let query = SummaryQuery::of_dates(Period::Day, date, date, offset).expect("a day");
    let day = query.windows[0];
    let reports = reports(day.start_ms() - DAY_MS, day.end_ms() + DAY_MS);

    let names = ["KTPA".to_owned()];
    let one = store(&names, &reports);
    let station = StationId::new("METAR", "KTPA");
    let mut held = StationReadings::default();
    let selection = Selection {
        stations: &[station],
        variables: Variable::ALL,
        window: ClosedWindow::new(day.start_ms() - HOUR_MS, day.end_ms() + HOUR_MS).expect("a day"),
    };
    one.scan(&selection, &mut |_, slices| held.add(slices)).expect("a scan");
    let slices: Vec<_> = held.slices(&(0..i64::MAX)).collect();
    let columns: Vec<_> = slices
        .iter()
        .map(|of| {
            SeriesColumns::new(of.series, of.ts_ms, of.value, of.quality, of.qualifier)
                .expect("columns")
        })
        .collect();
    let mut summarizer = Summarizer::new(Rules::default());
    let mut summary = Summary::begin(day);
    let mut group = c.benchmark_group("a day of one station");
    group.bench_function(format!("all {} series, from slices", columns.len()), |b| {
        b.iter(|| summarizer.summarize(black_box(&columns), day, &mut summary));
    });
    group.bench_function("default variables, from the store", |b| {
        b.iter(|| station_summaries(&one, station, black_box(&query)));
    });
    // The physical limit: reading the bytes once.
    group.bench_function("sum of the values", |b| {
        b.iter(|| {
            columns.len() as f64 + slices.iter().flat_map(|of| black_box(of.value)).sum::<f64>()
        });
    });
    group.finish();

    let names: Vec<String> = (0..STATIONS).map(|at| format!("S{at:04}")).collect();
    let many = store(&names, &reports);
    let mut group = c.benchmark_group(format!("a day of {STATIONS} stations"));
    group.sample_size(20);
    group.bench_function("default variables, from the store", |b| {
        b.iter(|| area_summaries(&many, &Scope::Everywhere, black_box(&query)));
    });
    let found = area_summaries(&many, &Scope::Everywhere, &query).expect("summaries");
    assert_eq!(found.stations.len(), STATIONS);
    group.bench_function("as JSON", |b| b.iter(|| serde_json::to_vec(black_box(&found))));
    group.finish();
}

criterion_group!(benches, summaries);
criterion_main!(benches);
