use std::path::Path;

use serde_json::{Value, json};

use super::*;
use crate::model::{RunStore, Winds};

/// NAM on grid 211 with the first of two hours published: see `tests/data/model_grids`.
fn run() -> Run {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/data/model_grids/store");
    RunStore::new(folder).newest_run("nam211").unwrap()
}

fn asked_point(fields: &[&str], level: Option<usize>) -> Result<Value, String> {
    let query = PointQuery::new(0, (40, 20), fields).level(level);
    let point = point(&run(), &query).map_err(|error| error.to_string())?;
    Ok(serde_json::to_value(point).unwrap())
}

fn asked_series(
    fields: &[&str],
    level: Option<usize>,
    from_ms: Option<i64>,
    to_ms: Option<i64>,
) -> Result<Value, String> {
    let query = SeriesQuery::new((40, 20), fields).level(level).from_ms(from_ms).to_ms(to_ms);
    let series = series(&run(), &query).map_err(|error| error.to_string())?;
    Ok(serde_json::to_value(series).unwrap())
}

const VALID_MS: i64 = 1_537_142_400_000;

/// The values of the file at this cell as ecCodes reads them: 101828.76 Pa; 21.3187 and 18.2033 m/s
/// to the east of the grid at 150 and 100 hPa. The rotation is that of NCEPLIBS-ip.
#[test]
fn a_point_has_values_columns_and_the_rotation() {
    let point = asked_point(&["u", "prmsl", "u"], None).unwrap();
    let rotation = &point["wind_rotation"];
    assert!((rotation["cos"].as_f64().unwrap() - 0.974283138718).abs() < 1e-9);
    assert!((rotation["sin"].as_f64().unwrap() + 0.225327241164).abs() < 1e-9);
    // According to NCEPLIBS-ip.
    assert!((point["lat"].as_f64().unwrap() - 43.719480441965).abs() < 1e-9);
    assert!((point["lon"].as_f64().unwrap() + 125.81296536150296).abs() < 1e-9);
    assert_eq!(
        point,
        json!({
            "run": "20180917T000000Z",
            "hour": 0,
            "valid_time": "2018-09-17T00:00:00Z",
            "availableAt": "2018-09-17T02:00:00Z",
            "forecast_hours": 2,
            "row": 40,
            "col": 20,
            "lat": point["lat"],
            "lon": point["lon"],
            "fields": {
                "u": {"unit": "m/s", "levels_hpa": [150.0, 100.0], "values": [21.32, 18.2]},
                "prmsl": {"unit": "Pa", "value": 101_828.8},
            },
            "wind_rotation": rotation,
        })
    );
}

#[test]
fn a_level_applies_only_to_products_that_have_levels() {
    let point = asked_point(&["prmsl", "u"], Some(1)).unwrap();
    assert_eq!(point["fields"]["prmsl"], json!({"unit": "Pa", "value": 101_828.8}));
    assert_eq!(
        point["fields"]["u"],
        json!({"unit": "m/s", "levels_hpa": [100.0], "values": [18.2]})
    );
}

#[test]
fn a_series_has_what_is_published_and_spans_the_run() {
    let whole = asked_series(&["prmsl", "u"], None, None, None).unwrap();
    assert_eq!(whole["valid_from"], "2018-09-17T00:00:00Z");
    assert_eq!(whole["valid_to"], "2018-09-17T03:00:00Z");
    assert_eq!(whole["forecast_hours"], 2);
    assert_eq!(whole["availableAt"], "2018-09-17T02:00:00Z");
    assert_eq!(
        whole["fields"],
        json!({
            "prmsl": {"unit": "Pa", "levels_hpa": null, "series": [
                {"hour": 0, "valid_time": "2018-09-17T00:00:00Z", "value": 101_828.8},
            ]},
            "u": {"unit": "m/s", "levels_hpa": [150.0, 100.0], "series": [
                {"hour": 0, "valid_time": "2018-09-17T00:00:00Z", "values": [21.32, 18.2]},
            ]},
        })
    );
    let level = asked_series(&["u"], Some(1), Some(VALID_MS), Some(VALID_MS)).unwrap();
    assert_eq!(
        level["fields"]["u"],
        json!({"unit": "m/s", "levels_hpa": [100.0], "series": [
            {"hour": 0, "valid_time": "2018-09-17T00:00:00Z", "value": 18.2},
        ]})
    );
    let later = asked_series(&["u"], None, Some(VALID_MS + 1), None).unwrap();
    assert_eq!(later["fields"]["u"]["series"], json!([]));
    assert_eq!(later["valid_from"], whole["valid_from"]);
}

#[test]
fn what_the_run_does_not_have_is_refused() {
    assert_eq!(
        asked_point(&["wind"], None).unwrap_err(),
        "unknown product \"wind\" of model \"nam211\"; known are prmsl, u, v"
    );
    let level = "level 2 is out of range: it must be 0 to 1";
    assert_eq!(asked_point(&["u"], Some(2)).unwrap_err(), level);
    assert_eq!(asked_series(&["u"], Some(2), None, None).unwrap_err(), level);
    // This holds even if there is no hour to look at.
    assert_eq!(asked_series(&["u"], Some(2), Some(i64::MAX), None).unwrap_err(), level);
    assert_eq!(
        asked_series(&["u"], None, Some(VALID_MS), Some(VALID_MS - 1000)).unwrap_err(),
        "from must not be after to; got 2018-09-17T00:00:00Z and 2018-09-16T23:59:59Z"
    );
    let at = |hour, row, column| {
        let query = PointQuery::new(hour, (row, column), &["u"]);
        point(&run(), &query).unwrap_err().to_string()
    };
    assert_eq!(at(2, 40, 20), "hour 2 is out of range: it must be 0 to 1");
    assert_eq!(
        at(1, 40, 20),
        "hour 1 of run 20180917T000000Z is not published yet; published hours: 0"
    );
    assert_eq!(
        at(0, 65, 93),
        "row 65, column 93 is not on the grid; allowed are rows 0 to 64 and columns 0 to 92"
    );
}

#[test]
fn products_are_listed_with_their_packing() {
    let products = serde_json::to_value(products(run().definition())).unwrap();
    assert_eq!(
        products[0],
        json!({
            "name": "prmsl",
            "unit": "Pa",
            "levels_hpa": null,
            "encoding":
                {"height": 65, "width": 93, "scale": 0.1, "offset": 101_000.0, "nodata": -32768},
        })
    );
    assert_eq!(products[1]["levels_hpa"], json!([150.0, 100.0]));
}

#[test]
fn what_is_missing_is_null() {
    let unit = "K".to_owned();
    let single =
        PointEntry::Single { unit: unit.clone(), value: None, about: ValueFacts::default() };
    assert_eq!(serde_json::to_value(single).unwrap(), json!({"unit": "K", "value": null}));
    let levels_hpa = vec![850.0, 500.0];
    let levels = PointEntry::Levels {
        unit,
        levels_hpa,
        values: vec![None, Some(1.5)],
        about: ValueFacts::default(),
    };
    assert_eq!(
        serde_json::to_value(levels).unwrap(),
        json!({"unit": "K", "levels_hpa": [850.0, 500.0], "values": [null, 1.5]})
    );
}

#[test]
fn winds_are_turned_to_true_north_where_that_is_asked_for() {
    let run = run();
    let pairs = [["u".to_owned(), "v".to_owned()]];
    let of = |fields, level, winds| {
        let query = PointQuery::new(0, (40, 20), fields).level(level).winds(winds);
        serde_json::to_value(point(&run, &query).unwrap()).unwrap()
    };
    let turned = of(&["u", "v", "prmsl"], None, Winds::Earth(&pairs));
    // As rotated elsewhere, from components of 150 and 100 hPa that are rounded to 0.01 m/s:
    // golden_runs.json.
    for (name, golden) in [
        ("u", [20.220285145641625, 16.89870509916168]),
        ("v", [7.182523897520931, 7.7182291815711555]),
    ] {
        for (level, golden) in golden.into_iter().enumerate() {
            let value = turned["fields"][name]["values"][level].as_f64().unwrap();
            assert!((value - golden).abs() < 0.0075, "{name} {level}: {value}");
        }
    }
    // No rotation remains, and fields that are not winds are unchanged.
    assert_eq!(turned["wind_rotation"], json!({"cos": 1.0, "sin": 0.0}));
    assert_eq!(turned["fields"]["prmsl"]["value"], 101_828.8);
    let level = of(&["v"], Some(1), Winds::Earth(&pairs));
    assert_eq!(level["fields"]["v"]["values"][0], turned["fields"]["v"]["values"][1]);
    // Without the other component there is no direction.
    let alone = [["u".to_owned(), "gone".to_owned()]];
    let alone = of(&["u"], None, Winds::Earth(&alone));
    assert_eq!(alone["fields"]["u"]["values"], json!([null, null]));
}

/// Without decimals in the packing nothing is rounded, but winds are still turned.
#[test]
fn winds_whose_packing_has_no_decimals_are_turned_too() {
    let folder = tempfile::tempdir().unwrap();
    let store = RunStore::new(folder.path());
    let mut definition = run().definition().clone();
    definition.products.remove(0);
    for product in &mut definition.products {
        product.levels_hpa = None;
        product.encoding = Encoding::new(1.0 / 3.0, 0.0, i16::MIN).unwrap();
        assert_eq!(product.encoding.decimal_factor(), None);
    }
    let pairs = [["u".to_owned(), "v".to_owned()]];
    let mut writer = store.write_run(definition).unwrap();
    writer.write(0, "u", &[30; 65 * 93]).unwrap();
    writer.write(0, "v", &[-60; 65 * 93]).unwrap();
    writer.publish(&[0], 0).unwrap();
    let run = store.newest_run("nam211").unwrap();
    let winds = Winds::Earth(&pairs);
    let fields = &["u", "v"];
    let query = PointQuery::new(0, (40, 20), fields).winds(winds);
    let point = serde_json::to_value(point(&run, &query).unwrap()).unwrap();
    let (u, v) = run.grid().wind_rotation(40, 20).unwrap().apply(10.0, -20.0);
    for (name, turned) in [("u", u), ("v", v)] {
        let value = point["fields"][name]["value"].as_f64().unwrap();
        assert!((value - turned).abs() < 1e-12, "{name}: {value}, not {turned}");
    }
}
