//! `GET /stations/readings`: window, box, names, and the snapshot.

use std::sync::Arc;

use mesonet::access::Plan;
use mesonet::time::{DAY_MS, HOUR_MS};
use mesonet::{IntervalType, SeriesKey, Variable};
use mesonet_server::Config;

use crate::support::{
    AIR, Api, DOUBTFUL, NOW_MS, TestStore, answer, instant, member, reading, report, station,
    store, wire,
};

const DEW_POINT: SeriesKey = instant(Variable::DewPointTemperature);
const VISIBILITY: SeriesKey = instant(Variable::Visibility);

/// One station that reports three variables at once.
fn one() -> TestStore {
    store([
        station("A", 0.0, 0.0),
        reading("A", 60, &AIR, 20.5),
        reading("A", 60, &DEW_POINT, -3.0),
        reading("A", 60, &VISIBILITY, 16.09344),
    ])
}

/// Stations with few readings at four places.
fn four() -> Api {
    let place = |native_id: &str, lon: f64, lat: f64| {
        [station(native_id, lon, lat), reading(native_id, 0, &AIR, 1.0)]
    };
    Api::new(store(
        [
            place("W", -179.5, 52.0),
            place("E", 179.5, 52.0),
            place("M", 0.0, 52.0),
            place("S", 0.0, -90.0),
        ]
        .concat(),
    ))
}

fn of(stations: &[&str]) -> String {
    let reading = wire("12:00:00", &AIR, "1.0");
    answer(stations.iter().map(|id| member(id, std::slice::from_ref(&reading))).collect(), "")
}

#[test]
fn a_snapshot_holds_the_latest_reading_of_each_series_in_the_window() {
    let mean = SeriesKey::new(Variable::AirTemperature, IntervalType::Average, 60);
    let api = Api::new(store([
        station("A", 0.0, 0.0),
        station("B", 0.0, 0.0),
        station("C", 0.0, 0.0),
        reading("A", 90, &AIR, 19.0),
        report("A", HOUR_MS, &AIR, 20.5, DOUBTFUL),
        reading("A", 120, &mean, 18.0),
        reading("B", 30, &AIR, -0.1),
        reading("C", 13 * 60, &AIR, 7.0),
    ]));
    let doubtful = concat!(
        r#"{"timestamp":"2024-08-03T11:00:00Z","type":"airTemperature","typeId":1944015174,"#,
        r#""value":20.5,"quality":{"baseQuality":"Doubtful","reasonQuality":"Range"}}"#
    );
    let a = member("A", &[wire("10:00:00", &mean, "18.0"), doubtful.to_owned()]);
    let b = member("B", &[wire("11:30:00", &AIR, "-0.1")]);
    let answer = answer(vec![a, b], "");
    let got = api.get("/stations/readings");
    got.is(&answer);
    assert!(!got.text().contains("null"));
}

#[test]
fn readings_are_ordered_by_time_then_name_then_series() {
    let mean = SeriesKey::new(Variable::AirTemperature, IntervalType::Average, 60);
    let api = Api::new(store([
        station("A", 0.0, 0.0),
        reading("A", 60, &AIR, 1.0),
        reading("A", 60, &mean, 2.0),
        reading("A", 60, &DEW_POINT, 3.0),
        reading("A", 61, &VISIBILITY, 4.0),
    ]));
    let mut air = [wire("11:00:00", &AIR, "1.0"), wire("11:00:00", &mean, "2.0")];
    air.sort_by_key(|wire| if wire.contains(&AIR.id().to_string()) { AIR.id() } else { mean.id() });
    let [first, second] = air;
    let older = wire("10:59:00", &VISIBILITY, "4.0");
    let dew_point = wire("11:00:00", &DEW_POINT, "3.0");
    api.get("/stations/readings?names=dewPointTemperature,airTemperature,visibility")
        .is(&answer(vec![member("A", &[older, dew_point, first, second])], ""));
}

#[test]
fn without_names_the_map_variables_are_used() {
    let got = Api::new(one()).get("/stations/readings");
    let readings = [wire("11:00:00", &AIR, "20.5"), wire("11:00:00", &DEW_POINT, "-3.0")];
    got.is(&answer(vec![member("A", &readings)], ""));
}

#[test]
fn names_are_repeated_or_comma_separated_or_both() {
    let api = Api::new(one());
    let [air, dew_point, visibility] = [
        wire("11:00:00", &AIR, "20.5"),
        wire("11:00:00", &DEW_POINT, "-3.0"),
        wire("11:00:00", &VISIBILITY, "16.09344"),
    ];
    api.get("/stations/readings?names=visibility")
        .is(&answer(vec![member("A", std::slice::from_ref(&visibility))], ""));
    let all = answer(vec![member("A", &[visibility, air, dew_point])], "");
    for names in [
        "names=visibility,airTemperature,dewPointTemperature",
        "names=visibility&names=airTemperature&names=dewPointTemperature",
        "names=visibility&names=airTemperature,dewPointTemperature",
        "names=visibility%2CairTemperature,dewPointTemperature,visibility",
        "names=visibility,%20airTemperature%20,+dewPointTemperature",
    ] {
        api.get(&format!("/stations/readings?{names}")).is(&all);
    }
    api.get("/stations/readings?names=uvIndex").is(r#"{"stations":{}}"#);
}

#[test]
fn any_other_name_is_refused_with_those_that_are_allowed() {
    let api = Api::new(one());
    let allowed: Vec<&str> = Variable::ALL.iter().map(|variable| variable.name()).collect();
    for (query, got) in [
        ("names=temperature", "temperature"),
        ("names=airTemperature,AirTemperature", "AirTemperature"),
        ("names=airTemperature&names=air%20temperature", "air temperature"),
        ("names=", ""),
        ("names=airTemperature,", ""),
        ("names=airTemperature,%20,mslp", ""),
    ] {
        let allowed = allowed.join(", ");
        api.get(&format!("/stations/readings?{query}"))
            .refuses(400, &format!("\"{got}\" is not a variable name; allowed are {allowed}"));
    }
}

#[test]
fn the_window_ends_now_and_starts_12_hours_before_its_end_by_default() {
    let both = |newer: i64, older: i64| {
        store([
            station("A", 0.0, 0.0),
            station("B", 0.0, 0.0),
            report("A", newer, &AIR, 1.0, mesonet::Quality::UNCHECKED),
            report("B", older, &AIR, 2.0, mesonet::Quality::UNCHECKED),
        ])
    };
    // Both ends are inclusive.
    let api = Api::new(both(0, 12 * HOUR_MS));
    let a = member("A", &[wire("12:00:00", &AIR, "1.0")]);
    let b = member("B", &[wire("00:00:00", &AIR, "2.0")]);
    api.get("/stations/readings").is(&answer(vec![a, b.clone()], ""));
    api.get("/stations/readings?end=2024-08-03T11:59:59.999Z").is(&answer(vec![b.clone()], ""));
    api.get("/stations/readings?start=2024-08-02T12:00:00Z&end=2024-08-03T00:00:00Z")
        .is(&answer(vec![b], ""));
    Api::new(both(-1, 12 * HOUR_MS + 1)).get("/stations/readings").is(r#"{"stations":{}}"#);
}

#[test]
fn instants_have_a_zone_and_a_plus_that_became_a_blank_is_still_one() {
    let api = Api::new(one());
    let full = api.get("/stations/readings").text();
    for end in [
        "2024-08-03T11:00:00Z",
        "2024-08-03T11:00Z",
        "2024-08-03T13:00:00%2B02:00",
        "2024-08-03T13:00:00+02:00",
        "2024-08-03T07:00:00-04:00",
    ] {
        api.get(&format!("/stations/readings?end={end}")).is(&full);
        api.get(&format!("/stations/readings?start={end}")).is(&full);
    }
    for (text, got) in [
        ("", ""),
        ("now", "now"),
        ("2024-08-03T11:00:00", "2024-08-03T11:00:00"),
        ("2024-08-03", "2024-08-03"),
        ("2024-08-03%2011:00:00Z", "2024-08-03+11:00:00Z"),
        ("1722686400", "1722686400"),
    ] {
        for name in ["start", "end"] {
            api.get(&format!("/stations/readings?{name}={text}")).refuses(
                400,
                &format!(
                    "\"{got}\" is not an instant; allowed is RFC 3339 with Z or an offset, years \
                     0000 to 9999, for example 2024-08-03T21:00:00Z"
                ),
            );
        }
    }
}

#[test]
fn a_start_that_is_not_before_the_end_is_refused() {
    let api = Api::new(one());
    api.get("/stations/readings?start=2024-08-03T11:00:00Z&end=2024-08-03T11:00:00Z").refuses(
        400,
        "start must be before end; got start 2024-08-03T11:00:00Z and end 2024-08-03T11:00:00Z",
    );
    // The default end is now.
    api.get("/stations/readings?start=2024-08-03T14:00:01%2B02:00").refuses(
        400,
        "start must be before end; got start 2024-08-03T12:00:01Z and end 2024-08-03T12:00:00Z",
    );
}

#[test]
fn a_window_may_be_as_long_as_the_lookback_of_the_plan() {
    let api = Api::new(one());
    assert_eq!(api.get("/stations/readings?start=2024-07-27T12:00:00Z").status, 200);
    api.get("/stations/readings?start=2024-07-27T11:59:59Z")
        .refuses(400, "the window is 7 d 1 s long; the limit maxWindowMs of plan none is 7 d");
}

#[test]
fn an_end_may_lie_back_as_far_as_the_lookback_and_one_hour_of_grace() {
    let api = Api::new(one());
    for end in ["2024-07-27T12:00:00Z", "2024-07-27T11:00:00Z"] {
        api.get(&format!("/stations/readings?end={end}")).is(r#"{"stations":{}}"#);
    }
    api.get("/stations/readings?end=2024-07-27T10:59:59Z").refuses(
        400,
        "the window ends at 2024-07-27T10:59:59Z, which is 7 d 1 h 1 s ago; the limit maxReachMs \
         of plan none is 7 d (and 1 h of grace)",
    );
}

#[test]
fn an_assumed_plan_has_its_own_lookback() {
    let with_plan =
        |plan: Plan| Api::with(Config { assume_plan: plan, ..Config::default() }, one());
    let month = "/stations/readings?start=2024-07-04T12:00:00Z";
    let century = "/stations/readings?start=1924-07-04T12:00:00Z&end=1925-07-04T12:00:00Z";
    assert_eq!(with_plan(Plan::Free).get(month).status, 400);
    assert_eq!(with_plan(Plan::Pro).get(month).status, 200);
    assert_eq!(with_plan(Plan::Pro).get(century).status, 400);
    assert_eq!(with_plan(Plan::Commercial).get(century).status, 200);
}

#[test]
fn a_box_holds_the_stations_in_it_and_on_its_sides() {
    let api = four();
    let in_box = |sides: [&str; 4]| {
        let [min_lat, min_lon, max_lat, max_lon] = sides;
        api.get(&format!(
            "/stations/readings?minLat={min_lat}&minLon={min_lon}&maxLat={max_lat}&maxLon={max_lon}"
        ))
    };
    api.get("/stations/readings").is(&of(&["W", "E", "M", "S"]));
    in_box(["-90", "-180", "90", "180"]).is(&of(&["W", "E", "M", "S"]));
    in_box(["52", "-1", "53", "0"]).is(&of(&["M"]));
    in_box(["52.1", "-1", "53", "0"]).is(&of(&[]));
    in_box(["-90", "0", "-90", "0"]).is(&of(&["S"]));
    // West of one and east of the other: across the antimeridian, not around the world.
    in_box(["50", "179", "53", "-179"]).is(&of(&["E", "W"]));
    in_box(["50", "-179", "53", "179"]).is(&of(&["M"]));
}

#[test]
fn a_box_needs_all_of_its_sides() {
    let api = four();
    let sides = [("minLat", "1"), ("minLon", "2"), ("maxLat", "3"), ("maxLon", "4")];
    for subset in 1..15 {
        let given = (0..4).filter(|at| subset & 1 << at != 0).map(|at| sides[at]);
        let (names, query): (Vec<&str>, Vec<String>) =
            given.map(|(name, side)| (name, format!("{name}={side}"))).unzip();
        api.get(&format!("/stations/readings?{}", query.join("&"))).refuses(
            400,
            &format!(
                "a box needs all of minLat, minLon, maxLat, maxLon; got only {}",
                names.join(", ")
            ),
        );
    }
}

#[test]
fn a_box_off_the_globe_or_upside_down_is_refused() {
    let api = four();
    for (sides, text) in [
        ("-90.5,0,1,1", "latitude must be from -90 to 90; got -90.5"),
        ("0,0,91,1", "latitude must be from -90 to 90; got 91"),
        ("NaN,0,1,1", "latitude must be from -90 to 90; got NaN"),
        ("0,-180.1,1,1", "longitude must be from -180 to 180; got -180.1"),
        ("0,0,1,190", "longitude must be from -180 to 180; got 190"),
        ("0,-inf,1,1", "longitude must be from -180 to 180; got -inf"),
        ("2,0,1,1", "minLat must not be greater than maxLat; got 2 and 1"),
        ("x,0,1,1", "minLat must be a number; got \"x\""),
        ("0,0,1,", "maxLon must be a number; got \"\""),
        ("0,1e,1,1", "minLon must be a number; got \"1e\""),
    ] {
        let names = ["minLat", "minLon", "maxLat", "maxLon"];
        let query: Vec<String> = names
            .into_iter()
            .zip(sides.split(','))
            .map(|(name, side)| format!("{name}={side}"))
            .collect();
        api.get(&format!("/stations/readings?{}", query.join("&"))).refuses(400, text);
    }
}

#[test]
fn in_a_snapshot_max_age_counts_from_the_end_of_the_window() {
    let api = Api::new(store([
        station("A", 0.0, 0.0),
        station("B", 0.0, 0.0),
        reading("A", 90, &AIR, 1.0),
        reading("B", 91, &AIR, 2.0),
    ]));
    let a = member("A", &[wire("10:30:00", &AIR, "1.0")]);
    let b = member("B", &[wire("10:29:00", &AIR, "2.0")]);
    api.get("/stations/readings?maxAge=90m").is(&answer(vec![a.clone()], ""));
    api.get("/stations/readings?maxAge=2h").is(&answer(vec![a.clone(), b.clone()], ""));
    let earlier = "/stations/readings?end=2024-08-03T11:59:00Z";
    api.get(&format!("{earlier}&maxAge=90m")).is(&answer(vec![a, b], ""));
    for text in ["", "90", "0m", "-1m", "1.5h", "90s"] {
        api.get(&format!("/stations/readings?maxAge={text}")).refuses(
            400,
            &format!(
                "\"{text}\" is not a span; allowed is a positive whole number followed by d, h or \
                 m, for example 90m"
            ),
        );
    }
}

#[test]
fn a_parameter_that_is_not_a_list_may_be_given_once() {
    let api = four();
    for name in ["start", "end", "step", "maxAge", "minLat", "minLon", "maxLat", "maxLon"] {
        api.get(&format!("/stations/readings?{name}=1&{name}=1&{name}=2"))
            .refuses(400, &format!("{name} is given 3 times; it must be given only once"));
    }
}

#[test]
fn parameters_that_are_not_known_are_ignored() {
    let api = four();
    api.get("/stations/readings?window=x&grid=0&GRID&=&&a=1&a=2").is(&of(&["W", "E", "M", "S"]));
}

#[test]
fn readings_newer_than_the_end_are_not_seen() {
    let store = Arc::new(store([
        station("A", 0.0, 0.0),
        reading("A", 60, &AIR, 1.0),
        reading("A", -60, &AIR, 2.0),
    ]));
    let api = Api::at(NOW_MS, Config::default(), store.clone());
    api.get("/stations/readings")
        .is(&answer(vec![member("A", &[wire("11:00:00", &AIR, "1.0")])], ""));
    api.get("/stations/readings?end=2024-08-03T13:00:00Z")
        .is(&answer(vec![member("A", &[wire("13:00:00", &AIR, "2.0")])], ""));
    let later = Api::at(NOW_MS + DAY_MS, Config::default(), store);
    later.get("/stations/readings").is(r#"{"stations":{}}"#);
}
