//! The time zone of a place in Canada or the United States.

use std::sync::LazyLock;

use super::LonLat;
use super::outline::{Numbers, Outlines};

/// Outlines of timezone-boundary-builder, made from OpenStreetMap: © OpenStreetMap contributors, Open
/// Database License 1.0. `tests/vectors/time_zones.py` makes the file and says how it is written.
static OUTLINES: LazyLock<Outlines<&'static str>> =
    LazyLock::new(|| Outlines::read(include_bytes!("time_zones.bin"), Numbers::text));

/// The name in the tz database of the time zone of a place in Canada, the United States or their
/// territories, with their waters; `None` elsewhere.
///
/// At borders the outlines are right to about 300 m: of 717 stations with a known zone, one lies in
/// another, of the same time. A place within 15 km of an outline is in its
/// zone. What time it is in a zone, the crate does not know.
///
/// ```
/// use mesonet::LonLat;
/// use mesonet::geo::time_zone_at;
/// assert_eq!(time_zone_at(LonLat::new(-79.63, 43.68)?), Some("America/Toronto"));
/// assert_eq!(time_zone_at(LonLat::new(-104.6, 50.4)?), Some("America/Regina"));
/// assert_eq!(time_zone_at(LonLat::new(0.0, 0.0)?), None);
/// # Ok::<(), mesonet::geo::GeoError>(())
/// ```
pub fn time_zone_at(place: LonLat) -> Option<&'static str> {
    OUTLINES.at(place).copied()
}

/// The names of all time zones of Canada, the United States and their territories, sorted.
///
/// ```
/// use mesonet::geo::time_zones;
/// assert!(time_zones().any(|name| name == "America/St_Johns"));
/// ```
pub fn time_zones() -> impl Iterator<Item = &'static str> {
    OUTLINES.all().copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The stations of api.weather.gov with their `timeZone`, and stations of Canada at borders of
    /// zones with what the tz database and the provinces say.
    const STATIONS: &str = include_str!("time_zone_stations.csv");

    #[test]
    fn stations_have_the_zone_that_their_publisher_gives_them() {
        let (mut checked, mut wrong) = (0, Vec::new());
        for line in STATIONS.lines().filter(|line| !line.starts_with('#')) {
            let fields: Vec<&str> = line.split(',').collect();
            let (lon, lat) = (fields[1].parse().unwrap(), fields[2].parse().unwrap());
            let found = time_zone_at(LonLat::new(lon, lat).unwrap());
            checked += 1;
            if found != Some(fields[3]) {
                wrong.push(format!("{line}: {found:?}"));
            }
        }
        assert_eq!(checked, 717);
        // Unalaska is in the west of Alaska by zone.tab; it is the same time there.
        let unalaska = r#"PADU,-166.533,53.9,America/Anchorage: Some("America/Nome")"#;
        assert_eq!(wrong, [unalaska]);
    }

    #[test]
    fn zones_have_distinct_names_in_order_and_the_rest_of_the_world_has_none() {
        let names: Vec<&str> = time_zones().collect();
        assert_eq!(names.len(), 57);
        assert!(names.is_sorted_by(|one, next| one < next));
        for (lon, lat) in [(-99.1, 19.4), (180.0, 0.0), (0.0, 90.0), (-66.0, 30.0), (2.35, 48.85)] {
            assert_eq!(time_zone_at(LonLat::new(lon, lat).unwrap()), None, "{lon} {lat}");
        }
    }
}
