//! Makes the server's bundle of zones from the files in `tests/data/zones`:
//! `cargo run --release -p mesonet --features zone-files --example zone_bundle -- tests/data/zones
//! zones.bin.gz`. The same files, and the alerts beside them, give the same zones; `SOURCES.md`
//! describes them.

use std::collections::{HashMap, HashSet};
use std::error::Error;
use std::fs;
use std::io::{Read, Write};
use std::path::Path;

use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use mesonet::geo::MultiPolygon;
use mesonet::zone::{Zone, Zones};
use mesonet::{LonLat, zone};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Tolerance of the Canadian outlines, 111 m at most. The outlines of the United States are taken
/// unchanged: their source has simplified them with ten times this tolerance.
const TOLERANCE_DEG: f64 = 0.001;

/// Forecast zones that were a county until it was split into two zones (`NDZ055` to `NDZ062` are
/// parts of Ward, McLean, Morton and Sioux). No file has them any more, but older alerts name them.
const SPLIT: [(&str, &str); 4] =
    [("NDZ011", "NDC101"), ("NDZ021", "NDC055"), ("NDZ034", "NDC059"), ("NDZ045", "NDC085")];

/// Zones whose centroids are nearer than this are at the same place: the centroids have four
/// decimals.
const SAME_PLACE_KM: f64 = 0.5;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, out] = &arguments[..] else {
        return Err("usage: zone_bundle FOLDER OUT".into());
    };
    let zones = zones(Path::new(folder))?;
    let bytes = zones.to_bundle()?;
    let mut packed = GzEncoder::new(Vec::new(), flate2::Compression::best());
    packed.write_all(&bytes)?;
    fs::write(out, packed.finish()?)?;
    for kind in zone::ZoneKind::ALL {
        let of_kind = || zones.iter().filter(|zone| zone.kind == kind);
        let outlines = of_kind().filter_map(|zone| zone.geometry.as_ref());
        println!(
            "{kind}: {} zones, {} with a name, {} with an outline, {} positions",
            of_kind().count(),
            of_kind().filter(|zone| zone.name_en.is_some()).count(),
            outlines.clone().count(),
            outlines.map(MultiPolygon::positions).sum::<usize>(),
        );
    }
    println!("{} bytes, geography version {}", bytes.len(), zones.version()?);
    Ok(())
}

/// The zones of the files of a folder.
///
/// # Errors
/// If a file is missing or has changed.
pub fn zones(folder: &Path) -> Result<Zones> {
    let mut all = canadian(folder)?;
    all.append(&mut american(folder)?);
    Ok(Zones::new(all))
}

fn unzipped(folder: &Path, name: &str) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let file = fs::File::open(folder.join(format!("{name}.gz")))?;
    GzDecoder::new(file).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Reads the zones of a file, of which exactly `refused` rows may be refused.
fn read(folder: &Path, name: &str, refused: usize) -> Result<zone::File> {
    let file = zone::read_geojson(&unzipped(folder, name)?, None)?;
    if file.refused != refused {
        return Err(
            format!("{name}: {} rows were refused: {:?}", file.refused, file.refusals).into()
        );
    }
    Ok(file)
}

/// ECCC's base zones. Their table has no outlines; other files have the outlines of some zones.
fn canadian(folder: &Path) -> Result<Vec<Zone>> {
    let table = unzipped(folder, "CLC_Base_Zone.csv")?;
    let mut zones = HashMap::new();
    for row in csv::Reader::from_reader(&table[..]).deserialize() {
        let row: HashMap<String, String> = row?;
        let number = |name: &str| row[name].parse::<f64>();
        let zone = Zone {
            name_en: Some(row["NAME"].clone()),
            name_fr: Some(row["NOM"].clone()),
            centroid: Some(LonLat::new(number("LON_DD")?, number("LAT_DD")?)?),
            area_km2: Some(number("AREA_KM2")?),
            ..Zone::new(row["CLC"].parse()?, zone::ZoneKind::Base)
        };
        zones.insert(zone.code, zone);
    }
    // Air quality zones: rows of several base zones and rows without a code are not base zones. A
    // zone of the same code is the base zone if its area agrees to half a percent; some zones have
    // a changed border.
    for outlined in read(folder, "eccc_clc_bc_75.geojson", 12)?.zones {
        let Some(zone) = zones.get_mut(&outlined.code) else { continue };
        let share = outlined.area_km2.zip(zone.area_km2).map(|(one, other)| one / other);
        if share.is_some_and(|share| (share - 1.0).abs() < 0.005) {
            zone.geometry = outlined.geometry;
        }
    }
    // Outlines from alerts.
    for outlined in read(folder, "eccc_clc_from_cap_messages.geojson", 0)?.zones {
        let Some(zone) = zones.get_mut(&outlined.code) else { continue };
        zone.geometry = outlined.geometry;
    }
    for zone in zones.values_mut() {
        if let Some(outline) = &zone.geometry {
            zone.geometry = MultiPolygon::dissolved([&outline.simplified(TOLERANCE_DEG)?]);
        }
    }
    Ok(zones.into_values().collect())
}

/// Zones of the National Weather Service, with the names that its tables have.
fn american(folder: &Path) -> Result<Vec<Zone>> {
    let mut names: HashMap<zone::Code, HashSet<String>> = HashMap::new();
    let mut name = |code: String, name: &str| -> Result<()> {
        names.entry(code.parse()?).or_default().insert(name.to_owned());
        Ok(())
    };
    let table = unzipped(folder, "NWS_ZONE_COUNTY_CORRELATION.csv")?;
    for row in csv::ReaderBuilder::new().delimiter(b'|').from_reader(&table[..]).deserialize() {
        let row: HashMap<String, String> = row?;
        let part = |column: &str, range| {
            row[column].get(range).ok_or_else(|| format!("{column} {:?}", row[column]))
        };
        let state_zone = "STATE+ZONE";
        name(
            format!("{}Z{}", part(state_zone, 0..2)?, part(state_zone, 2..5)?),
            &row["ZONE_NAME"],
        )?;
        name(format!("{}C{}", row["STATE"], part("FIPS/SAME", 2..5)?), &row["COUNTY_NAME"])?;
    }
    let table = unzipped(folder, "NWS_MARINE_ZONES.csv")?;
    for row in csv::Reader::from_reader(&table[..]).deserialize() {
        let row: HashMap<String, String> = row?;
        name(row["zone_ugc"].clone(), &row["name"])?;
    }
    let mut all = Vec::new();
    for kind in ["county", "firewx", "zone"] {
        all.append(&mut read(folder, &format!("nws_ugcs_{kind}_simplified.geojson"), 0)?.zones);
    }
    for kind in ["county", "firewx", "zone"] {
        let name = format!("nws_ugcs_{kind}_discontinued_simplified.geojson");
        let retired = read(folder, &name, 0)?.zones.into_iter();
        all.extend(retired.map(|zone| Zone { is_retired: true, ..zone }));
    }
    for (code, county) in SPLIT {
        let county: zone::Code = county.parse()?;
        let county = all.iter().find(|zone| zone.code == county).ok_or("no county")?;
        let geometry = county.geometry.clone();
        let name = names.get(&county.code).ok_or("no name")?.clone();
        let zone = Zone::new(code.parse()?, zone::ZoneKind::Public);
        names.insert(zone.code, name);
        all.push(Zone { geometry, is_retired: true, ..zone });
    }
    let of_alerts = names_in_alerts(folder)?;
    let middles: HashMap<zone::Code, LonLat> = all
        .iter()
        .filter(|zone| zone.kind != zone::ZoneKind::Fire && !zone.is_retired)
        .filter_map(|zone| Some((zone.code, zone.centroid?)))
        .collect();
    for zone in &mut all {
        zone.geometry =
            zone.geometry.as_ref().and_then(|outline| MultiPolygon::dissolved([outline]));
        // The tables list forecast zones in use. A fire weather zone of the same code is a
        // different zone, unless it is at the same place. If the tables have two names for a code,
        // neither is taken.
        let is_of_tables = zone.kind != zone::ZoneKind::Fire
            || middles.get(&zone.code).zip(zone.centroid).is_some_and(|(&one, other)| {
                !zone.is_retired && one.distance_km(other) < SAME_PLACE_KM
            });
        let known = names.get(&zone.code).filter(|known| known.len() == 1 && is_of_tables);
        let known = known
            .or_else(|| of_alerts.get(&(zone.code, zone.kind)).filter(|known| known.len() == 1));
        zone.name_en = known.and_then(|known| known.iter().next()).cloned();
    }
    Ok(all)
}

/// The names that alerts give to zones, by code and kind.
fn names_in_alerts(
    folder: &Path,
) -> Result<HashMap<(zone::Code, zone::ZoneKind), HashSet<String>>> {
    let mut names: HashMap<_, HashSet<String>> = HashMap::new();
    let sample = folder.join("../../../server-example/sample");
    for (folder, name) in [
        (folder.join("../nws_alerts"), "alerts_active_2026-05-14T163524Z.geojson"),
        (sample, "alerts_active_2026-07-15T200045Z.geojson"),
    ] {
        mesonet::feed::read_nws_alerts(&*unzipped(&folder, name)?, |message| {
            let whole =
                message.parts.iter().flat_map(|part| &part.texts).flat_map(|text| &text.areas);
            let whole: HashSet<&String> = whole.filter(|name| name.contains(';')).collect();
            for part in &message.parts {
                for (area, name) in part.areas.iter().zip(&part.texts[0].areas) {
                    let Some(code) = area.code else { continue };
                    let kind = if area.is_fire_zone {
                        zone::ZoneKind::Fire
                    } else {
                        zone::ZoneKind::of(code)
                    };
                    // A name for several zones is not the name of any one of them.
                    if !name.is_empty() && !whole.contains(name) {
                        names.entry((code, kind)).or_default().insert(name.clone());
                    }
                }
            }
        })?;
    }
    Ok(names)
}
