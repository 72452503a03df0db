//! `GET /stations/{stationId}`

use axum::http::Method;
use mesonet::{Batch, Report, Variable};

use crate::support::{AIR, Api, NOW_MS, id, instant, reading, station, store};

#[test]
fn a_station_is_the_same_object_as_in_the_map_details() {
    let api = Api::new(store([
        station("A", 1.5, 2.5),
        reading("A", 3, &AIR, 20.0),
        reading("A", 3, &instant(Variable::Visibility), 9.0),
        Batch {
            stations: vec![],
            reports: vec![Report {
                station: id("A"),
                ts_ms: NOW_MS,
                revision: 0,
                present_weather: Some(vec!["Light rain".to_owned(), "Mist".to_owned()]),
                readings: vec![],
            }],
        },
    ]));
    let answer = api.get(&format!("/stations/{}", id("A")));
    answer.is(concat!(
        r#"{"network":"TEST","name":"Station A","stationType":"OpenCountry","#,
        r#""presentWeather":["Light rain","Mist"],"coordinates":[1.5,2.5],"elevation":10.0,"#,
        r#""updateTime":"2024-08-03T12:00:00Z","types":["#,
        r#"{"id":511495739,"name":"visibility","prettyName":"Visibility","groupBucketName":"","#,
        r#""reportedUnit":"km","calculated":false,"intervalType":"Instantaneous","#,
        r#""intervalMinutes":0,"firstAppearance":"2024-08-03T11:57:00Z"},"#,
        r#"{"id":1944015174,"name":"airTemperature","prettyName":"Air temperature","#,
        r#""groupBucketName":"","reportedUnit":"°C","calculated":false,"#,
        r#""intervalType":"Instantaneous","intervalMinutes":0,"#,
        r#""firstAppearance":"2024-08-03T11:57:00Z"}],"qualities":["Unknown"]}"#
    ));
    let details = api.get("/stations/map/details").text();
    assert_eq!(details, format!("{{\"{}\":{}}}", id("A"), answer.text()));
}

#[test]
fn an_id_is_read_in_capitals_too() {
    let api = Api::new(store([station("A", 0.0, 0.0)]));
    let upper = id("A").to_string().to_uppercase();
    assert_eq!(api.get(&format!("/stations/{upper}")).status, 200);
}

#[test]
fn an_id_of_no_station_is_not_found_and_named() {
    let api = Api::new(store([station("A", 0.0, 0.0)]));
    let unknown = id("B");
    let text = format!("no station has the id \"{unknown}\"");
    api.get(&format!("/stations/{unknown}")).refuses(404, &text);
    api.get("/stations/CYYZ").refuses(404, "no station has the id \"CYYZ\"");
    api.get("/stations/map").refuses(404, "no station has the id \"map\"");
    api.get("/stations/%22%C3%A9").refuses(404, "no station has the id \"\"é\"");
    api.get("/stations/").is_empty(404);
    api.get(&format!("/stations/{}/x", id("A"))).is_empty(404);
}

#[test]
fn a_station_can_only_be_read() {
    let api = Api::new(store([station("A", 0.0, 0.0)]));
    let uri = format!("/api/v1/stations/{}", id("A"));
    for method in [Method::POST, Method::PUT, Method::DELETE, Method::PATCH] {
        api.call(method, &uri, &[], axum::body::Body::empty()).is_empty(405);
    }
}
