//! `POST /ingest`: feed files that are pushed.

use std::io::Write;

use axum::body::Body;
use axum::http::{Method, header};
use flate2::Compression;
use flate2::write::GzEncoder;
use mesonet::store::{ReaderWrapper, Receipt, StoreError, VerdictFn};
use mesonet::{Batch, Reader, StationId, Store};
use mesonet_server::Config;
use mesonet_service::ingest::KeyHash;

use crate::support::{Answer, Api, TestStore};

const KEY: &str = "mesonet_push_of_a_test";

const BULLETIN: &str = "SACN43 CWAO 032000\n\
    METAR CYYZ 032000Z 24012G20KT 15SM FEW060 29/17 A2991=\n";

fn config() -> Config {
    let hash = KeyHash::of(KEY).as_str().to_owned();
    Config { ingest_key_hashes: vec![hash], max_ingest_bytes: 10_000, ..Config::default() }
}

fn api() -> Api {
    Api::with(config(), TestStore::default())
}

fn push(api: &Api, query: &str, more: &[(header::HeaderName, &str)], body: &[u8]) -> Answer {
    let bearer = format!("Bearer {KEY}");
    let mut headers = vec![(header::AUTHORIZATION, &*bearer)];
    headers.extend_from_slice(more);
    let uri = format!("/api/v1/ingest{query}");
    api.call(Method::POST, &uri, &headers, Body::from(body.to_vec()))
}

fn gz(text: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

/// The summary without the time it took.
fn summary(answer: &Answer) -> serde_json::Value {
    assert_eq!(answer.status, 200, "{}", answer.text());
    let mut summary: serde_json::Value = serde_json::from_slice(&answer.body).unwrap();
    assert!(summary.as_object_mut().unwrap().remove("seconds").is_some());
    summary
}

#[test]
fn a_file_is_in_the_record_when_the_answer_comes() {
    let api = api();
    let answer = push(&api, "?name=sa_20240803.txt", &[], BULLETIN.as_bytes());
    // windSpeed, windGust, windDirection, visibility, airTemperature, dewPointTemperature,
    // altimeterSetting, cloudCover, cloudBaseHeight and, from the altimeter and the wind,
    // barometricPressure, windSpeed10m, windGust10m.
    let expected = serde_json::json!({
        "whole": true,
        "kinds": {"metar-bulletin": {
            "files": 1, "reports": 1, "readings": 12,
            "added": summary(&answer)["kinds"]["metar-bulletin"]["added"],
            "replaced": 0, "unchanged": 0, "overtaken": 0, "expired": 0,
            "revised": summary(&answer)["kinds"]["metar-bulletin"]["revised"],
            "refused": {"count": 0, "first": []}, "keptAsReported": {}, "withoutVariable": {},
            "unreadValues": {},
        }},
        "faults": {"count": 0, "first": []}, "placeUnknown": {}, "inTheFuture": {},
    });
    assert_eq!(summary(&answer), expected);
    assert_eq!(answer.header(header::CONTENT_TYPE), Some("application/json"));
    let detail = api.get(&format!("/stations/{}", StationId::new("METAR", "CYYZ")));
    assert!(detail.text().contains(r#""updateTime":"2024-08-03T20:00:00Z""#), "{}", detail.text());

    let again = push(&api, "?name=sa_20240803.txt&feed=metar-bulletin", &[], BULLETIN.as_bytes());
    assert_eq!(summary(&again)["kinds"]["metar-bulletin"]["added"], 0);
}

#[test]
fn a_body_may_be_gzip_with_or_without_saying_so() {
    for headers in [&[][..], &[(header::CONTENT_ENCODING, "gzip")]] {
        let answer = push(&api(), "?name=sa_20240803.txt.gz", headers, &gz(BULLETIN));
        assert_eq!(summary(&answer)["kinds"]["metar-bulletin"]["reports"], 1);
    }
    let brotli = push(&api(), "", &[(header::CONTENT_ENCODING, "br")], b"x");
    brotli.refuses(415, "content-encoding must be gzip or identity; got br");
}

#[test]
fn the_time_of_receipt_may_be_stated() {
    let api = api();
    push(&api, "?received=2024-08-03T20:05:00Z", &[], BULLETIN.as_bytes());
    let directory = api.state.services.store.directory().unwrap();
    assert_eq!(directory.stations[0].update_time_ms, Some(1_722_715_200_000));
}

#[test]
fn only_callers_with_a_key_may_push() {
    let closed = Api::new(TestStore::default());
    push(&closed, "", &[], BULLETIN.as_bytes()).is_empty(403);
    let api = api();
    let call = |headers: &[(header::HeaderName, &str)]| {
        api.call(Method::POST, "/api/v1/ingest", headers, Body::from(BULLETIN))
    };
    call(&[]).is_empty(401);
    for wrong in ["Bearer other", "Bearer", "Basic bWVzb25ldA==", KEY] {
        call(&[(header::AUTHORIZATION, wrong)]).is_empty(401);
    }
    // The hash is not a key.
    call(&[(header::AUTHORIZATION, &format!("Bearer {}", KeyHash::of(KEY).as_str()))])
        .is_empty(401);
    assert!(api.state.services.store.directory().unwrap().stations.is_empty());
    api.get("/ingest").is_empty(405);
}

#[test]
fn what_cannot_be_read_is_refused_with_the_reason() {
    let api = api();
    push(&api, "?name=a.txt", &[], b"Dear reader")
        .refuses(400, "a.txt: unknown kind of file; known are the kinds of --feed");
    push(&api, "?name=a.txt", &[], b"").refuses(400, "a.txt: it is empty");
    let cut = &gz(BULLETIN)[..40];
    let answer = push(&api, "?name=a.gz&feed=metar-bulletin", &[], cut);
    assert_eq!(answer.status, 400);
    assert!(answer.text().starts_with("\"a.gz: cannot"), "{}", answer.text());
    let unknown = push(&api, "?feed=metars", &[], BULLETIN.as_bytes());
    assert_eq!(unknown.status, 400);
    let text = unknown.text();
    assert!(text.contains("\\\"metars\\\" is not a feed kind; allowed are"), "{text}");
    for name in ["", "a%2Fb", "..%5Cb"] {
        let answer = push(&api, &format!("?name={name}"), &[], BULLETIN.as_bytes());
        assert!(answer.status == 400 && answer.text().starts_with("\"name must be a file name"));
    }
}

#[test]
fn a_body_has_a_longest_length_packed_and_unpacked() {
    let api = api();
    push(&api, "", &[], &vec![b' '; 10_001])
        .refuses(413, "the body must be at most 10000 bytes long");
    let bomb = gz(&"x".repeat(1_000_000));
    assert!(bomb.len() < 10_000);
    let answer = push(&api, "?feed=awc-csv", &[], &bomb);
    assert_eq!(answer.status, 400);
    let text = answer.text();
    assert!(text.contains("bytes once unpacked, the limit for a file of its length"), "{text}");
}

/// The answer was once a 400 although hundreds of stations were stored.
#[test]
fn of_a_file_that_breaks_in_the_middle_the_answer_says_what_is_stored_and_what_is_not() {
    let config = Config { max_ingest_bytes: 100_000, ..config() };
    let api = Api::with(config, TestStore::default());
    // Bytes that hardly compress stand for the rest of a long file.
    let mut rest = 1_u32;
    let noise: String = (0..12_000)
        .map(|_| {
            rest = rest.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            char::from(b'A' + (rest >> 24) as u8 % 26)
        })
        .collect();
    let whole = gz(&format!("{BULLETIN}{noise}\n"));
    let cut = &whole[..whole.len() / 2];
    let answer = push(&api, "?name=sa_20240803.txt.gz", &[], cut);
    let summary = summary(&answer);
    assert_eq!(summary["whole"], false);
    let of_kind = &summary["kinds"]["metar-bulletin"];
    assert_eq!((&of_kind["files"], &of_kind["reports"]), (&0.into(), &1.into()));
    assert!(of_kind["added"].as_u64().unwrap() > 9);
    assert_eq!(summary["faults"]["count"], 1);
    assert_eq!(summary["faults"]["first"][0]["file"], "sa_20240803.txt.gz");
    let detail = api.get(&format!("/stations/{}", StationId::new("METAR", "CYYZ")));
    assert!(detail.text().contains(r#""updateTime":"2024-08-03T20:00:00Z""#), "{}", detail.text());
    // The whole file adds the rest.
    let whole = push(&api, "?name=sa_20240803.txt.gz", &[], &whole);
    assert!(whole.text().starts_with(r#"{"whole":true,"#), "{}", whole.text());
}

/// Places in a later push do not release earlier reports. The answer says what to send again.
#[test]
fn reports_without_a_place_are_counted_and_sent_again_once_it_is_known() {
    let api = api();
    let bulletin = "SACN43 CWAO 031800\nMETAR XXAA 031800Z 24012G20KT 15SM FEW060 29/17 A2991=\n";
    let places = "raw_text,station_id,observation_time,latitude,longitude,elevation_m\n\
        XXAA 031900Z 24012KT 15SM FEW060 28/17 A2991,XXAA,2024-08-03T19:00:00Z,45,-75,100\n";
    let push = |text: &str| summary(&push(&api, "?name=f_20240803.txt", &[], text.as_bytes()));
    assert_eq!(push(bulletin)["placeUnknown"]["METAR XXAA"], 1);
    push(places);
    let again = push(bulletin);
    assert_eq!(again["placeUnknown"], serde_json::json!({}));
    assert!(again["kinds"]["metar-bulletin"]["added"].as_u64().unwrap() > 9);
    assert_eq!(push(bulletin)["kinds"]["metar-bulletin"]["added"], 0);
}

/// A store with no room left.
struct Full(TestStore);

impl ReaderWrapper for Full {
    fn wrapped(&self) -> &dyn Reader {
        &self.0
    }
}

impl Store for Full {
    fn append(&self, _: &Batch, _: &mut VerdictFn<'_>) -> Result<Receipt, StoreError> {
        Err(StoreError::Full { path: "/secret".into(), cause: "os error 28".into() })
    }
}

#[test]
fn a_full_store_says_so_and_nothing_else() {
    let api = Api::with(config(), Full(TestStore::default()));
    let answer = push(&api, "?name=sa_20240803.txt", &[], BULLETIN.as_bytes());
    answer.refuses(507, "no room is left for readings; send it again later");
}

#[test]
fn alerts_are_pushed_like_reports_and_served_at_once() {
    let api = api();
    let file = "capcp/1_T_ONCN00_C_LAND_202608122307_2696623964.en.cap.gz";
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("data").join(file);
    let bytes = std::fs::read(path).unwrap();
    for (query, added) in [("?name=a.cap", 1), ("?name=a.cap&feed=cap", 0)] {
        let answer = push(&api, query, &[], &bytes);
        let of = &summary(&answer)["kinds"]["cap"];
        assert_eq!(
            (&of["files"], &of["reports"], &of["readings"]),
            (&1.into(), &1.into(), &0.into())
        );
        assert_eq!(of["added"], added);
    }
    let alerts: serde_json::Value = serde_json::from_str(&api.get("/alerts").text()).unwrap();
    assert_eq!(alerts["features"][0]["id"], "urn:oid:2.49.0.1.124.2696623964.2026");
    let test =
        "<alert xmlns=\"urn:oasis:names:tc:emergency:cap:1.2\"><status>Test</status></alert>";
    let answer = push(&api, "?name=b.cap", &[], test.as_bytes());
    let refused = &summary(&answer)["kinds"]["cap"]["refused"];
    assert_eq!(
        refused["first"][0]["error"],
        "byte 0: not an official alert: status is \"Test\"; allowed: Actual (in \"\")"
    );
}

/// Once, a key that may push readings could also issue a public alert.
#[test]
fn a_key_pushes_only_what_its_scope_names() {
    let with = |scope: &str| {
        let entry = format!("{}{scope}", KeyHash::of(KEY).as_str());
        Api::with(Config { ingest_key_hashes: vec![entry], ..config() }, TestStore::default())
    };
    let file = crate::process::data("reported/alerts/partial_update_hides_other_zones.json");
    let alert = std::fs::read(file).unwrap();
    let status = |scope: &str, body: &[u8]| {
        let answer = push(&with(scope), "?name=file", &[], body);
        (answer.status.as_u16(), answer.text())
    };
    for (scope, readings, alerts) in [
        ("", 200, 200),
        (";networks=METAR", 200, 403),
        (";networks=METAR;alerts", 200, 200),
        (";networks=SWOB", 403, 403),
        (";feeds=metar-bulletin", 200, 403),
        (";feeds=awc-csv", 403, 403),
    ] {
        assert_eq!(status(scope, BULLETIN.as_bytes()).0, readings, "{scope}");
        assert_eq!(status(scope, &alert).0, alerts, "{scope}");
    }
    let (_, text) = status(";networks=SWOB|NOAA NDBC", BULLETIN.as_bytes());
    let expected = "\"the key may not push reports of the network METAR; it may push those of SWOB, \
                    NOAA NDBC\"";
    assert_eq!(text, expected);
}
