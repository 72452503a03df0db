use serde_json::{Value as Json, json};

use super::*;

const SQUARE: &str = "[[[0,0],[0,1],[1,1],[1,0],[0,0]]]";

fn geojson(properties: &Json, geometry: &str) -> String {
    format!(
        r#"{{"type":"FeatureCollection","features":[{{"type":"Feature","properties":{properties},"geometry":{geometry}}}]}}"#
    )
}

fn read(properties: &Json, geometry: &str, hint: Option<ZoneKind>) -> File {
    read_geojson(geojson(properties, geometry).as_bytes(), hint).unwrap()
}

#[test]
fn codes_are_found_in_the_columns_of_the_services() {
    for (properties, code, kind) in [
        (
            json!({"CLC": "041320", "KIND": "land", "USAGE": "CLCBaseZone"}),
            "041320",
            ZoneKind::Base,
        ),
        (json!({"clcCode": "041320"}), "041320", ZoneKind::Base),
        (json!({"ugc": "OKC001", "kind": "county"}), "OKC001", ZoneKind::County),
        (json!({"STATE": "OK", "ZONE": "025", "STATE_ZONE": "OK025"}), "OKZ025", ZoneKind::Public),
        (
            json!({"STATE": "OK", "FIPS": "40001", "COUNTYNAME": "Adair"}),
            "OKC001",
            ZoneKind::County,
        ),
        (json!({"ID": "GMZ130", "WFO": "BRO"}), "GMZ130", ZoneKind::Marine),
        (json!({"id": "OKZ025", "type": "fire"}), "OKZ025", ZoneKind::Fire),
        (json!({"id": "PZZ110", "type": "coastal"}), "PZZ110", ZoneKind::Marine),
    ] {
        let file = read(&properties, "null", None);
        let zone = file.zones.first().unwrap_or_else(|| panic!("{properties}: {file:?}"));
        assert_eq!((zone.code.as_str(), zone.kind), (code, kind), "{properties}");
    }
}

#[test]
fn a_hint_counts_where_it_fits_and_the_file_says_nothing() {
    let kind = |properties, hint| read(&properties, "null", Some(hint)).zones[0].kind;
    assert_eq!(kind(json!({"UGC": "OKZ025"}), ZoneKind::Fire), ZoneKind::Fire);
    assert_eq!(kind(json!({"UGC": "OKC001"}), ZoneKind::Fire), ZoneKind::County);
    assert_eq!(kind(json!({"UGC": "OKZ025", "kind": "public"}), ZoneKind::Fire), ZoneKind::Public);
    assert_eq!(kind(json!({"CLC": "041320"}), ZoneKind::County), ZoneKind::Base);
}

#[test]
fn every_field_of_a_row_is_read() {
    let properties = json!({
        "CLC": "041320", "NAME": "Sarnia", "NOM": "Sarnia (fr)", "AREA_KM2": 1650.5,
        "LAT_DD": 42.875, "LON_DD": "-82.25", "PROVINCE_C": "ON"
    });
    let geometry = format!(r#"{{"type":"Polygon","coordinates":{SQUARE}}}"#);
    let file = read(&properties, &geometry, None);
    assert_eq!((file.rows, file.refused, file.flat_rings), (1, 0, 0));
    let expected = Zone {
        name_en: Some("Sarnia".to_owned()),
        name_fr: Some("Sarnia (fr)".to_owned()),
        area_km2: Some(1650.5),
        centroid: Some(LonLat::new(-82.25, 42.875).unwrap()),
        geometry: serde_json::from_str(&geometry).ok(),
        ..Zone::new("041320".parse().unwrap(), ZoneKind::Base)
    };
    assert_eq!(file.zones, [expected]);
}

#[test]
fn rows_that_are_not_zones_are_reported_with_the_reason() {
    let open = r#"{"type":"Polygon","coordinates":[[[0,0],[0,1],[1,1],[1,0]]]}"#;
    for (properties, geometry, reason) in [
        (json!({"NAME": "x"}), "null", "no code: a column CLC, UGC, STATE_ZONE"),
        (json!({"CLC": ""}), "null", "\"\" is not a zone code"),
        (json!({"CLC": "082640-082713"}), "null", "\"082640-082713\" is not a zone code"),
        (json!({"CLC": 41320}), "null", "no code"),
        (json!({"UGC": "OKC001", "kind": "fire"}), "null", "zone OKC001 cannot be of kind fire"),
        (json!({"CLC": "041320", "LAT": 91, "LON": 0}), "null", "latitude must be"),
        (json!({"CLC": "041320"}), open, "a ring must end where it starts"),
        (
            json!({"CLC": "041320"}),
            r#"{"type":"Point","coordinates":[0,0]}"#,
            "unknown variant `Point`",
        ),
        (json!([1]), "null", "expected a map"),
    ] {
        let file = read(&properties, geometry, None);
        assert_eq!((file.rows, file.zones.len(), file.refused), (1, 0, 1), "{properties}");
        assert!(file.refusals[0].reason.contains(reason), "{:?}", file.refusals);
    }
}

#[test]
fn refusals_beyond_the_limit_are_only_counted() {
    let feature = r#"{"properties":{"CLC":""}}"#;
    let text =
        format!(r#"{{"type":"FeatureCollection","features":[{}]}}"#, [feature; 150].join(","));
    let file = read_geojson(text.as_bytes(), None).unwrap();
    assert_eq!((file.rows, file.refused, file.refusals.len()), (150, 150, 100));
    assert_eq!(file.refusals[99].row, 99);
}

#[test]
fn rings_without_an_area_are_left_out_and_counted() {
    let flat = "[[5,5],[6,6],[5,5],[5,5]]";
    let square = &SQUARE[1..SQUARE.len() - 1];
    let geometry =
        format!(r#"{{"type":"MultiPolygon","coordinates":[[{square},{flat}],[{flat}]]}}"#);
    let file = read(&json!({"CLC": "041320"}), &geometry, None);
    assert_eq!(file.flat_rings, 2);
    assert_eq!(file.zones[0].geometry.as_ref().unwrap().positions(), 5);
    let geometry = format!(r#"{{"type":"Polygon","coordinates":[{flat}]}}"#);
    let file = read(&json!({"CLC": "041320"}), &geometry, None);
    assert_eq!((file.flat_rings, &file.zones[0].geometry), (1, &None));
}

#[test]
fn rows_of_one_zone_are_joined() {
    let feature = |west: f64| {
        let ring = json!([[west, 0.0], [west + 1.0, 0.0], [west + 1.0, 1.0], [west, 0.0]]);
        json!({"properties": {"UGC": "HIC009", "NAME": "Maui", "LAT": 0.5, "LON": west},
               "geometry": {"type": "Polygon", "coordinates": [ring]}})
    };
    let all = json!({"type": "FeatureCollection", "features": [feature(0.0), feature(5.0)]});
    let file = read_geojson(all.to_string().as_bytes(), None).unwrap();
    assert_eq!((file.rows, file.zones.len()), (2, 1));
    let zone = &file.zones[0];
    assert_eq!(zone.geometry.as_ref().unwrap().polygons().len(), 2);
    // The centroids of the parts are not the centroid of the whole.
    assert_eq!((zone.centroid, zone.name_en.as_deref()), (None, Some("Maui")));
}

#[test]
fn anything_but_a_collection_of_longitudes_and_latitudes_is_refused() {
    let refused = |text: &str| read_geojson(text.as_bytes(), None).unwrap_err().to_string();
    assert!(refused("").starts_with("not a GeoJSON FeatureCollection: "));
    assert!(refused(r#"{"type":"FeatureCollection"}"#).contains("missing field `features`"));
    assert_eq!(
        refused(r#"{"type":"Topology","features":[]}"#),
        "not a GeoJSON FeatureCollection: its type is \"Topology\""
    );
    let crs = |name: &str| {
        let text = json!({"type": "FeatureCollection", "features": [],
                          "crs": {"type": "name", "properties": {"name": name}}});
        read_geojson(text.to_string().as_bytes(), None)
    };
    assert!(crs("urn:ogc:def:crs:OGC:1.3:CRS84").is_ok());
    assert!(crs("urn:ogc:def:crs:EPSG::4326").is_ok());
    let text = crs("urn:ogc:def:crs:EPSG::3978").unwrap_err().to_string();
    assert!(
        text.starts_with("GeoJSON must be in WGS 84 longitude and latitude; got crs"),
        "{text}"
    );
}
