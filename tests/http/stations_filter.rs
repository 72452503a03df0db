//! Parameters that choose stations, on markers, details and readings; and stations by any of their ids.

use mesonet::observation::IdScheme;
use mesonet::{Batch, Variable};

use crate::support::{AIR, Answer, Api, TestStore, id, instant, reading, station, store, wire};

const WIND: mesonet::SeriesKey = instant(Variable::WindSpeed);

/// A station with identifiers and an altitude.
fn described(name: &str, lon: f64, lat: f64, ids: &[(IdScheme, &str)], altitude_m: f64) -> Batch {
    let mut batch = station(name, lon, lat);
    for (scheme, id) in ids {
        batch.stations[0].identifiers.add(*scheme, id);
    }
    batch.stations[0].altitude_m = Some(altitude_m);
    batch
}

fn four() -> TestStore {
    store([
        described(
            "CYYZ",
            -79.63,
            43.68,
            &[(IdScheme::Icao, "CYYZ"), (IdScheme::Wmo, "71624")],
            173.0,
        ),
        described("CYUL", -73.74, 45.47, &[(IdScheme::Icao, "CYUL")], 36.0),
        described("KBUF", -78.73, 42.94, &[(IdScheme::Icao, "KBUF"), (IdScheme::Msc, "9")], 218.0),
        station("buoy", -70.0, 38.5),
        reading("CYYZ", 0, &AIR, 20.5),
        reading("CYUL", 0, &AIR, 18.0),
        reading("KBUF", 0, &WIND, 7.0),
        reading("buoy", 0, &AIR, 25.0),
    ])
}

/// The stations of an answer, in its order.
fn stations(answer: &Answer) -> Vec<String> {
    assert_eq!(answer.status, 200, "{}", answer.text());
    let text = answer.text();
    let mut found: Vec<(usize, &str)> = ["CYYZ", "CYUL", "KBUF", "buoy"]
        .into_iter()
        .filter_map(|name| Some((text.find(&id(name).to_string())?, name)))
        .collect();
    found.sort_unstable();
    found.into_iter().map(|(_, name)| name.to_owned()).collect()
}

fn sorted(answer: &Answer) -> Vec<String> {
    let mut names = stations(answer);
    names.sort();
    names
}

#[test]
fn markers_details_and_readings_have_the_stations_that_match() {
    let api = Api::new(four());
    for (query, expected) in [
        ("province=ON", &["CYYZ"][..]),
        ("province=on,QC", &["CYUL", "CYYZ"]),
        ("state=NY&province=ON", &["CYYZ", "KBUF"]),
        ("country=CA", &["CYUL", "CYYZ"]),
        ("country=us", &["KBUF"]),
        ("network=test", &["CYUL", "CYYZ", "KBUF", "buoy"]),
        ("stationType=OpenWater", &[]),
        ("stationType=OpenWater,OpenCountry&country=CA", &["CYUL", "CYYZ"]),
        ("variable=windSpeed", &["KBUF"]),
        ("variable=windSpeed,airTemperature", &[]),
        ("minAltitude=173", &["CYYZ", "KBUF"]),
        ("minAltitude=36&maxAltitude=173", &["CYUL", "CYYZ"]),
        ("minLat=40&minLon=-80&maxLat=44&maxLon=-70&province=ON", &["CYYZ"]),
        ("lat=43.65&lon=-79.38&radiusKm=150", &["CYYZ", "KBUF"]),
        ("lat=43.65&lon=-79.38&nearest=1", &["CYYZ"]),
        ("lat=43.65&lon=-79.38&nearest=1&network=TEST&variable=windSpeed", &["KBUF"]),
        ("lat=43.65&lon=-79.38&nearest=5000&radiusKm=0", &[]),
    ] {
        for path in [
            "/stations/map/markers?",
            "/stations/map/details?",
            "/stations/readings?names=airTemperature,windSpeed&",
        ] {
            let answer = api.get(&format!("{path}{query}"));
            assert_eq!(sorted(&answer), expected, "{path}{query}");
        }
    }
}

#[test]
fn stations_around_a_place_have_distance_and_bearing_and_come_by_distance() {
    let api = Api::new(four());
    let near = "lat=43.65&lon=-79.38&nearest=2";
    let markers = api.get(&format!("/stations/map/markers?{near}"));
    assert_eq!(stations(&markers), ["CYYZ", "KBUF"]);
    let marker = |name, place, away| {
        format!(
            r#"{{"type":"Feature","id":"{}","geometry":{{"type":"Point","coordinates":{place}}},"properties":{{{away}}}}}"#,
            id(name)
        )
    };
    markers.is(&format!(
        r#"{{"type":"FeatureCollection","features":[{},{}]}}"#,
        marker("CYYZ", "[-79.63,43.68]", r#""distanceKm":20.38,"bearing":280.0"#),
        marker("KBUF", "[-78.73,42.94]", r#""distanceKm":94.87,"bearing":146.0"#),
    ));
    let details = api.get(&format!("/stations/map/details?{near}&fields=name"));
    details.is(&format!(
        r#"{{"{}":{{"distanceKm":20.38,"bearing":280,"name":"Station CYYZ"}},"{}":{{"distanceKm":94.87,"bearing":146,"name":"Station KBUF"}}}}"#,
        id("CYYZ"),
        id("KBUF")
    ));
    let whole = api.get(&format!("/stations/map/details?{near}"));
    assert!(whole.text().contains(r#"{"distanceKm":20.38,"bearing":280,"network":"TEST""#));
    let readings = api.get("/stations/readings?lat=43.65&lon=-79.38&nearest=1");
    readings.is(&format!(
        r#"{{"stations":{{"{}":{{"distanceKm":20.38,"bearing":280,"readings":[{}]}}}}}}"#,
        id("CYYZ"),
        wire("12:00:00", &AIR, "20.5")
    ));
}

#[test]
fn without_these_parameters_answers_are_as_before() {
    let api = Api::new(four());
    let markers = api.get("/stations/map/markers");
    assert_eq!(markers.text().matches(r#""properties":{}"#).count(), 4);
    assert!(!api.get("/stations/map/details").text().contains("distanceKm"));
}

#[test]
fn what_cannot_be_meant_is_refused_with_what_is_allowed() {
    let api = Api::new(four());
    for (query, text) in [
        ("nearest=3", "nearest needs lat and lon"),
        ("radiusKm=3", "radiusKm needs lat and lon"),
        ("lat=43&nearest=1", "a place needs both lat and lon, or neither"),
        ("lat=43&lon=-79", "lat and lon need radiusKm, nearest or both"),
        ("lat=91&lon=-79&nearest=1", "latitude must be from -90 to 90; got 91"),
        ("lat=43&lon=-79&nearest=0", "nearest must be from 1 to 5000; got 0"),
        ("lat=43&lon=-79&nearest=5001", "nearest must be from 1 to 5000; got 5001"),
        ("lat=43&lon=-79&nearest=-1", "nearest must be a non-negative integer; got \"-1\""),
        ("lat=43&lon=-79&radiusKm=-1", "radiusKm must be from 0 to 20016; got -1"),
        ("lat=43&lon=-79&radiusKm=NaN", "radiusKm must be from 0 to 20016; got NaN"),
        ("country=MX", "unknown country \"MX\"; allowed are CA, US"),
        (
            "stationType=opencountry",
            "unknown stationType \"opencountry\"; allowed are [OpenCountry, Suburban, OpenWater]",
        ),
        ("network=METR", "no station is of the network \"METR\"; the networks are TEST"),
        ("minAltitude=x", "minAltitude must be a number; got \"x\""),
        ("maxAltitude=1e9", "maxAltitude must be from -1000 to 10000; got 1000000000"),
        ("country=CA&country=US", "country is given 2 times; it must be given only once"),
    ] {
        for path in ["/stations/map/markers", "/stations/map/details", "/stations/readings"] {
            api.get(&format!("{path}?{query}")).refuses(400, text);
        }
    }
    for query in ["state=XX", "province=Ontario"] {
        let refused = api.get(&format!("/stations/map/markers?{query}"));
        assert_eq!(refused.status, 400);
        assert!(refused.text().contains("allowed are AB, AK, AL, "), "{}", refused.text());
    }
    // A list without a name does not choose all stations.
    for query in ["state=", "province=,,", "network=", "stationType=", "variable=", "country="] {
        assert_eq!(api.get(&format!("/stations/map/markers?{query}")).status, 400, "{query}");
    }
    let unknown = api.get("/stations/map/markers?variable=heat");
    assert_eq!(unknown.status, 400);
}

#[test]
fn a_station_is_found_by_any_of_its_ids_wherever_one_is_taken() {
    let api = Api::new(four());
    let of = id("CYYZ");
    for name in ["CYYZ", "cyyz", "71624", "wmo:71624", "TEST:CYYZ", "icao%20cyyz"] {
        let found = api.get(&format!("/stations/{name}"));
        let own = api.get(&format!("/stations/{of}"));
        assert_eq!(found.text(), own.text(), "{name}");
        let location = of.to_string();
        assert_eq!(found.header("content-location"), Some(&*location));
        assert_eq!(own.header("content-location"), None);
        assert_eq!(api.get(&format!("/stations/{name}/quality")).status, 200);
    }
    let hour = "start=2024-08-03T11:30:00Z&end=2024-08-03T12:00:00Z";
    let series = api.post(
        &format!("/observations/series?{hour}"),
        r#"{"stationId":"71624","name":"airTemperature"}"#,
    );
    assert!(series.text().contains(&format!("\"stationId\":\"{of}\"")), "{}", series.text());
    let weather = api.get(&format!("/observations/weather?stationId=CYYZ&{hour}"));
    assert_eq!(weather.status, 200, "{}", weather.text());
    let readings = api.post("/stations/readings", r#"{"stationIds":["wmo:71624","CYUL"]}"#);
    assert_eq!(sorted(&readings), ["CYUL", "CYYZ"]);
    let explained = format!(
        "/observations/explain?stationId=CYYZ&typeId={}&timestamp=2024-08-03T12:00:00Z",
        AIR.id()
    );
    assert_eq!(api.get(&explained).status, 200);
}

#[test]
fn an_id_of_several_stations_is_refused_with_the_candidates() {
    let other = described("other", 1.0, 1.0, &[(IdScheme::Climate, "9")], 1.0);
    let api = Api::new(store([described("KBUF", 0.0, 0.0, &[(IdScheme::Msc, "9")], 1.0), other]));
    let refused = api.get("/stations/9");
    assert_eq!(refused.status, 400);
    let text = refused.text();
    for part in [
        "\\\"9\\\" is the id of 2 stations; name one of ",
        "TEST:KBUF (Station KBUF)",
        "TEST:other (Station other)",
    ] {
        assert!(text.contains(part), "{text}");
    }
    api.post("/stations/readings", r#"{"stationIds":["9"]}"#);
    assert_eq!(api.get("/stations/climate:9").status, 200);
}
