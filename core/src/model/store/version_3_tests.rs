//! A run of version 3 of the layout, whose chunks were not encoded, as it was written then.

use std::fs;
use std::path::{Path, PathBuf};

use super::*;

/// A part of a run of NAM, with levels and without, and constant and missing fields.
const STORE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/data/model_grids/version_3");
const MODEL: &str = "nam211";

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let (from, to) = (entry.as_ref().unwrap().path(), to.join(entry.unwrap().file_name()));
        if from.is_dir() {
            copy(&from, &to);
        } else {
            fs::write(to, fs::read(from).unwrap()).unwrap();
        }
    }
}

/// Returns a copy of the run, without the files of writers.
fn old_run() -> (tempfile::TempDir, RunStore) {
    let folder = tempfile::tempdir().unwrap();
    copy(&Path::new(STORE).join(MODEL), &folder.path().join(MODEL));
    let store = RunStore::new(folder.path());
    (folder, store)
}

/// Every integer of a run, by product, hour and level; and each column, in another way.
fn everything(run: &Run) -> Vec<(String, usize, Vec<i16>)> {
    let grid = run.definition().grid;
    let mut all = Vec::new();
    for product in &run.definition().products {
        for hour in run.published().iter().map(|hour| hour.hour) {
            let of = run.product(&product.name).unwrap();
            let mut levels = Vec::new();
            for level in 0..product.levels() {
                let mut raw = vec![0; grid.rows * grid.columns];
                of.part_into(hour, level, 0..grid.rows, 0..grid.columns, &mut raw).unwrap();
                levels.extend(raw);
            }
            let mut column = vec![0.0; product.levels()];
            for cell in (0..grid.rows * grid.columns).step_by(7) {
                let (row, at) = (cell / grid.columns, cell % grid.columns);
                of.column_into(hour, row, at, &mut column).unwrap();
                let raw = levels.iter().skip(cell).step_by(grid.rows * grid.columns);
                for (value, &raw) in column.iter().zip(raw) {
                    assert_eq!(value.to_bits(), product.encoding.decode(raw).to_bits());
                }
            }
            all.push((product.name.clone(), hour, levels));
        }
    }
    all
}

fn version(store: &RunStore) -> u64 {
    let document = fs::read(store.folder().join(MODEL).join("20180917T000000Z/zarr.json")).unwrap();
    let document: serde_json::Value = serde_json::from_slice(&document).unwrap();
    document["attributes"]["mesonet"]["format"].as_u64().unwrap()
}

fn shards(store: &RunStore) -> Vec<PathBuf> {
    let run = store.folder().join(MODEL).join("20180917T000000Z");
    let (mut shards, mut folders) = (Vec::new(), vec![run]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.components().any(|part| part.as_os_str() == "c") {
                shards.push(path);
            }
        }
    }
    shards
}

#[test]
fn an_older_run_is_read_checked_and_written_again() {
    let (_folder, store) = old_run();
    assert_eq!(version(&store), 3);
    let run = store.newest_run(MODEL).unwrap();
    let before = everything(&run);
    let planes = |levels: usize| before.iter().any(|(_, _, raw)| raw.len() == levels * 65 * 93);
    assert!(planes(1) && planes(2), "some products have levels");
    let stamp = run.definition().run;
    assert_eq!(store.check_run(MODEL, stamp).unwrap().faults, []);
    let bytes = store.run_bytes(MODEL, stamp).unwrap();

    assert!(store.upgrade(MODEL, stamp).unwrap());
    assert_eq!(version(&store), 4);
    assert_eq!(everything(&store.newest_run(MODEL).unwrap()), before);
    // A reader that has it open reads on.
    assert_eq!(everything(&run), before);
    let check = store.check_run(MODEL, stamp).unwrap();
    assert_eq!((&*check.faults, &*check.surplus), (&[][..], &[][..]));
    assert!(store.run_bytes(MODEL, stamp).unwrap() < bytes * 2 / 3);
    assert!(!store.upgrade(MODEL, stamp).unwrap(), "nothing is left to do");
}

/// As after a loss of power: some shards have the new form, and the others the old one.
#[test]
fn a_run_that_is_half_written_again_is_read_and_finished() {
    let (_old_folder, old) = old_run();
    let (_folder, store) = old_run();
    let stamp = store.newest_run(MODEL).unwrap().definition().run;
    let before = everything(&store.newest_run(MODEL).unwrap());
    store.upgrade(MODEL, stamp).unwrap();
    let document = store.folder().join(MODEL).join("20180917T000000Z/zarr.json");
    let text = fs::read_to_string(&document).unwrap();
    for (number, shard) in shards(&store).into_iter().enumerate() {
        if number % 2 == 0 {
            let same = old.folder().join(shard.strip_prefix(store.folder()).unwrap());
            fs::write(&shard, fs::read(same).unwrap()).unwrap();
        }
    }
    let growing =
        text.replacen("\"published\": [", "\"growing\": true,\n      \"published\": [", 1);
    assert_ne!(growing, text);
    fs::write(&document, zarr::with_checksum(growing.into_bytes())).unwrap();
    assert_eq!(everything(&store.newest_run(MODEL).unwrap()), before);
    assert_eq!(store.check_run(MODEL, stamp).unwrap().faults, []);
    assert!(store.upgrade(MODEL, stamp).unwrap());
    assert_eq!(everything(&store.newest_run(MODEL).unwrap()), before);
    let check = store.check_run(MODEL, stamp).unwrap();
    assert_eq!((&*check.faults, &*check.surplus), (&[][..], &[][..]));
}

#[test]
fn a_damaged_shard_of_an_older_run_stays_as_it_is() {
    let (_folder, store) = old_run();
    let stamp = store.newest_run(MODEL).unwrap().definition().run;
    for shard in shards(&store) {
        let whole = fs::read(&shard).unwrap();
        for at in [0, whole.len() / 2, whole.len() - 1] {
            let mut bytes = whole.clone();
            bytes[at] ^= 1;
            fs::write(&shard, &bytes).unwrap();
            let faults = store.check_run(MODEL, stamp).unwrap().faults;
            assert_eq!(faults.len(), 1, "byte {at} of {}", shard.display());
        }
        fs::write(&shard, whole).unwrap();
    }
    let shard = shards(&store).into_iter().max_by_key(|path| fs::metadata(path).unwrap().len());
    let shard = shard.unwrap();
    let mut bytes = fs::read(&shard).unwrap();
    bytes[100] ^= 1;
    fs::write(&shard, &bytes).unwrap();
    store.upgrade(MODEL, stamp).unwrap();
    assert_eq!(fs::read(&shard).unwrap(), bytes, "it is not written again as if it were whole");
    let faults = store.check_run(MODEL, stamp).unwrap().faults;
    assert_eq!(faults.iter().map(|fault| &fault.file).collect::<Vec<_>>(), [&shard]);
}

/// A shard of the same place of another run, in either form, is not taken for this one's.
#[test]
fn a_shard_of_another_form_and_owner_is_noticed() {
    let (_folder, store) = old_run();
    let run = store.newest_run(MODEL).unwrap();
    let stamp = run.definition().run;
    let [one, other] = ["u", "v"].map(|product| {
        let folder = store.folder().join(MODEL).join("20180917T000000Z").join(product);
        shards(&store).into_iter().find(|shard| shard.starts_with(&folder)).unwrap()
    });
    let of_another = fs::read(&other).unwrap();
    store.upgrade(MODEL, stamp).unwrap();
    fs::write(&one, of_another).unwrap();
    let faults = store.check_run(MODEL, stamp).unwrap().faults;
    assert!(faults[0].cause.contains("the shard of another product"), "{faults:?}");
}
