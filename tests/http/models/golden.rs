//! Compares answers over HTTP with values that other programs computed from the same files.
//! `tests/data/model_grids` names the programs.

use std::fs;
use std::io::Read;
use std::path::Path;
use std::sync::{Arc, LazyLock};

use flate2::read::GzDecoder;
use mesonet::access::Plan;
use mesonet::grid::Encoding;
use mesonet::model::{ProductDefinition, RunDefinition};
use mesonet::{grid, model};
use mesonet_server::Config;
use mesonet_server::take_in_model_sample;
use serde_json::Value;
use tempfile::TempDir;

use super::Service;
use crate::support::{Api, NOW_MS, TestStore};

const MS: i64 = 1_690_000_000_000;

fn data() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/data/model_grids"))
}

fn golden(file: &str) -> Value {
    serde_json::from_str(&fs::read_to_string(data().join(file)).unwrap()).unwrap()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is not a number"))
}

#[track_caller]
fn near(got: &Value, wanted: &Value, tolerance: f64) {
    let (got, wanted) = (number(got), number(wanted));
    assert!((got - wanted).abs() <= tolerance, "{got}, not {wanted}");
}

/// The two runs of the sample, read from their files only once.
static SAMPLE: LazyLock<(TempDir, Arc<TestStore>)> = LazyLock::new(|| {
    let folder = TempDir::new().unwrap();
    let known = TestStore::beside(folder.path());
    let store = model::RunStore::new(folder.path().join("models"));
    take_in_model_sample(&store, &model::Catalogue::default(), MS).unwrap();
    (folder, Arc::new(known))
});

fn sample() -> Api {
    let (folder, store) = &*SAMPLE;
    let config = Config { data: folder.path().to_owned(), ..Config::default() };
    Api::at(NOW_MS, config, Arc::clone(store))
}

fn json(api: &Api, path: &str) -> Value {
    let answer = api.call(axum::http::Method::GET, path, &[], axum::body::Body::empty());
    assert_eq!(answer.status, 200, "{path}: {}", answer.text());
    serde_json::from_str(&answer.text()).unwrap()
}

#[test]
fn the_column_of_nam_is_the_one_that_eccodes_reads() {
    let (api, golden) = (sample(), golden("golden_runs.json"));
    let golden = &golden["nam211_point"];
    let levels = [
        ("temperature", "t"),
        ("u_wind", "u"),
        ("v_wind", "v"),
        ("geopotential_height", "gh"),
        ("relative_humidity", "r"),
    ];
    let single = [
        ("u_wind_10m", "u10"),
        ("v_wind_10m", "v10"),
        ("temperature_2m", "t2"),
        ("pressure_msl", "prmsl"),
    ];
    let names: Vec<&str> = levels.iter().chain(&single).map(|(name, _)| *name).collect();
    let run = golden["run"].as_str().unwrap();
    let path =
        format!("/models/nam211/point?run={run}&hour=0&row=40&col=20&fields={}", names.join(","));
    let point = json(&api, &path);
    assert_eq!((&point["run"], &point["forecast_hours"]), (&golden["run"], &Value::from(1)));
    near(&point["lat"], &golden["lat"], 1e-9);
    near(&point["lon"], &golden["lon"], 1e-9);
    let rotation = &point["wind_rotation"];
    near(&rotation["cos"], &golden["wind_rotation"]["cos"], 1e-9);
    near(&rotation["sin"], &golden["wind_rotation"]["sin"], 1e-9);

    // Half a step of the packing, plus the rounding of the last bits.
    let products = json(&api, "/models/nam211/products");
    let half = |name: &str| {
        let products = products["products"].as_array().unwrap();
        let product = products.iter().find(|product| product["name"] == name).unwrap();
        number(&product["packing_error"]) * 1.000_001
    };
    for (name, short) in levels {
        let entry = &point["fields"][name];
        let hpa: Vec<f64> = golden["levels_hpa"].as_array().unwrap().iter().map(number).collect();
        let got: Vec<f64> = entry["levels_hpa"].as_array().unwrap().iter().map(number).collect();
        assert_eq!((got, hpa.len()), (hpa, 19));
        let (values, wanted) = (&entry["values"], &golden[short]);
        for level in 0..19 {
            near(&values[level], &wanted[level], half(name));
        }
    }
    for (name, short) in single {
        near(&point["fields"][name]["value"], &golden[short], half(name));
    }
    // Turned to true north, as any client does.
    let (cos, sin) = (number(&rotation["cos"]), number(&rotation["sin"]));
    for level in 0..19 {
        let of = |name: &str| number(&point["fields"][name]["values"][level]);
        let (u, v) = (of("u_wind"), of("v_wind"));
        near(&Value::from(cos * u + sin * v), &golden["u_true"][level], 0.0075);
        near(&Value::from(-sin * u + cos * v), &golden["v_true"][level], 0.0075);
    }
    assert_eq!(golden["u_true"].as_array().unwrap().len(), 19);
}

#[test]
fn the_series_of_southern_africa_is_the_one_that_eccodes_reads() {
    let (api, golden) = (sample(), golden("golden_runs.json"));
    let golden = &golden["safrica_series"];
    let run = golden["run"].as_str().unwrap();
    let path = format!("/models/safrica/series?run={run}&row=70&col=105&fields=precipitable_water");
    let series = json(&api, &path);
    assert_eq!(
        (&series["valid_from"], &series["valid_to"], &series["forecast_hours"]),
        (&"2010-03-08T12:00:00Z".into(), &"2010-03-11T12:00:00Z".into(), &25.into())
    );
    let items = series["fields"]["precipitable_water"]["series"].as_array().unwrap();
    let (hours, wanted) = (&golden["hours"], golden["values"].as_array().unwrap());
    assert_eq!((items.len(), wanted.len()), (25, 25));
    let axis = &json(&api, "/models/safrica/runs")["details"][0]["forecast_hour_axis"];
    for (index, item) in items.iter().enumerate() {
        assert_eq!(item["hour"], index);
        near(&item["value"], &wanted[index], 1e-9);
        near(&axis[index], &hours[index], 0.0);
    }
    // Even when narrowed, the answer describes the whole run.
    let narrow = json(&api, &format!("{path}&from=2010-03-09T00:00:00Z&to=2010-03-09T06:00:00Z"));
    let items = narrow["fields"]["precipitable_water"]["series"].as_array().unwrap();
    let hours: Vec<_> = items.iter().map(|item| item["hour"].as_u64().unwrap()).collect();
    assert_eq!(hours, [4, 5, 6]);
    assert_eq!(narrow["valid_to"], series["valid_to"]);
}

/// Returns a service with an empty run for each definition, named g0, g1 …
fn of_grids(grids: &[grid::Definition]) -> Service {
    let source = |index: usize| {
        format!(
            "[g{index}]\ntitle = \"\"\naccess = {{ plan = \"none\" }}\nproducts = [{{ name = \
             \"t\", unit = \"K\", scale = 0.01, offset = 273.15, parameter = \"7:0.0.0\", level = \
             \"1\" }}]\n"
        )
    };
    let models: String = (0..grids.len()).map(source).collect();
    let service = super::of_models(&models, Plan::None);
    let store = model::RunStore::new(service.folder.path().join("models"));
    for (index, grid) in grids.iter().enumerate() {
        write(&store, &format!("g{index}"), *grid, &vec![i16::MIN; grid.rows * grid.columns]);
    }
    service
}

fn write(store: &model::RunStore, model: &str, grid: grid::Definition, raw: &[i16]) {
    let definition = RunDefinition {
        model: model.to_owned(),
        run: "20230722T060000Z".parse().unwrap(),
        grid,
        valid_ms: vec![1_690_009_200_000],
        products: vec![ProductDefinition {
            name: "t".to_owned(),
            unit: "K".to_owned(),
            levels_hpa: None,
            member: None,
            attributes: std::collections::BTreeMap::new(),
            encoding: packing(),
        }],
    };
    let mut writer = store.write_run(definition).unwrap();
    writer.write(0, "t", raw).unwrap();
    writer.publish(&[0], MS).unwrap();
}

fn packing() -> Encoding {
    Encoding::new(0.01, 273.15, i16::MIN).unwrap()
}

#[test]
fn cells_lie_and_winds_turn_as_the_library_of_ncep_has_it() {
    let golden = golden("golden.json");
    let grids = golden["grids"].as_object().unwrap();
    let names: Vec<&String> = grids.keys().collect();
    let definitions: Vec<grid::Definition> =
        grids.values().map(|grid| serde_json::from_value(grid.clone()).unwrap()).collect();
    let service = of_grids(&definitions);
    let turns = golden["wind_rotation"].as_array().unwrap();
    assert_eq!(turns.len(), 14);
    for turn in turns {
        let index = names.iter().position(|name| turn["grid"] == name.as_str()).unwrap();
        let (row, col) = (&turn["row"], &turn["col"]);
        let run = "run=20230722T060000Z&hour=0&fields=t";
        let point = service.json(&format!("/models/g{index}/point?{run}&row={row}&col={col}"));
        near(&point["lat"], &turn["lat"], 1e-9);
        near(&point["lon"], &turn["lon"], 1e-9);
        near(&point["wind_rotation"]["cos"], &turn["cos"], 1e-9);
        near(&point["wind_rotation"]["sin"], &turn["sin"], 1e-9);
        // A cell without a value.
        assert_eq!(point["fields"]["t"]["value"], Value::Null);
    }
    let index = names.iter().position(|name| golden["locate"]["grid"] == name.as_str()).unwrap();
    let places = golden["locate"]["points"].as_array().unwrap();
    assert_eq!(places.len(), 4);
    for place in places {
        let (lat, lon) = (&place["lat"], &place["lon"]);
        let located = service.json(&format!("/models/g{index}/locate?lat={lat}&lon={lon}"));
        near(&located["fractional_row"], &place["row"], 1e-9);
        near(&located["fractional_col"], &place["col"], 1e-9);
        assert_eq!(number(&located["row"]), number(&place["row"]).round());
        assert_eq!(number(&located["col"]), number(&place["col"]).round());
    }
}

#[test]
fn the_pixels_of_a_tile_of_hrrr_are_those_that_were_computed() {
    let golden = golden("golden.json");
    let grid: grid::Definition = serde_json::from_value(golden["grids"]["HRRR"].clone()).unwrap();
    let mut bytes = Vec::new();
    let file = data().join("hrrr_20230722T07Z_tmp_rows280-640_columns780-1140.f32.gz");
    GzDecoder::new(fs::File::open(file).unwrap()).read_to_end(&mut bytes).unwrap();
    let mut raw = vec![i16::MIN; grid.rows * grid.columns];
    for (at, value) in bytes.as_chunks::<4>().0.iter().enumerate() {
        let (row, column) = (280 + at / 360, 780 + at % 360);
        raw[row * grid.columns + column] = packing().encode(f32::from_le_bytes(*value).into());
    }
    for (sampling, golden_raw, units) in
        // Between cells rounded to a unit, the pixel may be off by a unit.
        [("nearest", "raw_nearest", 0), ("bilinear", "raw_bilinear", 1)]
    {
        let service = super::of_models(
            &format!(
                "[hrrr]\ntitle = \"\"\naccess = {{ plan = \"none\" }}\nproducts = [{{ name = \
                 \"t\", unit = \"K\", scale = 0.01, offset = 273.15, sampling = \"{sampling}\", \
                 parameter = \"7:0.0.0\", level = \"1\" }}]\n"
            ),
            Plan::None,
        );
        write(&model::RunStore::new(service.folder.path().join("models")), "hrrr", grid, &raw);
        let run = "run=20230722T060000Z&hour=0";
        let tile = service.get(&format!("/models/hrrr/products/t/data/5/7/12?{run}"));
        assert_eq!((tile.status.as_u16(), tile.body.len()), (200, 131_072));
        let encoding = &service.json("/models/hrrr/products")["products"][0]["encoding"];
        for key in ["scale", "offset", "nodata"] {
            near(&encoding[key], &golden["tile"]["encoding"][key], 0.0);
        }
        let pixels = golden["tile"]["pixels"].as_array().unwrap();
        assert_eq!(pixels.len(), 4);
        for pixel in pixels {
            let at = number(&pixel["px_row"]) * 256.0 + number(&pixel["px_col"]);
            let raw = i16::from_le_bytes(tile.body.as_chunks::<2>().0[at as usize]);
            near(&raw.into(), &pixel[golden_raw], f64::from(units));
        }
    }
}
