//! States, provinces and territories, and where they are.

use std::fmt;
use std::str::FromStr;
use std::sync::LazyLock;

use super::LonLat;
use super::outline::Outlines;

/// Outlines of Natural Earth at 1:10 m, public domain. `tests/vectors/regions.py` makes the file and
/// says how it is written.
static OUTLINES: LazyLock<Outlines<Region>> = LazyLock::new(|| {
    Outlines::read(include_bytes!("regions.bin"), |numbers| {
        let code = [numbers.next() as u8, numbers.next() as u8];
        let country = if numbers.next() == 0 { Country::Canada } else { Country::UnitedStates };
        Region { code, country }
    })
});

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
        OUTLINES.all().copied()
    }

    /// The region of a place: the one whose outline it lies in, else the nearest within 15 km. At
    /// borders the outlines are right to about 1 km: of 4,044 airports and stations of Canada and
    /// the United States with a known region, 10 lie in another.
    pub fn at(place: LonLat) -> Option<Self> {
        OUTLINES.at(place).copied()
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
