//! The store that this bench and those of other readers read, on the grid of NOAA's HRRR:
//! temperature at 19 levels of one hour, and near the ground over 25 hours. The values are
//! generated.

use std::path::Path;

use mesonet::grid::{Encoding, GridProjection, Projection};
use mesonet::model::{ProductDefinition, RunDefinition};
use mesonet::time::HOUR_MS;
use mesonet::{grid, model};

pub const ROWS: usize = 1059;
pub const COLUMNS: usize = 1799;
pub const LEVELS: usize = 19;
pub const HOURS: usize = 25;

pub fn hrrr() -> grid::Definition {
    grid::Definition {
        rows: ROWS,
        columns: COLUMNS,
        projection: GridProjection::Map(Projection::LambertConformal {
            radius_m: 6_371_229.0,
            origin_lat: 38.5,
            central_lon: 262.5,
            parallels: [38.5, 38.5],
        }),
        first_lon: 237.280472,
        first_lat: 21.138123,
        column_step: 3000.0,
        row_step: 3000.0,
        grid_relative_winds: true,
    }
}

pub fn encoding() -> Encoding {
    Encoding::new(0.01, 273.15, i16::MIN).unwrap()
}

/// Returns the run in `MESONET_BENCH_STORE`, where it is left for others to read, or in the given
/// folder; it is written if it does not exist.
pub fn run(temporary: &Path) -> (model::RunStore, model::Run) {
    let kept = std::env::var_os("MESONET_BENCH_STORE");
    let store = fill(kept.as_ref().map_or(temporary, Path::new));
    let run = store.newest_run("bench").unwrap();
    // Every page and every chunk is read once before anything is timed.
    assert_eq!(run.verify(), []);
    let mut whole = vec![0; ROWS * COLUMNS];
    for (product, hours) in [("t2", HOURS), ("t", 1)] {
        for hour in 0..hours {
            let product = run.product(product).unwrap();
            product.part_into(hour, 0, 0..ROWS, 0..COLUMNS, &mut whole).unwrap();
        }
    }
    (store, run)
}

/// A small xorshift generator: the same cells in every run.
pub struct Cells(u64);

impl Cells {
    pub fn new() -> Self {
        Self(0x9e37_79b9_7f4a_7c15)
    }

    pub fn next(&mut self) -> (usize, usize) {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 as usize % ROWS, (self.0 >> 32) as usize % COLUMNS)
    }
}

/// A slope with noise, in tenths of a kelvin, as a field of HRRR is.
fn plane(seed: usize) -> Vec<i16> {
    let value = |cell: usize| {
        let (row, column) = (cell / COLUMNS, cell % COLUMNS);
        let noise = ((cell + seed) as u32).wrapping_mul(2_654_435_761) >> 28;
        let tenths = ((3 * row + 2 * column) / 16 + 31 * seed + noise as usize) % 600;
        (tenths as i16 - 300) * 10
    };
    (0..ROWS * COLUMNS).map(value).collect()
}

fn fill(folder: &Path) -> model::RunStore {
    let store = model::RunStore::new(folder);
    let product = |name: &str, levels_hpa| ProductDefinition {
        name: name.to_owned(),
        unit: "K".to_owned(),
        levels_hpa,
        member: None,
        attributes: std::collections::BTreeMap::new(),
        encoding: encoding(),
    };
    let levels_hpa = (0..LEVELS).map(|level| 1000.0 - 50.0 * level as f64).collect();
    let mut writer = store
        .write_run(RunDefinition {
            model: "bench".to_owned(),
            run: "20230722T060000Z".parse().unwrap(),
            grid: hrrr(),
            valid_ms: (0..HOURS).map(|hour| hour as i64 * HOUR_MS).collect(),
            products: vec![product("t", Some(levels_hpa)), product("t2", None)],
        })
        .unwrap();
    let all: Vec<usize> = (writer.published().len()..HOURS).collect();
    for &hour in &all {
        if hour == 0 {
            let levels: Vec<i16> = (0..LEVELS).flat_map(plane).collect();
            writer.write(0, "t", &levels).unwrap();
        }
        writer.write(hour, "t2", &plane(hour)).unwrap();
    }
    if !all.is_empty() {
        writer.publish(&all, 0).unwrap();
    }
    store
}
