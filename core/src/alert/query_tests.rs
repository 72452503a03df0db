use super::*;
use crate::alert::ThreatStatus;

fn square(west: i32, kind: &str) -> MultiPolygon {
    let east = west + 1;
    let text = format!(
        r#"{{"type":"Polygon","coordinates":[[[{west},40],[{east},40],[{east},41],[{west},41],[{west},40]]]}}"#
    );
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{kind}: {error}"))
}

fn zones() -> Zones {
    let zone = |code: &str, kind, west| Zone {
        geometry: Some(square(west, code)),
        ..Zone::new(code.parse().unwrap(), kind)
    };
    Zones::new([
        zone("OHC063", zone::ZoneKind::County, -80),
        zone("CAZ567", zone::ZoneKind::Public, -120),
        zone("CAZ567", zone::ZoneKind::Fire, -110),
        zone("CAZ568", zone::ZoneKind::Fire, -115),
    ])
}

fn area(code: &str) -> MessageArea {
    let code = Some(code.parse().unwrap());
    MessageArea { kind: AreaKind::Coverage, code, ..MessageArea::default() }
}

fn alert(areas: Vec<MessageArea>) -> (Message, AlertState) {
    let state = AlertState {
        status: Status::Active,
        areas: vec![Status::Active; areas.len()],
        next_ids: vec![],
    };
    let part = Part { areas, ..Part::default() };
    (Message { parts: vec![part], ..Message::default() }, state)
}

fn is_at(of: &(Message, AlertState), lon: f64, is_active: bool) -> bool {
    let at = Some(LonLat::new(lon, 40.5).unwrap());
    let bbox = Some(BBox::new(lon - 0.1, 40.4, lon + 0.1, 40.6).unwrap());
    let query = |at, bbox| Query { bbox, at, is_active, ..Query::default() };
    let [by_place, by_box] =
        [query(at, None), query(None, bbox)].map(|query| query.is_met(&of.0, &of.1, &zones()));
    assert_eq!(by_place, by_box, "{lon}");
    by_place
}

#[test]
fn an_alert_is_where_its_zones_are() {
    let county = alert(vec![area("OHC063")]);
    assert!(is_at(&county, -79.5, true) && !is_at(&county, -78.5, true));
    assert!(!is_at(&alert(vec![area("OHC999")]), -79.5, true), "an unknown zone");
}

#[test]
fn a_fire_weather_zone_is_not_the_forecast_zone_of_its_code() {
    let forecast = alert(vec![area("CAZ567")]);
    assert!(is_at(&forecast, -119.5, true) && !is_at(&forecast, -109.5, true));
    let fire = alert(vec![MessageArea { is_fire_zone: true, ..area("CAZ567") }]);
    assert!(!is_at(&fire, -119.5, true) && is_at(&fire, -109.5, true));
    assert!(!is_at(&alert(vec![area("CAZ568")]), -114.5, true), "known as a fire zone only");
}

#[test]
fn an_outline_takes_precedence_over_its_zones() {
    let drawn = MessageArea { geometry: Some(square(-90, "drawn")), ..MessageArea::default() };
    let storm = alert(vec![drawn, area("OHC063")]);
    assert!(is_at(&storm, -89.5, true) && !is_at(&storm, -79.5, true));
}

#[test]
fn zones_whose_outlines_are_not_known_are_named_unless_something_is_drawn() {
    let missing = |areas| {
        let message = alert(areas).0;
        let missing = missing_zones(&message, &zones());
        missing.into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    let bare = Zone::new("OHC064".parse().unwrap(), zone::ZoneKind::County);
    let of_message = alert(vec![area("OHC064"), area("OHC063")]).0;
    assert_eq!(missing_zones(&of_message, &Zones::new([bare])).len(), 2, "known, but not outlined");
    // The forecast zone of a code is not the fire weather zone.
    let all = ["OHC063", "SCZ047", "CAZ568", "SCZ047", "CAZ567"].map(area).to_vec();
    assert_eq!(missing(all.clone()), ["SCZ047", "CAZ568"]);
    let drawn = MessageArea { geometry: Some(square(-90, "drawn")), ..MessageArea::default() };
    assert_eq!(missing([vec![drawn], all].concat()), [""; 0]);
    assert_eq!(missing(vec![]), ["an area without a name"]);
    assert_eq!(missing(vec![MessageArea::default()]), ["an area without a name"]);
}

#[test]
fn where_an_alert_has_ended_it_is_not_in_force() {
    let mut alert = alert(vec![area("OHC063"), area("CAZ567")]);
    alert.1.areas[1] = Status::Ended;
    assert!(is_at(&alert, -119.5, false) && !is_at(&alert, -119.5, true));
    assert!(is_at(&alert, -79.5, true));
    let all = zones();
    assert_eq!(outlines(&alert.0, &alert.1, &all), [&square(-80, "")]);
    let of_code = |code: &str, is_active| {
        let query = Query { codes: vec![code.parse().unwrap()], is_active, ..Query::default() };
        query.is_met(&alert.0, &alert.1, &all)
    };
    assert!(of_code("OHC063", true) && of_code("CAZ567", false));
    assert!(!of_code("CAZ567", true) && !of_code("CAZ568", false));
    alert.1.status = Status::Ended;
    assert!(!is_at(&alert, -79.5, true) && is_at(&alert, -79.5, false));
}

#[test]
fn the_outline_is_that_of_the_zones_and_else_that_of_the_threat_area() {
    let drawn = |west, kind| MessageArea {
        kind,
        threat_status: ThreatStatus::Issued,
        geometry: Some(square(west, "")),
        ..MessageArea::default()
    };
    let all = zones();
    let (zone, threat) = (drawn(-90, AreaKind::Coverage), drawn(-95, AreaKind::ThreatArea));
    let (message, state) = alert(vec![zone, threat.clone()]);
    assert_eq!(outlines(&message, &state, &all), [&square(-90, "")]);
    let (message, state) = alert(vec![threat]);
    assert_eq!(outlines(&message, &state, &all), [&square(-95, "")]);
}
