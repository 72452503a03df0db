#![no_main]
//! A run whose document or shard consists of arbitrary bytes: nothing panics, and every read gives a
//! value, a missing value or an error.

use std::cell::RefCell;
use std::fs;
use std::path::PathBuf;

use libfuzzer_sys::fuzz_target;
use mesonet::grid::{Encoding, GridProjection, LatLonGlobe};
use mesonet::{grid, model};
use mesonet::model::{ProductDefinition, RunDefinition, RunStamp};

const ROWS: usize = 20;
const COLUMNS: usize = 33;

struct Files {
    store: model::RunStore,
    run: RunStamp,
    document: (PathBuf, Vec<u8>),
    shard: (PathBuf, Vec<u8>),
}

/// Creates a store with one product and hour in a folder of this process.
fn files() -> Files {
    let folder = std::env::temp_dir().join(format!("mesonet-fuzz-{}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    let store = model::RunStore::new(&folder);
    let run = RunStamp::from_ms(0).unwrap();
    let mut writer = store
        .write_run(RunDefinition {
            model: "fuzz".to_owned(),
            run,
            grid: grid::Definition {
                rows: ROWS,
                columns: COLUMNS,
                projection: GridProjection::Globe(LatLonGlobe::LatLon),
                first_lon: 0.0,
                first_lat: 0.0,
                column_step: 1.0,
                row_step: 1.0,
                grid_relative_winds: false,
            },
            valid_ms: vec![0],
            products: vec![ProductDefinition {
                name: "t".to_owned(),
                unit: "K".to_owned(),
                levels_hpa: Some(vec![850.0, 500.0]),
                member: None,
                attributes: std::collections::BTreeMap::new(),
                encoding: Encoding::new(0.1, 0.0, i16::MIN).unwrap(),
            }],
        })
        .unwrap();
    let values = (0..2 * ROWS * COLUMNS).map(|at| (at * at % 91) as i16);
    writer.write(0, "t", &values.collect::<Vec<_>>()).unwrap();
    writer.publish(&[0], 0).unwrap();
    let of_run = folder.join("fuzz").join(run.to_string());
    let kept = |path: PathBuf| {
        let bytes = fs::read(&path).unwrap();
        (path, bytes)
    };
    let document = kept(of_run.join("zarr.json"));
    let shard = kept(of_run.join("t/c/0/0/0/0"));
    Files { store, run, document, shard }
}

thread_local!(static FILES: RefCell<Files> = RefCell::new(files()));

/// The first byte chooses the file; then follow patches of three bytes each, or a whole new file.
fn changed(whole: &[u8], input: &[u8]) -> Vec<u8> {
    let Some((&kind, input)) = input.split_first() else { return whole.to_vec() };
    if kind % 2 == 0 {
        return input.to_vec();
    }
    let mut bytes = whole.to_vec();
    for patch in input.chunks_exact(3) {
        let at = usize::from(u16::from_be_bytes([patch[0], patch[1]])) % bytes.len();
        bytes[at] = patch[2];
    }
    if kind >= 128 {
        bytes.truncate(bytes.len() - usize::from(kind - 128).min(bytes.len()));
    }
    bytes
}

fn read(files: &Files) {
    let Ok(run) = files.store.run("fuzz", files.run) else { return };
    let _ = run.verify();
    let definition = run.definition();
    for product in &definition.products {
        let Ok(open) = run.product(&product.name) else { continue };
        let mut column = vec![0.0; product.levels()];
        for hour in 0..definition.valid_ms.len().min(4) {
            let _ = open.column_into(hour, 0, 0, &mut column);
            let last = (definition.grid.rows - 1, definition.grid.columns - 1);
            if let Ok(Some(value)) = open.value(hour, product.levels() - 1, last.0, last.1) {
                assert!(value.is_finite() || product.encoding.scale().abs() > 1e300);
            }
        }
    }
    let _ = run.grid().position(0, 0);
}

fuzz_target!(|input: &[u8]| {
    let Some((&which, input)) = input.split_first() else { return };
    FILES.with_borrow(|files| {
        let (path, whole) = if which % 2 == 0 { &files.document } else { &files.shard };
        fs::write(path, changed(whole, input)).unwrap();
        read(files);
        fs::write(path, whole).unwrap();
    });
});
