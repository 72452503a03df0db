//! METAR: one pass over all sample reports, alone, with the conversion to readings, and by two
//! other parsers. Throughput is in reports.

use std::fs::File;
use std::hint::black_box;
use std::io::{BufRead, BufReader};
use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use flate2::read::GzDecoder;
use mesonet::feed::metar::{Metar, MetarKind};
use mesonet::feed::{
    FeedTable, FileContext, Kind, MetarItem, metar_report, read_awc_csv, read_bulletins,
};

fn folder() -> String {
    format!("{}/../tests/data/metar", env!("CARGO_MANIFEST_DIR"))
}

fn unpacked(name: &str) -> Box<dyn BufRead> {
    let file = File::open(format!("{}/{name}", folder())).expect("a sample file");
    Box::new(BufReader::new(GzDecoder::new(BufReader::new(file))))
}

/// All reports of the sample tables and of the year of KTPA.
fn reports() -> Vec<String> {
    let mut names: Vec<_> = std::fs::read_dir(folder())
        .expect("the samples")
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| name.ends_with(".csv.gz"))
        .collect();
    names.sort_unstable();
    let mut all = Vec::new();
    for name in &names {
        read_awc_csv(unpacked(name), |item| all.push(item.raw_text.to_owned())).expect("a table");
    }
    let ktpa = unpacked("ktpa_weather-reports_0.1.5.txt.gz");
    read_bulletins(ktpa, 0, |item| all.push(item.raw_text.to_owned())).expect("bulletins");
    all
}

fn metar(criterion: &mut Criterion) {
    let reports = reports();
    let mut group = criterion.benchmark_group("metar");
    group.sample_size(20).measurement_time(Duration::from_secs(3));
    group.throughput(Throughput::Elements(reports.len() as u64));
    group.bench_function("parse", |bencher| {
        bencher.iter(|| {
            for report in &reports {
                black_box(Metar::parse(report).ok());
            }
        });
    });
    group.bench_function("parse to readings", |bencher| {
        bencher.iter(|| {
            for report in &reports {
                let Ok(metar) = Metar::parse(report) else { continue };
                black_box(metar_report(&MetarItem {
                    native_id: metar.station.as_str(),
                    ts_ms: metar.time_ms(1_666_400_000_000),
                    raw_text: report,
                    header: None,
                    place: None,
                    altitude_m: Some(100.0),
                    kind: MetarKind::Routine,
                    metar,
                }));
            }
        });
    });
    group.finish();
}

/// Parsers that are much slower, on one report in twenty.
fn peers(criterion: &mut Criterion) {
    let reports: Vec<_> = reports().into_iter().step_by(20).collect();
    let mut group = criterion.benchmark_group("metar peers");
    group.sample_size(10).measurement_time(Duration::from_secs(3));
    group.throughput(Throughput::Elements(reports.len() as u64));
    group.bench_function("mesonet", |bencher| {
        bencher.iter(|| {
            for report in &reports {
                black_box(Metar::parse(report).ok());
            }
        });
    });
    group.bench_function("weather-reports 0.1.5", |bencher| {
        bencher.iter(|| {
            for report in &reports {
                black_box(weather_reports::parse::metar(report).ok());
            }
        });
    });
    group.bench_function("metar 0.9.3", |bencher| {
        bencher.iter(|| {
            for report in &reports {
                black_box(metar::Metar::parse(report).ok());
            }
        });
    });
    group.finish();
}

/// A table, from bytes in memory to decoded reports and to an Arrow table of their readings.
fn table(criterion: &mut Criterion) {
    let mut bytes = Vec::new();
    unpacked("awc_metars_cache_2022-10-23T1137Z.csv.gz").read_to_end(&mut bytes).expect("a table");
    let read = read_awc_csv(bytes.as_slice(), |_| {}).expect("a table").read;
    let mut group = criterion.benchmark_group("metar table");
    group.sample_size(20).measurement_time(Duration::from_secs(3));
    group.throughput(Throughput::Elements(read));
    group.bench_function("read_awc_csv", |bencher| {
        bencher.iter(|| {
            read_awc_csv(black_box(bytes.as_slice()), |item| {
                black_box(item.ts_ms);
            })
        });
    });
    group.bench_function("to an Arrow table", |bencher| {
        bencher.iter(|| {
            let mut table = FeedTable::default();
            let file = FileContext::new("metars.csv", 0);
            Kind::AwcCsv
                .read(&mut black_box(bytes.as_slice()), &file, &mut |item| {
                    table.extend(item.into_report().iter());
                })
                .expect("a table");
            table.finish()
        });
    });
    group.finish();
}

criterion_group!(benches, metar, peers, table);
criterion_main!(benches);
