use super::*;

fn code(text: &str) -> Code {
    text.parse().unwrap()
}

fn zone(text: &str, kind: ZoneKind, west: f64, east: f64) -> Zone {
    let corners = [[west, 50.0], [east, 50.0], [east, 52.0], [west, 52.0], [west, 50.0]];
    let geometry = serde_json::json!({"type": "Polygon", "coordinates": [corners]});
    let geometry = Some(serde_json::from_value(geometry).unwrap());
    Zone { geometry, ..Zone::new(code(text), kind) }
}

fn codes<'a>(zones: impl Iterator<Item = &'a Zone>) -> Vec<&'a str> {
    zones.map(|zone| zone.code.as_str()).collect()
}

#[test]
fn codes_have_two_forms() {
    for good in ["000001", "041320", "OKC001", "OKZ025", "PZZ110", "OKC000"] {
        let parsed = code(good);
        assert_eq!(parsed.to_string(), good);
        let json = serde_json::to_string(&parsed).unwrap();
        assert_eq!(serde_json::from_str::<Code>(&json).unwrap(), parsed);
    }
    for bad in [
        "",
        "04132",
        "0413200",
        " 041320",
        "04132O",
        "okz025",
        "OKX025",
        "O1Z025",
        "OKZ02",
        "OKZALL",
        "OKZ02A",
        "082640-082713",
        "٠٤١٣٢٠",
        "OKZ0é",
    ] {
        let error = bad.parse::<Code>().unwrap_err();
        assert!(
            error
                .to_string()
                .starts_with(&format!("\"{bad}\" is not a zone code; allowed are six"))
        );
    }
    assert!(code("041320").is_clc() && !code("OKC001").is_clc());
    assert!(code("OKC001").is_county() && !code("OKZ001").is_county());
}

#[test]
fn kinds_have_names_and_forms_of_codes() {
    for kind in ZoneKind::ALL {
        assert_eq!(kind.to_string().parse(), Ok(kind));
        assert_eq!(serde_json::to_value(kind).unwrap(), kind.name());
        assert_eq!(kind.has(code("041320")), kind == ZoneKind::Base);
        assert_eq!(kind.has(code("OKC001")), kind == ZoneKind::County);
    }
    assert!(ZoneKind::Fire.has(code("OKZ025")) && ZoneKind::Marine.has(code("OKZ025")));
    assert_eq!(
        "land".parse::<ZoneKind>().unwrap_err().to_string(),
        "\"land\" is not a zone kind; allowed are base, public, marine, fire and county"
    );
}

#[test]
fn a_later_description_adds_to_an_earlier_one_and_wins() {
    let named = Zone {
        name_en: Some("Old".to_owned()),
        name_fr: Some("Vieux".to_owned()),
        area_km2: Some(1.0),
        ..zone("041320", ZoneKind::Base, -83.0, -82.0)
    };
    let newer = Zone {
        name_en: Some("New".to_owned()),
        centroid: Some(LonLat::new(-82.5, 51.0).unwrap()),
        geometry: zone("041320", ZoneKind::Base, -82.0, -81.0).geometry,
        ..Zone::new(code("041320"), ZoneKind::Base)
    };
    let zones =
        Zones::new([named.clone(), zone("041310", ZoneKind::Base, 0.0, 1.0), newer.clone()]);
    assert_eq!(codes(zones.iter()), ["041310", "041320"]);
    let expected =
        Zone { name_fr: named.name_fr.clone(), area_km2: named.area_km2, ..newer.clone() };
    assert_eq!(zones.get(code("041320")), Some(&expected));
    let reversed = Zones::new([newer.clone(), named.clone()]);
    assert_eq!(reversed.get(code("041320")).unwrap().geometry, named.geometry);
}

#[test]
fn zones_are_found_by_code_and_kind() {
    let zones = Zones::new([
        zone("OKZ025", ZoneKind::Fire, 0.0, 1.0),
        zone("OKZ025", ZoneKind::Public, 0.0, 2.0),
        zone("OKZ099", ZoneKind::Fire, 5.0, 6.0),
    ]);
    assert_eq!(zones.len(), 3);
    let kind = |found: Option<&Zone>| found.map(|zone| zone.kind);
    assert_eq!(kind(zones.get(code("OKZ025"))), Some(ZoneKind::Public));
    assert_eq!(kind(zones.get(code("OKZ099"))), Some(ZoneKind::Fire));
    assert_eq!(kind(zones.of_kind(code("OKZ025"), ZoneKind::Fire)), Some(ZoneKind::Fire));
    assert_eq!(kind(zones.of_kind(code("OKZ099"), ZoneKind::Public)), None);
    assert_eq!(kind(zones.get(code("OKZ100"))), None);
    let place = zones.position(code("OKZ099"), ZoneKind::Fire).unwrap();
    assert_eq!(zones.iter().nth(place).unwrap().code, code("OKZ099"));
}

#[test]
fn zones_are_found_by_box_and_place_across_the_antimeridian_too() {
    let zones = Zones::new([
        zone("AKZ787", ZoneKind::Public, 178.0, -179.0),
        zone("AKZ788", ZoneKind::Public, -179.0, -170.0),
        Zone {
            centroid: Some(LonLat::new(179.0, 51.0).unwrap()),
            ..Zone::new(code("041320"), ZoneKind::Base)
        },
    ]);
    let at = |lon| codes(zones.at(LonLat::new(lon, 51.0).unwrap()));
    assert_eq!(at(179.0), ["AKZ787"]);
    assert_eq!(at(180.0), ["AKZ787"]);
    assert_eq!(at(-180.0), ["AKZ787"]);
    assert_eq!(at(-179.0), ["AKZ787", "AKZ788"]);
    assert_eq!(at(0.0), [""; 0]);
    let within = |west, east| codes(zones.in_box(BBox::new(west, 50.5, east, 51.0).unwrap()));
    assert_eq!(within(170.0, 179.0), ["AKZ787"]);
    assert_eq!(within(179.9, -170.0), ["AKZ787", "AKZ788"]);
    assert_eq!(within(-175.0, -170.0), ["AKZ788"]);
    assert_eq!(within(-180.0, 180.0), ["AKZ787", "AKZ788"]);
    assert_eq!(within(-100.0, 100.0), [""; 0]);
}

#[test]
fn a_zone_is_a_feature_without_unknown_fields() {
    let full = Zone {
        name_en: Some("Sarnia".to_owned()),
        name_fr: Some("Sarnia".to_owned()),
        area_km2: Some(1650.018),
        centroid: Some(LonLat::new(-82.25, 42.875).unwrap()),
        ..zone("041320", ZoneKind::Base, 0.0, 1.0)
    };
    assert_eq!(
        serde_json::to_string(&full).unwrap(),
        concat!(
            r#"{"type":"Feature","id":"041320","geometry":{"type":"Polygon","coordinates":"#,
            r#"[[[0.0,50.0],[1.0,50.0],[1.0,52.0],[0.0,52.0],[0.0,50.0]]]},"properties":{"#,
            r#""clcCode":"041320","kind":"base","nameEn":"Sarnia","nameFr":"Sarnia","#,
            r#""areaKm2":1650.018,"centroid":{"lat":42.875,"lon":-82.25}}}"#
        )
    );
    let bare = Zone::new(code("OKC001"), ZoneKind::County);
    assert_eq!(
        serde_json::to_string(&bare).unwrap(),
        concat!(
            r#"{"type":"Feature","id":"OKC001","geometry":null,"#,
            r#""properties":{"clcCode":"OKC001","ugcCode":"OKC001","kind":"county","nameEn":"OKC001","#,
            r#""nameFr":"OKC001"}}"#
        )
    );
}

/// The interface requires both names.
#[test]
fn a_zone_has_a_name_in_both_languages() {
    let names = |english: Option<&str>, french: Option<&str>| {
        let zone = Zone {
            name_en: english.map(str::to_owned),
            name_fr: french.map(str::to_owned),
            ..Zone::new(code("041320"), ZoneKind::Base)
        };
        let feature = serde_json::to_value(zone).unwrap();
        let name = |name: &str| feature["properties"][name].as_str().unwrap().to_owned();
        (name("nameEn"), name("nameFr"))
    };
    let pair = |en: &str, fr: &str| (en.to_owned(), fr.to_owned());
    assert_eq!(names(Some("Ottawa South"), Some("Ottawa sud")), pair("Ottawa South", "Ottawa sud"));
    assert_eq!(names(Some("Sarnia"), None), pair("Sarnia", "Sarnia"));
    assert_eq!(names(None, Some("Baie-Comeau")), pair("Baie-Comeau", "Baie-Comeau"));
    assert_eq!(names(None, None), pair("041320", "041320"));
}

/// A zone out of use is found by its code, which old alerts name, but not by place; a newer
/// description takes it into use again.
#[test]
fn a_retired_zone_is_found_by_its_code_alone() {
    let retired = Zone { is_retired: true, ..zone("SCZ047", ZoneKind::Public, 0.0, 2.0) };
    let zones = Zones::new([retired.clone(), zone("SCZ147", ZoneKind::Public, 0.0, 2.0)]);
    let here = LonLat::new(1.0, 51.0).unwrap();
    assert_eq!(codes(zones.at(here)), ["SCZ147"]);
    assert_eq!(codes(zones.in_box(BBox::new(0.0, 50.0, 1.0, 51.0).unwrap())), ["SCZ147"]);
    assert_eq!(zones.get(code("SCZ047")), Some(&retired));
    assert!(serde_json::to_string(&retired).unwrap().contains(r#""retired":true"#));
    let zones = Zones::new([retired, zone("SCZ047", ZoneKind::Public, 0.0, 2.0)]);
    assert_eq!(codes(zones.at(here)), ["SCZ047"]);
}

#[test]
fn the_names_and_the_area_of_a_later_description_win() {
    let described = |en: &str, fr: &str, area_km2, lon| Zone {
        name_en: Some(en.to_owned()),
        name_fr: Some(fr.to_owned()),
        area_km2: Some(area_km2),
        centroid: Some(LonLat::new(lon, 51.0).unwrap()),
        ..Zone::new(code("041320"), ZoneKind::Base)
    };
    let (old, new) = (described("Old", "Vieux", 1.0, -82.0), described("New", "Neuf", 2.0, -81.0));
    let zones = Zones::new([old.clone(), new.clone()]);
    assert_eq!(zones.get(code("041320")), Some(&new));
    // Fields that are not repeated stay.
    let bare = Zone::new(code("041320"), ZoneKind::Base);
    assert_eq!(Zones::new([old.clone(), bare]).get(code("041320")), Some(&old));
}

/// 180° and −180° are one meridian, even for a zone that ends there without crossing it.
#[test]
fn a_zone_that_ends_at_the_antimeridian_is_found_from_either_side() {
    for (west, east) in [(177.0, 180.0), (-180.0, -177.0)] {
        let zones = Zones::new([zone("AKZ787", ZoneKind::Public, west, east)]);
        let at = |lon| codes(zones.at(LonLat::new(lon, 51.0).unwrap()));
        assert_eq!(at(180.0), ["AKZ787"], "{west}");
        assert_eq!(at(-180.0), ["AKZ787"], "{west}");
        assert_eq!(at(f64::midpoint(west, east)), ["AKZ787"], "{west}");
        assert_eq!(at(-f64::midpoint(west, east)), [""; 0], "{west}");
        let within = |west, east| codes(zones.in_box(BBox::new(west, 50.5, east, 51.0).unwrap()));
        assert_eq!(within(170.0, 180.0), ["AKZ787"], "{west}");
        assert_eq!(within(-180.0, -170.0), ["AKZ787"], "{west}");
        assert_eq!(within(179.0, -179.0), ["AKZ787"], "{west}");
        assert_eq!(within(-176.9, 176.9), [""; 0], "{west}");
    }
}
