//! What is sealed comes back bit for bit, whole and in part.

use proptest::prelude::*;
use proptest::strategy::ValueTree;

use crate::observation::{Batch, Quality, Reading, Report, StationId, Variable};
use crate::store::embedded::catalogue::RecordCatalogue;
use crate::store::embedded::testing::{Temporary, seal};
use crate::store::embedded::tests::{NAMES, batch, report};
use crate::store::embedded::version_6::{make_version_6, set_file};
use crate::store::embedded::{EmbeddedOptions, EmbeddedStore, Maintenance, MaintenanceReport};
use crate::store::{Reader, Selection, SeriesSlice, Store, no_verdicts};
use crate::time::ClosedWindow;

/// A store that seals only when it is told to.
const LARGE: EmbeddedOptions =
    EmbeddedOptions { seal_readings: usize::MAX, segment_readings: 1_000_000 };

type Read = Vec<(usize, i32, i64, u64, u8, u8, u8, u8)>;

fn rows(i: usize, slices: &[SeriesSlice<'_>], read: &mut Read) {
    for slice in slices {
        for at in 0..slice.ts_ms.len() {
            read.push((
                i,
                slice.series.id.0,
                slice.ts_ms[at],
                slice.value[at].to_bits(),
                slice.quality[at].0,
                slice.source[at].0,
                slice.revision[at],
                slice.qualifier[at],
            ));
        }
    }
}

/// All readings in a window, and the latest ones.
fn read(store: &dyn Reader, window: (i64, i64)) -> [Read; 2] {
    let stations = NAMES.map(|name| StationId::new("TEST", name));
    let window = ClosedWindow::new(window.0, window.1.saturating_add(1)).unwrap();
    let selection = Selection { stations: &stations, variables: Variable::ALL, window };
    let (mut all, mut latest) = (Read::new(), Read::new());
    let damage = store.scan(&selection, &mut |i, slices| rows(i, slices, &mut all)).unwrap();
    assert_eq!(damage.blocks(), 0);
    store.scan_latest(&selection, &mut |i, slices| rows(i, slices, &mut latest)).unwrap();
    all.sort_unstable();
    latest.sort_unstable();
    [all, latest]
}

/// Values as feeds give them, and as they do not.
fn value() -> impl Strategy<Value = f64> {
    prop_oneof![
        (-400..400_i32).prop_map(|tenths| f64::from(tenths) / 10.0),
        (2800..3100_u16)
            .prop_map(|inches| crate::unit::inches_of_mercury_to_hpa(f64::from(inches) / 100.0)),
        (0..41_u8).prop_map(|quarters| crate::unit::statute_miles_to_km(f64::from(quarters) / 4.0)),
        Just(0.0),
        Just(-0.0),
        any::<i32>().prop_map(f64::from),
        any::<f64>().prop_filter("finite", |value| value.is_finite()),
    ]
}

/// Reports whose series have some of the times each.
fn reports() -> impl Strategy<Value = Vec<Report>> {
    let one = (
        0..3_usize,
        0..3000_i64,
        1..1 << 3_u8,
        [value(), value(), value()],
        0..4_u8,
        any::<bool>(),
    );
    proptest::collection::vec(one, 1..300).prop_map(|all| {
        all.into_iter()
            .map(|(station, time, which, values, revision, is_good)| {
                let quality = if is_good { Quality::GOOD } else { Quality::UNCHECKED };
                // Some stations report each minute, others at any millisecond.
                let ts_ms = if station == 0 { time * 60_000 } else { time * time * 7 - 1_000_000 };
                let whole = report(NAMES[station], ts_ms, revision, &values, quality);
                let kept = whole.readings.into_iter().enumerate();
                let readings: Vec<Reading> = kept
                    .filter(|(at, _)| which >> at & 1 == 1)
                    .map(|(_, reading)| reading)
                    .collect();
                Report { readings, ..whole }
            })
            .collect()
    })
}

fn compare(batches: &[Batch], windows: &[(i64, i64)]) {
    let mut store = Temporary::new(LARGE);
    for batch in batches {
        store.append(batch, &mut no_verdicts).unwrap();
    }
    let fresh: Vec<_> = windows.iter().map(|&window| read(&store, window)).collect();
    seal(&mut store);
    assert_eq!(store.health().fresh_readings, 0);
    let sealed: Vec<_> = windows.iter().map(|&window| read(&store, window)).collect();
    assert!(sealed == fresh, "{windows:?}");
    store.store = None;
    assert_eq!(EmbeddedStore::verify(store.dir.path(), false).unwrap().faults, []);
    store.reopen();
    // What is on record already changes nothing.
    let again = batches.iter().map(|batch| store.append(batch, &mut no_verdicts).unwrap());
    assert_eq!(again.map(|receipt| receipt.added).sum::<usize>(), 0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn what_is_sealed_comes_back_bit_for_bit(
        reports in reports(),
        later in reports(),
        windows in proptest::collection::vec((0..200_000_000_i64, 0..100_000_000_i64), 4),
    ) {
        let mut windows: Vec<_> =
            windows.into_iter().map(|(from, length)| (from - 2_000_000, from + length)).collect();
        windows.push((i64::MIN, i64::MAX));
        let of: Vec<i64> = reports.iter().map(|report| report.ts_ms).collect();
        windows.extend(of.iter().take(20).map(|&ts_ms| (ts_ms, ts_ms)));
        compare(&[batch(reports), batch(later)], &windows);
    }
}

/// More times than a row has, a series with few of them, and steps from a millisecond to decades.
#[test]
fn a_station_with_many_times_has_several_rows() {
    let second = 1000;
    let mut reports = Vec::new();
    for time in 0..10_000_i64 {
        let count = if time % 900 == 0 { 3 } else { 1 };
        let values: Vec<f64> =
            (0..count).map(|at| ((time % 97) * (at + 1)) as f64 / 10.0).collect();
        reports.push(report("A", time * 60 * second, 0, &values, Quality::GOOD));
        if time < 9 {
            let decades = time * time * 400_000_000 * second + time % 2;
            reports.push(report("B", decades, 0, &[1.5; 3], Quality::GOOD));
        }
    }
    let all = (i64::MIN, i64::MAX);
    let at = |time: i64| time * 60 * second;
    let windows = [
        all,
        (at(4090), at(4100)),
        (at(4096), at(4096)),
        (at(899), at(1801)),
        (at(9999) + 1, at(20_000)),
        (at(8191), i64::MAX),
    ];
    compare(&[batch(reports)], &windows);
}

#[test]
fn a_record_of_version_6_is_rewritten_segment_by_segment_and_stays_the_same() {
    let mut store = Temporary::new(EmbeddedOptions { seal_readings: 1, segment_readings: 1 });
    for part in 0..3_i64 {
        let of = |time: i64| {
            NAMES.map(|name| {
                let value = (time % 40) as f64 + 0.1;
                report(name, time, 1, &[value, value / 3.0, -value], Quality::UNCHECKED)
            })
        };
        store
            .append(&batch((part * 500..(part + 1) * 500).flat_map(of).collect()), &mut no_verdicts)
            .unwrap();
        seal(&mut store);
    }
    let windows = [(i64::MIN, i64::MAX), (400, 600), (1499, 1499)];
    let before = windows.map(|window| read(&store, window));
    let packed_bytes = store.health().sealed_bytes;
    make_version_6(&mut store);
    let older_bytes = store.health().sealed_bytes;
    assert!(older_bytes > 3 * packed_bytes, "{older_bytes} and {packed_bytes}");
    for left in (0..3).rev() {
        assert_eq!(windows.map(|window| read(&store, window)), before);
        let done = store.maintain(&Maintenance::default()).unwrap();
        assert_eq!((done.rewritten_segments, done.merged_segments), (1, 0), "{left} are left");
        // Whatever happens in between, it goes on.
        store.reopen();
    }
    assert_eq!(windows.map(|window| read(&store, window)), before);
    // They name the segments that they were made from.
    assert!(store.health().sealed_bytes < packed_bytes + 100);
    let done = store.maintain(&Maintenance::default()).unwrap();
    assert_eq!(done, MaintenanceReport::default());
    assert_eq!(store.health().faults, []);
}

/// Checksums find damage; these files were changed on purpose, and their checksums too.
#[test]
fn a_file_with_other_bytes_and_right_checksums_is_read_in_part_or_refused() {
    let mut store = Temporary::new(LARGE);
    let of = |time: i64| {
        let count = if time % 50 == 0 { 3 } else { 2 };
        let values = [(time % 40) as f64 / 10.0, time as f64 / 3.0, 7.0];
        NAMES.map(|name| report(name, time * 60_000, 1, &values[..count], Quality::GOOD))
    };
    store.append(&batch((0..600).flat_map(of).collect()), &mut no_verdicts).unwrap();
    seal(&mut store);
    store.store = None;
    let path = store.dir.path().join("segments/00000001.arrow");
    let whole = std::fs::read(&path).unwrap();
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let change = (0..whole.len(), 1..=u8::MAX);
    let changes = proptest::collection::vec(change, 1..8);
    let (mut refused, mut same) = (0, 0);
    for _ in 0..400 {
        let mut bytes = whole.clone();
        for (at, bits) in changes.new_tree(&mut runner).unwrap().current() {
            bytes[at] ^= bits;
        }
        let mut catalogue = RecordCatalogue::open(store.dir.path(), false).unwrap();
        let mut entry = catalogue.segments().unwrap().0.remove(0);
        set_file(&mut catalogue, &path, &mut entry, &bytes);
        drop(catalogue);
        store.reopen();
        let stations = NAMES.map(|name| StationId::new("TEST", name));
        let window = ClosedWindow::new(i64::MIN, i64::MAX).unwrap();
        let selection = Selection { stations: &stations, variables: Variable::ALL, window };
        let mut readings = 0;
        let mut count = |_: usize, slices: &[SeriesSlice<'_>]| {
            readings += slices.iter().map(|slice| slice.ts_ms.len()).sum::<usize>();
        };
        let damage = store.scan(&selection, &mut count).unwrap();
        store.scan_latest(&selection, &mut |_, _| {}).unwrap();
        refused += usize::from(damage.blocks() > 0 && readings < 4000);
        same += usize::from(damage.blocks() == 0);
        store.store = None;
        EmbeddedStore::verify(store.dir.path(), false).unwrap();
    }
    assert!(refused > 20 && same > 20, "{refused} refused, {same} read");
}
