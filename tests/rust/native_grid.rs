//! `native_grid.json`: definitions, cells, positions, and what is refused.

use std::collections::BTreeMap;

use mesonet::grid::{GridDefinitionError, NativeGrid};
use mesonet::{LonLat, grid};
use serde_json::Value;

use super::{assert_close, assert_count, list, number, text, vectors};

fn count(of: &Value, key: &str) -> usize {
    of[key].as_u64().and_then(|value| value.try_into().ok()).unwrap()
}

/// Builds it as the other languages do theirs.
fn definition(of: &Value) -> Result<grid::Definition, GridDefinitionError> {
    grid::Definition::from_members(|name| match &of[name] {
        Value::Number(number) => grid::MemberValue::Number(number.as_f64().unwrap()),
        Value::Bool(flag) => grid::MemberValue::Flag(*flag),
        Value::String(text) => grid::MemberValue::Text(text.clone()),
        Value::Array(list) if list.len() == 2 => {
            grid::MemberValue::Pair([number(&list[0]), number(&list[1])])
        }
        Value::Null if of.get(name).is_none() => grid::MemberValue::Missing,
        _ => grid::MemberValue::Other,
    })
}

/// Asserts equality to the bit.
#[track_caller]
fn same(got: [f64; 2], of: &Value, keys: [&str; 2]) {
    let wanted = keys.map(|key| number(&of[key]));
    assert_eq!(got.map(f64::to_bits), wanted.map(f64::to_bits), "{got:?} for {of}");
}

/// Asserts closeness to what others published, if they did.
#[track_caller]
fn near(got: [f64; 2], case: &Value, keys: [&str; 2], tolerance: f64) {
    let Some(published) = case.get("published").filter(|of| of.get(keys[0]).is_some()) else {
        return;
    };
    let wanted = keys.map(|key| number(&published[key]));
    assert_close(&got, &wanted, tolerance, &case.to_string());
}

fn grids(file: &Value) -> BTreeMap<&str, NativeGrid> {
    let grids = list(file, "grids").iter().map(|case| {
        let definition = definition(&case["definition"]).unwrap();
        assert_eq!(
            serde_json::from_value::<grid::Definition>(case["definition"].clone()).unwrap(),
            definition
        );
        let grid = NativeGrid::new(definition).unwrap();
        assert_eq!(definition.proj_string(), text(case, "proj"));
        same(grid.first_xy().into(), case, ["x", "y"]);
        (text(case, "name"), grid)
    });
    grids.collect()
}

#[test]
fn native_grid() {
    let file = vectors("native_grid.json");
    let tolerance = number(&file["tolerance"]);
    let grids = grids(&file);
    let mut ran = grids.len();
    for case in list(&file, "cells") {
        let grid = &grids[text(case, "grid")];
        let (row, column) = (count(case, "row"), count(case, "column"));
        let position = grid.position(row, column).unwrap();
        let position = [position.lon(), position.lat()];
        same(position, case, ["lon", "lat"]);
        near(position, case, ["lon", "lat"], tolerance);
        let rotation = grid.wind_rotation(row, column).unwrap();
        same([rotation.cos, rotation.sin], case, ["cos", "sin"]);
        near([rotation.cos, rotation.sin], case, ["cos", "sin"], tolerance);
        ran += 1;
    }
    for case in list(&file, "places") {
        let grid = &grids[text(case, "grid")];
        let (lon, lat) = (number(&case["lon"]), number(&case["lat"]));
        let (mut row, mut column) = ([0.0], [0.0]);
        grid.locate_into(&[lon], &[lat], &mut row, &mut column).unwrap();
        same([row[0], column[0]], case, ["row", "column"]);
        near([row[0], column[0]], case, ["row", "column"], tolerance);
        match grid.nearest(LonLat::new(lon, lat).unwrap()) {
            Ok((row, column)) => assert_eq!(case["nearest"], serde_json::json!([row, column])),
            Err(error) => assert_eq!(error.to_string(), text(case, "message")),
        }
        ran += 1;
    }
    for case in list(&file, "refused") {
        let refused = definition(&case["definition"]).and_then(NativeGrid::new).unwrap_err();
        assert_eq!(refused.to_string(), text(case, "message"));
        ran += 1;
    }
    for case in list(&file, "refused_cells") {
        let grid = &grids[text(case, "grid")];
        let (row, column) = (count(case, "row"), count(case, "column"));
        let refused =
            [grid.position(row, column).unwrap_err(), grid.wind_rotation(row, column).unwrap_err()];
        for refused in refused {
            assert_eq!(refused.to_string(), text(case, "message"));
        }
        ran += 1;
    }
    for case in list(&file, "refused_places") {
        let grid = &grids[text(case, "grid")];
        let (lon, lat) = ([number(&case["lon"])], [number(&case["lat"])]);
        let refused = grid.locate_into(&lon, &lat, &mut [0.0], &mut [0.0]).unwrap_err();
        assert_eq!(refused.to_string(), text(case, "message"));
        ran += 1;
    }
    assert_count(ran, &file);
}
