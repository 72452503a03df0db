//! `POST /stations/readings`

use axum::body::Body;
use axum::http::{Method, header};
use mesonet::StationId;
use mesonet_server::Config;

use crate::support::{
    AIR, Answer, Api, TestStore, answer, id, member, reading, station, store, wire, wire_aged,
};

fn three() -> TestStore {
    let stations = ["A", "B", "C"].map(|native_id| {
        [
            station(native_id, 0.0, 0.0),
            reading(native_id, 60, &AIR, 1.0),
            reading(native_id, 0, &AIR, 2.0),
        ]
    });
    store(stations.concat())
}

fn body<T: ToString>(ids: &[T]) -> String {
    let ids: Vec<String> = ids.iter().map(|id| format!("\"{}\"", id.to_string())).collect();
    format!("{{\"stationIds\":[{}]}}", ids.join(","))
}

fn many(count: usize) -> Vec<StationId> {
    (0..count).map(|i| id(&format!("N{i}"))).collect()
}

fn of(stations: &[&str]) -> String {
    let reading = wire("12:00:00", &AIR, "2.0");
    answer(stations.iter().map(|id| member(id, std::slice::from_ref(&reading))).collect(), "")
}

#[test]
fn the_stations_are_those_named_known_ones_once_and_unknown_ones_left_out() {
    let api = Api::new(three());
    api.post("/stations/readings", body(&[id("B")])).is(&of(&["B"]));
    api.post("/stations/readings", body(&[id("C"), id("A"), id("X"), id("C")]))
        .is(&of(&["A", "C"]));
    let upper = id("A").to_string().to_uppercase();
    api.post("/stations/readings", body(&[upper, id("A").to_string()])).is(&of(&["A"]));
    api.post("/stations/readings", body(&[id("X")])).is(r#"{"stations":{}}"#);
}

#[test]
fn the_query_means_what_it_means_in_the_get_form() {
    let api = Api::new(three());
    let all = body(&[id("A"), id("B"), id("C")]);
    for query in [
        "",
        "?step=30",
        "?step=7&start=2024-08-03T10:30:00Z&end=2024-08-03T11:30:00+00:00",
        "?names=mslp&names=airTemperature,mslp",
        "?maxAge=30m",
        "?step=10&maxAge=30m",
    ] {
        let path = format!("/stations/readings{query}");
        api.post(&path, all.clone()).is(&api.get(&path).text());
    }
    for query in ["?step=0", "?names=x", "?start=x", "?start=2024-07-01T00:00:00Z", "?maxAge=1"] {
        let path = format!("/stations/readings{query}");
        let (post, get) = (api.post(&path, all.clone()), api.get(&path));
        assert_eq!((post.status.as_u16(), post.text()), (400, get.text()));
    }
}

#[test]
fn a_box_is_not_a_parameter_of_the_post_form_and_is_ignored() {
    let api = Api::new(three());
    let path = "/stations/readings?minLat=50&minLon=50&maxLat=x";
    api.post(path, body(&[id("A")])).is(&of(&["A"]));
}

#[test]
fn an_empty_list_gives_no_stations_and_still_the_step() {
    let api = Api::new(three());
    api.post("/stations/readings", r#"{"stationIds":[]}"#).is(r#"{"stations":{}}"#);
    api.post("/stations/readings?step=15", r#"{"stationIds":[]}"#)
        .is(r#"{"stations":{},"step":15}"#);
    let config = Config { max_positions: 7, ..Config::default() };
    Api::with(config, three()).post("/stations/readings?step=15", r#"{"stationIds":[]}"#).is(
        concat!(
            r#"{"stations":{},"step":120,"coarsening":{"requestedStep":15,"factor":8,"#,
            r#""limitedBy":"positions","cells":0,"positions":7}}"#
        ),
    );
}

#[test]
fn naming_fewer_stations_can_yield_a_finer_step() {
    let config = Config { max_cells: 12, ..Config::default() };
    let api = Api::with(config, three());
    let path = "/stations/readings?start=2024-08-03T11:00:00Z&step=20&names=airTemperature";
    let readings = [
        wire_aged("11:00:00", &AIR, "1.0", 0),
        wire_aged("11:00:00", &AIR, "1.0", 1_200),
        wire_aged("11:00:00", &AIR, "1.0", 2_400),
        wire_aged("12:00:00", &AIR, "2.0", 0),
    ];
    let [a, b, c] = ["A", "B", "C"].map(|native_id| member(native_id, &readings));
    api.post(path, body(&[id("A"), id("B"), id("C")])).is(&answer(vec![a, b, c], r#","step":20"#));
    let finer = "/stations/readings?start=2024-08-03T11:00:00Z&step=6&names=airTemperature";
    let step = |ids: &[StationId]| {
        let text = api.post(finer, body(ids)).text();
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        value["step"].as_i64().unwrap()
    };
    assert_eq!(step(&[id("A"), id("B"), id("C")]), 24);
    assert_eq!(step(&[id("A")]), 6);
}

#[test]
fn up_to_5000_different_ids_may_be_named() {
    let api = Api::new(three());
    let mut ids = many(4_999);
    ids.push(id("A"));
    api.post("/stations/readings", body(&ids)).is(&of(&["A"]));
    // A repeated id counts once.
    ids.push(id("A"));
    api.post("/stations/readings", body(&ids)).is(&of(&["A"]));
    ids.push(id("B"));
    api.post("/stations/readings", body(&ids))
        .refuses(400, "stationIds holds 5001 different ids; the limit is 5000");
    let config = Config { max_station_ids: 1, ..Config::default() };
    Api::with(config, three())
        .post("/stations/readings", body(&[id("A"), id("B")]))
        .refuses(400, "stationIds holds 2 different ids; the limit is 1");
}

#[test]
fn an_id_that_no_station_has_is_named() {
    let api = Api::new(three());
    for bad in ["CYYZ", "", "00071a65d7a75d2184508 12f63559a44", "{}"] {
        api.post("/stations/readings", body(&[id("A").to_string(), bad.to_owned()]))
            .refuses(400, &format!("no station has the id \"{bad}\""));
    }
    // The error repeats only a limited part of the input.
    let long = api.post("/stations/readings", body(&["x".repeat(100_000)]));
    assert_eq!((long.status.as_u16(), long.body.len() < 2_100), (400, true));
}

#[test]
fn a_body_of_the_wrong_form_is_refused() {
    let api = Api::new(three());
    for (body, text) in [
        ("", "it does not start with {"),
        ("{", "EOF while parsing an object at line 1 column 1"),
        (r#"[["00071a65-d7a7-5d21-8450-812f63559a44"]]"#, "it does not start with {"),
        (r#"{"stationIds":[]} x"#, "trailing characters at line 1 column 19"),
    ] {
        api.post("/stations/readings", body)
            .refuses(400, &format!("the body must be a JSON object of the expected form: {text}"));
    }
    for (body, text) in [
        ("{}", "stationIds is required in the body"),
        (r#"{"x":{"stationIds":[]}}"#, "stationIds is required in the body"),
        (r#"{"stationIds":null}"#, "stationIds must be a list of texts; got null"),
        (r#"{"stationIds":"a"}"#, "stationIds must be a list of texts; got \"a\""),
        (r#"{"stationIds":{}}"#, "stationIds must be a list of texts; got an object"),
        (r#"{"stationIds":[1]}"#, "stationIds must be a list of texts; got 1 in it"),
        (r#"{"stationIds":[[]]}"#, "stationIds must be a list of texts; got a list in it"),
        (
            r#"{"stationIds":[],"stationIds":[]}"#,
            "stationIds is given twice; it must be given only once",
        ),
        (
            r#"{"stationids":[]}"#,
            "unknown member of the body, \"stationids\"; the name is stationIds",
        ),
    ] {
        api.post("/stations/readings", body).refuses(400, text);
    }
    // Unknown fields are ignored.
    api.post("/stations/readings", r#"{"stationIds":[],"x":null}"#).is(r#"{"stations":{}}"#);
}

#[test]
fn a_body_not_declared_as_json_is_refused() {
    let api = Api::new(three());
    let post = |headers: &[(header::HeaderName, &str)]| -> Answer {
        let body = Body::from(body(&[id("A")]));
        api.call(Method::POST, "/api/v1/stations/readings", headers, body)
    };
    post(&[]).refuses(400, "content-type must be application/json; got none");
    post(&[(header::CONTENT_TYPE, "text/plain")])
        .refuses(400, "content-type must be application/json; got text/plain");
    post(&[(header::CONTENT_TYPE, "application/json; charset=utf-8")]).is(&of(&["A"]));
}

#[test]
fn a_body_has_a_longest_length() {
    let text = body(&[id("A")]);
    let config = Config { max_body_bytes: 64, ..Config::default() };
    let api = Api::with(config, three());
    let padded = |length: usize| format!("{text}{}", " ".repeat(length - text.len()));
    api.post("/stations/readings", padded(64)).is(&of(&["A"]));
    api.post("/stations/readings", padded(65))
        .refuses(400, "the body must be at most 64 bytes long");
}
