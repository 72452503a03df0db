//! `GET /stations/{id}/reports`, and texts of reports in other answers.

use std::sync::Arc;

use mesonet::access::Plan;
use mesonet::observation::ReportText;
use mesonet::store::{
    Damage, Directory, Receipt, Selection, SeriesSlice, StoreError, VerdictFn, VisitWeather,
    no_verdicts,
};
use mesonet::{Batch, ClosedWindow, MemoryStore, Reader, Report, StationId, Store};
use mesonet_server::Config;
use serde_json::Value;

use crate::support::{AIR, Api, NOW_MS, TestStore, id, reading, station, store};

fn with_text(minutes_ago: i64, revision: u8, text: &str, header: Option<&str>) -> Batch {
    let mut batch = reading("A", minutes_ago, &AIR, 20.0);
    let Some(report) = batch.reports.first_mut() else { return batch };
    *report = Report { revision, text: ReportText::new(text, header), ..report.clone() };
    batch
}

fn reported() -> TestStore {
    store([
        station("A", -80.0, 44.0),
        station("B", -81.0, 44.0),
        with_text(120, 0, "METAR CYYZ 031000Z 24012G20KT", Some("SACN31 CWAO 031000")),
        with_text(60, 0, "METAR CYYZ 031100Z 24012KT", None),
        with_text(60, 1, "METAR COR CYYZ 031100Z 25012KT \"<&>\"", None),
        reading("A", 30, &AIR, 20.0),
        with_text(0, 0, "SPECI CYYZ 031200Z 24012KT", None),
    ])
}

fn path(name: &str, start: &str, end: &str) -> String {
    format!("/stations/{}/reports?start={start}&end={end}", id(name))
}

const START: &str = "2024-08-03T10:00:00Z";
const END: &str = "2024-08-03T12:00:00Z";
const FIRST: &str = r#"{"timestamp":"2024-08-03T10:00:00Z","revision":0,"header":"SACN31 CWAO 031000","text":"METAR CYYZ 031000Z 24012G20KT"}"#;
const SECOND: &str = r#"{"timestamp":"2024-08-03T11:00:00Z","revision":1,"text":"METAR COR CYYZ 031100Z 25012KT \"<&>\""}"#;
const THIRD: &str =
    r#"{"timestamp":"2024-08-03T12:00:00Z","revision":0,"text":"SPECI CYYZ 031200Z 24012KT"}"#;

#[test]
fn the_reports_in_force_are_listed_as_they_came_in() {
    let api = Api::new(reported());
    let a = id("A");
    let all = format!(r#"{{"stationId":"{a}","reports":[{FIRST},{SECOND},{THIRD}]}}"#);
    api.get(&path("A", START, END)).is(&all);
    api.get(&path("A", "2024-08-03T10:00:01Z", "2024-08-03T11:59:59Z"))
        .is(&format!(r#"{{"stationId":"{a}","reports":[{SECOND}]}}"#));
    api.get(&path("B", START, END)).is(&format!(r#"{{"stationId":"{}","reports":[]}}"#, id("B")));
}

#[test]
fn a_limit_cuts_the_answer_and_says_where_it_goes_on() {
    let api = Api::new(reported());
    let a = id("A");
    let cut = |start: &str| format!("{}&limit=2", path("A", start, END));
    let next = "2024-08-03T12:00:00Z";
    api.get(&cut(START))
        .is(&format!(r#"{{"stationId":"{a}","reports":[{FIRST},{SECOND}],"next":"{next}"}}"#));
    api.get(&cut("2024-08-03T10:30:00Z"))
        .is(&format!(r#"{{"stationId":"{a}","reports":[{SECOND},{THIRD}]}}"#));
    for limit in ["0", "10001", "-1", "x", "1.5"] {
        let refused = api.get(&format!("{}&limit={limit}", path("A", START, END)));
        assert_eq!(refused.status, 400, "{limit}");
    }
}

#[test]
fn pages_of_a_long_window_are_the_whole() {
    let known = TestStore::default();
    let one = with_text(0, 0, "METAR", None).reports.remove(0);
    let reports = (0..12_000_i64).map(|at| Report {
        ts_ms: NOW_MS - at * 60_000,
        text: ReportText::new(&format!("METAR {at}"), None),
        readings: vec![],
        ..one.clone()
    });
    let stations = station("A", -80.0, 44.0).stations;
    let batch = Batch { stations, reports: reports.collect() };
    known.append(&batch, &mut no_verdicts).unwrap();
    let config = Config { assume_plan: Plan::Commercial, ..Config::default() };
    let api = Api::with(config, known);
    let (mut start, mut texts, mut pages) = ("2024-07-20T00:00:00Z".to_owned(), Vec::new(), 0);
    loop {
        let page = api.get(&format!("{}&limit=5000", path("A", &start, END))).text();
        let page: Value = serde_json::from_str(&page).unwrap();
        let reports = page["reports"].as_array().unwrap();
        texts.extend(reports.iter().map(|of| of["text"].as_str().unwrap().to_owned()));
        pages += 1;
        match page["next"].as_str() {
            Some(next) => next.clone_into(&mut start),
            None => break,
        }
    }
    let expected: Vec<String> = (0..12_000).rev().map(|at| format!("METAR {at}")).collect();
    assert!(pages == 3 && texts == expected, "{pages} pages");
}

#[test]
fn the_window_is_held_against_the_lookback_of_the_plan() {
    let long = path("A", "2024-07-04T12:00:00Z", "2024-08-03T12:00:00Z");
    Api::new(reported())
        .get(&long)
        .refuses(400, "the window is 30 d long; the limit maxWindowMs of plan none is 7 d");
    let config = Config { assume_plan: Plan::Pro, ..Config::default() };
    assert_eq!(Api::with(config, reported()).get(&long).status, 200);
}

#[test]
fn what_is_missing_or_malformed_is_refused() {
    let api = Api::new(reported());
    api.get(&path("X", START, END)).refuses(404, &format!("no station has the id \"{}\"", id("X")));
    api.get(&format!("/stations/{}/reports?end={END}", id("A"))).refuses(400, "start is required");
    assert_eq!(api.get(&path("A", END, START)).status, 400);
    assert_eq!(api.get(&path("A", "yesterday", END)).status, 400);
    assert_eq!(api.get(&format!("/stations/NOWHERE/reports?start={START}&end={END}")).status, 404);
}

#[test]
fn details_have_the_newest_report_only_if_it_is_asked_for() {
    let api = Api::new(reported());
    let (a, b) = (id("A"), id("B"));
    let body = api.get("/stations/map/details?fields=name,reportText").text();
    let expected: Value = serde_json::from_str(&format!(
        r#"{{"{a}":{{"name":"Station A","reportText":"SPECI CYYZ 031200Z 24012KT"}},"{b}":{{"name":"Station B"}}}}"#
    ))
    .unwrap();
    assert_eq!(serde_json::from_str::<Value>(&body).unwrap(), expected);
    for path in ["/stations/map/details".to_owned(), format!("/stations/{a}")] {
        assert!(!api.get(&path).text().contains("reportText"), "{path}");
    }
}

#[test]
fn a_series_has_the_texts_only_if_they_are_asked_for() {
    let api = Api::new(reported());
    let body = format!(r#"{{"stationId":"{}","name":"airTemperature"}}"#, id("A"));
    let series = |option: &str| {
        let path = format!("/observations/series?start={START}&end={END}{option}");
        api.post(&path, body.clone()).text()
    };
    let plain = series("");
    assert_eq!(series("&reportText=false"), plain);
    assert!(!plain.contains("reportText"));
    let with: Value = serde_json::from_str(&series("&reportText=true")).unwrap();
    let texts: Vec<Option<&str>> = with["readings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|reading| reading["reportText"].as_str())
        .collect();
    let expected = [
        Some("METAR CYYZ 031000Z 24012G20KT"),
        Some("METAR COR CYYZ 031100Z 25012KT \"<&>\""),
        None,
        Some("SPECI CYYZ 031200Z 24012KT"),
    ];
    assert_eq!(texts, expected);
    let path = format!("/observations/series?start={START}&end={END}&reportText=maybe");
    assert_eq!(api.post(&path, body.clone()).status, 400);
}

/// A store like one in ClickHouse.
struct WithoutTexts(MemoryStore);

impl Reader for WithoutTexts {
    fn directory(&self) -> Result<Arc<Directory>, StoreError> {
        self.0.directory()
    }

    fn scan(
        &self,
        selection: &Selection<'_>,
        visit: &mut dyn FnMut(usize, &[SeriesSlice<'_>]),
    ) -> Result<Damage, StoreError> {
        self.0.scan(selection, visit)
    }

    fn scan_weather(
        &self,
        stations: &[StationId],
        window: ClosedWindow,
        visit: &mut VisitWeather<'_>,
    ) -> Result<Damage, StoreError> {
        self.0.scan_weather(stations, window, visit)
    }

    fn held_from_ms(&self) -> Result<i64, StoreError> {
        self.0.held_from_ms()
    }
}

impl Store for WithoutTexts {
    fn append(&self, batch: &Batch, judge: &mut VerdictFn<'_>) -> Result<Receipt, StoreError> {
        self.0.append(batch, judge)
    }
}

#[test]
fn a_record_that_keeps_no_texts_says_so() {
    let store = WithoutTexts(MemoryStore::default());
    for batch in [station("A", -80.0, 44.0), with_text(0, 0, "METAR CYYZ", None)] {
        store.append(&batch, &mut no_verdicts).unwrap();
    }
    let api = Api::new(store);
    let text = "the record of this server keeps no texts of reports";
    api.get(&path("A", START, END)).refuses(501, text);
    api.get("/stations/map/details?fields=reportText").refuses(501, text);
    let body = format!(r#"{{"stationId":"{}","name":"airTemperature"}}"#, id("A"));
    let series = format!("/observations/series?start={START}&end={END}");
    assert_eq!(api.post(&series, body.clone()).status, 200);
    api.post(&format!("{series}&reportText=true"), body).refuses(501, text);
}
