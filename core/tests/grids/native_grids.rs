//! Compares native grids of real models with what others compute for them; `tests/data/model_grids`
//! says who.

use std::collections::BTreeMap;

use mesonet::grid::{GridProjection, LatLonGlobe, NativeGrid, Projection};
use mesonet::{LonLat, grid};
use serde::Deserialize;

#[derive(Deserialize)]
struct Golden {
    grids: BTreeMap<String, grid::Definition>,
    wind_rotation: Vec<Turn>,
    locate: Locate,
    pyproj: Vec<Pyproj>,
}

#[derive(Deserialize)]
struct Turn {
    grid: String,
    row: usize,
    col: usize,
    lat: f64,
    lon: f64,
    cos: f64,
    sin: f64,
}

#[derive(Deserialize)]
struct Locate {
    grid: String,
    points: Vec<Place>,
}

#[derive(Deserialize)]
struct Place {
    lat: f64,
    lon: f64,
    row: f64,
    col: f64,
}

#[derive(Deserialize)]
struct Pyproj {
    name: String,
    definition: GridProjection,
    points: Vec<[f64; 4]>,
}

fn golden() -> Golden {
    serde_json::from_str(include_str!("../../../tests/data/model_grids/golden.json")).unwrap()
}

fn grids() -> BTreeMap<String, NativeGrid> {
    let grids = golden().grids.into_iter();
    grids.map(|(name, definition)| (name, NativeGrid::new(definition).unwrap())).collect()
}

#[track_caller]
fn near(got: f64, wanted: f64, tolerance: f64, what: &str) {
    assert!((got - wanted).abs() <= tolerance, "{what}: {got}, not {wanted}");
}

#[test]
fn cells_lie_and_winds_turn_as_the_library_of_ncep_has_it() {
    let (golden, grids) = (golden(), grids());
    assert_eq!(golden.wind_rotation.len(), 14);
    for Turn { grid: name, row, col, lat, lon, cos, sin } in golden.wind_rotation {
        let grid = &grids[&name];
        let position = grid.position(row, col).unwrap();
        let what = format!("{name} {row} {col}");
        near(position.lat(), lat, 1e-9, &what);
        near(position.lon(), lon, 1e-9, &what);
        let rotation = grid.wind_rotation(row, col).unwrap();
        near(rotation.cos, cos, 1e-9, &what);
        near(rotation.sin, sin, 1e-9, &what);
        assert_eq!(grid.nearest(position), Ok((row, col)));
    }
}

#[test]
fn positions_are_on_the_rows_and_columns_that_they_should_be() {
    let (golden, grids) = (golden(), grids());
    let grid = &grids[&golden.locate.grid];
    assert_eq!(golden.locate.points.len(), 4);
    for place in golden.locate.points {
        let (row, column) = grid.locate(LonLat::new(place.lon, place.lat).unwrap());
        near(row, place.row, 1e-9, "row");
        near(column, place.col, 1e-9, "column");
    }
}

#[test]
fn projections_agree_with_proj() {
    let cases = golden().pyproj;
    assert_eq!(cases.len(), 8);
    for case in cases {
        assert_eq!(case.points.len(), 40);
        for [lon, lat, x, y] in case.points {
            let what = format!("{} at {lon} {lat}", case.name);
            if let GridProjection::Map(projection) = case.definition {
                let got = projection.forward(lon, lat);
                near(got.0, x, 1e-6 * (1.0 + x.abs() * 1e-6), &what);
                near(got.1, y, 1e-6 * (1.0 + y.abs() * 1e-6), &what);
                let back = projection.inverse(x, y);
                near(back.0, lon, 1e-9, &what);
                near(back.1, lat, 1e-9, &what);
                continue;
            }
            let grid = NativeGrid::new(grid::Definition {
                rows: 1,
                columns: 1,
                projection: case.definition,
                first_lon: 0.0,
                first_lat: 0.0,
                column_step: 1.0,
                row_step: 1.0,
                grid_relative_winds: true,
            });
            let (row, column) = grid.unwrap().locate(LonLat::new(lon, lat).unwrap());
            near(column, x, 1e-9, &what);
            near(row, y, 1e-9, &what);
        }
    }
}

/// Computes the turn of a grid's axes by differences of the positions of the columns on either
/// side, for every cell of every grid.
#[test]
fn rotations_are_those_of_the_axes_on_the_globe() {
    for (name, grid) in grids() {
        let mut definition = *grid.definition();
        definition.grid_relative_winds = true;
        let grid = NativeGrid::new(definition).unwrap();
        let (cells, columns) = (grid.cells(), grid.columns());
        let (mut cos, mut sin) = (vec![0.0; cells], vec![0.0; cells]);
        let (mut lon, mut lat) = (vec![0.0; cells], vec![0.0; cells]);
        grid.wind_rotations_into(&mut cos, &mut sin).unwrap();
        grid.positions_into(&mut lon, &mut lat).unwrap();
        let (mut compared, mut total) = (0, 0.0);
        for cell in 0..cells {
            let column = cell % columns;
            if column == 0 || column + 1 == columns || lat[cell].abs() > 89.9 {
                continue;
            }
            let (before, after) = (cell - 1, cell + 1);
            let east = (lon[after] - lon[before] + 540.0).rem_euclid(360.0) - 180.0;
            let east = east * lat[cell].to_radians().cos();
            let north = lat[after] - lat[before];
            let length = east.hypot(north);
            // The x axis points to (cos α, −sin α); the chord across two columns is not quite its
            // tangent, and less so near the pole.
            let off = (cos[cell] - east / length).abs().max((sin[cell] + north / length).abs());
            let allowed = 1e-6 + (length / (90.0 - lat[cell].abs())).powi(2);
            assert!(
                off < allowed,
                "{name} at {lon:?} {lat:?}: {off}",
                lon = lon[cell],
                lat = lat[cell]
            );
            compared += 1;
            total += off;
        }
        assert!(compared > cells * 9 / 10, "{name}: {compared} of {cells}");
        assert!(total / compared as f64 <= 1e-4, "{name}: {}", total / compared as f64);
    }
}

#[test]
fn a_definition_reads_as_it_is_written() {
    for (name, definition) in golden().grids {
        let text = serde_json::to_string(&definition).unwrap();
        assert_eq!(serde_json::from_str::<grid::Definition>(&text).unwrap(), definition, "{name}");
    }
    let turned = GridProjection::Globe(LatLonGlobe::RotatedLatLon {
        south_pole_lat: -36.08852,
        south_pole_lon: 245.305142,
    });
    assert_eq!(
        serde_json::to_string(&turned).unwrap(),
        r#"{"projection":"rotated_lat_lon","south_pole_lat":-36.08852,"south_pole_lon":245.305142}"#
    );
    let polar = GridProjection::Map(Projection::PolarStereographic {
        radius_m: 6371229.0,
        south: true,
        central_lon: 28.0,
        true_lat: -60.0,
    });
    assert_eq!(
        serde_json::to_string(&polar).unwrap(),
        "{\"projection\":\"polar_stereographic\",\"radius_m\":6371229.0,\"south\":true,\
         \"central_lon\":28.0,\"true_lat\":-60.0}"
    );
}

#[cfg(feature = "grib")]
#[test]
fn fields_of_real_files_lie_on_these_grids() {
    use std::io::Read;
    let golden = golden().grids;
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/data/grib");
    for (name, file) in [
        ("HRRR", "hrrr_20240101T00Z_f000_refc.grib2.gz"),
        ("NAM211", "nam211_20180917T00Z_f000.grib2.gz"),
        ("HRDPS", "hrdps_20260219T00Z_f000_cape.grib2.gz"),
        ("safrica", "safrica_20100308T12Z_f000_ps.grib2.gz"),
    ] {
        let mut bytes = Vec::new();
        let packed = std::fs::File::open(folder.join(file)).unwrap();
        flate2::read::GzDecoder::new(packed).read_to_end(&mut bytes).unwrap();
        let field = mesonet::grib::fields(&bytes).next().unwrap().unwrap();
        let grid = NativeGrid::try_from(&field.grid().unwrap()).unwrap();
        let (got, wanted) = (*grid.definition(), golden[name]);
        // The steps of a message are rounded to millionths of a degree, those implied by its ends
        // are not.
        near(got.column_step, wanted.column_step, 2e-9, name);
        near(got.row_step, wanted.row_step, 2e-9, name);
        near(got.first_lon, wanted.first_lon, 1e-9, name);
        let grid::Definition { column_step, row_step, first_lon, .. } = wanted;
        assert_eq!(grid::Definition { column_step, row_step, first_lon, ..got }, wanted, "{name}");
    }
}
