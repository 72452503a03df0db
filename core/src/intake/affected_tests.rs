//! Tests in a network so dense that most stations are hidden from a changed reading by others.

use proptest::prelude::*;

use super::super::tests::{DISAGREE, NOON_MS, air, held_of, key, report, station};
use super::*;
use crate::check::{self, Checker};
use crate::geo::LonLat;
use crate::intake::Intake;
use crate::observation::Variable::AirTemperature;
use crate::observation::{Batch, Quality, Report, Station};
use crate::store::MemoryStore;

const STATIONS: usize = 48;

/// Stations about 12 km apart on a spiral.
fn stations() -> Vec<Station> {
    let place = |i: usize| {
        let (angle, degrees) = (i as f64 * 2.4, 0.08 * ((i + 1) as f64).sqrt());
        LonLat::new(-100.0 + 1.4 * degrees * angle.sin(), 45.5 + degrees * angle.cos()).unwrap()
    };
    (0..STATIONS).map(|i| Station { coordinates: place(i), ..station(i) }).collect()
}

/// An intake that compares with the nearest three, however far they are.
fn nearest_three() -> Intake {
    let text = "[neighbours.airTemperature]\nsource = \"own\"\nradius_km = 300\nnearest = 3\n\
                at_least = 2\ndeviation = 1\nvariance_per_km = 0.01\nkm_per_m = 0.1\n\
                change_per_hour = 1\nbetween_hours = 0.6\nbeside_hours = 0.3\nthreshold = 1\n";
    Intake::new(Checker::new(check::Config::from_toml(text).unwrap()))
}

fn take_in(intake: &Intake, store: &MemoryStore, reports: Vec<Report>) {
    intake.take_in(store, Batch { stations: stations(), reports }).unwrap();
}

/// The verdict on the temperature of a station.
fn verdict_of(store: &MemoryStore, place: usize) -> Quality {
    let held = held_of(store, STATIONS);
    held[&(station(place).id, key(AirTemperature).id(), NOON_MS)].2
}

/// Reports of most stations within an hour, most of them alike, with corrections.
fn reports() -> impl Strategy<Value = Vec<Report>> {
    let air = prop_oneof![12 => 19.0..21.0_f64, 2 => 25.0..40.0_f64, 1 => Just(9999.0)];
    let at = (0..STATIONS, prop::sample::select(vec![-30_i64, 0, 5, 25]), 0..2_u8);
    prop::collection::btree_map(at, air, 60..160).prop_map(|reports| {
        let report = |((place, minute, revision), air)| {
            report(place, minute, revision, &[(AirTemperature, air)])
        };
        reports.into_iter().map(report).collect()
    })
}

#[test]
fn a_place_is_on_the_side_of_the_station_that_is_surely_nearer() {
    let stations = stations();
    let spot = |i: usize| Spot::new(stations[i].coordinates, None);
    let km = |i: usize, j: usize| stations[i].coordinates.distance_km(stations[j].coordinates);
    for i in 0..STATIONS {
        for j in (0..STATIONS).filter(|&j| j != i) {
            let towards = [spot(i).towards(spot(j))];
            for of in 0..STATIONS {
                let (near, far) = (km(of, j), km(of, i));
                assert!((near - far).abs() > 1e-3, "no two are equally far");
                assert_eq!(between(spot(of), &towards, 0) == 1, near < far, "{i} {j} {of}");
            }
        }
    }
    // If two are at the same place, or equally far, neither is surely nearer.
    assert_eq!(between(spot(3), &[spot(1).towards(spot(1))], 0), 0);
}

/// The station at the rim is hidden from the station in the middle, until the stations between fall
/// silent.
#[test]
fn a_station_is_compared_with_a_far_one_where_those_between_say_nothing() {
    let (intake, store) = (nearest_three(), MemoryStore::default());
    let rim = STATIONS - 1;
    take_in(&intake, &store, (0..STATIONS).map(|place| air(place, 0, 20.0)).collect());
    assert_eq!(verdict_of(&store, rim), Quality::GOOD);
    let silent = (1..rim).map(|place| report(place, 0, 1, &[(AirTemperature, 9999.0)]));
    for reports in silent.collect::<Vec<_>>().chunks(5) {
        take_in(&intake, &store, reports.to_vec());
    }
    // Two are too few; a third and a fourth make it compare, and then it is corrected.
    take_in(&intake, &store, vec![report(1, 0, 2, &[(AirTemperature, 35.0)])]);
    take_in(&intake, &store, vec![report(2, 0, 2, &[(AirTemperature, 35.0)])]);
    take_in(&intake, &store, vec![report(0, 0, 2, &[(AirTemperature, 35.0)])]);
    assert_eq!(verdict_of(&store, rim), DISAGREE);
    for place in 0..3 {
        take_in(&intake, &store, vec![report(place, 0, 3, &[(AirTemperature, 20.0)])]);
    }
    assert_eq!(verdict_of(&store, rim), Quality::GOOD);
}

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_iters: 100, ..ProptestConfig::with_cases(24) })]

    /// Readings of a dense network arrive and are corrected one after another: the final verdicts
    /// are the same as if all had come at once.
    #[test]
    fn the_order_of_arrival_does_not_change_the_verdicts_of_a_dense_network(
        (at_once, shuffled, size) in reports().prop_flat_map(|reports| {
            (Just(reports.clone()), Just(reports).prop_shuffle(), 1..12_usize)
        }),
    ) {
        for intake in [Intake::default(), nearest_three()] {
            let (one, other) = (MemoryStore::default(), MemoryStore::default());
            take_in(&intake, &one, at_once.clone());
            for reports in shuffled.chunks(size) {
                take_in(&intake, &other, reports.to_vec());
            }
            prop_assert_eq!(held_of(&one, STATIONS), held_of(&other, STATIONS));
        }
    }
}
