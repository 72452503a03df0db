//! What is acknowledged survives a kill at any moment.
//!
//! A process of its own takes in batches, seals and compacts, and says so; it is killed (SIGKILL) at
//! a moment of chance, again and again on the same directory. After each kill the record is opened
//! and held against a store in memory that took in the same batches: every reading once, with its
//! value, its verdict and the word of its source; a batch that was under way is there whole or not
//! at all.
//!
//! `MESONET_KILLS` sets how often; the default is 200.

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use mesonet::{
    Batch, ClosedWindow, EmbeddedOptions, EmbeddedStore, Intake, IntervalType, LonLat, MINUTE_MS,
    Maintenance, MemoryStore, Quality, QualityCode, Reader, Reading, Report, Selection, SeriesId,
    SeriesKey, Station, StationId, Variable,
};

/// Where the process that is killed finds its directory and its first batch.
const CHILD: &str = "MESONET_KILL_CHILD";

/// 2026-07-01T00:00:00Z.
const START_MS: i64 = 1_782_864_000_000;

fn options() -> EmbeddedOptions {
    // Small, so that a kill often falls into sealing or compaction.
    EmbeddedOptions { seal_readings: 300, ..EmbeddedOptions::default() }
}

fn station(place: usize) -> Station {
    let native_id = format!("S{place}");
    Station {
        id: StationId::new("TEST", &native_id),
        network: "TEST".to_owned(),
        name: native_id.clone(),
        native_id,
        station_type: None,
        coordinates: LonLat::new(-100.0 + 0.15 * place as f64, 45.5).unwrap(),
        sensor_height_m: 0.0,
        altitude_m: Some(200.0),
    }
}

/// A number that looks like chance, of a seed (SplitMix64).
fn chance(seed: u64) -> u64 {
    let mut x = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// The reports of a five-minute step: corrections, late ones and copies among them, and values that
/// the checks object to.
fn batch(number: u64) -> Batch {
    let report = |place: usize, step: u64, revision: u8, offset: f64| {
        let seed = step * 16 + place as u64;
        // One in fifty is far off.
        let fault = if chance(seed).is_multiple_of(50) { 15.0 } else { 0.0 };
        let jitter = (chance(seed ^ 0xabcd) % 10) as f64 / 10.0;
        let air_c = 20.0 + 5.0 * (step as f64 / 40.0).sin() + jitter + fault + offset;
        let reading = |variable, value: f64| Reading {
            series: SeriesKey::new(variable, IntervalType::Instantaneous, 0),
            value: (value * 10.0).round() / 10.0,
            quality: Quality::UNCHECKED,
        };
        Report {
            station: station(place).id,
            ts_ms: START_MS + step as i64 * 5 * MINUTE_MS,
            revision,
            present_weather: chance(seed ^ 1)
                .is_multiple_of(3)
                .then(|| vec![format!("rain {step}")]),
            readings: vec![
                reading(Variable::AirTemperature, air_c),
                reading(Variable::DewPointTemperature, air_c - 4.0),
                reading(Variable::BarometricPressure, 990.0 + jitter),
            ],
        }
    };
    let mut reports: Vec<Report> = (0..6).map(|place| report(place, number + 40, 0, 0.0)).collect();
    if number.is_multiple_of(7) {
        reports.push(report(1, number + 35, 1, 0.3));
    }
    if number.is_multiple_of(11) {
        // Days late, in the middle of what is sealed.
        reports.push(report(6, number, 0, 0.0));
    }
    if number.is_multiple_of(13) {
        reports.push(report(2, number + 30, 0, 0.0));
    }
    Batch { stations: (0..7).map(station).collect(), reports }
}

/// Takes in batches until it is killed. Not a test of its own: `kills` starts it.
#[test]
#[ignore = "is started by the test that kills it"]
fn child() {
    let Ok(call) = std::env::var(CHILD) else { return };
    let (first, dir) = call.split_once(' ').unwrap();
    let first: u64 = first.parse().unwrap();
    let store = Arc::new(EmbeddedStore::open(Path::new(dir), options()).unwrap());
    let intake = Intake::default();
    let keeper = Arc::clone(&store);
    std::thread::spawn(move || {
        loop {
            println!("maintenance");
            keeper.maintain(&Maintenance::default()).unwrap();
        }
    });
    for number in first.. {
        intake.take_in(&*store, batch(number)).unwrap();
        println!("taken {number}");
    }
}

/// Starts the process, kills it a moment after the last of the signs that are waited for, and tells
/// the last batch that it acknowledged.
fn run_until_killed(dir: &Path, first: u64, signs: &[&str], delay: Duration) -> u64 {
    let mut child: Child = Command::new(std::env::current_exe().unwrap())
        .args(["child", "--exact", "--ignored", "--nocapture", "--test-threads=1"])
        .env(CHILD, format!("{first} {}", dir.display()))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut last = None;
    let mut note = |line: &str| {
        if let Some((_, number)) = line.split_once("taken ") {
            last = Some(number.parse().unwrap());
        }
    };
    let mut signs = signs.iter().peekable();
    while let Some(sign) = signs.peek() {
        let Some(line) = lines.next() else {
            let mut said = String::new();
            child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
            panic!("the process ended by itself: {said}");
        };
        let line = line.unwrap();
        note(&line);
        if line.contains(*sign) {
            signs.next();
        }
    }
    // What it writes meanwhile is in the pipe, which holds more than it can write in that time.
    std::thread::sleep(delay);
    child.kill().unwrap();
    child.wait().unwrap();
    lines.for_each(|line| note(&line.unwrap()));
    last.unwrap()
}

/// One reading: station, series, time, value to the bit, verdict, word of the source.
type Held = (StationId, SeriesId, i64, u64, QualityCode, QualityCode);

fn held(record: &dyn Reader) -> Vec<Held> {
    let directory = record.directory().unwrap();
    let ids: Vec<StationId> = directory.stations.iter().map(|known| known.station.id).collect();
    let window = ClosedWindow::new(i64::MIN, i64::MAX).unwrap();
    let selection = Selection { stations: &ids, variables: Variable::ALL, window };
    let mut held = Vec::new();
    record
        .scan(&selection, &mut |i, slices| {
            for slice in slices {
                for (at, &ts_ms) in slice.ts_ms.iter().enumerate() {
                    let (value, quality, source) =
                        (slice.value[at].to_bits(), slice.quality[at], slice.source[at]);
                    held.push((ids[i], slice.series.id, ts_ms, value, quality, source));
                }
            }
        })
        .unwrap();
    held
}

/// The files where the segments are.
fn segment_files(dir: &Path) -> Vec<PathBuf> {
    std::fs::read_dir(dir.join("segments")).unwrap().map(|file| file.unwrap().path()).collect()
}

/// Whether a batch is in the record: whether its first reading is.
fn holds(record: &dyn Reader, number: u64) -> bool {
    let first = &batch(number).reports[0];
    let selection = Selection {
        stations: &[first.station],
        variables: &[Variable::AirTemperature],
        window: ClosedWindow::new(first.ts_ms, first.ts_ms + 1).unwrap(),
    };
    let mut found = false;
    record.scan(&selection, &mut |_, _| found = true).unwrap();
    found
}

#[test]
fn what_is_acknowledged_survives_a_kill_at_any_moment() {
    let kills = std::env::var("MESONET_KILLS").map_or(200, |text| text.parse().unwrap());
    let dir = tempfile::tempdir().unwrap();
    let (expected, intake) = (MemoryStore::default(), Intake::default());
    let (mut next, mut whole_though_unacknowledged, mut swept) = (0, 0, 0);
    for kill in 0..kills {
        let signs: &[&str] = if kill % 2 == 0 { &["taken"] } else { &["taken", "maintenance"] };
        let delay = Duration::from_micros(chance(kill) % 40_000);
        let last = run_until_killed(dir.path(), next, signs, delay);

        let store = EmbeddedStore::open(dir.path(), options()).unwrap();
        let known = segment_files(dir.path());
        let health = store.health();
        swept += usize::from(health.swept_files > 0);
        assert_eq!(health.faults, [], "kill {kill}");
        assert_eq!(health.segments, known.len(), "kill {kill}");
        for number in next..=last {
            intake.take_in(&expected, batch(number)).unwrap();
        }
        next = last + 1;
        if holds(&store, next) {
            intake.take_in(&expected, batch(next)).unwrap();
            next += 1;
            whole_though_unacknowledged += 1;
        }
        assert!(!holds(&store, next), "kill {kill}: batch {next} was not begun");
        let (found, expected_held) = (held(&store), held(&expected));
        assert_eq!(found.len(), expected_held.len(), "kill {kill}, before batch {next}");
        for (found, expected) in found.iter().zip(&expected_held) {
            assert_eq!(found, expected, "kill {kill}, before batch {next}");
        }
        let (found, expected) = (store.directory().unwrap(), expected.directory().unwrap());
        assert_eq!(found.stations, expected.stations, "kill {kill}");
    }
    let report = EmbeddedStore::verify(dir.path(), false).unwrap();
    assert_eq!(report.faults, []);
    println!(
        "{kills} kills, {next} batches, {} readings in {} segments and {} batches of the journal; \
         {whole_though_unacknowledged} batches were whole though not acknowledged; {swept} kills \
         left files of unfinished sealing or compaction",
        held(&expected).len(),
        report.segments,
        report.journal_batches,
    );
    assert!(report.segments > 0 && (kills < 100 || swept > 0), "no kill fell into sealing");
}
