//! The worst of ten million quality codes.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use mesonet::BaseQuality;
use mesonet::observation::{distinct_worst_first, worst, worst_code};

fn ranking(c: &mut Criterion) {
    let codes: Vec<BaseQuality> = (0..10_000_000_u32)
        .map(|i| if i % 997 == 0 { BaseQuality::Doubtful } else { BaseQuality::Good })
        .collect();
    let numbers: Vec<u8> = codes.iter().map(|&code| code as u8).collect();
    let mut group = c.benchmark_group("worst of 1e7");
    group.throughput(Throughput::Bytes(codes.len() as u64));
    group.bench_function("worst", |b| b.iter(|| worst(black_box(&codes))));
    group.bench_function("worst_code", |b| b.iter(|| worst_code(black_box(&numbers))));
    group.bench_function("naive: min of the enumeration", |b| {
        b.iter(|| black_box(&codes).iter().min().copied());
    });
    group.bench_function("distinct_worst_first", |b| {
        b.iter(|| distinct_worst_first(black_box(&codes).iter().copied()));
    });
    // The physical limit: reading the bytes once.
    let mut copy = vec![0; numbers.len()];
    group.bench_function("copy of the bytes", |b| {
        b.iter(|| {
            copy.copy_from_slice(black_box(&numbers));
            black_box(&copy);
        });
    });
    group.finish();
}

criterion_group!(benches, ranking);
criterion_main!(benches);
