//! Zones that alerts are issued for: their codes, names and areas.

mod bundle;
mod file;
mod same;

use std::collections::HashMap;
use std::fmt;
use std::str::FromStr;

use rstar::primitives::{GeomWithData, Rectangle};
use rstar::{AABB, RTree};
use serde::{Deserialize, Serialize, Serializer};

pub use self::bundle::ZoneBundleError;
pub use self::file::{
    FILE_TOLERANCE_DEG, File, MAX_FILE_BYTES, ProjectionError, Shapefile, ZoneFileError,
    ZoneRefusal, read_geojson, read_shapefile,
};
use crate::geo::{BBox, FeatureType, LatLon, LonLat, MultiPolygon};

/// The error for an invalid zone code.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "\"{0}\" is not a zone code; allowed are six digits (CLC, for example 041320), or two letters, \
     C or Z, and three digits (UGC, for example OKC001 or OKZ025)"
)]
pub struct ZoneCodeError(pub String);

/// A zone code: a Canadian location code (CLC) of six digits, or a universal geographic code of the
/// United States (UGC): the state or waters, C for a county or Z for a zone, and a number.
///
/// UGC's short forms for several zones (`OKC001-003`, `OKZALL`) are not zone codes.
///
/// ```
/// use mesonet::zone;
/// let windsor: zone::Code = "041420".parse()?;
/// let county: zone::Code = "OKC001".parse()?;
/// assert!(windsor.is_clc() && !county.is_clc());
/// assert!(county.is_county() && !windsor.is_county());
/// assert_eq!(county.as_str(), "OKC001");
/// assert_eq!(
///     "okc001".parse::<zone::Code>().unwrap_err().to_string(),
///     "\"okc001\" is not a zone code; allowed are six digits (CLC, for example 041320), or two \
///      letters, C or Z, and three digits (UGC, for example OKC001 or OKZ025)",
/// );
/// # Ok::<(), mesonet::zone::ZoneCodeError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = ZoneCode, value_type = String))]
pub struct Code([u8; 6]);

impl Code {
    /// Whether it is a Canadian location code; otherwise it is a UGC.
    pub const fn is_clc(self) -> bool {
        self.0[0].is_ascii_digit()
    }

    /// Whether it is the code of a county or equivalent.
    pub const fn is_county(self) -> bool {
        !self.is_clc() && self.0[2] == b'C'
    }

    /// Whether it names all counties of a state, or all zones of a state or of waters, with the
    /// number 000.
    ///
    /// ```
    /// use mesonet::zone::Code;
    /// let (state, county): (Code, Code) = ("ILC000".parse()?, "ILC031".parse()?);
    /// assert!(state.is_whole() && state.covers(county) && state.covers(state));
    /// assert!(!county.is_whole() && !county.covers(state) && !state.covers("ILZ103".parse()?));
    /// # Ok::<(), mesonet::zone::ZoneCodeError>(())
    /// ```
    pub const fn is_whole(self) -> bool {
        !self.is_clc() && self.0[3] == b'0' && self.0[4] == b'0' && self.0[5] == b'0'
    }

    /// Whether it equals another code, or is a [whole](Self::is_whole) that the other code belongs
    /// to.
    pub fn covers(self, other: Self) -> bool {
        self == other || self.is_whole() && self.0[..3] == other.0[..3]
    }

    /// Returns the code as text.
    pub fn as_str(&self) -> &str {
        // Always ASCII.
        std::str::from_utf8(&self.0).unwrap_or_default()
    }
}

impl FromStr for Code {
    type Err = ZoneCodeError;
    fn from_str(text: &str) -> Result<Self, ZoneCodeError> {
        let code = <[u8; 6]>::try_from(text.as_bytes()).ok().filter(|code| {
            let (start, number) = code.split_at(3);
            number.iter().all(u8::is_ascii_digit)
                && (start.iter().all(u8::is_ascii_digit)
                    || start[..2].iter().all(u8::is_ascii_uppercase) && b"CZ".contains(&start[2]))
        });
        code.map(Self).ok_or_else(|| ZoneCodeError(text.to_owned()))
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl TryFrom<String> for Code {
    type Error = ZoneCodeError;
    fn try_from(text: String) -> Result<Self, ZoneCodeError> {
        text.parse()
    }
}

impl From<Code> for String {
    fn from(code: Code) -> Self {
        code.as_str().to_owned()
    }
}

/// The error for an unknown zone kind.
///
/// ```
/// use mesonet::zone::{ZoneKind, ZoneKindError};
/// assert_eq!("fire".parse(), Ok(ZoneKind::Fire));
/// let lake_erie = "LEZ144".parse()?;
/// assert!(ZoneKind::of(lake_erie) == ZoneKind::Marine && ZoneKind::Fire.has(lake_erie));
/// assert_eq!("firewx".parse::<ZoneKind>(), Err(ZoneKindError("firewx".to_owned())));
/// # Ok::<(), mesonet::zone::ZoneCodeError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("\"{0}\" is not a zone kind; allowed are base, public, marine, fire and county")]
pub struct ZoneKindError(pub String);

/// The kind of a zone. A UGC with a Z can name a forecast zone and also a fire weather zone with a
/// different outline, so the code alone does not determine the kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum ZoneKind {
    /// A base zone of Canadian forecasts and alerts.
    Base,
    /// A land forecast zone of the National Weather Service.
    Public,
    /// A zone of its forecasts for coasts, lakes and seas.
    Marine,
    /// A zone of its fire weather forecasts.
    Fire,
    /// A county, parish, borough or equivalent.
    County,
}

/// The first two letters of marine zone codes: the waters, where land zones have the state (the
/// marine area codes of api.weather.gov).
const MARINE: [&str; 15] =
    ["AM", "AN", "GM", "LC", "LE", "LH", "LM", "LO", "LS", "PH", "PK", "PM", "PS", "PZ", "SL"];

impl ZoneKind {
    /// Every kind, in the order in which a code is looked up.
    pub const ALL: [Self; 5] = [Self::Base, Self::Public, Self::Marine, Self::Fire, Self::County];

    /// The name on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Base => "base",
            Self::Public => "public",
            Self::Marine => "marine",
            Self::Fire => "fire",
            Self::County => "county",
        }
    }

    /// Returns the kind suggested by a code alone: a UGC with a Z is marine if it has a marine
    /// prefix, else public. It is never fire.
    pub fn of(code: Code) -> Self {
        if code.is_clc() {
            Self::Base
        } else if code.is_county() {
            Self::County
        } else if MARINE.contains(&&code.as_str()[..2]) {
            Self::Marine
        } else {
            Self::Public
        }
    }

    /// Whether zones of this kind have codes of this form.
    pub const fn has(self, code: Code) -> bool {
        match self {
            Self::Base => code.is_clc(),
            Self::County => code.is_county(),
            Self::Public | Self::Marine | Self::Fire => !code.is_clc() && !code.is_county(),
        }
    }
}

impl fmt::Display for ZoneKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for ZoneKind {
    type Err = ZoneKindError;
    fn from_str(text: &str) -> Result<Self, ZoneKindError> {
        let kind = Self::ALL.into_iter().find(|kind| kind.name() == text);
        kind.ok_or_else(|| ZoneKindError(text.to_owned()))
    }
}

/// A zone that alerts are issued for. Fields that its source does not give are absent.
///
/// It serializes as a GeoJSON Feature. Its properties are `clcCode`, which has the code of a zone
/// of either country, `ugcCode` (of the United States alone), `kind`, `nameEn`, `nameFr`,
/// `areaKm2`, `centroid` and `retired` (if it is). The geometry is null if no polygon is known.
/// Both names are always present: if only one language has a name, it serves both; if neither has,
/// the code does.
///
/// ```
/// use mesonet::{LonLat, zone};
/// use mesonet::zone::Zone;
/// let zone = Zone {
///     centroid: Some(LonLat::new(-82.7, 42.1)?),
///     name_en: Some("Windsor".to_owned()),
///     ..Zone::new("041420".parse()?, zone::ZoneKind::Base)
/// };
/// assert_eq!(
///     serde_json::to_string(&zone)?,
///     r#"{"type":"Feature","id":"041420","geometry":null,"properties":{"clcCode":"041420","#.to_owned()
///         + r#""kind":"base","nameEn":"Windsor","nameFr":"Windsor","centroid":{"lat":42.1,"lon":-82.7}}}"#,
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Zone {
    /// Code.
    pub code: Code,
    /// Kind.
    pub kind: ZoneKind,
    /// Name in English.
    pub name_en: Option<String>,
    /// Name in French.
    pub name_fr: Option<String>,
    /// A point in the middle, as the source gives it.
    pub centroid: Option<LonLat>,
    /// Area in square kilometres, as the source gives it.
    pub area_km2: Option<f64>,
    /// Outline.
    pub geometry: Option<MultiPolygon>,
    /// Whether its code is out of use. Alerts from the time when it was in use still name it.
    pub is_retired: bool,
}

impl Zone {
    /// Creates a zone with nothing else known.
    pub const fn new(code: Code, kind: ZoneKind) -> Self {
        Self {
            code,
            kind,
            name_en: None,
            name_fr: None,
            centroid: None,
            area_km2: None,
            geometry: None,
            is_retired: false,
        }
    }

    /// Updates the zone with the fields of a newer description, keeping the rest.
    fn update(&mut self, newer: Self) {
        let Self { code: _, kind: _, name_en, name_fr, centroid, area_km2, geometry, is_retired } =
            newer;
        self.is_retired = is_retired;
        self.name_en = name_en.or(self.name_en.take());
        self.name_fr = name_fr.or(self.name_fr.take());
        self.centroid = centroid.or(self.centroid);
        self.area_km2 = area_km2.or(self.area_km2);
        self.geometry = geometry.or(self.geometry.take());
    }
}

impl Serialize for Zone {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (english, french) = (self.name_en.as_deref(), self.name_fr.as_deref());
        let code = self.code.as_str();
        let properties = Properties {
            clc_code: self.code,
            ugc_code: (!self.code.is_clc()).then_some(self.code),
            kind: self.kind,
            name_en: english.or(french).unwrap_or(code),
            name_fr: french.or(english).unwrap_or(code),
            area_km2: self.area_km2,
            centroid: self.centroid.map(LatLon::from),
            retired: self.is_retired.then_some(true),
        };
        let (r#type, geometry) = (FeatureType::Feature, self.geometry.as_ref());
        Feature { r#type, id: self.code, geometry, properties }.serialize(serializer)
    }
}

/// A zone as a GeoJSON Feature.
#[derive(Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = ZoneFeature))]
struct Feature<'a> {
    r#type: FeatureType,
    /// The code.
    id: Code,
    #[cfg_attr(feature = "openapi", schema(value_type = MultiPolygon))]
    geometry: Option<&'a MultiPolygon>,
    properties: Properties<'a>,
}

described_as!(Zone, Feature<'static>);

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = Zone))]
struct Properties<'a> {
    /// CLC in Canada, UGC in the United States.
    clc_code: Code,
    /// The same, only in the United States.
    #[serde(skip_serializing_if = "Option::is_none")]
    ugc_code: Option<Code>,
    kind: ZoneKind,
    name_en: &'a str,
    name_fr: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    area_km2: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    centroid: Option<LatLon>,
    /// Whether it is in use no longer; only if so.
    #[serde(skip_serializing_if = "Option::is_none")]
    retired: Option<bool>,
}

/// A set of zones, searchable by code, box and point.
///
/// ```
/// use mesonet::{LonLat, zone};
/// use mesonet::zone::{Zone, Zones};
/// let square = r#"{"type":"Polygon","coordinates":[[[-98,35],[-97,35],[-97,36],[-98,36],[-98,35]]]}"#;
/// let zone = |kind| -> Result<_, Box<dyn std::error::Error>> {
///     let geometry = Some(serde_json::from_str(square)?);
///     Ok(Zone { geometry, ..Zone::new("OKZ025".parse()?, kind) })
/// };
/// let zones = Zones::new([zone(zone::ZoneKind::Fire)?, zone(zone::ZoneKind::Public)?]);
/// let code = "OKZ025".parse()?;
/// assert_eq!(zones.get(code).map(|zone| zone.kind), Some(zone::ZoneKind::Public));
/// assert_eq!(zones.of_kind(code, zone::ZoneKind::Fire).map(|zone| zone.kind), Some(zone::ZoneKind::Fire));
/// assert_eq!(zones.at(LonLat::new(-97.5, 35.5)?).count(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Zones {
    /// Sorted by kind and code.
    zones: Vec<Zone>,
    places: HashMap<(Code, ZoneKind), u32>,
    by_box: RTree<GeomWithData<Rectangle<[f64; 2]>, u32>>,
    /// The version, if known, as from a bundle.
    pub(crate) version: Option<String>,
}

impl Zones {
    /// Collects zones by kind and code. If a zone comes twice, the later one adds to the earlier
    /// one and wins field by field; the geometry counts as one field.
    pub fn new(zones: impl IntoIterator<Item = Zone>) -> Self {
        let mut all: Vec<Zone> = zones.into_iter().collect();
        // The sort is stable: later descriptions of a zone stay later.
        all.sort_by_key(|zone| (zone.kind, zone.code));
        all.dedup_by(|later, kept| {
            let same = (later.kind, later.code) == (kept.kind, kept.code);
            if same {
                kept.update(std::mem::replace(later, Zone::new(kept.code, kept.kind)));
            }
            same
        });
        let places = (0_u32..).zip(&all).map(|(i, zone)| ((zone.code, zone.kind), i)).collect();
        let in_use = (0_u32..).zip(&all).filter(|(_, zone)| !zone.is_retired);
        let boxes = in_use.flat_map(|(i, zone)| {
            zone.geometry.iter().flat_map(MultiPolygon::bounds).map(move |[w, s, e, n]| {
                GeomWithData::new(Rectangle::from_corners([w, s], [e, n]), i)
            })
        });
        let by_box = RTree::bulk_load(boxes.collect());
        Self { zones: all, places, by_box, version: None }
    }

    /// Returns the zone with a code; if a forecast zone and a fire weather zone share it, the
    /// forecast zone.
    pub fn get(&self, code: Code) -> Option<&Zone> {
        ZoneKind::ALL.into_iter().find_map(|kind| self.of_kind(code, kind))
    }

    /// Returns the zone with a code and a kind.
    pub fn of_kind(&self, code: Code, kind: ZoneKind) -> Option<&Zone> {
        self.position(code, kind).map(|i| &self.zones[i])
    }

    /// Returns the zones that a code stands for: one, or all zones in use of a
    /// [whole](Code::is_whole).
    ///
    /// ```
    /// use mesonet::zone::{ZoneKind, Zone, Zones};
    /// let zone = |code: &str| code.parse().map(|code| Zone::new(code, ZoneKind::County));
    /// let zones = Zones::new([zone("IAC001")?, zone("ILC001")?, zone("ILC031")?, zone("INC001")?]);
    /// let count = |code: &str| code.parse().map(|code| zones.covered(code, ZoneKind::County).count());
    /// assert_eq!((count("ILC000")?, count("ILC031")?, count("ILC033")?), (2, 1, 0));
    /// # Ok::<(), mesonet::zone::ZoneCodeError>(())
    /// ```
    pub fn covered(&self, code: Code, kind: ZoneKind) -> impl Iterator<Item = &Zone> {
        let key = |zone: &Zone| (zone.kind, zone.code);
        let from = self.zones.partition_point(|zone| key(zone) < (kind, code));
        let zones = self.zones[from..].iter();
        let of_code = zones.take_while(move |zone| zone.kind == kind && code.covers(zone.code));
        of_code.filter(move |zone| !zone.is_retired || !code.is_whole())
    }

    /// Returns the position in [`iter`](Self::iter) of the zone with a code and a kind.
    pub fn position(&self, code: Code, kind: ZoneKind) -> Option<usize> {
        self.places.get(&(code, kind)).map(|&i| i as usize)
    }

    /// Returns all zones, sorted by kind and code.
    pub fn iter(&self) -> std::slice::Iter<'_, Zone> {
        self.zones.iter()
    }

    /// Returns the number of zones.
    pub fn len(&self) -> usize {
        self.zones.len()
    }

    /// Whether there are no zones.
    pub fn is_empty(&self) -> bool {
        self.zones.is_empty()
    }

    /// Returns the zones in use that intersect a box, sorted by kind and code. Zones without a polygon
    /// are never included: a centroid does not show how far a zone reaches.
    pub fn in_box(&self, bbox: BBox) -> impl Iterator<Item = &Zone> {
        let spans = bbox.spans().into_iter().flatten();
        let found = spans.flat_map(move |(from, to)| {
            let envelope = AABB::from_corners([from, bbox.min_lat()], [to, bbox.max_lat()]);
            self.by_box.locate_in_envelope_intersecting(envelope).map(|part| part.data)
        });
        self.of_parts(found, move |geometry| geometry.intersects(bbox))
    }

    /// Returns the zones in use at a point, borders included, sorted by kind and code. Zones without a
    /// polygon are never included.
    pub fn at(&self, at: LonLat) -> impl Iterator<Item = &Zone> {
        let antimeridian = (at.lon().abs() == 180.0).then_some(-at.lon());
        let found = std::iter::once(at.lon()).chain(antimeridian).flat_map(move |lon| {
            let envelope = AABB::from_point([lon, at.lat()]);
            self.by_box.locate_in_envelope_intersecting(envelope).map(|part| part.data)
        });
        self.of_parts(found, move |geometry| geometry.contains(at))
    }

    /// Returns the distinct zones that pass a test, given the parts found by their boxes.
    fn of_parts(
        &self,
        found: impl Iterator<Item = u32>,
        passes: impl Fn(&MultiPolygon) -> bool,
    ) -> impl Iterator<Item = &Zone> {
        let mut found: Vec<u32> = found.collect();
        found.sort_unstable();
        found.dedup();
        let zones = found.into_iter().map(|i| &self.zones[i as usize]);
        zones.filter(move |zone| zone.geometry.as_ref().is_some_and(&passes))
    }
}

impl<'a> IntoIterator for &'a Zones {
    type Item = &'a Zone;
    type IntoIter = std::slice::Iter<'a, Zone>;
    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

#[cfg(test)]
#[path = "zone_tests.rs"]
mod tests;
