//! The earlier places of stations survive whatever happens to the files.

use std::fs;

use proptest::prelude::*;

use super::names::DATABASE;
use super::testing::{SMALL, Temporary, seal};
use super::tests::{NAMES, batch, report, station, ten};
use super::*;
use crate::geo::LonLat;
use crate::observation::{Quality, Station};
use crate::store::{MemoryStore, no_verdicts};

/// A step of a property test.
#[derive(Clone, Debug)]
enum Act {
    /// Reports at a time, and the place of a station from then on, in a description with or without
    /// moves.
    Append {
        name: usize,
        ts_ms: i64,
        lon: Option<u8>,
        knows: bool,
    },
    Seal,
    Reopen,
    Rebuild,
}

fn any_act() -> impl Strategy<Value = Act> {
    let append = (0..NAMES.len(), 0_i64..100, proptest::option::of(1_u8..60), any::<bool>())
        .prop_map(|(name, ts_ms, lon, knows)| Act::Append { name, ts_ms, lon, knows });
    prop_oneof![6 => append, 1 => Just(Act::Seal), 1 => Just(Act::Reopen), 1 => Just(Act::Rebuild)]
}

fn described(store: &dyn Store, name: &str, ts_ms: i64, lon: u8, knows: bool) -> Station {
    let place = LonLat::new(f64::from(lon), 50.0).unwrap();
    let known = store.directory().unwrap().get(station(name).id).map(|known| known.station.clone());
    match known.filter(|_| knows) {
        Some(mut known) => {
            known.move_to(place, ts_ms);
            known
        }
        None => Station { coordinates: place, ..station(name) },
    }
}

fn rebuilt(store: &mut Temporary) {
    seal(store);
    store.store = None;
    for suffix in ["", "-wal", "-shm"] {
        let _ = fs::remove_file(store.dir.path().join(format!("{DATABASE}{suffix}")));
    }
    assert_eq!(EmbeddedStore::rebuild(store.dir.path()).unwrap().faults, []);
    store.reopen();
}

#[test]
fn earlier_places_are_those_of_a_store_in_memory_whatever_becomes_of_the_files() {
    let acts = prop::collection::vec(any_act(), 1..40);
    proptest!(ProptestConfig::with_cases(32), |(acts in acts)| {
        let (mut disk, memory) = (Temporary::new(SMALL), MemoryStore::default());
        let mut last_ms = 1_000;
        for store in [&*disk as &dyn Store, &memory] {
            store.append(&ten(), &mut no_verdicts).unwrap();
        }
        for act in acts {
            match act {
                Act::Append { name, ts_ms, lon, knows } => {
                    let name = NAMES[name];
                    let stations: Vec<Station> =
                        lon.iter().map(|&lon| described(&memory, name, ts_ms, lon, knows)).collect();
                    let reports = vec![report(name, ts_ms, 0, &[1.0, 2.0, 3.0], Quality::GOOD)];
                    let batch = Batch { stations, reports };
                    for store in [&*disk as &dyn Store, &memory] {
                        store.append(&batch, &mut no_verdicts).unwrap();
                    }
                }
                Act::Seal => seal(&mut disk),
                Act::Reopen => disk.reopen(),
                Act::Rebuild => {
                    // Something to seal, so that the last segment describes all stations.
                    last_ms += 1;
                    let reports = vec![report("A", last_ms, 0, &[1.0], Quality::GOOD)];
                    let last = Batch { stations: vec![], reports };
                    for store in [&*disk as &dyn Store, &memory] {
                        store.append(&last, &mut no_verdicts).unwrap();
                    }
                    rebuilt(&mut disk);
                }
            }
            let of = |store: &dyn Store| -> Vec<Station> {
                let directory = store.directory().unwrap();
                directory.stations.iter().map(|record| record.station.clone()).collect()
            };
            prop_assert_eq!(of(&*disk), of(&memory));
        }
        drop(disk.store.take());
        prop_assert_eq!(EmbeddedStore::verify(disk.dir.path(), false).unwrap().faults, []);
    });
}

/// Version 5 kept no earlier places: its stations have none until they move.
#[test]
fn stations_of_version_5_keep_their_places_from_then_on() {
    let mut store = Temporary::new(SMALL);
    store.append(&ten(), &mut no_verdicts).unwrap();
    seal(&mut store);
    store.store = None;
    let change = |sql: &str, dir: &Path| {
        rusqlite::Connection::open(dir.join(DATABASE)).unwrap().execute_batch(sql).unwrap();
    };
    change("PRAGMA user_version = 5", store.dir.path());
    store.reopen();
    let tracks = |store: &Temporary| {
        let directory = store.directory().unwrap();
        let of_all = directory.stations.iter().map(|record| record.station.earlier_places.clone());
        of_all.map(|places| places.as_slice().len()).collect::<Vec<_>>()
    };
    assert_eq!((tracks(&store), store.health().faults), (vec![0; NAMES.len()], vec![]));
    let mut moved = batch(vec![]);
    for station in &mut moved.stations {
        station.coordinates = LonLat::new(10.0, 50.0).unwrap();
    }
    store.append(&moved, &mut no_verdicts).unwrap();
    store.reopen(); // From the journal.
    assert_eq!(tracks(&store), vec![1; NAMES.len()]);
    seal(&mut store);
    store.reopen(); // From the table of stations.
    assert_eq!(tracks(&store), vec![1; NAMES.len()]);
    store.store = None;
    // A newer version is refused, and named.
    change("PRAGMA user_version = 9", store.dir.path());
    let refused = EmbeddedStore::open(store.dir.path(), SMALL).unwrap_err();
    assert!(matches!(refused, StoreError::SchemaVersion { .. }), "{refused}");
}
