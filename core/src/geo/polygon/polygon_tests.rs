use proptest::prelude::*;

use super::ring::distance;
use super::*;

fn place(lon: f64, lat: f64) -> LonLat {
    LonLat::new(lon, lat).unwrap()
}

fn ring(places: &[[f64; 2]]) -> Vec<LonLat> {
    places.iter().map(|&[lon, lat]| place(lon, lat)).collect()
}

fn read(json: &str) -> Result<MultiPolygon, String> {
    serde_json::from_str(json).map_err(|error| error.to_string())
}

fn written(polygon: Polygon) -> String {
    serde_json::to_string(&MultiPolygon::new([polygon]).unwrap()).unwrap()
}

/// A box as a ring, clockwise.
fn rectangle(west: f64, south: f64, east: f64, north: f64) -> Vec<LonLat> {
    ring(&[[west, south], [west, north], [east, north], [east, south], [west, south]])
}

#[test]
fn invalid_rings_are_refused_with_what_is_allowed() {
    let refused = |places: &[[f64; 2]]| Polygon::new(&ring(places), &[]).unwrap_err().to_string();
    let corners = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 0.0]];
    assert!(Polygon::new(&ring(&corners), &[]).is_ok());
    let length = "a ring must have from 4 to 1000000 positions; got ";
    assert_eq!(refused(&[]), format!("{length}0"));
    assert_eq!(refused(&corners[..1]), format!("{length}1"));
    assert_eq!(refused(&[corners[0], corners[1], corners[0]]), format!("{length}3"));
    assert_eq!(
        refused(&[[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]]),
        "a ring must end where it starts; got start 0 0 and end 0 1"
    );
    let flat = "a ring must enclose an area; got ";
    assert_eq!(
        refused(&[[0.1, 0.1], [0.2, 0.2], [0.3, 0.3], [0.1, 0.1]]),
        format!("{flat}4 positions on a line")
    );
    // Two corners differ by less than the rounding.
    assert_eq!(
        refused(&[[0.0, 0.0], [1.0, 0.0], [1.0, 4e-7], [0.0, 0.0]]),
        format!("{flat}3 positions on a line")
    );
    let around = [[-120.0, 60.0], [0.0, 60.0], [120.0, 60.0], [-120.0, 60.0]];
    assert_eq!(refused(&around), "a ring must not go around a pole or the globe");
    assert_eq!(
        Polygon::new(&ring(&corners), &[ring(&corners[..2])]).unwrap_err().to_string(),
        format!("{length}2")
    );
    assert_eq!(
        MultiPolygon::new([]).unwrap_err().to_string(),
        "a polygon needs an outer ring; got none"
    );
}

#[test]
fn a_ring_has_a_longest_length() {
    let mut long = ring(&[[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]]);
    long.resize(MAX_RING_POSITIONS, place(0.0, 1.0));
    long[MAX_RING_POSITIONS - 1] = long[0];
    assert!(Polygon::new(&long, &[]).is_ok());
    long.push(long[0]);
    assert_eq!(Polygon::new(&long, &[]), Err(GeometryError::Length(1_000_001)));
}

#[test]
fn rings_are_turned_and_rounded() {
    let outer = rectangle(0.0, 0.0, 10.0, 10.0);
    let mut hole = rectangle(4.000_000_4, 4.0, 6.0, 6.0);
    let expected = concat!(
        r#"{"type":"Polygon","coordinates":[[[0.0,0.0],[10.0,0.0],[10.0,10.0],[0.0,10.0],[0.0,0.0]],"#,
        r#"[[4.0,4.0],[4.0,6.0],[6.0,6.0],[6.0,4.0],[4.0,4.0]]]}"#
    );
    assert_eq!(written(Polygon::new(&outer, &[hole.clone()]).unwrap()), expected);
    hole.reverse();
    assert_eq!(written(Polygon::new(&outer, &[hole]).unwrap()), expected);
}

#[test]
fn a_polygon_across_the_antimeridian_is_cut_with_its_holes() {
    let outer =
        ring(&[[170.0, 50.0], [-170.0, 50.0], [-170.0, 56.0], [170.0, 56.0], [170.0, 50.0]]);
    let across = rectangle_across(179.0, 51.0, -179.0, 52.0);
    let east = rectangle(-175.0, 51.0, -174.0, 52.0);
    let polygon = Polygon::new(&outer, &[across, east]).unwrap();
    assert_eq!(polygon.exterior().len(), 5);
    assert!(polygon.contains(place(180.0, 55.0)) && polygon.contains(place(-180.0, 50.5)));
    let cut = MultiPolygon::new([polygon.clone()]).unwrap();
    assert_eq!(cut.polygons().len(), 2);
    for part in cut.polygons() {
        let lons: Vec<f64> = part.exterior().map(LonLat::lon).collect();
        assert!(lons.iter().all(|&lon| lon > 169.0) || lons.iter().all(|&lon| lon < -169.0));
        assert!(part.is_valid());
    }
    assert_eq!(cut.polygons()[1].holes().len(), 1);
    for (lon, lat) in [(180.0, 51.5), (-179.5, 51.5), (179.5, 51.5), (-174.5, 51.5), (0.0, 53.0)] {
        assert!(!cut.contains(place(lon, lat)) && !polygon.contains(place(lon, lat)));
    }
    // Reading it again does not cut it again.
    let json = serde_json::to_string(&cut).unwrap();
    assert_eq!(read(&json).unwrap(), cut);
}

/// A box across the antimeridian as a ring.
fn rectangle_across(west: f64, south: f64, east: f64, north: f64) -> Vec<LonLat> {
    rectangle(west, south, east, north)
}

#[test]
fn a_ring_on_the_antimeridian_is_not_cut() {
    for (west, east) in [(170.0, 180.0), (-180.0, -170.0), (170.0, -180.0), (180.0, -170.0)] {
        let polygon = Polygon::new(&rectangle(west, 0.0, east, 10.0), &[]).unwrap();
        let parts = MultiPolygon::new([polygon]).unwrap();
        assert_eq!(parts.polygons().len(), 1, "{west} {east}");
        let lons: Vec<f64> = parts.polygons()[0].exterior().map(LonLat::lon).collect();
        assert!(lons.iter().all(|&lon| lon.signum() == lons[0].signum()), "{lons:?}");
        assert!(parts.contains(place(180.0, 5.0)) && parts.contains(place(-180.0, 5.0)));
    }
}

#[test]
fn geojson_is_read_or_refused_with_the_reason() {
    let square = "[[0,0],[0,1],[1,1,250.5],[1,0],[0,0]]";
    let polygon = read(&format!(r#"{{"coordinates":[{square}],"type":"Polygon"}}"#)).unwrap();
    let multi =
        read(&format!(r#"{{"type":"MultiPolygon","bbox":[0],"coordinates":[[{square}]]}}"#));
    assert_eq!(multi.unwrap(), polygon);
    for (text, reason) in [
        (r#"{"type":"Point","coordinates":[0,0]}"#, "unknown variant `Point`"),
        (r#"{"type":"Polygon","coordinates":[]}"#, "positions; got 0"),
        (r#"{"type":"MultiPolygon","coordinates":[]}"#, "needs an outer ring"),
        (r#"{"type":"Polygon","coordinates":[[[0,0],[0,1],[1,1],[1,0]]]}"#, "end where it starts"),
        (r#"{"type":"Polygon","coordinates":[[[0,91],[0,1],[1,1],[0,91]]]}"#, "latitude must be"),
        (
            r#"{"type":"Polygon","coordinates":[[[181,9],[0,1],[1,1],[181,9]]]}"#,
            "longitude must be",
        ),
        (r#"{"type":"Polygon","coordinates":[[[0],[0,1],[1,1],[0]]]}"#, "two or three numbers"),
        (r#"{"type":"Polygon","coordinates":[[[0,0,0,0]]]}"#, "two or three numbers"),
        (r#"{"type":"Polygon","coordinates":[[[null,0]]]}"#, "invalid type: null"),
        (r#"{"type":"Polygon"}"#, "missing field `coordinates`"),
        ("null", "a GeoJSON Polygon or MultiPolygon"),
    ] {
        let error = read(text).unwrap_err();
        assert!(error.contains(reason), "{text}: {error}");
    }
}

#[test]
fn invalid_circles_are_refused() {
    let refused = |lat: f64, radius_km: f64, tolerance_km: f64| {
        Polygon::circle(place(-100.0, lat), radius_km, tolerance_km).unwrap_err().to_string()
    };
    for radius_km in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let text = format!("radius_km must be positive and finite; got {radius_km}");
        assert_eq!(refused(45.0, radius_km, 1.0), text);
    }
    assert_eq!(refused(89.0, 112.0, 1.0), "a ring must not go around a pole or the globe");
    assert_eq!(refused(0.0, 30_000.0, 1.0), "a ring must not go around a pole or the globe");
    let least = "tolerance must be positive, finite and at least 0.001 here; got ";
    for tolerance_km in [0.0, -1.0, f64::NAN, 0.0009] {
        assert_eq!(refused(45.0, 10.0, tolerance_km), format!("{least}{tolerance_km}"));
    }
    assert!(refused(89.0, 111.0, 0.001).starts_with("tolerance must be positive"));
}

#[test]
fn simplifying_keeps_corners_islands_and_validity() {
    // A square with a bay of 0.01°, and an island smaller than that.
    let bay = [
        [0.0, 0.0],
        [1.0, 0.0],
        [1.0, 0.5],
        [0.99, 0.505],
        [1.0, 0.51],
        [1.0, 1.0],
        [0.0, 1.0],
        [0.0, 0.0],
    ];
    let island = rectangle(2.0, 0.0, 2.001, 0.001);
    let shape = MultiPolygon::new([
        Polygon::new(&ring(&bay), &[]).unwrap(),
        Polygon::new(&island, &[]).unwrap(),
    ])
    .unwrap();
    let coarse = shape.simplified(0.02).unwrap();
    let corners: Vec<usize> = coarse.polygons().iter().map(|part| part.exterior().len()).collect();
    assert_eq!(corners, [5, 4]);
    assert_eq!(shape.simplified(0.005).unwrap().polygons()[0].exterior().len(), 8);
    for nonsense in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(shape.simplified(nonsense).is_err());
    }
    // Without its two middle corners the hook would lie across the spike in it.
    let hook = [
        [0.0, 0.0],
        [10.0, 0.0],
        [10.0, 10.0],
        [5.5, 10.0],
        [5.0, 0.3],
        [4.5, 10.0],
        [0.0, 10.0],
        [0.0, 1.0],
        [3.0, 0.45],
        [4.9, 0.9],
        [5.1, 0.2],
        [4.95, 0.35],
        [3.0, 0.4],
        [0.0, 0.9],
        [0.0, 0.0],
    ];
    let hook = MultiPolygon::new([Polygon::new(&ring(&hook), &[]).unwrap()]).unwrap();
    let thin = hook.simplified(0.5).unwrap();
    assert!(thin.is_valid() || thin == hook);
}

#[test]
fn an_edge_that_has_become_longer_than_half_the_globe_is_split() {
    let wide = [
        [-170.0, 0.0],
        [-60.0, 0.0],
        [60.0, 0.0],
        [170.0, 0.0],
        [170.0, 9.0],
        [60.0, 9.0],
        [-60.0, 9.0],
        [-170.0, 9.0],
        [-170.0, 0.0],
    ];
    let shape = MultiPolygon::new([Polygon::new(&ring(&wide), &[]).unwrap()]).unwrap();
    let thin = shape.simplified(0.1).unwrap();
    assert_eq!(thin.positions(), 7);
    assert!(thin.contains(place(0.0, 5.0)) && !thin.contains(place(180.0, 5.0)));
    assert_eq!(read(&serde_json::to_string(&thin).unwrap()).unwrap(), thin);
}

/// Rings around a centre with corners in the order of their bearing: they do not cross.
fn any_star() -> impl Strategy<Value = Vec<LonLat>> {
    let corners = prop::collection::vec((0.0..360.0_f64, 0.2..20.0_f64), 3..40);
    (-180.0..180.0_f64, -60.0..60.0_f64, corners, any::<bool>()).prop_filter_map(
        "an area",
        |(lon, lat, mut corners, reversed)| {
            corners.sort_by(|a, b| a.0.total_cmp(&b.0));
            let mut ring: Vec<LonLat> = corners
                .iter()
                .map(|&(bearing, reach)| {
                    let lon = lon + reach * libm::cos(bearing.to_radians());
                    let lon = (lon + 540.0).rem_euclid(360.0) - 180.0;
                    place(lon, lat + reach * libm::sin(bearing.to_radians()))
                })
                .collect();
            ring.push(ring[0]);
            if reversed {
                ring.reverse();
            }
            Polygon::new(&ring, &[]).is_ok().then_some(ring)
        },
    )
}

/// Longitude of a place as counted by the ring around `near`.
fn beside(near: f64, lon: f64) -> f64 {
    near + (lon - near + 540.0).rem_euclid(360.0) - 180.0
}

/// Whether a place lies in a ring, by counting the edges that a line to the east crosses.
fn crossings_say(ring: &[LonLat], at: LonLat) -> bool {
    let corners: Vec<(f64, f64)> =
        ring.iter().map(|corner| (beside(at.lon(), corner.lon()), corner.lat())).collect();
    let edges = corners.windows(2).filter(|edge| {
        let ((x1, y1), (x2, y2)) = (edge[0], edge[1]);
        (y1 > at.lat()) != (y2 > at.lat())
            && at.lon() < x1 + (at.lat() - y1) / (y2 - y1) * (x2 - x1)
    });
    edges.count() % 2 == 1
}

proptest! {
    #[test]
    fn what_is_written_is_closed_turned_and_within_the_globe(ring in any_star()) {
        let shape = MultiPolygon::new([Polygon::new(&ring, &[]).unwrap()]).unwrap();
        let json: serde_json::Value = serde_json::to_value(&shape).unwrap();
        let polygons = match json["type"].as_str().unwrap() {
            "Polygon" => vec![json["coordinates"].clone()],
            _ => json["coordinates"].as_array().unwrap().clone(),
        };
        for polygon in polygons {
            for (i, ring) in polygon.as_array().unwrap().iter().enumerate() {
                let ring: Vec<[f64; 2]> = serde_json::from_value(ring.clone()).unwrap();
                prop_assert!(ring.len() >= 4 && ring[0] == ring[ring.len() - 1]);
                let mut twice_area = 0.0;
                for edge in ring.windows(2) {
                    let [[x1, y1], [x2, y2]] = [edge[0], edge[1]];
                    prop_assert!((x1 - x2).abs() <= 180.0 && x1.abs() <= 180.0 && y1.abs() <= 90.0);
                    twice_area += (x1 - ring[0][0]) * (y2 - ring[0][1]) - (x2 - ring[0][0]) * (y1 - ring[0][1]);
                }
                prop_assert_eq!(twice_area > 0.0, i == 0);
            }
        }
        // A second reading changes nothing.
        let again: MultiPolygon = serde_json::from_value(json).unwrap();
        prop_assert_eq!(again, shape);
    }

    #[test]
    fn a_place_is_in_a_polygon_if_a_line_from_it_meets_an_odd_number_of_edges(
        ring in any_star(),
        places in prop::collection::vec((-25.0..25.0_f64, -25.0..25.0_f64), 20),
    ) {
        let polygon = Polygon::new(&ring, &[]).unwrap();
        let cut = MultiPolygon::new([polygon.clone()]).unwrap();
        for (east, north) in places {
            let lon = (ring[0].lon() + east + 540.0).rem_euclid(360.0) - 180.0;
            let at = place(lon, (ring[0].lat() + north).clamp(-90.0, 90.0));
            let inside = crossings_say(&ring, at);
            prop_assert_eq!(polygon.contains(at), inside);
            prop_assert_eq!(cut.contains(at), inside);
            // A box around a place inside intersects the polygon.
            let side = |lon: f64| (lon + 540.0).rem_euclid(360.0) - 180.0;
            let (south, north) = ((at.lat() - 0.5).max(-90.0), (at.lat() + 0.5).min(90.0));
            let bbox = BBox::new(side(lon - 0.5), south, side(lon + 0.5), north).unwrap();
            prop_assert_eq!(cut.intersects(bbox), polygon.intersects(bbox));
            prop_assert!(!inside || cut.intersects(bbox));
            let corner = ring.iter().any(|&corner| bbox.contains(corner));
            prop_assert!(!corner || cut.intersects(bbox));
        }
    }

    #[test]
    fn a_circle_stays_within_its_tolerance(
        lon in -180.0..180.0_f64,
        lat in -80.0..80.0_f64,
        radius_km in 0.1..1000.0_f64,
        tolerance_km in 0.01..2.0_f64,
    ) {
        let center = place(lon, lat);
        let circle = Polygon::circle(center, radius_km, tolerance_km);
        prop_assume!(circle != Err(GeometryError::Pole));
        let ring: Vec<LonLat> = circle.unwrap().exterior().collect();
        for edge in ring.windows(2) {
            let to = beside(edge[0].lon(), edge[1].lon());
            for tenth in 0..10 {
                let share = f64::from(tenth) / 10.0;
                let lon = edge[0].lon() + share * (to - edge[0].lon());
                let at = place(
                    (lon + 540.0).rem_euclid(360.0) - 180.0,
                    edge[0].lat() + share * (edge[1].lat() - edge[0].lat()),
                );
                // Coordinates are rounded to 0.1 m.
                let off_km = (center.distance_km(at) - radius_km).abs();
                prop_assert!(off_km <= tolerance_km + 0.0002, "{off_km} of {tolerance_km}");
            }
        }
    }

    #[test]
    fn no_position_is_farther_from_the_simplified_ring_than_the_tolerance(
        ring in any_star(),
        tolerance_deg in 0.01..3.0_f64,
    ) {
        let shape = MultiPolygon::new([Polygon::new(&ring, &[]).unwrap()]).unwrap();
        let thin = shape.simplified(tolerance_deg).unwrap();
        prop_assert!(thin.positions() <= shape.positions());
        prop_assert!(thin.is_valid() || !shape.is_valid());
        for (thin, polygon) in thin.polygons().iter().zip(shape.polygons()) {
            let edges: Vec<LonLat> = thin.exterior().collect();
            for at in polygon.exterior() {
                let flat = |at: LonLat| Coord { x: at.lon(), y: at.lat() };
                let off = edges
                    .windows(2)
                    .map(|edge| distance(flat(at), flat(edge[0]), flat(edge[1])))
                    .fold(f64::INFINITY, f64::min);
                prop_assert!(off <= tolerance_deg + 1e-9, "{off}");
            }
        }
    }
}

#[test]
fn a_hole_that_touches_the_outer_ring_in_decimals_is_valid() {
    // The hole's first corner is the middle of the outer ring's first edge; in binary it is not.
    let outer =
        [[-151.85, 58.17], [-151.89, 58.19], [-151.89, 58.27], [-151.79, 58.25], [-151.85, 58.17]];
    let hole = [[-151.87, 58.18], [-151.86, 58.18], [-151.87, 58.19], [-151.87, 58.18]];
    let polygon = Polygon::new(&ring(&outer), &[ring(&hole)]).unwrap();
    assert!(!polygon.shape.is_valid() && polygon.is_valid());
}

#[test]
fn invalid_polygons_are_repaired() {
    // A bow tie becomes two triangles, a hole across the outer ring a bay.
    let bow_tie = ring(&[[0.0, 0.0], [2.0, 2.0], [2.0, 0.0], [0.0, 3.0], [0.0, 0.0]]);
    let square = rectangle(10.0, 0.0, 20.0, 10.0);
    let bay = rectangle(15.0, 5.0, 25.0, 6.0);
    let fine = Polygon::new(&rectangle(30.0, 0.0, 31.0, 1.0), &[]).unwrap();
    let shape = MultiPolygon::new([
        Polygon::new(&bow_tie, &[]).unwrap(),
        Polygon::new(&square, &[bay]).unwrap(),
        fine.clone(),
    ])
    .unwrap();
    assert!(!shape.is_valid());
    let mended = shape.repaired();
    assert!(mended.is_valid());
    let corners: Vec<_> = mended.polygons().iter().map(|part| part.exterior().len()).collect();
    assert_eq!(corners, [4, 4, 9, 5]);
    assert_eq!(mended.polygons()[3], fine);
    for (lon, lat, inside) in [
        (0.2, 1.0, true),
        (1.8, 1.0, true),
        (1.0, 0.2, false),
        (17.0, 5.5, false),
        (22.0, 5.5, false),
        (12.0, 5.5, true),
    ] {
        assert_eq!(mended.contains(place(lon, lat)), inside, "{lon} {lat}");
    }
}
