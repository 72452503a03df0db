//! The rules of every store, as functions over the trait. The same suite runs against each store,
//! also against stores of other crates (feature `conformance`).
//!
//! ```
//! use mesonet::MemoryStore;
//! use mesonet::store::conformance::{RULES, any_order_gives_the_same_record};
//! for (_, rule) in RULES {
//!     rule(&MemoryStore::default());
//! }
//! any_order_gives_the_same_record(4, MemoryStore::default);
//! ```

#![cfg_attr(not(test), allow(clippy::unwrap_used, reason = "a broken rule is a panic"))]

mod places;
mod texts;
mod verdicts;
mod weather;

use std::sync::Arc;

use proptest::prelude::*;

#[cfg(test)]
use super::MemoryStore;
use super::{
    Reader, Receipt, Selection, SeriesSlice, Store, StoreError, VerdictFn, Verdicts, latest_slices,
    no_verdicts,
};
use crate::geo::LonLat;
use crate::observation::{
    Batch, EarlierPlaces, IdScheme, Identifiers, IntervalType, Qualifier, Quality, QualityCode,
    Reading, Report, ReportText, Series, SeriesId, SeriesKey, Station, StationId, Variable,
};
use crate::time::ClosedWindow;
use places::{
    a_description_moves_a_station_after_its_newest_report,
    no_description_takes_an_earlier_place_away,
};
use texts::the_text_of_every_report_is_kept;
use verdicts::{
    a_judge_sees_the_batch_in_the_record,
    a_revised_verdict_leaves_the_value_and_the_source_verdict, a_verdict_is_kept_unchanged,
};
use weather::{
    the_weather_of_every_report_is_kept, weather_is_from_the_most_recent_report_that_has_any,
};

fn station(native_id: &str) -> Station {
    Station {
        id: StationId::new("TEST", native_id),
        network: "TEST".to_owned(),
        native_id: native_id.to_owned(),
        name: format!("Station {native_id}"),
        station_type: None,
        coordinates: LonLat::new(-100.0, 50.0).unwrap(),
        sensor_height_m: 0.0,
        altitude_m: None,
        identifiers: Identifiers::default(),
        earlier_places: EarlierPlaces::default(),
    }
}

fn temperature() -> SeriesKey {
    SeriesKey::new(Variable::AirTemperature, IntervalType::Instantaneous, 0)
}

fn report(native_id: &str, ts_ms: i64, revision: u8, value: f64) -> Report {
    let reading =
        Reading { series: temperature(), value, quality: Quality::UNCHECKED, qualifier: None };
    Report {
        station: StationId::new("TEST", native_id),
        ts_ms,
        revision,
        present_weather: None,
        text: None,
        readings: vec![reading],
    }
}

fn batch(reports: Vec<Report>) -> Batch {
    Batch { stations: vec![station("A"), station("B")], reports }
}

/// All temperatures that a store holds: native id, time, value.
fn held(store: &dyn Store) -> Vec<(String, i64, f64)> {
    let names = [station("A"), station("B")];
    let ids = names.each_ref().map(|station| station.id);
    let window = ClosedWindow::new(i64::MIN, i64::MAX).unwrap();
    let variables = [Variable::AirTemperature];
    let selection = Selection { stations: &ids, variables: &variables, window };
    let mut held = Vec::new();
    store
        .scan(&selection, &mut |i, slices| {
            for slice in slices {
                assert_eq!(*slice.series, Arc::new(Series::from(temperature())));
                for (&ts_ms, &value) in slice.ts_ms.iter().zip(slice.value) {
                    held.push((names[i].native_id.clone(), ts_ms, value));
                }
            }
        })
        .unwrap();
    held
}

fn the_newer_ingest_wins(store: &dyn Store) {
    let first = store.append(&batch(vec![report("A", 10, 0, 1.0)]), &mut no_verdicts).unwrap();
    assert_eq!(first, Receipt { added: 1, ..Receipt::default() });
    let second = store.append(&batch(vec![report("A", 10, 0, 2.0)]), &mut no_verdicts).unwrap();
    assert_eq!(second, Receipt { replaced: 1, ..Receipt::default() });
    assert_eq!(held(store), [("A".to_owned(), 10, 2.0)]);
}

fn a_late_copy_does_not_undo_a_correction(store: &dyn Store) {
    store.append(&batch(vec![report("A", 10, 1, 1.5)]), &mut no_verdicts).unwrap();
    let late = store.append(&batch(vec![report("A", 10, 0, 1.0)]), &mut no_verdicts).unwrap();
    assert_eq!(late, Receipt { overtaken: 1, ..Receipt::default() });
    store.append(&batch(vec![report("A", 10, 2, 1.7)]), &mut no_verdicts).unwrap();
    assert_eq!(held(store), [("A".to_owned(), 10, 1.7)]);
}

fn a_late_reading_takes_its_place_in_time(store: &dyn Store) {
    for minute in [30, 10, 20, 40, 0] {
        store
            .append(&batch(vec![report("A", minute, 0, minute as f64)]), &mut no_verdicts)
            .unwrap();
    }
    let times: Vec<_> = held(store).iter().map(|&(_, ts_ms, _)| ts_ms).collect();
    assert_eq!(times, [0, 10, 20, 30, 40]);
    let directory = store.directory().unwrap();
    let record = directory.get(StationId::new("TEST", "A")).unwrap();
    assert_eq!(record.update_time_ms, Some(40));
    assert_eq!(record.series[0].first_appearance_ms, 0);
}

fn an_invalid_batch_is_refused_entirely(store: &dyn Store) {
    let unknown = batch(vec![report("A", 10, 0, 1.0), report("X", 10, 0, 1.0)]);
    assert_eq!(
        store.append(&unknown, &mut no_verdicts).unwrap_err().to_string(),
        format!(
            "report 1 of the batch is for station {}, which is not on record",
            StationId::new("TEST", "X")
        )
    );
    let not_finite = batch(vec![report("A", 10, 0, 1.0), report("B", 10, 0, f64::NAN)]);
    assert_eq!(
        store.append(&not_finite, &mut no_verdicts).unwrap_err().to_string(),
        "report 1 of the batch has NaN for airTemperature; a value must be finite"
    );
    assert_eq!(store.directory().unwrap().stations.len(), 0);
    assert_eq!(held(store), []);
}

fn no_description_takes_an_identifier_away(store: &dyn Store) {
    let described = |ids: &[(IdScheme, &str)]| {
        let mut identifiers = Identifiers::default();
        for &(scheme, id) in ids {
            identifiers.add(scheme, id);
        }
        Batch { stations: vec![Station { identifiers, ..station("A") }], reports: vec![] }
    };
    let (icao, wmo) = ((IdScheme::Icao, "CYYZ"), (IdScheme::Wmo, "71624"));
    for ids in [&[icao][..], &[], &[wmo], &[]] {
        store.append(&described(ids), &mut no_verdicts).unwrap();
    }
    // A description that says less than is already known is not news.
    let generation = store.directory().unwrap().generation;
    store.append(&described(&[icao]), &mut no_verdicts).unwrap();
    let directory = store.directory().unwrap();
    let record = directory.get(StationId::new("TEST", "A")).unwrap();
    assert_eq!(record.station.identifiers.iter().collect::<Vec<_>>(), [icao, wmo]);
    assert_eq!(directory.generation, generation);
}

fn the_window_holds_both_its_ends(store: &dyn Store) {
    let reports = (0..10).map(|ts_ms| report("A", ts_ms, 0, 0.0)).collect();
    store.append(&batch(reports), &mut no_verdicts).unwrap();
    let ids = [StationId::new("TEST", "A"), StationId::new("TEST", "unknown")];
    let selection = Selection {
        stations: &ids,
        variables: &[Variable::AirTemperature],
        window: ClosedWindow::new(3, 6).unwrap(),
    };
    let mut seen = Vec::new();
    store.scan(&selection, &mut |i, slices| seen.push((i, slices[0].ts_ms.to_vec()))).unwrap();
    assert_eq!(seen, [(0, vec![3, 4, 5, 6])]);
    let other = Selection { variables: &[Variable::Mslp], ..selection };
    store.scan(&other, &mut |_, _| panic!("no reading of that name")).unwrap();
}

/// Index of the station, series, time, bits of the value, verdict, source's verdict, qualifier.
type ReadingRows = Vec<(usize, SeriesId, i64, u64, QualityCode, QualityCode, u8)>;

fn the_latest_are_the_last_of_a_scan(store: &dyn Store) {
    let other = SeriesKey::new(Variable::Mslp, IntervalType::Instantaneous, 0);
    let both = |native_id, ts_ms, revision, value| {
        let mut report = report(native_id, ts_ms, revision, value);
        report.readings.push(Reading::unchecked(other.clone(), 1000.0 + value));
        report
    };
    let first = vec![both("A", 10, 0, 1.0), report("A", 30, 0, 3.0), both("B", 10, 0, -0.0)];
    store.append(&batch(first), &mut no_verdicts).unwrap();
    // A late reading and two corrections, of which one is the latest.
    let more = vec![report("A", 20, 0, 2.0), both("A", 10, 1, 1.5), report("A", 30, 1, 3.5)];
    store.append(&batch(more), &mut no_verdicts).unwrap();
    let (station, series) = (StationId::new("TEST", "A"), temperature().id());
    let verdicts = Verdicts { station, series, ts_ms: vec![30], quality: vec![Quality::GOOD] };
    store.append(&Batch::default(), &mut |_| Ok(vec![verdicts.clone()])).unwrap();

    let stations = ["unknown", "B", "A"].map(|native_id| StationId::new("TEST", native_id));
    let (wide, both_ends) = ((i64::MIN, i64::MAX), (20, 30));
    for (from_ms, to_ms) in [wide, both_ends, (5, 29), (31, 90), (0, 10)] {
        for variables in [Variable::ALL, &[Variable::AirTemperature], &[Variable::WindSpeed]] {
            let window = ClosedWindow::new(from_ms, to_ms).unwrap();
            let selection = Selection { stations: &stations, variables, window };
            let (mut expected, mut latest): (ReadingRows, ReadingRows) = Default::default();
            let note = |seen: &mut ReadingRows, i, slice: &SeriesSlice<'_>| {
                let last = slice.ts_ms.len() - 1;
                let quality = (slice.quality[last], slice.source[last]);
                let (ts_ms, value) = (slice.ts_ms[last], slice.value[last].to_bits());
                let qualifier = slice.qualifier[last];
                seen.push((i, slice.series.id, ts_ms, value, quality.0, quality.1, qualifier));
            };
            store
                .scan(&selection, &mut |i, slices| {
                    for slice in latest_slices(slices) {
                        note(&mut expected, i, slice);
                    }
                })
                .unwrap();
            store
                .scan_latest(&selection, &mut |i, slices| {
                    assert!(slices.iter().all(|slice| slice.ts_ms.len() == 1));
                    for slice in slices {
                        note(&mut latest, i, slice);
                    }
                })
                .unwrap();
            assert_eq!(latest, expected);
        }
    }
}

fn generations_show_what_changed(store: &dyn Store) {
    store.append(&batch(vec![]), &mut no_verdicts).unwrap();
    let first = store.directory().unwrap();
    store.append(&batch(vec![]), &mut no_verdicts).unwrap();
    let same = store.directory().unwrap();
    assert_eq!(same.generation, first.generation);
    store.append(&batch(vec![report("A", 1, 0, 1.0)]), &mut no_verdicts).unwrap();
    let reported = store.directory().unwrap();
    assert!(reported.generation > first.generation);
    assert_eq!(reported.places_generation, first.places_generation);
    let moved = Station { coordinates: LonLat::new(-90.0, 40.0).unwrap(), ..station("A") };
    store
        .append(&Batch { stations: vec![moved.clone()], reports: vec![] }, &mut no_verdicts)
        .unwrap();
    let directory = store.directory().unwrap();
    assert!(directory.places_generation > first.places_generation);
    assert_eq!(directory.get(moved.id).unwrap().station.coordinates, moved.coordinates);
    let (nearest, _) = directory.index.nearest(moved.coordinates).next().unwrap();
    assert_eq!(directory.stations[nearest].station.id, moved.id);
    let ids: Vec<_> = directory.stations.iter().map(|record| record.station.id).collect();
    assert!(ids.is_sorted());
}

fn data_already_on_record_changes_nothing(store: &dyn Store) {
    let moved = Station { coordinates: LonLat::new(-90.0, 40.0).unwrap(), ..station("A") };
    let rain = |revision, value| Report {
        present_weather: Some(vec![format!("Rain {value}")]),
        text: ReportText::new(&format!("RAIN {value}"), None),
        ..report("A", 20, revision, value)
    };
    // For each station and each moment, the last entry in the batch counts.
    let whole = Batch {
        stations: vec![moved, station("A"), station("B")],
        reports: vec![
            report("A", 10, 0, 1.0),
            rain(0, 2.0),
            rain(0, 3.0),
            report("B", 10, 0, -0.0),
        ],
    };
    let good = |record: &dyn Reader| {
        let (station, series) = (StationId::new("TEST", "A"), temperature().id());
        let (ts_ms, quality) = (vec![10, 20], vec![Quality::GOOD; 2]);
        Ok((record.directory()?.generation > 0)
            .then_some(Verdicts { station, series, ts_ms, quality })
            .into_iter()
            .collect())
    };
    let first = store.append(&whole, &mut { good }).unwrap();
    assert_eq!(first, Receipt { added: 3, replaced: 1, revised: 2, ..Receipt::default() });
    let (before, directory) = (held(store), store.directory().unwrap());
    for judge in [&mut no_verdicts as &mut VerdictFn<'_>, &mut { good }] {
        let again = store.append(&whole, judge).unwrap();
        assert_eq!(again, Receipt { unchanged: 4, ..Receipt::default() });
        let now = store.directory().unwrap();
        assert_eq!((held(store), now.generation), (before.clone(), directory.generation));
        assert_eq!(now.places_generation, directory.places_generation);
        assert_eq!(now.stations, directory.stations);
    }
    // The sign of a zero, the source's verdict and the revision each make a different reading.
    let mut doubted = report("B", 10, 0, 0.0);
    let append = |report: &Report| {
        let batch = Batch { stations: vec![], reports: vec![report.clone()] };
        store.append(&batch, &mut no_verdicts).unwrap()
    };
    let replaced = Receipt { replaced: 1, ..Receipt::default() };
    assert_eq!(append(&doubted), replaced);
    doubted.readings[0].quality = Quality::GOOD;
    assert_eq!(append(&doubted), replaced);
    doubted.revision = 1;
    assert_eq!(append(&doubted), replaced);
    assert_eq!(append(&doubted), Receipt { unchanged: 1, ..Receipt::default() });
    assert!(store.directory().unwrap().generation > directory.generation);
}

fn a_qualifier_is_part_of_a_reading(store: &dyn Store) {
    let qualifiers = || {
        let window = ClosedWindow::new(i64::MIN, i64::MAX).unwrap();
        let (stations, variables) = (&[StationId::new("TEST", "A")], &[Variable::AirTemperature]);
        let mut found = Vec::new();
        store
            .scan(&Selection { stations, variables, window }, &mut |_, slices| {
                for slice in slices {
                    found
                        .extend(slice.ts_ms.iter().zip(slice.qualifier).map(|(&ts, &of)| (ts, of)));
                }
            })
            .unwrap();
        found
    };
    let qualified = |ts_ms, revision, qualifier| {
        let mut report = report("A", ts_ms, revision, 0.0);
        report.readings[0].qualifier = qualifier;
        report
    };
    let append = |report: Report| store.append(&batch(vec![report]), &mut no_verdicts).unwrap();
    let (trace, less) = (Some(Qualifier::Trace), Some(Qualifier::LessThan));
    for (ts_ms, qualifier) in [(10, None), (20, trace), (30, None), (40, Some(Qualifier::AtLeast))]
    {
        append(qualified(ts_ms, 0, qualifier));
    }
    assert_eq!(qualifiers(), [(10, 0), (20, 1), (30, 0), (40, 2)]);
    // The same value with another qualifier is another reading.
    assert_eq!(append(qualified(20, 0, trace)), Receipt { unchanged: 1, ..Receipt::default() });
    assert_eq!(append(qualified(20, 1, None)), Receipt { replaced: 1, ..Receipt::default() });
    assert_eq!(append(qualified(30, 0, less)), Receipt { replaced: 1, ..Receipt::default() });
    assert_eq!(append(qualified(20, 0, trace)), Receipt { overtaken: 1, ..Receipt::default() });
    assert_eq!(qualifiers(), [(10, 0), (20, 0), (30, 3), (40, 2)]);
    // A verdict leaves the qualifier unchanged.
    let (station, series) = (StationId::new("TEST", "A"), temperature().id());
    let verdicts = Verdicts { station, series, ts_ms: vec![40], quality: vec![Quality::GOOD] };
    store.append(&Batch::default(), &mut |_| Ok(vec![verdicts.clone()])).unwrap();
    assert_eq!(qualifiers(), [(10, 0), (20, 0), (30, 3), (40, 2)]);
}

/// Reports of different times leave the same record, in any order and in any batches. This property
/// is tested with a number of cases; each case takes two empty stores.
///
/// # Panics
/// The rule is broken.
pub fn any_order_gives_the_same_record<S: Store>(cases: u32, new_store: impl Fn() -> S) {
    let reports = prop::collection::btree_map(
        (prop::sample::select(vec!["A", "B"]), 0..50_i64, 0..3_u8),
        -40.0..40.0_f64,
        1..80,
    );
    let ordered = reports.prop_flat_map(|reports| {
        let reports: Vec<Report> = reports
            .into_iter()
            .map(|((id, ts_ms, revision), value)| report(id, ts_ms, revision, value))
            .collect();
        (Just(reports.clone()), Just(reports).prop_shuffle(), 1..20_usize)
    });
    proptest!(ProptestConfig::with_cases(cases), |((in_order, shuffled, size) in ordered)| {
        let (one, other) = (new_store(), new_store());
        one.append(&batch(in_order), &mut no_verdicts).unwrap();
        for reports in shuffled.chunks(size) {
            other.append(&batch(reports.to_vec()), &mut no_verdicts).unwrap();
        }
        prop_assert_eq!(held(&one), held(&other));
        prop_assert_eq!(&one.directory().unwrap().stations, &other.directory().unwrap().stations);
    });
}

/// 31 bits can collide: these two buckets were searched for.
fn two_series_with_one_id_are_never_mixed(store: &dyn Store) {
    let of_bucket = |native_id: &str, bucket: &str| {
        let mut report = report(native_id, 10, 0, 1.0);
        report.readings[0].series.bucket = bucket.to_owned().into();
        report
    };
    let [one, other] = [of_bucket("A", "14914"), of_bucket("B", "25892")];
    assert_eq!(one.readings[0].series.id(), other.readings[0].series.id());
    let refused = |reports: Vec<Report>| {
        let error = store.append(&batch(reports), &mut no_verdicts).unwrap_err();
        assert!(matches!(error, StoreError::SeriesIdTaken { .. }), "{error}");
    };
    refused(vec![one.clone(), other.clone()]);
    store.append(&batch(vec![one.clone()]), &mut no_verdicts).unwrap();
    refused(vec![other]);
    // The same series again is no collision.
    let receipt = store.append(&batch(vec![one.clone(), one]), &mut no_verdicts).unwrap();
    assert_eq!(receipt, Receipt { unchanged: 2, ..Receipt::default() });
}

/// A rule that a store keeps: a function that takes an empty store and panics if the store breaks
/// the rule.
pub type Rule = fn(&dyn Store);

/// Passes the names of the rules on to another macro.
macro_rules! with_rules {
    ($then:ident!($($given:tt)*)) => {
        $then!($($given)*;
            an_invalid_batch_is_refused_entirely,
            a_judge_sees_the_batch_in_the_record,
            a_late_copy_does_not_undo_a_correction,
            a_late_reading_takes_its_place_in_time,
            a_qualifier_is_part_of_a_reading,
            a_revised_verdict_leaves_the_value_and_the_source_verdict,
            a_verdict_is_kept_unchanged,
            generations_show_what_changed,
            the_latest_are_the_last_of_a_scan,
            the_newer_ingest_wins,
            the_text_of_every_report_is_kept,
            the_weather_of_every_report_is_kept,
            the_window_holds_both_its_ends,
            two_series_with_one_id_are_never_mixed,
            data_already_on_record_changes_nothing,
            no_description_takes_an_identifier_away,
            no_description_takes_an_earlier_place_away,
            a_description_moves_a_station_after_its_newest_report,
            weather_is_from_the_most_recent_report_that_has_any,
        );
    };
}

macro_rules! table {
    (; $($rule:ident,)*) => {
        /// The rules with their names, except [`any_order_gives_the_same_record`].
        pub const RULES: &[(&str, Rule)] = &[$((stringify!($rule), $rule),)*];
    };
}

with_rules!(table!());

/// The suite as tests of one store, with a given number of property cases.
#[cfg(test)]
macro_rules! conformance {
    ($store:ident, $cases:literal, $new_store:expr) => {
        with_rules!(tests_of!($store, $cases, $new_store));
    };
}

#[cfg(test)]
macro_rules! tests_of {
    ($store:ident, $cases:literal, $new_store:expr; $($rule:ident,)*) => {
        mod $store {
            #[allow(clippy::wildcard_imports, reason = "what the expression of a store needs")]
            use super::*;
            use crate::store::conformance;

            $(#[test]
            fn $rule() {
                conformance::$rule(&$new_store);
            })*

            #[test]
            fn any_order_gives_the_same_record() {
                conformance::any_order_gives_the_same_record($cases, || $new_store);
            }
        }
    };
}

#[cfg(test)]
conformance!(memory_store, 256, MemoryStore::default());

#[cfg(all(test, feature = "embedded"))]
mod embedded {
    use crate::store::embedded::EmbeddedOptions;
    use crate::store::embedded::testing::{After, SMALL, Temporary, reopen, seal, seal_and_reopen};

    const NEVER_MERGED: EmbeddedOptions = EmbeddedOptions { seal_readings: 8, segment_readings: 0 };

    // Each batch waits for the disk.
    conformance!(fresh, 8, Temporary::new(EmbeddedOptions::default()));
    conformance!(sealed_after_each_batch, 8, After::new(NEVER_MERGED, seal));
    conformance!(sealed_and_merged, 8, After::new(SMALL, seal));
    conformance!(reopened_after_each_batch, 8, After::new(SMALL, reopen));
    conformance!(sealed_and_reopened, 8, After::new(SMALL, seal_and_reopen));
}
