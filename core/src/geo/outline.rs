//! Outlines that are part of this library: what lies where.

use super::LonLat;

/// How far off the coast a place still counts as in an outline: outlines lack piers, small islands
/// and some of the water before a town.
const COAST_KM: f64 = 15.0;

const KM_PER_DEGREE: f64 = 111.195;

/// Things with their outlines.
pub(super) struct Outlines<T>(Vec<Outline<T>>);

impl<T> Outlines<T> {
    /// Reads a file that `tests/vectors/regions.py` or `time_zones.py` has made. It is a part of this
    /// library, so it is whole. What an outline is of is before it.
    pub(super) fn read(bytes: &'static [u8], of: impl Fn(&mut Numbers) -> T) -> Self {
        let mut numbers = Numbers { bytes, at: 0 };
        let (mut outlines, mut last) = (Vec::new(), [0_i32; 2]);
        for _ in 0..numbers.next() {
            let of = of(&mut numbers);
            let lengths: Vec<i32> = (0..numbers.next()).map(|_| numbers.next()).collect();
            let rings = lengths.into_iter().map(|length| {
                let point = |_| {
                    for value in &mut last {
                        let zigzag = numbers.next();
                        *value += (zigzag >> 1) ^ -(zigzag & 1);
                    }
                    last.map(f64::from)
                };
                Ring::new((0..length).map(point).collect())
            });
            outlines.push(Outline { of, rings: rings.collect() });
        }
        Self(outlines)
    }

    /// All of them, in the order of the file.
    pub(super) fn all(&self) -> impl Iterator<Item = &T> {
        self.0.iter().map(|outline| &outline.of)
    }

    /// The first in whose outline a place lies, else the nearest within 15 km.
    pub(super) fn at(&self, place: LonLat) -> Option<&T> {
        let point = [place.lon() * 1000.0, place.lat() * 1000.0];
        if let Some(outline) = self.0.iter().find(|outline| outline.contains(point)) {
            return Some(&outline.of);
        }
        // Degrees of longitude, as long as those of latitude here.
        let narrowing = libm::cos(place.lat().to_radians());
        let nearest = self.0.iter().map(|outline| (outline.distance(point, narrowing), outline));
        let nearest = nearest.min_by(|one, other| one.0.total_cmp(&other.0));
        let is_near = |distance: f64| distance / 1000.0 * KM_PER_DEGREE <= COAST_KM;
        nearest.filter(|&(distance, _)| is_near(distance)).map(|(_, outline)| &outline.of)
    }
}

/// The numbers of a file, one after the other.
pub(super) struct Numbers {
    bytes: &'static [u8],
    at: usize,
}

impl Numbers {
    pub(super) fn next(&mut self) -> i32 {
        let (mut value, mut shift) = (0_i32, 0);
        loop {
            let byte = self.bytes[self.at];
            self.at += 1;
            value |= i32::from(byte & 0x7f) << shift;
            shift += 7;
            if byte < 0x80 {
                return value;
            }
        }
    }

    /// A text after its length.
    #[cfg(feature = "time-zones")]
    pub(super) fn text(&mut self) -> &'static str {
        let start = self.at + 1;
        self.at = start + usize::from(self.bytes[self.at]);
        str::from_utf8(&self.bytes[start..self.at]).unwrap_or_default()
    }
}

/// The outline of something, in thousandths of a degree.
struct Outline<T> {
    of: T,
    /// Outer rings and holes: a place is inside if it is inside of an odd number of them.
    rings: Vec<Ring>,
}

struct Ring {
    /// West, south, east and north.
    bounds: [f64; 4],
    points: Vec<[f64; 2]>,
}

impl<T> Outline<T> {
    fn contains(&self, point: [f64; 2]) -> bool {
        self.rings.iter().filter(|ring| ring.contains(point)).count() % 2 == 1
    }

    /// The distance to the nearest border, or more than the coast if it is farther than that.
    fn distance(&self, point: [f64; 2], narrowing: f64) -> f64 {
        let of_ring = self.rings.iter().map(|ring| ring.distance(point, narrowing));
        of_ring.fold(f64::INFINITY, f64::min)
    }
}

impl Ring {
    fn new(points: Vec<[f64; 2]>) -> Self {
        let far = f64::INFINITY;
        let bounds = points.iter().fold([far, far, -far, -far], |[w, s, e, n], &[x, y]| {
            [w.min(x), s.min(y), e.max(x), n.max(y)]
        });
        Self { bounds, points }
    }

    /// The sides, each from one corner to the next.
    fn sides(&self) -> impl Iterator<Item = ([f64; 2], [f64; 2])> + '_ {
        let next = self.points.iter().cycle().skip(1);
        self.points.iter().copied().zip(next.copied())
    }

    fn contains(&self, [x, y]: [f64; 2]) -> bool {
        let [west, south, east, north] = self.bounds;
        if x < west || x > east || y < south || y > north {
            return false;
        }
        let is_crossed = |&([x1, y1], [x2, y2]): &([f64; 2], [f64; 2])| {
            (y1 > y) != (y2 > y) && x < x1 + (y - y1) / (y2 - y1) * (x2 - x1)
        };
        self.sides().filter(is_crossed).count() % 2 == 1
    }

    fn distance(&self, [x, y]: [f64; 2], narrowing: f64) -> f64 {
        let [west, south, east, north] = self.bounds;
        let beyond_lon = (west - x).max(x - east).max(0.0) * narrowing;
        let beyond_lat = (south - y).max(y - north).max(0.0);
        let beyond = beyond_lon.max(beyond_lat);
        if beyond / 1000.0 * KM_PER_DEGREE > COAST_KM {
            return f64::INFINITY;
        }
        let to_side = |([x1, y1], [x2, y2]): ([f64; 2], [f64; 2])| {
            let [ax, ay] = [(x - x1) * narrowing, y - y1];
            let [bx, by] = [(x2 - x1) * narrowing, y2 - y1];
            let length = bx * bx + by * by;
            let along =
                if length > 0.0 { ((ax * bx + ay * by) / length).clamp(0.0, 1.0) } else { 0.0 };
            libm::hypot(ax - along * bx, ay - along * by)
        };
        self.sides().map(to_side).fold(f64::INFINITY, f64::min)
    }
}
