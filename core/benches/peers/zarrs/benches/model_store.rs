//! Columns and series of one model store, read by this library and by zarrs, at the same cells in
//! the same run; `../../model_store` adds zarr and xarray.
//!
//! zarrs keeps the indexes of the shards, as this library does. It is timed as it comes, and again
//! on one thread and without checking the checksums of the chunks at every read, which this library
//! does once.

use std::hint::black_box;
use std::sync::Arc;

use criterion::{Criterion, criterion_group, criterion_main};
use model_store::{COLUMNS, Cells, HOURS, LEVELS, ROWS, encoding};
use zarrs::array::{
    Array, ArrayShardedReadableExt, ArrayShardedReadableExtCache, ArraySubset, CodecOptions,
};
use zarrs::filesystem::FilesystemStore;

#[path = "../../../model_store/mod.rs"]
mod model_store;

/// An array in zarrs with the indexes of its shards.
struct Zarrs {
    array: Array<FilesystemStore>,
    indexes: ArrayShardedReadableExtCache,
}

impl Zarrs {
    fn open(store: &Arc<FilesystemStore>, name: &str) -> Self {
        let array = Array::open(Arc::clone(store), &format!("/{name}")).unwrap();
        let indexes = ArrayShardedReadableExtCache::new(&array);
        Self { array, indexes }
    }

    fn read(&self, part: &ArraySubset, options: &CodecOptions) -> Vec<i16> {
        let read = self.array.retrieve_array_subset_sharded_opt(&self.indexes, part, options);
        read.unwrap()
    }
}

fn column((row, column): (usize, usize)) -> ArraySubset {
    let (row, column) = (row as u64, column as u64);
    ArraySubset::new_with_ranges(&[0..1, 0..LEVELS as u64, row..row + 1, column..column + 1])
}

fn series((row, column): (usize, usize)) -> ArraySubset {
    let (row, column) = (row as u64, column as u64);
    ArraySubset::new_with_ranges(&[0..HOURS as u64, row..row + 1, column..column + 1])
}

fn readers(c: &mut Criterion) {
    let temporary = tempfile::tempdir().unwrap();
    let (store, run) = model_store::run(temporary.path());
    let (t, t2) = (run.product("t").unwrap(), run.product("t2").unwrap());
    let folder = store.folder().join("bench/20230722T060000Z");
    let files = Arc::new(FilesystemStore::new(folder).unwrap());
    let (zarrs_t, zarrs_t2) = (Zarrs::open(&files, "t"), Zarrs::open(&files, "t2"));
    let as_it_comes = CodecOptions::default();
    let tuned = CodecOptions::default().with_concurrent_target(1).with_validate_checksums(false);

    // Both read the same values, including those at the corners.
    let mut cells = Cells::new();
    let corners = [(0, 0), (0, COLUMNS - 1), (ROWS - 1, 0), (ROWS - 1, COLUMNS - 1)];
    let (mut column_values, mut series_values) = ([0.0; LEVELS], [0.0; HOURS]);
    for cell in corners.into_iter().chain((0..200).map(|_| cells.next())) {
        t.column_into(0, cell.0, cell.1, &mut column_values).unwrap();
        t2.series_into(0..HOURS, 0, cell.0, cell.1, &mut series_values).unwrap();
        for options in [&as_it_comes, &tuned] {
            let decoded = |raw: Vec<i16>| -> Vec<f64> {
                raw.into_iter().map(|raw| encoding().decode(raw)).collect()
            };
            assert_eq!(decoded(zarrs_t.read(&column(cell), options)), column_values, "{cell:?}");
            assert_eq!(decoded(zarrs_t2.read(&series(cell), options)), series_values, "{cell:?}");
        }
    }

    let mut group = c.benchmark_group("column of 19 levels");
    let mut cells = Cells::new();
    group.bench_function("mesonet", |b| {
        b.iter(|| {
            let (row, column) = cells.next();
            t.column_into(0, row, column, &mut column_values).unwrap();
            black_box(column_values[LEVELS - 1])
        });
    });
    for (name, options) in [("zarrs", &as_it_comes), ("zarrs tuned", &tuned)] {
        group.bench_function(name, |b| b.iter(|| zarrs_t.read(&column(cells.next()), options)));
    }
    group.finish();

    let mut group = c.benchmark_group("series of 25 hours");
    group.bench_function("mesonet", |b| {
        b.iter(|| {
            let (row, column) = cells.next();
            t2.series_into(0..HOURS, 0, row, column, &mut series_values).unwrap();
            black_box(series_values[HOURS - 1])
        });
    });
    for (name, options) in [("zarrs", &as_it_comes), ("zarrs tuned", &tuned)] {
        group.bench_function(name, |b| b.iter(|| zarrs_t2.read(&series(cells.next()), options)));
    }
    group.finish();
}

criterion_group!(benches, readers);
criterion_main!(benches);
