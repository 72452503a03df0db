//! Tests of the cutoff of the on-disk store: what is dropped, and what is missing if it goes back.

use std::fs;

use super::testing::{Temporary, seal};
use super::tests::{batch, held, report};
use super::*;
use crate::observation::{Quality, StationId, Variable};
use crate::store::{Selection, SeriesSlice, no_verdicts};
use crate::time::ClosedWindow;

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
    let reader = EmbeddedReader::open(store.dir.path()).unwrap();
    for reopened in [false, true] {
        store.retain_from(5).unwrap();
        if reopened {
            store.reopen();
        }
        assert_eq!(store.health().faults.len(), 1);
        reader.refresh().unwrap();
        assert_eq!(reader.health().faults, store.health().faults);
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
    assert_eq!(store.health().faults, []);
    reader.refresh().unwrap();
    assert_eq!(reader.health().faults, []);
}

/// Sealing and merging leave out what is before the cutoff, also when no whole segment is.
#[test]
fn readings_that_sealing_or_merging_left_out_are_missing_if_the_cutoff_goes_back() {
    let reports = |times: std::ops::Range<i64>| {
        batch(times.map(|ts_ms| report("A", ts_ms, 0, &[1.0], Quality::UNCHECKED)).collect())
    };
    let options = EmbeddedOptions { seal_readings: 1, segment_readings: 1000 };
    for is_merged in [false, true] {
        let mut store = Temporary::new(options);
        for from in [0, 5, 10, 15] {
            store.append(&reports(from..from + 5), &mut no_verdicts).unwrap();
            if is_merged && from < 15 {
                store.maintain(&Maintenance::default()).unwrap();
            }
        }
        // Readings at the end of the segment stay.
        let maintenance = Maintenance { retain_from_ms: Some(4), ..Maintenance::default() };
        let merged = store.maintain(&maintenance).unwrap().merged_segments;
        assert_eq!((merged > 0, held(&store).len()), (is_merged, 16));
        assert_eq!((damage_of(&store).blocks(), store.health().faults.len()), (0, 0));
        for reopened in [false, true] {
            store.retain_from(4).unwrap();
            assert_eq!(damage_of(&store).blocks(), 0);
            store.retain_from(3).unwrap();
            if reopened {
                store.reopen();
            }
            assert_eq!(held(&store).len(), 16);
            assert_eq!((damage_of(&store).blocks(), store.health().faults.len()), (1, 1));
        }
    }
}

/// The cutoff may go back while a segment is written without what was before it.
#[test]
fn a_cutoff_that_goes_back_during_sealing_says_so_too() {
    let store = Temporary::new(EmbeddedOptions { seal_readings: 1, segment_readings: 0 });
    let all = batch(vec![report("A", 1, 0, &[1.0], Quality::UNCHECKED)]);
    store.append(&all, &mut no_verdicts).unwrap();
    store.retain_from(0).unwrap();
    store.note_dropped(&mut store.state(), 2).unwrap();
    assert_eq!((damage_of(&store).blocks(), store.health().faults.len()), (1, 1));
    store.retain_from(2).unwrap();
    assert_eq!((damage_of(&store).blocks(), store.health().faults.len()), (0, 0));
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
