//! What is acknowledged survives a kill at any moment.
//!
//! A child process takes in batches, seals and compacts, and reports what it did; it is killed
//! (SIGKILL) at random moments, repeatedly on the same directory. After each kill the record is
//! opened and compared with a store in memory that took in the same batches: every reading exactly
//! once, with its value, its verdict and its source's verdict, and the text of
//! every report beside its readings; a batch that was under way is there
//! completely or not at all.
//!
//! `MESONET_KILLS` sets the minimum number of kills; the default is 200. The test continues until
//! enough kills have hit sealing or compaction, and enough have hit a batch that was complete but
//! not yet acknowledged.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use mesonet::observation::{EarlierPlaces, Identifiers};
use mesonet::observation::{QualityCode, ReportText, SeriesId};
use mesonet::store::{EmbeddedOptions, Maintenance, Selection};
use mesonet::time::MINUTE_MS;
use mesonet::{
    Batch, ClosedWindow, EmbeddedStore, Intake, IntervalType, LonLat, MemoryStore, Quality, Reader,
    Reading, Report, SeriesKey, Station, StationId, Variable,
};

use crate::kill::{Kills, Test, chance, run_until_killed};

/// 2026-07-01T00:00:00Z.
const START_MS: i64 = 1_782_864_000_000;

fn options() -> EmbeddedOptions {
    // Small, so that kills often hit sealing or compaction.
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
        identifiers: Identifiers::default(),
        earlier_places: EarlierPlaces::default(),
    }
}

/// Returns the reports of a five-minute step, including corrections, late ones, copies, and values
/// that the checks object to.
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
            qualifier: None,
        };
        Report {
            station: station(place).id,
            ts_ms: START_MS + step as i64 * 5 * MINUTE_MS,
            revision,
            present_weather: chance(seed ^ 1)
                .is_multiple_of(3)
                .then(|| vec![format!("rain {step}")]),
            text: ReportText::new(&format!("METAR K{place:03} {step} {air_c} COR{revision}"), None),
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
        // Days late, in the middle of sealed readings.
        reports.push(report(6, number, 0, 0.0));
    }
    if number.is_multiple_of(13) {
        reports.push(report(2, number + 30, 0, 0.0));
    }
    Batch { stations: (0..7).map(station).collect(), reports }
}

/// Takes in batches until it is killed.
fn child(first: u64, dir: &Path) {
    let store = Arc::new(EmbeddedStore::open(dir, options()).unwrap());
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

/// Returns the last batch that a process acknowledged.
fn last_taken(said: &str) -> u64 {
    let mut taken = said.lines().filter_map(|line| line.split_once("taken "));
    taken.next_back().unwrap().1.parse().unwrap()
}

/// One reading: station, series, time, value to the bit, verdict, and the source's verdict.
type Held = (StationId, SeriesId, i64, u64, QualityCode, QualityCode);

pub fn held(record: &dyn Reader) -> Vec<Held> {
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
    // The text of a report stands as a reading of a series that there is not.
    record
        .scan_reports(&ids, window, &mut |i, kept| {
            let bytes = kept.text.bytes().map(u64::from);
            let text = bytes.fold(0, |sum: u64, byte| sum.wrapping_mul(257).wrapping_add(byte));
            let of_text = SeriesId(i32::from(kept.revision) - 1000);
            held.push((ids[i], of_text, kept.ts_ms, text, QualityCode(0), QualityCode(0)));
        })
        .unwrap();
    held
}

/// Returns the files in the folder of segments, including those unknown to the store.
pub fn segment_files(dir: &Path) -> Vec<PathBuf> {
    let files = std::fs::read_dir(dir.join("segments")).unwrap().map(|file| file.unwrap().path());
    files.filter(|path| path.is_file()).collect()
}

/// Returns whether a batch is in the record, judging by its first reading.
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

fn what_is_acknowledged_survives_a_kill_at_any_moment() {
    let kills = Kills::new(200);
    let dir = tempfile::tempdir().unwrap();
    let (expected, intake) = (MemoryStore::default(), Intake::default());
    let (mut kill, mut next, mut unacknowledged, mut unfinished) = (0, 0, 0, 0);
    while kills
        .go_on(kill, &[("in unfinished sealing", unfinished), ("after the commit", unacknowledged)])
    {
        let signs: &[&str] = if kill % 2 == 0 { &["taken"] } else { &["taken", "maintenance"] };
        let delay = Duration::from_micros(chance(kill) % 40_000);
        let last = last_taken(&run_until_killed(&TEST, next, dir.path(), signs, delay));

        let store = EmbeddedStore::open(dir.path(), options()).unwrap();
        let known = segment_files(dir.path());
        let health = store.health();
        unfinished += usize::from(health.swept_files > 0);
        assert_eq!(health.faults, [], "kill {kill}");
        assert_eq!(health.segments + health.text_segments, known.len(), "kill {kill}");
        for number in next..=last {
            intake.take_in(&expected, batch(number)).unwrap();
        }
        next = last + 1;
        if holds(&store, next) {
            intake.take_in(&expected, batch(next)).unwrap();
            next += 1;
            unacknowledged += 1;
        }
        assert!(!holds(&store, next), "kill {kill}: batch {next} had not begun");
        let (found, expected_held) = (held(&store), held(&expected));
        assert_eq!(found.len(), expected_held.len(), "kill {kill}, before batch {next}");
        for (found, expected) in found.iter().zip(&expected_held) {
            assert_eq!(found, expected, "kill {kill}, before batch {next}");
        }
        let (found, expected) = (store.directory().unwrap(), expected.directory().unwrap());
        assert_eq!(found.stations, expected.stations, "kill {kill}");
        kill += 1;
    }
    let report = EmbeddedStore::verify(dir.path(), false).unwrap();
    assert_eq!(report.faults, []);
    assert!(report.segments > 0);
    println!(
        "{kill} kills, {next} batches, {} readings in {} segments and {} batches of the journal; \
         {unacknowledged} batches were whole though not acknowledged; {unfinished} kills left files \
         of unfinished sealing or compaction",
        held(&expected).len(),
        report.segments,
        report.journal_batches,
    );
}

pub const TEST: Test = Test {
    name: "what_is_acknowledged_survives_a_kill_at_any_moment",
    test: what_is_acknowledged_survives_a_kill_at_any_moment,
    child,
};
