//! Areas computed from others: repaired, dissolved.

use ::geo::bool_ops::FillRule;
use ::geo::{Area, BooleanOps, Contains, Coord, InteriorPoint, LineString, MapCoords};

use super::ring::{area, shift, unrolled};
use super::{MultiPolygon, Polygon, ROUNDING, in_units, touch};
use crate::geo::{GeometryError, LonLat};

/// How many times a computed area is computed again: rounding the corners where edges cross can
/// make edges cross again.
const ATTEMPTS: usize = 4;

impl MultiPolygon {
    /// The area inside rings as a source gives them, the outer ring first, as valid polygons: open
    /// rings are closed, loops of a ring that crosses itself become polygons of their own, and
    /// holes are cut out of the inside of the outer ring.
    ///
    /// ```
    /// use mesonet::LonLat;
    /// use mesonet::geo::MultiPolygon;
    /// let ring = |places: &[[f64; 2]]| {
    ///     places.iter().map(|&[lon, lat]| LonLat::new(lon, lat)).collect::<Result<Vec<_>, _>>()
    /// };
    /// let bow_tie = ring(&[[-100.0, 30.0], [-99.0, 31.0], [-100.0, 31.0], [-99.0, 30.0]])?;
    /// let mended = MultiPolygon::mended(&[bow_tie])?;
    /// assert!(mended.is_valid() && mended.polygons().len() == 2);
    /// assert!(mended.contains(LonLat::new(-99.5, 30.1)?) && !mended.contains(LonLat::new(-99.9, 30.5)?));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If there is no ring; if a ring is too short or too long, encloses no area or goes around a
    /// pole.
    pub fn mended(rings: &[Vec<LonLat>]) -> Result<Self, GeometryError> {
        let closed = |ring: &Vec<LonLat>| {
            let mut ring = ring.clone();
            if ring.first() != ring.last() {
                ring.extend(ring.first().copied());
            }
            ring
        };
        let rings: Vec<Vec<LonLat>> = rings.iter().map(closed).collect();
        let (exterior, holes) = rings.split_first().ok_or(GeometryError::Empty)?;
        match Polygon::new(exterior, holes) {
            Ok(polygon) => Self::new(polygon.repaired()),
            // A ring of two loops of the same size, in opposite directions.
            Err(GeometryError::Flat(positions)) => {
                let rings = rings.iter().map(|ring| unrolled(ring).map(LineString::new));
                let mut rings = rings.collect::<Result<Vec<_>, _>>()?.into_iter();
                let exterior = rings.next().ok_or(GeometryError::Empty)?;
                let parts = solid_parts(&::geo::Polygon::new(exterior, rings.collect()));
                let valid: Vec<Polygon> = parts.iter().flat_map(Polygon::repaired).collect();
                Self::new(valid).map_err(|_| GeometryError::Flat(positions))
            }
            Err(error) => Err(error),
        }
    }

    /// The same area as valid polygons, if some are not valid: holes are cut out of the inside of
    /// their outer rings, and loops of a ring become polygons of their own. Valid polygons are
    /// unchanged, and so is a polygon that cannot be repaired.
    #[must_use]
    pub fn repaired(&self) -> Self {
        Self { polygons: self.polygons.iter().flat_map(Polygon::repaired).collect() }
    }

    /// The area of several outlines together, valid in the sense of OGC's Simple Features: polygons
    /// that overlap or share a border become one. `None` if there is none.
    ///
    /// ```
    /// use mesonet::geo::MultiPolygon;
    /// let square = |west: i32| -> Result<MultiPolygon, _> {
    ///     let east = west + 1;
    ///     serde_json::from_str(&format!(
    ///         r#"{{"type":"Polygon","coordinates":[[[{west},0],[{east},0],[{east},1],[{west},1],[{west},0]]]}}"#
    ///     ))
    /// };
    /// let row = [square(0)?, square(1)?, square(7)?];
    /// let dissolved = MultiPolygon::dissolved(&row).ok_or("there are three")?;
    /// assert_eq!(dissolved.polygons().len(), 2);
    /// assert_eq!(dissolved.polygons()[0].exterior().len(), 5);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn dissolved<'a>(outlines: impl IntoIterator<Item = &'a Self>) -> Option<Self> {
        let polygons = outlines.into_iter().flat_map(|outline| &outline.polygons);
        let mut polygons: Vec<Polygon> = polygons.cloned().collect();
        if let [one] = &polygons[..] {
            polygons = one.repaired();
        }
        if touch::any(&polygons) {
            for _ in 0..ATTEMPTS {
                let (merged, is_exact) = merged(&polygons);
                polygons = merged;
                if is_exact {
                    break;
                }
            }
            touch::corners(&mut polygons);
        }
        Self::new(polygons).ok()
    }
}

impl Polygon {
    /// See [`MultiPolygon::repaired`].
    pub(super) fn repaired(&self) -> Vec<Self> {
        let mut parts = vec![self.clone()];
        for _ in 0..ATTEMPTS {
            if parts.iter().all(Self::is_valid) {
                return parts;
            }
            parts = parts.iter().flat_map(|part| solid_parts(&part.shape)).collect();
        }
        vec![self.clone()]
    }

    /// A computed polygon, moved by whole turns; `None` if it is thinner than the rounding of
    /// coordinates.
    pub(super) fn of_overlay(part: ::geo::Polygon<f64>, turns_deg: f64) -> Option<Self> {
        let (exterior, holes) = part.into_inner();
        let ring = |ring: LineString<f64>| {
            let mut ring = ring.0;
            shift(&mut ring, turns_deg);
            ring.dedup();
            ring
        };
        let holes = holes.into_iter().map(ring).filter(|hole| area(hole) != 0).collect();
        Self::of_unrolled(ring(exterior), holes).ok()
    }
}

/// The area inside the outer ring and outside all holes, rebuilt. An area that a ring goes around
/// more than once, or in the other direction, is inside the ring.
fn solid_parts(shape: &::geo::Polygon<f64>) -> Vec<Polygon> {
    let (exterior, holes) = in_units(shape).into_inner();
    let solid = |ring| ::geo::Polygon::new(ring, Vec::new());
    let holes = ::geo::MultiPolygon::new(holes.into_iter().map(solid).collect());
    of_units(&solid(exterior).difference_with_fill_rule(&holes, FillRule::NonZero))
}

/// The union of polygons, and whether none of its corners had to be rounded; if so, the union is
/// valid.
fn merged(polygons: &[Polygon]) -> (Vec<Polygon>, bool) {
    let shapes = polygons.iter().map(|polygon| in_units(&polygon.shape)).collect();
    let none = ::geo::MultiPolygon::new(Vec::new());
    // Outer rings go counterclockwise and holes clockwise, so a hole stays where nothing covers it.
    let union = ::geo::MultiPolygon::new(shapes).union_with_fill_rule(&none, FillRule::NonZero);
    // Corners of the input are whole numbers, except for rounding errors of the computation.
    let is_whole = |x: f64| (x - libm::round(x)).abs() < 1e-3;
    let rings =
        union.iter().flat_map(|part| std::iter::once(part.exterior()).chain(part.interiors()));
    let is_exact = rings.flat_map(|ring| &ring.0).all(|at| is_whole(at.x) && is_whole(at.y));
    (with_holes_inside(of_units(&union)), is_exact)
}

/// Moves each hole into the smallest outer ring around it: where rings touch, the computation may
/// have put the hole into the ring of a neighbour.
fn with_holes_inside(parts: Vec<Polygon>) -> Vec<Polygon> {
    if parts.len() < 2 || parts.iter().all(|part| part.shape.interiors().is_empty()) {
        return parts;
    }
    let (mut shells, mut holes) = (Vec::with_capacity(parts.len()), Vec::new());
    for part in parts {
        let (exterior, of_part) = part.shape.into_inner();
        holes.extend(of_part);
        shells.push((::geo::Polygon::new(exterior, Vec::new()), Vec::new()));
    }
    shells.sort_by(|(one, _), (other, _)| one.unsigned_area().total_cmp(&other.unsigned_area()));
    for hole in holes {
        let inside = ::geo::Polygon::new(hole, Vec::new());
        let at = inside.interior_point();
        let around = shells.iter_mut().find(|(shell, _)| {
            at.is_some_and(|at| {
                shell.unsigned_area() > inside.unsigned_area() && shell.contains(&at)
            })
        });
        if let Some((_, holes)) = around {
            holes.push(inside.into_inner().0.0);
        }
    }
    let rebuilt = shells
        .into_iter()
        .map(|(shell, holes)| Polygon::of_unrolled(shell.into_inner().0.0, holes));
    rebuilt.filter_map(Result::ok).collect()
}

/// Computed shapes in units of the rounding, as polygons.
fn of_units(shapes: &::geo::MultiPolygon<f64>) -> Vec<Polygon> {
    let degrees = shapes.map_coords(|at| Coord { x: at.x / ROUNDING, y: at.y / ROUNDING });
    degrees.into_iter().filter_map(|part| Polygon::of_overlay(part, 0.0)).collect()
}
