use super::*;
use crate::grid::{Definition, GridProjection, LatLonGlobe, Projection};

fn polar(south: bool) -> Definition {
    Definition {
        rows: 21,
        columns: 21,
        projection: GridProjection::Map(Projection::PolarStereographic {
            radius_m: 6_371_229.0,
            south,
            central_lon: 0.0,
            true_lat: if south { -60.0 } else { 60.0 },
        }),
        first_lon: -45.0,
        first_lat: if south { -60.0 } else { 60.0 },
        // From 45° W: columns to the east, and the pole in the middle.
        column_step: 225_000.0,
        row_step: if south { -225_000.0 } else { 225_000.0 },
        grid_relative_winds: true,
    }
}

fn sides(definition: Definition) -> [f64; 4] {
    let bounds = NativeGrid::new(definition).unwrap().bounds();
    [bounds.min_lon(), bounds.min_lat(), bounds.max_lon(), bounds.max_lat()]
}

fn globe(first_lon: f64, columns: usize, column_step: f64) -> Definition {
    Definition {
        rows: 3,
        columns,
        projection: GridProjection::Globe(LatLonGlobe::LatLon),
        first_lon,
        first_lat: 60.0,
        column_step,
        row_step: -1.0,
        grid_relative_winds: false,
    }
}

/// All cells lie in the box, and each side of the box touches a cell or is that of the whole globe.
#[test]
fn every_cell_lies_within_and_the_box_is_no_larger_than_that() {
    let lambert = Definition {
        rows: 65,
        columns: 93,
        projection: GridProjection::Map(Projection::LambertConformal {
            radius_m: 6_371_229.0,
            origin_lat: 25.0,
            central_lon: 265.0,
            parallels: [25.0, 25.0],
        }),
        first_lon: 226.541,
        first_lat: 12.19,
        column_step: 81_271.0,
        row_step: 81_271.0,
        grid_relative_winds: true,
    };
    let rotated = Definition {
        projection: GridProjection::Globe(LatLonGlobe::RotatedLatLon {
            south_pole_lat: -36.08852,
            south_pole_lon: 245.305142,
        }),
        first_lon: -14.8,
        first_lat: -12.3,
        column_step: 0.45,
        row_step: 0.45,
        ..lambert
    };
    for definition in [lambert, rotated, polar(false), polar(true), globe(175.0, 11, 1.0)] {
        let grid = NativeGrid::new(definition).unwrap();
        let bounds = grid.bounds();
        let mut touched = [bounds.min_lon() == -180.0, false, bounds.max_lon() == 180.0, false];
        touched[1] = bounds.min_lat() == -90.0;
        touched[3] = bounds.max_lat() == 90.0;
        for row in 0..grid.rows() {
            for column in 0..grid.columns() {
                let at = grid.position(row, column).unwrap();
                assert!(bounds.contains(at), "{at:?} {bounds:?}");
                touched[0] |= at.lon() == bounds.min_lon();
                touched[1] |= at.lat() == bounds.min_lat();
                touched[2] |= (at.lon() - bounds.max_lon()).abs() < 1e-9;
                touched[3] |= at.lat() == bounds.max_lat();
            }
        }
        assert_eq!(touched, [true; 4], "{bounds:?}");
    }
}

#[test]
fn a_grid_around_a_pole_has_all_longitudes_and_the_pole() {
    let [west, south, east, north] = sides(polar(false));
    assert_eq!([west, east, north], [-180.0, 180.0, 90.0]);
    assert!((59.0..61.0).contains(&south), "{south}");
    let [west, south, east, north] = sides(polar(true));
    assert_eq!([west, east, south], [-180.0, 180.0, -90.0]);
    assert!((-61.0..-59.0).contains(&north), "{north}");
}

#[test]
fn a_grid_across_the_antimeridian_is_not_the_whole_globe_and_one_around_it_is() {
    assert_eq!(sides(globe(175.0, 11, 1.0)), [175.0, 58.0, -175.0, 60.0]);
    assert_eq!(sides(globe(0.0, 144, 2.5)), [-180.0, 58.0, 180.0, 60.0]);
    // Columns that run west.
    assert_eq!(sides(globe(10.0, 11, -2.0)), [-10.0, 58.0, 10.0, 60.0]);
    assert_eq!(sides(Definition { rows: 1, ..globe(5.0, 1, 1.0) }), [5.0, 60.0, 5.0, 60.0]);
}
