//! `GET /stations/{id}/summary` and `GET /stations/summary`

use std::sync::Arc;

use axum::http::header;
use mesonet::access::Plan;
use mesonet::store::{EmbeddedOptions, no_verdicts};
use mesonet::{Batch, EmbeddedStore, IntervalType, SeriesKey, Store, Variable};
use mesonet_server::Config;
use serde_json::Value;
use tempfile::TempDir;

use crate::process::output;
use crate::support::{AIR, Api, NOW_MS, TestStore, id, reading, station, store};

const MAX_6H: SeriesKey = SeriesKey::new(Variable::AirTemperature, IntervalType::Max, 360);
const RAIN_1H: SeriesKey = SeriesKey::new(Variable::Precipitation, IntervalType::Cumulative, 60);
const RAIN_6H: SeriesKey = SeriesKey::new(Variable::Precipitation, IntervalType::Cumulative, 360);

/// Now is 2024-08-03T12:00:00Z.
fn batches() -> [Batch; 10] {
    [
        station("A", -80.0, 44.0),
        station("B", -60.0, 44.0),
        reading("A", 9 * 60, &AIR, 18.0),
        reading("A", 3 * 60, &AIR, 20.0),
        reading("A", 0, &AIR, 22.0),
        reading("A", 0, &MAX_6H, 23.5),
        reading("A", 60, &RAIN_1H, 1.5),
        reading("A", 0, &RAIN_6H, 2.5),
        reading("A", 7 * 60, &RAIN_1H, 0.25),
        reading("B", 60, &AIR, 10.0),
    ]
}

fn reported() -> TestStore {
    store(batches())
}

fn fill(store: &dyn Store) {
    for batch in batches() {
        store.append(&batch, &mut no_verdicts).unwrap();
    }
}

fn json(api: &Api, path: &str) -> Value {
    let answer = api.get(path);
    assert_eq!(answer.status, 200, "{path}: {}", answer.text());
    serde_json::from_str(&answer.text()).unwrap()
}

fn of_a(query: &str) -> String {
    format!("/stations/{}/summary?{query}", id("A"))
}

#[test]
fn a_day_has_its_values_with_what_made_them() {
    let api = Api::new(reported());
    let found = json(&api, &of_a("from=2024-08-03&to=2024-08-03"));
    assert_eq!(found["stationId"], id("A").to_string());
    assert_eq!((&found["period"], &found["utcOffset"]), (&"day".into(), &"+00:00".into()));
    let day = &found["periods"][0];
    assert_eq!(day["end"], "2024-08-04T00:00:00Z");
    let max = &day["variables"]["airTemperature"]["max"];
    let wanted = serde_json::json!({
        "value": 23.5,
        "quality": {"baseQuality": "Unknown", "reasonQuality": "None"},
        "coveragePercent": 33.3,
        "from": {
            "timestamp": "2024-08-03T12:00:00Z",
            "typeId": MAX_6H.id(),
            "intervalType": "Max",
            "intervalMinutes": 360,
        },
    });
    assert_eq!(max, &wanted);
    assert_eq!(day["variables"]["airTemperature"]["mean"]["value"], 20.0);
    // The six hours until 12:00, not the hour in them, and the hour before them.
    let rain = &day["variables"]["precipitation"]["total"];
    assert_eq!((&rain["value"], &rain["from"]["readings"]), (&2.75.into(), &2.into()));
    assert_eq!(rain["coveragePercent"], 29.2);
    assert_eq!(day["degreeDays"]["cooling"], 2.75);
    // Why a reading has its verdict is explained by the two ids of its source.
    let explain = format!(
        "/observations/explain?stationId={}&typeId={}&timestamp=2024-08-03T12:00:00Z",
        id("A"),
        max["from"]["typeId"]
    );
    assert_eq!(json(&api, &explain)["value"], 23.5);
}

#[test]
fn days_are_of_the_standard_time_of_a_zone_or_of_an_offset() {
    let api = Api::new(reported());
    let starts = |query: &str| json(&api, &of_a(query))["periods"][0]["start"].clone();
    // Toronto has summer time in August, and its day of the climate does not.
    assert_eq!(starts("from=2024-08-03&to=2024-08-03&tz=America/Toronto"), "2024-08-03T05:00:00Z");
    assert_eq!(starts("from=2024-08-03&to=2024-08-03&utcOffset=-06:00"), "2024-08-03T06:00:00Z");
    assert_eq!(starts("from=2024-08-03&to=2024-08-03&utcOffset=%2B05:30"), "2024-08-02T18:30:00Z");
    // Without dates it is today, which is still the day before in Honolulu at 09:00.
    assert_eq!(starts("tz=Pacific/Honolulu"), "2024-08-03T10:00:00Z");
    let count = |query: &str| {
        let found = json(&api, &of_a(query));
        found["periods"][0]["variables"]["airTemperature"]["count"].clone()
    };
    assert_eq!(count("tz=America/Toronto"), 3, "09:00, 12:00 and the group of 06 to 12");
    assert_eq!(count("utcOffset=Z"), 4);
}

#[test]
fn hours_months_and_windows_are_periods_too() {
    let config = Config { assume_plan: Plan::Commercial, ..Config::default() };
    let api = Api::with(config, reported());
    let hours = json(&api, &of_a("period=hour&from=2024-08-03&to=2024-08-03"));
    let hours = hours["periods"].as_array().unwrap();
    assert_eq!((hours.len(), &hours[9]["name"]), (24, &"2024-08-03T09:00:00Z".into()));
    assert_eq!(hours[9]["variables"]["airTemperature"]["max"]["value"], 20.0);
    assert_eq!(hours[8]["variables"], serde_json::json!({}));
    let months = json(&api, &of_a("period=month&from=2024-07-31&to=2024-08-01"));
    let months = months["periods"].as_array().unwrap();
    assert_eq!((months.len(), &months[1]["name"]), (2, &"2024-08".into()));
    assert_eq!(months[1]["variables"]["airTemperature"]["max"]["value"], 23.5);
    let window = "period=window&start=2024-08-03T06:00:00Z&end=2024-08-03T12:00:00Z";
    let window = json(&api, &of_a(window));
    let rain = &window["periods"][0]["variables"]["precipitation"]["total"];
    assert_eq!((&rain["value"], &rain["coveragePercent"]), (&2.5.into(), &100.0.into()));
}

#[test]
fn many_stations_are_selected_by_a_filter_or_their_ids() {
    let api = Api::new(reported());
    let of = |query: &str| {
        let found = json(&api, &format!("/stations/summary?date=2024-08-03&{query}"));
        let of: Vec<String> = found["stations"].as_object().unwrap().keys().cloned().collect();
        of
    };
    let mut both = [id("A").to_string(), id("B").to_string()];
    both.sort();
    assert_eq!(of(""), both);
    assert_eq!(of("minLat=40&minLon=-90&maxLat=50&maxLon=-70"), [id("A").to_string()]);
    assert_eq!(of("lat=41&lon=-80&nearest=1"), [id("A").to_string()]);
    assert!(of("state=AK").is_empty());
    assert_eq!(of(&format!("stationIds={},{}", id("B"), id("X"))), [id("B").to_string()]);
    let all = json(&api, "/stations/summary?date=2024-08-03");
    let alone = json(&api, &of_a("from=2024-08-03&to=2024-08-03"));
    assert_eq!(all["stations"][id("A").to_string()], alone["periods"][0]);
    let window = "/stations/summary?start=2024-08-03T06:00:00Z&end=2024-08-03T12:00:00Z";
    let window = json(&api, window);
    let rain = &window["stations"][id("A").to_string()]["variables"]["precipitation"]["total"];
    assert_eq!((&window["period"], &rain["value"]), (&"window".into(), &2.5.into()));
}

#[test]
fn names_and_the_base_of_degree_days_are_chosen() {
    let api = Api::new(reported());
    let found = json(&api, &of_a("names=airTemperature&degreeDayBase=25"));
    let day = &found["periods"][0];
    let names: Vec<_> = day["variables"].as_object().unwrap().keys().collect();
    assert_eq!(names, ["airTemperature"]);
    assert_eq!(day["degreeDays"]["heating"], 4.25);
    assert!(json(&api, &of_a("names=precipitation"))["periods"][0].get("degreeDays").is_none());
}

#[test]
fn a_summary_has_a_tag_that_follows_its_content() {
    let store = Arc::new(reported());
    let api = Api::at(NOW_MS, Config::default(), Arc::clone(&store));
    let path = of_a("from=2024-08-03&to=2024-08-03");
    let tag = api.get(&path).header(header::ETAG).unwrap().to_owned();
    let again = api.get_with(&path, &[(header::IF_NONE_MATCH, &tag)]);
    assert_eq!(again.status, 304);
    let late = reading("A", 4 * 60, &AIR, 30.0);
    store.append(&late, &mut no_verdicts).unwrap();
    assert_eq!(api.get_with(&path, &[(header::IF_NONE_MATCH, &tag)]).status, 200);
}

#[test]
fn what_is_wrong_is_refused_with_what_is_allowed() {
    let api = Api::new(reported());
    let refused = |query: &str, message: &str| api.get(&of_a(query)).refuses(400, message);
    refused("period=week", "\"week\" is not a period; allowed are hour, day, month, window");
    refused(
        "from=2024-02-30",
        "\"2024-02-30\" is not a date; allowed is year, month and day from 0000-01-01 to 9999-12-31, \
         for example 2024-08-03",
    );
    refused(
        "from=2024-08-03&to=2024-08-02",
        "from must not be after to; got from 2024-08-03 and to 2024-08-02",
    );
    refused(
        "utcOffset=EST",
        "\"EST\" is not an offset from UTC; allowed are Z and hours and minutes from -12:00 to \
         +14:00, for example -05:00",
    );
    refused(
        "tz=America/Ottawa",
        "\"America/Ottawa\" is not a zone of the tz database; allowed are names such as \
         America/Toronto, or an offset from UTC",
    );
    refused("tz=America/Toronto&utcOffset=-05:00", "utcOffset cannot be given with tz");
    refused("start=2024-08-03T06:00:00Z", "start cannot be given with period=day");
    refused("period=window&from=2024-08-03", "from cannot be given with period=window");
    refused("period=window&start=2024-08-03T06:00:00Z", "end is required");
    refused("degreeDayBase=65", "degreeDayBase must be from -60 to 60 °C; got 65");
    refused("degreeDayBase=NaN", "degreeDayBase must be from -60 to 60 °C; got NaN");
    let unknown = format!("no station has the id \"{}\"", id("X"));
    api.get(&format!("/stations/{}/summary", id("X"))).refuses(404, &unknown);
    api.get("/stations/CYYZ/summary").refuses(404, "no station has the id \"CYYZ\"");
    api.get(
        "/stations/summary?date=2024-08-03&start=2024-08-03T06:00:00Z&end=2024-08-03T07:00:00Z",
    )
    .refuses(400, "date cannot be given with start and end");
    let box_and_ids =
        format!("/stations/summary?minLat=4&minLon=-9&maxLat=5&maxLon=-7&stationIds={}", id("A"));
    api.get(&box_and_ids)
        .refuses(400, "stations are given twice; give either stationIds or minLat");
    api.get("/stations/summary?stationIds=")
        .refuses(400, "stationIds holds no id; it must hold 1 to 5000");
}

#[test]
fn the_dates_are_held_against_the_plan_and_a_limit() {
    let api = Api::new(reported());
    api.get(&of_a("from=2024-07-04&to=2024-08-03"))
        .refuses(400, "the window is 31 d long; the limit maxWindowMs of plan none is 7 d");
    let commercial = Config { assume_plan: Plan::Commercial, ..Config::default() };
    let api = Api::with(commercial, reported());
    assert_eq!(api.get(&of_a("from=2021-11-08&to=2024-08-03")).status, 200);
    api.get(&of_a("from=2021-11-07&to=2024-08-03")).refuses(
        400,
        "the dates have 1001 periods; the limit is 1000: ask for fewer dates, or for days or months",
    );
    assert_eq!(api.get(&of_a("period=month&from=1970-01-01&to=2024-08-03")).status, 200);
    api.get(&of_a("period=window&start=2024-07-01T00:00:00Z&end=2024-08-02T00:00:00Z")).refuses(
        400,
        "a window that is summarised as a whole may be up to 31 days long; ask for its days or months",
    );
    // Its standard time was another one before 2020.
    let yukon = of_a("tz=America/Whitehorse&from=2020-01-01&to=2021-01-01");
    api.get(&yukon).refuses(
        400,
        "the standard time of America/Whitehorse changes between the dates, from -08:00 to -07:00; \
         ask for each part with its offset from UTC",
    );
}

#[test]
fn the_command_gives_the_same_by_the_name_of_the_network() {
    let folder = TempDir::new().unwrap();
    let data = folder.path().join("mesonet-data");
    let record = EmbeddedStore::open(&data, EmbeddedOptions::default()).unwrap();
    fill(&record);
    drop(record);
    let asked = ["summary", "A", "--from", "2024-08-03", "--to", "2024-08-03"];
    let (ok, out, error) = output(folder.path(), &[&asked[..], &["--json"]].concat());
    assert!(ok, "{error}");
    let found: Value = serde_json::from_str(&out).unwrap();
    let served = json(&Api::new(reported()), &of_a("from=2024-08-03&to=2024-08-03"));
    assert_eq!(found, served);
    let (ok, out, _) = output(folder.path(), &asked);
    let line = "  airTemperature: max 23.5 °C (2024-08-03T12:00:00Z, Max of 360 min, Unknown, 33.3 %), \
                min 18 °C (2024-08-03T03:00:00Z, Instantaneous, Unknown, 12.5 %), mean 20 °C (3 \
                readings, Unknown, 12.5 %)\n";
    assert!(ok && out.contains("2024-08-03\n") && out.contains(line), "{out}");
    assert!(out.contains("  precipitation: total 2.75 mm (2 amounts, Unknown, 29.2 %)\n"), "{out}");
    // In other units, as the service answers.
    let in_us = [&asked[..], &["--units", "us", "--unit", "precipitation=cm"]].concat();
    let (ok, out, error) = output(folder.path(), &[&in_us[..], &["--json"]].concat());
    assert!(ok, "{error}");
    let query = "from=2024-08-03&to=2024-08-03&units=us&unit.precipitation=cm";
    let found: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(found, json(&Api::new(reported()), &of_a(query)));
    let (_, out, _) = output(folder.path(), &in_us);
    assert!(out.contains("  airTemperature: max 74.3 °F (2024-08-03T12:00:00Z, Max of"), "{out}");
    assert!(out.contains("  precipitation: total 0.28 cm (2 amounts,"), "{out}");
    assert!(out.contains("degree days from 64.4 °F: "), "{out}");
    for (wrong, text) in [
        ("windSpeed", "invalid --unit \"windSpeed\"; it must be NAME=UNIT"),
        ("airTemperature=kt", "invalid unit kt (knot) of airTemperature; allowed are °C, K, °F"),
    ] {
        let (ok, _, error) = output(folder.path(), &[&asked[..], &["--unit", wrong]].concat());
        assert!(!ok && error.contains(text), "{error}");
    }
    // The newest report decides about the day if none is given.
    let (ok, out, _) =
        output(folder.path(), &["summary", "A", "--tz", "America/Toronto", "--json"]);
    let found: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((ok, &found["periods"][0]["start"]), (true, &"2024-08-03T05:00:00Z".into()));
    let (ok, _, error) = output(folder.path(), &["summary", "nobody"]);
    let text = "error: no station has the id \"nobody\"\n";
    assert_eq!((ok, &*error), (false, text));
    let both = ["summary", "A", "--tz", "America/Toronto", "--utc-offset", "-05:00"];
    let (ok, _, error) = output(folder.path(), &both);
    assert!(!ok && error.contains("cannot be used with"), "{error}");
}
