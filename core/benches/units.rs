//! Conversion of ten million values, compared with a plain loop that multiplies by one double.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use mesonet::Unit;
use mesonet::unit::{Conversion, Resolution};

const VALUES: usize = 10_000_000;

fn doubles(c: &mut Criterion) {
    let values: Vec<f64> = (0..VALUES).map(|i| (i % 1200) as f64 / 10.0).collect();
    let mut out = vec![0.0; VALUES];
    let wind = Conversion::between(Unit::Knot, Unit::KilometrePerHour).unwrap();
    let temperature = Conversion::between(Unit::DegreeFahrenheit, Unit::DegreeCelsius).unwrap();
    let mut group = c.benchmark_group("convert 1e7 f64");
    group.sample_size(20).throughput(Throughput::Elements(VALUES as u64));
    group.bench_function("plain loop: value * 1.852", |b| {
        b.iter(|| {
            for (out, value) in out.iter_mut().zip(black_box(&values)) {
                *out = value * 1.852;
            }
            black_box(&mut out);
        });
    });
    group.bench_function("kt to km/h", |b| {
        b.iter(|| wind.apply_into(black_box(&values), black_box(&mut out)));
    });
    group.bench_function("°F to °C", |b| {
        b.iter(|| temperature.apply_into(black_box(&values), black_box(&mut out)));
    });
    let mut in_place = values.clone();
    // Multiplied repeatedly, the values would overflow: convert there and back.
    let back = Conversion::between(Unit::KilometrePerHour, Unit::Knot).unwrap();
    let mut turn = false;
    group.bench_function("in place, plain loop", |b| {
        b.iter(|| {
            turn = !turn;
            let factor = if turn { 1.852 } else { 1.0 / 1.852 };
            for value in black_box(&mut in_place).iter_mut() {
                *value *= factor;
            }
        });
    });
    group.bench_function("in place, kt to km/h and back", |b| {
        b.iter(|| {
            turn = !turn;
            (if turn { wind } else { back }).apply_in_place(black_box(&mut in_place));
        });
    });
    group.finish();
}

fn singles(c: &mut Criterion) {
    let values: Vec<f32> = (0..VALUES).map(|i| (i % 1200) as f32 / 10.0).collect();
    let mut out = vec![0.0_f32; VALUES];
    let wind = Conversion::between(Unit::Knot, Unit::KilometrePerHour).unwrap();
    let mut group = c.benchmark_group("convert 1e7 f32");
    group.sample_size(20).throughput(Throughput::Elements(VALUES as u64));
    group.bench_function("plain loop: value * 1.852", |b| {
        b.iter(|| {
            for (out, value) in out.iter_mut().zip(black_box(&values)) {
                *out = value * 1.852;
            }
            black_box(&mut out);
        });
    });
    group.bench_function("kt to km/h", |b| {
        b.iter(|| wind.apply_into(black_box(&values), black_box(&mut out)));
    });
    group.finish();
}

fn resolution(c: &mut Criterion) {
    let texts = ["km/h", "wmoUnit:degC", "F", "kg m-2 s-1", "Fahrenheit", "furlong"];
    let mut group = c.benchmark_group("resolve");
    for text in texts {
        group.bench_function(text, |b| {
            b.iter(|| -> Resolution { Unit::resolve(black_box(text), None) });
        });
    }
    group.finish();
}

criterion_group!(benches, doubles, singles, resolution);
criterion_main!(benches);
