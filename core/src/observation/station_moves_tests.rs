use proptest::prelude::*;

use super::*;
use crate::observation::{Identifiers, StationId};

fn at(lon: f64, lat: f64) -> LonLat {
    LonLat::new(lon, lat).unwrap()
}

fn station(place: LonLat) -> Station {
    Station {
        id: StationId::new("TEST", "A"),
        network: "TEST".to_owned(),
        native_id: "A".to_owned(),
        name: "A".to_owned(),
        station_type: None,
        coordinates: place,
        sensor_height_m: 0.0,
        altitude_m: None,
        identifiers: Identifiers::default(),
        earlier_places: EarlierPlaces::default(),
    }
}

/// The end time and longitude of each earlier place, and the present longitude.
fn track(station: &Station) -> (Vec<(i64, f64)>, f64) {
    let places = station.earlier_places.as_slice().iter();
    (
        places.map(|place| (place.until_ms, place.coordinates.lon())).collect(),
        station.coordinates.lon(),
    )
}

#[test]
fn rows_keep_the_place_of_their_time() {
    let mut a = station(at(1.0, 50.0));
    a.move_to(at(2.0, 50.0), 100);
    a.move_to(at(1.0, 50.0), 200);
    assert_eq!(track(&a), (vec![(100, 1.0), (200, 2.0)], 1.0), "a station that comes back");
    let lon = |ts_ms| a.coordinates_at(ts_ms).lon();
    let times = [i64::MIN, 99, 100, 199, 200, i64::MAX];
    assert_eq!(times.map(lon), [1.0, 1.0, 2.0, 2.0, 1.0, 1.0]);
}

#[test]
fn a_place_that_is_rounded_or_more_precise_is_the_same() {
    let mut a = station(at(-79.63, 43.68));
    a.move_to(at(-79.6296, 43.6791), 100);
    a.move_to(at(-79.62, 43.67), 200);
    assert_eq!((a.coordinates, a.earlier_places.is_empty()), (at(-79.62, 43.67), true));
}

#[test]
fn a_place_where_a_station_was_for_no_time_is_none() {
    let mut a = station(at(1.0, 50.0));
    a.move_to(at(2.0, 50.0), 100);
    a.move_to(at(3.0, 50.0), 100);
    assert_eq!(track(&a), (vec![(100, 1.0)], 3.0));
    // Not before the last move either.
    a.move_to(at(4.0, 50.0), 50);
    assert_eq!(track(&a), (vec![(100, 1.0)], 4.0));
    a.move_to(at(1.0, 50.0), 100);
    assert_eq!(track(&a), (vec![], 1.0));
}

#[test]
fn of_too_many_places_the_nearest_two_become_one() {
    let mut a = station(at(0.0, 50.0));
    // A relocation, a drift in steps that grow, and another relocation.
    a.move_to(at(100.0, 50.0), 1);
    for step in 1..=100 {
        let step_deg = 0.02 + 0.001 * f64::from(step);
        a.move_to(at(a.coordinates.lon() + step_deg, 50.0), 10 * i64::from(step));
    }
    a.move_to(at(0.0, 50.0), 10_000);
    let (earlier, now) = track(&a);
    assert_eq!((earlier.len(), earlier[0], now), (EarlierPlaces::MAX, (1, 0.0), 0.0));
    assert_eq!(earlier.last().unwrap().0, 10_000);
    assert!(EarlierPlaces::new(a.earlier_places.as_slice().to_vec()).is_some());
    // The drift is there, coarser.
    let steps: Vec<f64> = earlier[1..].windows(2).map(|two| two[1].1 - two[0].1).collect();
    assert!(steps.iter().all(|step| (0.02..0.3).contains(step)), "{steps:?}");
}

#[test]
fn a_description_without_moves_takes_none_away() {
    let mut known = station(at(1.0, 50.0));
    known.move_to(at(2.0, 50.0), 100);
    let table = station(at(2.0, 50.0));
    let now = known.described_as(&table, Some(500));
    assert_eq!(now, known);
    // The description has another place, which counts from after the newest report. Repeating it
    // changes nothing.
    let table = Station { name: "Alpha".to_owned(), ..station(at(3.0, 50.0)) };
    let mut now = known.described_as(&table, Some(500));
    for newest_ms in [600, 700] {
        now = now.described_as(&table, Some(newest_ms));
    }
    assert_eq!((track(&now), &*now.name), ((vec![(100, 1.0), (501, 2.0)], 3.0), "Alpha"));
    // A station that never reported has nothing from an earlier place.
    let never = station(at(1.0, 50.0)).described_as(&table, None);
    assert_eq!(track(&never), (vec![], 3.0));
}

#[test]
fn a_late_description_does_not_undo_a_move() {
    let mut first = station(at(1.0, 50.0));
    first.move_to(at(2.0, 50.0), 100);
    let mut second = first.clone();
    second.move_to(at(3.0, 50.0), 200);
    let late = Station { name: "late".to_owned(), ..first.clone() };
    for station in [second.described_as(&late, Some(900)), late.described_as(&second, Some(900))] {
        assert_eq!(track(&station), track(&second));
    }
    // Two descriptions, each with a move of its own.
    let mut other = first.clone();
    other.move_to(at(4.0, 50.0), 150);
    for station in [second.described_as(&other, None), other.described_as(&second, None)] {
        assert_eq!(track(&station), (vec![(100, 1.0), (150, 2.0), (200, 4.0)], 3.0));
    }
}

proptest! {
    /// Any two descriptions, in any order and any number of times: the moves of both, by time.
    #[test]
    fn descriptions_join_in_any_order(
        moves in proptest::collection::btree_map(0_i64..1000, (1_u8..20, any::<[bool; 2]>()), 1..40),
        again in any::<bool>(),
    ) {
        let first = station(at(0.0, 50.0));
        let mut sides = [first.clone(), first.clone()];
        let mut expected = vec![(i64::MIN, 0.0)];
        for (&ts_ms, &(lon, on)) in &moves {
            let place = at(f64::from(lon), 50.0);
            for (side, _) in sides.iter_mut().zip(on).filter(|(_, on)| *on) {
                side.move_to(place, ts_ms);
            }
            if on.contains(&true) {
                expected.push((ts_ms, f64::from(lon)));
            }
        }
        // Each has at least one move: a description without moves comes from a table.
        prop_assume!(sides.iter().all(|side| !side.earlier_places.is_empty()));
        // A move that no description contains is not known.
        let known = |ts_ms| sides.iter().any(|side| {
            ts_ms == i64::MIN || side.earlier_places.as_slice().iter().any(|place| place.until_ms == ts_ms)
        });
        expected.retain(|&(ts_ms, _)| known(ts_ms));
        let [one, other] = &sides;
        let mut joined = [one.described_as(other, None), other.described_as(one, None)];
        if again {
            joined = joined.map(|joined| joined.described_as(one, None).described_as(other, None));
        }
        for joined in joined {
            for ts_ms in [-1].into_iter().chain(0..1000) {
                let last = expected.iter().rfind(|(from_ms, _)| *from_ms <= ts_ms).unwrap();
                prop_assert_eq!(joined.coordinates_at(ts_ms).lon(), last.1, "{}", ts_ms);
            }
        }
    }
}
