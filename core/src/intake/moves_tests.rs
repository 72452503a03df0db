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
    assert!(
        !moves.is_unconfirmed(id, known, (1, at(-79.605, 43.7)), || None),
        "it is within a kilometre"
    );
    assert!(moves.is_unconfirmed(id, known, (2, zero), || None));
    assert!(moves.is_unconfirmed(id, known, (2, zero), || None), "the same report again");
    // Another wrong place confirms nothing.
    assert!(moves.is_unconfirmed(id, known, (3, at(-79.6, -43.7)), || None));
    assert!(!moves.is_unconfirmed(id, known, (4, at(0.001, 0.0)), || None));
    let other = StationId::new("TEST", "B");
    assert!(!moves.is_unconfirmed(other, known, (2, zero), || Some(at(0.0, 0.001))));
    // A buoy adrift moves on with every report but the first.
    let drifts = |km: f64| (km as i64, at(-79.6, 43.7 + km / 111.0));
    assert!(moves.is_unconfirmed(other, known, drifts(5.0), || None));
    assert!(!moves.is_unconfirmed(other, known, drifts(9.0), || None));
}

/// A report from 0° N 0° E once moved its station without a word, and with it every row of its past.
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
    // 0° N 0° E is no place for the reader.
    assert_eq!(take(11, 0.0, 0.0), 0);
    for _ in 0..2 {
        assert_eq!(take(11, 0.5, 0.5), 1);
        assert_eq!(place(), at(-79.63, 43.68));
    }
    assert_eq!(take(12, 43.68, -79.63), 0);
    // It has moved indeed.
    assert_eq!((take(13, 43.9, -79.0), place()), (1, at(-79.63, 43.68)));
    assert_eq!((take(14, 43.9, -79.0), place()), (0, at(-79.0, 43.9)));
    assert_eq!(store.directory().unwrap().stations.len(), 1);
}
