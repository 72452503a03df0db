use std::io::Read;

use super::*;
use crate::alert;
use crate::alert::AreaKind;
use crate::feed::summary::RefusalReason;

const NAMESPACE: &str = "urn:oasis:names:tc:emergency:cap:1.2";
const HEAD: &str = "<identifier>1</identifier><sender>a@example.org</sender>\
    <sent>2026-08-12T23:07:41-00:00</sent><status>Actual</status><msgType>Alert</msgType>\
    <scope>Public</scope>";

fn alert(inside: &str) -> String {
    format!("<alert xmlns=\"{NAMESPACE}\">{inside}</alert>")
}

fn read_all(text: &str) -> Result<(Vec<alert::Message>, Summary), FeedError> {
    let mut all = Vec::new();
    let summary = read_cap(text.as_bytes(), |alert| all.push(alert))?;
    Ok((all, summary))
}

fn one(inside: &str) -> (alert::Message, Summary) {
    let (mut all, summary) = read_all(&alert(inside)).unwrap();
    assert_eq!((all.len(), summary.read, summary.refused), (1, 1, 0), "{summary:?}");
    (all.remove(0), summary)
}

fn refusal(text: &str) -> RefusalReason {
    let (all, mut summary) = read_all(text).unwrap();
    assert_eq!((all.len(), summary.refused), (0, 1));
    summary.refusals.remove(0).reason
}

fn area(inside: &str) -> String {
    format!("{HEAD}<info><event>x</event><area><areaDesc>d</areaDesc>{inside}</area></info>")
}

#[test]
fn unofficial_alerts_are_refused_with_the_reason() {
    for (field, value, allowed) in [
        ("status", "Exercise", "Actual"),
        ("status", "System", "Actual"),
        ("status", "Test", "Actual"),
        ("status", "Draft", "Actual"),
        ("scope", "Restricted", "Public"),
        ("scope", "Private", "Public"),
        ("msgType", "Ack", "Alert, Update and Cancel"),
        ("msgType", "Error", "Alert, Update and Cancel"),
    ] {
        let start = HEAD.find(&format!("<{field}>")).unwrap();
        let end = HEAD.find(&format!("</{field}>")).unwrap();
        let text = format!("{}<{field}>{value}{}", &HEAD[..start], &HEAD[end..]);
        assert_eq!(
            refusal(&alert(&text)).to_string(),
            format!("not an official alert: {field} is {value:?}; allowed: {allowed}")
        );
        let without = format!("{}{}", &HEAD[..start], &HEAD[end + field.len() + 3..]);
        assert_eq!(refusal(&alert(&without)).to_string(), format!("no {field}"));
    }
    let test = "<info><parameter><valueName>VTEC</valueName>\
        <value>/T.NEW.KCLE.SV.W.0063.260414T0016Z-260414T0115Z/</value></parameter></info>";
    assert!(
        refusal(&alert(&format!("{HEAD}{test}"))).to_string().contains("any class except T (test)")
    );
}

#[test]
fn a_field_that_occurs_twice_is_refused() {
    let twice = format!("{HEAD}<identifier>2</identifier>");
    assert_eq!(refusal(&alert(&twice)).to_string(), "identifier occurs twice");
    let twice = format!("{HEAD}<info><event>a</event><event>b</event></info>");
    assert_eq!(refusal(&alert(&twice)).to_string(), "event occurs twice");
}

#[test]
fn a_message_is_found_anywhere_and_a_bad_one_does_not_affect_others() {
    let text = format!(
        "<x:feed xmlns:x=\"y\" xmlns:c=\"{NAMESPACE}\"><c:alert>{HEAD}</c:alert><c:alert/>\
         <c:alert><identifier>2</identifier></c:alert><c:alert>{HEAD}</c:alert></x:feed>"
    );
    let (all, summary) = read_all(&text).unwrap();
    assert_eq!((all.len(), summary.read, summary.refused), (2, 2, 1));
    assert_eq!(summary.refusals[0].excerpt, "2");
}

#[test]
fn documents_without_cap_are_refused() {
    for text in ["", "<alert/>", "<alert xmlns=\"urn:oasis:names:tc:emergency:cap:1.3\"></alert>"] {
        let error = read_all(text).unwrap_err();
        assert!(matches!(error, FeedError::NotThisKind(_)), "{text}: {error}");
    }
    assert!(matches!(read_all(&alert(HEAD)[..200]), Err(FeedError::Xml { .. })));
}

#[test]
fn a_document_with_entities_of_its_own_is_refused() {
    let bomb = "<!DOCTYPE alert [<!ENTITY a \"ha\"><!ENTITY b \"&a;&a;&a;&a;&a;&a;&a;&a;\">]>";
    let text = format!("{bomb}{}", alert(&HEAD.replace(">1<", ">&b;<")));
    let error = read_all(&text).unwrap_err().to_string();
    assert!(error.ends_with("a document type, which is not allowed"), "{error}");
    let error = read_all(&alert(&HEAD.replace(">1<", ">&b;<"))).unwrap_err().to_string();
    assert!(error.ends_with("an entity that XML does not predefine"), "{error}");
    // Those of XML itself are read.
    let (message, _) = one(&HEAD.replace(">1<", ">a&amp;&lt;&#98;&#x63;<"));
    assert_eq!(message.id, "a&<bc");
    assert_eq!(one(&HEAD.replace(">1<", "><![CDATA[&b;]]><")).0.id, "&b;");
}

#[test]
fn documents_longer_or_deeper_than_any_real_message_are_refused() {
    // 50 MB, generated while they are read.
    let head = format!("<alert xmlns=\"{NAMESPACE}\"><note>");
    let endless = head.as_bytes().chain(std::io::repeat(b'x')).take(50_000_000);
    let error = read_cap(std::io::BufReader::new(endless), |_| ()).unwrap_err().to_string();
    assert!(error.ends_with("more than 8388608 bytes between two tags"), "{error}");
    let tags = alert(&"<note>x</note>".repeat(50_000_000 / 14));
    let error = read_all(&tags).unwrap_err().to_string();
    assert_eq!(error, "the file is longer than 16777216 bytes, the most that is read");
    let deep = alert(&format!("{}{}", "<a>".repeat(40), "</a>".repeat(40)));
    assert!(read_all(&deep).unwrap_err().to_string().ends_with("more than 32 levels of elements"));
}

#[test]
fn the_parts_of_a_message_are_counted_before_they_are_kept() {
    let infos = "<info><event>x</event></info>".repeat(65);
    let text = refusal(&alert(&format!("{HEAD}{infos}"))).to_string();
    assert_eq!(text, "more than 64 info blocks");
    let areas = "<area><areaDesc>d</areaDesc></area>".repeat(5_001);
    let text = refusal(&alert(&format!("{HEAD}<info>{areas}</info>"))).to_string();
    assert_eq!(text, "more than 5000 areas");
    let polygon = format!("<polygon>{}</polygon>", "1,1 ".repeat(500_001));
    assert_eq!(refusal(&alert(&area(&polygon))).to_string(), "more than 500000 positions");
    let geocodes =
        "<geocode><valueName>UGC</valueName><value>OHC063</value></geocode>".repeat(5_001);
    assert_eq!(refusal(&alert(&area(&geocodes))).to_string(), "more than 5000 geocodes");
    let references = format!("<references>{}</references>", "a,b,c ".repeat(2_001));
    let text = refusal(&alert(&format!("{HEAD}{references}"))).to_string();
    assert_eq!(text, "more than 2000 references");
    let parameters = "<parameter><valueName>a</valueName></parameter>".repeat(5_001);
    let text = refusal(&alert(&format!("{HEAD}<info>{parameters}</info>"))).to_string();
    assert_eq!(text, "more than 5000 parameters");
}

#[test]
fn a_circle_becomes_a_polygon_within_the_tolerance() {
    let (message, summary) = one(&area("<circle>43.7,-79.4 20.0</circle>"));
    let geometry = message.parts[0].areas[0].geometry.as_ref().unwrap();
    let center = crate::geo::LonLat::new(-79.4, 43.7).unwrap();
    let ring: Vec<_> = geometry.polygons()[0].exterior().collect();
    for at in &ring {
        assert!((center.distance_km(*at) - 20.0).abs() < 0.001);
    }
    for edge in ring.windows(2) {
        let middle = crate::geo::LonLat::new(
            f64::midpoint(edge[0].lon(), edge[1].lon()),
            f64::midpoint(edge[0].lat(), edge[1].lat()),
        );
        assert!(20.0 - center.distance_km(middle.unwrap()) <= 0.2);
    }
    assert_eq!(
        (message.parts[0].areas[0].kind, summary.unread_values.total()),
        (AreaKind::Coverage, 0)
    );
    // A place is not an area.
    let (message, summary) = one(&area("<circle>43.7,-79.4 0</circle>"));
    assert_eq!((&message.parts[0].areas[0].geometry, summary.unread_values.total()), (&None, 0));
}

#[test]
fn invalid_areas_are_left_out_and_counted_and_an_open_ring_is_closed() {
    for wrong in [
        "<polygon>1,1 2,2</polygon>",
        "<polygon>1,1 2,2 3,3 1,1</polygon>",
        "<polygon>1,1 91,2 3,1 1,1</polygon>",
        "<polygon>1,1 1,nan 3,1 1,1</polygon>",
        "<polygon>a</polygon>",
        "<circle>43.7,-79.4</circle>",
        "<circle>43.7,-79.4 -1</circle>",
        "<circle>43.7,-79.4 inf</circle>",
        "<circle>43.7,-79.4 30000</circle>",
    ] {
        let (message, summary) = one(&area(wrong));
        assert_eq!(message.parts[0].areas[0].geometry, None, "{wrong}");
        assert_eq!(summary.unread_values.total(), 1, "{wrong}");
    }
    let (message, _) = one(&area("<polygon>1,1 2,1 2,2</polygon>"));
    let geometry = message.parts[0].areas[0].geometry.as_ref().unwrap();
    assert_eq!(geometry.polygons()[0].exterior().len(), 4);
    assert_eq!(one(&area("<polygon></polygon>")).1.unread_values.total(), 0);
}

#[test]
fn an_area_of_several_zones_is_an_area_for_each() {
    let geocode =
        |code| format!("<geocode><valueName>UGC</valueName><value>{code}</value></geocode>");
    let codes = ["OHC063", "OHC173", "OHC063", "what"].map(geocode).concat();
    let text = area(&format!("<polygon>1,1 2,1 2,2 1,1</polygon>{codes}"))
        .replace("<areaDesc>d<", "<areaDesc>Hancock, OH; Wood, OH<");
    let (message, summary) = one(&text);
    let part = &message.parts[0];
    assert_eq!(part.texts[0].areas, ["Hancock, OH; Wood, OH", "Hancock, OH", "Wood, OH"]);
    let codes: Vec<_> =
        part.areas.iter().map(|area| area.code.map(|code| code.to_string())).collect();
    assert_eq!(codes, [None, Some("OHC063".to_owned()), Some("OHC173".to_owned())]);
    let drawn: Vec<_> = part.areas.iter().map(|area| area.geometry.is_some()).collect();
    assert_eq!(drawn, [true, false, false]);
    assert_eq!(summary.unread_values.iter().collect::<Vec<_>>(), [("UGC", 1)]);
}

#[test]
fn the_same_in_several_languages_is_one_part() {
    let block = |language: &str, status: &str| {
        format!(
            "<info><language>{language}</language><event>{language}</event><parameter>\
             <valueName>layer:EC-MSC-SMC:1.0:Alert_Location_Status</valueName>\
             <value>{status}</value></parameter></info>"
        )
    };
    let blocks = [("en-CA", "active"), ("fr-CA", "active"), ("en-CA", "ended"), ("fr-CA", "ended")];
    let blocks = blocks.map(|(language, status)| block(language, status)).concat();
    let (message, _) = one(&format!("{HEAD}{blocks}"));
    assert_eq!(message.message_type, alert::MessageType::Alert);
    let languages: Vec<Vec<&str>> = message
        .parts
        .iter()
        .map(|part| part.texts.iter().map(|text| text.language.as_str()).collect())
        .collect();
    assert_eq!(languages, [["en-CA", "fr-CA"], ["en-CA", "fr-CA"]]);
    assert_eq!(message.parts[0].text("fr").unwrap().event.as_deref(), Some("fr-CA"));
    assert_eq!(message.parts[0].text("es").unwrap().event.as_deref(), Some("en-CA"));
}

#[test]
fn the_newer_layer_wins_where_they_disagree() {
    let parameter = |layer: &str, value: &str| {
        format!(
            "<parameter><valueName>layer:EC-MSC-SMC:{layer}:Alert_Location_Status</valueName>\
             <value>{value}</value></parameter>"
        )
    };
    let both = [parameter("1.0", "active"), parameter("1.1", "ended")].concat();
    let (message, _) = one(&format!("{HEAD}<info>{both}</info>"));
    assert_eq!(message.parts[0].outcome, crate::alert::Outcome::Ended);
}

#[test]
fn a_storm_of_the_weather_service_moves_away_from_where_it_comes() {
    let motion = "2026-04-14T00:16:00-00:00...storm...286DEG...25KT...41.62,-83.69 41.33,-83.86";
    let storm = nws::storm(motion).unwrap();
    assert_eq!(
        (storm.direction_deg, storm.speed_kmh, storm.points.len()),
        (Some(106.0), Some(46.3), 2)
    );
    for wrong in ["", "x...storm...286DEG...25KT...41.62,-83.69", &motion.replace("286", "386")] {
        assert_eq!(nws::storm(wrong), None);
    }
}
