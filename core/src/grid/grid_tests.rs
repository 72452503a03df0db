use proptest::prelude::*;

use super::*;

#[track_caller]
fn is(projection: Projection, lon: f64, lat: f64, x: f64, y: f64) {
    let got = projection.forward(lon, lat);
    assert!((got.0 - x).abs() < 1e-6 && (got.1 - y).abs() < 1e-6, "{got:?}");
}

const LAMBERT: Projection = Projection::LambertConformal {
    radius_m: 6_371_229.0,
    origin_lat: 38.5,
    central_lon: 262.5,
    parallels: [38.5, 38.5],
};

const SOUTHERN_CONE: Projection = Projection::LambertConformal {
    radius_m: 6_371_229.0,
    origin_lat: -30.0,
    central_lon: 25.0,
    parallels: [-20.0, -40.0],
};

fn polar(south: bool) -> Projection {
    let true_lat = if south { -60.0 } else { 60.0 };
    Projection::PolarStereographic { radius_m: 6_371_229.0, south, central_lon: -111.0, true_lat }
}

const MERCATOR: Projection =
    Projection::Mercator { radius_m: 6_371_229.0, central_lon: 200.0, true_lat: 20.0 };

/// Snyder's numerical examples, pages 266, 295 and 310: a sphere of radius 1.
#[test]
fn the_examples_of_the_manual() {
    let mercator = Projection::Mercator { radius_m: 1.0, central_lon: -180.0, true_lat: 0.0 };
    is(mercator, -75.0, 35.0, 1.832_595_7, 0.652_836_5);
    let (lon, lat) = mercator.inverse(1.832_595_7, 0.652_836_5);
    assert!((lon + 75.0).abs() < 1e-5 && (lat - 35.0).abs() < 1e-5);
    let lambert = Projection::LambertConformal {
        radius_m: 1.0,
        origin_lat: 23.0,
        central_lon: -96.0,
        parallels: [33.0, 45.0],
    };
    is(lambert, -75.0, 35.0, 0.296_678_5, 0.246_211_2);
    let (lon, lat) = lambert.inverse(0.296_678_5, 0.246_211_2);
    assert!((lon + 75.0).abs() < 1e-5 && (lat - 35.0).abs() < 1e-5);
}

#[test]
fn the_poles_of_a_stereographic_projection_are_mirrored() {
    let (x, y) = polar(false).forward(-111.0 + 30.0, 60.0);
    // On the true parallel the circle has the same radius as on the globe.
    let radius_m =
        6_371_229.0 * 0.5 * (1.0 + 3_f64.sqrt() / 2.0) * 2.0 * libm::tan(15_f64.to_radians());
    assert!((libm::hypot(x, y) - radius_m).abs() < 1e-3);
    assert!(x > 0.0 && y < 0.0);
    let (mirrored_x, mirrored_y) = polar(true).forward(-111.0 + 30.0, -60.0);
    assert!((x - mirrored_x).abs() < 1e-6 && (y + mirrored_y).abs() < 1e-6);
    is(polar(false), 0.0, 90.0, 0.0, 0.0);
    is(polar(true), 0.0, -90.0, 0.0, 0.0);
    assert_eq!(polar(false).inverse(0.0, 0.0).1, 90.0);
    assert_eq!(polar(true).inverse(0.0, 0.0).1, -90.0);
}

#[test]
fn the_pole_at_infinity_has_an_infinite_y() {
    for (projection, lat) in
        [(LAMBERT, -90.0), (SOUTHERN_CONE, 90.0), (polar(false), -90.0), (polar(true), 90.0)]
    {
        let (_, y) = projection.forward(0.0, lat);
        assert!(y.is_infinite(), "{projection:?}: {y}");
    }
    assert_eq!(MERCATOR.forward(200.0, 90.0), (0.0, f64::INFINITY));
    assert_eq!(MERCATOR.forward(200.0, -90.0), (0.0, f64::NEG_INFINITY));
}

#[test]
fn longitudes_go_round() {
    for (degrees, within) in [(10.0, 10.0), (190.0, -170.0), (-190.0, 170.0), (725.0, 5.0)] {
        assert_eq!(turned(degrees), within);
    }
    assert_eq!((turned(180.0), normalised(180.0), normalised(-180.0)), (180.0, -180.0, -180.0));
    assert_eq!(normalised(540.0), -180.0);
}

/// Returns the turn of the meridian by differences: a step to the north against a step along y.
fn turn_by_differences(map: &Map, lon: f64, lat: f64) -> (f64, f64) {
    let step = 1e-5;
    let (south, north) = (map.forward(lon, lat - step), map.forward(lon, lat + step));
    let (x, y) = (north.0 - south.0, north.1 - south.1);
    let length = libm::hypot(x, y);
    // A wind from the south has the components (sin, cos) along the axes, turned the other way.
    (y / length, -x / length)
}

fn maps() -> impl Strategy<Value = Map> {
    let rotated = GridProjection::Globe(LatLonGlobe::RotatedLatLon {
        south_pole_lat: -36.08852,
        south_pole_lon: 245.305142,
    });
    prop::sample::select(vec![
        Map::LatLon,
        LAMBERT.into(),
        SOUTHERN_CONE.into(),
        polar(false).into(),
        polar(true).into(),
        MERCATOR.into(),
        rotated.into(),
    ])
}

proptest! {
    #[test]
    fn inverting_undoes_projecting(map in maps(), lon in -180.0..180.0, lat in -89.0..89.0) {
        let (x, y) = map.forward(lon, lat);
        let (back_lon, back_lat) = map.inverse(x, y);
        prop_assert!((-180.0..180.0).contains(&back_lon));
        prop_assert!((back_lat - lat).abs() < 1e-9, "{back_lat}");
        // A degree of longitude is only as long as its parallel allows.
        let off = turned(back_lon - lon).abs() * libm::cos(lat.to_radians());
        prop_assert!(off < 1e-9, "{back_lon}");
    }

    #[test]
    fn the_rotation_is_that_of_the_meridian(
        map in maps(),
        lon in -180.0..180.0,
        lat in -85.0..85.0,
    ) {
        let (x, y) = map.forward(lon, lat);
        let rotation = map.rotation_at(map.angle(x), map.angle(y));
        prop_assert!((libm::hypot(rotation.cos, rotation.sin) - 1.0).abs() < 1e-12);
        let (mut cos, sin) = turn_by_differences(&map, lon, lat);
        if let Map::RotatedLatLon(_) = map {
            // Degrees of longitude are shorter than those of latitude.
            let step = 1e-5;
            let (south, north) = (map.forward(lon, lat - step), map.forward(lon, lat + step));
            let across = turned(north.0 - south.0) * libm::cos(y.to_radians());
            let length = libm::hypot(across, north.1 - south.1);
            cos = (north.1 - south.1) / length;
            prop_assert!((rotation.sin + across / length).abs() < 1e-4);
        } else {
            prop_assert!((rotation.sin - sin).abs() < 1e-4, "{rotation:?} {sin}");
        }
        prop_assert!((rotation.cos - cos).abs() < 1e-4, "{rotation:?} {cos}");
    }
}
