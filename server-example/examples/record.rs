//! A record of many readings: generated, stored on disk with their checks, opened again and asked.
//!
//! `cargo run --release -p mesonet-server --example record -- DIR [STATIONS [STEPS]]`
//!
//! The readings are **not observations**: each station follows the real series of a station of the
//! sample (its reports of two days in October, forth and back), interpolated to ten minutes, with a
//! jitter of a fixed seed. A step is one report of every station, eight reported readings each; a
//! batch is one step, or of few stations as many as make 80,000 readings. Derived readings come on
//! top, as in any intake.
//!
//! A directory that is there already is only opened and asked, or with numbers gets the steps that it lacks.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use mesonet::observation::{EarlierPlaces, Identifiers};
use mesonet::query::{Caps, ReadingsQuery, readings};
use mesonet::store::{EmbeddedOptions, Maintenance};
use mesonet::time::{HOUR_MS, MINUTE_MS};
use mesonet::{
    Batch, ClosedWindow, EmbeddedStore, Intake, IntervalType, LonLat, Quality, Reader, Reading,
    Report, SeriesKey, Station, StationId, Step, Variable,
};
use mesonet_server::sample;

type Failure = Box<dyn std::error::Error>;

/// The reported variables, each with the jitter that its values get.
const VARIABLES: [(Variable, IntervalType, i32, f64); 8] = [
    (Variable::AirTemperature, IntervalType::Instantaneous, 0, 0.2),
    (Variable::DewPointTemperature, IntervalType::Instantaneous, 0, 0.2),
    (Variable::WindSpeed10m, IntervalType::Average, 2, 1.0),
    (Variable::WindDirection, IntervalType::Average, 2, 4.0),
    (Variable::Mslp, IntervalType::Instantaneous, 0, 0.1),
    (Variable::BarometricPressure, IntervalType::Instantaneous, 0, 0.1),
    (Variable::Visibility, IntervalType::Instantaneous, 0, 0.1),
    (Variable::RelativeHumidity, IntervalType::Instantaneous, 0, 1.0),
];
/// Reported readings of a batch, where a step has fewer.
const BATCH_READINGS: usize = 80_000;
const STEP_MS: i64 = 10 * MINUTE_MS;
/// 2026-01-01T00:00:00Z.
const START_MS: i64 = 1_767_225_600_000;

fn main() -> Result<(), Failure> {
    let mut arguments = std::env::args().skip(1);
    let dir = arguments.next().ok_or("usage: record DIR [STATIONS [STEPS]]")?;
    let dir = Path::new(&dir);
    let stations = arguments.next();
    let is_wanted = stations.is_some() || !dir.exists();
    let stations = stations.map_or(Ok(10_000), |text| text.parse())?;
    let steps: usize = arguments.next().map_or(Ok(600), |text| text.parse())?;
    if is_wanted {
        fill(dir, stations, steps)?;
    }
    ask(dir)
}

/// A real station's series of one variable, as times and values.
type Course = Vec<(i64, f64)>;

/// What stations report: the courses of real ones.
struct Generator {
    courses: Vec<[Course; VARIABLES.len()]>,
}

impl Generator {
    fn new() -> Result<Self, Failure> {
        let mut intake = sample()?.batch;
        let mut by_station = std::collections::BTreeMap::<StationId, [Course; 8]>::new();
        // October 2022: the longer part of the sample.
        intake.reports.retain(|report| report.ts_ms < 1_700_000_000_000);
        let places: std::collections::HashMap<_, _> =
            intake.stations.iter().map(|station| (station.id, station)).collect();
        for report in &mut intake.reports {
            if let Some(station) = places.get(&report.station) {
                mesonet::derived::derive_report(report, station);
            }
            let courses = by_station.entry(report.station).or_default();
            for (course, (variable, kind, minutes, _)) in courses.iter_mut().zip(VARIABLES) {
                let reading = report.readings.iter().find(|reading| {
                    let key = &reading.series;
                    key.variable == variable
                        && (key.interval_type, key.interval_minutes) == (kind, minutes)
                });
                course.extend(reading.map(|reading| (report.ts_ms, reading.value)));
            }
        }
        let mut courses: Vec<_> = by_station.into_values().collect();
        for course in courses.iter_mut().flatten() {
            course.sort_unstable_by_key(|&(ts_ms, _)| ts_ms);
            course.dedup_by_key(|&mut (ts_ms, _)| ts_ms);
        }
        courses.retain(|courses| courses.iter().all(|course| course.len() >= 5));
        Ok(Self { courses })
    }

    fn station(index: usize) -> Result<Station, Failure> {
        let native_id = format!("G{index:05}");
        // A lattice over the two countries, about 45 km apart.
        let (row, column) = (index / 125, index % 125);
        Ok(Station {
            id: StationId::new("GENERATED", &native_id),
            network: "GENERATED".to_owned(),
            name: format!("Generated {index}"),
            native_id,
            station_type: None,
            coordinates: LonLat::new(-130.0 + 0.58 * column as f64, 28.0 + 0.4 * row as f64)?,
            sensor_height_m: 10.0,
            altitude_m: Some(200.0),
            identifiers: Identifiers::default(),
            earlier_places: EarlierPlaces::default(),
        })
    }

    fn report(&self, index: usize, id: StationId, step: usize) -> Report {
        let courses = &self.courses[index % self.courses.len()];
        let readings = courses.iter().zip(VARIABLES).enumerate();
        let readings = readings.map(|(i, (course, (variable, kind, minutes, jitter)))| {
            let seed = (index as u64) << 40 | (step as u64) << 8 | i as u64;
            let noise = (unit(seed) + unit(seed ^ 0x5555_0000_0000) - 1.0) * jitter;
            let value = (10.0 * (course_at(course, step as i64 * STEP_MS) + noise)).round() / 10.0;
            let value = match variable {
                Variable::WindDirection => value.rem_euclid(360.0),
                Variable::RelativeHumidity => value.clamp(1.0, 100.0),
                Variable::WindSpeed10m | Variable::Visibility => value.max(0.0),
                _ => value,
            };
            let series = SeriesKey::new(variable, kind, minutes);
            Reading { series, value, quality: Quality::UNCHECKED, qualifier: None }
        });
        let ts_ms = START_MS + step as i64 * STEP_MS;
        Report {
            station: id,
            ts_ms,
            revision: 0,
            present_weather: None,
            text: None,
            readings: readings.collect(),
        }
    }
}

/// The course at a time after its start, forth and back.
fn course_at(course: &Course, after_ms: i64) -> f64 {
    let (start_ms, end_ms) = (course[0].0, course[course.len() - 1].0);
    let span_ms = end_ms - start_ms;
    let phase_ms = after_ms.rem_euclid(2 * span_ms);
    let at_ms = start_ms + if phase_ms > span_ms { 2 * span_ms - phase_ms } else { phase_ms };
    let next = course.partition_point(|&(ts_ms, _)| ts_ms <= at_ms).clamp(1, course.len() - 1);
    let ((t0, v0), (t1, v1)) = (course[next - 1], course[next]);
    v0 + (v1 - v0) * ((at_ms - t0) as f64 / (t1 - t0) as f64).clamp(0.0, 1.0)
}

/// A number in [0, 1) of a seed (SplitMix64).
fn unit(seed: u64) -> f64 {
    let mut x = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((x ^ (x >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
}

fn fill(dir: &Path, stations: usize, steps: usize) -> Result<(), Failure> {
    let generator = Generator::new()?;
    println!("{} real courses; {stations} stations, {steps} steps", generator.courses.len());
    let store = EmbeddedStore::open(dir, EmbeddedOptions::default())?;
    let intake = Intake::default();
    let stations = (0..stations).map(Generator::station).collect::<Result<Vec<_>, _>>()?;
    let ids: Vec<StationId> = stations.iter().map(|station| station.id).collect();
    // A record that is there goes on.
    let newest = store.directory()?.stations.iter().filter_map(|of| of.update_time_ms).max();
    let from = newest.map_or(0, |newest_ms| ((newest_ms - START_MS) / STEP_MS + 1) as usize);
    intake.take_in(&store, Batch { stations, reports: Vec::new() })?;

    // A network reports step by step; of few stations it is an archive that is read in.
    let steps_per_batch = (BATCH_READINGS / (ids.len() * VARIABLES.len())).max(1);
    let generator = &generator;
    let done = AtomicBool::new(false);
    let (mut reported, mut stored, mut taken) = (0, 0, Duration::ZERO);
    let mut slowest = Duration::ZERO;
    let started = Instant::now();
    std::thread::scope(|scope| -> Result<(), Failure> {
        let keeper = scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                store.maintain(&Maintenance::default())?;
                std::thread::sleep(Duration::from_millis(20));
            }
            store.maintain(&Maintenance::default())
        });
        for first in (from..steps).step_by(steps_per_batch) {
            let batch_steps = first..(first + steps_per_batch).min(steps);
            let reports = batch_steps.flat_map(|step| {
                let stations = (0..).zip(&ids);
                stations.map(move |(index, &id)| generator.report(index, id, step))
            });
            let reports = reports.collect();
            let batch = Batch { stations: Vec::new(), reports };
            reported += batch.reports.iter().map(|report| report.readings.len()).sum::<usize>();
            let began = Instant::now();
            stored += intake.take_in(&store, batch)?.added;
            taken += began.elapsed();
            slowest = slowest.max(began.elapsed());
        }
        done.store(true, Ordering::Relaxed);
        keeper.join().map_err(|_| "maintenance panicked")??;
        Ok(())
    })?;
    let rate = |count: usize| count as f64 / taken.as_secs_f64();
    println!(
        "ingest, durable and checked: {reported} reported readings, {stored} stored, in {taken:.1?} \
         ({:.0} reported, {:.0} stored a second; slowest batch {slowest:.0?}; {:.1?} with generating)",
        rate(reported),
        rate(stored),
        started.elapsed(),
    );
    Ok(())
}

fn ask(dir: &Path) -> Result<(), Failure> {
    let began = Instant::now();
    let store = EmbeddedStore::open(dir, EmbeddedOptions::default())?;
    let directory = store.directory()?;
    println!("cold start: {:.0?} ({} stations)", began.elapsed(), directory.stations.len());

    let newest = directory.stations.iter().filter_map(|record| record.update_time_ms).max();
    let end_ms = newest.ok_or("no reports")?;
    let names: Vec<Variable> = VARIABLES.iter().map(|&(variable, ..)| variable).collect();
    let query = |hours: i64, step: Option<i64>| -> Result<ReadingsQuery, Failure> {
        let window = ClosedWindow::new(end_ms - hours * HOUR_MS, end_ms)?;
        let step = step.map(Step::from_minutes).transpose()?;
        Ok(ReadingsQuery::new(window, names.clone()).step(step))
    };
    // 10,000 stations × 8 names × 6 positions, and the 19 series of hours that fit as well.
    let questions = [
        ("12-hour snapshot", query(12, None)?),
        ("grid of 1 hour at 12 minutes", query(1, Some(12))?),
        ("grid of 12 hours at 144 minutes", query(12, Some(144))?),
        ("grid of 5 days at 1 day", query(5 * 24, Some(24 * 60))?),
    ];
    for (what, query) in questions {
        let (mut times, mut cells) = (Vec::new(), 0);
        for _ in 0..9 {
            let began = Instant::now();
            cells = readings(&store, &query, Caps::default())?.cells.len();
            times.push(began.elapsed());
        }
        let first = times[0];
        times.sort_unstable();
        println!("{what}: {cells} cells, first {first:.1?}, median {:.1?}", times[4]);
    }
    let window = ClosedWindow::new(i64::MIN, i64::MAX)?;
    let ids: Vec<StationId> = directory.stations.iter().map(|record| record.station.id).collect();
    let selection = mesonet::store::Selection { stations: &ids, variables: Variable::ALL, window };
    let (mut count, mut slices_count, began) = (0, 0, Instant::now());
    store.scan(&selection, &mut |_, slices| {
        slices_count += slices.len();
        count += slices.iter().map(|slice| slice.ts_ms.len()).sum::<usize>();
    })?;
    println!("whole record: {count} readings in {slices_count} slices, {:.0?}", began.elapsed());
    let bytes = size(dir)?;
    println!("on disk: {bytes} bytes, {:.1} a reading", bytes as f64 / count as f64);
    Ok(())
}

fn size(dir: &Path) -> Result<u64, Failure> {
    let mut bytes = 0;
    for entry in std::fs::read_dir(dir)? {
        let entry = entry?;
        let metadata = entry.metadata()?;
        bytes += if metadata.is_dir() { size(&entry.path())? } else { metadata.len() };
    }
    Ok(bytes)
}
