//! `GET /stations/{id}/quality`, and the command `quality`

use mesonet::access::Plan;
use mesonet::store::EmbeddedOptions;
use mesonet::{EmbeddedStore, Intake, SeriesKey, Store, Variable};
use mesonet_server::Config;
use serde_json::Value;
use tempfile::TempDir;

use crate::process::output;
use crate::support::{Api, TestStore, id, instant, reading, station};

const MSLP: SeriesKey = instant(Variable::Mslp);
const VISIBILITY: SeriesKey = instant(Variable::Visibility);

/// Six stations in a row, 20 km apart, that report pressure each hour for a day. The pressure of C
/// is 6 hPa too low.
fn fill(store: &dyn Store) {
    let intake = Intake::default();
    for (i, name) in ["A", "B", "C", "D", "E", "F"].into_iter().enumerate() {
        intake.take_in(store, station(name, -80.0, 44.0 + 0.18 * i as f64)).unwrap();
        let mut batch = reading(name, 0, &VISIBILITY, 16.0);
        for hour in 0..24_i32 {
            let off_hpa = if name == "C" { -6.0 } else { 0.0 };
            let value = 1012.0 + 0.1 * f64::from(hour % 5) + off_hpa;
            batch.reports.extend(reading(name, i64::from(hour) * 60, &MSLP, value).reports);
        }
        intake.take_in(store, batch).unwrap();
    }
}

fn filled() -> TestStore {
    let store = TestStore::default();
    fill(&store);
    store
}

fn path(name: &str, rest: &str) -> String {
    format!("/stations/{}/quality{rest}", id(name))
}

#[test]
fn the_rate_of_each_verdict_and_what_the_neighbours_say() {
    let api = Api::new(filled());
    let told: Value = serde_json::from_str(&api.get(&path("C", "")).text()).unwrap();
    assert_eq!(told["stationId"], id("C").to_string());
    assert_eq!(told["start"], "2024-07-27T12:00:00Z");
    assert_eq!(told["end"], "2024-08-03T12:00:00Z");
    let names: Vec<_> =
        told["variables"].as_array().unwrap().iter().map(|of| &of["type"]).collect();
    assert_eq!(names, ["mslp", "visibility"]);
    let mslp = &told["variables"][0];
    assert_eq!(
        mslp["months"].to_string(),
        r#"[{"month":"2024-08","readings":24,"verdicts":[{"quality":{"baseQuality":"Doubtful","reasonQuality":"Disagree"},"readings":24,"share":1.0}]}]"#
    );
    let neighbours = &mslp["neighbours"];
    assert_eq!((&neighbours["unit"], &neighbours["compared"]), (&"hPa".into(), &24.into()));
    assert_eq!(neighbours["shareFlagged"], 1.0);
    for name in ["meanDifference", "medianDifference"] {
        assert!((neighbours[name].as_f64().unwrap() + 6.0).abs() < 0.1, "{neighbours}");
    }
    let days: Vec<_> = neighbours["days"].as_array().unwrap().iter().collect();
    assert_eq!((&days[0]["day"], &days[0]["compared"]), (&"2024-08-02".into(), &11.into()));
    assert_eq!((&days[1]["day"], &days[1]["compared"]), (&"2024-08-03".into(), &13.into()));
    // Variables that are not compared have only verdicts.
    assert!(told["variables"][1].get("neighbours").is_none());
    let good: Value = serde_json::from_str(&api.get(&path("D", "")).text()).unwrap();
    assert_eq!(good["variables"][0]["neighbours"]["shareFlagged"], 0.0);
}

#[test]
fn the_window_is_held_against_the_lookback_and_the_longest_report() {
    let days = "?start=2024-07-04T12:00:00Z&end=2024-08-03T12:00:00Z";
    Api::new(filled())
        .get(&path("A", days))
        .refuses(400, "the window is 30 d long; the limit maxWindowMs of plan none is 7 d");
    let commercial = Config { assume_plan: Plan::Commercial, ..Config::default() };
    let api = Api::with(commercial, filled());
    assert_eq!(api.get(&path("A", days)).status, 200);
    api.get(&path("A", "?start=2024-07-01T00:00:00Z&end=2024-08-03T12:00:00Z"))
        .refuses(400, "the window is 33.5 days long; a report on quality spans at most 31 days");
}

#[test]
fn an_unknown_station_and_malformed_times_are_refused() {
    let api = Api::new(filled());
    let unknown = id("none");
    api.get(&path("none", "")).refuses(404, &format!("no station has the id \"{unknown}\""));
    api.get("/stations/KPRN/quality").refuses(404, "no station has the id \"KPRN\"");
    assert_eq!(api.get(&path("A", "?start=yesterday")).status, 400);
    assert_eq!(api.get(&path("A", "?start=2024-08-03T13:00:00Z")).status, 400);
}

#[test]
fn the_command_reports_the_same_by_the_name_of_the_network() {
    let folder = TempDir::new().unwrap();
    let data = folder.path().join("mesonet-data");
    fill(&EmbeddedStore::open(&data, EmbeddedOptions::default()).unwrap());
    let (ok, out, error) = output(folder.path(), &["quality", "C", "--json"]);
    assert!(ok, "{error}");
    let told: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(told["variables"][0]["neighbours"]["compared"], 24);
    let (ok, out, _) = output(folder.path(), &["quality", &id("C").to_string()]);
    assert!(ok && out.contains("  2024-08: 24 readings; Doubtful, Disagree 100.00 %\n"), "{out}");
    assert!(out.contains("100.0 % flagged\n    2024-08-02: 11 compared"), "{out}");
    // Any identifier, as everywhere.
    assert_eq!(output(folder.path(), &["quality", "test:c"]), (true, out, String::new()));
    for unknown in ["nobody", "00000000-0000-5000-8000-000000000000"] {
        let (ok, _, error) = output(folder.path(), &["quality", unknown]);
        assert_eq!((ok, error), (false, format!("error: no station has the id \"{unknown}\"\n")));
    }
}
