//! Areas on the globe: polygons and sets of polygons, as in GeoJSON.

use ::geo::{BooleanOps, BoundingRect, Coord, Intersects, LineString, MapCoords, Rect, Validation};

use self::ring::{rounded, shift, split_long_edges, thinned, turn, unrolled};
use crate::geo::{BBox, EARTH_RADIUS_KM, GeoError, LonLat};

/// Decimals to which coordinates are rounded: 0.11 m, as RFC 7946 §11.2 suggests.
///
/// ```
/// use mesonet::LonLat;
/// use mesonet::geo::{COORDINATE_DECIMALS, Polygon};
/// let circle = Polygon::circle(LonLat::new(-82.4, 42.9)?, 20.0, 0.1)?;
/// let unit = 10_f64.powi(COORDINATE_DECIMALS as i32);
/// assert!(circle.exterior().all(|at| (at.lon() * unit).round() / unit == at.lon()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub const COORDINATE_DECIMALS: u32 = 6;
const ROUNDING: f64 = 1e6;

/// Maximum number of positions in a ring: twenty times the longest coast of the official zones.
pub const MAX_RING_POSITIONS: usize = 1_000_000;

/// Maximum number of positions in a circle.
const MAX_CIRCLE_POSITIONS: f64 = 10_000.0;

/// Rings that do not form a valid polygon.
///
/// ```
/// use mesonet::LonLat;
/// use mesonet::geo::{GeometryError, MAX_RING_POSITIONS, Polygon};
/// let here = LonLat::new(-79.63, 43.68)?;
/// let ring_of = |positions| Polygon::new(&vec![here; positions], &[]);
/// assert_eq!(ring_of(3), Err(GeometryError::Length(3)));
/// assert_eq!(ring_of(MAX_RING_POSITIONS + 1), Err(GeometryError::Length(1_000_001)));
/// assert!(matches!(ring_of(5), Err(GeometryError::Flat(_))));
/// # Ok::<(), mesonet::geo::GeoError>(())
/// ```
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum GeometryError {
    /// No polygon, or a polygon without rings.
    #[error("a polygon needs an outer ring; got none")]
    Empty,
    /// Too few positions in a ring, or too many.
    #[error("a ring must have from 4 to {MAX_RING_POSITIONS} positions; got {0}")]
    Length(usize),
    /// A ring that does not end where it starts.
    #[error("a ring must end where it starts; got start {} {} and end {} {}", .start.lon(), .start.lat(), .end.lon(), .end.lat())]
    Open {
        /// The first position.
        start: LonLat,
        /// The last position.
        end: LonLat,
    },
    /// A ring whose positions, as given or once rounded, lie on a line.
    #[error("a ring must enclose an area; got {0} positions on a line")]
    Flat(usize),
    /// A ring or circle around a pole.
    #[error("a ring must not go around a pole or the globe")]
    Pole,
    /// A radius that is not positive and finite.
    #[error("radius_km must be positive and finite; got {0}")]
    Radius(f64),
    /// A tolerance that is not positive and finite, or that needs too many positions.
    #[error("tolerance must be positive, finite and at least {least} here; got {got}")]
    Tolerance {
        /// The tolerance that was given.
        got: f64,
        /// The smallest tolerance allowed.
        least: f64,
    },
    /// A position off the globe.
    #[error(transparent)]
    Position(#[from] GeoError),
}

/// An area with its holes.
///
/// - A ring ends where it starts, has at least four positions and encloses an area.
/// - Coordinates are rounded to [`COORDINATE_DECIMALS`]; positions that repeat the one before them
///   are dropped.
/// - Outer rings go counterclockwise, holes clockwise (RFC 7946 §3.1.6), whatever their direction
///   in the input.
/// - An edge goes the shorter way round: one that spans more than 180° of longitude crosses the
///   antimeridian. So no polygon goes around a pole.
/// - Rings are not checked for crossing themselves or each other: see
///   [`is_valid`](Self::is_valid).
///
/// ```
/// use mesonet::LonLat;
/// use mesonet::geo::Polygon;
/// let ring = |places: &[[f64; 2]]| {
///     places.iter().map(|&[lon, lat]| LonLat::new(lon, lat)).collect::<Result<Vec<_>, _>>()
/// };
/// let near = ring(&[[179.0, 51.0], [179.0, 53.0], [-179.0, 53.0], [-179.0, 51.0], [179.0, 51.0]])?;
/// let aleutian = Polygon::new(&near, &[])?;
/// assert!(aleutian.contains(LonLat::new(-179.5, 52.0)?));
/// assert!(!aleutian.contains(LonLat::new(0.0, 52.0)?));
/// // The input was clockwise.
/// assert_eq!(aleutian.exterior().nth(1), Some(LonLat::new(-179.0, 51.0)?));
/// assert_eq!(
///     Polygon::new(&near[..4], &[]).unwrap_err().to_string(),
///     "a ring must end where it starts; got start 179 51 and end -179 51",
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Polygon {
    /// Longitudes continue past 180, so that every edge is as long as it is drawn; the westernmost
    /// one is from −180 to below 180.
    shape: ::geo::Polygon<f64>,
    bounds: Rect<f64>,
}

impl Polygon {
    /// A polygon from an outer ring and holes.
    ///
    /// # Errors
    /// If a ring is too short or too long, open or flat, or goes around a pole.
    pub fn new(exterior: &[LonLat], holes: &[Vec<LonLat>]) -> Result<Self, GeometryError> {
        let holes = holes.iter().map(|hole| unrolled(hole)).collect::<Result<_, _>>()?;
        Self::of_unrolled(unrolled(exterior)?, holes)
    }

    /// The circle around a place, as a polygon.
    ///
    /// The positions lie on the circle and no point of an edge is farther from the circle than the
    /// tolerance. Distances are great-circle ones on the sphere of [`LonLat::distance_km`].
    ///
    /// ```
    /// use mesonet::LonLat;
    /// use mesonet::geo::Polygon;
    /// let center = LonLat::new(-82.4, 42.9)?;
    /// let circle = Polygon::circle(center, 20.0, 0.1)?;
    /// assert!(circle.exterior().all(|at| (center.distance_km(at) - 20.0).abs() < 0.001));
    /// assert_eq!(circle.exterior().count(), 33);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the radius or the tolerance is not positive, if the tolerance needs more than 10,000
    /// positions or is finer than the rounding of coordinates, or if the circle goes around a pole.
    pub fn circle(
        center: LonLat,
        radius_km: f64,
        tolerance_km: f64,
    ) -> Result<Self, GeometryError> {
        if !(radius_km > 0.0 && radius_km.is_finite()) {
            return Err(GeometryError::Radius(radius_km));
        }
        let radius = radius_km / EARTH_RADIUS_KM;
        let (lat, lon) = (center.lat().to_radians(), center.lon().to_radians());
        let farthest_lat = lat.abs() + radius;
        if farthest_lat >= std::f64::consts::FRAC_PI_2 {
            return Err(GeometryError::Pole);
        }
        // At its middle an edge of length L lies L²/8r inside the circle and, as a straight line on
        // the map, L²·b/8R beside the great circle, where b = sin a (1 + cos² a) tan(lat) for its
        // bearing a, at most 1.089 tan(lat). (r, R: circle and globe.)
        let bend = 1.0 / libm::tan(radius) + 1.089 * libm::tan(farthest_lat);
        let least_km = (EARTH_RADIUS_KM * bend / 2.0
            * libm::pow(std::f64::consts::PI * libm::sin(radius) / MAX_CIRCLE_POSITIONS, 2.0))
        .max(0.001);
        if !(tolerance_km >= least_km && tolerance_km.is_finite()) {
            return Err(GeometryError::Tolerance { got: tolerance_km, least: least_km });
        }
        let edge = libm::sqrt(8.0 * tolerance_km / EARTH_RADIUS_KM / bend);
        let edges = libm::ceil(std::f64::consts::TAU * libm::sin(radius) / edge).max(16.0) as u32;
        let mut ring = Vec::with_capacity(edges as usize + 1);
        for i in 0..edges {
            let bearing = -std::f64::consts::TAU * f64::from(i) / f64::from(edges);
            let sin_lat = libm::sin(lat) * libm::cos(radius)
                + libm::cos(lat) * libm::sin(radius) * libm::cos(bearing);
            let east = libm::sin(bearing) * libm::sin(radius) * libm::cos(lat);
            let north = libm::cos(radius) - libm::sin(lat) * sin_lat;
            let lon = (lon + libm::atan2(east, north)).to_degrees();
            let lon = if lon > 180.0 {
                lon - 360.0
            } else if lon < -180.0 {
                lon + 360.0
            } else {
                lon
            };
            ring.push(LonLat::new(lon, libm::asin(sin_lat).to_degrees())?);
        }
        ring.push(ring[0]);
        Self::new(&ring, &[])
    }

    /// The outer ring, counterclockwise; the last position equals the first.
    pub fn exterior(&self) -> impl ExactSizeIterator<Item = LonLat> + '_ {
        positions(self.shape.exterior())
    }

    /// The holes, each clockwise; the last position of each equals its first.
    ///
    /// ```
    /// use mesonet::{BBox, LonLat};
    /// use mesonet::geo::Polygon;
    /// let eye = LonLat::new(-88.6, 28.2)?;
    /// let ring = |radius_km| Polygon::circle(eye, radius_km, 0.5).map(|it| it.exterior().collect());
    /// let (edge, eyewall): (Vec<_>, Vec<_>) = (ring(150.0)?, ring(20.0)?);
    /// let storm = Polygon::new(&edge, &[eyewall])?;
    /// assert!(storm.is_valid() && storm.holes().len() == 1);
    /// assert!(!storm.contains(eye));
    /// assert!(!storm.intersects(BBox::new(-88.65, 28.15, -88.55, 28.25)?));
    /// assert!(storm.intersects(BBox::new(-88.6, 28.2, -87.6, 29.2)?));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn holes(
        &self,
    ) -> impl ExactSizeIterator<Item = impl ExactSizeIterator<Item = LonLat> + '_> + '_ {
        self.shape.interiors().iter().map(positions)
    }

    /// Whether a place lies in the polygon or on one of its rings.
    pub fn contains(&self, at: LonLat) -> bool {
        worlds().any(|shift| {
            let at = Coord { x: at.lon() + shift, y: at.lat() };
            self.bounds.intersects(&at) && self.shape.intersects(&at)
        })
    }

    /// Whether the polygon and a box share a point; sides and rings count.
    pub fn intersects(&self, bbox: BBox) -> bool {
        bbox.spans().into_iter().flatten().any(|(from, to)| {
            worlds().any(|shift| {
                let corner = |lon, y| Coord { x: lon + shift, y };
                let rect = Rect::new(corner(from, bbox.min_lat()), corner(to, bbox.max_lat()));
                self.bounds.intersects(&rect) && self.shape.intersects(&rect)
            })
        })
    }

    /// Whether two polygons within ±180° of longitude share a point. 180° and −180° are the same
    /// meridian.
    fn meets(&self, other: &Self) -> bool {
        worlds().any(|shift| {
            let shifted = |at: Coord| Coord { x: at.x + shift, y: at.y };
            self.bounds.intersects(&other.bounds.map_coords(shifted))
                && self.shape.intersects(&other.shape.map_coords(shifted))
        })
    }

    /// Whether the polygon is valid in the sense of OGC's Simple Features: rings touch themselves
    /// and each other at single points at most, and holes lie inside. The test uses the rounded
    /// coordinates as decimals: in binary, a corner in the middle of an edge may lie beside it.
    pub fn is_valid(&self) -> bool {
        in_units(&self.shape).is_valid()
    }

    /// From rings with continuous longitudes, as returned by [`unrolled`].
    fn of_unrolled(
        mut exterior: Vec<Coord<f64>>,
        mut holes: Vec<Vec<Coord<f64>>>,
    ) -> Result<Self, GeometryError> {
        turn(&mut exterior, true)?;
        split_long_edges(&mut exterior);
        let exterior = LineString::new(exterior);
        let bounds = exterior.bounding_rect().ok_or(GeometryError::Empty)?;
        for hole in &mut holes {
            turn(hole, false)?;
            split_long_edges(hole);
            let west = hole.iter().map(|at| at.x).fold(f64::INFINITY, f64::min);
            if west < bounds.min().x && west + 360.0 <= bounds.max().x {
                shift(hole, 360.0);
            }
        }
        let holes = holes.into_iter().map(LineString::new).collect();
        Ok(Self { shape: ::geo::Polygon::new(exterior, holes), bounds })
    }

    /// The parts of the polygon on either side of the antimeridian, each within ±180°.
    fn cut(self) -> Vec<Self> {
        if self.bounds.max().x <= 180.0 {
            return vec![self];
        }
        let mut parts = Vec::new();
        for (west, back) in [(-180.0, 0.0), (180.0, -360.0)] {
            let world = Rect::new(Coord { x: west, y: -90.0 }, Coord { x: west + 360.0, y: 90.0 });
            let inside = self.shape.intersection(&world.to_polygon());
            parts.extend(inside.into_iter().filter_map(|part| Self::of_overlay(part, back)));
        }
        parts
    }

    /// The polygon with fewer positions; see [`MultiPolygon::simplified`].
    fn simplified(&self, tolerance_deg: f64) -> Self {
        let mut tolerance = tolerance_deg;
        for _ in 0..4 {
            let ring = |ring: &LineString<f64>| thinned(&ring.0, tolerance);
            let holes = self.shape.interiors().iter().map(ring).collect();
            let thin = Self::of_unrolled(ring(self.shape.exterior()), holes);
            if let Ok(thin) = thin
                && thin.is_valid()
            {
                return thin;
            }
            tolerance /= 2.0;
        }
        self.clone()
    }
}

/// One or more polygons, cut at the antimeridian (RFC 7946 §3.1.9): each lies within ±180° of
/// longitude.
///
/// Its serde form is a GeoJSON geometry: a `Polygon` if it has one part, else a `MultiPolygon`;
/// both can be read. A position has two or three numbers; the third, the altitude, is dropped.
///
/// ```
/// use mesonet::LonLat;
/// use mesonet::geo::MultiPolygon;
/// let text = r#"{"type":"Polygon","coordinates":[[[179,51],[-179,51],[-179,53],[179,53],[179,51]]]}"#;
/// let aleutian: MultiPolygon = serde_json::from_str(text)?;
/// assert_eq!(aleutian.polygons().len(), 2);
/// assert!(aleutian.contains(LonLat::new(180.0, 52.0)?));
/// assert!(serde_json::to_string(&aleutian)?.starts_with(r#"{"type":"MultiPolygon""#));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct MultiPolygon {
    polygons: Vec<Polygon>,
}

impl MultiPolygon {
    /// A set of polygons, cut at the antimeridian. It is not checked for overlaps.
    ///
    /// # Errors
    /// If there is no polygon.
    pub fn new(polygons: impl IntoIterator<Item = Polygon>) -> Result<Self, GeometryError> {
        let parts: Vec<Polygon> = polygons.into_iter().flat_map(Polygon::cut).collect();
        if parts.is_empty() { Err(GeometryError::Empty) } else { Ok(Self { polygons: parts }) }
    }

    /// The polygons, each within ±180° of longitude.
    pub fn polygons(&self) -> &[Polygon] {
        &self.polygons
    }

    /// The number of positions in all rings together.
    pub fn positions(&self) -> usize {
        let rings = self.polygons.iter().flat_map(|polygon| {
            std::iter::once(polygon.shape.exterior()).chain(polygon.shape.interiors())
        });
        rings.map(|ring| ring.0.len()).sum()
    }

    /// Whether a place lies in one of the polygons or on a ring. 180° and −180° are the same
    /// meridian.
    pub fn contains(&self, at: LonLat) -> bool {
        self.polygons.iter().any(|polygon| polygon.contains(at))
    }

    /// Whether a box and one of the polygons share a point; sides and rings count.
    pub fn intersects(&self, bbox: BBox) -> bool {
        self.polygons.iter().any(|polygon| polygon.intersects(bbox))
    }

    /// Whether the two areas share a point; rings count.
    ///
    /// ```
    /// use mesonet::LonLat;
    /// use mesonet::geo::{MultiPolygon, Polygon};
    /// let circle = |lon, lat| MultiPolygon::new([Polygon::circle(LonLat::new(lon, lat).unwrap(), 20.0, 0.1)?]);
    /// let river = circle(-97.5, 35.4)?;
    /// assert!(river.meets(&circle(-97.2, 35.4)?) && !river.meets(&circle(-96.9, 35.4)?));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn meets(&self, other: &Self) -> bool {
        self.polygons.iter().any(|own| other.polygons.iter().any(|other| own.meets(other)))
    }

    /// Whether each polygon is valid in the sense of OGC's Simple Features.
    pub fn is_valid(&self) -> bool {
        self.polygons.iter().all(Polygon::is_valid)
    }

    /// The same area with fewer positions, by the Ramer–Douglas–Peucker algorithm.
    ///
    /// - No position of the original is farther from the new ring than the tolerance, in degrees of
    ///   latitude and longitude as if they were equally long: 0.001° is at most 111 m.
    /// - No ring disappears: an island or hole smaller than the tolerance keeps three corners.
    /// - Each polygon stays valid: if it would not, the tolerance is halved for it up to three
    ///   times, and then it is left unchanged.
    /// - Polygons are simplified one by one. Neighbours that share a border may overlap or leave a
    ///   gap of up to twice the tolerance there.
    ///
    /// # Errors
    /// If the tolerance is not positive.
    pub fn simplified(&self, tolerance_deg: f64) -> Result<Self, GeometryError> {
        if !(tolerance_deg > 0.0 && tolerance_deg.is_finite()) {
            return Err(GeometryError::Tolerance { got: tolerance_deg, least: f64::MIN_POSITIVE });
        }
        let polygons = self.polygons.iter().map(|polygon| polygon.simplified(tolerance_deg));
        Ok(Self { polygons: polygons.collect() })
    }

    /// Bounding boxes of the polygons, as west, south, east, north: none crosses the antimeridian.
    pub(crate) fn bounds(&self) -> impl Iterator<Item = [f64; 4]> + '_ {
        self.polygons.iter().map(|Polygon { bounds, .. }| {
            [bounds.min().x, bounds.min().y, bounds.max().x, bounds.max().y]
        })
    }
}

/// Offsets at which a place may lie in a polygon: longitudes of polygons run from −180 to
/// below 540, and 180 is −180.
fn worlds() -> impl Iterator<Item = f64> {
    [0.0, 360.0, -360.0].into_iter()
}

/// A shape in whole units of the rounding: positions that touch in decimals touch there, while in
/// degrees a corner in the middle of an edge may lie beside it.
fn in_units(shape: &::geo::Polygon<f64>) -> ::geo::Polygon<f64> {
    let unit = |degrees| libm::round(degrees * ROUNDING);
    shape.map_coords(|at| Coord { x: unit(at.x), y: unit(at.y) })
}

fn positions(ring: &LineString<f64>) -> impl ExactSizeIterator<Item = LonLat> + '_ {
    ring.0.iter().map(|at| {
        let lon = if at.x > 180.0 { rounded(at.x - 360.0) } else { at.x };
        LonLat::unchecked(lon, at.y)
    })
}

mod json;
mod overlay;
mod ring;
mod touch;

pub(crate) use json::mended_geojson;
pub(crate) use json::outline_of_geojson;

#[cfg(test)]
#[path = "polygon_tests.rs"]
mod tests;
