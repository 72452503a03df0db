//! Runs that grow.

use super::tests::{
    COLUMNS, LEVELS, MODEL, NODATA, ROWS, decoded, definition, filled, product, values,
};
use super::*;
use crate::grid::Encoding;

#[test]
fn a_run_grows_by_hours_products_levels_and_a_wider_packing() {
    let (_folder, store) = filled();
    let before = store.newest_run(MODEL).unwrap();
    let mut more = definition();
    // An hour before the others, a level between others, another product, steps twice as large.
    more.valid_ms.insert(0, -3_600_000);
    more.products[1].levels_hpa = Some(vec![1000.0, 925.0, 850.0, 500.0]);
    more.products[1].encoding = Encoding::new(1.0, 100.0, NODATA).unwrap();
    more.products.insert(0, product("snow", None));
    let mut writer = store.write_run(more.clone()).unwrap();
    let hours: Vec<usize> = writer.published().iter().map(|hour| hour.hour).collect();
    assert_eq!(hours, [1, 3]);
    assert_eq!(
        (writer.missing_levels(1, "t"), writer.missing_levels(1, "snow")),
        (vec![1], vec![0])
    );
    let plane = values(0, 1);
    let add = [None, Some(LevelValues::Each(&plane)), None, None];
    assert!(matches!(
        writer.add_levels(1, "t", &[Some(LevelValues::All(1)); 4]),
        Err(RunStoreError::Published { hour: 1, .. })
    ));
    writer.add_levels(1, "t", &add).unwrap();
    writer.write(0, "t2", &plane).unwrap();
    writer.publish(&[0, 1], 43).unwrap();
    drop(writer);

    let after = store.newest_run(MODEL).unwrap();
    assert_eq!((after.definition(), after.verify()), (&more, vec![]));
    let found = store.check_run(MODEL, more.run).unwrap();
    assert_eq!((found.faults, found.surplus), (vec![], vec![]));
    let cell = |run: &Run, hour, level| run.product("t").unwrap().value(hour, level, 3, 5).unwrap();
    let whole = |value: Option<f64>| value.map(f64::round);
    for (level, moved) in [(0, 0), (1, 2), (2, 3)] {
        for (hour, later) in [(0, 1), (2, 3)] {
            // The earlier reader opens the files only now.
            let raw = values(hour, LEVELS)[level * ROWS * COLUMNS + 3 * COLUMNS + 5];
            assert_eq!(whole(cell(&before, hour, level)), whole(decoded(raw)));
            assert_eq!(cell(&after, later, moved), whole(decoded(raw)));
        }
    }
    let raw = plane[3 * COLUMNS + 5];
    assert_eq!(cell(&after, 1, 1), Some(f64::from(raw) + 100.0));
    assert_eq!(
        (cell(&after, 3, 1), after.is_whole("t", 1), after.is_whole("t", 3)),
        (None, true, false)
    );
    assert_eq!(after.product("t2").unwrap().value(0, 0, 0, 1), Ok(decoded(1)));
    assert_eq!(before.verify(), []);

    // If a process was killed before it rewrote a shard, the shard can still be read, and the next
    // process rewrites it.
    let mut grown = more.clone();
    grown.products[2].levels_hpa = Some(vec![1000.0, 925.0, 850.0, 700.0, 500.0]);
    let folder = store.folder().join(MODEL).join(more.run.to_string());
    let manifest = zarr::RunManifest::read(&folder).unwrap().unwrap();
    manifest.grown(grown.clone()).unwrap().write(&folder).unwrap();
    let killed = store.newest_run(MODEL).unwrap();
    assert_eq!((killed.definition(), killed.verify()), (&grown, vec![]));
    assert_eq!((cell(&killed, 1, 4), cell(&killed, 1, 3)), (cell(&after, 1, 3), None));
    assert_eq!(store.check_run(MODEL, more.run).unwrap().faults, []);
    drop(store.write_run(grown).unwrap());
    let now = store.newest_run(MODEL).unwrap();
    assert_eq!((cell(&now, 1, 4), cell(&now, 1, 3)), (cell(&after, 1, 3), None));
    assert!(!zarr::RunManifest::read(&folder).unwrap().unwrap().growing);
    assert_eq!(store.check_run(MODEL, more.run).unwrap().faults, []);
}
