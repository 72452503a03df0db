//! Shards of many chunks, an index that does not hold what was written, and a publication that is
//! retried.

use std::fs;
use std::path::PathBuf;

use mesonet::grid::{Encoding, GridProjection, LatLonGlobe};
use mesonet::model::{ProductDefinition, RunDefinition};
use mesonet::{grid, model};
use tempfile::TempDir;

const MODEL: &str = "upkeep";
const RUN: &str = "20180917T000000Z";
const NODATA: i16 = i16::MIN;

/// 9 × 10 chunks of 64 × 64 cells: more than a word has bits.
const SIDE: usize = 64;
const ROWS: usize = 9 * SIDE;
const COLUMNS: usize = 10 * SIDE;
const CHUNK_COLUMNS: usize = 10;
/// The bytes of an index entry.
const ENTRY_BYTES: usize = 16;

fn definition() -> RunDefinition {
    let product = |name: &str| ProductDefinition {
        name: name.to_owned(),
        unit: "K".to_owned(),
        levels_hpa: None,
        member: None,
        attributes: std::collections::BTreeMap::new(),
        encoding: Encoding::new(1.0, 0.0, NODATA).unwrap(),
    };
    RunDefinition {
        model: MODEL.to_owned(),
        run: RUN.parse().unwrap(),
        grid: grid::Definition {
            rows: ROWS,
            columns: COLUMNS,
            projection: GridProjection::Globe(LatLonGlobe::LatLon),
            first_lon: -100.0,
            first_lat: 30.0,
            column_step: 0.1,
            row_step: 0.1,
            grid_relative_winds: false,
        },
        valid_ms: vec![0, 3_600_000],
        products: vec![product("t2"), product("rain")],
    }
}

fn values(shift: usize) -> Vec<i16> {
    (0..ROWS * COLUMNS).map(|cell| ((cell * 7 + shift) % 30_000) as i16).collect()
}

fn filled() -> (TempDir, model::RunStore) {
    let folder = tempfile::tempdir().unwrap();
    let store = model::RunStore::new(folder.path());
    let mut writer = store.write_run(definition()).unwrap();
    writer.write(0, "t2", &values(0)).unwrap();
    writer.publish(&[0], 1).unwrap();
    (folder, store)
}

fn shard(store: &model::RunStore, product: &str) -> PathBuf {
    store.folder().join(MODEL).join(RUN).join(product).join("c/0/0/0")
}

/// The cell in the middle of a chunk.
fn cell(chunk: usize) -> (usize, usize) {
    (chunk / CHUNK_COLUMNS * SIDE + 8, chunk % CHUNK_COLUMNS * SIDE + 8)
}

#[test]
fn every_chunk_of_a_shard_of_more_than_64_is_read_and_checked_for_itself() {
    let (_folder, store) = filled();
    let chunks = 90;
    let run = store.newest_run(MODEL).unwrap();
    let t2 = run.product("t2").unwrap();
    let mut plane = vec![0; ROWS * COLUMNS];
    t2.part_into(0, 0, 0..ROWS, 0..COLUMNS, &mut plane).unwrap();
    assert_eq!(plane, values(0));

    let path = shard(&store, "t2");
    let whole = fs::read(&path).unwrap();
    let index = whole.len() - chunks * ENTRY_BYTES - 4;
    for damaged in [0, 1, 63, 64, 65, 89] {
        let mut bytes = whole.clone();
        let entry = index + damaged * ENTRY_BYTES;
        let start = u64::from_le_bytes(*bytes[entry..].first_chunk().unwrap());
        bytes[start as usize + 50] ^= 1;
        fs::write(&path, &bytes).unwrap();
        let run = store.newest_run(MODEL).unwrap();
        let t2 = run.product("t2").unwrap();
        // The intact ones first, as a chunk that was checked might vouch for another.
        for chunk in (0..chunks).filter(|&chunk| chunk != damaged).chain([damaged]) {
            let (row, column) = cell(chunk);
            let read = t2.value(0, 0, row, column);
            if chunk == damaged {
                let message = read.unwrap_err().to_string();
                assert!(message.contains(&format!("chunk {chunk}, bytes ")), "{message}");
            } else {
                assert_eq!(read, Ok(Some(f64::from(values(0)[row * COLUMNS + column]))));
            }
        }
        assert_eq!(run.verify().len(), 1);
    }
}

/// Both chunks are intact: only the index can tell that they are in each other's place.
#[test]
fn an_index_whose_entries_are_swapped_is_damaged() {
    let (_folder, store) = filled();
    let path = shard(&store, "t2");
    let mut bytes = fs::read(&path).unwrap();
    let index = bytes.len() - 90 * ENTRY_BYTES - 4;
    for (one, other) in [(0, 1), (3, 70)] {
        let (one, other) = (index + one * ENTRY_BYTES, index + other * ENTRY_BYTES);
        for at in 0..ENTRY_BYTES {
            bytes.swap(one + at, other + at);
        }
        fs::write(&path, &bytes).unwrap();
        let run = store.newest_run(MODEL).unwrap();
        let error = run.product("t2").unwrap().value(0, 0, 0, 0).unwrap_err();
        assert!(matches!(error, model::RunStoreError::Damaged { .. }), "{error}");
        assert!(
            error.to_string().ends_with("its index is not the one that was written"),
            "{error}"
        );
        assert_eq!(run.verify(), [error]);
    }
}

/// One of two products already has its final name when the other fails.
#[test]
fn a_publication_that_was_done_by_half_is_tried_again() {
    let (_folder, store) = filled();
    let mut writer = store.write_run(definition()).unwrap();
    for hour in [0, 1] {
        writer.write(hour, "rain", &values(1 + hour)).unwrap();
    }
    writer.write(1, "t2", &values(3)).unwrap();
    // A folder is in the place of the file.
    let in_the_way = store.folder().join(MODEL).join(RUN).join("rain/c/1/0/0");
    fs::create_dir(&in_the_way).unwrap();
    let error = writer.publish(&[0, 1], 2).unwrap_err();
    assert!(matches!(error, model::RunStoreError::Storage { .. }), "{error}");
    let shown = || {
        let run = store.newest_run(MODEL).unwrap();
        assert_eq!(run.verify(), []);
        let has = |product: &str, hour| run.has(product, hour);
        [has("t2", 0), has("rain", 0), has("t2", 1), has("rain", 1)]
    };
    assert_eq!(shown(), [true, false, false, false]);

    fs::remove_dir(&in_the_way).unwrap();
    writer.publish(&[0, 1], 3).unwrap();
    assert_eq!(shown(), [true; 4]);
    let run = store.newest_run(MODEL).unwrap();
    let (row, column) = cell(89);
    for (product, hour, shift) in [("t2", 0, 0), ("rain", 0, 1), ("rain", 1, 2), ("t2", 1, 3)] {
        let value = run.product(product).unwrap().value(hour, 0, row, column);
        assert_eq!(value, Ok(Some(f64::from(values(shift)[row * COLUMNS + column]))), "{product}");
    }
}
