use std::collections::BTreeMap;
use std::ops::Range;

use tempfile::TempDir;

use super::*;
use crate::grid;
use crate::grid::{Encoding, GridProjection, LatLonGlobe};

pub(super) const NODATA: i16 = i16::MIN;
pub(super) const MODEL: &str = "test-model";

/// The size of a grid whose chunks are cut off on both sides.
pub(super) const ROWS: usize = 37;
pub(super) const COLUMNS: usize = 50;
pub(super) const LEVELS: usize = 3;

pub(super) fn product(name: &str, levels_hpa: Option<Vec<f64>>) -> ProductDefinition {
    let encoding = Encoding::new(0.5, 100.0, NODATA).unwrap();
    ProductDefinition {
        name: name.to_owned(),
        unit: "K".to_owned(),
        levels_hpa,
        member: None,
        attributes: BTreeMap::new(),
        encoding,
    }
}

pub(super) fn definition() -> RunDefinition {
    RunDefinition {
        model: MODEL.to_owned(),
        run: "20180917T000000Z".parse().unwrap(),
        grid: grid::Definition {
            rows: ROWS,
            columns: COLUMNS,
            projection: GridProjection::Globe(LatLonGlobe::LatLon),
            first_lon: -100.0,
            first_lat: 30.0,
            column_step: 0.5,
            row_step: 0.5,
            grid_relative_winds: false,
        },
        valid_ms: vec![0, 3_600_000, 7_200_000, 10_800_000],
        products: vec![
            product("t2", None),
            product("t", Some(vec![1000.0, 850.0, 500.0])),
            product("rain", None),
        ],
    }
}

/// Returns values that identify their place, with holes; one chunk has none at all.
pub(super) fn values(hour: usize, levels: usize) -> Vec<i16> {
    let mut values = Vec::with_capacity(levels * ROWS * COLUMNS);
    for level in 0..levels {
        for row in 0..ROWS {
            for column in 0..COLUMNS {
                let empty = (16..32).contains(&row) && (0..16).contains(&column);
                let hole = (row * 7 + column * 3 + level) % 11 == 0;
                let value = (hour * 8000 + level * 2000 + row * COLUMNS + column) as i16;
                values.push(if empty || hole { NODATA } else { value });
            }
        }
    }
    values
}

/// Creates a store with hours 0 and 2 of a run.
pub(super) fn filled() -> (TempDir, RunStore) {
    let folder = tempfile::tempdir().unwrap();
    let store = RunStore::new(folder.path());
    let mut writer = store.write_run(definition()).unwrap();
    for hour in [0, 2] {
        writer.write(hour, "t2", &values(hour, 1)).unwrap();
        writer.write(hour, "t", &values(hour, LEVELS)).unwrap();
    }
    writer.write(2, "rain", &values(2, 1)).unwrap();
    writer.publish(&[0, 2], 42).unwrap();
    (folder, store)
}

pub(super) fn decoded(raw: i16) -> Option<f64> {
    (raw != NODATA).then(|| f64::from(raw) * 0.5 + 100.0)
}

#[test]
fn what_is_written_is_read() {
    let (_folder, store) = filled();
    let run = store.newest_run(MODEL).unwrap();
    assert_eq!(*run.definition(), definition());
    let (t2, t) = (run.product("t2").unwrap(), run.product("t").unwrap());
    for hour in [0, 2] {
        let (plane, planes) = (values(hour, 1), values(hour, LEVELS));
        for row in 0..ROWS {
            for column in 0..COLUMNS {
                let cell = row * COLUMNS + column;
                assert_eq!(t2.value(hour, 0, row, column), Ok(decoded(plane[cell])));
                let mut levels = [0.0; LEVELS];
                t.column_into(hour, row, column, &mut levels).unwrap();
                for (level, got) in levels.into_iter().enumerate() {
                    let wanted = decoded(planes[level * ROWS * COLUMNS + cell]);
                    assert_eq!((!got.is_nan()).then_some(got), wanted);
                    assert_eq!(t.value(hour, level, row, column), Ok(wanted));
                }
            }
        }
    }
    assert_eq!(run.verify(), []);
}

/// Like runs that were written before there were coordinates of rows and columns.
#[test]
fn a_run_without_coordinates_is_read_and_continued() {
    let (folder, store) = filled();
    for name in ["lat", "lon", "crs"] {
        fs::remove_dir_all(folder.path().join(MODEL).join("20180917T000000Z").join(name)).unwrap();
    }
    let mut writer = store.write_run(definition()).unwrap();
    writer.write(1, "t2", &values(1, 1)).unwrap();
    writer.publish(&[1], 43).unwrap();
    let run = store.newest_run(MODEL).unwrap();
    assert_eq!(run.verify(), []);
    let t2 = run.product("t2").unwrap();
    assert_eq!(t2.value(1, 0, 36, 49), Ok(decoded(values(1, 1)[36 * COLUMNS + 49])));
}

#[test]
fn products_do_not_take_the_names_of_coordinates() {
    let folder = tempfile::tempdir().unwrap();
    let store = RunStore::new(folder.path());
    for name in ["crs", "lat", "lon", "valid_time", "level_hpa"] {
        let mut definition = definition();
        definition.products[0].name = name.to_owned();
        assert_eq!(
            store.write_run(definition).unwrap_err().to_string(),
            format!(
                "invalid run: \"{name}\" is the name of a coordinate: no \
                 product may have it"
            )
        );
    }
    // This grid has no array of the name.
    let mut definition = definition();
    definition.products[0].name = "x".to_owned();
    assert!(store.write_run(definition).is_ok());
}

#[test]
fn a_series_has_a_place_for_every_hour() {
    let (_folder, store) = filled();
    let run = store.newest_run(MODEL).unwrap();
    let mut series = [0.0; 4];
    run.product("t").unwrap().series_into(0..4, 1, 3, 4, &mut series).unwrap();
    let raw = |hour: f64| (hour * 8000.0 + 2000.0 + 3.0 * 50.0 + 4.0) * 0.5 + 100.0;
    assert_eq!([series[0], series[2]], [raw(0.0), raw(2.0)]);
    assert!(series[1].is_nan() && series[3].is_nan());
    // The first hour has no rain.
    run.product("rain").unwrap().series_into(0..3, 0, 3, 5, &mut series[..3]).unwrap();
    assert!(series[0].is_nan() && series[1].is_nan() && !series[2].is_nan());
    assert_eq!(run.product("rain").unwrap().value(0, 0, 3, 5), Ok(None));
    assert_eq!(run.published()[0].absent, ["rain"]);
}

#[test]
fn parts_of_a_level_are_those_of_the_whole() {
    let (_folder, store) = filled();
    let run = store.newest_run(MODEL).unwrap();
    let product = run.product("t").unwrap();
    let whole = values(2, LEVELS);
    let parts = |bounds: &[usize]| -> Vec<Range<usize>> {
        let starts = bounds.iter().enumerate();
        starts.flat_map(|(i, &start)| bounds[i..].iter().map(move |&end| start..end)).collect()
    };
    // On both sides of the edges of chunks.
    let all_columns = parts(&[0, 1, 15, 16, 17, 32, 47, 48, 49, COLUMNS]);
    for rows in parts(&[0, 1, 15, 16, 17, 31, 32, 33, 36, ROWS]) {
        for columns in &all_columns {
            let level = (rows.start + columns.end) % LEVELS;
            let mut part = vec![1; rows.len() * columns.len()];
            product.part_into(2, level, rows.clone(), columns.clone(), &mut part).unwrap();
            let wanted: Vec<i16> = rows
                .clone()
                .flat_map(|row| columns.clone().map(move |column| (row, column)))
                .map(|(row, column)| whole[(level * ROWS + row) * COLUMNS + column])
                .collect();
            assert_eq!(part, wanted, "{rows:?} {columns:?}");
        }
    }
}

#[test]
fn a_reader_sees_whole_hours_and_those_of_its_opening() {
    let (_folder, store) = filled();
    let before = store.newest_run(MODEL).unwrap();
    let mut writer = store.write_run(definition()).unwrap();
    assert_eq!(writer.published().len(), 2);
    writer.write(1, "t2", &values(1, 1)).unwrap();
    let between = store.newest_run(MODEL).unwrap();
    writer.publish(&[1], 43).unwrap();
    let after = store.newest_run(MODEL).unwrap();
    for (run, hours) in [(&before, vec![0, 2]), (&between, vec![0, 2]), (&after, vec![0, 1, 2])] {
        let published: Vec<usize> = run.published().iter().map(|hour| hour.hour).collect();
        assert_eq!(published, hours);
        assert_eq!(run.is_published(1), hours.contains(&1));
        assert!(!run.is_complete());
    }
    assert_eq!(
        before.product("t2").unwrap().value(1, 0, 0, 1).unwrap_err().to_string(),
        "hour 1 of run 20180917T000000Z is not published yet; published hours: 0, 2"
    );
    assert_eq!(after.product("t2").unwrap().value(1, 0, 0, 1), Ok(decoded(8001)));
}

#[test]
fn what_is_published_does_not_change() {
    let (_folder, store) = filled();
    let mut writer = store.write_run(definition()).unwrap();
    let refused = |result: Result<(), RunStoreError>| result.unwrap_err().to_string();
    assert_eq!(
        refused(writer.write(0, "t2", &values(0, 1))),
        "product \"t2\" of hour 0 is already published and can no longer change"
    );
    assert_eq!(refused(writer.publish(&[0], 1)), "nothing was written for hour 0");
    assert_eq!(refused(writer.publish(&[1], 1)), "nothing was written for hour 1");
    assert_eq!(refused(writer.write(4, "t2", &[])), "hour 4 is out of range: it must be 0 to 3");
    assert_eq!(
        refused(writer.write(1, "wind", &[])),
        "unknown product \"wind\" of model \"test-model\"; known are t2, t, rain"
    );
    assert_eq!(
        refused(writer.write(1, "t", &values(1, 1))),
        "a field of all its levels needs room for 5550 values; got room for 1850"
    );
    assert_eq!(
        store.write_run(definition()).unwrap_err().to_string(),
        "run 20180917T000000Z is being written by someone else"
    );
    drop(writer);
    let mut other = definition();
    other.valid_ms.pop();
    assert_eq!(
        store.write_run(other).unwrap_err().to_string(),
        "run 20180917T000000Z already exists with a different grid, hours or products"
    );
}

#[test]
fn a_published_hour_gets_the_products_that_it_lacks_and_no_other() {
    let (_folder, store) = filled();
    let before = store.newest_run(MODEL).unwrap();
    let mut writer = store.write_run(definition()).unwrap();
    assert!(writer.is_published(0, "t") && !writer.is_published(0, "rain"));
    writer.write(0, "rain", &values(0, 1)).unwrap();
    writer.write(1, "t2", &values(1, 1)).unwrap();
    writer.publish(&[0, 1], 77).unwrap();
    let after = store.newest_run(MODEL).unwrap();
    let published = |hour, published_ms, absent: &[&str]| {
        let absent = absent.iter().map(ToString::to_string).collect();

        PublishedHour { hour, published_ms, absent, ..PublishedHour::default() }
    };
    assert_eq!(
        after.published(),
        [published(0, 77, &[]), published(1, 77, &["t", "rain"]), published(2, 42, &[])]
    );
    // Readers that had the run open see its former state.
    assert_eq!(before.product("rain").unwrap().value(0, 0, 0, 1), Ok(None));
    assert_eq!(after.product("rain").unwrap().value(0, 0, 0, 1), Ok(decoded(1)));
    assert_eq!(after.product("t2").unwrap().value(0, 0, 0, 1), Ok(decoded(1)));
    assert!(matches!(
        writer.write(0, "rain", &values(0, 1)),
        Err(RunStoreError::Published { hour: 0, .. })
    ));
}

#[test]
fn a_run_with_nothing_published_may_get_another_definition() {
    let folder = tempfile::tempdir().unwrap();
    let store = RunStore::new(folder.path());
    let mut writer = store.write_run(definition()).unwrap();
    writer.write(0, "t2", &values(3, 1)).unwrap();
    drop(writer);
    let mut other = definition();
    other.valid_ms.pop();
    let mut writer = store.write_run(other.clone()).unwrap();
    writer.write(0, "t2", &values(0, 1)).unwrap();
    writer.publish(&[0], 1).unwrap();
    drop(writer);
    let run = store.newest_run(MODEL).unwrap();
    assert_eq!(*run.definition(), other);
    assert_eq!(run.product("t2").unwrap().value(0, 0, 0, 1), Ok(decoded(1)));
    // The run has been published, so from now on it only grows.
    let writer = store.write_run(definition()).unwrap();
    assert_eq!((writer.definition(), writer.published().len()), (&definition(), 1));
    drop(writer);
    assert!(matches!(store.write_run(other), Err(RunStoreError::Differs(_))));
}

#[test]
fn an_interrupted_run_is_continued() {
    let folder = tempfile::tempdir().unwrap();
    let store = RunStore::new(folder.path());
    let mut writer = store.write_run(definition()).unwrap();
    writer.write(0, "t2", &values(3, 1)).unwrap();
    drop(writer);
    // Nothing is published: nobody sees the run.
    assert_eq!(store.runs(MODEL), Ok(vec![]));
    assert_eq!(store.models(), Ok(vec![]));
    assert_eq!(
        store.newest_run(MODEL).unwrap_err().to_string(),
        "model \"test-model\" has no runs"
    );
    let mut writer = store.write_run(definition()).unwrap();
    assert_eq!(writer.publish(&[0], 1), Err(RunStoreError::NothingWritten(0)));
    writer.write(0, "t2", &values(0, 1)).unwrap();
    writer.publish(&[0], 1).unwrap();
    assert_eq!(store.models(), Ok(vec![MODEL.to_owned()]));
    let run = store.newest_run(MODEL).unwrap();
    assert_eq!(run.product("t2").unwrap().value(0, 0, 0, 1), Ok(decoded(1)));
}

#[test]
fn a_run_is_published_hour_by_hour_or_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let store = RunStore::new(folder.path());
    let mut writer = store.write_run(definition()).unwrap();
    for hour in 0..4 {
        writer.write(hour, "t2", &values(hour, 1)).unwrap();
    }
    assert_eq!(store.runs(MODEL), Ok(vec![]));
    writer.publish(&[3, 1, 0, 2], 7).unwrap();
    let run = store.newest_run(MODEL).unwrap();
    assert!(run.is_complete());
    assert!(run.published().iter().all(|hour| hour.published_ms == 7));
    let mut series = [0.0; 4];
    run.product("t2").unwrap().series_into(0..4, 0, 0, 1, &mut series).unwrap();
    assert_eq!(series, [100.5, 4100.5, 8100.5, 12100.5]);
}

#[test]
fn runs_are_listed_latest_first_and_the_oldest_go() {
    let (_folder, store) = filled();
    for stamp in ["20180917T060000Z", "20180916T180000Z"] {
        let run = RunDefinition { run: stamp.parse().unwrap(), ..definition() };
        let mut writer = store.write_run(run).unwrap();
        writer.write(0, "t2", &values(0, 1)).unwrap();
        writer.publish(&[0], 1).unwrap();
    }
    let stamps = |runs: Vec<RunStamp>| runs.iter().map(RunStamp::to_string).collect::<Vec<_>>();
    assert_eq!(
        stamps(store.runs(MODEL).unwrap()),
        ["20180917T060000Z", "20180917T000000Z", "20180916T180000Z"]
    );
    let open = store.run(MODEL, definition().run).unwrap();
    assert_eq!(open.product("t2").unwrap().value(0, 0, 0, 1), Ok(decoded(1)));
    let removed = stamps(store.keep_newest(MODEL, 1).unwrap());
    assert_eq!(removed, ["20180917T000000Z", "20180916T180000Z"]);
    assert_eq!(stamps(store.runs(MODEL).unwrap()), ["20180917T060000Z"]);
    assert_eq!(stamps(store.keep_newest(MODEL, 5).unwrap()), [""; 0]);
    // A run that was begun and never published goes too, once it is older than all runs that stay.
    for stamp in ["20180916T000000Z", "20180918T000000Z"] {
        let run = RunDefinition { run: stamp.parse().unwrap(), ..definition() };
        store.write_run(run).unwrap().write(0, "t2", &values(0, 1)).unwrap();
    }
    assert_eq!(stamps(store.keep_newest(MODEL, 2).unwrap()), [""; 0]);
    assert_eq!(stamps(store.keep_newest(MODEL, 1).unwrap()), ["20180916T000000Z"]);
    assert_eq!(stamps(store.begun(MODEL).unwrap()), ["20180918T000000Z", "20180917T060000Z"]);
    // Shards that were read already are still there.
    assert_eq!(open.product("t2").unwrap().value(0, 0, 0, 2), Ok(decoded(2)));
    assert_eq!(
        store.run(MODEL, definition().run).unwrap_err().to_string(),
        "model \"test-model\" has no run 20180917T000000Z"
    );
}

#[test]
fn requests_out_of_range_are_refused() {
    let (_folder, store) = filled();
    let run = store.newest_run(MODEL).unwrap();
    let t = run.product("t").unwrap();
    let refused = |result: Result<(), RunStoreError>| result.unwrap_err().to_string();
    let value = |hour, level, row, column| t.value(hour, level, row, column).map(drop);
    assert_eq!(refused(value(4, 0, 0, 0)), "hour 4 is out of range: it must be 0 to 3");
    assert_eq!(refused(value(0, 3, 0, 0)), "level 3 is out of range: it must be 0 to 2");
    assert_eq!(
        refused(value(0, 0, 37, 2)),
        "row 37, column 2 is not on the grid; allowed are rows 0 to 36 and columns 0 to 49"
    );
    assert!(value(0, 0, 0, 50).is_err());
    assert_eq!(
        refused(t.column_into(0, 0, 0, &mut [0.0; 2])),
        "a column needs room for 3 values; got room for 2"
    );
    assert_eq!(
        refused(t.series_into(2..5, 0, 0, 0, &mut [0.0; 3])),
        "hours 2 to 5 are not within a grid of 4"
    );
    assert_eq!(
        refused(t.part_into(0, 0, 0..38, 0..1, &mut [0; 38])),
        "rows 0 to 38 are not within a grid of 37"
    );
    assert_eq!(
        refused(t.part_into(0, 0, 0..2, 0..2, &mut [0; 3])),
        "the part needs room for 4 values; got room for 3"
    );
    assert_eq!(
        run.product("../t").unwrap_err().to_string(),
        "unknown product \"../t\" of model \"test-model\"; known are t2, t, rain"
    );
}

#[test]
fn names_lead_to_no_other_folder() {
    let (_folder, store) = filled();
    let long = "x".repeat(65);
    for name in ["", "..", ".", "a/b", "-a", "_a", "é", "a b", long.as_str()] {
        assert!(matches!(store.runs(name), Err(RunStoreError::Name { .. })), "{name}");
    }
    let refused = |change: fn(&mut RunDefinition)| {
        let mut definition = definition();
        change(&mut definition);
        store.write_run(definition).unwrap_err().to_string()
    };
    assert_eq!(
        refused(|run| run.products[0].name = "../x".to_owned()),
        "invalid product name \"../x\": it must be 1 to 64 letters, digits, - and _, and start \
         with a letter or digit"
    );
    assert_eq!(
        refused(|run| run.products[0].name = "t".to_owned()),
        "invalid run: product \"t\" is listed twice"
    );
    assert_eq!(
        refused(|run| run.products[0].name = "level_hpa".to_owned()),
        "invalid run: \"level_hpa\" is the name of a coordinate: no product may have it"
    );
    assert_eq!(refused(|run| run.valid_ms.swap(0, 1)), "invalid run: its hours must ascend");
    assert_eq!(
        refused(|run| run.products[1].levels_hpa = Some(vec![])),
        "invalid run: product \"t\" has 0 levels; allowed: 1 to 256"
    );
    assert_eq!(
        refused(|run| run.grid.rows = 0),
        "a grid has 1 to 67108864 cells; got 0 rows of 50"
    );
}
