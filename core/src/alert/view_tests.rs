use super::*;
use Status::{Active, Cancelled, Ended};

fn text(language: &str, headline: &str, areas: &[&str]) -> Text {
    Text {
        language: language.to_owned(),
        headline: headline.to_owned(),
        areas: areas.iter().map(|&area| area.to_owned()).collect(),
        ..Text::default()
    }
}

/// A part of some zones, in two languages, the other one first.
fn part(headline: &str, codes: &[&str]) -> Part {
    let area = |code: &&str| MessageArea {
        kind: AreaKind::Coverage,
        code: Some(code.parse().unwrap()),
        ..MessageArea::default()
    };
    Part {
        texts: vec![
            text("fr-CA", &format!("{headline} en français"), codes),
            text("en-CA", headline, codes),
        ],
        areas: codes.iter().map(area).collect(),
        ..Part::default()
    }
}

fn message(parts: Vec<Part>) -> Message {
    Message { sender: "a@example.org".to_owned(), parts, ..Message::default() }
}

fn state(areas: &[Status]) -> AlertState {
    let status = areas.iter().copied().min().unwrap_or_default();
    AlertState { status, areas: areas.to_vec(), next_ids: vec![] }
}

/// The text is that of the first part that is in force anywhere, the areas those of all.
#[test]
fn the_words_are_those_of_the_first_part_that_is_in_force() {
    let message = message(vec![
        part("one", &["041310", "041320"]),
        part("two", &["OHC063"]),
        part("three", &["OHC064"]),
    ]);
    for (areas, headline) in [
        ([Active, Active, Active, Active], "one"),
        ([Ended, Active, Active, Active], "one"),
        ([Ended, Ended, Active, Active], "two"),
        ([Ended, Cancelled, Ended, Active], "three"),
        ([Ended, Ended, Cancelled, Ended], "one"),
    ] {
        let state = state(&areas);
        let alert = Alert::new(&message, &state, "en");
        assert_eq!(alert.alert_headline, headline, "{areas:?}");
        let shown: Vec<_> =
            alert.areas.iter().map(|area| (area.description, area.status)).collect();
        let names = ["041310", "041320", "OHC063", "OHC064"];
        assert_eq!(shown, names.into_iter().zip(areas).collect::<Vec<_>>());
    }
}

#[test]
fn text_is_in_the_requested_language_or_else_the_first() {
    let message = message(vec![part("one", &["041310"])]);
    let state = state(&[Active]);
    let of = |language| {
        let alert = Alert::new(&message, &state, language);
        (alert.alert_headline, alert.language.unwrap())
    };
    assert_eq!(of("en"), ("one", "en-CA"));
    assert_eq!(of("fr"), ("one en français", "fr-CA"));
    assert_eq!(of("es"), ("one en français", "fr-CA"));
}

#[test]
fn an_issuer_without_a_name_is_shown_by_its_address() {
    let mut message = message(vec![part("one", &["041310"])]);
    let state = state(&[Active]);
    assert_eq!(Alert::new(&message, &state, "en").issuer, "a@example.org");
    message.parts[0].texts[1].issuer = "Environment Canada".to_owned();
    assert_eq!(Alert::new(&message, &state, "en").issuer, "Environment Canada");
    assert_eq!(Alert::new(&message, &state, "fr").issuer, "a@example.org");
}

#[test]
fn each_country_has_its_own_code_and_fire_zones_say_so() {
    let mut message = message(vec![part("one", &["041310", "CAZ567"])]);
    message.parts[0].areas[1].is_fire_zone = true;
    let state = state(&[Active, Active]);
    let areas = Alert::new(&message, &state, "en").areas;
    let code = |code: Option<zone::Code>| code.map(|code| code.to_string());
    assert_eq!((code(areas[0].clc_code), code(areas[0].ugc_code)), (Some("041310".into()), None));
    // `clcCode` is required of every zone.
    let both = (Some("CAZ567".into()), Some("CAZ567".into()));
    assert_eq!((code(areas[1].clc_code), code(areas[1].ugc_code)), both);
    assert_eq!([areas[0].zone_kind, areas[1].zone_kind], [None, Some(zone::ZoneKind::Fire)]);
}

/// Outer rings and holes are separate rings, each ending at its first position.
#[test]
fn outlines_are_given_ring_by_ring() {
    let drawn = r#"{"type":"Polygon","coordinates":[
        [[0,40],[9,40],[9,49],[0,49],[0,40]], [[1,41],[1,42],[2,42],[2,41],[1,41]]]}"#;
    let mut message = message(vec![part("one", &["041310"])]);
    message.parts[0].areas[0].geometry = Some(serde_json::from_str(drawn).unwrap());
    let state = state(&[Active]);
    let alert = Alert::new(&message, &state, "en");
    let rings = &alert.areas[0].polygons;
    assert_eq!(rings.len(), 2);
    assert!(rings.iter().all(|ring| ring.len() == 5 && ring[0] == ring[4]));
    assert_eq!((rings[0][0], rings[1][0].lat), (LatLon { lat: 40.0, lon: 0.0 }, 41.0));
}
