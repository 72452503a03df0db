//! `GET /stations/{stationId}`

use axum::http::Method;
use mesonet::observation::{IdScheme, Identifiers};
use mesonet::{Batch, Report, StationId, Variable};

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
                text: None,
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
        r#""firstAppearance":"2024-08-03T11:57:00Z"}],"qualities":["Unknown"],"#,
        r#""identifiers":{"provider":["A"]}}"#
    ));
    let details = api.get("/stations/map/details").text();
    assert_eq!(details, format!("{{\"{}\":{}}}", id("A"), answer.text()));
}

#[test]
fn a_station_has_the_members_that_are_named_and_its_altitude_only_then() {
    let mut high = station("A", 1.5, 2.5);
    high.stations[0].altitude_m = Some(173.4);
    let api = Api::new(store([high, station("B", 1.5, 2.5)]));
    let ask = |of: &str, fields: &str| api.get(&format!("/stations/{}?fields={fields}", id(of)));
    ask("A", "altitude,name,elevation")
        .is(r#"{"name":"Station A","elevation":10.0,"altitude":173.4}"#);
    // It is not known.
    ask("B", "altitude,name").is(r#"{"name":"Station B"}"#);
    assert!(!api.get(&format!("/stations/{}", id("A"))).text().contains("altitude"));
    assert!(!api.get(&format!("/stations/{}?tz=UTC", id("A"))).text().contains("altitude"));
    assert!(!api.get("/stations/map/details").text().contains("altitude"));
    let all = format!(r#"{{"{}":{{"altitude":173.4}},"{}":{{}}}}"#, id("A"), id("B"));
    let [a, b] = [id("A"), id("B")].map(|id| id.to_string());
    let all = if a < b { all } else { format!(r#"{{"{b}":{{}},"{a}":{{"altitude":173.4}}}}"#) };
    api.get("/stations/map/details?fields=altitude").is(&all);
    let names = mesonet::query::DetailFields::NAMES.join(", ");
    ask("A", "height").refuses(400, &format!("unknown field \"height\"; the fields are {names}"));
}

#[test]
fn identifiers_are_listed_by_scheme_and_none_is_lost_when_a_description_lacks_them() {
    let mut described = station("A", 1.5, 2.5);
    described.stations[0].identifiers = Identifiers::default()
        .with(IdScheme::Wmo, "71624")
        .with(IdScheme::Icao, "CYYZ")
        .with(IdScheme::Icao, "CYTZ");
    let api = Api::new(store([described, station("A", 1.5, 2.6)]));
    let answer = api.get(&format!("/stations/{}", id("A"))).text();
    assert!(answer.contains(r#""coordinates":[1.5,2.6]"#));
    let ids = r#""identifiers":{"icao":["CYTZ","CYYZ"],"wmo":["71624"],"provider":["A"]}}"#;
    assert!(answer.ends_with(ids), "{answer}");
}

#[test]
fn two_stations_of_a_network_with_one_name_are_shown_with_their_ids() {
    let named = |native_id: &str, network: &str| {
        let mut named = station(native_id, 0.0, 0.0);
        named.stations[0].id = StationId::new(network, native_id);
        named.stations[0].network = network.to_owned();
        named.stations[0].name = "Lighthouse".to_owned();
        named
    };
    let api = Api::new(store([named("A", "TEST"), named("B", "TEST"), named("A", "OTHER")]));
    let name = |network: &str, native_id: &str| {
        let id = StationId::new(network, native_id);
        let one: serde_json::Value =
            serde_json::from_str(&api.get(&format!("/stations/{id}")).text()).unwrap();
        let all: serde_json::Value =
            serde_json::from_str(&api.get("/stations/map/details").text()).unwrap();
        assert_eq!(one, all[id.to_string()]);
        one["name"].as_str().unwrap().to_owned()
    };
    assert_eq!(name("TEST", "A"), "Lighthouse (A)");
    assert_eq!(name("TEST", "B"), "Lighthouse (B)");
    assert_eq!(name("OTHER", "A"), "Lighthouse");
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
