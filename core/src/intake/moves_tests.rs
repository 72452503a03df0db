use std::fmt::Write;

use proptest::prelude::*;

use super::*;
use crate::intake::{FeedFile, Intake};
use crate::store::{MemoryStore, Reader};

fn at(lon: f64, lat: f64) -> LonLat {
    LonLat::new(lon, lat).unwrap()
}

#[test]
fn a_place_is_confirmed_by_another_report_or_a_table() {
    let (moves, id) = (Moves::default(), StationId::new("TEST", "A"));
    let (known, zero) = (at(-79.6, 43.7), at(0.0, 0.0));
    let placed = |id, said, table| moves.placed(id, known, said, || table);
    assert_eq!(
        placed(id, (1, at(-79.605, 43.7)), None),
        PlaceDecision::Here,
        "it is within a kilometre"
    );
    assert_eq!(placed(id, (2, zero), None), PlaceDecision::Elsewhere);
    assert_eq!(placed(id, (2, zero), None), PlaceDecision::Elsewhere, "the same report again");
    // Another wrong place confirms nothing.
    assert_eq!(placed(id, (3, at(-79.6, -43.7)), None), PlaceDecision::Elsewhere);
    let there = (4, at(0.001, 0.0));
    assert_eq!(placed(id, there, None), PlaceDecision::Moved(vec![(2, zero), there]));
    let other = StationId::new("TEST", "B");
    assert_eq!(placed(other, (2, zero), Some(at(0.0, 0.001))), PlaceDecision::Here);
    // A buoy adrift moves on with every report but the first.
    let drifts = |km: f64| (km as i64, at(-79.6, 43.7 + km / 111.0));
    assert_eq!(placed(other, drifts(5.0), None), PlaceDecision::Elsewhere);
    assert_eq!(
        placed(other, drifts(9.0), None),
        PlaceDecision::Moved(vec![drifts(5.0), drifts(9.0)])
    );
}

/// The station moves with the first report from the new place since the last report from the old
/// one.
#[test]
fn a_report_from_the_old_place_in_between_begins_the_move_anew() {
    let (moves, id) = (Moves::default(), StationId::new("TEST", "A"));
    let (known, zero) = (at(-79.6, 43.7), at(0.0, 0.0));
    let placed = |ts_ms, place| moves.placed(id, known, (ts_ms, place), || None);
    assert_eq!(placed(2, zero), PlaceDecision::Elsewhere);
    moves.here(id, 3);
    assert_eq!(placed(4, zero), PlaceDecision::Moved(vec![(4, zero)]));
    // In any order of arrival.
    assert_eq!(placed(8, zero), PlaceDecision::Elsewhere);
    assert_eq!(placed(6, zero), PlaceDecision::Moved(vec![(6, zero), (8, zero)]));
}

/// A past bug: a report from 0° N 0° E silently moved its station, and with it every row of its
/// past.
#[test]
fn one_report_from_elsewhere_does_not_move_a_station() {
    let (store, intake) = (MemoryStore::default(), Intake::default());
    let take = |hour: u32, lat: f64, lon: f64| {
        let csv = format!(
            "raw_text,station_id,observation_time,latitude,longitude\n\
             CYYZ 03{hour:02}00Z 24012KT 29/17 A2991,CYYZ,2024-08-03T{hour:02}:00:00Z,{lat},{lon}\n"
        );
        let file = FeedFile::new("metars.csv", 0);
        intake.read_file(&store, csv.as_bytes(), &file).unwrap().placed_elsewhere.total()
    };
    let place = || store.directory().unwrap().stations[0].station.coordinates;
    assert_eq!(take(10, 43.68, -79.63), 0);
    // In feeds 0° N 0° E is an unknown place.
    assert_eq!((take(11, 0.0, 0.0), place()), (0, at(-79.63, 43.68)));
    for _ in 0..2 {
        assert_eq!(take(11, 0.1, 0.1), 1);
        assert_eq!(place(), at(-79.63, 43.68));
    }
    assert_eq!(take(12, 43.68, -79.63), 0);
    // It has moved indeed.
    assert_eq!((take(13, 43.9, -79.0), place()), (1, at(-79.63, 43.68)));
    assert_eq!((take(14, 43.9, -79.0), place()), (0, at(-79.0, 43.9)));
    assert_eq!(store.directory().unwrap().stations.len(), 1);
}

/// A push of reports, each with its minute and place, as a table of METARs.
fn push(intake: &Intake, store: &MemoryStore, reports: &[(i64, LonLat)]) {
    let mut csv = "raw_text,station_id,observation_time,latitude,longitude\n".to_owned();
    for &(minute, place) in reports {
        let time = crate::time::Iso8601(START_MS + minute * 60_000);
        let (lat, lon) = (place.lat(), place.lon());
        writeln!(csv, "CYYZ 24012KT 29/17 A2991,CYYZ,{time},{lat},{lon}").unwrap();
    }
    intake.read_file(store, csv.as_bytes(), &FeedFile::new("metars.csv", 0)).unwrap();
}

/// 2024-08-03T00:00:00Z.
const START_MS: i64 = 1_722_643_200_000;

/// The place of the row of a minute.
fn place_at(store: &MemoryStore, minute: i64) -> LonLat {
    store.directory().unwrap().stations[0].station.coordinates_at(START_MS + minute * 60_000)
}

#[test]
fn a_station_moves_with_the_first_report_from_its_new_place() {
    let (store, intake) = (MemoryStore::default(), Intake::default());
    let (old, new) = (at(-79.63, 43.68), at(-79.0, 43.9));
    for report in [(10, old), (20, old), (30, new), (40, new), (50, new)] {
        push(&intake, &store, &[report]);
    }
    // A late one from the old place changes nothing.
    push(&intake, &store, &[(35, old), (5, old), (15, new)]);
    let places = [0, 10, 29, 30, 40, 60].map(|minute| place_at(&store, minute));
    assert_eq!(places, [old, old, old, new, new, new]);
    // The report that confirms a move may be older than the report that it confirms.
    for report in [(70, old), (80, old)] {
        push(&intake, &store, &[report]);
    }
    assert_eq!([69, 70].map(|minute| place_at(&store, minute)), [new, old]);
    let earlier = store.directory().unwrap().stations[0].station.earlier_places.clone();
    assert_eq!(earlier.as_slice().len(), 2);
}

/// A buoy adrift has the place of each report.
#[test]
fn what_drifts_has_its_course() {
    let (store, intake) = (MemoryStore::default(), Intake::default());
    let place = |minute: i64| at(-60.0, 40.0 + 0.03 * (minute / 10) as f64);
    for minute in (0..=60).step_by(10) {
        push(&intake, &store, &[(minute, place(minute))]);
    }
    for minute in 0..=69 {
        assert_eq!(place_at(&store, minute), place(minute), "{minute}");
    }
}

proptest! {
    /// A station that stays at each of its places for at least two reports: each row has the place
    /// of its report, however the reports are divided among pushes, and whichever reports come
    /// again.
    #[test]
    fn rows_have_the_places_of_their_reports(
        stays in prop::collection::vec((0_u8..5, 2_usize..5), 1..8),
        cuts in prop::collection::vec(any::<bool>(), 40),
        again in prop::collection::vec(0_usize..40, 0..10),
    ) {
        let (store, intake) = (MemoryStore::default(), Intake::default());
        let place = |number: u8| at(-100.0 + 10.0 * f64::from(number), 45.0);
        let places = stays.iter().flat_map(|&(number, reports)| vec![place(number); reports]);
        let reports: Vec<(i64, LonLat)> = (0..).step_by(10).zip(places).collect();
        let mut pending = Vec::new();
        for (&report, cut) in reports.iter().zip(cuts) {
            pending.push(report);
            if cut {
                push(&intake, &store, &std::mem::take(&mut pending));
            }
        }
        if !pending.is_empty() {
            push(&intake, &store, &pending);
        }
        for at in again {
            push(&intake, &store, &[reports[at % reports.len()]]);
        }
        for &(minute, place) in &reports {
            prop_assert_eq!(place_at(&store, minute), place, "{}", minute);
        }
    }

    /// Reports of one time from a wrong place, in any order with the others, move no row.
    #[test]
    fn one_wrong_report_moves_no_row(
        order in Just((1_i64..12).collect::<Vec<_>>()).prop_shuffle(),
        wrong in 1_i64..12,
        at_once in any::<bool>(),
    ) {
        let (store, intake) = (MemoryStore::default(), Intake::default());
        let (right, zero) = (at(-79.63, 43.68), at(0.1, 0.1));
        push(&intake, &store, &[(0, right)]);
        let reports: Vec<(i64, LonLat)> = order
            .into_iter()
            .map(|minute| (minute, if minute == wrong { zero } else { right }))
            .collect();
        if at_once {
            push(&intake, &store, &reports);
        } else {
            for &report in &reports {
                push(&intake, &store, &[report]);
            }
        }
        push(&intake, &store, &[(wrong, zero)]);
        let station = store.directory().unwrap().stations[0].station.clone();
        prop_assert_eq!((station.coordinates, station.earlier_places.is_empty()), (right, true));
    }
}
