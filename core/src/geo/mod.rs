//! Positions, bounding boxes and the index of stations by place.

mod outline;
#[cfg(feature = "feed")]
mod polygon;
mod region;
#[cfg(feature = "time-zones")]
mod time_zone;

use std::sync::OnceLock;

use rstar::primitives::GeomWithData;
use rstar::{AABB, RTree};

#[cfg(feature = "feed")]
pub(crate) use self::polygon::mended_geojson;
#[cfg(feature = "feed")]
pub(crate) use self::polygon::outline_of_geojson;
#[cfg(feature = "feed")]
pub use self::polygon::{
    COORDINATE_DECIMALS, GeometryError, MAX_RING_POSITIONS, MultiPolygon, Polygon,
};

pub use self::region::{Country, Region, RegionError};
#[cfg(feature = "time-zones")]
pub use self::time_zone::{time_zone_at, time_zones};

/// An invalid position or box.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum GeoError {
    /// A latitude outside ±90°, or not a number.
    #[error("latitude must be from -90 to 90; got {0}")]
    Latitude(f64),
    /// A longitude outside ±180°, or not a number.
    #[error("longitude must be from -180 to 180; got {0}")]
    Longitude(f64),
    /// A box whose south is north of its north.
    #[error("minLat must not be greater than maxLat; got {min_lat} and {max_lat}")]
    Order {
        /// The southern side that was given.
        min_lat: f64,
        /// The northern side that was given.
        max_lat: f64,
    },
}

/// A position: longitude and latitude in decimal degrees, in the order of GeoJSON.
///
/// ```
/// use mesonet::LonLat;
/// let toronto = LonLat::new(-79.63, 43.68)?;
/// assert_eq!((toronto.lon(), toronto.lat()), (-79.63, 43.68));
/// assert_eq!(
///     LonLat::new(43.68, -97.3 - 90.0).unwrap_err().to_string(),
///     "latitude must be from -90 to 90; got -187.3",
/// );
/// # Ok::<(), mesonet::geo::GeoError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LonLat {
    lon: f64,
    lat: f64,
}

impl LonLat {
    /// A position from longitude (±180) and latitude (±90).
    ///
    /// # Errors
    /// If a coordinate is out of range or not a number.
    pub fn new(lon: f64, lat: f64) -> Result<Self, GeoError> {
        if !(-90.0..=90.0).contains(&lat) {
            return Err(GeoError::Latitude(lat));
        }
        if !(-180.0..=180.0).contains(&lon) {
            return Err(GeoError::Longitude(lon));
        }
        Ok(Self { lon, lat })
    }

    /// A position from a longitude that may be up to a full turn off, because some sources count on
    /// beyond the antimeridian, and a latitude (±90).
    ///
    /// # Errors
    /// If a coordinate is out of range or not a number.
    #[cfg(feature = "feed")]
    pub(crate) fn turned(lon: f64, lat: f64) -> Result<Self, GeoError> {
        let turn_deg = if lon > 180.0 && lon <= 360.0 {
            -360.0
        } else if (-360.0..-180.0).contains(&lon) {
            360.0
        } else {
            0.0
        };
        Self::new(lon + turn_deg, lat)
    }

    /// A position whose coordinates are known to be in range.
    #[cfg(feature = "feed")]
    pub(crate) const fn unchecked(lon: f64, lat: f64) -> Self {
        Self { lon, lat }
    }

    /// Longitude in degrees east, −180 to 180.
    pub fn lon(self) -> f64 {
        self.lon
    }

    /// Latitude in degrees north, −90 to 90.
    pub fn lat(self) -> f64 {
        self.lat
    }

    /// Great-circle distance on a sphere of 6371.0088 km (the IUGG mean radius), by the haversine
    /// formula.
    ///
    /// ```
    /// use mesonet::LonLat;
    /// let quarter = LonLat::new(0.0, 0.0)?.distance_km(LonLat::new(0.0, 90.0)?);
    /// assert!((quarter - 10_007.557).abs() < 0.001);
    /// # Ok::<(), mesonet::geo::GeoError>(())
    /// ```
    pub fn distance_km(self, other: Self) -> f64 {
        let half_lat = libm::sin((other.lat - self.lat).to_radians() / 2.0);
        let half_lon = libm::sin((other.lon - self.lon).to_radians() / 2.0);
        let cosines = libm::cos(self.lat.to_radians()) * libm::cos(other.lat.to_radians());
        let chord = half_lat * half_lat + cosines * half_lon * half_lon;
        2.0 * EARTH_RADIUS_KM * libm::asin(libm::sqrt(chord.min(1.0)))
    }

    /// The bearing of another place from here at the start of the great circle to it: degrees
    /// clockwise from north, 0 to just below 360; 0 for the same place.
    ///
    /// ```
    /// use mesonet::LonLat;
    /// let east = LonLat::new(0.0, 0.0)?.bearing_deg(LonLat::new(1.0, 0.0)?);
    /// assert_eq!(east, 90.0);
    /// # Ok::<(), mesonet::geo::GeoError>(())
    /// ```
    pub fn bearing_deg(self, other: Self) -> f64 {
        let turn = (other.lon - self.lon).to_radians();
        let (from, to) = (self.lat.to_radians(), other.lat.to_radians());
        let east = libm::sin(turn) * libm::cos(to);
        let north =
            libm::cos(from) * libm::sin(to) - libm::sin(from) * libm::cos(to) * libm::cos(turn);
        let bearing = libm::atan2(east, north).to_degrees();
        // A tiny negative bearing would be rounded to 360.
        (bearing + 360.0) % 360.0
    }

    /// The point on the globe, in kilometres from its centre: straight-line distances between
    /// nearby points are their great-circle distances.
    #[cfg(feature = "checks")]
    pub(crate) fn place_km(self) -> [f64; 3] {
        self.on_unit_sphere().map(|at| at * EARTH_RADIUS_KM)
    }

    /// The point on the unit sphere: the order by straight-line distance there is the order by
    /// great-circle distance on the globe.
    fn on_unit_sphere(self) -> [f64; 3] {
        let (lon, lat) = (self.lon.to_radians(), self.lat.to_radians());
        let (sin_lat, cos_lat) = (libm::sin(lat), libm::cos(lat));
        [cos_lat * libm::cos(lon), cos_lat * libm::sin(lon), sin_lat]
    }
}

pub(crate) const EARTH_RADIUS_KM: f64 = 6371.0088;

/// On the wire a position is `[longitude, latitude]`.
impl serde::Serialize for LonLat {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Position([self.lon, self.lat]).serialize(serializer)
    }
}

/// Longitude and latitude, degrees.
#[derive(serde::Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(value_type = Vec<f64>, min_items = 2, max_items = 2))]
struct Position([f64; 2]);

described_as!(LonLat, Position);

/// A position as an object.
#[cfg(feature = "feed")]
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct LatLon {
    /// Latitude.
    pub lat: f64,
    /// Longitude.
    pub lon: f64,
}

#[cfg(feature = "feed")]
impl From<LonLat> for LatLon {
    fn from(at: LonLat) -> Self {
        Self { lat: at.lat(), lon: at.lon() }
    }
}

/// The word by which a GeoJSON Feature is known.
#[cfg(any(feature = "feed", feature = "store"))]
#[derive(Clone, Copy, Debug, serde::Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub(crate) enum FeatureType {
    Feature,
}

impl<'de> serde::Deserialize<'de> for LonLat {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let [lon, lat] = <[f64; 2]>::deserialize(deserializer)?;
        Self::new(lon, lat).map_err(serde::de::Error::custom)
    }
}

/// A box of longitudes and latitudes, including its sides. If the western side is greater than the
/// eastern one, the box crosses the antimeridian.
///
/// ```
/// use mesonet::{BBox, LonLat};
/// let aleutians = BBox::new(170.0, 50.0, -160.0, 56.0)?;
/// assert!(aleutians.contains(LonLat::new(-176.6, 51.9)?));
/// assert!(aleutians.contains(LonLat::new(174.1, 52.7)?));
/// assert!(!aleutians.contains(LonLat::new(-150.0, 52.0)?));
/// assert!(BBox::GLOBE.contains(LonLat::new(-150.0, 52.0)?));
/// # Ok::<(), mesonet::geo::GeoError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BBox {
    min_lon: f64,
    min_lat: f64,
    max_lon: f64,
    max_lat: f64,
}

impl BBox {
    /// The whole globe.
    pub const GLOBE: Self = Self { min_lon: -180.0, min_lat: -90.0, max_lon: 180.0, max_lat: 90.0 };

    /// A box from its west, south, east and north.
    ///
    /// # Errors
    /// If a side is off the globe, or the south is north of the north.
    pub fn new(min_lon: f64, min_lat: f64, max_lon: f64, max_lat: f64) -> Result<Self, GeoError> {
        LonLat::new(min_lon, min_lat)?;
        LonLat::new(max_lon, max_lat)?;
        if min_lat > max_lat {
            return Err(GeoError::Order { min_lat, max_lat });
        }
        Ok(Self { min_lon, min_lat, max_lon, max_lat })
    }

    /// Whether a position lies in the box or on its sides. 180° and −180° are the same meridian.
    pub fn contains(self, at: LonLat) -> bool {
        let [west, east] = self.spans();
        (self.min_lat..=self.max_lat).contains(&at.lat)
            && [west, east].into_iter().flatten().any(|(from, to)| (from..=to).contains(&at.lon))
    }

    /// The western side; greater than the eastern one if the box crosses the antimeridian.
    pub const fn min_lon(self) -> f64 {
        self.min_lon
    }

    /// The southern side.
    pub const fn min_lat(self) -> f64 {
        self.min_lat
    }

    /// The eastern side.
    pub const fn max_lon(self) -> f64 {
        self.max_lon
    }

    /// The northern side.
    pub const fn max_lat(self) -> f64 {
        self.max_lat
    }

    /// The ranges of longitude that make up the box: one, or two if it touches the antimeridian.
    pub(crate) fn spans(self) -> [Option<(f64, f64)>; 2] {
        let Self { min_lon, max_lon, .. } = self;
        if min_lon > max_lon {
            [Some((min_lon, 180.0)), Some((-180.0, max_lon))]
        } else if max_lon == 180.0 && min_lon > -180.0 {
            [Some((min_lon, max_lon)), Some((-180.0, -180.0))]
        } else if min_lon == -180.0 && max_lon < 180.0 {
            [Some((min_lon, max_lon)), Some((180.0, 180.0))]
        } else {
            [Some((min_lon, max_lon)), None]
        }
    }
}

/// An index of stations by place, which finds them by box and by distance.
///
/// ```
/// use mesonet::{BBox, LonLat};
/// use mesonet::geo::StationIndex;
/// let places = [LonLat::new(-73.8, 42.7)?, LonLat::new(179.9, 51.0)?, LonLat::new(-179.9, 52.0)?];
/// let index = StationIndex::new(places);
/// let mut found: Vec<_> = index.in_box(BBox::new(179.0, 50.0, -179.0, 53.0)?).collect();
/// found.sort();
/// assert_eq!(found, [1, 2]);
/// // Nearness goes round the globe, across the antimeridian and over the poles.
/// let (nearest, distance_km) = index.nearest(LonLat::new(-179.9, 51.0)?).next().unwrap();
/// assert_eq!((nearest, distance_km.round()), (1, 14.0));
/// # Ok::<(), mesonet::geo::GeoError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct StationIndex {
    by_box: RTree<InPlane>,
    by_nearness: RTree<OnSphere>,
    /// By station; found when first asked for.
    regions: OnceLock<Box<[Option<Region>]>>,
}

/// Longitude and latitude of a station, and its index.
type InPlane = GeomWithData<[f64; 2], u32>;
/// Point of a station on the unit sphere, its index, and its longitude and latitude.
type OnSphere = GeomWithData<[f64; 3], (u32, [f64; 2])>;

impl StationIndex {
    /// An index of the places in a list; results are indices into that list.
    pub fn new(places: impl IntoIterator<Item = LonLat>) -> Self {
        let (flat, sphere) = (0_u32..)
            .zip(places)
            .map(|(i, at)| {
                let flat = [at.lon, at.lat];
                (GeomWithData::new(flat, i), GeomWithData::new(at.on_unit_sphere(), (i, flat)))
            })
            .unzip();
        Self {
            by_box: RTree::bulk_load(flat),
            by_nearness: RTree::bulk_load(sphere),
            regions: OnceLock::new(),
        }
    }

    /// The region of a station. The first call looks up those of all stations, about 10 µs each.
    pub fn region(&self, station: usize) -> Option<Region> {
        let regions = self.regions.get_or_init(|| {
            let mut regions = vec![None; self.by_box.size()].into_boxed_slice();
            for place in &self.by_box {
                let [lon, lat] = *place.geom();
                regions[place.data as usize] = Region::at(LonLat { lon, lat });
            }
            regions
        });
        regions.get(station).copied().flatten()
    }

    /// The stations in a box, including its sides, in no particular order.
    pub fn in_box(&self, bbox: BBox) -> impl Iterator<Item = usize> + '_ {
        bbox.spans().into_iter().flatten().flat_map(move |(from, to)| {
            let envelope = AABB::from_corners([from, bbox.min_lat], [to, bbox.max_lat]);
            self.by_box.locate_in_envelope(envelope).map(|station| station.data as usize)
        })
    }

    /// All stations from the nearest to the farthest, with their distances in km.
    pub fn nearest(&self, from: LonLat) -> impl Iterator<Item = (usize, f64)> + '_ {
        self.by_nearness.nearest_neighbor_iter(from.on_unit_sphere()).map(move |station| {
            let (i, [lon, lat]) = station.data;
            (i as usize, from.distance_km(LonLat { lon, lat }))
        })
    }
}

#[cfg(test)]
#[path = "geo_tests.rs"]
mod tests;
