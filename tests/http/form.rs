//! Units, local times and formats of answers: `units`, `unit.…`, `tz`, `format`.

use std::collections::BTreeSet;

use axum::http::header;
use mesonet::access::Plan;
use mesonet::query::{AnswerUnits, UnitSystem};
use mesonet::time::MINUTE_MS;
use mesonet::{Batch, IntervalType, Quality, SeriesKey, Variable};
use mesonet_server::Config;
use serde_json::{Value, json};

use crate::support::{
    AIR, Answer, Api, DOUBTFUL, TestStore, answer, id, member, reading, report, station, store,
    wire,
};

const WIND: SeriesKey = SeriesKey::new(Variable::WindSpeed, IntervalType::Average, 2);
const DAY: &str = "start=2024-08-03T00:00:00Z&end=2024-08-04T00:00:00Z";

/// The air temperature in a unit that was not certain.
fn unclear() -> SeriesKey {
    SeriesKey { reported_unit: "C, maybe".into(), ..AIR }
}

fn batches() -> Vec<Batch> {
    vec![
        station("A", -79.63, 43.68),
        station("B", -123.18, 49.19),
        station("sea", -50.0, 40.0),
        report("A", 0, &AIR, 20.5, Quality::GOOD),
        report("A", 30 * MINUTE_MS, &WIND, 22.224, DOUBTFUL),
        reading("B", 60, &unclear(), 50.5),
        reading("sea", 0, &AIR, 25.0),
    ]
}

fn api() -> Api {
    Api::with(Config { assume_plan: Plan::Commercial, ..Config::default() }, store(batches()))
}

fn value(answer: &Answer) -> Value {
    assert_eq!(answer.status, 200, "{}", answer.text());
    serde_json::from_str(&answer.text()).unwrap()
}

fn post(api: &Api, path: &str, body: &Value) -> Answer {
    api.post(path, body.to_string())
}

/// A reading of the default answer, in a unit and with a local time.
fn shown(wire: &str, unit: &str, value: [&str; 2], local: Option<&str>) -> String {
    let local = local.map(|local| format!(r#"","localTimestamp":"{local}","type""#));
    let wire = wire.replacen(r#"","type""#, &local.unwrap_or(r#"","type""#.to_owned()), 1);
    let [before, after] = value;
    wire.replacen(
        &format!(r#""value":{before}"#),
        &format!(r#""unit":"{unit}","value":{after}"#),
        1,
    )
}

#[test]
fn readings_name_the_unit_of_each_value() {
    let api = api();
    let path = "/stations/readings?names=airTemperature,windSpeed&units=us";
    let readings = |air: &str, wind: [&str; 2]| {
        let quality = r#"{"baseQuality":"Unknown","reasonQuality":"None"}"#;
        let wind_wire = wire("11:30:00", &WIND, "22.224")
            .replace(quality, r#"{"baseQuality":"Doubtful","reasonQuality":"Range"}"#);
        let air_wire = wire("12:00:00", &AIR, "20.5")
            .replace(quality, r#"{"baseQuality":"Good","reasonQuality":"None"}"#);
        answer(
            vec![
                member(
                    "A",
                    &[
                        shown(&wind_wire, wind[1], ["22.224", wind[0]], None),
                        shown(&air_wire, "°F", ["20.5", air], None),
                    ],
                ),
                member(
                    "B",
                    &[shown(
                        &wire("11:00:00", &unclear(), "50.5"),
                        "C, maybe",
                        ["50.5", "50.5"],
                        None,
                    )],
                ),
                member(
                    "sea",
                    &[shown(&wire("12:00:00", &AIR, "25.0"), "°F", ["25.0", "77.0"], None)],
                ),
            ],
            "",
        )
    };
    api.get(path).is(&readings("68.9", ["13.8", "mph"]));
    api.get(&format!("{path}&unit.windSpeed=kt")).is(&readings("68.9", ["12.0", "kt"]));
    // The order of parameters does not matter, and posting names stations.
    let ids = json!({"stationIds": [id("A"), id("B"), id("sea")]});
    let posted = "/stations/readings?unit.windSpeed=knots&names=airTemperature,windSpeed&units=us";
    post(&api, posted, &ids).is(&readings("68.9", ["12.0", "kt"]));
    // Metric values are to the bit those of the default.
    let metric = value(&api.get("/stations/readings?names=windSpeed&units=metric"));
    let found = &metric["stations"][id("A").to_string()]["readings"][0];
    assert_eq!((&found["value"], &found["unit"]), (&json!(22.224), &json!("km/h")));
    // In a grid, values keep their age.
    let grid = value(&api.get("/stations/readings?names=windSpeed&units=us&step=60"));
    let last =
        grid["stations"][id("A").to_string()]["readings"].as_array().unwrap().last().cloned();
    let last = last.unwrap();
    assert_eq!((&last["value"], &last["age"]), (&json!(13.8), &json!(1_800)));
}

#[test]
fn without_the_parameters_no_byte_is_another() {
    let api = api();
    for path in ["/stations/readings?names=airTemperature", "/stations/map/details?window=7d"] {
        let text = api.get(path).text();
        for added in ["\"unit\"", "localTimestamp", "timeZone", "localUpdateTime"] {
            assert!(!text.contains(added), "{added} in {text}");
        }
    }
}

#[test]
fn local_times_are_those_of_each_station_or_of_a_zone() {
    let api = api();
    let found = value(&api.get("/stations/readings?names=airTemperature&tz=local"));
    let of = |name: &str| found["stations"][id(name).to_string()].clone();
    assert_eq!(of("A")["timeZone"], "America/Toronto");
    assert_eq!(of("A")["readings"][0]["localTimestamp"], "2024-08-03T08:00:00-04:00");
    assert_eq!(of("B")["timeZone"], "America/Vancouver");
    assert_eq!(of("B")["readings"][0]["localTimestamp"], "2024-08-03T04:00:00-07:00");
    // Far from land, no zone is certain.
    assert_eq!(of("sea").get("timeZone"), None);
    assert_eq!(of("sea")["readings"][0].get("localTimestamp"), None);
    assert_eq!(of("sea")["readings"][0]["timestamp"], "2024-08-03T12:00:00Z");

    for zone in ["America/St_Johns", "america/st_johns"] {
        let found = value(&api.get(&format!("/stations/readings?tz={zone}")));
        let sea = &found["stations"][id("sea").to_string()];
        assert_eq!(sea["timeZone"], "America/St_Johns");
        assert_eq!(sea["readings"][0]["localTimestamp"], "2024-08-03T09:30:00-02:30");
    }
    // An unescaped + is a space in a query string.
    let west = value(&api.get("/stations/readings?tz=Etc/GMT+5"));
    assert_eq!(west["stations"][id("sea").to_string()]["timeZone"], "Etc/GMT+5");
}

#[test]
fn a_series_has_its_unit_and_its_zone() {
    let api = api();
    let body = json!({"stationId": id("A"), "name": "windSpeed"});
    let found = value(&post(&api, &format!("/observations/series?{DAY}&units=us&tz=local"), &body));
    assert_eq!(
        found,
        json!({
            "stationId": id("A"), "name": "windSpeed", "prettyName": "Wind speed",
            "reportedUnit": "km/h", "intervalType": "Average", "intervalMinutes": 2,
            "firstAppearance": "2024-08-03T11:30:00Z",
            "unit": "mph", "timeZone": "America/Toronto",
            "readings": [{
                "timestamp": "2024-08-03T11:30:00Z",
                "localTimestamp": "2024-08-03T07:30:00-04:00",
                "value": 13.8, "unit": "mph", "calculated": false,
                "quality": {"baseQuality": "Doubtful", "reasonQuality": "Range"},
            }],
        })
    );
    let body = json!({"stationId": id("B"), "name": "airTemperature"});
    let kept = value(&post(&api, &format!("/observations/series?{DAY}&units=si"), &body));
    assert_eq!((&kept["unit"], &kept["readings"][0]["value"]), (&json!("C, maybe"), &json!(50.5)));
}

#[test]
fn details_name_units_and_local_times() {
    let api = api();
    let one = value(&api.get(&format!("/stations/{}?units=us&tz=local", id("A"))));
    assert_eq!(one["localUpdateTime"], "2024-08-03T08:00:00-04:00");
    assert_eq!(one["timeZone"], "America/Toronto");
    let units: BTreeSet<&str> =
        one["types"].as_array().unwrap().iter().filter_map(|of| of["unit"].as_str()).collect();
    assert_eq!(units, ["mph", "°F"].into());
    let first = &one["types"][0]["localFirstAppearance"];
    assert!(first.as_str().is_some_and(|text| text.ends_with("-04:00")), "{one}");

    let all = value(&api.get("/stations/map/details?units=us&tz=local"));
    assert_eq!(all[id("A").to_string()], one);
    assert_eq!(all.as_object().map(serde_json::Map::len), Some(3));
    // What is added is all that differs.
    let mut plain = value(&api.get(&format!("/stations/{}?tz=local", id("A"))));
    let default = value(&api.get(&format!("/stations/{}", id("A"))));
    for series in plain["types"].as_array_mut().unwrap() {
        series.as_object_mut().unwrap().remove("localFirstAppearance");
    }
    for added in ["localUpdateTime", "timeZone"] {
        assert!(plain.as_object_mut().unwrap().remove(added).is_some());
    }
    assert_eq!(plain, default);
    let some = value(&api.get("/stations/map/details?tz=local&fields=updateTime&country=CA"));
    assert_eq!(
        some[id("B").to_string()],
        json!({
            "updateTime": "2024-08-03T11:00:00Z",
            "localUpdateTime": "2024-08-03T04:00:00-07:00",
            "timeZone": "America/Vancouver",
        })
    );
}

#[test]
fn summaries_are_in_the_units_that_are_asked_for() {
    let api = Api::new(store([
        station("A", -80.0, 44.0),
        reading("A", 9 * 60, &AIR, 18.0),
        reading("A", 0, &AIR, 22.5),
        reading(
            "A",
            0,
            &SeriesKey::new(Variable::Precipitation, IntervalType::Cumulative, 60),
            2.54,
        ),
        reading("A", 60, &WIND, 22.224),
        reading("A", 60, &SeriesKey::new(Variable::WindGust, IntervalType::Max, 10), 37.04),
    ]));
    let path = format!("/stations/{}/summary?from=2024-08-03&to=2024-08-03", id("A"));
    let found = value(&api.get(&format!("{path}&units=us")));
    let day = &found["periods"][0];
    let air = &day["variables"]["airTemperature"];
    assert_eq!((&air["unit"], &air["max"]["value"]), (&json!("°F"), &json!(72.5)));
    assert_eq!(air["mean"]["value"], json!(68.45));
    let rain = &day["variables"]["precipitation"];
    assert_eq!((&rain["unit"], &rain["total"]["value"]), (&json!("in"), &json!(0.1)));
    assert_eq!(
        (&day["wind"]["unit"], &day["wind"]["peak"]["value"]),
        (&json!("mph"), &json!(23.0))
    );
    // Degree days are differences: 18 °C is 64.4 °F, and 1 °C·d is 1.8 °F·d.
    let default = value(&api.get(&path));
    let [celsius, fahrenheit] = [&default, &found].map(|of| of["periods"][0]["degreeDays"].clone());
    assert_eq!((&fahrenheit["unit"], &fahrenheit["base"]), (&json!("°F"), &json!(64.4)));
    let sum = |of: &Value| of["cooling"].as_f64().unwrap();
    assert!((sum(&celsius) * 1.8 - sum(&fahrenheit)).abs() < 1e-3 && sum(&celsius) > 0.0);
    let area = value(&api.get("/stations/summary?date=2024-08-03&unit.airTemperature=K"));
    let air = &area["stations"][id("A").to_string()]["variables"]["airTemperature"];
    assert_eq!((&air["unit"], &air["max"]["value"]), (&json!("K"), &json!(295.65)));
    assert!(default["periods"][0]["wind"].get("unit").is_none());
}

#[test]
fn a_feature_for_each_station_has_its_latest_values() {
    let api = api();
    let path = "/stations/readings?names=airTemperature,windSpeed&units=us&tz=local";
    let geojson = api.get(&format!("{path}&format=geojson"));
    assert_eq!(geojson.header(header::CONTENT_TYPE), Some("application/geo+json"));
    assert_eq!(geojson.header(header::VARY), Some("accept, accept-encoding"));
    let found = value(&geojson);
    let feature = |name: &str| {
        let of = found["features"].as_array().unwrap().iter();
        of.clone().find(|of| of["id"] == id(name).to_string()).cloned().unwrap()
    };
    assert_eq!(
        feature("A"),
        json!({
            "type": "Feature", "id": id("A"),
            "geometry": {"type": "Point", "coordinates": [-79.63, 43.68]},
            "properties": {
                "network": "TEST", "name": "Station A", "time": "2024-08-03T12:00:00Z",
                "localTime": "2024-08-03T08:00:00-04:00", "timeZone": "America/Toronto",
                "quality": "Doubtful", "airTemperature": 68.9, "airTemperatureUnit": "°F",
                "windSpeed": 13.8, "windSpeedUnit": "mph",
            },
        })
    );
    assert_eq!(feature("B")["properties"]["airTemperatureUnit"], "C, maybe");
    // What is accepted chooses the format; the parameter is before it.
    let accepts = |path: &str, media_type| api.get_with(path, &[(header::ACCEPT, media_type)]);
    assert_eq!(value(&accepts(path, "application/geo+json")), found);
    let json = accepts(&format!("{path}&format=json"), "application/geo+json");
    assert_eq!(json.header(header::CONTENT_TYPE), Some("application/json"));
    // A caller who accepts nothing of it gets JSON, as everywhere.
    assert_eq!(accepts(path, "image/png").header(header::CONTENT_TYPE), Some("application/json"));
    // The stations that match, with their distance.
    let near = value(&api.get(
        "/stations/readings?format=geojson&names=airTemperature&lat=43.65&lon=-79.38&nearest=1",
    ));
    assert_eq!(near["features"].as_array().map(Vec::len), Some(1));
    assert_eq!(near["features"][0]["properties"]["distanceKm"], 20.38);
    let ids = json!({"stationIds": [id("B")]});
    let posted = value(&post(&api, "/stations/readings?format=geojson&names=airTemperature", &ids));
    assert_eq!(posted["features"][0]["properties"]["airTemperature"], 50.5);
    let none = json!({"stationIds": []});
    let empty = value(&post(&api, "/stations/readings?format=geojson", &none));
    assert_eq!(empty, json!({"type": "FeatureCollection", "features": []}));
}

#[test]
fn what_is_wrong_is_named_with_what_is_allowed() {
    let api = api();
    let body = json!({"stationId": id("A"), "name": "windSpeed"}).to_string();
    let refused = |query: &str, text: &str| {
        for path in
            ["/stations/readings?", "/stations/map/details?", &format!("/stations/{}?", id("A"))]
        {
            api.get(&format!("{path}{query}")).refuses(400, text);
        }
        for path in ["/observations/series", "/historical/bulk"] {
            api.post(&format!("{path}?{DAY}&{query}"), body.clone()).refuses(400, text);
        }
    };
    refused("units=imperial", "unknown units \"imperial\"; allowed are metric, us, si");
    refused("units=", "unknown units \"\"; allowed are metric, us, si");
    refused("units=us&units=us", "units is given 2 times; it must be given only once");
    refused(
        "unit.mslp=ft",
        "invalid unit ft (foot) of mslp; allowed are Pa, hPa, kPa, mbar, inHg, mmHg",
    );
    refused(
        "unit.airTemperature=K&unit.airTemperature=K",
        "unit.airTemperature is given more than once; it must be given only once",
    );
    refused(
        "unit=us",
        "unknown parameter \"unit\"; units of all variables are given by units, that of one by its name: unit.airTemperature",
    );
    refused(
        "tz=Mars/Olympus",
        "\"Mars/Olympus\" is no zone of the tz database; allowed are local, and names such as America/Toronto",
    );
    refused(
        "tz=",
        "\"\" is no zone of the tz database; allowed are local, and names such as America/Toronto",
    );
    for name in ["temperature", "airtemperature"] {
        let answer = api.get(&format!("/stations/readings?unit.{name}=K"));
        assert_eq!(answer.status, 400, "{name}");
        assert!(answer.text().contains("is not a variable name; allowed are airTemperature, "));
    }
    let summary = api.get(&format!("/stations/{}/summary?units=usa", id("A")));
    summary.refuses(400, "unknown units \"usa\"; allowed are metric, us, si");
    api.get("/stations/readings?format=csv")
        .refuses(400, "unknown format \"csv\"; allowed are json, geojson");
    api.get("/stations/readings?format=geojson&step=60")
        .refuses(400, "format=geojson has the latest values; step cannot be given with it");
}

/// The rows of an export, without the header row.
fn rows(answer: &Answer) -> Vec<String> {
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.text().lines().skip(1).map(str::to_owned).collect()
}

#[test]
fn an_export_has_columns_for_unit_and_local_time() {
    let api = api();
    let one = json!({"stationId": id("A")});
    let answer = post(&api, &format!("/historical/bulk?{DAY}&units=us&tz=local"), &one);
    assert_eq!(
        answer.text(),
        "lat,lon,observation_name,interval_type,interval_minutes,timestamp,value,quality_base,\
         quality_reason,group_bucket_name,unit,local_timestamp\n\
         43.68,-79.63,windSpeed,Average,2,2024-08-03T11:30:00Z,13.8,Doubtful,Range,,mph,2024-08-03T07:30:00-04:00\n\
         43.68,-79.63,airTemperature,Instantaneous,0,2024-08-03T12:00:00Z,68.9,Good,None,,°F,2024-08-03T08:00:00-04:00\n"
    );
    let day = "start=2024-08-03T00:00:00Z&end=2024-08-05T00:00:00Z";
    let answer =
        post(&api, &format!("/historical/bulk?{day}&unit.airTemperature=K&qualifiers=true"), &one);
    assert_eq!(
        rows(&answer)[1],
        "43.68,-79.63,airTemperature,Instantaneous,0,2024-08-03T12:00:00Z,293.65,Good,None,,,K"
    );
    for (format, media_type) in [
        ("csv", "text/csv; charset=utf-8"),
        ("arrow", "application/vnd.apache.arrow.stream"),
        ("parquet", "application/vnd.apache.parquet"),
    ] {
        let path = format!("/historical/bulk?{day}&format={format}");
        assert_eq!(post(&api, &path, &one).header(header::CONTENT_TYPE), Some(media_type));
    }
    post(&api, &format!("/historical/bulk?{day}&format=json"), &one)
        .refuses(400, "unknown format \"json\"; allowed are csv, arrow, parquet");
}

#[test]
fn an_export_of_many_stations_has_the_rows_of_each() {
    let api = api();
    let day = "start=2024-08-03T00:00:00Z&end=2024-08-05T00:00:00Z";
    let mut names = ["A", "B", "sea"];
    names.sort_by_key(|name| id(name));
    let of = |names: &[&str]| -> Vec<String> {
        let of_one = |name: &&str| {
            let one =
                post(&api, &format!("/historical/bulk?{day}"), &json!({"stationId": id(name)}));
            rows(&one).into_iter().map(|row| format!("{row},{}", id(name))).collect::<Vec<_>>()
        };
        names.iter().flat_map(of_one).collect()
    };
    let all = json!({"stationIds": names.map(id)});
    let answer = post(&api, &format!("/historical/bulk?{day}"), &all);
    assert_eq!(rows(&answer), of(&names));
    assert_eq!(answer.header("x-series-found"), Some("True"));
    assert_eq!(answer.header("x-station-id"), None);
    assert_eq!(answer.header("x-name"), Some("airTemperature,windSpeed"));
    for (query, names) in [
        ("country=CA", vec!["A", "B"]),
        ("network=TEST", names.to_vec()),
        ("minLat=43&minLon=-80&maxLat=44&maxLon=-79", vec!["A"]),
        ("lat=43.65&lon=-79.38&nearest=1", vec!["A"]),
        ("province=SK", vec![]),
    ] {
        let mut names = names;
        names.sort_by_key(|name| id(name));
        let answer = post(&api, &format!("/historical/bulk?{day}&{query}"), &json!({}));
        assert_eq!(rows(&answer), of(&names), "{query}");
    }
    // Pages, with a cursor of the same choice.
    let (mut found, mut cursor) = (Vec::new(), String::new());
    loop {
        let path = format!("/historical/bulk?{day}&country=CA&pageSize=1{cursor}");
        let page = post(&api, &path, &json!({}));
        found.extend(rows(&page));
        let Some(next) = page.header("x-next-cursor") else { break };
        cursor = format!("&cursor={next}");
        let other = post(
            &api,
            &format!("/historical/bulk?{day}&province=ON&pageSize=1{cursor}"),
            &json!({}),
        );
        assert_eq!(other.status, 400, "{}", other.text());
    }
    let mut canada = ["A", "B"];
    canada.sort_by_key(|name| id(name));
    assert_eq!(found, of(&canada));

    let path = format!("/historical/bulk?{day}");
    post(&api, &path, &json!({}))
        .refuses(400, "stationId is required; or stationIds, or parameters that choose stations");
    let both = json!({"stationId": id("A"), "stationIds": [id("B")]});
    post(&api, &path, &both).refuses(
        400,
        "stations are chosen by stationId, by stationIds or by parameters; give one of them",
    );
    let empty = post(&api, &path, &json!({"stationIds": []}));
    assert_eq!((rows(&empty), empty.header("x-series-found")), (vec![], Some("False")));
    let few = Config { assume_plan: Plan::Commercial, max_station_ids: 2, ..Config::default() };
    let few = Api::with(few, TestStore::default());
    few.post(&path, all.to_string())
        .refuses(400, "stationIds holds 3 different ids; the limit is 2");
}

/// What callers may do with exports is the same for many stations.
#[test]
fn many_stations_need_the_plan_of_one() {
    let api = Api::new(store(batches()));
    let path = format!("/historical/bulk?{DAY}&country=CA");
    assert_eq!(api.post(&path, "{}").status, 401);
}

/// One implementation of units: what HTTP shows is what the library says.
#[test]
fn every_variable_has_the_unit_that_the_library_has_for_it() {
    for system in UnitSystem::ALL {
        let units = AnswerUnits::of(system);
        let mut batches = vec![station("A", -79.63, 43.68)];
        batches.extend(
            Variable::ALL.iter().map(|&of| reading("A", 0, &crate::support::instant(of), 12.5)),
        );
        let api = Api::new(store(batches));
        let names: Vec<&str> = Variable::ALL.iter().map(|of| of.name()).collect();
        let path = format!("/stations/readings?names={}&units={system}", names.join(","));
        let found = value(&api.get(&path));
        let readings =
            found["stations"][id("A").to_string()]["readings"].as_array().unwrap().clone();
        assert_eq!(readings.len(), Variable::ALL.len());
        for reading in readings {
            let variable: Variable = reading["type"].as_str().unwrap().parse().unwrap();
            let unit = units.of_variable(variable);
            assert_eq!(reading["unit"], unit.symbol(), "{variable}");
            assert_eq!(reading["value"], unit.value(12.5), "{variable}");
        }
    }
}
