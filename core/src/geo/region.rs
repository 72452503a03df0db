//! States, provinces and territories, and where they are.

use std::fmt;
use std::str::FromStr;
use std::sync::LazyLock;

use super::LonLat;

/// Outlines of Natural Earth at 1:10 m, public domain. `tests/vectors/regions.py` makes the file and
/// says how it is written.
static OUTLINES: LazyLock<Vec<Outline>> = LazyLock::new(|| read(include_bytes!("regions.bin")));

/// How far off the coast of a region a place still counts as in it: outlines lack piers, small
/// islands and some of the water before a town.
const COAST_KM: f64 = 15.0;

const KM_PER_DEGREE: f64 = 111.195;

/// A country whose observations mesonet serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Country {
    /// Canada.
    Canada,
    /// The United States with their territories.
    UnitedStates,
}

impl Country {
    /// The codes of all countries (ISO 3166-1).
    pub const CODES: [&'static str; 2] = ["CA", "US"];

    /// The code of the country (ISO 3166-1).
    pub const fn code(self) -> &'static str {
        Self::CODES[self as usize]
    }
}

impl FromStr for Country {
    type Err = RegionError;

    /// Reads the code of a country, ignoring case.
    ///
    /// ```
    /// use mesonet::geo::Country;
    /// assert_eq!("ca".parse(), Ok(Country::Canada));
    /// assert_eq!("MX".parse::<Country>().unwrap_err().to_string(),
    ///     "unknown country \"MX\"; allowed are CA, US");
    /// ```
    fn from_str(text: &str) -> Result<Self, RegionError> {
        let countries = [Self::Canada, Self::UnitedStates];
        let found = countries.into_iter().find(|country| country.code().eq_ignore_ascii_case(text));
        found.ok_or_else(|| RegionError { what: "country", got: text.to_owned() })
    }
}

/// A state of the United States or one of their territories, or a province or territory of Canada.
///
/// ```
/// use mesonet::LonLat;
/// use mesonet::geo::{Country, Region};
/// let toronto = Region::at(LonLat::new(-79.63, 43.68)?).unwrap();
/// assert_eq!((toronto.code(), toronto.country()), ("ON", Country::Canada));
/// assert_eq!("on".parse(), Ok(toronto));
/// // A buoy far off the coast is in none.
/// assert_eq!(Region::at(LonLat::new(-74.95, 31.76)?), None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Region {
    code: [u8; 2],
    country: Country,
}

impl Region {
    /// The postal code, for example `ON` or `NY`.
    pub fn code(&self) -> &str {
        str::from_utf8(&self.code).unwrap_or_default()
    }

    /// The country of the region.
    pub const fn country(self) -> Country {
        self.country
    }

    /// All regions, by code.
    pub fn all() -> impl Iterator<Item = Self> {
        OUTLINES.iter().map(|outline| outline.region)
    }

    /// The region of a place: the one whose outline it lies in, else the nearest within 15 km. At
    /// borders the outlines are right to about 1 km: of 4,044 airports and stations of Canada and
    /// the United States with a known region, 10 lie in another.
    pub fn at(place: LonLat) -> Option<Self> {
        let point = [place.lon() * 1000.0, place.lat() * 1000.0];
        if let Some(outline) = OUTLINES.iter().find(|outline| outline.contains(point)) {
            return Some(outline.region);
        }
        // Degrees of longitude, as long as those of latitude here.
        let narrowing = libm::cos(place.lat().to_radians());
        let nearest = OUTLINES.iter().map(|outline| (outline.distance(point, narrowing), outline));
        let nearest = nearest.min_by(|one, other| one.0.total_cmp(&other.0));
        let is_near = |distance: f64| distance / 1000.0 * KM_PER_DEGREE <= COAST_KM;
        nearest.filter(|&(distance, _)| is_near(distance)).map(|(_, outline)| outline.region)
    }
}

impl fmt::Debug for Region {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Region({})", self.code())
    }
}

impl fmt::Display for Region {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

impl FromStr for Region {
    type Err = RegionError;

    /// Reads the postal code of a region, ignoring case.
    fn from_str(text: &str) -> Result<Self, RegionError> {
        let found = Self::all().find(|region| region.code().eq_ignore_ascii_case(text));
        found.ok_or_else(|| RegionError { what: "state or province", got: text.to_owned() })
    }
}

/// The error for a code that no region or country has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegionError {
    what: &'static str,
    got: String,
}

impl fmt::Display for RegionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { what, got } = self;
        let allowed: Vec<String> = match *what {
            "country" => Country::CODES.map(str::to_owned).into(),
            _ => Region::all().map(|region| region.to_string()).collect(),
        };
        write!(f, "unknown {what} \"{got}\"; allowed are {}", allowed.join(", "))
    }
}

impl std::error::Error for RegionError {}

/// The outline of a region, in thousandths of a degree.
struct Outline {
    region: Region,
    /// Outer rings and holes: a place is inside if it is inside of an odd number of them.
    rings: Vec<Ring>,
}

struct Ring {
    /// West, south, east and north.
    bounds: [f64; 4],
    points: Vec<[f64; 2]>,
}

impl Outline {
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

/// Reads the file. It is a part of this library, so it is whole.
fn read(bytes: &[u8]) -> Vec<Outline> {
    let mut at = 0;
    let mut number = || {
        let (mut value, mut shift) = (0_i32, 0);
        loop {
            let byte = bytes[at];
            at += 1;
            value |= i32::from(byte & 0x7f) << shift;
            shift += 7;
            if byte < 0x80 {
                return value;
            }
        }
    };
    let (mut outlines, mut last) = (Vec::new(), [0_i32; 2]);
    for _ in 0..number() {
        let code = [number() as u8, number() as u8];
        let country = if number() == 0 { Country::Canada } else { Country::UnitedStates };
        let lengths: Vec<i32> = (0..number()).map(|_| number()).collect();
        let rings = lengths.into_iter().map(|length| {
            let point = |_| {
                for value in &mut last {
                    let zigzag = number();
                    *value += (zigzag >> 1) ^ -(zigzag & 1);
                }
                last.map(f64::from)
            };
            Ring::new((0..length).map(point).collect())
        });
        outlines.push(Outline { region: Region { code, country }, rings: rings.collect() });
    }
    outlines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn region(lon: f64, lat: f64) -> Option<String> {
        Region::at(LonLat::new(lon, lat).unwrap()).map(|region| region.code().to_owned())
    }

    #[test]
    fn places_are_in_their_regions() {
        for (lon, lat, code) in [
            (-79.63, 43.68, "ON"),
            (-123.43, 48.65, "BC"),
            (-94.97, 74.72, "NU"),
            (-52.75, 47.62, "NL"),
            (-80.29, 25.79, "FL"),
            (-149.99, 61.17, "AK"),
            (-155.05, 19.72, "HI"),
            (-66.00, 18.44, "PR"),
            (-77.03, 38.9, "DC"),
            // Where three states meet, just within one of them.
            (-109.04, 37.01, "CO"),
        ] {
            assert_eq!(region(lon, lat).as_deref(), Some(code), "{lon} {lat}");
        }
    }

    #[test]
    fn a_pier_is_in_the_region_of_its_coast_and_the_open_sea_in_none() {
        // Buoys and a lighthouse: 5 km off California, 230 km off Georgia, the middle of the Pacific.
        assert_eq!(region(-117.39, 32.93).as_deref(), Some("CA"));
        assert_eq!(region(-78.47, 31.86), None);
        assert_eq!(region(180.0, 0.0), None);
        // Mexico and the poles.
        assert_eq!(region(-102.0, 23.0), None);
        assert_eq!(region(0.0, 90.0), None);
    }

    #[test]
    fn every_region_has_its_code_and_country() {
        let of = |country| Region::all().filter(move |region| region.country() == country).count();
        assert_eq!((of(Country::Canada), of(Country::UnitedStates)), (13, 56));
        for region in Region::all() {
            assert_eq!(region.code().to_lowercase().parse(), Ok(region));
        }
        let unknown = "XX".parse::<Region>().unwrap_err().to_string();
        assert!(
            unknown.starts_with("unknown state or province \"XX\"; allowed are AB, AK, "),
            "{unknown}"
        );
    }
}
