//! Compares a tile of a real field with pixels that were computed elsewhere:
//! `tests/data/model_grids`.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use flate2::read::GzDecoder;
use mesonet::grid;
use mesonet::grid::{Encoding, NativeGrid, TileAddress, TilePlan, TileSampling};
use serde::Deserialize;

#[derive(Deserialize)]
struct Golden {
    grids: BTreeMap<String, grid::Definition>,
    tile: Tile,
}

#[derive(Deserialize)]
struct Tile {
    z: u32,
    x: u32,
    y: u32,
    pixels: Vec<Pixel>,
}

#[derive(Deserialize)]
struct Pixel {
    px_row: usize,
    px_col: usize,
    lat: f64,
    lon: f64,
    nearest: f64,
    bilinear: f64,
    raw_nearest: i16,
    raw_bilinear: i16,
}

/// The part of the grid that is in the file.
const ROWS: std::ops::Range<usize> = 280..640;
const COLUMNS: std::ops::Range<usize> = 780..1140;

fn field() -> Vec<f64> {
    let name = "hrrr_20230722T07Z_tmp_rows280-640_columns780-1140.f32.gz";
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/data/model_grids").join(name);
    let mut bytes = Vec::new();
    GzDecoder::new(File::open(path).unwrap()).read_to_end(&mut bytes).unwrap();
    let (values, []) = bytes.as_chunks::<4>() else { panic!("{} bytes", bytes.len()) };
    assert_eq!(values.len(), ROWS.len() * COLUMNS.len());
    values.iter().map(|&bytes| f32::from_le_bytes(bytes).into()).collect()
}

/// Returns the tile from cells in a given packing.
fn tile(
    address: TileAddress,
    grid: &NativeGrid,
    sampling: TileSampling,
    packing: Encoding,
) -> Vec<i16> {
    let plan = TilePlan::new(grid, address, sampling);
    let field = field();
    let mut cells = Vec::new();
    for row in plan.rows() {
        for column in plan.columns() {
            assert!(ROWS.contains(&row) && COLUMNS.contains(&column));
            let at = (row - ROWS.start) * COLUMNS.len() + column - COLUMNS.start;
            cells.push(packing.encode(field[at]));
        }
    }
    let mut tile = vec![0; 256 * 256];
    plan.sample(&cells, packing, &mut tile).unwrap();
    assert!(!tile.contains(&i16::MIN));
    tile
}

#[test]
fn the_pixels_of_a_tile_are_those_that_were_computed() {
    let golden: Golden =
        serde_json::from_str(include_str!("../../../tests/data/model_grids/golden.json")).unwrap();
    let grid = NativeGrid::new(golden.grids["HRRR"]).unwrap();
    let address = TileAddress::new(golden.tile.z, golden.tile.x, golden.tile.y).unwrap();
    assert_eq!(golden.tile.pixels.len(), 4);
    let coarse = Encoding::new(0.01, 273.15, i16::MIN).unwrap();
    // The field was sent in steps of 1/16 K: in 64ths of them, relative to one of its values, it is
    // exact.
    let exact = Encoding::new(0.0625 / 64.0, 290.6122741699219, i16::MIN).unwrap();
    for sampling in [TileSampling::Nearest, TileSampling::Bilinear] {
        let (packed, unpacked) =
            (tile(address, &grid, sampling, coarse), tile(address, &grid, sampling, exact));
        for pixel in &golden.tile.pixels {
            assert!((address.lon(pixel.px_col) - pixel.lon).abs() < 1e-9);
            assert!((address.lat(pixel.px_row) - pixel.lat).abs() < 1e-9);
            let at = pixel.px_row * 256 + pixel.px_col;
            // Between cells rounded to a unit, the pixel may be off by a unit.
            let (raw, value, units) = match sampling {
                TileSampling::Nearest => (pixel.raw_nearest, pixel.nearest, 0),
                TileSampling::Bilinear => (pixel.raw_bilinear, pixel.bilinear, 1),
            };
            assert!((packed[at] - raw).abs() <= units, "{sampling:?} {at}: {}", packed[at]);
            let got = exact.decode(unpacked[at]);
            assert!((got - value).abs() < 5e-4, "{sampling:?} {at}: {got}");
        }
    }
}
