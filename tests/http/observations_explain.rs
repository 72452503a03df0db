//! `GET /observations/explain`

use mesonet::access::Plan;
use mesonet::{Intake, IntervalType, SeriesKey, Variable};
use mesonet_server::Config;

use crate::support::{AIR, Api, TestStore, id, instant, reading, station};

fn taken_in() -> Api {
    let store = TestStore::default();
    let intake = Intake::default();
    let wind = SeriesKey::new(Variable::WindSpeed, IntervalType::Average, 2);
    let batches = [
        station("A", -80.0, 44.0),
        reading("A", 60, &AIR, 20.0),
        reading("A", 0, &AIR, 75.0),
        reading("A", 0, &wind, 20.0),
        reading("A", 0, &instant(Variable::Visibility), 200.0),
    ];
    for batch in batches {
        intake.take_in(&store, batch).unwrap();
    }
    Api::new(store)
}

fn path(series: &SeriesKey, timestamp: &str) -> String {
    let (station, series) = (id("A"), series.id());
    format!("/observations/explain?stationId={station}&typeId={series}&timestamp={timestamp}")
}

#[test]
fn every_check_is_explained_with_its_inputs_limits_sources_and_outcome() {
    let visibility = instant(Variable::Visibility);
    let explained = taken_in().get(&path(&visibility, "2024-08-03T12:00:00Z"));
    let good = r#"{"baseQuality":"Good","reasonQuality":"None"}"#;
    let doubtful = r#"{"baseQuality":"Doubtful","reasonQuality":"Range"}"#;
    let input = r#""inputs":[{"name":"visibility","value":200.0,"unit":"km","timestamp":"2024-08-03T12:00:00Z"}]"#;
    let source = "MADIS (100 mi) for Doubtful; cannot be negative";
    let not_run = |check: &str, why: &str| {
        format!(
            r#"{{"check":"{check}","ran":false,"notRunBecause":"{why}","inputs":[],"limits":[]}}"#
        )
    };
    let no_limit = "no limit is configured for this variable";
    let mut checks = vec![
        format!(r#"{{"check":"value","ran":true,{input},"limits":[],"outcome":{good}}}"#),
        format!(
            r#"{{"check":"range","ran":true,{input},"limits":[{{"name":"error","min":0.0,"unit":"km","source":"{source}"}},{{"name":"doubtful","min":0.0,"max":161.0,"unit":"km","source":"{source}"}}],"outcome":{doubtful}}}"#
        ),
    ];
    // Checks of other variables, such as rainfall, are not listed.
    let others = ["record", "spike", "step", "jump", "persistence"];
    checks.extend(others.map(|check| not_run(check, no_limit)));
    checks.push(not_run("average", "the station has no series to compare with"));
    checks.push(not_run("neighbours", no_limit));
    checks.push(not_run("neighbourChange", no_limit));
    explained.is(&format!(
        r#"{{"stationId":"{}","typeId":{},"variable":"visibility","unit":"km","timestamp":"2024-08-03T12:00:00Z","value":200.0,"source":{{"baseQuality":"Unknown","reasonQuality":"None"}},"checks":[{}],"verdict":{doubtful},"decidedBy":"range"}}"#,
        id("A"),
        visibility.id(),
        checks.join(",")
    ));
}

/// A special report at 11:38 is compared with what its neighbours measured then: between their
/// reports at 11:00 and 12:00, or at 11:30.
#[test]
fn a_special_report_is_compared_with_its_neighbours_at_its_time() {
    let (store, intake) = (TestStore::default(), Intake::default());
    let mslp = instant(Variable::Mslp);
    let mut batches = vec![station("S", -80.0, 44.0), reading("S", 22, &mslp, 1019.0)];
    for (i, name) in ["A", "B", "C", "D", "E"].into_iter().enumerate() {
        batches.push(station(name, -80.0, 44.2 + 0.2 * i as f64));
        if name == "E" {
            batches.push(reading(name, 30, &mslp, 1012.0));
        } else {
            batches.push(reading(name, 60, &mslp, 1012.0));
            batches.push(reading(name, 0, &mslp, 1013.0));
        }
    }
    for batch in batches {
        intake.take_in(&store, batch).unwrap();
    }
    let api = Api::new(store);
    let told = api
        .get(&format!(
            "/observations/explain?stationId={}&typeId={}&timestamp=2024-08-03T11:38:00Z",
            id("S"),
            mslp.id()
        ))
        .text();
    let told: serde_json::Value = serde_json::from_str(&told).unwrap();
    assert_eq!(told["verdict"]["reasonQuality"], "Disagree");
    assert_eq!(told["decidedBy"], "neighbours");
    let checks = told["checks"].as_array().unwrap();
    let check = checks.iter().find(|of| of["check"] == "neighbours").unwrap();
    let neighbours = check["neighbours"].as_array().unwrap();
    let names: Vec<_> = neighbours.iter().map(|of| of["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["Station A", "Station B", "Station C", "Station D", "Station E"]);
    let first = &neighbours[0];
    assert_eq!(first["stationId"], id("A").to_string());
    assert!((first["distanceKm"].as_f64().unwrap() - 22.2).abs() < 0.1, "{first}");
    assert!((first["value"].as_f64().unwrap() - (1012.0 + 38.0 / 60.0)).abs() < 1e-9, "{first}");
    assert_eq!(neighbours[4]["value"], 1012.0);
    let weights: f64 = neighbours.iter().map(|of| of["weight"].as_f64().unwrap()).sum();
    assert!((weights - 1.0).abs() < 0.01, "{weights}");
    assert!(first.get("riseM").is_some() && first.get("standardizedDifference").is_some());
}

#[test]
fn an_explanation_keeps_the_lookback_of_the_plan() {
    let old = path(&AIR, "2024-07-27T10:59:59Z");
    taken_in().get(&old).refuses(
        400,
        "2024-07-27T10:59:59Z is 7 d 1 h 1 s ago; the limit maxReachMs of plan none is 7 d (and 1 \
         h of grace)",
    );
    // The station is within reach, but has no reading.
    assert_eq!(taken_in().get(&path(&AIR, "2024-07-27T11:00:00Z")).status, 404);
    let config = Config { assume_plan: Plan::Commercial, ..Config::default() };
    assert_eq!(Api::with(config, TestStore::default()).get(&old).status, 404);
}

#[test]
fn the_verdict_is_that_of_the_readings_answer() {
    let api = taken_in();
    let snapshot = api.get("/stations/readings?names=airTemperature").text();
    let verdict = r#""quality":{"baseQuality":"Error","reasonQuality":"Range"}"#;
    assert!(snapshot.contains(verdict), "{snapshot}");
    let explained = api.get(&path(&AIR, "2024-08-03T12:00:00Z")).text();
    let verdict =
        r#""verdict":{"baseQuality":"Error","reasonQuality":"Range"},"decidedBy":"range""#;
    assert!(explained.contains(verdict), "{explained}");
}

#[test]
fn a_calculated_reading_names_what_it_was_made_from() {
    let wind = SeriesKey::new(Variable::WindSpeed10m, IntervalType::Average, 2).calculated();
    let explained = taken_in().get(&path(&wind, "2024-08-03T12:00:00Z")).text();
    let from = format!(
        r#""calculatedFrom":[{{"type":"windSpeed","typeId":{},"value":20.0,"quality":{{"baseQuality":"Good","reasonQuality":"None"}}}}]}}"#,
        SeriesKey::new(Variable::WindSpeed, IntervalType::Average, 2).id()
    );
    assert!(explained.ends_with(&from), "{explained}");
}

#[test]
fn a_reading_that_is_not_there_is_not_found_and_named() {
    let api = taken_in();
    api.get(&path(&AIR, "2024-08-03T11:59:00Z")).refuses(
        404,
        &format!("station {} has no reading of {} at 2024-08-03T11:59:00Z", id("A"), AIR.id()),
    );
}

#[test]
fn what_is_missing_or_malformed_is_refused() {
    let api = taken_in();
    api.get("/observations/explain").refuses(400, "stationId is required");
    api.get(&format!("/observations/explain?stationId={}", id("A")))
        .refuses(400, "typeId is required");
    api.get(&format!("/observations/explain?stationId={}&typeId=1", id("A")))
        .refuses(400, "timestamp is required");
    api.get(&format!("/observations/explain?stationId={}&typeId=4294967296", id("A")))
        .refuses(400, "typeId must be a 32-bit integer; got \"4294967296\"");
    api.get(&path(&AIR, "noon")).refuses(
        400,
        "\"noon\" is not an instant; allowed is RFC 3339 with Z or an offset, years 0000 to 9999, \
         for example 2024-08-03T21:00:00Z",
    );
}
