use super::super::{LatLonGlobe, Projection, normalised, turned};
use super::*;

fn lambert() -> Definition {
    Definition {
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
    }
}

fn lat_lon(columns: usize, first_lon: f64, column_step: f64) -> NativeGrid {
    NativeGrid::new(Definition {
        rows: 73,
        columns,
        projection: GridProjection::Globe(LatLonGlobe::LatLon),
        first_lon,
        first_lat: 90.0,
        column_step,
        row_step: -2.5,
        grid_relative_winds: false,
    })
    .unwrap()
}

fn at(lon: f64, lat: f64) -> LonLat {
    LonLat::new(lon, lat).unwrap()
}

#[test]
fn invalid_definitions_are_refused() {
    let refused = |change: fn(&mut Definition)| {
        let mut definition = lambert();
        change(&mut definition);
        NativeGrid::new(definition).unwrap_err().to_string()
    };
    assert_eq!(
        refused(|definition| definition.rows = 0),
        "a grid has 1 to 67108864 cells; got 0 rows of 93"
    );
    assert_eq!(
        refused(|definition| definition.rows = usize::MAX),
        "a grid has 1 to 67108864 cells; got 18446744073709551615 rows of 93"
    );
    assert_eq!(
        refused(|definition| definition.row_step = 0.0),
        "step from row to row must be finite and not 0; got 0"
    );
    assert_eq!(
        refused(|definition| definition.first_lat = f64::NAN),
        "latitude of the first cell must be from -90 to 90; got NaN"
    );
    assert_eq!(
        refused(|definition| definition.first_lat = -90.0),
        "the first cell, latitude -90, longitude 226.541, is not on its map"
    );
    assert_eq!(
        refused(|definition| {
            definition.projection = GridProjection::Map(Projection::LambertConformal {
                radius_m: 6_371_229.0,
                origin_lat: 0.0,
                central_lon: 0.0,
                parallels: [-30.0, 30.0],
            });
        }),
        "the parallels -30 and 30 do not make a cone; their sum must not be 0"
    );
}

#[test]
fn cells_and_arrays_that_do_not_fit_are_refused() {
    let grid = NativeGrid::new(lambert()).unwrap();
    for error in [grid.position(65, 0).unwrap_err(), grid.wind_rotation(65, 0).unwrap_err()] {
        assert_eq!(
            error.to_string(),
            "row 65, column 0 is not on the grid; allowed are rows 0 to 64 and columns 0 to 92"
        );
    }
    let mut short = vec![0.5; 3];
    let error = grid.wind_rotations_into(&mut short, &mut [0.5]).unwrap_err();
    assert_eq!(error.to_string(), "arrays must have 6045 values, one for each cell; got 3 and 1");
    assert_eq!(short, [0.5; 3]);
}

#[test]
fn positions_beyond_the_grid_and_missing_ones_are_nan() {
    let grid = NativeGrid::new(lambert()).unwrap();
    let (lon, lat) = ([-79.4, 2.4, 0.0, f64::NAN], [43.7, 48.9, f64::NAN, 43.7]);
    let (mut row, mut column) = ([0.0; 4], [0.0; 4]);
    grid.locate_into(&lon, &lat, &mut row, &mut column).unwrap();
    assert_eq!((row[0], column[0]), grid.locate(at(-79.4, 43.7)));
    assert!(row[1..].iter().chain(&column[1..]).all(|number| number.is_nan()));
    // The last column of a grid around the globe is west of the first.
    let round = lat_lon(144, 0.0, 2.5);
    round.locate_into(&[-2.0], &[0.0], &mut row[..1], &mut column[..1]).unwrap();
    assert_eq!(column[0], 143.2);
    let refused = |lon: &[f64], lat: &[f64]| {
        let (mut row, mut column) = ([0.0], [0.0]);
        grid.locate_into(lon, lat, &mut row, &mut column).unwrap_err().to_string()
    };
    assert_eq!(refused(&[0.0], &[91.0]), "latitude must be from -90 to 90; got 91");
    assert_eq!(
        refused(&[0.0, 1.0], &[91.0]),
        "array lengths must match; got 2 for lon, 1 for lat, 1 for row, 1 for column"
    );
}

#[test]
fn arrays_of_cells_agree_with_single_ones() {
    let grid = NativeGrid::new(lambert()).unwrap();
    let (row, column) = ([0, 37, 64], [92, 68, 0]);
    let (mut lon, mut lat) = ([0.0; 3], [0.0; 3]);
    grid.cell_positions_into(&row, &column, &mut lon, &mut lat).unwrap();
    let (mut cos, mut sin) = ([0.0; 3], [0.0; 3]);
    grid.cell_wind_rotations_into(&row, &column, &mut cos, &mut sin).unwrap();
    for (i, (row, column)) in row.into_iter().zip(column).enumerate() {
        assert_eq!(grid.position(row, column), Ok(at(lon[i], lat[i])));
        let rotation = Rotation { cos: cos[i], sin: sin[i] };
        assert_eq!(grid.wind_rotation(row, column), Ok(rotation));
    }
    let (mut rows, mut columns) = ([0; 3], [0; 3]);
    grid.nearest_into(&lon, &lat, &mut rows, &mut columns).unwrap();
    assert_eq!((rows, columns), (row, column));
}

#[test]
fn arrays_of_cells_are_refused_like_single_ones() {
    let grid = NativeGrid::new(lambert()).unwrap();
    let (mut row, mut column) = ([7; 2], [7; 2]);
    let error = grid.nearest_into(&[-79.4, 2.35], &[43.7, 48.85], &mut row, &mut column);
    assert_eq!(error, grid.nearest(at(2.35, 48.85)).map(drop));
    assert_eq!((row, column), ([37, 7], [68, 7]));
    let error = grid.nearest_into(&[0.0], &[f64::NAN], &mut [0], &mut [0]).unwrap_err();
    assert_eq!(error.to_string(), "latitude must be from -90 to 90; got NaN");
    let (mut one, mut other) = ([0.0; 2], [0.0; 2]);
    for error in [
        grid.cell_positions_into(&[0, 65], &[0, 0], &mut one, &mut other),
        grid.cell_wind_rotations_into(&[0, 65], &[0, 0], &mut one, &mut other),
    ] {
        assert_eq!(error, grid.position(65, 0).map(drop));
    }
    let lengths = [
        grid.nearest_into(&[0.0; 2], &[0.0; 3], &mut row, &mut column),
        grid.cell_positions_into(&[0; 2], &[0; 3], &mut one, &mut other),
        grid.cell_wind_rotations_into(&[0; 2], &[0; 3], &mut one, &mut other),
    ];
    let messages = lengths.map(|error| error.unwrap_err().to_string());
    let wanted = [
        "array lengths must match; got 2 for lon, 3 for lat, 2 for row, 2 for column",
        "array lengths must match; got 2 for row, 3 for column, 2 for lon, 2 for lat",
        "array lengths must match; got 2 for row, 3 for column, 2 for cos, 2 for sin",
    ];
    assert_eq!(messages, wanted);
}

#[test]
fn projections_have_names_in_proj() {
    let proj = |projection| Definition { projection, ..lambert() }.proj_string();
    assert_eq!(
        lambert().proj_string(),
        "+proj=lcc +lat_0=25 +lon_0=265 +lat_1=25 +lat_2=25 +R=6371229 +no_defs"
    );
    // The parallel is on the side of the pole, whatever its sign; the meridian is within a turn.
    let polar = |south, central_lon, true_lat| {
        let radius_m = 6_371_200.0;
        proj(GridProjection::Map(Projection::PolarStereographic {
            radius_m,
            south,
            central_lon,
            true_lat,
        }))
    };
    assert_eq!(
        polar(true, 28.0, 60.0),
        "+proj=stere +lat_0=-90 +lat_ts=-60 +lon_0=28 +R=6371200 +no_defs"
    );
    assert_eq!(
        polar(false, 609.0, 60.0),
        "+proj=stere +lat_0=90 +lat_ts=60 +lon_0=-111 +R=6371200 +no_defs"
    );
    assert_eq!(
        proj(GridProjection::Map(Projection::Mercator {
            radius_m: 6_371_229.5,
            central_lon: -160.0,
            true_lat: 20.0,
        })),
        "+proj=merc +lat_ts=20 +lon_0=-160 +R=6371229.5 +no_defs"
    );
    assert_eq!(
        proj(GridProjection::Globe(LatLonGlobe::LatLon)),
        "+proj=longlat +R=6371229 +no_defs"
    );
    assert_eq!(
        proj(GridProjection::Globe(LatLonGlobe::RotatedLatLon {
            south_pole_lat: 0.0,
            south_pole_lon: 0.0,
        })),
        "+proj=ob_tran +o_proj=longlat +o_lon_p=0 +o_lat_p=0 +lon_0=0 +R=6371229 +no_defs"
    );
    let (x, y) = NativeGrid::new(lambert()).unwrap().first_xy();
    assert!((x + 4_226_106.997).abs() < 1e-3 && (y + 832_698.261).abs() < 1e-3);
}

#[test]
fn half_a_cell_beyond_the_outermost_centres_is_on_the_grid() {
    let grid = lat_lon(21, 170.0, 1.0);
    assert_eq!(grid.nearest(at(169.51, 89.0)), Ok((0, 0)));
    assert_eq!(grid.nearest(at(-169.51, -89.0)), Ok((72, 20)));
    assert_eq!(grid.nearest(at(180.0, 0.0)), Ok((36, 10)));
    assert_eq!(grid.nearest(at(-180.0, 0.0)), Ok((36, 10)));
    assert_eq!(
        grid.nearest(at(169.4, 0.0)).unwrap_err().to_string(),
        "latitude 0, longitude 169.4 is not on the grid: it would be row 36.00, column -0.60; \
         allowed are rows 0 to 72 and columns 0 to 20"
    );
    assert!(grid.nearest(at(-169.4, 0.0)).is_err());
}

#[test]
fn a_grid_around_the_globe_has_no_edge() {
    let grid = lat_lon(144, 0.0, 2.5);
    assert!(grid.goes_round());
    assert!(!lat_lon(145, 0.0, 2.5).goes_round());
    for (lon, column) in [(0.0, 0), (-1.2, 0), (-1.3, 143), (178.7, 71), (178.8, 72), (-180.0, 72)]
    {
        assert_eq!(grid.nearest(at(lon, 0.0)), Ok((36, column)), "{lon}");
    }
    // Either of the two columns on the same meridian is right.
    assert!([0, 144].contains(&lat_lon(145, 0.0, 2.5).nearest(at(0.0, 0.0)).unwrap().1));
    // Columns to the west.
    assert_eq!(lat_lon(144, 0.0, -2.5).nearest(at(-5.0, 0.0)), Ok((36, 2)));
}

/// A rounded step leaves a gap after the last column: positions in it belong to the first.
#[test]
fn the_gap_of_a_rounded_step_at_the_seam_is_not_a_hole() {
    let step = 0.999_999;
    let grid = lat_lon(360, 0.0, step);
    assert!(grid.goes_round());
    // The grid is 360.00036 of its columns around: the last one ends at 359.5.
    let in_gap = at(359.500_1 * step - 360.0, 0.0);
    assert_eq!(grid.nearest(in_gap), Ok((36, 0)));
    assert_eq!(grid.nearest(at(359.4 * step - 360.0, 0.0)), Ok((36, 359)));
    // With such coarse rounding, the grid is not taken for a grid around the globe.
    assert!(!lat_lon(360, 0.0, 0.999_99).goes_round());
}

/// Rounded steps lead slightly beyond the pole; the last row lies at the pole.
#[test]
fn a_row_that_a_rounded_step_puts_just_beyond_the_pole_is_at_the_pole() {
    let row = |row_step: f64| {
        let mut definition = *lat_lon(144, 0.0, 2.5).definition();
        (definition.rows, definition.row_step) = (181, row_step);
        let grid = NativeGrid::new(definition).unwrap();
        grid.position(180, 0).map(LonLat::lat).map_err(|error| error.to_string())
    };
    assert_eq!(row(-1.0), Ok(-90.0));
    assert_eq!(row(-1.000_000_5), Ok(-90.0));
    assert!(row(-1.000_001).is_err());
}

#[test]
fn poles_are_cells_of_a_grid_that_has_them() {
    let grid = lat_lon(144, 0.0, 2.5);
    assert_eq!(grid.position(0, 5).unwrap(), at(12.5, 90.0));
    assert_eq!(grid.position(72, 143).unwrap(), at(-2.5, -90.0));
    assert_eq!(grid.nearest(at(12.4, 90.0)), Ok((0, 5)));
    // The first row beyond a pole.
    let mut definition = *grid.definition();
    definition.rows = 74;
    let over = NativeGrid::new(definition).unwrap();
    assert_eq!(
        over.position(73, 0).unwrap_err().to_string(),
        "row 73, column 0 is not on the globe: latitude must be from -90 to 90; got -92.5"
    );
}

#[test]
fn the_pole_inside_a_polar_grid_is_a_place_like_any_other() {
    let grid = NativeGrid::new(Definition {
        rows: 201,
        columns: 201,
        projection: GridProjection::Map(Projection::PolarStereographic {
            radius_m: 6_371_229.0,
            south: false,
            central_lon: 249.0,
            true_lat: 60.0,
        }),
        first_lon: 249.0 - 45.0,
        first_lat: 75.0,
        column_step: 20_000.0,
        row_step: 20_000.0,
        grid_relative_winds: true,
    })
    .unwrap();
    let (row, column) = grid.nearest(at(0.0, 90.0)).unwrap();
    assert_eq!(grid.nearest(at(123.0, 90.0)), Ok((row, column)));
    let cell = grid.position(row, column).unwrap();
    assert!(cell.distance_km(at(0.0, 90.0)) < 15.0);
    // Opposite each other across the pole, the winds differ by half a turn.
    let (row, column) = (row as f64, column as f64);
    let pole = grid.locate(at(0.0, 90.0));
    assert!((pole.0 - row).abs() <= 0.5 && (pole.1 - column).abs() <= 0.5);
    for lon in [-180.0, -111.0, 0.0, 69.0, 100.0] {
        let (across_row, across_column) = grid.locate(at(normalised(lon + 180.0), 88.0));
        let (row, column) = grid.locate(at(lon, 88.0));
        assert!((row + across_row - 2.0 * pole.0).abs() < 1e-9);
        assert!((column + across_column - 2.0 * pole.1).abs() < 1e-9);
    }
}

#[test]
fn earth_relative_winds_are_not_turned() {
    let mut definition = lambert();
    definition.grid_relative_winds = false;
    let grid = NativeGrid::new(definition).unwrap();
    assert_eq!(grid.wind_rotation(40, 20), Ok(Rotation::IDENTITY));
    let (mut cos, mut sin) = (vec![0.0; grid.cells()], vec![0.5; grid.cells()]);
    grid.wind_rotations_into(&mut cos, &mut sin).unwrap();
    assert!(cos.iter().all(|&cos| cos == 1.0) && sin.iter().all(|&sin| sin == 0.0));
}

#[test]
fn arrays_hold_what_each_cell_has() {
    let grid = NativeGrid::new(lambert()).unwrap();
    let cells = grid.cells();
    let (mut cos, mut sin) = (vec![0.0; cells], vec![0.0; cells]);
    let (mut lon, mut lat) = (vec![0.0; cells], vec![0.0; cells]);
    grid.wind_rotations_into(&mut cos, &mut sin).unwrap();
    grid.positions_into(&mut lon, &mut lat).unwrap();
    for row in 0..grid.rows() {
        for column in 0..grid.columns() {
            let cell = row * grid.columns() + column;
            let rotation = Rotation { cos: cos[cell], sin: sin[cell] };
            assert_eq!(grid.wind_rotation(row, column), Ok(rotation));
            assert_eq!(grid.position(row, column), Ok(at(lon[cell], lat[cell])));
            assert_eq!(grid.nearest(at(lon[cell], lat[cell])), Ok((row, column)));
            // Two ways: from the map, and from the longitude.
            let GridProjection::Map(projection) = grid.definition().projection else { panic!() };
            let by_lon = projection.rotation(lon[cell]);
            assert!((by_lon.cos - rotation.cos).abs() < 1e-12);
            assert!((by_lon.sin - rotation.sin).abs() < 1e-12);
            assert!(turned(lon[cell]) == lon[cell]);
        }
    }
}

#[test]
fn a_grid_of_the_same_places_is_turned_to_another_and_one_of_others_is_not() {
    let of = |definition| NativeGrid::new(definition).unwrap();
    let first = Definition {
        rows: 4,
        columns: 6,
        projection: GridProjection::Globe(LatLonGlobe::LatLon),
        first_lon: 10.0,
        first_lat: 53.0,
        column_step: 0.5,
        row_step: -0.5,
        grid_relative_winds: false,
    };
    let turns = |other: Definition| of(other).turns_to(&of(first));
    assert_eq!(turns(first), Some(Turns::default()));
    let northward = Definition { first_lat: 51.5, row_step: 0.5, ..first };
    assert_eq!(turns(northward), Some(Turns { rows: true, columns: false }));
    let westward = Definition { first_lon: 12.5, column_step: -0.5, ..northward };
    assert_eq!(turns(westward), Some(Turns { rows: true, columns: true }));
    // A millionth of a degree is a rounding, a tenth of a cell another place.
    assert!(turns(Definition { first_lat: 53.000_001, ..first }).is_some());
    for other in [
        Definition { first_lat: 53.05, ..first },
        Definition { rows: 5, ..first },
        Definition { column_step: 0.52, ..first },
        Definition { grid_relative_winds: true, ..first },
    ] {
        assert_eq!(turns(other), None, "{other:?}");
    }
    let mut values = [1, 2, 3, 4, 5, 6];
    Turns { rows: true, columns: true }.apply(&mut values, 3);
    assert_eq!(values, [6, 5, 4, 3, 2, 1]);
    Turns { rows: false, columns: true }.apply(&mut values, 3);
    assert_eq!(values, [4, 5, 6, 1, 2, 3]);
}
