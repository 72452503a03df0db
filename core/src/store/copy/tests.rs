use std::sync::atomic::{AtomicUsize, Ordering};

use proptest::prelude::*;

use super::*;
use crate::geo::LonLat;
use crate::observation::StationId;
use crate::observation::{
    BaseQuality, Batch, EarlierPlaces, IdScheme, Identifiers, IntervalType, Qualifier, Quality,
    Reading, ReasonQuality, Report, ReportText, SeriesKey, Station, Variable,
};
use crate::store::embedded::testing::{SMALL, Temporary, seal};
use crate::store::{
    EmbeddedReader, EmbeddedStore, Maintenance, MemoryStore, ReaderWrapper, Receipt, Selection,
    VerdictFn, Verdicts, no_verdicts,
};
use crate::time::ClosedWindow;
use crate::time::{DAY_MS, HOUR_MS};

const NAMES: [&str; 3] = ["A", "B", "C"];

fn station(name: &str, moved: bool) -> Station {
    let mut identifiers = Identifiers::default();
    identifiers.add(IdScheme::Wmo, if moved { "71624" } else { "71265" });
    Station {
        id: StationId::new("TEST", name),
        network: "TEST".to_owned(),
        native_id: name.to_owned(),
        name: format!("Station {name}"),
        station_type: None,
        coordinates: LonLat::new(if moved { -100.0 } else { 100.0 }, 50.0).unwrap(),
        sensor_height_m: 0.0,
        altitude_m: Some(-0.0),
        identifiers,
        earlier_places: EarlierPlaces::default(),
    }
}

fn series(number: usize) -> SeriesKey {
    let variable = [Variable::AirTemperature, Variable::WindSpeed, Variable::RelativeHumidity];
    let mut key = SeriesKey::new(variable[number % 3], IntervalType::Instantaneous, 0);
    if number > 2 {
        key.bucket = "2-5".into();
    }
    key
}

fn quality(number: usize) -> Quality {
    let base = [BaseQuality::Unknown, BaseQuality::Good, BaseQuality::Error, BaseQuality::Doubtful];
    Quality { base: base[number % 4], reason: ReasonQuality::Unknown }
}

/// What happens to a record.
#[derive(Clone, Debug)]
enum Event {
    Batch(Vec<Report>, bool),
    /// Verdicts on readings of a station and a series.
    Judged(usize, usize, Vec<(i64, usize)>),
    /// Everything is sealed, and readings may be dropped.
    Sealed(Option<i64>),
}

/// Times of many years, with some that are near.
fn time() -> impl Strategy<Value = i64> {
    prop_oneof![
        6 => (0..60_i64).prop_map(|hour| 1_700_000_000_000 + hour * HOUR_MS),
        2 => (0..400_i64).prop_map(|day| 1_600_000_000_000 + day * 9 * DAY_MS),
        1 => prop::sample::select(vec![-DAY_MS, 0, 4_102_444_800_000]),
    ]
}

fn report() -> impl Strategy<Value = Report> {
    let reading = (0..6_usize, -40.0..40.0_f64, 0..4_usize, 0..3_usize).prop_map(
        |(number, value, of, qualifier)| Reading {
            series: series(number),
            value,
            quality: quality(of),
            qualifier: [None, Some(Qualifier::Trace), Some(Qualifier::AtLeast)][qualifier],
        },
    );
    let words = prop::option::weighted(0.4, prop::collection::vec("[a-c]{0,3}", 0..3));
    let text = prop::option::weighted(0.4, ("[A-C ]{0,9}", prop::option::of("S[A-C]")));
    let text = text
        .prop_map(|text| text.and_then(|(text, header)| ReportText::new(&text, header.as_deref())));
    let readings = prop::collection::vec(reading, 0..5);
    (0..3_usize, time(), 0..3_u8, words, text, readings).prop_map(
        |(at, ts_ms, revision, present_weather, text, readings)| Report {
            station: StationId::new("TEST", NAMES[at]),
            ts_ms,
            revision,
            present_weather,
            text,
            readings,
        },
    )
}

fn event() -> impl Strategy<Value = Event> {
    let verdicts = prop::collection::vec((time(), 0..4_usize), 1..20);
    prop_oneof![
        6 => (prop::collection::vec(report(), 0..20), any::<bool>())
            .prop_map(|(reports, moved)| Event::Batch(reports, moved)),
        2 => (0..3_usize, 0..6_usize, verdicts).prop_map(|(of, number, at)| Event::Judged(of, number, at)),
        1 => prop::option::of(time()).prop_map(Event::Sealed),
    ]
}

fn apply(events: &[Event], store: &dyn Store, sealed: &mut dyn FnMut(Option<i64>)) {
    for event in events {
        match event {
            Event::Batch(reports, moved) => {
                let stations = NAMES.iter().map(|name| station(name, *moved)).collect();
                store
                    .append(&Batch { stations, reports: reports.clone() }, &mut no_verdicts)
                    .unwrap();
            }
            Event::Judged(of, number, at) => {
                let verdicts = Verdicts {
                    station: StationId::new("TEST", NAMES[*of]),
                    series: series(*number).id(),
                    ts_ms: at.iter().map(|(ts_ms, _)| *ts_ms).collect(),
                    quality: at.iter().map(|(_, of)| quality(*of)).collect(),
                };
                store.append(&Batch::default(), &mut |_| Ok(vec![verdicts.clone()])).unwrap();
            }
            Event::Sealed(retain_from_ms) => sealed(*retain_from_ms),
        }
    }
}

fn on_disk(events: &[Event]) -> Temporary {
    let store = Temporary::new(SMALL);
    apply(events, &*store, &mut |retain_from_ms| {
        store.maintain(&Maintenance { retain_from_ms, seal_all: true }).unwrap();
    });
    store
}

fn in_memory(events: &[Event]) -> MemoryStore {
    let store = MemoryStore::default();
    apply(events, &store, &mut |_| {});
    store
}

/// Everything that a record can answer.
#[derive(Debug, PartialEq)]
struct RecordContent {
    stations: StationRecords,
    /// Station, series, time, bits of the value, verdicts, revision and qualifier.
    readings: Vec<(usize, i32, i64, u64, [u8; 4])>,
    weather: Vec<(usize, i64, u8, Vec<String>)>,
    weather_of: Vec<Option<(i64, u8)>>,
    retain_from_ms: Option<i64>,
}

fn held(store: &dyn Original) -> RecordContent {
    let reference = store.reference_data().unwrap();
    let stations = reference.directory.stations.clone();
    let ids: Vec<StationId> = stations.iter().map(|record| record.station.id).collect();
    let window = ClosedWindow::new(i64::MIN, i64::MAX).unwrap();
    let (mut readings, mut weather) = (Vec::new(), Vec::new());
    let selection = Selection { stations: &ids, variables: Variable::ALL, window };
    store
        .scan(&selection, &mut |i, slices| {
            for slice in slices {
                for at in 0..slice.ts_ms.len() {
                    let (quality, source) = (slice.quality[at].0, slice.source[at].0);
                    let codes = [quality, source, slice.revision[at], slice.qualifier[at]];
                    let (ts_ms, value) = (slice.ts_ms[at], slice.value[at].to_bits());
                    readings.push((i, slice.series.id.0, ts_ms, value, codes));
                }
            }
        })
        .unwrap();
    store
        .scan_weather(&ids, window, &mut |i, ts_ms, revision, words| {
            weather.push((i, ts_ms, revision, words.to_vec()));
        })
        .unwrap();
    let (weather_of, retain_from_ms) = (reference.weather_of, reference.retain_from_ms);
    RecordContent { stations, readings, weather, weather_of, retain_from_ms }
}

/// A copy that fails after some batches, as if the process was killed.
struct FailingStore<'a> {
    copy: &'a Temporary,
    left: AtomicUsize,
}

impl FailingStore<'_> {
    fn killed() -> StoreError {
        StoreError::Storage { path: "copy".to_owned(), cause: "killed".to_owned() }
    }

    fn step(&self) -> Result<(), StoreError> {
        let left = self.left.load(Ordering::Relaxed).checked_sub(1).ok_or_else(Self::killed)?;
        self.left.store(left, Ordering::Relaxed);
        Ok(())
    }
}

impl ReaderWrapper for FailingStore<'_> {
    fn wrapped(&self) -> &dyn Reader {
        self.copy
    }
}

impl Store for FailingStore<'_> {
    fn append(&self, batch: &Batch, judge: &mut VerdictFn<'_>) -> Result<Receipt, StoreError> {
        self.step()?;
        self.copy.append(batch, judge)
    }
}

impl Original for FailingStore<'_> {
    fn reference_data(&self) -> Result<ReferenceData, StoreError> {
        (**self.copy).reference_data()
    }

    fn note(&self, name: &str) -> Result<Option<String>, StoreError> {
        (**self.copy).note(name)
    }
}

impl Duplicate for FailingStore<'_> {
    fn set_note(&self, name: &str, text: &str) -> Result<(), StoreError> {
        self.step()?;
        (**self.copy).set_note(name, text)
    }

    fn retain(&self, from_ms: i64) -> Result<(), StoreError> {
        self.step()?;
        (**self.copy).retain(from_ms)
    }

    fn appear(&self, records: &StationRecords) -> Result<(), StoreError> {
        self.step()?;
        (**self.copy).appear(records)
    }

    fn upkeep(&self, is_last: bool) -> Result<(), StoreError> {
        self.step()?;
        (**self.copy).upkeep(is_last)
    }
}

fn try_copy(
    original: &dyn Original,
    copy: &EmbeddedStore,
    chunk: u64,
) -> Result<Comparison, CopyError> {
    let mut copying = Copying::begin(original, copy, "the original")?.in_chunks_of(chunk);
    copying.run(&mut |_| {})?;
    let comparison = compare(original, copy, &mut |_| {})?;
    copying.finish(&comparison)?;
    Ok(comparison)
}

fn copy_whole(original: &dyn Original, copy: &EmbeddedStore, chunk: u64) -> Comparison {
    try_copy(original, copy, chunk).unwrap()
}

/// The refusal of a record from which retention has deleted readings that its cutoff, which went
/// back since, would keep.
const INCOMPLETE: CopyError = CopyError::Damaged { side: "original", blocks: 1 };

/// Whether a record lacks such readings. It may do so only if the cutoff did go back.
fn is_incomplete<'a>(store: &EmbeddedStore, events: impl Iterator<Item = &'a Event>) -> bool {
    let faults = store.health().faults;
    if !faults.is_empty() {
        let cutoff_ms = |event: &Event| match event {
            Event::Sealed(retain_from_ms) => *retain_from_ms,
            Event::Batch(..) | Event::Judged(..) => None,
        };
        assert!(!events.filter_map(cutoff_ms).is_sorted(), "{faults:?}");
        assert!(faults.iter().all(|fault| fault.cause.contains("deleted by retention")));
    }
    !faults.is_empty()
}

/// The cutoff was behind the report when it came, and has gone back since.
#[test]
fn the_last_weather_of_a_station_is_no_report_of_its_copy() {
    let report = Report {
        station: station("A", false).id,
        ts_ms: 1_700_151_200_000,
        revision: 0,
        present_weather: Some(Vec::new()),
        text: None,
        readings: Vec::new(),
    };
    let original = on_disk(&[
        Event::Sealed(Some(1_700_310_400_000)),
        Event::Batch(vec![report], false),
        Event::Sealed(Some(1_700_000_000_000)),
    ]);
    let copy = Temporary::new(SMALL);
    assert!(copy_whole(&*original, &copy, 1).is_equal());
    assert_eq!(held(&*original), held(&*copy));
}

#[test]
fn a_record_that_lacks_what_its_cutoff_would_keep_is_not_copied_as_whole() {
    let original = on_disk(&[
        Event::Batch(reports(&[(1_700_036_000_000, 0.0)]), false),
        Event::Sealed(None),
        Event::Sealed(Some(1_700_039_600_000)),
        Event::Sealed(Some(1_600_000_000_000)),
    ]);
    let copy = Temporary::new(SMALL);
    assert_eq!(try_copy(&*original, &copy, 1), Err(INCOMPLETE));
    assert!(unfinished(&copy.note(NOTE).unwrap().unwrap()).is_some());
}

/// What was before the cutoff of the original is not in its copy.
#[test]
fn a_copy_whose_cutoff_goes_back_says_what_it_lacks() {
    let cutoff_ms = 1_700_000_000_000;
    let original = on_disk(&[
        Event::Batch(reports(&[(cutoff_ms - HOUR_MS, 0.0), (cutoff_ms, 1.0)]), false),
        Event::Sealed(Some(cutoff_ms)),
    ]);
    let mut copy = Temporary::new(SMALL);
    copy_whole(&*original, &copy, 1);
    for reopened in [false, true] {
        if reopened {
            copy.reopen();
        }
        assert_eq!(copy.health().faults, []);
        copy.retain_from(cutoff_ms - HOUR_MS).unwrap();
        assert!(is_incomplete(&copy, [Some(1), Some(0)].map(Event::Sealed).iter()));
        copy.retain_from(cutoff_ms).unwrap();
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn a_copy_answers_as_its_original(events in prop::collection::vec(event(), 1..12), chunk in 1..40_u64) {
        let original = in_memory(&events);
        let mut copy = Temporary::new(SMALL);
        let comparison = copy_whole(&original, &copy, chunk);
        prop_assert_eq!(held(&original), held(&*copy));
        prop_assert!(comparison.is_equal());
        prop_assert_eq!(comparison.original, comparison.copy);
        copy.reopen();
        prop_assert_eq!(held(&original), held(&*copy));
    }

    #[test]
    fn a_copy_of_a_record_on_disk_has_its_cutoff_too(events in prop::collection::vec(event(), 1..12), chunk in 1..40_u64) {
        let original = on_disk(&events);
        let reader = EmbeddedReader::open(original.dir.path()).unwrap();
        let mut copy = Temporary::new(SMALL);
        if is_incomplete(&original, events.iter()) {
            prop_assert_eq!(try_copy(&reader, &copy, chunk), Err(INCOMPLETE));
            return Ok(());
        }
        copy_whole(&reader, &copy, chunk);
        prop_assert_eq!(held(&reader), held(&*copy));
        prop_assert_eq!(held(&*original), held(&*copy));
        copy.reopen();
        prop_assert_eq!(held(&*original), held(&*copy));
    }

    /// Killed again and again, also after the original has changed.
    #[test]
    fn an_interrupted_copy_goes_on_to_the_same_end(
        events in prop::collection::vec(event(), 1..8),
        later in prop::collection::vec(event(), 0..3),
        steps in prop::collection::vec(0..30_usize, 1..6),
        chunk in 1..40_u64,
    ) {
        let original = on_disk(&events);
        let mut copy = Temporary::new(SMALL);
        for (turn, left) in steps.into_iter().enumerate() {
            if turn == 2 {
                apply(&later, &*original, &mut |retain_from_ms| {
                    original.maintain(&Maintenance { retain_from_ms, seal_all: true }).unwrap();
                });
            }
            let failing = FailingStore { copy: &copy, left: left.into() };
            let copied = Copying::begin(&*original, &failing, "it")
                .map(|copying| copying.in_chunks_of(chunk))
                .and_then(|mut copying| copying.run(&mut |_| {}));
            if let Err(error) = copied {
                let is_incomplete = is_incomplete(&original, events.iter().chain(&later));
                let killed = CopyError::Store(FailingStore::killed());
                prop_assert!(error == killed || (is_incomplete && error == INCOMPLETE), "{}", error);
            }
            copy.reopen();
        }
        let mut copying = Copying::begin(&*original, &*copy, "it").unwrap();
        let copied = copying.run(&mut |_| {});
        if is_incomplete(&original, events.iter().chain(&later)) {
            prop_assert_eq!(copied.and(compare(&*original, &*copy, &mut |_| {})), Err(INCOMPLETE));
            return Ok(());
        }
        copied.unwrap();
        let comparison = compare(&*original, &*copy, &mut |_| {}).unwrap();
        prop_assert_eq!(&comparison.differences, &[]);
        prop_assert_eq!(held(&*original), held(&*copy));
    }
}

fn reports(values: &[(i64, f64)]) -> Vec<Report> {
    let report = |&(ts_ms, value): &(i64, f64)| Report {
        station: StationId::new("TEST", "A"),
        ts_ms,
        revision: 0,
        present_weather: Some(vec!["Rain".to_owned()]),
        text: None,
        readings: vec![Reading::unchecked(series(0), value)],
    };
    values.iter().map(report).collect()
}

fn of(values: &[(i64, f64)]) -> MemoryStore {
    in_memory(&[Event::Batch(reports(values), false)])
}

#[test]
fn a_difference_is_named_with_its_station_series_and_month() {
    let day = 1_722_711_600_000;
    let original = of(&[(day, 1.0), (day + 40 * DAY_MS, 2.0)]);
    let differing = |other: &MemoryStore| {
        let comparison = compare(&original, other, &mut |_| {}).unwrap();
        assert_eq!(comparison.count, comparison.differences.len());
        comparison.differences.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(differing(&of(&[(day, 1.0), (day + 40 * DAY_MS, 2.0)])), Vec::<String>::new());
    let [other] = &differing(&of(&[(day, 1.0), (day + 40 * DAY_MS, 2.5)]))[..] else { panic!() };
    let a = StationId::new("TEST", "A");
    assert!(
        other.starts_with(&format!("station {a}: 2 readings, 2 reports of the weather")),
        "{other}"
    );
    let id = series(0).id();
    let place =
        format!("series {id} (airTemperature) of 2024-09: 1 in the original, 1 in the copy");
    assert!(other.ends_with(&place), "{other}");
    let missing = differing(&of(&[(day, 1.0)]));
    assert!(
        missing.iter().any(|what| what.ends_with("2024-09: 1 in the original, 0 in the copy")),
        "{missing:?}"
    );
    assert!(missing.iter().any(|what| what.contains("its last report has another time")));
    let none = differing(&MemoryStore::default());
    assert!(none.iter().any(|what| what.contains("it is missing from the copy")), "{none:?}");
}

#[test]
fn every_part_of_a_reading_is_compared() {
    let base = Event::Batch(reports(&[(0, 1.0), (10, -0.0)]), false);
    let with = |change: &dyn Fn(&mut Report)| {
        let mut all = reports(&[(0, 1.0), (10, -0.0)]);
        change(&mut all[1]);
        in_memory(&[Event::Batch(all, false)])
    };
    let original = in_memory(std::slice::from_ref(&base));
    let judged = Event::Judged(0, 0, vec![(10, 1)]);
    let changed = [
        with(&|report| report.readings[0].value = 0.0),
        with(&|report| report.revision = 1),
        with(&|report| report.ts_ms = 11),
        with(&|report| report.readings[0].quality = Quality::GOOD),
        with(&|report| report.readings[0].qualifier = Some(Qualifier::Trace)),
        with(&|report| report.readings[0].series = series(1)),
        with(&|report| report.readings.clear()),
        with(&|report| report.present_weather = Some(vec!["Ra".to_owned(), "in".to_owned()])),
        with(&|report| report.present_weather = None),
        in_memory(&[base.clone(), judged]),
        in_memory(&[Event::Batch(reports(&[(0, 1.0), (10, -0.0)]), true)]),
    ];
    for (at, other) in changed.iter().enumerate() {
        assert!(!compare(&original, other, &mut |_| {}).unwrap().is_equal(), "{at}");
    }
}

#[test]
fn a_store_that_holds_something_is_never_mixed_with_a_copy() {
    let original = of(&[(0, 1.0)]);
    let taken = Temporary::new(SMALL);
    taken
        .append(&Batch { stations: vec![station("B", false)], reports: vec![] }, &mut no_verdicts)
        .unwrap();
    let begin = |store: &Temporary, of: &str| {
        Copying::begin(&original, &**store, of).map(|copying| copying.done())
    };
    assert_eq!(begin(&taken, "it"), Err(CopyError::Occupied { stations: 1 }));
    assert_eq!(taken.note(NOTE).unwrap(), None);

    let copy = Temporary::new(SMALL);
    assert_eq!(begin(&copy, "it"), Ok(0));
    assert_eq!(unfinished(&copy.note(NOTE).unwrap().unwrap()), Some("it"));
    assert_eq!(begin(&copy, "other"), Err(CopyError::OtherCopy { of: "it".to_owned() }));
    copy_whole_as(&original, &copy, "it");
    assert_eq!(begin(&copy, "it"), Err(CopyError::Finished { of: "it".to_owned() }));
    let note = copy.note(NOTE).unwrap().unwrap();
    assert_eq!(unfinished(&note), None);
    assert!(
        note.starts_with("verified\nit\n1 readings, 1 reports of the weather, checksum "),
        "{note}"
    );
}

fn copy_whole_as(original: &dyn Original, copy: &Temporary, of: &str) {
    let mut copying = Copying::begin(original, &**copy, of).unwrap();
    copying.run(&mut |_| {}).unwrap();
    let comparison = compare(original, &**copy, &mut |_| {}).unwrap();
    copying.finish(&comparison).unwrap();
}

#[test]
fn a_copy_that_differs_is_not_marked_as_finished() {
    let original = of(&[(0, 1.0)]);
    let copy = Temporary::new(SMALL);
    let copying = Copying::begin(&original, &*copy, "it").unwrap();
    let comparison = compare(&original, &*copy, &mut |_| {}).unwrap();
    assert!(matches!(copying.finish(&comparison), Err(CopyError::Differs { .. })));
    assert_eq!(unfinished(&copy.note(NOTE).unwrap().unwrap()), Some("it"));
}

#[test]
fn a_damaged_original_is_never_copied_as_whole() {
    let original = Temporary::new(SMALL);
    let values: Vec<_> = (0..2000).map(|i| (i * HOUR_MS, i as f64)).collect();
    original
        .append(
            &Batch { stations: vec![station("A", false)], reports: reports(&values) },
            &mut no_verdicts,
        )
        .unwrap();
    let mut original = original;
    seal(&mut original);
    let dir = original.dir.path().to_owned();
    original.store = None;
    let segment = dir.join("segments/00000001.arrow");
    let mut bytes = std::fs::read(&segment).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&segment, bytes).unwrap();
    let reader = EmbeddedReader::open(&dir).unwrap();
    let copy = Temporary::new(SMALL);
    let mut copying = Copying::begin(&reader, &*copy, "it").unwrap();
    let error = copying.run(&mut |_| {}).unwrap_err();
    assert!(matches!(error, CopyError::Damaged { side: "original", .. }), "{error}");
    assert!(reader.health().faults[0].to_string().contains("segments/00000001.arrow"));
    assert!(compare(&reader, &*copy, &mut |_| {}).is_err());
    assert_eq!(unfinished(&copy.note(NOTE).unwrap().unwrap()), Some("it"));
}

/// When readings are dropped, the first appearance of their series stays known, and so does the
/// weather of the last report.
#[test]
fn what_dropped_readings_left_behind_is_copied() {
    let original = Temporary::new(SMALL);
    let batch =
        Batch { stations: vec![station("A", false)], reports: reports(&[(0, 1.0), (10, 2.0)]) };
    original.append(&batch, &mut no_verdicts).unwrap();
    original.maintain(&Maintenance { retain_from_ms: Some(DAY_MS), seal_all: true }).unwrap();
    let copy = Temporary::new(SMALL);
    let comparison = copy_whole(&*original, &copy, 10);
    assert_eq!(comparison.original, Digest::default());
    let directory = copy.directory().unwrap();
    let record = directory.get(StationId::new("TEST", "A")).unwrap();
    assert_eq!((record.update_time_ms, record.series[0].first_appearance_ms), (Some(10), 0));
    assert_eq!(record.present_weather, Some(vec!["Rain".to_owned()]));
    assert_eq!(held(&*original), held(&*copy));
}
