//! Derived values over a million readings, compared with plain loops of the same libm calls.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use mesonet::derived::{
    dew_point_c_into, heat_index_c_into, humidex_into, mean_sea_level_pressure_hpa_into,
    relative_humidity_pct_into, wet_bulb_c_into, wind_at_10m_into, wind_chill_c_into,
};

const VALUES: usize = 1_000_000;

/// Values spread over a range by the golden ratio: the same in every run, and in no order.
fn spread(low: f64, high: f64, seed: f64) -> Vec<f64> {
    (0..VALUES)
        .map(|i| low + (high - low) * (seed + i as f64 * 0.618_033_988_749_894_9).fract())
        .collect()
}

fn derived(c: &mut Criterion) {
    let warm_c = spread(20.0, 40.0, 0.1);
    let cold_c = spread(-40.0, 0.0, 0.2);
    let humidity_pct = spread(20.0, 100.0, 0.3);
    let dew_c: Vec<_> = warm_c.iter().zip(spread(0.0, 20.0, 0.4)).map(|(t, d)| t - d).collect();
    let wind_kmh = spread(0.0, 80.0, 0.5);
    let pressure_hpa = spread(900.0, 1040.0, 0.6);
    let altitude_m = spread(0.0, 700.0, 0.7);
    let (height_m, roughness_m) = (vec![4.0; VALUES], vec![0.03; VALUES]);
    let mut out = vec![0.0; VALUES];

    let mut group = c.benchmark_group("derived 1e6");
    group.throughput(Throughput::Elements(VALUES as u64));
    group.sample_size(20);
    macro_rules! bench {
        ($name:literal, $slices:ident, $($input:ident),+) => {
            group.bench_function($name, |b| {
                b.iter(|| {
                    $slices($(black_box(&$input),)+ &mut out).unwrap();
                    black_box(&out);
                });
            });
            assert!(out.iter().all(|value| value.is_finite()), $name);
        };
    }
    macro_rules! plain {
        ($name:literal, |$($input:ident),+| $formula:expr) => {
            group.bench_function($name, |b| {
                b.iter(|| {
                    $(let $input = black_box(&$input[..VALUES]);)+
                    for (i, out) in out.iter_mut().enumerate() {
                        $(let $input = $input[i];)+
                        *out = $formula;
                    }
                    black_box(&out);
                });
            });
        };
    }
    bench!("dew_point_c", dew_point_c_into, warm_c, humidity_pct);
    plain!("plain loop: dew point", |warm_c, humidity_pct| {
        let exponent = libm::log(humidity_pct / 100.0) + 17.62 * warm_c / (243.12 + warm_c);
        243.12 * exponent / (17.62 - exponent)
    });
    bench!("relative_humidity_pct", relative_humidity_pct_into, warm_c, dew_c);
    plain!("plain loop: relative humidity", |warm_c, dew_c| {
        100.0 * libm::exp(17.62 * dew_c / (243.12 + dew_c) - 17.62 * warm_c / (243.12 + warm_c))
    });
    bench!("humidex", humidex_into, warm_c, dew_c);
    plain!("plain loop: humidex", |warm_c, dew_c| {
        let exponent = 5417.753 * (1.0 / 273.15 - 1.0 / (273.15 + dew_c));
        warm_c + (6.11 * libm::exp(exponent) - 10.0) * 5.0 / 9.0
    });
    bench!("wind_chill_c", wind_chill_c_into, cold_c, wind_kmh);
    plain!("plain loop: wind chill", |cold_c, wind_kmh| {
        let power = libm::pow(wind_kmh, 0.16);
        13.12 + 0.6215 * cold_c - 11.37 * power + 0.3965 * cold_c * power
    });
    bench!(
        "mean_sea_level_pressure_hpa",
        mean_sea_level_pressure_hpa_into,
        pressure_hpa,
        altitude_m,
        warm_c
    );
    plain!("plain loop: sea level pressure", |pressure_hpa, altitude_m, warm_c| {
        pressure_hpa * libm::exp(altitude_m / (29.27 * (warm_c + 273.15)))
    });
    bench!("wind_at_10m", wind_at_10m_into, wind_kmh, height_m, roughness_m);
    plain!("plain loop: wind at 10 m", |wind_kmh, height_m, roughness_m| {
        wind_kmh * (libm::log(10.0) - libm::log(roughness_m))
            / (libm::log(height_m) - libm::log(roughness_m))
    });
    bench!("heat_index_c", heat_index_c_into, warm_c, humidity_pct);
    // The physical limit of all: reading one array and writing one.
    group.bench_function("copy of one array", |b| {
        b.iter(|| {
            out.copy_from_slice(black_box(&warm_c));
            black_box(&out);
        });
    });
    group.finish();

    // A moist adiabat is 64 exponentials, so fewer of them.
    let few = VALUES / 10;
    let mut group = c.benchmark_group("derived 1e5");
    group.throughput(Throughput::Elements(few as u64));
    group.sample_size(10);
    group.bench_function("wet_bulb_c", |b| {
        b.iter(|| {
            let inputs = black_box((&pressure_hpa[..few], &warm_c[..few], &dew_c[..few]));
            wet_bulb_c_into(inputs.0, inputs.1, inputs.2, &mut out[..few]).unwrap();
            black_box(&out);
        });
    });
    group.finish();
}

criterion_group!(benches, derived);
criterion_main!(benches);
