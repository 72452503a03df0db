//! The readers of alerts over real files.

use std::fs;
use std::io::Read;
use std::path::Path;

use flate2::read::GzDecoder;
use mesonet::alert::{AreaKind, Outcome, ThreatStatus};
use mesonet::feed::FileContext;
use mesonet::{Iso8601, alert, feed};

fn unpacked(path: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path);
    let bytes = fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut text = Vec::new();
    GzDecoder::new(&*bytes).read_to_end(&mut text).unwrap();
    text
}

fn read(path: &str, kind: feed::Kind) -> (Vec<alert::Message>, feed::Summary) {
    let text = unpacked(path);
    assert_eq!(feed::Kind::detect("x", &text), Some(kind), "{path}");
    let mut all = Vec::new();
    let file = FileContext::new("x", 0);
    let mut visit = |item: feed::Item| all.extend(item.into_alert());
    let summary = kind.read(&mut text.as_slice(), &file, &mut visit).unwrap();
    (all, summary)
}

/// Returns the only message of a file.
fn cap(path: &str) -> alert::Message {
    let (mut all, summary) = read(&format!("tests/data/{path}.gz"), feed::Kind::Cap);
    assert_eq!((all.len(), summary.read, summary.refused), (1, 1, 0), "{path}: {summary:?}");
    assert_eq!(summary.unread_values.total(), 0, "{path}: {summary:?}");
    all.remove(0)
}

fn positions(alert: &alert::Message) -> usize {
    let geometries = alert.areas().filter_map(|(_, area)| area.geometry.as_ref());
    geometries.map(mesonet::geo::MultiPolygon::positions).sum()
}

const SNOW: &str =
    "capcp/example_WSW_ECCC_WXR_2026_04_15T21_28_10_00_00Iurn_oid_2.49.0.1.124.4282049505.2026.xml";
const THUNDER: &str =
    "capcp/example_SVR_ECCC_WXR_2026_04_15T20_51_47_00_00Iurn_oid_2.49.0.1.124.2486553930.2026.xml";
const EMERGENCY: &str = "capcp/example_civilEmerg_AlertReady_2026_04_10T19_08_12_03_00IA99FB9E1_6FB6_4951_B234_863F1341C4C1.xml";
const STORM: &str = "nws_cap/example_SVR_NWS_WXR_T_XOUS51_C_KWBC_20260414001633_urn_oid_2.49.0.1.840.0.eb7c54df4660c8e1f4ffa9aa2d21497c108cf3b2.001.1-O-NEW-KCLE-SV-W-0063.xml";

/// File, type; parts, languages, areas with a code, areas, references, positions.
#[rustfmt::skip]
const FILES: [(&str, alert::MessageType, [usize; 6]); 16] = {
    use alert::MessageType::{Alert, Cancel, Update};
    [
        ("capcp/1_T_ONCN00_C_LAND_202608122307_2696623964.en.cap", Alert, [1, 1, 1, 2, 0, 45]),
        ("capcp/2_T_ONCN00_C_LAND_202608122313_1455756091.en.cap", Update, [1, 1, 1, 3, 1, 54]),
        ("capcp/3_T_ONCN00_C_LAND_202608122325_4220810049.en.cap", Update, [1, 1, 1, 2, 2, 45]),
        (THUNDER, Update, [1, 2, 2, 2, 6, 100]),
        (SNOW, Alert, [1, 2, 104, 104, 0, 2_220]),
        (EMERGENCY, Alert, [1, 1, 0, 1, 0, 32]),
        ("capcp/canada.xml", Update, [1, 2, 3, 3, 3, 58]),
        ("capcp/canada_large.xml", Update, [2, 4, 13, 13, 78, 189]),
        ("capcp/canada_signed.xml", Update, [1, 2, 2, 2, 9, 75]),
        (STORM, Alert, [1, 1, 3, 4, 0, 10]),
        ("nws_cap/airnow.xml", Alert, [1, 1, 0, 1, 0, 24]),
        ("nws_cap/google-PAAQ-4-mg5a94.xml", Update, [1, 1, 0, 1, 3, 0]),
        ("nws_cap/ipaws-5e6dd9de023f1930ef6548d9.xml", Cancel, [0, 0, 0, 0, 1, 0]),
        ("nws_cap/nws-5c2cf27b1f56885d61654dc47fa411d5.xml", Alert, [1, 1, 2, 2, 0, 0]),
        ("nws_cap/rs_cap_utah.cap", Alert, [1, 1, 0, 1, 0, 24]),
        ("nws_cap/wcatwc-warning.xml", Update, [1, 1, 2, 2, 1, 0]),
    ]
};

#[test]
fn every_cap_file_is_read_whole() {
    let counted = FILES.map(|(name, ..)| {
        let alert = cap(name);
        let coded = alert.areas().filter(|(_, area)| area.code.is_some()).count();
        let languages = alert.parts.iter().map(|part| part.texts.len()).sum::<usize>();
        let (areas, references) = (alert.areas().count(), alert.references.len());
        let (parts, kind) = (alert.parts.len(), alert.message_type);
        for part in &alert.parts {
            assert!(part.texts.iter().all(|text| text.areas.len() == part.areas.len()));
        }
        (name, kind, [parts, languages, coded, areas, references, positions(&alert)])
    });
    for (counted, expected) in counted.iter().zip(&FILES) {
        assert_eq!(counted, expected);
    }
}

#[test]
fn an_alert_of_canada_has_what_its_parameters_say() {
    let alert = cap("capcp/1_T_ONCN00_C_LAND_202608122307_2696623964.en.cap");
    assert_eq!(alert.id, "urn:oid:2.49.0.1.124.2696623964.2026");
    let [part] = &*alert.parts else { panic!() };
    let [text] = &*part.texts else { panic!() };
    assert_eq!((part.alert_type, part.colour), (alert::Type::Warning, alert::Colour::Red));
    assert_eq!(
        (part.impact, part.confidence, part.risk_ranking),
        (alert::Impact::Extreme, alert::Confidence::VeryHigh, Some(1))
    );
    assert_eq!(part.designation_code.as_deref(), Some("ON_00_01_LAND"));
    assert_eq!(
        (text.issuer.as_str(), text.coverage.as_deref()),
        ("Environment Canada", Some("Ontario"))
    );
    assert_eq!(text.event.as_deref(), Some("red warning - tornado"));
    let times = [Some(alert.sent_ms), part.effective_ms, part.expires_ms, part.event_end_ms];
    let times = times.map(|time| Iso8601(time.unwrap()).to_string());
    assert_eq!(
        times,
        [
            "2026-08-12T23:07:41Z",
            "2026-08-12T23:07:41Z",
            "2026-08-13T00:05:41Z",
            "2026-08-12T23:36:00Z"
        ]
    );
    let storm = part.storm.as_ref().unwrap();
    assert_eq!((storm.speed_kmh, storm.direction_deg), (Some(24.062159), Some(142.42633)));
    assert_eq!(storm.geometry_type.as_deref(), Some("ISOLATED_CELL"));
    assert_eq!(Iso8601(storm.time_ms.unwrap()).to_string(), "2026-08-12T23:06:00Z");
    assert_eq!((storm.points[0].lat(), storm.points[0].lon()), (42.831963, -82.291588));
    assert_eq!(text.storm_motion.as_deref(), Some("southeast at 25 km/h"));
    assert_eq!(text.storm_position.as_deref(), Some("over Brigden"));
    assert_eq!(text.storm_places, ["Brigden"]);
    let [zone, threat] = &*part.areas else { panic!() };
    assert_eq!((zone.kind, zone.code), (AreaKind::Coverage, Some("041320".parse().unwrap())));
    assert_eq!((threat.kind, threat.threat_status), (AreaKind::ThreatArea, ThreatStatus::Issued));
    assert_eq!(text.areas[0], "Sarnia - Petrolia - Western Lambton County");
    // The last message of the chain has ended and no longer states a colour.
    let last = cap("capcp/3_T_ONCN00_C_LAND_202608122325_4220810049.en.cap");
    let part = &last.parts[0];
    assert_eq!((part.outcome, part.colour), (Outcome::Ended, alert::Colour::Unknown));
    assert_eq!(
        (part.impact, part.confidence),
        (alert::Impact::Unknown, alert::Confidence::Unknown)
    );
    assert_eq!(part.areas[1].threat_status, ThreatStatus::Ended);
}

#[test]
fn both_languages_are_kept_with_one_set_of_areas() {
    let alert = cap(SNOW);
    let part = &alert.parts[0];
    let [english, french] = [part.text("en").unwrap(), part.text("fr").unwrap()];
    assert_eq!(english.headline, "yellow warning - snowfall - in effect");
    assert_eq!(french.headline, "avertissement jaune - neige - en vigueur");
    assert_eq!(french.event.as_deref(), Some("avertissement jaune - neige"));
    assert_eq!(french.coverage.as_deref(), Some("sud de la Saskatchewan"));
    assert_eq!((part.colour, part.impact), (alert::Colour::Yellow, alert::Impact::Moderate));
    assert_eq!(part.confidence, alert::Confidence::High);
    assert!(part.areas.iter().all(|area| area.geometry.is_some()));
}

#[test]
fn one_message_says_one_thing_here_and_another_there() {
    let alert = cap("capcp/canada_large.xml");
    let [heat, ended] = &*alert.parts else { panic!() };
    assert_eq!((heat.outcome, heat.areas.len()), (Outcome::InForce, 11));
    assert_eq!((ended.outcome, ended.areas.len()), (Outcome::Ended, 2));
    assert_eq!(ended.text("fr").unwrap().headline, "avertissement de chaleur annulé");
    assert_eq!(alert.references.len(), 78);
}

#[test]
fn alert_ready_and_others_have_no_scales_of_their_own() {
    let alert = cap(EMERGENCY);
    let part = &alert.parts[0];
    assert_eq!(part.texts[0].issuer, "RCMP NS");
    // The event is a civil emergency, and the severity is Extreme.
    assert_eq!((part.alert_type, part.colour), (alert::Type::Warning, alert::Colour::Unknown));
    assert_eq!(part.impact, alert::Impact::Extreme);
    assert_eq!(part.areas[0].geometry.as_ref().unwrap().polygons().len(), 3);
    // Its event is a sentence; its headline is "Air Quality Alert for Auburn".
    let ozone = cap("nws_cap/airnow.xml");
    assert_eq!(ozone.parts[0].alert_type, alert::Type::Advisory);
    assert_eq!(cap("nws_cap/rs_cap_utah.cap").parts[0].alert_type, alert::Type::Advisory);
    let circle = ozone.parts[0].areas[0].geometry.as_ref().unwrap();
    assert_eq!(circle.polygons()[0].exterior().len(), 24);
}

#[test]
fn an_alert_of_the_weather_service_has_what_its_code_says() {
    let alert = cap(STORM);
    let part = &alert.parts[0];
    assert_eq!((part.alert_type, part.colour), (alert::Type::Warning, alert::Colour::Unknown));
    assert_eq!(part.vtec[0].event.to_string(), "KCLE.SV.W.0063");
    assert_eq!(Iso8601(part.event_end_ms.unwrap()).to_string(), "2026-04-14T01:15:00Z");
    let names = ["Hancock, OH; Wood, OH; Wyandot, OH", "Hancock, OH", "Wood, OH", "Wyandot, OH"];
    assert_eq!(part.texts[0].areas, names);
    // "moving east at 30 mph"
    let storm = part.storm.as_ref().unwrap();
    assert_eq!((storm.direction_deg, storm.speed_kmh), (Some(106.0), Some(46.3)));
    let tsunami = cap("nws_cap/google-PAAQ-4-mg5a94.xml");
    assert_eq!(tsunami.parts[0].outcome, Outcome::Cancelled);
    assert_eq!(tsunami.parts[0].alert_type, alert::Type::Warning);
}

#[test]
fn every_alert_of_the_weather_services_interface_is_read() {
    let files = [
        "tests/data/nws_alerts/alerts_active_2026-05-14T163524Z.geojson.gz",
        "server-example/sample/alerts_active_2026-07-15T200045Z.geojson.gz",
    ];
    let mut all = Vec::new();
    for (file, count) in files.into_iter().zip([246, 396]) {
        let (alerts, summary) = read(file, feed::Kind::NwsAlerts);
        assert_eq!((alerts.len(), summary.read, summary.refused), (count, count as u64, 0));
        assert_eq!(summary.unread_values.total(), 0, "{summary:?}");
        all.extend(alerts);
    }
    assert_eq!(all.len(), 642);
    let count = |of: fn(&alert::Message) -> bool| all.iter().filter(|alert| of(alert)).count();
    assert_eq!(count(|alert| alert.parts[0].vtec.is_empty()), 21 + 143);
    assert_eq!(count(|alert| positions(alert) > 0), 14 + 71);
    assert_eq!(count(|alert| alert.parts[0].storm.is_some()), 9);
    assert_eq!(count(|alert| alert.parts[0].outcome == Outcome::Cancelled), 2);
    assert_eq!(count(|alert| alert.parts[0].outcome == Outcome::Replaced), 1);
    let types =
        [alert::Type::Warning, alert::Type::Watch, alert::Type::Advisory, alert::Type::Statement]
            .map(|kind| all.iter().filter(|alert| alert.parts[0].alert_type == kind).count());
    assert_eq!(
        (types, count(|alert| alert.parts[0].alert_type == alert::Type::Unknown)),
        ([189 + 1, 31, 250 + 139, 30 + 2], 0),
        "142 have no VTEC: 139 of air quality, two outlooks, a civil emergency"
    );
    let impacts = [
        alert::Impact::Extreme,
        alert::Impact::High,
        alert::Impact::Moderate,
        alert::Impact::Low,
        alert::Impact::Unknown,
    ]
    .map(|impact| all.iter().filter(|alert| alert.parts[0].impact == impact).count());
    assert_eq!(impacts, [0, 162, 153, 186, 141]);
    let zones = all.iter().flat_map(alert::Message::areas).filter(|(_, area)| area.code.is_some());
    assert_eq!(zones.count(), 992 + 2237);
    let fire = all.iter().flat_map(alert::Message::areas).filter(|(_, area)| area.is_fire_zone);
    assert_eq!(fire.count(), 354 + 51);
    let ids: std::collections::HashSet<_> = all.iter().map(|alert| &alert.id).collect();
    assert_eq!(ids.len(), 639, "three stand twice in the snapshot of July");
}

#[test]
fn a_message_is_the_same_after_it_was_kept_as_json() {
    let mut all: Vec<alert::Message> = FILES.iter().map(|(name, ..)| cap(name)).collect();
    let july = "server-example/sample/alerts_active_2026-07-15T200045Z.geojson.gz";
    all.extend(read(july, feed::Kind::NwsAlerts).0);
    for message in all {
        let json = serde_json::to_string(&message).unwrap();
        assert_eq!(serde_json::from_str::<alert::Message>(&json).unwrap(), message);
    }
}

/// Every name of an event that the weather service publishes or has published, or that a file here
/// has, in an alert without VTEC.
#[test]
fn every_name_of_an_event_has_its_kind() {
    let names = include_str!("../../../tests/data/nws_alerts/event_names.tsv");
    let mut counts = [0; 5];
    for line in names.lines().skip(1) {
        let [name, kind, _lists] = *line.split('\t').collect::<Vec<_>>() else { panic!("{line}") };
        for name in [name, &name.to_lowercase(), &format!(" {name} ")] {
            let alert = with_event(name);
            assert_eq!(alert.parts[0].alert_type.name(), kind, "{name}");
        }
        counts[with_event(name).parts[0].alert_type as usize] += 1;
    }
    // Only "Test" is of no kind.
    assert_eq!((counts.iter().sum::<usize>(), counts[4]), (136, 1));
    assert_eq!(with_event("Something New").parts[0].alert_type, alert::Type::Unknown);
    assert_eq!(with_event("Something New Watch").parts[0].alert_type, alert::Type::Watch);
    let sentence = "Somebody has said that there will be a Warning";
    assert_eq!(with_event(sentence).parts[0].alert_type, alert::Type::Unknown);
}

/// The names in real files are all in the table.
#[test]
fn the_table_of_names_holds_every_name_in_real_files() {
    let names = include_str!("../../../tests/data/nws_alerts/event_names.tsv");
    let names: Vec<&str> = names.lines().filter_map(|line| line.split('\t').next()).collect();
    let files = [
        "tests/data/nws_alerts/alerts_active_2026-05-14T163524Z.geojson.gz",
        "server-example/sample/alerts_active_2026-07-15T200045Z.geojson.gz",
    ];
    let mut all: Vec<alert::Message> =
        files.into_iter().flat_map(|file| read(file, feed::Kind::NwsAlerts).0).collect();
    // AirNow's events are sentences.
    let others = FILES.iter().filter(|(name, ..)| name.starts_with("nws_cap"));
    let others = others.filter(|(name, ..)| !name.contains("airnow") && !name.contains("utah"));
    all.extend(others.map(|(name, ..)| cap(name)));
    for text in all.iter().flat_map(|alert| &alert.parts).flat_map(|part| &part.texts) {
        assert!(names.contains(&text.event.as_deref().unwrap()), "{:?}", text.event);
    }
}

fn with_event(event: &str) -> alert::Message {
    let document = serde_json::json!({"type": "Feature", "geometry": null, "properties": {
        "id": "1", "sender": "a@example.org", "sent": "2026-05-14T16:29:01Z", "status": "Actual",
        "messageType": "Alert", "event": event,
    }});
    let mut all = Vec::new();
    feed::read_nws_alerts(document.to_string().as_bytes(), |alert| all.push(alert)).unwrap();
    all.remove(0)
}

/// Onset, severity, urgency, certainty, codes and the web link, from each of the three sources.
#[test]
fn what_cap_says_of_an_event_is_read_from_each_source() {
    let shown = |part: &alert::Part| {
        let words = (part.severity.unwrap(), part.urgency.unwrap(), part.certainty.unwrap());
        let onset = part.onset_ms.map(|ms| Iso8601(ms).to_string()).unwrap_or_default();
        let codes = serde_json::to_string(&(&part.event_codes, &part.same_codes)).unwrap();
        let web = part.texts.iter().map(|text| text.web.clone().unwrap_or_default());
        format!("{onset} {words:?} {codes} {}", web.collect::<Vec<_>>().join(" "))
    };
    assert_eq!(
        shown(&cap(STORM).parts[0]),
        "2026-04-14T00:16:00Z (Severe, Immediate, Observed) \
         [{\"NationalWeatherService\":[\"SVW\"],\"SAME\":[\"SVR\"]},\
         [\"039063\",\"039173\",\"039175\"]] http://www.weather.gov"
    );
    // Another page for each language.
    assert_eq!(
        shown(&cap(THUNDER).parts[0]),
        "2026-04-15T20:51:00Z (Moderate, Immediate, Likely) \
         [{\"SAME\":[\"SVR\"],\"profile:CAP-CP:Event:0.4\":[\"thunderstorm\"]},[]] \
         https://weather.gc.ca/ https://meteo.gc.ca/"
    );
    // Before 2022 the weather service called the codes of places FIPS6.
    assert_eq!(
        cap("nws_cap/nws-5c2cf27b1f56885d61654dc47fa411d5.xml").parts[0].same_codes.len(),
        2
    );
    let july = "server-example/sample/alerts_active_2026-07-15T200045Z.geojson.gz";
    let (all, _) = read(july, feed::Kind::NwsAlerts);
    let watch = |alert: &&alert::Message| {
        alert.parts[0].texts[0].event.as_deref() == Some("Flash Flood Watch")
    };
    assert_eq!(
        shown(&all.iter().find(watch).unwrap().parts[0]),
        "2026-07-16T20:00:00Z (Severe, Future, Possible) \
         [{\"NationalWeatherService\":[\"FFA\"],\"SAME\":[\"FFA\"]},\
         [\"030007\",\"030031\",\"030049\",\"030059\"]] http://www.weather.gov"
    );
}

/// One identifier is one message, whether it comes as XML, as JSON, or as both.
#[test]
fn one_identifier_in_two_feeds_is_one_message() {
    use mesonet::store::AlertStore;
    let xml = cap(STORM);
    let of_json = serde_json::json!({"type": "Feature", "geometry": null, "properties": {
        "id": xml.id, "sender": xml.sender, "sent": "2026-04-13T20:16:00-04:00",
        "status": "Actual", "messageType": "Alert", "event": "Severe Thunderstorm Warning",
    }});
    let mut json = Vec::new();
    feed::read_nws_alerts(of_json.to_string().as_bytes(), |alert| json.push(alert)).unwrap();
    let json = json.remove(0);
    assert_eq!((&json.id, json.sent_ms), (&xml.id, xml.sent_ms));
    for order in [[&xml, &json], [&json, &xml]] {
        let store = AlertStore::default();
        for message in order {
            store.append(vec![message.clone()]).unwrap();
        }
        let record = store.record();
        // The one that says more is kept.
        assert_eq!((record.messages.len(), &*record.messages[0]), (1, &xml));
    }
}

/// A document from 2019: without scope, and with different ids.
#[test]
fn an_older_document_is_read() {
    let path = "tests/data/nws_observation/pynws/alerts_active_zone.json";
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path);
    let mut all = Vec::new();
    let summary = feed::read_nws_alerts(&*fs::read(path).unwrap(), |alert| all.push(alert));
    let [flood] = &*all else { panic!("{summary:?}") };
    assert_eq!(flood.parts[0].alert_type, alert::Type::Watch);
    assert_eq!(Iso8601(flood.parts[0].event_end_ms.unwrap()).to_string(), "2019-12-22T18:00:00Z");
    assert_eq!(flood.references.len(), 4);
}

/// Samples from a system's maker, not alerts: they show forms that no real file has.
#[test]
fn forms_that_no_real_file_has() {
    let circle = cap("cap_not_real/Sample7_CAPCP_with_free_drawn_circle.xml");
    assert!(positions(&circle) >= 17);
    let update = cap("cap_not_real/Sample9_CAPCP_with_Minor_Update.xml");
    assert_eq!(update.references.len(), 1);
}
