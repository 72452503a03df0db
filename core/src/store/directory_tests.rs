use super::*;
use crate::geo::LonLat;
use crate::observation::{EarlierPlaces, Identifiers};

fn records(count: usize) -> StationRecords {
    let mut records: Vec<_> = (0..count).map(|at| record(at as i64)).collect();
    records.sort_by_key(|record| record.station.id);
    records.into_iter().collect()
}

fn record(update_time_ms: i64) -> Arc<StationRecord> {
    let station = Station {
        id: StationId::new("TEST", &update_time_ms.to_string()),
        network: "TEST".to_owned(),
        native_id: update_time_ms.to_string(),
        name: "A".to_owned(),
        station_type: None,
        coordinates: LonLat::new(-100.0, 50.0).unwrap(),
        sensor_height_m: 2.0,
        altitude_m: None,
        identifiers: Identifiers::default(),
        earlier_places: EarlierPlaces::default(),
    };
    let update_time_ms = Some(update_time_ms);
    Arc::new(StationRecord { station, update_time_ms, present_weather: None, series: vec![] })
}

#[test]
fn they_are_found_by_index_and_by_id_around_the_ends_of_chunks() {
    for count in [0, 1, 2, 127, 128, 129, 255, 256, 257, 300] {
        let records = records(count);
        assert_eq!((records.len(), records.iter().count()), (count, count));
        assert_eq!(records.is_empty(), count == 0);
        assert!(records.iter().rev().eq((0..count).rev().map(|at| &records[at])));
        for (at, record) in records.iter().enumerate() {
            assert_eq!(records.place(record.station.id), Some(at));
        }
        assert_eq!(records.place(StationId::new("TEST", "elsewhere")), None);
    }
}

#[cfg(feature = "embedded")]
#[test]
fn a_change_leaves_copies_as_they_were_and_copies_only_what_is_near() {
    let before = records(300);
    let mut after = before.clone();
    after.set(130, &record(-1));
    assert_ne!(before[130].update_time_ms, Some(-1));
    assert_eq!(after[130].update_time_ms, Some(-1));
    let shared = (0..3).map(|at| Arc::ptr_eq(&before.records[at], &after.records[at]));
    assert_eq!(shared.collect::<Vec<_>>(), [true, false, true]);
    assert_ne!(before, after);
    // The same record changes nothing.
    let again = after.clone();
    after.set(130, &Arc::clone(&again[130]));
    assert!((0..3).all(|at| Arc::ptr_eq(&again.records[at], &after.records[at])));
}
