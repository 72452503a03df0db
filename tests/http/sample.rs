//! The bundled reports, complete. Answers that are too large to write down are compared with the
//! library.

use std::fs;
use std::path::Path;
use std::sync::{Arc, LazyLock};

use axum::body::Body;
use axum::http::{Method, StatusCode, header};
use mesonet::query::{Caps, ReadingsQuery, readings};
use mesonet::store::copy::compare;
use mesonet::store::{EmbeddedReader, no_verdicts};
use mesonet::time::HOUR_MS;
use mesonet::{ClosedWindow, StationId, Step, Store, Variable};
use mesonet_server::{Config, Timeline, sample};
use serde_json::Value;
use tempfile::TempDir;

use crate::support::{Api, TestStore};

/// Time of the newest report.
const NEWEST: &str = "2024-08-03T21:17:00Z";

/// The sample at the time of its newest report.
static STORE: LazyLock<(i64, Arc<TestStore>)> = LazyLock::new(|| {
    let mut timeline = Timeline::new(sample().unwrap().batch);
    let newest_ms = timeline.newest_ms().unwrap();
    let store = TestStore::default();
    store.append(&timeline.pass(newest_ms), &mut no_verdicts).unwrap();
    (newest_ms, Arc::new(store))
});

fn api() -> Api {
    let (newest_ms, store) = &*STORE;
    Api::at(*newest_ms, Config::default(), Arc::clone(store))
}

fn query(step: Option<i64>) -> ReadingsQuery {
    let newest_ms = STORE.0;
    let window = ClosedWindow::new(newest_ms - 12 * HOUR_MS, newest_ms).unwrap();
    let names: Vec<Variable> = Variable::map_variables().collect();
    ReadingsQuery::new(window, names).step(step.map(|minutes| Step::from_minutes(minutes).unwrap()))
}

#[test]
fn the_bytes_of_every_answer_are_those_of_the_library() {
    let api = api();
    for (step, path) in [(None, "/stations/readings"), (Some(90), "/stations/readings?step=90")] {
        let answer = readings(&*STORE.1, &query(step), Caps::default()).unwrap();
        let expected = serde_json::to_string(&answer).unwrap();
        // Far more than one chunk, so it is sent in several.
        assert!(expected.len() > 2_000_000);
        let plain = api.get(path);
        assert_eq!(plain.header(header::CONTENT_LENGTH), None);
        // Not assert_eq: the difference would be megabytes of output.
        assert!(plain.status == StatusCode::OK && plain.text() == expected);
        for encoding in ["gzip", "br", "zstd"] {
            let encoded = api.get_with(path, &[(header::ACCEPT_ENCODING, encoding)]);
            assert_eq!(encoded.header(header::CONTENT_ENCODING), Some(encoding));
            assert!(encoded.body.len() * 5 < expected.len());
            assert!(encoded.text() == expected);
        }
        let uri = format!("/api/v1{path}");
        api.call(Method::HEAD, &uri, &[], Body::empty()).is_empty(200);
    }
}

#[test]
fn a_fine_grid_of_all_stations_is_coarsened_to_the_cells_of_the_interface() {
    let text = api().get("/stations/readings?step=1&start=2024-08-03T15:17:00Z").text();
    let step = text.rfind(r#","step":"#).unwrap();
    // 2,987 stations × 8 names leave room for 20 positions in 6 hours.
    assert_eq!(
        &text[step..],
        concat!(
            r#","step":19,"coarsening":{"requestedStep":1,"factor":19,"limitedBy":"cells","#,
            r#""cells":477920,"positions":20}}"#
        )
    );
}

#[test]
fn markers_and_details_hold_the_same_stations() {
    let api = api();
    let markers: Value = serde_json::from_str(&api.get("/stations/map/markers").text()).unwrap();
    let details: Value = serde_json::from_str(&api.get("/stations/map/details").text()).unwrap();
    let features = markers["features"].as_array().unwrap();
    let details = details.as_object().unwrap();
    assert_eq!((features.len(), details.len()), (3_178, 3_178));
    for marker in features {
        let detail = &details[marker["id"].as_str().unwrap()];
        assert_eq!(detail["coordinates"], marker["geometry"]["coordinates"]);
    }
}

/// `CYYZ 032100Z 23008KT 210V280 15SM SCT040 BKN240 29/22 A2981 RMK SC3CS4 SLP092 DENSITY ALT
/// 2500FT`
#[test]
fn toronto_is_as_its_report_of_2100_says() {
    let toronto = StationId::new("METAR", "CYYZ");
    let reading = |name: &str, id: i32, value: &str| {
        format!(
            r#"{{"timestamp":"2024-08-03T21:00:00Z","type":"{name}","typeId":{id},"value":{value},"quality":{{"baseQuality":"Unknown","reasonQuality":"None"}}}}"#
        )
    };
    let readings = [
        reading("airTemperature", 1_944_015_174, "29.0"),
        reading("dewPointTemperature", 173_505_786, "22.0"),
        reading("windSpeed10m", 1_716_223_704, "14.816"),
        reading("windDirection", 1_368_547_882, "230.0"),
        reading("mslp", 214_495_241, "1009.2"),
    ];
    api()
        .post(
            &format!("/stations/readings?end={NEWEST}"),
            format!(r#"{{"stationIds":["{toronto}"]}}"#),
        )
        .is(&format!(r#"{{"stations":{{"{toronto}":{{"readings":[{}]}}}}}}"#, readings.join(",")));
}

#[test]
fn a_replay_shows_nothing_from_its_future() {
    let mut timeline = Timeline::new(sample().unwrap().batch);
    let noon_ms = mesonet::time::parse_instant("2024-08-03T18:00:00Z").unwrap();
    let store = Arc::new(TestStore::default());
    store.append(&timeline.pass(noon_ms), &mut no_verdicts).unwrap();
    let toronto = StationId::new("METAR", "CYYZ");
    let update_time = |now_ms: i64| {
        let api = Api::at(now_ms, Config::default(), Arc::clone(&store));
        let detail = api.get(&format!("/stations/{toronto}")).text();
        let detail: Value = serde_json::from_str(&detail).unwrap();
        detail["updateTime"].as_str().unwrap().to_owned()
    };
    assert_eq!(update_time(noon_ms), "2024-08-03T17:00:00Z");
    let evening_ms = noon_ms + 3 * HOUR_MS;
    store.append(&timeline.pass(evening_ms - 1), &mut no_verdicts).unwrap();
    assert_eq!(update_time(evening_ms), "2024-08-03T20:00:00Z");
    store.append(&timeline.pass(evening_ms), &mut no_verdicts).unwrap();
    assert_eq!(update_time(evening_ms), "2024-08-03T21:00:00Z");
}

/// The record that a server begins with equals what the bundled reports give, verdict for verdict.
/// `MESONET_REFRESH=1` writes the record again.
#[test]
fn the_record_of_the_sample_is_that_of_the_reports() {
    let sample = concat!(env!("CARGO_MANIFEST_DIR"), "/../server-example/sample");
    let of = |name: &str| Path::new(sample).join(name);
    let (database, count) = (of("record.sqlite.zst"), of("record.count"));
    let (judged, bundled) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    mesonet_server::judge_sample(judged.path()).unwrap();
    let files = |of: &TempDir| ["mesonet.sqlite", "mesonet.count"].map(|name| of.path().join(name));
    let [in_sqlite, counted] = files(&judged);
    if std::env::var_os("MESONET_REFRESH").is_some() {
        let bytes = fs::read(in_sqlite).unwrap();
        fs::write(&database, zstd::encode_all(&bytes[..], 19).unwrap()).unwrap();
        fs::copy(counted, &count).unwrap();
    }
    let [in_sqlite, counted] = files(&bundled);
    fs::write(in_sqlite, zstd::decode_all(&fs::read(database).unwrap()[..]).unwrap()).unwrap();
    fs::copy(count, counted).unwrap();
    let [judged, bundled] = [&judged, &bundled].map(|of| EmbeddedReader::open(of.path()).unwrap());
    let compared = compare(&judged, &bundled, &mut |_| {}).unwrap();
    assert!(
        compared.is_equal(),
        "it is of other reports or checks: make it with MESONET_REFRESH=1"
    );
    assert!(compared.original.readings > 60_000);
    assert_eq!(bundled.health().faults, []);
}
