//! The files of zones kept with the project: how many zones each has, that both formats of a file
//! agree, and that the server's bundle is made from them.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use flate2::read::GzDecoder;
use mesonet::zone::{Zone, ZoneFileError, Zones};
use mesonet::{BBox, LonLat, zone};

#[path = "../../examples/zone_bundle.rs"]
#[allow(dead_code, reason = "its main is not called here")]
mod zone_bundle;

const DATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/data/zones");
const BUNDLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../server-example/sample/zones.bin.gz");
const BC_PRJ: &str = include_str!("../../../tests/data/zones/eccc_zones_bc.prj");

fn unzipped(path: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    GzDecoder::new(File::open(path).unwrap()).read_to_end(&mut bytes).unwrap();
    bytes
}

fn data(name: &str) -> Vec<u8> {
    unzipped(&format!("{DATA}/{name}.gz"))
}

fn geojson(name: &str) -> zone::File {
    zone::read_geojson(&data(name), None).unwrap()
}

fn bundle() -> Zones {
    Zones::from_bundle(&unzipped(BUNDLE)).unwrap()
}

fn zone<'a>(zones: &'a Zones, code: &str) -> &'a Zone {
    zones.get(code.parse().unwrap()).unwrap()
}

#[test]
fn files_of_the_national_weather_service_hold_11666_rows() {
    let mut rows = 0;
    for (name, counted, zones, flat_rings, outlines) in [
        ("nws_ugcs_zone_simplified.geojson", 4_779, 4_779, 29, 4_775),
        ("nws_ugcs_county_simplified.geojson", 3_284, 3_269, 20, 3_266),
        ("nws_ugcs_firewx_simplified.geojson", 3_603, 3_603, 21, 3_599),
    ] {
        let file = geojson(name);
        assert_eq!((file.rows, file.refused), (counted, 0), "{name}: {:?}", file.refusals);
        assert_eq!((file.zones.len(), file.flat_rings), (zones, flat_rings), "{name}");
        // Islands so small that rounding left nothing of them.
        let outlined = file.zones.iter().filter(|zone| zone.geometry.is_some());
        assert_eq!(outlined.count(), outlines, "{name}");
        rows += file.rows;
    }
    assert_eq!(rows, 11_666);
}

/// Zones whose codes have gone out of use: Charleston's were renumbered in 2026.
#[test]
fn retired_zones_are_kept_for_the_alerts_that_name_them() {
    for (kind, counted, outlines) in [("zone", 979, 979), ("county", 11, 10), ("firewx", 321, 321)]
    {
        let file = geojson(&format!("nws_ugcs_{kind}_discontinued_simplified.geojson"));
        assert_eq!((file.rows, file.refused), (counted, 0), "{kind}: {:?}", file.refusals);
        let outlined = file.zones.iter().filter(|zone| zone.geometry.is_some()).count();
        assert_eq!((file.zones.len(), outlined), (counted, outlines), "{kind}");
        let in_use = geojson(&format!("nws_ugcs_{kind}_simplified.geojson"));
        for zone in &file.zones {
            assert!(in_use.zones.iter().all(|other| other.code != zone.code), "{}", zone.code);
        }
    }
    let zones = bundle();
    for (code, lon, lat, successor) in [
        ("AMZ374", -80.43, 31.47, "AMZ384"),
        ("GAZ116", -81.47, 32.04, "GAZ216"),
        ("SCZ047", -81.05, 32.48, "SCZ147"),
    ] {
        let (retired, at) = (zone(&zones, code), LonLat::new(lon, lat).unwrap());
        assert!(retired.is_retired && retired.geometry.as_ref().unwrap().contains(at), "{code}");
        let here: Vec<&Zone> = zones.at(at).collect();
        assert!(here.iter().all(|zone| !zone.is_retired));
        assert!(here.iter().any(|zone| zone.code.as_str() == successor), "{code}: {here:?}");
    }
}

/// Every zone of every alert of the sample and of the other capture has its outline.
#[test]
fn every_zone_of_the_alerts_in_the_sample_is_known() {
    let zones = bundle();
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
    let mut codes = 0;
    for file in [
        "server-example/sample/alerts_active_2026-07-15T200045Z.geojson.gz",
        "tests/data/nws_alerts/alerts_active_2026-05-14T163524Z.geojson.gz",
    ] {
        let text = unzipped(&format!("{root}/{file}"));
        mesonet::feed::read_nws_alerts(&*text, |alert| {
            assert_eq!(mesonet::alert::missing_zones(&alert, &zones), [""; 0], "{}", alert.id);
            codes += alert.areas().filter(|(_, area)| area.code.is_some()).count();
        })
        .unwrap();
    }
    assert_eq!(codes, 992 + 2_237);
}

fn shapefile(shp: &[u8], dbf: &[u8], prj: &str) -> Result<zone::File, ZoneFileError> {
    zone::read_shapefile(zone::Shapefile { shp, dbf, prj, cpg: None }, None)
}

#[test]
fn a_shapefile_and_the_geojson_of_it_hold_the_same_zones() {
    let (shp, dbf) = (data("eccc_zones_bc.shp"), data("eccc_zones_bc.dbf"));
    let shapes = shapefile(&shp, &dbf, BC_PRJ).unwrap();
    let features = geojson("eccc_clc_bc_75.geojson");
    for file in [&shapes, &features] {
        // Four parks without a code, eight zones that combine several codes.
        assert_eq!((file.rows, file.zones.len(), file.refused, file.flat_rings), (75, 63, 12, 0));
        let empty = file.refusals.iter().filter(|one| one.reason.contains("no code"));
        let empty_text = file.refusals.iter().filter(|one| one.reason.starts_with("\"\" is no"));
        assert_eq!(empty.count() + empty_text.count(), 4, "{:?}", file.refusals);
    }
    for (shape, feature) in shapes.zones.iter().zip(&features.zones) {
        assert_eq!(shape.code, feature.code);
        assert_eq!((&shape.name_en, shape.kind), (&feature.name_en, zone::ZoneKind::Base));
        assert_eq!(shape.geometry, feature.geometry, "{}", shape.code);
        let (area, centroid) = (shape.area_km2.unwrap(), shape.centroid.unwrap());
        assert!((area - feature.area_km2.unwrap()).abs() < 1e-6 * area);
        assert!(centroid.distance_km(feature.centroid.unwrap()) < 0.001);
    }
    let haida = shapes.zones.iter().find(|zone| zone.code.as_str() == "081100").unwrap();
    assert_eq!(haida.name_en.as_deref(), Some("Haida Gwaii"));
    assert!(haida.geometry.as_ref().unwrap().contains(LonLat::new(-132.09, 53.05).unwrap()));
}

#[test]
fn a_damaged_shapefile_is_refused_and_a_foreign_projection_too() {
    let (shp, dbf) = (data("eccc_zones_bc.shp"), data("eccc_zones_bc.dbf"));
    let refused =
        |shp: &[u8], dbf: &[u8], prj: &str| shapefile(shp, dbf, prj).unwrap_err().to_string();
    assert!(refused(&shp, &dbf, "").ends_with("got nothing"));
    assert!(refused(&shp, &dbf, "PROJCS[\"x\",]").ends_with("got PROJCS[\"x\"]"));
    assert!(refused(&shp[..5000], &dbf, BC_PRJ).contains("a record is longer than the file"));
    assert!(refused(b"{}", &dbf, BC_PRJ).starts_with("not the .shp of a shapefile"));
    assert!(refused(&shp, b"{}", BC_PRJ).starts_with("not the .dbf of a shapefile"));
    assert!(refused(&shp, &dbf[..5000], BC_PRJ).starts_with("not the .dbf of a shapefile"));
    let mut deleted = dbf.clone();
    // The first row, marked as deleted: the lengths of header and rows are in the header.
    deleted[usize::from(u16::from_le_bytes([dbf[8], dbf[9]]))] = b'*';
    assert_eq!(
        refused(&shp, &deleted, BC_PRJ),
        "a shapefile must have as many rows as shapes; got 74 rows and 75 shapes"
    );
    let mut many = shp.clone();
    // The number of positions of the first record.
    many[100 + 8 + 40..][..4].copy_from_slice(&i32::MAX.to_le_bytes());
    assert!(refused(&many, &dbf, BC_PRJ).contains("claims more positions than it has"));
    let accent = dbf.windows(5).position(|five| five == b"Haida").unwrap();
    let mut accented = dbf.clone();
    accented[accent] = 0xC9;
    assert!(refused(&shp, &accented, BC_PRJ).starts_with("not the .dbf of a shapefile"));
    let file = zone::Shapefile { shp: &shp, dbf: &accented, prj: BC_PRJ, cpg: Some("1252") };
    let read = zone::read_shapefile(file, None).unwrap();
    assert!(read.zones.iter().any(|zone| zone.name_en.as_deref() == Some("Éaida Gwaii")));
    let file = zone::Shapefile { cpg: Some("EBCDIC"), ..file };
    assert_eq!(
        zone::read_shapefile(file, None).unwrap_err().to_string(),
        "the .cpg of a shapefile must name an encoding such as UTF-8 or 1252; got \"EBCDIC\""
    );
}

#[test]
fn the_bundle_is_what_the_tool_makes_of_the_files() {
    let made = zone_bundle::zones(Path::new(DATA)).unwrap();
    assert!(made.to_bundle().unwrap() == unzipped(BUNDLE), "run the example zone_bundle");
}

#[test]
fn the_bundle_holds_the_zones_of_both_countries() {
    let zones = bundle();
    let mut counts = Vec::new();
    for kind in zone::ZoneKind::ALL {
        let of_kind: Vec<_> = zones.iter().filter(|zone| zone.kind == kind).collect();
        let named = of_kind.iter().filter(|zone| zone.name_en.is_some()).count();
        let outlined = of_kind.iter().filter(|zone| zone.geometry.is_some()).count();
        counts.push((kind.name(), of_kind.len(), named, outlined));
    }
    let expected = [
        ("base", 1_391, 1_391, 182),
        ("public", 4_080 + 801 + 4, 4_077 + 1 + 4, 4_076 + 801 + 4),
        ("marine", 699 + 178, 648 + 49, 699 + 178),
        ("fire", 3_603 + 321, 3_096, 3_599 + 321),
        ("county", 3_269 + 11, 3_259, 3_266 + 10),
    ];
    assert_eq!(counts, expected);
    assert_eq!(zones.len(), 14_353 + 4);
    assert_eq!(zones.iter().filter(|zone| zone.is_retired).count(), 979 + 321 + 11 + 4);
    for zone in &zones {
        if zone.kind == zone::ZoneKind::Base {
            assert!(zone.name_fr.is_some() && zone.area_km2.is_some() && zone.centroid.is_some());
        } else {
            assert!(zone.name_fr.is_none() && zone.area_km2.is_none());
        }
        let valid = zone.geometry.as_ref().is_none_or(mesonet::geo::MultiPolygon::is_valid);
        assert!(valid, "{} {}", zone.kind, zone.code);
    }
}

/// Counties of North Dakota that were forecast zones until they were split: no file has these zones,
/// and alerts of before name them.
#[test]
fn zones_that_were_split_have_the_outline_of_their_county() {
    let zones = bundle();
    for (code, name, county) in [
        ("NDZ011", "Ward", "NDC101"),
        ("NDZ021", "McLean", "NDC055"),
        ("NDZ034", "Morton", "NDC059"),
        ("NDZ045", "Sioux", "NDC085"),
    ] {
        let code = code.parse().unwrap();
        let split = zones.of_kind(code, zone::ZoneKind::Public).unwrap();
        assert_eq!((split.name_en.as_deref(), split.is_retired), (Some(name), true), "{code}");
        assert_eq!(split.geometry, zone(&zones, county).geometry, "{code}");
        // The fire weather zone is still the whole county.
        let fire = zones.of_kind(code, zone::ZoneKind::Fire).unwrap();
        let middle = fire.centroid.unwrap();
        assert!(split.geometry.as_ref().unwrap().contains(middle), "{code}");
    }
}

#[test]
fn zones_are_where_people_know_them_to_be() {
    let zones = bundle();
    let sarnia = zone(&zones, "041320");
    assert_eq!(sarnia.name_en.as_deref(), Some("Sarnia - Petrolia - Western Lambton County"));
    assert!(sarnia.geometry.as_ref().unwrap().contains(LonLat::new(-82.4, 42.97).unwrap()));
    // Its air quality alerts have a different border there than its other alerts.
    assert_eq!(zone(&zones, "083510").geometry, None);
    assert_eq!(
        zone(&zones, "083510").name_en.as_deref(),
        Some("North Okanagan - including Vernon")
    );
    let at = |lon, lat| {
        let found = zones.at(LonLat::new(lon, lat).unwrap());
        found.map(|zone| format!("{} {}", zone.kind, zone.code)).collect::<Vec<_>>()
    };
    // Oklahoma City; Puget Sound; Attu, beyond the antimeridian.
    assert_eq!(at(-97.5, 35.47), ["public OKZ025", "fire OKZ025", "county OKC109"]);
    assert_eq!(at(-122.43, 47.62), ["marine PZZ135"]);
    assert_eq!(at(173.2, 52.9), ["public AKZ791", "fire AKZ791", "county AKC016"]);
    let aleutians = BBox::new(179.0, 51.0, -179.0, 52.5).unwrap();
    let found = zones.in_box(aleutians).filter(|zone| zone.kind == zone::ZoneKind::County);
    assert_eq!(found.map(|zone| zone.code.as_str()).collect::<Vec<_>>(), ["AKC016"]);
}
