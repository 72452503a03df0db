//! Tests of the on-disk store through its files: what survives, what is found damaged, what is
//! refused.

use std::fs;

use proptest::prelude::*;

use super::names::DATABASE;
use super::testing::{SMALL, Temporary, seal, seal_and_reopen};
use super::*;
use crate::geo::LonLat;
use crate::observation::{EarlierPlaces, IdScheme, Identifiers};
use crate::observation::{
    IntervalType, Qualifier, Quality, QualityCode, Reading, Report, SeriesId, SeriesKey, Station,
    StationId, StationType, Variable,
};
use crate::store::{MemoryStore, Selection, SeriesSlice, Verdicts, no_verdicts};
use crate::time::ClosedWindow;

pub(super) fn station(native_id: &str) -> Station {
    Station {
        id: StationId::new("TEST", native_id),
        network: "TEST".to_owned(),
        native_id: native_id.to_owned(),
        name: format!("Station {native_id}"),
        station_type: Some(StationType::OpenWater),
        coordinates: LonLat::new(-100.0, 50.0).unwrap(),
        sensor_height_m: 0.0,
        altitude_m: None,
        earlier_places: EarlierPlaces::default(),
        identifiers: match native_id {
            "A" => Identifiers::default().with(IdScheme::Icao, "CYYZ").with(IdScheme::Wmo, "71624"),
            _ => Identifiers::default(),
        },
    }
}

pub(super) const NAMES: [&str; 3] = ["A", "B", "C"];

/// The series that the tests report: one with a source verdict, two without.
pub(super) fn keys() -> [SeriesKey; 3] {
    [
        SeriesKey::new(Variable::AirTemperature, IntervalType::Instantaneous, 0),
        SeriesKey::new(Variable::WindSpeed, IntervalType::Average, 10),
        SeriesKey::new(Variable::WindSpeed, IntervalType::Average, 2),
    ]
}

pub(super) fn report(
    name: &str,
    ts_ms: i64,
    revision: u8,
    values: &[f64],
    quality: Quality,
) -> Report {
    let readings = keys().into_iter().zip(values);
    // Some rows have none, some only few.
    let qualifier = Qualifier::of_code(ts_ms.rem_euclid(9) as u8).filter(|_| name != "B");
    Report {
        station: StationId::new("TEST", name),
        ts_ms,
        revision,
        present_weather: (ts_ms % 3 == 0).then(|| vec![format!("Weather {revision}")]),
        readings: readings
            .map(|(series, &value)| Reading { series, value, quality, qualifier })
            .collect(),
    }
}

pub(super) fn batch(reports: Vec<Report>) -> Batch {
    Batch { stations: NAMES.map(station).to_vec(), reports }
}

/// Ten readings of each series at each station.
pub(super) fn ten() -> Batch {
    let reports = (0..10).flat_map(|ts_ms| {
        NAMES.map(|name| report(name, ts_ms, 0, &[ts_ms as f64, 2.0, 3.0], Quality::UNCHECKED))
    });
    batch(reports.collect())
}

/// Station, series, time, the value's bits, verdict, source verdict, qualifier.
pub(super) type Held = Vec<(usize, SeriesId, i64, u64, QualityCode, QualityCode, u8)>;

/// Every reading of a store, with its verdicts.
pub(super) fn held(store: &dyn Reader) -> Held {
    let ids = NAMES.map(|name| StationId::new("TEST", name));
    let window = ClosedWindow::new(i64::MIN, i64::MAX).unwrap();
    let selection = Selection { stations: &ids, variables: Variable::ALL, window };
    let mut held = Vec::new();
    let mut visit = |i: usize, slices: &[SeriesSlice<'_>]| {
        for slice in slices {
            assert!(!slice.ts_ms.is_empty());
            for at in 0..slice.ts_ms.len() {
                let (quality, source) = (slice.quality[at], slice.source[at]);
                let value = slice.value[at].to_bits();
                let (id, ts_ms, qualifier) =
                    (slice.series.id, slice.ts_ms[at], slice.qualifier[at]);
                held.push((i, id, ts_ms, value, quality, source, qualifier));
            }
        }
    };
    store.scan(&selection, &mut visit).unwrap();
    assert!(held.is_sorted_by_key(|&(i, series, ts_ms, ..)| (i, series, ts_ms)));
    held
}

/// The present weather of every report of a store: station, time, words.
pub(super) fn weather(store: &dyn Reader) -> Vec<(usize, i64, Vec<String>)> {
    let window = ClosedWindow::new(i64::MIN, i64::MAX).unwrap();
    let mut weather = Vec::new();
    let ids = NAMES.map(|name| StationId::new("TEST", name));
    let visit = &mut |i, ts_ms, _, words: &[String]| weather.push((i, ts_ms, words.to_vec()));
    store.scan_weather(&ids, window, visit).unwrap();
    assert!(weather.is_sorted_by_key(|&(i, ts_ms, _)| (i, ts_ms)));
    weather
}

/// A step of a property test.
#[derive(Clone, Debug)]
pub(super) enum Act {
    Append(Vec<Report>, Vec<Verdicts>),
    /// The last batch comes again.
    Again,
    Seal,
    SealAll,
    Reopen,
}

pub(super) fn any_act() -> impl Strategy<Value = Act> {
    let quality = || prop::sample::select(vec![Quality::UNCHECKED, Quality::GOOD]);
    let name = || prop::sample::select(NAMES.to_vec());
    let values = prop::collection::vec(-40.0..40.0_f64, 0..=3);
    let reports = (name(), 0..40_i64, 0..3_u8, values, quality()).prop_map(
        |(name, ts_ms, revision, values, quality)| report(name, ts_ms, revision, &values, quality),
    );
    let times = prop::collection::vec((0..40_i64, quality()), 1..8);
    let verdicts = (name(), 0..3_usize, times).prop_map(|(name, series, times)| {
        let (ts_ms, quality) = times.into_iter().unzip();
        let (station, series) = (StationId::new("TEST", name), keys()[series].id());
        Verdicts { station, series, ts_ms, quality }
    });
    let appended = (prop::collection::vec(reports, 0..12), prop::collection::vec(verdicts, 0..4));
    prop_oneof![
        6 => appended.prop_map(|(reports, verdicts)| Act::Append(reports, verdicts)),
        2 => Just(Act::Again),
        1 => Just(Act::Seal),
        2 => Just(Act::SealAll),
        1 => Just(Act::Reopen),
    ]
}

/// The store on disk holds and answers the same as the store in memory, whatever comes in, and
/// whatever is sealed, merged and reopened in between.
#[test]
fn the_store_on_disk_matches_the_store_in_memory() {
    let acts = prop::collection::vec(any_act(), 1..25);
    proptest!(ProptestConfig::with_cases(48), |(acts in acts)| {
        let (mut disk, memory) = (Temporary::new(SMALL), MemoryStore::default());
        let mut last = Batch::default();
        for act in acts {
            match act {
                Act::Append(reports, verdicts) => {
                    let batch = batch(reports);
                    let mut seen = Vec::new();
                    let mut judge = |record: &dyn Reader| {
                        seen.push(((held(record), weather(record)), record.directory()?));
                        Ok(verdicts.clone())
                    };
                    let one = disk.append(&batch, &mut judge).unwrap();
                    let other = memory.append(&batch, &mut judge).unwrap();
                    prop_assert_eq!(one, other);
                    prop_assert_eq!(&seen[0].0, &seen[1].0);
                    prop_assert_eq!(&seen[0].1.stations, &seen[1].1.stations);
                    prop_assert_eq!(seen[0].1.generation, seen[1].1.generation);
                    last = batch;
                }
                Act::Again => {
                    let rows = |disk: &Temporary| disk.journal_rows();
                    let (before, generation) = (rows(&disk), disk.directory().unwrap().generation);
                    let one = disk.append(&last, &mut no_verdicts).unwrap();
                    let other = memory.append(&last, &mut no_verdicts).unwrap();
                    prop_assert_eq!(one, other);
                    prop_assert_eq!(Receipt { unchanged: 0, overtaken: 0, ..one }, Receipt::default());
                    prop_assert_eq!(rows(&disk), before);
                    prop_assert_eq!(disk.directory().unwrap().generation, generation);
                }
                Act::Seal => _ = disk.maintain(&Maintenance::default()).unwrap(),
                Act::SealAll => seal(&mut disk),
                Act::Reopen => disk.reopen(),
            }
            prop_assert_eq!(held(&*disk), held(&memory));
            prop_assert_eq!(weather(&*disk), weather(&memory));
            let (one, other) = (disk.directory().unwrap(), memory.directory().unwrap());
            prop_assert_eq!(&one.stations, &other.stations);
            prop_assert_eq!(one.generation, other.generation);
            prop_assert_eq!(one.places_generation, other.places_generation);
        }
        prop_assert_eq!(disk.health().faults, []);
        drop(disk.store.take());
        let report = EmbeddedStore::verify(disk.dir.path(), false).unwrap();
        prop_assert_eq!(report.faults, []);
        prop_assert_eq!(report.stations, memory.directory().unwrap().stations.len());
    });
}

#[test]
fn a_judge_that_fails_or_panics_leaves_no_trace() {
    let store = Temporary::new(SMALL);
    store.append(&ten(), &mut no_verdicts).unwrap();
    let before = (held(&store), store.directory().unwrap());
    let fresh = Batch {
        stations: vec![Station {
            native_id: "Z".into(),
            id: StationId::new("TEST", "Z"),
            ..station("A")
        }],
        reports: vec![report("A", 99, 0, &[1.0], Quality::UNCHECKED)],
    };
    let error = StoreError::Columns("none".to_owned());
    let failed = store.append(&fresh, &mut |_| Err(error.clone()));
    assert_eq!(failed, Err(error));
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        store.append(&fresh, &mut |_| panic!("the judge panics"))
    }));
    assert!(panicked.is_err());
    store.append(&Batch::default(), &mut no_verdicts).unwrap();
    assert_eq!(held(&store), before.0);
    assert_eq!(store.directory().unwrap().stations, before.1.stations);
    assert_eq!(store.append(&fresh, &mut no_verdicts).unwrap().added, 1);
    assert_eq!(store.directory().unwrap().stations.len(), 4);
}

#[test]
fn a_folder_is_open_only_once() {
    let mut store = Temporary::new(SMALL);
    let path = store.dir.path().to_owned();
    let own = std::env::current_exe().unwrap();
    let message = format!(
        "{} is in use by process {} ({}); only one process at a time can have it open",
        path.display(),
        std::process::id(),
        own.file_name().unwrap().display(),
    );
    let second = EmbeddedStore::open(&path, SMALL);
    assert_eq!(second.unwrap_err().to_string(), message);
    assert_eq!(EmbeddedStore::verify(&path, false).unwrap_err().to_string(), message);
    store.reopen();
}

#[test]
fn another_schema_version_is_refused() {
    let mut store = Temporary::new(SMALL);
    let path = store.dir.path().join(DATABASE);
    store.store = None;
    let database = rusqlite::Connection::open(&path).unwrap();
    database.pragma_update(None, "user_version", 99).unwrap();
    drop(database);
    let refused = EmbeddedStore::open(store.dir.path(), SMALL).unwrap_err();
    assert_eq!(
        refused.to_string(),
        format!("{} has schema version 99; this version reads 6", path.display())
    );
}

#[test]
fn texts_are_kept() {
    let mut store = Temporary::new(SMALL);
    assert_eq!(store.meta_get("filled from").unwrap(), None);
    store.meta_set("filled from", "sample").unwrap();
    store.reopen();
    assert_eq!(store.meta_get("filled from").unwrap().as_deref(), Some("sample"));
}

#[test]
fn readings_are_dropped_and_a_cutoff_that_goes_back_says_so() {
    let mut store = Temporary::new(EmbeddedOptions { seal_readings: 1, segment_readings: 0 });
    for from in [0, 10, 20] {
        let reports = (from..from + 10)
            .map(|ts_ms| report("A", ts_ms, 0, &[1.0], Quality::UNCHECKED))
            .collect();
        store.append(&batch(reports), &mut no_verdicts).unwrap();
        seal(&mut store);
    }
    assert_eq!((held(&store).len(), store.health().segments), (30, 3));
    let from = |ms| Maintenance { retain_from_ms: Some(ms), ..Maintenance::default() };
    assert_eq!(store.maintain(&from(15)).unwrap().expired_segments, 1);
    assert_eq!((held(&store)[0].2, store.health().segments), (15, 2));
    store.reopen();
    let late = batch(vec![report("A", 14, 0, &[1.0], Quality::UNCHECKED)]);
    let expired = Receipt { expired: 1, ..Receipt::default() };
    assert_eq!(store.append(&late, &mut no_verdicts).unwrap(), expired);
    assert_eq!(store.health().fresh_readings, 0);
    assert_eq!(held(&store)[0].2, 15);
    assert_eq!(store.directory().unwrap().stations.len(), 3);
    assert_eq!(fs::read_dir(store.dir.path().join("segments")).unwrap().count(), 2);

    // Readings that were not deleted are served again; deleted readings are reported as missing.
    for reopened in [false, true] {
        store.retain_from(5).unwrap();
        if reopened {
            store.reopen();
            assert_eq!(store.health().faults.len(), 1);
        }
        assert_eq!(held(&store)[0].2, 10);
        assert_eq!(damage_of(&store).blocks(), 1);
    }
    let faults = EmbeddedStore::verify(&copied(&store), false).unwrap().faults;
    let text = "retention: readings from before 1970-01-01T00:00:00.010Z were deleted by retention, whose \
                cutoff was then moved back to 1970-01-01T00:00:00.005Z";
    assert_eq!(faults[0].to_string(), text);
    let receipt = store.append(&late, &mut no_verdicts).unwrap();
    assert_eq!((receipt.added, receipt.expired), (0, 0), "it was there all the time");
    store.retain_from(10).unwrap();
    assert_eq!(damage_of(&store).blocks(), 0);
}

/// A folder like that of a store that no process has open.
fn copied(store: &Temporary) -> std::path::PathBuf {
    let to = store.dir.path().join("copy");
    let frozen = EmbeddedStore::freeze(store.dir.path(), {
        fs::create_dir_all(to.join("segments")).unwrap();
        &to
    });
    for segment in frozen.unwrap().segments {
        fs::copy(store.dir.path().join(segment.name()), to.join(segment.name())).unwrap();
    }
    to
}

/// What reading everything lacks.
fn damage_of(store: &Temporary) -> crate::store::Damage {
    let directory = store.directory().unwrap();
    let stations: Vec<StationId> =
        directory.stations.iter().map(|record| record.station.id).collect();
    let window = ClosedWindow::new(i64::MIN, i64::MAX).unwrap();
    let selection = Selection { stations: &stations, variables: Variable::ALL, window };
    store.scan(&selection, &mut |_, _| {}).unwrap()
}

/// A past bug: an export whose last reading is as old as the cutoff lost the readings of that time.
#[test]
fn readings_at_the_cutoff_are_in_a_window_that_ends_there() {
    let mut store = Temporary::new(EmbeddedOptions::default());
    let reports = |range: std::ops::Range<i64>| {
        range.map(|ts_ms| report("A", ts_ms, 0, &[1.0], Quality::UNCHECKED)).collect()
    };
    store.append(&batch(reports(0..20)), &mut no_verdicts).unwrap();
    seal(&mut store);
    store.append(&batch(reports(20..30)), &mut no_verdicts).unwrap();
    let at = |store: &Temporary, end_ms: i64| {
        let window = ClosedWindow::new(end_ms - 5, end_ms).unwrap();
        let selection = Selection {
            stations: &[StationId::new("TEST", "A")],
            variables: Variable::ALL,
            window,
        };
        let mut found = Vec::new();
        let visit = &mut |_, slices: &[SeriesSlice<'_>]| found.extend_from_slice(slices[0].ts_ms);
        store.scan(&selection, visit).unwrap();
        found
    };
    for cutoff_ms in [15, 25] {
        let from = Maintenance { retain_from_ms: Some(cutoff_ms), ..Maintenance::default() };
        store.maintain(&from).unwrap();
        assert_eq!(at(&store, cutoff_ms), [cutoff_ms]);
        assert!(at(&store, cutoff_ms - 1).is_empty());
        assert_eq!(at(&store, cutoff_ms + 1), [cutoff_ms, cutoff_ms + 1]);
    }
}

/// What can happen to a file.
type Harm = fn(&Path);

const HARMS: [(&str, Harm); 4] = [
    ("a flipped bit", |path| {
        let mut bytes = fs::read(path).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 0x10;
        fs::write(path, bytes).unwrap();
    }),
    ("truncated", |path| {
        let length = fs::metadata(path).unwrap().len();
        fs::File::options().write(true).open(path).unwrap().set_len(length / 2).unwrap();
    }),
    ("zeroed", |path| {
        let length = fs::metadata(path).unwrap().len() as usize;
        fs::write(path, vec![0; length]).unwrap();
    }),
    ("deleted", |path| fs::remove_file(path).unwrap()),
];

#[test]
fn a_damaged_segment_is_reported_and_set_aside() {
    for (harm, damage) in HARMS {
        let mut store = Temporary::new(EmbeddedOptions { seal_readings: 1, segment_readings: 0 });
        store.append(&ten(), &mut no_verdicts).unwrap();
        seal(&mut store);
        let later = batch(vec![report("B", 50, 0, &[7.0], Quality::UNCHECKED)]);
        store.append(&later, &mut no_verdicts).unwrap();
        seal(&mut store);
        store.store = None;
        let file = "segments/00000001.arrow";
        damage(&store.dir.path().join(file));

        let report = EmbeddedStore::verify(store.dir.path(), false).unwrap();
        assert_eq!((report.faults.len(), &*report.faults[0].file), (1, file), "{harm}");
        store.store = Some(EmbeddedStore::open(store.dir.path(), SMALL).unwrap());
        assert_eq!(held(&store).len(), 1, "{harm}: what is intact can still be read");
        assert_eq!(store.health().faults, report.faults);
        let set_aside = store.maintain(&Maintenance::default()).unwrap().set_aside;
        // A missing file may come back.
        let is_deleted = harm == "deleted";
        assert_eq!(set_aside, if is_deleted { vec![] } else { report.faults.clone() });
        assert_eq!(store.health().segments, 1 + usize::from(is_deleted));
        let aside = store.dir.path().join("damaged/00000001.arrow");
        assert_eq!(aside.exists(), harm != "deleted");
        // It is still reported when the store is reopened; what is left is intact.
        store.reopen();
        assert_eq!(store.health().faults, report.faults);
        store.append(&ten(), &mut no_verdicts).unwrap();
        assert_eq!(held(&store).len(), 91);
        store.store = None;
        let verify = |set_aside| EmbeddedStore::verify(store.dir.path(), set_aside).unwrap();
        assert_eq!(verify(false).faults, report.faults);
        assert_eq!(verify(true).set_aside, report.faults);
        assert_eq!(verify(false).faults, []);
    }
}

#[test]
fn every_flipped_bit_of_a_segment_is_found() {
    let mut store = Temporary::new(SMALL);
    store.append(&ten(), &mut no_verdicts).unwrap();
    seal(&mut store);
    store.store = None;
    let path = store.dir.path().join("segments/00000001.arrow");
    let whole = fs::read(&path).unwrap();
    for at in (0..whole.len()).step_by(97) {
        let mut bytes = whole.clone();
        bytes[at] ^= 1 << (at % 8);
        fs::write(&path, &bytes).unwrap();
        let report = EmbeddedStore::verify(store.dir.path(), false).unwrap();
        assert_eq!(report.faults.len(), 1, "byte {at}");
    }
}

#[test]
fn a_damaged_batch_of_the_journal_is_reported_and_set_aside() {
    let mut store = Temporary::new(SMALL);
    store.append(&ten(), &mut no_verdicts).unwrap();
    let later = batch(vec![report("B", 50, 0, &[7.0], Quality::UNCHECKED)]);
    store.append(&later, &mut no_verdicts).unwrap();
    store.store = None;
    let database = rusqlite::Connection::open(store.dir.path().join(DATABASE)).unwrap();
    let blob: Vec<u8> =
        database.query_row("SELECT batch FROM journal WHERE id = 2", [], |row| row.get(0)).unwrap();
    for at in 0..blob.len() {
        let mut bytes = blob.clone();
        bytes[at] ^= 0x40;
        database.execute("UPDATE journal SET batch = ? WHERE id = 2", [bytes]).unwrap();
        if at % 16 == 0 {
            let report = EmbeddedStore::verify(store.dir.path(), false).unwrap();
            assert_eq!(&*report.faults[0].file, "mesonet.sqlite, batch 2 of the journal");
        }
    }
    drop(database);
    store.store = Some(EmbeddedStore::open(store.dir.path(), SMALL).unwrap());
    assert_eq!(held(&store).len(), 90);
    assert_eq!(store.health().faults.len(), 1);
    seal_and_reopen(&mut store);
    assert_eq!((held(&store).len(), store.health().faults.len()), (90, 1));
}

#[test]
fn an_invalid_database_is_an_error_that_names_it() {
    for (harm, damage) in &HARMS[1..3] {
        let mut store = Temporary::new(SMALL);
        store.append(&ten(), &mut no_verdicts).unwrap();
        store.store = None;
        damage(&store.dir.path().join(DATABASE));
        let error = EmbeddedStore::open(store.dir.path(), SMALL).unwrap_err();
        assert!(error.to_string().contains(DATABASE), "{harm}: {error}");
        let error = EmbeddedStore::verify(store.dir.path(), false);
        let named = match error {
            Err(error) => error.to_string().contains(DATABASE),
            Ok(report) => report.faults.iter().any(|fault| fault.file.contains(DATABASE)),
        };
        assert!(named, "{harm}");
    }
}

#[test]
fn a_full_disk_refuses_the_batch_and_reads_continue() {
    let mut store = Temporary::new(SMALL);
    store.append(&ten(), &mut no_verdicts).unwrap();
    let before = (held(&store), store.directory().unwrap());
    let limit = |store: &Temporary, pages: i64| {
        let state = store.state();
        let set = state.catalogue.connection.pragma_update_and_check(
            None,
            "max_page_count",
            pages,
            |_| Ok(()),
        );
        set.unwrap();
    };
    limit(&store, 1);
    let reports = (0..5000)
        .map(|ts_ms| report("A", 100 + ts_ms, 0, &[1.0, 2.0, 3.0], Quality::GOOD))
        .collect();
    let large = batch(reports);
    let error = store.append(&large, &mut no_verdicts).unwrap_err();
    assert!(matches!(error, StoreError::Full { .. }), "{error}");
    assert_eq!(held(&store), before.0);
    assert_eq!(store.directory().unwrap().stations, before.1.stations);
    limit(&store, 1_000_000);
    assert_eq!(store.append(&large, &mut no_verdicts).unwrap().added, 15_000);
    let after = held(&store);
    store.reopen();
    assert_eq!(held(&store), after);
}

#[test]
fn reads_continue_while_segments_are_merged() {
    let store = Temporary::new(SMALL);
    store.append(&ten(), &mut no_verdicts).unwrap();
    let expected = held(&store);
    std::thread::scope(|scope| {
        let maintained = scope.spawn(|| {
            for revision in 1..41 {
                // The same values in newer reports: the content does not change.
                let mut ten = ten();
                ten.reports.iter_mut().for_each(|report| report.revision = revision);
                assert_eq!(store.append(&ten, &mut no_verdicts).unwrap().replaced, 90);
                let all = Maintenance { seal_all: revision % 2 == 0, ..Maintenance::default() };
                store.maintain(&all).unwrap();
            }
        });
        while !maintained.is_finished() {
            assert_eq!(held(&store), expected);
        }
    });
    assert_eq!(store.health().faults, []);
}
