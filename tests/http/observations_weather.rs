//! `GET /observations/weather`

use mesonet::access::Plan;
use mesonet::store::no_verdicts;
use mesonet::{Batch, Report, Store};
use mesonet_server::Config;

use crate::support::{AIR, Api, NOW_MS, TestStore, id, reading, station, store};

fn weather_report(minutes_ago: i64, revision: u8, words: &[&str]) -> Batch {
    let mut batch = reading("A", minutes_ago, &AIR, 20.0);
    let Some(report) = batch.reports.first_mut() else { return batch };
    *report = Report {
        revision,
        present_weather: Some(words.iter().map(|&word| word.to_owned()).collect()),
        ..report.clone()
    };
    batch
}

fn reported() -> TestStore {
    store([
        station("A", -80.0, 44.0),
        station("B", -81.0, 44.0),
        weather_report(120, 0, &["Light rain", "Mist"]),
        weather_report(60, 0, &["Fog in the vicinity"]),
        weather_report(0, 0, &[]),
        reading("A", 30, &AIR, 20.0),
        weather_report(60, 1, &["Heavy snow", "Blowing snow"]),
    ])
}

fn path(name: &str, start: &str, end: &str) -> String {
    format!("/observations/weather?stationId={}&start={start}&end={end}", id(name))
}

#[test]
fn every_report_that_says_anything_is_listed_with_its_words() {
    let api = Api::new(reported());
    let a = id("A");
    api.get(&path("A", "2024-08-03T10:00:00Z", "2024-08-03T12:00:00Z")).is(&format!(
        r#"{{"stationId":"{a}","reports":[{{"timestamp":"2024-08-03T10:00:00Z","presentWeather":["Light rain","Mist"]}},{{"timestamp":"2024-08-03T11:00:00Z","presentWeather":["Heavy snow","Blowing snow"]}},{{"timestamp":"2024-08-03T12:00:00Z","presentWeather":[]}}]}}"#
    ));
    api.get(&path("A", "2024-08-03T10:00:01Z", "2024-08-03T11:59:59Z")).is(&format!(
        r#"{{"stationId":"{a}","reports":[{{"timestamp":"2024-08-03T11:00:00Z","presentWeather":["Heavy snow","Blowing snow"]}}]}}"#
    ));
    api.get(&path("B", "2024-08-03T10:00:00Z", "2024-08-03T12:00:00Z"))
        .is(&format!(r#"{{"stationId":"{}","reports":[]}}"#, id("B")));
}

#[test]
fn the_window_is_held_against_the_lookback_of_the_plan() {
    let long = path("A", "2024-07-04T12:00:00Z", "2024-08-03T12:00:00Z");
    Api::new(reported())
        .get(&long)
        .refuses(400, "the window is 30 d long; the limit maxWindowMs of plan none is 7 d");
    let config = Config { assume_plan: Plan::Pro, ..Config::default() };
    assert_eq!(Api::with(config, reported()).get(&long).status, 200);
    let old = path("A", "2024-07-27T10:00:00Z", "2024-07-27T10:59:59Z");
    assert_eq!(Api::new(reported()).get(&old).status, 400);
}

#[test]
fn what_is_missing_or_malformed_is_refused() {
    let api = Api::new(reported());
    let start = "2024-08-03T10:00:00Z";
    let end = "2024-08-03T12:00:00Z";
    api.get(&path("X", start, end)).refuses(404, &format!("no station has the id \"{}\"", id("X")));
    api.get("/observations/weather").refuses(400, "stationId is required");
    api.get(&format!("/observations/weather?stationId={}&end={end}", id("A")))
        .refuses(400, "start is required");
    assert_eq!(api.get(&path("A", end, start)).status, 400);
    assert_eq!(api.get(&path("A", "yesterday", end)).status, 400);
    assert_eq!(api.get("/observations/weather?stationId=CYYZ").status, 404);
}

#[test]
fn a_window_with_too_many_reports_is_refused_and_not_cut() {
    let known = TestStore::default();
    let reports = |ms: std::ops::Range<i64>| {
        let one = weather_report(0, 0, &["Rain"]).reports.remove(0);
        ms.rev().map(|ms| Report { ts_ms: NOW_MS - ms, readings: vec![], ..one.clone() }).collect()
    };
    let stations = station("A", -80.0, 44.0).stations;
    let batch = Batch { stations, reports: reports(0..100_000) };
    known.append(&batch, &mut no_verdicts).unwrap();
    let whole = path("A", "2024-08-03T10:00:00Z", "2024-08-03T12:00:00Z");
    let answer: serde_json::Value =
        serde_json::from_str(&Api::new(known).get(&whole).text()).unwrap();
    assert_eq!(answer["reports"].as_array().unwrap().len(), 100_000);
    let known = TestStore::default();
    let batch = Batch { reports: reports(0..100_001), ..batch };
    known.append(&batch, &mut no_verdicts).unwrap();
    Api::new(known).get(&whole).refuses(
        400,
        "the window holds more than 100000 reports of the station; ask for a shorter one",
    );
}
