use std::path::Path;

use super::*;
use crate::grid;
use crate::grid::{Encoding, GridProjection, Projection};
use crate::model::{ProductDefinition, RunDefinition, RunStore};

/// NAM on grid 211 with the first of two hours published: see `tests/data/model_grids`.
fn nam() -> Run {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/data/model_grids/store");
    RunStore::new(folder).newest_run("nam211").unwrap()
}

fn query(product: &str, level: usize, z: u32, x: u32, y: u32) -> TileQuery<'_> {
    TileQuery {
        hour: 0,
        product,
        level,
        member: None,
        address: TileAddress::new(z, x, y).unwrap(),
        sampling: TileSampling::Nearest,
        wind: None,
    }
}

/// A run of one hour with both components of a wind along the axes of a polar grid.
fn winds(model: &str, side: usize, step_m: f64) -> RunDefinition {
    let component = |name: &str| ProductDefinition {
        name: name.to_owned(),
        unit: "m/s".to_owned(),
        levels_hpa: None,
        member: None,
        attributes: std::collections::BTreeMap::new(),
        encoding: Encoding::new(0.01, 0.0, i16::MIN).unwrap(),
    };
    RunDefinition {
        model: model.to_owned(),
        run: "20240101T000000Z".parse().unwrap(),
        grid: grid::Definition {
            rows: side,
            columns: side,
            projection: GridProjection::Map(Projection::PolarStereographic {
                radius_m: 6_371_229.0,
                south: false,
                central_lon: -100.0,
                true_lat: 60.0,
            }),
            first_lon: -120.0,
            first_lat: 40.0,
            column_step: step_m,
            row_step: step_m,
            grid_relative_winds: true,
        },
        valid_ms: vec![1_704_067_200_000],
        products: ["u", "v"].map(component).to_vec(),
    }
}

#[test]
fn a_pixel_is_the_value_of_the_cell_that_it_lies_in() {
    let run = nam();
    let query = query("prmsl", 0, 3, 1, 3);
    let tile = tile(&run, &query).unwrap();
    let product = run.product("prmsl").unwrap();
    let mut compared = 0;
    for (pixel, &raw) in tile.iter().enumerate() {
        let (lon, lat) = (query.address.lon(pixel % 256), query.address.lat(pixel / 256));
        let Ok((row, column)) = run.grid().nearest(crate::LonLat::new(lon, lat).unwrap()) else {
            assert_eq!(raw, i16::MIN);
            continue;
        };
        let value = product.value(0, 0, row, column).unwrap().unwrap();
        assert_eq!(product.definition().encoding.decode(raw), value, "{pixel}");
        compared += 1;
    }
    assert!(compared > 10_000, "{compared}");
}

#[test]
fn a_component_of_the_wind_is_turned_and_any_other_field_is_not() {
    let run = nam();
    let plain = query("u", 1, 3, 1, 3);
    let wind = |component| {
        let wind = Some((component, ["u", "v"]));
        let product = if component == WindComponent::U { "u" } else { "v" };
        tile(&run, &TileQuery { product, wind, ..plain }).unwrap()
    };
    let (u_true, v_true) = (wind(WindComponent::U), wind(WindComponent::V));
    let [u, v] = ["u", "v"].map(|product| tile(&run, &TileQuery { product, ..plain }).unwrap());
    let mut turned = 0;
    for pixel in (0..256 * 256).step_by(97) {
        let (lon, lat) = (plain.address.lon(pixel % 256), plain.address.lat(pixel / 256));
        let Ok((row, column)) = run.grid().nearest(crate::LonLat::new(lon, lat).unwrap()) else {
            continue;
        };
        let rotation = run.grid().wind_rotation(row, column).unwrap();
        let decode = |raw: i16| f64::from(raw) * 0.01;
        let (east, north) = rotation.apply(decode(u[pixel]), decode(v[pixel]));
        assert!((decode(u_true[pixel]) - east).abs() < 0.005_001, "{pixel}");
        assert!((decode(v_true[pixel]) - north).abs() < 0.005_001, "{pixel}");
        turned += usize::from(u_true[pixel] != u[pixel]);
    }
    assert!(turned > 100, "{turned}");
}

#[test]
fn what_the_run_does_not_have_is_refused_also_where_the_tile_is_empty() {
    let run = nam();
    // Over Africa.
    let outside = query("u", 0, 3, 4, 4);
    assert!(tile(&run, &outside).unwrap().iter().all(|&raw| raw == i16::MIN));
    let refused = |query: TileQuery<'_>| tile(&run, &query).unwrap_err().to_string();
    assert_eq!(
        refused(TileQuery { level: 2, ..outside }),
        "level 2 is out of range: it must be 0 to 1"
    );
    assert_eq!(
        refused(TileQuery { hour: 2, ..outside }),
        "hour 2 is out of range: it must be 0 to 1"
    );
    assert_eq!(
        refused(TileQuery { hour: 1, ..outside }),
        "hour 1 of run 20180917T000000Z is not published yet; published hours: 0"
    );
    assert_eq!(
        refused(TileQuery { product: "w", ..outside }),
        "unknown product \"w\" of model \"nam211\"; known are prmsl, u, v"
    );
}

#[test]
fn a_component_without_the_other_has_no_true_direction_and_so_no_value() {
    let folder = tempfile::tempdir().unwrap();
    let store = RunStore::new(folder.path());
    let definition = winds("half", 20, 200_000.0);
    let mut writer = store.write_run(definition).unwrap();
    writer.write(0, "u", &[1000; 400]).unwrap();
    writer.publish(&[0], 0).unwrap();
    let run = store.newest_run("half").unwrap();
    assert!(run.has("u", 0) && !run.has("v", 0) && !run.has("w", 0));
    let query = query("u", 0, 1, 0, 0);
    let filled = |query: &TileQuery<'_>| {
        tile(&run, query).unwrap().iter().filter(|&&raw| raw != i16::MIN).count()
    };
    assert!(filled(&query) > 1000);
    for other in ["v", "gone"] {
        let wind = Some((WindComponent::U, ["u", other]));
        assert_eq!(filled(&TileQuery { wind, ..query }), 0);
    }
}

/// A tile of a whole large grid is read cell by cell, with the same result as from a copy.
#[test]
fn a_tile_of_a_large_grid_is_the_one_that_a_copy_of_it_gives() {
    let folder = tempfile::tempdir().unwrap();
    let store = RunStore::new(folder.path());
    let definition = winds("large", 2_100, 2_000.0);
    let (rows, columns) = (definition.grid.rows, definition.grid.columns);
    let packing = definition.products[0].encoding;
    let field = |seed: usize| -> Vec<i16> {
        (0..rows * columns).map(|cell| ((cell / 11 + seed * cell / 7) % 4000) as i16).collect()
    };
    let (u, v) = (field(1), field(3));
    let mut writer = store.write_run(definition).unwrap();
    writer.write(0, "u", &u).unwrap();
    writer.write(0, "v", &v).unwrap();
    writer.publish(&[0], 0).unwrap();
    let run = store.newest_run("large").unwrap();
    let address = TileAddress::new(1, 0, 0).unwrap();
    for sampling in [TileSampling::Nearest, TileSampling::Bilinear] {
        let plan = TilePlan::new(run.grid(), address, sampling);
        assert!(plan.cells() > MAX_PART, "{}", plan.cells());
        let within = |cells: &[i16]| -> Vec<i16> {
            let rows = plan.rows().map(|row| row * columns);
            rows.flat_map(|from| &cells[from..][plan.columns()]).copied().collect()
        };
        let wind = Some((WindComponent::V, ["u", "v"]));
        for wind in [None, wind] {
            let query = TileQuery { address, sampling, wind, ..query("v", 0, 0, 0, 0) };
            let mut copied = vec![0; 256 * 256];
            match wind {
                None => plan.sample(&within(&v), packing, &mut copied).unwrap(),
                Some((component, _)) => {
                    let (u, v) = (within(&u), within(&v));
                    plan.sample_wind((&u, packing), (&v, packing), component, &mut copied).unwrap();
                }
            }
            assert!(tile(&run, &query).unwrap() == copied, "{sampling:?} {wind:?}");
        }
    }
    // Damage is reported: here every chunk is damaged.
    let shard = folder.path().join("large/20240101T000000Z/v/c/0/0/0");
    let mut bytes = std::fs::read(&shard).unwrap();
    let index = bytes.len() - 33 * 33 * 16 - 4;
    for chunk in 0..33 * 33 {
        let start = bytes[index + chunk * 16..].first_chunk().copied().map(u64::from_le_bytes);
        bytes[start.unwrap() as usize + 40] ^= 1;
    }
    std::fs::write(&shard, bytes).unwrap();
    let run = store.newest_run("large").unwrap();
    for wind in [None, Some((WindComponent::U, ["u", "v"]))] {
        let query = TileQuery { address, wind, ..query("v", 0, 0, 0, 0) };
        let error = tile(&run, &query).unwrap_err().to_string();
        assert!(error.contains("is damaged"), "{error}");
    }
}

/// Level 0 of one may be 850 hPa and that of the other 500 hPa.
#[test]
fn components_on_different_levels_are_not_a_wind() {
    let folder = tempfile::tempdir().unwrap();
    let store = RunStore::new(folder.path());
    let mut definition = winds("levels", 20, 200_000.0);
    definition.products[0].levels_hpa = Some(vec![850.0, 500.0]);
    definition.products[1].levels_hpa = Some(vec![500.0, 250.0]);
    let mut writer = store.write_run(definition).unwrap();
    writer.write(0, "u", &[1000; 800]).unwrap();
    writer.write(0, "v", &[500; 800]).unwrap();
    writer.publish(&[0], 0).unwrap();
    let run = store.newest_run("levels").unwrap();
    let wind = Some((WindComponent::U, ["u", "v"]));
    let tile = tile(&run, &TileQuery { wind, ..query("u", 0, 1, 0, 0) }).unwrap();
    assert!(tile.iter().all(|&raw| raw == i16::MIN));
}
