//! Areas of CAP: polygons and circles, and the zones that geocodes name.

use super::super::summary::{RefusalReason, Summary};
use super::document::CapArea;
use crate::alert::{AreaKind, MessageArea, ThreatStatus};
use crate::geo::{LonLat, MultiPolygon, Polygon};
use crate::zone;

/// Maximum number of positions of a message; the largest real one has 25,000.
const MAX_POSITIONS: usize = 500_000;

/// The edges of a circle's polygon deviate from it by at most this fraction of its radius …
const CIRCLE_TOLERANCE: f64 = 0.01;
/// … or by this distance, if that is more.
const CIRCLE_TOLERANCE_KM: f64 = 0.01;

const CLC: &str = "layer:EC-MSC-SMC:1.0:CLC";
const DLC: &str = "layer:EC-MSC-SMC:DLC:1.1";
const UGC: &str = "UGC";

/// The number of positions that a message may still have.
pub(super) struct Budget {
    left: usize,
}

impl Budget {
    pub(super) fn new() -> Self {
        Self { left: MAX_POSITIONS }
    }

    fn take(&mut self, positions: usize) -> Result<(), RefusalReason> {
        let too_many = RefusalReason::TooMany { what: "positions", limit: MAX_POSITIONS };
        self.left = self.left.checked_sub(positions).ok_or(too_many)?;
        Ok(())
    }
}

/// The areas of one element: one for each zone that it names. An outline drawn for several zones is
/// a further area. Each area comes with its description.
pub(super) fn areas(
    of: &CapArea,
    budget: &mut Budget,
    summary: &mut Summary,
) -> Result<Vec<(MessageArea, String)>, RefusalReason> {
    let geometry = geometry(of, budget, summary)?;
    let description = of.description.get().unwrap_or_default();
    let threat = of.geocodes.iter().find(|pair| pair.name == DLC);
    let mut codes: Vec<zone::Code> = Vec::new();
    for pair in of.geocodes.iter().filter(|pair| [CLC, UGC].contains(&&*pair.name)) {
        match pair.value.parse() {
            Ok(code) if codes.contains(&code) => {}
            Ok(code) => codes.push(code),
            Err(_) => summary.unread_values.add(&pair.name),
        }
    }
    if codes.is_empty() {
        codes = same_zones(
            of.geocodes.iter().filter(|pair| is_same_code(&pair.name)).map(|pair| &*pair.value),
            summary,
        );
    }
    let is_named = !of.geocodes.is_empty() || geometry.is_some();
    let whole = MessageArea {
        kind: match threat {
            Some(_) => AreaKind::ThreatArea,
            None if is_named => AreaKind::Coverage,
            None => AreaKind::Unknown,
        },
        threat_status: threat.map_or(ThreatStatus::Unknown, |pair| threat_status(&pair.value)),
        code: None,
        is_fire_zone: false,
        geometry,
    };
    if let [] | [_] = *codes {
        let area = MessageArea { code: codes.first().copied(), ..whole };
        return Ok(vec![(area, description.to_owned())]);
    }
    // The weather service lists names and zones in the same order.
    let names: Vec<&str> = description.split(';').map(str::trim).collect();
    let name = |i: usize| if names.len() == codes.len() { names[i] } else { description };
    let zones = codes.iter().enumerate().map(|(i, &code)| {
        let area = MessageArea { code: Some(code), geometry: None, ..whole.clone() };
        (area, name(i).to_owned())
    });
    let mut areas: Vec<_> = zones.collect();
    if whole.geometry.is_some() {
        areas.insert(0, (whole, description.to_owned()));
    }
    Ok(areas)
}

/// Whether geocodes of a name are codes of Specific Area Message Encoding.
pub(super) fn is_same_code(name: &str) -> bool {
    // FIPS6 is the weather service's name for it before 2022.
    ["SAME", "FIPS6"].contains(&name)
}

/// The zones of codes of Specific Area Message Encoding, each once. A place that is not a zone,
/// such as the whole country, is counted.
pub(in super::super) fn same_zones<'a>(
    codes: impl Iterator<Item = &'a str>,
    summary: &mut Summary,
) -> Vec<zone::Code> {
    let mut zones = Vec::new();
    for code in codes {
        match zone::Code::of_same(code) {
            Some(zone) if zones.contains(&zone) => {}
            Some(zone) => zones.push(zone),
            None => summary.unread_values.add("SAME"),
        }
    }
    zones
}

fn threat_status(text: &str) -> ThreatStatus {
    match text {
        "issued" => ThreatStatus::Issued,
        "continued" => ThreatStatus::Continued,
        "ended" => ThreatStatus::Ended,
        "cancelled" => ThreatStatus::Cancelled,
        _ => ThreatStatus::Unknown,
    }
}

fn geometry(
    of: &CapArea,
    budget: &mut Budget,
    summary: &mut Summary,
) -> Result<Option<MultiPolygon>, RefusalReason> {
    let mut polygons = Vec::new();
    for text in of.polygons.iter().filter(|text| !text.is_empty()) {
        budget.take(text.split_ascii_whitespace().count())?;
        match ring(text).and_then(|ring| MultiPolygon::mended(&[ring]).ok()) {
            Some(mended) => polygons.extend_from_slice(mended.polygons()),
            None => summary.unread_values.add("polygon"),
        }
    }
    for text in of.circles.iter().filter(|text| !text.is_empty()) {
        let circle = circle(text);
        // A place, not an area: a program that shows the alert can name it.
        if matches!(circle, Some((_, 0.0))) {
            continue;
        }
        let polygon = circle.and_then(|(center, radius_km)| {
            Polygon::circle(center, radius_km, circle_tolerance_km(radius_km)).ok()
        });
        match polygon {
            Some(polygon) => {
                budget.take(polygon.exterior().len())?;
                polygons.push(polygon);
            }
            None => summary.unread_values.add("circle"),
        }
    }
    Ok(MultiPolygon::new(polygons).ok())
}

/// How far the edges of a circle's polygon may deviate from it.
fn circle_tolerance_km(radius_km: f64) -> f64 {
    (radius_km * CIRCLE_TOLERANCE).max(CIRCLE_TOLERANCE_KM)
}

/// Positions as `latitude,longitude` separated by blanks.
fn ring(text: &str) -> Option<Vec<LonLat>> {
    text.split_ascii_whitespace().map(place).collect()
}

/// `latitude,longitude`. A longitude beyond the antimeridian, at most a turn, is counted from the
/// other side.
pub(super) fn place(text: &str) -> Option<LonLat> {
    let (lat, lon) = text.split_once(',')?;
    LonLat::turned(lon.parse().ok()?, lat.parse().ok()?).ok()
}

/// `latitude,longitude radius`, the radius in kilometres.
fn circle(text: &str) -> Option<(LonLat, f64)> {
    let (center, radius_km) = text.split_once(|letter: char| letter.is_ascii_whitespace())?;
    let radius_km = radius_km.trim().parse().ok()?;
    Some((place(center)?, radius_km))
}
