//! `/healthz` and `/readyz`, and the ids of requests.

use crate::support::TestStore;
use axum::body::Body;
use axum::http::{Method, header};

use mesonet_server::Config;
use serde_json::Value;
use tempfile::TempDir;

use super::process::Server;
use super::support::Api;

#[test]
fn a_server_says_that_it_lives_and_whether_it_can_take_requests() {
    let folder = TempDir::new().unwrap();
    let server = Server::start(&folder, &["--rate-requests", "1"]);
    // Not limited, so that monitoring can always get an answer.
    for _ in 0..5 {
        assert!(server.get("/healthz").0.starts_with("HTTP/1.1 200 OK\r\n"));
    }
    let (head, body) = server.get("/readyz");
    assert!(head.starts_with("HTTP/1.1 200 OK\r\n") && head.contains("cache-control: no-store"));
    let body: Value = serde_json::from_str(&body).unwrap();
    assert_eq!((&body["ready"], &body["faults"]), (&Value::Bool(true), &Value::from(0)));
    assert!(body["newestReading"].as_str().unwrap().starts_with("2024-08-03T21:1"));
    assert!(body["newestAgeS"].as_i64().unwrap() < 600);

    // Each request is a line of the log, without its query string.
    server.get("/api/v1/observations/units?secret=1");
    let (_, log) = server.stop();
    let line = log.lines().find(|line| line.contains("/api/v1/observations/units")).unwrap();
    for part in ["request: id=\"", "method=GET", "status=200", "bytes=", "ms=", "plan=\"none\""] {
        assert!(line.contains(part), "{line}");
    }
    assert!(!log.contains("secret"), "{log}");
}

#[test]
fn without_a_record_a_server_is_ready_too() {
    let api = Api::with(Config::default(), TestStore::default());
    let ready = api.call(Method::GET, "/readyz", &[], Body::empty());
    ready.is(r#"{"ready":true,"reasons":[],"faults":0}"#);
    assert_eq!(ready.header(header::CACHE_CONTROL), Some("no-store"));
    assert_eq!(ready.header("x-request-id"), None, "only answers of 5xx have one");
}
