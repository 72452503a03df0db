//! Feeds: from the bytes of sample files in memory to readings. Throughput is in
//! documents of one observation, or in bytes.

use std::fs::File;
use std::hint::black_box;
use std::io::Read;
use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use flate2::read::GzDecoder;
use mesonet::feed::{read_eccc_hourly, read_swob};

fn documents(folder: &str) -> Vec<Vec<u8>> {
    let folder = format!("{}/../tests/data/{folder}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_dir(folder)
        .expect("the samples")
        .map(|entry| entry.expect("a sample").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "gz"))
        .map(|path| {
            let mut bytes = Vec::new();
            GzDecoder::new(File::open(path).expect("a sample file"))
                .read_to_end(&mut bytes)
                .expect("a document");
            bytes
        })
        .collect()
}

fn swob(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("swob");
    group.sample_size(20).measurement_time(Duration::from_secs(3));
    for (name, folders) in [
        ("all samples", &["eccc", "cioos", "partner", "bc_forestry"][..]),
        ("the Service's own", &["eccc"]),
    ] {
        let all: Vec<_> =
            folders.iter().flat_map(|folder| documents(&format!("swob/{folder}"))).collect();
        group.throughput(Throughput::Elements(all.len() as u64));
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                for document in &all {
                    let summary = read_swob(black_box(document.as_slice()), |item| {
                        black_box(item.report.ts_ms);
                    });
                    assert_eq!(summary.expect("a document").refused, 0);
                }
            });
        });
    }
    group.finish();
}

fn eccc_hourly(criterion: &mut Criterion) {
    let mut all = documents("eccc_hourly");
    // One of the samples is of another kind.
    all.retain(|document| read_eccc_hourly(document.as_slice(), |_| {}).is_ok());
    let mut group = criterion.benchmark_group("eccc-hourly");
    group.sample_size(20).measurement_time(Duration::from_secs(3));
    group.throughput(Throughput::Bytes(all.iter().map(|document| document.len() as u64).sum()));
    group.bench_function("all samples", |bencher| {
        bencher.iter(|| {
            for document in &all {
                let summary = read_eccc_hourly(black_box(document.as_slice()), |item| {
                    black_box(item.report.ts_ms);
                });
                assert_eq!(summary.expect("a document").refused, 0);
            }
        });
    });
    group.finish();
}

criterion_group!(benches, swob, eccc_hourly);
criterion_main!(benches);
