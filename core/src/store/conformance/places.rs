//! Stations that move.

use super::{Store, batch, no_verdicts, report, station};
use crate::geo::LonLat;
use crate::observation::{Batch, EarlierPlace, EarlierPlaces, Station};

fn at(lon: f64) -> LonLat {
    LonLat::new(lon, 50.0).unwrap()
}

fn describe(store: &dyn Store, station: &Station) {
    let batch = Batch { stations: vec![station.clone()], reports: vec![] };
    store.append(&batch, &mut no_verdicts).unwrap();
}

fn on_record(store: &dyn Store) -> Station {
    store.directory().unwrap().get(station("A").id).unwrap().station.clone()
}

/// The earlier places of the station, as times and longitudes, and its present longitude.
fn track(store: &dyn Store) -> (Vec<(i64, f64)>, f64) {
    let station = on_record(store);
    let earlier = station.earlier_places.as_slice().iter();
    let earlier = earlier.map(|place| (place.until_ms, place.coordinates.lon())).collect();
    (earlier, station.coordinates.lon())
}

pub(super) fn no_description_takes_an_earlier_place_away(store: &dyn Store) {
    store.append(&batch(vec![report("A", 10, 0, 1.0)]), &mut no_verdicts).unwrap();
    assert_eq!(track(store), (vec![], -100.0));
    let mut moved = station("A");
    moved.move_to(at(-90.0), 5);
    describe(store, &moved);
    assert_eq!(on_record(store), moved);
    // The same place, with or without what was before; reports; another name.
    let renamed = Station { name: "Alpha".to_owned(), ..moved.clone() };
    for same in [&Station { coordinates: at(-90.0), ..station("A") }, &moved, &renamed] {
        describe(store, same);
        store
            .append(
                &Batch { stations: vec![], ..batch(vec![report("A", 20, 0, 2.0)]) },
                &mut no_verdicts,
            )
            .unwrap();
        assert_eq!(track(store), (vec![(5, -100.0)], -90.0));
    }
    assert_eq!(on_record(store), renamed);
    let generation = store.directory().unwrap().generation;
    describe(store, &renamed);
    assert_eq!(store.directory().unwrap().generation, generation, "it is not news");

    let mut again = moved.clone();
    again.move_to(at(-80.0), 15);
    describe(store, &again);
    // A description that was made earlier comes late.
    describe(store, &moved);
    assert_eq!(track(store), (vec![(5, -100.0), (15, -90.0)], -80.0));
}

pub(super) fn a_description_moves_a_station_after_its_newest_report(store: &dyn Store) {
    let moved = |lon| Station { coordinates: at(lon), ..station("A") };
    describe(store, &moved(-110.0));
    describe(store, &moved(-100.0));
    assert_eq!(track(store), (vec![], -100.0), "it had no reports");
    let reports = [10, 20].map(|ts_ms| report("A", ts_ms, 0, 1.0)).to_vec();
    store.append(&Batch { stations: vec![], reports }, &mut no_verdicts).unwrap();
    // With a report that is the first from there, and again.
    for _ in 0..3 {
        let reports = vec![report("A", 30, 0, 2.0)];
        store.append(&Batch { stations: vec![moved(-90.0)], reports }, &mut no_verdicts).unwrap();
        assert_eq!(track(store), (vec![(21, -100.0)], -90.0));
    }
    describe(store, &moved(-100.0));
    assert_eq!(track(store), (vec![(21, -100.0), (31, -90.0)], -100.0), "it is back");
    let places = on_record(store).earlier_places;
    assert_eq!(places.as_slice()[0], EarlierPlace { until_ms: 21, coordinates: at(-100.0) });
    assert_eq!(EarlierPlaces::new(places.as_slice().to_vec()), Some(places));
}
