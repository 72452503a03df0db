//! What holds for every answer: its encoding, its errors, the header of the replay.

use axum::body::Body;
use axum::http::{HeaderName, Method, header};
use mesonet::access::Plan;
use mesonet::store::{
    Damage, Directory, Receipt, Selection, SeriesSlice, StoreError, VerdictFn, VisitWeather,
    no_verdicts,
};
use mesonet::{Batch, Intake, Reader, Store};
use mesonet_server::{Clock, Config, State};
use serde_json::Value;
use std::sync::Arc;

use crate::support::{AIR, Answer, Api, NOW_MS, TestStore, id, reading, station, store};

const REPLAY: HeaderName = HeaderName::from_static("x-mesonet-replay");

fn api() -> Api {
    Api::new(store([station("A", 0.0, 0.0), reading("A", 0, &AIR, 1.0)]))
}

fn paths() -> Vec<String> {
    let mut paths = [
        "/capabilities",
        "/observations/units",
        "/stations/map/markers",
        "/stations/map/details",
        "/stations/map/details?window=1h",
        "/stations/readings",
        "/stations/readings?step=60",
    ]
    .map(str::to_owned)
    .to_vec();
    paths.push(format!("/stations/{}", id("A")));
    paths
}

#[test]
fn a_caller_who_takes_an_encoding_gets_the_same_bytes_in_it() {
    let api = api();
    for path in paths() {
        let plain = api.get(&path);
        assert_eq!(plain.header(header::CONTENT_ENCODING), None);
        let vary = match &*path {
            "/capabilities" => "accept-encoding, authorization, cookie",
            _ => "accept-encoding",
        };
        assert_eq!(plain.header(header::VARY), Some(vary));
        for encoding in ["gzip", "br", "zstd"] {
            let encoded = api.get_with(&path, &[(header::ACCEPT_ENCODING, encoding)]);
            assert_eq!(encoded.header(header::CONTENT_ENCODING), Some(encoding), "{path}");
            assert_eq!(encoded.header(header::VARY), Some(vary));
            encoded.is(&plain.text());
        }
        let refused = [(header::ACCEPT_ENCODING, "gzip;q=0, identity")];
        assert_eq!(api.get_with(&path, &refused).body, plain.body);
    }
}

#[test]
fn each_encoding_of_a_snapshot_has_its_own_etag() {
    let api = api();
    for path in ["/observations/units", "/stations/map/markers", "/stations/map/details"] {
        let tags = ["identity", "gzip", "br", "zstd"].map(|encoding| {
            let answer = api.get_with(path, &[(header::ACCEPT_ENCODING, encoding)]);
            answer.header(header::ETAG).unwrap().to_owned()
        });
        for (i, tag) in tags.iter().enumerate() {
            assert!(tag.starts_with('"') && tag.ends_with('"') && !tags[..i].contains(tag));
            let accepts = |encoding| {
                [(header::ACCEPT_ENCODING, encoding), (header::IF_NONE_MATCH, tag.as_str())]
            };
            let status =
                ["identity", "gzip", "br", "zstd"].map(|e| api.get_with(path, &accepts(e)).status);
            for (j, status) in status.into_iter().enumerate() {
                assert_eq!(status.as_u16(), if i == j { 304 } else { 200 });
            }
        }
    }
}

#[test]
fn head_gives_the_headers_of_get_and_no_body() {
    let api = api();
    for path in paths() {
        let get = api.get(&path);
        let uri = format!("/api/v1{path}");
        let head = api.call(Method::HEAD, &uri, &[], Body::empty());
        head.is_empty(200);
        assert_eq!(head.header(header::CONTENT_LENGTH), Some(&*get.body.len().to_string()));
        for name in [header::CONTENT_TYPE, header::ETAG, header::CACHE_CONTROL, REPLAY] {
            assert_eq!(head.header(&name), get.header(&name));
        }
    }
}

/// A refusal comes from before the router, which leaves out the bodies of its own answers.
#[test]
fn head_of_a_refusal_has_its_length_and_no_body() {
    let api = api();
    let uri = "/api/v1/stations/map/details?search=%ff";
    let get = api.call(Method::GET, uri, &[], Body::empty());
    let head = api.call(Method::HEAD, uri, &[], Body::empty());
    assert!(get.status == 400 && !get.body.is_empty());
    head.is_empty(400);
    assert_eq!(head.header(header::CONTENT_LENGTH), Some(&*get.body.len().to_string()));
    assert_eq!(head.header(header::CONTENT_TYPE), get.header(header::CONTENT_TYPE));
}

#[test]
fn an_unknown_address_is_a_404_and_a_wrong_method_a_405_both_empty() {
    let api = api();
    for uri in [
        "/api/v1",
        "/api/v1/",
        "/api/v2/capabilities",
        "/api/v1/stations",
        "/x",
        "/api/v1/capabilities/",
    ] {
        api.call(Method::GET, uri, &[], Body::empty()).is_empty(404);
        api.call(Method::POST, uri, &[], Body::empty()).is_empty(404);
    }
    for (method, path, allow) in [
        (Method::POST, "/capabilities", "GET,HEAD"),
        (Method::PUT, "/stations/readings", "GET,HEAD,POST"),
        (Method::DELETE, "/stations/map/markers", "GET,HEAD"),
        (Method::OPTIONS, "/stations/map/details", "GET,HEAD"),
        (Method::PATCH, "/observations/units", "GET,HEAD"),
    ] {
        let answer = api.call(method, &format!("/api/v1{path}"), &[], Body::empty());
        answer.is_empty(405);
        assert_eq!(answer.header(header::ALLOW), Some(allow));
    }
}

/// Returns answers of every kind, with the status of each.
fn answers_of_every_kind() -> Vec<(u16, Answer)> {
    let api = api();
    let etag = api.get("/observations/units").header(header::ETAG).unwrap().to_owned();
    let origin = "https://weather.example.org";
    let config = Config { cors_origins: vec![origin.to_owned()], ..Config::default() };
    let ask = [(header::ORIGIN, origin), (header::ACCESS_CONTROL_REQUEST_METHOD, "POST")];
    let open = Api::with(config, TestStore::default());
    vec![
        (200, api.get("/capabilities")),
        (304, api.get_with("/observations/units", &[(header::IF_NONE_MATCH, &*etag)])),
        (400, api.get("/stations/readings?step=0")),
        (400, api.get("/stations/readings?%FF")),
        (401, api.post("/historical/bulk", "")),
        (403, api.post("/ingest", "")),
        (404, api.get("/stations/x")),
        (404, api.get("/stations/%FF")),
        (404, api.call(Method::GET, "/x", &[], Body::empty())),
        (405, api.call(Method::PUT, "/api/v1/capabilities", &[], Body::empty())),
        (200, api.call(Method::GET, "/", &[], Body::empty())),
        (200, api.call(Method::HEAD, "/", &[], Body::empty())),
        (200, open.call(Method::OPTIONS, "/api/v1/capabilities", &ask, Body::empty())),
        (500, faulty().get("/stations/readings")),
    ]
}

#[test]
fn no_browser_mistakes_the_type_of_an_answer() {
    for (status, answer) in answers_of_every_kind() {
        assert_eq!(answer.status, status);
        let told = answer.header(header::X_CONTENT_TYPE_OPTIONS);
        assert_eq!(told, Some("nosniff"), "{answer:?}");
    }
}

#[test]
fn what_is_not_utf_8_is_refused_with_a_bare_string_wherever_it_stands() {
    let api = api();
    let get = |uri: &str| api.call(Method::GET, uri, &[], Body::empty());
    for path in [
        "/api/v1/products/%ff",
        "/api/v1/products/%ff/exists",
        "/api/v1/stations/%FF",
        "/api/v1/stations/map%C3",
        "/models/%ff/grid",
        "/models/%ff/locate",
        "/models/%ff/point",
        "/models/%ff/products",
        "/models/%ff/runs",
        "/models/%ff/series",
        "/models/hrrr/products/%ff/data/0/0/0",
        "/models/hrrr/products/a/data/%ff/0/0",
        "/models/hrrr/products/a/data/0/%ff/0",
        "/models/hrrr/products/a/data/0/0/%ff",
        "/%ff",
    ] {
        get(path).refuses(404, &format!("the path must be UTF-8; got {path}"));
    }
    for query in ["end=%ff", "%ff", "names=airTemperature&bbox=%C3%28", "x=%E2%82"] {
        for path in paths() {
            let query = if path.contains('?') { format!("&{query}") } else { format!("?{query}") };
            let answer = api.get(&format!("{path}{query}"));
            assert!(answer.text().starts_with("\"the query string must be UTF-8; got "), "{path}");
            assert_eq!(answer.status, 400);
            assert_eq!(answer.header(header::CONTENT_TYPE), Some("application/json"));
        }
    }
    // UTF-8 is accepted, escaped or not.
    get("/api/v1/products/%C3%A9/exists").is(r#"{"exists":false}"#);
    assert_eq!(api.get("/capabilities?x=%E2%82%AC").status, 200);
}

#[test]
fn a_body_in_an_encoding_is_a_415_that_says_what_is_allowed() {
    let config = Config { assume_plan: Plan::Commercial, ..Config::default() };
    let api = Api::with(config, TestStore::default());
    for path in ["/stations/readings", "/observations/series", "/historical/bulk"] {
        for encoding in ["gzip", "br", "deflate, gzip", "x"] {
            let headers =
                [(header::CONTENT_TYPE, "application/json"), (header::CONTENT_ENCODING, encoding)];
            let uri = format!("/api/v1{path}");
            let text = format!("content-encoding must be identity, or left out; got {encoding}");
            api.call(Method::POST, &uri, &headers, Body::from("{}")).refuses(415, &text);
        }
    }
    let headers =
        [(header::CONTENT_TYPE, "application/json"), (header::CONTENT_ENCODING, "Identity")];
    let body = Body::from(r#"{"stationIds":[]}"#);
    let answer = api.call(Method::POST, "/api/v1/stations/readings", &headers, body);
    assert_eq!(answer.status, 200);
}

#[test]
fn every_answer_says_that_it_is_a_replay_and_of_what_time() {
    for (status, answer) in answers_of_every_kind() {
        assert_eq!(answer.status, status);
        assert_eq!(answer.header(REPLAY), Some("2024-08-03T12:00:00Z"), "{answer:?}");
    }
    // Whole seconds.
    let later = Api::at(NOW_MS + 1_999, Config::default(), Arc::new(TestStore::default()));
    assert_eq!(later.get("/capabilities").header(REPLAY), Some("2024-08-03T12:00:01Z"));
}

#[test]
fn the_root_tells_what_the_server_is() {
    let config = Config { api_prefix: "/obs".to_owned(), ..Config::default() };
    let api = Api::with(config, TestStore::default());
    api.call(Method::GET, "/", &[], Body::empty()).is(concat!(
        r#"{"service":"mesonet","version":"0.1.0","documentation":"https://example.org/mesonet","#,
        r#""replay":"2024-08-03T12:00:00Z","endpoints":["#,
        r#""GET /","GET /capabilities","GET /explorer/{file}","GET /healthz","GET /models/coverage","#,
        r#""GET /models/{model}/grid","GET /models/{model}/locate","#,
        r#""GET /models/{model}/point","GET /models/{model}/products","#,
        r#""GET /models/{model}/products/{name}/data/{z}/{x}/{y}","#,
        r#""GET /models/{model}/runs","GET /models/{model}/series","#,
        r#""GET /obs/alerts","GET /obs/alerts/zones","#,
        r#""GET /obs/capabilities","GET /obs/feeds","POST /obs/historical/bulk","POST /obs/ingest","#,
        r#""GET /obs/keys","POST /obs/keys","POST /obs/keys/{id}/revoke","#,
        r#""GET /obs/live","GET /obs/mqtt","#,
        r#""GET /obs/observations/explain","POST /obs/observations/series","#,
        r#""GET /obs/observations/units","GET /obs/observations/weather","#,
        r#""GET /obs/products","GET /obs/products/{type}","GET /obs/products/{type}/exists","GET /obs/reports/refused","#,
        r#""GET /obs/stations/map/details","#,
        r#""GET /obs/stations/map/markers","GET /obs/stations/readings","#,
        r#""POST /obs/stations/readings","GET /obs/stations/summary","GET /obs/stations/{id}","#,
        r#""GET /obs/stations/{id}/quality","GET /obs/stations/{id}/reports","#,
        r#""GET /obs/stations/{id}/summary","#,
        r#""GET /obs/webhooks","POST /obs/webhooks/{name}/test","#,
        r#""GET /openapi/v1.json","GET /readyz","GET /robots.txt","GET /swagger","GET /swagger/{file}"]}"#
    ));
    assert_eq!(api.call(Method::GET, "/obs/capabilities", &[], Body::empty()).status, 200);
    api.get("/capabilities").is_empty(404);
}

/// The body is made once. Each later answer has the same bytes, or is a 304.
#[test]
fn the_description_is_kept_in_each_encoding_with_its_tag() {
    let config = Config { api_prefix: "/obs".to_owned(), ..Config::default() };
    let api = Api::with(config, TestStore::default());
    let ask = |headers: &[(HeaderName, &str)]| {
        api.call(Method::GET, "/openapi/v1.json", headers, Body::empty())
    };
    let plain = ask(&[]);
    let described: Value = serde_json::from_str(&plain.text()).unwrap();
    assert!(described["paths"]["/obs/stations/{id}"].is_object());
    let mut tags = Vec::new();
    for encoding in ["identity", "gzip", "br"] {
        let accepts = (header::ACCEPT_ENCODING, encoding);
        let answer = ask(std::slice::from_ref(&accepts));
        assert_eq!(answer.text(), plain.text());
        assert_eq!(answer.header(header::CACHE_CONTROL), Some("no-cache"));
        let tag = answer.header(header::ETAG).unwrap().to_owned();
        ask(&[accepts, (header::IF_NONE_MATCH, &*tag)]).is_empty(304);
        tags.push(tag);
    }
    tags.dedup();
    assert_eq!(tags.len(), 3);
    // The same bytes, not equal ones: it is not made again for each caller.
    assert_eq!(ask(&[]).body.as_ptr(), plain.body.as_ptr());
}

/// The router is made from the list, so each address has exactly the methods of the list.
#[test]
fn every_endpoint_that_the_root_lists_is_there() {
    let api = api();
    let root: Value =
        serde_json::from_str(&api.call(Method::GET, "/", &[], Body::empty()).text()).unwrap();
    let listed: Vec<&str> =
        root["endpoints"].as_array().unwrap().iter().map(|line| line.as_str().unwrap()).collect();
    assert_eq!(listed.len(), 47);
    for line in &listed {
        let (method, path) = line.split_once(' ').unwrap();
        let uri = path.replace(['{', '}'], "");
        let answer = api.call(Method::DELETE, &uri, &[], Body::empty());
        answer.is_empty(405);
        let allowed = answer.header(header::ALLOW).unwrap();
        assert!(allowed.split(',').any(|allowed| allowed == method), "{line}: {allowed}");
        let others = listed.iter().filter(|other| other.ends_with(&format!(" {path}"))).count();
        let methods = allowed.split(',').filter(|&allowed| allowed != "HEAD").count();
        assert_eq!(methods, others, "{line}: {allowed}");
    }
}

#[test]
fn a_live_server_does_not_speak_of_a_replay() {
    let state = State::new(
        Config::default(),
        Clock::live(),
        Arc::new(TestStore::default()),
        Intake::default(),
    );
    let answer = Api::of(state.unwrap()).call(Method::GET, "/", &[], Body::empty());
    let begin = r#"{"service":"mesonet","version":"0.1.0","documentation":"https://example.org/mesonet","endpoints":["#;
    assert!(answer.text().starts_with(begin));
    assert_eq!(answer.header(REPLAY), None);
}

/// What browsers accept.
#[test]
fn a_browser_gets_brotli_or_gzip() {
    let api = api();
    for path in paths() {
        let browser = [(header::ACCEPT_ENCODING, "gzip, deflate, br, zstd")];
        let answer = api.get_with(&path, &browser);
        let encoding = answer.header(header::CONTENT_ENCODING).unwrap();
        assert!(["br", "gzip"].contains(&encoding), "{path}: {encoding}");
        assert_eq!(answer.text(), api.get(&path).text());
    }
}

#[test]
fn the_answer_to_a_head_that_gives_a_304_states_no_length() {
    let api = api();
    let details = "/stations/map/details?window=1h";
    for path in ["/observations/units", "/stations/map/markers", details] {
        let etag = api.get(path).header(header::ETAG).unwrap().to_owned();
        for method in [Method::HEAD, Method::GET] {
            let known = [(header::IF_NONE_MATCH, &*etag)];
            let answer = api.call(method, &format!("/api/v1{path}"), &known, Body::empty());
            answer.is_empty(304);
            assert_eq!(answer.header(header::CONTENT_LENGTH), None, "{path}");
        }
    }
}

#[test]
fn a_query_string_has_a_longest_length() {
    api()
        .get(&format!("/stations/readings?x={}", "y".repeat(32_767)))
        .refuses(400, "the query string is 32769 bytes long; the limit is 32768");
}

/// A store that is read after the snapshots were made from it.
#[derive(Default)]
struct Faulty {
    panics: bool,
    known: TestStore,
}

impl Store for Faulty {
    fn append(&self, batch: &Batch, judge: &mut VerdictFn<'_>) -> Result<Receipt, StoreError> {
        self.known.append(batch, judge)
    }
}

impl Reader for Faulty {
    fn directory(&self) -> Result<Arc<Directory>, StoreError> {
        self.known.directory()
    }

    fn scan(
        &self,
        selection: &Selection<'_>,
        _: &mut dyn FnMut(usize, &[SeriesSlice<'_>]),
    ) -> Result<Damage, StoreError> {
        assert!(!self.panics || selection.stations.is_empty(), "the disk is on fire");
        match selection.stations.first() {
            None => Ok(Damage::default()),
            Some(station) => Err(StoreError::Storage {
                path: "segments".to_owned(),
                cause: format!("the disk refuses station {station}"),
            }),
        }
    }

    fn scan_weather(
        &self,
        stations: &[mesonet::StationId],
        window: mesonet::ClosedWindow,
        visit: &mut VisitWeather<'_>,
    ) -> Result<Damage, StoreError> {
        self.known.scan_weather(stations, window, visit)
    }

    fn held_from_ms(&self) -> Result<i64, StoreError> {
        self.known.held_from_ms()
    }
}

fn faulty() -> Api {
    fault(false)
}

/// The store is empty when the snapshots are made, and has a station when it is read.
fn fault(panics: bool) -> Api {
    let store = Arc::new(Faulty { panics, ..Faulty::default() });
    let api = Api::at(NOW_MS, Config::default(), Arc::clone(&store));
    store.append(&station("A", 0.0, 0.0), &mut no_verdicts).unwrap();
    api
}

#[test]
fn a_fault_of_the_server_is_a_500_and_reveals_nothing() {
    for panics in [false, true] {
        let api = fault(panics);
        let paths = ["/stations/readings", "/stations/readings?step=60"].map(str::to_owned);
        for path in paths.into_iter().chain([format!("/stations/{}", id("A"))]) {
            let answer = api.get(&path);
            assert_eq!(answer.status, 500);
            assert_eq!(answer.header(header::CONTENT_TYPE), Some("application/problem+json"));
            let id = answer.header("x-request-id").unwrap();
            let body = format!(
                "{{\"type\":\"about:blank\",\"title\":\"Internal Server Error\",\"status\":500,\
                 \"instance\":\"urn:mesonet:request:{id}\"}}"
            );
            assert_eq!(answer.text(), body);
        }
        // Other requests are served as before.
        assert_eq!(api.get("/stations/map/details").status, 200);
    }
}

#[test]
fn only_pages_of_the_sites_that_are_named_may_read_answers() {
    const ALLOW: HeaderName = header::ACCESS_CONTROL_ALLOW_ORIGIN;
    let ours = (header::ORIGIN, "https://weather.example.org");
    let theirs = (header::ORIGIN, "https://example.com");
    let closed = api();
    assert_eq!(closed.get_with("/capabilities", std::slice::from_ref(&ours)).header(ALLOW), None);

    let config = Config {
        cors_origins: vec!["https://weather.example.org".to_owned()],
        ..Config::default()
    };
    let open = Api::with(config, TestStore::default());
    let answer = open.get_with("/capabilities", std::slice::from_ref(&ours));
    assert_eq!(answer.header(ALLOW), Some("https://weather.example.org"));
    assert_eq!(
        answer.header(header::ACCESS_CONTROL_EXPOSE_HEADERS),
        Some(
            "etag,x-mesonet-replay,x-mesonet-damaged,x-mesonet-geography,x-mesonet-replay-alerts,content-range,content-location,x-has-more,x-next-cursor,\
             x-series-found,x-station-id,x-name"
        )
    );
    assert_eq!(open.get_with("/capabilities", &[theirs]).header(ALLOW), None);

    let ask = [
        ours,
        (header::ACCESS_CONTROL_REQUEST_METHOD, "POST"),
        (header::ACCESS_CONTROL_REQUEST_HEADERS, "content-type"),
    ];
    let leave = open.call(Method::OPTIONS, "/api/v1/stations/readings", &ask, Body::empty());
    leave.is_empty(200);
    assert_eq!(leave.header(ALLOW), Some("https://weather.example.org"));
    assert_eq!(leave.header(header::ACCESS_CONTROL_ALLOW_METHODS), Some("GET,POST"));
}
