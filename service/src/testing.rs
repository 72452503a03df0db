//! Stations for the tests of this crate.

use mesonet::feed::metar_station;
use mesonet::{LonLat, Station};

/// Returns an aerodrome with a location indicator, at the point where the equator meets the prime
/// meridian.
pub fn station(indicator: &str) -> Station {
    metar_station(indicator, None, LonLat::new(0.0, 0.0).unwrap(), None)
}
