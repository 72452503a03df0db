//! `GET /stations/map/markers`

use axum::http::header;
use mesonet::store::no_verdicts;
use mesonet::{Batch, Store};

use crate::support::{AIR, Api, NOW_MS, TestStore, id, reading, station, store};
use mesonet_server::Config;
use std::sync::Arc;

fn marker(native_id: &str, coordinates: &str) -> String {
    format!(
        r#"{{"type":"Feature","id":"{}","geometry":{{"type":"Point","coordinates":{coordinates}}},"properties":{{}}}}"#,
        id(native_id)
    )
}

fn collection(mut markers: Vec<String>) -> String {
    markers.sort();
    format!(r#"{{"type":"FeatureCollection","features":[{}]}}"#, markers.join(","))
}

#[test]
fn without_stations_the_collection_is_empty() {
    let answer = Api::new(TestStore::default()).get("/stations/map/markers");
    answer.is(r#"{"type":"FeatureCollection","features":[]}"#);
}

#[test]
fn every_station_on_record_is_a_point_whether_it_reports_or_not() {
    let batches = [
        station("A", -79.63, 43.68),
        station("B", 179.5, -51.25),
        reading("A", 60 * 24 * 300, &AIR, 1.0),
    ];
    let answer = Api::new(store(batches)).get("/stations/map/markers");
    answer.is(&collection(vec![marker("A", "[-79.63,43.68]"), marker("B", "[179.5,-51.25]")]));
    assert_eq!(answer.header(header::CACHE_CONTROL), Some("no-cache"));
}

#[test]
fn markers_change_when_a_station_comes_or_moves_and_not_when_it_reports() {
    let store = Arc::new(store([station("A", 0.0, 0.0)]));
    let api = Api::at(NOW_MS, Config::default(), Arc::clone(&store));
    let etag_after = |batch: Batch| {
        store.append(&batch, &mut no_verdicts).unwrap();
        api.refresh();
        let answer = api.get("/stations/map/markers");
        answer.header(header::ETAG).unwrap().to_owned()
    };
    let first = etag_after(Batch::default());
    assert_eq!(etag_after(reading("A", 5, &AIR, 1.0)), first);
    let moved = etag_after(station("A", 0.5, 0.0));
    let added = etag_after(station("B", 9.0, 9.0));
    assert_ne!(moved, first);
    assert_ne!(added, moved);
    let answer = api.get("/stations/map/markers");
    answer.is(&collection(vec![marker("A", "[0.5,0.0]"), marker("B", "[9.0,9.0]")]));
}
