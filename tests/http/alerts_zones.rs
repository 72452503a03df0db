//! `GET /alerts/zones`

use std::collections::BTreeSet;
use std::io::Read;
use std::path::PathBuf;

use axum::http::header;

use mesonet_server::{Config, ZoneSet};
use serde_json::Value;
use tempfile::TempDir;

use crate::support::{Answer, Api, TestStore};

const GEOGRAPHY: &str = "x-mesonet-geography";

fn api() -> Api {
    Api::new(TestStore::default())
}

fn features(answer: &Answer) -> Vec<Value> {
    assert_eq!(answer.status, 200, "{}", answer.text());
    let collection: Value = serde_json::from_str(&answer.text()).unwrap();
    assert_eq!(collection["type"], "FeatureCollection");
    collection["features"].as_array().unwrap().clone()
}

fn ids(answer: &Answer) -> Vec<String> {
    features(answer).iter().map(|feature| feature["id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn zones_of_both_countries_are_features_with_both_names() {
    // 000001 has no outline, so it is left out.
    let api = api();
    api.get("/alerts/zones?codes=000001,PWC050,PWZ008").is(concat!(
        r#"{"type":"FeatureCollection","features":["#,
        r#"{"type":"Feature","id":"PWC050","geometry":{"type":"Polygon","coordinates":"#,
        r#"[[[131.12,3.0],[131.13,3.01],[131.12,3.01],[131.12,3.0]]]},"properties":{"#,
        r#""clcCode":"PWC050","ugcCode":"PWC050","kind":"county","nameEn":"Tobi","nameFr":"Tobi","#,
        r#""centroid":{"lat":3.0055,"lon":131.1563}}},"#,
        r#"{"type":"Feature","id":"PWZ008","geometry":{"type":"Polygon","coordinates":"#,
        r#"[[[131.12,3.0],[131.13,3.01],[131.12,3.01],[131.12,3.0]]]},"properties":{"#,
        r#""clcCode":"PWZ008","ugcCode":"PWZ008","kind":"public","nameEn":"Tobi","nameFr":"Tobi","#,
        r#""centroid":{"lat":3.0055,"lon":131.1563}}}]}"#,
    ));
    let sarnia = &features(&api.get("/alerts/zones?codes=041320"))[0]["properties"];
    let [english, french] = ["nameEn", "nameFr"].map(|name| sarnia[name].as_str().unwrap());
    assert_eq!(english, "Sarnia - Petrolia - Western Lambton County");
    assert_eq!(french, "Sarnia - Petrolia - comté de Lambton Ouest");
}

#[test]
fn a_zone_without_an_outline_is_left_out() {
    let api = api();
    let zones = ZoneSet::load(&[]).unwrap();
    let bare: Vec<_> = zones.zones().iter().filter(|zone| zone.geometry.is_none()).collect();
    assert_eq!(bare.len(), 1_209 + 4 + 4 + 4);
    for kind in ["base", "public", "marine", "fire", "county"] {
        let of_kind = bare.iter().filter(|zone| zone.kind.name() == kind);
        let codes: Vec<&str> = of_kind.map(|zone| zone.code.as_str()).collect();
        let answer =
            api.get(&format!("/alerts/zones?kind={kind}&codes=ZZZ999,{}", codes.join(",")));
        assert_eq!(ids(&answer), [""; 0], "{kind}");
    }
}

/// Charleston's zones were renumbered in 2026. Older alerts name these.
#[test]
fn a_retired_zone_says_so() {
    let answer = api().get("/alerts/zones?codes=AMZ374,GAZ116,SCZ047,SCZ147");
    let retired = |feature: &Value| feature["properties"].get("retired").cloned();
    let all = features(&answer);
    let yes = Some(Value::Bool(true));
    assert_eq!(all.iter().map(retired).collect::<Vec<_>>(), [yes.clone(), yes.clone(), yes, None]);
    assert!(all[0]["properties"]["nameFr"].as_str().unwrap().starts_with("Waters from Savannah"));
    // No table has the name of the second zone, so its code is used.
    assert_eq!(all[1]["properties"]["nameEn"], "GAZ116");
}

#[test]
fn codes_are_answered_in_their_order_each_once_and_unknown_ones_are_left_out() {
    let api = api();
    let of = |query: &str| ids(&api.get(&format!("/alerts/zones?{query}")));
    assert_eq!(of("codes=OKC109,041320,OKZ025"), ["OKC109", "041320", "OKZ025"]);
    assert_eq!(of("codes=041320,OKC109,041320&codes=OKC109"), ["041320", "OKC109"]);
    assert_eq!(of("codes=041320%2C%20OKC109,"), ["041320", "OKC109"]);
    // A code that no zone has, one that no zone can have, and one shared by several zones.
    assert_eq!(of("codes=999999,okc109,082640-082713,OKC109"), ["OKC109"]);
    api.get("/alerts/zones?codes=999999").is(r#"{"type":"FeatureCollection","features":[]}"#);
}

#[test]
fn one_to_2000_codes_are_needed() {
    let api = api();
    for none in ["", "?codes=", "?codes=,%20,", "?kind=fire"] {
        api.get(&format!("/alerts/zones{none}"))
            .refuses(400, "codes is required: one to 2000 zone codes, comma-separated");
    }
    let codes = |count: usize| -> String {
        // As browsers escape them.
        (0..count).map(|code| format!("{code:06}")).collect::<Vec<_>>().join("%2C")
    };
    assert_eq!(ids(&api.get(&format!("/alerts/zones?codes={}", codes(2_000)))), [""; 0]);
    // A repeated code counts once.
    let twice = api.get(&format!("/alerts/zones?codes={},000001", codes(2_000)));
    assert_eq!(ids(&twice), [""; 0]);
    let last = format!("/alerts/zones?codes={},OKC109", codes(1_999));
    assert_eq!(ids(&api.get(&last)), ["OKC109"]);
    api.get(&format!("/alerts/zones?codes={}", codes(2_001)))
        .refuses(400, "codes names 2001 zones; the limit is 2000");
}

#[test]
fn kind_tells_zones_of_one_code_apart() {
    let api = api();
    let of = |query: &str| {
        let answer = api.get(&format!("/alerts/zones?{query}"));
        let features = features(&answer);
        features.iter().map(|feature| feature["properties"]["kind"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(of("codes=OKZ025"), ["public"]);
    assert_eq!(of("codes=OKZ025&kind=fire"), ["fire"]);
    assert_eq!(of("codes=OKZ025,041320,OKC109&kind=county"), ["county"]);
    assert_eq!(of("codes=OKZ025&kind=base"), [Value::Null; 0]);
    api.get("/alerts/zones?codes=OKZ025&kind=land").refuses(
        400,
        "\"land\" is not a zone kind; allowed are base, public, marine, fire and county",
    );
}

#[test]
fn an_answer_is_immutable_and_its_etag_and_address_name_the_geography_version() {
    let api = api();
    let version = ZoneSet::load(&[]).unwrap().version().to_owned();
    let day = api.get("/alerts/zones?codes=OKC109");
    assert_eq!(day.header(GEOGRAPHY), Some(&*version));
    assert_eq!(day.header(header::ETAG), Some(&*format!("\"{version}-identity\"")));
    assert_eq!(day.header(header::CACHE_CONTROL), Some("public, max-age=86400, immutable"));
    let year = api.get(&format!("/alerts/zones?codes=OKC109&version={version}"));
    assert_eq!(year.text(), day.text());
    assert_eq!(year.header(header::CACHE_CONTROL), Some("public, max-age=31536000, immutable"));
    api.get("/alerts/zones?codes=OKC109&version=x")
        .refuses(404, &format!("unknown geography version \"x\"; the current one is {version}"));
    let etag = day.header(header::ETAG).unwrap();
    let again = api.get_with("/alerts/zones?codes=OKC109", &[(header::IF_NONE_MATCH, etag)]);
    again.is_empty(304);
    for name in [header::ETAG, header::CACHE_CONTROL, header::VARY] {
        assert_eq!(again.header(&name), day.header(&name), "{name}");
    }
    let other = api.get_with("/alerts/zones?codes=OKC109", &[(header::IF_NONE_MATCH, "\"x\"")]);
    assert_eq!(other.text(), day.text());
}

#[test]
fn a_caller_who_takes_an_encoding_gets_the_same_zones_in_it() {
    let api = api();
    let path = "/alerts/zones?codes=041320,OKC109,AKC016";
    let plain = api.get(path);
    for encoding in ["gzip", "br", "zstd"] {
        let answer = api.get_with(path, &[(header::ACCEPT_ENCODING, encoding)]);
        assert_eq!(answer.header(header::CONTENT_ENCODING), Some(encoding));
        assert_eq!(answer.text(), plain.text());
        let etag = answer.header(header::ETAG).unwrap();
        assert!(etag.ends_with(&format!("-{encoding}\"")), "{etag}");
    }
}

/// Returns every polygon of a feature, as rings of positions.
fn polygons(feature: &Value) -> Vec<Vec<Vec<[f64; 2]>>> {
    let geometry = &feature["geometry"];
    let coordinates = geometry["coordinates"].clone();
    match geometry["type"].as_str() {
        None => Vec::new(),
        Some("Polygon") => vec![serde_json::from_value(coordinates).unwrap()],
        Some("MultiPolygon") => serde_json::from_value(coordinates).unwrap(),
        Some(other) => panic!("{other}"),
    }
}

#[test]
fn every_zone_is_geojson_with_closed_and_turned_rings_that_do_not_cross_the_antimeridian() {
    let api = api();
    let zones = ZoneSet::load(&[]).unwrap();
    let (mut outlined, mut rings) = (0, 0);
    for kind in ["base", "public", "marine", "fire", "county"] {
        let of_kind = zones.zones().iter().filter(|zone| zone.kind.name() == kind);
        let codes: Vec<&str> = of_kind.map(|zone| zone.code.as_str()).collect();
        for codes in codes.chunks(2_000) {
            let query = format!("/alerts/zones?kind={kind}&codes={}", codes.join(","));
            let answer = features(&api.get(&query));
            let known = zones.zones().iter().filter(|zone| {
                zone.kind.name() == kind
                    && codes.contains(&zone.code.as_str())
                    && zone.geometry.is_some()
            });
            assert_eq!(answer.len(), known.count());
            for feature in &answer {
                let polygons = polygons(feature);
                outlined += usize::from(!polygons.is_empty());
                for polygon in &polygons {
                    rings += polygon.len();
                    for (i, ring) in polygon.iter().enumerate() {
                        let id = &feature["id"];
                        assert!(ring.len() >= 4 && ring[0] == ring[ring.len() - 1], "{id}");
                        let mut twice_area = 0.0;
                        for edge in ring.windows(2) {
                            let [[x, y], [to_x, to_y]] = [edge[0], edge[1]];
                            assert!(x.abs() <= 180.0 && y.abs() <= 90.0, "{id}");
                            assert!((to_x - x).abs() <= 180.0, "{id}");
                            let [from_x, from_y] = ring[0];
                            twice_area +=
                                (x - from_x) * (to_y - from_y) - (to_x - from_x) * (y - from_y);
                        }
                        assert_eq!(twice_area > 0.0, i == 0, "{id}");
                    }
                }
            }
        }
    }
    assert_eq!(outlined, 182 + 4_881 + 877 + 3_920 + 3_276);
    assert!(rings > 40_000, "{rings}");
}

#[test]
fn the_aleutians_lie_on_both_sides_of_the_antimeridian() {
    let aleutians = &features(&api().get("/alerts/zones?codes=AKC016"))[0];
    let sides: BTreeSet<bool> =
        polygons(aleutians).iter().map(|polygon| polygon[0][0][0] > 0.0).collect();
    assert_eq!(sides.len(), 2);
}

/// A file of `tests/data/zones`, unpacked into a folder.
fn unpacked(folder: &TempDir, name: &str) -> PathBuf {
    let source = format!("{}/data/zones/{name}.gz", env!("CARGO_MANIFEST_DIR"));
    let mut bytes = Vec::new();
    let file = std::fs::File::open(source).unwrap();
    flate2::read::GzDecoder::new(file).read_to_end(&mut bytes).unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    path
}

#[test]
fn newer_files_override_the_bundled_zones() {
    let folder = TempDir::new().unwrap();
    let shp = unpacked(&folder, "eccc_zones_bc.shp");
    unpacked(&folder, "eccc_zones_bc.dbf");
    let prj = include_str!("../data/zones/eccc_zones_bc.prj");
    std::fs::write(shp.with_extension("prj"), prj).unwrap();
    let geojson = unpacked(&folder, "eccc_clc_bc_75.geojson");

    // 083510 is drawn differently there, 081200 is not a base zone.
    let path = "/alerts/zones?codes=083510,081200,041320";
    let before = api().get(path);
    // The first zone has no outline in the bundle.
    assert_eq!(ids(&before), ["041320"]);
    let with = |zones: PathBuf| {
        let config = Config { zones: vec![zones], ..Config::default() };
        Api::with(config, TestStore::default()).get(path)
    };
    let (of_shapes, of_features) = (with(shp), with(geojson));
    for after in [&of_shapes, &of_features] {
        let [okanagan, vancouver_island, sarnia] = &features(after)[..] else { panic!() };
        assert_eq!(okanagan["geometry"]["type"], "Polygon");
        // What the file does not give is kept.
        let bundled = ZoneSet::load(&[]).unwrap();
        let bundled = bundled.zones().get("083510".parse().unwrap()).unwrap();
        assert_eq!(okanagan["properties"]["nameFr"], bundled.name_fr.clone().unwrap());
        assert_eq!(okanagan["properties"]["nameEn"], "North Okanagan");
        assert_eq!(vancouver_island["properties"]["nameEn"], "North Vancouver Island");
        assert_eq!(vancouver_island["properties"]["nameFr"], "North Vancouver Island");
        assert_eq!(*sarnia, features(&before)[0]);
        assert_ne!(after.header(GEOGRAPHY), before.header(GEOGRAPHY));
        assert_ne!(after.header(header::ETAG), before.header(header::ETAG));
    }
    let outline = |answer: &Answer| features(answer)[0]["geometry"].clone();
    assert_eq!(outline(&of_shapes), outline(&of_features));
}

#[test]
fn files_that_hold_no_zones_are_refused_with_the_reason() {
    let folder = TempDir::new().unwrap();
    let refused = |name: &str, text: Option<&str>| {
        let path = folder.path().join(name);
        if let Some(text) = text {
            std::fs::write(&path, text).unwrap();
        }
        let error = ZoneSet::load(&[path]).unwrap_err().to_string();
        let start = format!("the file of zones {}/", folder.path().display());
        error.strip_prefix(&start).unwrap_or_else(|| panic!("{error}")).to_owned()
    };
    assert!(refused("a.geojson", None).starts_with("a.geojson: No such file"));
    assert_eq!(refused("a.kml", None), "a.kml: its name must end with .shp, .geojson or .json");
    assert!(refused("b.json", Some("{}")).starts_with("b.json: not a GeoJSON FeatureCollection"));
    assert!(refused("c.shp", Some("x")).starts_with("c.dbf: No such file"));
    std::fs::write(folder.path().join("c.dbf"), "x").unwrap();
    std::fs::write(folder.path().join("c.prj"), "PROJCS[\"Lambert\",x]").unwrap();
    assert!(refused("c.shp", Some("x")).ends_with("got PROJCS[\"Lambert\"]"));
    let park = r#"{"type":"FeatureCollection","features":[{"properties":{"NAME":"Park"}}]}"#;
    assert!(
        refused("d.json", Some(park)).starts_with(
            "d.json: none of its 1 rows is a zone; the first one: no code: a column CLC"
        )
    );
}
