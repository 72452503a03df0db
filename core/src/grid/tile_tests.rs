use proptest::prelude::*;

use super::*;
use crate::geo::LonLat;
use crate::grid::{Definition, GridProjection, LatLonGlobe, Projection};

const NODATA: i16 = i16::MIN;

fn encoding() -> Encoding {
    Encoding::new(0.01, 0.0, NODATA).unwrap()
}

fn definition(rows: usize, columns: usize, projection: GridProjection) -> Definition {
    Definition {
        rows,
        columns,
        projection,
        first_lon: 0.0,
        first_lat: 0.0,
        column_step: 1.0,
        row_step: 1.0,
        grid_relative_winds: false,
    }
}

fn lat_lon(
    (rows, first_lat, row_step): (usize, f64, f64),
    (columns, first_lon, column_step): (usize, f64, f64),
) -> NativeGrid {
    let globe = GridProjection::Globe(LatLonGlobe::LatLon);
    let definition = definition(rows, columns, globe);
    NativeGrid::new(Definition { first_lon, first_lat, column_step, row_step, ..definition })
        .unwrap()
}

/// NOAA's HRRR, each cell 30 km wide.
fn lambert() -> NativeGrid {
    let projection = GridProjection::Map(Projection::LambertConformal {
        radius_m: 6_371_229.0,
        origin_lat: 38.5,
        central_lon: 262.5,
        parallels: [38.5, 38.5],
    });
    NativeGrid::new(Definition {
        first_lon: 237.280472,
        first_lat: 21.138123,
        column_step: 30_000.0,
        row_step: 30_000.0,
        grid_relative_winds: true,
        ..definition(106, 180, projection)
    })
    .unwrap()
}

/// A grid with the North Pole in it.
fn polar() -> NativeGrid {
    let projection = GridProjection::Map(Projection::PolarStereographic {
        radius_m: 6_371_229.0,
        south: false,
        central_lon: 249.0,
        true_lat: 60.0,
    });
    NativeGrid::new(Definition {
        first_lon: 204.0,
        first_lat: 60.0,
        column_step: 60_000.0,
        row_step: 60_000.0,
        grid_relative_winds: true,
        ..definition(81, 81, projection)
    })
    .unwrap()
}

/// HRDPS, with cells of half a degree; it extends across the antimeridian of its own globe.
fn rotated() -> NativeGrid {
    let projection = GridProjection::Globe(LatLonGlobe::RotatedLatLon {
        south_pole_lat: -36.08852,
        south_pole_lon: 245.305142,
    });
    NativeGrid::new(Definition {
        first_lon: 345.17878,
        first_lat: -12.302501,
        column_step: 0.5,
        row_step: 0.5,
        grid_relative_winds: true,
        ..definition(59, 115, projection)
    })
    .unwrap()
}

fn global() -> NativeGrid {
    lat_lon((73, 90.0, -2.5), (144, 0.0, 2.5))
}

fn across_the_antimeridian() -> NativeGrid {
    lat_lon((41, 40.0, 0.5), (41, 170.0, 0.5))
}

fn grids() -> Vec<NativeGrid> {
    vec![lambert(), polar(), rotated(), global(), across_the_antimeridian()]
}

/// Returns the cells of a part of a grid, from a field of the whole grid.
fn part(plan: &TilePlan, columns: usize, field: &[i16]) -> Vec<i16> {
    plan.rows().flat_map(|row| field[row * columns..][plan.columns()].to_vec()).collect()
}

fn tile(
    grid: &NativeGrid,
    address: TileAddress,
    sampling: TileSampling,
    field: &[i16],
) -> Vec<i16> {
    let plan = TilePlan::new(grid, address, sampling);
    let mut tile = vec![1; PIXELS];
    plan.sample(&part(&plan, grid.columns(), field), encoding(), &mut tile).unwrap();
    tile
}

fn at(address: TileAddress, pixel: usize) -> LonLat {
    LonLat::new(address.lon(pixel % TILE_SIDE), address.lat(pixel / TILE_SIDE)).unwrap()
}

/// The rule as it is specified, for one pixel.
fn by_the_rule(grid: &NativeGrid, at: LonLat, sampling: TileSampling, field: &[i16]) -> i16 {
    let cell = |row: usize, column: usize| field[row * grid.columns() + column];
    if sampling == TileSampling::Nearest {
        return grid.nearest(at).map_or(NODATA, |(row, column)| cell(row, column));
    }
    let (row, column) = grid.locate(at);
    let (top, left) = (row.floor(), column.floor());
    let (mut sum, mut weights) = (0.0, 0.0);
    for (row_at, column_at) in
        [(top, left), (top, left + 1.0), (top + 1.0, left), (top + 1.0, left + 1.0)]
    {
        let columns = grid.columns() as f64;
        let wrapped = if grid.goes_round() { column_at.rem_euclid(columns) } else { column_at };
        if !(0.0..grid.rows() as f64).contains(&row_at) || !(0.0..columns).contains(&wrapped) {
            return NODATA;
        }
        let value = cell(row_at as usize, wrapped as usize);
        if value == NODATA {
            return NODATA;
        }
        let weight = (1.0 - (row - row_at).abs()) * (1.0 - (column - column_at).abs());
        sum += weight * f64::from(value);
        weights += weight;
    }
    assert!((weights - 1.0).abs() < 1e-9);
    sum.round() as i16
}

/// Tiles that overlap the grids, and others.
fn addresses() -> impl Strategy<Value = TileAddress> {
    (0_u32..6, 0.0..1.0, 0.0..1.0).prop_map(|(z, x, y)| {
        let side = f64::from(1_u32 << z);
        TileAddress::new(z, (x * side) as u32, (y * side) as u32).unwrap()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn a_tile_is_what_the_rule_gives_for_each_pixel(
        address in addresses(),
        grid in 0..5_usize,
        bilinear: bool,
    ) {
        let grid = &grids()[grid];
        let sampling = if bilinear { TileSampling::Bilinear } else { TileSampling::Nearest };
        let field: Vec<i16> = (0..grid.cells())
            .map(|cell| if cell % 37 == 5 { NODATA } else { (cell * 31 % 20_011) as i16 })
            .collect();
        let tile = tile(grid, address, sampling, &field);
        for pixel in (0..PIXELS).step_by(61) {
            let wanted = by_the_rule(grid, at(address, pixel), sampling, &field);
            // A sum that ends in a half may be rounded either way.
            let off = (i32::from(tile[pixel]) - i32::from(wanted)).abs();
            prop_assert!(off <= i32::from(bilinear), "{pixel}: {} {wanted}", tile[pixel]);
            prop_assert_eq!(tile[pixel] == NODATA, wanted == NODATA);
        }
    }

    #[test]
    fn a_uniform_wind_is_uniform_on_the_tile(
        address in addresses(),
        grid in 0..3_usize,
        bilinear: bool,
    ) {
        let grid = &grids()[grid];
        let sampling = if bilinear { TileSampling::Bilinear } else { TileSampling::Nearest };
        let (u_encoding, v_encoding) = (encoding(), Encoding::new(0.005, 3.0, -1).unwrap());
        let (mut u, mut v) = (Vec::new(), Vec::new());
        for row in 0..grid.rows() {
            for column in 0..grid.columns() {
                let turn = grid.wind_rotation(row, column).unwrap().inverse();
                let (along_x, along_y) = turn.apply(10.0, -5.0);
                u.push(u_encoding.encode(along_x));
                v.push(v_encoding.encode(along_y));
            }
        }
        let plan = TilePlan::new(grid, address, sampling);
        let columns = grid.columns();
        let (u, v) = (part(&plan, columns, &u), part(&plan, columns, &v));
        let mut tile = vec![1; PIXELS];
        for (component, encoding, wanted) in
            [(WindComponent::U, u_encoding, 10.0), (WindComponent::V, v_encoding, -5.0)]
        {
            plan.sample_wind((&u, u_encoding), (&v, v_encoding), component, &mut tile).unwrap();
            for (pixel, &raw) in tile.iter().enumerate() {
                let value = encoding.decode(raw);
                prop_assert!(value.is_nan() || (value - wanted).abs() < 0.015, "{pixel}: {value}");
                let on_the_grid = match sampling {
                    TileSampling::Nearest => grid.nearest(at(address, pixel)).is_ok(),
                    TileSampling::Bilinear => plan.cells[pixel] != OUTSIDE,
                };
                prop_assert_eq!(value.is_nan(), !on_the_grid);
            }
        }
    }
}

#[test]
fn addresses_beyond_their_zoom_are_refused() {
    assert!(TileAddress::new(0, 0, 0).is_ok() && TileAddress::new(22, 4_194_303, 0).is_ok());
    for (z, x, y) in [(0, 1, 0), (0, 0, 1), (23, 0, 0), (5, 32, 0), (u32::MAX, 0, 0)] {
        assert_eq!(TileAddress::new(z, x, y), Err(TileError::Address { z, x, y }));
    }
}

#[test]
fn pixels_lie_where_web_mercator_has_them() {
    let whole = TileAddress::new(0, 0, 0).unwrap();
    assert_eq!((whole.lon(0), whole.lon(255)), (-179.296875, 179.296875));
    assert!((whole.lat(0) + whole.lat(255)).abs() < 1e-12);
    // The first and last row of the whole map, half a pixel from its edge at 85.0511°.
    assert!((whole.lat(0) - 84.990_1).abs() < 1e-3, "{}", whole.lat(0));
}

#[test]
fn a_tile_outside_the_grid_is_all_nodata() {
    let paris = TileAddress::new(6, 32, 22).unwrap();
    for sampling in [TileSampling::Nearest, TileSampling::Bilinear] {
        let plan = TilePlan::new(&lambert(), paris, sampling);
        assert_eq!((plan.rows(), plan.columns()), (0..0, 0..0));
        let mut tile = vec![1; PIXELS];
        plan.sample(&[], encoding(), &mut tile).unwrap();
        assert!(tile.iter().all(|&raw| raw == NODATA));
        tile.fill(1);
        let nothing = (&[][..], encoding());
        plan.sample_wind(nothing, nothing, WindComponent::U, &mut tile).unwrap();
        assert!(tile.iter().all(|&raw| raw == NODATA));
    }
}

#[test]
fn buffers_that_do_not_fit_are_refused() {
    let plan = TilePlan::new(&global(), TileAddress::new(0, 0, 0).unwrap(), TileSampling::Nearest);
    let cells = vec![0; plan.rows().len() * plan.columns().len()];
    let mut tile = vec![7; PIXELS];
    let error = plan.sample(&cells[1..], encoding(), &mut tile).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!("the part of the grid has {} cells; got {}", cells.len(), cells.len() - 1)
    );
    let error = plan.sample(&cells, encoding(), &mut tile[1..]).unwrap_err();
    assert_eq!(error.to_string(), "a tile has 65536 pixels; got room for 65535");
    assert!(tile.iter().all(|&raw| raw == 7));
}

#[test]
fn values_go_on_across_the_antimeridian_and_the_seam_of_the_columns() {
    // The cosine of the longitude, which has no seam.
    for (grid, z, y) in [(global(), 2, 1), (across_the_antimeridian(), 3, 2)] {
        let mut field = Vec::new();
        for row in 0..grid.rows() {
            for column in 0..grid.columns() {
                let lon = grid.position(row, column).unwrap().lon();
                field.push((10_000.0 * lon.to_radians().cos()).round() as i16);
            }
        }
        let mut found = 0;
        for x in 0..1_u32 << z {
            let address = TileAddress::new(z, x, y).unwrap();
            let tile = tile(&grid, address, TileSampling::Bilinear, &field);
            for (pixel, &raw) in tile.iter().enumerate() {
                let (lon, lat) = (at(address, pixel).lon(), at(address, pixel).lat());
                let inside =
                    grid.goes_round() || lon.abs() >= 170.0 && (40.0..=60.0).contains(&lat);
                assert_eq!(raw != NODATA, inside, "{lon} {lat}");
                if inside {
                    let wanted = 10_000.0 * lon.to_radians().cos();
                    assert!((f64::from(raw) - wanted).abs() < 5.0, "{lon} {lat}: {raw} {wanted}");
                    found += 1;
                }
            }
        }
        // All around; or 114 columns, half of them on the first tile and half on the last, and 173 rows.
        assert_eq!(found, if z == 2 { 4 * PIXELS } else { 114 * 173 });
    }
}

#[test]
fn the_rows_around_a_pole_are_whole() {
    let grid = polar();
    let field = vec![5; grid.cells()];
    for x in 0..8 {
        let address = TileAddress::new(3, x, 0).unwrap();
        let tile = tile(&grid, address, TileSampling::Bilinear, &field);
        assert!(tile.iter().all(|&raw| raw == 5), "{x}");
    }
}

#[test]
fn one_row_or_column_is_a_grid_too() {
    let grid = lat_lon((1, 40.0, 1.0), (1, 0.0, 1.0));
    let address = TileAddress::new(6, 32, 24).unwrap();
    let tile_of = |sampling| tile(&grid, address, sampling, &[9]);
    assert!(tile_of(TileSampling::Nearest).contains(&9));
    assert!(tile_of(TileSampling::Bilinear).iter().all(|&raw| raw == NODATA));
}
