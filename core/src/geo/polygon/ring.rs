//! Turns rings of positions as given into closed, rounded and oriented ones, in degrees whose
//! longitudes continue past ±180.

use ::geo::Coord;

use super::ROUNDING;
use crate::geo::{GeometryError, LonLat, MAX_RING_POSITIONS};

pub(super) fn rounded(degrees: f64) -> f64 {
    // Adding zero removes the sign of −0.
    (degrees * ROUNDING).round() / ROUNDING + 0.0
}

/// A ring, checked and rounded, whose longitudes continue past ±180 and start in the west, from
/// −180 to below 180.
pub(super) fn unrolled(ring: &[LonLat]) -> Result<Vec<Coord<f64>>, GeometryError> {
    let [start, .., end] = ring else { return Err(GeometryError::Length(ring.len())) };
    if !(4..=MAX_RING_POSITIONS).contains(&ring.len()) {
        return Err(match ring.len() {
            3 if start != end => GeometryError::Open { start: *start, end: *end },
            length => GeometryError::Length(length),
        });
    }
    let (mut turns, mut previous) = (0.0, start.lon());
    let mut places = Vec::with_capacity(ring.len());
    for at in ring {
        let step = at.lon() - previous;
        turns += if step > 180.0 {
            -360.0
        } else if step < -180.0 {
            360.0
        } else {
            0.0
        };
        previous = at.lon();
        places.push(Coord { x: rounded(at.lon() + turns), y: rounded(at.lat()) });
    }
    let (first, last) = (places[0], places[places.len() - 1]);
    if first != last {
        let around = first.y == last.y && (last.x - first.x).abs() == 360.0;
        let open = GeometryError::Open { start: *start, end: *end };
        return Err(if around { GeometryError::Pole } else { open });
    }
    places.dedup();
    let west = places.iter().map(|at| at.x).fold(f64::INFINITY, f64::min);
    let east = places.iter().map(|at| at.x).fold(f64::NEG_INFINITY, f64::max);
    if east - west >= 360.0 {
        return Err(GeometryError::Pole);
    }
    let back = -360.0 * libm::floor((west + 180.0) / 360.0);
    if back != 0.0 {
        shift(&mut places, back);
    }
    Ok(places)
}

pub(super) fn shift(ring: &mut [Coord<f64>], degrees: f64) {
    for at in ring {
        *at = Coord { x: rounded(at.x + degrees), y: rounded(at.y) };
    }
}

/// Twice the area of a ring, positive if it goes counterclockwise: exact, in units of the
/// rounding, so that a flat ring has area 0.
pub(super) fn area(ring: &[Coord<f64>]) -> i64 {
    // Adding half a unit and truncating gives the nearest unit: coordinates are already rounded.
    let unit = |degrees: f64| (degrees * ROUNDING + 0.5_f64.copysign(degrees)) as i64;
    let mut edges = ring.iter().map(|at| (unit(at.x), unit(at.y)));
    let Some(mut from) = edges.next() else { return 0 };
    let mut twice = 0_i64;
    for to in edges {
        // An intermediate sum may wrap around; that of the whole globe, 1.3e17, does not, so the
        // result is right.
        twice = twice.wrapping_add(from.0 * to.1 - to.0 * from.1);
        from = to;
    }
    twice
}

/// Makes a ring go counterclockwise or clockwise.
pub(super) fn turn(ring: &mut [Coord<f64>], counterclockwise: bool) -> Result<(), GeometryError> {
    let area = area(ring);
    if area == 0 || ring.len() < 4 {
        return Err(GeometryError::Flat(ring.len()));
    }
    if (area > 0) != counterclockwise {
        ring.reverse();
    }
    Ok(())
}

/// Inserts a corner into the middle of edges that span more than 180° of longitude, which merging
/// or simplifying may produce from shorter ones: otherwise such edges would be read as going the
/// other way round.
pub(super) fn split_long_edges(ring: &mut Vec<Coord<f64>>) {
    let long = |edge: &[Coord<f64>]| (edge[1].x - edge[0].x).abs() > 180.0;
    if ring.windows(2).any(long) {
        let mut whole = Vec::with_capacity(ring.len() + 2);
        for edge in ring.windows(2) {
            whole.push(edge[0]);
            if long(edge) {
                let middle = (edge[0] + edge[1]) / 2.0;
                whole.push(Coord { x: rounded(middle.x), y: rounded(middle.y) });
            }
        }
        whole.extend(ring.last());
        *ring = whole;
    }
}

/// The positions of a ring that are needed to stay within a tolerance of all: at least three
/// corners.
pub(super) fn thinned(ring: &[Coord<f64>], tolerance: f64) -> Vec<Coord<f64>> {
    let last = ring.len() - 1;
    let farthest = |from: usize, to: usize| {
        let (a, b) = (ring[from], ring[to]);
        (from + 1..to)
            .map(|i| (i, distance(ring[i], a, b)))
            .max_by(|one, other| one.1.total_cmp(&other.1))
    };
    let mut kept = vec![false; ring.len()];
    (kept[0], kept[last]) = (true, true);
    // A ring starts and ends at one position: it is split where it is farthest from there, and the
    // longer of the two sides is split again, so that three corners remain.
    let Some((opposite, _)) = farthest(0, last) else { return ring.to_vec() };
    kept[opposite] = true;
    let sides = [(0, opposite), (opposite, last)];
    let third = sides.iter().filter_map(|&(from, to)| farthest(from, to));
    if let Some((corner, _)) = third.max_by(|one, other| one.1.total_cmp(&other.1)) {
        kept[corner] = true;
    }
    // A work list instead of recursion: a hostile ring splits off one position at a time.
    let corners: Vec<usize> = (0..=last).filter(|&i| kept[i]).collect();
    let mut left: Vec<(usize, usize)> = corners.windows(2).map(|pair| (pair[0], pair[1])).collect();
    while let Some((from, to)) = left.pop() {
        if let Some((split, off)) = farthest(from, to)
            && off > tolerance
        {
            kept[split] = true;
            left.extend([(from, split), (split, to)]);
        }
    }
    ring.iter().zip(&kept).filter_map(|(&at, &kept)| kept.then_some(at)).collect()
}

/// Distance of a position from a line between two others, in degrees as if on a plane.
pub(super) fn distance(at: Coord<f64>, a: Coord<f64>, b: Coord<f64>) -> f64 {
    let (along, to) = (b - a, at - a);
    let length = along.x * along.x + along.y * along.y;
    let share = if length > 0.0 { (to.x * along.x + to.y * along.y) / length } else { 0.0 };
    let off = to - along * share.clamp(0.0, 1.0);
    libm::hypot(off.x, off.y)
}
