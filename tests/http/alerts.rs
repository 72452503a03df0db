//! `GET /alerts`.

use std::collections::BTreeMap;

use mesonet::alert;
use mesonet::feed::read_cap;
use mesonet::time::parse_instant;
use mesonet_server::{Config, sample_alerts};
use serde_json::Value;

use crate::support::{Api, TestStore};

const SENT: &str = "2026-08-12T23:07:41Z";

/// A CAP message: its id, when it was sent, its header elements, its blocks.
fn cap(id: &str, sent: &str, head: &str, infos: &str) -> String {
    format!(
        r#"<alert xmlns="urn:oasis:names:tc:emergency:cap:1.2"><identifier>{id}</identifier>
        <sender>cap-pac@canada.ca</sender><sent>{sent}</sent><status>Actual</status>
        <msgType>Update</msgType><scope>Public</scope>{head}{infos}</alert>"#
    )
}

/// A block in one language, for the zone 041320 and the shape drawn for it.
fn info(language: &str, event: &str, more: &str) -> String {
    format!(
        r"<info><language>{language}</language><event>{event}</event><urgency>Immediate</urgency>
        <severity>Severe</severity><certainty>Likely</certainty>
        <eventCode><valueName>SAME</valueName><value>TOR</value></eventCode>
        <onset>2026-08-12T23:06:00Z</onset>
        <expires>2026-08-13T00:05:41Z</expires><senderName>Environment Canada</senderName>
        <headline>{event}!</headline><description>It comes.</description>
        <web>https://weather.gc.ca/?lang={language}</web>{more}
        <area><areaDesc>Sarnia</areaDesc><polygon>42,-83 42,-82 43,-82 43,-83 42,-83</polygon>
        <geocode><valueName>layer:EC-MSC-SMC:1.0:CLC</valueName><value>041320</value></geocode>
        <geocode><valueName>SAME</valueName><value>039063</value></geocode>
        </area></info>"
    )
}

fn messages(documents: &[String]) -> Vec<alert::Message> {
    let mut all = Vec::new();
    for document in documents {
        read_cap(document.as_bytes(), |alert| all.push(alert)).unwrap();
    }
    all
}

fn service(now: &str, alerts: Vec<alert::Message>) -> Api {
    let now_ms = parse_instant(now).unwrap();
    let api = Api::at(now_ms, Config::default(), std::sync::Arc::new(TestStore::default()));
    api.state.services.alerts.append(alerts).unwrap();
    api
}

/// The alerts of the sample, with the clock of a replay.
fn sample(now: &str) -> Api {
    service(now, sample_alerts().unwrap())
}

/// One alert in two languages.
fn one() -> Api {
    let infos = [info("en-CA", "tornado", ""), info("fr-CA", "tornade", "")].concat();
    service(SENT, messages(&[cap("a", SENT, "", &infos)]))
}

fn features(api: &Api, path: &str) -> Vec<Value> {
    let answer = api.get(path);
    assert_eq!(answer.status, 200, "{}", answer.text());
    let mut answer: Value = serde_json::from_str(&answer.text()).unwrap();
    assert_eq!(answer["type"], "FeatureCollection");
    serde_json::from_value(answer["features"].take()).unwrap()
}

fn ids(api: &Api, path: &str) -> Vec<String> {
    let id = |feature: Value| feature["id"].as_str().unwrap().to_owned();
    features(api, path).into_iter().map(id).collect()
}

#[test]
fn an_alert_is_a_feature_with_its_fields_and_absent_ones_are_omitted() {
    let polygon = r#"{"lat":42.0,"lon":-83.0},{"lat":42.0,"lon":-82.0},{"lat":43.0,"lon":-82.0},{"lat":43.0,"lon":-83.0},{"lat":42.0,"lon":-83.0}"#;
    one().get("/alerts").is(&[
        r#"{"type":"FeatureCollection","features":[{"type":"Feature","id":"a","geometry":"#,
        r#"{"type":"Polygon","coordinates":[[[-83.0,42.0],[-82.0,42.0],[-82.0,43.0],[-83.0,43.0],[-83.0,42.0]]]},"#,
        r#""properties":{"id":"a","issuer":"Environment Canada","messageType":"Update","#,
        // The time when it was sent: the alert gives no other.
        r#""effectiveTime":"2026-08-12T23:07:41Z","onset":"2026-08-12T23:06:00Z","#,
        r#""expiryTime":"2026-08-13T00:05:41Z","alertConfidence":"Unknown","#,
        r#""alertImpact":"High","alertColour":"Unknown","alertType":"Unknown","#,
        r#""severity":"Severe","urgency":"Immediate","certainty":"Likely","#,
        r#""alertHeadline":"tornado!","alertDescription":"It comes.","language":"en-CA","#,
        r#""status":"Active","sent":"2026-08-12T23:07:41Z","event":"tornado","#,
        r#""eventCodes":{"SAME":["TOR"]},"web":"https://weather.gc.ca/?lang=en-CA","#,
        r#""sameCodes":["039063"],"areas":["#,
        r#"{"description":"Sarnia","kind":"Coverage","threatStatus":"Unknown","status":"Active","#,
        &format!(r#""clcCode":"041320","polygons":[[{polygon}]]}}]}}}}]}}"#),
    ]
    .concat());
}

#[test]
fn without_alerts_the_collection_is_empty() {
    service(SENT, vec![]).get("/alerts").is(r#"{"type":"FeatureCollection","features":[]}"#);
}

#[test]
fn the_text_is_in_the_requested_language_or_in_one_that_exists() {
    let api = one();
    for (path, headline) in
        [("/alerts", "tornado!"), ("/alerts?lang=en", "tornado!"), ("/alerts?lang=fr", "tornade!")]
    {
        assert_eq!(features(&api, path)[0]["properties"]["alertHeadline"], headline, "{path}");
    }
    let api = sample("2026-07-15T20:00:45Z");
    assert_eq!(features(&api, "/alerts?lang=fr").len(), 397);
    api.get("/alerts?lang=es").refuses(400, "lang must be en or fr; got \"es\"");
}

/// The state of each message of the chain and of its areas, and the messages around it.
#[test]
fn the_state_is_that_of_the_servers_clock() {
    let chain = |now: &str| -> Vec<String> {
        let api = sample(now);
        let mut chain: Vec<Value> = features(&api, "/alerts?codes=041320");
        chain.reverse();
        assert_eq!(chain.len(), 3);
        let words = chain.iter().map(|alert| {
            let of = &alert["properties"];
            let areas: Vec<&str> = of["areas"]
                .as_array()
                .unwrap()
                .iter()
                .map(|area| area["status"].as_str().unwrap())
                .collect();
            let count = |name: &str| of.get(name).map_or(0, |ids| ids.as_array().unwrap().len());
            let links = (count("previousIds"), count("nextIds"));
            format!("{} {} {links:?}", of["status"].as_str().unwrap(), areas.join(" "))
        });
        words.collect()
    };
    assert_eq!(
        chain("2026-08-12T23:10:00Z"),
        [
            "Active Active Active (0, 0)",
            "Unknown Unknown Unknown Unknown (1, 0)",
            "Unknown Unknown Unknown (2, 0)"
        ]
    );
    assert_eq!(
        chain("2026-08-12T23:20:00Z"),
        [
            "Superseded Superseded Superseded (0, 1)",
            "Active Active Active Active (1, 0)",
            "Unknown Unknown Unknown (2, 0)"
        ]
    );
    assert_eq!(
        chain("2026-08-12T23:26:00Z"),
        [
            "Superseded Superseded Superseded (0, 2)",
            "Superseded Superseded Superseded Superseded (1, 1)",
            "Ended Ended Ended (2, 0)"
        ]
    );
}

#[test]
fn a_new_alert_is_there_at_once_and_changes_the_state_of_earlier_ones() {
    let infos = info("en-CA", "tornado", "");
    let api = service("2026-08-12T23:20:00Z", messages(&[cap("a", SENT, "", &infos)]));
    let status = |api: &Api| -> Vec<String> {
        let of = |alert: Value| format!("{} {}", alert["id"], alert["properties"]["status"]);
        features(api, "/alerts").into_iter().map(of).collect()
    };
    assert_eq!(status(&api), [r#""a" "Active""#]);
    api.refresh();
    let references = "<references>cap-pac@canada.ca,a,2026-08-12T23:07:41Z</references>";
    let update = cap("b", "2026-08-12T23:13:58Z", references, &infos);
    api.state.services.alerts.append(messages(&[update])).unwrap();
    // Newest first.
    assert_eq!(status(&api), [r#""b" "Active""#, r#""a" "Superseded""#]);
}

#[test]
fn start_and_end_select_the_alerts_whose_interval_they_overlap() {
    let api = one();
    let count = |window: &str| ids(&api, &format!("/alerts?{window}")).len();
    // From the time when it was sent to its expiry, both inclusive.
    for (window, there) in [
        ("start=2026-08-13T00:05:41Z", 1),
        ("start=2026-08-13T00:05:42Z", 0),
        ("end=2026-08-12T23:07:41Z", 1),
        ("end=2026-08-12T23:07:40Z", 0),
        ("start=2026-08-12T23:30:00Z&end=2026-08-12T23:31:00Z", 1),
        ("start=2026-08-12T00:00:00Z&end=2026-08-14T00:00:00Z", 1),
        ("start=2026-08-12T00:00:00Z&end=2026-08-12T01:00:00Z", 0),
    ] {
        assert_eq!(count(window), there, "{window}");
    }
    api.get("/alerts?start=2026-08-13T00:00:00Z&end=2026-08-13T00:00:00Z").refuses(
        400,
        "start must be before end; got start 2026-08-13T00:00:00Z and end 2026-08-13T00:00:00Z",
    );
    api.get("/alerts?start=yesterday").refuses(
        400,
        "\"yesterday\" is not an instant; allowed is RFC 3339 with Z or an offset, years 0000 to \
         9999, for example 2024-08-03T21:00:00Z",
    );
}

#[test]
fn a_box_holds_the_alerts_that_it_touches() {
    let api = one();
    for there in [
        "minLat=42.9&minLon=-82.1&maxLat=50&maxLon=-70",
        "bbox=-82.1,42.9,-70,50",
        "bbox=-90,40,-70,50",
    ] {
        assert_eq!(ids(&api, &format!("/alerts?{there}")), ["a"], "{there}");
    }
    for elsewhere in ["bbox=-81.9,42.9,-70,50", "bbox=170,40,-170,50"] {
        assert_eq!(ids(&api, &format!("/alerts?{elsewhere}")), [""; 0], "{elsewhere}");
    }
    api.get("/alerts?minLat=1&maxLon=2")
        .refuses(400, "a box needs all of minLat, minLon, maxLat, maxLon; got only minLat, maxLon");
    api.get("/alerts?bbox=1,2,3")
        .refuses(400, "bbox must be four numbers, west,south,east,north; got \"1,2,3\"");
    api.get("/alerts?bbox=1,3,2,2")
        .refuses(400, "minLat must not be greater than maxLat; got 3 and 2");
    api.get("/alerts?bbox=1,2,3,4&minLat=1&minLon=1&maxLat=2&maxLon=2")
        .refuses(400, "the box is given twice; give either bbox or its four sides");
}

#[test]
fn a_place_is_in_the_alerts_that_hold_it() {
    let api = one();
    assert_eq!(ids(&api, "/alerts?lat=42.5&lon=-82.5"), ["a"]);
    assert_eq!(ids(&api, "/alerts?lat=42.5&lon=-81.5"), [""; 0]);
    api.get("/alerts?lat=42.5").refuses(400, "a place needs both lat and lon, or neither");
    api.get("/alerts?lat=91&lon=0").refuses(400, "latitude must be from -90 to 90; got 91");
    api.get("/alerts?lat=x&lon=0").refuses(400, "lat must be a number; got \"x\"");
    // Brigden, Ontario, when the tornado was there. The alert covers part of the zone, and has
    // ended since.
    let api = sample("2026-08-12T23:20:00Z");
    let brigden = "/alerts?lat=42.82&lon=-82.29&active=true";
    assert_eq!(ids(&api, brigden), ["urn:oid:2.49.0.1.124.1455756091.2026"]);
}

/// A field without a value is left out: no field is null.
#[test]
fn a_message_without_the_words_of_cap_has_none_of_their_fields() {
    let api = service(SENT, messages(&[cap("a", SENT, "", "<info><event>x</event></info>")]));
    let text = api.get("/alerts").text();
    for name in [
        "onset",
        "severity",
        "urgency",
        "certainty",
        "eventCodes",
        "sameCodes",
        "web",
        "null,\"id\"",
    ] {
        assert!(!text.contains(&format!("\"{name}\"")), "{name}: {text}");
    }
    assert!(text.contains(r#""alertImpact":"Unknown""#));
    // The alert is in force, and does not say where.
    assert!(text.contains(r#""missingZones":["an area without a name"]"#), "{text}");
}

/// Every alert of the sample in full: each says how severe it is, and each of its words is one of
/// the interface's.
#[test]
fn every_alert_of_the_sample_has_its_additions() {
    let api = sample("2026-07-15T20:00:45Z");
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let all = features(&api, "/alerts");
    for alert in &all {
        let of = &alert["properties"];
        for name in ["onset", "severity", "urgency", "certainty", "eventCodes", "sameCodes", "web"]
        {
            *counts.entry(name).or_default() += usize::from(of.get(name).is_some());
        }
        assert_ne!(of["alertType"], "Unknown", "{}", of["event"]);
        assert!(of.get("missingZones").is_none(), "{}", of["missingZones"]);
        let is_of_canada = of["issuer"] == "Environment Canada";
        let follows = match of["severity"].as_str().unwrap() {
            "Severe" => "High",
            "Minor" => "Low",
            same => same,
        };
        assert!(of["alertImpact"] == follows || is_of_canada, "{}", alert["id"]);
    }
    let expected = [
        ("certainty", 397),
        ("eventCodes", 397),
        ("onset", 395),
        ("sameCodes", 393),
        ("severity", 397),
        ("urgency", 397),
        ("web", 396),
    ];
    assert_eq!(counts, expected.into());
}

/// An alert of several zones, one without an outline. Its geometry is incomplete, and the alert
/// says so. Charleston's zones of before 2026 have outlines.
#[test]
fn zones_without_an_outline_are_named() {
    let zone =
        |code: &&str| format!("<geocode><valueName>UGC</valueName><value>{code}</value></geocode>");
    let info = |codes: &[&str]| {
        let zones: String = codes.iter().map(zone).collect();
        let area = format!("<area><areaDesc>x</areaDesc>{zones}</area>");
        format!("<info><event>Gale Warning</event>{area}</info>")
    };
    let api = service(
        SENT,
        messages(&[
            cap("known", SENT, "", &info(&["AMZ374", "GAZ116", "SCZ047"])),
            cap("one", SENT, "", &info(&["SCZ047", "SCZ999", "AMZ998", "SCZ999"])),
        ]),
    );
    let all = features(&api, "/alerts");
    let of = |id: &str| all.iter().find(|alert| alert["id"] == id).unwrap();
    assert!(of("known")["properties"].get("missingZones").is_none());
    assert_eq!(of("known")["geometry"]["type"], "MultiPolygon");
    assert_eq!(of("one")["properties"]["missingZones"], serde_json::json!(["SCZ999", "AMZ998"]));
    assert_ne!(of("one")["geometry"], Value::Null);
}

/// Phoenix, Arizona, in the afternoon of 2026-07-15: a zone, in an alert without its own polygon.
#[test]
fn an_alert_without_a_polygon_is_where_its_zones_are() {
    let api = sample("2026-07-15T20:00:45Z");
    let all = features(&api, "/alerts");
    let drawn = all.iter().filter(|alert| {
        alert["properties"]["areas"]
            .as_array()
            .unwrap()
            .iter()
            .any(|area| area["polygons"] != Value::Array(vec![]))
    });
    assert_eq!((all.len(), drawn.count()), (397, 75));
    let mut geometries: BTreeMap<String, usize> = BTreeMap::new();
    for alert in &all {
        let kind = alert["geometry"]["type"].as_str().unwrap_or("null").to_owned();
        *geometries.entry(kind).or_default() += 1;
    }
    let expected = [("MultiPolygon", 172), ("Polygon", 225)];
    assert_eq!(geometries, expected.map(|(kind, count)| (kind.to_owned(), count)).into());
    let at = features(&api, "/alerts?lat=33.45&lon=-112.07&active=true");
    let events: Vec<&str> =
        at.iter().map(|alert| alert["properties"]["event"].as_str().unwrap()).collect();
    assert_eq!(events, ["Air Quality Alert"]);
}

#[test]
fn codes_select_the_alerts_of_their_zones() {
    let api = one();
    assert_eq!(ids(&api, "/alerts?codes=041320"), ["a"]);
    assert_eq!(ids(&api, "/alerts?codes=999999,041320&codes=OHC063"), ["a"]);
    assert_eq!(ids(&api, "/alerts?codes=041310"), [""; 0]);
    api.get("/alerts?codes=")
        .refuses(400, "codes must be one to 2000 zone codes, comma-separated; got none");
    api.get("/alerts?codes=41320").refuses(
        400,
        "\"41320\" is not a zone code; allowed are six digits (CLC, for example 041320), or two \
         letters, C or Z, and three digits (UGC, for example OKC001 or OKZ025)",
    );
    let most = vec!["041320"; 2_000].join(",");
    assert_eq!(ids(&api, &format!("/alerts?codes={most}")), ["a"]);
    let many = vec!["041320"; 2_001].join(",");
    api.get(&format!("/alerts?codes={many}"))
        .refuses(400, "codes names more than 2000 zones; the limit is 2000");
}

#[test]
fn the_area_of_a_fire_weather_zone_says_so() {
    let api = sample("2026-07-15T20:00:45Z");
    let (mut fire, mut others) = (0, 0);
    for alert in features(&api, "/alerts") {
        let event = alert["properties"]["event"].as_str().unwrap().to_owned();
        for area in alert["properties"]["areas"].as_array().unwrap() {
            let is_fire = area.get("zoneKind").is_some_and(|kind| kind == "fire");
            assert_eq!(is_fire, ["Red Flag Warning", "Fire Weather Watch"].contains(&&*event));
            *(if is_fire { &mut fire } else { &mut others }) += 1;
        }
    }
    assert_eq!((fire, others), (51, 2_249));
}

#[test]
fn active_keeps_only_alerts_in_force() {
    let api = sample("2026-07-15T20:00:45Z");
    // Two are cancelled. Four of Canada's alerts are from another day.
    assert_eq!(ids(&api, "/alerts?active=true").len(), 391);
    assert_eq!(ids(&api, "/alerts?active=false").len(), 397);
    assert_eq!(ids(&sample("2026-09-01T00:00:00Z"), "/alerts?active=true"), [""; 0]);
    api.get("/alerts?active=yes").refuses(400, "active must be true or false; got \"yes\"");
}

/// Every ring is closed, outer ones run counterclockwise and holes clockwise, every position is on
/// the globe, and no edge crosses the antimeridian.
#[test]
fn every_geometry_is_valid_geojson() {
    let (mut rings, mut alerts) = (0, 0);
    for alert in features(&sample("2026-07-15T20:00:45Z"), "/alerts") {
        let geometry = &alert["geometry"];
        let polygons: Vec<Vec<Vec<[f64; 2]>>> = match geometry["type"].as_str() {
            None => continue,
            Some("Polygon") => {
                vec![serde_json::from_value(geometry["coordinates"].clone()).unwrap()]
            }
            Some("MultiPolygon") => {
                serde_json::from_value(geometry["coordinates"].clone()).unwrap()
            }
            Some(other) => panic!("{other}"),
        };
        alerts += 1;
        for polygon in polygons {
            for (i, ring) in polygon.iter().enumerate() {
                rings += 1;
                assert!(ring.len() >= 4 && ring[0] == ring[ring.len() - 1], "{ring:?}");
                assert!(ring.iter().all(|[lon, lat]| lon.abs() <= 180.0 && lat.abs() <= 90.0));
                assert!(ring.windows(2).all(|edge| (edge[0][0] - edge[1][0]).abs() < 180.0));
                let area: f64 = ring
                    .windows(2)
                    .map(|edge| {
                        (edge[0][0] - ring[0][0]) * (edge[1][1] - ring[0][1])
                            - (edge[1][0] - ring[0][0]) * (edge[0][1] - ring[0][1])
                    })
                    .sum();
                assert_eq!(area > 0.0, i == 0, "{}: {ring:?}", alert["id"]);
            }
        }
    }
    assert_eq!((alerts, rings), (397, 6_203));
}

#[test]
fn the_whole_answer_is_compressed_once_and_has_a_tag() {
    let api = sample("2026-07-15T20:00:45Z");
    let before = api.get("/alerts").text();
    api.refresh();
    let gzip = [(axum::http::header::ACCEPT_ENCODING, "gzip")];
    let answer = api.get_with("/alerts", &gzip);
    assert_eq!(answer.text(), before);
    assert_eq!(answer.header("cache-control"), Some("no-cache"));
    let tag = answer.header("etag").unwrap().to_owned();
    let known = [gzip[0].clone(), (axum::http::header::IF_NONE_MATCH, &*tag)];
    assert_eq!(api.get_with("/alerts", &known).status, 304);
    assert_eq!(api.get_with("/alerts?active=true", &known).status, 200);
}

/// Only the English answer is made in advance.
#[test]
fn french_is_answered_in_french_after_the_english_answer_was_made_ahead() {
    let api = one();
    api.refresh();
    let english = api.get("/alerts");
    let tag = english.header("etag").unwrap().to_owned();
    assert!(english.text().contains("tornado!"));
    let french = api.get_with("/alerts?lang=fr", &[(axum::http::header::IF_NONE_MATCH, &*tag)]);
    assert_eq!(french.status, 200);
    assert!(french.text().contains("tornade!") && !french.text().contains("tornado!"));
}
