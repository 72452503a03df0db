use std::collections::BTreeMap;

use tempfile::TempDir;

use super::*;
use crate::grid;
use crate::grid::{Encoding, GridProjection, LatLonGlobe};
use crate::model::{ProductDefinition, RunDefinition, RunStore};
use crate::time::HOUR_MS;

const RUN: &str = "20180917T000000Z";

fn product(name: &str, member: Option<u8>) -> ProductDefinition {
    let member = member.map(|number| EnsembleMember { product: name.to_owned(), number });
    ProductDefinition {
        name: member.as_ref().map_or_else(|| name.to_owned(), EnsembleMember::name),
        unit: "K".to_owned(),
        levels_hpa: None,
        member,
        attributes: BTreeMap::new(),
        encoding: Encoding::new(0.5, 100.0, i16::MIN).unwrap(),
    }
}

fn definition(members: &[u8]) -> RunDefinition {
    let of_members = members.iter().map(|number| product("t", Some(*number)));
    RunDefinition {
        model: "ensemble".to_owned(),
        run: RUN.parse().unwrap(),
        grid: grid::Definition {
            rows: 20,
            columns: 30,
            projection: GridProjection::Globe(LatLonGlobe::LatLon),
            first_lon: -100.0,
            first_lat: 30.0,
            column_step: 0.5,
            row_step: 0.5,
            grid_relative_winds: false,
        },
        valid_ms: vec![0, 6 * HOUR_MS],
        products: of_members.chain([product("mean", None)]).collect(),
    }
}

fn new_store() -> (TempDir, RunStore) {
    let folder = tempfile::tempdir().unwrap();
    let store = RunStore::new(folder.path());
    (folder, store)
}

#[test]
fn each_member_is_a_file_and_all_are_one_array() {
    let (_folder, store) = new_store();
    let mut writer = store.write_run(definition(&[0, 2])).unwrap();
    writer.write(0, "t/2", &[4; 600]).unwrap();
    writer.publish(&[0], 1).unwrap();
    let run = store.newest_run("ensemble").unwrap();
    assert!(run.has("t/2", 0) && !run.has("t", 0) && !run.is_whole("t", 0));
    assert_eq!(run.definition().members("t"), [0, 2]);
    assert_eq!(run.definition().shared_names(), ["t", "mean"]);
    let value = |member| run.product_of("t", member)?.value(0, 0, 3, 3);
    assert_eq!(
        (value(Some(2)), value(Some(0)), value(None)),
        (Ok(Some(102.0)), Ok(None), Ok(None))
    );
    assert_eq!(
        value(Some(1)).unwrap_err().to_string(),
        "product \"t\" has no member 1; its members are 0, 2"
    );
    // Requests cannot use the own name of a member.
    let own = run.product_of("t/2", None).map(drop).unwrap_err();
    assert!(matches!(own, RunStoreError::UnknownProduct { .. }), "{own}");
    assert!(run.product_of("mean", Some(9)).is_ok());

    let folder = store.folder().join("ensemble").join(RUN);
    assert!(folder.join("t/c/0/2/0/0").is_file() && !folder.join("t/c/0/0").exists());
    let document = std::fs::read(folder.join("t/zarr.json")).unwrap();
    let document: serde_json::Value = serde_json::from_slice(&document).unwrap();
    assert_eq!(document["shape"], serde_json::json!([2, 3, 20, 30]));
    let names = serde_json::json!(["valid_time", "member", "lat", "lon"]);
    assert_eq!(document["dimension_names"], names);
    drop(writer);

    // An unexpected member is one more file.
    let mut writer = store.write_run(definition(&[0, 2, 5])).unwrap();
    writer.write(0, "t/5", &[6; 600]).unwrap();
    writer.write(0, "t/0", &[8; 600]).unwrap();
    writer.publish(&[0], 2).unwrap();
    let run = store.newest_run("ensemble").unwrap();
    let value = |member| run.product_of("t", member).unwrap().value(0, 0, 3, 3).unwrap();
    let values = [value(Some(0)), value(Some(2)), value(Some(5)), value(None)];
    assert_eq!(values, [Some(104.0), Some(102.0), Some(103.0), Some(104.0)]);
    assert!(run.has("t", 0) && run.is_whole("t", 0));
    let check = store.check_run("ensemble", RUN.parse().unwrap()).unwrap();
    assert_eq!((check.faults.len(), check.surplus.len(), check.shards), (0, 0, 3));
}

#[test]
fn a_damaged_member_is_set_aside_and_the_others_are_not() {
    let (folder, store) = new_store();
    let mut writer = store.write_run(definition(&[0, 1])).unwrap();
    writer.write(0, "t/0", &[4; 600]).unwrap();
    writer.write(0, "t/1", &[6; 600]).unwrap();
    writer.publish(&[0], 1).unwrap();
    drop(writer);
    let shard = store.folder().join("ensemble").join(RUN).join("t/c/0/1/0/0");
    std::fs::write(&shard, "not what was written").unwrap();
    let found =
        store.set_aside("ensemble", RUN.parse().unwrap(), &folder.path().join("x")).unwrap();
    assert_eq!(found.faults.len(), 1);
    let run = store.newest_run("ensemble").unwrap();
    let value = |member| run.product_of("t", Some(member)).unwrap().value(0, 0, 3, 3);
    assert_eq!(value(0), Ok(Some(102.0)));
    assert!(matches!(value(1), Err(RunStoreError::Damaged { .. })));
}

#[test]
fn members_that_differ_are_no_ensemble() {
    let (_folder, store) = new_store();
    let refused = |change: &dyn Fn(&mut RunDefinition)| {
        let mut definition = definition(&[0, 1]);
        change(&mut definition);
        store.write_run(definition).map(drop).unwrap_err().to_string()
    };
    let unit = refused(&|run| run.products[1].unit = "Pa".to_owned());
    assert_eq!(unit, "invalid run: \"t/1\" differs from \"t/0\"");
    let named = refused(&|run| run.products[1].name = "t/7".to_owned());
    assert_eq!(named, "invalid run: a member is named \"t/7\"; it must be \"t/1\"");
    let other = refused(&|run| run.products[2].name = "t".to_owned());
    assert_eq!(other, "invalid run: \"t\" differs from \"t/0\"");
    let path = refused(&|run| {
        run.products[0].member = Some(EnsembleMember { product: "..".to_owned(), number: 0 });
    });
    assert!(path.contains("invalid product name \"..\""), "{path}");
    let taken = refused(&|run| run.products[2].name = "member".to_owned());
    assert!(taken.contains("is the name of a coordinate"), "{taken}");
}

#[test]
fn the_interval_of_a_product_is_published_with_its_hour_and_does_not_change() {
    let (_folder, store) = new_store();
    let six = FieldInterval { length_ms: 6 * HOUR_MS, statistic: 1 };
    let twelve = FieldInterval { length_ms: 12 * HOUR_MS, ..six };
    let mut writer = store.write_run(definition(&[0, 1])).unwrap();
    writer.write(1, "t/0", &[4; 600]).unwrap();
    writer.state_interval(1, "t", six).unwrap();
    assert!(writer.state_interval(1, "t", twelve).is_err());
    writer.publish(&[1], 1).unwrap();
    let run = store.newest_run("ensemble").unwrap();
    assert_eq!((run.interval("t", 1), run.interval("mean", 1)), (Some(six), None));
    assert_eq!(run.interval("t", 0), None);
    assert_eq!(
        writer.state_interval(1, "t", twelve).unwrap_err().to_string(),
        "product \"t\" of hour 1 is accumulation over 6 h; it cannot also be accumulation over 12 h"
    );
    assert_eq!(writer.state_interval(1, "t", six), Ok(()));
}
