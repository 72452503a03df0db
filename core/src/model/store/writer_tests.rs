use std::path::{Path, PathBuf};

use super::tests::{COLUMNS, MODEL, NODATA, ROWS, decoded, definition, values};
use super::*;
use crate::grid::blocks::EncodedPlane;

/// Returns every file below a folder except locks.
fn below(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(below(&path));
        } else if path.extension().is_none_or(|ending| ending != "lock") {
            files.push(path);
        }
    }
    files.sort();
    files
}

#[test]
fn what_a_killed_writer_left_is_removed_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let store = RunStore::new(folder.path());
    assert_eq!(store.remove_unfinished(), Ok(0));
    let mut writer = store.write_run(definition()).unwrap();
    writer.write(0, "t2", &values(0, 1)).unwrap();
    writer.publish(&[0], 1).unwrap();
    let model = folder.path().join(MODEL);
    let run = model.join(definition().run.to_string());
    for (path, text) in [("notes.new", "x"), ("t2/c/1.new", "x"), (".hidden.new", "x")] {
        fs::write(run.join(path), text).unwrap();
    }
    fs::write(model.join(".notes.new"), "x").unwrap();
    fs::write(folder.path().join("20180917T000000Z.new"), "x").unwrap();
    let whole = below(folder.path());

    writer.write(1, "t2", &values(1, 1)).unwrap();
    fs::write(run.join("zarr.json.new"), "{").unwrap();
    let earlier = "20100101T000000Z";
    for ending in ["new", "removed"] {
        let left = model.join(format!(".{earlier}.{ending}"));
        fs::create_dir_all(left.join("t2")).unwrap();
        fs::write(left.join("t2/zarr.json"), "{}").unwrap();
    }
    // The run that is being written stays; the other run is no longer being written.
    assert_eq!(store.remove_unfinished(), Ok(2));
    assert_eq!(below(folder.path()).len(), whole.len() + 2);
    drop(writer);
    assert_eq!(store.remove_unfinished(), Ok(2));
    assert_eq!(below(folder.path()), whole);
    assert_eq!(store.remove_unfinished(), Ok(0));
    let opened = store.newest_run(MODEL).unwrap();
    assert_eq!(opened.product("t2").unwrap().value(0, 0, 0, 1), Ok(decoded(1)));
}

#[test]
fn levels_of_one_value_are_read_as_if_each_cell_had_been_written() {
    let folder = tempfile::tempdir().unwrap();
    let store = RunStore::new(folder.path());
    let mut writer = store.write_run(definition()).unwrap();
    let run = writer.definition().clone();
    let cells = run.grid.rows * run.grid.columns;
    // Not whole chunks, so that those at the edges differ.
    assert!(!run.grid.columns.is_multiple_of(16) || !run.grid.rows.is_multiple_of(16));
    let of = |hour, product: &str| {
        let path = below(folder.path())
            .into_iter()
            .find(|path| path.to_string_lossy().contains(&format!("/{product}/c/{hour}/")));
        fs::metadata(path.unwrap()).unwrap().len()
    };
    for product in &run.products {
        let levels = product.levels();
        let all = vec![LevelValues::All(7); levels];
        writer.write_levels(0, &product.name, &all).unwrap();
        writer.write(1, &product.name, &vec![7; levels * cells]).unwrap();
        let nodata = product.encoding.nodata();
        writer.write_levels(2, &product.name, &vec![LevelValues::All(nodata); levels]).unwrap();
        // One level has its own values.
        let own = values(3, 1)[..cells].to_vec();
        let mut mixed = all.clone();
        mixed[0] = LevelValues::Each(&own);
        writer.write_levels(3, &product.name, &mixed).unwrap();
        let short = [&all[1..], &[LevelValues::Each(&own[1..])]].concat();
        for wrong in [&all[1..], &[&all[..], &all[..1]].concat(), &short] {
            let refused = writer.write_levels(3, &product.name, wrong);
            assert!(matches!(refused, Err(RunStoreError::Length { .. })), "{refused:?}");
        }
    }
    writer.publish(&[0, 1, 2, 3], 1).unwrap();
    let stored = store.newest_run(MODEL).unwrap();
    assert_eq!(stored.verify(), vec![]);
    for product in &run.products {
        let name = &product.name;
        let opened = stored.product(name).unwrap();
        let raw = |hour| {
            let mut levels = Vec::new();
            for level in 0..product.levels() {
                let level = opened.level(hour, level).unwrap();
                let cell = |cell| level.raw(cell / COLUMNS, cell % COLUMNS).unwrap();
                levels.push((0..cells).map(cell).collect::<Vec<i16>>());
            }
            levels
        };
        assert_eq!(raw(0), raw(1));
        assert!(raw(2).iter().flatten().all(|&value| value == product.encoding.nodata()));
        assert_eq!(raw(3)[0], values(3, 1)[..cells]);
        assert!(of(2, name) < of(0, name) && of(0, name) <= of(1, name));
    }
}

/// As many values, but in other rows, or with other holes: they would be stored in the wrong places.
#[test]
fn a_level_that_was_encoded_for_another_product_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let store = RunStore::new(folder.path());
    let mut writer = store.write_run(definition()).unwrap();
    let values = values(0, 1);
    let mut write = |plane: EncodedPlane| {
        writer
            .write_levels(0, "t2", &[LevelValues::Encoded(&plane)])
            .map_err(|error| error.to_string())
    };
    for plane in [
        EncodedPlane::new(&values, ROWS, NODATA),
        EncodedPlane::new(&values, COLUMNS, 0),
        EncodedPlane::of_one_value(7, 0),
        EncodedPlane::new(&values[COLUMNS..], COLUMNS, NODATA),
    ] {
        let message = write(plane).unwrap_err();
        assert!(
            message.contains("a field of all its levels") && message.contains(" 0"),
            "{message}"
        );
    }
    write(EncodedPlane::new(&values, COLUMNS, NODATA)).unwrap();
    write(EncodedPlane::of_one_value(7, NODATA)).unwrap();
}
