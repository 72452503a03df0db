//! Where alerts are and what they say there: places by codes, outlines that break the rules, several
//! events in one message, encodings. The inputs in `tests/data/reported` went wrong once.

use std::fs::File;
use std::io::Read;

use flate2::read::GzDecoder;
use mesonet::alert::{self, Clock, Feature, Message, Query, missing_zones, resolve};
use mesonet::feed::{Kind, Summary, read_cap, read_nws_alerts};
use mesonet::zone::Zones;
use mesonet::{LonLat, zone};
use serde_json::{Value, json};

const NOW_MS: i64 = 1_722_474_000_000; // 2024-08-01T01:00:00Z

fn zones() -> Zones {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../server-example/sample/zones.bin.gz");
    let mut bytes = Vec::new();
    GzDecoder::new(File::open(path).unwrap()).read_to_end(&mut bytes).unwrap();
    Zones::from_bundle(&bytes).unwrap()
}

fn reported(name: &str) -> Vec<u8> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/data/reported/alerts");
    std::fs::read(format!("{folder}/{name}")).unwrap()
}

fn cap(document: &[u8]) -> (Message, Summary) {
    let mut all = Vec::new();
    let summary = read_cap(document, |message| all.push(message)).unwrap();
    assert_eq!((all.len(), summary.refused), (1, 0), "{summary:?}");
    (all.remove(0), summary)
}

/// The message of a file with something else in place of a text.
fn changed(name: &str, from: &str, to: &str) -> (Message, Summary) {
    let text = String::from_utf8(reported(name)).unwrap();
    assert!(text.contains(from), "{from}");
    cap(text.replace(from, to).as_bytes())
}

fn feature(message: &Message, zones: &Zones) -> Value {
    let states = resolve(&[message], Clock::live(NOW_MS));
    json!(Feature::new(message, &states[0], zones, "en"))
}

fn is_at(message: &Message, zones: &Zones, lon: f64, lat: f64) -> bool {
    let query = Query::default().is_active(true).at(LonLat::new(lon, lat).unwrap());
    !query.select(&[message], Clock::live(NOW_MS), zones).is_empty()
}

fn has_code(message: &Message, zones: &Zones, code: &str) -> bool {
    let query = Query::default().is_active(true).codes(vec![code.parse().unwrap()]);
    !query.select(&[message], Clock::live(NOW_MS), zones).is_empty()
}

const SEATTLE: (f64, f64) = (-122.3, 47.6);
const SPOKANE: (f64, f64) = (-117.4, 47.66);

#[test]
fn a_code_of_same_is_the_county() {
    let zones = zones();
    let (message, summary) = cap(&reported("cap_same_only.xml"));
    assert_eq!(summary.unread_values.total(), 0);
    assert!(
        is_at(&message, &zones, SEATTLE.0, SEATTLE.1)
            && !is_at(&message, &zones, SPOKANE.0, SPOKANE.1)
    );
    assert!(has_code(&message, &zones, "WAC033") && !has_code(&message, &zones, "WAC063"));
    let feature = feature(&message, &zones);
    // With its islands.
    assert_eq!(feature["geometry"]["type"], "MultiPolygon");
    let area = &feature["properties"]["areas"][0];
    assert_eq!((&area["clcCode"], &area["ugcCode"]), (&json!("WAC033"), &json!("WAC033")));
    assert_eq!(feature["properties"]["sameCodes"], json!(["053033"]));
}

#[test]
fn a_code_of_same_may_be_a_part_of_a_county_a_whole_state_or_a_zone_of_waters() {
    let zones = zones();
    let (part, _) = changed("cap_same_only.xml", "053033", "153033");
    assert!(is_at(&part, &zones, SEATTLE.0, SEATTLE.1) && has_code(&part, &zones, "WAC033"));
    let (state, _) = changed("cap_same_only.xml", "053033", "053000");
    assert!(
        is_at(&state, &zones, SEATTLE.0, SEATTLE.1) && is_at(&state, &zones, SPOKANE.0, SPOKANE.1)
    );
    assert!(!is_at(&state, &zones, -122.68, 45.4), "Oregon");
    assert!(has_code(&state, &zones, "WAC063") && has_code(&state, &zones, "WAC000"));
    assert!(!has_code(&state, &zones, "ORC051") && !has_code(&state, &zones, "WAZ305"));
    assert!(has_code(&part, &zones, "WAC000"), "asked for the whole state");
    let (waters, _) = changed("cap_same_only.xml", "053033", "057110");
    assert!(has_code(&waters, &zones, "PZZ110") && is_at(&waters, &zones, -124.1, 46.93));
    // What is no place is named.
    for (wrong, named) in [("000000", "SAME"), ("099001", "SAME"), ("53033", "SAME")] {
        let (message, summary) = changed("cap_same_only.xml", "053033", wrong);
        assert!(summary.unread_values.iter().any(|(name, _)| name == named), "{wrong}");
        assert_eq!(missing_zones(&message, &zones), ["a"], "{wrong}");
    }
    let (unknown, _) = changed("cap_same_only.xml", "053033", "053999");
    assert_eq!(missing_zones(&unknown, &zones), ["WAC999"]);
    // The zones of the weather service say it better.
    let with = "<geocode><valueName>UGC</valueName><value>WAZ036</value></geocode><geocode>";
    let (zone, _) = changed("cap_same_only.xml", "<geocode>", with);
    assert!(has_code(&zone, &zones, "WAZ036") && !has_code(&zone, &zones, "WAC033"));
}

#[test]
fn codes_of_same_are_places_in_both_feeds() {
    let zones = zones();
    let text = String::from_utf8(reported("partial_update_hides_other_zones.json")).unwrap();
    let same = r#""UGC": [], "SAME": ["053033", "053000"]"#;
    let text = text.replace(r#""UGC": ["WAZ327"], "SAME": []"#, same);
    let mut all = Vec::new();
    read_nws_alerts(text.as_bytes(), |message| all.push(message)).unwrap();
    let codes: Vec<_> = all[1].areas().filter_map(|(_, area)| area.code).collect();
    assert_eq!(codes, ["WAC033", "WAC000"].map(|code| code.parse::<zone::Code>().unwrap()));
    assert_eq!(missing_zones(&all[1], &zones), [""; 0]);
}

#[test]
fn each_event_of_a_message_stays_with_its_areas() {
    let zones = zones();
    let (message, _) = cap(&reported("cap_two_events.xml"));
    assert_eq!(message.parts.len(), 2);
    let states = resolve(&[&message], Clock::live(NOW_MS));
    for (language, [snow, wind]) in [("en", ["snow", "wind"]), ("fr", ["neige", "vent"])] {
        let alert =
            json!(Feature::new(&message, &states[0], &zones, language))["properties"].take();
        assert_eq!((&alert["event"], &alert["severity"]), (&json!(snow), &json!("Severe")));
        let areas = alert["areas"].as_array().unwrap();
        assert_eq!(areas.len(), 2);
        assert_eq!((areas[0].get("event"), areas[0].get("severity")), (None, None));
        let other = &areas[1];
        assert_eq!((&other["event"], &other["severity"]), (&json!(wind), &json!("Minor")));
        assert_eq!(other["alertHeadline"], format!("{wind} {language}-CA"));
        assert_eq!(other["polygons"][0][0]["lat"], 46.0);
    }
    assert!(is_at(&message, &zones, -99.5, 46.5) && is_at(&message, &zones, -97.5, 46.5));
}

#[test]
fn a_ring_that_crosses_itself_is_split_at_the_crossing() {
    let zones = Zones::default();
    let (message, summary) = cap(&reported("cap_bowtie.xml"));
    assert_eq!(summary.unread_values.total(), 0);
    assert!(is_at(&message, &zones, -99.5, 30.1) && is_at(&message, &zones, -99.5, 30.9));
    assert!(!is_at(&message, &zones, -99.9, 30.5));
    assert_eq!(feature(&message, &zones)["geometry"]["type"], "MultiPolygon");
}

#[test]
fn outlines_that_break_the_rules_are_mended_or_named() {
    let zones = Zones::default();
    let ring = "<polygon>30,-100 31,-99 31,-100 30,-99 30,-100</polygon>";
    let square = |west: f64, more: &str| {
        let east = west + 1.0;
        format!("<polygon>30,{west} 31,{west} 31,{east} 30,{east}{more}</polygon>")
    };
    for (drawn, lon) in [
        (square(-100.0, ""), -99.5),
        (square(-100.0, " 30,-100"), -99.5),
        // The same way round twice.
        (square(-100.0, " 30,-100 31,-100 31,-99 30,-99"), -99.5),
        (square(180.5, ""), -179.0),
        (square(179.5, ""), 180.0),
        (square(-180.5, ""), 180.0),
        // A loop of its own at a corner.
        (square(-100.0, " 30,-100 29,-101 29,-100.5 30,-100"), -99.5),
    ] {
        let (message, summary) = changed("cap_bowtie.xml", ring, &drawn);
        assert_eq!(summary.unread_values.total(), 0, "{drawn}");
        assert!(is_at(&message, &zones, lon, 30.5), "{drawn}");
        let shape =
            alert::geometry(&message, &resolve(&[&message], Clock::live(NOW_MS))[0], &zones);
        assert!(shape.unwrap().is_valid(), "{drawn}");
    }
    for drawn in [
        "<circle>30,-100 0</circle>",
        "<circle>89.9,-100 50</circle>",
        "<circle>30,-100 -5</circle>",
        "<polygon>30,-100 31,-100 32,-100 30,-100</polygon>",
        "<polygon>30,-100 31,-99</polygon>",
        "<polygon>30,-100 91,-99 31,-98 30,-100</polygon>",
        "<polygon>30,-100 31,-999 31,-98 30,-100</polygon>",
        "<polygon>80,0 80,120 80,-120 80,0</polygon>",
        "",
    ] {
        let (message, summary) = changed("cap_bowtie.xml", ring, drawn);
        let is_counted = !drawn.is_empty() && !drawn.ends_with(" 0</circle>");
        assert_eq!(summary.unread_values.total(), u64::from(is_counted), "{drawn}");
        let feature = feature(&message, &zones);
        assert_eq!(feature["geometry"], Value::Null, "{drawn}");
        assert_eq!(feature["properties"]["missingZones"], json!(["a"]), "{drawn}");
    }
}

/// In a message that draws some of its areas, those that it only names are where their zones are.
#[test]
fn an_area_without_an_outline_stands_beside_those_that_are_drawn() {
    let zones = zones();
    let code = |code: &str| {
        format!(
            "<area><areaDesc>b</areaDesc><geocode><valueName>UGC</valueName><value>{code}</value></geocode></area></info>"
        )
    };
    let (message, _) = changed("cap_bowtie.xml", "</info>", &code("WAC033"));
    assert!(is_at(&message, &zones, SEATTLE.0, SEATTLE.1) && is_at(&message, &zones, -99.5, 30.1));
    assert_eq!(missing_zones(&message, &zones), [""; 0]);
    let alert = feature(&message, &zones);
    assert!(
        alert["properties"]["areas"]
            .as_array()
            .unwrap()
            .iter()
            .all(|area| area.get("event").is_none())
    );
    let (message, _) = changed("cap_bowtie.xml", "</info>", &code("WAC999"));
    assert_eq!(missing_zones(&message, &zones), ["WAC999"]);
    let (message, _) =
        changed("cap_bowtie.xml", "</info>", "<area><areaDesc>b</areaDesc></area></info>");
    assert_eq!(missing_zones(&message, &zones), ["b"]);
}

#[test]
fn a_message_is_read_in_the_encoding_that_it_declares() {
    let latin = reported("cap_iso8859-1.xml");
    let (message, _) = cap(&latin);
    assert_eq!(message.parts[0].text("fr").unwrap().areas, ["côte"]);
    assert_eq!(Kind::detect("a", &latin), Some(Kind::Cap));
    let text: String = latin.iter().map(|&byte| char::from(byte)).collect();
    let euro = text.replace("ISO-8859-1", "windows-1252").replace('ô', "\u{80}");
    let bytes: Vec<u8> = euro.chars().map(|letter| letter as u8).collect();
    assert_eq!(cap(&bytes).0.parts[0].text("fr").unwrap().areas, ["c€te"]);
    let wide = text.replace("ISO-8859-1", "UTF-16");
    for (mark, is_big) in [("\u{feff}", true), ("\u{feff}", false), ("", true), ("", false)] {
        let units = format!("{mark}{wide}");
        let bytes = |unit: u16| if is_big { unit.to_be_bytes() } else { unit.to_le_bytes() };
        let bytes: Vec<u8> = units.encode_utf16().flat_map(bytes).collect();
        assert_eq!(cap(&bytes).0, message);
        assert_eq!(Kind::detect("a", &bytes), Some(Kind::Cap));
    }
    // What is not in its encoding is refused, not guessed at.
    let error = read_cap(&*text.replace("ISO-8859-1", "no-such").into_bytes(), |_| ()).unwrap_err();
    assert!(error.to_string().ends_with("its encoding \"no-such\" is not known"), "{error}");
    let as_utf_8: Vec<u8> =
        text.replace("ISO-8859-1", "UTF-8").chars().map(|letter| letter as u8).collect();
    assert!(read_cap(&*as_utf_8, |_| ()).is_err());
}

#[test]
fn an_alert_without_a_time_takes_effect_when_it_is_sent() {
    let effective = "<effective>2024-08-01T00:00:00-00:00</effective>";
    let (message, _) = changed("cap_bowtie.xml", effective, "");
    let alert = feature(&message, &Zones::default())["properties"].take();
    assert_eq!(alert["effectiveTime"], "2024-08-01T00:00:00Z");
}
