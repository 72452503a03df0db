//! All checks of a station over 10⁶ readings of 1,000 series: 100 stations of ten series, each with
//! a thousand irregular readings.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use mesonet::IntervalType::{Average, Cumulative, Instantaneous, Max};
use mesonet::check::{Checker, SeriesReadings, StationSite};
use mesonet::time::MINUTE_MS;
use mesonet::{LonLat, Quality, SeriesKey, Variable};

const STATIONS: usize = 100;
const READINGS: usize = 1_000;

/// A small xorshift generator: the same readings in every run.
struct Noise(u64);

impl Noise {
    fn next(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % 1000) as f64 / 1000.0
    }
}

/// Returns the series of a station, each with a first value, a greatest change, and a step.
fn keys() -> [(SeriesKey, f64, f64, f64); 10] {
    let moment = |variable| SeriesKey::new(variable, Instantaneous, 0);
    [
        (moment(Variable::AirTemperature), 12.0, 0.6, 0.1),
        (moment(Variable::DewPointTemperature), 6.0, 0.4, 0.1),
        (moment(Variable::RelativeHumidity), 65.0, 3.0, 1.0),
        (moment(Variable::Mslp), 1013.0, 0.3, 0.1),
        (moment(Variable::BarometricPressure), 1001.0, 0.3, 0.1),
        (SeriesKey::new(Variable::WindSpeed, Average, 2), 20.0, 4.0, 1.852),
        (SeriesKey::new(Variable::WindGust, Max, 10), 35.0, 4.0, 1.852),
        (SeriesKey::new(Variable::WindDirection, Average, 2), 180.0, 20.0, 10.0),
        (SeriesKey::new(Variable::Precipitation, Cumulative, 60), 0.5, 0.4, 0.1),
        (moment(Variable::Visibility), 16.0, 3.0, 0.1),
    ]
}

struct Column {
    ts_ms: Vec<i64>,
    value: Vec<f64>,
    source: Vec<Quality>,
}

fn station(noise: &mut Noise, keys: &[(SeriesKey, f64, f64, f64)]) -> Vec<Column> {
    let ts_ms: Vec<i64> =
        (0..READINGS as i64).map(|i| (i * 60 + (noise.next() * 20.0) as i64) * MINUTE_MS).collect();
    let columns = keys.iter().map(|&(_, begin, change, step)| {
        let mut steps = begin / step;
        let walk = ts_ms.iter().map(|_| {
            // Back towards the beginning, so that the walk stays among likely values.
            steps += (noise.next() - 0.5) * 2.0 * change / step + (begin / step - steps) * 0.05;
            steps.round().max(0.0) * step
        });
        let value = walk.collect();
        Column { ts_ms: ts_ms.clone(), value, source: vec![Quality::UNCHECKED; READINGS] }
    });
    columns.collect()
}

fn checks(c: &mut Criterion) {
    let keys = keys();
    let mut noise = Noise(0x6d65_736f_6e65_7400);
    let stations: Vec<_> = (0..STATIONS).map(|_| station(&mut noise, &keys)).collect();
    let site =
        StationSite { coordinates: LonLat::new(-79.63, 43.68).unwrap(), altitude_m: Some(100.0) };
    let checker = Checker::default();
    let run = || {
        for columns in &stations {
            let series: Vec<_> = keys
                .iter()
                .zip(columns)
                .map(|((key, ..), Column { ts_ms, value, source })| SeriesReadings {
                    key,
                    ts_ms,
                    value,
                    source,
                })
                .collect();
            black_box(checker.check_station(&site, &series).unwrap());
        }
    };
    run();
    let mut group = c.benchmark_group("all checks of 1000 series");
    group.throughput(Throughput::Elements((STATIONS * keys.len() * READINGS) as u64));
    group.sample_size(20);
    group.bench_function("check_station", |b| b.iter(run));
    // The physical limit: reading times and values once.
    group.bench_function("sum of all times and values", |b| {
        b.iter(|| {
            let columns = black_box(&stations).iter().flatten();
            columns.fold((0_i64, 0.0), |sum, column| {
                let times = column.ts_ms.iter().fold(sum.0, |sum, &ts| sum.wrapping_add(ts));
                (times, sum.1 + column.value.iter().sum::<f64>())
            })
        });
    });
    group.finish();
}

criterion_group!(benches, checks);
criterion_main!(benches);
