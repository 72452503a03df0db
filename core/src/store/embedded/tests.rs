//! Tests of the on-disk store: it holds what the store in memory holds, and refuses what it must.

use proptest::prelude::*;

use super::names::DATABASE;
use super::testing::{SMALL, Temporary, seal};
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
        text: None,
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
pub(super) type ReadingRows = Vec<(usize, SeriesId, i64, u64, QualityCode, QualityCode, u8)>;

/// Every reading of a store, with its verdicts.
pub(super) fn held(store: &dyn Reader) -> ReadingRows {
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
        format!("{} has schema version 99; this version reads 8", path.display())
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
