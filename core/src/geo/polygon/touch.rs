//! Where rings touch: exactly, in whole units of the rounding.
//!
//! A corner that lies on an edge in decimals lies beside it in binary, on either side. Programs
//! that calculate in binary then see rings that cross. So an edge gets a corner wherever a corner
//! of another touches it.

use ::geo::{Coord, LineString};

use super::{Polygon, ROUNDING};

/// A position in units of the rounding: at most 540 million, so that the products of two differences
/// fit into 64 bits.
type Unit = (i64, i64);

fn unit(at: Coord<f64>) -> Unit {
    (libm::round(at.x * ROUNDING) as i64, libm::round(at.y * ROUNDING) as i64)
}

/// The corners of all rings, sorted.
fn sorted(polygons: &[Polygon]) -> Vec<Unit> {
    let rings = polygons.iter().flat_map(rings);
    let mut corners: Vec<Unit> =
        rings.flat_map(|ring| ring.0[1..].iter().copied().map(unit)).collect();
    corners.sort_unstable();
    corners
}

fn rings(polygon: &Polygon) -> impl Iterator<Item = &LineString<f64>> {
    std::iter::once(polygon.shape.exterior()).chain(polygon.shape.interiors())
}

/// The corners that lie between the ends of an edge, exactly.
fn between(corners: &[Unit], a: Unit, b: Unit) -> impl Iterator<Item = Unit> {
    let (west, east) = (a.0.min(b.0), a.0.max(b.0));
    let (south, north) = (a.1.min(b.1), a.1.max(b.1));
    let from = corners.partition_point(|at| at.0 < west);
    let to = corners.partition_point(|at| at.0 <= east);
    let is_between = move |at: &&Unit| {
        let &&(x, y) = at;
        (south..=north).contains(&y)
            && (x, y) != a
            && (x, y) != b
            && (b.0 - a.0) * (y - a.1) == (b.1 - a.1) * (x - a.0)
    };
    corners[from..to].iter().filter(is_between).copied()
}

/// Whether boxes of polygons meet, or rings of a polygon touch themselves or each other.
pub(super) fn any(polygons: &[Polygon]) -> bool {
    let meet = |(i, one): (usize, &Polygon)| {
        let (one_min, one_max) = (one.bounds.min(), one.bounds.max());
        polygons[i + 1..].iter().any(|other| {
            let (min, max) = (other.bounds.min(), other.bounds.max());
            min.x <= one_max.x && max.x >= one_min.x && min.y <= one_max.y && max.y >= one_min.y
        })
    };
    polygons.iter().enumerate().any(meet) || polygons.iter().any(touches_itself)
}

fn touches_itself(polygon: &Polygon) -> bool {
    let corners = sorted(std::slice::from_ref(polygon));
    let is_twice = corners.windows(2).any(|pair| pair[0] == pair[1]);
    is_twice
        || rings(polygon).any(|ring| {
            let edge = |edge: &[Coord<f64>]| {
                between(&corners, unit(edge[0]), unit(edge[1])).next().is_some()
            };
            ring.0.windows(2).any(edge)
        })
}

/// Gives edges a corner wherever a corner touches them.
pub(super) fn corners(polygons: &mut [Polygon]) {
    let corners = sorted(polygons);
    for polygon in polygons {
        let with = |ring: &LineString<f64>| {
            let mut with = Vec::with_capacity(ring.0.len());
            for edge in ring.0.windows(2) {
                let (a, b) = (unit(edge[0]), unit(edge[1]));
                with.push(edge[0]);
                let mut touching: Vec<Unit> = between(&corners, a, b).collect();
                touching.sort_unstable_by_key(|at| (at.0 - a.0).abs() + (at.1 - a.1).abs());
                touching.dedup();
                let degrees = |units: i64| units as f64 / ROUNDING;
                with.extend(touching.iter().map(|at| Coord { x: degrees(at.0), y: degrees(at.1) }));
            }
            with.extend(ring.0.last());
            LineString::new(with)
        };
        let holes = polygon.shape.interiors().iter().map(with).collect();
        polygon.shape = ::geo::Polygon::new(with(polygon.shape.exterior()), holes);
    }
}
