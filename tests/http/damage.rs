//! A damaged record: what the server says, serves and leaves alone.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use axum::http::HeaderName;
use mesonet::store::{AlertStore, EmbeddedOptions, Maintenance, no_verdicts};
use mesonet::time::MINUTE_MS;
use mesonet::{Batch, EmbeddedStore, Quality, Store, alert};
use mesonet_server::Config;
use tempfile::TempDir;

use crate::process::{Server, output};
use crate::support::{AIR, Answer, Api, NOW_MS, id, report, station};

const DAMAGED: HeaderName = HeaderName::from_static("x-mesonet-damaged");

/// A record of two stations, sealed into a segment for each.
fn record(data: &Path) {
    let options = EmbeddedOptions { seal_readings: 1, segment_readings: 0 };
    let store = EmbeddedStore::open(data, options).unwrap();
    store.meta_set("origin", "own").unwrap();
    for (name, lon) in [("A", 0.0), ("B", 20.0)] {
        let mut batch: Batch = station(name, lon, 0.0);
        for minutes in 0..10 {
            let more = report(name, minutes * MINUTE_MS, &AIR, 20.0, Quality::UNCHECKED);
            batch.reports.extend(more.reports);
        }
        store.append(&batch, &mut no_verdicts).unwrap();
        store.maintain(&Maintenance { seal_all: true, ..Maintenance::default() }).unwrap();
    }
}

fn refusal(folder: &TempDir, args: &[&str]) -> String {
    let (ok, _, error) = output(folder.path(), args);
    assert!(!ok, "{error}");
    error
}

#[test]
fn a_record_without_its_catalogue_is_refused_and_comes_back_from_its_segments() {
    let folder = TempDir::new().unwrap();
    let data = folder.path().join("mesonet-data");
    record(&data);
    fs::remove_file(data.join("mesonet.sqlite")).unwrap();
    let serve: &[&str] = &["--listen", "127.0.0.1:0"];
    for _ in 0..2 {
        let refused = refusal(&folder, serve);
        assert!(refused.contains("mesonet.sqlite is missing, but the folder holds 2 segments"));
        assert!(refused.contains("mesonet-server verify --rebuild --data"), "{refused}");
        assert_eq!(fs::read_dir(data.join("segments")).unwrap().count(), 2);
    }
    let (ok, out, error) = output(folder.path(), &["verify", "--rebuild"]);
    assert!(ok, "{out}{error}");
    assert_eq!(
        out,
        "2 stations\n2 segments with 20 readings\n0 segments with 0 texts of reports\n0 batches of the old journal\n"
    );
    let refused = refusal(&folder, &["verify", "--rebuild"]);
    assert!(refused.contains("the catalogue is intact and lists every segment"), "{refused}");
    let server = Server::start(&folder, &["--now", "2024-08-03T12:00:00Z"]);
    let (head, body) = server.get(&format!("/api/v1/stations/{}", id("A")));
    assert!(head.starts_with("HTTP/1.1 200 OK"), "{head}");
    assert!(body.contains(r#""updateTime":"2024-08-03T12:00:00Z""#), "{body}");
    let (head, _) = server.get(&format!("/api/v1/stations/{}", id("CYYZ")));
    assert!(head.starts_with("HTTP/1.1 404"), "the sample is not in it");
}

#[test]
fn the_sample_does_not_go_into_a_folder_that_holds_anything() {
    let folder = TempDir::new().unwrap();
    let data = folder.path().join("mesonet-data");
    drop(EmbeddedStore::open(&data, EmbeddedOptions::default()).unwrap());
    fs::create_dir_all(data.join("models/own")).unwrap();
    fs::write(data.join("models/own/notes.txt"), "someone's").unwrap();
    let server = Server::start(&folder, &[]);
    assert!(server.log().contains("the clock shows real time"), "{}", server.log());
    assert_eq!(server.get("/api/v1/stations/map/details").1, "{}");
}

#[test]
fn readings_are_served_though_the_alerts_are_cut() {
    let folder = TempDir::new().unwrap();
    let data = folder.path().join("mesonet-data");
    record(&data);
    let alerts = AlertStore::open(&data).unwrap().0;
    for number in 0..60 {
        let sender = "x".repeat(1_000);
        let alert = alert::Message { id: number.to_string(), sender, ..alert::Message::default() };
        alerts.append(vec![alert]).unwrap();
    }
    drop(alerts);
    let path = data.join("alerts.sqlite");
    let bytes = fs::read(&path).unwrap();
    fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
    let live: &[&str] = &["--now", "2024-08-03T12:00:00Z"];
    let server = Server::start(&folder, live);
    assert!(server.log().contains("alerts are neither served nor taken in: "), "{}", server.log());
    assert!(server.log().contains("mesonet-server verify --set-aside"), "{}", server.log());
    let (head, body) = server.get("/api/v1/alerts");
    assert!(head.starts_with("HTTP/1.1 503"), "{head}");
    assert_eq!(body, r#""the alerts cannot be read at present""#);
    let (head, _) = server.get(&format!("/api/v1/stations/{}", id("A")));
    assert!(head.starts_with("HTTP/1.1 200 OK"), "{head}");
    assert_eq!(server.stop().0, Some(0));
    output(folder.path(), &["verify", "--set-aside"]);
    assert!(data.join("damaged/alerts.sqlite").exists());
    let server = Server::start(&folder, live);
    assert!(server.get("/api/v1/alerts").0.starts_with("HTTP/1.1 200 OK"));
}

/// A record with 60 alerts of two kilobytes.
fn with_alerts(data: &Path) {
    record(data);
    let alerts = AlertStore::open(data).unwrap().0;
    for number in 0..60 {
        let sender = format!("{number:02}@{}", "x".repeat(2_000));
        let id = format!("alert {number:02}");
        alerts.append(vec![alert::Message { id, sender, ..alert::Message::default() }]).unwrap();
    }
}

fn count_of(body: &str) -> usize {
    body.matches(r#"{"type":"Feature","id""#).count()
}

/// One flipped bit in an alert: the answer says that it lacks an alert.
#[test]
fn an_answer_that_lacks_a_damaged_alert_says_so() {
    let folder = TempDir::new().unwrap();
    let data = folder.path().join("mesonet-data");
    with_alerts(&data);
    let path = data.join("alerts.sqlite");
    let mut bytes = fs::read(&path).unwrap();
    let place = bytes.windows(6).position(|window| window == b"33@xxx").unwrap();
    bytes[place + 5] ^= 1;
    fs::write(&path, bytes).unwrap();
    let live: &[&str] = &["--now", "2024-08-03T12:00:00Z"];
    let server = Server::start(&folder, live);
    for query in ["", "?active=false", "?lang=fr"] {
        let (head, body) = server.get(&format!("/api/v1/alerts{query}"));
        assert!(head.starts_with("HTTP/1.1 200 OK"), "{head}");
        assert!(head.contains("x-mesonet-damaged: 1\r\n"), "{head}");
        assert_eq!(count_of(&body), 59);
    }
    assert!(server.get("/readyz").1.contains(r#""faults":1"#), "{}", server.get("/readyz").1);
    assert!(
        server.log().contains("alerts.sqlite, alert alert 33: it is corrupt"),
        "{}",
        server.log()
    );
    assert_eq!(server.stop().0, Some(0));
    let (ok, out, error) = output(folder.path(), &["verify"]);
    assert!(!ok && out.contains("alert 33: it is corrupt"), "{out}{error}");
    output(folder.path(), &["verify", "--set-aside"]);
    let server = Server::start(&folder, live);
    let (head, body) = server.get("/api/v1/alerts");
    assert!(!head.contains("x-mesonet-damaged"), "{head}");
    assert_eq!(count_of(&body), 59);
    assert!(server.get("/readyz").1.contains(r#""faults":0"#));
}

/// Acknowledged alerts are missing: it is unknown which alerts are in force.
#[test]
fn alerts_that_are_lost_as_a_whole_are_not_served_until_that_is_acknowledged() {
    for harm in ["deleted", "emptied", "older"] {
        let folder = TempDir::new().unwrap();
        let data = folder.path().join("mesonet-data");
        with_alerts(&data);
        let path = data.join("alerts.sqlite");
        let older = fs::read(&path).unwrap();
        let late = alert::Message { id: "late".into(), ..alert::Message::default() };
        AlertStore::open(&data).unwrap().0.append(vec![late]).unwrap();
        match harm {
            "deleted" => fs::remove_file(&path).unwrap(),
            "emptied" => fs::write(&path, "").unwrap(),
            _ => fs::write(&path, older).unwrap(),
        }
        let live: &[&str] = &["--now", "2024-08-03T12:00:00Z"];
        let server = Server::start(&folder, live);
        let (head, _) = server.get("/api/v1/alerts");
        assert!(head.starts_with("HTTP/1.1 503"), "{harm}: {head}");
        let (head, body) = server.get("/readyz");
        assert!(head.starts_with("HTTP/1.1 503"), "{harm}: {head}");
        assert!(
            body.contains("the alerts cannot be read") && body.contains(r#""faults":1"#),
            "{body}"
        );
        let (head, _) = server.get(&format!("/api/v1/stations/{}", id("A")));
        assert!(head.starts_with("HTTP/1.1 200 OK"), "{head}");
        assert!(server.log().contains("alerts are taken in but not served"), "{}", server.log());
        assert_eq!(server.stop().0, Some(0));
        output(folder.path(), &["verify", "--set-aside"]);
        let server = Server::start(&folder, live);
        let (head, body) = server.get("/api/v1/alerts");
        assert!(head.starts_with("HTTP/1.1 200 OK"), "{harm}: {head}");
        assert_eq!(count_of(&body), if harm == "older" { 60 } else { 0 });
    }
}

#[test]
fn every_answer_that_lacks_readings_of_a_damaged_block_says_so() {
    let folder = TempDir::new().unwrap();
    record(folder.path());
    let path = folder.path().join("segments/00000001.arrow");
    let mut bytes = fs::read(&path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&path, bytes).unwrap();
    let store = EmbeddedStore::open(folder.path(), EmbeddedOptions::default()).unwrap();
    let config = Config { assume_plan: mesonet::access::Plan::Commercial, ..Config::default() };
    let api = Api::at(NOW_MS, config, Arc::new(store));
    let (a, b) = (id("A"), id("B"));
    let window = "start=2024-08-03T11:30:00Z&end=2024-08-03T12:00:00Z";
    let early = "start=2024-08-03T01:30:00Z&end=2024-08-03T02:00:00Z";
    let status_and_damage =
        |answer: Answer| (answer.status.as_u16(), answer.header(&DAMAGED).map(str::to_owned));
    let damaged = |status| (status, Some("1".to_owned()));
    let whole = |status| (status, None);

    assert_eq!(status_and_damage(api.get(&format!("/stations/readings?{window}"))), damaged(200));
    assert_eq!(
        status_and_damage(api.get(&format!("/stations/readings?step=5&{window}"))),
        damaged(200)
    );
    assert_eq!(status_and_damage(api.get(&format!("/stations/readings?{early}"))), whole(200));
    let post = |id| {
        let body = format!(r#"{{"stationIds":["{id}"]}}"#);
        status_and_damage(api.post(&format!("/stations/readings?{window}"), body))
    };
    assert_eq!(post(a), damaged(200));
    let series = |id, window: &str| {
        let body = format!(r#"{{"stationId":"{id}","name":"airTemperature"}}"#);
        status_and_damage(api.post(&format!("/observations/series?{window}"), body))
    };
    assert_eq!(series(a, window), damaged(404), "what is lost is missing, but may have existed");
    assert_eq!(series(b, early), whole(404));
    let bulk = |id, window: &str| {
        let body = format!(r#"{{"stationId":"{id}"}}"#);
        status_and_damage(api.post(&format!("/historical/bulk?{window}"), body))
    };
    assert_eq!(bulk(a, "start=2024-08-03T11:30:00Z&end=2024-08-03T12:01:00Z"), damaged(200));
    assert_eq!(bulk(a, early), whole(200));
    assert_eq!(status_and_damage(api.get(&format!("/stations/{a}"))), damaged(200));
    assert_eq!(status_and_damage(api.get("/stations/map/details")), damaged(200));
    assert_eq!(status_and_damage(api.get("/stations/map/details?window=1h")), damaged(200));
    let explain = format!("?stationId={a}&typeId={}&timestamp=2024-08-03T12:00:00Z", AIR.id());
    assert_eq!(
        status_and_damage(api.get(&format!("/observations/explain{explain}"))),
        damaged(404)
    );
    assert_eq!(status_and_damage(api.get("/stations/map/markers")), whole(200));
    assert_eq!(status_and_damage(api.get("/observations/units")), whole(200));
}
