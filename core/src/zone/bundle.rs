//! Packed zones, as shipped with the server.
//!
//! A bundle is a [`Bundle`] in postcard: a format number, then the zones, sorted by kind and code.
//! Positions are whole numbers of the coarsest power of ten of a degree that is exact for the whole
//! zone. A ring is stored as the steps between positions, without the last position, which equals
//! the first. The same zones give the same bytes.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::geo::{COORDINATE_DECIMALS, GeoError, GeometryError, LonLat, MultiPolygon, Polygon};
use crate::zone::{Code, Zone, ZoneCodeError, ZoneKind, Zones};

/// Increases when the layout of a bundle or the JSON of a zone changes. Either change gives the
/// same zones a new geography version.
const FORMAT: u32 = 3;

/// Namespace of the geography versions. It must never change, because all versions would.
const VERSION_NAMESPACE: Uuid = Uuid::from_u128(0x6d65_736f_6e65_7447_656f_6772_6170_0001);

/// The error for an invalid zone bundle.
///
/// ```
/// use mesonet::zone::{ZoneKind, Zone, ZoneBundleError, Zones};
/// let zones = Zones::new([Zone::new("041420".parse()?, ZoneKind::Base)]);
/// let mut bundle = zones.to_bundle()?;
/// assert_eq!(Zones::from_bundle(&bundle)?.version()?, zones.version()?);
/// bundle.push(0);
/// assert!(matches!(Zones::from_bundle(&bundle), Err(ZoneBundleError::Rest(1))));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ZoneBundleError {
    /// Not laid out as a bundle.
    #[error("not a bundle of zones: {0}")]
    Layout(#[from] postcard::Error),
    /// A bundle of another format.
    #[error("the bundle of zones must have format {FORMAT}; got {0}")]
    Format(u32),
    /// Bytes after the last zone.
    #[error("a bundle of zones must end with its last zone; got {0} extra bytes")]
    Rest(usize),
    /// Positions finer than the precision of coordinates.
    #[error("positions of a zone must have at most {COORDINATE_DECIMALS} decimals; got {0}")]
    Decimals(u32),
    /// An invalid code.
    #[error(transparent)]
    Code(#[from] ZoneCodeError),
    /// A kind that does not fit the code.
    #[error("zone {code} cannot be of kind {kind}")]
    Kind {
        /// The code.
        code: Code,
        /// The kind.
        kind: ZoneKind,
    },
    /// A position off the globe.
    #[error(transparent)]
    Place(#[from] GeoError),
    /// Invalid rings.
    #[error(transparent)]
    Geometry(#[from] GeometryError),
}

#[derive(Serialize, Deserialize)]
struct Bundle<'a> {
    format: u32,
    #[serde(borrow)]
    zones: Vec<Packed<'a>>,
}

#[derive(Serialize, Deserialize)]
struct Packed<'a> {
    code: &'a str,
    kind: ZoneKind,
    name_en: Option<&'a str>,
    name_fr: Option<&'a str>,
    centroid: Option<(f64, f64)>,
    area_km2: Option<f64>,
    is_retired: bool,
    decimals: u32,
    polygons: Vec<Vec<Steps>>,
}

/// A ring as steps in longitude and latitude, the first from 0.
type Steps = Vec<(i32, i32)>;

impl Zones {
    /// Packs the zones into a bundle.
    ///
    /// # Errors
    /// None known: every zone can be packed.
    pub fn to_bundle(&self) -> Result<Vec<u8>, ZoneBundleError> {
        let zones = self.iter().map(pack).collect();
        Ok(postcard::to_allocvec(&Bundle { format: FORMAT, zones })?)
    }

    /// Unpacks the zones of a bundle.
    ///
    /// # Errors
    /// The bytes are not a bundle, or hold an invalid zone.
    pub fn from_bundle(bytes: &[u8]) -> Result<Self, ZoneBundleError> {
        let (format, _) = postcard::take_from_bytes(bytes)?;
        if format != FORMAT {
            return Err(ZoneBundleError::Format(format));
        }
        let (Bundle { format: _, zones }, rest) = postcard::take_from_bytes(bytes)?;
        if !rest.is_empty() {
            return Err(ZoneBundleError::Rest(rest.len()));
        }
        let zones = zones.into_iter().map(unpack).collect::<Result<Vec<_>, _>>()?;
        let mut zones = Self::new(zones);
        zones.version = Some(version(bytes));
        Ok(zones)
    }

    /// Returns the version of the zones: the same zones have the same version on every server, and
    /// the version changes with any change to a zone.
    ///
    /// # Errors
    /// The same as for [`to_bundle`](Self::to_bundle).
    pub fn version(&self) -> Result<String, ZoneBundleError> {
        Ok(match &self.version {
            Some(known) => known.clone(),
            None => version(&self.to_bundle()?),
        })
    }
}

fn version(bundle: &[u8]) -> String {
    let mut version = Uuid::new_v5(&VERSION_NAMESPACE, bundle).simple().to_string();
    // Half of it is plenty to distinguish versions.
    version.truncate(16);
    version
}

fn pack(zone: &Zone) -> Packed<'_> {
    let polygons = zone.geometry.as_ref().map_or(&[][..], MultiPolygon::polygons);
    let rings: Vec<Vec<Vec<LonLat>>> = polygons
        .iter()
        .map(|polygon| {
            let holes = polygon.holes().map(Iterator::collect);
            std::iter::once(polygon.exterior().collect()).chain(holes).collect()
        })
        .collect();
    let places = || rings.iter().flatten().flatten();
    let decimals = (0..COORDINATE_DECIMALS).find(|&decimals| {
        places().all(|at| {
            [at.lon(), at.lat()].iter().all(|&x| of_units(units(x, decimals), decimals) == x)
        })
    });
    let decimals = decimals.unwrap_or(COORDINATE_DECIMALS);
    Packed {
        code: zone.code.as_str(),
        kind: zone.kind,
        name_en: zone.name_en.as_deref(),
        name_fr: zone.name_fr.as_deref(),
        centroid: zone.centroid.map(|at| (at.lon(), at.lat())),
        area_km2: zone.area_km2,
        is_retired: zone.is_retired,
        decimals,
        polygons: rings
            .iter()
            .map(|polygon| polygon.iter().map(|ring| steps(ring, decimals)).collect())
            .collect(),
    }
}

fn unpack(packed: Packed<'_>) -> Result<Zone, ZoneBundleError> {
    let Packed { code, kind, name_en, name_fr, centroid, area_km2, is_retired, decimals, polygons } =
        packed;
    let code: Code = code.parse()?;
    if !kind.has(code) {
        return Err(ZoneBundleError::Kind { code, kind });
    }
    if decimals > COORDINATE_DECIMALS {
        return Err(ZoneBundleError::Decimals(decimals));
    }
    let mut parts = Vec::with_capacity(polygons.len());
    for polygon in &polygons {
        let mut rings = Vec::with_capacity(polygon.len());
        for steps in polygon {
            rings.push(ring(steps, decimals)?);
        }
        let (exterior, holes) = rings.split_first().ok_or(GeometryError::Empty)?;
        parts.push(Polygon::new(exterior, holes)?);
    }
    Ok(Zone {
        code,
        kind,
        name_en: name_en.map(str::to_owned),
        name_fr: name_fr.map(str::to_owned),
        centroid: centroid.map(|(lon, lat)| LonLat::new(lon, lat)).transpose()?,
        area_km2: area_km2.filter(|area_km2| area_km2.is_finite()),
        geometry: if parts.is_empty() { None } else { Some(MultiPolygon::new(parts)?) },
        is_retired,
    })
}

fn units(degrees: f64, decimals: u32) -> i32 {
    // At most 180 million.
    libm::round(degrees * f64::from(10_u32.pow(decimals))) as i32
}

fn of_units(units: i32, decimals: u32) -> f64 {
    f64::from(units) / f64::from(10_u32.pow(decimals))
}

fn steps(ring: &[LonLat], decimals: u32) -> Steps {
    let mut from = (0, 0);
    ring[..ring.len() - 1]
        .iter()
        .map(|at| {
            let to = (units(at.lon(), decimals), units(at.lat(), decimals));
            let step = (to.0 - from.0, to.1 - from.1);
            from = to;
            step
        })
        .collect()
}

fn ring(steps: &[(i32, i32)], decimals: u32) -> Result<Vec<LonLat>, GeoError> {
    let mut ring = Vec::with_capacity(steps.len() + 1);
    let (mut lon, mut lat) = (0_i32, 0_i32);
    for &(east, north) in steps {
        // A step off the globe is detected by `LonLat`: the saturated value is far off it.
        (lon, lat) = (lon.saturating_add(east), lat.saturating_add(north));
        ring.push(LonLat::new(of_units(lon, decimals), of_units(lat, decimals))?);
    }
    ring.extend(ring.first().copied());
    Ok(ring)
}

#[cfg(test)]
#[path = "bundle_tests.rs"]
mod tests;
