//! `GET /stations/map/details`

use std::sync::Arc;

use axum::http::header;
use mesonet::observation::{IdScheme, Identifiers};
use mesonet::query::DetailFields;
use mesonet::store::no_verdicts;
use mesonet::time::{HOUR_MS, MINUTE_MS};
use mesonet::{Quality, Store, Variable};
use mesonet_server::Config;

use crate::support::{
    AIR, Api, DOUBTFUL, NOW_MS, TestStore, id, instant, reading, report, station, store,
};

const VISIBILITY: mesonet::SeriesKey = instant(Variable::Visibility);

/// The member of a station that reports air temperature.
fn reporting(native_id: &str, place: &str, time: &str, first: &str, qualities: &str) -> String {
    format!(
        concat!(
            r#""{}":{{"network":"TEST","name":"Station {}","stationType":"OpenCountry","#,
            r#""coordinates":{},"elevation":10.0,"updateTime":"{}","types":["#,
            r#"{{"id":1944015174,"name":"airTemperature","prettyName":"Air temperature","#,
            r#""groupBucketName":"","reportedUnit":"°C","calculated":false,"#,
            r#""intervalType":"Instantaneous","intervalMinutes":0,"firstAppearance":"{}"}}"#,
            r#"],"qualities":{},"identifiers":{{"provider":["{}"]}}}}"#
        ),
        id(native_id),
        native_id,
        place,
        time,
        first,
        qualities,
        native_id
    )
}

fn silent(native_id: &str) -> String {
    format!(
        r#""{}":{{"network":"TEST","name":"Station {native_id}","stationType":"OpenCountry","coordinates":[0.0,0.0],"elevation":10.0,"types":[],"qualities":[],"identifiers":{{"provider":["{native_id}"]}}}}"#,
        id(native_id)
    )
}

fn object(mut members: Vec<String>) -> String {
    members.sort();
    format!("{{{}}}", members.join(","))
}

fn three() -> TestStore {
    store([
        station("A", 1.5, 2.5),
        station("B", 3.0, 4.0),
        station("C", 0.0, 0.0),
        reading("A", 120, &AIR, 20.0),
        report("A", 60 * MINUTE_MS, &AIR, 21.0, DOUBTFUL),
        reading("B", 60 * 24 * 8, &AIR, 9.0),
    ])
}

fn a() -> String {
    reporting("A", "[1.5,2.5]", "2024-08-03T11:00:00Z", "2024-08-03T10:00:00Z", r#"["Doubtful"]"#)
}

fn b() -> String {
    reporting("B", "[3.0,4.0]", "2024-07-26T12:00:00Z", "2024-07-26T12:00:00Z", "[]")
}

#[test]
fn without_a_window_every_station_on_record_is_there_and_absent_fields_are_omitted() {
    let answer = Api::new(three()).get("/stations/map/details");
    answer.is(&object(vec![a(), b(), silent("C")]));
    assert!(!answer.text().contains("null"));
}

#[test]
fn a_window_keeps_the_stations_whose_most_recent_report_is_within_it() {
    let api = Api::new(three());
    let details = |window: &str| api.get(&format!("/stations/map/details?window={window}"));
    // The report of A is exactly an hour old.
    details("1h").is(&object(vec![a()]));
    details("7d").is(&object(vec![a()]));
    details("8d").is(&object(vec![a(), b()]));
    details("999999d").is(&object(vec![a(), b()]));
    // A span longer than all time has every station that reported.
    details("99999999999999999999d").is(&object(vec![a(), b()]));
    let later = Api::at(NOW_MS + 1, Config::default(), Arc::new(three()));
    later.get("/stations/map/details?window=1h").is("{}");
}

#[test]
fn a_malformed_window_is_refused_with_what_is_allowed() {
    let api = Api::new(three());
    for window in ["", "7", "d", "0d", "-1d", "1.5h", "7D", "7d1h", "90m"] {
        api.get(&format!("/stations/map/details?window={window}")).refuses(
            400,
            &format!(
                "\"{window}\" is not a span; allowed is a positive whole number followed by d or \
                 h, for example 7d"
            ),
        );
    }
    api.get("/stations/map/details?window=1h&window=1h")
        .refuses(400, "window is given 2 times; it must be given only once");
}

#[test]
fn qualities_are_those_of_the_latest_readings_of_map_variables_over_12_hours_worst_first() {
    let store = Arc::new(store([
        station("A", 0.0, 0.0),
        report("A", 12 * HOUR_MS, &instant(Variable::Mslp), 1013.0, DOUBTFUL),
        reading("A", 10, &AIR, 20.0),
        report("A", 5 * MINUTE_MS, &AIR, 20.0, Quality::GOOD),
        report("A", 5 * MINUTE_MS, &VISIBILITY, 1.0, DOUBTFUL),
    ]));
    let qualities = |now_ms: i64| {
        let answer = Api::at(now_ms, Config::default(), Arc::clone(&store));
        let details = answer.get("/stations/map/details").text();
        let details: serde_json::Value = serde_json::from_str(&details).unwrap();
        details[id("A").to_string()]["qualities"].to_string()
    };
    assert_eq!(qualities(NOW_MS), r#"["Doubtful","Good"]"#);
    assert_eq!(qualities(NOW_MS + 1), r#"["Good"]"#);
    assert_eq!(qualities(NOW_MS + 12 * HOUR_MS), "[]");
}

#[test]
fn a_request_sees_what_came_in_after_the_next_refresh_and_the_etag_follows_the_content() {
    let store = Arc::new(three());
    let api = Api::at(NOW_MS, Config::default(), Arc::clone(&store));
    let before = api.get("/stations/map/details");
    let etag = before.header(header::ETAG).unwrap();
    assert_eq!(before.header(header::CACHE_CONTROL), Some("no-cache"));
    let known = [(header::IF_NONE_MATCH, etag)];
    api.get_with("/stations/map/details", &known).is_empty(304);

    store.append(&reading("C", 1, &AIR, 1.0), &mut no_verdicts).unwrap();
    api.get_with("/stations/map/details", &known).is_empty(304);
    api.refresh();
    let after = api.get_with("/stations/map/details", &known);
    let c = reporting(
        "C",
        "[0.0,0.0]",
        "2024-08-03T11:59:00Z",
        "2024-08-03T11:59:00Z",
        r#"["Unknown"]"#,
    );
    after.is(&object(vec![a(), b(), c]));
    assert_ne!(after.header(header::ETAG), Some(etag));

    // Only changes are written again.
    assert!(after.text().contains(&a()) && after.text().contains(&b()));

    // The same content has the same tag, whichever server made it and when.
    let another = Api::at(NOW_MS, Config::default(), store);
    assert_eq!(
        another.get("/stations/map/details").header(header::ETAG),
        after.header(header::ETAG)
    );
}

#[test]
fn a_search_finds_stations_by_name_and_by_any_id_ignoring_case() {
    let mut airport = station("6158731", 0.0, 0.0);
    airport.stations[0].name = "Montréal Trudeau".to_owned();
    airport.stations[0].identifiers =
        Identifiers::default().with(IdScheme::Icao, "CYUL").with(IdScheme::Wmo, "71627");
    let api = Api::new(store([airport, station("B", 0.0, 0.0), reading("B", 90, &AIR, 9.0)]));
    let found = |query: &str| {
        let answer: serde_json::Value =
            serde_json::from_str(&api.get(&format!("/stations/map/details?{query}")).text())
                .unwrap();
        let mut names: Vec<String> =
            answer.as_object().unwrap().values().map(|one| one["name"].to_string()).collect();
        names.sort();
        names.join(" ").replace('"', "")
    };
    for text in ["cyul", "71627", "615873", "MONTR%C3%89AL", "trudeau", "+trudeau+"] {
        assert_eq!(found(&format!("search={text}")), "Montréal Trudeau", "{text}");
    }
    assert_eq!(found("search=station"), "Station B");
    assert_eq!(found("search=t"), "Montréal Trudeau Station B");
    assert_eq!(found("search=CYYZ"), "");
    assert_eq!(found("search=t&window=2h"), "Station B");
    assert_eq!(found("search=t&window=1h"), "");
}

#[test]
fn an_empty_or_endless_search_is_refused() {
    let api = Api::new(three());
    let refused = |text: &str, count: usize| {
        api.get(&format!("/stations/map/details?search={text}"))
            .refuses(400, &format!("search must have 1 to 100 characters; it has {count}"));
    };
    refused("", 0);
    refused("++", 0);
    refused(&"%C3%A9".repeat(101), 101);
    api.get("/stations/map/details?search=a&search=b")
        .refuses(400, "search is given 2 times; it must be given only once");
}

#[test]
fn a_window_and_a_station_have_a_tag_that_follows_their_content() {
    let store = Arc::new(three());
    let api = Api::at(NOW_MS, Config::default(), Arc::clone(&store));
    for path in ["/stations/map/details?window=1h".to_owned(), format!("/stations/{}", id("A"))] {
        for encoding in ["identity", "gzip", "br"] {
            let accepts = (header::ACCEPT_ENCODING, encoding);
            let answer = api.get_with(&path, std::slice::from_ref(&accepts));
            let etag = answer.header(header::ETAG).unwrap();
            assert_eq!(answer.header(header::CACHE_CONTROL), Some("no-cache"));
            let again = api.get_with(&path, &[accepts, (header::IF_NONE_MATCH, etag)]);
            again.is_empty(304);
            assert_eq!(again.header(header::ETAG), Some(etag));
            assert_eq!(again.header(header::VARY), Some("accept-encoding"));
        }
    }
    let tags = || {
        let window = api.get("/stations/map/details?window=1h");
        let station = api.get(&format!("/stations/{}", id("A")));
        [window, station].map(|answer| answer.header(header::ETAG).unwrap().to_owned())
    };
    let before = tags();
    // Readings outside the window, and those of another station, change neither.
    store.append(&reading("B", 60 * 24 * 7, &AIR, 10.0), &mut no_verdicts).unwrap();
    api.refresh();
    assert_eq!(tags(), before);
    store.append(&reading("A", 30, &AIR, 22.0), &mut no_verdicts).unwrap();
    api.refresh();
    let after = tags();
    assert!(after[0] != before[0] && after[1] != before[1]);
}

const FIELDS: &str = "network,name,stationType,presentWeather,coordinates,elevation,updateTime,types,\
     qualities,identifiers,earlierPlaces";

#[test]
fn fields_keep_only_the_members_that_they_name_in_the_order_of_the_whole() {
    let api = Api::new(three());
    let only = |fields: &str| api.get(&format!("/stations/map/details?fields={fields}"));
    let of = |a: &str, b: &str, c: &str| {
        let member = |name: &str, of: &str| format!(r#""{}":{{{of}}}"#, id(name));
        object(vec![member("A", a), member("B", b), member("C", c)])
    };
    let [a, b, c] = ["A", "B", "C"].map(|name| format!(r#""name":"Station {name}""#));
    only("name").is(&of(&a, &b, &c));
    only("name,name").is(&of(&a, &b, &c));
    // A member without a value is omitted, as in the whole.
    only("updateTime").is(&of(
        r#""updateTime":"2024-08-03T11:00:00Z""#,
        r#""updateTime":"2024-07-26T12:00:00Z""#,
        "",
    ));
    only("presentWeather").is(&of("", "", ""));
    // The number of types is there only if it is named.
    let count = |name: &str, count: u8| format!(r#"{name},"typeCount":{count}"#);
    only("typeCount,name").is(&of(&count(&a, 1), &count(&b, 1), &count(&c, 0)));
    only(FIELDS).is(&api.get("/stations/map/details").text());
}

#[test]
fn fields_hold_together_with_a_window_a_search_and_a_box() {
    let api = Api::new(three());
    let name = |name: &str| format!(r#"{{"{}":{{"name":"Station {name}"}}}}"#, id(name));
    let only = |query: &str| api.get(&format!("/stations/map/details?fields=name&{query}"));
    only("window=1h").is(&name("A"));
    only("search=station+b").is(&name("B"));
    only("minLat=3&minLon=2&maxLat=5&maxLon=4").is(&name("B"));
    only("minLat=3&minLon=2&maxLat=5&maxLon=4&window=1h").is("{}");
}

#[test]
fn unknown_fields_are_refused_with_those_that_there_are() {
    let api = Api::new(three());
    for (fields, unknown) in [
        ("", ""),
        ("name,", ""),
        ("name,height", "height"),
        ("Name", "Name"),
        ("name,+types", " types"),
    ] {
        api.get(&format!("/stations/map/details?fields={fields}")).refuses(
            400,
            &format!(
                "unknown field \"{unknown}\"; the fields are {}",
                DetailFields::NAMES.join(", ")
            ),
        );
    }
    api.get("/stations/map/details?fields=name&fields=types")
        .refuses(400, "fields is given 2 times; it must be given only once");
}

#[test]
fn a_box_keeps_the_stations_that_are_in_it_across_the_antimeridian_too() {
    let api = Api::new(store([
        station("WEST", -179.5, 52.0),
        station("EAST", 179.5, 52.0),
        station("FAR", 0.0, 52.0),
    ]));
    let found = |query: &str| api.get(&format!("/stations/map/details?{query}"));
    let place = |name: &str, lon: &str| silent(name).replace("[0.0,0.0]", &format!("[{lon},52.0]"));
    let (west, east) = (place("WEST", "-179.5"), place("EAST", "179.5"));
    found("minLat=50&minLon=179&maxLat=53&maxLon=-179").is(&object(vec![west, east.clone()]));
    found("minLat=50&minLon=179&maxLat=53&maxLon=180").is(&object(vec![east]));
    found("minLat=53&minLon=179&maxLat=54&maxLon=180").is("{}");
    found("minLat=50&minLon=179&maxLat=53").refuses(
        400,
        "a box needs all of minLat, minLon, maxLat, maxLon; got only minLat, minLon, maxLat",
    );
    found("minLat=53&minLon=0&maxLat=52&maxLon=1").refuses(
        400,
        &api.get("/stations/readings?minLat=53&minLon=0&maxLat=52&maxLon=1")
            .text()
            .replace('"', ""),
    );
}

#[test]
fn fields_follow_what_came_in_and_have_a_tag_of_their_own() {
    let store = Arc::new(three());
    let api = Api::at(NOW_MS, Config::default(), Arc::clone(&store));
    let path = "/stations/map/details?fields=updateTime";
    let before = api.get(path);
    let etag = before.header(header::ETAG).unwrap();
    assert_eq!(before.header(header::CACHE_CONTROL), Some("no-cache"));
    assert_ne!(api.get("/stations/map/details").header(header::ETAG), Some(etag));
    let known = [(header::IF_NONE_MATCH, etag)];
    api.get_with(path, &known).is_empty(304);
    // Other selections do not take its place with their content.
    for other in ["name", "types", "network", "elevation", "qualities", "identifiers"] {
        let answer = api.get(&format!("/stations/map/details?fields={other}"));
        assert!(answer.text().contains(other) && !answer.text().contains("updateTime"), "{other}");
    }
    api.get_with(path, &known).is_empty(304);
    store.append(&reading("C", 1, &AIR, 1.0), &mut no_verdicts).unwrap();
    api.refresh();
    let after = api.get_with(path, &known);
    assert_ne!(after.header(header::ETAG), Some(etag));
    assert!(after.text().contains(r#"{"updateTime":"2024-08-03T11:59:00Z"}"#), "{}", after.text());
}
