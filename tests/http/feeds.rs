//! `GET /feeds`

use mesonet::store::no_verdicts;
use mesonet::time::DAY_MS;
use mesonet::{Batch, Reading, Report, Store, Variable};
use mesonet_server::Config;

use crate::support::{Api, NOW_MS, TestStore, id, instant, station};

fn reported() -> TestStore {
    let store = TestStore::default();
    let mut batch = Batch::default();
    for (name, ts_ms) in
        [("A", NOW_MS - 2 * DAY_MS), ("B", NOW_MS - 3 * DAY_MS), ("C", NOW_MS + DAY_MS)]
    {
        batch.stations.extend(station(name, -79.0, 43.0).stations);
        batch.reports.push(Report {
            station: id(name),
            ts_ms,
            revision: 0,
            present_weather: None,
            text: None,
            readings: vec![Reading::unchecked(instant(Variable::AirTemperature), 20.0)],
        });
    }
    store.append(&batch, &mut no_verdicts).unwrap();
    store
}

/// A report ahead of the clock does not count, and while earlier data are replayed, no feed is late.
#[test]
fn a_feed_has_its_stations_and_newest_report_and_is_not_late_in_a_replay() {
    Api::new(TestStore::default()).get("/feeds").is(r#"{"feeds":[]}"#);
    let expected = concat!(
        r#"{"feeds":[{"network":"TEST","stations":3,"newest":"2024-08-01T12:00:00Z","#,
        r#""late":false}]}"#
    );
    Api::new(reported()).get("/feeds").is(expected);
}

#[test]
fn a_setting_that_is_no_span_is_refused_with_what_is_allowed() {
    let config = Config { late_after: vec!["TEST=soon".to_owned()], ..Config::default() };
    let error = config.check().unwrap_err().to_string();
    assert!(error.contains("late_after") && error.contains("TEST=soon"), "{error}");
}
