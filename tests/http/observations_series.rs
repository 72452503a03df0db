//! `POST /observations/series`

use mesonet::access::Plan;
use mesonet::time::MINUTE_MS;
use mesonet::{Batch, IntervalType, Quality, SeriesKey, Variable};
use mesonet_server::Config;

use crate::support::{AIR, Api, DOUBTFUL, TestStore, id, reading, report, station, store};

const HOUR: &str = "start=2024-08-03T11:00:00Z&end=2024-08-03T12:00:00Z";

const WIND_2: SeriesKey = SeriesKey::new(Variable::WindSpeed, IntervalType::Average, 2);
const WIND_10: SeriesKey = SeriesKey::new(Variable::WindSpeed, IntervalType::Average, 10);

fn post(api: &Api, query: &str, fields: &str) -> crate::support::Answer {
    let body = format!(r#"{{"stationId":"{}"{fields}}}"#, id("A"));
    api.post(&format!("/observations/series?{query}"), body)
}

fn winds() -> TestStore {
    store([
        station("A", -80.0, 44.0),
        reading("A", 60, &WIND_2, 1.0),
        reading("A", 60, &WIND_10, 2.0),
        reading("A", 30, &WIND_10, 3.0),
        reading("A", 30, &WIND_2.calculated(), 4.0),
        report("A", 0, &WIND_2, 5.0, DOUBTFUL),
        reading("A", 120, &WIND_2, 6.0),
        reading("A", 30, &AIR, 7.0),
    ])
}

/// A reading in JSON: time of day, value, base quality and reason, whether it is calculated.
fn item(time: &str, value: &str, quality: [&str; 2], calculated: bool) -> String {
    let [base, reason] = quality;
    format!(
        r#"{{"timestamp":"2024-08-03T{time}Z","value":{value},"quality":{{"baseQuality":"{base}","reasonQuality":"{reason}"}},"calculated":{calculated}}}"#
    )
}

const UNCHECKED: [&str; 2] = ["Unknown", "None"];

fn described(minutes: i32, first: &str, items: &[String]) -> String {
    format!(
        r#"{{"stationId":"{}","name":"windSpeed","prettyName":"Wind speed","reportedUnit":"km/h","intervalType":"Average","intervalMinutes":{minutes},"firstAppearance":"2024-08-03T{first}Z","readings":[{}]}}"#,
        id("A"),
        items.join(",")
    )
}

#[test]
fn one_series_is_described_with_its_readings_both_ends_included() {
    let api = Api::new(winds());
    let readings = [
        item("11:00:00", "1.0", UNCHECKED, false),
        item("12:00:00", "5.0", ["Doubtful", "Range"], false),
    ];
    post(
        &api,
        HOUR,
        r#","name":"windSpeed","intervalType":"Average","intervalMinutes":2,"calculated":false"#,
    )
    .is(&described(2, "10:00:00", &readings));
}

#[test]
fn readings_of_several_series_are_mixed_by_time_then_series_and_the_first_is_described() {
    let api = Api::new(winds());
    let mut rows = [
        ("11:00:00", WIND_2.id(), "1.0", UNCHECKED, false),
        ("11:00:00", WIND_10.id(), "2.0", UNCHECKED, false),
        ("11:30:00", WIND_10.id(), "3.0", UNCHECKED, false),
        ("11:30:00", WIND_2.calculated().id(), "4.0", UNCHECKED, true),
        ("12:00:00", WIND_2.id(), "5.0", ["Doubtful", "Range"], false),
    ];
    rows.sort_by_key(|row| (row.0, row.1));
    let readings = rows.map(|(time, _, value, quality, calc)| item(time, value, quality, calc));
    let (minutes, first) = [
        (WIND_2.id(), 2, "10:00:00"),
        (WIND_10.id(), 10, "11:00:00"),
        (WIND_2.calculated().id(), 2, "11:30:00"),
    ]
    .into_iter()
    .min()
    .map(|(_, minutes, first)| (minutes, first))
    .unwrap();
    post(&api, HOUR, r#","name":"windSpeed""#).is(&described(minutes, first, &readings));
}

#[test]
fn each_filter_narrows_the_choice() {
    let api = Api::new(winds());
    let ten =
        [item("11:00:00", "2.0", UNCHECKED, false), item("11:30:00", "3.0", UNCHECKED, false)];
    post(&api, HOUR, r#","name":"windSpeed","intervalMinutes":10"#)
        .is(&described(10, "11:00:00", &ten));
    let calculated = [item("11:30:00", "4.0", UNCHECKED, true)];
    post(&api, HOUR, r#","name":"windSpeed","calculated":true,"reportedUnit":"km/h""#)
        .is(&described(2, "11:30:00", &calculated));
    for nothing in [
        r#","name":"windSpeed","intervalType":"Max""#,
        r#","name":"windSpeed","reportedUnit":"kt""#,
        r#","name":"windSpeed","groupBucketName":"x""#,
        r#","name":"mslp""#,
    ] {
        assert_eq!(post(&api, HOUR, nothing).status, 404, "{nothing}");
    }
}

#[test]
fn a_bucketed_series_has_metadata_of_its_buckets() {
    let bucket = |label: &'static str| SeriesKey {
        bucket: label.into(),
        ..SeriesKey::new(Variable::Precipitation, IntervalType::Cumulative, 60)
    };
    let api = Api::new(store([
        station("A", -80.0, 44.0),
        reading("A", 30, &bucket("0-1 mm"), 1.0),
        reading("A", 30, &bucket("1-2 mm"), 2.0),
    ]));
    post(&api, HOUR, r#","name":"precipitation","groupBucketName":"1-2 mm""#).is(&format!(
        r#"{{"stationId":"{}","name":"precipitation","prettyName":"Precipitation","reportedUnit":"mm","intervalType":"Cumulative","intervalMinutes":60,"firstAppearance":"2024-08-03T11:30:00Z","bucketMetadata":{{"1-2 mm":{{"prettyName":"1-2 mm"}}}},"readings":[{{"timestamp":"2024-08-03T11:30:00Z","value":2.0,"quality":{{"baseQuality":"Unknown","reasonQuality":"None"}},"calculated":false,"groupBucketName":"1-2 mm"}}]}}"#,
        id("A")
    ));
}

#[test]
fn station_ids_have_no_effect() {
    let api = Api::new(winds());
    let wind = r#","name":"windSpeed","intervalMinutes":10"#;
    let with = format!(r#"{wind},"stationIds":["{}"],"x":null"#, id("B"));
    post(&api, HOUR, &with).is(&post(&api, HOUR, wind).text());
}

#[test]
fn without_matching_readings_it_is_a_404_that_says_so() {
    let api = Api::new(winds());
    // The error lists the series of the station, those of the variable first.
    let (air, wind) = (
        "airTemperature (Instantaneous)",
        "windSpeed (Average 2 min), windSpeed (Average 2 min, calculated), windSpeed (Average 10 min)",
    );
    let missing = |name: &str, known: [&str; 2]| {
        format!(
            "station {} has no matching readings of {name} in the window; its series are {}",
            id("A"),
            known.join(", ")
        )
    };
    post(&api, HOUR, r#","name":"mslp""#).refuses(404, &missing("mslp", [air, wind]));
    let later = "start=2024-08-03T12:00:01Z&end=2024-08-03T13:00:00Z";
    post(&api, later, r#","name":"windSpeed""#).refuses(404, &missing("windSpeed", [wind, air]));
    let other = format!(r#"{{"stationId":"{}","name":"mslp"}}"#, id("X"));
    let answer = api.post(&format!("/observations/series?{HOUR}"), other);
    answer.refuses(404, &format!("no station has the id \"{}\"", id("X")));
    // Names are exact. An unknown name is refused, and the error lists the known ones.
    let answer = post(&api, HOUR, r#","name":"WindSpeed""#);
    assert_eq!(answer.status, 404);
    assert!(answer.text().starts_with(r#""\"WindSpeed\" is not a variable name; allowed are air"#));
}

#[test]
fn what_is_missing_or_malformed_is_refused() {
    let api = Api::new(winds());
    let wind = r#","name":"windSpeed""#;
    post(&api, "end=2024-08-03T12:00:00Z", wind).refuses(400, "start is required");
    post(&api, "start=2024-08-03T12:00:00Z", wind).refuses(400, "end is required");
    post(&api, "start=2024-08-03T12:00:00Z&end=2024-08-03T12:00:00Z", wind).refuses(
        400,
        "start must be before end; got start 2024-08-03T12:00:00Z and end 2024-08-03T12:00:00Z",
    );
    post(&api, HOUR, "").refuses(400, "name is required");
    let path = format!("/observations/series?{HOUR}");
    api.post(&path, r#"{"stationId":"nowhere","name":"mslp"}"#)
        .refuses(404, "no station has the id \"nowhere\"");
    api.post(&path, r#"{"name":"mslp"}"#).refuses(400, "stationId is required in the body");
    for (fields, text) in [
        (
            r#","name":"mslp","intervalType":"average""#,
            "intervalType must be one of Instantaneous, Average, Cumulative, Max, Min, Median, \
             Unknown; got \"average\"",
        ),
        (
            r#","name":"mslp","intervalMinutes":"2""#,
            "intervalMinutes must be a whole number from -2147483648 to 2147483647; got \"2\"",
        ),
        (
            r#","name":"mslp","intervalMinutes":4294967298"#,
            "intervalMinutes must be a whole number from -2147483648 to 2147483647; got 4294967298",
        ),
        (
            r#","name":"mslp","intervalMinutes":1.5"#,
            "intervalMinutes must be a whole number from -2147483648 to 2147483647; got 1.5",
        ),
        (r#","name":"mslp","calculated":1"#, "calculated must be true or false; got 1"),
        (r#","name":"mslp","name":"mslp""#, "name is given twice; it must be given only once"),
        (r#","nam":"mslp""#, "unknown member of the body, \"nam\"; the name is name"),
    ] {
        post(&api, HOUR, fields).refuses(400, text);
    }
    // A member that may be left out may be null.
    assert_eq!(post(&api, HOUR, r#","name":"windSpeed","intervalMinutes":null"#).status, 200);
}

#[test]
fn the_window_is_held_against_the_lookback_of_the_plan() {
    let days = "start=2024-07-04T12:00:00Z&end=2024-08-03T12:00:00Z";
    let wind = r#","name":"windSpeed","intervalMinutes":10"#;
    post(&Api::new(winds()), days, wind)
        .refuses(400, "the window is 30 d long; the limit maxWindowMs of plan none is 7 d");
    let config = Config { assume_plan: Plan::Pro, ..Config::default() };
    assert_eq!(post(&Api::with(config, winds()), days, wind).status, 200);
    let old = "start=2024-07-27T10:00:00Z&end=2024-07-27T10:59:59Z";
    post(&Api::new(winds()), old, wind).refuses(
        400,
        "the window ends at 2024-07-27T10:59:59Z, which is 7 d 1 h 1 s ago; the limit maxReachMs \
         of plan none is 7 d (and 1 h of grace)",
    );
}

#[test]
fn a_long_answer_is_whole_in_its_pieces() {
    let mut batch = Batch::default();
    for minute in (0..10_000).rev() {
        let one = report("A", minute * MINUTE_MS, &AIR, minute as f64, Quality::GOOD);
        batch.reports.extend(one.reports);
    }
    let api = Api::new(store([station("A", 0.0, 0.0), batch]));
    let week = "start=2024-07-27T12:00:00Z&end=2024-08-03T12:00:00Z";
    let answer = post(&api, week, r#","name":"airTemperature""#);
    let answer: serde_json::Value = serde_json::from_str(&answer.text()).unwrap();
    let values: Vec<_> =
        answer["readings"].as_array().unwrap().iter().map(|r| r["value"].as_f64()).collect();
    let expected: Vec<_> = (0..10_000).rev().map(|minute| Some(f64::from(minute))).collect();
    assert_eq!(values, expected);
}
