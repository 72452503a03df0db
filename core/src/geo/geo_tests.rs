use proptest::prelude::*;

use super::*;

fn any_place() -> impl Strategy<Value = LonLat> {
    // Whole degrees among the rest, so that places fall on sides and on the antimeridian.
    let lon = prop_oneof![-180.0..=180.0, (-18..=18_i32).prop_map(|lon| f64::from(lon * 10))];
    let lat = prop_oneof![-90.0..=90.0, (-9..=9_i32).prop_map(|lat| f64::from(lat * 10))];
    (lon, lat).prop_map(|(lon, lat)| LonLat::new(lon, lat).unwrap())
}

#[test]
fn nonsense_is_refused() {
    assert!(LonLat::new(f64::NAN, 0.0).is_err());
    assert_eq!(
        LonLat::new(180.5, 0.0).unwrap_err().to_string(),
        "longitude must be from -180 to 180; got 180.5"
    );
    assert_eq!(
        BBox::new(-10.0, 5.0, 10.0, -5.0).unwrap_err().to_string(),
        "minLat must not be greater than maxLat; got 5 and -5"
    );
}

#[test]
fn the_antimeridian_is_one_meridian() {
    let date_line = LonLat::new(-180.0, 10.0).unwrap();
    let same_line = LonLat::new(180.0, 10.0).unwrap();
    for bbox in [(170.0, 180.0), (-180.0, -170.0), (170.0, -170.0), (180.0, -170.0)] {
        let bbox = BBox::new(bbox.0, 0.0, bbox.1, 20.0).unwrap();
        assert!(bbox.contains(date_line) && bbox.contains(same_line), "{bbox:?}");
    }
}

#[test]
fn distances_of_airports_are_the_published_ones() {
    // JFK to LAX is 3,974 km on the sphere (3,983 km, the 2,475 mi of timetables, on the ellipsoid).
    let jfk = LonLat::new(-73.7789, 40.6397).unwrap();
    let lax = LonLat::new(-118.4081, 33.9425).unwrap();
    assert!((jfk.distance_km(lax) - 3974.3).abs() < 1.0, "{}", jfk.distance_km(lax));
    assert_eq!(jfk.distance_km(jfk), 0.0);
}

proptest! {
    #[test]
    fn the_index_finds_what_a_scan_finds(
        places in prop::collection::vec(any_place(), 0..60),
        (a, b) in (any_place(), any_place()),
    ) {
        let bbox = BBox::new(a.lon(), a.lat().min(b.lat()), b.lon(), a.lat().max(b.lat())).unwrap();
        let mut found: Vec<_> = StationIndex::new(places.iter().copied()).in_box(bbox).collect();
        found.sort_unstable();
        let scanned: Vec<_> =
            (0..places.len()).filter(|&i| bbox.contains(places[i])).collect();
        prop_assert_eq!(found, scanned);
    }

    #[test]
    fn the_nearest_is_nearest_on_the_globe(
        places in prop::collection::vec(any_place(), 1..40),
        from in any_place(),
    ) {
        let index = StationIndex::new(places.iter().copied());
        let distances: Vec<f64> = index.nearest(from).map(|(_, distance_km)| distance_km).collect();
        prop_assert_eq!(distances.len(), places.len());
        prop_assert!(distances.windows(2).all(|pair| pair[0] <= pair[1] + 1e-6));
        let scanned = places.iter().map(|&at| from.distance_km(at)).fold(f64::INFINITY, f64::min);
        prop_assert!((distances[0] - scanned).abs() < 1e-6);
    }

    #[test]
    fn distance_is_symmetric_and_at_most_half_the_globe(a in any_place(), b in any_place()) {
        prop_assert!((a.distance_km(b) - b.distance_km(a)).abs() < 1e-9);
        prop_assert!(a.distance_km(b) <= 20_015.12);
    }
}
