//! Boxes and nearness over 10,000 stations.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use mesonet::geo::StationIndex;
use mesonet::{BBox, LonLat};

fn places() -> Vec<LonLat> {
    // A quasi-random spread over North America (additive recurrence of the plastic number).
    (0..10_000)
        .map(|i| {
            let i = f64::from(i);
            let (x, y) = ((i * 0.754_877_666_246_69) % 1.0, (i * 0.569_840_290_998_05) % 1.0);
            LonLat::new(-170.0 + 115.0 * x, 18.0 + 55.0 * y).unwrap()
        })
        .collect()
}

fn index(c: &mut Criterion) {
    let places = places();
    let index = StationIndex::new(places.iter().copied());
    let mut group = c.benchmark_group("box over 10000 stations");
    for (name, bbox) in [
        ("a city, 1 degree", BBox::new(-80.0, 43.0, -79.0, 44.0).unwrap()),
        ("a province, 10 degrees", BBox::new(-90.0, 42.0, -80.0, 52.0).unwrap()),
        ("the continent", BBox::new(-170.0, 18.0, -55.0, 73.0).unwrap()),
    ] {
        group.bench_function(format!("index: {name}"), |b| {
            b.iter(|| index.in_box(black_box(bbox)).count());
        });
        group.bench_function(format!("naive scan: {name}"), |b| {
            b.iter(|| places.iter().filter(|&&at| black_box(bbox).contains(at)).count());
        });
    }
    group.finish();

    let mut group = c.benchmark_group("nearest 10 of 10000 stations");
    let from = LonLat::new(-79.63, 43.68).unwrap();
    group.bench_function("index", |b| b.iter(|| index.nearest(black_box(from)).take(10).last()));
    group.bench_function("naive: sort by distance", |b| {
        b.iter(|| {
            let mut all: Vec<(f64, usize)> =
                places.iter().enumerate().map(|(i, &at)| (from.distance_km(at), i)).collect();
            all.select_nth_unstable_by(9, |a, b| a.0.total_cmp(&b.0));
            all[9]
        });
    });
    group.finish();
    c.bench_function("build the index of 10000 stations", |b| {
        b.iter(|| StationIndex::new(black_box(&places).iter().copied()));
    });
}

criterion_group!(benches, index);
criterion_main!(benches);
