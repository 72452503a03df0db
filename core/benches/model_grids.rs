//! Model grids: columns, series and parts of a store on disk, positions and rotations of a grid, and
//! tiles, all on the grid of NOAA's HRRR. The values are generated.
//!
//! `benches/peers/model_store` runs other readers on the same store.

mod model_store;

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use mesonet::grid::{
    GridProjection, LatLonGlobe, NativeGrid, TileAddress, TilePlan, TileSampling, WindComponent,
};
use mesonet::{LonLat, grid};
use model_store::{COLUMNS, Cells, HOURS, LEVELS, ROWS, encoding, hrrr};

fn hrdps() -> grid::Definition {
    grid::Definition {
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

fn store(c: &mut Criterion) {
    let temporary = tempfile::tempdir().unwrap();
    let (store, run) = model_store::run(temporary.path());
    let (t, t2) = (run.product("t").unwrap(), run.product("t2").unwrap());
    let mut whole = vec![0; ROWS * COLUMNS];

    let mut group = c.benchmark_group("grid store");
    let mut cells = Cells::new();
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
