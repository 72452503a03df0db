//! Model grids: columns, series and parts of a store on disk, positions and rotations of a grid, and
//! tiles, all on the grid of NOAA's HRRR. The values are generated.
//!
//! `MESONET_BENCH_STORE=FOLDER` writes the store there and leaves it, for
//! `benches/peers/model_store.py`.

use std::hint::black_box;
use std::path::Path;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use mesonet::{
    Encoding, GridDefinition, GridProjection, GridStore, HOUR_MS, LatLonGlobe, LonLat, NativeGrid,
    ProductDefinition, Projection, RunDefinition, TileAddress, TilePlan, TileSampling,
    WindComponent,
};

const ROWS: usize = 1059;
const COLUMNS: usize = 1799;
const LEVELS: usize = 19;
const HOURS: usize = 25;

fn hrrr() -> GridDefinition {
    GridDefinition {
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

fn hrdps() -> GridDefinition {
    GridDefinition {
        rows: 1290,
        columns: 2540,
        projection: GridProjection::Globe(LatLonGlobe::RotatedLatLon {
            south_pole_lat: -36.08852,
            south_pole_lon: 245.305142,
        }),
        first_lon: 345.17878,
        first_lat: -12.302501,
        column_step: 0.0225,
        row_step: 0.0225,
        grid_relative_winds: true,
    }
}

fn encoding() -> Encoding {
    Encoding::new(0.01, 273.15, i16::MIN).unwrap()
}

/// A small xorshift generator: the same cells in every run.
struct Cells(u64);

impl Cells {
    fn next(&mut self) -> (usize, usize) {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 as usize % ROWS, (self.0 >> 32) as usize % COLUMNS)
    }
}

fn plane(seed: usize) -> Vec<i16> {
    (0..ROWS * COLUMNS).map(|cell| ((cell / 7 + seed * 31) % 6000) as i16 - 3000).collect()
}

/// Temperature at 19 levels of one hour, and near the ground over 25 hours.
fn fill(folder: &Path) -> GridStore {
    let store = GridStore::new(folder);
    let product = |name: &str, levels_hpa| ProductDefinition {
        name: name.to_owned(),
        unit: "K".to_owned(),
        levels_hpa,
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

fn store(c: &mut Criterion) {
    let temporary = tempfile::tempdir().unwrap();
    let kept = std::env::var_os("MESONET_BENCH_STORE");
    let store = fill(kept.as_ref().map_or(temporary.path(), Path::new));
    let run = store.newest_run("bench").unwrap();
    // Every page and every chunk is read once before anything is timed.
    assert_eq!(run.verify(), []);
    let (t, t2) = (run.product("t").unwrap(), run.product("t2").unwrap());
    let mut whole = vec![0; ROWS * COLUMNS];
    for hour in 0..HOURS {
        t2.part_into(hour, 0, 0..ROWS, 0..COLUMNS, &mut whole).unwrap();
    }
    t.part_into(0, 0, 0..ROWS, 0..COLUMNS, &mut whole).unwrap();

    let mut group = c.benchmark_group("grid store");
    let mut cells = Cells(0x9e37_79b9_7f4a_7c15);
    let mut column_values = [0.0; LEVELS];
    group.bench_function("column of 19 levels", |b| {
        b.iter(|| {
            let (row, column) = cells.next();
            t.column_into(0, row, column, &mut column_values).unwrap();
            black_box(column_values[LEVELS - 1])
        });
    });
    let mut series = [0.0; HOURS];
    group.bench_function("series of 25 hours", |b| {
        b.iter(|| {
            let (row, column) = cells.next();
            t2.series_into(0..HOURS, 0, row, column, &mut series).unwrap();
            black_box(series[HOURS - 1])
        });
    });
    group.bench_function("one value", |b| {
        b.iter(|| {
            let (row, column) = cells.next();
            black_box(t2.value(3, 0, row, column).unwrap())
        });
    });
    group.bench_function("part of 340 x 360 cells", |b| {
        let part = &mut whole[..340 * 360];
        b.iter(|| t2.part_into(3, 0, 287..627, 781..1141, part).unwrap());
    });
    group.bench_function("whole level", |b| {
        b.iter(|| t2.part_into(3, 0, 0..ROWS, 0..COLUMNS, &mut whole).unwrap());
    });
    group.bench_function("opening a run", |b| b.iter(|| store.newest_run("bench").unwrap()));
    group.finish();
}

fn native_grid(c: &mut Criterion) {
    let grid = NativeGrid::new(hrrr()).unwrap();
    let mut group = c.benchmark_group("native grid");
    let boulder = LonLat::new(-105.2705, 40.015).unwrap();
    group.bench_function("cell of a position", |b| {
        b.iter(|| grid.nearest(black_box(boulder)).unwrap());
    });
    group.bench_function("position of a cell", |b| {
        b.iter(|| grid.position(black_box(595), 679).unwrap());
    });
    group.bench_function("rotation of a cell", |b| {
        b.iter(|| grid.wind_rotation(black_box(595), 679).unwrap());
    });
    let cells = grid.cells();
    let (mut first, mut second) = (vec![0.0; cells], vec![0.0; cells]);
    group.throughput(Throughput::Elements(cells as u64)).sample_size(10);
    group.bench_function("rotations of all cells", |b| {
        b.iter(|| grid.wind_rotations_into(&mut first, &mut second).unwrap());
    });
    group.bench_function("positions of all cells", |b| {
        b.iter(|| grid.positions_into(&mut first, &mut second).unwrap());
    });
    group.finish();
}

fn tiles(c: &mut Criterion) {
    let mut group = c.benchmark_group("tile");
    let mut tile = vec![0_i16; 256 * 256];
    for (name, definition) in [("Lambert", hrrr()), ("rotated", hrdps())] {
        let grid = NativeGrid::new(definition).unwrap();
        for (z, x, y) in [(2, 0, 1), (5, 7, 12), (8, 56, 98)] {
            let address = TileAddress::new(z, x, y).unwrap();
            for sampling in [TileSampling::Nearest, TileSampling::Bilinear] {
                let plan = TilePlan::new(&grid, address, sampling);
                let cells: Vec<i16> = (0..plan.rows().len() * plan.columns().len())
                    .map(|cell| (cell % 6000) as i16)
                    .collect();
                let name = format!("{name} {z}/{x}/{y} {sampling:?}");
                group.bench_function(format!("{name}, plan and pixels"), |b| {
                    b.iter(|| {
                        let plan = TilePlan::new(&grid, address, sampling);
                        plan.sample(&cells, encoding(), &mut tile).unwrap();
                    });
                });
                group.bench_function(format!("{name}, wind, plan and pixels"), |b| {
                    let wind = (&cells[..], encoding());
                    b.iter(|| {
                        let plan = TilePlan::new(&grid, address, sampling);
                        plan.sample_wind(wind, wind, WindComponent::U, &mut tile).unwrap();
                    });
                });
            }
        }
    }
    group.finish();
}

criterion_group!(benches, store, native_grid, tiles);
criterion_main!(benches);
