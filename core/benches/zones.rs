//! The zones of alerts: unpacking the server's bundle, finding zones, writing them.

use std::fs::File;
use std::hint::black_box;
use std::io::Read;

use criterion::{Criterion, criterion_group, criterion_main};
use flate2::read::GzDecoder;
use mesonet::zone::Zones;
use mesonet::{BBox, LonLat, zone};

const BUNDLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../server-example/sample/zones.bin.gz");

fn unpacked() -> Vec<u8> {
    let mut bytes = Vec::new();
    let file = File::open(BUNDLE).expect("the sample is there");
    GzDecoder::new(file).read_to_end(&mut bytes).expect("the sample is whole");
    bytes
}

fn zones(c: &mut Criterion) {
    let mut group = c.benchmark_group("zones");
    group.bench_function("unzip the bundle", |b| b.iter(unpacked));
    let bytes = unpacked();
    group.bench_function("unpack 14,353 zones", |b| {
        b.iter(|| Zones::from_bundle(black_box(&bytes)));
    });
    let zones = Zones::from_bundle(&bytes).expect("the sample is whole");
    group.bench_function("geography version", |b| b.iter(|| zones.version()));
    let oklahoma_city = LonLat::new(-97.5, 35.47).expect("on the globe");
    group.bench_function("zones at a place", |b| {
        b.iter(|| zones.at(black_box(oklahoma_city)).count());
    });
    let plains = BBox::new(-104.0, 33.0, -94.0, 43.0).expect("on the globe");
    group.bench_function("zones in 10° by 10°", |b| {
        b.iter(|| zones.in_box(black_box(plains)).count());
    });
    let codes: Vec<zone::Code> =
        zones.iter().map(|zone| zone.code).filter(|code| code.is_county()).take(2_000).collect();
    group.bench_function("2,000 zones by code", |b| {
        b.iter(|| codes.iter().filter_map(|&code| zones.get(black_box(code))).count());
    });
    group.bench_function("GeoJSON of 2,000 zones", |b| {
        b.iter(|| {
            let found: Vec<_> = codes.iter().filter_map(|&code| zones.get(code)).collect();
            serde_json::to_vec(&found)
        });
    });
}

criterion_group!(benches, zones);
criterion_main!(benches);
