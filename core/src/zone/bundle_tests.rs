use proptest::prelude::*;

use super::*;

fn place(lon: f64, lat: f64) -> LonLat {
    LonLat::new(lon, lat).unwrap()
}

fn full() -> Zone {
    let outline = r#"{"type":"MultiPolygon","coordinates":[
        [[[179,51],[-179,51],[-179,53.25],[179,53.25],[179,51]]],
        [[[0,0],[10,0],[10,10],[0,10],[0,0]],[[4,4],[4,6],[6,6],[6,4],[4,4]]]]}"#;
    Zone {
        name_en: Some("Aleutians".to_owned()),
        name_fr: Some("Aléoutiennes".to_owned()),
        centroid: Some(place(-179.99, 52.123_456_789)),
        area_km2: Some(17_000.5),
        geometry: Some(serde_json::from_str(outline).unwrap()),
        ..Zone::new("041320".parse().unwrap(), ZoneKind::Base)
    }
}

#[test]
fn bundles_round_trip_and_the_same_zones_give_the_same_bytes() {
    let bare = Zone { is_retired: true, ..Zone::new("OKZ025".parse().unwrap(), ZoneKind::Fire) };
    let zones = Zones::new([full(), bare.clone()]);
    let bytes = zones.to_bundle().unwrap();
    let again = Zones::from_bundle(&bytes).unwrap();
    assert_eq!(again.iter().collect::<Vec<_>>(), [&full(), &bare]);
    assert_eq!(Zones::new([bare, full()]).to_bundle().unwrap(), bytes);
    assert_eq!(again.version(), zones.version());
}

#[test]
fn the_version_follows_the_content() {
    let version = |zone: Zone| Zones::new([zone]).version().unwrap();
    let known = version(full());
    assert_eq!(known.len(), 16);
    assert!(known.bytes().all(|digit| digit.is_ascii_hexdigit()));
    let renamed = Zone { name_fr: None, ..full() };
    let moved = Zone { geometry: full().geometry.unwrap().simplified(1.0).ok(), ..full() };
    let larger = Zone { area_km2: Some(17_000.75), ..full() };
    let retired = Zone { is_retired: true, ..full() };
    for other in [renamed, larger, retired, Zone { geometry: None, ..moved }] {
        assert_ne!(version(other), known);
    }
}

#[test]
fn an_invalid_bundle_is_refused_with_the_reason() {
    let bytes = Zones::new([full()]).to_bundle().unwrap();
    let refused = |bytes: &[u8]| Zones::from_bundle(bytes).unwrap_err().to_string();
    assert!(refused(&[]).starts_with("not a bundle of zones: "));
    assert!(refused(&bytes[..bytes.len() - 1]).starts_with("not a bundle of zones: "));
    assert_eq!(
        refused(&[&bytes[..], &[0]].concat()),
        "a bundle of zones must end with its last zone; got 1 extra bytes"
    );
    assert_eq!(refused(&[1]), "the bundle of zones must have format 3; got 1");
    let bundle = |change: fn(&mut Packed<'_>)| {
        let zone = full();
        let mut packed = pack(&zone);
        change(&mut packed);
        refused(&postcard::to_allocvec(&Bundle { format: FORMAT, zones: vec![packed] }).unwrap())
    };
    assert!(bundle(|zone| zone.code = "x").starts_with("\"x\" is not a zone code"));
    assert_eq!(bundle(|zone| zone.kind = ZoneKind::Fire), "zone 041320 cannot be of kind fire");
    assert_eq!(
        bundle(|zone| zone.decimals = 7),
        "positions of a zone must have at most 6 decimals; got 7"
    );
    assert_eq!(
        bundle(|zone| zone.polygons[0][0][1].0 = i32::MAX),
        "longitude must be from -180 to 180; got 21474836.47"
    );
    assert_eq!(bundle(|zone| zone.polygons[0].clear()), "a polygon needs an outer ring; got none");
    assert_eq!(
        bundle(|zone| zone.polygons[0][0].clear()),
        "a ring must have from 4 to 1000000 positions; got 0"
    );
    assert_eq!(
        bundle(|zone| zone.centroid = Some((0.0, 91.0))),
        "latitude must be from -90 to 90; got 91"
    );
}

proptest! {
    #[test]
    fn rings_of_any_precision_round_trip(
        corners in prop::collection::vec((-179_999_999..180_000_000_i32, -89_999_999..90_000_000_i32), 3..20),
        decimals in 0..=6_u32,
    ) {
        // Far apart on one side of the globe, so that no edge goes the other way round.
        let coarse = 10_i32.pow(6 - decimals);
        let degrees = |units: i32| f64::from(units / coarse * coarse) / 1e6;
        let mut ring: Vec<LonLat> =
            corners.iter().map(|&(lon, lat)| place(degrees(lon / 3), degrees(lat))).collect();
        ring.push(ring[0]);
        if let Ok(polygon) = Polygon::new(&ring, &[]) {
            let geometry = MultiPolygon::new([polygon]).ok();
            let zone = Zone { geometry, ..Zone::new("OKC001".parse().unwrap(), ZoneKind::County) };
            let bytes = Zones::new([zone.clone()]).to_bundle().unwrap();
            let zones = Zones::from_bundle(&bytes).unwrap();
            prop_assert_eq!(zones.iter().next(), Some(&zone));
        }
    }
}
