//! What holds for every request: names of parameters and members, spellings of paths, texts.

use axum::body::Body;
use axum::http::Method;

use mesonet::access::Plan;
use mesonet_server::Config;
use serde_json::Value;

use crate::support::{AIR, Answer, Api, TestStore, id, reading, station, store};

fn api() -> Api {
    let config = Config { assume_plan: Plan::Commercial, ..Config::default() };
    Api::with(config, store([station("A", 0.0, 0.0), reading("A", 0, &AIR, 1.0)]))
}

#[test]
fn a_name_that_is_almost_right_is_refused_with_the_right_one_and_others_are_ignored() {
    let api = api();
    let get = |path: &str| api.call(Method::GET, path, &[], Body::empty());
    for (path, got, right) in [
        ("/api/v1/stations/readings", "minlat", "minLat"),
        ("/api/v1/stations/readings", "max_lon", "maxLon"),
        ("/api/v1/stations/readings", "name", "names"),
        ("/api/v1/stations/readings", "stpe", "step"),
        ("/api/v1/stations/map/details", "windows", "window"),
        ("/api/v1/observations/explain", "stationid", "stationId"),
        ("/api/v1/alerts", "Bbox", "bbox"),
        ("/api/v1/alerts", "code", "codes"),
        ("/api/v1/alerts/zones", "Codes", "codes"),
        ("/api/v1/products/reflectivity", "time_stamp", "timestamp"),
        ("/api/v1/products/reflectivity/exists", "durations", "duration"),
        ("/models/hrrr/point", "field", "fields"),
        ("/models/hrrr/series", "long", "lon"),
        ("/models/hrrr/grid", "Run", "run"),
        ("/models/hrrr/locate", "LAT", "lat"),
        ("/models/hrrr/products", "runs", "run"),
        ("/models/hrrr/products/t/data/0/0/0", "hours", "hour"),
    ] {
        let text = format!("unknown parameter \"{got}\"; the name is {right}");
        get(&format!("{path}?{got}=1")).refuses(400, &text);
    }
    api.get("/stations/readings?bbox=0,0,1,1").refuses(
        400,
        "unknown parameter \"bbox\"; a box is given by minLat, minLon, maxLat, maxLon",
    );
    for path in ["/observations/series", "/historical/bulk"] {
        api.post(&format!("{path}?satrt=x"), "{}")
            .refuses(400, "unknown parameter \"satrt\"; the name is start");
    }
    // Callers who may not use an endpoint learn that first.
    let closed = Api::new(TestStore::default());
    closed.post("/historical/bulk?satrt=x", "{}").is_empty(401);
    closed.post("/ingest?nam=x", "").is_empty(403);
    let own = closed.call(Method::GET, "/models/hrrr/point?field=t", &[], Body::empty());
    own.is_empty(401);
    for other in ["_=1", "v=2", "key=x", "callback=f", "to=x", "utm_source=y", "%C3%A9=1"] {
        assert_eq!(api.get(&format!("/stations/readings?{other}")).status, 200, "{other}");
    }
}

#[test]
fn letters_of_a_path_that_are_encoded_are_the_same_letters() {
    let api = api();
    let get = |path: &str| api.call(Method::GET, path, &[], Body::empty());
    for (same, as_it_is) in [
        ("/%61pi/v1/stati%6Fns/map/m%61rkers", "/api/v1/stations/map/markers"),
        ("/api/v1/st%61tions/re%61dings?step=60", "/api/v1/stations/readings?step=60"),
        ("/models/hrrr%2Dx/grid", "/models/hrrr-x/grid"),
        ("/%63apabilities", "/capabilities"),
    ] {
        let (same, as_it_is) = (get(same), get(as_it_is));
        assert_eq!((same.status, same.text()), (as_it_is.status, as_it_is.text()));
    }
    let station = format!("/api/v1/stations/{}", id("A")).replace('-', "%2d");
    assert_eq!(get(&station).status, 200);
    // Other characters stay as they are.
    get("/api/v1/stations%2Fmap/markers").is_empty(404);
}

/// Words of the program and of its libraries.
const WORDS: &str =
    "i32 i64 u8 u16 u32 u64 usize f64 struct enum variant sequence tuple Option String :: `";

/// Asserts that a refusal is about what was sent, and blames the caller.
#[track_caller]
fn is_plain(answer: &Answer, sent: &str) {
    assert_ne!(answer.status, 500, "{sent}");
    if answer.status.is_client_error() && !answer.body.is_empty() {
        let text: String = serde_json::from_str(&answer.text()).unwrap();
        let words = WORDS.split(' ').chain(["expected a", "expected `", "unit value", "map,"]);
        let named: Vec<&str> = words.filter(|word| text.contains(word)).collect();
        assert!(named.is_empty(), "{sent}: {text}: {named:?}");
    }
}

#[test]
fn no_text_about_a_body_names_a_type_of_the_program() {
    const KINDS: &str = r#"null true 1 -1 1.5 1e300 99999999999 "x" [] [1] [null] [[]] {} {"x":1} [{"x":1}] [ nul 1e999"#;
    const MEMBERS: &str = "stationId stationIds requests name intervalType intervalMinutes calculated \
        reportedUnit groupBucketName lowerValueBound upperValueBound qualityRange worst";
    let (api, own) = (api(), format!(r#""stationId":"{}""#, id("A")));
    let day = "start=2024-08-02T12:00:00Z&end=2024-08-03T12:00:00Z";
    for path in ["/stations/readings", "/observations/series", "/historical/bulk"] {
        let send =
            |body: String| is_plain(&api.post(&format!("{path}?{day}"), body.clone()), &body);
        for kind in KINDS.split(' ') {
            send(kind.to_owned());
            for member in MEMBERS.split_whitespace() {
                send(format!(r#"{{"{member}":{kind}}}"#));
                send(format!(r#"{{"x":0,{own},"{member}":{kind}}}"#));
                send(format!(r#"{{{own},"name":"airTemperature","{member}":{kind}}}"#));
                send(format!(r#"{{{own},"requests":[{{"{member}":{kind}}}]}}"#));
                send(format!(r#"{{{own},"requests":[{{"qualityRange":{{"{member}":{kind}}}}}]}}"#));
            }
        }
    }
}

#[test]
fn no_text_about_a_parameter_names_a_type_of_the_program() {
    const NAMES: &str = "start end step names maxAge minLat bbox lat codes active lang kind version \
        window stationId typeId timestamp duration run fields hour row col level from winds pageSize";
    let api = api();
    let get = |uri: &str| api.call(Method::GET, uri, &[], Body::empty());
    let root: Value = serde_json::from_str(&get("/").text()).unwrap();
    let endpoints = root["endpoints"].as_array().unwrap();
    let paths = endpoints.iter().filter_map(|line| line.as_str().unwrap().strip_prefix("GET "));
    // A stream has no end: live.rs has its texts.
    for path in paths.filter(|path| !path.ends_with("/live")) {
        let path = path.replace("{id}", &id("A").to_string()).replace("{model}", "nam211");
        let path = path.replace(['{', '}'], "");
        for name in NAMES.split_whitespace() {
            for value in ["", "x", "-1", "1.5", "99999999999999999999", "NaN", "null", "[]", "%00"]
            {
                let uri = format!("{path}?{name}={value}");
                is_plain(&get(&uri), &uri);
            }
        }
    }
}
