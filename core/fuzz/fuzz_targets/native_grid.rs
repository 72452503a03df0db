#![no_main]
//! A definition of arbitrary JSON: nothing panics, both of its readers agree, and every request to the
//! resulting grid gives an answer or an error.

use libfuzzer_sys::fuzz_target;
use mesonet::{LonLat, grid};
use mesonet::grid::NativeGrid;
use serde_json::Value;

fn member(value: Option<&Value>) -> grid::MemberValue {
    match value {
        None => grid::MemberValue::Missing,
        Some(Value::Bool(flag)) => grid::MemberValue::Flag(*flag),
        Some(Value::String(text)) => grid::MemberValue::Text(text.clone()),
        Some(Value::Number(number)) => {
            number.as_f64().map_or(grid::MemberValue::Other, grid::MemberValue::Number)
        }
        Some(Value::Array(list)) => match list[..] {
            [ref one, ref other] => match (one.as_f64(), other.as_f64()) {
                (Some(one), Some(other)) => grid::MemberValue::Pair([one, other]),
                _ => grid::MemberValue::Other,
            },
            _ => grid::MemberValue::Other,
        },
        Some(_) => grid::MemberValue::Other,
    }
}

fuzz_target!(|text: &str| {
    let Ok(value @ Value::Object(_)) = serde_json::from_str(text) else { return };
    let definition = grid::Definition::from_members(|name| member(value.get(name)));
    let made = definition.clone().and_then(NativeGrid::new);
    // Serde accepts the number of a variant as its name; the other reader does not.
    let named = value["projection"].is_string();
    if let (true, Ok(read)) = (named, serde_json::from_value::<grid::Definition>(value)) {
        assert_eq!(NativeGrid::new(read).ok(), made.clone().ok());
    }
    if let Err(error) = &definition {
        assert!(!error.to_string().is_empty());
    }
    let Ok(grid) = made else { return };
    assert!(grid.definition().proj_string().starts_with("+proj="));
    let (bottom, right) = (grid.rows() - 1, grid.columns() - 1);
    for (row, column) in [(0, 0), (bottom, right), (bottom / 2, right / 2)] {
        let _ = grid.wind_rotation(row, column).unwrap();
        if let Ok(at) = grid.position(row, column) {
            let _ = grid.nearest(at);
        }
    }
    for (lon, lat) in [(0.0, 90.0), (180.0, -90.0), (-73.6, 45.5), (-180.0, 0.0)] {
        let _ = grid.nearest(LonLat::new(lon, lat).unwrap());
        let (mut row, mut column) = ([0.0], [0.0]);
        grid.locate_into(&[lon], &[lat], &mut row, &mut column).unwrap();
        assert!(row[0].is_nan() == column[0].is_nan());
        assert!(row[0].is_nan() || (row[0] > -0.51 && row[0] < grid.rows() as f64));
    }
});
